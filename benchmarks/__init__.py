"""How fast, how large, and against whom: ``make bench``, or ``python -m benchmarks --help``."""

"""The test suites of the originals, run against the facades: ``make compat``."""

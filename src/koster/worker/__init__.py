"""A process of its own that answers questions about files, for the service.

`answers` has the questions; `loop` reads them from standard input. ``python -m koster.worker``
starts the process, which imports no web framework: it takes a third of the memory.
"""

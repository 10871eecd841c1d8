"""A worker process of the service, for long requests.

`answers` has its functions; `loop` reads requests from standard input. ``python -m koster.worker``
starts the process. It does not import the web framework, and so needs a third of the memory.
"""

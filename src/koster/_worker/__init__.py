"""A worker process of the service, for long requests.

`answers` has its functions; `loop` reads requests from standard input. It does not import the web
framework, and so needs a third of the memory.
"""

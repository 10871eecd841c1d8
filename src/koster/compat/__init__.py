"""Older libraries' names over koster's engine: change one import and go on.

One module for each library, with its public names, signatures, defaults and exceptions. How it
reads a file is a `Dialect` value in that module. See ``docs/migrating.md``.
"""

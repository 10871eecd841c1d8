"""Drop-in replacements for other libraries: change one import.

One module per library, with its public names, signatures, defaults and exceptions. Each module
defines a `Dialect` for how the library reads files. See ``docs/guides/migrate``.
"""

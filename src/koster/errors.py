"""The errors koster raises: for I/O and for misuse, never for what a robots.txt says.

Content cannot raise: any octets parse, and any URL and agent get an answer.
"""


class KosterError(Exception):
    """The parent of every error of koster's own."""


class UnknownDialectError(KosterError, LookupError):
    """A dialect was asked for by a name that none has."""


class UnreadableError(KosterError, OSError):
    """A robots.txt could not be read: the file is missing, a folder, or not ours to open."""

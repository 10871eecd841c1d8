"""The errors koster raises: for I/O and for misuse, never for what a robots.txt says.

Content cannot raise: any octets parse, and any URL and agent get an answer.
"""


class KosterError(Exception):
    """The parent of every error of koster's own."""


class UnknownDialectError(KosterError, LookupError):
    """A dialect was asked for by a name that none has."""


class UnreadableError(KosterError, OSError):
    """A robots.txt could not be read: the file is missing, a folder, or not ours to open."""


class UrlError(KosterError, ValueError):
    """A URL was given that belongs to no site: it has no host, or is neither HTTP nor HTTPS."""


class CacheError(KosterError):
    """A cache did not do what it was asked: it is full, locked, broken or down."""


class MissingExtraError(KosterError, ImportError):
    """A part of koster was asked for that needs a package which is not installed."""

"""The errors koster raises: for I/O and for misuse, never for what a robots.txt says.

Content cannot raise: any bytes parse, and any URL and agent get an answer.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime


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


def missing(what: str, extra: str) -> MissingExtraError:
    """Return the error that says which extra brings what a part of koster needs."""
    more = f"pip install 'koster[{extra}]' (in a checkout '.[{extra}]')"
    return MissingExtraError(f"{what} needs more: {more}")


class TooSoonError(KosterError):
    """A site may not be asked again before ``until``, which is later than the caller would wait."""

    def __init__(self, message: str, until: datetime) -> None:
        super().__init__(message)
        self.until = until

    def __reduce__(self) -> tuple[type[TooSoonError], tuple[str, datetime]]:
        return type(self), (str(self), self.until)

"""The errors koster raises: for I/O and invalid arguments, never for the content of a robots.txt.

Any bytes parse, and every URL and agent gets a decision.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime


class KosterError(Exception):
    """The base class of all errors of koster."""


class UnknownDialectError(KosterError, LookupError):
    """The name of a dialect is unknown."""


class UnreadableError(KosterError, OSError):
    """A file cannot be read: it is missing, a folder, or not permitted."""


class UrlError(KosterError, ValueError):
    """A URL is invalid: it has no host, or is neither HTTP nor HTTPS."""


class CacheError(KosterError):
    """A cache failed: it is full, locked, broken or down."""


class OutageError(KosterError):
    """The server of a `FleetPacer` is down, and the pacer refuses turns meanwhile."""


class MissingExtraError(KosterError, ImportError):
    """A part of koster needs a package that is not installed."""


def missing(what: str, extra: str) -> MissingExtraError:
    """Return the error for a part of koster that needs an extra."""
    command = f"pip install 'koster[{extra}]' (in a checkout '.[{extra}]')"
    return MissingExtraError(f"{what} needs the extra {extra!r}: {command}")


class TooSoonError(KosterError):
    """The next turn is at ``until``, which is later than the caller wants to wait."""

    def __init__(self, message: str, until: datetime) -> None:
        super().__init__(message)
        self.until = until

    def __reduce__(self) -> tuple[type[TooSoonError], tuple[str, datetime]]:
        return type(self), (str(self), self.until)


class TooSlowError(KosterError):
    """A site sets a longer interval between requests than the caller's ``max_interval``.

    ``interval`` is the site's, in seconds; ``line`` and ``text`` are the line of its robots.txt
    that sets it.
    """

    def __init__(self, message: str, interval: float, line: int, text: str) -> None:
        super().__init__(message)
        self.interval = interval
        self.line = line
        self.text = text

    def __reduce__(self) -> tuple[type[TooSlowError], tuple[str, float, int, str]]:
        return type(self), (str(self), self.interval, self.line, self.text)

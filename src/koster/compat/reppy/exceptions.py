"""What `Robots.fetch` raises. ``url`` is the URL that was asked for."""

from __future__ import annotations


class ReppyException(Exception):  # noqa: N818 - its name there
    """The parent of all."""

    url: str | None = None


class ContentTooLong(ReppyException):
    """The robots.txt is longer than it may be."""


class ServerError(ReppyException):
    """The server answered with an error."""


class SSLException(ReppyException):
    """There is no secure connection."""


class ConnectionException(ReppyException):
    """There is no connection."""


class MalformedUrl(ReppyException):
    """The URL is none."""


class ExcessiveRedirects(ReppyException):
    """There were too many redirects."""


class ReadTimeout(ReppyException):
    """The server took too long."""


class BadStatusCode(ReppyException):
    """The status says nothing about a robots.txt (5xx)."""

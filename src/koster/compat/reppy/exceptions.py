"""The exceptions of `Robots.fetch`. ``url`` is the URL of the request."""

from __future__ import annotations


class ReppyException(Exception):  # noqa: N818 - reppy's name
    """The base class."""

    url: str | None = None


class ContentTooLong(ReppyException):
    """The robots.txt is too long."""


class ServerError(ReppyException):
    """The server responded with an error."""


class SSLException(ReppyException):
    """The TLS connection failed."""


class ConnectionException(ReppyException):
    """The connection failed."""


class MalformedUrl(ReppyException):
    """The URL is invalid."""


class ExcessiveRedirects(ReppyException):
    """There were too many redirects."""


class ReadTimeout(ReppyException):
    """The request timed out."""


class BadStatusCode(ReppyException):
    """The status is not usable for a robots.txt (5xx)."""

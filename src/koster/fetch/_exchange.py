"""One request and its response, for all HTTP libraries.

A `Sender` sends requests with an HTTP library, and returns each response as `Received`, whose body
is not yet read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from .._bodies import BodyReader
from .._codings import ACCEPTED
from ..access import Failure, FailureKind, Request, Response, collect_headers
from ._failures import Kinds

#: The headers of a request.
Headers: TypeAlias = list[tuple[str, str]]

Parts = TypeVar("Parts")

#: Marks the requests that koster sends through the caller's httpx client, for `event_hooks`.
OWN_REQUEST = "koster"

#: Headers that belong to the fetch, with the way to set them, if there is one.
_RESERVED = {
    "user-agent": "use user_agent",
    "proxy-authorization": "put the password into the URL of proxy",
    **dict.fromkeys(
        (
            "accept-encoding", "connection", "content-encoding", "content-length", "expect",
            "host", "if-modified-since", "if-none-match", "range", "te", "trailer",
            "transfer-encoding", "upgrade",
        ),
        "koster sets it",
    ),
}  # fmt: skip
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def validate_headers(headers: Mapping[str, str] | None) -> Headers:
    """Return the additional headers of each request.

    Raises:
        TypeError: they are not a mapping of str.
        ValueError: a name or value is invalid, or belongs to the fetch.
    """
    if headers is None:
        return []
    if not hasattr(headers, "items"):
        raise TypeError(f"headers must be a mapping of str, not {type(headers).__name__}")
    found = []
    for name, value in headers.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise TypeError(f"headers must be a mapping of str to str, not {name!r}: {value!r}")
        how = _RESERVED.get(name.lower())
        if how is not None:
            raise ValueError(f"headers must not contain {name}: {how}")
        if not HEADER_NAME.fullmatch(name) or not value.isascii() or not value.isprintable():
            # The value may be secret.
            raise ValueError(f"invalid header: {name!r}, or its value is not printable ASCII")
        found.append((name, value.strip()))
    return found


def request_headers(request: Request, user_agent: str, more: Headers) -> Headers:
    """Return the headers of a request; ``more`` are those of the caller.

    These may be secret, so they go only to the site that was asked: not to the target of a redirect
    on another site, or from HTTPS to HTTP.
    """
    own = more if request.url.startswith(f"{request.origin}/") else []
    headers = [("User-Agent", user_agent)]
    if all(name.lower() != "accept" for name, _ in own):
        headers.append(("Accept", "text/plain,*/*;q=0.8"))
    return [*headers, ("Accept-Encoding", ACCEPTED), *own, *request.headers]


@dataclass(slots=True)
class Received(Generic[Parts]):
    """A response whose body is not yet read.

    Attributes:
        status: Its status.
        headers: Its headers, in order.
        parts: An iterator of its encoded body.
        content: The decoded body, if the HTTP library has already read it.
        may_be_of_proxy: Whether a status 407 may come from a proxy.
    """

    status: int
    headers: Iterable[tuple[bytes, bytes]]
    parts: Parts
    content: bytes | None = None
    may_be_of_proxy: bool = False


class _AnySender(Protocol):
    """What both kinds of senders have.

    Attributes:
        errors: The errors of a request.
        kinds: The kinds of failures that they are.
        keeps_connections: Whether it holds connections that must not be used after a fork, or in
            another event loop.
    """

    errors: tuple[type[BaseException], ...]
    kinds: Kinds
    keeps_connections: bool

    def proxy_for(self, url: str, /) -> str:
        """Return the proxy for a URL, without password; empty if it is direct or unknown."""


class Sender(_AnySender, Protocol):
    """Sends requests with an HTTP library, for threads."""

    def send(
        self, url: str, headers: Headers, seconds: float
    ) -> AbstractContextManager[Received[Any]]:
        """Send a GET request, without following redirects.

        ``seconds`` limits each operation of the network, or the whole exchange.
        """

    def close(self) -> None:
        """Close the connections, unless they are the caller's."""


class AsyncSender(_AnySender, Protocol):
    """Sends requests with an HTTP library, in an event loop."""

    def send(self, url: str, headers: Headers) -> AbstractAsyncContextManager[Received[Any]]:
        """Send a GET request, without following redirects."""

    async def aclose(self) -> None:
        """Close the connections, unless they are the caller's."""

    def reset_connections(self) -> None:
        """Drop the connections of a closed event loop."""


class CallersClient:
    """What senders over the caller's client share: the caller closes it."""

    keeps_connections = True

    def proxy_for(self, _url: str, /) -> str:
        """Return an empty string: clients do not tell."""
        return ""

    def close(self) -> None:
        """Do nothing."""

    async def aclose(self) -> None:
        """Do nothing."""

    def reset_connections(self) -> None:
        """Do nothing."""


def reader_of(received: Received[Any]) -> BodyReader:
    """Return the reader of a response's body."""
    return BodyReader(received.status, collect_headers(received.headers), received.content)


def answer_of(received: Received[Any], reading: BodyReader) -> Response | Failure:
    """Return the response after its body was read, or why it cannot be used."""
    if received.status == 407 and received.may_be_of_proxy:
        # A 4xx of the site would allow everything.
        return Failure(FailureKind.PROXY, "proxy failed: 407 Proxy Authentication Required")
    return reading.result()

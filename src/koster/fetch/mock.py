"""A mock transport for tests: sites without a network."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import httpx2

from ..origins import origin_of, redirect_target

Answerable: TypeAlias = "bytes | str | int | Reply | Exception"


@dataclass(frozen=True, slots=True)
class Reply:
    """The response of a site: ``body`` as bytes or text."""

    status: int = 200
    body: bytes | str = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class MockTransport(httpx2.MockTransport):
    """Responds for sites; for `RobotsClient` and `AsyncRobotsClient`.

    Args:
        replies: Responses by origin (``https://example.com``: its /robots.txt) or absolute URL: a
            body, a `Reply`, a status, an exception to raise (an `OSError`: the site is
            unreachable), or a list of these, in order; the last one repeats. Other URLs get a 404.
            Each request reads it, so you can change it at any time.

    Bodies are read as those from a network: by their Content-Encoding, and one that is shorter
    than its Content-Length makes the site unreachable. ``requests`` are the URLs requested, in
    order.

    Raises:
        UrlError: a key is not a URL.
        TypeError: a value is not a valid response.

    >>> from koster import RobotsClient
    >>> sites = MockTransport({"https://example.com": "User-agent: *\\nDisallow: /private"})
    >>> with RobotsClient("FooBot/1.0", transport=sites) as client:
    ...     client.allowed("https://example.com/private/x")
    False
    """

    def __init__(self, replies: Mapping[str, Answerable | Sequence[Answerable]]) -> None:
        super().__init__(self._answer)
        self.replies = replies
        self.requests: list[str] = []
        for key, reply in replies.items():
            _urls(key)
            if isinstance(reply, (list, tuple)) and not reply:
                raise TypeError(f"{key}: the list of replies is empty")
            for each in reply if isinstance(reply, (list, tuple)) else [reply]:
                if not isinstance(each, (bytes, str, int, Reply, Exception)):
                    raise TypeError(f"{key}: invalid reply of type {type(each).__name__}")

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        url = str(request.url)
        self.requests.append(url)
        found: object = 404
        for key, reply in self.replies.items():
            if url in _urls(key):
                found = reply
                break
        if isinstance(found, (list, tuple)):
            found = found[min(self.requests.count(url), len(found)) - 1]
        if isinstance(found, Exception):
            raise found
        if isinstance(found, int):
            found = Reply(found)
        elif isinstance(found, (bytes, str)):
            found = Reply(body=found)
        assert isinstance(found, Reply), found  # noqa: S101 - checked in __init__
        body = found.body.encode("utf-8") if isinstance(found.body, str) else found.body
        return httpx2.Response(found.status, headers=dict(found.headers), stream=_Body(found, body))


class _Body(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A body that arrives as from a network: encoded, and up to its Content-Length."""

    def __init__(self, reply: Reply, body: bytes) -> None:
        lengths = [value for name, value in reply.headers.items() if name.lower() == _LENGTH]
        self._size = int(lengths[0]) if lengths and lengths[0].isdecimal() else len(body)
        self._body = body

    def __iter__(self) -> Iterator[bytes]:
        yield self._body[: self._size]
        if len(self._body) < self._size:
            raise httpx2.RemoteProtocolError(
                f"the connection was closed after {len(self._body)} of {self._size} bytes"
            )

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self:
            yield part


_LENGTH = "content-length"


def _urls(key: str) -> tuple[str, ...]:
    """Return the URLs that a key matches; an origin matches its robots.txt, too.

    Raises:
        UrlError: the key is not a URL.
    """
    origin = origin_of(key)
    url = redirect_target(origin.robots_url, key)
    return (url, origin.robots_url) if url == f"{origin}/" else (url,)

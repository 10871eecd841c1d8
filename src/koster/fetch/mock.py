"""A mock transport, for the tests of those who use the clients: sites without a network."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx2

from ..origins import origin_of, redirect_target

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    Answerable: TypeAlias = "bytes | str | int | Reply | Exception"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a site answers: ``body`` as bytes or text."""

    status: int = 200
    body: bytes | str = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class MockTransport(httpx2.MockTransport):
    """Answers for sites; for `RobotsClient` and `AsyncRobotsClient`.

    Args:
        replies: What is answered, by origin (``https://example.com``: its /robots.txt) or by
            whole URL: a body, a `Reply`, a status, an exception, which is raised (an `OSError` is
            a site that cannot be reached), or a list of them, one after the other, the last one
            on and on. What is not in it is answered by 404. It is looked at for each request, and
            may be changed meanwhile.

    ``requests`` are the URLs that were asked for, in order.

    Raises:
        UrlError: a key is no URL.
        TypeError: a value is nothing that can be answered.

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
        for place, reply in replies.items():
            _urls(place)
            if isinstance(reply, (list, tuple)) and not reply:
                raise TypeError(f"{place}: an empty list is nothing that is answered")
            for each in reply if isinstance(reply, (list, tuple)) else [reply]:
                if not isinstance(each, (bytes, str, int, Reply, Exception)):
                    raise TypeError(f"{place}: {type(each).__name__} is nothing that is answered")

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        url = str(request.url)
        self.requests.append(url)
        found: object = 404
        for place, reply in self.replies.items():
            if url in _urls(place):
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
        assert isinstance(found, Reply), found  # noqa: S101 - it was looked at before
        body = found.body.encode("utf-8") if isinstance(found.body, str) else found.body
        return httpx2.Response(found.status, headers=dict(found.headers), content=body)


def _urls(place: str) -> tuple[str, ...]:
    """Return the URLs that an origin or a URL stands for: an origin, its robots.txt.

    Raises:
        UrlError: it is none.
    """
    origin = origin_of(place)
    url = redirect_target(origin.robots_url, place)
    return (url, origin.robots_url) if url == f"{origin}/" else (url,)

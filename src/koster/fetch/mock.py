"""A mock transport, for the tests of those who use the clients: sites without a network."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx2

from ..origins import origin_of, redirect_target

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Reply:
    """What a site answers: ``body`` as octets or text."""

    status: int = 200
    body: bytes | str = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class MockTransport(httpx2.MockTransport):
    """Answers for sites; for `RobotsClient` and `AsyncRobotsClient`.

    Args:
        replies: What is answered, by origin (``https://example.com``: its /robots.txt) or by
            whole URL: a body, a `Reply`, a status, or an exception, which is raised. What is not
            in it is answered by 404. It may be changed later.

    ``requests`` are the URLs that were asked for, in order.

    >>> from koster import RobotsClient
    >>> sites = MockTransport({"https://example.com": "User-agent: *\\nDisallow: /private"})
    >>> with RobotsClient("FooBot/1.0", transport=sites) as client:
    ...     client.allowed("https://example.com/private/x")
    False
    """

    def __init__(self, replies: Mapping[str, bytes | str | int | Reply | Exception]) -> None:
        super().__init__(self._answer)
        self.replies = dict(replies)
        self.requests: list[str] = []

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        url = str(request.url)
        self.requests.append(url)
        found = next((reply for at, reply in self.replies.items() if _where(at) == url), 404)
        if isinstance(found, Exception):
            raise found
        if isinstance(found, int):
            found = Reply(found)
        elif not isinstance(found, Reply):
            found = Reply(body=found)
        body = found.body.encode("utf-8") if isinstance(found.body, str) else found.body
        return httpx2.Response(found.status, headers=dict(found.headers), content=body)


def _where(place: str) -> str:
    """Return the URL that an origin or a URL stands for."""
    origin = origin_of(place)
    url = redirect_target(origin.robots_url, place)
    is_origin = url == f"{origin}/" and not place.endswith("/")
    return origin.robots_url if is_origin else url

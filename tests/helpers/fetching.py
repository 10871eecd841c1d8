"""Helpers for tests of the clients: queries with each kind of client, and a clock."""

from __future__ import annotations

import errno
import os
import ssl
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import aiohttp
import anyio
import httpx
import httpx2
import requests

from koster.fetch import (
    AsyncRobotsClient,
    Outcome,
    RobotsClient,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

#: Spellings of 127.0.0.1 that a system resolver accepts.
SPELLINGS = ["127.0.0.1", "[::ffff:127.0.0.1]", "[::1]", "2130706433", "0x7f000001", "127.1", "0177.0.0.1",
             "localhost", "0", "[::]", "0x7f.1", "127.0.0.1."]  # fmt: skip


NAME = "FooBot/1.0 (+https://foo.example/bot)"


FILE = b"User-agent: *\nDisallow: /private\n"

#: The system's message about a closed port.
REFUSED = str(ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED)))


KINDS = ["threads", "asyncio", "trio"]

#: Kinds of clients with the HTTP library that the caller has.
LIBRARY_KINDS = [
    "threads httpx",
    "threads httpx2",
    "threads requests",
    "asyncio httpx",
    "asyncio httpx2",
    "asyncio aiohttp",
]


@contextmanager
def _client(library: str, options: dict[str, Any]) -> Iterator[RobotsClient]:
    if not library:
        with RobotsClient(NAME, **options) as client:
            yield client
        return
    with (
        HTTP_CLIENTS[library]() as http,
        RobotsClient(NAME, http=http, **options) as client,
    ):
        yield client


@asynccontextmanager
async def _async_client(library: str, options: dict[str, Any]) -> AsyncIterator[AsyncRobotsClient]:
    if not library:
        async with AsyncRobotsClient(NAME, **options) as client:
            yield client
        return
    async with (
        ASYNC_HTTP_CLIENTS[library]() as http,
        AsyncRobotsClient(NAME, http=http, **options) as client,
    ):
        yield client


#: Made once: each client would read all certificates, which takes 40 ms.
_TLS = ssl.create_default_context()

#: The client or session of each library, as a user creates it.
HTTP_CLIENTS: dict[str, Callable[[], Any]] = {
    "httpx": partial(httpx.Client, verify=_TLS),
    "httpx2": partial(httpx2.Client, verify=_TLS),
    "requests": requests.Session,
}
ASYNC_HTTP_CLIENTS: dict[str, Callable[[], Any]] = {
    "httpx": partial(httpx.AsyncClient, verify=_TLS),
    "httpx2": partial(httpx2.AsyncClient, verify=_TLS),
    "aiohttp": aiohttp.ClientSession,
}


def ask(kind: str, *questions: tuple[str, Any], **options: Any) -> list[Any]:
    """Call methods of a kind of client; each question is a method name and its argument."""
    return call_all(kind, *((method, (argument,)) for method, argument in questions), **options)


def call_all(kind: str, *calls: tuple[str, tuple[Any, ...]], **options: Any) -> list[Any]:
    """Call methods of a kind of client, with their arguments."""
    options = {"timeout": 10} | options
    backend, _, library = kind.partition(" ")
    if backend == "threads":
        with _client(library, options) as client:
            return [getattr(client, method)(*arguments) for method, arguments in calls]

    async def answers() -> list[Any]:
        async with _async_client(library, options) as client:
            return [await getattr(client, method)(*arguments) for method, arguments in calls]

    return anyio.run(answers, backend=backend)


def call(kind: str, method: str, *arguments: Any, **options: Any) -> Any:
    """Call one method of a kind of client."""
    return call_all(kind, (method, arguments), **options)[0]


def outcome(kind: str, url: str, **options: Any) -> Outcome:
    result: Outcome = ask(kind, ("robots", url), **options)[0]
    return result


def reason_of(found: Outcome) -> str:
    return "file" if found.reason is None else found.reason.value


HEAD = b"HTTP/1.1 200 OK\r\n"


PLAIN = HEAD + b"Content-Type: text/plain\r\n"


class Clock:
    """A clock that tests can set."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def later(self, **time: float) -> None:
        self.now += timedelta(**time)

"""Helpers for tests of the clients: queries with each kind of client, and a clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import anyio

from koster.fetch import (
    AsyncRobotsClient,
    Outcome,
    RobotsClient,
)

#: Spellings of 127.0.0.1 that a system resolver accepts.
SPELLINGS = ["127.0.0.1", "[::ffff:127.0.0.1]", "[::1]", "2130706433", "0x7f000001", "127.1", "0177.0.0.1",
             "localhost", "0", "[::]", "0x7f.1", "127.0.0.1."]  # fmt: skip


NAME = "FooBot/1.0 (+https://foo.example/bot)"


FILE = b"User-agent: *\nDisallow: /private\n"


KINDS = ["threads", "asyncio", "trio"]


def ask(kind: str, *questions: tuple[str, Any], **options: Any) -> list[Any]:
    """Call methods of a kind of client; each question is a method name and its argument."""
    options = {"timeout": 10} | options
    if kind == "threads":
        with RobotsClient(NAME, **options) as client:
            return [getattr(client, method)(argument) for method, argument in questions]

    async def answers() -> list[Any]:
        async with AsyncRobotsClient(NAME, **options) as client:
            return [await getattr(client, method)(argument) for method, argument in questions]

    return anyio.run(answers, backend=kind)


def call(kind: str, method: str, *arguments: Any, **options: Any) -> Any:
    """Call one method of a kind of client."""
    options = {"timeout": 10} | options
    if kind == "threads":
        with RobotsClient(NAME, **options) as client:
            return getattr(client, method)(*arguments)

    async def answer() -> Any:
        async with AsyncRobotsClient(NAME, **options) as client:
            return await getattr(client, method)(*arguments)

    return anyio.run(answer, backend=kind)


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

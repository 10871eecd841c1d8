"""Mistakes with the clients: what they say, and when."""

from __future__ import annotations

import asyncio
import copy
import pickle
import warnings
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import pytest

from koster.fetch import AsyncRobotsClient, MockTransport, RobotsClient
from tests.helpers.fetching import call

URL = "https://e.example/a"
SITES = {"https://e.example": "User-agent: *\nDisallow: /a"}
CLIENTS = [RobotsClient, AsyncRobotsClient]


def make(client: Any = RobotsClient, **options: Any) -> Any:
    return client("FooBot/1.0", **{"transport": MockTransport(SITES)} | options)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"timeout": True}, TypeError, "timeout must be a number of seconds, not bool"),
        ({"timeout": "5"}, TypeError, "timeout must be a number of seconds, not str"),
        ({"at_once": "5"}, TypeError, "at_once must be an int, not str"),
        ({"at_once": True}, TypeError, "at_once must be an int, not bool"),
        ({"at_once": 2.5}, TypeError, "at_once must be an int, not float"),
        ({"trust_env": "no"}, TypeError, "trust_env must be True or False, not 'no'"),
        ({"clock": 5}, TypeError, "clock must be a function, not int"),
        ({"clock": lambda: 5}, TypeError, "clock must return a datetime, not int"),
        ({"clock": lambda: datetime(2026, 1, 1)}, ValueError, "a datetime with a time zone"),
        ({"html": "unreachable"}, TypeError, r"html must be koster\.Html\.NO_RULES or UNREACHABLE"),
        ({"redirects": True}, TypeError, r"redirects must be koster\.Redirects\.ANY_SITE or SAME"),
        ({"unreachable": "allow"}, TypeError, r"unreachable must be koster\.Unreachable\."),
    ],
)
def test_arguments_are_checked_when_a_client_is_made(
    client: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make(client, **{"transport": None} | options)
    make(client, clock=lambda: datetime.now(UTC))


@pytest.mark.parametrize("method", ["allowed", "decide", "robots", "cached", "refetch", "wait"])
@pytest.mark.parametrize("url", [b"https://e.example/a", None, 5, ["https://e.example/a"]])
def test_urls_are_text(kind: str, method: str, url: Any) -> None:
    with pytest.raises(TypeError, match="url must be a str, not "):
        call(kind, method, url, transport=MockTransport(SITES))


@pytest.mark.parametrize("urls", [URL, URL.encode(), None, 5])
def test_prefetch_takes_several_urls(kind: str, urls: Any) -> None:
    with pytest.raises(TypeError, match="urls must be an iterable of str, not "):
        call(kind, "prefetch", urls, transport=MockTransport(SITES))
    with pytest.raises(TypeError, match="url must be a str, not bytes"):
        call(kind, "prefetch", [URL.encode()], transport=MockTransport(SITES))


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
def test_clients_cannot_be_copied(client: Any, copied: Callable[[Any], object]) -> None:
    with pytest.raises(TypeError, match="create one in each process, with a cache that they share"):
        copied(make(client))


def test_a_closed_client_cannot_be_entered(kind: str) -> None:
    if kind == "threads":
        client = make()
        client.close()
        with pytest.raises(RuntimeError, match="the client is closed"), client:
            pass
        return

    async def enter() -> None:
        client = make(AsyncRobotsClient)
        await client.aclose()
        with pytest.raises(RuntimeError, match="the client is closed"):
            async with client:
                pass

    anyio.run(enter, backend=kind)


def test_a_synchronous_client_warns_in_an_event_loop() -> None:
    """Once for each client, at its first fetch."""

    async def ask() -> AsyncIterator[list[str]]:
        for _ in range(2):
            with make() as client, warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                assert not client.allowed(URL)
                assert client.allowed("https://other.example/")
            assert caught[0].filename == __file__
            yield [str(each.message) for each in caught]

    async def messages() -> list[list[str]]:
        return [each async for each in ask()]

    expected = (
        "RobotsClient blocks the running event loop while it fetches or waits: "
        "use koster.AsyncRobotsClient"
    )
    assert asyncio.run(messages()) == [[expected], [expected]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make().allowed(URL)


@pytest.mark.parametrize(
    ("seconds", "error"),
    [
        ("1", TypeError), (b"1", TypeError), (None, TypeError), (True, TypeError),
        (timedelta(seconds=1), TypeError), ("FooBot", TypeError),
        (float("nan"), ValueError), (-1, ValueError), (float("inf"), ValueError),
    ],
)  # fmt: skip
def test_durations_are_numbers(kind: str, seconds: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="seconds must be a "):
        call(kind, "took", URL, seconds, transport=MockTransport(SITES))


@pytest.mark.parametrize(
    ("at_most", "error"),
    [
        ("1", TypeError),
        (b"1", TypeError),
        (True, TypeError),
        (timedelta(1), TypeError),
        (float("nan"), ValueError),
        (-1, ValueError),
    ],
)
def test_the_longest_wait_is_a_number(at_most: Any, error: type[Exception]) -> None:
    for client in map(make, CLIENTS):
        with pytest.raises(error, match="at_most must be "):
            client.turn(URL, at_most=at_most)
    with pytest.raises(error, match="at_most must be "):
        make().wait(URL, at_most=at_most)
    assert make(default_interval=0).wait(URL, at_most=float("inf")) < 1


def test_turns_belong_into_a_with_statement() -> None:
    for client in map(make, CLIENTS):
        turn = client.turn(URL)
        for name in ("decision", "waited", "allowed"):
            with pytest.raises(RuntimeError, match=r"with statement: with client\.turn\(url\)"):
                getattr(turn, name)
        with pytest.raises(AttributeError, match="a Turn has no attribute 'permitted'"):
            turn.permitted  # noqa: B018
        with pytest.raises(TypeError, match="url must be a str, not bytes"):
            client.turn(URL.encode())

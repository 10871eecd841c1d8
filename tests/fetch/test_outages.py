"""What a fleet does when its Redis server is lost: one warning that is seen, one event, a policy."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from typing import Any

import anyio
import pytest
import redis

import koster
from koster.fetch import (
    AsyncRobotsClient,
    Event,
    EventName,
    FleetPacer,
    MockTransport,
    Outage,
    RobotsClient,
)
from tests.helpers.fetching import NAME
from tests.helpers.pacing import NOW, rules_with_delay

RULES = rules_with_delay(60)
FILE = "User-agent: *\nCrawl-delay: 60\nDisallow: /x"
SITES = {"https://example.com": FILE, "https://other.example": FILE}


@pytest.fixture
def outage(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Lose the server with ``begin``, get it back with ``end``."""
    monkeypatch.setattr("koster.fetch.fleet._RETRY_SECONDS", 0)
    original = redis.Redis.execute_command

    class Switch:
        def begin(self) -> None:
            def fail(*_: object, **__: object) -> None:
                raise redis.ConnectionError("the server is gone")

            monkeypatch.setattr(redis.Redis, "execute_command", fail)

        def end(self) -> None:
            monkeypatch.setattr(redis.Redis, "execute_command", original)

    return Switch()


@pytest.mark.parametrize("policy", [Outage.REFUSE, "refuse"])
def test_turns_are_refused_during_an_outage(redis_url: str, outage: Any, policy: Any) -> None:
    events: list[Event] = []
    with closing(
        FleetPacer(redis_url, prefix=f"{policy!r}:", on_event=events.append, on_outage=policy)
    ) as pacer:
        assert pacer.turn("a", RULES, NOW) == 0
        outage.begin()
        for _ in range(2):
            with pytest.raises(koster.OutageError, match=r"Redis is down \(the server is gone\)"):
                pacer.turn("b", RULES, NOW)
            with pytest.raises(koster.OutageError, match="on_outage is 'refuse'"):
                pacer.next_request("b", RULES, NOW)
            pacer.took("a", 1)
        outage.end()
        assert pacer.turn("b", RULES, NOW) == 0
        assert pacer.next_request("b", RULES, NOW) > NOW
    (event,) = events
    assert event.name is EventName.PACE_FAILED
    assert event.attributes["koster.policy"] == "refuse"


def test_own_pace_is_the_default(redis_url: str, outage: Any) -> None:
    with closing(FleetPacer(redis_url, prefix="own:", on_outage="own pace")) as pacer:
        outage.begin()
        assert pacer.turn("a", RULES, NOW) == 0
        assert pacer.turn("a", RULES, NOW) > 59


@pytest.mark.parametrize("policy", [True, None, "wait", "REFUSE", 1])
def test_policy_is_checked(policy: Any) -> None:
    with pytest.raises(ValueError, match=r"Outage\.OWN_PACE or REFUSE, not"):
        FleetPacer("redis://127.0.0.1:1", on_outage=policy)


def test_clients_raise_what_the_pacer_raises(redis_url: str, outage: Any) -> None:
    with (
        closing(FleetPacer(redis_url, prefix="client:", on_outage=Outage.REFUSE)) as pacer,
        RobotsClient(NAME, pacer=pacer, transport=MockTransport(SITES)) as client,
    ):
        with client.turn("https://example.com/a"):
            outage.begin()
        assert not client.allowed("https://example.com/x")
        with pytest.raises(koster.OutageError), client.turn("https://other.example/b"):
            pytest.fail("a turn without the server")

        async def work() -> None:
            async with AsyncRobotsClient(
                NAME, pacer=pacer, transport=MockTransport(SITES)
            ) as other:
                with pytest.raises(koster.OutageError):
                    await other.wait("https://other.example/b", at_most=1)

        anyio.run(work)


SCRIPT = """
import logging, sys
from datetime import datetime, UTC
import koster, koster.fetch.fleet, redis
from koster.fetch import FleetPacer
if sys.argv[2] == "logging":
    logging.basicConfig(format="LOG %(message)s")
if sys.argv[2] == "silent":
    logging.getLogger("koster").setLevel(logging.ERROR)
koster.fetch.fleet._RETRY_SECONDS = 0
pacer = FleetPacer(sys.argv[1])
rules = koster.parse("").rules_for("FooBot")
original = redis.Redis.execute_command
def fail(*_, **__):
    raise redis.ConnectionError("the server is gone")
for keys in ("abc", "def"):
    redis.Redis.execute_command = fail
    for key in keys:
        pacer.turn(key, rules, datetime.now(UTC))
    redis.Redis.execute_command = original
    pacer.next_request("a", rules, datetime.now(UTC))
"""


@pytest.mark.parametrize(
    ("logs", "expected"),
    [
        pytest.param("", "RuntimeWarning: Redis failed: this process", marks=pytest.mark.thorough),
        ("logging", "LOG Redis failed"),
        pytest.param("silent", "", marks=pytest.mark.thorough),
    ],
)
def test_each_outage_is_one_visible_warning(redis_url: str, logs: str, expected: str) -> None:
    process = subprocess.run(
        [sys.executable, "-c", SCRIPT, redis_url, logs], capture_output=True, text=True, check=True
    )
    lines = process.stderr.splitlines()
    assert len(lines) == (2 if expected else 0)
    assert all(expected in line and "the server is gone" in line for line in lines)

"""The pace of a fleet, through Redis."""

from __future__ import annotations

import multiprocessing
import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import redis_server
import server
from pacing import NOW, delayed, rules

from koster.fetch import (
    Event,
    EventName,
    FleetPacer,
)

pytestmark = pytest.mark.any_mode


@pytest.fixture
def fleet(redis_url: str, request: pytest.FixtureRequest) -> FleetPacer:
    return FleetPacer(redis_url, prefix=f"{request.node.name}:")


def test_a_fleet_keeps_the_interval(fleet: FleetPacer) -> None:
    asked = delayed(0.3)
    assert fleet.turn("a", asked, NOW) == 0
    left = fleet.turn("a", asked, NOW)
    # And up to a tenth by chance, so that no worker is always first.
    assert 0 < left <= 0.33
    assert NOW < fleet.next_request("a", asked, NOW) <= NOW + timedelta(seconds=0.3)
    assert fleet.turn("b", asked, NOW) == 0
    time.sleep(left + 0.005)
    assert fleet.turn("a", asked, NOW) == 0
    assert fleet.turn("none", delayed(0), NOW) == fleet.turn("none", delayed(0), NOW) == 0


def test_a_fleet_keeps_windows_and_the_rule_of_thumb(fleet: FleetPacer) -> None:
    assert fleet.turn("a", rules(), NOW) == 0
    assert 9.9 < fleet.turn("a", rules(), NOW) <= 10.1
    fleet.took("a", 30)
    assert 59.9 < fleet.turn("a", rules(), NOW) <= 60.1
    now = datetime.now(UTC)
    later = now + timedelta(hours=2)
    closed = rules(f"Visit-time: {later:%H%M}-{later + timedelta(minutes=5):%H%M}")
    assert 110 * 60 < fleet.turn("b", closed, now) <= 120 * 60 + 1
    assert fleet.next_request("b", closed, now) > now + timedelta(minutes=110)


def test_delays_of_centuries_are_kept_for_a_year(fleet: FleetPacer) -> None:
    for key, seconds in (("a", 1e9), ("b", 1e300)):
        assert fleet.turn(key, delayed(seconds), NOW) == 0
        assert fleet.turn(key, delayed(seconds), NOW) > 86400 * 300


def test_what_somebody_else_wrote_does_no_harm(fleet: FleetPacer) -> None:
    for value in ("nonsense", "-1", "inf", str(10**30)):
        fleet._redis.hset(fleet._name("a", "last"), "seconds", value)
        fleet._redis.hset(fleet._name("a", "last"), "began", value)
        assert fleet.turn("a", delayed(0.001), NOW) < 1e10
        time.sleep(0.01)


def test_what_the_server_forgets_this_process_still_knows(fleet: FleetPacer) -> None:
    assert fleet.turn("a", delayed(60), NOW) == 0
    for key in fleet._redis.keys(f"{fleet._prefix}*"):
        fleet._redis.delete(key)
    assert 59 < fleet.turn("a", delayed(60), NOW) <= 60.1


def test_a_file_that_changes_frees_the_fleet(fleet: FleetPacer, redis_url: str) -> None:
    other = FleetPacer(redis_url, prefix=fleet._prefix)
    assert fleet.turn("a", delayed(86400), NOW) == 0
    assert other.turn("a", delayed(86400), NOW) > 86000
    time.sleep(0.11)
    assert other.turn("a", delayed(0.1), NOW) == 0
    assert 0 < fleet.turn("a", delayed(0.1), NOW) < 0.12


def test_no_delay_is_too_long_for_the_calendar(fleet: FleetPacer) -> None:
    for delay in (999999999999, 1e300):
        fleet.turn(f"{delay}", delayed(delay), NOW)
        assert fleet.next_request(f"{delay}", delayed(delay), NOW).year == 9999
    fleet.took("999999999999", 1e300)
    fleet.next_request("999999999999", rules(), NOW)


class Fleet:
    """Two processes of a fleet, as far as one process can have them, and what they tell."""

    def __init__(self, url: str, prefix: str) -> None:
        self.events: list[Event] = []
        self.first, self.second = (
            FleetPacer(url, prefix=prefix, on_event=self.events.append) for _ in range(2)
        )
        self.redis: Any = self.first._redis

    def name(self, what: str) -> str:
        return self.first._name(KEY, what)

    def told(self, name: EventName) -> list[Event]:
        return [event for event in self.events if event.name is name]


KEY = "https://example.com FooBot"


@pytest.fixture
def two(redis_url: str, request: pytest.FixtureRequest) -> Fleet:
    return Fleet(redis_url, f"{request.node.name}:")


WRONG_TYPES = {
    "list": lambda redis, name: redis.lpush(name, "x"),
    "string": lambda redis, name: redis.set(name, "x" * 1000),
    "set": lambda redis, name: redis.sadd(name, "x"),
    "stream": lambda redis, name: redis.xadd(name, {"x": "y"}),
    "sorted set": lambda redis, name: redis.zadd(name, {"x": 1}),
}


@pytest.mark.parametrize("what", ["last", "turn 60000"])
@pytest.mark.parametrize("type_", WRONG_TYPES)
def test_a_key_of_a_wrong_type_is_replaced_and_the_fleet_keeps_its_pace(
    two: Fleet, what: str, type_: str, caplog: pytest.LogCaptureFixture
) -> None:
    WRONG_TYPES[type_](two.redis, two.name(what))
    assert two.first.turn(KEY, delayed(60), NOW) == 0
    assert two.second.turn(KEY, delayed(60), NOW) > 59
    assert two.redis.type(two.name(what)) == b"hash"
    (event,) = two.events
    assert (event.name, event.origin) == (EventName.PACE_REPLACED, "https://example.com")
    assert event.attributes == {
        "koster.pace.key": two.name(what), "koster.why": "has the wrong type"
    }  # fmt: skip
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert f"deleted the Redis key {two.name(what)!r}: it has the wrong type" in caplog.text


@pytest.mark.parametrize("method", ["next_request", "took"])
@pytest.mark.parametrize("type_", WRONG_TYPES)
def test_a_key_of_a_wrong_type_is_replaced_by_all_who_use_it(
    two: Fleet, type_: str, method: str
) -> None:
    WRONG_TYPES[type_](two.redis, two.name("last"))
    if method == "took":
        two.first.took(KEY, 1)
    else:
        assert two.first.next_request(KEY, delayed(60), NOW) == NOW
    assert [event.name for event in two.events] == [EventName.PACE_REPLACED]
    assert two.first.turn(KEY, delayed(60), NOW) == 0
    assert two.second.turn(KEY, delayed(60), NOW) > 59


IN_AN_HOUR = "in an hour"


WRONG_VALUES: list[tuple[str, dict[str, str]]] = [
    *(("last", {"began": began, "seconds": "0"}) for began in (
        *("nonsense", "", "-1", "1.5", "inf", "\0", str(10**30), "9" * 4000, "9" * 5000, IN_AN_HOUR),
    )),
    *(("last", {"began": "0", "seconds": seconds}) for seconds in (
        *("nonsense", "", "-1", "nan", "inf", "1e300", "9" * 5000),
    )),
    ("last", {"began": "0"}),
    *(("turn 60000", {"tat1": tat}) for tat in ("1e300", "inf", "9e15", "9" * 5000, IN_AN_HOUR)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("what", "value"), WRONG_VALUES, ids=[str(value)[:40] for _, value in WRONG_VALUES]
)
def test_a_wrong_value_is_replaced_and_the_fleet_keeps_its_pace(
    two: Fleet, what: str, value: dict[str, str]
) -> None:
    now = int(two.redis.time()[0]) + 3600
    in_an_hour = f"{now}000000" if "tat1" in value else f"{now}000"
    value = {name: in_an_hour if each == IN_AN_HOUR else each for name, each in value.items()}
    two.redis.hset(two.name(what), mapping=value)
    assert two.first.turn(KEY, delayed(60), NOW) == 0
    assert 59 < two.second.turn(KEY, delayed(60), NOW) <= 60.1
    (event,) = two.events
    assert event.name is EventName.PACE_REPLACED
    assert event.attributes["koster.pace.key"] == two.name(what)


def test_what_other_workers_are_ahead_by_is_not_wrong(two: Fleet) -> None:
    """Of two who ask for the time one after the other, the second may take its turn first."""
    stamp = int(two.redis.time()[0]) * 1000 + 5000
    two.redis.hset(two.name("last"), mapping={"began": stamp, "seconds": "0.5"})
    assert 59 < two.first.turn(KEY, delayed(60), NOW) <= 60.1
    two.redis.delete(two.name("last"))
    two.redis.hset(two.name("turn 60000"), "tat1", f"{stamp + 60000}000")
    assert 63 < two.second.turn(KEY, delayed(60), NOW) <= 65.1
    assert two.events == []


def test_a_listener_must_be_callable() -> None:
    with pytest.raises(TypeError, match="on_event must be callable, not str"):
        FleetPacer("redis://127.0.0.1:1", on_event="x")  # type: ignore[arg-type]


def test_each_wrong_key_is_reported_once(two: Fleet, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(20):
        for what in ("last", "turn 1"):
            two.redis.delete(two.name(what))
            two.redis.lpush(two.name(what), "x")
        time.sleep(0.002)
        assert two.first.turn(KEY, delayed(0.001), NOW) < 0.1
    names = sorted(str(event.attributes["koster.pace.key"]) for event in two.events)
    assert names == sorted(two.name(what) for what in ("last", "turn 1"))
    assert len(caplog.records) == 2


def test_a_key_that_another_worker_has_replaced_is_left_alone(two: Fleet) -> None:
    """It was wrong when it was read, and is right when it is about to be deleted."""
    two.redis.lpush(two.name("last"), "x")
    replace = two.first._replace

    def slow(key: str, wrong: Any) -> None:
        assert two.second.turn(KEY, delayed(60), NOW) == 0
        replace(key, wrong)

    two.first._replace = slow  # type: ignore[method-assign]
    assert two.first.turn(KEY, delayed(60), NOW) > 59
    assert len(two.told(EventName.PACE_REPLACED)) == len(two.events) == 1


def test_a_key_that_is_wrong_again_and_again_leaves_each_to_itself(
    two: Fleet, caplog: pytest.LogCaptureFixture
) -> None:
    two.redis.lpush(two.name("last"), "x")
    two.first._replace = lambda key, wrong: None  # type: ignore[method-assign]
    assert two.first.turn(KEY, delayed(60), NOW) == 0
    assert two.first.turn(KEY, delayed(60), NOW) > 59
    (event,) = two.events
    assert event.name is EventName.PACE_FAILED
    assert "has the wrong type" in str(event.attributes["error.message"])
    assert "this process paces only its own requests" in caplog.text


def test_a_key_that_must_not_be_deleted_leaves_each_to_itself(two: Fleet, redis_url: str) -> None:
    two.redis.execute_command("ACL", "SETUSER", "limited", "on", ">x", "~*", "+@all", "-del")
    two.redis.lpush(two.name("last"), "x")
    events: list[Event] = []
    url = redis_url.replace("redis://", "redis://limited:x@")
    limited = FleetPacer(url, prefix=two.first._prefix, on_event=events.append)
    assert limited.turn(KEY, delayed(60), NOW) == 0
    assert limited.turn(KEY, delayed(60), NOW) > 59
    (event,) = events
    assert event.name is EventName.PACE_FAILED
    assert event.attributes["error.type"] == "NoPermissionError"
    assert two.redis.type(two.name("last")) == b"list"


def test_a_failure_is_reported_once_until_something_goes_well(
    two: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("koster.fetch.fleet._RETRY_SECONDS", 0)
    real = two.first._clock.now

    def down() -> int:
        raise OSError("down")

    for _ in range(2):
        two.first._clock.now = down  # type: ignore[method-assign]
        for _ in range(5):
            two.first.next_request(KEY, delayed(60), NOW)
        two.first._clock.now = real  # type: ignore[method-assign]
        two.first.next_request(KEY, delayed(60), NOW)
    assert [event.attributes for event in two.told(EventName.PACE_FAILED)] == [
        {"error.type": "OSError", "error.message": "down"}
    ] * 2


def test_what_took_longer_than_a_year_is_noted_as_a_year(two: Fleet) -> None:
    assert two.first.turn(KEY, rules(), NOW) == 0
    two.first.took(KEY, 1e300)
    assert two.second.turn(KEY, rules(), NOW) > 86400 * 365
    assert two.events == []


def test_a_server_that_is_down_leaves_each_to_itself(
    unused: int, caplog: pytest.LogCaptureFixture
) -> None:
    pacer = FleetPacer(f"redis://127.0.0.1:{unused}")
    assert pacer.turn("a", delayed(5), NOW) == 0
    assert 4.9 < pacer.turn("a", delayed(5), NOW) <= 5.1
    assert pacer.next_request("a", delayed(5), NOW) > NOW
    pacer.took("a", 1)
    assert "this process paces only its own requests" in caplog.text


def test_a_server_that_goes_down_is_no_reason_to_hurry(tmp_path: Path) -> None:
    if redis_server.program() is None:
        pytest.skip(redis_server.MISSING)
    port = server.closed_port()
    process = redis_server.start(tmp_path, port)
    pacer = FleetPacer(f"redis://127.0.0.1:{port}")
    try:
        assert pacer.turn("a", delayed(60), NOW) == 0
    finally:
        process.kill()
        process.wait()
    assert 59 < pacer.turn("a", delayed(60), NOW) <= 60.1


def _work(url: str, prefix: str, seconds: float, until: float, results: Any) -> None:
    pacer = FleetPacer(url, prefix=prefix)
    asked = delayed(seconds)
    began = []
    while time.time() < until:
        left = pacer.turn("https://example.com FooBot", asked, datetime.now(UTC))
        if left == 0:
            began.append(time.time())
        else:
            time.sleep(min(left, max(until - time.time(), 0)))
    results.put(began)


@pytest.mark.parametrize("wrong", [None, "last", "turn 250"])
def test_twenty_workers_on_one_server(redis_url: str, wrong: str | None) -> None:
    prefix = f"twenty {wrong}:"
    if wrong is not None:
        two = Fleet(redis_url, prefix)
        two.redis.lpush(two.name(wrong), "x")
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    seconds = 0.25
    until = time.time() + 3
    workers = [
        context.Process(target=_work, args=(redis_url, prefix, seconds, until, results))
        for _ in range(20)
    ]
    for worker in workers:
        worker.start()
    began = sorted(moment for _ in workers for moment in results.get(timeout=30))
    for worker in workers:
        worker.join()
    gaps = [second - first for first, second in pairwise(began)]
    assert 6 <= len(began) <= 14
    # The servers of tests are busy: the exact share is the benchmark's to tell.
    assert min(gaps) > 0.5 * seconds

"""FleetPacer: a pace shared by several processes through Redis."""

from __future__ import annotations

import itertools
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import redis

from koster.fetch import (
    Event,
    EventName,
    FleetPacer,
)
from tests.helpers import redis_server, server
from tests.helpers.pacing import NOW, rules, rules_with_delay


@pytest.fixture
def fleet(redis_url: str, request: pytest.FixtureRequest) -> Iterator[FleetPacer]:
    with closing(FleetPacer(redis_url, prefix=f"{request.node.name}:")) as fleet:
        yield fleet


def test_fleet_obeys_the_interval(fleet: FleetPacer) -> None:
    pace_rules = rules_with_delay(0.3)
    assert fleet.turn("a", pace_rules, NOW) == 0
    remaining = fleet.turn("a", pace_rules, NOW)
    # Plus up to a tenth of random jitter, so that no worker is always first.
    assert 0 < remaining <= 0.33
    assert NOW < fleet.next_request("a", pace_rules, NOW) <= NOW + timedelta(seconds=0.3)
    assert fleet.turn("b", pace_rules, NOW) == 0
    time.sleep(remaining + 0.005)
    assert fleet.turn("a", pace_rules, NOW) == 0
    assert (
        fleet.turn("none", rules_with_delay(0), NOW)
        == fleet.turn("none", rules_with_delay(0), NOW)
        == 0
    )


def test_fleet_obeys_visit_times_and_the_default_pace(fleet: FleetPacer) -> None:
    assert fleet.turn("a", rules(), NOW) == 0
    assert 9.9 < fleet.turn("a", rules(), NOW) <= 10.1
    fleet.took("a", 30)
    assert 59.9 < fleet.turn("a", rules(), NOW) <= 60.1
    now = datetime.now(UTC)
    later = now + timedelta(hours=2)
    closed = rules(f"Visit-time: {later:%H%M}-{later + timedelta(minutes=5):%H%M}")
    assert 110 * 60 < fleet.turn("b", closed, now) <= 120 * 60 + 1
    assert fleet.next_request("b", closed, now) > now + timedelta(minutes=110)


def test_delays_of_centuries_are_stored_for_a_year(fleet: FleetPacer, redis_url: str) -> None:
    other: Any = FleetPacer(redis_url, prefix=fleet._prefix)
    year = timedelta(days=365).total_seconds()
    for key, seconds in (("a", 1e9), ("b", 1e300)):
        assert fleet.turn(key, rules_with_delay(seconds), NOW) == 0
        assert fleet.turn(key, rules_with_delay(seconds), NOW) > year
        assert other.turn(key, rules_with_delay(seconds), NOW) > year
        last = other._name(key, "last")
        assert year < other._redis.ttl(last) <= year + 86400
        # A day after the year, the server forgets the turn.
        other._redis.delete(last)
        assert year - 60 < other.turn(key, rules_with_delay(seconds), NOW) <= year + 1
    other.close()


def test_invalid_redis_values_are_tolerated(fleet: FleetPacer) -> None:
    for value in ("nonsense", "-1", "inf", str(10**30)):
        fleet._redis.hset(fleet._name("a", "last"), "seconds", value)
        fleet._redis.hset(fleet._name("a", "last"), "began", value)
        assert fleet.turn("a", rules_with_delay(0.001), NOW) < 1e10
        time.sleep(0.01)


def test_process_remembers_its_turns_when_redis_loses_them(fleet: FleetPacer) -> None:
    assert fleet.turn("a", rules_with_delay(60), NOW) == 0
    for key in fleet._redis.keys(f"{fleet._prefix}*"):
        fleet._redis.delete(key)
    assert 59 < fleet.turn("a", rules_with_delay(60), NOW) <= 60.1


def test_shorter_delay_takes_effect_at_once(fleet: FleetPacer, redis_url: str) -> None:
    other = FleetPacer(redis_url, prefix=fleet._prefix)
    assert fleet.turn("a", rules_with_delay(86400), NOW) == 0
    assert other.turn("a", rules_with_delay(86400), NOW) > 86000
    time.sleep(0.11)
    assert other.turn("a", rules_with_delay(0.1), NOW) == 0
    assert 0 < fleet.turn("a", rules_with_delay(0.1), NOW) < 0.12
    other.close()


def test_next_request_is_capped_at_the_last_year(fleet: FleetPacer) -> None:
    for delay in (999999999999, 1e300):
        fleet.turn(f"{delay}", rules_with_delay(delay), NOW)
        assert fleet.next_request(f"{delay}", rules_with_delay(delay), NOW).year == 9999
    fleet.took("999999999999", 1e300)
    fleet.next_request("999999999999", rules(), NOW)


class FleetPair:
    """Two pacers that stand for two processes of a fleet, and their events."""

    def __init__(self, url: str, prefix: str) -> None:
        self.events: list[Event] = []
        self.first, self.second = (
            FleetPacer(url, prefix=prefix, on_event=self.events.append) for _ in range(2)
        )
        self.redis: Any = self.first._redis

    def close(self) -> None:
        self.first.close()
        self.second.close()

    def redis_key(self, what: str) -> str:
        return self.first._name(KEY, what)

    def events_named(self, name: EventName) -> list[Event]:
        return [event for event in self.events if event.name is name]


KEY = "https://example.com FooBot"


@pytest.fixture
def pair(redis_url: str, request: pytest.FixtureRequest) -> Iterator[FleetPair]:
    with closing(FleetPair(redis_url, f"{request.node.name}:")) as pair:
        yield pair


WRONG_TYPES = {
    "list": lambda redis, name: redis.lpush(name, "x"),
    "string": lambda redis, name: redis.set(name, "x" * 1000),
    "set": lambda redis, name: redis.sadd(name, "x"),
    "stream": lambda redis, name: redis.xadd(name, {"x": "y"}),
    "sorted set": lambda redis, name: redis.zadd(name, {"x": 1}),
}


@pytest.mark.parametrize("what", ["last", "turn 60000"])
@pytest.mark.parametrize("type_", WRONG_TYPES)
def test_redis_key_of_wrong_type_is_replaced_and_the_pace_holds(
    pair: FleetPair, what: str, type_: str, caplog: pytest.LogCaptureFixture
) -> None:
    WRONG_TYPES[type_](pair.redis, pair.redis_key(what))
    assert pair.first.turn(KEY, rules_with_delay(60), NOW) == 0
    assert pair.second.turn(KEY, rules_with_delay(60), NOW) > 59
    assert pair.redis.type(pair.redis_key(what)) == b"hash"
    (event,) = pair.events
    assert (event.name, event.origin) == (EventName.PACE_REPLACED, "https://example.com")
    assert event.attributes == {
        "koster.pace.key": pair.redis_key(what), "koster.why": "has the wrong type"
    }  # fmt: skip
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert f"deleted the Redis key {pair.redis_key(what)!r}: it has the wrong type" in caplog.text


@pytest.mark.parametrize("method", ["next_request", "took"])
@pytest.mark.parametrize("type_", WRONG_TYPES)
def test_redis_key_of_wrong_type_is_replaced_by_every_method(
    pair: FleetPair, type_: str, method: str
) -> None:
    WRONG_TYPES[type_](pair.redis, pair.redis_key("last"))
    if method == "took":
        pair.first.took(KEY, 1)
    else:
        assert pair.first.next_request(KEY, rules_with_delay(60), NOW) == NOW
    assert [event.name for event in pair.events] == [EventName.PACE_REPLACED]
    assert pair.first.turn(KEY, rules_with_delay(60), NOW) == 0
    assert pair.second.turn(KEY, rules_with_delay(60), NOW) > 59


IN_AN_HOUR = "in an hour"


WRONG_VALUES: list[tuple[str, dict[str, str]]] = [
    *(("last", {"began": began, "seconds": "0"}) for began in (
        "nonsense", "", "-1", "1.5", "inf", "\0", str(10**30), "9" * 4000, "9" * 5000, IN_AN_HOUR,
    )),
    *(("last", {"began": "0", "seconds": seconds}) for seconds in (
        "nonsense", "", "-1", "nan", "inf", "1e300", "9" * 5000,
    )),
    ("last", {"began": "0"}),
    *(("turn 60000", {"tat1": tat}) for tat in ("1e300", "inf", "9e15", "9" * 5000, IN_AN_HOUR)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("what", "value"), WRONG_VALUES, ids=[str(value)[:40] for _, value in WRONG_VALUES]
)
def test_invalid_redis_value_is_replaced_and_the_pace_holds(
    pair: FleetPair, what: str, value: dict[str, str]
) -> None:
    now = int(pair.redis.time()[0]) + 3600
    in_an_hour = f"{now}000000" if "tat1" in value else f"{now}000"
    value = {name: in_an_hour if each == IN_AN_HOUR else each for name, each in value.items()}
    pair.redis.hset(pair.redis_key(what), mapping=value)
    assert pair.first.turn(KEY, rules_with_delay(60), NOW) == 0
    assert 59 < pair.second.turn(KEY, rules_with_delay(60), NOW) <= 60.1
    (event,) = pair.events
    assert event.name is EventName.PACE_REPLACED
    assert event.attributes["koster.pace.key"] == pair.redis_key(what)


def test_clock_differences_between_workers_are_valid(pair: FleetPair) -> None:
    """A worker may read the time first and take its turn second."""
    stamp = int(pair.redis.time()[0]) * 1000 + 5000
    pair.redis.hset(pair.redis_key("last"), mapping={"began": stamp, "seconds": "0.5"})
    assert 59 < pair.first.turn(KEY, rules_with_delay(60), NOW) <= 60.1
    pair.redis.delete(pair.redis_key("last"))
    pair.redis.hset(pair.redis_key("turn 60000"), "tat1", f"{stamp + 60000}000")
    assert 63 < pair.second.turn(KEY, rules_with_delay(60), NOW) <= 65.1
    assert pair.events == []


def test_on_event_must_be_callable() -> None:
    with pytest.raises(TypeError, match="on_event must be callable, not str"):
        FleetPacer("redis://127.0.0.1:1", on_event="x")  # type: ignore[arg-type]


def test_each_replaced_redis_key_is_reported_once(
    pair: FleetPair, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(20):
        for what in ("last", "turn 1"):
            pair.redis.delete(pair.redis_key(what))
            pair.redis.lpush(pair.redis_key(what), "x")
        time.sleep(0.002)
        assert pair.first.turn(KEY, rules_with_delay(0.001), NOW) < 0.1
    names = sorted(str(event.attributes["koster.pace.key"]) for event in pair.events)
    assert names == sorted(pair.redis_key(what) for what in ("last", "turn 1"))
    assert len(caplog.records) == 2


def test_redis_key_replaced_by_another_worker_is_not_deleted(pair: FleetPair) -> None:
    """The key is invalid when it is read, and valid when it is about to be deleted."""
    pair.redis.lpush(pair.redis_key("last"), "x")
    replace = pair.first._replace

    def slow_replace(key: str, wrong: Any) -> None:
        assert pair.second.turn(KEY, rules_with_delay(60), NOW) == 0
        replace(key, wrong)

    pair.first._replace = slow_replace  # type: ignore[method-assign]
    assert pair.first.turn(KEY, rules_with_delay(60), NOW) > 59
    assert len(pair.events_named(EventName.PACE_REPLACED)) == len(pair.events) == 1


def test_persistently_invalid_redis_key_falls_back_to_local_pacing(
    pair: FleetPair, caplog: pytest.LogCaptureFixture
) -> None:
    pair.redis.lpush(pair.redis_key("last"), "x")
    pair.first._replace = lambda key, wrong: None  # type: ignore[method-assign]
    assert pair.first.turn(KEY, rules_with_delay(60), NOW) == 0
    assert pair.first.turn(KEY, rules_with_delay(60), NOW) > 59
    (event,) = pair.events
    assert event.name is EventName.PACE_FAILED
    assert "has the wrong type" in str(event.attributes["error.message"])
    assert "this process paces only its own requests" in caplog.text


def test_undeletable_redis_key_falls_back_to_local_pacing(pair: FleetPair, redis_url: str) -> None:
    pair.redis.execute_command("ACL", "SETUSER", "limited", "on", ">x", "~*", "+@all", "-del")
    pair.redis.lpush(pair.redis_key("last"), "x")
    events: list[Event] = []
    url = redis_url.replace("redis://", "redis://limited:x@")
    with closing(FleetPacer(url, prefix=pair.first._prefix, on_event=events.append)) as limited:
        assert limited.turn(KEY, rules_with_delay(60), NOW) == 0
        assert limited.turn(KEY, rules_with_delay(60), NOW) > 59
    (event,) = events
    assert event.name is EventName.PACE_FAILED
    assert event.attributes["error.type"] == "NoPermissionError"
    assert pair.redis.type(pair.redis_key("last")) == b"list"


def test_failure_is_reported_once_until_recovery(
    pair: FleetPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("koster.fetch.fleet._RETRY_SECONDS", 0)
    original_now = pair.first._clock.now
    errors = itertools.cycle([TimeoutError("slow"), OSError("down"), OSError("still down")])

    def failing_now() -> int:
        raise next(errors)

    for _ in range(2):
        pair.first._clock.now = failing_now  # type: ignore[method-assign]
        for _ in range(6):
            pair.first.next_request(KEY, rules_with_delay(60), NOW)
        pair.first._clock.now = original_now  # type: ignore[method-assign]
        pair.first.next_request(KEY, rules_with_delay(60), NOW)
    assert [event.attributes for event in pair.events_named(EventName.PACE_FAILED)] == [
        {"koster.policy": "own pace", "error.type": "TimeoutError", "error.message": "slow"}
    ] * 2


def test_success_of_a_call_from_before_the_failure_is_no_recovery(
    pair: FleetPair,
) -> None:
    original_now = pair.first._clock.now

    def failing_now() -> int:
        raise OSError("down")

    def fail() -> None:
        pair.first._clock.now = failing_now  # type: ignore[method-assign]
        pair.first.next_request(KEY, rules_with_delay(60), NOW)

    def now_and_fail() -> int:
        # As if another thread's call failed meanwhile.
        fail()
        return original_now()

    pair.first._clock.now = now_and_fail  # type: ignore[method-assign]
    pair.first.next_request(KEY, rules_with_delay(60), NOW)
    # The server is tried again.
    pair.first._local_until = 0
    fail()
    assert len(pair.events_named(EventName.PACE_FAILED)) == 1


def test_failed_server_is_tried_again_after_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    tries: list[float] = []

    def failing_now() -> int:
        tries.append(now)
        raise OSError("down")

    monkeypatch.setattr("koster.fetch.fleet.time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr("koster.cache.redis.Server.check", lambda self: None)
    pacer = FleetPacer("redis://127.0.0.1:1")
    pacer._clock.now = failing_now  # type: ignore[method-assign]
    for moment in (1000.0, 1009.9, 1010.0, 1019.9):
        now = moment
        assert pacer.next_request(KEY, rules_with_delay(60), NOW) == NOW
    assert tries == [1000.0, 1010.0]


def test_fetch_durations_are_capped_at_a_year(pair: FleetPair) -> None:
    assert pair.first.turn(KEY, rules(), NOW) == 0
    pair.first.took(KEY, 1e300)
    assert pair.second.turn(KEY, rules(), NOW) > 86400 * 365
    assert pair.events == []


def test_unreachable_redis_falls_back_to_local_pacing(
    unused: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("koster.cache.redis.Server.check", lambda self: None)
    pacer = FleetPacer(f"redis://127.0.0.1:{unused}")
    assert pacer.turn("a", rules_with_delay(5), NOW) == 0
    assert 4.9 < pacer.turn("a", rules_with_delay(5), NOW) <= 5.1
    assert pacer.next_request("a", rules_with_delay(5), NOW) > NOW
    pacer.took("a", 1)
    assert "this process paces only its own requests" in caplog.text


def test_interval_holds_when_redis_goes_down(tmp_path: Path) -> None:
    if redis_server.program() is None:
        pytest.skip(redis_server.MISSING)
    port = server.closed_port()
    process = redis_server.start(tmp_path, port)
    pacer = FleetPacer(f"redis://127.0.0.1:{port}")
    try:
        assert pacer.turn("a", rules_with_delay(60), NOW) == 0
    finally:
        process.kill()
        process.wait()
    assert 59 < pacer.turn("a", rules_with_delay(60), NOW) <= 60.1
    pacer.close()


def test_close_leaves_the_callers_client_open(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        FleetPacer(client).close()
        before = client.info("clients")["connected_clients"]
        pacer = FleetPacer(redis_url, prefix="closed:")
        assert pacer.turn("a", rules_with_delay(60), NOW) == 0
        assert client.info("clients")["connected_clients"] == before + 1
        pacer.close()
        assert client.info("clients")["connected_clients"] == before
        # It can be used again, as a cache can.
        assert pacer.turn("a", rules_with_delay(60), NOW) > 59
        pacer.close()


def _work(url: str, prefix: str, seconds: float, until: float, results: Any) -> None:
    pacer = FleetPacer(url, prefix=prefix)
    pace_rules = rules_with_delay(seconds)
    turns = []
    while (before := time.time()) < until:
        remaining = pacer.turn("https://example.com FooBot", pace_rules, datetime.now(UTC))
        if remaining == 0:
            turns.append((before, time.time()))
        else:
            time.sleep(min(remaining, max(until - time.time(), 0)))
    results.put(turns)


@pytest.mark.parametrize(
    "wrong",
    [None, *(pytest.param(each, marks=pytest.mark.thorough) for each in ("last", "turn 250"))],
)
def test_twenty_workers_share_one_pace(redis_url: str, wrong: str | None) -> None:
    prefix = f"twenty {wrong}:"
    if wrong is not None:
        with closing(FleetPair(redis_url, prefix)) as pair:
            pair.redis.lpush(pair.redis_key(wrong), "x")
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    seconds = 0.25
    until = time.time() + 2
    workers = [
        context.Process(target=_work, args=(redis_url, prefix, seconds, until, results))
        for _ in range(20)
    ]
    for worker in workers:
        worker.start()
    turns = [turn for _ in workers for turn in results.get(timeout=30)]
    for worker in workers:
        worker.join()
    assert len(turns) >= 4
    # A turn was given at some moment between before and after. The clocks differ by some milliseconds.
    for first, second in combinations(turns, 2):
        before, after = zip(first, second, strict=True)
        assert max(after) - min(before) > 0.9 * seconds

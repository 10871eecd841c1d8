"""Events and log messages."""

from __future__ import annotations

import logging
from typing import Any

import pytest

import koster
from koster.fetch import (
    AsyncRobotsClient,
    Event,
    EventName,
    MockTransport,
    RobotsClient,
)
from tests.helpers.fetching import FILE, NAME, Clock, ask
from tests.helpers.server import Answer, Site


def test_events(kind: str, site: Site) -> None:
    site.robots(301, headers={"Location": "/r"})
    site.pages["/r"] = Answer(
        body=b"User-agent: *\nVisit-time: 0600-0700\nComment: at dawn, please"
    )
    events: list[Event] = []
    clock = Clock()
    ask(
        kind,
        ("decide", f"{site.url}/x"),
        ("decide", f"{site.url}/x"),
        on_event=events.append,
        clock=clock,
    )
    assert [event.name.name for event in events] == [
        "FETCH_STARTED",
        "REDIRECTED",
        "FETCH_FINISHED",
        "SITE_COMMENTS",
        "OUTSIDE_VISIT_TIME",
        "CACHE_HIT",
        "OUTSIDE_VISIT_TIME",
    ]
    assert {event.origin for event in events} == {site.url}
    started, redirected, finished, comments, outside, hit, _ = (
        event.attributes for event in events
    )
    assert started["url.full"] == f"{site.url}/robots.txt"
    assert started["server.port"] == site.port
    assert redirected["http.response.status_code"] == 301
    assert finished["koster.fetch.requests"] == 2
    assert finished["koster.outcome"] == "file"
    assert comments == {"koster.agent": NAME, "koster.comments": ("at dawn, please",)}
    assert outside["koster.comments"] == ("at dawn, please",)
    assert outside["koster.visit.next_open"] == "2026-11-22T06:00:00+00:00"
    assert hit["koster.outcome"] == "file"


COMMENTED = """\
User-agent: FooBot
Comment: you are welcome
Comment: by night
Disallow: /private

User-agent: BarBot
Comment: you are not

User-agent: *
Disallow:
"""


def values_of(events: list[Event], name: EventName) -> list[tuple[str, ...]]:
    key = "koster.comments" if name is EventName.SITE_COMMENTS else "koster.policy"
    return [event.attributes[key] for event in events if event.name is name]  # type: ignore[misc]


@pytest.mark.parametrize("dialect", [koster.RFC9309, koster.EXTENDED2], ids=str)
def test_comments_are_reported_once_per_file(
    kind: str, site: Site, dialect: koster.Dialect, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "koster")
    site.robots(body=COMMENTED.encode())
    events: list[Event] = []
    clock = Clock()

    def on_event(event: Event) -> None:
        events.append(event)
        if len(values_of(events, EventName.SITE_COMMENTS)) == 1:
            clock.later(days=2)

    url = f"{site.url}/x"
    calls = [("allowed", url), ("robots", url), ("refetch", url), ("decide", url)]
    ask(kind, *calls, on_event=on_event, clock=clock, dialect=dialect)
    expected = ("you are welcome", "by night")
    assert values_of(events, EventName.SITE_COMMENTS) == [expected]
    assert len(site.requests) > 1
    (record,) = caplog.records
    assert record.levelname == "INFO"
    assert record.message == f"{site.url} has comments for {NAME}: you are welcome, by night"


def test_comments_are_reported_again_when_the_file_changes() -> None:
    sites = MockTransport({"https://example.com": COMMENTED})
    events: list[Event] = []
    with RobotsClient(NAME, transport=sites, on_event=events.append) as client:
        url = "https://example.com/x"
        for body in (COMMENTED, COMMENTED + "#", "User-agent: *\nDisallow: /", COMMENTED):
            sites.replies["https://example.com"] = body  # type: ignore[index]
            client.refetch(url)
            client.allowed(url)
        assert len(values_of(events, EventName.SITE_COMMENTS)) == 3
        client.allowed(url, "BarBot")
        client.decide(url, ("BarBot",))
        client.allowed(url, "Other")
    assert values_of(events, EventName.SITE_COMMENTS)[3:] == [("you are not",)]


def test_comments_are_not_reported_in_dialects_without_them() -> None:
    events: list[Event] = []
    sites = MockTransport({"https://example.com": COMMENTED})
    with RobotsClient(
        NAME, transport=sites, on_event=events.append, dialect=koster.GOOGLE
    ) as client:
        assert not client.allowed("https://example.com/private", "FooBot")
    assert values_of(events, EventName.SITE_COMMENTS) == []


def test_comments_are_escaped_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "koster")
    sites = MockTransport(
        {"https://example.com": b"User-agent: *\nComment: a\x1b[31m\xff\x85b \xc3\xa9"}
    )
    with RobotsClient(NAME, transport=sites) as client:
        client.robots("https://example.com")
    assert caplog.records[-1].message.endswith("a\\x1b[31m\\udcff\\udc85b \xe9")


def test_thousands_of_comments_are_logged_in_one_short_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "koster")
    body = "User-agent: *\n" + "Comment: hello\n" * 4000
    events: list[Event] = []
    sites = MockTransport({"https://example.com": body})
    with RobotsClient(NAME, transport=sites, on_event=events.append) as client:
        client.robots("https://example.com")
    assert len(caplog.records[-1].message) < 1000
    assert len(values_of(events, EventName.SITE_COMMENTS)[0]) == 4000


@pytest.mark.parametrize("agent", [5, b"x", [5]])
def test_agent_type_error_names_the_argument(agent: Any) -> None:
    sites = MockTransport({"https://example.com": COMMENTED})
    with RobotsClient(NAME, transport=sites) as client:
        for _ in range(2):
            with pytest.raises(TypeError, match=r"^agent must be"):
                client.allowed("https://example.com/x", agent)


def test_visit_outside_visit_times_is_logged_once_per_closed_period(
    kind: str, caplog: pytest.LogCaptureFixture, site: Site
) -> None:
    caplog.set_level(logging.INFO, "koster")
    site.robots(body=b"User-agent: *\nVisit-time: 0600-0700\nVisit-time: 2000-2100")
    clock = Clock()
    url = f"{site.url}/x"
    ask(kind, ("allowed", url), ("decide", url), clock=clock)
    assert [each.message for each in caplog.records] == [
        f"{NAME} visits {site.url} outside its visit times: 06:00-07:00, 20:00-21:00 UTC"
    ]
    assert caplog.records[0].levelname == "INFO"
    with RobotsClient(NAME, clock=clock) as client:
        for hours in (0, 0, 8, 2, 1):
            clock.later(hours=hours)
            client.allowed(url)
            client.allowed(url, "BarBot")
    # Two visits at noon are in one closed period; open at 20:00; closed again at 22:00 and 23:00.
    assert len(caplog.records) == 1 + 2 * 2


def test_unreachable_site_disallows_by_default(
    kind: str, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    site.robots(503)
    url = f"{site.url}/x"
    for unreachable, expected in (
        (koster.Unreachable.DISALLOW, False),
        (koster.Unreachable.ALLOW, True),
    ):
        events: list[Event] = []
        calls = [("allowed", url), ("decide", url), ("robots", url)]
        allowed, decision, result = ask(
            kind, *calls, on_event=events.append, unreachable=unreachable
        )
        assert (allowed, decision.allowed, result.allowed("/x", "Other")) == (expected,) * 3
        assert decision.reason is result.reason is koster.Reason.UNREACHABLE
        assert values_of(events, EventName.SITE_UNREACHABLE) == [unreachable.value]
        warnings = [each.message for each in caplog.records if each.levelname == "WARNING"]
        assert warnings == ([] if not expected else [
            f"{site.url} is unreachable (503 Service Unavailable): everything is allowed"
        ])  # fmt: skip


def test_stale_copy_takes_precedence_over_the_unreachable_policy() -> None:
    sites = MockTransport({"https://example.com": "User-agent: *\nDisallow: /"})
    events: list[Event] = []
    with RobotsClient(
        NAME, transport=sites, on_event=events.append, unreachable=koster.Unreachable.ALLOW
    ) as client:
        client.robots("https://example.com")
        sites.replies["https://example.com"] = TimeoutError("slow")  # type: ignore[index]
        assert client.refetch("https://example.com").is_stale
        assert not client.allowed("https://example.com/x")
    assert values_of(events, EventName.SITE_UNREACHABLE) == []


@pytest.mark.parametrize("make", [RobotsClient, AsyncRobotsClient])
def test_unreachable_policy_type_error(make: Any) -> None:
    with pytest.raises(TypeError, match=r"koster\.Unreachable\.DISALLOW or ALLOW, not str"):
        make(NAME, unreachable="allow")


def test_callback_exceptions_are_logged(
    kind: str, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    def failing_callback(event: Event) -> None:
        raise RuntimeError("callback")

    site.robots(body=FILE)
    assert ask(kind, ("allowed", f"{site.url}/private"), on_event=failing_callback) == [False]
    assert "on_event callback failed for koster.fetch.started" in caplog.text


def test_stale_copies_and_fetch_errors_are_reported() -> None:
    clock = Clock()
    sites = MockTransport({"https://example.com": FILE})
    events: list[Event] = []
    with RobotsClient(NAME, transport=sites, on_event=events.append, clock=clock) as client:
        client.robots("https://example.com")
        sites.replies["https://example.com"] = TimeoutError("slow")  # type: ignore[index]
        clock.later(days=2)
        assert client.robots("https://example.com").is_stale
    stale, finished = events[-1].attributes, events[-2].attributes
    assert events[-1].name is EventName.STALE_USED
    assert stale["koster.cache.fetched"] == "2026-11-21T12:00:00+00:00"
    assert finished["error.type"] == "timeout"

"""What requests amount to: pace, requests over time, addresses and the period of the log."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from koster.logs import CrawlerReport, Options, Report, Version, Versions, analyze
from koster.logs import _summary as summary

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.fixture
def report(tmp_path: Path) -> Callable[..., Report]:
    def make(robots: str | Versions, *seconds: float, url: str = "/a", **options: object) -> Report:
        lines = (
            f"192.0.2.{number % 250} - - [{NOON + timedelta(seconds=each):%d/%b/%Y:%H:%M:%S} +0000] "
            f'"GET {url} HTTP/1.1" 200 1 "-" "ClaudeBot/1.0"\n'
            for number, each in enumerate(seconds)
        )
        path = tmp_path / "access.log"
        path.write_text("".join(lines))
        if isinstance(robots, str):
            robots = Versions("test", (Version("1", None, robots.encode()),))
        return analyze([str(path)], robots, Options(**options))  # type: ignore[arg-type]

    return make


def only(found: Report) -> CrawlerReport:
    (crawler,) = found.crawlers
    return crawler


def test_crawl_delay(report: Callable[..., Report]) -> None:
    pace = only(report("User-agent: *\nCrawl-delay: 10\n", 0, 10, 19, 27, 30, 100)).pace
    assert pace is not None
    assert (pace.directive, pace.intervals, pace.kept) == ("line 2, Crawl-delay: 10", 5, 2)
    assert (pace.worst_minute, pace.worst_minute_requests) == (NOON, 5)


def test_logs_have_whole_seconds(report: Callable[..., Report]) -> None:
    """1.5 seconds may be logged as 1 or 2."""
    pace = only(report("User-agent: *\nCrawl-delay: 1.5\n", 0, 0, 1, 3)).pace
    assert pace is not None
    assert (pace.intervals, pace.kept) == (3, 2)


def test_robots_txt_is_no_part_of_the_pace(report: Callable[..., Report]) -> None:
    found = report("User-agent: *\nCrawl-delay: 10\n", 0, 1, 2, url="/robots.txt")
    assert only(found).pace is None


def test_request_rate_and_visit_time(report: Callable[..., Report]) -> None:
    text = "User-agent: *\nRequest-rate: 1/20s\nVisit-time: 0600-1200\n"
    pace = only(report(text, -60, -30, 0, 60, 70)).pace
    assert pace is not None
    assert (pace.directive, pace.intervals, pace.kept) == ("line 2, Request-rate: 1/20s", 4, 3)
    assert pace.outside_visit_time == 3


def test_visit_time_alone(report: Callable[..., Report]) -> None:
    pace = only(report("User-agent: *\nVisit-time: 0600-0700\n", 0, 60)).pace
    assert pace is not None
    assert (pace.intervals, pace.outside_visit_time) == (0, 2)
    assert pace.directive.startswith("line 2, Visit-time: ")


def test_rate_of_an_hour(report: Callable[..., Report]) -> None:
    """Outside its hours the rate does not hold."""
    text = "User-agent: *\nRequest-rate: 1/1m 1200-1300\n"
    pace = only(report(text, -3, -2, -1, 0, 10, 120)).pace
    assert pace is not None
    assert (pace.intervals, pace.kept) == (3, 1)


def test_no_pace(report: Callable[..., Report]) -> None:
    assert only(report("User-agent: *\nDisallow: /x\n", 0, 1)).pace is None


def test_shortest_delay_of_the_versions_that_may_be_held_counts(
    report: Callable[..., Report],
) -> None:
    versions = Versions(
        "test",
        (
            Version("1", None, b"User-agent: *\nDisallow: /x\n"),
            Version("2", NOON + timedelta(hours=1), b"User-agent: *\nCrawl-delay: 10\n"),
        ),
    )
    hours = [24 * 3600 * day + second for day in (0, 1, 2) for second in (4000, 4001, 4002)]
    pace = only(report(versions, *hours)).pace
    assert pace is not None
    # On the first day the crawler may hold the version without a delay.
    assert (pace.intervals, pace.kept) == (6, 2)


def test_batches_continue_the_pace(
    report: Callable[..., Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = only(report("User-agent: *\nCrawl-delay: 10\n", *range(0, 1000, 7))).pace
    monkeypatch.setattr("koster.logs._files.blocks.__defaults__", (500,))
    assert only(report("User-agent: *\nCrawl-delay: 10\n", *range(0, 1000, 7))).pace == whole


def test_never_asked_is_known_after_a_day(report: Callable[..., Report]) -> None:
    assert only(report("User-agent: *\n", 0, 3600)).asked_for_robots_txt is None
    assert only(report("User-agent: *\n", 0, 86_400)).asked_for_robots_txt is False
    assert only(report("", 0, 60, grace=timedelta(minutes=1))).asked_for_robots_txt is False
    assert only(report("User-agent: *\n", 0, url="/robots.txt")).asked_for_robots_txt is True


def test_counts_and_period(report: Callable[..., Report]) -> None:
    found = report("User-agent: *\nDisallow: /a\n", 0, 10, 20, 90_000)
    crawler = only(found)
    assert (crawler.requests, crawler.violations, crawler.share) == (4, 4, 1)
    assert (found.first, found.last) == (NOON, NOON + timedelta(seconds=90_000))
    (rule,) = crawler.rules
    assert (rule.first, rule.last, rule.since) == (found.first, found.last, None)
    assert [each.time for each in rule.examples] == [
        NOON + timedelta(seconds=seconds) for seconds in (0, 10, 20)
    ]


def test_series_becomes_coarser(
    report: Callable[..., Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summary, "_MAX_PERIODS", 50)
    found = report("", *range(0, 40 * 86_400, 3600))
    assert found.period == 86_400
    series = only(found).series
    assert sum(allowed for _, allowed, _ in series) == 40 * 24
    assert len(series) == 41
    assert all(moment.hour == 0 for moment, _, _ in series)


def test_addresses_are_bounded(
    report: Callable[..., Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(summary, "_MAX_ADDRESSES", 20)
    found = only(report("", *range(600), are_addresses_shown=True))
    assert len(found.addresses) == summary.SHOWN_ADDRESSES
    assert all(count >= 2 for _, count in found.addresses)


def test_not_judged_is_said(report: Callable[..., Report]) -> None:
    versions = Versions("test", (Version("1", NOON + timedelta(hours=1), b"User-agent: *\n"),))
    found = report(versions, 0, 60, 7200)
    assert only(found).not_judged == 2
    assert found.notices[0].startswith("2 requests not judged: older than the first version")

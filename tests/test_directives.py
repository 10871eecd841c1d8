"""Crawl-delay, Request-rate, Visit-time, Content-Signal and Content-Usage."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta, timezone
from typing import Any

import pytest

import koster
from koster._moments import FIRST, LAST


def rules_with(
    *lines: str, agent: str = "FooBot", dialect: koster.Dialect = koster.RFC9309
) -> koster.Rules:
    return koster.parse("\n".join(["User-agent: *", *lines]), dialect).rules_for(agent)


def at(clock: str) -> datetime:
    return datetime.combine(datetime(2026, 11, 21), time.fromisoformat(clock), UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("5", 5.0), ("0", 0.0), ("0.5", 0.5), (".5", 0.5), ("10.", 10.0), ("1e2", 100.0),
        ("+3", 3.0), ("-0", 0.0),
        ("-1", None), ("x", None), ("5s", None), ("nan", None), ("inf", None), ("1e999", None),
        ("", None), ("1_0", None), ("5 6", None), ("0x5", None),
    ],
)  # fmt: skip
def test_crawl_delay(value: str, seconds: float | None) -> None:
    assert rules_with(f"Crawl-delay: {value}", "Disallow:").crawl_delay == seconds


def test_largest_delay_of_merged_groups_applies() -> None:
    robots = koster.parse(
        "User-agent: A\nCrawl-delay: 2\nDisallow: /\nUser-agent: A\nCrawl-delay: 9\nCrawl-delay: x\n"
        "Allow: /\nUser-agent: *\nCrawl-delay: 50"
    )
    assert robots.rules_for("A").crawl_delay == 9.0
    assert robots.rules_for("B").crawl_delay == 50.0


def test_values_belong_to_the_agents_above_them() -> None:
    robots = koster.parse(
        "Crawl-delay: 1\nUser-agent: A\nCrawl-delay: 5\nComment: hello A\nUser-agent: B\nDisallow: /\n"
        "Crawl-delay: 3\nComment: hello both"
    )
    assert robots.rules_for("A").crawl_delay == 5.0
    assert robots.rules_for("B").crawl_delay == 3.0
    assert robots.rules_for("A").comments == ("hello A", "hello both")
    assert robots.rules_for("B").comments == ("hello both",)
    assert robots.rules_for("Mozilla/5.0 (B; x)").comments == ("hello both",)
    assert robots.rules_for(("C", "A")).crawl_delay == 5.0
    assert robots.rules_for("C").crawl_delay is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("10/60", (10, 60, None, None)), ("10/10m", (10, 600, None, None)),
        ("20/1h", (20, 3600, None, None)), ("100/24h", (100, 86400, None, None)),
        ("1/1d", (1, 86400, None, None)), ("1/10S", (1, 10, None, None)),
        ("1/10s 1800-1900", (1, 10, time(18), time(19))),
        ("1 / 10 m 18:00 19:30", (1, 600, time(18), time(19, 30))),
        ("1/20m 1700-0459", (1, 1200, time(17), time(4, 59))),
        ("0/10", None), ("1/0", None), ("1", None), ("x/y", None), ("1/10w", None), ("-1/5", None),
        ("1/10s 2500-2600", None), ("1/10s 1800", None), ("1/10s1800-1900", None), ("", None),
    ],
)  # fmt: skip
def test_request_rate(value: str, expected: tuple[Any, ...] | None) -> None:
    rates = rules_with(f"Request-rate: {value}", "Disallow:").request_rates
    assert [(each.requests, each.seconds, each.start, each.end) for each in rates] == (
        [expected] if expected else []
    )
    assert all(each.line == 2 for each in rates)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0600-0845", (time(6), time(8, 45))), ("06:00 08:45", (time(6), time(8, 45))),
        ("06:00-08:45", (time(6), time(8, 45))), ("0600 - 0845", (time(6), time(8, 45))),
        ("0000-2400", (time(0), time(0))), ("2300-0100", (time(23), time(1))),
        ("0600", None), ("0600-0860", None), ("2401-0500", None), ("6-8", None), ("", None),
        ("0600-0845 1000-1100", None),
    ],
)  # fmt: skip
def test_visit_time(value: str, expected: tuple[time, time] | None) -> None:
    windows = rules_with(f"Visit-time: {value}", "Disallow:").visit_times
    assert [(each.start, each.end) for each in windows] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("clock", "is_open", "opens"),
    [
        ("05:59:59", False, "06:00"), ("06:00", True, "05:00"), ("08:44:59", True, None),
        ("08:45", False, "22:00"), ("21:59", False, "22:00"), ("22:00", True, None),
        ("00:30", True, None), ("01:00", False, "06:00"),
    ],
)  # fmt: skip
def test_open_at_and_next_open(clock: str, is_open: bool, opens: str | None) -> None:
    rules = rules_with("Visit-time: 0600-0845", "Visit-time: 2200-0100", "Disallow:")
    now = at(clock)
    assert rules.open_at(now) is is_open
    assert rules.next_open(now) == (now if is_open else at(opens or ""))


def test_next_open_can_be_tomorrow() -> None:
    rules = rules_with("Visit-time: 0600-0845", "Disallow:")
    assert rules.next_open(at("09:00")) == at("06:00") + timedelta(days=1)


def test_windows_are_in_utc() -> None:
    rules = rules_with("Visit-time: 0600-0845", "Disallow:")
    east = timezone(timedelta(hours=5))
    assert rules.open_at(datetime(2026, 11, 21, 11, 30, tzinfo=east))
    assert not rules.open_at(datetime(2026, 11, 21, 7, 0, tzinfo=east))
    assert rules.next_open(datetime(2026, 11, 21, 7, 0, tzinfo=east)) == at("06:00")


def test_without_windows_it_is_always_open() -> None:
    assert rules_with("Disallow: /").open_at(at("03:00"))
    assert rules_with("Visit-time: nonsense", "Disallow: /").open_at(at("03:00"))
    assert rules_with("Visit-time: 0500-0500", "Disallow: /").open_at(at("03:00"))


def test_window_can_include_its_end_minute() -> None:
    from dataclasses import replace

    from koster.dialects import WindowEnd

    dialect = replace(koster.RFC9309, name="THROUGH", window_end=WindowEnd.THROUGH_MINUTE)
    rules = rules_with("Visit-time: 0600-0845", "Disallow:", dialect=dialect)
    assert rules.open_at(at("08:45:59"))
    assert not rules.open_at(at("08:46"))
    assert rules_with("Visit-time: 0000-2400", "Disallow:", dialect=dialect).open_at(at("12:00"))
    whole_day = rules_with("Visit-time: 0000-2359", "Disallow:", dialect=dialect)
    assert whole_day.open_at(at("23:59:59"))
    assert whole_day.open_at(at("00:00"))


def test_visit_time_disallows_nothing() -> None:
    rules = rules_with("Visit-time: 0600-0845", "Disallow: /x")
    assert rules.allowed("/y")


def test_interval_is_the_slowest_that_applies() -> None:
    rules = rules_with(
        "Crawl-delay: 2", "Request-rate: 1/10m 1300-1659", "Request-rate: 1/20m 1700-0459",
        "Request-rate: 5/1m 0500-1259", "Disallow:",
    )  # fmt: skip
    assert rules.interval(at("13:30")) == 600.0
    assert rules.interval(at("02:00")) == 1200.0
    assert rules.interval(at("06:00")) == 12.0
    assert rules.interval(at("16:59:30")) == 2.0
    without_window = rules_with("Request-rate: 10/60", "Request-rate: 1/1h", "Disallow:")
    assert without_window.interval(at("00:00")) == 3600.0
    assert rules_with("Crawl-delay: 7", "Request-rate: 1/5").interval(at("00:00")) == 7.0
    assert rules_with("Disallow: /").interval(at("00:00")) is None


@pytest.mark.parametrize("name", ["open_at", "next_open", "interval"])
def test_naive_datetime_is_rejected(name: str) -> None:
    with pytest.raises(ValueError, match="time zone"):
        getattr(rules_with("Disallow:"), name)(datetime(2026, 11, 21))


def test_dialects_without_crawl_delay_ignore_it() -> None:
    body = "User-agent: *\nCrawl-delay: 5\nSitemap: /s\nDisallow: /"
    for dialect, delay, sitemaps in (
        (koster.RFC9309, 5.0, ("/s",)), (koster.GYM2008, 5.0, ("/s",)),
        (koster.GOOGLE, None, ("/s",)), (koster.MK1996, None, ()), (koster.MK1994, None, ()),
    ):  # fmt: skip
        robots = koster.parse(body, dialect)
        assert robots.rules_for("x").crawl_delay == delay
        assert robots.sitemaps == sitemaps


def as_tuples(preferences: tuple[koster.Preference, ...]) -> list[tuple[str, str, str | None]]:
    return [(each.key, each.value, each.pattern) for each in preferences]


def test_content_signal() -> None:
    rules = rules_with(
        "Content-Signal: search=yes, AI-Input = No ,ai-train=no,use=full,x,=y,z=", "Allow: /"
    )
    assert as_tuples(rules.preferences) == [
        ("search", "yes", None), ("ai-input", "no", None), ("ai-train", "no", None),
        ("use", "full", None),
    ]  # fmt: skip
    assert all(each.directive is koster.Directive.CONTENT_SIGNAL for each in rules.preferences)
    assert rules.preferences_for("/") == rules.preferences


def test_signals_before_any_group_apply_to_the_whole_file() -> None:
    robots = koster.parse(
        "Content-Signal: search=yes, ai-train=yes\nUser-agent: A\nContent-Signal: ai-train=no\nAllow: /\n"
    )
    assert as_tuples(robots.preferences) == [("search", "yes", None), ("ai-train", "yes", None)]
    assert as_tuples(robots.rules_for("A").preferences_for("/")) == [
        ("search", "yes", None),
        ("ai-train", "no", None),
    ]
    assert as_tuples(robots.rules_for("B").preferences_for("/")) == as_tuples(robots.preferences)


def test_no_wins_over_yes_in_conflicting_signals() -> None:
    for first, second in (("no", "yes"), ("yes", "no")):
        rules = rules_with(
            f"Content-Signal: search={first}", f"Content-Signal: search={second}", "Allow: /"
        )
        assert as_tuples(rules.preferences_for("/")) == [("search", "no", None)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("train-ai=n", [("train-ai", "n", None)]),
        ("train-ai=n, search=y", [("train-ai", "n", None), ("search", "y", None)]),
        ("/ok/ train-ai=y", [("train-ai", "y", "/ok/")]),
        ("/ok/\ttrain-ai=y", [("train-ai", "y", "/ok/")]),
        ("train-ai=n;x=1;y, search=y", [("train-ai", "n", None), ("search", "y", None)]),
        ("train-ai=n, train-ai=y", [("train-ai", "y", None)]),
        ("train-ai", [("train-ai", "?1", None)]),
        ("train-ai=?0", [("train-ai", "?0", None)]),
        ('a="x,y", train-ai=n', [("a", '"x,y"', None), ("train-ai", "n", None)]),
        ("train-ai=n ,\tsearch=y", [("train-ai", "n", None), ("search", "y", None)]),
        ("Train-AI=n", []), ("train-ai=n,", []), ("train-ai=n search=y", []), ("=n", []),
        ("/ok/", []), ("", []),
    ],
)  # fmt: skip
def test_content_usage(value: str, expected: list[tuple[str, str, str | None]]) -> None:
    assert as_tuples(rules_with(f"Content-Usage: {value}", "Allow: /").preferences) == expected


def test_content_usage_has_paths() -> None:
    """The example of draft-ietf-aipref-attach."""
    robots = koster.parse(
        "User-Agent: *\nAllow: /\nDisallow: /never/\nContent-Usage: train-ai=n\n"
        "Content-Usage: /ai-ok/ train-ai=y\n\nUser-Agent: ExampleBot\nAllow: /\n"
        "Content-Usage: train-ai=y\n"
    )
    other_rules = robots.rules_for("FooBot")
    assert as_tuples(other_rules.preferences_for("/test")) == [("train-ai", "n", None)]
    assert other_rules.preferences_for("/never/test") == ()
    assert as_tuples(other_rules.preferences_for("/ai-ok/test")) == [("train-ai", "y", "/ai-ok/")]
    example_rules = robots.rules_for("ExampleBot")
    for url in ("/test", "/never/test", "/ai-ok/test"):
        assert as_tuples(example_rules.preferences_for(url)) == [("train-ai", "y", None)]


def test_content_usage_of_robots_txt_itself() -> None:
    rules = rules_with("Content-Usage: / train-ai=n", "Content-Usage: search=y", "Allow: /")
    assert as_tuples(rules.preferences_for("/robots.txt")) == [("train-ai", "n", "/")]


def test_long_values_take_linear_time() -> None:
    for value in ("a" + " " * 500_000 + "b", "a" + ";a" * 200_000 + " b", "a," * 200_000):
        assert rules_with(f"Content-Usage: {value}", "Allow: /").preferences == ()
    assert rules_with("Crawl-delay: " + "1" * 500_000).crawl_delay is None
    assert rules_with("Request-rate: 1/1" + " " * 500_000 + "x").request_rates == ()
    assert rules_with("Visit-time: 0600" + " " * 500_000 + "x").visit_times == ()


@pytest.mark.parametrize(
    ("moment", "hours", "expected"),
    [(datetime.min, 5, FIRST), (datetime.max, -5, LAST), (datetime.max, 0, LAST)],
)
def test_moments_out_of_range_in_utc(moment: datetime, hours: int, expected: datetime) -> None:
    now = moment.replace(tzinfo=timezone(timedelta(hours=hours)))
    rules = rules_with("Crawl-delay: 5", "Request-rate: 1/9 2300-0100", "Disallow:")
    assert rules.interval(now) == 9
    assert rules.open_at(now)
    assert rules.next_open(now) == expected
    assert rules_with("Visit-time: 0600-0700").open_at(now) is False
    assert FIRST < rules_with("Visit-time: 0600-0700").next_open(now) <= LAST


def test_next_open_after_the_last_year() -> None:
    rules = rules_with("Visit-time: 0600-0700", "Disallow:")
    assert rules.next_open(datetime(9999, 12, 31, 23, tzinfo=UTC)) == LAST


def test_content_usage_ties_and_unknown_values() -> None:
    rules = rules_with(
        "Content-Usage: /a train-ai=y", "Content-Usage: /a train-ai=n, search=y",
        "Content-Usage: /*b train-ai=maybe", "Content-Usage: /caf%C3%A9 search=n", "Allow: /",
    )  # fmt: skip
    assert as_tuples(rules.preferences_for("/ab")) == []
    assert as_tuples(rules.preferences_for("/ax")) == [
        ("train-ai", "n", "/a"),
        ("search", "y", "/a"),
    ]
    assert as_tuples(rules.preferences_for("/café")) == [("search", "n", "/caf%C3%A9")]


@pytest.mark.parametrize("line", ["Crawl-delay: 5", "Request-rate: 1/5", "Comment: five"])
def test_directives_do_not_apply_to_agents_below_them(line: str) -> None:
    robots = koster.parse(f"User-agent: FooBot\n{line}\nUser-agent: *\nDisallow: /x")
    for agent, applies in (("FooBot", True), ("BarBot", False), ("*", False)):
        rules = robots.rules_for(agent)
        assert bool(rules.crawl_delay or rules.request_rates or rules.comments) == applies
        assert not rules.allowed("/x")

"""The types of the public API, as mypy --strict sees them in a user's program.

mypy checks this file against the installed package, without the settings of this project (make lint,
and test_public_api.py with a wheel). It is not run: ``assert_type`` fails in mypy.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Sequence
from datetime import datetime, time
from pathlib import Path
from typing import Any, assert_type

import koster
import koster.analysis
import koster.bulk
import koster.cache
import koster.diff
import koster.expectations
import koster.lint
from koster.access import Access, Failure, FailureKind, Request, Response, outcome_of
from koster.fetch import (
    Event,
    EventName,
    FleetPacer,
    Guard,
    Limits,
    Longer,
    MockTransport,
    PaceBy,
    Pacer,
    Reply,
    to_ascii,
)
from koster.freshness import Entry, Hop
from koster.origins import Origin, as_browsers_read, origin_of
from koster.politeness import RULE_OF_THUMB, Fetch, Pace, interval, next_request

#: Valid agents: a product token or a header, or several in order of preference.
AGENTS: tuple[str | Sequence[str], ...] = ("FooBot", ("FooBot-Image", "FooBot"), ["FooBot"])


def module() -> None:
    assert_type(koster.COMPILED, bool)
    assert_type(koster.__version__, str)


def parse() -> None:
    assert_type(koster.parse("User-agent: *"), koster.RobotsTxt)
    assert_type(koster.parse(b"User-agent: *"), koster.RobotsTxt)
    assert_type(koster.parse("", koster.GOOGLE), koster.RobotsTxt)
    assert_type(koster.parse("", dialect=koster.GOOGLE), koster.RobotsTxt)
    assert_type(koster.parse_file("robots.txt", koster.GOOGLE), koster.RobotsTxt)
    assert_type(koster.parse_file(Path("robots.txt")), koster.RobotsTxt)
    assert_type(koster.RobotsTxt(b"", koster.MK1996), koster.RobotsTxt)


def robots_txt(robots: koster.RobotsTxt) -> None:
    for agent in AGENTS:
        assert_type(robots.allowed("/x", agent), bool)
        assert_type(robots.decide("/x", agent), koster.Decision)
        assert_type(robots.rules_for(agent), koster.Rules)
        assert_type(koster.Rules(robots, agent), koster.Rules)
    assert_type(robots.groups, tuple[koster.Group, ...])
    assert_type(robots.lines, tuple[koster.Line, ...])
    assert_type(robots.sitemaps, tuple[str, ...])
    assert_type(robots.hosts, tuple[str, ...])
    assert_type(robots.licenses, tuple[str, ...])
    assert_type(robots.values(koster.Directive.NOINDEX), tuple[str, ...])
    assert_type(robots.clean_params, tuple[koster.CleanParam, ...])
    assert_type(robots.preferences, tuple[koster.Preference, ...])
    assert_type(robots.dialect, koster.Dialect)
    assert_type(robots.body, bytes)


def rules_of_a_crawler(rules: koster.Rules, urls: Iterator[str], now: datetime) -> None:
    assert_type(rules.allowed("/x"), bool)
    assert_type(rules.decide("/x"), koster.Decision)
    assert_type(rules.allowed_many(["/x", "/y"]), list[bool])
    assert_type(rules.allowed_many(urls), list[bool])
    assert_type(rules.values(koster.Directive.COMMENT), tuple[str, ...])
    assert_type(rules.crawl_delay, float | None)
    assert_type(rules.request_rates, tuple[koster.RequestRate, ...])
    assert_type(rules.visit_times, tuple[koster.VisitTime, ...])
    assert_type(rules.comments, tuple[str, ...])
    assert_type(rules.interval(now), float | None)
    assert_type(rules.open_at(now), bool)
    assert_type(rules.next_open(now), datetime)
    assert_type(rules.preferences, tuple[koster.Preference, ...])
    assert_type(rules.preferences_for("/x"), tuple[koster.Preference, ...])
    assert_type(rules.groups, tuple[koster.Group, ...])
    assert_type(rules.group_lines, tuple[int, ...])
    assert_type(rules.is_named, bool)
    assert_type(rules.agent, str | tuple[str, ...])
    assert_type(rules.dialect, koster.Dialect)


def decision(result: koster.Decision) -> None:
    assert_type(result.allowed, bool)
    assert_type(result.reason, koster.Reason)
    assert_type(result.rule, koster.Rule | None)
    assert_type(result.group, koster.Group | None)
    assert_type(result.agent, str | tuple[str, ...])
    assert_type(result.url, str)
    assert_type(result.dialect, koster.Dialect)
    assert_type(result.why, str)
    assert_type(bool(result), bool)
    if result.rule is not None:
        assert_type(result.rule.line, int)
    if result.reason is koster.Reason.RULE:
        # A reason is a str, for logs and JSON.
        text: str = result.reason
        assert_type(text, str)


def values(
    rule: koster.Rule,
    group: koster.Group,
    line: koster.Line,
    rate: koster.RequestRate,
    visit: koster.VisitTime,
) -> None:
    assert_type(rule.directive, koster.Directive)
    assert_type(rule.pattern, str)
    assert_type(rule.line, int)
    assert_type(rule.allow, bool)
    assert_type(rule.column, int)
    assert_type(group.agents, tuple[str, ...])
    assert_type(group.rules, Sequence[koster.Rule])
    assert_type(group.line, int)
    assert_type(group.version, str | None)
    assert_type(line.number, int)
    assert_type(line.kind, koster.LineKind)
    assert_type(line.text, str)
    assert_type(line.key, str)
    assert_type(line.value, str)
    assert_type(line.comment, str | None)
    assert_type(line.column, int)
    assert_type(line.directive, koster.Directive | None)
    assert_type(rate.requests, int)
    assert_type(rate.seconds, int)
    assert_type(rate.start, time | None)
    assert_type(rate.end, time | None)
    assert_type(rate.interval, float)
    assert_type(rate.through_end, bool)
    assert_type(visit.start, time)
    assert_type(visit.end, time)


def preferences(preference: koster.Preference, params: koster.CleanParam) -> None:
    assert_type(preference.directive, koster.Directive)
    assert_type(preference.key, str)
    assert_type(preference.value, str)
    assert_type(preference.line, int)
    assert_type(preference.pattern, str | None)
    assert_type(params.names, tuple[str, ...])
    assert_type(params.path, str)
    assert_type(params.line, int)


def dialects() -> None:
    for dialect in (
        koster.RFC9309,
        koster.GOOGLE,
        koster.MK1994,
        koster.MK1996,
        koster.GYM2008,
        koster.EXTENDED2,
        koster.EXTENDED2_1996,
    ):
        assert_type(dialect, koster.Dialect)
        assert_type(dialect.name, str)
    assert_type(koster.dialect_named("google"), koster.Dialect)
    assert_type(koster.DIALECTS["GOOGLE"], koster.Dialect)
    assert_type(list(koster.DIALECTS), list[str])


def errors(too_soon: koster.TooSoonError, too_slow: koster.TooSlowError) -> None:
    assert_type(too_soon.until, datetime)
    assert_type(too_slow.interval, float)
    assert_type(too_slow.line, int)
    assert_type(too_slow.text, str)
    koster_errors: tuple[type[koster.KosterError], ...] = (
        koster.UnknownDialectError,
        koster.UnreadableError,
        koster.UrlError,
        koster.CacheError,
        koster.TooSoonError,
        koster.TooSlowError,
        koster.MissingExtraError,
    )
    lookup_error: type[LookupError] = koster.UnknownDialectError
    os_error: type[OSError] = koster.UnreadableError
    value_error: type[ValueError] = koster.UrlError
    import_error: type[ImportError] = koster.MissingExtraError
    print(koster_errors, lookup_error, os_error, value_error, import_error)


def client(on_event: list[Event]) -> None:
    with koster.RobotsClient(
        user_agent="FooBot/1.0",
        agent=("FooBot-Image", "FooBot"),
        dialect=koster.GOOGLE,
        timeout=5,
        cache="robots.sqlite",
        guard=koster.PUBLIC_ONLY,
        at_once=10,
        pacer=Pacer(default=Pace(times_fetch=1.0, at_least=1.0)),
        on_event=on_event.append,
        unreachable=koster.Unreachable.ALLOW,
    ) as robots:
        assert_type(robots, koster.RobotsClient)
        assert_type(robots.allowed("https://example.com/x"), bool)
        assert_type(robots.allowed("https://example.com/x", "FooBot"), bool)
        assert_type(robots.allowed("https://example.com/x", agent=["FooBot"]), bool)
        assert_type(robots.decide("https://example.com/x"), koster.Decision)
        assert_type(robots.robots("https://example.com/"), koster.Outcome)
        assert_type(robots.refetch("https://example.com/"), koster.Outcome)
        assert_type(robots.wait("https://example.com/x", at_most=60), float)
        assert_type(robots.next_request("https://example.com/x"), datetime)
        robots.took("https://example.com/x", 0.4)
        robots.prefetch(["https://example.com/x", "https://example.org/y"])
        assert_type(robots.cached("https://example.com/x"), koster.Outcome | None)
        with robots.turn("https://example.com/x", at_most=60) as turn:
            assert_type(turn.allowed, bool)
            assert_type(turn.decision, koster.Decision)
            assert_type(turn.waited, float)
            turn.sent()
            turn.answered(503, retry_after="120")
        robots.took("https://example.com/x", 0.4, response=200)
        robots.answered("https://example.com/x", 429, "FooBot", retry_after=60)
        robots.close()


def network(context: ssl.SSLContext, http: Any, async_http: Any) -> None:
    koster.RobotsClient(
        "FooBot/1.0",
        headers={"From": "bot@foo.example"},
        default_interval=2,
        min_interval=1,
        max_interval=300,
        longer=Longer.CAP,
        pace_by=PaceBy.DOMAIN,
        proxy="http://proxy.example:3128",
        trust_env=False,
        verify=context,
    )
    koster.AsyncRobotsClient("FooBot/1.0", verify="ca.pem", cert=("own.pem", "own.key"))
    koster.RobotsClient("FooBot/1.0", http=http)
    koster.AsyncRobotsClient("FooBot/1.0", http=async_http, pace_by=lambda url: url[:20])
    Pacer(limits=Limits(min_interval=1.0, max_interval=300.0))


async def async_client(on_event: list[Event]) -> None:
    async with koster.AsyncRobotsClient(
        user_agent="FooBot/1.0", cache=koster.cache.MemoryCache(), on_event=on_event.append
    ) as robots:
        assert_type(robots, koster.AsyncRobotsClient)
        assert_type(await robots.allowed("https://example.com/x"), bool)
        assert_type(await robots.allowed("https://example.com/x", ("A", "B")), bool)
        assert_type(await robots.decide("https://example.com/x"), koster.Decision)
        assert_type(await robots.robots("https://example.com/"), koster.Outcome)
        assert_type(await robots.refetch("https://example.com/"), koster.Outcome)
        assert_type(await robots.wait("https://example.com/x", at_most=60), float)
        assert_type(await robots.next_request("https://example.com/x"), datetime)
        await robots.took("https://example.com/x", 0.4)
        await robots.prefetch(["https://example.com/x", "https://example.org/y"])
        assert_type(await robots.cached("https://example.com/x"), koster.Outcome | None)
        async with robots.turn("https://example.com/x") as turn:
            assert_type(turn.allowed, bool)
        await robots.aclose()


def outcome(result: koster.Outcome, rules: koster.Rules) -> None:
    assert_type(result.origin, str)
    assert_type(result.dialect, koster.Dialect)
    assert_type(result.robots, koster.RobotsTxt | None)
    assert_type(result.reason, koster.Reason | None)
    assert_type(result.why, str)
    assert_type(result.url, str)
    assert_type(result.hops, tuple[Hop, ...])
    assert_type(result.hops[0].status, int | None)
    assert_type(result.fetched, datetime)
    assert_type(result.expires, datetime)
    assert_type(result.unreachable_since, datetime | None)
    assert_type(result.is_stale, bool)
    assert_type(result.is_cut, bool)
    assert_type(result.is_downgraded, bool)
    assert_type(result.charset, str | None)
    assert_type(result.unreachable, koster.Unreachable)
    assert_type(result.sitemaps, tuple[str, ...])
    assert_type(result.crawl_delay("FooBot"), float | None)
    assert_type(result.allowed("/x", "FooBot"), bool)
    assert_type(result.decide("/x", ["FooBot"]), koster.Decision)
    assert_type(result.decide_by(rules, "/x"), koster.Decision)


def fetching(event: Event, rules: koster.Rules, now: datetime) -> None:
    assert_type(event.name, EventName)
    assert_type(event.origin, str)
    assert_type(Guard(also=("10.1.2.0/24",)), Guard)
    sites = MockTransport(
        {
            "https://example.com": "User-agent: *",
            "https://down.example": 503,
            "https://moved.example": Reply(301, headers={"Location": "https://example.com/"}),
            "https://slow.example": TimeoutError("too slow"),
            "https://back.example": [503, "User-agent: *"],
        }
    )
    assert_type(sites.requests, list[str])
    koster.RobotsClient("FooBot/1.0", transport=sites)
    koster.AsyncRobotsClient("FooBot/1.0", transport=sites)
    pacer = FleetPacer("redis://localhost:6379/0", on_event=print)
    koster.RobotsClient("FooBot/1.0", pacer=pacer)
    assert_type(pacer, FleetPacer)
    assert_type(Pacer().turn("example.com", rules, now), float)
    assert_type(Pacer().next_request("example.com", rules, now), datetime)


def caches(entry: Entry) -> None:
    caches: tuple[koster.cache.Cache, ...] = (
        koster.cache.MemoryCache(entries=10, max_bytes=1 << 20),
        koster.cache.SqliteCache("robots.sqlite", max_bytes=1 << 20),
        koster.cache.RedisCache("redis://localhost:6379/0", prefix="mine:"),
        OwnCache(),
    )
    for cache in caches:
        assert_type(cache.get("key"), Entry | None)
        cache.put("key", entry)
        cache.close()
        koster.RobotsClient("FooBot/1.0", cache=cache)


class OwnCache:
    """A user-defined cache needs no base class."""

    def get(self, key: str) -> Entry | None:
        return None

    def put(self, key: str, entry: Entry) -> None:
        pass

    def close(self) -> None:
        pass


def without_a_network(now: datetime, answer: Response) -> None:
    origin = origin_of("https://example.com/x", to_ascii)
    assert_type(origin, Origin)
    assert_type(origin.robots_url, str)
    assert_type(as_browsers_read("https://example.com/a/../b"), str)
    access = Access(koster.RFC9309.statuses, to_ascii)
    step = access.begin(origin)
    assert_type(step, Request)
    next_step = access.respond(step, answer, now)
    assert_type(next_step, Request | Entry)
    failure_entry = access.fail(step, Failure(FailureKind.TIMEOUT, "too slow"), now)
    assert_type(failure_entry, Entry)
    assert_type(outcome_of(failure_entry, koster.RFC9309, now), koster.Outcome)


def politeness(rules: koster.Rules, now: datetime) -> None:
    assert_type(next_request(rules, Fetch(now, 0.4), now), datetime)
    assert_type(next_request(rules, None, now, Pace(times_fetch=1, at_least=1)), datetime)
    assert_type(interval(rules, now, 0.4), float)
    assert_type(RULE_OF_THUMB, Pace)


def analysis(robots: koster.RobotsTxt, rules: koster.Rules) -> None:
    budget = koster.analysis.Budget(steps=1_000)
    classification = koster.analysis.classify(rules, budget)
    assert_type(classification, koster.analysis.Classification)
    assert_type(classification.extent, koster.analysis.Extent)
    assert_type(classification.allowed, str | None)
    assert_type(classification.rule, koster.Rule | None)
    assert_type(classification.is_proved, bool)
    dead = koster.analysis.dead_rules(rules)
    assert_type(dead.rules, tuple[koster.analysis.DeadRule, ...])
    assert_type(dead.rules[0].cause, koster.analysis.Cause)
    assert_type(dead.rules[0].covered_by, tuple[koster.Rule, ...])
    idle = koster.analysis.idle_rules(rules)
    assert_type(idle, koster.analysis.IdleRules)
    assert_type(idle.rules, tuple[koster.analysis.IdleRule, ...])
    assert_type(idle.rules[0].instead, koster.Rule | None)
    assert_type(koster.analysis.redundant_rules(rules, rules), tuple[koster.Rule, ...])
    differences = koster.analysis.difference(rules, rules, budget)
    assert_type(differences, koster.analysis.Differences)
    assert_type(differences.are_equal, bool)
    assert_type(differences.found, tuple[koster.analysis.Difference, ...])
    assert_type(differences.found[0].before, koster.Decision)
    assert_type(
        koster.analysis.disagreements(robots, [koster.GOOGLE], ["FooBot"]),
        tuple[koster.analysis.Disagreement, ...],
    )
    assert_type(koster.analysis.rule_sets(robots), list[tuple[str, koster.Rules]])
    assert_type(koster.analysis.likely_urls(rules), dict[int, str])


def whole_files(robots: koster.RobotsTxt) -> None:
    whole = koster.analysis.WholeFile(robots, (koster.GOOGLE,))
    assert_type(whole.sets, list[tuple[str, koster.Rules]])
    assert_type(whole.surely_dead, list[tuple[koster.analysis.DeadRule, str]])
    assert_type(whole.surely_idle, list[koster.analysis.IdleRule])
    comparison = koster.diff.compare(robots, robots, known=["FooBot"])
    assert_type(comparison, koster.diff.Comparison)
    assert_type(comparison.is_empty, bool)
    assert_type(comparison.changes, tuple[koster.diff.Change, ...])
    assert_type(comparison.changes[0].differences, koster.analysis.Differences)
    assert_type(comparison.settings, tuple[koster.diff.Setting, ...])


def lint() -> None:
    findings = koster.lint.lint(b"", koster.RFC9309, dialects=(koster.GOOGLE,))
    assert_type(findings, list[koster.lint.Finding])
    assert_type(findings[0].code, str)
    assert_type(findings[0].severity, koster.lint.Severity)
    assert_type(findings[0].line, int)
    assert_type(findings[0].edits, tuple[koster.lint.Edit, ...])
    assert_type(findings[0].url, str | None)
    assert_type(koster.lint.with_edits(b"", findings), bytes)
    assert_type(koster.lint.fixed(b""), bytes)
    assert_type(koster.lint.fixes(b"", koster.lint.lint).body, bytes)
    assert_type(koster.lint.fixes(b"", koster.lint.lint).kept, tuple[koster.lint.Kept, ...])
    assert_type(koster.lint.chosen(["P"], ignore=["P004"]), tuple[koster.lint.Check, ...])
    assert_type(koster.lint.CHECKS[0].family, koster.lint.Family)


def expectations(robots: koster.RobotsTxt) -> None:
    expected = koster.expectations.read("")
    assert_type(expected, koster.expectations.Expectations)
    assert_type(expected.robots, str | None)
    assert_type(expected.questions, tuple[koster.expectations.Expectation, ...])
    results = koster.expectations.check(expected, robots, same_as=robots)
    assert_type(results, list[koster.expectations.Result])
    assert_type(results[0].passed, bool)
    assert_type(results[0].line, int | None)


def bulk(bodies: list[str]) -> None:
    """Not every version of Arrow ships types: results are Any, arguments are checked."""
    koster.bulk.classify(bodies, ["FooBot"], koster.GOOGLE)
    koster.bulk.decide(bodies, "/x", "FooBot")
    koster.bulk.allowed("User-agent: *", ["/x", "/y"], "FooBot")
    koster.bulk.facts(bodies, dialect=koster.GOOGLE)

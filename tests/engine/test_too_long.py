"""A URL that is too long for the many patterns of a file is refused; equal patterns count once.

The bound does not depend on how often a file was asked: the rules are searched in another way then.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pyarrow as pa
import pytest

import koster
from koster._asking import rules_for_data, selection_of
from koster.analysis import likely_urls
from koster.analysis._ranking import Ranking
from koster.bulk import kernel
from koster.bulk.judging import judge
from koster.compat import protego, robotparser
from koster.fetch import RobotsClient
from koster.fetch.mock import MockTransport
from koster.lint import lint

URL = "/" + "a" * 8100


def rules(lines: list[str], dialect: koster.Dialect = koster.RFC9309) -> koster.Rules:
    return koster.parse("\n".join(["User-agent: *", *lines, ""]), dialect).rules_for("FooBot")


def reasons(asked: koster.Rules, url: str) -> set[koster.Reason]:
    """Return the reasons of many lookups: first without an index, then with it."""
    return {asked.decide(url).reason for _ in range(6)}


def test_equal_patterns_are_searched_once() -> None:
    asked = rules(["Allow: *aabb", "Disallow: *aabb"] * 2_000)
    assert reasons(asked, URL) == {koster.Reason.NO_RULE}
    decision = asked.decide(URL + "bb")
    assert decision.rule is not None
    assert (decision.rule.line, decision.rule.allow) == (2, True)


def test_many_patterns_are_refused() -> None:
    asked = rules([f"Allow: *aabb{number}" for number in range(2_000)])
    assert reasons(asked, URL) == {koster.Reason.URL_TOO_LONG}
    assert not asked.allowed(URL)
    assert asked.allowed_many(["/b", URL]) == [True, False]
    assert str(asked.decide(URL)) == (
        f"FooBot may not fetch {URL}: the URL is too long for the many patterns of the file"
    )
    assert asked.decide("/robots.txt?" + URL).reason is koster.Reason.ROBOTS_TXT


@pytest.mark.parametrize("dialect", [koster.RFC9309, koster.GOOGLE, koster.GYM2008], ids=str)
def test_bound_is_exact(dialect: koster.Dialect) -> None:
    """1,200 patterns times 2,500 bytes are the maximum."""
    asked = rules([f"Allow: /*b{number}" for number in range(1200)], dialect)
    assert reasons(asked, "/" + "a" * 2499) == {koster.Reason.NO_RULE}
    assert reasons(asked, "/" + "a" * 2500) == {koster.Reason.URL_TOO_LONG}


def test_bound_counts_bytes_of_the_canonical_path() -> None:
    asked = rules([f"Allow: /*b{number}" for number in range(1200)])
    assert reasons(asked, "https://example.com/" + "\u00e9" * 416) == {koster.Reason.NO_RULE}
    assert reasons(asked, "https://example.com/" + "\u00e9" * 417) == {koster.Reason.URL_TOO_LONG}


def test_patterns_that_begin_otherwise_do_not_count() -> None:
    asked = rules([f"Disallow: /category/{number}/*?sort={number}" for number in range(4_000)])
    assert reasons(asked, "/category/77/" + "a" * 8000) == {koster.Reason.NO_RULE}
    assert reasons(asked, f"/category/77/{'a' * 8000}?sort=77") == {koster.Reason.RULE}


@pytest.mark.parametrize("count", [366, 367, 999, 2000])
def test_usual_urls_are_decided_whatever_the_number_of_patterns(count: int) -> None:
    asked = rules([f"Disallow: /{number}/*?sort={number}" for number in range(count)])
    assert reasons(asked, "/7/" + "a" * 8189) == {koster.Reason.NO_RULE}


def test_patterns_count_along_the_way_of_a_path() -> None:
    """Those whose start is the start of one another are all searched for."""
    lines = [f"Disallow: /{'a' * (number % 40)}*b{number}" for number in range(1200)]
    assert reasons(rules(lines), "/" + "a" * 2500) == {koster.Reason.URL_TOO_LONG}
    assert reasons(rules(lines), "/" + "b" * 2500) == {koster.Reason.URL_TOO_LONG}
    others = [f"Disallow: /{'ab'[number % 2]}*b{number}" for number in range(2400)]
    assert reasons(rules(others), "/" + "a" * 2499) == {koster.Reason.NO_RULE}


def test_shell_patterns_weigh_more() -> None:
    lines = [f"Allow: *{'[ab]' * 16}{number}" for number in range(1200)]
    asked = rules(["Robot-version: 2.0", *lines], koster.EXTENDED2)
    assert reasons(asked, "/" + "c" * 1000) == {koster.Reason.NO_RULE}
    assert reasons(asked, "/" + "c" * 2000) == {koster.Reason.URL_TOO_LONG}


def test_repeated_patterns_decide_as_each_alone() -> None:
    """Trailing stars make a pattern longer, so that it may decide instead of an earlier one."""
    chance = random.Random(7)
    made = [
        f"{chance.choice(['Allow', 'Disallow'])}: /*{chance.choice('abc')}"
        f"{chance.choice(['', 'x', '$', '*', '**', '*$'])}"
        for _ in range(1500)
    ]
    firsts = list(dict.fromkeys(made))
    many, few = rules(made), rules(firsts)
    for url in ("/a", "/b", "/ax", "/cxx", "/abc", "/d", "/axb"):
        for _ in range(6):
            one, other = many.decide(url), few.decide(url)
            assert one.allowed == other.allowed
            assert (one.rule is None) == (other.rule is None)
            if one.rule is not None and other.rule is not None:
                assert one.rule.pattern == other.rule.pattern
                assert one.rule.line == 2 + made.index(firsts[other.rule.line - 2])


def test_the_analysis_sees_every_rule() -> None:
    found = selection_of(rules(["Allow: /*aabb"] * 1200)).compiled_rules()
    assert len(found) == 1200
    assert {rule[0] for rule in found} == {b"/*aabb"}
    findings = lint(("User-agent: *\n" + "Disallow: /*a\n" * 1200).encode())
    assert [finding.line for finding in findings if finding.code == "S003"] == [*range(3, 1202)]


def test_other_doors_refuse_too() -> None:
    body = "User-agent: *\n" + "".join(f"Allow: /*aabb{number}\n" for number in range(2000))
    url = "https://example.com" + URL
    assert kernel.decide([body] * 2, [url, "/b"], "FooBot").to_pylist() == [
        {"allowed": False, "reason": "URL too long", "line": None, "pattern": None},
        {"allowed": True, "reason": "no rule", "line": None, "pattern": None},
    ]
    assert kernel.allowed([body], [url], "FooBot").to_pylist() == [False]
    with RobotsClient("FooBot", transport=MockTransport({"https://example.com": body})) as client:
        assert not client.allowed(url)
        assert client.decide(url).reason is koster.Reason.URL_TOO_LONG
    assert not protego.Protego.parse(body).can_fetch(url, "FooBot")
    parser = robotparser.RobotFileParser()
    parser.parse(body.splitlines())
    assert not parser.can_fetch("FooBot", url)
    assert not rules_for_data(koster.parse(body), "x").allowed(url)


def test_operators_are_not_blamed_for_urls_that_are_too_long() -> None:
    body = "User-agent: *\n" + "".join(f"Disallow: /*aabb{number}\n" for number in range(2000))
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    requests = pa.table({"time": [moment], "crawler": ["GPTBot"], "url": [URL], "status": [200]})
    schema = pa.schema({"since": pa.timestamp("us", "UTC"), "body": pa.string()})
    versions = pa.table({"since": [None], "body": [body]}, schema=schema)
    assert [each["verdict"] for each in judge(requests, versions).to_pylist()] == ["not_judged"]


def test_no_example_is_a_url_that_is_too_long() -> None:
    asked = rules([f"Allow: /*b{number}" for number in range(1200)] + [f"Disallow: /{'a' * 3000}"])
    assert not any(len(url) > 2500 for url in likely_urls(asked).values())
    assert not Ranking(asked).deciding(f"/{'a' * 3000}").is_rule

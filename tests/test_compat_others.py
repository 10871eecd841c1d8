"""webcanon, urllib.robotparser, Protego and Scrapy's parser: what their documentation says.

Their own test suites are run by ``make compat``.
"""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import json
import pickle
import socket
import subprocess
import sys
import threading
import time as clock
import tomllib
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from datetime import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
import strategies
from facades import robotparser_of
from hypothesis import given
from server import Answer, Site, closed_port
from support import Case, all_cases

import koster
from koster.compat import (
    protego,
    robotexclusionrulesparser,
    robotparser,
    robotstxt,
    webcanon,
)
from koster.compat.reppy import Robots
from koster.compat.robotparser import RobotFileParser
from koster.compat.scrapy import KosterRobotParser
from koster.compat.webcanon import RobotsConfig, RobotsMatch, RobotsPolicy, RobotsVerdict, Rule

# webcanon

BOT = "WebCanonBot"


def verdict(body: str, url: str, product: str = BOT) -> tuple[str, int | None]:
    said, match = webcanon.evaluate_robots(webcanon.parse_robots(body), url, product)
    return said.value, match.source_line if match else None


@pytest.mark.parametrize(
    ("rules", "path", "expected"),
    [
        ("Disallow: /private", "/private/a", ("disallowed_explicit", 2)),
        ("Disallow: /private", "/public", ("allowed_implicit", None)),
        ("Disallow: /docs\nAllow: /docs/public", "/docs/public/a", ("allowed_explicit", 3)),
        ("Disallow: /docs\nAllow: /docs/public", "/docs/secret", ("disallowed_explicit", 2)),
        ("Disallow: /*.pdf$", "/file.pdf", ("disallowed_explicit", 2)),
        ("Disallow: /*.pdf$", "/file.pdf?x=1", ("allowed_implicit", None)),
    ],
)
def test_webcanon_worked_examples(rules: str, path: str, expected: tuple[str, int | None]) -> None:
    assert verdict(f"User-agent: *\n{rules}", "https://example.com" + path) == expected


def test_webcanon_lines_are_split_at_hash_and_colon() -> None:
    policy = webcanon.parse_robots(
        "USER-AGENT : *# all\nDisallow:/a # b\nnonsense\nCrawl-delay: 5\nSitemap: /s:1\nAllow: /a:b"
    )
    assert policy.groups == {"*": [Rule(False, "/a", 2), Rule(True, "/a:b", 6)]}
    assert policy.sitemaps == ["/s:1"]


def test_webcanon_consecutive_agents_share_rules_and_groups_merge() -> None:
    policy = webcanon.parse_robots(
        "User-agent: A\n\nCrawl-delay: 1\nUser-agent: B\nDisallow: /x\nUser-agent: a\nDisallow: /y"
    )
    assert policy.groups == {
        "a": [Rule(False, "/x", 5), Rule(False, "/y", 7)], "b": [Rule(False, "/x", 5)]
    }  # fmt: skip


def test_webcanon_rules_before_any_agent_are_for_everybody() -> None:
    body = "Disallow: /a\nUser-agent: *\nDisallow: /b"
    assert verdict(body, "/a") == ("disallowed_explicit", 1)
    assert verdict(body, "/b") == ("disallowed_explicit", 3)
    assert webcanon.parse_robots(body).groups["*"][0].source_line == 1


@pytest.mark.parametrize(
    ("token", "is_for"),
    [("WebCanon", True), ("canon", True), ("webcanonbot/1", False), ("x", False)],
)
def test_webcanon_a_token_is_a_prefix_of_or_within_the_product(token: str, is_for: bool) -> None:
    body = f"User-agent: *\nDisallow: /all\n\nUser-agent: {token}\nDisallow: /own"
    rules = webcanon.parse_robots(body).rules_for(BOT)
    assert [rule.pattern for rule in rules] == ["/own" if is_for else "/all"]
    assert (verdict(body, "/own")[0] == "disallowed_explicit") == is_for


def test_webcanon_all_groups_that_match_are_merged_else_everybody_s_hold() -> None:
    body = "User-agent: web\nDisallow: /a\nUser-agent: canon\nDisallow: /b\nUser-agent: *\nDisallow: /c"
    assert [rule.pattern for rule in webcanon.parse_robots(body).rules_for(BOT)] == ["/a", "/b"]
    assert [rule.pattern for rule in webcanon.parse_robots(body).rules_for("x")] == ["/c"]
    assert webcanon.parse_robots("User-agent: y\nDisallow: /").rules_for("x") == []


@pytest.mark.parametrize(
    ("pattern", "url", "matches"),
    [
        ("/a*c", "/abc", True), ("/a$", "/a", True), ("/a$", "/ab", False), ("/a$b", "/a$b", True),
        ("/a.c", "/abc", False), ("/a?b", "/a?b=1", True), ("/caf\xe9", "/caf%C3%A9", True),
        ("/a b", "/a%20b", True), ("/a%20b", "/a%20b", False), ("/a", "/a#b", True),
        ("/", "https://example.com", True), ("/a#b", "/a", True),
    ],
)  # fmt: skip
def test_webcanon_patterns(pattern: str, url: str, matches: bool) -> None:
    said, _ = verdict(f"User-agent: *\nDisallow: {pattern}", url)
    assert said == ("disallowed_explicit" if matches else "allowed_implicit")


def test_webcanon_the_longest_pattern_wins_without_its_anchor() -> None:
    assert verdict("User-agent: *\nDisallow: /a$\nAllow: /a", "/a") == ("allowed_explicit", 3)
    assert verdict("User-agent: *\nAllow: /a\nDisallow: /a$", "/a") == ("allowed_explicit", 2)
    assert verdict("User-agent: *\nAllow: /\nDisallow: /ab$", "/ab") == ("disallowed_explicit", 3)
    # Characters count, not bytes.
    body = "User-agent: *\nDisallow: /é*\nAllow: /*bc"
    assert verdict(body, "/ébc") == ("allowed_explicit", 3)


def test_webcanon_an_empty_disallow_never_matches() -> None:
    assert verdict("User-agent: *\nDisallow:", "/a") == ("allowed_implicit", None)
    assert verdict("User-agent: *\nAllow:", "/a") == ("allowed_explicit", 2)


def test_webcanon_robots_txt_itself_is_implicitly_allowed() -> None:
    assert verdict("User-agent: *\nDisallow: /", "https://x/robots.txt")[0] == "allowed_implicit"
    assert verdict("User-agent: *\nDisallow: /", "/robots.txt?x")[0] == "disallowed_explicit"


def test_webcanon_a_policy_may_be_made_and_changed_by_hand() -> None:
    policy = RobotsPolicy()
    policy.groups["*"] = [Rule(False, "/a", 7), Rule(True, "/a/b", 9)]
    assert webcanon.evaluate_robots(policy, "/a/x", BOT) == (
        RobotsVerdict.DISALLOWED_EXPLICIT, RobotsMatch(False, "/a", 7)
    )  # fmt: skip
    read = webcanon.parse_robots("User-agent: *\nDisallow: /a\nSitemap: s")
    read.groups["*"].append(Rule(True, "/a/b", 5))
    assert webcanon.evaluate_robots(read, "/a/b", BOT)[0] is RobotsVerdict.ALLOWED_EXPLICIT
    assert read.sitemaps == ["s"]
    assert read == RobotsPolicy({"*": [Rule(False, "/a", 2), Rule(True, "/a/b", 5)]}, ["s"])
    assert "Rule(allow=False, pattern='/a', source_line=2)" in repr(read)


@pytest.mark.parametrize("pattern", ["/a#b", "/a  b", "/a\tb", "/a\nb", "/a "])
def test_webcanon_rules_made_by_hand_may_have_any_characters(pattern: str) -> None:
    policy = RobotsPolicy({"*": [Rule(False, pattern, 1)]})
    url = quote(pattern)
    assert webcanon.evaluate_robots(policy, url, BOT)[0] is RobotsVerdict.DISALLOWED_EXPLICIT
    assert webcanon.evaluate_robots(policy, "/a", BOT)[0] is RobotsVerdict.ALLOWED_IMPLICIT


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, "allowed_implicit"), (204, "allowed_implicit"), (404, "allowed_implicit"),
        (403, "allowed_implicit"), (410, "allowed_implicit"), (500, "unknown_unreachable"),
        (503, "unknown_unreachable"), (None, "unknown_unreachable"),
    ],
)  # fmt: skip
def test_webcanon_transport_verdicts(status: int | None, expected: str) -> None:
    assert webcanon.transport_verdict(status).value == expected


def test_webcanon_config() -> None:
    config = RobotsConfig()
    assert config.max_cache_seconds == 24 * 60 * 60
    assert (config.mode, config.on_unavailable, config.on_unreachable) == (
        "respect", "allow_with_warning", "deny"
    )  # fmt: skip
    lenient = RobotsConfig(on_unreachable="allow_with_warning")
    assert webcanon.transport_verdict(None, lenient) is RobotsVerdict.ALLOWED_IMPLICIT
    assert webcanon.transport_verdict(500, lenient) is RobotsVerdict.UNKNOWN_UNREACHABLE
    strict = RobotsConfig(on_unavailable="deny")
    assert webcanon.transport_verdict(404, strict) is RobotsVerdict.UNKNOWN_UNREACHABLE
    assert webcanon.transport_verdict(200, strict) is RobotsVerdict.ALLOWED_IMPLICIT
    ignoring = RobotsConfig(mode="ignore")
    for status in (None, 200, 404, 500):
        assert webcanon.transport_verdict(status, ignoring) is RobotsVerdict.SKIPPED_BY_USER_POLICY
    assert RobotsVerdict.SKIPPED_BY_USER_POLICY == "skipped_by_user_policy"  # type: ignore[comparison-overlap]


@pytest.mark.parametrize("body", ["User-agent: *\nDisallow: /\n\nUser-agent: WebCanonBot\n",
                                  "User-agent: *\nDisallow: /\nUser-agent: canon\nCrawl-delay: 1"])  # fmt: skip
def test_webcanon_a_matching_group_without_rules_applies(body: str) -> None:
    """ "If any non-* group matches, those rules are merged and used; otherwise the * group"."""
    policy = webcanon.parse_robots(body)
    assert verdict(body, "/x") == ("allowed_implicit", None)
    assert verdict(body, "/x", "Other") == ("disallowed_explicit", 2)
    for _ in range(2):
        assert policy.rules_for(BOT) == []
        assert len(policy.groups) == 2
    assert webcanon.evaluate_robots(policy, "/x", BOT)[0] is RobotsVerdict.ALLOWED_IMPLICIT


def test_webcanon_groups_have_every_token() -> None:
    policy = webcanon.parse_robots("User-agent: A\nDisallow: /x\nUser-agent: B\nUser-agent: *\n")
    assert policy.groups == {"a": [Rule(False, "/x", 2)], "b": [], "*": []}


def test_webcanon_structures_are_dataclasses() -> None:
    policy = webcanon.parse_robots("User-agent: a\nDisallow: /x\nSitemap: s")
    assert dataclasses.asdict(policy) == {
        "groups": {"a": [{"allow": False, "pattern": "/x", "source_line": 2}]}, "sitemaps": ["s"],
    }  # fmt: skip
    other = dataclasses.replace(
        webcanon.parse_robots("User-agent: a\nDisallow: /x"), sitemaps=["t"]
    )
    assert other == RobotsPolicy({"a": [Rule(False, "/x", 2)]}, ["t"])
    for structure, names in [
        (RobotsPolicy, ["groups", "sitemaps"]),
        (Rule, ["allow", "pattern", "source_line"]),
        (RobotsMatch, ["allow", "pattern", "source_line"]),
        (RobotsConfig, ["mode", "on_unavailable", "on_unreachable", "max_cache_seconds"]),
        (webcanon.RobotsDecision, ["verdict", "user_agent", "requested_url", "recommendation",
                                   "reason", "matched_rule"]),
    ]:  # fmt: skip
        assert [each.name for each in dataclasses.fields(structure)] == names
    for copied in (pickle.loads(pickle.dumps(policy)), copy.deepcopy(policy), copy.copy(policy)):
        assert copied == policy
    fresh = webcanon.parse_robots("User-agent: a\nDisallow: /x\nSitemap: s")
    assert pickle.loads(pickle.dumps(fresh)) == policy
    with pytest.raises(AttributeError, match="has no attribute 'rules'"):
        _ = policy.rules  # type: ignore[attr-defined]


def test_webcanon_a_policy_that_was_read_can_be_changed() -> None:
    body = "User-agent: *\nDisallow: /\nSitemap: s"
    policy = webcanon.parse_robots(body)
    policy.groups = {}
    assert webcanon.evaluate_robots(policy, "/x", BOT)[0] is RobotsVerdict.ALLOWED_IMPLICIT
    assert (policy.groups, policy.sitemaps) == ({}, ["s"])
    policy = webcanon.parse_robots(body)
    policy.rules_for(BOT)[0].allow = True
    assert webcanon.evaluate_robots(policy, "/x", BOT)[0] is RobotsVerdict.ALLOWED_EXPLICIT


def test_webcanon_a_policy_can_be_shared_between_threads() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(100):
            policy = webcanon.parse_robots("User-agent: a\nDisallow: /\nSitemap: s")
            with ThreadPoolExecutor(4) as threads:
                found = list(threads.map(lambda name, of=policy: getattr(of, name), ["groups"] * 8))
            assert found == [{"a": [Rule(False, "/", 2)]}] * 8
    finally:
        sys.setswitchinterval(before)


@pytest.mark.parametrize("product", ["€Bot", "a\nb"])
def test_webcanon_a_product_that_cannot_be_sent_is_refused(product: str) -> None:
    with pytest.raises(ValueError, match="printable ASCII"):
        webcanon.RobotsGate(product)


def test_webcanon_too_many_redirects_are_no_response(site: Site) -> None:
    site.robots(301, headers={"Location": "/robots.txt"})
    with pytest.raises(webcanon.PolicyError, match=r"robots.txt unavailable: redirect loop"):
        webcanon.RobotsGate("Foo").check(f"{site.url}/x")


def test_webcanon_tokens_compare_without_case_beyond_ascii() -> None:
    body = "User-agent: *\nDisallow: /a\n\nUser-agent: \xc4bot\nDisallow: /b"
    assert verdict(body, "/b", "\xe4BOT")[0] == "disallowed_explicit"
    assert verdict(body, "/b", "x\xc4bot")[0] == "disallowed_explicit"


# webcanon's client: "respect", "report_only", "ignore"; what results mean; the cache.


def test_webcanon_respect_raises_and_report_only_reports(site: Site) -> None:
    site.robots(200, b"User-agent: *\nDisallow: /private\n")
    gate = webcanon.RobotsGate("Foo")
    with pytest.raises(webcanon.PolicyError, match=r"blocks .*/private/x: disallowed_explicit"):
        gate.check(f"{site.url}/private/x")
    said = gate.check(f"{site.url}/public")
    assert (said.verdict, said.recommendation) == ("allowed_implicit", "recommended")
    assert (said.user_agent, said.matched_rule) == ("Foo", None)
    assert site.asked[0][1]["User-Agent"] == "Foo"
    reporting = webcanon.RobotsGate("Foo", RobotsConfig(mode="report_only"))
    said = reporting.check(f"{site.url}/private/x")
    assert (said.verdict, said.recommendation) == ("disallowed_explicit", "not_recommended")
    assert said.matched_rule == {"type": "disallow", "pattern": "/private", "source_line": 2}
    assert said.reason == "matched rule on line 2"


def test_webcanon_ignore_does_not_even_fetch(site: Site) -> None:
    site.robots(200, b"User-agent: *\nDisallow: /")
    said = webcanon.RobotsGate(config=RobotsConfig(mode="ignore")).check(f"{site.url}/x")
    assert (said.verdict, said.recommendation) == ("skipped_by_user_policy", "recommended")
    assert site.asked == []


@pytest.mark.parametrize(
    ("answer", "config", "expected"),
    [
        (Answer(404), RobotsConfig(), "allowed_implicit"),
        (Answer(429), RobotsConfig(), "allowed_implicit"),
        (Answer(404), RobotsConfig("report_only", "deny"), "unknown_unreachable"),
        (Answer(503), RobotsConfig("report_only"), "unknown_unreachable"),
        (Answer(503), RobotsConfig("report_only", on_unreachable="allow_with_warning"),
         "unknown_unreachable"),
        (Answer(302), RobotsConfig("report_only"), "unknown_unreachable"),
        (Answer(close=True), RobotsConfig("report_only"), "unknown_unreachable"),
        (Answer(close=True), RobotsConfig(on_unreachable="allow_with_warning"), "allowed_implicit"),
        (Answer(garbage=True), RobotsConfig("report_only"), "unknown_unreachable"),
        (Answer(200, b"\x1f\x8bx", {"Content-Encoding": "gzip"}), RobotsConfig("report_only"),
         "unknown_unreachable"),
        (Answer(200, b"Disallow: /", delay=3), RobotsConfig("report_only"), "unknown_unreachable"),
    ],
)  # fmt: skip
def test_webcanon_what_results_mean(
    site: Site,
    answer: Answer,
    config: RobotsConfig,
    expected: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    site.pages["/robots.txt"] = answer
    gate = webcanon.RobotsGate("Foo", config, timeout=0.5)
    assert gate.check(f"{site.url}/x").verdict == expected
    if config.mode == "report_only":
        with pytest.raises(webcanon.PolicyError, match="unknown_unreachable"):
            webcanon.RobotsGate(
                "Foo", dataclasses.replace(config, mode="respect"), timeout=0.5
            ).check(f"{site.url}/x")
    warned = [each.message for each in caplog.records if each.name == "koster.compat.webcanon"]
    assert bool(warned) == (expected == "allowed_implicit")


def test_webcanon_a_site_may_be_an_address_of_ipv6() -> None:
    with socket.socket(socket.AF_INET6) as listening:
        try:
            listening.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6")
        listening.listen()

        def serve() -> None:
            asking, _ = listening.accept()
            with asking:
                asking.recv(4096)
                asking.sendall(b"HTTP/1.0 200 OK\r\n\r\nUser-agent: *\nDisallow: /x")

        thread = threading.Thread(target=serve)
        thread.start()
        url = f"http://[::1]:{listening.getsockname()[1]}/x"
        with pytest.raises(webcanon.PolicyError):
            webcanon.RobotsGate("Foo").check(url)
        thread.join()


def test_webcanon_a_redirect_is_followed(site: Site) -> None:
    site.robots(301, headers={"Location": "/elsewhere?x"})
    site.pages["/elsewhere?x"] = Answer(200, b"User-agent: *\nDisallow: /")
    with pytest.raises(webcanon.PolicyError):
        webcanon.RobotsGate("Foo").check(f"{site.url}/x")


@pytest.mark.parametrize(
    ("config", "headers", "fetches"),
    [
        (RobotsConfig(), {}, 1),
        (RobotsConfig(max_cache_seconds=0), {}, 3),
        (RobotsConfig(max_cache_seconds=0), {"Cache-Control": "max-age=1000"}, 3),
    ],
)
def test_webcanon_max_cache_seconds(
    site: Site, config: RobotsConfig, headers: dict[str, str], fetches: int
) -> None:
    site.robots(200, b"User-agent: *\nDisallow: /x", headers)
    gate = webcanon.RobotsGate("Foo", config)
    for _ in range(3):
        gate.check(f"{site.url}/y")
    assert len(site.asked) == fetches


# urllib.robotparser

ROBOTS = """\
User-agent: *
Crawl-delay: 3
Request-rate: 9/30
Disallow: /tmp
Allow: /tmp/open

User-agent: FigTree
Disallow:
Sitemap: https://example.com/s.xml
"""


def test_robotparser_answers() -> None:
    parser = robotparser_of(ROBOTS)
    assert not parser.can_fetch("x", "https://example.com/tmp/a?b")
    assert parser.can_fetch("x", "/tmp/open/a")
    assert parser.can_fetch("figtree/1.0", "/tmp")
    assert parser.crawl_delay("x") == 3
    assert parser.request_rate("x") == robotparser.RequestRate(9, 30)
    assert parser.crawl_delay("figtree") is parser.request_rate("figtree") is None
    assert parser.site_maps() == parser.sitemaps == ["https://example.com/s.xml"]
    assert robotparser_of("").site_maps() is None
    assert str(parser) == (
        "User-agent: *\nCrawl-delay: 3\nRequest-rate: 9/30\nDisallow: /tmp\nAllow: /tmp/open\n\n"
        "User-agent: FigTree\nAllow: "
    )


def test_robotparser_nothing_is_allowed_before_it_was_read() -> None:
    parser = RobotFileParser()
    assert (parser.can_fetch("x", "/"), parser.mtime(), parser.crawl_delay("*")) == (False, 0, None)
    assert (parser.url, parser.host, parser.path) == ("", "", "")
    parser.modified()
    assert parser.can_fetch("x", "/")
    assert abs(parser.mtime() - clock.time()) < 60


def test_robotparser_entries_and_groups() -> None:
    parser = robotparser_of("User-agent: A\nUser-agent: B\nDisallow: /x\nUser-agent: a\nAllow: /y")
    assert [entry.useragents for entry in parser.entries] == [["A", "B"], ["a"]]
    assert [str(line) for line in parser.groups["a"].rulelines] == ["Disallow: /x", "Allow: /y"]
    assert parser.default_entry is None


def test_robotparser_precedence_is_by_pattern_not_by_what_it_matched() -> None:
    """CPython 3.13.14 to 3.15 compare what was matched, and block /public/x."""
    parser = robotparser_of("User-agent: *\nDisallow: /*\nAllow: /public/")
    assert parser.can_fetch("x", "/public/x")


@pytest.mark.parametrize(
    ("agent", "path"),
    [("googlebot", "/first"), ("Googlebot-Mobile", "/second"), ("Googlebot-News", "/first"),
     ("Googlebot/2.1", "/first"), ("other", "/all")],
)  # fmt: skip
def test_robotparser_the_name_itself_goes_before_a_part_of_it(agent: str, path: str) -> None:
    parser = robotparser_of(
        "User-agent: Googlebot\nDisallow: /first\nUser-agent: Googlebot-Mobile\nDisallow: /second\n"
        "User-agent: *\nDisallow: /all"
    )
    paths = ("/first", "/second", "/all")
    assert [each for each in paths if not parser.can_fetch(agent, each)] == [path]


@pytest.mark.parametrize(
    ("pattern", "url", "blocked"),
    [
        ("/a$", "/a", True), ("/a$", "/ab", False), ("/a$$", "/a", True), ("/a$*", "/a", True),
        ("/a$b", "/a$b", False), ("/**a", "/xa", True), ("/caf\xe9", "/caf%c3%a9", True),
        ("/v\udcf0", "/v%F0", True), ("/v%f0", "/v\udcf0", True), ("/p%xy", "/p%25xy", True),
        ("/john doe", "/john%20doe", True), ("/q%3Fa", "/q?a", False), ("/a?", "/a?", True),
        ("/a?", "/a", False), ("/a?b=%3F", "/a?b=?", True), ("/a%2Fb", "/a/b", False),
    ],
)  # fmt: skip
def test_robotparser_patterns(pattern: str, url: str, blocked: bool) -> None:
    parser = robotparser_of(f"User-agent: *\nDisallow: {pattern}")
    assert parser.can_fetch("x", url) != blocked


def test_robotparser_what_is_not_sane_is_ignored() -> None:
    parser = robotparser_of(
        "User-agent: *\nCrawl-delay: 5\nCrawl-delay: pears\nRequest-rate: 9/banana\nDisallow /"
    )
    assert (parser.crawl_delay("x"), parser.request_rate("x")) == (5, None)
    assert parser.can_fetch("x", "/")


def test_robotparser_a_second_file_adds_to_the_first() -> None:
    parser = robotparser_of("User-agent: *\nDisallow: /a")
    parser.parse(["Disallow: /b\n", "User-agent: x\n", "Disallow: /c\n"])
    assert (parser.can_fetch("y", "/a"), parser.can_fetch("y", "/b")) == (False, True)
    assert not parser.can_fetch("x", "/c")
    assert [entry.useragents for entry in parser.entries] == [["*"], ["x"]]


@pytest.mark.parametrize(
    ("status", "flags"),
    [(401, (True, False)), (403, (True, False)), (404, (False, True)), (410, (False, True)),
     (500, (True, False)), (503, (True, False))],
)  # fmt: skip
def test_robotparser_statuses(site: Site, status: int, flags: tuple[bool, bool]) -> None:
    parser = RobotFileParser(site.robots(status))
    parser.read()
    assert (parser.disallow_all, parser.allow_all) == flags
    assert parser.can_fetch("x", "/") == flags[1]
    assert parser.mtime() == 0


def test_robotparser_reads_bytes_that_are_not_utf_8(site: Site) -> None:
    body = b"\xef\xbb\xbfUser-agent: *\nDisallow: /non-utf8/\xf0\nDisallow: /\xf0\x9f\x90\x8d"
    parser = RobotFileParser()
    parser.set_url(urllib.request.Request(site.robots(200, body)))
    assert parser.path == "/robots.txt"
    parser.read()
    assert not parser.can_fetch("x", "/non-utf8/%F0")
    assert not parser.can_fetch("x", "/\U0001f40d")
    assert parser.mtime() > 0


def test_robotparser_no_server_is_a_url_error() -> None:
    with pytest.raises(urllib.error.URLError):
        RobotFileParser(f"http://127.0.0.1:{closed_port()}/robots.txt").read()


@pytest.mark.parametrize("value", ["/$" + "*" * 200_000, "/" + "$" * 200_000, "/" + "$*" * 100_000])
def test_robotparser_anchors_take_no_time(value: str) -> None:
    parser = robotparser_of(f"User-agent: *\nDisallow: {value}")
    assert not parser.can_fetch("x", "/")
    assert parser.can_fetch("x", "/a")


def test_robotparser_numbers_of_any_length_are_none() -> None:
    digits = "9" * 5000
    parser = robotparser_of(f"User-agent: *\nCrawl-delay: {digits}\nRequest-rate: 1/{digits}")
    assert (parser.crawl_delay("x"), parser.request_rate("x")) == (None, None)
    assert str(parser) == "User-agent: *\nAllow:"


def test_robotparser_many_names_of_many_groups() -> None:
    names = [f"User-agent: a{number}" for number in range(400)]
    parser = robotparser_of("\n".join([*names, *names, "Disallow: /x", *names, "Disallow: /y"]))
    groups = parser.groups
    assert len(groups) == 400
    assert [str(rule) for rule in groups["a7"].rulelines] == ["Disallow: /x", "Disallow: /y"]


# Protego


@pytest.mark.parametrize("name", [" bot", "(bot", "a", "a" * 4000])
def test_protego_names_take_no_time(name: str) -> None:
    parser = protego.Protego.parse(f"User-agent: {name}\nDisallow: /\n" * 300)
    assert parser.can_fetch("/", "b" + "a" * 8000 + "x(bot") in (True, False)


PROTEGO = """\
User-agent: FooBot
Crawl-delay: 4
Crawl-delay: x
Request-rate: 1/10m 0900-1730
Visit-time: 0200 0630
Disallow: /a$b
Allow: /x/index.html
Disallow: /x

user agent bar bot
disallow /horcrux tail

User-agent: *
Disallow: /all
Host: one.example
Host: two.example
Sitemap https://example.com/s.xml
Sitemap:
"""


def test_protego_answers() -> None:
    parser = protego.Protego.parse(PROTEGO)
    assert not parser.can_fetch("https://example.com/a$b", "FooBot")
    assert not parser.can_fetch("https://example.com/a%24b/c", "FooBot")
    assert parser.can_fetch("https://example.com/x/", "FooBot")
    assert not parser.can_fetch("https://example.com/x/y", "FooBot")
    assert not parser.can_fetch("https://example.com/horcrux%20tail", "bar bot")
    assert not parser.can_fetch("https://example.com/all", "Mozilla/5.0 (other)")
    assert parser.can_fetch("https://example.com/all", "Mozilla/5.0 (FooBot/1.0)")
    assert parser.can_fetch("https://example.com/robots.txt?x=%26", "FooBot")
    assert parser.crawl_delay("FooBot") == 4.0
    assert parser.crawl_delay("other") is None
    assert parser.request_rate("FooBot") == protego.RequestRate(1, 600, time(9), time(17, 30))
    assert parser.request_rate("other") is parser.visit_time("other") is None
    assert parser.visit_time("FooBot") == protego.VisitTime(time(2), time(6, 30))
    assert parser.preferred_host == "two.example"
    assert next(parser.sitemaps) == "https://example.com/s.xml"
    assert list(parser.sitemaps) == ["https://example.com/s.xml"]


def test_protego_before_a_file() -> None:
    parser = protego.Protego()
    assert parser.can_fetch("/", "FooBot")
    assert (parser.preferred_host, list(parser.sitemaps)) == (None, [])


@pytest.mark.parametrize("content", [b"User-agent: *", None, 1])
def test_protego_takes_text_only(content: object) -> None:
    with pytest.raises(TypeError, match="expects str, got"):
        protego.Protego.parse(content)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "agent", "is_for"),
    [
        ("foo", "foobot", True), ("bot", "foobot", False), ("bot", "foo bot/1.0", True),
        ("bot", "foo-bot", False), ("bot", "foo_bot", False), ("foo*", "foobot", True),
        ("foo*bot", "foobot", True), ("foo*bot", "foo*bot", True), ("bot", "xbot bot", True),
    ],
)  # fmt: skip
def test_protego_a_name_begins_a_word_of_the_agent(name: str, agent: str, is_for: bool) -> None:
    parser = protego.Protego.parse(f"User-agent: {name}\nDisallow: /")
    assert parser.can_fetch("/", agent) != is_for


def test_protego_the_longest_name_counts() -> None:
    parser = protego.Protego.parse(
        "User-agent: foo\nDisallow: /a\nUser-agent: foobot\nDisallow: /b\nUser-agent: FOO\nDisallow: /c"
    )
    assert parser.can_fetch("/a", "foobot")
    assert not parser.can_fetch("/b", "foobot")
    assert not parser.can_fetch("/a", "food")
    assert not parser.can_fetch("/c", "food")


@pytest.mark.parametrize(
    ("line", "blocked"),
    [
        ("disallow /a", True), ("disallow\t/a", True), ("disallow: /a", True), ("disallow : /a", True),
        ("Foo: bar", False), ("disallow", False), ("disallowed /a", False), ("dissalow /a", True),
        ("disallow /a:b", False), ("disallow /a:", False), ("Foo: disallow /a", False),
        ("disallow http://x/a", False),
    ],
)  # fmt: skip
def test_protego_lines_without_a_colon(line: str, blocked: bool) -> None:
    parser = protego.Protego.parse(f"user-agent: *\n{line}")
    assert parser.can_fetch("/a", "x") != blocked


def test_protego_any_known_or_unknown_line_ends_the_agents() -> None:
    for line in ("Crawl-delay: 1", "Foo: bar", "Disallow:"):
        body = f"User-agent: a\n{line}\nUser-agent: b\nDisallow: /"
        assert protego.Protego.parse(body).can_fetch("/", "a")
    for line in ("Sitemap: /s", "Host: h", "nonsense", ""):
        body = f"User-agent: a\n{line}\nUser-agent: b\nDisallow: /"
        assert not protego.Protego.parse(body).can_fetch("/", "a")


def test_protego_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    assert not protego.Protego.parse("\ufeffUser-agent: *\nDisallow: /").can_fetch("/", "x")


@pytest.mark.parametrize("escaped", ["%3D", "%26", "%3F", "%3d"])
def test_protego_the_escapes_of_query_separators_are_no_others_than_they(escaped: str) -> None:
    raw = chr(int(escaped[1:], 16))
    for pattern, url in ((escaped, raw), (raw, escaped)):
        parser = protego.Protego.parse(f"User-agent: *\nDisallow: /a{pattern}b")
        assert not parser.can_fetch(f"https://example.com/a{url}b", "x")


# Scrapy


def test_scrapy_s_parser() -> None:
    body = b"\xef\xbb\xbfUser-agent: FooBot\nDisallow: /x\nCrawl-delay: 2\n\nUser-agent: *\nDisallow: /\xff"
    for made in (KosterRobotParser.from_crawler(None, body), KosterRobotParser(body, None)):
        assert not made.allowed("https://example.com/x", "FooBot")
        assert not made.allowed(b"https://example.com/x", b"FooBot/2.0 (+https://foo.example)")
        assert not made.allowed(b"https://example.com/%FF", b"*")
        assert made.crawl_delay("FooBot") == 2.0
        assert made.crawl_delay(b"other") is None
        assert made.spider is None
    empty = KosterRobotParser.from_crawler(None, b"")
    assert empty.allowed("https://example.com/", "*")


# One request at a time: Scrapy 2.19 asks no parser, whichever it is, about requests that were
# waiting together for a robots.txt, but for the first two.
SPIDER = """\
import json, sys
import scrapy
from scrapy.crawler import CrawlerProcess

class Spider(scrapy.Spider):
    name = "spider"
    async def start(self):
        for path in ("/", "/private/x", "/private/press", "/loose"):
            yield scrapy.Request(sys.argv[1] + path, callback=self.parse)
    def parse(self, response):
        print("GOT", response.url.removeprefix(sys.argv[1]), flush=True)

process = CrawlerProcess({
    "ROBOTSTXT_OBEY": True, "CONCURRENT_REQUESTS": 1, "USER_AGENT": sys.argv[2], "LOG_LEVEL": "ERROR", "DOWNLOAD_DELAY": 0,
    "ROBOTSTXT_PARSER": "koster.compat.scrapy.KosterRobotParser", "TELNETCONSOLE_ENABLED": False,
})
process.crawl(Spider)
process.start()
"""


@pytest.mark.parametrize(
    ("agent", "got"),
    [("FooBot/1.0 (+https://foo.example)", {"/", "/private/press", "/loose"}),
     ("OtherBot/1.0", {"/", "/private/x", "/private/press"})],
)  # fmt: skip
def test_a_real_crawl_of_scrapy_honours_it(
    site: Site, tmp_path: Path, agent: str, got: set[str]
) -> None:
    site.robots(
        200,
        b"User-agent: FooBot\nDisallow: /private\nAllow: /private/press\n\nUser-agent: *\nDisallow: /loose",
    )
    for path in ("/", "/private/x", "/private/press", "/loose"):
        site.pages[path] = Answer(200, b"page", {"Content-Type": "text/html"})
    script = tmp_path / "spider.py"
    script.write_text(SPIDER)
    done = subprocess.run(
        [sys.executable, str(script), site.url, agent],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert {line.split()[1] for line in done.stdout.splitlines() if line[:3] == "GOT"} == got
    asked = {path for path, _ in site.asked}
    assert asked == got | {"/robots.txt"}, done.stderr


# All of them


@pytest.mark.parametrize(
    "make",
    [
        lambda: protego.Protego.parse(PROTEGO), lambda: robotparser_of(ROBOTS),
        lambda: webcanon.parse_robots(ROBOTS), lambda: KosterRobotParser(ROBOTS.encode()),
    ],
)  # fmt: skip
def test_they_pickle(make: object) -> None:
    made = make()  # type: ignore[operator]
    assert type(pickle.loads(pickle.dumps(made))) is type(made)


def test_facades_import_nothing_outside_the_standard_library() -> None:
    code = (
        "import importlib, json, pkgutil, sys, koster.compat as compat\n"
        "for each in pkgutil.walk_packages(compat.__path__, 'koster.compat.'):\n"
        "    importlib.import_module(each.name)\n"
        "names = {name.partition('.')[0] for name in sys.modules}\n"
        "print(json.dumps(sorted(names - set(sys.stdlib_module_names) - {'koster', '__main__'})))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(Path(koster.__file__).parent.parent)!r})\n{code}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    names = [name for name in json.loads(done.stdout) if "cython" not in name]
    assert names == []


@pytest.mark.parametrize(
    "case", [case for case in all_cases() if case.dialect is koster.RFC9309], ids=str
)
def test_cases_through_scrapy_s_parser(case: Case) -> None:
    if isinstance(case.agent, str):
        made = KosterRobotParser.from_crawler(None, case.body)
        for url, allowed in case.expected.items():
            assert (made.allowed(url, case.agent), url) == (allowed, url)


@given(strategies.bodies, strategies.urls, strategies.agents)
def test_no_facade_raises_because_of_what_a_file_says(body: bytes, url: str, agent: str) -> None:
    text = body.decode("utf-8", "replace")
    rerp = robotexclusionrulesparser.RobotExclusionRulesParser()
    rerp.parse(body)
    rerp.is_allowed(agent, url)
    rerp.is_allowed(agent, url, robotexclusionrulesparser.MK1996)
    rerp.get_crawl_delay(agent)
    assert isinstance(str(rerp), str)
    ruby = robotstxt.parse(text, agent)
    assert ruby.allowed(url) in (True, False)
    made = protego.Protego.parse(text)
    assert made.can_fetch(url, agent) in (True, False)
    assert [made.crawl_delay(agent), made.request_rate(agent), made.visit_time(agent)]
    python = robotparser_of(text)
    assert python.can_fetch(agent, url) in (True, False)
    assert [python.crawl_delay(agent), python.request_rate(agent), str(python), python.groups]
    robots = Robots.parse("https://example.com/robots.txt", body)
    assert robots.allowed(url, agent) in (True, False)
    assert [str(robots.agent(agent)), robots.agent(agent).allowed(url), robots.sitemaps]
    policy = webcanon.parse_robots(text)
    try:
        webcanon.evaluate_robots(policy, url, agent)
    except ValueError:
        # What urlsplit does not take is no URL to webcanon.
        with pytest.raises(ValueError):  # noqa: PT011 - whatever it says
            urlsplit(url)
    assert repr(policy)
    assert KosterRobotParser(body).allowed(url, agent) in (True, False)


INTERFACES = tomllib.loads((Path(__file__).parent / "interfaces.toml").read_text("utf-8"))


@pytest.mark.parametrize("name", INTERFACES)
def test_every_public_name_has_the_parameters_of_the_original(name: str) -> None:
    module, _, path = name.partition(":")
    found: Any = importlib.import_module(f"koster.compat.{module}")
    for part in path.split("."):
        found = getattr(found, part)
    if INTERFACES[name]:
        marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
        parameters = []
        for each in inspect.signature(found).parameters.values():
            default = "" if each.default is each.empty else f"={each.default!r}"
            parameters.append(marks.get(each.kind, "") + each.name + default)
        assert ", ".join(parameters) == INTERFACES[name]

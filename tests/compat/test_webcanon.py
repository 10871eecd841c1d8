"""The facade for webcanon: every statement of its documentation."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest

from koster.compat import (
    webcanon,
)
from koster.compat.webcanon import RobotsConfig, RobotsMatch, RobotsPolicy, RobotsVerdict, Rule
from tests.helpers.server import Answer, Site

BOT = "WebCanonBot"


def verdict(body: str, url: str, product: str = BOT) -> tuple[str, int | None]:
    result, match = webcanon.evaluate_robots(webcanon.parse_robots(body), url, product)
    return result.value, match.source_line if match else None


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


def test_webcanon_rules_before_any_user_agent_apply_to_all_agents() -> None:
    body = "Disallow: /a\nUser-agent: *\nDisallow: /b"
    assert verdict(body, "/a") == ("disallowed_explicit", 1)
    assert verdict(body, "/b") == ("disallowed_explicit", 3)
    assert webcanon.parse_robots(body).groups["*"][0].source_line == 1


@pytest.mark.parametrize(
    ("token", "is_for"),
    [("WebCanon", True), ("canon", True), ("webcanonbot/1", False), ("x", False)],
)
def test_webcanon_token_matches_as_a_substring_of_the_product(token: str, is_for: bool) -> None:
    body = f"User-agent: *\nDisallow: /all\n\nUser-agent: {token}\nDisallow: /own"
    rules = webcanon.parse_robots(body).rules_for(BOT)
    assert [rule.pattern for rule in rules] == ["/own" if is_for else "/all"]
    assert (verdict(body, "/own")[0] == "disallowed_explicit") == is_for


def test_webcanon_matching_groups_are_merged_with_the_star_group_as_fallback() -> None:
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
    result, _ = verdict(f"User-agent: *\nDisallow: {pattern}", url)
    assert result == ("disallowed_explicit" if matches else "allowed_implicit")


def test_webcanon_longest_pattern_wins_not_counting_the_anchor() -> None:
    assert verdict("User-agent: *\nDisallow: /a$\nAllow: /a", "/a") == ("allowed_explicit", 3)
    assert verdict("User-agent: *\nAllow: /a\nDisallow: /a$", "/a") == ("allowed_explicit", 2)
    assert verdict("User-agent: *\nAllow: /\nDisallow: /ab$", "/ab") == ("disallowed_explicit", 3)
    # The length is in characters, not bytes.
    body = "User-agent: *\nDisallow: /é*\nAllow: /*bc"
    assert verdict(body, "/ébc") == ("allowed_explicit", 3)


def test_webcanon_an_empty_disallow_never_matches() -> None:
    assert verdict("User-agent: *\nDisallow:", "/a") == ("allowed_implicit", None)
    assert verdict("User-agent: *\nAllow:", "/a") == ("allowed_explicit", 2)


def test_webcanon_robots_txt_itself_is_implicitly_allowed() -> None:
    assert verdict("User-agent: *\nDisallow: /", "https://x/robots.txt")[0] == "allowed_implicit"
    assert verdict("User-agent: *\nDisallow: /", "/robots.txt?x")[0] == "disallowed_explicit"


def test_webcanon_policy_can_be_built_and_changed_in_code() -> None:
    policy = RobotsPolicy()
    policy.groups["*"] = [Rule(False, "/a", 7), Rule(True, "/a/b", 9)]
    assert webcanon.evaluate_robots(policy, "/a/x", BOT) == (
        RobotsVerdict.DISALLOWED_EXPLICIT, RobotsMatch(False, "/a", 7)
    )  # fmt: skip
    policy_from_text = webcanon.parse_robots("User-agent: *\nDisallow: /a\nSitemap: s")
    policy_from_text.groups["*"].append(Rule(True, "/a/b", 5))
    assert (
        webcanon.evaluate_robots(policy_from_text, "/a/b", BOT)[0] is RobotsVerdict.ALLOWED_EXPLICIT
    )
    assert policy_from_text.sitemaps == ["s"]
    assert policy_from_text == RobotsPolicy(
        {"*": [Rule(False, "/a", 2), Rule(True, "/a/b", 5)]}, ["s"]
    )
    assert "Rule(allow=False, pattern='/a', source_line=2)" in repr(policy_from_text)


@pytest.mark.parametrize("pattern", ["/a#b", "/a  b", "/a\tb", "/a\nb", "/a "])
def test_webcanon_rules_built_in_code_may_contain_any_characters(pattern: str) -> None:
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
    ignore_config = RobotsConfig(mode="ignore")
    for status in (None, 200, 404, 500):
        assert (
            webcanon.transport_verdict(status, ignore_config)
            is RobotsVerdict.SKIPPED_BY_USER_POLICY
        )
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


def test_webcanon_groups_contain_every_token() -> None:
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
    for duplicate in (pickle.loads(pickle.dumps(policy)), copy.deepcopy(policy), copy.copy(policy)):
        assert duplicate == policy
    unused_policy = webcanon.parse_robots("User-agent: a\nDisallow: /x\nSitemap: s")
    assert pickle.loads(pickle.dumps(unused_policy)) == policy
    with pytest.raises(AttributeError, match="has no attribute 'rules'"):
        _ = policy.rules  # type: ignore[attr-defined]


def test_webcanon_parsed_policy_can_be_changed() -> None:
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
                groups = list(
                    threads.map(lambda name, of=policy: getattr(of, name), ["groups"] * 8)
                )
            assert groups == [{"a": [Rule(False, "/", 2)]}] * 8
    finally:
        sys.setswitchinterval(before)


@pytest.mark.parametrize("product", ["€Bot", "a\nb"])
def test_webcanon_product_must_be_printable_ascii(product: str) -> None:
    with pytest.raises(ValueError, match="printable ASCII"):
        webcanon.RobotsGate(product)


def test_webcanon_redirect_loop_is_unreachable(site: Site) -> None:
    site.robots(301, headers={"Location": "/robots.txt"})
    with pytest.raises(webcanon.PolicyError, match=r"robots.txt unavailable: redirect loop"):
        webcanon.RobotsGate("Foo").check(f"{site.url}/x")


def test_webcanon_is_imported_without_the_network() -> None:
    """ "A pure, I/O-free implementation": only `RobotsGate` loads the network."""
    program = """
import sys
def loaded():
    return sorted({"socket", "ssl", "http.client", "email", "urllib.request"} & sys.modules.keys())
from koster.compat import webcanon
policy = webcanon.parse_robots("User-agent: *\\nDisallow: /a\\nSitemap: s")
print(webcanon.evaluate_robots(policy, "https://example.com/a", "x")[0], policy.rules_for("x"))
print(webcanon.transport_verdict(503), webcanon.RobotsConfig(), webcanon.RobotsDecision)
print(loaded(), file=sys.stderr)
from koster.compat.webcanon import RobotsGate
print(webcanon.RobotsGate is RobotsGate, len(loaded()) > 3, file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert done.stderr.splitlines() == ["[]", "True True"]
    with pytest.raises(AttributeError, match="no attribute 'RobotsDoor'"):
        _ = webcanon.RobotsDoor  # type: ignore[attr-defined]


def test_webcanon_tokens_compare_without_case_beyond_ascii() -> None:
    body = "User-agent: *\nDisallow: /a\n\nUser-agent: \xc4bot\nDisallow: /b"
    assert verdict(body, "/b", "\xe4BOT")[0] == "disallowed_explicit"
    assert verdict(body, "/b", "x\xc4bot")[0] == "disallowed_explicit"


def test_webcanon_respect_raises_and_report_only_reports(site: Site) -> None:
    site.robots(200, b"User-agent: *\nDisallow: /private\n")
    gate = webcanon.RobotsGate("Foo")
    with pytest.raises(webcanon.PolicyError, match=r"blocks .*/private/x: disallowed_explicit"):
        gate.check(f"{site.url}/private/x")
    decision = gate.check(f"{site.url}/public")
    assert (decision.verdict, decision.recommendation) == ("allowed_implicit", "recommended")
    assert (decision.user_agent, decision.matched_rule) == ("Foo", None)
    assert site.requests[0][1]["User-Agent"] == "Foo"
    report_gate = webcanon.RobotsGate("Foo", RobotsConfig(mode="report_only"))
    decision = report_gate.check(f"{site.url}/private/x")
    assert (decision.verdict, decision.recommendation) == ("disallowed_explicit", "not_recommended")
    assert decision.matched_rule == {"type": "disallow", "pattern": "/private", "source_line": 2}
    assert decision.reason == "matched rule on line 2"


def test_webcanon_ignore_does_not_fetch(site: Site) -> None:
    site.robots(200, b"User-agent: *\nDisallow: /")
    decision = webcanon.RobotsGate(config=RobotsConfig(mode="ignore")).check(f"{site.url}/x")
    assert (decision.verdict, decision.recommendation) == ("skipped_by_user_policy", "recommended")
    assert site.requests == []


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
def test_webcanon_verdicts_of_fetch_results(
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
    warnings = [each.message for each in caplog.records if each.name == "koster.compat.webcanon"]
    assert bool(warnings) == (expected == "allowed_implicit")


def test_webcanon_ipv6_site() -> None:
    with socket.socket(socket.AF_INET6) as listener:
        try:
            listener.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no IPv6")
        listener.listen()

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.0 200 OK\r\n\r\nUser-agent: *\nDisallow: /x")

        thread = threading.Thread(target=serve)
        thread.start()
        url = f"http://[::1]:{listener.getsockname()[1]}/x"
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
    assert len(site.requests) == fetches

"""What site owners get wrong: each finding, its line, its place in the output, and what it suggests."""

from __future__ import annotations

import sys
import tomllib
from typing import Any

import pytest

import koster
from koster.diff import compare
from koster.lint import CHECKS, _hosts, _star_rules, by_importance, fixed, lint, with_edits
from koster.lint._fetched_sitemaps import FetchedSitemaps, with_fetched
from tests.helpers.support import ROOT, bodies, of_today, sampled

CASES = tomllib.loads((ROOT / "tests/cases/owners.toml").read_text("utf-8"))["case"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['kind']}: {case['file'][:40]!r}")
def test_findings_are_in_order(case: dict[str, Any]) -> None:
    found = by_importance(lint(case["file"].encode()))
    assert all(each.suggestion for each in found)
    assert [[each.line, each.code, each.message, each.suggestion] for each in found] == case[
        "finds"
    ]


def test_no_proposal_for_joined_groups_blocks_more() -> None:
    for case in CASES:
        body = case["file"].encode()
        for each in lint(body) if case["kind"] == "joined" else ():
            if each.code in ("G003", "G015"):
                after = with_edits(body, [each._replace(edits=each.proposal)])
                changes = compare(koster.parse(body), koster.parse(after)).changes
                found = [one for change in changes for one in change.differences.found]
                assert all(one.is_opened for one in found), (body, each)
                assert found or each.code == "G003"


def test_fixes_change_no_access(conformance_data: None) -> None:
    files = [case["file"].encode() for case in CASES]
    files += of_today(sampled(list(bodies("verdicts.tsv.gz").values()), 60))
    for body in files:
        after = fixed(body)
        for dialect in (koster.RFC9309, koster.GOOGLE):
            comparison = compare(koster.parse(body, dialect), koster.parse(after, dialect))
            assert not any(change.differences.found for change in comparison.changes), body


def test_hosts_are_not_recognized_without_the_public_suffix_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "publicsuffixlist", None)
    _hosts._suffixes.cache_clear()
    try:
        assert _hosts.host_in_path("blog.example.app") is None
        assert _hosts.host_in_path("www.example.app") == "www.example.app"
    finally:
        _hosts._suffixes.cache_clear()


def test_rules_that_groups_lose_are_compared_within_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_star_rules, "_MAX_COMPARED", 2)
    body = b"User-agent: *\nDisallow: /a\nDisallow: /b\n\nUser-agent: GPTBot\nAllow: /\n"
    found = {each.code: each.message for each in lint(body)}
    assert "line 2 (Disallow: /a) does not apply" in found["S013"]
    assert "Z004" in found


def test_sitemaps_that_were_fetched_are_reported_once() -> None:
    url, other = "https://e.com/s", "https://e.com/t"
    body = f"User-agent: *\nDisallow:\nSitemap: {url}\nSitemap: {url}\nSitemap: {other}\n"
    fetched = FetchedSitemaps({url: "404 Not Found"}, {other: "403 Forbidden"})
    found = lint(body.encode(), checks=with_fetched(CHECKS, fetched))
    assert [(each.line, each.message) for each in found if each.code == "M008"] == [
        (3, "Sitemap not found: 404 Not Found")
    ]
    (unchecked,) = [each for each in found if each.code == "Z004"]
    assert (
        "1 sitemap could not be fetched, such as https://e.com/t (403 Forbidden)"
        in unchecked.message
    )
    assert "Z004" not in {
        each.code for each in lint(body.encode(), checks=with_fetched(CHECKS, FetchedSitemaps()))
    }

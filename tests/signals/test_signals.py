"""What statements of all sources amount to: the cases of ``tests/cases/signals.toml``, and bounds."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import koster
from koster import crawlers
from koster.crawlers import POLICY_TOKENS
from koster.signals import GRAMMARS, Signals, Stated, Status, Use, signals
from tests.helpers.signal_cases import ALL, NOW, signals_of


def stated(found: Signals, crawler: str = "") -> dict[str, str]:
    """Return what is stated about each use, without those that nothing is stated about."""
    answers = {use.value: found.of(use, crawler).stated for use in Use}
    return {use: each.value for use, each in answers.items() if each is not Stated.UNSTATED}


@pytest.mark.parametrize("case", ALL, ids=[case["id"] for case in ALL])
def test_cases(case: dict[str, Any]) -> None:
    found = signals_of(case)
    answers = stated(found)
    if case.get("partly"):
        # The source says more, or leaves more open.
        answers = {use: each for use, each in answers.items() if use in case["uses"]}
    assert answers == case["uses"]
    for crawler, uses in case.get("crawlers", {}).items():
        assert stated(signals_of(case, crawler), crawler) == uses, crawler
    for crawler, uses in case.get("rows", {}).items():
        assert [each.use for each in found.answers if each.crawler == crawler] == uses
    for note in case.get("notes", ()):
        assert any(note in each for each in found.notes), found.notes
    assert [each.signal for each in found.unseen if each.crawler == "*"] == case.get("unseen", [])
    for crawler, signals_ in case.get("never_seen", {}).items():
        assert [each.signal for each in found.unseen if each.crawler == crawler] == signals_
    if "conflicts" in case:
        assert {each.use.value for each in found.conflicts} == set(case["conflicts"])
    assert [each.url for each in found.licenses] == case.get("licenses", [])
    assert list(found.unread) == case.get("unread", [])


def test_ids_of_cases_are_unique() -> None:
    assert len({case["id"] for case in ALL}) == len(ALL)


def test_every_source_names_its_place_and_words() -> None:
    for case in ALL:
        for answer in signals_of(case, "GPTBot", "Google-Extended").answers:
            for each in answer.statements:
                assert each.where
                assert each.text
                assert each.grammar in GRAMMARS
                if each.line is not None:
                    line = case["robots"].split("\n")[each.line - 1]
                    assert each.text.split(";")[0].rpartition(": ")[2].split("=")[0] in line


def test_crawlers_that_the_file_names_have_answers_about_what_they_are_for() -> None:
    body = "User-agent: GPTBot\nUser-agent: Googlebot\nUser-agent: FooBot\nDisallow: /\n"
    found = signals("/", robots=body, now=NOW)
    told = {(each.use.value, each.crawler) for each in found.answers if each.crawler}
    assert {("ai-train", "GPTBot"), ("search", "Googlebot")} <= told
    assert ("search", "GPTBot") not in told
    assert [each.crawler for each in found.crawl][:2] == ["Googlebot", "bingbot"]
    assert not next(each for each in found.crawl if each.crawler == "GPTBot").allowed


def test_what_could_not_be_read_is_never_unstated() -> None:
    body = "User-agent: *\nContent-Signal: ai-train=no, search=yes\nAllow: /\n"
    found = signals("/", robots=body, now=NOW, unread=["page: timed out"])
    assert stated(found) == {
        "search": "undecided", "snippet": "undecided", "archive": "undecided",
        "ai-input": "undecided", "ai-train": "no", "tdm": "undecided",
    }  # fmt: skip
    assert found.unread == ("page: timed out",)


def test_the_most_restrictive_statement_counts() -> None:
    body = "User-agent: *\nContent-Signal: ai-train=no\nContent-Usage: train-ai=y\nAllow: /\n"
    answer = signals("/", robots=body, now=NOW).of(Use.AI_TRAIN)
    assert (answer.stated, answer.effective) == (Stated.CONFLICT, Stated.NO)


def test_other_names_of_uses() -> None:
    assert (Use("index"), Use("Train-AI"), Use("tdm")) == (Use.SEARCH, Use.AI_TRAIN, Use.TDM)
    with pytest.raises(ValueError, match="robotics"):
        Use("robotics")


def test_now_needs_a_time_zone() -> None:
    with pytest.raises(ValueError, match="time zone"):
        signals("/", now=datetime(2026, 11, 30))


def test_robots_may_be_parsed() -> None:
    body = "User-agent: *\nContent-Signal: ai-train=no\nAllow: /\n"
    robots = koster.parse(body)
    assert signals("/", robots=robots, now=NOW) == signals("/", robots=body, now=NOW)


def test_grammars_have_sources() -> None:
    for each in GRAMMARS:
        assert each.source.startswith("https://") or each.name == "control-token"
        assert each.checked >= "2026-11-30"
        assert each.revision or each.status is Status.POLICY
    assert len({each.name for each in GRAMMARS}) == len(GRAMMARS)


def test_policy_tokens_say_what_is_open() -> None:
    for each in POLICY_TOKENS:
        assert each.is_spelling_certain or each.spelled_in.startswith("https://")
        assert each.token == each.token.lower()
        assert each.open
        for one in each.followers:
            assert one.source.startswith("https://")


def test_standings_have_the_revision_if_there_is_one() -> None:
    by_name = {each.name: each.standing for each in GRAMMARS}
    assert by_name["control-token"] == "company's policy"
    assert by_name["group"] == "standard (RFC 9309)"


def test_without_the_index_of_crawlers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ai_crawler_index", None)
    crawlers.known.cache_clear()
    try:
        body = "User-agent: GPTBot\nUser-agent: FooBot\nDisallow: /\n"
        found = signals("/", robots=body, now=NOW)
        assert found.of(Use.AI_TRAIN, "GPTBot").stated is Stated.NO
        assert signals("/", robots=body, crawlers=["FooBot"], now=NOW).of(Use.TDM).statements == ()
        assert len(crawlers.registered()) < 200
    finally:
        crawlers.known.cache_clear()


def test_a_license_whose_url_is_invalid_stays_as_it_is() -> None:
    found = signals("https://e.com/", headers=[("Link", '<http://[x/>; rel="license"')], now=NOW)
    assert [each.url for each in found.licenses] == ["http://[x/"]
    robots = "License: http://[x/\n"
    assert [each.url for each in signals("/", robots=robots, now=NOW).licenses] == ["http://[x/"]


@pytest.mark.parametrize(
    "body",
    [b"<!doctype html><p>Log in</p>", b'{"error": "rate limited"}', b"\x89PNG\r\n\x1a\n\0\0"],
)
def test_a_robots_txt_that_is_none_is_not_read(body: bytes) -> None:
    found = signals("/", robots=body, now=NOW)
    assert found.unread == ("robots.txt: no line in it is one of a robots.txt",)
    assert set(stated(found).values()) == {"undecided"}
    assert signals("/", robots=b"# nothing\n", now=NOW).unread == ()


def test_many_named_crawlers_are_limited() -> None:
    groups = "".join(
        f"User-agent: bot{number}\nContent-Signal: ai-train=no\nAllow: /\n" for number in range(400)
    )
    found = signals("/", robots=groups, now=NOW)
    assert len({each.crawler for each in found.answers}) == 301
    assert "only the first 300 named crawlers have answers" in found.notes


@given(st.binary(max_size=300), st.text(max_size=30), st.text(max_size=20))
def test_any_robots_txt_and_names(body: bytes, path: str, crawler: str) -> None:
    found = signals(f"/{path}", robots=body, crawlers=[crawler] if crawler else (), now=NOW)
    assert len([each for each in found.answers if not each.crawler]) == len(Use)

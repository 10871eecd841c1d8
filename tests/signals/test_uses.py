"""Whether a page may be used, without a network; `tests/fetch/test_uses.py` asks clients."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime, timedelta
from typing import Any

import brotli  # type: ignore[import-untyped]
import pytest

from koster import RFC9309
from koster.access import Access, Outcome, Response, outcome_of
from koster.errors import MissingExtraError
from koster.freshness import Entry
from koster.origins import origin_of
from koster.signals import MAX_HTML, Stated, Unstated, Use, UseDecision
from koster.signals._uses import (
    TDMREP_PATH,
    Document,
    Page,
    charset_of,
    check_extra,
    decide_use,
    has_html,
    is_html,
    page_of,
    unread_of,
    uses_named,
    wanted_documents,
    why_not_of_site,
)

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
URL = "https://shop.example/tea"
SAYS_YES = b"User-agent: *\nContent-Signal: ai-train=yes\nDisallow: /private\n"
SAYS_NOTHING = b"User-agent: *\nDisallow: /private\n"
HTML = [("Content-Type", "text/html; charset=iso-8859-1")]


def outcome(robots: bytes | int) -> Outcome:
    access = Access()
    status, body = (robots, b"") if isinstance(robots, int) else (200, robots)
    entry = access.respond(access.begin(origin_of(URL)), Response(status, {}, body), NOW)
    assert isinstance(entry, Entry)
    return outcome_of(entry, RFC9309, NOW + timedelta(seconds=1))


def decide(robots: bytes | int, **options: Any) -> UseDecision:
    uses = uses_named(options.pop("uses", ("ai-train",)))
    return decide_use(URL, outcome(robots), "FooBot", uses, now=NOW, **options)


def page(body: bytes = b"<p>tea", *headers: tuple[str, str], url: str = URL) -> Page:
    return page_of(url, 200, [*headers, *HTML], body)


@pytest.mark.parametrize(
    ("robots", "options", "allowed", "sentence"),
    [
        (SAYS_YES, {}, True, "the site says yes to ai-train: Content-Signal: ai-train=yes ("),
        (SAYS_NOTHING, {}, True, "the site says nothing about ai-train"),
        (404, {"page": page()}, False, "the site says nothing about ai-train"),
        (404, {"page": page(), "unstated": Unstated.ALLOW}, True, "says nothing about ai-train"),
        (500, {}, False, "FooBot may not fetch https://shop.example/tea: fetching the site's"),
        (SAYS_YES, {"page": page(b"<meta name=foobot content=noai>")}, False, "contradicts itself"),
        (SAYS_YES, {"page": page(url="https://a.example/")}, False, "undecided: page: redirects"),
        (SAYS_YES, {"page": page_of(URL, 404, HTML, b"")}, False, "undecided: page: 404 Not Found"),
        (b"User-agent: *\nContent-Signal: ai-train=no\n", {}, False, "the site says no to ai-train"),
        (SAYS_NOTHING, {"uses": ["tdm"], "page": page()}, False, "/.well-known/tdmrep.json: not"),
        (
            SAYS_NOTHING,
            {"page": page(b"<meta name=tdm-reservation content=1><meta name=tdm-reservation content=0>"),
             "uses": ["tdm"], "documents": {f"https://shop.example{TDMREP_PATH}": Document(None)}},
            False,
            "what the site says about tdm is undecided: tdm-reservation:",
        ),
        (
            b"License: https://a.example/l\n" + SAYS_YES,
            {"documents": {"https://a.example/l": Document(None, "https://a.example/l: timeout")}},
            False,
            "undecided: https://a.example/l: timeout",
        ),
    ],
)  # fmt: skip
def test_decisions(robots: Any, options: dict[str, Any], allowed: bool, sentence: str) -> None:
    found = decide(robots, **options)
    assert (found.allowed, bool(found)) == (allowed, allowed)
    assert sentence in str(found)


def test_a_yes_names_all_uses_and_a_no_only_what_refuses() -> None:
    robots = b"User-agent: *\nContent-Signal: ai-train=yes, search=yes, ai-input=no\n"
    assert str(decide(robots, uses=["search", "ai-train"])) == (
        f"{URL}: the site says yes to search: Content-Signal: search=yes (robots.txt, line 2); "
        "the site says yes to ai-train: Content-Signal: ai-train=yes (robots.txt, line 2)"
    )
    assert str(decide(robots, uses=["search", "ai-input"])) == (
        f"{URL}: the site says no to ai-input: Content-Signal: ai-input=no (robots.txt, line 2)"
    )


def test_an_agent_may_be_several_names() -> None:
    robots = b"User-agent: BarBot\nContent-Signal: ai-train=no\nDisallow: /x\n\n" + SAYS_YES
    for agent, allowed in ((("FooBot", "BarBot"), False), (["FooBot"], True)):
        found = decide_use(URL, outcome(robots), agent, (Use.AI_TRAIN,), now=NOW)
        assert (found.allowed, found.agent) == (allowed, tuple(agent))


def test_wanted_documents() -> None:
    lines = b"".join(b"License: https://a.example/%d\n" % number for number in range(7))
    found = decide(lines + SAYS_YES).signals
    licenses = [f"https://a.example/{number}" for number in range(5)]
    site_file = f"https://shop.example{TDMREP_PATH}"
    assert list(wanted_documents(found, {}, site_file)) == [site_file, *licenses]
    known = {site_file: Document(None), licenses[0]: Document(b"x")}
    assert list(wanted_documents(found, known, site_file)) == licenses[1:]


def test_pages() -> None:
    whole = page(b"x" * 2 * MAX_HTML)
    assert (len(whole.html or b""), whole.charset) == (MAX_HTML + 1, "iso-8859-1")
    assert page_of(URL, 200, [("content-type", "image/png")], None).unread == ()
    assert page_of(URL, 200, [], None).unread == ("page: its body is not read",)
    assert page_of(URL, 200, [], gzip.compress(b"x")).unread == (
        "page: its body is compressed with gzip",
    )
    assert page_of(URL, 301, HTML, b"x") == Page(URL, unread=("page: 301 Moved Permanently",))
    assert [has_html(status, HTML) for status in (200, 203, 304, 404)] == [True, True, False, False]


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ([], True),
        ([""], True),
        (["Text/HTML;x"], True),
        (["text/html, text/html"], True),
        (["text/plain, text/html"], True),
        (["text/plain", "application/xhtml+xml"], True),
        # Browsers look at the body.
        (["text/html charset=utf-8"], True),
        (["html"], True),
        (["*/*"], True),
        (["unknown/unknown"], True),
        (["application/pdf"], False),
        (["text/plain; charset=utf-8", "application/vnd.api+json"], False),
    ],
)
def test_what_may_be_html(kinds: list[str], expected: bool) -> None:
    assert is_html([("content-type", each) for each in kinds]) is expected


def test_the_charset_of_headers() -> None:
    kinds = ["text/html", "text/html; charset=utf-16", "text/html; charset=x"]
    assert charset_of([("CONTENT-type", each) for each in kinds]) == "utf-16"
    assert charset_of([("X", "text/html; charset=x")]) is None


@pytest.mark.parametrize(
    ("coding", "body", "is_read"),
    [
        ("br", brotli.compress(b"<meta name=robots content=noai>"), False),
        ("GZIP, br", brotli.compress(b"<p>tea " * 900), False),
        # Decoded, or never encoded.
        ("br", b"<p>th\xe9\r\n\t\x1b$B", True),
        ("gzip", "<p>tea".encode("utf-16"), True),
        ("identity", b"<p>tea\1", True),
    ],
)
def test_a_body_that_was_not_decoded(coding: str, body: bytes, is_read: bool) -> None:
    found = page_of(URL, 200, [*HTML, ("content-encoding", coding)], body)
    unread = f"page: its body is not decoded: Content-Encoding {coding.lower()}"
    assert found.unread == (() if is_read else (unread,))
    assert (found.html == body) is is_read


def test_a_part_of_a_page_is_not_judged() -> None:
    found = page(b"<p>the rest")
    assert decide(404, page=found, unstated=Unstated.ALLOW)
    found = page_of(URL, 206, HTML, b"<p>the rest")
    decision = decide(404, page=found, unstated=Unstated.ALLOW)
    assert not decision
    assert "page: its body is only a part (206 Partial Content)" in str(decision)


def test_what_is_unread_of_a_robots_txt() -> None:
    assert [unread_of(outcome(each)) for each in (404, 410, SAYS_YES)] == [[], [], []]
    # They allow all access, but nobody knows what is stated.
    assert unread_of(outcome(401)) == ["robots.txt: 401 Unauthorized"]
    assert unread_of(outcome(403)) == ["robots.txt: 403 Forbidden"]
    assert unread_of(outcome(503)) == ["robots.txt: 503 Service Unavailable"]
    assert unread_of(outcome(b"#" * 600_000)) == ["robots.txt: only its first 500 KiB are read"]


def test_pages_after_redirects() -> None:
    robots = outcome(SAYS_YES)
    assert why_not_of_site(robots, "https://shop.example:443/new", "FooBot") is None
    for url, words in (
        ("https://shop.example/private", "not read (FooBot may not fetch"),
        ("http://shop.example/tea", "redirects to another site, http://shop.example/tea"),
    ):
        assert words in str(why_not_of_site(robots, url, "FooBot"))


def test_names_of_uses() -> None:
    assert uses_named(["train-ai", "index", "ai-train"]) == (Use.AI_TRAIN, Use.SEARCH)
    assert decide(SAYS_YES).answers[0].stated is Stated.YES
    with pytest.raises(ValueError, match="uses are search, snippet, archive, ai-input"):
        uses_named(["ai-train", "robotics"])
    with pytest.raises(ValueError, match="must name one of search"):
        uses_named([])
    with pytest.raises(TypeError, match="must be a sequence such as"):
        uses_named("ai-train")


def test_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    check_extra()
    for name in ("http_sf", "selectolax"):
        monkeypatch.setattr(
            "koster.signals._uses.find_spec", lambda each, name=name: each != name or None
        )
        with pytest.raises(MissingExtraError, match="uses needs the extra 'signals'"):
            check_extra()

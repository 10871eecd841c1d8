"""The facade for Protego."""

from __future__ import annotations

from datetime import time

import pytest

from koster.compat import (
    protego,
)
from tests.helpers.facade_files import PROTEGO


@pytest.mark.parametrize("name", [" bot", "(bot", "a", "a" * 4000])
def test_protego_names_do_not_backtrack(name: str) -> None:
    parser = protego.Protego.parse(f"User-agent: {name}\nDisallow: /\n" * 300)
    assert parser.can_fetch("/", "b" + "a" * 8000 + "x(bot") in (True, False)


def test_protego_features() -> None:
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


def test_protego_without_a_file() -> None:
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
def test_protego_name_matches_at_the_start_of_a_word(name: str, agent: str, is_for: bool) -> None:
    parser = protego.Protego.parse(f"User-agent: {name}\nDisallow: /")
    assert parser.can_fetch("/", agent) != is_for


def test_protego_longest_name_wins() -> None:
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


def test_protego_rules_and_unknown_directives_end_the_user_agent_lines() -> None:
    for line in ("Crawl-delay: 1", "Foo: bar", "Disallow:"):
        body = f"User-agent: a\n{line}\nUser-agent: b\nDisallow: /"
        assert protego.Protego.parse(body).can_fetch("/", "a")
    for line in ("Sitemap: /s", "Host: h", "nonsense", ""):
        body = f"User-agent: a\n{line}\nUser-agent: b\nDisallow: /"
        assert not protego.Protego.parse(body).can_fetch("/", "a")


def test_protego_byte_order_mark_is_skipped() -> None:
    assert not protego.Protego.parse("\ufeffUser-agent: *\nDisallow: /").can_fetch("/", "x")


@pytest.mark.parametrize("escaped", ["%3D", "%26", "%3F", "%3d"])
def test_protego_escaped_query_separators_match_unescaped_ones(escaped: str) -> None:
    raw = chr(int(escaped[1:], 16))
    for pattern, url in ((escaped, raw), (raw, escaped)):
        parser = protego.Protego.parse(f"User-agent: *\nDisallow: /a{pattern}b")
        assert not parser.can_fetch(f"https://example.com/a{url}b", "x")

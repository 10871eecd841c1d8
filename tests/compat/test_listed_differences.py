"""Differences that the pages of robotparser and reppy list, without a table.

The answers of reppy were found with rep-cpp 9c1278b, which reppy 0.4.14 contains; those of Python
3.15 in its source.
"""

from __future__ import annotations

import math
import urllib.robotparser
from typing import Any

import pytest

from koster.compat.reppy.cache import RobotsCache
from koster.compat.reppy.robots import Agent, Robots
from koster.compat.robotparser import RobotFileParser


def _parsed(kind: Any, text: str) -> Any:
    parser = kind()
    parser.parse(text.split("\n"))
    return parser


# robotparser


@pytest.mark.parametrize(
    ("rule", "url", "there", "here"),
    [
        ("/", "private", True, False), ("/private", "private", True, False),
        ("/", "mailto:a@b.c", True, False), ("/mailto:", "mailto:a@b.c", True, False),
        ("private", "private", False, True), ("private", "/private", True, True),
        ("/", "tel:12", True, False), ("/", "?a", True, False), ("/", "", False, False),
        ("/a", "foo:/a", False, True), ("/", "foo:/a", False, False),
        ("\xa0/a", "/a", False, True), ("/a\xa0", "/a", False, True), ("/a\u2003", "/a", False, True),
        ("/a\xa0b", "/a\xa0b", False, False),
    ],
)  # fmt: skip
def test_robotparser_answers(rule: str, url: str, there: bool, here: bool) -> None:
    text = f"User-agent: *\nDisallow: {rule}"
    assert _parsed(RobotFileParser, text).can_fetch("FooBot", url) == here
    assert _parsed(urllib.robotparser.RobotFileParser, text).can_fetch("FooBot", url) == there


@pytest.mark.parametrize(
    "text",
    ["User-agent: FooBot\xa0\nDisallow: /", "User-agent:\xa0FooBot\nDisallow: /",
     "User-agent: *\n\xa0Disallow: /", "User-agent: *\nDisallow\xa0: /"],
)  # fmt: skip
def test_robotparser_a_no_break_space_is_part_of_a_name_and_a_directive(text: str) -> None:
    assert _parsed(RobotFileParser, text).can_fetch("FooBot", "/")
    assert not _parsed(urllib.robotparser.RobotFileParser, text).can_fetch("FooBot", "/")


@pytest.mark.parametrize("url", ["http://[/x", "http://[::1/x", "//[/x", "http://e\u2100.com/x"])
def test_robotparser_an_invalid_url_has_an_answer(url: str) -> None:
    assert not _parsed(RobotFileParser, "User-agent: *\nDisallow: /x").can_fetch("FooBot", url)
    assert _parsed(RobotFileParser, "User-agent: *\nDisallow: /y").can_fetch("FooBot", url)


@pytest.mark.parametrize("url", ["http://e.com:x/x", "http://e.com:99999/x", "http:///x"])
def test_robotparser_an_invalid_port_does_not_matter(url: str) -> None:
    for kind in (RobotFileParser, urllib.robotparser.RobotFileParser):
        assert not _parsed(kind, "User-agent: *\nDisallow: /x").can_fetch("FooBot", url)


# reppy


def _robots(text: str) -> Robots:
    return Robots.parse("http://e.com/robots.txt", text)


def test_reppy_a_star_group_after_a_name_in_one_block_is_for_all() -> None:
    """In reppy it is for foo alone: FooBot may fetch /a."""
    robots = _robots("User-agent: foo\nUser-agent: *\nDisallow: /a")
    assert not robots.allowed("/a", "FooBot")
    assert not robots.allowed("/a", "foo")
    robots = _robots("User-agent: *\nUser-agent: foo\nDisallow: /a")
    assert not robots.allowed("/a", "FooBot")
    assert not robots.allowed("/a", "foo")


@pytest.mark.parametrize("url", ["http://e.com:x/a", "http://e.com:99999/a", "/a", "http://[/a"])
def test_reppy_an_invalid_url_has_an_answer(url: str) -> None:
    assert not Robots.parse("", "User-agent: *\nDisallow: /a").allowed(url, "FooBot")
    assert not Agent().disallow("/a").allowed(url)
    assert Agent().disallow("/b").allowed(url)


@pytest.mark.parametrize("rule", ["private", "http://e.com:x/", "http://e.com/private", "mailto:x"])
def test_reppy_a_rule_without_a_slash_matches_nothing(rule: str) -> None:
    """In reppy the second is a ValueError; the others match."""
    robots = _robots(f"User-agent: *\nDisallow: {rule}")
    for url in ("/private", "private", "http://e.com/private", "mailto:x"):
        assert robots.allowed(url, "FooBot")


@pytest.mark.parametrize("url", ["mailto:a@b.c", "mailto:/a", "tel:12", "javascript:x", "foo", ""])
def test_reppy_a_url_without_slashes_is_a_path(url: str) -> None:
    """As in reppy."""
    assert not _robots("User-agent: *\nDisallow: /").allowed(url, "FooBot")


@pytest.mark.parametrize(
    ("url", "robots_url"),
    [
        # As in reppy.
        ("example.com", "robots.txt"), ("example.com/a", "robots.txt"), ("/a", "robots.txt"),
        ("", "robots.txt"), ("//example.com/a", "//example.com/robots.txt"),
        ("mailto:a@b.c", "mailto:robots.txt"), ("javascript:x", "javascript:robots.txt"),
        ("HTTP://EXAMPLE.com/a", "http://example.com/robots.txt"),
        ("https://example.com:80/", "https://example.com:80/robots.txt"),
        ("http://example.com:/", "http://example.com/robots.txt"),
        ("ftp://example.com:21/x", "ftp://example.com:21/robots.txt"),
        ("http://user:pass@c.com/", "http://c.com/robots.txt"),
        # In reppy the first is http://robots.txt, the others are a ValueError.
        ("http://", "http:robots.txt"), ("http://[::1]:80/", "http://[::1]/robots.txt"),
        ("http://[::1]:81/", "http://[::1]:81/robots.txt"),
    ],
)  # fmt: skip
def test_reppy_robots_url(url: str, robots_url: str) -> None:
    assert Robots.robots_url(url) == robots_url


@pytest.mark.parametrize("url", ["http://e.com:x/", "http://e.com:99999/", "http://["])
def test_reppy_robots_url_of_an_invalid_url(url: str) -> None:
    with pytest.raises(ValueError, match=r"Port|IPv6"):
        Robots.robots_url(url)


@pytest.mark.parametrize("url", ["", "/a", "http://", "mailto:a@b.c", "example.com/a"])
def test_reppy_a_cache_allows_nothing_without_a_site(url: str) -> None:
    assert not RobotsCache(1).allowed(url, "FooBot")


@pytest.mark.parametrize(
    ("value", "delay"),
    [
        # As in reppy.
        ("2,5", 2.0), ("+3", 3.0), ("1e", 1.0), ("-1", None), ("nan", None), ("-inf", None),
        ("\u0663", None), ("\uff15", None), ("1\u0663", 1.0), ("1e39", None), ("1e-50", None),
        ("1e400", None), ("3.4e38", 3.4e38),
        # There: inf, inf, inf, 16 and 8, and 2.0999999046325684.
        ("inf", None), ("Infinity", None), ("information", None), ("0x10", None), ("0x1p3", None),
        ("2.1", 2.1),
    ],
)  # fmt: skip
def test_reppy_delay(value: str, delay: float | None) -> None:
    assert _robots(f"User-agent: *\nCrawl-delay: {value}").agent("x").delay == delay


@pytest.mark.parametrize("value", ["\u0663", "x", "1e39", "1e400", "-1e400", "inf", "nan", "1e-50"])
def test_reppy_a_delay_that_is_not_a_number_is_ignored(value: str) -> None:
    """In reppy inf counts, and nan: the delay is inf or None."""
    text = f"User-agent: *\nCrawl-delay: 5\nCrawl-delay: {value}"
    assert _robots(text).agent("x").delay == 5
    assert math.isfinite(_robots(text).agent("x").delay or 0)


def test_reppy_str_has_the_rules_of_the_file_by_name() -> None:
    text = (
        "User-agent: b\nDisallow: /a\nAllow: /a/b*\n"
        "User-agent: a\nCrawl-delay: 12345.678\nDisallow:\nDisallow: /caf%c3%a9"
    )
    # reppy: "a" has Disallow: /caf%C3%A9 and Allow: ; "b" has Allow: /a/b and Disallow: /a.
    assert str(_robots(text)) == (
        '{"*": [], "a": Crawl-Delay: 1.23e+04 [Directive(Disallow: ), Directive(Disallow: /caf%c3%a9)], '
        '"b": [Directive(Disallow: /a), Directive(Allow: /a/b*)]}'
    )

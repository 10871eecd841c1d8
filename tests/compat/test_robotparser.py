"""The facade for urllib.robotparser."""

from __future__ import annotations

import time as clock
import urllib.error
import urllib.request

import pytest

from koster.compat import (
    robotparser,
)
from koster.compat.robotparser import RobotFileParser
from tests.helpers.facade_files import ROBOTS
from tests.helpers.facades import robotparser_of
from tests.helpers.server import Site, closed_port


def test_robotparser_features() -> None:
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


def test_robotparser_disallows_everything_before_reading() -> None:
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


def test_robotparser_precedence_is_by_pattern_length_not_match_length() -> None:
    """CPython 3.13.14 to 3.15 compare the length of the match, and block /public/x."""
    parser = robotparser_of("User-agent: *\nDisallow: /*\nAllow: /public/")
    assert parser.can_fetch("x", "/public/x")


@pytest.mark.parametrize(
    ("agent", "path"),
    [("googlebot", "/first"), ("Googlebot-Mobile", "/second"), ("Googlebot-News", "/first"),
     ("Googlebot/2.1", "/first"), ("other", "/all")],
)  # fmt: skip
def test_robotparser_exact_name_takes_precedence_over_a_substring(agent: str, path: str) -> None:
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
        # No byte in a string: the original raises UnicodeEncodeError.
        ("/u\udd00", "/u%ED%B4%80", True), ("/u%ED%B4%80", "/u\udd00", True), ("/u", "\udd00", False),
    ],
)  # fmt: skip
def test_robotparser_patterns(pattern: str, url: str, blocked: bool) -> None:
    parser = robotparser_of(f"User-agent: *\nDisallow: {pattern}")
    assert parser.can_fetch("x", url) != blocked


def test_robotparser_invalid_lines_are_ignored() -> None:
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
def test_robotparser_status_codes(site: Site, status: int, flags: tuple[bool, bool]) -> None:
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


def test_robotparser_closed_port_is_a_url_error() -> None:
    with pytest.raises(urllib.error.URLError):
        RobotFileParser(f"http://127.0.0.1:{closed_port()}/robots.txt").read()


@pytest.mark.parametrize("value", ["/$" + "*" * 200_000, "/" + "$" * 200_000, "/" + "$*" * 100_000])
def test_robotparser_anchors_do_not_backtrack(value: str) -> None:
    parser = robotparser_of(f"User-agent: *\nDisallow: {value}")
    assert not parser.can_fetch("x", "/")
    assert parser.can_fetch("x", "/a")


def test_robotparser_huge_numbers_are_ignored() -> None:
    digits = "9" * 5000
    parser = robotparser_of(f"User-agent: *\nCrawl-delay: {digits}\nRequest-rate: 1/{digits}")
    assert (parser.crawl_delay("x"), parser.request_rate("x")) == (None, None)
    assert str(parser) == "User-agent: *\nAllow:"


def test_robotparser_groups_with_many_repeated_names() -> None:
    names = [f"User-agent: a{number}" for number in range(400)]
    parser = robotparser_of("\n".join([*names, *names, "Disallow: /x", *names, "Disallow: /y"]))
    groups = parser.groups
    assert len(groups) == 400
    assert [str(rule) for rule in groups["a7"].rulelines] == ["Disallow: /x", "Disallow: /y"]

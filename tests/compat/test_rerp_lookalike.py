"""The facade for robotexclusionrulesparser: RobotFileParserLookalike."""

from __future__ import annotations

import time
import urllib.error
import urllib.robotparser
from typing import Any

import pytest

from koster.compat import robotexclusionrulesparser as rerp
from koster.compat.robotexclusionrulesparser import (  # type: ignore[attr-defined]
    GYM2008,
    MK1996,
    RobotFileParserLookalike,
)
from tests.helpers.rerp import FILE
from tests.helpers.server import Site


def test_the_lookalike_is_a_robot_file_parser(site: Site) -> None:
    lookalike = RobotFileParserLookalike()
    lookalike.set_url(site.robots(200, FILE.encode()))
    lookalike.read()
    assert not lookalike.can_fetch("Foobot", "/a.gif")
    assert lookalike.can_fetch("Foobot", "/a.gif", MK1996)
    assert lookalike.can_fetch("Foobot", "/a.gif", syntax=MK1996)
    assert lookalike.response_code == 200


def test_the_lookalike_parses_lines() -> None:
    lookalike = RobotFileParserLookalike("http://example.org/robots.txt")
    lookalike.parse(["User-agent: *\n", "Disallow: /x\n"])
    assert not lookalike.can_fetch("Foobot", "/x")
    lookalike.parse("User-agent: *\nDisallow: /y")
    assert lookalike.can_fetch("Foobot", "/x")


def test_mtime_is_0_until_modified_is_called(site: Site) -> None:
    """ "Unless one calls modified(), mtime() will always return 0"."""
    lookalike = RobotFileParserLookalike(site.robots(200))
    assert lookalike.mtime() == lookalike.last_checked == 0
    lookalike.read()
    lookalike.parse("User-agent: *")
    assert lookalike.mtime() == lookalike.last_checked == 0
    lookalike.modified()
    assert abs(lookalike.mtime() - time.time()) < 60
    before = lookalike.mtime()
    lookalike.read()
    assert lookalike.mtime() == lookalike.last_checked == before


def test_failed_fetch_does_not_set_mtime(site: Site) -> None:
    lookalike = RobotFileParserLookalike(site.robots(503))
    with pytest.raises(urllib.error.URLError):
        lookalike.read()
    assert lookalike.mtime() == 0


STANDARD_FILE = """\
Sitemap: https://example.com/s.xml

User-agent: Foobot
Crawl-delay: 5
Request-rate: 9/30
Disallow: /x

User-agent: *
Disallow: /y
"""


@pytest.mark.parametrize(
    "lines",
    [STANDARD_FILE, STANDARD_FILE.encode(), STANDARD_FILE.splitlines(), iter(STANDARD_FILE.splitlines()),
     STANDARD_FILE.splitlines(keepends=True), [line + "\r\n" for line in STANDARD_FILE.splitlines()]],
)  # fmt: skip
def test_lookalike_agrees_with_the_standard_library(lines: Any) -> None:
    lookalike, standard = RobotFileParserLookalike(), urllib.robotparser.RobotFileParser()
    assert lookalike.mtime() == standard.mtime() == 0
    lookalike.parse(lines)
    standard.parse(STANDARD_FILE.splitlines())
    for agent in ("Foobot", "Barbot"):
        for url in ("/x", "/y", "https://example.com/z"):
            assert lookalike.can_fetch(useragent=agent, url=url) == standard.can_fetch(agent, url)
        assert lookalike.crawl_delay(agent) == standard.crawl_delay(agent)
        assert lookalike.request_rate(agent) == standard.request_rate(agent)
    assert lookalike.site_maps() == standard.site_maps() == ["https://example.com/s.xml"]
    assert lookalike.request_rate("Foobot").seconds == 30  # type: ignore[union-attr]


def test_lookalike_returns_none_for_missing_values() -> None:
    lookalike = RobotFileParserLookalike()
    lookalike.parse(["User-agent: *", "Request-rate: 1/x", "Disallow: /"])
    assert (
        lookalike.site_maps() is lookalike.crawl_delay("x") is lookalike.request_rate("x") is None
    )


def test_lookalike_accepts_the_keywords_of_both_libraries() -> None:
    lookalike = RobotFileParserLookalike()
    lookalike.parse("User-agent: *\nDisallow: /x")
    assert not lookalike.can_fetch(useragent="Foobot", url="/x", syntax=GYM2008)
    assert not lookalike.can_fetch(user_agent="Foobot", url="/x")
    for missing in ({"url": "/x"}, {"useragent": "Foobot"}):
        with pytest.raises(TypeError, match="a user agent and a URL"):
            lookalike.can_fetch(**missing)


@pytest.mark.parametrize("name", ["entries", "default_entry", "disallow_all", "allow_all"])
def test_lookalike_lacks_the_parsers_internal_attributes(name: str) -> None:
    assert not hasattr(RobotFileParserLookalike(), name)


def test_every_public_name_of_the_original_exists() -> None:
    for name in (
        "RobotExclusionRulesParser",
        "RobotFileParserLookalike",
        "MK1996",
        "GYM2008",
        "SEVEN_DAYS",
        "MAX_FILESIZE",
        "PY_MAJOR_VERSION",
    ):
        assert hasattr(rerp, name)
    assert (MK1996, GYM2008, rerp.MAX_FILESIZE) == (1, 2, 102400)

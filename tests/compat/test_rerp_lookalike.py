"""Its stand-in for urllib.robotparser."""

from __future__ import annotations

import time
import urllib.error
import urllib.robotparser
from typing import Any

import pytest
from rerp import FILE
from server import Site

from koster.compat import robotexclusionrulesparser as rerp
from koster.compat.robotexclusionrulesparser import (
    GYM2008,
    MK1996,
    RobotFileParserLookalike,
)


def test_the_lookalike_is_a_robot_file_parser(site: Site) -> None:
    made = RobotFileParserLookalike()
    made.set_url(site.robots(200, FILE.encode()))
    made.read()
    assert not made.can_fetch("Foobot", "/a.gif")
    assert made.can_fetch("Foobot", "/a.gif", MK1996)
    assert made.can_fetch("Foobot", "/a.gif", syntax=MK1996)
    assert made.response_code == 200


def test_the_lookalike_parses_lines() -> None:
    made = RobotFileParserLookalike("http://example.org/robots.txt")
    made.parse(["User-agent: *\n", "Disallow: /x\n"])
    assert not made.can_fetch("Foobot", "/x")
    made.parse("User-agent: *\nDisallow: /y")
    assert made.can_fetch("Foobot", "/x")


def test_mtime_is_0_before_the_first_fetch(site: Site) -> None:
    made = RobotFileParserLookalike(site.robots(200))
    assert made.mtime() == made.last_checked == 0
    made.read()
    assert abs(made.mtime() - time.time()) < 60
    assert made.last_checked == made.mtime()


def test_mtime_is_set_by_modified_and_as_today_by_parse() -> None:
    for call in (RobotFileParserLookalike.modified, lambda made: made.parse("User-agent: *")):
        made = RobotFileParserLookalike()
        call(made)
        assert abs(made.mtime() - time.time()) < 60


def test_a_fetch_that_fails_does_not_count(site: Site) -> None:
    made = RobotFileParserLookalike(site.robots(503))
    with pytest.raises(urllib.error.URLError):
        made.read()
    assert made.mtime() == 0


LIKE_STANDARD = """\
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
    [LIKE_STANDARD, LIKE_STANDARD.encode(), LIKE_STANDARD.splitlines(), iter(LIKE_STANDARD.splitlines()),
     LIKE_STANDARD.splitlines(keepends=True), [line + "\r\n" for line in LIKE_STANDARD.splitlines()]],
)  # fmt: skip
def test_the_lookalike_answers_as_the_standard_library(lines: Any) -> None:
    made, standard = RobotFileParserLookalike(), urllib.robotparser.RobotFileParser()
    assert made.mtime() == standard.mtime() == 0
    made.parse(lines)
    standard.parse(LIKE_STANDARD.splitlines())
    for agent in ("Foobot", "Barbot"):
        for url in ("/x", "/y", "https://example.com/z"):
            assert made.can_fetch(useragent=agent, url=url) == standard.can_fetch(agent, url)
        assert made.crawl_delay(agent) == standard.crawl_delay(agent)
        assert made.request_rate(agent) == standard.request_rate(agent)
    assert made.site_maps() == standard.site_maps() == ["https://example.com/s.xml"]
    assert made.request_rate("Foobot").seconds == 30  # type: ignore[union-attr]


def test_the_lookalike_has_none_where_nothing_is_said() -> None:
    made = RobotFileParserLookalike()
    made.parse(["User-agent: *", "Request-rate: 1/x", "Disallow: /"])
    assert made.site_maps() is made.crawl_delay("x") is made.request_rate("x") is None


def test_the_lookalike_takes_the_keywords_of_both() -> None:
    made = RobotFileParserLookalike()
    made.parse("User-agent: *\nDisallow: /x")
    assert not made.can_fetch(useragent="Foobot", url="/x", syntax=GYM2008)
    assert not made.can_fetch(user_agent="Foobot", url="/x")
    for missing in ({"url": "/x"}, {"useragent": "Foobot"}):
        with pytest.raises(TypeError, match="a user agent and a URL"):
            made.can_fetch(**missing)


@pytest.mark.parametrize("name", ["entries", "default_entry", "disallow_all", "allow_all"])
def test_the_lookalike_has_none_of_these(name: str) -> None:
    assert not hasattr(RobotFileParserLookalike(), name)


def test_every_public_name_of_the_original_is_there() -> None:
    for name in (
        *("RobotExclusionRulesParser", "RobotFileParserLookalike", "MK1996", "GYM2008"),
        *("SEVEN_DAYS", "MAX_FILESIZE", "PY_MAJOR_VERSION"),
    ):
        assert hasattr(rerp, name)
    assert (MK1996, GYM2008, rerp.MAX_FILESIZE) == (1, 2, 102400)

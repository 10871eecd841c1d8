"""Every statement of robotexclusionrulesparser's own documentation (nikitathespider.com)."""

from __future__ import annotations

import calendar
import email.utils
import http.client
import pickle
import socket
import time
import urllib.error

import pytest
from server import Site, closed_port

from koster.compat import robotexclusionrulesparser as rerp
from koster.compat.robotexclusionrulesparser import (
    GYM2008,
    MK1996,
    RobotExclusionRulesParser,
    RobotFileParserLookalike,
)


def parser(body: str | bytes) -> RobotExclusionRulesParser:
    made = RobotExclusionRulesParser()
    made.parse(body)
    return made


# Parsing

FILE = """\
# robots.txt
Sitemap: http://www.example.org/sitemap.xml

User-agent: Foobot
User-agent: Barbot   # two
Crawl-delay: 2.5
Disallow: /*.gif$
Disallow: /private
Allow: /

User-agent: *
Disallow: /
"""


def test_it_understands_wildcards_delays_and_sitemaps() -> None:
    made = parser(FILE)
    assert not made.is_allowed("Foobot", "/a.gif")
    assert made.is_allowed("Foobot", "/a.gif?x")
    assert made.get_crawl_delay("Barbot") == 2.5
    assert made.get_crawl_delay("Otherbot") is None
    assert made.sitemaps == ["http://www.example.org/sitemap.xml"]


def test_sitemaps_are_a_new_list_each_time() -> None:
    made = parser(FILE)
    made.sitemaps.append("x")
    assert made.sitemaps == ["http://www.example.org/sitemap.xml"]


def test_sitemaps_are_reported_as_they_stand() -> None:
    assert parser("Sitemap: no URL at all").sitemaps == ["no URL at all"]


def test_wildcards_are_literals_under_mk1996() -> None:
    made = parser("User-agent: *\nDisallow: *")
    assert not made.is_allowed("Foobot", "/a")
    assert not made.is_allowed("Foobot", "/a", GYM2008)
    assert made.is_allowed("Foobot", "/a", MK1996)
    made = parser("User-agent: *\nDisallow: /*.gif$")
    assert made.is_allowed("Foobot", "/a.gif", MK1996)
    assert not made.is_allowed("Foobot", "/*.gif$", syntax=MK1996)


def test_another_syntax_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="Syntax must be MK1996 or GYM2008"):
        parser("").is_allowed("Foobot", "/", 3)


def test_a_name_need_only_be_a_substring_of_the_agent() -> None:
    made = parser("User-agent: foobot\nDisallow: /")
    assert not made.is_allowed("Mozilla/5.0 (compatible; Foobot/2.1)", "/")
    assert not made.is_allowed("FOOBOT", "/")
    assert made.is_allowed("foo", "/")


def test_scheme_and_authority_are_discarded() -> None:
    made = parser("User-agent: *\nDisallow: /foo/bar.html")
    for url in ("http://example.org/foo/bar.html", "https://user@other:8/foo/bar.html"):
        assert not made.is_allowed("Foobot", url)


def test_a_fragment_belongs_to_the_path() -> None:
    """As the module does it, whatever a browser would send."""
    made = parser("User-agent: *\nDisallow: /a%23b")
    assert not made.is_allowed("Foobot", "/a#b")
    assert made.is_allowed("Foobot", "/a")


def test_an_empty_query_does_not_count() -> None:
    made = parser("User-agent: *\nDisallow: /*.gif$\nDisallow: /*?\nDisallow: /x;$")
    assert not made.is_allowed("Foobot", "/a.gif?")
    assert made.is_allowed("Foobot", "/a?")
    assert not made.is_allowed("Foobot", "/a??")
    assert made.is_allowed("Foobot", "/x;")


@pytest.mark.parametrize("bom", ["\ufeff", "\xef\xbb\xbf"])
def test_a_byte_order_mark_is_ignored(bom: str) -> None:
    assert not parser(bom + "User-agent: *\nDisallow: /").is_allowed("Foobot", "/")


def test_a_byte_order_mark_in_octets_is_ignored() -> None:
    assert not parser(b"\xef\xbb\xbfUser-agent: *\nDisallow: /\xe9").is_allowed("Foobot", "/é")


def test_octets_are_latin_1() -> None:
    made = parser(b"User-agent: *\nDisallow: /caf\xe9")
    assert not made.is_allowed("Foobot", "/caf\xe9")
    assert not made.is_allowed("Foobot", "/caf%C3%A9")
    assert made.is_allowed("Foobot", "/cafe")
    made.parse(bytearray(b"User-agent: *\nDisallow: /x"))
    assert not made.is_allowed("Foobot", "/x")


def test_text_may_have_any_characters() -> None:
    made = parser("User-agent: jävla\nDisallow: /café")
    assert not made.is_allowed("jävla-foobot", "/café")


def test_user_agent_is_read_without_its_hyphen() -> None:
    assert not parser("Useragent: *\nDisallow: /").is_allowed("Foobot", "/")
    assert parser("User agent: *\nDisallow: /").is_allowed("Foobot", "/")


def test_an_escaped_slash_is_not_translated() -> None:
    made = parser("User-agent: *\nDisallow: /a%2fb.html")
    assert not made.is_allowed("Foobot", "/a%2Fb.html")
    assert made.is_allowed("Foobot", "/a/b.html")


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_all_ends_of_line_are_acceptable(end: str) -> None:
    made = parser(FILE.replace("\n", end))
    assert not made.is_allowed("Barbot", "/private")
    assert not made.is_allowed("Otherbot", "/")


def test_a_blank_disallow_disallows_nothing_and_a_blank_allow_allows_nothing() -> None:
    assert parser("User-agent: foobot\nDisallow:\nDisallow: /").is_allowed("foobot", "/a")
    for body in ("User-agent: foobot\nAllow:", "User-agent: foobot\nDisallow: /"):
        assert not parser(body).is_allowed("foobot", "/a")


def test_a_line_without_a_colon_right_behind_its_key_is_none() -> None:
    made = parser("User-agent: *\nDisallow /")
    assert made.is_allowed("Foobot", "/")


def test_the_last_delay_that_is_a_number_holds() -> None:
    made = parser("User-agent: *\nDisallow:\nCrawl-delay: 1\nCrawl-delay: .3\nCrawl-delay: x")
    assert made.get_crawl_delay("Foobot") == 0.3


def test_parsing_again_starts_anew() -> None:
    made = parser(FILE)
    made.parse("")
    assert made.is_allowed("Foobot", "/private")
    assert made.sitemaps == []


@pytest.mark.parametrize("body", [None, ["User-agent: *"], 1])
def test_what_is_no_text_is_a_type_error(body: object) -> None:
    with pytest.raises(TypeError, match="must be str or bytes"):
        parser(body)  # type: ignore[arg-type]


def test_it_prints_as_a_robots_txt() -> None:
    made = parser("User-agent: *\nAllow: /a\n\nUser-agent: x\nCrawl-delay: 2\nDisallow: /b")
    assert str(made) == (
        "User-agent: x\nCrawl-delay: 2.0\nDisallow: /b\n\nUser-agent: *\nAllow: /a\n"
    )
    assert str(parser(FILE)).startswith("Sitemaps: ['http://www.example.org/sitemap.xml']\n\n")


def test_it_pickles() -> None:
    made = pickle.loads(pickle.dumps(parser(FILE)))
    assert not made.is_allowed("Foobot", "/private")


# Attributes


def test_attributes_before_a_fetch() -> None:
    made = RobotExclusionRulesParser()
    assert made.user_agent is None
    assert made.use_local_time is True
    assert made.source_url == ""
    assert made.response_code is None
    assert made.sitemaps == []
    assert made.is_expired is False
    assert abs(made.expiration_date - time.time() - rerp.SEVEN_DAYS) < 60
    with pytest.raises(DeprecationWarning, match="sitemaps"):
        _ = made.sitemap


@pytest.mark.parametrize("name", ["source_url", "response_code", "sitemaps", "is_expired"])
def test_what_is_read_only(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(RobotExclusionRulesParser(), name, 1)


@pytest.mark.parametrize("local", [True, False])
def test_is_expired_compares_with_now(local: bool) -> None:
    made = RobotExclusionRulesParser()
    made.use_local_time = local
    made.expiration_date = calendar.timegm(time.gmtime()) - 1
    assert made.is_expired
    made.expiration_date += 3600
    assert not made.is_expired


# Fetching


def test_fetch_parses_and_sets_attributes(site: Site) -> None:
    url = site.robots(200, FILE.encode())
    made = RobotExclusionRulesParser()
    made.user_agent = "Foobot/2.1"
    made.fetch(url)
    assert not made.is_allowed("Foobot", "/private")
    assert (made.response_code, made.source_url) == (200, url)
    assert site.asked[0][1]["User-Agent"] == "Foobot/2.1"
    assert abs(made.expiration_date - time.time() - rerp.SEVEN_DAYS) < 60
    made.fetch(made.source_url, timeout=10)


def test_without_a_user_agent_python_s_own_is_sent(site: Site) -> None:
    made = RobotExclusionRulesParser()
    made.user_agent = ""
    made.fetch(site.robots(200))
    assert site.asked[0][1]["User-Agent"].startswith("Python-urllib/")


@pytest.mark.parametrize("status", [401, 403])
def test_forbidden_is_disallowed(site: Site, status: int) -> None:
    made = RobotExclusionRulesParser()
    made.fetch(site.robots(status))
    assert made.response_code == status
    assert not made.is_allowed("Foobot", "/index.html")


def test_not_found_is_allowed(site: Site) -> None:
    made = RobotExclusionRulesParser()
    made.fetch(site.robots(404))
    assert (made.response_code, made.is_allowed("Foobot", "/")) == (404, True)


@pytest.mark.parametrize("status", [410, 400, 429, 500, 503])
def test_every_other_status_raises(site: Site, status: int) -> None:
    made = parser(FILE)
    with pytest.raises(urllib.error.URLError) as raised:
        made.fetch(site.robots(status))
    assert (made.response_code, raised.value.reason) == (status, status)
    made.parse("")
    assert made.is_allowed("Foobot", "/")


def test_redirects_are_followed(site: Site) -> None:
    url = site.robots(301, headers={"Location": "/elsewhere"})
    site.pages["/elsewhere"] = type(site.pages["/robots.txt"])(200, b"User-agent: *\nDisallow: /")
    made = RobotExclusionRulesParser()
    made.fetch(url)
    assert not made.is_allowed("Foobot", "/")
    assert made.source_url == url


def test_endless_redirects_are_the_status_of_a_redirect(site: Site) -> None:
    made = RobotExclusionRulesParser()
    with pytest.raises(urllib.error.URLError):
        made.fetch(site.robots(301, headers={"Location": "/robots.txt"}))
    assert made.response_code == 301


def test_no_server_is_a_url_error() -> None:
    made = RobotExclusionRulesParser()
    with pytest.raises(urllib.error.URLError):
        made.fetch(f"http://127.0.0.1:{closed_port()}/robots.txt")
    assert made.response_code == 0


def test_a_timeout_is_a_socket_timeout(site: Site) -> None:
    with pytest.raises(socket.timeout):
        RobotExclusionRulesParser().fetch(site.robots(200, delay=2), timeout=0.2)


def test_a_connection_that_closes_is_raised_untouched(site: Site) -> None:
    with pytest.raises(http.client.BadStatusLine):
        RobotExclusionRulesParser().fetch(site.robots(close=True))


# Encodings


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("text/plain; charset=utf-8", "Disallow: /caf\xe9".encode()),
        ('text/plain; charset="UTF-8"', "Disallow: /caf\xe9".encode()),
        ("text/plain; charset=utf-16", "Disallow: /caf\xe9".encode("utf-16")),
        ("text/plain", b"Disallow: /caf\xe9"),
        ("text/plain; charset=", b"Disallow: /caf\xe9"),
        ("", b"Disallow: /caf\xe9"),
    ],
)
def test_the_declared_charset_is_used_else_latin_1(
    site: Site, content_type: str, body: bytes
) -> None:
    charset = "utf-16" if "utf-16" in content_type else "ascii"
    body = "User-agent: *\n".encode(charset) + body.removeprefix(b"\xff\xfe")
    headers = {"Content-Type": content_type} if content_type else {}
    made = RobotExclusionRulesParser()
    made.fetch(site.robots(200, body, headers))
    assert not made.is_allowed("Foobot", "/caf\xe9")


def test_a_byte_order_mark_is_ignored_after_a_fetch(site: Site) -> None:
    made = RobotExclusionRulesParser()
    made.fetch(site.robots(200, b"\xef\xbb\xbfUser-agent: *\nDisallow: /"))
    assert not made.is_allowed("Foobot", "/")


@pytest.mark.parametrize("charset", ["utf-8", "us-ascii"])
def test_octets_that_are_not_in_the_charset_are_a_unicode_error(site: Site, charset: str) -> None:
    url = site.robots(200, b"\xe9", {"Content-Type": f"text/plain; charset={charset}"})
    with pytest.raises(UnicodeError, match=rf"not in the encoding expected \({charset}\)"):
        RobotExclusionRulesParser().fetch(url)


@pytest.mark.parametrize("charset", ["nonsense", ".dot", "punycode", "undefined"])
def test_a_charset_that_there_is_not_is_a_unicode_error(site: Site, charset: str) -> None:
    url = site.robots(200, b"x", {"Content-Type": f"text/plain; charset={charset}"})
    with pytest.raises(UnicodeError, match="don't understand the encoding"):
        RobotExclusionRulesParser().fetch(url)


def test_a_hundred_kibibytes_are_read(site: Site) -> None:
    body = b"User-agent: *\n" + b"#" * (rerp.MAX_FILESIZE - 14) + b"\nDisallow: /"
    made = RobotExclusionRulesParser()
    made.fetch(site.robots(200, body))
    assert made.is_allowed("Foobot", "/")


# Expiration

MOMENT = calendar.timegm((2030, 11, 6, 8, 49, 37, 0, 0, 0))


@pytest.mark.parametrize(
    "date",
    ["Wed, 06 Nov 2030 08:49:37 GMT", "Wednesday, 06-Nov-30 08:49:37 GMT",
     "Wed Nov  6 08:49:37 2030"],
)  # fmt: skip
@pytest.mark.parametrize("local", [True, False])
def test_all_three_formats_of_expires(site: Site, date: str, local: bool) -> None:
    made = RobotExclusionRulesParser()
    made.use_local_time = local
    made.fetch(site.robots(200, b"", {"Expires": date}))
    expected = time.mktime(time.gmtime(MOMENT)) if local else MOMENT
    assert made.expiration_date == expected
    assert not made.is_expired


def test_an_expired_file(site: Site) -> None:
    made = RobotExclusionRulesParser()
    made.use_local_time = False
    made.fetch(site.robots(200, b"", {"Expires": email.utils.formatdate(0, usegmt=True)}))
    assert made.is_expired


@pytest.mark.parametrize(
    "date",
    ["garbage", "-1", "Mon, 01 Jan 99999 00:00:00 GMT", "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
     "Mon, 99999999999999999999 Jan 2030 00:00:00 GMT"],
)  # fmt: skip
def test_an_expires_that_is_no_date_is_seven_days(site: Site, date: str) -> None:
    made = RobotExclusionRulesParser()
    made.use_local_time = False
    made.fetch(site.robots(200, b"", {"Expires": date}))
    assert abs(made.expiration_date - time.time() - rerp.SEVEN_DAYS) < 60


# RobotFileParserLookalike


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


def test_mtime_is_when_modified_was_called() -> None:
    made = RobotFileParserLookalike()
    made.parse(["User-agent: *\n"])
    assert made.mtime() is None
    assert made.last_checked is None
    made.modified()
    assert abs((made.mtime() or 0) - time.time()) < 60
    assert made.last_checked == made.mtime()


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

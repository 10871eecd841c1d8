"""Every statement of robotexclusionrulesparser's own documentation (nikitathespider.com)."""

from __future__ import annotations

import calendar
import email.utils
import http.client
import pickle
import socket
import time
import urllib.error
import urllib.robotparser
from typing import Any

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


def test_a_byte_order_mark_in_bytes_is_ignored() -> None:
    assert not parser(b"\xef\xbb\xbfUser-agent: *\nDisallow: /\xe9").is_allowed("Foobot", "/é")


def test_bytes_are_latin_1() -> None:
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


def test_it_prints_each_records_own_delay_decoded_paths_and_blank_values() -> None:
    made = parser(
        "User-agent: x\nCrawl-delay: 1\nDisallow: /a%20b%2fc\n\n"
        "User-agent: y\nUser-agent: *\nAllow:\nCrawl-delay: 3\nCrawl-delay: no\n\n"
        "User-agent: x\nDisallow:\nUser-agent: z\nCrawl-delay: 9\n\nCrawl-delay: 9"
    )
    assert str(made) == (
        "User-agent: x\nCrawl-delay: 1.0\nDisallow: /a b%2Fc\n\n"
        "User-agent: x\nDisallow: \n\n"
        "User-agent: y\nUser-agent: *\nCrawl-delay: 3.0\nAllow: \n"
    )


def test_a_record_that_names_everybody_among_others_is_tried_last() -> None:
    made = parser(
        "User-agent: foobot\nUser-agent: *\nDisallow: /a\n\nUser-agent: bot\nDisallow: /b"
    )
    assert made.is_allowed("foobot", "/a")
    assert not made.is_allowed("foobot", "/b")
    assert not made.is_allowed("other", "/a")
    made = parser("User-agent: x\nUser-agent: *\nDisallow: /a\n\nUser-agent: *\nDisallow: /b")
    assert (made.is_allowed("other", "/a"), made.is_allowed("other", "/b")) == (False, True)


@pytest.mark.parametrize(
    ("name", "agent"),
    [("\xc4bot", "\xe4BOT/1"), ("\xe4bot", "a \xc4bot"), ("\u212aoster", "koster"), ("koster", "\u212aOSTER"),
     ("\u0394" * 40, "x" + "\u03b4" * 50)],
)  # fmt: skip
def test_names_compare_without_case_beyond_ascii(name: str, agent: str) -> None:
    made = parser(f"User-agent: {name}\nDisallow: /\nCrawl-delay: 2")
    assert not made.is_allowed(agent, "/")
    assert made.get_crawl_delay(agent) == 2.0
    assert made.is_allowed("other", "/")


@pytest.mark.parametrize(
    ("line", "url"),
    [("Disallow: /a\tb", "/ab"), ("Disallow: /a\x00b\x1f", "/ab"), ("Disallow:\t/a \t b", "/a  b"),
     ("\u2003Disallow: /x\xa0", "/x"), ("Disallow: /\x7fx", "/\x7fx")],
)  # fmt: skip
def test_control_characters_are_stripped_from_values(line: str, url: str) -> None:
    made = parser(f"User-agent: *\n{line}\nAllow: /")
    assert not made.is_allowed("Foobot", url)


def test_control_characters_are_stripped_from_names() -> None:
    made = parser("User-agent: foo\tb\x01ot\r\nDisallow: /\r\n \x85 \r\nAllow: /")
    assert not made.is_allowed("foobot", "/")
    assert str(made) == "User-agent: foobot\nDisallow: /\n"


@pytest.mark.parametrize("mark", ["\ufeff", "\xef\xbb\xbf"])
def test_a_byte_order_mark_between_lines_is_ignored(mark: str) -> None:
    made = parser(f"User-agent: *\n{mark}Disallow: /a\n{mark}\nDisallow: /b")
    assert not made.is_allowed("Foobot", "/a")
    assert not made.is_allowed("Foobot", "/b")


def test_an_empty_parameter_does_not_count() -> None:
    made = parser("User-agent: *\nDisallow: /?q\nDisallow: /x;$")
    assert not made.is_allowed("Foobot", "/;?q")
    assert not made.is_allowed("Foobot", "http://example.org/;?q")
    assert made.is_allowed("Foobot", "/a;?q")


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


@pytest.mark.parametrize(
    "content_type",
    ["text/plain; charset=utf-8; format=flowed", 'text/plain; charset="utf-8"; format=flowed',
     "Text/Plain; Format=Flowed; CharSet='UTF-8'", "text/plain;charset=nonsense;charset=utf-8",
     "text/plain; charset=utf-8; charset=", "text/plain ; charset= utf-8 ;"],
)  # fmt: skip
def test_a_charset_with_parameters_around_it(site: Site, content_type: str) -> None:
    made = RobotExclusionRulesParser()
    body = "User-agent: *\nDisallow: /caf\xe9".encode()
    made.fetch(site.robots(200, body, {"Content-Type": content_type}))
    assert not made.is_allowed("Foobot", "/caf\xe9")
    assert made.is_allowed("Foobot", "/caf")


@pytest.mark.parametrize("charset", ["nonsense", ".dot", "punycode", "hex"])
def test_an_empty_body_in_an_unknown_charset_is_an_empty_file(site: Site, charset: str) -> None:
    made = parser(FILE)
    made.fetch(site.robots(200, b"", {"Content-Type": f"text/plain; charset={charset}"}))
    assert made.is_allowed("Foobot", "/private")
    assert made.response_code == 200


@pytest.mark.parametrize("charset", ["utf-8", "us-ascii"])
def test_bytes_that_are_not_in_the_charset_are_a_unicode_error(site: Site, charset: str) -> None:
    url = site.robots(200, b"\xe9", {"Content-Type": f"text/plain; charset={charset}"})
    with pytest.raises(UnicodeError, match=rf"not in the encoding expected \({charset}\)"):
        RobotExclusionRulesParser().fetch(url)


@pytest.mark.parametrize("charset", ["nonsense", ".dot", "punycode", "undefined", "hex", "utf-8 x"])
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
    assert made.expiration_date == MOMENT
    assert type(made.expiration_date) is float
    assert not made.is_expired


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles", "UTC"])
@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize(("hours", "expired"), [(1, False), (-1, True)])
def test_is_expired_in_every_time_zone(
    site: Site, monkeypatch: pytest.MonkeyPatch, zone: str, local: bool, hours: int, expired: bool
) -> None:
    """Expires one hour ahead, and one hour ago."""
    date = email.utils.formatdate(time.time() + hours * 3600, usegmt=True)
    url = site.robots(200, b"", {"Expires": date})
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        made = RobotExclusionRulesParser()
        made.use_local_time = local
        made.fetch(url)
        assert made.is_expired == expired
        assert type(made.expiration_date) is float
        made.expiration_date = time.time() + 100
        assert not made.is_expired
    finally:
        monkeypatch.undo()
        time.tzset()


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

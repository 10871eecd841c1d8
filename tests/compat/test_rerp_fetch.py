"""The facade for robotexclusionrulesparser: fetching and expiry."""

from __future__ import annotations

import calendar
import email.utils
import http.client
import socket
import time
import urllib.error
import urllib.robotparser

import pytest
from rerp import FILE, parser
from server import Site, closed_port

from koster.compat import robotexclusionrulesparser as rerp
from koster.compat.robotexclusionrulesparser import (
    RobotExclusionRulesParser,
)


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


def test_fetch_parses_and_sets_attributes(site: Site) -> None:
    url = site.robots(200, FILE.encode())
    made = RobotExclusionRulesParser()
    made.user_agent = "Foobot/2.1"
    made.fetch(url)
    assert not made.is_allowed("Foobot", "/private")
    assert (made.response_code, made.source_url) == (200, url)
    assert site.requests[0][1]["User-Agent"] == "Foobot/2.1"
    assert abs(made.expiration_date - time.time() - rerp.SEVEN_DAYS) < 60
    made.fetch(made.source_url, timeout=10)


def test_without_a_user_agent_python_s_own_is_sent(site: Site) -> None:
    made = RobotExclusionRulesParser()
    made.user_agent = ""
    made.fetch(site.robots(200))
    assert site.requests[0][1]["User-Agent"].startswith("Python-urllib/")


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

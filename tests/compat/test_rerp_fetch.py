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

from koster.compat import robotexclusionrulesparser as rerp
from koster.compat.robotexclusionrulesparser import (
    RobotExclusionRulesParser,
)
from tests.helpers.rerp import FILE, parser
from tests.helpers.server import Site, closed_port


def test_attributes_before_a_fetch() -> None:
    robots = RobotExclusionRulesParser()
    assert robots.user_agent is None
    assert robots.use_local_time is True
    assert robots.source_url == ""
    assert robots.response_code is None
    assert robots.sitemaps == []
    assert robots.is_expired is False
    assert abs(robots.expiration_date - time.time() - rerp.SEVEN_DAYS) < 60
    with pytest.raises(DeprecationWarning, match="sitemaps"):
        _ = robots.sitemap


@pytest.mark.parametrize("name", ["source_url", "response_code", "sitemaps", "is_expired"])
def test_read_only_attributes(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(RobotExclusionRulesParser(), name, 1)


@pytest.mark.parametrize("use_local_time", [True, False])
def test_is_expired_compares_with_now(use_local_time: bool) -> None:
    robots = RobotExclusionRulesParser()
    robots.use_local_time = use_local_time
    robots.expiration_date = calendar.timegm(time.gmtime()) - 1
    assert robots.is_expired
    robots.expiration_date += 3600
    assert not robots.is_expired


def test_fetch_parses_and_sets_attributes(site: Site) -> None:
    url = site.robots(200, FILE.encode())
    robots = RobotExclusionRulesParser()
    robots.user_agent = "Foobot/2.1"
    robots.fetch(url)
    assert not robots.is_allowed("Foobot", "/private")
    assert (robots.response_code, robots.source_url) == (200, url)
    assert site.requests[0][1]["User-Agent"] == "Foobot/2.1"
    assert abs(robots.expiration_date - time.time() - rerp.SEVEN_DAYS) < 60
    robots.fetch(robots.source_url, timeout=10)


def test_default_user_agent_is_that_of_urllib(site: Site) -> None:
    robots = RobotExclusionRulesParser()
    robots.user_agent = ""
    robots.fetch(site.robots(200))
    assert site.requests[0][1]["User-Agent"].startswith("Python-urllib/")


@pytest.mark.parametrize("status", [401, 403])
def test_forbidden_status_disallows_everything(site: Site, status: int) -> None:
    robots = RobotExclusionRulesParser()
    robots.fetch(site.robots(status))
    assert robots.response_code == status
    assert not robots.is_allowed("Foobot", "/index.html")


def test_not_found_status_allows_everything(site: Site) -> None:
    robots = RobotExclusionRulesParser()
    robots.fetch(site.robots(404))
    assert (robots.response_code, robots.is_allowed("Foobot", "/")) == (404, True)


@pytest.mark.parametrize("status", [410, 400, 429, 500, 503])
def test_every_other_status_raises(site: Site, status: int) -> None:
    robots = parser(FILE)
    with pytest.raises(urllib.error.URLError) as caught:
        robots.fetch(site.robots(status))
    assert (robots.response_code, caught.value.reason) == (status, status)
    robots.parse("")
    assert robots.is_allowed("Foobot", "/")


def test_redirects_are_followed(site: Site) -> None:
    url = site.robots(301, headers={"Location": "/elsewhere"})
    site.pages["/elsewhere"] = type(site.pages["/robots.txt"])(200, b"User-agent: *\nDisallow: /")
    robots = RobotExclusionRulesParser()
    robots.fetch(url)
    assert not robots.is_allowed("Foobot", "/")
    assert robots.source_url == url


def test_endless_redirects_set_the_redirect_status(site: Site) -> None:
    robots = RobotExclusionRulesParser()
    with pytest.raises(urllib.error.URLError):
        robots.fetch(site.robots(301, headers={"Location": "/robots.txt"}))
    assert robots.response_code == 301


def test_closed_port_is_a_url_error() -> None:
    robots = RobotExclusionRulesParser()
    with pytest.raises(urllib.error.URLError):
        robots.fetch(f"http://127.0.0.1:{closed_port()}/robots.txt")
    assert robots.response_code == 0


def test_a_timeout_is_a_socket_timeout(site: Site) -> None:
    with pytest.raises(socket.timeout):
        RobotExclusionRulesParser().fetch(site.robots(200, delay=2), timeout=0.2)


def test_closed_connection_raises_the_http_client_error(site: Site) -> None:
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
def test_declared_charset_is_used_with_latin_1_as_default(
    site: Site, content_type: str, body: bytes
) -> None:
    charset = "utf-16" if "utf-16" in content_type else "ascii"
    body = "User-agent: *\n".encode(charset) + body.removeprefix(b"\xff\xfe")
    headers = {"Content-Type": content_type} if content_type else {}
    robots = RobotExclusionRulesParser()
    robots.fetch(site.robots(200, body, headers))
    assert not robots.is_allowed("Foobot", "/caf\xe9")


def test_a_byte_order_mark_is_ignored_after_a_fetch(site: Site) -> None:
    robots = RobotExclusionRulesParser()
    robots.fetch(site.robots(200, b"\xef\xbb\xbfUser-agent: *\nDisallow: /"))
    assert not robots.is_allowed("Foobot", "/")


@pytest.mark.parametrize(
    "content_type",
    ["text/plain; charset=utf-8; format=flowed", 'text/plain; charset="utf-8"; format=flowed',
     "Text/Plain; Format=Flowed; CharSet='UTF-8'", "text/plain;charset=nonsense;charset=utf-8",
     "text/plain; charset=utf-8; charset=", "text/plain ; charset= utf-8 ;"],
)  # fmt: skip
def test_charset_among_other_parameters(site: Site, content_type: str) -> None:
    robots = RobotExclusionRulesParser()
    body = "User-agent: *\nDisallow: /caf\xe9".encode()
    robots.fetch(site.robots(200, body, {"Content-Type": content_type}))
    assert not robots.is_allowed("Foobot", "/caf\xe9")
    assert robots.is_allowed("Foobot", "/caf")


@pytest.mark.parametrize("charset", ["nonsense", ".dot", "punycode", "hex"])
def test_an_empty_body_in_an_unknown_charset_is_an_empty_file(site: Site, charset: str) -> None:
    robots = parser(FILE)
    robots.fetch(site.robots(200, b"", {"Content-Type": f"text/plain; charset={charset}"}))
    assert robots.is_allowed("Foobot", "/private")
    assert robots.response_code == 200


@pytest.mark.parametrize("charset", ["utf-8", "us-ascii"])
def test_undecodable_bytes_are_a_unicode_error(site: Site, charset: str) -> None:
    url = site.robots(200, b"\xe9", {"Content-Type": f"text/plain; charset={charset}"})
    with pytest.raises(UnicodeError, match=rf"not in the encoding expected \({charset}\)"):
        RobotExclusionRulesParser().fetch(url)


@pytest.mark.parametrize("charset", ["nonsense", ".dot", "punycode", "undefined", "hex", "utf-8 x"])
def test_unknown_charset_is_a_unicode_error(site: Site, charset: str) -> None:
    url = site.robots(200, b"x", {"Content-Type": f"text/plain; charset={charset}"})
    with pytest.raises(UnicodeError, match="don't understand the encoding"):
        RobotExclusionRulesParser().fetch(url)


def test_body_is_truncated_at_100_kib(site: Site) -> None:
    body = b"User-agent: *\n" + b"#" * (rerp.MAX_FILESIZE - 14) + b"\nDisallow: /"
    robots = RobotExclusionRulesParser()
    robots.fetch(site.robots(200, body))
    assert robots.is_allowed("Foobot", "/")


MOMENT = calendar.timegm((2030, 11, 6, 8, 49, 37, 0, 0, 0))


@pytest.mark.parametrize(
    "date",
    ["Wed, 06 Nov 2030 08:49:37 GMT", "Wednesday, 06-Nov-30 08:49:37 GMT",
     "Wed Nov  6 08:49:37 2030"],
)  # fmt: skip
@pytest.mark.parametrize("use_local_time", [True, False])
def test_all_three_formats_of_expires(site: Site, date: str, use_local_time: bool) -> None:
    robots = RobotExclusionRulesParser()
    robots.use_local_time = use_local_time
    robots.fetch(site.robots(200, b"", {"Expires": date}))
    assert robots.expiration_date == MOMENT
    assert type(robots.expiration_date) is float
    assert not robots.is_expired


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles", "UTC"])
@pytest.mark.parametrize("use_local_time", [True, False])
@pytest.mark.parametrize(("hours", "expired"), [(1, False), (-1, True)])
def test_is_expired_in_every_time_zone(
    site: Site,
    monkeypatch: pytest.MonkeyPatch,
    zone: str,
    use_local_time: bool,
    hours: int,
    expired: bool,
) -> None:
    """Expires in one hour, and one hour ago."""
    date = email.utils.formatdate(time.time() + hours * 3600, usegmt=True)
    url = site.robots(200, b"", {"Expires": date})
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        robots = RobotExclusionRulesParser()
        robots.use_local_time = use_local_time
        robots.fetch(url)
        assert robots.is_expired == expired
        assert type(robots.expiration_date) is float
        robots.expiration_date = time.time() + 100
        assert not robots.is_expired
    finally:
        monkeypatch.undo()
        time.tzset()


def test_an_expired_file(site: Site) -> None:
    robots = RobotExclusionRulesParser()
    robots.use_local_time = False
    robots.fetch(site.robots(200, b"", {"Expires": email.utils.formatdate(0, usegmt=True)}))
    assert robots.is_expired


@pytest.mark.parametrize(
    "date",
    ["garbage", "-1", "Mon, 01 Jan 99999 00:00:00 GMT", "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
     "Mon, 99999999999999999999 Jan 2030 00:00:00 GMT"],
)  # fmt: skip
def test_invalid_expires_means_seven_days(site: Site, date: str) -> None:
    robots = RobotExclusionRulesParser()
    robots.use_local_time = False
    robots.fetch(site.robots(200, b"", {"Expires": date}))
    assert abs(robots.expiration_date - time.time() - rerp.SEVEN_DAYS) < 60

"""Every statement of the Ruby gem robotstxt's own documentation."""

from __future__ import annotations

import gzip
import http.client
from urllib.parse import urlparse, urlsplit

import pytest
from server import Answer, Site, closed_port

from koster.compat import robotstxt
from koster.compat.robotstxt import Parser

FORBID = b"User-agent: *\nDisallow: /\n"


def allowed(body: str | bytes, url: str, agent: str = "Crawler") -> bool:
    return robotstxt.parse(body, agent).allowed(url)


# Usage


def test_parse_gives_a_parser() -> None:
    parser = robotstxt.parse("User-agent: *\nDisallow: /a\nSitemap: /s.xml", "Crawler")
    assert isinstance(parser, Parser)
    assert not parser.allowed("/a")
    assert parser.sitemaps == ["/s.xml"]
    assert (parser.robot_id, parser.body is not None, parser.found) == ("Crawler", True, True)


def test_a_parser_without_a_file_allows_everything() -> None:
    parser = Parser("Crawler")
    assert (parser.allowed("/a"), parser.body, parser.found) == (True, None, False)


@pytest.mark.parametrize(
    "urlish",
    [
        "http://www.example.com/home", "/home", "https://compicat.ed/home?action=fire#joking",
        urlsplit("http://example.co.uk/home"), urlparse("http://example.co.uk/home?x"),
    ],
)  # fmt: skip
def test_what_stands_for_a_url(urlish: robotstxt.Urlish) -> None:
    assert not Parser("Crawler", "User-agent: *\nDisallow: /home").allowed(urlish)


def test_get_allowed_asks_the_site(site: Site) -> None:
    site.robots(200, b"User-agent: *\nDisallow: /index.html")
    assert not robotstxt.get_allowed(f"{site.url}/index.html", "Crawler")
    assert robotstxt.get_allowed(f"{site.url}/index.php", "Crawler")
    assert site.asked[0][1]["User-Agent"] == "Crawler"


@pytest.mark.parametrize("path", ["", "/", "/index.html", "/a/b?c#d"])
def test_of_a_url_only_host_and_port_are_used(site: Site, path: str) -> None:
    site.robots(200, FORBID)
    for source in (site.url + path, urlsplit(site.url + path)):
        assert not robotstxt.get(source, "Crawler").allowed("/index.html")
    assert [asked for asked, _ in site.asked] == ["/robots.txt"] * 2


def test_a_connection_is_used_again(site: Site) -> None:
    site.robots(200, b"User-agent: *\nDisallow: /index.html")
    site.pages["/index.php"] = Answer(200, b"page")
    connection = http.client.HTTPConnection("127.0.0.1", site.port)
    parser = robotstxt.get(connection, "Crawler")
    assert not parser.allowed("/index.html")
    assert parser.allowed("/index.php")
    connection.request("GET", "/index.php")
    assert connection.getresponse().read() == b"page"
    robotstxt.get(connection, "Crawler")
    connection.close()
    assert site.connections == 1


def test_a_connection_that_was_closed_meanwhile_is_opened_again(site: Site) -> None:
    site.robots(200, FORBID)
    site.pages["/close"] = Answer(close=True)
    connection = http.client.HTTPConnection("127.0.0.1", site.port)
    connection.request("GET", "/close")
    assert not robotstxt.get(connection, "Crawler").allowed("/")
    connection.close()


# Request level


@pytest.mark.parametrize("status", [401, 403])
def test_unauthorized_and_forbidden_disallow_the_site(site: Site, status: int) -> None:
    site.robots(status, b"User-agent: *\nAllow: /")
    assert not robotstxt.get(site.url, "Crawler").allowed("/")


@pytest.mark.parametrize("status", [204, 300, 304, 400, 404, 410, 429, 500, 503])
def test_any_other_response_allows_the_site(site: Site, status: int) -> None:
    site.robots(status, b"" if status in (204, 304) else FORBID)
    assert robotstxt.get(site.url, "Crawler").allowed("/")


def test_no_response_allows_the_site(site: Site) -> None:
    assert robotstxt.get(f"http://127.0.0.1:{closed_port()}", "Crawler").allowed("/")
    for answer in (Answer(close=True), Answer(garbage=True), Answer(200, FORBID, delay=2)):
        site.pages["/robots.txt"] = answer
        assert robotstxt.get(site.url, "Crawler", http_timeout=0.3).allowed("/")


def test_a_redirection_is_followed(site: Site) -> None:
    site.robots(301, headers={"Location": "/one two"})
    site.pages["/one%20two"] = Answer(302, headers={"Location": f"{site.url}/two"})
    site.pages["/two"] = Answer(200, FORBID)
    assert not robotstxt.get(site.url, "Crawler").allowed("/")
    assert robotstxt.get(site.url, "Crawler", num_redirects=1).allowed("/")
    connection = http.client.HTTPConnection("127.0.0.1", site.port)
    assert not robotstxt.get(connection, "Crawler").allowed("/")
    connection.close()


def test_it_gives_up_after_five_redirects(site: Site) -> None:
    site.robots(301, headers={"Location": "/robots.txt"})
    assert robotstxt.get(site.url, "Crawler").allowed("/")
    assert len(site.asked) == 6


@pytest.mark.parametrize(
    "location",
    ["ftp://example.org/", "http://[", "//", "javascript:x", "http://a..b/", "http://" + "a" * 64],
)
def test_a_redirection_to_nowhere_allows_the_site(site: Site, location: str) -> None:
    site.robots(301, headers={"Location": location})
    assert robotstxt.get(site.url, "Crawler").allowed("/")


@pytest.mark.parametrize(
    ("content_type", "path"),
    [("text/plain; charset=utf-8", "/caf\xe9".encode()), ("text/plain", b"/caf\xe9"),
     ("text/plain", "/caf\xe9".encode()), ("text/plain; charset=nonsense", b"/caf\xe9"),
     ("text/plain; charset=utf-16", "/caf\xe9".encode("utf-16-le"))],
)  # fmt: skip
def test_the_body_is_converted_to_the_charset_of_urls(
    site: Site, content_type: str, path: bytes
) -> None:
    charset = "utf-16-le" if "utf-16" in content_type else "ascii"
    body = "User-agent: *\nDisallow: ".encode(charset) + path
    site.robots(200, body, {"Content-Type": content_type})
    parser = robotstxt.get(site.url, "Crawler")
    assert not parser.allowed("/caf\xe9")
    assert not parser.allowed("/caf%C3%A9")


@pytest.mark.parametrize(
    "content_type",
    ["text/plain; charset=undefined", "text/plain; charset=punycode", "text/plain; charset=idna",
     "text/plain; charset*=utf-8''a%00b", "text/plain; charset=unicode_escape", "charset=", ";;"],
)  # fmt: skip
def test_what_is_no_charset_of_a_document_is_none(site: Site, content_type: str) -> None:
    body = b"User-agent: *\nDisallow: /\n#" + b"x-" + b"9aa" * 100_000
    site.robots(200, body, {"Content-Type": content_type})
    assert not robotstxt.get(site.url, "Crawler").allowed("/")


def test_a_compressed_body_is_unpacked(site: Site) -> None:
    site.robots(200, gzip.compress(FORBID), {"Content-Encoding": "gzip"})
    assert not robotstxt.get(site.url, "Crawler").allowed("/")
    site.robots(200, b"no gzip", {"Content-Encoding": "gzip"})
    assert robotstxt.get(site.url, "Crawler").allowed("/")


def test_a_body_that_trickles_is_given_up(site: Site) -> None:
    site.robots(200, FORBID * 10, trickle=0.05)
    assert robotstxt.get(site.url, "Crawler", http_timeout=0.5).allowed("/")


def test_urls_may_be_in_another_charset(site: Site) -> None:
    site.robots(200, b"User-agent: *\nDisallow: /caf\xe9")
    parser = robotstxt.get(site.url, "Crawler", url_charset="latin-1")
    assert not parser.allowed("/caf\xe9")
    assert not parser.allowed("/caf%E9")
    assert parser.allowed("/caf%C3%A9")


def test_options_that_make_no_sense_raise(site: Site) -> None:
    site.robots(200, FORBID)
    with pytest.raises(LookupError):
        robotstxt.get(site.url, "Crawler", url_charset="nonsense")
    with pytest.raises(ValueError, match="not the URL of a site"):
        robotstxt.get("/index.html", "Crawler")


# User agents


@pytest.mark.parametrize(
    ("name", "agent", "is_for"),
    [
        ("google", "GoogleBot", True), ("GoogleBot", "google", True), ("bot", "GoogleBot/2.1", True),
        ("bing", "GoogleBot", False), ("*", "GoogleBot", True), ("Google*", "googlebot", True),
        ("G*le*t", "my-googlebot", True), ("g*x", "googlebot", False), ("*bot", "googlebot", True),
        ("", "googlebot", True),
    ],
)  # fmt: skip
def test_names_are_case_insensitive_substrings_with_stars(
    name: str, agent: str, is_for: bool
) -> None:
    assert allowed(f"User-agent: {name}\nDisallow: /", "/", agent) == (not is_for)


def test_several_agents_have_the_same_rules() -> None:
    body = "User-agent: Google\nUser-agent: Bing\nDisallow: /secret\n"
    for agent in ("Google", "Bing"):
        assert not allowed(body, "/secret", agent)


def test_the_first_section_that_matches_holds_everybody_among_them() -> None:
    body = "User-agent: *\nDisallow: /a\n\nUser-agent: Crawler\nDisallow: /b\n"
    assert not allowed(body, "/a")
    assert allowed(body, "/b")
    body = "User-agent: Crawler\nDisallow: /b\nUser-agent: *\nDisallow: /a\n"
    assert not allowed(body, "/b")
    assert allowed(body, "/a")
    body = "User-agent: *\nDisallow: /a\nUser-agent: *\nDisallow: /b\n"
    assert allowed(body, "/b")


# Paths


@pytest.mark.parametrize(
    ("pattern", "url", "matches"),
    [
        ("/thing", "/thing/x", True), ("/thing", "/Thing", False), ("/thing", "/a/thing", False),
        ("/a*c", "/abc", True), ("*.pdf", "/x/y.pdf", True), ("/*?x", "/a?x=1", True),
        ("/*.pdf$", "/a.pdf", True), ("/*.pdf$", "/a.pdf?x=1", True), ("/*.pdf$", "/a.pdfx", False),
        ("/h%65llo/", "/hello/", True), ("/hello/", "/h%65llo/", True),
        ("/ac%2fdc", "/ac/dc", False), ("/ac%2fdc", "/ac%2Fdc", True),
        ("/a%3db", "/a=b", False), ("/a%26b", "/a&b", False), ("/a%3fb", "/a?b", False),
        ("/a%2ac", "/abc", True), ("/a b", "/a%20b", True),
    ],
)  # fmt: skip
def test_patterns(pattern: str, url: str, matches: bool) -> None:
    assert allowed(f"User-agent: *\nDisallow: {pattern}", url) != matches


def test_the_first_rule_that_matches_is_accepted() -> None:
    assert allowed("User-agent: *\nAllow: /a\nDisallow: /ab", "/ab")
    assert not allowed("User-agent: *\nDisallow: /a\nAllow: /ab", "/ab")


def test_a_disallow_without_a_path_is_allow_star() -> None:
    assert allowed("User-agent: *\nDisallow:\nDisallow: /", "/a")
    assert not allowed("User-agent: *\nDisallow: /\nDisallow:", "/a")
    assert allowed("User-agent: *\nAllow:\nDisallow: /", "/a")


def test_what_matches_nothing_is_allowed() -> None:
    assert allowed("User-agent: *\nDisallow: /a", "/b")
    assert allowed("User-agent: Other\nDisallow: /", "/b")
    assert allowed("Disallow: /", "/b")


def test_robots_txt_is_a_path_like_any_other() -> None:
    assert not allowed("User-agent: *\nDisallow: /", "/robots.txt")

"""The facade for the Ruby gem robotstxt: every statement of its documentation."""

from __future__ import annotations

import gzip
import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlparse, urlsplit

import pytest

from koster.compat import robotstxt
from koster.compat.robotstxt import Parser
from tests.helpers.server import Answer, Site, closed_port, running

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
def test_url_types(urlish: robotstxt.Urlish) -> None:
    assert not Parser("Crawler", "User-agent: *\nDisallow: /home").allowed(urlish)


def test_get_allowed_fetches_robots_txt(site: Site) -> None:
    site.robots(200, b"User-agent: *\nDisallow: /index.html")
    assert not robotstxt.get_allowed(f"{site.url}/index.html", "Crawler")
    assert robotstxt.get_allowed(f"{site.url}/index.php", "Crawler")
    assert site.requests[0][1]["User-Agent"] == "Crawler"


@pytest.mark.parametrize("path", ["", "/", "/index.html", "/a/b?c#d"])
def test_get_uses_only_host_and_port_of_a_url(site: Site, path: str) -> None:
    site.robots(200, FORBID)
    for source in (site.url + path, urlsplit(site.url + path)):
        assert not robotstxt.get(source, "Crawler").allowed("/index.html")
    assert [requested_path for requested_path, _ in site.requests] == ["/robots.txt"] * 2


def test_connection_is_reused(site: Site) -> None:
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


def test_closed_connection_is_reopened(site: Site) -> None:
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
    assert len(site.requests) == 6


@pytest.mark.parametrize(
    "location",
    ["ftp://example.org/", "http://[", "//", "javascript:x", "http://a..b/", "http://" + "a" * 64],
)
def test_invalid_redirect_target_allows_the_site(site: Site, location: str) -> None:
    site.robots(301, headers={"Location": location})
    assert robotstxt.get(site.url, "Crawler").allowed("/")


@pytest.mark.parametrize(
    ("content_type", "path"),
    [("text/plain; charset=utf-8", "/caf\xe9".encode()), ("text/plain", b"/caf\xe9"),
     ("text/plain", "/caf\xe9".encode()), ("text/plain; charset=nonsense", b"/caf\xe9"),
     ("text/plain; charset=utf-16", "/caf\xe9".encode("utf-16-le"))],
)  # fmt: skip
def test_body_is_decoded_from_its_charset(site: Site, content_type: str, path: bytes) -> None:
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
def test_unsuitable_charset_is_ignored(site: Site, content_type: str) -> None:
    body = b"User-agent: *\nDisallow: /\n#" + b"x-" + b"9aa" * 100_000
    site.robots(200, body, {"Content-Type": content_type})
    assert not robotstxt.get(site.url, "Crawler").allowed("/")


def test_compressed_body_is_decompressed(site: Site) -> None:
    site.robots(200, gzip.compress(FORBID), {"Content-Encoding": "gzip"})
    assert not robotstxt.get(site.url, "Crawler").allowed("/")
    site.robots(200, b"no gzip", {"Content-Encoding": "gzip"})
    assert robotstxt.get(site.url, "Crawler").allowed("/")


# "the length of time in seconds to wait for one http request"


@contextmanager
def slow_server(head: bytes) -> Iterator[int]:
    """A server that sends one byte of its response every 50 ms; yields its port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection, suppress(OSError):
                        for byte in head * 100:
                            connection.sendall(bytes([byte]))
                            time.sleep(0.05)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


HEAD = b"HTTP/1.1 200 OK\r\n" + b"X-Slow: yes\r\n" * 20


@pytest.mark.parametrize("head", [HEAD, b"", HEAD + b"Content-Length: 5000\r\n\r\nUser-agent: *"])
def test_slow_response_times_out(head: bytes) -> None:
    with slow_server(head or b" ") as port:
        start = time.monotonic()
        assert robotstxt.get(f"http://127.0.0.1:{port}", "Crawler", http_timeout=0.5).allowed("/")
        assert time.monotonic() - start < 5


def test_slow_body_times_out(site: Site) -> None:
    site.robots(200, FORBID * 10, trickle=0.05)
    assert robotstxt.get(site.url, "Crawler", http_timeout=0.5).allowed("/")


@pytest.mark.parametrize("own_timeout", [None, 60, 0.3])
def test_a_connection_without_a_timeout_does_not_wait_forever(own_timeout: float | None) -> None:
    with slow_server(HEAD) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=own_timeout)
        start = time.monotonic()
        assert robotstxt.get(connection, "Crawler", http_timeout=0.5).allowed("/")
        assert time.monotonic() - start < 5
        assert connection.timeout == own_timeout
        connection.close()


def test_a_connection_keeps_its_own_timeout(site: Site) -> None:
    site.robots(200, FORBID)
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=None)
    for own_timeout in (None, 7.0):
        assert not robotstxt.get(connection, "Crawler", http_timeout=5).allowed("/")
        assert connection.sock.gettimeout() == (None if own_timeout is None else own_timeout)
        connection.sock.settimeout(7.0)
    assert connection.timeout is None
    assert site.connections == 1
    connection.close()


def test_dns_lookup_counts_towards_the_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(3))
    start = time.monotonic()
    assert robotstxt.get("http://slow.invalid", "Crawler", http_timeout=0.2).allowed("/")
    assert time.monotonic() - start < 2.5


def test_urls_may_be_in_another_charset(site: Site) -> None:
    site.robots(200, b"User-agent: *\nDisallow: /caf\xe9")
    parser = robotstxt.get(site.url, "Crawler", url_charset="latin-1")
    assert not parser.allowed("/caf\xe9")
    assert not parser.allowed("/caf%E9")
    assert parser.allowed("/caf%C3%A9")


def test_invalid_options_raise(site: Site) -> None:
    site.robots(200, FORBID)
    with pytest.raises(LookupError):
        robotstxt.get(site.url, "Crawler", url_charset="nonsense")
    with pytest.raises(ValueError, match="not an absolute"):
        robotstxt.get("/index.html", "Crawler")


# User agents


@pytest.mark.parametrize(
    ("name", "agent", "is_for"),
    [
        ("google", "GoogleBot", True), ("GoogleBot", "google", False), ("bot", "GoogleBot/2.1", True),
        ("Googlebot-News", "Googlebot", False), ("Googlebot", "Googlebot-News", True),
        ("*a" * 20, "Mozilla/5.0 (compatible; " + "a" * 40, True),
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


def test_first_matching_section_wins_including_the_star_section() -> None:
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
        # "only /?&= remain %-encoded": also after the first "?".
        ("/?a%2Fb", "/?a/b", False), ("/?a/b", "/?a%2fb", False), ("/?a%2fb", "/?a%2Fb", True),
        ("/?a%3Fb", "/?a?b", False), ("/?a?b", "/?a%3fb", False), ("/?a%3fb", "/?a%3Fb", True),
        ("/?a%26b", "/?a&b", False), ("/?a%3Db", "/?a=b", False), ("/?a%3db", "/?a%3Db", True),
        ("/%2F*", "/%2fx", True), ("/a%252Fb", "/a%2Fb", False), ("/a%2Fb", "/a%252Fb", False),
        ("/a%252Fb", "/a%252fb", True), ("/100%", "/100%25", True), ("/*2F", "/a%2Fb", True), ("/%25", "/%25", True),
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


def test_unmatched_urls_are_allowed() -> None:
    assert allowed("User-agent: *\nDisallow: /a", "/b")
    assert allowed("User-agent: Other\nDisallow: /", "/b")


def test_robots_txt_is_a_path_like_any_other() -> None:
    assert not allowed("User-agent: *\nDisallow: /", "/robots.txt")


# Comments: the gem's "basics" test has them after white space.


@pytest.mark.parametrize(
    ("line", "blocked", "open_"),
    [
        ("Disallow: /#!/app", "/%23!/app", "/"), ("Disallow: /a #b", "/a", "/b"),
        ("Disallow: /a\t# b", "/ax", "/b"), ("# Disallow: /", None, "/"),
        ("  #Disallow: /", None, "/"), ("Disallow: /a#b # c", "/a%23b", "/a"),
    ],
)  # fmt: skip
def test_a_comment_begins_a_line_or_follows_white_space(
    line: str, blocked: str | None, open_: str
) -> None:
    body = f"User-agent: *\n{line}\n"
    assert allowed(body, open_)
    assert blocked is None or not allowed(body, blocked)


def test_a_sitemap_keeps_its_fragment() -> None:
    parser = robotstxt.parse(
        "Sitemap: https://e.com/s.xml#x\nSitemap: https://e.com/t #y", "Crawler"
    )
    assert parser.sitemaps == ["https://e.com/s.xml#x", "https://e.com/t"]


# Rules before any User-agent line.


def test_rules_before_any_user_agent_are_the_first_section_for_all_agents() -> None:
    body = "Disallow: /a\nUser-agent: Crawler\nDisallow: /b\n"
    assert not allowed(body, "/a")
    # Like any section that matches first.
    assert allowed(body, "/b")


# The tests that come with the gem: test/parser_test.rb and test/getter_test.rb.

BASICS = """\
User-agent: *
Disallow: /?*\t\t\t#comment
Disallow: /home
Disallow: /terms
Disallow: /index.php
Disallow: /test*
Disallow: /team*     # comment
Disallow: /index
Allow: /    # comment
Sitemap: http://example.com/sitemap.xml
"""


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/", True), ("/?", False), ("/?key=value", False), ("/example", True),
        ("/example/index.php", True), ("/test", False), ("/test/example", False),
        ("/team-game", False), ("/team-game/example", False), ("/index.phpx", False),
    ],
)  # fmt: skip
def test_gem_basics(url: str, expected: bool) -> None:
    parser = Parser("Test", BASICS)
    assert parser.allowed(url) == expected
    assert parser.sitemaps == ["http://example.com/sitemap.xml"]


@pytest.mark.parametrize("url", ["/", "/index.html"])
def test_gem_blank_disallow(url: str) -> None:
    assert Parser("Google", "User-agent: *\nDisallow:\n").allowed(url)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/allowed/", True), ("/test/", False), ("/test%2Fetc/", True),
        ("/secret%2fgarden/", False), ("/secret/garden/", True), ("/alph%61/", False),
    ],
)  # fmt: skip
def test_gem_url_escaping(url: str, expected: bool) -> None:
    body = "User-agent: *\nDisallow: /test/\nDisallow: /secret%2Fgarden/\nDisallow: /%61lpha/\n"
    assert Parser("Google", body).allowed(url) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/.pdfs/index.html", True), ("/.pdfs/index.pdf", False),
        ("/.pdfs/index.pdf?action=view", False), ("/.pdfs/index.html?download_as=.pdf", False),
    ],
)  # fmt: skip
def test_gem_trail_matching(url: str, expected: bool) -> None:
    body = "User-agent: *\n   #comments\nDisallow: /*.pdf$\n"
    assert Parser("Google", body).allowed(url) == expected


@pytest.mark.parametrize(
    ("agent", "expected"), [("Google", True), ("Yahoo", True), ("Bing", False)]
)
def test_gem_useragents(agent: str, expected: bool) -> None:
    body = "User-agent: Google\nUser-agent: Yahoo\nDisallow:\n\nUser-agent: *\nDisallow: /\n"
    assert Parser(agent, body).allowed("/hello") == expected


def test_gem_missing_useragent() -> None:
    parser = Parser("Google", "Disallow: /index\n")
    assert parser.allowed("/hello")
    assert not parser.allowed("/index/wold")


def test_gem_strange_newlines() -> None:
    assert not Parser("Google", "User-agent: *\r\r\rDisallow: *").allowed("/index/wold")


def test_gem_bad_unicode() -> None:
    body = "User-agent: *\ndisallow: /?id=%C3%CB%D1%CA%A4%C5%D4%BB%C7%D5%B4%D5%E2%CD\n"
    assert Parser("Google", body).allowed("/index/wold")


@pytest.mark.parametrize(
    ("status", "expected"), [(404, True), (500, True), (401, False), (403, False)]
)
def test_gem_absence_error_unauthorized_and_forbidden(
    site: Site, status: int, expected: bool
) -> None:
    site.robots(status)
    assert robotstxt.get_allowed(f"{site.url}/index.html", "Google") == expected


def test_gem_uri_object_and_existing_http_connection(site: Site) -> None:
    site.robots(200, b"User-agent:*\nDisallow: /test")
    connection = http.client.HTTPConnection("127.0.0.1", site.port)
    connection.connect()
    for source in (urlsplit(f"{site.url}/index.html"), connection):
        parser = robotstxt.get(source, "Google")
        assert parser.allowed("/index.html")
        assert not parser.allowed("/test/index.html")
    connection.close()


def test_gem_redirects(site: Site) -> None:
    with running() as other:
        other.robots(200, b"User-agent:*\nDisallow: /private")
        site.robots(303, headers={"Location": f"{other.url}/robots.txt"})
        parser = robotstxt.get(f"{site.url}/", "Google")
    assert parser.allowed("/index.html")
    assert not parser.allowed("/private/index.html")


def test_gem_encoding(site: Site) -> None:
    body = "User-agent: *\nDisallow: /encyclop\xe6dia".encode("utf-16")
    site.robots(200, body, {"Content-Type": "text/plain; charset=utf-16"})
    parser = robotstxt.get(f"{site.url}/#index", "Google")
    assert parser.allowed("/index.html")
    assert not parser.allowed("/encyclop%c3%a6dia/index.html")

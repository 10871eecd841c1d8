"""reppy: each example of its documentation, and what its parts say of themselves."""

from __future__ import annotations

import email.utils
import gzip
import socket
import ssl
import threading
import time
from email.message import Message
from typing import Any

import pytest
from server import Answer, Site, closed_port

from koster.compat import reppy
from koster.compat.reppy import exceptions, util
from koster.compat.reppy.cache import AgentCache, BaseCache, RobotsCache
from koster.compat.reppy.cache.policy import (
    CachePolicyBase,
    DefaultObjectPolicy,
    ReraiseExceptionPolicy,
)
from koster.compat.reppy.robots import Agent, AllowAll, AllowNone, Robots
from koster.compat.reppy.ttl import HeaderWithDefaultPolicy, TTLPolicyBase

FILE = b"""\
Disallow: /orphan
User-agent: my-user-agent
User-agent: other
Crawl-Delay: 2.5
Disallow: /some
Allow: /some/path

User-agent: *
Disallow: /*.pdf$
Sitemap: http://example.com/s.xml
"""
URL = "http://example.com/robots.txt"


def robots(body: str | bytes = FILE) -> Robots:
    return Robots.parse(URL, body)


# Checking when pages are allowed


def test_robots_and_agent_answer() -> None:
    made = robots()
    assert made.allowed("http://example.com/some/path/", "my-user-agent")
    agent = made.agent("my-user-agent")
    assert agent.allowed("http://example.com/some/path/")
    assert not agent.allowed("/some/other")
    assert not made.allowed(b"/some/other", b"OTHER")
    assert reppy.Robots is Robots
    assert reppy.Agent is Agent


def test_fetch_parses(site: Site) -> None:
    made = Robots.fetch(site.robots(200, FILE))
    assert not made.allowed(f"{site.url}/some", "my-user-agent")
    assert not made.expired
    assert 3590 < made.ttl <= 3600
    assert abs((made.expires or 0) - time.time() - 3600) < 60


def test_a_ttl_policy_may_be_given(site: Site) -> None:
    policy = HeaderWithDefaultPolicy(default=1800, minimum=600)
    assert 1790 < Robots.fetch(site.robots(200), ttl_policy=policy).ttl <= 1800
    url = site.robots(200, headers={"Cache-Control": "max-age=60"})
    assert 590 < Robots.fetch(url, ttl_policy=policy).ttl <= 600


def test_fetch_sends_headers_and_parameters(site: Site) -> None:
    site.pages["/robots.txt?a=b"] = Answer(200)
    Robots.fetch(site.url + "/robots.txt", params={"a": "b"}, headers={"User-Agent": "me"})
    assert site.requests[0][1]["User-Agent"] == "me"


# Matching


@pytest.mark.parametrize(
    ("pattern", "url", "matches"),
    [
        ("/a*c", "/abc", True), ("/a$", "/a", True), ("/a$", "/ab", False), ("/a%2fb", "/a/b", True),
        ("/a", "/a?b#c", True), ("/~joe", "/%7ejoe", True), ("/a%3Db", "/a=b", True),
        ("/a%26b", "/a&b", True), ("/caf%C3%A9", "/caf\xe9", True),
    ],
)  # fmt: skip
def test_patterns(pattern: str, url: str, matches: bool) -> None:
    assert robots(f"User-agent: *\nDisallow: {pattern}").allowed(url, "x") != matches


def test_the_longest_rule_wins() -> None:
    assert robots("User-agent: *\nDisallow: /a\nAllow: /a/b").allowed("/a/b/c", "x")


def test_robots_txt_itself_is_allowed() -> None:
    assert robots("User-agent: *\nDisallow: /").allowed("/robots.txt", "x")


def test_an_empty_disallow_allows() -> None:
    assert robots("User-agent: *\nDisallow:").allowed("/a", "x")


def test_names_are_whole_and_everybody_s_rules_are_the_rest() -> None:
    made = robots()
    for name in ("my-user-agent/1.0", "my-user", "x"):
        assert made.allowed("/some", name)
        assert not made.allowed("/a.pdf", name)
        assert not made.allowed("/orphan", name)


def test_urls_of_another_host_are_not_allowed() -> None:
    made = robots("")
    assert made.allowed("http://example.com:8080/", "x")
    assert made.allowed("https://EXAMPLE.com/", "x")
    assert made.allowed("http://example.com/", "x")
    assert not made.allowed("http://example.org/", "x")
    assert not made.allowed("//example.org/", "x")
    assert not made.agent("x").allowed("http://example.org/")
    assert Robots.parse("", "").allowed("http://example.org/", "x")
    assert made.allowed("http://[", "x")


def test_a_byte_order_mark_is_skipped() -> None:
    assert not robots(b"\xef\xbb\xbfUser-agent: *\nDisallow: /").allowed("/", "x")


# Sitemaps, delay, robots_url


def test_sitemaps() -> None:
    assert robots().sitemaps == ["http://example.com/s.xml"]


@pytest.mark.parametrize(
    ("lines", "delay"),
    [("Crawl-Delay: 2.5", 2.5), ("", None), ("Crawl-Delay: 0", None), ("Crawl-Delay: x", None),
     ("Crawl-Delay: 3 seconds", 3.0), ("Crawl-Delay: 1\nCrawl-Delay: 2", 2.0)],
)  # fmt: skip
def test_delay(lines: str, delay: float | None) -> None:
    assert robots(f"User-agent: *\n{lines}").agent("my-user-agent").delay == delay


@pytest.mark.parametrize(
    ("url", "robots_url"),
    [
        ("http://userinfo@example.com:8080/path;params?query#fragment", "http://example.com:8080/robots.txt"),
        ("https://example.com:443/a", "https://example.com/robots.txt"),
        ("http://example.com:443", "http://example.com:443/robots.txt"),
        (b"http://[::1]:80/", "http://[::1]/robots.txt"),
    ],
)  # fmt: skip
def test_robots_url(url: str | bytes, robots_url: str) -> None:
    assert Robots.robots_url(url) == robots_url


# Agent


def test_rules_can_be_added_to_an_agent() -> None:
    agent = Agent().disallow("/").allow(b"/a")
    assert (agent.allowed("/a"), agent.allowed("/b"), len(agent), agent.delay) == (
        True,
        False,
        2,
        None,
    )
    assert str(agent) == "[Directive(Disallow: /), Directive(Allow: /a)]"
    assert Agent().allowed("/")


def test_an_agent_is_a_copy() -> None:
    made = robots()
    agent = made.agent("my-user-agent").allow("/some")
    assert len(agent) == 3
    assert agent.allowed("/some")
    assert not made.allowed("/some", "my-user-agent")
    assert Agent.from_robots(made, b"my-user-agent").delay == 2.5


def test_an_added_rule_stays_one_line() -> None:
    agent = Agent().disallow("/a\nDisallow: /b").disallow("/c#d")
    assert agent.allowed("/b")
    assert not agent.allowed("/c")


def test_they_print() -> None:
    assert str(AllowNone(URL)) == '{"*": [Directive(Disallow: /)]}'
    assert str(robots()).startswith(
        '{"*": [Directive(Disallow: /orphan), Directive(Disallow: /*.pdf$)]'
    )
    assert '"other": Crawl-Delay: 2.5 [Directive(Disallow: /some)' in str(robots())


def test_allow_none_and_allow_all() -> None:
    assert not AllowNone(URL, 5).allowed("/", "x")
    assert AllowAll(URL, expires=5).allowed("/", "x")
    assert AllowAll(URL, 5).expired
    assert AllowAll(URL, 5).ttl == 0


# Statuses and exceptions


@pytest.mark.parametrize("status", [401, 403])
def test_forbidden_is_allow_none(site: Site, status: int) -> None:
    assert isinstance(Robots.fetch(site.robots(status)), AllowNone)


@pytest.mark.parametrize("status", [400, 404, 410, 429])
def test_other_4xx_is_allow_all(site: Site, status: int) -> None:
    assert isinstance(Robots.fetch(site.robots(status)), AllowAll)


@pytest.mark.parametrize("status", [500, 503, 204])
def test_another_status_is_bad(site: Site, status: int) -> None:
    with pytest.raises(exceptions.BadStatusCode) as raised:
        Robots.fetch(site.robots(status))
    assert raised.value.args[1] == status


def test_redirects_are_followed_but_not_for_ever(site: Site) -> None:
    url = site.robots(301, headers={"Location": "/one"})
    site.pages["/one"] = Answer(200, FILE)
    assert not Robots.fetch(url).allowed("/some", "other")
    with pytest.raises(exceptions.ExcessiveRedirects) as raised:
        Robots.fetch(site.robots(301, headers={"Location": "/robots.txt"}))
    assert raised.value.url == url


def test_a_long_file_is_too_long(site: Site) -> None:
    url = site.robots(200, b"#" * 100)
    with pytest.raises(exceptions.ContentTooLong):
        Robots.fetch(url, max_size=99)
    Robots.fetch(url, max_size=100)


@pytest.mark.parametrize(
    "url", ["", "robots.txt", "ftp://example.com/", "http://", "gopher://x/", "http://[/"]
)
def test_what_is_no_url_is_malformed(url: str) -> None:
    with pytest.raises(exceptions.MalformedUrl):
        Robots.fetch(url)


def test_no_connection(site: Site) -> None:
    with pytest.raises(exceptions.ConnectionException):
        Robots.fetch(f"http://127.0.0.1:{closed_port()}/robots.txt")
    with pytest.raises(exceptions.ConnectionException):
        Robots.fetch(site.robots(close=True))
    with pytest.raises(exceptions.ConnectionException):
        Robots.fetch(site.robots(garbage=True))


def test_a_slow_server_is_a_read_timeout(site: Site) -> None:
    with pytest.raises(exceptions.ReadTimeout):
        Robots.fetch(site.robots(200, delay=2), timeout=0.2)


def test_no_secure_connection() -> None:
    """The server speaks no TLS."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(100)
                connection.sendall(b"HTTP/1.1 400 plain\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(exceptions.SSLException) as raised:
            Robots.fetch(f"https://127.0.0.1:{listening.getsockname()[1]}/", timeout=5)
        thread.join()
    assert isinstance(raised.value.args[0], ssl.SSLError)


def test_all_exceptions_have_one_parent() -> None:
    for name in (
        *("ContentTooLong", "ServerError", "SSLException", "ConnectionException", "MalformedUrl"),
        *("ExcessiveRedirects", "ReadTimeout", "BadStatusCode"),
    ):
        assert issubclass(getattr(exceptions, name), exceptions.ReppyException)


def test_a_compressed_body_is_unpacked_but_not_without_end(site: Site) -> None:
    url = site.robots(200, gzip.compress(FILE), {"Content-Encoding": "gzip"})
    assert not Robots.fetch(url).allowed(f"{site.url}/some", "other")
    url = site.robots(200, gzip.compress(b"#" * 10_000_000), {"Content-Encoding": "gzip"})
    with pytest.raises(exceptions.ContentTooLong):
        Robots.fetch(url)


@pytest.mark.parametrize("location", ["ftp://127.0.0.1:1/x", "file:///etc/passwd", "data:,x"])
def test_redirects_lead_to_no_other_scheme(site: Site, location: str) -> None:
    with pytest.raises(exceptions.ReppyException) as raised:
        Robots.fetch(site.robots(302, headers={"Location": location}))
    assert not isinstance(raised.value, exceptions.ConnectionException)


def test_the_reason_phrase_says_nothing(site: Site) -> None:
    assert isinstance(Robots.fetch(site.robots(404, phrase="infinite loop")), AllowAll)


@pytest.mark.parametrize(
    "headers",
    [{"Cache-Control": "max-age=" + "9" * 400}, {"Cache-Control": "max-age=" + "9" * 5000},
     {"Expires": "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"},
     {"Expires": "Mon, 99999999999999999999 Jan 2030 00:00:00 GMT"}],
)  # fmt: skip
def test_no_header_makes_a_ttl_that_does_not_end(site: Site, headers: dict[str, str]) -> None:
    assert 0 <= Robots.fetch(site.robots(200, headers=headers)).ttl <= reppy.ttl.MAX_SECONDS


def test_of_a_pair_of_timeouts_the_second_counts(site: Site) -> None:
    with pytest.raises(exceptions.ReadTimeout):
        Robots.fetch(site.robots(200, delay=2), timeout=(9, 0.2))


@pytest.mark.parametrize(
    "make", [lambda: RobotsCache(1, proxies={}), lambda: AgentCache("x", 1, auth=1)]
)
def test_a_cache_says_at_once_what_fetch_does_not_take(make: Any) -> None:
    with pytest.raises(TypeError, match="unexpected keyword"):
        make()


def test_a_pattern_ends_at_its_first_anchor() -> None:
    assert not robots("User-agent: *\nDisallow: /a$b").allowed("/a", "x")
    assert robots("User-agent: *\nDisallow: /a$b").allowed("/a$b", "x")


def test_hooks_are_called(site: Site) -> None:
    seen: list[Any] = []
    hooks: dict[str, Any] = {"after_response_hook": seen.append, "after_parse_hook": seen.append}
    made = Robots.fetch(site.robots(200, FILE), **hooks)
    assert seen[0].status_code == 200
    assert seen[1] is made
    with pytest.raises(exceptions.MalformedUrl):
        Robots.fetch("", **hooks)
    assert isinstance(seen[2], exceptions.MalformedUrl)


# TTL policies


def response(**headers: str) -> Any:
    message = Message()
    for name, value in headers.items():
        message[name.replace("_", "-")] = value

    class Response:
        headers = message

    return Response()


NOW = email.utils.formatdate(1_000_000, usegmt=True)
LATER = email.utils.formatdate(1_005_000, usegmt=True)


@pytest.mark.parametrize(
    ("headers", "ttl"),
    [
        ({}, 3600), ({"Cache_Control": "max-age=7200"}, 7200), ({"Cache_Control": "max-age=1"}, 600),
        ({"Cache_Control": "public, S-MaxAge = 900"}, 900), ({"Cache_Control": "no-store"}, 600),
        ({"Cache_Control": "no-cache, max-age=9999"}, 600), ({"Cache_Control": "must-revalidate"}, 600),
        ({"Cache_Control": "max-age=x", "Expires": LATER, "Date": NOW}, 5000),
        ({"Expires": LATER, "Date": NOW}, 5000), ({"Expires": NOW, "Date": LATER}, 600),
        ({"Expires": "x"}, 3600), ({"Expires": LATER, "Date": "x"}, 600), ({"Expires": LATER}, 600),
    ],
)  # fmt: skip
def test_headers_then_default_with_a_minimum(headers: dict[str, str], ttl: float) -> None:
    policy = HeaderWithDefaultPolicy(default=3600, minimum=600)
    assert policy.ttl(response(**headers)) == ttl
    assert abs(policy.expires(response(**headers)) - time.time() - ttl) < 60


def test_bases_are_to_be_written() -> None:
    for call in (
        lambda: TTLPolicyBase().ttl(response()), lambda: CachePolicyBase().exception("", ValueError()),
        lambda: BaseCache(1).fetch(""),
    ):  # fmt: skip
        with pytest.raises(NotImplementedError):
            call()


def test_dates() -> None:
    assert util.parse_date(NOW) == 1_000_000
    assert util.parse_date("Sun Nov  6 08:49:37 1994") == 784111777
    with pytest.raises(ValueError, match="Invalid time"):
        util.parse_date("x")


# Caches


def test_a_robots_cache(site: Site) -> None:
    site.robots(200, FILE)
    cache = RobotsCache(capacity=100)
    for _ in range(3):
        assert not cache.allowed(f"{site.url}/some/bar", "my-user-agent")
    assert len(site.requests) == 1
    assert isinstance(cache.get(site.url), Robots)


def test_an_agent_cache(site: Site) -> None:
    site.robots(200, FILE)
    cache = AgentCache(agent="my-user-agent", capacity=100)
    assert not cache.allowed(f"{site.url}/some/bar")
    assert isinstance(cache.get(site.url), Agent)


def test_what_has_expired_is_fetched_again(site: Site) -> None:
    site.robots(200, FILE)
    cache = RobotsCache(1, ttl_policy=HeaderWithDefaultPolicy(default=0, minimum=0))
    for _ in range(2):
        cache.allowed(site.url, "x")
    assert len(site.requests) == 2


def test_the_least_recently_used_goes_first() -> None:
    fetched = []

    class Cache(BaseCache):
        def fetch(self, url: str) -> tuple[float, str]:
            fetched.append(url[7:8])
            return time.time() + 60, url

    cache = Cache(2)
    for host in "abacab":
        cache.get(f"http://{host}/x")
    assert fetched == ["a", "b", "c", "b"]


def test_failures_are_kept_as_a_policy_says(site: Site) -> None:
    site.robots(500)
    cache = RobotsCache(capacity=100)
    for _ in range(2):
        assert not cache.allowed(site.url, "x")
    assert not AgentCache("x", 100).allowed(site.url)
    assert len(site.requests) == 2
    policy = DefaultObjectPolicy(ttl=600, factory=lambda _: Agent())
    assert AgentCache("x", 100, cache_policy=policy).allowed(site.url)


@pytest.mark.parametrize(("ttl", "asked"), [(0, 2), (600, 1)])
def test_failures_may_be_raised_again(site: Site, ttl: float, asked: int) -> None:
    site.robots(500)
    cache = AgentCache("x", 100, cache_policy=ReraiseExceptionPolicy(ttl=ttl))
    for _ in range(2):
        with pytest.raises(exceptions.BadStatusCode):
            cache.allowed(site.url)
    assert len(site.requests) == asked

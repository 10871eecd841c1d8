"""The facade for reppy: each example of its documentation, and its docstrings."""

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
from tests.helpers.server import Answer, Site, closed_port

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


def test_robots_and_agent_allowed() -> None:
    robots_txt = robots()
    assert robots_txt.allowed("http://example.com/some/path/", "my-user-agent")
    agent = robots_txt.agent("my-user-agent")
    assert agent.allowed("http://example.com/some/path/")
    assert not agent.allowed("/some/other")
    assert not robots_txt.allowed(b"/some/other", b"OTHER")
    assert reppy.Robots is Robots
    assert reppy.Agent is Agent


def test_fetch_parses(site: Site) -> None:
    robots_txt = Robots.fetch(site.robots(200, FILE))
    assert not robots_txt.allowed(f"{site.url}/some", "my-user-agent")
    assert not robots_txt.expired
    assert 3590 < robots_txt.ttl <= 3600
    assert abs((robots_txt.expires or 0) - time.time() - 3600) < 60


def test_fetch_with_a_ttl_policy(site: Site) -> None:
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


def test_names_match_whole_and_other_agents_use_the_star_group() -> None:
    robots_txt = robots()
    for name in ("my-user-agent/1.0", "my-user", "x"):
        assert robots_txt.allowed("/some", name)
        assert not robots_txt.allowed("/a.pdf", name)
        assert not robots_txt.allowed("/orphan", name)


def test_urls_of_another_host_are_not_allowed() -> None:
    robots_txt = robots("")
    assert robots_txt.allowed("http://example.com:8080/", "x")
    assert robots_txt.allowed("https://EXAMPLE.com/", "x")
    assert robots_txt.allowed("http://example.com/", "x")
    assert not robots_txt.allowed("http://example.org/", "x")
    assert not robots_txt.allowed("//example.org/", "x")
    assert not robots_txt.agent("x").allowed("http://example.org/")
    assert Robots.parse("", "").allowed("http://example.org/", "x")
    assert robots_txt.allowed("http://[", "x")


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
    robots_txt = robots()
    agent = robots_txt.agent("my-user-agent").allow("/some")
    assert len(agent) == 3
    assert agent.allowed("/some")
    assert not robots_txt.allowed("/some", "my-user-agent")
    assert Agent.from_robots(robots_txt, b"my-user-agent").delay == 2.5


def test_an_added_rule_stays_one_line() -> None:
    agent = Agent().disallow("/a\nDisallow: /b").disallow("/c#d")
    assert agent.allowed("/b")
    assert not agent.allowed("/c")


def test_str() -> None:
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
def test_other_status_raises_bad_status_code(site: Site, status: int) -> None:
    with pytest.raises(exceptions.BadStatusCode) as caught:
        Robots.fetch(site.robots(status))
    assert caught.value.args[1] == status


def test_redirects_are_followed_up_to_a_limit(site: Site) -> None:
    url = site.robots(301, headers={"Location": "/one"})
    site.pages["/one"] = Answer(200, FILE)
    assert not Robots.fetch(url).allowed("/some", "other")
    with pytest.raises(exceptions.ExcessiveRedirects) as caught:
        Robots.fetch(site.robots(301, headers={"Location": "/robots.txt"}))
    assert caught.value.url == url


def test_file_over_max_size_raises(site: Site) -> None:
    url = site.robots(200, b"#" * 100)
    with pytest.raises(exceptions.ContentTooLong):
        Robots.fetch(url, max_size=99)
    Robots.fetch(url, max_size=100)


@pytest.mark.parametrize(
    "url", ["", "robots.txt", "ftp://example.com/", "http://", "gopher://x/", "http://[/"]
)
def test_invalid_url_is_malformed(url: str) -> None:
    with pytest.raises(exceptions.MalformedUrl):
        Robots.fetch(url)


def test_connection_errors(site: Site) -> None:
    with pytest.raises(exceptions.ConnectionException):
        Robots.fetch(f"http://127.0.0.1:{closed_port()}/robots.txt")
    with pytest.raises(exceptions.ConnectionException):
        Robots.fetch(site.robots(close=True))
    with pytest.raises(exceptions.ConnectionException):
        Robots.fetch(site.robots(garbage=True))


def test_a_slow_server_is_a_read_timeout(site: Site) -> None:
    with pytest.raises(exceptions.ReadTimeout):
        Robots.fetch(site.robots(200, delay=2), timeout=0.2)


def test_tls_error() -> None:
    """The server does not speak TLS."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(100)
                connection.sendall(b"HTTP/1.1 400 plain\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(exceptions.SSLException) as caught:
            Robots.fetch(f"https://127.0.0.1:{listener.getsockname()[1]}/", timeout=5)
        thread.join()
    assert isinstance(caught.value.args[0], ssl.SSLError)


def test_all_exceptions_have_one_parent() -> None:
    for name in (
        "ContentTooLong",
        "ServerError",
        "SSLException",
        "ConnectionException",
        "MalformedUrl",
        "ExcessiveRedirects",
        "ReadTimeout",
        "BadStatusCode",
    ):
        assert issubclass(getattr(exceptions, name), exceptions.ReppyException)


def test_compressed_body_is_decompressed_up_to_max_size(site: Site) -> None:
    url = site.robots(200, gzip.compress(FILE), {"Content-Encoding": "gzip"})
    assert not Robots.fetch(url).allowed(f"{site.url}/some", "other")
    url = site.robots(200, gzip.compress(b"#" * 10_000_000), {"Content-Encoding": "gzip"})
    with pytest.raises(exceptions.ContentTooLong):
        Robots.fetch(url)


@pytest.mark.parametrize("location", ["ftp://127.0.0.1:1/x", "file:///etc/passwd", "data:,x"])
def test_redirects_to_other_schemes_are_rejected(site: Site, location: str) -> None:
    with pytest.raises(exceptions.ReppyException) as caught:
        Robots.fetch(site.robots(302, headers={"Location": location}))
    assert not isinstance(caught.value, exceptions.ConnectionException)


def test_reason_phrase_is_ignored(site: Site) -> None:
    assert isinstance(Robots.fetch(site.robots(404, phrase="infinite loop")), AllowAll)


@pytest.mark.parametrize(
    "headers",
    [{"Cache-Control": "max-age=" + "9" * 400}, {"Cache-Control": "max-age=" + "9" * 5000},
     {"Expires": "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"},
     {"Expires": "Mon, 99999999999999999999 Jan 2030 00:00:00 GMT"}],
)  # fmt: skip
def test_ttl_from_headers_is_bounded(site: Site, headers: dict[str, str]) -> None:
    assert 0 <= Robots.fetch(site.robots(200, headers=headers)).ttl <= reppy.ttl.MAX_SECONDS


def test_second_of_a_pair_of_timeouts_is_the_read_timeout(site: Site) -> None:
    with pytest.raises(exceptions.ReadTimeout):
        Robots.fetch(site.robots(200, delay=2), timeout=(9, 0.2))


@pytest.mark.parametrize(
    "create", [lambda: RobotsCache(1, proxies={}), lambda: AgentCache("x", 1, auth=1)]
)
def test_cache_rejects_unknown_fetch_arguments(create: Any) -> None:
    with pytest.raises(TypeError, match="unexpected keyword"):
        create()


def test_a_pattern_ends_at_its_first_anchor() -> None:
    assert not robots("User-agent: *\nDisallow: /a$b").allowed("/a", "x")
    assert robots("User-agent: *\nDisallow: /a$b").allowed("/a$b", "x")


def test_hooks_are_called(site: Site) -> None:
    hook_arguments: list[Any] = []
    hooks: dict[str, Any] = {
        "after_response_hook": hook_arguments.append,
        "after_parse_hook": hook_arguments.append,
    }
    robots_txt = Robots.fetch(site.robots(200, FILE), **hooks)
    assert hook_arguments[0].status_code == 200
    assert hook_arguments[1] is robots_txt
    with pytest.raises(exceptions.MalformedUrl):
        Robots.fetch("", **hooks)
    assert isinstance(hook_arguments[2], exceptions.MalformedUrl)


# TTL policies


def response(**headers: str) -> Any:
    message = Message()
    for name, value in headers.items():
        message[name.replace("_", "-")] = value

    class Response:
        headers = message

    return Response()


NOW = email.utils.formatdate(1_000_000, usegmt=True)
FUTURE = email.utils.formatdate(1_005_000, usegmt=True)


@pytest.mark.parametrize(
    ("headers", "ttl"),
    [
        ({}, 3600), ({"Cache_Control": "max-age=7200"}, 7200), ({"Cache_Control": "max-age=1"}, 600),
        ({"Cache_Control": "public, S-MaxAge = 900"}, 900), ({"Cache_Control": "no-store"}, 600),
        ({"Cache_Control": "no-cache, max-age=9999"}, 600), ({"Cache_Control": "must-revalidate"}, 600),
        ({"Cache_Control": "max-age=x", "Expires": FUTURE, "Date": NOW}, 5000),
        ({"Expires": FUTURE, "Date": NOW}, 5000), ({"Expires": NOW, "Date": FUTURE}, 600),
        ({"Expires": "x"}, 3600), ({"Expires": FUTURE, "Date": "x"}, 600), ({"Expires": FUTURE}, 600),
    ],
)  # fmt: skip
def test_headers_then_default_with_a_minimum(headers: dict[str, str], ttl: float) -> None:
    policy = HeaderWithDefaultPolicy(default=3600, minimum=600)
    assert policy.ttl(response(**headers)) == ttl
    assert abs(policy.expires(response(**headers)) - time.time() - ttl) < 60


def test_base_classes_are_abstract() -> None:
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


def test_robots_cache(site: Site) -> None:
    site.robots(200, FILE)
    cache = RobotsCache(capacity=100)
    for _ in range(3):
        assert not cache.allowed(f"{site.url}/some/bar", "my-user-agent")
    assert len(site.requests) == 1
    assert isinstance(cache.get(site.url), Robots)


def test_agent_cache(site: Site) -> None:
    site.robots(200, FILE)
    cache = AgentCache(agent="my-user-agent", capacity=100)
    assert not cache.allowed(f"{site.url}/some/bar")
    assert isinstance(cache.get(site.url), Agent)


def test_expired_entries_are_fetched_again(site: Site) -> None:
    site.robots(200, FILE)
    cache = RobotsCache(1, ttl_policy=HeaderWithDefaultPolicy(default=0, minimum=0))
    for _ in range(2):
        cache.allowed(site.url, "x")
    assert len(site.requests) == 2


def test_cache_evicts_the_least_recently_used_entry() -> None:
    fetched_hosts = []

    class Cache(BaseCache):
        def fetch(self, url: str) -> tuple[float, str]:
            fetched_hosts.append(url[7:8])
            return time.time() + 60, url

    cache = Cache(2)
    for host in "abacab":
        cache.get(f"http://{host}/x")
    assert fetched_hosts == ["a", "b", "c", "b"]


def test_failures_are_cached_as_the_policy_says(site: Site) -> None:
    site.robots(500)
    cache = RobotsCache(capacity=100)
    for _ in range(2):
        assert not cache.allowed(site.url, "x")
    assert not AgentCache("x", 100).allowed(site.url)
    assert len(site.requests) == 2
    policy = DefaultObjectPolicy(ttl=600, factory=lambda _: Agent())
    assert AgentCache("x", 100, cache_policy=policy).allowed(site.url)


@pytest.mark.parametrize(("ttl", "fetches"), [(0, 2), (600, 1)])
def test_cached_failures_are_raised_again(site: Site, ttl: float, fetches: int) -> None:
    site.robots(500)
    cache = AgentCache("x", 100, cache_policy=ReraiseExceptionPolicy(ttl=ttl))
    for _ in range(2):
        with pytest.raises(exceptions.BadStatusCode):
            cache.allowed(site.url)
    assert len(site.requests) == fetches

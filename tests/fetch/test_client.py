"""Both clients against real servers: statuses, redirects, URLs."""

from __future__ import annotations

import codecs
import os

import pytest

import koster
from koster.cache import MemoryCache
from koster.fetch import (
    Event,
    EventName,
    MockTransport,
    RobotsClient,
)
from tests.helpers import server
from tests.helpers.fetching import FILE, NAME, Clock, ask, call, outcome, reason_of
from tests.helpers.server import Answer, Site


def test_each_site_is_fetched_once(kind: str, site: Site) -> None:
    site.robots(body=FILE)
    url = site.url
    decisions = ask(
        kind,
        ("decide", f"{url}/private/x"),
        ("decide", f"{url}/open"),
        ("allowed", f"{url}/private"),
        ("allowed", f"{url}/robots.txt"),
        ("robots", url),
    )
    assert [bool(each) for each in decisions[:4]] == [False, True, False, True]
    assert str(decisions[0]).endswith("line 2, Disallow: /private")
    assert decisions[4].robots.body == FILE
    assert [path for path, _ in site.requests] == ["/robots.txt"]
    headers = {name.lower(): value for name, value in site.requests[0][1].items()}
    assert headers["user-agent"] == NAME
    assert "cookie" not in headers


def test_robots_txt_itself_needs_no_fetch(kind: str, unused: int) -> None:
    url = f"http://127.0.0.1:{unused}/robots.txt?x"
    (decision,) = ask(kind, ("decide", url))
    assert decision.reason is koster.Reason.ROBOTS_TXT


@pytest.mark.parametrize(
    "url", ["", "/x", "example.com", "ftp://example.com/", "http://[x/", "/robots.txt"]
)
def test_urls_without_an_http_origin_are_rejected(kind: str, url: str) -> None:
    for method in ("decide", "allowed", "robots", "wait", "next_request"):
        with pytest.raises(koster.UrlError):
            ask(kind, (method, url))


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        *((status, "file") for status in (200, 203)),
        *((status, "unavailable") for status in (400, 401, 403, 404, 410, 418, 451)),
        *((status, "unreachable") for status in (304, 300, 429, 500, 502, 503, 504, 599)),
    ],
)
def test_status_codes(kind: str, site: Site, status: int, reason: str) -> None:
    site.robots(status, FILE)
    result = outcome(kind, site.url)
    assert reason_of(result) == reason
    assert result.hops[-1].status == status
    if reason != "file":
        assert str(status) in result.why
        decision = result.decide(f"{site.url}/private", "FooBot")
        assert (decision.allowed, decision.why) == (reason == "unavailable", result.why)


#: URL spellings that browsers and most HTTP clients resolve to /private/x.
SPELLINGS = [
    "{}/private/x", " {}/private/x", "\t{}/private/x\n", "{}\\private\\x", "{}/pri\tvate/x",
    "{}/open/../private/x", "{}/./private/x", "{}/open/%2e%2E/private/x", "{}/private/./x#y",
    "\x00{}/private/x", "{}/%70rivate/x", "{}/private/x?", "{}\\.\\private/y/../x",
]  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_urls_are_normalized_before_matching(kind: str, spelling: str) -> None:
    sites = MockTransport({"https://a.example": "User-agent: *\nDisallow: /private"})
    for origin in (
        "https://a.example",
        "https:a.example",
        "HTTPS:\\\\A.example",
        "https:////a.example",
    ):
        url = spelling.format(origin)
        decision, allowed, second_decision = ask(
            kind, ("decide", url), ("allowed", url), ("decide", url), transport=sites
        )
        assert (bool(decision), allowed, bool(second_decision)) == (False, False, False)
        assert decision.url == second_decision.url == url


def test_robots_txt_itself_in_any_spelling(kind: str, unused: int) -> None:
    for url in (" http://127.0.0.1:{}/robots.txt", "http:127.0.0.1:{}/x/../robots.txt"):
        (decision,) = ask(kind, ("decide", url.format(unused)))
        assert decision.reason is koster.Reason.ROBOTS_TXT


def test_every_status_code_from_a_real_server(site: Site) -> None:
    statuses = koster.RFC9309.statuses
    clock = Clock()
    with RobotsClient(NAME, clock=clock) as client:
        for status in range(200, 600):
            site.robots(status, b"" if status in (204, 304) else FILE)
            reason = reason_of(client.robots(site.url))
            clock.later(days=40)
            if status < 300:
                assert reason == "file", status
            elif status in statuses.unavailable:
                assert reason == "unavailable", status
            else:
                # The cached copy has expired, or is stale.
                assert reason == ("file" if 300 <= status < 400 else "unreachable"), status
    assert len(site.requests) == 400


def test_forked_child_opens_its_own_connection(site: Site) -> None:
    site.robots(body=FILE)
    with RobotsClient(NAME, clock=(clock := Clock())) as client:
        client.robots(site.url)
        clock.later(days=2)
        pid = os.fork()
        if pid == 0:
            try:
                os._exit(0 if client.robots(site.url).robots is not None else 1)
            finally:
                os._exit(2)
        assert os.waitpid(pid, 0)[1] == 0
        assert client.robots(site.url).robots is not None
    # One that the parent keeps using, and one that the child opens.
    assert site.connections == 2


@pytest.mark.parametrize("count", range(8))
def test_redirect_chains(kind: str, site: Site, count: int) -> None:
    for number in range(count):
        path = "/robots.txt" if number == 0 else f"/{number}"
        site.pages[path] = Answer(301, headers={"Location": f"/{number + 1}"})
    site.pages[f"/{count}" if count else "/robots.txt"] = Answer(body=FILE)
    result = outcome(kind, site.url)
    assert reason_of(result) == ("file" if count <= 5 else "unavailable")
    assert len(site.requests) == min(count + 1, 6)


def test_redirect_loop(kind: str, site: Site) -> None:
    site.robots(302, headers={"Location": "/b"})
    site.pages["/b"] = Answer(302, headers={"Location": f"{site.url}/robots.txt"})
    assert outcome(kind, site.url).why == "redirect loop"
    assert len(site.requests) == 2


def test_redirect_to_another_host_applies_to_the_original_origin(kind: str, site: Site) -> None:
    with server.running() as other:
        site.robots(308, headers={"Location": f"http://u:p@127.0.0.1:{other.port}/r?é"})
        other.pages["/r?%E9"] = Answer(body=FILE)
        other.robots(404)
        result, private_allowed, other_allowed = ask(
            kind,
            ("robots", site.url),
            ("allowed", f"{site.url}/private"),
            ("allowed", f"{other.url}/private"),
        )
        assert result.origin == site.url
        assert result.url == f"{other.url}/r?%E9"
        assert (private_allowed, other_allowed) == (False, True)
        assert "Authorization" not in other.requests[0][1]


@pytest.mark.parametrize(
    "location", ["ftp://x/", "http://[", "javascript:x", "http:///", "http://a..b/"]
)
def test_invalid_redirect_targets(kind: str, site: Site, location: str) -> None:
    site.robots(301, headers={"Location": location})
    assert reason_of(outcome(kind, site.url)) == "unreachable"


# URLs as HTTP clients send them.


@pytest.mark.parametrize(
    ("pattern", "url"),
    [
        ("/caf%C3%A9", "/café"),
        ("/café", "/café"),
        ("/caf%c3%a9", "/caf\u00e9"),
        ("/a%20b", "/a b"),
        ("/a%22b", '/a"b'),
        ("/%7Ba%7D", "/{a}"),
        ("/a?q=%3Cb%3E", "/a?q=<b>"),
        ("/a?q={b}", "/a?q={b}"),
        ("/%F0%9F%90%B8", "/🐸"),
        ("/a/%C3%A9", "/x/../a/é"),
        ("/%ED%A0%80", "/\ud800"),
        ("/%ED%B3%BF", "/\udcff"),
    ],
)
def test_google_decides_about_the_url_that_is_sent(kind: str, pattern: str, url: str) -> None:
    body = f"User-agent: *\nDisallow: {pattern}".encode()
    site = MockTransport({"https://e.example": body})
    options = {"transport": site, "dialect": koster.GOOGLE}
    url = f"https://e.example{url}"
    (decision, outcome, allowed) = ask(
        kind, ("decide", url), ("robots", url), ("allowed", url), **options
    )
    assert not decision
    assert decision.url == url
    assert not allowed
    assert not outcome.allowed(url, "FooBot")
    assert not call(kind, "allowed", url, "Other", **options)
    # Under other dialects, escapes make no difference.
    assert not call(kind, "allowed", url, **options | {"dialect": koster.RFC9309})


def test_the_dialect_google_itself_compares_urls_as_they_are() -> None:
    robots = koster.parse("User-agent: *\nDisallow: /caf%C3%A9", koster.GOOGLE)
    assert robots.allowed("https://e.example/café", "Googlebot")
    assert not robots.allowed("https://e.example/caf%C3%A9", "Googlebot")


# HTML pages.

PAGE = b"\r\n<!DOCTYPE html>\n<title>Just a moment...</title>"


def test_html_pages_have_no_rules_and_an_event(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    events: list[Event] = []
    options = {
        "transport": MockTransport({"https://e.example": PAGE}),
        "on_event": events.append,
    }
    outcome = call(kind, "robots", "https://e.example/", **options)
    assert outcome.is_html
    assert outcome.allowed("/a", "FooBot")
    found = [each for each in events if each.name is EventName.SITE_HTML]
    assert [each.attributes["url.full"] for each in found] == ["https://e.example/robots.txt"]
    assert "is an HTML page, not a robots.txt" in caplog.text
    assert not call(kind, "robots", "https://f.example/", **options).is_html


@pytest.mark.parametrize("body", [PAGE, codecs.BOM_UTF16_LE + "<html>".encode("utf-16-le")])
def test_html_pages_can_make_a_site_unreachable(kind: str, body: bytes) -> None:
    options = {
        "transport": MockTransport({"https://e.example": body}),
        "html": koster.Html.UNREACHABLE,
    }
    decision = call(kind, "decide", "https://e.example/", **options)
    assert decision.reason is koster.Reason.UNREACHABLE
    assert decision.why == "an HTML page, not a robots.txt"
    # A client with the other policy has cached it.
    cache = MemoryCache()
    assert call(
        kind,
        "allowed",
        "https://e.example/",
        **options | {"html": koster.Html.NO_RULES, "cache": cache},
    )
    assert not call(kind, "allowed", "https://e.example/", **options, cache=cache)


def test_a_page_leaves_the_last_file_in_force(kind: str) -> None:
    """A site that hides behind a bot wall is not open to everything."""
    sites = MockTransport({"https://e.example": ["User-agent: *\nDisallow: /a", PAGE]})
    url = "https://e.example/a"
    _, stale, decision = ask(
        kind,
        ("robots", url),
        ("refetch", url),
        ("decide", url),
        transport=sites,
        html=koster.Html.UNREACHABLE,
    )
    assert stale.is_stale
    assert decision.rule is not None

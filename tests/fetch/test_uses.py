"""Clients with uses: before a page is fetched, after it, in turns, and as hooks of httpx."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import aiohttp
import anyio
import httpx
import httpx2
import pytest
import requests

import koster
from koster.fetch import (
    AsyncRobotsClient,
    Guard,
    MockTransport,
    NotAllowedError,
    Redirects,
    Reply,
    RobotsClient,
    Unreachable,
    event_hooks,
)
from koster.signals import MAX_HTML, Stated, Unstated, UseDecision
from tests.helpers.fetching import ASYNC_HTTP_CLIENTS, HTTP_CLIENTS, NAME, Clock, call, call_all
from tests.helpers.server import Answer, Site
from tests.helpers.support import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

URL = "https://example.com/tea"
SAYS_YES = "User-agent: *\nContent-Signal: ai-train=yes\nDisallow: /private\n"
SAYS_NO = "User-agent: *\nContent-Signal: ai-train=no\n"
SAYS_NOTHING = "User-agent: *\nDisallow: /private\n"
HTML = {"Content-Type": "text/html; charset=utf-8"}
TRAIN = {"uses": ("ai-train",), "default_interval": 0}


def rsl(statement: str) -> str:
    return (
        '<rsl xmlns="https://rslstandard.org/rsl"><content url="/"><license>'
        f"{statement}</license></content></rsl>"
    )


NO_TRAINING = rsl('<prohibits type="usage">ai-train</prohibits>')


def page(
    body: str | bytes = "<p>tea", *headers: tuple[str, str], url: str = URL, status: int = 200
) -> httpx2.Response:
    """Return a response; with a Content-Type unless ``headers`` have one."""
    names = {name.lower() for name, _ in headers}
    pairs = [*headers, *(() if "content-type" in names else HTML.items())]
    data = body.encode() if isinstance(body, str) else body
    return httpx2.Response(status, headers=pairs, content=data, request=httpx2.Request("GET", url))


def may_use(robots: Any, *arguments: Any, kind: str = "threads", **options: Any) -> UseDecision:
    sites = MockTransport({"https://example.com": robots} | options.pop("more", {}))
    found: UseDecision = call(kind, "may_use", URL, *arguments, transport=sites, **TRAIN | options)
    return found


BEFORE = {
    "yes": (SAYS_YES, True, "the site says yes to ai-train: Content-Signal: ai-train=yes"),
    "no": (SAYS_NO, False, "the site says no to ai-train: Content-Signal: ai-train=no"),
    # The page may say yes.
    "nothing": (SAYS_NOTHING, True, "the site says nothing about ai-train"),
    "no file": (404, True, "the site says nothing about ai-train"),
    "blocked": ("User-agent: foobot\nDisallow: /\n", False, "may not fetch"),
    "unreachable": (503, False, "fetching the site's robots.txt failed (503 Service Unavailable)"),
    "forbidden": (403, False, "is undecided: robots.txt: 403 Forbidden"),
    "a redirect loop": (
        Reply(302, headers={"Location": "https://example.com/robots.txt"}),
        False,
        "is undecided: robots.txt: redirect loop",
    ),
    "a page in place of a file": (Reply(200, "<html><p>Hello", HTML), False, "is undecided"),
    "cut": (SAYS_NOTHING + "#" * 600_000, False, "only its first 500 KiB are read"),
    "conflict": (
        SAYS_YES
        + "\nUser-agent: foobot\nContent-Usage: train-ai=n\nContent-Signal: ai-train=yes\n",
        False,
        "contradicts itself about ai-train",
    ),
    "license": (f"License: {URL}.xml\n{SAYS_YES}", False, "/tea.xml: 404 Not Found"),
}


@pytest.mark.parametrize("name", BEFORE)
def test_before_the_page_is_fetched(kind: str, name: str) -> None:
    robots, allowed, sentence = BEFORE[name]
    found = may_use(robots, kind=kind)
    assert (found.allowed, bool(found)) == (allowed, allowed)
    assert sentence in str(found)
    assert found.url == URL
    assert pickle.loads(pickle.dumps(found)).answers == found.answers
    assert str(copy.copy(found)) == str(found)


AFTER: dict[str, tuple[Any, httpx2.Response, bool, str]] = {
    "yes": (SAYS_YES, page(), True, "says yes"),
    "nothing": (SAYS_NOTHING, page(), False, "says nothing about ai-train"),
    "no in a header": (SAYS_NOTHING, page("", ("X-Robots-Tag", "noai")), False, "header X-Robots"),
    "yes in a header": (SAYS_NOTHING, page("", ("Content-Usage", "train-ai=y")), True, "says yes"),
    "no in HTML": (SAYS_NOTHING, page("<meta name=robots content=noai>"), False, "says no"),
    "by name": (SAYS_YES, page("<meta name=foobot content=noai>"), False, "contradicts itself"),
    "to another crawler": (SAYS_YES, page("<meta name=barbot content=noai>"), True, "says yes"),
    "header by name": (SAYS_YES, page("", ("X-Robots-Tag", "foobot: noai")), False, "noai"),
    # A name holds until the end of its header.
    "header for all after one for another crawler": (
        SAYS_YES,
        page("", ("X-Robots-Tag", "barbot: noindex"), ("X-Robots-Tag", "noai")),
        False,
        "noai",
    ),
    "text": (
        SAYS_YES,
        page("<meta name=robots content=noai>", ("Content-Type", "text/plain")),
        True,
        "says yes",
    ),
    "an error page": (SAYS_YES, page(status=404), False, "page: 404 Not Found"),
    "not modified": (SAYS_NOTHING, page(status=304), False, "page: 304 Not Modified"),
    "compressed twice": (
        SAYS_NOTHING,
        page(b"\x1f\x8b\x08\x00abc"),
        False,
        "its body is compressed with gzip",
    ),
    "another site": (
        SAYS_YES,
        page(url="https://www.example.com/tea"),
        False,
        "redirects to another site",
    ),
    "a blocked page": (SAYS_YES, page(url="https://example.com/private"), False, "not read"),
    "a license": (
        SAYS_YES,
        page("", ("Link", '</l.xml>; rel="license"; type="application/rsl+xml"')),
        False,
        "/l.xml: 404 Not Found",
    ),
}


@pytest.mark.parametrize("name", AFTER)
def test_after_the_page_is_fetched(name: str) -> None:
    robots, response, allowed, words = AFTER[name]
    found = may_use(robots, response)
    assert words in str(found)
    assert found.allowed is allowed


def test_nothing_stated_is_allowed_only_on_request(kind: str) -> None:
    for robots in (SAYS_NOTHING, 404):
        found = may_use(robots, page(), kind=kind, unstated=Unstated.ALLOW)
        assert found
        assert found.answers[0].stated is Stated.UNSTATED
    for robots in (503, SAYS_NO):
        assert not may_use(robots, page(), kind=kind, unstated=Unstated.ALLOW)


def test_all_uses_must_be_stated() -> None:
    robots = "User-agent: *\nContent-Signal: ai-train=yes, search=no, ai-input=yes\n"
    for uses, allowed in ((("train-ai", "ai-input"), True), (["ai-train", "search"], False)):
        found = may_use(robots, page(), uses=uses)
        assert bool(found) is allowed
    assert str(found) == (
        f"{URL}: the site says no to search: Content-Signal: search=no (robots.txt, line 2)"
    )


@pytest.mark.parametrize(
    ("agent", "allowed"),
    [
        (None, False),
        ("FooBot", False),
        ("Mozilla/5.0 (compatible; FooBot/2.1; +https://barbot.example)", False),
        ("BarBot", True),
        (("BarBot", "FooBot"), False),
    ],
)
def test_names_of_the_crawler(agent: Any, allowed: bool) -> None:
    tagged = page("", ("X-Robots-Tag", "foobot: noai"))
    assert bool(may_use(SAYS_YES, tagged, agent)) is allowed
    own = "User-agent: FooBot\nContent-Signal: ai-train=no\nDisallow: /x\n\n" + SAYS_YES
    # The first name that has a group counts, as in decisions.
    assert bool(may_use(own, page(), agent)) is allowed


def test_a_page_that_is_read_already() -> None:
    noai = b"<meta name=robots content=noai>"
    with RobotsClient(
        NAME, transport=MockTransport({"https://example.com": SAYS_YES}), **TRAIN
    ) as client:
        assert not client.may_use(URL, page(""), html=noai)
        # What comes after the first bytes is not read: it may be in the head.
        for start, allowed in ((b"", False), (b"<body>tea", True)):
            html = start + b" " * MAX_HTML + noai
            assert client.may_use(URL, page(""), html=html).allowed is allowed


# Documents.


def test_documents_are_fetched_once(kind: str) -> None:
    clock = Clock()
    sites = MockTransport({
        "https://example.com": f"License: https://example.com/l.xml\n{SAYS_NOTHING}",
        "https://example.com/l.xml": NO_TRAINING,
    })  # fmt: skip
    calls = [("may_use", (f"{URL}/{number}",)) for number in range(3)]
    found = call_all(kind, *calls, transport=sites, clock=clock, **TRAIN)
    assert [each.allowed for each in found] == [False] * 3
    assert sites.requests == ["https://example.com/robots.txt", "https://example.com/l.xml"]


def test_documents_expire_sooner_if_they_could_not_be_read() -> None:
    clock = Clock()
    replies: dict[str, Any] = {
        "https://example.com": f"License: https://example.com/l.xml\n{SAYS_NOTHING}",
        "https://example.com/l.xml": [503, rsl('<permits type="usage">ai-train</permits>'), NO_TRAINING],
    }  # fmt: skip
    sites = MockTransport(replies)
    with RobotsClient(NAME, transport=sites, clock=clock, **TRAIN) as client:
        stated = []
        for minutes in (0, 9, 2, 23 * 60, 3 * 60):
            clock.later(minutes=minutes)
            stated.append(client.may_use(URL).answers[0].stated.value)
    assert stated == ["undecided", "undecided", "yes", "yes", "no"]


TDMREP = "https://example.com/.well-known/tdmrep.json"


@pytest.mark.parametrize(
    ("reply", "stated"),
    [
        ('[{"location": "/", "tdm-reservation": 1}]', "no"),
        ('[{"location": "/", "tdm-reservation": 0}]', "yes"),
        (404, "unstated"),
        (410, "unstated"),
        (403, "undecided"),
        (500, "undecided"),
        (OSError("broken"), "undecided"),
        (Reply(302, headers={"Location": "/rep.json"}), "no"),
        (Reply(302, headers={"Location": "https://other.example/rep.json"}), "undecided"),
        (Reply(302, headers={"Location": "https://[/"}), "undecided"),
        (Reply(302, headers={"Location": TDMREP}), "undecided"),
        (Reply(302), "undecided"),
        (b"[" + b" " * 600_000 + b"]", "undecided"),
    ],
)
def test_the_file_of_a_site_about_mining(kind: str, reply: Any, stated: str) -> None:
    more = {
        TDMREP: reply,
        "https://example.com/rep.json": '[{"location": "/", "tdm-reservation": 1}]',
        "https://other.example/rep.json": '[{"location": "/", "tdm-reservation": 0}]',
    }
    found = may_use(SAYS_NOTHING, page(), kind=kind, uses=["tdm"], more=more)
    assert found.answers[0].stated == stated
    assert found.allowed is (stated == "yes")
    # A header counts for more, so the file rules nothing out before.
    assert may_use(SAYS_NOTHING, kind=kind, uses=["tdm"], more=more)


def test_the_file_is_only_read_for_the_use_that_it_is_about() -> None:
    sites = MockTransport({"https://example.com": SAYS_YES})
    call("threads", "may_use", URL, page(), transport=sites, **TRAIN)
    assert sites.requests == ["https://example.com/robots.txt"]


def test_licenses_beyond_the_limit_are_unread() -> None:
    lines = "".join(f"License: https://example.com/{number}.xml\n" for number in range(8))
    permits = rsl('<permits type="usage">ai-train</permits>')
    sites = MockTransport(
        {"https://example.com": lines + SAYS_YES}
        | {f"https://example.com/{number}.xml": permits for number in range(8)}
    )
    found = call("threads", "may_use", URL, transport=sites, **TRAIN)
    assert not found
    assert len(sites.requests) == 1 + 5
    assert "robots.txt, line 6: the license https://example.com/5.xml is not read" in (
        found.signals.unread
    )


@pytest.mark.parametrize("license_", ["https://exa mple.com/", "ftp://example.com/l.xml", "x" * 9])
def test_a_license_without_a_usable_url(license_: str) -> None:
    found = may_use(f"License: {license_}\n{SAYS_YES}")
    assert found.signals.unread
    assert found.answers[0].stated is Stated.UNDECIDED


def test_a_missing_file_of_a_site_is_an_unread_license_of_another() -> None:
    other = "https://other.example/tea"
    sites = MockTransport({
        "https://example.com": SAYS_NOTHING,
        "https://other.example": f"License: {TDMREP}\n{SAYS_NOTHING}",
    })  # fmt: skip
    options: dict[str, Any] = TRAIN | {"uses": ["tdm"], "unstated": Unstated.ALLOW}
    with RobotsClient(NAME, transport=sites, **options) as client:
        assert client.may_use(URL, page())
        found = client.may_use(other, page(url=other))
    assert f"is undecided: {TDMREP}: 404 Not Found" in str(found)


def test_headers_of_the_caller_go_to_the_site_of_the_page_alone(kind: str, site: Site) -> None:
    elsewhere = site.url.replace("127.0.0.1", "localhost")
    site.robots(body=f"License: {elsewhere}/a\nLicense: {site.url}/b\n".encode())
    site.pages["/b"] = Answer(302, headers={"Location": f"{elsewhere}/c"})
    secret = {"Authorization": "Bearer x"}
    call(kind, "may_use", f"{site.url}/tea", headers=secret, **TRAIN)
    sent = {path: "Authorization" in headers for path, headers in site.requests}
    assert sent == {"/robots.txt": True, "/a": False, "/b": True, "/c": False}


def test_the_guard_holds_for_licenses(kind: str, site: Site) -> None:
    private = f"http://127.0.0.2:{site.port}"
    site.robots(body=f"License: {private}/a\nLicense: {site.url}/b\n".encode())
    site.pages["/b"] = Answer(302, headers={"Location": f"{private}/c"})
    guard = Guard(also=("127.0.0.1/32",))
    found = call(kind, "may_use", f"{site.url}/tea", guard=guard, **TRAIN)
    assert found.answers[0].stated is Stated.UNDECIDED
    blocked = "address blocked by the guard: 127.0.0.2 is loopback"
    assert [each for each in found.signals.unread if "guard" in each] == [
        f"{private}/a: {blocked}",
        f"{site.url}/b: {blocked}",
    ]
    assert [path for path, _ in site.requests] == ["/robots.txt", "/b"]


def test_the_timeout_is_that_of_all_redirects_of_a_license(kind: str, site: Site) -> None:
    site.robots(body=f"License: {site.url}/0\n".encode())
    for number in range(5):
        headers = {"Location": f"/{number + 1}"}
        site.pages[f"/{number}"] = Answer(302, headers=headers, delay=0.1)
    found = call(kind, "may_use", f"{site.url}/tea", timeout=0.25, **TRAIN)
    assert "no complete response within 0.25 s" in str(found)
    assert len(site.requests) < 5


def test_a_client_that_is_closed_during_a_fetch() -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/robots.txt":
            return httpx2.Response(200, text=f"License: {URL}\n{SAYS_YES}")
        client.close()
        raise httpx2.ReadError("closed")

    client = RobotsClient(NAME, transport=httpx2.MockTransport(answer), **TRAIN)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="the client is closed"):
            client.may_use(URL)


# Turns.


def test_a_turn_with_uses(kind: str) -> None:
    sites = MockTransport({
        "https://example.com": SAYS_YES,
        "https://no.example": SAYS_NO,
        "https://down.example": 503,
    })  # fmt: skip
    noai = page("<meta name=robots content=noai>")
    urls = [URL, "https://example.com/private", "https://no.example/", "https://down.example/"]

    def check(turn: Any, answer: Any) -> None:
        shown.append((turn.allowed, turn.use is None, turn.why_not or str(answer)))

    shown: list[Any] = []
    if kind == "threads":
        with RobotsClient(NAME, transport=sites, **TRAIN) as client:
            for url in urls:
                with client.turn(url) as turn:
                    check(turn, turn.response(noai) if turn.allowed else None)
    else:

        async def main() -> None:
            async with AsyncRobotsClient(NAME, transport=sites, **TRAIN) as client:
                for url in urls:
                    async with client.turn(url) as turn:
                        check(turn, await turn.response(noai) if turn.allowed else None)

        anyio.run(main, backend=kind)
    assert [each[:2] for each in shown] == [
        (True, False), (False, True), (False, False), (False, True)
    ]  # fmt: skip
    for text, words in zip(
        (each[2] for each in shown),
        ("contradicts", "line 3, Disallow: /private", "says no", "503"),
        strict=True,
    ):
        assert words in text


def test_a_response_slows_the_crawler_down() -> None:
    sites = MockTransport({"https://example.com": SAYS_YES})
    with RobotsClient(NAME, transport=sites, uses=["ai-train"], default_interval=10) as client:
        with client.turn(URL) as turn:
            found = turn.response(page(status=503))
        assert "page: 503 Service Unavailable" in found.signals.unread
        assert client.next_request(URL) - datetime.now(UTC) > timedelta(seconds=15)


def test_a_turn_without_uses_is_as_before() -> None:
    sites = MockTransport({"https://example.com": SAYS_NO})
    with (
        RobotsClient(NAME, transport=sites, default_interval=0) as client,
        client.turn(URL) as turn,
    ):
        assert (turn.allowed, turn.use, turn.why_not) == (True, None, "")
        with pytest.raises(ValueError, match="needs a client with uses"):
            turn.response(page())


# HTTP libraries.


@pytest.fixture
def shop(site: Site) -> Site:
    site.robots(body=SAYS_YES.encode())
    site.pages["/tea"] = Answer(body=b"<p>tea", headers=HTML)
    site.pages["/noai"] = Answer(body=b"<meta name=robots content=noai>", headers=HTML)
    # The same header twice.
    site.pages["/header"] = Answer(headers={"X-Robots-Tag": "bar: noindex", "x-robots-tag": "noai"})
    return site


@pytest.mark.parametrize("library", HTTP_CLIENTS)
def test_responses_of_libraries(library: str, shop: Site) -> None:
    with HTTP_CLIENTS[library]() as http, RobotsClient(NAME, http=http, **TRAIN) as robots:
        found = {
            path: robots.may_use(f"{shop.url}/{path}", http.get(f"{shop.url}/{path}")).allowed
            for path in ("tea", "noai", "header")
        }
    assert found == {"tea": True, "noai": False, "header": False}


@pytest.mark.parametrize("library", ASYNC_HTTP_CLIENTS)
def test_responses_of_asynchronous_libraries(library: str, shop: Site) -> None:
    async def main() -> dict[str, bool]:
        found = {}
        async with (
            ASYNC_HTTP_CLIENTS[library]() as http,
            AsyncRobotsClient(NAME, http=http, **TRAIN) as robots,
        ):
            for path in ("tea", "noai", "header"):
                response = await http.get(f"{shop.url}/{path}")
                found[path] = (await robots.may_use(f"{shop.url}/{path}", response)).allowed
        return found

    assert anyio.run(main) == {"tea": True, "noai": False, "header": False}


@pytest.mark.parametrize("library", [httpx, httpx2])
def test_a_body_that_is_not_read_yet(library: Any, shop: Site) -> None:
    with library.Client() as http, RobotsClient(NAME, **TRAIN) as robots:
        for path, allowed in (("tea", True), ("noai", False)):
            with http.stream("GET", f"{shop.url}/{path}") as response:
                assert robots.may_use(f"{shop.url}/{path}", response).allowed is allowed


def test_the_answer_to_head_has_no_page(shop: Site) -> None:
    url = f"{shop.url}/noai"
    with RobotsClient(NAME, **TRAIN) as robots:
        for library in (httpx, httpx2, requests):
            for html in (None, b""):
                found = robots.may_use(url, library.head(url), html=html)
                assert "its body is not read" in str(found)

    async def main() -> UseDecision:
        async with (
            aiohttp.ClientSession() as http,
            AsyncRobotsClient(NAME, **TRAIN) as client,
            http.head(url) as response,
        ):
            return await client.may_use(url, response)

    assert "its body is not read" in str(anyio.run(main))


def test_headers_that_a_hook_of_requests_added(shop: Site) -> None:
    with requests.Session() as http, RobotsClient(NAME, http=http, **TRAIN) as robots:
        response = http.get(f"{shop.url}/tea")
        response.headers["X-Robots-Tag"] = "noai"
        assert "noai (header X-Robots-Tag)" in str(robots.may_use(f"{shop.url}/tea", response))


def test_a_response_of_an_asynchronous_library_needs_the_asynchronous_client() -> None:
    class Response:
        status, headers, url = 200, HTML, URL

        async def read(self) -> bytes:
            return b""

    with pytest.raises(TypeError, match="use AsyncRobotsClient"):
        may_use(SAYS_YES, Response())


def test_the_body_of_a_response_is_bytes() -> None:
    class Response:
        status_code, headers, url, content = 200, HTML, URL, "<p>tea"

    with pytest.raises(TypeError, match="the body of the response must be bytes, not str"):
        may_use(SAYS_YES, Response())


@pytest.mark.parametrize("response", [200, "200", b"", object()])
def test_what_is_no_response(response: Any) -> None:
    with pytest.raises(TypeError, match="response must be a response of httpx"):
        may_use(SAYS_YES, response)


# Hooks.


def app(requests: list[str]) -> Callable[[Any], Any]:
    def answer(request: Any) -> Any:
        path = request.url.path
        requests.append(path)
        library = httpx if isinstance(request, httpx.Request) else httpx2
        if path == "/robots.txt":
            return library.Response(200, text=SAYS_YES + "License: https://example.com/l.xml\n")
        if path == "/l.xml":
            return library.Response(200, text=rsl('<permits type="usage">ai-train</permits>'))
        if path == "/moved":
            return library.Response(302, headers={"Location": "/private"})
        if path == "/missing":
            return library.Response(404, headers={"X-Robots-Tag": "noai"})
        return library.Response(200, html="<meta name=robots content=noai>" * (path == "/noai"))

    return answer


PATHS = ("/tea", "/private", "/moved", "/noai", "/missing", "/robots.txt")
SENT = ["/robots.txt", "/l.xml", "/tea", "/moved", "/noai", "/missing", "/robots.txt"]
REFUSED = {
    "/private": "line 3, Disallow: /private",
    "/moved": "line 3, Disallow: /private",
    "/noai": "contradicts itself about ai-train",
}


@pytest.mark.parametrize("library", [httpx, httpx2])
@pytest.mark.parametrize("shares", [True, False])
def test_hooks(library: Any, shares: bool) -> None:
    sent: list[str] = []
    transport = library.MockTransport(app(sent))
    refused = {}
    with (
        library.Client(transport=transport, follow_redirects=True) as http,
        library.Client(transport=transport) as other,
        RobotsClient(NAME, http=http if shares else other, **TRAIN) as robots,
    ):
        http.event_hooks = event_hooks(robots)
        for path in PATHS:
            try:
                http.get(f"https://example.com{path}")
            except NotAllowedError as error:
                refused[path] = pickle.loads(pickle.dumps(error))
    assert sent == SENT
    assert refused.keys() == REFUSED.keys()
    for path, words in REFUSED.items():
        assert words in str(refused[path])
        assert str(refused[path].refusal) == str(refused[path])


@pytest.mark.parametrize("library", [httpx, httpx2])
def test_asynchronous_hooks(library: Any) -> None:
    sent: list[str] = []
    refused = {}

    async def main() -> None:
        transport = library.MockTransport(app(sent))
        async with (
            library.AsyncClient(transport=transport, follow_redirects=True) as http,
            AsyncRobotsClient(NAME, http=http, **TRAIN) as robots,
        ):
            http.event_hooks = event_hooks(robots)
            for path in PATHS:
                try:
                    await http.get(f"https://example.com{path}")
                except NotAllowedError as error:
                    refused[path] = str(error)

    anyio.run(main)
    assert sent == SENT
    assert refused.keys() == REFUSED.keys()


def test_hooks_without_uses_ask_the_robots_txt_alone() -> None:
    sent: list[str] = []
    with (
        httpx.Client(transport=httpx.MockTransport(app(sent))) as http,
        RobotsClient(NAME, http=http, default_interval=0) as robots,
    ):
        http.event_hooks = event_hooks(robots)
        assert http.get("https://example.com/noai").status_code == 200
        with pytest.raises(NotAllowedError, match="Disallow: /private"):
            http.get("https://example.com/private")
    assert sent == ["/robots.txt", "/noai"]


def test_hooks_judge_no_answer_to_head() -> None:
    with (
        httpx.Client(transport=httpx.MockTransport(app([]))) as http,
        RobotsClient(NAME, http=http, **TRAIN) as robots,
    ):
        http.event_hooks = event_hooks(robots)
        assert http.head("https://example.com/noai").status_code == 200
        with pytest.raises(NotAllowedError):
            http.head("https://example.com/private")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("library", [httpx, httpx2])
def test_asynchronous_hooks_need_an_asynchronous_client(library: Any) -> None:
    sent: list[str] = []
    robots = AsyncRobotsClient(NAME, transport=MockTransport({}), **TRAIN)
    http = library.Client(
        transport=library.MockTransport(app(sent)), event_hooks=event_hooks(robots)
    )
    with pytest.raises(TypeError, match="need an AsyncClient: use RobotsClient"):
        http.get(URL)
    assert not sent

    async def main() -> None:
        http.get(URL)

    for backend in ("asyncio", "trio"):
        # The hook of the request cannot see that nothing waits for it.
        with pytest.raises(TypeError, match="need an AsyncClient"):
            anyio.run(main, backend=backend)
    http.close()


@pytest.mark.parametrize("robots", [None, httpx2.Client])
def test_hooks_of_something_else(robots: Any) -> None:
    with pytest.raises(TypeError, match="robots must be a RobotsClient or AsyncRobotsClient, not"):
        event_hooks(robots)


def test_hooks_keep_the_pace() -> None:
    sent: list[str] = []
    with (
        httpx.Client(transport=httpx.MockTransport(app(sent))) as http,
        RobotsClient(NAME, http=http, default_interval=0.2) as robots,
    ):
        http.event_hooks = event_hooks(robots)
        http.get("https://example.com/tea")
        assert robots.wait("https://example.com/tea") > 0.1


# Arguments.


def test_wrong_arguments() -> None:
    for uses, error, words in (
        ("ai-train", TypeError, "sequence"),
        (["training"], ValueError, "'training' is not a valid Use: uses are search, snippet"),
        ([], ValueError, "uses must name one of"),
        (7, TypeError, "sequence"),
    ):
        with pytest.raises(error, match=words):
            RobotsClient(NAME, uses=uses)
    with pytest.raises(TypeError, match=r"unstated must be koster\.signals\.Unstated"):
        RobotsClient(NAME, uses=["tdm"], unstated=True)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="unstated needs uses"):
        AsyncRobotsClient(NAME, unstated=Unstated.ALLOW)
    with RobotsClient(NAME) as client, pytest.raises(ValueError, match="needs a client with uses"):
        client.may_use(URL)
    with pytest.raises(TypeError, match="html must be bytes, not str"):
        RobotsClient(NAME, uses=["tdm"]).may_use(URL, page(), html="<p>")  # type: ignore[arg-type]
    with RobotsClient(NAME, uses=["tdm"]) as client, pytest.raises(ValueError, match="swapped"):
        client.may_use("FooBot", None, URL)


def test_the_extra_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("koster.signals._uses.find_spec", lambda name: None)
    with pytest.raises(koster.MissingExtraError, match=r"uses needs the extra 'signals': pip"):
        RobotsClient(NAME, uses=["ai-train"])


def test_a_closed_client_fetches_no_documents() -> None:
    sites = MockTransport(
        {"https://example.com": f"License: https://example.com/l.xml\n{SAYS_YES}"}
    )
    client = RobotsClient(NAME, transport=sites, **TRAIN)
    client.close()
    with pytest.raises(RuntimeError, match="closed"):
        client.may_use(URL)


def test_a_site_that_is_crawled_although_it_is_unreachable_states_nothing_certain() -> None:
    found = may_use(503, page(), unreachable=Unreachable.ALLOW, unstated=Unstated.ALLOW)
    assert found.decision
    assert not found
    assert found.answers[0].stated is Stated.UNDECIDED


def test_redirects_of_robots_txt_are_followed_as_the_client_does() -> None:
    robots = Reply(302, headers={"Location": "https://other.example/robots.txt"})
    more = {"https://other.example": SAYS_YES}
    assert may_use(robots, more=more)
    assert not may_use(robots, more=more, redirects=Redirects.SAME_SITE)


def test_example_collects_what_it_may(site: Site, tmp_path: Path) -> None:
    example = ROOT / "examples" / "collector.py"
    assert len(example.read_text("utf-8").splitlines()) <= 60
    site.robots(body=SAYS_YES.replace("\n", "\nCrawl-delay: 0.1\n", 1).encode())
    site.pages["/"] = Answer(body=b"<p>tea", headers=HTML)
    site.pages["/noai"] = Answer(body=b"<meta name=robots content=noai>", headers=HTML)
    site.pages["/moved"] = Answer(302, headers={"Location": "/new"})
    site.pages["/ftp"] = Answer(302, headers={"Location": "ftp://files.example/"})
    site.pages["/new"] = Answer(body=b"<p>new", headers={**HTML, "Content-Usage": "train-ai=y"})
    urls = [
        f"{site.url}{path}" for path in ("/ftp", "/", "/noai", "/private", "/moved", "/missing")
    ]
    process = subprocess.run(
        [sys.executable, example, "pages.jsonl", *urls, "http://nowhere.invalid/"],
        cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    lines = (tmp_path / "pages.jsonl").read_text("utf-8").splitlines()
    kept = {each["url"].removeprefix(site.url): each for each in map(json.loads, lines)}
    assert {path: each["html"] for path, each in kept.items()} == {"/": "<p>tea", "/new": "<p>new"}
    assert sorted(kept["/new"]["sources"]) == [
        "Content-Signal: ai-train=yes (robots.txt, line 3)",
        "train-ai=y (header Content-Usage)",
    ]
    for words in (
        "contradicts itself",
        "line 4, Disallow: /private",
        "page: 404",
        "ftp://files.example/: not",
        "DNS lookup",
    ):
        assert words in process.stdout

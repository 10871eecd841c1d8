"""Client arguments, the mock transport, and imports."""

from __future__ import annotations

import inspect
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import httpx
import httpx2
import pytest
import redis
import redis.asyncio
import requests

import koster
from koster.cache import MemoryCache, SqliteCache
from koster.fetch import (
    AsyncRobotsClient,
    MockTransport,
    Reply,
    RobotsClient,
)
from tests.helpers.fetching import (
    ASYNC_HTTP_CLIENTS,
    FILE,
    HTTP_CLIENTS,
    LIBRARY_KINDS,
    NAME,
    Clock,
    ask,
    call,
    call_all,
    outcome,
    reason_of,
)
from tests.helpers.server import Answer, Site


@pytest.mark.parametrize("make", [RobotsClient, AsyncRobotsClient])
@pytest.mark.parametrize(
    "options",
    [
        {"user_agent": ""}, {"user_agent": "a\nb"}, {"user_agent": "é"}, {"timeout": 0},
        {"timeout": float("nan")}, {"timeout": float("inf")}, {"timeout": -1}, {"at_once": 0},
        {"guard": koster.PUBLIC_ONLY, "transport": MockTransport({})},
    ],
)  # fmt: skip
def test_invalid_arguments(make: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"user_agent|timeout|at_once|guard"):
        make(**{"user_agent": NAME} | options)


@pytest.mark.parametrize("make", [RobotsClient, AsyncRobotsClient])
def test_defaults(make: Any) -> None:
    defaults = {name: each.default for name, each in inspect.signature(make).parameters.items()}
    assert (defaults["timeout"], defaults["at_once"]) == (10, 100)
    assert defaults["unreachable"] is koster.Unreachable.DISALLOW
    cache = make(NAME, transport=MockTransport({}))._state.cache
    assert isinstance(cache, MemoryCache)


def test_product_token_comes_from_user_agent_or_agent() -> None:
    body = "User-agent: FooBot\nDisallow: /foo\nUser-agent: BarBot\nDisallow: /bar\nUser-agent: *\nDisallow: /"
    sites = MockTransport({"https://example.com": body})
    for user_agent in (NAME, "Mozilla/5.0 (compatible; FooBot/1.0)"):
        with RobotsClient(user_agent, transport=sites) as client:
            assert client.allowed("https://example.com/bar")
            assert not client.allowed("https://example.com/foo")
            assert client.allowed("https://example.com/foo", "BarBot")
            assert not client.decide("https://example.com/bar", ("BarBot", "FooBot"))
    for options in ({"dialect": koster.GOOGLE}, {"agent": "FooBot"}, {"agent": ("X", "FooBot")}):
        with RobotsClient(NAME, transport=sites, **options) as client:  # type: ignore[arg-type]
            assert client.allowed("https://example.com/bar")
            assert not client.allowed("https://example.com/foo")


@pytest.mark.parametrize("make", [RobotsClient, AsyncRobotsClient])
@pytest.mark.parametrize(
    ("agent", "error"),
    [
        ("", ValueError), (" ", ValueError), ("\t\u00a0", ValueError), ([], ValueError),
        ((), ValueError), (("FooBot", ""), ValueError), (["  "], ValueError),
        (1, TypeError), (b"FooBot", TypeError), ([1], TypeError), ({"FooBot"}, TypeError),
    ],
)  # fmt: skip
def test_agents_without_a_name_are_refused(make: Any, agent: Any, error: type[Exception]) -> None:
    """Nobody's group would apply to them."""
    with pytest.raises(error, match="agent must"):
        make(NAME, agent=agent, transport=MockTransport({}))


@pytest.mark.parametrize("agent", ["", " ", [], ("FooBot", "")])
@pytest.mark.parametrize("method", ["allowed", "decide", "wait", "next_request"])
def test_questions_of_nobody_are_refused(kind: str, method: str, agent: Any) -> None:
    sites = MockTransport({"https://example.com": "User-agent: FooBot\nDisallow: /"})
    url = "https://example.com/"
    for first in ((), (("robots", (url,)),)):
        with pytest.raises(ValueError, match="agent must name a crawler, such as 'FooBot', not "):
            call_all(kind, *first, (method, (url, agent)), transport=sites)


@pytest.mark.parametrize("user_agent", ["2bot/1.0", "(FooBot)"])
def test_googles_dialect_needs_a_header_that_begins_with_a_name(user_agent: str) -> None:
    with pytest.raises(ValueError, match="must begin with a letter under GOOGLE"):
        RobotsClient(user_agent, dialect=koster.GOOGLE)
    RobotsClient(user_agent, dialect=koster.GOOGLE, agent="FooBot").close()
    RobotsClient(user_agent).close()


def test_closed_client_raises(kind: str) -> None:
    sites = MockTransport({})
    if kind == "threads":
        client = RobotsClient(NAME, transport=sites)
        client.close()
        with pytest.raises(RuntimeError, match="closed"):
            client.robots("https://example.com")
        return

    async def main() -> None:
        async with AsyncRobotsClient(NAME, transport=sites) as client:
            pass
        with pytest.raises(RuntimeError, match="closed"):
            await client.robots("https://example.com")

    anyio.run(main, backend=kind)


def test_assertion_errors_in_a_transport_propagate(kind: str) -> None:
    sites = MockTransport({"https://example.com": AssertionError("of the test")})
    with pytest.raises(AssertionError, match="of the test"):
        ask(kind, ("robots", "https://example.com"), transport=sites)


def test_mock_transport() -> None:
    sites = MockTransport(
        {
            "https://example.com": "User-agent: *\nDisallow: /a",
            "http://example.com/page": "not its robots.txt",
            "https://example.com:8443/robots.txt": 503,
            "https://m.example": Reply(301, headers={"Location": "https://münchen.example/r?ü"}),
            "https://münchen.example/r?ü": b"User-agent: *\nDisallow: /b",
        }
    )
    with RobotsClient(NAME, transport=sites) as client:
        assert not client.allowed("https://example.com/a")
        assert client.robots("http://example.com/").reason is koster.Reason.UNAVAILABLE
        assert client.robots("https://example.com:8443/").reason is koster.Reason.UNREACHABLE
        assert not client.allowed("https://m.example/b")
    assert sites.requests[0] == "https://example.com/robots.txt"


def test_mock_transport_validates_replies_and_allows_changes() -> None:
    with pytest.raises(koster.UrlError):
        MockTransport({"a.example": 404})
    with pytest.raises(TypeError, match="invalid reply of type function"):
        MockTransport({"https://a.example": lambda: 404})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="the list of replies is empty"):
        MockTransport({"https://a.example": []})
    replies: dict[str, Any] = {"https://a.example/": [503, 429, FILE]}
    clock = Clock()
    with RobotsClient(NAME, transport=MockTransport(replies), clock=clock) as client:
        reasons = []
        for _ in range(4):
            reasons.append(reason_of(client.robots("https://a.example")))
            clock.later(hours=25)
        replies["https://a.example/"] = 404
        reasons.append(reason_of(client.robots("https://a.example")))
    assert reasons == ["unreachable", "unreachable", "file", "file", "unavailable"]


@pytest.mark.parametrize(
    "options",
    [
        {"user_agent": None},
        {"dialect": "GOOGLE"},
        {"timeout": None},
        {"timeout": "5"},
        {"on_event": 5},
    ],
)
def test_argument_type_errors(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=next(iter(options))):
        RobotsClient(**{"user_agent": NAME} | options)


@pytest.mark.parametrize("url", [None, b"https://example.com/", 5])
def test_url_type_errors(kind: str, url: Any) -> None:
    for method in ("decide", "allowed", "robots", "wait"):
        with pytest.raises(TypeError, match="url must be a str, not"):
            ask(kind, (method, url), transport=MockTransport({}))


def test_truncated_file_sets_is_cut(kind: str, site: Site, tmp_path: Path) -> None:
    site.robots(body=b"Disallow: /x\n" * 50_000)
    for _ in range(2):
        assert outcome(kind, site.url, cache=tmp_path / "c.sqlite").is_cut
    site.robots(body=FILE)
    assert not outcome(kind, site.url).is_cut


def test_star_import_and_dir_work_without_the_extra() -> None:
    code = """
import sys
sys.modules["httpx2"] = None
from koster import *
import koster
assert hasattr(koster, "parse")
import inspect
inspect.getmembers(koster)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_missing_extra_error_says_what_to_install() -> None:
    code = """
import sys
sys.modules["httpx2"] = None
import koster
try:
    koster.RobotsClient("FooBot/1.0")
except koster.MissingExtraError as error:
    print(error)
sys.modules["redis"] = None
import koster.cache
try:
    koster.cache.RedisCache
except koster.MissingExtraError as error:
    print(error)
"""
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "koster.fetch needs the extra 'http': pip install 'koster[http]'" in process.stdout
    assert "RedisCache needs the extra 'redis': pip install 'koster[redis]'" in process.stdout


def test_importing_koster_loads_no_network_modules() -> None:
    code = "import sys, koster; print([m for m in ('httpx2', 'socket', 'sqlite3', 'koster.access') if m in sys.modules])"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == "[]"


SWAPPED = ("FooBot", "https://example.com/private/x")


@pytest.mark.parametrize("method", ["allowed", "decide", "wait", "next_request"])
def test_swapped_arguments_raise(kind: str, method: str) -> None:
    sites = MockTransport({"https://example.com": FILE})
    with pytest.raises(
        ValueError, match=r"swapped: .*\('https://example.com/private/x', 'FooBot'\)"
    ):
        call(kind, method, *SWAPPED, transport=sites)
    assert sites.requests == []


def test_took_with_swapped_arguments_raises(kind: str) -> None:
    with pytest.raises(ValueError, match="swapped"):
        call(kind, "took", "FooBot", 0.5, "https://example.com/", transport=MockTransport({}))


def test_an_agent_that_is_a_url_gets_an_answer(kind: str) -> None:
    sites = MockTransport({"https://example.com": FILE})
    agent = "https://bot.example/"
    for method, answer in (("allowed", False), ("decide", False)):
        found = call(kind, method, "https://example.com/private/x", agent, transport=sites)
        assert bool(found) is answer


@pytest.mark.parametrize("make", [RobotsClient, AsyncRobotsClient])
@pytest.mark.parametrize("options", [{"user_agent": "https://a.example/"}, {"agent": "http://a"}])
def test_url_in_place_of_the_crawler_raises(make: Any, options: dict[str, str]) -> None:
    name = next(iter(options))
    with pytest.raises(ValueError, match=f"^{name} must be a product token or a User-Agent header"):
        make(**{"user_agent": NAME} | options)


def test_outcome_raises_for_swapped_arguments() -> None:
    sites = MockTransport({"https://example.com": FILE, "https://down.example": 503})
    with RobotsClient(NAME, transport=sites) as client:
        for site in ("https://example.com", "https://down.example"):
            found = client.robots(site)
            for method in (found.allowed, found.decide):
                with pytest.raises(ValueError, match="swapped"):
                    method(*SWAPPED)
                assert not method("/private/x", "https://bot.example/")


class HalfACache:
    def get(self, key: str) -> None:
        return None


@pytest.mark.parametrize("make", [RobotsClient, AsyncRobotsClient])
@pytest.mark.parametrize(
    ("cache", "error", "message"),
    [
        ({}, TypeError, r"cache must be the path of a file, a URL redis://…, or .*, not dict"),
        (5, TypeError, r"koster\.cache\.Cache, not int"),
        (HalfACache(), TypeError, r"koster\.cache\.Cache, not HalfACache"),
        (b"x.sqlite", TypeError, r"koster\.cache\.Cache, not bytes"),
        (redis.Redis(), TypeError, r"cannot be a cache: pass koster\.cache\.RedisCache\(client\)"),
        (redis.asyncio.Redis(), TypeError, "pass the server's URL, redis://…, which AsyncRobotsC"),
        ("/nope/x.sqlite", koster.CacheError, "/nope/x.sqlite: the folder /nope does n"),
        ("/tmp", koster.CacheError, "cannot open the cache /tmp: it is a folder: name"),
        (SqliteCache("/nope/x.sqlite"), koster.CacheError, "cannot open the cache /nope/x.sqlit"),
        ("redis://127.0.0.1:1/0", koster.CacheError, r"^Redis: .*[Cc]onnect"),
    ],
)
def test_cache_is_checked(make: Any, cache: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        make(NAME, cache=cache, transport=MockTransport({}))


def test_client_closes_only_a_cache_that_it_opened(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    options: dict[str, Any] = {"transport": MockTransport({}), "cache": path}

    async def open_and_close() -> Any:
        async with AsyncRobotsClient(NAME, **options) as client:
            return client._state.cache

    if kind == "threads":
        with RobotsClient(NAME, **options) as client:
            opened: Any = client._state.cache
    else:
        opened = anyio.run(open_and_close, backend=kind)
    with pytest.raises(koster.CacheError, match="is closed"):
        opened.get("https://example.com")
    with closing(SqliteCache(path)) as own:
        outcome(kind, "https://example.com", **options | {"cache": own})
        assert own.get("https://example.com") is not None


def test_cache_that_is_locked_for_a_moment_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("koster.cache.sqlite._TIMEOUT", 0.05)
    path = tmp_path / "cache.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("BEGIN EXCLUSIVE")
        with RobotsClient(NAME, cache=path, transport=MockTransport({})) as client:
            assert client.allowed("https://example.com/")
    other.close()


@pytest.mark.parametrize(
    ("client", "transport", "message"),
    [
        (RobotsClient, requests.Session(), r"not requests\.Session; pass a client or session as"),
        (
            RobotsClient,
            httpx.HTTPTransport(),
            r"an httpx2\.BaseTransport, .*, not httpx\.HTTPTrans",
        ),
        (RobotsClient, httpx2.AsyncHTTPTransport(), r"an httpx2\.BaseTransport, such as koster"),
        (RobotsClient, 5, r"not builtins\.int"),
        (AsyncRobotsClient, httpx2.HTTPTransport(), r"an httpx2\.AsyncBaseTransport, such as"),
        (AsyncRobotsClient, requests.Session(), r"not requests\.Session; pass a client or session"),
    ],
)
def test_transport_is_checked(client: Any, transport: Any, message: str) -> None:
    with pytest.raises(TypeError, match=f"^the transport of {client.__name__} must be .*{message}"):
        client(NAME, transport=transport)


class Subclass(httpx.Client):
    pass


@pytest.mark.parametrize(
    ("client", "http", "message"),
    [
        (
            RobotsClient,
            5,
            r"http must be an httpx\.Client, .* or a requests\.Session, not builtins\.i",
        ),
        (RobotsClient, requests, r"not builtins\.module"),
        (
            RobotsClient,
            httpx.AsyncClient(),
            r"httpx\.AsyncClient is asynchronous: use it with Async",
        ),
        (
            AsyncRobotsClient,
            "x",
            r"httpx2\.AsyncClient or an aiohttp\.ClientSession, not builtins\.s",
        ),
        (
            AsyncRobotsClient,
            httpx.Client(),
            r"httpx\.Client is not asynchronous: use it with Robots",
        ),
        (AsyncRobotsClient, requests.Session(), r"requests\.Session is not asynchronous: use"),
    ],
)
def test_http_is_checked(client: Any, http: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        client(NAME, http=http)


def test_subclass_of_a_client_is_accepted(site: Site) -> None:
    site.robots(body=FILE)
    with Subclass() as http, RobotsClient(NAME, http=http) as client:
        assert not client.allowed(f"{site.url}/private")


@pytest.mark.parametrize(
    "options",
    [
        {"guard": koster.PUBLIC_ONLY},
        {"proxy": "http://proxy.example"},
        {"verify": False},
        {"cert": "own.pem"},
        {"trust_env": False},
        {"transport": MockTransport({})},
    ],
)
def test_settings_of_the_own_network_cannot_be_combined_with_http(options: dict[str, Any]) -> None:
    name = next(iter(options))
    message = f"{name} cannot be combined with http|http and {name} cannot be combined"
    with httpx.Client() as http, pytest.raises(ValueError, match=message):
        RobotsClient(NAME, http=http, **options)


def test_guard_is_checked() -> None:
    with pytest.raises(
        TypeError, match=r"guard must be koster\.PUBLIC_ONLY or a .*Guard, not bool"
    ):
        RobotsClient(NAME, guard=True)  # type: ignore[arg-type]


def test_client_with_an_http_client_needs_no_httpx2() -> None:
    code = """
import sys
for name in ("httpx2", "httpcore2", "brotli", "anyio", "truststore"):
    sys.modules[name] = None
import requests
import koster
from koster.fetch import Event, Guard, Pacer
with requests.Session() as session, koster.RobotsClient("FooBot/1.0", http=session) as client:
    print(client.decide("http://127.0.0.1:1/x").why)
"""
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.startswith("connection failed: ")


def test_the_callers_client_keeps_its_settings(kind_over_library: str, site: Site) -> None:
    """Its headers and cookies are sent, its parameters and its User-Agent are not."""
    site.robots(body=FILE)
    backend, _, library = kind_over_library.partition(" ")

    def configure(http: Any) -> None:
        http.headers["X-Team"] = "search"
        http.headers["User-Agent"] = "other"
        if library != "aiohttp":
            http.params = {"key": "1"}

    if backend == "threads":
        with HTTP_CLIENTS[library]() as http, RobotsClient(NAME, http=http) as client:
            configure(http)
            assert not client.allowed(f"{site.url}/private")
    else:

        async def main() -> None:
            async with (
                ASYNC_HTTP_CLIENTS[library]() as http,
                AsyncRobotsClient(NAME, http=http) as client,
            ):
                configure(http)
                assert not await client.allowed(f"{site.url}/private")

        anyio.run(main)
    ((path, headers),) = site.requests
    assert path == "/robots.txt"
    assert headers["X-Team"] == "search"
    assert headers["User-Agent"] == NAME


@pytest.fixture(params=LIBRARY_KINDS)
def kind_over_library(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def test_redirects_go_through_the_callers_client(kind_over_library: str, site: Site) -> None:
    site.robots(301, headers={"Location": "/next?a=1;b=2"})
    site.pages["/next?a=1;b=2"] = Answer(body=FILE, headers={"ETag": '"1"'})
    found = outcome(kind_over_library, site.url)
    assert found.robots is not None
    assert [hop.status for hop in found.hops] == [301, 200]
    assert dict(found.hops[1].headers)["etag"] == '"1"'


def test_the_callers_client_stays_open(kind_over_library: str, site: Site) -> None:
    site.robots(body=FILE)
    backend, _, library = kind_over_library.partition(" ")
    if backend == "threads":
        with HTTP_CLIENTS[library]() as http:
            RobotsClient(NAME, http=http).close()
            assert http.get(site.robots(body=FILE)).status_code == 200
        return

    async def main() -> None:
        async with ASYNC_HTTP_CLIENTS[library]() as http:
            async with AsyncRobotsClient(NAME, http=http):
                pass
            response = await http.get(site.robots(body=FILE))
            if library == "aiohttp":
                await response.read()
            status = response.status if library == "aiohttp" else response.status_code
            assert status == 200

    anyio.run(main)

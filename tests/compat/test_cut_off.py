"""Facades that fetch: nothing is allowed after a response that was cut off or never ends."""

from __future__ import annotations

import gzip
import http.client
import socket
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import brotli
import pytest

from koster.compat import _timed, robotstxt
from koster.compat.reppy import exceptions
from koster.compat.reppy.cache import AgentCache, RobotsCache
from koster.compat.reppy.robots import AllowAll, Robots
from koster.compat.robotexclusionrulesparser import (
    MAX_FILESIZE,
    RobotExclusionRulesParser,
    RobotFileParserLookalike,
)
from koster.compat.robotparser import RobotFileParser
from koster.compat.webcanon import RobotsConfig, RobotsGate
from tests.helpers.bodies import stored_zstd
from tests.helpers.server import Answer, Site
from tests.helpers.wire import (
    Script,
    certificate,
    resets,
    running,
    sends,
    sends_slowly,
    server_context,
)

FILE = b"User-agent: *\nDisallow: /private/all"
GZIP = gzip.compress(FILE)


def _robotparser(base: str) -> bool:
    parser = RobotFileParser(base + "robots.txt")
    try:
        parser.read()
    finally:
        allowed = parser.can_fetch("x", "/")
    return allowed


def _rerp(base: str) -> bool:
    parser = RobotExclusionRulesParser()
    try:
        parser.fetch(base + "robots.txt", timeout=5)
    except BaseException:
        assert not parser.is_allowed("x", "/")
        assert not parser.is_allowed("x", "/", 1)
        raise
    return parser.is_allowed("x", "/")


def _lookalike(base: str) -> bool:
    parser = RobotFileParserLookalike(base + "robots.txt")
    parser.read()
    return parser.can_fetch("x", "/")


def _reppy(base: str) -> bool:
    return Robots.fetch(base + "robots.txt").allowed("/", "x")


def _robotstxt(base: str) -> bool:
    return robotstxt.get_allowed(base, "x")


def _connection(base: str) -> bool:
    connection = http.client.HTTPConnection(base.removeprefix("http://").rstrip("/"))
    try:
        return robotstxt.get(connection, "x").allowed("/")
    finally:
        connection.close()


def _webcanon(base: str) -> bool:
    decision = RobotsGate("x", RobotsConfig("report_only")).check(base)
    if decision.verdict == "unknown_unreachable":
        raise http.client.IncompleteRead(b"")
    return True


#: Each facade, and what it raises for a response that was cut off.
FACADES: dict[Callable[[str], bool], type[Exception]] = {
    _robotparser: http.client.HTTPException,
    _rerp: http.client.HTTPException,
    _lookalike: http.client.HTTPException,
    _reppy: exceptions.ConnectionException,
    _robotstxt: http.client.HTTPException,
    _connection: http.client.HTTPException,
    _webcanon: http.client.HTTPException,
}
facades = pytest.mark.parametrize("ask", FACADES, ids=lambda each: each.__name__[1:])


def response(body: bytes, *headers: str, length: int | str | None = len(FILE)) -> bytes:
    lines = ["HTTP/1.1 200 OK", *headers]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def chunk(body: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(body), body)


CHUNKED = ("Transfer-Encoding: chunked",)
GZIPPED = ("Content-Encoding: gzip",)


def gzipped(body: bytes) -> bytes:
    return response(body, *GZIPPED, length=len(body))


CUT: dict[str, bytes] = {
    **{f"{size} bytes": response(FILE[:size]) for size in (0, 1, 14, 24, 35)},
    "list of lengths": response(FILE[:14], length="36, 36"),
    "long length": response(FILE[:14], length="0" * 30 + "9" * 30),
    "no chunk": response(b"", *CHUNKED, length=None),
    "in a chunk": response(b"24\r\n" + FILE[:20], *CHUNKED, length=None),
    "between chunks": response(chunk(FILE[:14]), *CHUNKED, length=None),
    "in a chunk size": response(chunk(FILE[:14]) + b"0", *CHUNKED, length=None),
    "before the trailer": response(chunk(FILE[:14]) + b"0\r\n", *CHUNKED, length=None),
    "unknown transfer coding": response(FILE, "Transfer-Encoding: gzip, chunked", length=None),
    "in the status line": b"HTTP/1.1 200",
    "after the status line": b"HTTP/1.1 200 OK\r\n",
    "in the headers": b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n",
    "in the headers of a 404": b"HTTP/1.1 404 Not Found\r\nContent-Le",
    **{f"gzip, {size} bytes": gzipped(GZIP[:size]) for size in (1, 2, 10, 30, len(GZIP) - 1)},
    "second gzip member": gzipped(GZIP + GZIP[:20]),
    "deflate": response(zlib.compress(FILE)[:-5], "Content-Encoding: deflate", length=None),
    "raw deflate": response(zlib.compress(FILE)[2:-8], "Content-Encoding: deflate", length=None),
    "two codings": response(gzip.compress(GZIP), "Content-Encoding: gzip, gzip", length=None),
    "two codings in two lines": response(gzip.compress(GZIP), *GZIPPED, *GZIPPED, length=None),
    "gzip in gzip under one label": gzipped(gzip.compress(GZIP)),
    "gzip without label": response(GZIP, length=len(GZIP)),
    "unknown coding": response(b"\x8b" + FILE, "Content-Encoding: br", length=None),
    "no gzip": gzipped(b"\x8b" + FILE),
    "many gzip members": gzipped(gzip.compress(b"#\n") * 200),
    "zstd": response(stored_zstd(FILE)[:-5], "Content-Encoding: zstd", length=None),
    "zstd without label": response(stored_zstd(FILE), length=None),
    "zstd in gzip": gzipped(gzip.compress(stored_zstd(FILE))),
    "no zstd": response(b"\xff" + FILE, "Content-Encoding: zstd", length=None),
    "br": response(brotli.compress(FILE)[:-3], "Content-Encoding: br", length=None),
}


@pytest.mark.parametrize("raw", CUT.values(), ids=CUT)
def test_a_response_that_was_cut_off_allows_nothing(raw: bytes) -> None:
    with running(sends(raw)) as wire:
        for ask, error in FACADES.items():
            with pytest.raises(error):
                ask(wire.url)


@facades
def test_a_connection_that_breaks_in_the_body_allows_nothing(ask: Callable[[str], bool]) -> None:
    with (
        running(resets(response(FILE[:14]))) as wire,
        pytest.raises((FACADES[ask], ConnectionResetError)),
    ):
        ask(wire.url)


@facades
def test_a_redirect_to_a_response_that_was_cut_off_allows_nothing(
    ask: Callable[[str], bool], site: Site
) -> None:
    with running(sends(response(FILE[:14]))) as wire:
        site.robots(302, headers={"Location": f"{wire.url}robots.txt"})
        with pytest.raises(FACADES[ask]):
            ask(f"{site.url}/")


def test_a_tls_connection_that_ends_early_allows_nothing(tmp_path: Path) -> None:
    pem, secret = certificate(tmp_path)
    with running(sends(response(FILE[:14])), server_context(pem, secret)) as wire:
        base = wire.url.replace("http:", "https:")
        with pytest.raises(exceptions.ConnectionException):
            Robots.fetch(base, verify=False)
        with pytest.raises(http.client.IncompleteRead):
            robotstxt.get(base, "x")


WHOLE: dict[str, bytes] = {
    "length": response(FILE),
    "chunks": response(chunk(FILE[:14]) + chunk(FILE[14:]) + b"0\r\n\r\n", *CHUNKED, length=None),
    "trailer": response(chunk(FILE) + b"0\r\nX: y\r\n\r\n", *CHUNKED, length=None),
    "until the connection ends": response(FILE, length=None),
    "HTTP/1.0": b"HTTP/1.0 200 OK\r\n\r\n" + FILE,
    "list of lengths": response(FILE, length="36, 36"),
    "more than the length": response(FILE + b"\nDisallow: /"),
    "empty": response(b"", length=0),
    "gzip": gzipped(GZIP),
    "gzip members": gzipped(gzip.compress(FILE[:14]) + gzip.compress(FILE[14:]) + b"\0\0"),
    "bytes after gzip": gzipped(GZIP + b"Disallow: /"),
    "deflate": response(zlib.compress(FILE), "Content-Encoding: deflate", length=None),
    "raw deflate": response(zlib.compress(FILE)[2:-4], "Content-Encoding: deflate", length=None),
    "br": response(brotli.compress(FILE), "Content-Encoding: br", length=None),
    "zstd": response(stored_zstd(FILE), "Content-Encoding: zstd", length=None),
    "text under a wrong label": response(FILE, *GZIPPED),
    "text under an invalid label": response(FILE, "Content-Encoding: utf-8"),
}


@pytest.mark.parametrize("raw", WHOLE.values(), ids=WHOLE)
def test_a_whole_response_is_read(raw: bytes) -> None:
    with running(sends(raw)) as wire:
        assert [ask.__name__ for ask in FACADES if not ask(wire.url)] == []


def test_all_members_of_a_gzip_body_are_read() -> None:
    body = gzip.compress(b"User-agent: *\n") + gzip.compress(b"Disallow: /")
    with running(sends(gzipped(body))) as wire:
        for ask in FACADES:
            if ask is not _webcanon:
                assert not ask(wire.url)


@facades
def test_the_body_of_an_error_need_not_be_whole(ask: Callable[[str], bool]) -> None:
    with running(sends(b"HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nx")) as wire:
        assert ask(wire.url)


def test_hooks_and_caches_of_reppy_get_its_exception() -> None:
    seen: list[Any] = []
    with running(sends(response(FILE[:14]))) as wire:
        with pytest.raises(exceptions.ConnectionException) as caught:
            Robots.fetch(wire.url, after_response_hook=seen.append, after_parse_hook=seen.append)
        assert not RobotsCache(1).allowed(wire.url, "x")
        assert not AgentCache("x", 1).allowed(wire.url)
    assert seen == [caught.value]
    assert caught.value.url == wire.url
    assert isinstance(caught.value.args[0], http.client.IncompleteRead)


def test_incomplete_read_says_what_is_missing() -> None:
    with running(sends(response(FILE[:14]))) as wire:
        with pytest.raises(http.client.IncompleteRead, match=r"14 bytes read, 22 more expected"):
            _robotparser(wire.url)
        with pytest.raises(http.client.IncompleteRead, match=r"14 bytes read, 22 more expected"):
            _rerp(wire.url)


# State


def _answers(*raw: bytes) -> Script:
    answers = iter(raw)
    return lambda connection: connection.sendall(next(answers))


NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
DOWN = b"HTTP/1.1 503 Down\r\nContent-Length: 0\r\n\r\n"


def test_a_failed_read_of_robotparser_keeps_the_file_and_its_time() -> None:
    with running(_answers(response(FILE), response(FILE[:14]))) as wire:
        parser = RobotFileParser(wire.url)
        parser.read()
        before = parser.mtime()
        with pytest.raises(http.client.IncompleteRead):
            parser.read()
    assert parser.mtime() == before > 0
    assert not parser.can_fetch("x", "/private/all")


def test_each_read_of_robotparser_counts_on_its_own() -> None:
    with running(_answers(NOT_FOUND, response(FILE[:14]), DOWN, response(FILE))) as wire:
        parser = RobotFileParser(wire.url)
        parser.read()
        assert parser.can_fetch("x", "/")
        with pytest.raises(http.client.IncompleteRead):
            parser.read()
        assert not parser.can_fetch("x", "/")
        assert parser.mtime() == 0
        parser.read()
        assert parser.disallow_all
        parser.read()
    assert parser.can_fetch("x", "/")
    assert not parser.can_fetch("x", "/private/all")


@pytest.mark.parametrize("failed", [response(FILE[:14]), DOWN])
def test_a_failed_fetch_of_rerp_keeps_the_file_and_its_expiry(failed: bytes) -> None:
    good = response(FILE, "Expires: Thu, 01 Jan 2015 00:00:00 GMT")
    with running(_answers(good, failed)) as wire:
        parser = RobotExclusionRulesParser()
        parser.fetch(wire.url)
        assert parser.is_expired
        with pytest.raises((http.client.IncompleteRead, urllib.error.URLError)):
            parser.fetch(wire.url)
    assert parser.is_expired
    assert not parser.is_allowed("x", "/private/all")
    assert parser.is_allowed("x", "/")


def test_an_empty_text_follows_a_failed_fetch_of_rerp() -> None:
    """ "She can just call parser.parse("") and use the parser as normal"."""
    parser = RobotExclusionRulesParser()
    assert parser.is_allowed("x", "/")
    with running(sends(DOWN)) as wire, pytest.raises(urllib.error.URLError):
        parser.fetch(wire.url)
    assert not parser.is_allowed("x", "/")
    parser.parse("")
    assert parser.is_allowed("x", "/")


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_a_line_that_the_limit_cuts_is_not_read(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    start = f"User-agent: *{end}Disallow: /{end}".encode()
    allow = b"Allow: /a"
    body = start + b"#" * (MAX_FILESIZE - len(start) - 8 - len(end)) + end.encode() + allow
    assert body[:MAX_FILESIZE].endswith(b"Allow: /")
    monkeypatch.setattr("koster.compat.robotparser.MAX_BYTES", MAX_FILESIZE)
    monkeypatch.setattr("koster.compat.robotstxt.MAX_BYTES", MAX_FILESIZE)
    with running(sends(response(body, length=len(body)))) as wire:
        assert [ask(wire.url) for ask in (_robotparser, _rerp, _robotstxt)] == [False] * 3


# Time


@pytest.fixture
def _short_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_timed, "DEFAULT_SECONDS", 0.25)


SLOW = {
    "status line": sends_slowly(response(FILE), 0.05),
    "headers": sends_slowly(b"X: y\r\n" * 100, 0.05, b"HTTP/1.1 200 OK\r\n"),
    "body": sends_slowly(FILE, 0.05, response(b"")),
    "chunks": sends_slowly(chunk(FILE), 0.05, response(b"", *CHUNKED, length=None)),
    "redirect": sends_slowly(
        FILE, 0.05, b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 36\r\n\r\n"
    ),
}


@pytest.mark.parametrize("script", SLOW.values(), ids=SLOW)
@pytest.mark.parametrize("ask", [_robotparser, _lookalike, _reppy])
@pytest.mark.usefixtures("_short_limit")
def test_a_server_that_sends_byte_by_byte_is_not_awaited(
    ask: Callable[[str], bool], script: Script
) -> None:
    start = time.monotonic()
    with running(script) as wire:
        with pytest.raises((TimeoutError, exceptions.ReadTimeout)):
            ask(wire.url)
        assert time.monotonic() - start < 1.5


def test_the_timeout_limits_all_of_a_fetch() -> None:
    start = time.monotonic()
    with running(SLOW["body"]) as wire:
        with pytest.raises(TimeoutError):
            RobotExclusionRulesParser().fetch(wire.url, timeout=0.2)
        with pytest.raises(exceptions.ReadTimeout):
            Robots.fetch(wire.url, timeout=(9, 0.2))
        assert time.monotonic() - start < 1.5


def test_the_default_is_that_of_sockets_else_half_a_minute() -> None:
    assert 29 < _timed.deadline_for(None).seconds_left() <= 30
    socket.setdefaulttimeout(0.2)
    try:
        assert _timed.deadline_for(None).seconds_left() <= 0.2
        assert _timed.deadline_for(50).seconds_left() > 49
        with running(SLOW["body"]) as wire, pytest.raises(TimeoutError):
            RobotFileParser(wire.url).read()
    finally:
        socket.setdefaulttimeout(None)


@pytest.mark.usefixtures("_short_limit")
def test_a_slow_lookup_is_not_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(1))
    start = time.monotonic()
    with pytest.raises(urllib.error.URLError):
        RobotFileParser("http://slow.invalid/robots.txt").read()
    with pytest.raises(exceptions.ConnectionException):
        Robots.fetch("http://slow.invalid/robots.txt")
    assert time.monotonic() - start < 0.9


def test_a_failed_lookup_is_the_error_of_urllib() -> None:
    with pytest.raises(urllib.error.URLError) as caught:
        RobotFileParser("http://nowhere.invalid/robots.txt").read()
    assert isinstance(caught.value.reason, socket.gaierror)
    with pytest.raises(UnicodeError):
        RobotFileParser("http://a..b/robots.txt").read()
    with pytest.raises(exceptions.MalformedUrl):
        Robots.fetch("http://a..b/robots.txt")
    with pytest.raises(exceptions.ConnectionException):
        Robots.fetch("http://nowhere.invalid/robots.txt")


# What people set for urllib


@pytest.fixture
def _no_opener(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(urllib.request, "_opener", None)


@pytest.mark.usefixtures("_no_opener")
def test_the_user_agent_of_read(site: Site) -> None:
    url = site.robots(200, FILE)
    RobotFileParser(url).read()
    RobotFileParser(urllib.request.Request(url, headers={"User-Agent": "FooBot/1.0"})).read()
    opener = urllib.request.build_opener()
    opener.addheaders = [("User-Agent", "BarBot/1.0")]
    urllib.request.install_opener(opener)
    RobotFileParser(url).read()
    agents = [headers["User-Agent"] for _, headers in site.requests]
    assert agents[0].startswith("Python-urllib/3.")
    assert agents[1:] == ["FooBot/1.0", "BarBot/1.0"]


class _OwnConnection(http.client.HTTPConnection):
    used = 0

    def connect(self) -> None:
        type(self).used += 1
        super().connect()


class _OwnHandler(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_OwnConnection, req)


@pytest.mark.usefixtures("_no_opener", "_short_limit")
def test_handlers_of_the_installed_opener_are_used_and_limited(site: Site) -> None:
    opener = urllib.request.build_opener(_OwnHandler)
    urllib.request.install_opener(opener)
    parser = RobotFileParser(site.robots(200, FILE))
    parser.read()
    assert parser.can_fetch("x", "/")
    assert _OwnConnection.used == 1
    with running(SLOW["headers"]) as wire, pytest.raises(TimeoutError):
        RobotFileParser(wire.url).read()
    handlers: list[Any] = opener.handlers  # type: ignore[attr-defined]
    assert all(each.parent is opener and "do_open" not in vars(each) for each in handlers)


@pytest.mark.usefixtures("_no_opener")
def test_proxies_of_the_environment_are_used(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", site.url)
    site.pages["http://site.invalid/robots.txt"] = Answer(200, b"User-agent: *\nDisallow: /")
    assert not _robotparser("http://site.invalid/")
    assert not _rerp("http://site.invalid/")
    assert not _reppy("http://site.invalid/")
    assert [path for path, _ in site.requests] == ["http://site.invalid/robots.txt"] * 3


@pytest.mark.usefixtures("_no_opener")
def test_https_goes_through_a_tunnel_of_the_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pem, secret = certificate(tmp_path, "site.invalid")
    context = server_context(pem, secret)
    targets: list[bytes] = []

    def proxy(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        with context.wrap_socket(connection, server_side=True) as tunnel:
            targets.append(tunnel.recv(4096))
            tunnel.sendall(response(FILE))

    with running(proxy) as wire:
        monkeypatch.setenv("https_proxy", wire.url)
        assert Robots.fetch("https://site.invalid/robots.txt", verify=False).allowed("/", "x")
    assert targets[0].startswith(b"GET /robots.txt HTTP/1.1\r\n")


def test_files_on_disk_are_read(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_bytes(b"User-agent: *\nDisallow: /")
    assert not _robotparser(tmp_path.as_uri() + "/")
    assert not _rerp(tmp_path.as_uri() + "/")


def test_the_status_of_reppy_counts_before_the_body() -> None:
    with running(sends(b"HTTP/1.1 404 Not Found\r\nContent-Encoding: br\r\n\r\n\x8b")) as wire:
        assert isinstance(Robots.fetch(wire.url), AllowAll)

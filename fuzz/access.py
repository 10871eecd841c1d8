"""Any sequence of answers ends in an entry that means what RFC 9309 §2.3 says, for every URL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import koster
from koster import access, freshness, origins
from koster._moments import later
from koster.access import Access, Failure, FailureKind, Request, Response
from koster.cache.memory import memory_bytes
from koster.cache.store import decode_entry, encode_entry
from koster.errors import UrlError
from koster.freshness import Answer, Entry, Standing

from . import _inputs
from ._tables import spread

START = datetime(2026, 11, 21, 12, 0, 0, 250_000, tzinfo=UTC)

#: RFC 9309 §2.3.1.2: five redirects are followed.
_MAX_REQUESTS = 6

#: Dialects with different rules for statuses.
_DIALECTS = (koster.RFC9309, koster.MK1994, koster.MK1996, koster.GOOGLE)

_ORIGINS = spread(
    (200, ["https://example.com", "http://example.com", "https://e.com:8443"]),
    (40, ["https://bücher.example", "http://[::1]:8080", "http://127.1", "https://E.com.", "http://a_b"]),
    (16, ["http://", "ftp://e.com", "https://[", "http://%65.com", "http://e.com:0", "x", ""]),
)  # fmt: skip

_STATUSES = spread(
    (60, [200, 200, 206, 204, 299]),
    (70, [301, 302, 303, 307, 308, 300, 399]),
    (20, [304]),
    (40, [404, 410, 401, 403, 400, 451, 499]),
    (50, [500, 503, 429, 502, 599]),
    (16, [100, 101, 0, -5, 600, 999, 10**6, 199]),
)

_LOCATIONS = (
    "/robots.txt", "/r", "r2", "../robots.txt", "//www.example.com/robots.txt", "http://e.com/a",
    "https://example.com/robots.txt", "https://example.com:443/robots.txt#x", "?a", "#", "",
    "https://bücher.example/é", "/\udcff", "https:r", "https:///e.com/x", "\\\\e.com\\r", " /r\t",
    "http://u:p@e.com/r", "ftp://e.com/", "http://[::1", "http://e.com:99999/", "javascript:1",
    "/a/../../b/./c", "/%2e%2E/x", "http://%00/", "http://e com/", "/" + "a" * 9000, "http://①",
)  # fmt: skip
_DATES = (
    "Sat, 21 Nov 2026 12:00:00 GMT", "Sat, 21 Nov 2026 18:00:00 GMT", "Sat Nov 21 13:00:00 2026",
    "Saturday, 28-Nov-26 12:00:00 GMT", "0", "-1", "", "Mon, 31 Feb 2026 00:00:00 GMT", "now",
    "Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 GMT", "9" * 30, "1e5", "60", "120",
    "Sat, 21 Nov 2026 12:00:00 +9999", "99999999999", "3600 ", "٣",
)  # fmt: skip
_CACHING = (
    "no-store", "max-age=60", "max-age=86400", 'max-age="3600"', "max-age=", "max-age=9e9",
    "public, max-age=31536000", "s-maxage=5", "no-cache=x", ",,,", "max-age=-1", "MAX-AGE=100",
)  # fmt: skip
_TYPES = (
    "text/plain", "text/plain; charset=latin-1", "text/html; charset=utf-16", "; charset=",
    "text/plain; charset=idna", "x; charset=\0", "x; charset=koi8-r", "x; charset=" + "u" * 99,
    "x;charset=rot13", "x;charset=zlib", "x;charset=utf-7", "x;charset=mbcs", "x;charset=é",
)  # fmt: skip
_HEADERS = spread(
    (110, [("location", each) for each in _LOCATIONS]),
    (40, [(name, each) for each in _DATES for name in ("expires", "date", "retry-after")]),
    (20, [("cache-control", each) for each in _CACHING]),
    (20, [("etag", each) for each in ('"1"', 'W/"2"', "", "\udcff", "x" * 2000, "a\nb")]),
    (20, [("last-modified", each) for each in _DATES]),
    (20, [("content-type", each) for each in _TYPES]),
    (10, [("age", each) for each in _DATES]),
    (5, [("content-encoding", "gzip"), ("server", "x"), ("content-length", "5")]),
)

_BODIES = spread(
    (200, [b"User-agent: *\nDisallow: /private\n", b"", b"User-agent: Foo\nDisallow: /\n"]),
    (54, [b"\xef\xbb\xbfUser-agent: *\nDisallow: /\xc3\xa9\n", b"\xff\xfeU\0", b"\xff\xfe\0\0", b"\0",
          b"User-agent: *\nDisallow: /\xe9\n", b"<html>"]),
    (2, [b"Allow: /\n" * 60_000, b"\xe9" * 600_000]),
)  # fmt: skip

#: Seconds between two fetches. Entries are stored with times as floats, which count microseconds
#: exactly in this century and the last.
_PAUSES = spread(
    (160, [0, 1, 59, 60, 61, 600, 3600, 86_400, 86_401]),
    (60, [7 * 86_400, 8 * 86_400, 30 * 86_400, 31 * 86_400, 400 * 86_400]),
    (30, [-1, -3600, -86_400, -100 * 86_400, 0.000_001]),
    (6, [86_400 * 365 * 5, -86_400 * 365 * 5]),
)

_URLS = (
    "/private/x", "https://example.com/open", "/robots.txt", "//x/private", " /private",
    "https://example.com/a/../private", "https://example.com\\private", "", "https://[/private",
)  # fmt: skip


@dataclass
class _History:
    """What must be known about a site after some fetches: a model of the state machine.

    ``answer`` is the last definite one, ``since`` when the site became unreachable.
    """

    answer: Answer = Answer.NONE
    since: datetime | None = None
    expires: datetime | None = None

    def fail(self, now: datetime) -> None:
        is_same = (
            self.since is not None
            and self.expires is not None
            and self.since <= now <= later(self.expires, 7 * 86_400)
        )
        self.since = self.since if is_same else now
        if self.answer is not Answer.FILE:
            self.answer = Answer.NONE

    def standing(self, now: datetime) -> Standing:
        """Return what crawlers must do at a moment."""
        if self.since is not None and now - self.since >= timedelta(days=30):
            return Standing.UNAVAILABLE
        if self.since is not None:
            is_held = self.answer is Answer.FILE
            return Standing.STALE_FILE if is_held else Standing.UNREACHABLE
        return Standing(self.answer.value if self.answer is not Answer.NONE else "unreachable")


def check(data: bytes) -> None:
    """Check one input."""
    source = iter(data)
    choice = next(source, 0)
    dialect = _DIALECTS[choice & 3]
    machine = Access(dialect.statuses)
    origin = _origin(source)
    _check_text(_inputs.pattern(source) if choice & 4 else b"".join(_text_parts(source)))
    history, entry, now = _History(), None, START
    for _ in range(12):
        pause = next(source, None)
        if pause is None:
            return
        now = later(now, _PAUSES[pause])
        entry = _fetch(machine, origin, entry, now, source, history)
        _check_entry(entry, origin, now, history, dialect)
        history.expires = entry.expires


def _origin(source: Iterator[int]) -> origins.Origin:
    text = _ORIGINS[next(source, 0)]
    try:
        found = origins.origin_of(text)
    except UrlError:
        return origins.origin_of("https://example.com")
    assert origins.origin_of(str(found)) == found
    return found


def _text_parts(source: Iterator[int]) -> Iterator[bytes]:
    """Yield parts of a URL."""
    for _ in range(next(source, 0) & 7):
        header = _LOCATIONS[next(source, 0) % len(_LOCATIONS)]
        yield header.encode("utf-8", "surrogateescape")[:40]


_WHITE_SPACE = "".join(map(chr, range(33)))


def _check_text(raw: bytes) -> None:
    """Check that URLs are normalized once and for all."""
    for text in (raw.decode("utf-8", "surrogateescape"), f"https://e.com/{raw.decode('latin-1')}"):
        # White space before a fragment is part of the path, and at the end of a URL it is not.
        once = origins.as_browsers_read(text).rstrip(_WHITE_SPACE)
        assert origins.as_browsers_read(once) == once, text
        try:
            target = origins.redirect_target("https://e.com/a/b", text).rstrip(_WHITE_SPACE)
        except UrlError:
            continue
        assert origins.redirect_target("http://other.example/", target) == target, text


def _fetch(
    machine: Access,
    origin: origins.Origin,
    copy: Entry | None,
    now: datetime,
    source: Iterator[int],
    history: _History,
) -> Entry:
    """Fetch once, with redirects, and note in ``history`` what that must mean."""
    step: Request | Entry = machine.begin(origin, copy)
    requests = 0
    while isinstance(step, Request):
        requests += 1
        assert requests <= _MAX_REQUESTS
        _check_request(step, requests)
        kind = next(source, 0)
        if kind >= 248:
            failure = Failure(list(FailureKind)[kind & 7], "it broke\udcff")
            step = machine.fail(step, failure, now, 0.5)
            history.fail(now)
            return step
        request, response = step, _response(_STATUSES[kind], source)
        step = machine.respond(request, response, now, 0.25)
        if isinstance(step, Request):
            assert 300 <= response.status < 400
            assert response.status != 304
        else:
            _note(
                machine, request, response, now, history, is_redirect="location" in response.headers
            )
            _check_kind(step, response, history, now)
    return step


def _response(status: int, source: Iterator[int]) -> Response:
    headers = dict(_HEADERS[next(source, 0)] for _ in range(next(source, 0) & 3))
    if 300 <= status < 400:
        headers.setdefault("location", _LOCATIONS[next(source, 0) % len(_LOCATIONS)])
    body = _BODIES[next(source, 0)] if access.wants_body(status) else b""
    return Response(status, headers, body, is_whole=next(source, 0) < 240)


def _note(
    machine: Access,
    request: Request,
    response: Response,
    now: datetime,
    history: _History,
    *,
    is_redirect: bool,
) -> None:
    """Note in a history what a last response means."""
    status = response.status
    if 200 <= status < 300:
        history.answer, history.since = Answer.FILE, None
    elif status == 304 and request.copy is not None and request.headers:
        history.since = None
    elif status in machine.statuses.forbidden:
        history.answer, history.since = Answer.FORBIDDEN, None
    elif status in machine.statuses.unavailable or (
        300 <= status < 400 and status != 304 and is_redirect and _is_followed(request, response)
    ):
        history.answer, history.since = Answer.UNAVAILABLE, None
    else:
        history.fail(now)


def _is_followed(request: Request, response: Response) -> bool:
    """Return whether a redirect can be followed: there were too many, or it is a loop."""
    try:
        origins.redirect_target(request.url, response.headers["location"])
    except UrlError:
        return False
    return True


def _check_kind(entry: Entry, response: Response, history: _History, now: datetime) -> None:
    assert entry.answer is history.answer, (response, entry)
    assert entry.unreachable_since == history.since, (response, entry)
    assert entry.hops[-1].status == response.status
    is_new_file = 200 <= response.status < 300
    if is_new_file:
        assert len(entry.body) <= 3 * access.MAX_BYTES
        assert entry.is_cut or entry.charset or entry.body == response.body
        assert entry.fetched == now


def _check_request(request: Request, number: int) -> None:
    url = request.url
    assert url.startswith(("http://", "https://"))
    assert url.isascii()
    assert url.isprintable()
    assert not set(url) & set(" #\\")
    authority = url.split("/")[2]
    assert authority
    assert "@" not in authority
    assert str(origins.origin_of(url)).partition("://")[2] == authority
    assert len(request.hops) == number - 1
    copy = request.copy
    for _, value in request.headers:
        assert copy is not None
        assert copy.url == url
        assert value.isascii()
        assert value.isprintable()


def _check_entry(
    entry: Entry, origin: origins.Origin, now: datetime, history: _History, dialect: Any
) -> None:
    statuses = dialect.statuses
    assert entry.origin == str(origin)
    longest = statuses.longest if entry.unreachable_since is None else 86_400
    assert later(now, 60) <= entry.expires <= later(now, longest)
    assert freshness.is_fresh(entry, now, statuses)
    assert not freshness.is_fresh(entry, entry.expires, statuses)
    assert decode_entry(encode_entry(entry)) == entry
    assert memory_bytes(entry) >= len(entry.body)
    for moment in (now, entry.expires, later(now, 30 * 86_400), later(now, -86_400)):
        standing = history.standing(moment)
        assert freshness.standing(entry, moment) is standing, (entry, moment)
        url = _URLS[(moment.second + len(entry.hops) + len(entry.why)) % len(_URLS)]
        _check_outcome(access.outcome_of(entry, dialect, moment), standing, url)


def _check_outcome(outcome: access.Outcome, expected: Standing, url: str) -> None:
    decision = outcome.decide(url, "FooBot")
    assert outcome.allowed(url, "FooBot") is decision.allowed
    assert str(decision)
    if expected in (Standing.FILE, Standing.STALE_FILE):
        assert outcome.robots is not None
        assert decision.allowed == outcome.robots.allowed(origins.as_browsers_read(url), "FooBot")
    elif decision.reason is not koster.Reason.ROBOTS_TXT:
        assert decision.allowed == (expected is Standing.UNAVAILABLE)
    assert isinstance(outcome.is_downgraded, bool)
    assert isinstance(outcome.sitemaps, tuple)

"""Access: the fetch of an origin's robots.txt as a state machine without I/O (RFC 9309 §2.3).

A driver asks `Access.begin` for the first `Request`, sends it, and hands what came of it to
`Access.respond` or `Access.fail`; each gives the next request or, at the end, the `Entry` to
keep. `outcome_of` says what an entry means. No sockets, no clock: `now` is a parameter, and the
encoder for names of hosts is handed in.
"""

from __future__ import annotations

import enum
import http
import itertools
from dataclasses import dataclass, replace

from ._charsets import MAX_BYTES, as_utf8, charset_of, is_utf8
from .dialects import RFC9309
from .errors import UrlError
from .freshness import (
    Answer,
    Entry,
    Hop,
    Standing,
    as_unreachable,
    expiry,
    retry_after,
    standing,
)
from .model import Decision, Reason
from .origins import Origin, as_browsers_read, idna_2003, redirect_target
from .robots import RobotsTxt, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from .dialects import Dialect, Statuses
    from .origins import ToAscii
    from .robots import Rules

__all__ = [
    "MAX_BYTES",
    "MAX_REDIRECTS",
    "Access",
    "Failure",
    "FailureKind",
    "Outcome",
    "Unreachable",
]

#: RFC 9309 §2.3.1.2: "at least five consecutive redirects".
MAX_REDIRECTS = 5

#: Statuses at which a server asks to be left alone for a time.
_BUSY = frozenset({429, 503})

#: The headers of answers that are kept with a hop, the first value of each.
_SHOWN_HEADERS = (
    *("location", "content-type", "content-encoding", "content-length", "cache-control"),
    *("expires", "age", "date", "etag", "last-modified", "retry-after", "server"),
)
#: Longer values are no use, and are cut where they are shown.
_LONGEST_HEADER = 1000

#: Headers whose values are one list however many lines they take.
_LISTS = frozenset({"cache-control", "content-encoding"})


def headers_of(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers of an answer as `Response` wants them: of several alike, the first."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in pairs:
        name = raw_name.decode("latin-1").lower()
        value = raw_value.decode("utf-8", "surrogateescape")
        if name not in headers:
            headers[name] = value
        elif name in _LISTS:
            headers[name] += f", {value}"
    return headers


@dataclass(frozen=True, slots=True)
class Response:
    """An answer: headers with names in lower case, and what was read of its body.

    Of an answer that is not 2xx no body is needed. ``is_whole`` tells that the body was read to
    its end; at most `MAX_BYTES` are used, without their Content-Encoding.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    is_whole: bool = True


class FailureKind(enum.Enum):
    """What kept an answer from coming."""

    TIMEOUT = "timeout"
    NAME = "name"
    """The name of the host has no address."""
    CONNECTION = "connection"
    """It could not be made, or broke."""
    TLS = "tls"
    NOT_HTTP = "not http"
    ENCODING = "encoding"
    """The body is not in the Content-Encoding that it is said to be in."""
    REFUSED = "refused"
    """The guard refuses the address."""


@dataclass(frozen=True, slots=True)
class Failure:
    """No answer; ``why`` is part of a sentence."""

    kind: FailureKind
    why: str


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be asked next: GET ``url`` with ``headers``; redirects are not to be followed.

    ``hops`` were asked before; ``copy`` is what is kept of the origin.
    """

    origin: Origin
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    hops: tuple[Hop, ...] = ()
    copy: Entry | None = None


def wants_body(status: int) -> bool:
    """Tell whether the body of an answer is to be read."""
    return 200 <= status < 300


@dataclass(frozen=True, slots=True)
class Access:
    """The state machine: how statuses are read, and how names of hosts become ASCII."""

    statuses: Statuses = RFC9309.statuses
    to_ascii: ToAscii = idna_2003

    def begin(self, origin: Origin, copy: Entry | None = None) -> Request:
        """Return the first request for an origin, of which ``copy`` is kept."""
        return _request(origin, origin.robots_url, (), copy)

    def respond(
        self, request: Request, response: Response, now: datetime, seconds: float = 0.0
    ) -> Request | Entry:
        """Return the next request after an answer, or what is to be kept.

        ``seconds`` is how long the answer took.
        """
        status, headers = response.status, response.headers
        shown = tuple(
            (name, headers[name][:_LONGEST_HEADER]) for name in _SHOWN_HEADERS if name in headers
        )
        hops = (*request.hops, Hop(request.url, status, shown, "", seconds))
        if wants_body(status):
            return self._file(request, response, hops, now)
        if status == 304:
            return self._unchanged(request, response, hops, now)
        if 300 <= status < 400:
            return self._redirect(request, response, hops, now)
        if status in self.statuses.forbidden:
            return self._definite(request, Answer.FORBIDDEN, headers, hops, now)
        if status in self.statuses.unavailable:
            return self._definite(request, Answer.UNAVAILABLE, headers, hops, now)
        wanted = retry_after(headers, now) if status in _BUSY else None
        return as_unreachable(str(request.origin), request.copy, hops, _phrase(status), now, wanted)

    def fail(
        self, request: Request, failure: Failure, now: datetime, seconds: float = 0.0
    ) -> Entry:
        """Return what is to be kept after a request that got no answer."""
        hops = (*request.hops, Hop(request.url, why=failure.why, seconds=seconds))
        return _unreachable(request, hops, failure.why, now)

    def _file(
        self, request: Request, response: Response, hops: tuple[Hop, ...], now: datetime
    ) -> Entry:
        """Keep a file."""
        headers = response.headers
        charset = charset_of(headers.get("content-type", ""))
        body, charset = as_utf8(response.body, charset, response.is_whole)
        entry = self._definite(request, Answer.FILE, headers, hops, now)
        return replace(
            entry,
            why="",
            body=body,
            charset=charset,
            is_cut=not response.is_whole or len(response.body) > MAX_BYTES,
            etag=_validator(headers, "etag"),
            last_modified=_validator(headers, "last-modified"),
        )

    def _unchanged(
        self, request: Request, response: Response, hops: tuple[Hop, ...], now: datetime
    ) -> Entry:
        """Keep the copy on, if it was asked about."""
        copy, headers = request.copy, response.headers
        if copy is None or not request.headers:
            return _unreachable(request, hops, "304 without having been asked for a change", now)
        return replace(
            copy,
            hops=hops,
            status=304,
            why="",
            fetched=now,
            expires=expiry(headers, now, self.statuses),
            unreachable_since=None,
            etag=_validator(headers, "etag") or copy.etag,
            last_modified=_validator(headers, "last-modified") or copy.last_modified,
        )

    def _redirect(
        self, request: Request, response: Response, hops: tuple[Hop, ...], now: datetime
    ) -> Request | Entry:
        """Follow a redirect, unless there were too many."""
        headers = response.headers
        if "location" not in headers:
            return _unreachable(
                request, hops, f"{_phrase(response.status)} without a Location", now
            )
        try:
            target = redirect_target(request.url, headers["location"], self.to_ascii)
        except UrlError as error:
            return _unreachable(request, hops, f"a redirect to {error}", now)
        circle = any(hop.url == target for hop in hops)
        if circle or len(hops) > MAX_REDIRECTS:
            why = "redirects in a circle" if circle else f"more than {MAX_REDIRECTS} redirects"
            return replace(self._definite(request, Answer.UNAVAILABLE, headers, hops, now), why=why)
        return _request(request.origin, target, hops, request.copy)

    def _definite(
        self,
        request: Request,
        answer: Answer,
        headers: Mapping[str, str],
        hops: tuple[Hop, ...],
        now: datetime,
    ) -> Entry:
        """Keep a definite answer."""
        return Entry(
            origin=str(request.origin),
            answer=answer,
            url=request.url,
            hops=hops,
            status=hops[-1].status,
            why=_phrase(hops[-1].status or 0),
            body=b"",
            fetched=now,
            expires=expiry(headers, now, self.statuses),
        )


def _request(origin: Origin, url: str, hops: tuple[Hop, ...], copy: Entry | None) -> Request:
    """Ask for a URL; where the copy came from, whether it has changed."""
    headers: list[tuple[str, str]] = []
    if copy is not None and copy.has_copy and copy.url == url:
        if copy.etag is not None and _is_sendable(copy.etag):
            headers.append(("If-None-Match", copy.etag))
        if copy.last_modified is not None and _is_sendable(copy.last_modified):
            headers.append(("If-Modified-Since", copy.last_modified))
    return Request(origin, url, tuple(headers), hops, copy)


def _unreachable(request: Request, hops: tuple[Hop, ...], why: str, now: datetime) -> Entry:
    return as_unreachable(str(request.origin), request.copy, hops, why, now)


def _validator(headers: Mapping[str, str], name: str) -> str | None:
    """Return an ETag or a Last-Modified that can be sent back."""
    value = headers.get(name, "").strip()
    return value if _is_sendable(value) else None


def _is_sendable(value: str) -> bool:
    return 0 < len(value) <= _LONGEST_HEADER and value.isascii() and value.isprintable()


def _phrase(status: int) -> str:
    """Return a status with its name, where it has one."""
    try:
        return f"{status} {http.HTTPStatus(status).phrase}"
    except ValueError:
        return f"status {status}"


def coding_failure(headers: Mapping[str, str], known: Iterable[str], body: bytes) -> Failure | None:
    """Return why a body cannot be read that is in a coding which nobody here knows.

    Servers also declare codings that are none, such as "utf-8": what is text is read.
    """
    codings = (each.strip().lower() for each in headers.get("content-encoding", "").split(","))
    unknown = [each for each in codings if each and each not in known]
    if unknown and not is_utf8(body):
        return Failure(FailureKind.ENCODING, f"its Content-Encoding is {unknown[0][:40]!r}")
    return None


_REASONS = {
    Standing.FILE: None,
    Standing.STALE_FILE: None,
    Standing.UNAVAILABLE: Reason.UNAVAILABLE,
    Standing.FORBIDDEN: Reason.FORBIDDEN,
    Standing.UNREACHABLE: Reason.UNREACHABLE,
}


class Unreachable(enum.Enum):
    """What a site that cannot be reached, and of which there is no copy, lets crawlers fetch."""

    DISALLOW = "disallow"
    """Nothing (RFC 9309 §2.3.1.4)."""
    ALLOW = "allow"
    """Everything. A client logs a warning."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What fetching an origin's robots.txt gave.

    Attributes:
        origin: The site, as in ``https://example.com``.
        dialect: How its file is read.
        robots: The file; None where there is none to go by.
        reason: Why there is none: UNAVAILABLE, UNREACHABLE or FORBIDDEN; None where there is.
        why: What happened, where not all went well, as part of a sentence; else empty.
        url: Where the file came from in the end.
        hops: The requests of the last try, in order.
        fetched: When the site last gave or confirmed what is gone by.
        expires: Until when the site is not asked again.
        unreachable_since: Since when it could not be reached; None if it could.
        is_cut: Whether the file is longer than what is read of one (500 KiB).
        charset: What the file was in, where that was not UTF-8; robots that read nothing else
            see another file.
        unreachable: What it means that the site could not be reached, where that is the reason.
    """

    origin: str
    dialect: Dialect
    robots: RobotsTxt | None
    reason: Reason | None
    why: str
    url: str
    hops: tuple[Hop, ...]
    fetched: datetime
    expires: datetime
    unreachable_since: datetime | None
    is_cut: bool = False
    charset: str | None = None
    unreachable: Unreachable = Unreachable.DISALLOW

    @property
    def is_stale(self) -> bool:
        """Whether the file is an old copy, because the site cannot be reached."""
        return self.robots is not None and self.unreachable_since is not None

    @property
    def is_downgraded(self) -> bool:
        """Whether a redirect led from HTTPS to HTTP: anybody may have written the file."""
        secure = [hop.url.startswith("https:") for hop in self.hops]
        return any(first and not then for first, then in itertools.pairwise(secure))

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The values of the file's Sitemap lines, as written."""
        return self.robots.sitemaps if self.robots is not None else ()

    def crawl_delay(self, agent: str | Sequence[str]) -> float | None:
        """Return the seconds between two requests that the file asks of a robot, or None."""
        return self.robots.rules_for(agent).crawl_delay if self.robots is not None else None

    def allowed(self, url: str, agent: str | Sequence[str]) -> bool:
        """Tell whether a robot may fetch a URL of this origin, or a path on it.

        A URL is read as browsers read it (see `koster.origins.as_browsers_read`), a path as it
        stands.
        """
        if self.robots is not None:
            return self.robots.allowed(as_browsers_read(url), agent)
        return self.decide(url, agent).allowed

    def decide(self, url: str, agent: str | Sequence[str]) -> Decision:
        """Decide as `allowed` does, with the reason."""
        robots = self.robots if self.robots is not None else parse(b"", self.dialect)
        return self.decide_by(robots.rules_for(agent), url)

    def decide_by(self, rules: Rules, url: str) -> Decision:
        """Decide as `decide` does, by rules of the file that were prepared."""
        read = as_browsers_read(url)
        decision = rules.decide(read)
        if read is not url:
            decision = replace(decision, url=url)
        if self.reason is None or decision.reason is Reason.ROBOTS_TXT:
            return decision
        allowed = self.reason is Reason.UNAVAILABLE or (
            self.reason is Reason.UNREACHABLE and self.unreachable is Unreachable.ALLOW
        )
        return replace(decision, allowed=allowed, reason=self.reason, why=self.why)


def read_as(outcome: Outcome, dialect: Dialect) -> Outcome:
    """Return an outcome with its file read in a dialect that reads statuses alike."""
    if outcome.dialect == dialect:
        return outcome
    robots = None if outcome.robots is None else parse(outcome.robots.body, dialect)
    return replace(outcome, dialect=dialect, robots=robots)


def outcome_of(
    entry: Entry,
    dialect: Dialect,
    now: datetime,
    unreachable: Unreachable = Unreachable.DISALLOW,
) -> Outcome:
    """Return what an entry means at a moment, in a dialect."""
    means = standing(entry, now)
    has_file = means in (Standing.FILE, Standing.STALE_FILE)
    why = entry.why
    if means is Standing.UNAVAILABLE and entry.unreachable_since is not None:
        why = f"unreachable since {entry.unreachable_since:%Y-%m-%d}: {entry.why}"
    return Outcome(
        origin=entry.origin,
        dialect=dialect,
        robots=parse(entry.body, dialect) if has_file else None,
        reason=_REASONS[means],
        why=why,
        url=entry.url,
        hops=entry.hops,
        fetched=entry.fetched,
        expires=entry.expires,
        unreachable_since=entry.unreachable_since,
        is_cut=has_file and entry.is_cut,
        charset=entry.charset if has_file else None,
        unreachable=unreachable,
    )

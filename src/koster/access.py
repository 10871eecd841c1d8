"""Access: fetching an origin's robots.txt as a state machine without I/O (RFC 9309 §2.3).

`Access.begin` returns the first `Request`. The driver sends it, and passes the result to
`Access.respond` or `Access.fail`; each returns the next request or, at the end, the `Entry` to
cache. `outcome_of` says what an entry means. No sockets, no clock: `now` and the encoder for host
names are parameters.
"""

from __future__ import annotations

import contextlib
import enum
import http
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ._asking import rules_for_data, rules_for_question, url_to_fetch
from ._charsets import MAX_BYTES, complete_lines, declared_charset, is_utf8, to_utf8
from ._contents import compression_of, is_page
from .decisions import Decision, Reason
from .dialects import RFC9309, Dialect, Statuses
from .errors import UrlError
from .freshness import (
    Answer,
    Entry,
    Hop,
    Standing,
    expiry,
    retry_after,
    standing,
    unreachable_entry,
)
from .origins import Origin, ToAscii, idna_2003, origin_of, redirect_target
from .robots import RobotsTxt, Rules, parse

__all__ = [
    "MAX_BYTES",
    "MAX_REDIRECTS",
    "Access",
    "Failure",
    "FailureKind",
    "Html",
    "Outcome",
    "Redirects",
    "Request",
    "Response",
    "Unreachable",
    "outcome_of",
]

#: RFC 9309 §2.3.1.2: "at least five consecutive redirects".
MAX_REDIRECTS = 5

#: Statuses whose Retry-After is obeyed.
_RETRY_AFTER_STATUSES = frozenset({429, 503})

#: Response headers stored with a hop; of repeated ones the first value.
_STORED_HEADERS = (
    "location", "content-type", "content-encoding", "content-length", "cache-control",
    "expires", "age", "date", "etag", "last-modified", "retry-after", "server",
)  # fmt: skip
#: Longer values are truncated in hops, and not used as validators.
_MAX_HEADER = 1000

#: Headers whose repeated lines form one list.
_LIST_HEADERS = frozenset({"cache-control", "content-encoding"})


def collect_headers(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return response headers as a dictionary; of repeated ones the first, or the joined list."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in pairs:
        name = raw_name.decode("latin-1").lower()
        value = raw_value.decode("utf-8", "surrogateescape")
        if name not in headers:
            headers[name] = value
        elif name in _LIST_HEADERS:
            headers[name] += f", {value}"
    return headers


@dataclass(frozen=True, slots=True)
class Response:
    """A response: headers with names in lower case, and its decoded body.

    The body is used only for 2xx, and only up to `MAX_BYTES`. ``is_whole`` is False if it was not
    read to its end.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    is_whole: bool = True


class FailureKind(enum.Enum):
    """Why there is no response."""

    TIMEOUT = "timeout"
    """There was no complete response in time."""
    NAME = "name"
    """The DNS lookup failed."""
    CONNECTION = "connection"
    """The connection could not be opened, or broke."""
    TLS = "tls"
    """The certificate is invalid, or the TLS handshake failed."""
    NOT_HTTP = "not http"
    """The response is not valid HTTP, or its body is shorter than its Content-Length."""
    ENCODING = "encoding"
    """The body cannot be decoded by its Content-Encoding."""
    REFUSED = "refused"
    """The guard blocks the address."""
    PROXY = "proxy"
    """The proxy cannot be reached, or rejects the request."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A request without a response; ``why`` is part of a sentence."""

    kind: FailureKind
    why: str


@dataclass(frozen=True, slots=True)
class Request:
    """The next request: GET ``url`` with ``headers``, without following redirects.

    ``hops`` are the previous requests; ``copy`` is the origin's cached entry.
    """

    origin: Origin
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    hops: tuple[Hop, ...] = ()
    copy: Entry | None = None


def wants_body(status: int) -> bool:
    """Return whether the body of a response must be read."""
    return 200 <= status < 300


class Redirects(enum.Enum):
    """Which redirects of a robots.txt are followed."""

    ANY_SITE = "any site"
    """All (RFC 9309 §2.3.1.2)."""
    SAME_SITE = "same site"
    """Those to the same host, or one above or below it: from example.com to www.example.com. Any
    other redirect makes the site unreachable."""


class Html(enum.Enum):
    """What an HTML page with a status 2xx means, such as a login page or the page of a bot wall."""

    NO_RULES = "no rules"
    """A file without rules, so everything is allowed (RFC 9309)."""
    UNREACHABLE = "unreachable"
    """The site is unreachable: a page says nothing about its rules."""


#: Why a site is unreachable under `Html.UNREACHABLE`.
HTML_PAGE = "an HTML page, not a robots.txt"


@dataclass(frozen=True, slots=True)
class Access:
    """The state machine: how statuses and pages are read, and how host names become ASCII."""

    statuses: Statuses = RFC9309.statuses
    to_ascii: ToAscii = idna_2003
    html: Html = Html.NO_RULES
    redirects: Redirects = Redirects.ANY_SITE

    def begin(self, origin: Origin, copy: Entry | None = None) -> Request:
        """Return the first request for an origin; ``copy`` is its cached entry."""
        return _request(origin, origin.robots_url, (), copy)

    def respond(
        self, request: Request, response: Response, now: datetime, seconds: float = 0.0
    ) -> Request | Entry:
        """Return the next request after a response, or the entry to cache.

        ``seconds`` is the duration of the request.
        """
        status, headers = response.status, response.headers
        stored = tuple(
            (name, headers[name][:_MAX_HEADER]) for name in _STORED_HEADERS if name in headers
        )
        hops = (*request.hops, Hop(request.url, status, stored, "", seconds))
        if wants_body(status):
            return self._file_entry(request, response, hops, now)
        if status == 304:
            return self._not_modified(request, response, hops, now)
        if 300 <= status < 400:
            return self._redirect(request, response, hops, now)
        if status in self.statuses.forbidden:
            return self._definite_entry(request, Answer.FORBIDDEN, response, hops, now)
        if status in self.statuses.unavailable:
            return self._definite_entry(request, Answer.UNAVAILABLE, response, hops, now)
        delay = retry_after(headers, now) if status in _RETRY_AFTER_STATUSES else None
        why = status_phrase(status)
        return unreachable_entry(str(request.origin), request.copy, hops, why, now, delay)

    def fail(
        self, request: Request, failure: Failure, now: datetime, seconds: float = 0.0
    ) -> Entry:
        """Return the entry to cache after a request without a response."""
        hops = (*request.hops, Hop(request.url, why=failure.why, seconds=seconds))
        return _unreachable_entry(request, hops, failure.why, now)

    def _file_entry(
        self, request: Request, response: Response, hops: tuple[Hop, ...], now: datetime
    ) -> Entry:
        headers = response.headers
        declared = declared_charset(headers.get("content-type", ""))
        served = complete_lines(response.body, response.is_whole)
        body, charset = to_utf8(response.body, declared, response.is_whole)
        if self.html is Html.UNREACHABLE and is_page(body):
            return _unreachable_entry(request, hops, HTML_PAGE, now)
        entry = self._definite_entry(request, Answer.FILE, response, hops, now)
        return replace(
            entry,
            why="",
            body=body,
            charset=charset,
            served=None if served == body else served,
            is_cut=not response.is_whole or len(response.body) > MAX_BYTES,
            etag=_validator(headers, "etag"),
            last_modified=_validator(headers, "last-modified"),
        )

    def _not_modified(
        self, request: Request, response: Response, hops: tuple[Hop, ...], now: datetime
    ) -> Entry:
        """Return the copy with a new expiry, if the request was conditional."""
        copy, headers = request.copy, response.headers
        if copy is None or not request.headers:
            return _unreachable_entry(
                request, hops, "304 Not Modified to an unconditional request", now
            )
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
        """Return the next request; or an entry, if there were too many redirects."""
        headers = response.headers
        if "location" not in headers:
            return _unreachable_entry(
                request, hops, f"{status_phrase(response.status)} without a Location header", now
            )
        try:
            target = redirect_target(request.url, headers["location"], self.to_ascii)
        except UrlError as error:
            return _unreachable_entry(request, hops, f"invalid redirect: {error}", now)
        if self.redirects is Redirects.SAME_SITE and not _is_same_site(request.origin, target):
            return _unreachable_entry(request, hops, f"redirected to another site: {target}", now)
        is_loop = any(hop.url == target for hop in hops)
        if is_loop or len(hops) > MAX_REDIRECTS:
            why = "redirect loop" if is_loop else f"more than {MAX_REDIRECTS} redirects"
            return replace(
                self._definite_entry(request, Answer.UNAVAILABLE, response, hops, now), why=why
            )
        return _request(request.origin, target, hops, request.copy)

    def _definite_entry(
        self,
        request: Request,
        answer: Answer,
        response: Response,
        hops: tuple[Hop, ...],
        now: datetime,
    ) -> Entry:
        return Entry(
            origin=str(request.origin),
            answer=answer,
            url=request.url,
            hops=hops,
            status=response.status,
            why=status_phrase(response.status),
            body=b"",
            fetched=now,
            expires=expiry(response.headers, now, self.statuses),
        )


def _request(origin: Origin, url: str, hops: tuple[Hop, ...], copy: Entry | None) -> Request:
    """Return a request; conditional if the copy came from the same URL."""
    headers: list[tuple[str, str]] = []
    if copy is not None and copy.has_copy and copy.url == url:
        if copy.etag is not None and _is_sendable(copy.etag):
            headers.append(("If-None-Match", copy.etag))
        if copy.last_modified is not None and _is_sendable(copy.last_modified):
            headers.append(("If-Modified-Since", copy.last_modified))
    return Request(origin, url, tuple(headers), hops, copy)


def _is_same_site(origin: Origin, target: str) -> bool:
    """Tell whether a URL is on a site's host, or on one above or below it."""
    host, other = origin.host, origin_of(target).host
    return host == other or host.endswith(f".{other}") or other.endswith(f".{host}")


def _unreachable_entry(request: Request, hops: tuple[Hop, ...], why: str, now: datetime) -> Entry:
    return unreachable_entry(str(request.origin), request.copy, hops, why, now)


def _validator(headers: Mapping[str, str], name: str) -> str | None:
    """Return a header's value if it can be sent as a validator, else None."""
    value = headers.get(name, "").strip()
    return value if _is_sendable(value) else None


def _is_sendable(value: str) -> bool:
    return 0 < len(value) <= _MAX_HEADER and value.isascii() and value.isprintable()


def status_phrase(status: int) -> str:
    """Return a status with its phrase, such as ``404 Not Found``."""
    try:
        return f"{status} {http.HTTPStatus(status).phrase}"
    except ValueError:
        return f"status {status}"


def coding_failure(headers: Mapping[str, str], known: Iterable[str], body: bytes) -> Failure | None:
    """Return the failure for a body that is not text because its coding is unknown or not declared.

    Some servers declare invalid codings, such as "utf-8", for plain text.
    """
    if is_utf8(body):
        return None
    codings = (each.strip().lower() for each in headers.get("content-encoding", "").split(","))
    unknown = [each for each in codings if each and each not in known]
    if unknown:
        return Failure(FailureKind.ENCODING, f"unsupported Content-Encoding {unknown[0][:40]!r}")
    compression = compression_of(body)
    return None if compression is None else compressed_failure(compression)


def compressed_failure(compression: str) -> Failure:
    """Return the failure for a body that is compressed, which its headers do not say."""
    why = (
        f"response body is compressed with {compression}, but its Content-Encoding does not say so"
    )
    return Failure(FailureKind.ENCODING, why)


_REASONS = {
    Standing.FILE: None,
    Standing.STALE_FILE: None,
    Standing.UNAVAILABLE: Reason.UNAVAILABLE,
    Standing.FORBIDDEN: Reason.FORBIDDEN,
    Standing.UNREACHABLE: Reason.UNREACHABLE,
}


class Unreachable(enum.Enum):
    """What crawlers may fetch from an unreachable site whose file is not cached."""

    DISALLOW = "disallow"
    """Nothing (RFC 9309 §2.3.1.4)."""
    ALLOW = "allow"
    """Everything. A client logs a warning."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of fetching an origin's robots.txt.

    Attributes:
        origin: The site, as in ``https://example.com``.
        dialect: How its file is read.
        robots: The file, or None if no file applies.
        reason: Why ``robots`` is None: UNAVAILABLE, UNREACHABLE or FORBIDDEN; else None.
        why: The error, as part of a sentence; empty if there was none.
        url: The URL of the file after redirects.
        hops: The requests of the last try, in order.
        fetched: When the definite answer was received or last confirmed.
        expires: The site is not fetched again before this moment.
        unreachable_since: When the site became unreachable; None if it is reachable.
        is_cut: Whether the file exceeds the size limit (500 KiB) and is truncated.
        charset: The original charset, if not UTF-8; crawlers that support only UTF-8 read such a
            file differently.
        unreachable: The policy if ``reason`` is UNREACHABLE.
        entry: The cache entry that this is the meaning of.
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
    is_cut: bool
    charset: str | None
    unreachable: Unreachable
    entry: Entry

    @property
    def is_stale(self) -> bool:
        """Whether the file is stale, because the site is unreachable."""
        return self.robots is not None and self.unreachable_since is not None

    @property
    def is_html(self) -> bool:
        """Whether the file is an HTML page, not a robots.txt."""
        return self.robots is not None and is_page(self.entry.body)

    @property
    def is_downgraded(self) -> bool:
        """Whether a redirect led from HTTPS to HTTP: the file may be forged."""
        secure = [hop.url.startswith("https:") for hop in self.hops]
        return any(first and not then for first, then in itertools.pairwise(secure))

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The absolute URLs of the file's Sitemap lines, each once.

        Relative ones belong to the URL of the file. Others than HTTP and HTTPS URLs are left out;
        ``robots.sitemaps`` has all, as written.
        """
        found = []
        for value in self.robots.sitemaps if self.robots is not None else ():
            with contextlib.suppress(UrlError):
                found.append(redirect_target(self.url, value))
        return tuple(dict.fromkeys(found))

    @property
    def guessed_sitemap(self) -> str | None:
        """The URL where a sitemap usually is, if the file names none; None if it names some.

        It is a guess: nothing says that it exists. None also for a site that is unreachable.
        """
        is_open = self.reason in (None, Reason.UNAVAILABLE)
        return f"{self.origin}/sitemap.xml" if is_open and not self.sitemaps else None

    def crawl_delay(self, agent: str | Sequence[str]) -> float | None:
        """Return the crawl delay for a crawler in seconds, or None."""
        return rules_for_data(self.robots, agent).crawl_delay if self.robots is not None else None

    def allowed(self, url: str, agent: str | Sequence[str]) -> bool:
        """Return whether a crawler may fetch a URL of this origin, or a path on it.

        URLs are normalized as in browsers (see `koster.origins.as_browsers_read`), paths are not;
        under ``GOOGLE`` both are escaped as HTTP clients send them.
        """
        if self.robots is not None:
            rules = rules_for_question(self.robots, url, agent)
            return rules.allowed(url_to_fetch(rules, url))
        return self.decide(url, agent).allowed

    def decide(self, url: str, agent: str | Sequence[str]) -> Decision:
        """Return whether a crawler may fetch a URL or path, with the reason."""
        robots = self.robots if self.robots is not None else parse(b"", self.dialect)
        return self.decide_by(rules_for_question(robots, url, agent), url)

    def decide_by(self, rules: Rules, url: str) -> Decision:
        """Decide like `decide`, with rules of the file prepared by the caller."""
        normalized = url_to_fetch(rules, url)
        decision = rules.decide(normalized)
        if normalized is not url:
            decision = replace(decision, url=url)
        if self.reason is None or decision.reason is Reason.ROBOTS_TXT:
            return decision
        allowed = self.reason is Reason.UNAVAILABLE or (
            self.reason is Reason.UNREACHABLE and self.unreachable is Unreachable.ALLOW
        )
        return replace(decision, allowed=allowed, reason=self.reason, why=self.why)


def with_dialect(outcome: Outcome, dialect: Dialect) -> Outcome:
    """Return an outcome for another dialect with the same `Statuses`."""
    if outcome.dialect == dialect:
        return outcome
    entry, robots = outcome.entry, outcome.robots
    if robots is not None:
        robots = parse(dialect.body_of(entry.body, entry.served), dialect)
    return replace(outcome, dialect=dialect, robots=robots)


def outcome_of(
    entry: Entry,
    dialect: Dialect,
    now: datetime,
    unreachable: Unreachable = Unreachable.DISALLOW,
    html: Html = Html.NO_RULES,
) -> Outcome:
    """Return what an entry means at a moment, in a dialect."""
    means = standing(entry, now)
    has_file = means in (Standing.FILE, Standing.STALE_FILE)
    why = entry.why
    if has_file and html is Html.UNREACHABLE and is_page(entry.body):
        # A client with another policy cached it.
        means, has_file, why = Standing.UNREACHABLE, False, HTML_PAGE
    if means is Standing.UNAVAILABLE and entry.unreachable_since is not None:
        why = f"unreachable since {entry.unreachable_since:%Y-%m-%d}: {entry.why}"
    return Outcome(
        origin=entry.origin,
        dialect=dialect,
        robots=parse(dialect.body_of(entry.body, entry.served), dialect) if has_file else None,
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
        entry=entry,
    )

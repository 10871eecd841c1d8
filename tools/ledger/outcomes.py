"""Outcomes of fetching: what each response means after each state of the cache, in each dialect.

Most are tables of responses here; the others are the cases with servers in ``tests/cases/servers``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from urllib.parse import urlsplit

import koster
from koster.access import (
    MAX_BYTES,
    Access,
    Failure,
    FailureKind,
    Outcome,
    Request,
    Response,
    Unreachable,
    coding_failure,
    outcome_of,
)
from koster.conformance._suite import ServerCase, ServerResponse, load
from koster.freshness import Answer as Meaning
from koster.freshness import Entry as CacheEntry
from koster.freshness import fresh_from
from koster.origins import Origin, origin_of

from .check import decision_text
from .entries import Entry, Part, Place, digest_of, entry

_NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
_ORIGIN = origin_of("https://example.com")
_FILE = b"User-agent: *\nDisallow: /private\nSitemap: https://example.com/s.xml\nCrawl-delay: 3"
_URLS = ("/private/x", "/open", "/robots.txt")

Sender = Callable[[Request], Response | Failure]

#: Without 413, 414, 416 and 422, whose phrases differ between versions of Python.
_STATUSES = [
    0, *range(100, 104), *range(200, 209), 226, 299, *range(300, 309), 399, *range(400, 413),
    415, *range(417, 422), *range(423, 432), 444, 451, 499, *range(500, 512), 520, 530, 599,
    600, 999,
]  # fmt: skip
_HEADERS: dict[str, dict[str, str]] = {
    "max-age": {"cache-control": "public, max-age=3600"},
    "long max-age": {"cache-control": "max-age=31536000"},
    "max-age 0": {"cache-control": "max-age=0"},
    "invalid max-age": {"cache-control": "max-age=soon"},
    "max-age and age": {"cache-control": "max-age=3600", "age": "600"},
    "no-store": {"cache-control": "no-store, max-age=3600"},
    "no-cache": {"cache-control": "no-cache"},
    "s-maxage": {"cache-control": "s-maxage=60"},
    "expires": {"expires": "Sat, 21 Nov 2026 14:00:00 GMT"},
    "expired": {"expires": "Sat, 21 Nov 2026 10:00:00 GMT"},
    "invalid expires": {"expires": "0"},
    "expires and date": {
        "expires": "Sat, 21 Nov 2026 14:00:00 GMT", "date": "Sat, 21 Nov 2026 13:00:00 GMT",
    },
    "retry after seconds": {"retry-after": "120"},
    "retry after a date": {"retry-after": "Sat, 21 Nov 2026 15:00:00 GMT"},
    "retry after years": {"retry-after": "999999999"},
    "invalid retry after": {"retry-after": "soon"},
    "validators": {"etag": '"2"', "last-modified": "Sat, 21 Nov 2026 10:00:00 GMT"},
    "unknown coding": {"content-encoding": "utf-8"},
}  # fmt: skip
_BODIES: dict[str, Response] = {
    "empty": Response(200, {}, b""),
    "spaces": Response(200, {}, b" \n\t\n"),
    "byte order mark": Response(200, {}, b"\xef\xbb\xbf" + _FILE),
    "page": Response(
        200, {"content-type": "text/html"}, b"<!DOCTYPE html><html><body>Not found</body></html>"
    ),
    "image": Response(200, {"content-type": "image/png"}, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" * 9),
    "zeros": Response(200, {}, bytes(400)),
    "UTF-16": Response(200, {}, b"\xff\xfe" + _FILE.decode().encode("utf-16-le")),
    "UTF-16 without a mark": Response(200, {}, _FILE.decode().encode("utf-16-le")),
    "UTF-32": Response(200, {}, b"\xff\xfe\0\0" + _FILE.decode().encode("utf-32-le")),
    "Latin-1": Response(
        200, {"content-type": "text/plain; charset=iso-8859-1"}, _FILE + b"\nDisallow: /\xe9"
    ),
    "declared as UTF-16": Response(200, {"content-type": "text/plain; charset=utf-16"}, _FILE),
    "unknown charset": Response(200, {"content-type": "text/plain; charset=x-none"}, _FILE),
    "cut": Response(200, {}, _FILE, is_whole=False),
    "cut within a rule": Response(200, {}, _FILE[:28], is_whole=False),
    "at the limit": Response(200, {}, _FILE + b"\n#" + b"x" * (MAX_BYTES - len(_FILE) - 2)),
    "beyond the limit": Response(
        200, {}, b"#" * (MAX_BYTES - 30) + b"\n" + _FILE + b"\nDisallow: /open"
    ),
    "rules beyond the limit": Response(200, {}, b"#" * MAX_BYTES + b"\n" + _FILE),
}  # fmt: skip
_REDIRECTS: dict[str, dict[str, str]] = {
    "to another path": {"/robots.txt": "/r"},
    "relative": {"/robots.txt": "a/b?c"},
    "to another site": {"/robots.txt": "https://www.example.com/robots.txt"},
    "to HTTP": {"/robots.txt": "http://example.com/robots.txt"},
    "to a fragment": {"/robots.txt": "/r#x"},
    "to itself": {"/robots.txt": "/robots.txt"},
    "in a loop": {"/robots.txt": "/a", "/a": "/b", "/b": "/robots.txt"},
    "without an address": {"/robots.txt": ""},
    "to a mailbox": {"/robots.txt": "mailto:x@example.com"},
    "to an invalid host": {"/robots.txt": "https://exa mple.com/"},
    "to an international host": {"/robots.txt": "https://bücher.example/robots.txt"},
    "to an invalid port": {"/robots.txt": "https://example.com:99999/"},
    **{
        f"{count} in a row": {
            "/robots.txt": "/1", **{f"/{number}": f"/{number + 1}" for number in range(1, count)},
        }
        for count in range(1, 8)
    },
}  # fmt: skip


def _same(reply: Response | Failure, _: Request) -> Response | Failure:
    return reply


def _redirect(targets: dict[str, str], status: int, request: Request) -> Response:
    target = targets.get(urlsplit(request.url).path)
    return Response(200, {}, _FILE) if target is None else Response(status, {"location": target})


def _with_status(status: int) -> Response:
    headers = {"location": "/r"} if status == 302 else {}
    return Response(status, headers, _FILE if 200 <= status < 300 else b"")


def _with_headers(headers: dict[str, str], status: int) -> Response | Failure:
    response = Response(status, headers, _FILE if status == 200 else b"")
    return coding_failure(headers, ("gzip",), response.body) or response


@cache
def _senders() -> dict[str, partial[Response | Failure]]:
    """Return what answers requests, by name."""
    replies: dict[str, Response | Failure] = {
        **{f"status/{status}": _with_status(status) for status in _STATUSES},
        **{f"failure/{kind.value}": Failure(kind, "as tried") for kind in FailureKind},
        **{f"body/{name}": response for name, response in _BODIES.items()},
        **{
            f"headers/{name}, {status}": _with_headers(headers, status)
            for name, headers in _HEADERS.items()
            for status in (200, 304, 404, 429, 503)
        },
    }
    redirects: dict[str, partial[Response | Failure]] = {
        f"redirect/{name}, {status}": partial(_redirect, targets, status)  # type: ignore[misc]
        for name, targets in _REDIRECTS.items()
        for status in (301, 307)
    }
    return {name: partial(_same, reply) for name, reply in replies.items()} | redirects


def _fetched(
    access: Access, origin: Origin, copy: CacheEntry | None, send: Sender, now: datetime
) -> CacheEntry:
    """Return the cache entry after a whole fetch."""
    step: Request | CacheEntry = access.begin(origin, copy)
    while isinstance(step, Request):
        reply = send(step)
        if isinstance(reply, Failure):
            step = access.fail(step, reply, now)
        else:
            step = access.respond(step, reply, now)
    return step


@cache
def _histories() -> dict[str, CacheEntry | None]:
    """Return the states of the cache before a fetch."""
    validators = {"etag": '"1"', "last-modified": "Fri, 20 Nov 2026 12:00:00 GMT"}
    file, missing, failed = (
        _fetched(Access(), _ORIGIN, None, partial(_same, each), _NOW - timedelta(days=1))
        for each in (Response(200, validators, _FILE), Response(404, {}), Response(503, {}))
    )
    days, month = (_NOW - timedelta(days=days) for days in (3, 31))
    return {
        "nothing": None,
        "a file": file,
        "no file": missing,
        "a forbidden file": replace(missing, answer=Meaning.FORBIDDEN),
        "unreachable": replace(failed, unreachable_since=days),
        "stale": replace(file, unreachable_since=days, why="503"),
        "unreachable for long": replace(failed, unreachable_since=month),
        "stale for long": replace(file, unreachable_since=month, why="503"),
    }


def _outcome_text(entry: CacheEntry, outcome: Outcome, dialect: koster.Dialect) -> str:
    state = outcome.reason or ("stale file" if outcome.is_stale else "file")
    lifetime = (outcome.expires - _NOW).total_seconds()
    fresh = (fresh_from(entry, dialect.statuses) - _NOW).total_seconds()
    flags = [name for name in ("is_cut", "is_downgraded") if getattr(outcome, name)]
    return "; ".join(
        [
            f"{state} after {len(outcome.hops)} requests, {outcome.url}",
            *(f"{url} {decision_text(outcome.decide(url, 'FooBot'))}" for url in _URLS),
            f"expires in {lifetime:g} s, fresh from {fresh:g} s",
            *filter(None, (outcome.why, outcome.charset, *flags)),
        ]
    )


def _entries(name: str) -> Iterator[Entry]:
    if name.startswith("servers/"):
        yield from _server_entries(name)
        return
    send = _senders()[name]
    asked = digest_of(repr(send.args))
    for dialect in koster.DIALECTS.values():
        answers, labels = [], []
        for history, copy in _histories().items():
            found = _fetched(Access(dialect.statuses), _ORIGIN, copy, send, _NOW)
            outcome = outcome_of(found, dialect, _NOW)
            answers.append(_outcome_text(found, outcome, dialect))
            lenient = outcome_of(found, dialect, _NOW, Unreachable.ALLOW)
            answers.append(decision_text(lenient.decide(_URLS[0], "FooBot")))
            labels += [f"after {history}", f"after {history}, unreachable sites are allowed"]
        yield entry(Place("outcome", name, dialect.name), [asked], answers, labels)


@cache
def _server_cases() -> dict[str, ServerCase]:
    cases = (case for case in load().cases if isinstance(case, ServerCase))
    return {f"servers/{case.id}": case for case in cases}


def _server_entries(name: str) -> Iterator[Entry]:
    case = _server_cases()[name]
    for dialect in koster.DIALECTS.values():
        answers = list(_answers_of_servers(case, dialect))
        labels = [question.url for step in case.steps for question in step.questions]
        yield entry(
            Place("outcome", name, dialect.name),
            [repr([asdict(step) for step in case.steps])],
            answers,
            labels,
        )


def _answers_of_servers(case: ServerCase, dialect: koster.Dialect) -> Iterator[str]:
    """Yield the decisions about each question; the cache keeps entries between the steps."""
    access = Access(dialect.statuses)
    pages: dict[tuple[str, str], ServerResponse] = {}
    cached: dict[str, CacheEntry] = {}
    for step in case.steps:
        now = _NOW + timedelta(hours=step.hours)
        pages |= {
            (site, path): page for site, some in step.answers.items() for path, page in some.items()
        }
        for question in step.questions:
            url = _filled(question.url)
            origin = origin_of(url)
            copy = cached.get(str(origin))
            if copy is None or now >= copy.expires:
                copy = _fetched(access, origin, copy, partial(_reply, pages), now)
                cached[str(origin)] = copy
            yield decision_text(outcome_of(copy, dialect, now).decide(url, case.agent))


def _filled(text: str) -> str:
    """Return a text with the names of sites replaced, as the runner of the suite does."""
    for site in ("a", "b", "closed"):
        text = text.replace(f"{{{site}}}", f"http://{site}.example")
    return text


def _reply(pages: dict[tuple[str, str], ServerResponse], request: Request) -> Response | Failure:
    """Return what a server of the suite answers."""
    parts = urlsplit(request.url)
    site = (parts.hostname or "").partition(".")[0]
    if site == "closed":
        return Failure(FailureKind.CONNECTION, "refused")
    page = pages.get(
        (site, parts.path + (f"?{parts.query}" if parts.query else "")), ServerResponse(404)
    )
    if page.fault and page.fault != "endless":
        return Failure(FailureKind.NOT_HTTP, page.fault)
    headers = {name.lower(): _filled(value) for name, value in page.headers.items()}
    if page.etag:
        headers["etag"] = page.etag
    if page.etag and page.etag in dict(request.headers).get("If-None-Match", ""):
        return Response(304, headers)
    if page.fault == "endless":
        body = page.body * (MAX_BYTES // max(len(page.body), 1) + 1)
        return Response(page.status, headers, body[: MAX_BYTES + 1], is_whole=False)
    return Response(page.status, headers, page.body)


def _files() -> list[str]:
    return [*_senders(), *_server_cases()]


PART = Part("outcomes", True, _files, _entries)

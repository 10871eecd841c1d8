"""The fetch as a state machine: every response after every cache state, without a network."""

from __future__ import annotations

import gzip
import pickle
import zlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import koster
from koster._charsets import MAX_BYTES
from koster.access import (
    MAX_REDIRECTS,
    Access,
    Failure,
    FailureKind,
    Html,
    Outcome,
    Redirects,
    Request,
    Response,
    Unreachable,
    coding_failure,
    collect_headers,
    outcome_of,
    wants_body,
    with_dialect,
)
from koster.freshness import Answer, Entry
from koster.origins import origin_of

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
ORIGIN = origin_of("https://example.com")
FILE = b"User-agent: *\nDisallow: /private\nSitemap: https://example.com/s.xml\nCrawl-delay: 3"
ACCESS = Access()
TIMEOUT = Failure(FailureKind.TIMEOUT, "no complete response within 10 s")


def as_entry(step: Request | Entry) -> Entry:
    assert isinstance(step, Entry)
    return step


def as_request(step: Request | Entry) -> Request:
    assert isinstance(step, Request)
    return step


def answer(
    status: int, copy: Entry | None = None, access: Access = ACCESS, **headers: str
) -> Entry:
    """Return the cache entry after a single response."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    response = Response(status, fields, FILE if 200 <= status < 300 else b"")
    return as_entry(access.respond(access.begin(ORIGIN, copy), response, NOW))


COPY = answer(200, etag='"1"', last_modified="Fri, 20 Nov 2026 12:00:00 GMT")
HISTORIES = {
    "nothing": None,
    "file": COPY,
    "unavailable": answer(404),
    "forbidden": replace(answer(404), answer=Answer.FORBIDDEN),
    "unreachable": replace(answer(503), unreachable_since=NOW - timedelta(days=3)),
    "stale": replace(COPY, unreachable_since=NOW - timedelta(days=3), why="503"),
    "unreachable for long": replace(answer(503), unreachable_since=NOW - timedelta(days=31)),
    "stale for long": replace(COPY, unreachable_since=NOW - timedelta(days=31)),
}
FILE_STATUSES = ("200", "204", "206", "299")
UNAVAILABLE_STATUSES = (
    "400",
    "401",
    "402",
    "403",
    "404",
    "405",
    "406",
    "408",
    "410",
    "418",
    "421",
    "451",
    "499",
)
FAILURES = ("429", "500", "501", "502", "503", "504", "520", "599", "100", "101", "600", "999", "0",
          "300", "301", "302", "305", "306", "307", "308", "399", "failed")  # fmt: skip


def expected_result(history: str, event: str) -> str:
    """Return the result that RFC 9309 §2.3 requires for a response after a cache state."""
    if event in FILE_STATUSES:
        return "file"
    if event in UNAVAILABLE_STATUSES:
        return "unavailable"
    if event == "304" and history in ("file", "stale", "stale for long"):
        return "file"
    if history.endswith("for long"):
        return "unavailable"
    return "stale" if history in ("file", "stale") else "unreachable"


def outcome_after(history: str, event: str, dialect: koster.Dialect = koster.RFC9309) -> Outcome:
    access = Access(dialect.statuses)
    copy = HISTORIES[history]
    if event == "failed":
        entry = access.fail(access.begin(ORIGIN, copy), TIMEOUT, NOW)
    else:
        entry = answer(int(event), copy, access)
    return outcome_of(entry, dialect, NOW)


def reason_of(outcome: Outcome) -> str:
    if outcome.reason is not None:
        return outcome.reason.value
    return "stale" if outcome.is_stale else "file"


@pytest.mark.parametrize("history", HISTORIES)
def test_every_response_after_every_history(history: str) -> None:
    for event in (*FILE_STATUSES, *UNAVAILABLE_STATUSES, *FAILURES, "304"):
        _check_outcome(history, event)


def _check_outcome(history: str, event: str) -> None:
    outcome = outcome_after(history, event)
    expected = expected_result(history, event)
    assert reason_of(outcome) == expected
    decision = outcome.decide("https://example.com/private/x", "FooBot")
    assert decision.allowed == (expected == "unavailable")
    assert outcome.decide("https://example.com/open", "FooBot").allowed == (
        expected != "unreachable"
    )
    assert decision.reason is (outcome.reason or koster.Reason.RULE)
    assert (decision.rule is None) == (outcome.reason is not None)
    robots_txt = outcome.decide("https://example.com/robots.txt", "FooBot")
    assert robots_txt.allowed
    assert robots_txt.reason is koster.Reason.ROBOTS_TXT
    assert NOW < outcome.expires <= NOW + timedelta(days=1)
    if expected in ("unreachable", "stale") or (
        expected == "unavailable" and event not in UNAVAILABLE_STATUSES
    ):
        assert outcome.unreachable_since is not None
        assert outcome.why
    else:
        assert outcome.unreachable_since is None
    if outcome.reason is not None:
        assert outcome.why in str(decision)


#: How dialects treat statuses: 401 and 403, 404, another 4xx, 429.
STATUS_RESULTS = {
    "RFC9309": ("unavailable", "unavailable", "unavailable", "unreachable"),
    "GOOGLE": ("unavailable", "unavailable", "unavailable", "unreachable"),
    "MK1994": ("forbidden", "unavailable", "unavailable", "unreachable"),
    "MK1996": ("forbidden", "unavailable", "unreachable", "unreachable"),
    "GYM2008": ("forbidden", "unavailable", "unreachable", "unreachable"),
    "EXTENDED2": ("forbidden", "unavailable", "unreachable", "unreachable"),
    "EXTENDED2_1996": ("forbidden", "unavailable", "unreachable", "unreachable"),
}


@pytest.mark.parametrize("name", koster.DIALECTS)
def test_dialects_treat_statuses_differently(name: str) -> None:
    dialect = koster.DIALECTS[name]
    results = [
        reason_of(outcome_after("nothing", event, dialect))
        for event in ("401", "403", "404", "410", "429")
    ]
    forbidden, missing, other, busy = STATUS_RESULTS[name]
    assert results == [forbidden, forbidden, missing, other, busy]
    denied = outcome_after("nothing", "403", dialect).decide("/x", "FooBot")
    assert denied.allowed == (forbidden == "unavailable")
    assert str(denied).endswith("(403 Forbidden)")


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_sets_the_expiry(status: int) -> None:
    assert answer(status, retry_after="7200").expires == NOW + timedelta(hours=2)
    assert answer(status, COPY, retry_after="7200").expires == NOW + timedelta(hours=2)
    # Retry-After never shortens the default delay.
    assert answer(status, retry_after="0").expires == NOW + timedelta(minutes=1)
    assert answer(status, retry_after="nonsense").expires == NOW + timedelta(minutes=1)
    assert answer(status, retry_after="99999999").expires == NOW + timedelta(days=1)
    assert answer(500, retry_after="7200").expires == NOW + timedelta(minutes=1)


# Validators


def test_validators_are_sent_only_to_the_url_of_the_cached_file() -> None:
    both = (("If-None-Match", '"1"'), ("If-Modified-Since", "Fri, 20 Nov 2026 12:00:00 GMT"))
    assert ACCESS.begin(ORIGIN, COPY).headers == both
    elsewhere = replace(COPY, url="https://www.example.com/robots.txt")
    first = ACCESS.begin(ORIGIN, elsewhere)
    assert first.headers == ()
    redirected = ACCESS.respond(first, Response(301, {"location": elsewhere.url}), NOW)
    assert as_request(redirected).headers == both
    assert ACCESS.begin(ORIGIN, answer(404, etag='"1"')).headers == ()


def test_304_refreshes_the_cached_file() -> None:
    later = NOW + timedelta(days=2)
    old = replace(COPY, unreachable_since=NOW)
    response = Response(304, {"cache-control": "max-age=3600", "etag": '"2"'})
    entry = as_entry(ACCESS.respond(ACCESS.begin(ORIGIN, old), response, later))
    assert (entry.body, entry.status, entry.etag) == (COPY.body, 304, '"2"')
    assert entry.last_modified == COPY.last_modified
    assert (entry.fetched, entry.expires) == (later, later + timedelta(hours=1))
    assert entry.unreachable_since is None


def test_304_without_an_etag_keeps_the_cached_etag() -> None:
    entry = answer(304, COPY)
    assert (entry.etag, entry.last_modified) == (COPY.etag, COPY.last_modified)


def test_304_without_validators_is_a_failure() -> None:
    plain = replace(COPY, etag=None, last_modified=None)
    assert reason_of(outcome_of(answer(304, plain), koster.RFC9309, NOW)) == "stale"


@pytest.mark.parametrize("etag", ['"\x00"', "\x80", "é", "x" * 2000, "a\nb", ""])
def test_invalid_validators_are_not_cached(etag: str) -> None:
    assert answer(200, etag=etag, last_modified=etag).etag is None
    assert answer(200, etag=etag, last_modified=etag).last_modified is None


@pytest.mark.parametrize(("length", "is_kept"), [(1, True), (1000, True), (1001, False)])
def test_validators_up_to_a_thousand_characters_are_sent(length: int, is_kept: bool) -> None:
    entry = answer(200, etag="x" * length)
    assert (entry.etag is not None) == is_kept
    assert bool(ACCESS.begin(ORIGIN, entry).headers) == is_kept
    # The hop has the first thousand.
    assert dict(entry.hops[0].headers)["etag"] == "x" * min(length, 1000)


@pytest.mark.parametrize(
    ("size", "is_whole", "is_cut"),
    [(MAX_BYTES, True, False), (MAX_BYTES + 1, True, True), (10, False, True), (10, True, False)],
)
def test_a_file_is_cut_if_it_is_too_large_or_was_not_read_to_its_end(
    size: int, is_whole: bool, is_cut: bool
) -> None:
    response = Response(200, {}, b"#" * (size - 1) + b"\n", is_whole)
    entry = as_entry(ACCESS.respond(ACCESS.begin(ORIGIN), response, NOW))
    assert entry.is_cut == is_cut
    assert outcome_of(entry, koster.RFC9309, NOW).is_cut == is_cut
    assert not outcome_of(replace(entry, answer=Answer.NONE), koster.RFC9309, NOW).is_cut


# Redirects


@pytest.mark.parametrize(
    ("status", "is_redirect"),
    [(299, False), (300, True), (301, True), (399, True), (400, False)],
)
def test_statuses_from_300_to_399_are_redirects(status: int, is_redirect: bool) -> None:
    step = ACCESS.respond(ACCESS.begin(ORIGIN), Response(status, {"location": "/r"}), NOW)
    assert isinstance(step, Request) == is_redirect


def test_hops_keep_how_long_each_request_took() -> None:
    step = ACCESS.respond(ACCESS.begin(ORIGIN), Response(301, {"location": "/r"}), NOW, 1.5)
    entry = as_entry(ACCESS.respond(as_request(step), Response(404, {}), NOW, 2.5))
    assert [hop.seconds for hop in entry.hops] == [1.5, 2.5]
    assert (entry.status, entry.why) == (404, "404 Not Found")
    assert as_entry(ACCESS.fail(ACCESS.begin(ORIGIN), TIMEOUT, NOW)).hops[0].seconds == 0
    assert answer(404).hops[0].seconds == 0


def follow_redirects(*locations: str, last: Response) -> Entry:
    """Return the cache entry after redirects and a last response."""
    step: Request | Entry = ACCESS.begin(ORIGIN)
    for location in locations:
        step = ACCESS.respond(as_request(step), Response(301, {"location": location}), NOW)
        if isinstance(step, Entry):
            return step
    return as_entry(ACCESS.respond(as_request(step), last, NOW))


@pytest.mark.parametrize("count", range(8))
def test_redirect_chains(count: int) -> None:
    entry = follow_redirects(
        *(f"https://r{number}.example/" for number in range(count)), last=Response(200, {}, FILE)
    )
    outcome = outcome_of(entry, koster.RFC9309, NOW)
    assert outcome.origin == "https://example.com"
    if count <= MAX_REDIRECTS:
        assert reason_of(outcome) == "file"
        assert len(outcome.hops) == count + 1
        assert (
            outcome.url
            == (
                [f"https://r{count - 1}.example/"] if count else ["https://example.com/robots.txt"]
            )[0]
        )
    else:
        assert reason_of(outcome) == "unavailable"
        assert outcome.why == "more than 5 redirects"
        assert len(outcome.hops) == MAX_REDIRECTS + 1


@pytest.mark.parametrize("chain", [("/robots.txt",), ("/b", "/robots.txt"), ("/b", "/c", "/b#x")])
def test_redirect_loops(chain: tuple[str, ...]) -> None:
    entry = follow_redirects(*chain, last=Response(200, {}))
    assert entry.answer is Answer.UNAVAILABLE
    assert entry.why == "redirect loop"
    assert len(entry.hops) == len(chain)


@pytest.mark.parametrize(
    "location", ["", "ftp://x/", "http://[bad", "\0", "http://", "x" * 100_000]
)
def test_invalid_redirect_targets(location: str) -> None:
    first = ACCESS.begin(ORIGIN)
    step = ACCESS.respond(first, Response(302, {"location": location}), NOW)
    if location.strip("\0") == "":
        assert as_entry(step).answer is Answer.UNAVAILABLE  # A redirect to itself is a loop.
    else:
        assert as_entry(step).unreachable_since == NOW
    assert as_entry(ACCESS.respond(first, Response(302, {}), NOW)).unreachable_since == NOW


def test_redirect_from_https_to_http_is_marked_as_downgraded() -> None:
    entry = follow_redirects("http://example.com/robots.txt", last=Response(200, {}, FILE))
    assert outcome_of(entry, koster.RFC9309, NOW).is_downgraded
    entry = follow_redirects("https://www.example.com/robots.txt", last=Response(200, {}, FILE))
    assert not outcome_of(entry, koster.RFC9309, NOW).is_downgraded


def test_failure_after_a_redirect_keeps_the_hops() -> None:
    step = ACCESS.respond(ACCESS.begin(ORIGIN, COPY), Response(301, {"location": "/r"}), NOW)
    entry = ACCESS.fail(as_request(step), TIMEOUT, NOW, 10.0)
    assert [hop.status for hop in entry.hops] == [301, None]
    assert entry.hops[-1].why == TIMEOUT.why
    assert entry.hops[-1].seconds == 10.0
    assert entry.body == FILE


# Outcomes


def test_outcome_attributes() -> None:
    outcome = outcome_of(COPY, koster.RFC9309, NOW)
    assert outcome.sitemaps == ("https://example.com/s.xml",)
    assert outcome.crawl_delay("FooBot") == 3
    assert outcome.robots is not None
    assert outcome.robots.body == FILE
    assert outcome.why == ""
    assert outcome.url == "https://example.com/robots.txt"
    assert dict(outcome.hops[0].headers)["etag"] == '"1"'
    unavailable = outcome_of(answer(404), koster.RFC9309, NOW)
    assert (unavailable.sitemaps, unavailable.crawl_delay("FooBot"), unavailable.robots) == (
        (),
        None,
        None,
    )
    assert unavailable.allowed("/x", "FooBot")
    assert not outcome_of(answer(500), koster.RFC9309, NOW).allowed("/x", "FooBot")
    unpickled = pickle.loads(pickle.dumps(outcome))
    assert unpickled.decide("/private", "FooBot") == outcome.decide("/private", "FooBot")


def test_why_after_thirty_days_of_failures() -> None:
    outcome = outcome_after("unreachable for long", "500")
    assert outcome.why == "unreachable since 2026-10-21: 500 Internal Server Error"


def test_a_decision_has_the_url_that_was_asked() -> None:
    outcome = outcome_of(COPY, koster.RFC9309, NOW)
    for url in ("https://example.com/private", "https://example.com/a/../private", "/private"):
        decision = outcome.decide(url, "FooBot")
        assert (decision.allowed, decision.url) == (False, url)
        assert outcome.allowed(url, "FooBot") is False


def test_an_outcome_for_another_dialect_reads_the_file_anew() -> None:
    outcome = outcome_of(COPY, koster.RFC9309, NOW)
    assert with_dialect(outcome, koster.RFC9309) is outcome
    other = with_dialect(outcome, koster.GOOGLE)
    assert other.robots is not None
    assert (other.dialect, other.robots.dialect) == (koster.GOOGLE, koster.GOOGLE)
    assert other.robots.body == FILE
    missing = with_dialect(outcome_of(answer(404), koster.RFC9309, NOW), koster.GOOGLE)
    assert (missing.dialect, missing.robots) == (koster.GOOGLE, None)


def test_google_does_not_always_allow_robots_txt() -> None:
    outcome = outcome_of(answer(500), koster.GOOGLE, NOW)
    assert not outcome.allowed("https://example.com/robots.txt", "FooBot")


def test_only_unreachable_sites_are_allowed_if_the_caller_says_so() -> None:
    unreachable = outcome_of(answer(503), koster.RFC9309, NOW)
    forbidden = outcome_of(HISTORIES["forbidden"], koster.RFC9309, NOW)  # type: ignore[arg-type]
    allowed = [
        replace(outcome, unreachable=each).allowed("/a", "FooBot")
        for outcome in (unreachable, forbidden)
        for each in (Unreachable.ALLOW, Unreachable.DISALLOW)
    ]
    assert allowed == [True, False, False, False]


def test_only_a_file_has_a_charset() -> None:
    entry = replace(COPY, charset="utf-16")
    assert outcome_of(entry, koster.RFC9309, NOW).charset == "utf-16"
    without = replace(entry, answer=Answer.UNAVAILABLE)
    assert outcome_of(without, koster.RFC9309, NOW).charset is None


@pytest.mark.parametrize(
    ("status", "wanted"), [(199, False), (200, True), (299, True), (300, False)]
)
def test_bodies_of_successful_responses_are_read(status: int, wanted: bool) -> None:
    assert wants_body(status) == wanted


# Headers and codings


def test_repeated_headers() -> None:
    pairs = [
        (b"ETag", b"1"),
        (b"etag", b"2"),
        (b"Cache-Control", b"a"),
        (b"cache-control", b"b"),
        (b"X\xff", b"\xff"),
    ]
    assert collect_headers(pairs) == {"etag": "1", "cache-control": "a, b", "x\xff": "\udcff"}


@pytest.mark.parametrize(
    ("coding", "body", "fails"),
    [
        ("", b"\xff", False),
        ("gzip", b"\xff", False),
        ("GZIP , identity", b"\xff", False),
        ("x-unknown", b"\xff", True),
        ("x-unknown", b"\0", True),
        ("utf-8", b"User-agent: *", False),
        ("gzip, aes128gcm", b"\x80", True),
    ],
)
def test_unknown_content_codings(coding: str, body: bytes, fails: bool) -> None:
    failure = coding_failure({"content-encoding": coding}, {"gzip", "identity"}, body)
    assert (failure is not None) == fails


def test_the_failure_names_the_first_unknown_coding() -> None:
    coding = "gzip, " + "x" * 50 + ", other"
    failure = coding_failure({"content-encoding": coding}, {"gzip"}, b"\xff")
    assert failure is not None
    assert failure.kind is FailureKind.ENCODING
    assert failure.why == f"unsupported Content-Encoding {'x' * 40!r}"


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("/s.xml", "https://www.example.com/s.xml"),
        ("s.xml", "https://www.example.com/a/s.xml"),
        ("../s.xml", "https://www.example.com/s.xml"),
        ("//cdn.example/s.xml", "https://cdn.example/s.xml"),
        ("http://Example.COM:80/ä b.xml", "http://example.com/%C3%A4%20b.xml"),
        ("ftp://example.com/s.xml", None),
        ("https://", None),
        ("https://[x/s.xml", None),
    ],
)
def test_sitemaps_are_absolute(value: str, found: str | None) -> None:
    """Relative ones belong to the URL of the file, after redirects."""
    entry = replace(
        COPY, url="https://www.example.com/a/robots.txt", body=f"Sitemap: {value}\n".encode() * 2
    )
    outcome = outcome_of(entry, koster.RFC9309, NOW)
    assert outcome.sitemaps == (() if found is None else (found,))
    assert outcome.robots is not None
    assert outcome.robots.sitemaps == (value, value)
    assert (outcome.guessed_sitemap is None) == (found is not None)


def test_a_sitemap_is_guessed_only_where_it_may_be_fetched() -> None:
    guesses = {
        outcome_of(replace(COPY, answer=answer, body=b""), koster.RFC9309, NOW).reason:
        outcome_of(replace(COPY, answer=answer, body=b""), koster.RFC9309, NOW).guessed_sitemap
        for answer in Answer
    }  # fmt: skip
    guess = f"{COPY.origin}/sitemap.xml"
    assert guesses == {
        None: guess,
        koster.Reason.UNAVAILABLE: guess,
        koster.Reason.FORBIDDEN: None,
        koster.Reason.UNREACHABLE: None,
    }


@pytest.mark.parametrize(
    ("asked", "target", "is_followed"),
    [
        ("https://example.com", "https://www.example.com/robots.txt", True),
        ("https://www.example.com", "http://example.com:81/robots.txt", True),
        ("http://example.com", "https://example.com/robots.txt", True),
        ("https://example.com", "https://notexample.com/robots.txt", False),
        ("https://a.example.com", "https://b.example.com/robots.txt", False),
        ("https://example.com", "https://example.com.evil.example/robots.txt", False),
        ("https://127.0.0.1", "https://7.0.0.1/robots.txt", False),
    ],
)
def test_redirects_can_stay_on_the_same_site(asked: str, target: str, is_followed: bool) -> None:
    response = Response(301, {"location": target})
    for redirects, follows in ((Redirects.ANY_SITE, True), (Redirects.SAME_SITE, is_followed)):
        access = Access(redirects=redirects)
        step = access.respond(access.begin(origin_of(asked)), response, NOW)
        if follows:
            assert isinstance(step, Request)
            assert step.url == target
        else:
            assert isinstance(step, Entry)
            assert step.why == f"redirected to another site: {target}"
            assert outcome_of(step, koster.RFC9309, NOW).reason is koster.Reason.UNREACHABLE


def test_html_pages_can_be_unreachable() -> None:
    page = Response(200, {}, b"<html>")
    for html, reason in ((Html.NO_RULES, None), (Html.UNREACHABLE, koster.Reason.UNREACHABLE)):
        access = Access(html=html)
        entry = access.respond(access.begin(origin_of(COPY.origin)), page, NOW)
        assert isinstance(entry, Entry)
        outcome = outcome_of(entry, koster.RFC9309, NOW)
        assert (outcome.reason, outcome.is_html) == (reason, reason is None)
        # An entry of a client with another policy.
        other = outcome_of(replace(COPY, body=page.body), koster.RFC9309, NOW, html=html)
        assert other.reason is reason


@pytest.mark.parametrize(
    ("body", "compression"),
    [
        (gzip.compress(b"Disallow: /", mtime=0), "gzip"),
        (zlib.compress(b"Disallow: /"), "deflate"),
        (zlib.compress(b"\xff"), None),
        (zlib.compress(b"#" * 100_000), "deflate"),
        (zlib.compress(b"#" * 100_000) + b"\xff", "deflate"),
        (zlib.compress(b"Disallow: /") + b"\xff", None),
        (b"PK\x03\x04\x14\x00", "ZIP"),
        (b"GIF89a\xff", None),
        ("Disallow: /é".encode("latin-1"), None),
        ("Disallow: /é".encode("utf-16"), None),
        (b"BZh is text", None),
    ],
)
def test_compressed_bodies_without_a_coding(body: bytes, compression: str | None) -> None:
    failure = coding_failure({}, {"gzip"}, body)
    assert (None if failure is None else failure.why) == (
        None if compression is None
        else f"response body is compressed with {compression}, but its Content-Encoding does not say so"
    )  # fmt: skip


@given(
    st.lists(
        st.tuples(
            st.integers(-5, 700) | st.sampled_from([200, 301, 304]),
            st.dictionaries(st.sampled_from(["location", "etag", "expires", "retry-after", "content-type"]), st.text()),
            st.binary(),
        ),
        max_size=12,
    )
)  # fmt: skip
def test_any_responses_end_in_an_entry(responses: list[Any]) -> None:
    copy: Entry | None = None
    for status, headers, body in responses:
        step: Request | Entry = ACCESS.begin(ORIGIN, copy)
        requests = 0
        while isinstance(step, Request):
            requests += 1
            step = ACCESS.respond(step, Response(status, headers, body), NOW)
        assert 1 <= requests <= MAX_REDIRECTS + 1
        copy = step
        outcome_of(copy, koster.RFC9309, NOW).decide("https://example.com/x", "FooBot")

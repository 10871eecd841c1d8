"""Freshness of cache entries, outages, and decoding of bodies."""

from __future__ import annotations

import codecs
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import koster
from koster._charsets import MAX_BYTES, declared_charset, to_utf8
from koster._moments import FIRST, LAST
from koster.freshness import (
    Answer,
    Entry,
    Hop,
    Standing,
    expiry,
    fresh_from,
    is_fresh,
    parse_http_date,
    retry_after,
    standing,
    unreachable_entry,
)

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MINUTE, HOUR, DAY = 60, 3600, 86400

#: Response headers, and the lifetime in seconds under RFC 9309 and under MK1996.
LIFETIMES = [
    ({}, DAY, 7 * DAY),
    ({"cache-control": "max-age=3600"}, HOUR, HOUR),
    ({"cache-control": "public, Max-Age = 3600 , must-revalidate"}, HOUR, HOUR),
    ({"cache-control": 'max-age="3600"'}, HOUR, HOUR),
    ({"cache-control": "max-age=3600", "age": "600"}, HOUR - 600, HOUR - 600),
    ({"cache-control": "max-age=3600", "age": "nonsense"}, HOUR, HOUR),
    ({"cache-control": "max-age=604800"}, DAY, 7 * DAY),
    ({"cache-control": "max-age=31536000"}, DAY, 7 * DAY),
    ({"cache-control": "max-age=999999999999999999"}, DAY, 7 * DAY),
    ({"cache-control": "max-age=99999999999999999999999"}, DAY, 7 * DAY),
    ({"cache-control": f"max-age={'9' * 6000}"}, DAY, 7 * DAY),
    ({"cache-control": f"max-age={'0' * 6000}3600"}, HOUR, HOUR),
    ({"cache-control": "max-age=3600", "age": "9" * 6000}, MINUTE, MINUTE),
    ({"cache-control": "max-age=3600", "age": " 600 "}, HOUR - 600, HOUR - 600),
    ({"cache-control": "max-age=\u0663"}, MINUTE, MINUTE),
    ({"expires": "Fri, 31 Dec 10000 00:00:00 GMT"}, DAY, 7 * DAY),
    ({"expires": "Fri, 31 Dec 99999999999 00:00:00 GMT"}, DAY, 7 * DAY),
    ({"expires": "9" * 30}, MINUTE, MINUTE),
    ({"cache-control": "max-age=10"}, MINUTE, MINUTE),
    ({"cache-control": "max-age=0"}, MINUTE, MINUTE),
    ({"cache-control": "max-age=-1"}, MINUTE, MINUTE),
    ({"cache-control": "max-age=soon"}, MINUTE, MINUTE),
    ({"cache-control": "no-store"}, MINUTE, MINUTE),
    ({"cache-control": "no-cache, max-age=3600"}, MINUTE, MINUTE),
    ({"cache-control": "s-maxage=60"}, DAY, 7 * DAY),
    ({"cache-control": ",,;=,"}, DAY, 7 * DAY),
    # RFC 9110 §5.6.7: the three date formats; draft-koster-robots-00 §3.4.
    ({"expires": "Sat, 21 Nov 2026 14:00:00 GMT"}, 2 * HOUR, 2 * HOUR),
    ({"expires": "Sat, 21 Nov 2026 14:00:00 GMT", "age": "600"}, 2 * HOUR - 600, 2 * HOUR - 600),
    ({"expires": "Saturday, 21-Nov-26 14:00:00 GMT"}, 2 * HOUR, 2 * HOUR),
    ({"expires": "Sat Nov 21 14:00:00 2026"}, 2 * HOUR, 2 * HOUR),
    ({"expires": "Tue, 24 Nov 2026 12:00:00 GMT"}, DAY, 3 * DAY),
    # A server whose clock is ten years slow.
    (
        {"expires": "Sat, 21 Nov 2016 14:00:00 GMT", "date": "Sat, 21 Nov 2016 12:00:00 GMT"},
        2 * HOUR,
        2 * HOUR,
    ),
    ({"expires": "Thu, 01 Jan 1970 00:00:00 GMT"}, MINUTE, MINUTE),
    ({"expires": "0"}, MINUTE, MINUTE),
    ({"expires": "-1"}, MINUTE, MINUTE),
    ({"expires": "Sat, 99 Nov 99999 99:99:99 GMT"}, MINUTE, MINUTE),
    ({"expires": "Sat, 21 Nov 2026 14:00:00 GMT", "cache-control": "max-age=60"}, MINUTE, MINUTE),
]


@pytest.mark.parametrize(("headers", "seconds", "mk1996_seconds"), LIFETIMES)
def test_lifetime_of_a_response(headers: dict[str, str], seconds: int, mk1996_seconds: int) -> None:
    statuses = koster.RFC9309.statuses
    assert expiry(headers, NOW, statuses) - NOW == timedelta(seconds=seconds)
    for dialect in (koster.MK1996, koster.GYM2008):
        assert expiry(headers, NOW, dialect.statuses) - NOW == timedelta(seconds=mk1996_seconds)


@pytest.mark.parametrize("longest", [86400, 1e12, 1e300, float("inf")])
@pytest.mark.parametrize("moment", [FIRST, NOW, LAST])
def test_expiry_stays_within_the_range_of_datetime(moment: datetime, longest: float) -> None:
    statuses = replace(koster.RFC9309.statuses, longest=longest, lifetime=longest)
    expires = expiry({}, moment, statuses)
    assert moment <= expires <= LAST
    entry = unreachable_entry("https://example.com", None, (), "down", moment, timedelta(days=1))
    assert moment <= entry.expires <= LAST
    second_failure = unreachable_entry("https://example.com", entry, (), "down", moment)
    assert second_failure.unreachable_since == moment
    for each in (entry, replace(entry, expires=expires, unreachable_since=None)):
        assert FIRST <= fresh_from(each, statuses) <= moment
        assert is_fresh(each, moment, statuses) == (moment < LAST)


@given(st.text(), st.text(), st.text(), st.text())
def test_any_headers_give_a_lifetime_within_bounds(
    control: str, age: str, expires: str, date: str
) -> None:
    headers = {"cache-control": control, "age": age, "expires": expires, "date": date}
    lifetime = expiry(headers, NOW, koster.RFC9309.statuses) - NOW
    assert timedelta(minutes=1) <= lifetime <= timedelta(days=1)
    retry_after(headers | {"retry-after": expires}, NOW)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        ("0", 1),
        (" 7 ", 7),
        ("999999999999", DAY),
        ("9" * 30, DAY),
        ("9" * 6000, DAY),
        ("Fri, 31 Dec 10000 00:00:00 GMT", DAY),
        ("Sat, 21 Nov 2026 12:10:00 GMT", 600),
        ("Sat, 21 Nov 2020 12:10:00 GMT", 1),
        ("Sat, 21 Nov 2040 12:10:00 GMT", DAY),
        ("-5", None),
        ("soon", None),
        ("", None),
        ("1.5", None),
        ("\u0661", None),
    ],
)
def test_retry_after(value: str, seconds: int | None) -> None:
    expected = None if seconds is None else timedelta(seconds=seconds)
    assert retry_after({"retry-after": value}, NOW) == expected
    assert retry_after({}, NOW) is None


def test_retry_after_date_is_relative_to_the_date_header() -> None:
    headers = {
        "retry-after": "Sat, 21 Nov 2020 12:10:00 GMT",
        "date": "Sat, 21 Nov 2020 12:00:00 GMT",
    }
    assert retry_after(headers, NOW) == timedelta(minutes=10)


def entry(answer: Answer = Answer.FILE, **changes: object) -> Entry:
    fields = {
        "origin": "https://example.com", "answer": answer, "url": "https://example.com/robots.txt",
        "hops": (), "status": 200, "why": "", "body": b"Disallow:", "fetched": NOW,
        "expires": NOW + timedelta(days=1),
    }  # fmt: skip
    return Entry(**{**fields, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("hours", "fresh"),
    [(0, True), (23.99, True), (24, False), (24.01, False), (24 * 30, False), (-0.05, True),
     # The clock was set back by more than the usual clock skew.
     (-0.1, False), (-24, False), (-24 * 365, False)],
)  # fmt: skip
def test_entry_is_fresh_until_it_expires(hours: float, fresh: bool) -> None:
    now = NOW + timedelta(hours=hours)
    assert is_fresh(entry(), now, koster.RFC9309.statuses) == fresh


def test_entry_with_a_longer_lifetime_than_the_dialect_allows_is_not_fresh() -> None:
    long_lived = entry(expires=NOW + timedelta(days=7))
    assert not is_fresh(long_lived, NOW, koster.RFC9309.statuses)
    assert is_fresh(long_lived, NOW, koster.MK1996.statuses)


def test_clocks_may_differ_by_five_minutes() -> None:
    earliest = NOW - timedelta(minutes=5)
    assert is_fresh(entry(), earliest, koster.RFC9309.statuses)
    assert not is_fresh(entry(), earliest - timedelta(seconds=1), koster.RFC9309.statuses)


def test_a_site_may_be_tried_again_later_than_its_file_would_expire() -> None:
    statuses = replace(koster.RFC9309.statuses, longest=3600)
    assert not is_fresh(entry(), NOW, statuses)
    assert is_fresh(entry(unreachable_since=NOW), NOW, statuses)


OUTAGE_START = NOW - timedelta(days=1)


@pytest.mark.parametrize(
    ("answer", "since", "expected"),
    [
        (Answer.FILE, None, Standing.FILE),
        (Answer.UNAVAILABLE, None, Standing.UNAVAILABLE),
        (Answer.FORBIDDEN, None, Standing.FORBIDDEN),
        (Answer.FILE, OUTAGE_START, Standing.STALE_FILE),
        (Answer.NONE, OUTAGE_START, Standing.UNREACHABLE),
        (Answer.FILE, NOW - timedelta(days=29, hours=23), Standing.STALE_FILE),
        (Answer.NONE, NOW - timedelta(days=29, hours=23), Standing.UNREACHABLE),
        # RFC 9309 §2.3.1.4: after 30 days, as if there were no file.
        (Answer.FILE, NOW - timedelta(days=30), Standing.UNAVAILABLE),
        (Answer.NONE, NOW - timedelta(days=30), Standing.UNAVAILABLE),
        # The clock was set back.
        (Answer.NONE, NOW + timedelta(days=400), Standing.UNREACHABLE),
    ],
)
def test_standing_of_an_entry(answer: Answer, since: datetime | None, expected: Standing) -> None:
    assert standing(entry(answer, unreachable_since=since), NOW) is expected


def test_unreachable_site_is_retried_with_backoff() -> None:
    delays = []
    cached: Entry | None = None
    now = NOW
    for _ in range(12):
        cached = unreachable_entry("https://example.com", cached, (), "timeout", now)
        delays.append((cached.expires - now).total_seconds())
        assert cached.unreachable_since == NOW
        now = cached.expires
    assert delays == [60, 60, 120, 240, 480, 960, 1920, *([3600] * 5)]


def test_clock_set_back_does_not_extend_an_outage() -> None:
    cached = unreachable_entry("https://example.com", None, (), "timeout", NOW)
    earlier = NOW - timedelta(days=100)
    assert not is_fresh(cached, earlier, koster.RFC9309.statuses)
    second_failure = unreachable_entry("https://example.com", cached, (), "timeout", earlier)
    assert second_failure.unreachable_since == earlier
    assert second_failure.expires == earlier + timedelta(minutes=1)


@pytest.mark.parametrize(("days", "is_same"), [(0, True), (7, True), (7.01, False), (300, False)])
def test_failures_more_than_a_week_apart_are_two_outages(days: float, is_same: bool) -> None:
    first = unreachable_entry("https://example.com", None, (), "timeout", NOW)
    later = first.expires + timedelta(days=days)
    second = unreachable_entry("https://example.com", first, (), "timeout", later)
    assert second.unreachable_since == (NOW if is_same else later)


def test_an_unreachable_entry_has_the_url_and_status_of_the_last_hop() -> None:
    hops = (Hop("https://example.com/a", 301), Hop("https://example.com/b", 503))
    failed = unreachable_entry("https://example.com", None, hops, "status 503", NOW)
    assert (failed.url, failed.status) == ("https://example.com/b", 503)
    failed = unreachable_entry("https://example.com", None, (), "timeout", NOW)
    assert (failed.url, failed.status) == ("https://example.com", None)
    assert not failed.is_cut
    assert hops[0].seconds == 0


def test_of_long_dates_the_first_hundred_characters_are_read() -> None:
    date = "Sun, 06 Nov 1994 08:49:37 GMT"
    moment = datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC)
    assert parse_http_date(date.ljust(100) + "x" * 10_000) == moment
    # A zone at the end of the hundred characters is read, and one character after it is not.
    for end in (99, 100):
        assert parse_http_date(date[:-3].ljust(end - 5) + "-0100") == moment + timedelta(hours=1)


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="Windows has no tzset")
def test_a_date_without_a_zone_is_in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "America/New_York")
        time.tzset()
        found = parse_http_date("Sun, 06 Nov 1994 08:49:37")
    time.tzset()
    assert found == datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC)


def test_outage_keeps_a_cached_file_but_not_a_missing_one() -> None:
    cached = unreachable_entry("https://example.com", entry(etag='"1"'), (), "timeout", NOW)
    assert (cached.body, cached.etag, cached.fetched) == (b"Disallow:", '"1"', NOW)
    unavailable = unreachable_entry(
        "https://example.com", entry(Answer.UNAVAILABLE), (), "timeout", NOW
    )
    assert (unavailable.answer, unavailable.body) == (Answer.NONE, b"")


@pytest.mark.parametrize(
    "date", ["", "0", "Sun, 06 Nov 1994", "99999999999999999999", "\0", "Mon, 31 Feb 2026 00:00:00 GMT"]
)  # fmt: skip
def test_invalid_http_dates(date: str) -> None:
    parsed = parse_http_date(date)
    assert parsed is None or parsed.year <= 2026


# Charsets


TEXT = "User-agent: *\nDisallow: /é\n"


@pytest.mark.parametrize(
    ("body", "charset", "decoded"),
    [
        (TEXT.encode(), None, TEXT),
        (codecs.BOM_UTF8 + TEXT.encode(), "latin-1", "\ufeff" + TEXT),
        # Servers often declare Latin-1 over UTF-8.
        (TEXT.encode(), "iso-8859-1", TEXT),
        (TEXT.encode("latin-1"), "iso-8859-1", TEXT),
        (TEXT.encode("utf-16"), None, TEXT),
        (TEXT.encode("utf-16"), "utf-8", TEXT),
        (codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), None, TEXT),
        (TEXT.encode("utf-32"), None, TEXT),
        (codecs.BOM_UTF32_BE + TEXT.encode("utf-32-be"), None, TEXT),
        # Declared, without a byte order mark. The NULs rule out UTF-8.
        (TEXT.encode("utf-16-le"), "utf-16-le", TEXT),
        ("User-agent: *\nDisallow: /я".encode("koi8-r"), "KOI8-R", "User-agent: *\nDisallow: /я"),
        ("Disallow: /字".encode("gb18030"), "gb2312", "Disallow: /字"),
    ],
)
def test_bodies_are_converted_to_utf_8(body: bytes, charset: str | None, decoded: str) -> None:
    assert to_utf8(body, charset, is_whole=True)[0] == decoded.encode()


@pytest.mark.parametrize("charset", [None, "utf-8", "ascii", "nonsense", "\0", "latin\0-1", "hex", "idna", "punycode",
                                     "undefined", "x" * 10_000, "utf-16", "utf-32", "unicode_escape", "é"])  # fmt: skip
def test_wrong_charset_leaves_the_bytes_unchanged(charset: str | None) -> None:
    body = b"User-agent: *\nDisallow: /\xe9 \xff\n"
    assert to_utf8(body, charset, is_whole=True) == (body, None)


@given(
    st.binary(), st.sampled_from([None, "latin-1", "utf-16", "utf-8", "shift_jis"]), st.booleans()
)
def test_any_bytes_can_be_decoded(body: bytes, charset: str | None, is_whole: bool) -> None:
    koster.parse(to_utf8(body, charset, is_whole)[0])
    koster.parse(to_utf8(codecs.BOM_UTF16_LE + body, charset, is_whole)[0])


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_file_over_the_limit_is_cut_after_a_whole_line(end: bytes) -> None:
    line = b"Disallow: /0123456789" + end
    body = line * (MAX_BYTES // len(line) + 10)
    decoded, _ = to_utf8(body, None, is_whole=True)
    assert decoded == body[: len(decoded)]
    assert MAX_BYTES - len(line) < len(decoded) <= MAX_BYTES
    assert decoded.endswith(end)
    assert to_utf8(b"Disallow: /a\nDisallow: /b", None, is_whole=False)[0] == b"Disallow: /a\n"
    assert to_utf8(b"x" * (MAX_BYTES + 1), None, is_whole=True) == (b"", None)
    assert to_utf8(b"x" * MAX_BYTES, None, is_whole=True)[0] == b"x" * MAX_BYTES


def test_long_utf_16_file_is_cut_between_lines() -> None:
    body = codecs.BOM_UTF16_LE + ("Disallow: /é\n" * 40_000).encode("utf-16-le")
    decoded = to_utf8(body, None, is_whole=True)[0].decode()
    assert set(decoded.splitlines()) == {"Disallow: /é"}
    assert decoded.endswith("\n")


@pytest.mark.parametrize(
    ("content_type", "charset"),
    [
        ("text/plain", None),
        ("text/plain; charset=utf-8", "utf-8"),
        ("", None),
        ("text/plain;CHARSET='x'", "x"),
        ("text/plain; charset=", None),
        (";;=;", None),
        ('a/b; boundary=charset; charset="KOI8-R"; x=y', "KOI8-R"),
    ],
)
def test_declared_charset(content_type: str, charset: str | None) -> None:
    assert declared_charset(content_type) == charset

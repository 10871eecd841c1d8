"""Archives, also broken ones: what can be read is read, the rest is told, with both readers."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import archives
import pytest
from archives import ROBOTS, Fetch, by_hand

from koster.bulk import _warc_reader, warc
from koster.bulk.warc import BadRecord, FetchClass, Record
from koster.errors import KosterError, UnreadableError

pytestmark = pytest.mark.any_mode

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=ISO-8859-1\r\n"
URI = "WARC-Target-URI: https://e.com/robots.txt"
DATE = "WARC-Date: 2026-11-01T00:00:00Z"

Reading = Callable[[bytes], list[Record | BadRecord]]


@pytest.fixture
def read(tmp_path: Path) -> Reading:
    def read_bytes(data: bytes) -> list[Record | BadRecord]:
        path = tmp_path / "robots.warc"
        path.write_bytes(data)
        return list(warc.records(path))

    return read_bytes


def urls(found: list[Record | BadRecord]) -> list[str]:
    return [each.url for each in found if isinstance(each, Record)]


def bad(found: list[Record | BadRecord]) -> list[BadRecord]:
    return [each for each in found if isinstance(each, BadRecord)]


FIVE = [Fetch(f"https://s{number}.com/robots.txt") for number in range(5)]
URLS = [each.url for each in FIVE]


@pytest.mark.parametrize("packed", [True, False])
def test_what_a_record_says(read: Reading, packed: bool) -> None:
    head = {"Content-Type": "text/plain; charset=latin-1"}
    data, offsets = archives.archive([Fetch(URLS[0], headers=head)], gzip=packed)
    assert read(data) == [
        Record(
            url=URLS[0], origin="https://s0.com", crawl="CC-MAIN-2026-45",
            fetched=datetime(2026, 11, 1, 12, tzinfo=UTC), status=200, fetch_class=FetchClass.OK,
            location=None, content_type="text/plain; charset=latin-1", charset="latin-1",
            body=ROBOTS, is_whole=True, offset=offsets[1],
        ),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "headers", "body", "expected"),
    [
        ("200 OK", {}, ROBOTS, "ok"),
        ("200 OK", {"Content-Type": "text/html"}, ROBOTS, "ok"),
        ("200 OK", {"Content-Type": "text/html"}, b"<!doctype html><p>", "wrong type"),
        ("200 OK", {"Content-Type": "application/json"}, b"{}", "wrong type"),
        ("200 OK", {"Content-Type": "application/octet-stream"}, ROBOTS, "ok"),
        ("200 OK", {}, b"\x89PNG\r\n\x1a\n\0\0\0\0", "wrong type"),
        ("206 Partial Content", {}, ROBOTS, "ok"),
        ("301 Moved", {"Location": "/r.txt"}, b"", "redirect"),
        ("302 Found", {"Location": "http://[x/"}, b"", "unreachable"),
        ("302 Found", {}, b"", "unreachable"),
        ("304 Not Modified", {"Location": "/r.txt"}, b"", "unreachable"),
        ("404 Not Found", {}, b"<html>", "unavailable"),
        ("401 Unauthorized", {}, b"", "unavailable"),
        ("429 Too Many Requests", {}, b"", "unreachable"),
        ("500 Oops", {}, b"", "unreachable"),
        ("999 Request denied", {}, b"", "unreachable"),
    ],
)
def test_classes(
    read: Reading, status: str, headers: dict[str, str], body: bytes, expected: str
) -> None:
    data, _ = archives.archive([Fetch(URLS[0], body, status, headers)])
    (found,) = read(data)
    assert isinstance(found, Record)
    assert (found.fetch_class.value, found.status) == (expected, int(status[:3]))
    location = "https://s0.com/r.txt" if expected == "redirect" else None
    assert found.location == location


@pytest.mark.parametrize(
    ("url", "expected", "origin"),
    [
        ("https://E.com:443/robots.txt", "https://e.com/robots.txt", "https://e.com"),
        ("http://e.com:8080/robots.txt#x", "http://e.com:8080/robots.txt", "http://e.com:8080"),
        ("http://bücher.de/a", "http://xn--bcher-kva.de/a", "http://xn--bcher-kva.de"),
        ("http://e.com", "http://e.com/", "http://e.com"),
    ],
)
def test_urls_are_in_one_form(read: Reading, url: str, expected: str, origin: str) -> None:
    (found,) = read(by_hand(OK + b"\r\n" + ROBOTS, f"WARC-Target-URI: {url}", DATE))
    assert isinstance(found, Record)
    assert (found.url, found.origin) == (expected, origin)


def test_other_schemes_are_no_fetches(read: Reading) -> None:
    assert read(by_hand(OK + b"\r\n", "WARC-Target-URI: dns:e.com", DATE)) == []


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (b"", ROBOTS),
        (b"Content-Encoding: gzip\r\n", gzip.compress(ROBOTS, mtime=0)),
        (b"Content-Encoding: deflate\r\n", zlib.compress(ROBOTS)),
        (b"Content-Encoding: gzip\r\n", ROBOTS),
        (b"Content-Encoding: br\r\n", ROBOTS),
        (b"Content-Encoding: utf-8\r\n", ROBOTS),
        (b"Transfer-Encoding: chunked\r\n", b"%x\r\n%b\r\n0\r\n\r\n" % (len(ROBOTS), ROBOTS)),
        (b"Transfer-Encoding: chunked\r\n", ROBOTS),
    ],
)
def test_codings(read: Reading, head: bytes, body: bytes) -> None:
    """A body that is not in its coding is taken as it stands: many archives keep it decoded."""
    (found,) = read(by_hand(OK + head + b"\r\n" + body, URI, DATE))
    assert isinstance(found, Record)
    assert found.body == ROBOTS


def test_brotli() -> None:
    brotli = pytest.importorskip("brotli")
    assert _warc_reader.decode_brotli(brotli.compress(ROBOTS)) == ROBOTS


def test_a_bomb_is_cut(read: Reading) -> None:
    bomb = gzip.compress(b"#" * (warc.MAX_BODY + 1_000))
    (found,) = read(by_hand(OK + b"Content-Encoding: gzip\r\n\r\n" + bomb, URI, DATE))
    assert isinstance(found, Record)
    assert len(found.body) == warc.MAX_BODY
    assert not found.is_whole


def test_what_the_archive_cut_is_not_whole(read: Reading) -> None:
    (found,) = read(by_hand(OK + b"\r\n" + ROBOTS, URI, DATE, "WARC-Truncated: length"))
    assert isinstance(found, Record)
    assert not found.is_whole


def test_an_archive_that_breaks_off(read: Reading) -> None:
    data, offsets = archives.archive(FIVE)
    # Where the response ends and its request begins the archive is whole. Its ids are random, and
    # so is how long they are when compressed.
    response = zlib.decompressobj(zlib.MAX_WBITS | 16)
    response.decompress(data[offsets[3] : offsets[4]])
    between = offsets[4] - len(response.unused_data)
    for size in (*range(offsets[3] + 1, offsets[4], 7), between - 1, between, between + 1):
        found = read(data[:size])
        if size == between:
            assert (urls(found), bad(found)) == (URLS[:3], []), size
            continue
        assert urls(found) in (URLS[:2], URLS[:3])
        assert len(bad(found)) == 1, size
        assert bad(found)[0].offset >= offsets[2]


def test_an_archive_that_breaks_off_between_records_is_whole(read: Reading) -> None:
    data, offsets = archives.archive(FIVE)
    assert bad(read(data[: offsets[3]])) == []


def test_an_archive_in_one_member_is_read_whole_or_told(read: Reading) -> None:
    """As gzip packs a file."""
    data = gzip.compress(archives.archive(FIVE, gzip=False)[0], mtime=0)
    found = read(data)
    assert (urls(found), bad(found)) == (URLS, [])
    for size in range(len(data) // 2, len(data), 7):
        found = read(data[:size])
        assert urls(found) == URLS[: len(urls(found))]
        assert len(bad(found)) == 1, size


def test_broken_bytes_cost_one_record(read: Reading) -> None:
    data, offsets = archives.archive(FIVE)
    middle = offsets[2] + 80
    found = read(data[:middle] + b"\0" * 10 + data[middle + 10 :])
    assert set(URLS) - set(urls(found)) <= {URLS[1]}
    assert len(bad(found)) == 1


def test_junk_between_records(read: Reading) -> None:
    data, offsets = archives.archive(FIVE)
    found = read(data[: offsets[3]] + b"junk \x1f\x8b\x08 junk" + data[offsets[3] :])
    assert urls(found) == URLS
    assert len(bad(found)) == 1


@pytest.mark.parametrize("packed", [True, False])
def test_nothing_between_records_ends_an_archive(read: Reading, packed: bool) -> None:
    data, offsets = archives.archive(FIVE, gzip=packed)
    nothing = gzip.compress(b"") * 3 if packed else b"\r\n\r\n"
    found = read(data[: offsets[3]] + nothing + data[offsets[3] :] + nothing)
    assert (urls(found), bad(found)) == (URLS, [])


@pytest.mark.parametrize("flags", [*range(33), 64, 128, 255])
def test_a_byte_of_a_member_s_head_costs_one_record(tmp_path: Path, flags: int) -> None:
    data, offsets = archives.archive(FIVE)
    changed = bytearray(data)
    changed[offsets[3] + 3] = flags
    path = tmp_path / "robots.warc.gz"
    path.write_bytes(changed)
    found = list(warc.records(path))
    assert set(URLS) - set(urls(found)) <= {URLS[2]}
    assert len(bad(found)) <= 1
    if URLS[2] not in urls(found):
        assert bad(found)


def test_a_request_that_breaks_off_counts_too(read: Reading) -> None:
    whole = by_hand(OK + b"\r\n" + ROBOTS, URI, DATE)
    request = by_hand(b"GET / HTTP/1.1\r\n\r\n", URI, DATE).replace(b": response", b": request")
    for size in range(20, len(request) - 4, 9):
        found = read(whole + request[:size])
        assert (len(urls(found)), len(bad(found))) == (1, 1), size


def test_addresses_in_angle_brackets(read: Reading) -> None:
    """As the grammar of WARC 1.0 shows them, and wget writes them."""
    (found,) = read(by_hand(OK + b"\r\n", "WARC-Target-URI: <https://e.com/robots.txt>", DATE))
    assert isinstance(found, Record)
    assert found.url == "https://e.com/robots.txt"


def test_what_lies_about_its_length_does_not_take_for_ever(read: Reading) -> None:
    lie = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 9999999999\r\n\r\n"
    data = by_hand(OK + b"\r\n" + ROBOTS, URI, DATE) + lie * 5_000
    found = read(data)
    assert len(urls(found)) == 1
    assert bad(found)[-1].why == "too many broken records; the rest of the archive is skipped"
    assert len(bad(found)) < 1_100


def test_junk_before_all_records(read: Reading) -> None:
    found = read(b"junk" + archives.archive(FIVE)[0])
    assert (urls(found), bad(found)) == (URLS, [BadRecord(0, "no record starts here")])


@pytest.mark.parametrize("length", [0, 50, 10_000, 10**12])
def test_wrong_lengths(read: Reading, length: int) -> None:
    block = OK + b"\r\n" + ROBOTS
    wrong = by_hand(block, "WARC-Target-URI: https://wrong.com/robots.txt", DATE, length=length)
    data = by_hand(block, URI, DATE) + wrong + by_hand(block, URI, DATE)
    found = read(data)
    assert [url for url in urls(found) if "wrong" not in url] == ["https://e.com/robots.txt"] * 2
    assert bad(found)


def test_missing_headers(read: Reading) -> None:
    block = OK + b"\r\n" + ROBOTS
    (found,) = read(by_hand(block, DATE))
    assert found in (
        BadRecord(0, "no WARC-Target-URI"),
        BadRecord(0, "a header of it is missing"),
    )
    (found,) = read(by_hand(block, URI))
    assert isinstance(found, Record)
    assert found.fetched is None
    (found,) = read(by_hand(block, URI, "WARC-Date: yesterday"))
    assert isinstance(found, Record)
    assert found.fetched is None
    without = by_hand(block, URI, DATE).replace(b"Content-Length", b"Content-Width", 1)
    found_all = read(without + by_hand(block, URI, DATE))
    assert urls(found_all)[-1:] == ["https://e.com/robots.txt"]
    assert bad(found_all)


@pytest.mark.parametrize(
    "block",
    [b"", b"hello\r\n\r\nworld", b"\0\xff" * 30, b"HTTP/1.1 abc\r\n\r\n", b"ICY 200 OK\r\n\r\n"],
)
def test_garbage_for_http(read: Reading, block: bytes) -> None:
    whole = by_hand(OK + b"\r\n" + ROBOTS, URI, DATE)
    found = read(by_hand(block, URI, DATE) + whole)
    assert bad(found) == [BadRecord(0, "no HTTP status line")]
    assert len(urls(found)) == 1


@pytest.mark.parametrize(
    "data", [b"hello " * 500, gzip.compress(b"hello", mtime=0), b"\x1f\x8b\x08", b"\0"]
)
def test_what_is_no_archive(read: Reading, data: bytes) -> None:
    with pytest.raises(UnreadableError, match=r"robots\.warc: is not a WARC file"):
        read(data)


def test_an_empty_file_has_no_records(read: Reading) -> None:
    assert read(b"") == []


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="No such file"):
        list(warc.records(tmp_path / "gone.warc.gz"))
    with pytest.raises(UnreadableError, match="Is a directory"):
        list(warc.records(tmp_path))


def test_the_crawl_may_stand_in_the_path(tmp_path: Path) -> None:
    path = tmp_path / "CC-MAIN-2025-30" / "robotstxt" / "x.warc.gz"
    archives.write(path, FIVE[:1], None)
    (found,) = warc.records(path)
    assert isinstance(found, Record)
    assert found.crawl == "CC-MAIN-2025-30"


@pytest.mark.parametrize("packed", [True, False])
def test_anything_broken_is_read_or_told(read: Reading, packed: bool) -> None:
    """Any bytes: an archive with some of them changed is read to its end, or is none."""
    data, _ = archives.archive(archives.sites(12), gzip=packed)
    rng = random.Random(5)
    for _ in range(150):
        wrong = bytearray(data)
        for _ in range(rng.randrange(1, 6)):
            at = rng.randrange(len(wrong))
            kind = rng.randrange(3)
            if kind == 0:
                wrong[at] = rng.randrange(256)
            elif kind == 1:
                del wrong[at : at + rng.randrange(40)]
            else:
                wrong[at:at] = rng.randbytes(rng.randrange(40))
        try:
            found = read(bytes(wrong))
        except KosterError:
            continue
        assert len(found) < 60
        assert all(each.why.isprintable() for each in bad(found))

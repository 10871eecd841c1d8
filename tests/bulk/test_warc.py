"""WARC archives, also broken ones: readable records are read, the rest are reported."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from koster.bulk import warc
from koster.bulk.runs import Question
from koster.bulk.warc import BadRecord, FetchClass, Record
from koster.errors import KosterError, UnreadableError
from tests.helpers import archives
from tests.helpers.archives import ROBOTS, Fetch, by_hand
from tests.helpers.bodies import stored_zstd, zstd_dictionary
from tests.helpers.bulk_runs import run_answers

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=ISO-8859-1\r\n"
URI = "WARC-Target-URI: https://e.com/robots.txt"
DATE = "WARC-Date: 2026-11-01T00:00:00Z"

Read = Callable[[bytes], list[Record | BadRecord]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read_bytes(data: bytes) -> list[Record | BadRecord]:
        path = tmp_path / "robots.warc"
        path.write_bytes(data)
        return list(warc.records(path))

    return read_bytes


def urls(records: list[Record | BadRecord]) -> list[str]:
    return [each.url for each in records if isinstance(each, Record)]


def bad(records: list[Record | BadRecord]) -> list[BadRecord]:
    return [each for each in records if isinstance(each, BadRecord)]


FIVE = [Fetch(f"https://s{number}.com/robots.txt") for number in range(5)]
URLS = [each.url for each in FIVE]


@pytest.mark.parametrize("compressed", [True, False])
def test_record_fields(read: Read, compressed: bool) -> None:
    head = {"Content-Type": "text/plain; charset=latin-1"}
    data, offsets = archives.archive([Fetch(URLS[0], headers=head)], gzip=compressed)
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
def test_fetch_classes(
    read: Read, status: str, headers: dict[str, str], body: bytes, expected: str
) -> None:
    data, _ = archives.archive([Fetch(URLS[0], body, status, headers)])
    (record,) = read(data)
    assert isinstance(record, Record)
    assert (record.fetch_class.value, record.status) == (expected, int(status[:3]))
    location = "https://s0.com/r.txt" if expected == "redirect" else None
    assert record.location == location


@pytest.mark.parametrize(
    ("url", "expected", "origin"),
    [
        ("https://E.com:443/robots.txt", "https://e.com/robots.txt", "https://e.com"),
        ("http://e.com:8080/robots.txt#x", "http://e.com:8080/robots.txt", "http://e.com:8080"),
        ("http://bücher.de/a", "http://xn--bcher-kva.de/a", "http://xn--bcher-kva.de"),
        ("http://e.com", "http://e.com/", "http://e.com"),
    ],
)
def test_urls_are_normalized(read: Read, url: str, expected: str, origin: str) -> None:
    (record,) = read(by_hand(OK + b"\r\n" + ROBOTS, f"WARC-Target-URI: {url}", DATE))
    assert isinstance(record, Record)
    assert (record.url, record.origin) == (expected, origin)


def test_other_schemes_are_skipped(read: Read) -> None:
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
def test_content_and_transfer_codings(read: Read, head: bytes, body: bytes) -> None:
    """A body that is not in its declared coding is used as is: many archives store it decoded."""
    (record,) = read(by_hand(OK + head + b"\r\n" + body, URI, DATE))
    assert isinstance(record, Record)
    assert record.body == ROBOTS


def test_decompression_bomb_is_truncated(read: Read) -> None:
    bomb = gzip.compress(b"#" * (warc.MAX_BODY + 1_000))
    (record,) = read(by_hand(OK + b"Content-Encoding: gzip\r\n\r\n" + bomb, URI, DATE))
    assert isinstance(record, Record)
    assert len(record.body) == warc.MAX_BODY
    assert record.is_whole
    assert record.is_cut


def test_record_truncated_by_the_archive_is_not_whole(read: Read) -> None:
    (record,) = read(by_hand(OK + b"\r\n" + ROBOTS, URI, DATE, "WARC-Truncated: length"))
    assert isinstance(record, Record)
    assert record.is_whole is False
    assert (record.fetch_class, record.body) == (FetchClass.UNREACHABLE, ROBOTS)


def test_truncated_archive(read: Read) -> None:
    data, offsets = archives.archive(FIVE)
    # Cut between a response and its request, the archive is valid. The offset varies, as the ids
    # in it are random.
    response = zlib.decompressobj(zlib.MAX_WBITS | 16)
    response.decompress(data[offsets[3] : offsets[4]])
    between = offsets[4] - len(response.unused_data)
    for size in (*range(offsets[3] + 1, offsets[4], 7), between - 1, between, between + 1):
        records = read(data[:size])
        if size == between:
            assert (urls(records), bad(records)) == (URLS[:3], []), size
            continue
        assert urls(records) in (URLS[:2], URLS[:3])
        assert len(bad(records)) == 1, size
        assert bad(records)[0].offset >= offsets[2]


def test_archive_truncated_between_records_is_valid(read: Read) -> None:
    data, offsets = archives.archive(FIVE)
    assert bad(read(data[: offsets[3]])) == []


def test_archive_in_one_gzip_member(read: Read) -> None:
    """The command gzip writes one member."""
    data = gzip.compress(archives.archive(FIVE, gzip=False)[0], mtime=0)
    records = read(data)
    assert (urls(records), bad(records)) == (URLS, [])
    for size in range(len(data) // 2, len(data), 7):
        records = read(data[:size])
        assert urls(records) == URLS[: len(urls(records))]
        assert len(bad(records)) == 1, size


# Zstandard: https://iipc.github.io/warc-specifications/specifications/warc-zstd/

_PLAIN, _STARTS = archives.archive(archives.sites(30), gzip=False)
PARTS = [_PLAIN[start:end] for start, end in pairwise([*_STARTS, len(_PLAIN)])]
DICTIONARY = zstd_dictionary(PARTS * 20)


def skippable(content: bytes, magic: bytes = b"\x5d\x2a\x4d\x18") -> bytes:
    return magic + len(content).to_bytes(4, "little") + content


ZSTANDARD = {
    "frames": b"".join(map(stored_zstd, PARTS)),
    "one frame": stored_zstd(_PLAIN),
    "a dictionary": b"".join(
        [skippable(DICTIONARY.dict_content), *(stored_zstd(each, DICTIONARY) for each in PARTS)]
    ),
    "a compressed dictionary": b"".join([
        skippable(stored_zstd(DICTIONARY.dict_content)),
        *(stored_zstd(each, DICTIONARY) for each in PARTS),
    ]),
    "an unused dictionary": skippable(DICTIONARY.dict_content) + stored_zstd(_PLAIN),
    "a frame that is skipped at the end": stored_zstd(_PLAIN) + skippable(b"table", b"\x5e*M\x18"),
}  # fmt: skip


@pytest.mark.parametrize("data", ZSTANDARD.values(), ids=ZSTANDARD)
def test_zstandard(read: Read, data: bytes) -> None:
    records = read(data)
    assert (urls(records), bad(records)) == (urls(read(_PLAIN)), [])
    plain = [each.body for each in read(_PLAIN) if isinstance(each, Record)]
    assert [each.body for each in records if isinstance(each, Record)] == plain


@pytest.mark.parametrize("name", ["frames", "a dictionary"])
def test_zstandard_that_is_cut(read: Read, name: str) -> None:
    data = ZSTANDARD[name]
    whole = read(data)
    records = read(data[:-20])
    assert urls(records) == urls(whole)[: len(urls(records))]
    assert len(urls(records)) >= 29
    (broken,) = bad(records)
    assert broken.why == "the data after this record is broken: incomplete frame"
    assert broken.offset in [each.offset for each in whole if isinstance(each, Record)][-2:]


@pytest.mark.parametrize("name", ["frames", "a dictionary"])
def test_zstandard_with_a_broken_frame(read: Read, name: str) -> None:
    data = ZSTANDARD[name]
    whole = [each for each in read(data) if isinstance(each, Record)]
    at = whole[10].offset + 8
    records = read(data[:at] + b"WARC/1.0" + data[at + 8 :])
    assert urls(records) == [each.url for each in whole if each is not whole[10]]
    assert len(bad(records)) == 1
    # Many things that look like a frame.
    assert urls(read(data[:at] + b"\x28\xb5\x2f\xfd" * 3_000)) == urls(records)[:10]


def test_a_missing_dictionary_is_one_error(read: Read) -> None:
    why = "it is compressed with a Zstandard dictionary that the file does not have"
    frames = b"".join(stored_zstd(each, DICTIONARY) for each in PARTS)
    assert read(frames) == [BadRecord(0, why)]
    other = zstd_dictionary(PARTS[:20] * 30)
    assert read(skippable(other.dict_content) + frames) == [BadRecord(0, why)]


def test_changed_bytes_lose_one_record(read: Read) -> None:
    data, offsets = archives.archive(FIVE)
    middle = offsets[2] + 80
    records = read(data[:middle] + b"\0" * 10 + data[middle + 10 :])
    assert set(URLS) - set(urls(records)) <= {URLS[1]}
    assert len(bad(records)) == 1


def test_junk_between_records(read: Read) -> None:
    data, offsets = archives.archive(FIVE)
    records = read(data[: offsets[3]] + b"junk \x1f\x8b\x08 junk" + data[offsets[3] :])
    assert urls(records) == URLS
    assert len(bad(records)) == 1


@pytest.mark.parametrize("compressed", [True, False])
def test_empty_data_between_records_is_skipped(read: Read, compressed: bool) -> None:
    data, offsets = archives.archive(FIVE, gzip=compressed)
    empty = gzip.compress(b"") * 3 if compressed else b"\r\n\r\n"
    records = read(data[: offsets[3]] + empty + data[offsets[3] :] + empty)
    assert (urls(records), bad(records)) == (URLS, [])


@pytest.mark.parametrize("flags", [*range(33), 64, 128, 255])
def test_changed_gzip_header_loses_one_record(tmp_path: Path, flags: int) -> None:
    data, offsets = archives.archive(FIVE)
    changed = bytearray(data)
    changed[offsets[3] + 3] = flags
    path = tmp_path / "robots.warc.gz"
    path.write_bytes(changed)
    records = list(warc.records(path))
    assert set(URLS) - set(urls(records)) <= {URLS[2]}
    assert len(bad(records)) <= 1
    if URLS[2] not in urls(records):
        assert bad(records)


def test_truncated_request_is_a_bad_record(read: Read) -> None:
    response = by_hand(OK + b"\r\n" + ROBOTS, URI, DATE)
    request = by_hand(b"GET / HTTP/1.1\r\n\r\n", URI, DATE).replace(b": response", b": request")
    for size in range(20, len(request) - 4, 9):
        records = read(response + request[:size])
        assert (len(urls(records)), len(bad(records))) == (1, 1), size


def test_urls_in_angle_brackets(read: Read) -> None:
    """The grammar of WARC 1.0 has them, and wget writes them."""
    (record,) = read(by_hand(OK + b"\r\n", "WARC-Target-URI: <https://e.com/robots.txt>", DATE))
    assert isinstance(record, Record)
    assert record.url == "https://e.com/robots.txt"


def test_many_wrong_lengths_end_the_archive(read: Read) -> None:
    wrong_length = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 9999999999\r\n\r\n"
    data = by_hand(OK + b"\r\n" + ROBOTS, URI, DATE) + wrong_length * 5_000
    records = read(data)
    assert len(urls(records)) == 1
    assert bad(records)[-1].why == "too many broken records; the rest of the archive is skipped"
    assert len(bad(records)) < 1_100


def test_junk_before_the_first_record(read: Read) -> None:
    records = read(b"junk" + archives.archive(FIVE)[0])
    assert (urls(records), bad(records)) == (URLS, [BadRecord(0, "no record starts here")])


@pytest.mark.parametrize("length", [0, 50, 10_000, 10**12])
def test_wrong_lengths(read: Read, length: int) -> None:
    block = OK + b"\r\n" + ROBOTS
    wrong = by_hand(block, "WARC-Target-URI: https://wrong.com/robots.txt", DATE, length=length)
    data = by_hand(block, URI, DATE) + wrong + by_hand(block, URI, DATE)
    records = read(data)
    assert [url for url in urls(records) if "wrong" not in url] == ["https://e.com/robots.txt"] * 2
    assert bad(records)


def test_missing_headers(read: Read) -> None:
    block = OK + b"\r\n" + ROBOTS
    (record,) = read(by_hand(block, DATE))
    assert record in (
        BadRecord(0, "no WARC-Target-URI"),
        BadRecord(0, "a header of it is missing"),
    )
    (record,) = read(by_hand(block, URI))
    assert isinstance(record, Record)
    assert record.fetched is None
    (record,) = read(by_hand(block, URI, "WARC-Date: yesterday"))
    assert isinstance(record, Record)
    assert record.fetched is None
    without = by_hand(block, URI, DATE).replace(b"Content-Length", b"Content-Width", 1)
    records = read(without + by_hand(block, URI, DATE))
    assert urls(records)[-1:] == ["https://e.com/robots.txt"]
    assert bad(records)


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("2026", "2026-01-01T00:00:00"), ("2026-03", "2026-03-01T00:00:00"),
        ("2026-03-02", "2026-03-02T00:00:00"), ("2026-03-02T12", "2026-03-02T12:00:00"),
        ("2026-03-02T12Z", "2026-03-02T12:00:00"), ("2026-03-02T12:34Z", "2026-03-02T12:34:00"),
        ("2026-03-02T12:34:56Z", "2026-03-02T12:34:56"),
        ("2026-03-02T12:34:56", "2026-03-02T12:34:56"),
        ("2026-03-02T12:34:56.7Z", "2026-03-02T12:34:56.700000"),
        ("2026-03-02T12:34:56.123456Z", "2026-03-02T12:34:56.123456"),
        ("2026-03-02T12:34:56.123456789Z", "2026-03-02T12:34:56.123456"),
        ("2026-03-02T12:34:56+01:00", "2026-03-02T11:34:56"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59.999999"),
        ("9999-12-31T23:59:59.999999999-10:00", "9999-12-31T23:59:59.999999"),
        *((each, None) for each in (
            "", "0000", "26", "2026-13", "2026-02-30", "2026-3-1", "2026-03-02T24Z", "2026-03-02T12:34:61Z",
            "2026Z", "2026-03-02Z", "2026-03-02 12:34:56Z", "20260302123456", "2026-03-02T12:34:56.Z",
            "2026-03-02T12:34:56+99:99", "\u0662026", "today",
        )),
    ],
)  # fmt: skip
def test_dates_of_any_precision(tmp_path: Path, date: str, expected: str | None) -> None:
    """WARC 1.1 allows a year alone, and nanoseconds: ISO 28500 §5.4."""
    moment = None if expected is None else datetime.fromisoformat(f"{expected}+00:00")
    record = by_hand(OK + b"\r\n" + ROBOTS, URI, f"WARC-Date: {date}")
    for name, data in (("a.warc", record), ("a.warc.gz", gzip.compress(record, mtime=0))):
        (tmp_path / name).write_bytes(data)
        (found,) = warc.records(tmp_path / name)
        assert isinstance(found, Record)
        assert found.fetched == moment
        (row,) = run_answers(Question("facts"), tmp_path / name)
        assert row["fetched"] == moment
        assert row["facts"]["rules"] == 1


@pytest.mark.parametrize(
    "block",
    [b"", b"hello\r\n\r\nworld", b"\0\xff" * 30, b"HTTP/1.1 abc\r\n\r\n", b"ICY 200 OK\r\n\r\n"],
)
def test_invalid_http_response_is_a_bad_record(read: Read, block: bytes) -> None:
    response = by_hand(OK + b"\r\n" + ROBOTS, URI, DATE)
    records = read(by_hand(block, URI, DATE) + response)
    assert bad(records) == [BadRecord(0, "no HTTP status line")]
    assert len(urls(records)) == 1


@pytest.mark.parametrize(
    "data", [b"hello " * 500, gzip.compress(b"hello", mtime=0), b"\x1f\x8b\x08", b"\0"]
)
def test_file_that_is_not_an_archive(read: Read, data: bytes) -> None:
    with pytest.raises(UnreadableError, match=r"robots\.warc: is not a WARC file"):
        read(data)


def test_empty_file_has_no_records(read: Read) -> None:
    assert read(b"") == []


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="No such file"):
        list(warc.records(tmp_path / "gone.warc.gz"))
    with pytest.raises(UnreadableError, match="Is a directory"):
        list(warc.records(tmp_path))


def test_crawl_can_be_in_the_path(tmp_path: Path) -> None:
    path = tmp_path / "CC-MAIN-2025-30" / "robotstxt" / "x.warc.gz"
    archives.write(path, FIVE[:1], None)
    (record,) = warc.records(path)
    assert isinstance(record, Record)
    assert record.crawl == "CC-MAIN-2025-30"


@pytest.mark.parametrize("compressed", [True, False])
def test_randomly_changed_archives_are_read_or_an_error(read: Read, compressed: bool) -> None:
    """An archive with random changes is read to its end or rejected."""
    data, _ = archives.archive(archives.sites(12), gzip=compressed)
    rng = random.Random(5)
    for _ in range(150):
        changed = bytearray(data)
        for _ in range(rng.randrange(1, 6)):
            at = rng.randrange(len(changed))
            kind = rng.randrange(3)
            if kind == 0:
                changed[at] = rng.randrange(256)
            elif kind == 1:
                del changed[at : at + rng.randrange(40)]
            else:
                changed[at:at] = rng.randbytes(rng.randrange(40))
        try:
            records = read(bytes(changed))
        except KosterError:
            continue
        assert len(records) < 60
        assert all(each.why.isprintable() for each in bad(records))

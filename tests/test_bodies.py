"""The same body has the same answer in clients, archives and tables: read, or unreachable."""

from __future__ import annotations

import gzip
import io
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import koster
from koster._bodies import Body, BodyReader, decode_body, stored_body
from koster.access import MAX_BYTES, Failure, Response
from koster.bulk import _archives, _scanned
from koster.bulk._batches import BadRecords
from koster.bulk.runs import Question, find_inputs, run
from tests.helpers import wire
from tests.helpers.archives import by_hand
from tests.helpers.bodies import COMPRESSORS, DECODED, FILE, LONG_FILE, READABLE, UNREADABLE, Sent
from tests.helpers.bulk_runs import bulk, rows

WHOLE = dict.fromkeys(READABLE, True) | dict.fromkeys(DECODED) | dict.fromkeys(UNREADABLE, False)
RESPONSES = READABLE | DECODED | UNREADABLE


def record(sent: Sent, *headers: str) -> bytes:
    url = "WARC-Target-URI: https://e.com/robots.txt"
    return by_hand(sent.raw, url, "WARC-Date: 2026-11-01T00:00:00Z", *headers)


def read(*records: bytes) -> tuple[list[dict[str, Any]], BadRecords]:
    """Return the rows of an archive with the bodies as crawlers read them."""
    noted = BadRecords()
    data = b"".join(gzip.compress(each, 1, mtime=0) for each in records)
    found = []
    for batch in _archives.batches_of(io.BytesIO(data), "x.warc.gz", "x", noted):
        bodies = batch.bodies.to_pylist()
        for row, body in zip(batch.passthrough.to_pylist(), bodies, strict=True):
            found.append({**row, "body": body})
    return found, noted


@pytest.fixture(params=["columns", "record by record"])
def _reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param != "columns":
        monkeypatch.setattr(_archives, "scan", lambda *_: iter(()))
    else:
        # All in columns, however many are irregular.
        monkeypatch.setattr(_scanned, "_FEW", 10_000)


@pytest.mark.usefixtures("_reader")
def test_archives() -> None:
    found, noted = read(*map(record, RESPONSES.values()))
    assert {name: row["whole"] for name, row in zip(RESPONSES, found, strict=True)} == WHOLE
    for name, row in zip(RESPONSES, found, strict=True):
        is_read = WHOLE[name] is not False
        assert row["class"] == ("ok" if is_read else "unreachable"), name
        expected = RESPONSES[name].body if name in DECODED else FILE if is_read else None
        assert row["body"] == expected, name
    assert noted.noted == {"unread": len(UNREADABLE), "decoded": len(DECODED)}


@pytest.mark.parametrize("name", READABLE | UNREADABLE)
def test_clients(name: str) -> None:
    with (
        wire.running(wire.sends(RESPONSES[name].raw)) as running,
        koster.RobotsClient("FooBot/1.0", timeout=5) as client,
    ):
        outcome = client.robots(running.url)
    if name in READABLE:
        assert outcome.robots is not None, outcome.why
        assert outcome.robots.body == FILE
    else:
        assert outcome.reason is koster.Reason.UNREACHABLE


#: A response without headers about its coding is all that a table knows.
BODIES = {name: each for name, each in RESPONSES.items() if not each.headers}


@pytest.mark.parametrize("kind", ["binary", "large_binary", "binary_view", "dictionary"])
def test_tables(tmp_path: Path, kind: str) -> None:
    column = pa.array([each.body for each in BODIES.values()], pa.binary())
    if kind == "dictionary":
        column = column.dictionary_encode()
    else:
        column = column.cast(getattr(pa, kind)())
    pq.write_table(pa.table({"body": column}), tmp_path / "robots.parquet")
    path = tmp_path / "robots.parquet"
    questions = {
        "robots": Question("classify", ("FooBot",)),
        "decision": Question("decide", ("FooBot",), ("/private",)),
        "facts": Question("facts"),
    }
    for name, question in questions.items():
        done = run(question, find_inputs([str(path)]), tmp_path / name, 1)
        found = [row[name] is not None for row in rows(tmp_path / name)]
        assert found == [each in READABLE for each in BODIES]
        assert done.bad == found.count(False)
        assert done.shards[0].listed[0] == "row 2: the body is compressed with gzip"


def test_the_command_counts_what_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "robots.warc"
    names = ["plain", "gzip, 25 bytes", "between chunks", "text under gzip"]
    path.write_bytes(b"".join(record(RESPONSES[name]) for name in names))
    arguments = (path, "-a", "FooBot", "--url", "/private", "-o", tmp_path / "out")
    for _ in range(2):
        result = bulk("decide", *arguments)
        assert result.exit_code == 0, result.output
        assert "2 responses whose body is cut or cannot be decoded: unreachable\n" in result.stdout
        assert "1 response stored without the declared coding: read, but " in result.stdout
    decisions = [row["decision"] for row in rows(tmp_path / "out")]
    assert [each["allowed"] for each in decisions] == [False] * 4
    assert [each["reason"] for each in decisions] == ["rule", "unreachable", "unreachable", "rule"]


def test_the_command_counts_revisits_and_resources(tmp_path: Path) -> None:
    path = tmp_path / "robots.warc"
    usual = record(READABLE["plain"])
    revisit, resource = (
        usual.replace(b"WARC-Type: response", b"WARC-Type: " + each)
        for each in (b"revisit", b"resource")
    )
    notes = (
        "2 revisit records: the body is in an earlier crawl\n"
        "1 resource record: a file without the HTTP response, so without a status\n"
    )
    for data, code in ((usual + revisit * 2 + resource, 0), (revisit * 2 + resource, 3)):
        path.write_bytes(data)
        result = bulk("facts", path, "-o", tmp_path / "out")
        assert result.exit_code == code, result.output
        assert notes in result.stdout
    assert "no robots.txt in the inputs" in result.stderr
    assert "revisit" not in bulk("facts", path, "-q", "-o", tmp_path / "out").output


# The limit of RFC 9309


@pytest.mark.usefixtures("_reader")
@pytest.mark.parametrize("size", [MAX_BYTES - 1, MAX_BYTES, MAX_BYTES + 1])
def test_what_is_cut_at_the_limit_is_whole(size: int) -> None:
    is_enough = size >= MAX_BYTES
    body = LONG_FILE[:size]
    cut = record(Sent(body), "WARC-Truncated: length")
    short = record(Sent(body, ("Content-Length: 900000",)))
    chunks = record(Sent(b"f0000\r\n" + body, ("Transfer-Encoding: chunked",)))
    text = record(Sent(body, ("Content-Encoding: gzip",)), "WARC-Truncated: length")
    found, _ = read(cut, short, chunks, text)
    assert [row["whole"] for row in found] == ([True] * 3 + [None] if is_enough else [False] * 4)
    lines = LONG_FILE[: LONG_FILE.rindex(b"\n", 0, MAX_BYTES) + 1]
    assert [row["body"] for row in found] == [lines if is_enough else None] * 4


@pytest.mark.parametrize("coding", COMPRESSORS)
def test_only_the_bytes_within_the_limit_must_be_decodable(coding: str) -> None:
    body = COMPRESSORS[coding](LONG_FILE)
    headers = {"content-encoding": coding.rsplit(maxsplit=1)[-1]}
    broken = body[:-9] + b"\xff" * 9
    for sent in (body, body[:-9], broken):
        reader = BodyReader(200, headers)
        reader.feed(sent)
        response = reader.result()
        found = stored_body(headers, sent, is_cut=False, limit=10**7)
        assert isinstance(response, Response)
        assert isinstance(found, Body)
        assert (response.is_whole, found.is_whole) == (False, True)
        assert found.content[:MAX_BYTES] == response.body == LONG_FILE[:MAX_BYTES]
        assert found.is_cut == (sent is not body)


@pytest.mark.parametrize("size", range(0, len(FILE) + 1, 7))
@pytest.mark.usefixtures("_reader")
def test_a_record_that_is_cut_is_not_whole(size: int) -> None:
    found, _ = read(record(Sent(FILE[:size]), "WARC-Truncated: time"), record(Sent(FILE[:size])))
    assert [row["whole"] for row in found] == [False, True]


# What is text


@pytest.mark.parametrize(
    ("body", "content_type", "is_whole"),
    [
        ("# é\n".encode("latin-1") * 9, "", False),
        ("# é\n".encode("latin-1") * 9, "text/plain; charset=iso-8859-1", None),
        (b"# \x81\n" * 9, "text/plain; charset=iso-8859-1", False),
        (b"# \x00\n" * 9, "text/plain; charset=iso-8859-1", False),
        (FILE.decode().encode("utf-16"), "", None),
        (FILE.decode().encode("utf-16") + b"\n", "", False),
        (b"# \x00\n" * 9, "", False),
        (b"#\xff" * 9, "text/plain; charset=x", False),
        (b"BZh is text", "", None),
        (b"short", "", False),
    ],
)
def test_text_that_is_not_in_its_coding(
    body: bytes, content_type: str, is_whole: bool | None
) -> None:
    headers = {"content-encoding": "deflate", "content-type": content_type}
    found = stored_body(headers, body, is_cut=False, limit=MAX_BYTES)
    assert (found.is_whole if isinstance(found, Body) else False) is is_whole


def test_text_that_begins_like_a_stream_is_text() -> None:
    """Raw deflate has no magic number: many bytes of ASCII begin a stream."""
    for first in range(32, 127):
        text = bytes([first]) * 3 + FILE
        for coding in ("deflate", "br"):
            found = decode_body({"content-encoding": coding}, text, limit=MAX_BYTES)
            assert found == Body(text, None), first


@given(
    st.dictionaries(
        st.sampled_from(
            ["content-encoding", "transfer-encoding", "content-length", "content-type"]
        ),
        st.sampled_from([*COMPRESSORS, "zstd", "chunked", "x", "gzip, br", "10", "-1", "9" * 30])
        | st.text(),
    ),
    st.binary() | st.sampled_from([each.body for each in RESPONSES.values()]),
    st.integers(0, 80),
    st.booleans(),
)
def test_any_body_is_read_or_not(
    headers: dict[str, str], body: bytes, place: int, is_cut: bool
) -> None:
    changed = body[:place] + b"\0" + body[place:]
    for each in (body, changed, body[place:], body[:place]):
        found = stored_body(headers, each, is_cut=is_cut, limit=MAX_BYTES)
        assert isinstance(found, Failure) or found.is_whole is not False
        assert isinstance(found, Failure) or not is_cut


HOSTILE: list[tuple[bytes, bool | None]] = [
    (b"0\r\n" + b"x: y\r\n" * 10**6, False),
    (b"1;" + b"x" * 10**6, False),
    (b"6\r\naaaaaa\r\n" * 10**5, True),
    (b"f" * 10**6 + b"\r\n", None),
    (b"0" * 16 + b"\t" * 10**6, False),
    (b"0" * 16 + b"\t" * 10**6 + b"x", None),
    (b"fffffffffffffff\r\n" + FILE, False),
]


@pytest.mark.parametrize(("body", "is_whole"), HOSTILE, ids=range(len(HOSTILE)))
def test_chunks_take_linear_time(body: bytes, is_whole: bool | None) -> None:
    headers = {"transfer-encoding": "chunked"}
    start = time.monotonic()
    found = stored_body(headers, body, is_cut=False, limit=10**7)
    assert (found.is_whole if isinstance(found, Body) else False) is is_whole
    assert time.monotonic() - start < 1

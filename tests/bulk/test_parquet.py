"""Parquet input: memory use, writers and encodings, page headers, and long cells."""

from __future__ import annotations

import io
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import koster
from koster._cli.root import koster as command
from koster._engine.document import MAX_PARSED_BYTES
from koster.bulk import _inputs, _pages, _parquet, _reading, runs
from koster.bulk._batches import BadRecords, Batch, WrongColumnsError
from koster.bulk.runs import Columns, Question
from koster.errors import UnreadableError

RULES = b"User-agent: *\nDisallow: /a\n"


def batches(path: Path) -> list[Batch]:
    (input_,) = _inputs.find([str(path)])
    return list(_reading.batches(input_, Columns(), BadRecords()))


def bodies_in(path: Path) -> list[bytes]:
    values: list[bytes] = []
    for each in batches(path):
        bodies = each.bodies
        plain = bodies.dictionary_decode() if pa.types.is_dictionary(bodies.type) else bodies
        values += plain.cast(pa.large_binary()).to_pylist()
    return values


def test_columns_of_all_text_types_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    types = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.binary_view())
    columns = {str(type_): pa.array(["a", "b"]).cast(type_) for type_ in types}
    pq.write_table(pa.table({"body": pa.array([RULES] * 2, pa.binary_view())} | columns), path)
    (batch,) = batches(path)
    assert {name: batch.passthrough[name].type for name in columns} == dict(
        zip(columns, types, strict=True)
    )
    assert bodies_in(path) == [RULES] * 2


# Memory.

_RUN_SCRIPT = """
import re, sys
from koster.bulk import runs
kinds = sys.argv[1].split(",")
for path in sys.argv[2:]:
    for kind in kinds:
        question = runs.Question(kind, ("GPTBot",) if kind == "classify" else ())
        done = runs.run(question, runs.find_inputs([path]), path + kind + ".out", 1)
        assert not done.failed, done.failed
    print(re.search("VmHWM:\\\\s+(\\\\d+)", open("/proc/self/status").read())[1])
"""


def peaks_of_memory(kinds: str, *paths: Path) -> list[int]:
    """Return the peak memory after runs on each file in a process of their own, in bytes."""
    arguments = [sys.executable, "-c", _RUN_SCRIPT, kinds, *map(str, paths)]
    process = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return [int(each) * 1024 for each in process.stdout.split()]


on_linux = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="needs /proc, which only Linux has"
)


@on_linux
@pytest.mark.thorough
def test_memory_for_one_long_cell_is_bounded(tmp_path: Path) -> None:
    """Reading and parsing it take less than eight times its size, in runs of either kind."""
    small, large = tmp_path / "small.parquet", tmp_path / "large.parquet"
    cell = RULES + b"#" + os.urandom(30_000_000).hex().encode() + b"\n"
    pq.write_table(pa.table({"body": [RULES]}), small)
    pq.write_table(pa.table({"body": pa.array([cell], pa.large_binary())}), large)
    before, peak = peaks_of_memory("classify,facts", small, large)
    assert peak - before < 6.5 * len(cell)


@pytest.mark.thorough
@on_linux
def test_memory_does_not_grow_with_the_row_group(tmp_path: Path) -> None:
    """All bodies differ, so that they do not fit in one dictionary."""
    # So long that no text is found again in the window of the compression.
    noise = os.urandom(2_000_000).hex().encode()
    begins = [n * 6_007 % 3_990_000 for n in range(40_000)]
    paths = []
    for count in (10_000, 40_000):
        paths.append(tmp_path / f"{count}.parquet")
        bodies = [
            RULES + b"# %d " % n + noise[begin : begin + 6_000]
            for n, begin in enumerate(begins[:count])
        ]
        pq.write_table(pa.table({"body": pa.array(bodies, pa.binary())}), paths[-1])
        assert pq.read_metadata(paths[-1]).num_row_groups == 1
    # The bodies are 60 MB and 240 MB.
    peaks = peaks_of_memory("classify", *paths)
    assert peaks[1] - peaks[0] < 60e6


def test_pages_over_the_unpacked_limit_are_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the file and the limit; nothing is unpacked, and other files are read."""
    (tmp_path / "in").mkdir()
    good, bad = tmp_path / "in" / "a.parquet", tmp_path / "in" / "b.parquet"
    pq.write_table(pa.table({"body": [RULES]}), good)
    pq.write_table(pa.table({"body": [RULES + b"#" * 2_000_000], "k": ["x"]}), bad)
    assert bad.stat().st_size < 200_000
    assert _parquet.MAX_UNPACKED == 256 << 20
    monkeypatch.setattr(_parquet, "MAX_UNPACKED", 1_000_000)
    result = CliRunner().invoke(
        command, ["bulk", "classify", str(tmp_path / "in"), "-aX", "-j1", "-o", str(tmp_path / "o")]
    )
    assert result.exit_code == 3
    assert re.search(
        r"b\.parquet: its largest pages unpack to 2,000,\d\d\d bytes; the limit is 1,000,000"
        r"\. Write it with smaller pages or shorter cells\n",
        result.stderr,
    )
    assert "1 answer from 1 input" in result.stdout


def test_unpacked_limit_covers_all_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    columns = {f"k{n}": ["x" * 200_000] for n in range(6)}
    pq.write_table(pa.table({"body": [RULES]} | columns), path)
    monkeypatch.setattr(_parquet, "MAX_UNPACKED", 1_000_000)
    with pytest.raises(UnreadableError, match=r"unpack to 1,2\d\d,\d\d\d bytes"):
        batches(path)
    monkeypatch.setattr(_parquet, "MAX_UNPACKED", 1_300_000)
    assert len(batches(path)) == 1


def test_partly_dictionary_encoded_column_is_read_in_small_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values after a repeated long text no longer fit in the dictionary."""
    monkeypatch.setattr(_parquet, "_MAX_BYTES", 200_000)
    path = tmp_path / "a.parquet"
    bodies = [RULES + b"#" * 10_000] * 1_000 + [RULES + b"# %d" % n for n in range(3_000)]
    table = pa.table({"body": pa.array(bodies, pa.binary())})
    pq.write_table(table, path, dictionary_pagesize_limit=11_000)
    with path.open("rb") as file:
        (column,) = _pages.columns(file, pq.read_metadata(path).row_group(0))
    assert _pages.DICTIONARY_ENCODINGS & set(column.encodings)
    assert set(column.encodings) - _pages.DICTIONARY_ENCODINGS
    results = batches(path)
    assert max(len(each.bodies) for each in results) <= 20
    assert bodies_in(path) == bodies


@pytest.mark.parametrize("type_", [pa.binary(), pa.dictionary(pa.int32(), pa.string())], ids=str)
def test_long_text_of_a_dictionary_is_read_in_small_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, type_: pa.DataType
) -> None:
    """A row takes a few bits of the file."""
    monkeypatch.setattr(_parquet, "_MAX_BYTES", 200_000)
    path = tmp_path / "a.parquet"
    bodies = [RULES + b"#" * 10_000, RULES] * 2_000
    pq.write_table(pa.table({"body": pa.array(bodies, pa.binary()).cast(type_)}), path)
    assert path.stat().st_size < 20_000
    assert max(len(each.bodies) for each in batches(path)) <= 20
    assert bodies_in(path) == bodies


def test_short_texts_of_a_large_dictionary_are_read_in_large_batches(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    rng = random.Random(1)
    texts = [RULES + b"# %d" % n for n in range(9_000)]
    bodies = [rng.choice(texts) for _ in range(20_000)]
    pq.write_table(pa.table({"body": pa.array(bodies, pa.binary())}), path)
    assert len(batches(path)) < 20
    assert bodies_in(path) == bodies


# Files from several writers.

_TABLE = pa.table({
    "id": pa.array(range(3_000)),
    "body": pa.array([None if n % 7 == 0 else RULES + b"# %d" % (n % 1_100) for n in range(3_000)],
                     pa.binary()),
    "url": [f"/{n}é" for n in range(3_000)],
    "tags": [["a", None, "b"][: n % 4] for n in range(3_000)],
})  # fmt: skip


def _with_arrow(**options: Any) -> Any:
    return lambda path: pq.write_table(_TABLE, path, row_group_size=1_300, **options)


def _with_duckdb(path: Path) -> None:
    source = _TABLE
    duckdb.sql("COPY (FROM source) TO '" + str(path) + "' (FORMAT parquet)")
    del source


WRITERS = {
    "plain": _with_arrow(use_dictionary=False),
    "dictionary": _with_arrow(),
    "short dictionary": _with_arrow(dictionary_pagesize_limit=10_000),
    "version 2": _with_arrow(data_page_version="2.0", version="2.6"),
    "small pages": _with_arrow(data_page_size=100, write_batch_size=10, compression="none"),
    "zstd": _with_arrow(compression="zstd", write_page_index=True, write_page_checksum=True),
    "delta lengths": _with_arrow(
        use_dictionary=False,
        column_encoding={"body": "DELTA_LENGTH_BYTE_ARRAY", "url": "DELTA_LENGTH_BYTE_ARRAY"},
    ),
    "duckdb": _with_duckdb,
    "polars": lambda path: pl.from_arrow(_TABLE).write_parquet(path),  # type: ignore[union-attr]
}


@pytest.mark.parametrize("name", WRITERS)
def test_files_of_every_writer_are_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.parquet"
    WRITERS[name](path)
    assert bodies_in(path) == _TABLE["body"].to_pylist()
    passthrough = pa.Table.from_batches([each.passthrough for each in batches(path)])
    assert passthrough["url"].to_pylist() == _TABLE["url"].to_pylist()
    assert passthrough["tags"].to_pylist() == _TABLE["tags"].to_pylist()


@pytest.mark.parametrize("name", WRITERS)
def test_page_headers_agree_with_the_footer(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.parquet"
    WRITERS[name](path)
    metadata = pq.read_metadata(path)
    with path.open("rb") as file:
        for number in range(metadata.num_row_groups):
            for index in range(metadata.num_columns):
                column = metadata.row_group(number).column(index)
                pages = list(_pages.pages(file, column))
                assert sum(page.values for page in pages) == column.num_values
                # The sizes in the footer include the page headers.
                packed = sum(page.packed for page in pages)
                assert 0 <= column.total_compressed_size - packed < 200 * len(pages)
                unpacked = sum(page.unpacked for page in pages)
                assert 0 <= column.total_uncompressed_size - unpacked < 200 * len(pages)


def test_delta_byte_array_encoding_is_rejected(tmp_path: Path) -> None:
    """A page of a few bytes can hold gigabytes of text with a common prefix."""
    path = tmp_path / "a.parquet"
    table = pa.table({"body": ["#" * 100_000 + str(n) for n in range(100)]})
    encoding = {"body": "DELTA_BYTE_ARRAY"}
    pq.write_table(table, path, use_dictionary=False, column_encoding=encoding)
    assert path.stat().st_size < 200_000
    with pytest.raises(UnreadableError, match="column 'body' has the unsupported encoding DELTA"):
        batches(path)


# Crafted page headers.


def varint(number: int) -> bytes:
    raw_bytes = bytearray()
    while number > 0x7F:
        raw_bytes.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*raw_bytes, number])


def zigzag(number: int) -> bytes:
    return varint(number * 2 if number >= 0 else -number * 2 - 1)


def header(unpacked: int, packed: int = 0, values: int = 1) -> bytes:
    """Build the header of a data page."""
    sizes = b"".join(b"\x15" + zigzag(each) for each in (0, unpacked, packed))
    return sizes + b"\x2c" + b"\x15" + zigzag(values) + b"\x15" + zigzag(0) + b"\0" + b"\0"


def read_page_header(raw_bytes: bytes) -> _pages.Page:
    return _pages.read_page(io.BytesIO(raw_bytes), 0)


# Optional fields: a checksum, and statistics.
_CHECKSUM = b"\x15" + zigzag(-5)
_STATISTICS = b"\x1c" + b"\x18\x03max" + b"\x18\x01a" + b"\x16\x02" + b"\x16\x02" + b"\x31" + b"\0"


def test_page_header_with_optional_fields() -> None:
    expected = _pages.Page(0, 17, 123_456_789, 3, 0)
    usual = header(123_456_789, 17, 3)
    assert read_page_header(usual) == expected
    data = b"\x1c" + b"\x15" + zigzag(3) + b"\x15\0" + b"\x15\0\x15\0"
    start = usual[: usual.index(b"\x2c")]
    assert read_page_header(start + _CHECKSUM + data + _STATISTICS + b"\0\0") == expected
    version_2 = (
        b"\x15" + zigzag(3) + b"\x15" + zigzag(9) + b"\x15" + zigzag(8)
        + b"\x5c" + b"".join(b"\x15" + zigzag(each) for each in (7, 1, 7, 8, 0, 2)) + b"\x11"
        + _STATISTICS + b"\0\0"
    )  # fmt: skip
    assert read_page_header(version_2) == _pages.Page(3, 8, 9, 7, 8)


@pytest.mark.parametrize(
    "raw_bytes",
    [
        b"", b"\x15", b"\x15\0", b"\x1c" * 100, b"\x15\0" + b"\xf1" * 20_000,
        b"\x15" + b"\xff" * 20_000, b"\x18\xff\xff\xff\xff\x07",
        # Arrow reads the last value of a number that is repeated, and cuts it to 32 bits; the
        # numbers of fields to 16 bits.
        header(1)[:-1] + b"\x05" + zigzag(2) + zigzag(500) + b"\0",
        header(1, 0, (1 << 32) + 1), header(1)[:-1] + b"\xf1" * 4_369 + b"\x05\x04\x02\0",
        # A double, a list, a set, a map, a byte, and an unknown type.
        *(header(1)[:-1] + bytes([0x10 + kind]) + b"\x01" * 9 + b"\0" for kind in (3, 7, 9, 10, 11, 15)),
    ],
)  # fmt: skip
def test_unusual_page_header_is_an_error(raw_bytes: bytes) -> None:
    """So that no page is read that was not checked."""
    with pytest.raises(ValueError, match="page header at byte 0"):
        read_page_header(raw_bytes)


def test_broken_files_are_read_or_an_error(tmp_path: Path) -> None:
    """A file with random bytes changed is read, or the error names it."""
    rng = random.Random(1)
    path = tmp_path / "a.parquet"
    _with_arrow(compression="none")(path)
    data = path.read_bytes()
    messages: list[str] = []
    for _ in range(150):
        raw_bytes = bytearray(data)
        for _ in range(rng.randrange(1, 40)):
            raw_bytes[rng.randrange(len(raw_bytes) - 8)] = rng.randrange(256)
        path.write_bytes(raw_bytes)
        try:
            batches(path)
        except (UnreadableError, WrongColumnsError) as error:
            messages.append(str(error))
    assert messages
    assert not [each for each in messages if str(path) not in each]


# Cells longer than the parsed part.


@pytest.mark.parametrize(
    ("name", "padding"),
    [
        ("a.jsonl", "x"),
        *(pytest.param(*each, marks=pytest.mark.thorough) for each in (
            ("a.parquet", ""), ("a.parquet", "x"), ("a.jsonl", ""), ("a.csv", ""), ("a.csv", "x"))),
    ],
)  # fmt: skip
def test_long_cells_are_cut_to_the_parsed_part(tmp_path: Path, name: str, padding: str) -> None:
    long = RULES.decode() + "#" + padding + "é" * (MAX_PARSED_BYTES // 2) + "\nDisallow: /b\n"
    cells = [RULES.decode(), long, None, long, RULES.decode() * 2]
    path = tmp_path / name
    table = pl.DataFrame({"body": cells, "url": ["/a", "/b", "/", "/a", "/a"]})
    {  # type: ignore[operator]
        ".parquet": table.write_parquet,
        ".jsonl": table.write_ndjson,
        ".csv": table.write_csv,
    }[path.suffix](path)
    cut = bodies_in(path)
    # Longer than the parsed part, and cut between characters.
    assert len(cut[1]) == len(cut[3]) in (MAX_PARSED_BYTES + 1, MAX_PARSED_BYTES + 2)
    assert long.startswith(cut[1].decode("utf-8"))
    for kind, question in (
        ("decide", Question("decide", ("GPTBot",), columns=Columns(url="url"))),
        ("facts", Question("facts")),
    ):
        result = runs.run(question, runs.find_inputs([str(path)]), tmp_path / kind, 1)
        assert not result.failed
    decisions = pq.read_table(tmp_path / "decide")["decision"].to_pylist()
    parsed = [koster.parse(each or "") for each in cells]
    expected = [
        robots.allowed(url, "GPTBot") for robots, url in zip(parsed, table["url"], strict=True)
    ]
    not_null = [number for number, each in enumerate(decisions) if each is not None]
    assert [decisions[n]["allowed"] for n in not_null] == [expected[n] for n in not_null]
    facts = pq.read_table(tmp_path / "facts")["facts"].to_pylist()
    size = len(long.encode())
    assert [each and each["bytes"] for each in facts][:2] == [len(RULES), size]
    assert facts[3]["bytes"] == size
    assert facts[1]["findings"] == ["too-large"]

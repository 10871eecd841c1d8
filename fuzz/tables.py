"""A Parquet, CSV or JSON lines file with any damage is read, or unreadable; whole, it has its rows."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from koster.bulk import _inputs as inputs
from koster.bulk import _reading, kernel
from koster.bulk._batches import BadRecords, Columns, Input
from koster.errors import KosterError

from ._damage import damaged
from ._tables import spread

_folder = Path(tempfile.mkdtemp(prefix="koster-fuzz-"))

_BODIES = (
    "User-agent: *\nDisallow: /private\n", "", None, "é\udcff", 'quoted "text", with\tall\r\n',
    "User-agent: GPTBot\nDisallow: /\n", "a" * 3000, "\0", "\ufeffAllow: /", "1", "null", "-",
    "User-agent: *\nAllow: /\n" * 30, "User-agent: *\nDisallow: /private\n", "{}", "\n",
)  # fmt: skip
_URLS = ("/private", "https://e.com/a", "", None, "é", "//x", "/a?b", "5")

#: Pieces of CSV and of JSON lines.
_CSV = spread(
    (1, [b",", b"\n", b'"', b"\r\n", b"body", b"url", b"a", b"\t", b'""', b"\r", b"\0", b"\xff"]),
    (
        1,
        [
            b"body,url\n",
            b"x,/a\n",
            b'"Allow: /\nDisallow: /b",/b\n',
            b",,,\n",
            b"\xef\xbb\xbf",
            b" ",
        ],
    ),
)
_JSON = spread(
    (
        1,
        [
            b'{"body": "Allow: /"}\n',
            b'{"body": 5}\n',
            b'{"body": null, "url": "/a"}\n',
            b"{}\n",
            b"\n",
        ],
    ),
    (
        1,
        [
            b'{"body": "\\ud800"}\n',
            b'{"body": "x", "a": [1, {"b": NaN}]}\n',
            b"[1]\n",
            b'{"body"',
            b": ",
        ],
    ),
    (
        1,
        [
            b"}",
            b"]",
            b'"',
            b"[" * 90,
            b'{"a":' * 90,
            b"\\",
            b"1e999",
            b"\xff",
            b"\0",
            b'{"\\ud800": 1,',
        ],
    ),
)


def check(data: bytes) -> None:
    """Check one input."""
    source = iter(data)
    kind, choice = next(source, 0), next(source, 0)
    if kind < 40:
        _check_whole(source, choice)
    elif kind < 150:
        rows = _rows(next(source, 0) & 63)
        _read("a.parquet", damaged(_parquet(rows, choice), source))
    elif kind < 190:
        name = ("a.csv", "a.tsv", "a.csv.gz", "a.csv")[choice & 3]
        _read(name, b"body,url\n" + b"".join(_CSV[each] for each in source))
    elif kind < 230:
        name = ("a.jsonl", "a.json", "a.ndjson.bz2", "a.jsonl")[choice & 3]
        _read(name, b"".join(_JSON[each] for each in source))
    else:
        _read(("a.parquet", "a.csv", "a.jsonl", "a.csv.zst")[choice & 3], bytes(source))


Rows = tuple[tuple[str | None, str | None], ...]


def _rows(number: int) -> Rows:
    """Return the rows of a table: few different ones, so that files are written once."""
    bodies, urls = len(_BODIES), len(_URLS)
    return tuple(
        (_BODIES[(number + row * 5) % bodies], _URLS[(number * 3 + row) % urls])
        for row in range(number % 7)
    )


def _check_whole(source: Iterator[int], choice: int) -> None:
    """Check that a file without damage has the rows that were written."""
    rows = _rows(next(source, 0))
    number = next(source, 0) % 3
    name, content = (
        ("a.parquet", _parquet(rows, choice)),
        ("a.csv", _csv(rows)),
        ("a.jsonl", _json_lines(rows)),
    )[number]
    if not rows:
        return
    found = _read(name, content)
    expected = [
        (_stored(body) if number != 1 else _stored(body) or b"", _shown(url)) for body, url in rows
    ]
    if number == 1:
        expected = [(body, url or "") for body, url in expected]
    assert found == expected, (name, found, expected)


def _stored(body: str | None) -> bytes | None:
    return None if body is None else body.encode("utf-8", "surrogatepass")


def _shown(url: str | None) -> str | None:
    return url


@lru_cache(4096)
def _parquet(rows: Rows, choice: int) -> bytes:
    """Return rows as Parquet; ``choice`` is how they are written."""
    types = (
        pa.large_binary(),
        pa.binary(),
        pa.binary_view(),
        pa.dictionary(pa.int32(), pa.binary()),
    )
    bodies = pa.array([_stored(body) for body, _ in rows], pa.binary())
    table = pa.table({
        "body": bodies.cast(types[choice & 3]) if choice & 3 != 3 else bodies.dictionary_encode(),
        "url": pa.array([url for _, url in rows], pa.string()),
        "n": pa.array(range(len(rows)), pa.int64()),
    })  # fmt: skip
    out = io.BytesIO()
    pq.write_table(
        table,
        out,
        compression=("none", "snappy", "gzip", "zstd")[choice >> 2 & 3],
        use_dictionary=bool(choice & 16),
        data_page_version="2.0" if choice & 32 else "1.0",
        row_group_size=2 if choice & 64 else 100,
        write_statistics=bool(choice & 128),
        store_schema=bool(choice & 128),
    )
    return out.getvalue()


def _csv(rows: Rows) -> bytes:
    out = io.BytesIO()
    text = io.TextIOWrapper(out, "utf-8", errors="surrogatepass", newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerows([("body", "url"), *((body or "", url or "") for body, url in rows)])
    text.flush()
    return out.getvalue()


def _json_lines(rows: Rows) -> bytes:
    return "".join(f"{json.dumps({'body': body, 'url': url})}\n" for body, url in rows).encode()


def _read(name: str, content: bytes) -> list[tuple[bytes | None, str | None]]:
    """Return the bodies and URLs of a file; nothing, if it cannot be read."""
    path = _folder / name
    path.write_bytes(content)
    source = Input(str(path), inputs._kind(name) or "", len(content), 0)
    found = []
    with_urls = b"url" in content and name.endswith(("parquet", "csv", "jsonl"))
    try:
        for batch in _reading.batches(
            source, Columns(url="url" if with_urls else None), BadRecords()
        ):
            found += _rows_of(batch)
    except KosterError as error:
        assert str(error)
    return found


def _texts(column: Any) -> list[str | None]:
    """Return the texts of a column, which a damaged file may have in bytes that are not UTF-8."""
    values = column.cast(pa.binary()).to_pylist()
    return [None if each is None else each.decode("utf-8", "replace") for each in values]


def _rows_of(batch: Any) -> list[tuple[bytes | None, str | None]]:
    """Return the rows of a batch, whose columns must be usable."""
    count = len(batch.bodies)
    assert batch.passthrough.num_rows == count
    # Text of other columns is not read.
    batch.passthrough.validate()
    batch.bodies.validate(full=True)
    verdicts = kernel.allowed(batch.bodies, "/private", "FooBot")
    assert len(verdicts) == count
    urls = [None] * count if batch.urls is None else _texts(batch.urls)
    bodies = (
        each.encode("utf-8", "surrogatepass") if isinstance(each, str) else each
        for each in batch.bodies.to_pylist()
    )
    return list(zip(bodies, urls, strict=True))

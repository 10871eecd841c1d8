"""Inputs of ``koster bulk``: archives and tables, as batches of bounded size.

Whatever the size of an input, no more is held of it than a batch, and of a Parquet file a page of
each column. What cannot be read of an input is counted and listed, and reading goes on; where an
input cannot be read at all, `UnreadableError` says why in a sentence.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
import re
import stat
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

import pyarrow.csv
import pyarrow.parquet as pq

from .._charsets import as_utf8
from ..engine.document import MAX_PARSED_BYTES
from ..errors import KosterError, UnreadableError
from . import _parquet, warc
from ._arrow import pa, pc
from ._columns import buffers, bytes_in
from ._parquet import BYTES, ROWS, TEXT
from .kernel import told
from .warc import BadRecord, FetchClass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: The file that tells a folder of answers from one of inputs.
MARKER = ".koster-bulk"

#: Bytes of CSV that are read at a time; a row that has more may be told of as broken.
_BLOCK = 8 * BYTES

#: Bad records that are listed; more are counted.
LISTED = 100

#: What a column of robots.txt files may be called, where nobody says.
BODY_NAMES = ("body", "text", "content", "robots_txt", "robots")

_KINDS = {
    ".warc": "warc",
    ".parquet": "parquet",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
}
_PACKED = (".gz", ".zst", ".bz2", ".lz4")


class WrongColumnsError(KosterError, ValueError):
    """A table does not have the columns that are asked for, or not of the type."""


@dataclass(frozen=True, slots=True)
class Input:
    """A file to be read: ``kind`` is warc, parquet, json or csv; ``size`` in bytes."""

    path: str
    kind: str
    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class Columns:
    """What the columns of a table are called: None where they are to be found."""

    body: str | None = None
    url: str | None = None
    agent: str | None = None


@dataclass(slots=True)
class Batch:
    """Some records: ``kept`` is what of them stays beside the answers.

    ``classes`` are those of the fetches where the input is an archive; ``bodies`` are as crawlers
    read them, ``served`` as they were. ``place`` says how far the input is read, in bytes. Where
    bodies were cut, ``sizes`` are those that they had.
    """

    kept: Any
    bodies: Any
    served: Any
    urls: Any | None
    agents: Any | None
    classes: Any | None
    place: int
    sizes: Any | None = None


@dataclass(slots=True)
class Trouble:
    """What could not be read of an input: how many records, and which of them, the first ones."""

    count: int = 0
    listed: list[str] = field(default_factory=list)

    def add(self, what: str) -> None:
        """Add a bad record."""
        self.count += 1
        if len(self.listed) < LISTED:
            self.listed.append(what)


#: What stays of a record of an archive.
ARCHIVED = pa.schema([
    pa.field("url", pa.string()),
    pa.field("origin", pa.string()),
    pa.field("crawl", pa.string()),
    pa.field("fetched", pa.timestamp("us", tz="UTC")),
    pa.field("status", pa.int32()),
    pa.field("class", pa.string()),
    pa.field("location", pa.string()),
    pa.field("content_type", pa.string()),
    pa.field("charset", pa.string()),
    pa.field("bytes", pa.int64()),
    pa.field("archive", pa.string()),
    pa.field("offset", pa.int64()),
])  # fmt: skip


def find(paths: Iterable[str], troubles: list[str] | None = None) -> list[Input]:
    """Return the inputs that files and folders are; of folders, those whose names say so.

    Given a list of ``troubles``, what cannot be read is added to it, in sentences.

    Raises:
        UnreadableError: one is not there, is no input by its name, or a folder has none.
    """
    found: dict[str, Input] = {}
    for path in paths:
        try:
            for each in _files_of(path):
                found.setdefault(os.path.realpath(each), _input(each))
        except UnreadableError as error:
            if troubles is None:
                raise
            troubles.append(str(error))
    return list(found.values())


def _files_of(path: str) -> list[str]:
    """Return a file, or those in a folder that are inputs by their names.

    Raises:
        UnreadableError: a folder has none.
    """
    if not os.path.isdir(path):
        return [path]
    found = [each for each in _walk(path) if _kind(each)]
    if not found:
        raise UnreadableError(f"{path}: has no WARC, Parquet, JSON lines or CSV files")
    return found


def _walk(folder: str) -> Iterator[str]:
    """Go through the files in a folder, by name, without those that hide."""
    for base, folders, files in os.walk(folder, onerror=_cannot_walk):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        if MARKER in files:
            # What is answered is not asked.
            folders.clear()
            continue
        for name in sorted(files):
            path = os.path.join(base, name)
            if not name.startswith((".", "_")) and os.path.isfile(path):
                yield path


def _cannot_walk(error: OSError) -> None:
    raise UnreadableError(f"{error.filename}: {error.strerror}") from error


def _kind(path: str) -> str | None:
    """Return what a file is, by its name."""
    name = path.lower()
    for ending in _PACKED:
        name = name.removesuffix(ending)
    return _KINDS.get(os.path.splitext(name)[1])


def _input(path: str) -> Input:
    """Return a file as an input.

    Raises:
        UnreadableError: it is not there, or none by its name.
    """
    try:
        status = os.stat(path)
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from error
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableError(f"{path}: is no regular file")
    kind = _kind(path)
    if kind is None:
        raise UnreadableError(
            f"{path}: is no input by its name: .warc, .parquet, .jsonl, .ndjson, .json, .csv and "
            ".tsv are, also with .gz, .zst, .bz2 or .lz4"
        )
    return Input(path, kind, status.st_size, status.st_mtime_ns)


def batches(given: Input, columns: Columns, trouble: Trouble) -> Iterator[Batch]:
    """Go through an input; what cannot be read of it is added to ``trouble``.

    Raises:
        UnreadableError: it cannot be read at all, or no further.
        WrongColumnsError: it does not have the columns.
    """
    try:
        yield from _READERS[given.kind](given, columns, trouble)
    except KosterError:
        raise
    except OSError as error:
        raise UnreadableError(f"{given.path}: {error.strerror or error}") from error
    except (pa.ArrowException, csv.Error, EOFError, KeyError, TypeError, ValueError) as error:
        why = " ".join(str(error).split())[:300]
        if "straddling object" in why:
            why = f"a row has more than {_BLOCK:,} bytes"
        raise UnreadableError(f"{given.path}: {why}") from error


def of_archive(given: Input, _columns: Columns, trouble: Trouble) -> Iterator[Batch]:
    """Go through the fetches in an archive."""
    return fetched(warc.records(given.path), os.path.basename(given.path), trouble)


def fetched(
    found: Iterable[warc.Record | BadRecord], name: str, trouble: Trouble
) -> Iterator[Batch]:
    """Go through what was found in an archive, as batches."""
    fetches: list[warc.Record] = []
    total = 0
    for each in found:
        if isinstance(each, BadRecord):
            trouble.add(f"at byte {each.offset}: {each.why}")
            continue
        fetches.append(each)
        total += len(each.body)
        if len(fetches) == ROWS or total >= BYTES:
            yield _of_fetches(fetches, name)
            fetches = []
            total = 0
    if fetches:
        yield _of_fetches(fetches, name)


#: The classes of fetches that have a body to be read.
_WITH_BODY = (FetchClass.OK, FetchClass.WRONG_TYPE)


def _of_fetches(fetches: list[warc.Record], name: str) -> Batch:
    rows = [
        (
            each.url, each.origin, each.crawl, each.fetched, each.status, each.fetch_class.value,
            each.location, each.content_type, each.charset, len(each.body), name, each.offset,
        )
        for each in fetches
    ]  # fmt: skip
    kept = pa.RecordBatch.from_arrays(
        [
            pa.array([_storable(value) for value in column], field.type)
            for column, field in zip(zip(*rows, strict=True), ARCHIVED, strict=True)
        ],
        schema=ARCHIVED,
    )
    served = [each.body if each.fetch_class in _WITH_BODY else None for each in fetches]
    read = [
        None if body is None else as_utf8(body, each.charset, each.is_whole)[0]
        for body, each in zip(served, fetches, strict=True)
    ]
    return Batch(
        kept=kept,
        bodies=pa.array(read, pa.large_binary()),
        served=pa.array(served, pa.large_binary()),
        urls=None,
        agents=None,
        classes=kept.column("class"),
        place=fetches[-1].offset,
    )


def _storable(value: Any) -> Any:
    """Return text of headers as Arrow takes it: without lone surrogates."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return value


def of_parquet(given: Input, columns: Columns, _trouble: Trouble) -> Iterator[Batch]:
    """Go through a Parquet file."""
    # By its handle: Arrow takes no path that is not UTF-8.
    with open(given.path, "rb") as source:
        yield from _of_parquet(given, source, columns)


def _of_parquet(given: Input, source: IO[bytes], columns: Columns) -> Iterator[Batch]:
    schema = pq.read_schema(source)
    if len(set(schema.names)) < len(schema.names):
        raise WrongColumnsError(f"{given.path}: two columns have the same name")
    named = _named(given, schema.names, columns)
    for what, name in named.items():
        _check_type(given, what, schema.field(name))
    for batch, share in _parquet.batches(source, given.path, named["body"]):
        yield _of_table(batch, named, int(given.size * share))


def _named(given: Input, names: list[str], columns: Columns) -> dict[str, str]:
    """Return what the columns that are needed are called.

    Raises:
        WrongColumnsError: one is not there.
    """
    there = f"there are {', '.join(names[:20])}{' …' if len(names) > 20 else ''}"
    body = columns.body
    if body is None:
        body = next((name for name in BODY_NAMES if name in names), None)
        if body is None:
            wanted = ", ".join(BODY_NAMES)
            raise WrongColumnsError(
                f"{given.path}: no column is called {wanted}; name that of the robots.txt files "
                f"with --body ({there})"
            )
    asked = {"body": body, "url": columns.url, "agent": columns.agent}
    found = {what: name for what, name in asked.items() if name is not None}
    for what, name in found.items():
        if name not in names:
            raise WrongColumnsError(
                f"{given.path}: there is no column {name!r} ({there}){_HINTS[what]}"
            )
    return found


#: What options name columns, or stand in for them.
_HINTS = {
    "body": "",
    "url": "; name that of the URLs with --url-column, or ask all sites the same with --url",
    "agent": "; name that of the agents with --agent-column, or say who asks with --agent",
}


def _check_type(given: Input, what: str, column: Any) -> None:
    """Look whether a column has text or bytes.

    Raises:
        WrongColumnsError: it has something else.
    """
    type_ = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not TEXT.fullmatch(str(type_)) and not pa.types.is_null(type_):
        raise WrongColumnsError(
            f"{given.path}: the column {column.name!r} has {column.type}, and {what} must be text "
            "or bytes"
        )


def _cut(bodies: Any) -> tuple[Any, Any | None]:
    """Return bodies with no more than is parsed of each, and if one was cut, what sizes they had.

    A body stays longer than what is parsed if it was, and does not end within a character.
    """
    is_coded = pa.types.is_dictionary(bodies.type)
    # Without a copy: values of Arrow's own, one by one, are copies.
    values = bytes_in(bodies.dictionary if is_coded else bodies)
    sizes = pc.binary_length(values)
    if (pc.max(sizes).as_py() or 0) <= MAX_PARSED_BYTES:
        return bodies, None
    data, starts = buffers(values)
    begins = (_start_of(data[start:end]) for start, end in itertools.pairwise(starts))
    is_there = values.is_valid().to_pylist()
    cut = [begin if there else None for begin, there in zip(begins, is_there, strict=True)]
    found = pa.array(cut, pa.large_binary())
    if not is_coded:
        return found, sizes
    return pa.DictionaryArray.from_arrays(bodies.indices, found), sizes.take(bodies.indices)


def _start_of(body: memoryview) -> bytes:
    """Return what is parsed of a body, and the character after it."""
    end = min(len(body), MAX_PARSED_BYTES + 1)
    last = min(len(body), end + 3)
    while end < last and body[end] & 0xC0 == 0x80:
        end += 1
    return bytes(body[:end])


def _of_table(batch: Any, named: dict[str, str], place: int) -> Batch:
    bodies, sizes = _cut(batch.column(named["body"]))
    kept = batch.drop_columns([named["body"]])
    return Batch(
        kept=kept,
        bodies=bodies,
        served=bodies,
        urls=batch.column(named["url"]) if "url" in named else None,
        agents=batch.column(named["agent"]) if "agent" in named else None,
        classes=None,
        place=place,
        sizes=sizes,
    )


def of_csv(given: Input, columns: Columns, trouble: Trouble) -> Iterator[Batch]:
    """Go through a CSV file, or one with tabs: its first line names the columns, all are text."""
    names = _header(given)
    named = _named(given, names, columns)

    def skip(row: Any) -> str:
        place = f"row {row.number}" if row.number is not None else "a row"
        trouble.add(f"{place}: it has {row.actual_columns} of {row.expected_columns} columns")
        return "skip"

    # A file of Arrow's own. Arrow reads ahead in a thread; a reader that is let go of waits for it
    # and holds the interpreter lock, which a file of Python's would need to go on.
    file = pa.OSFile(os.fsencode(given.path))
    reader = _csv_reader(
        _unpacked(given.path, file),
        read_options=pyarrow.csv.ReadOptions(
            block_size=_BLOCK, use_threads=False, column_names=names, skip_rows=1
        ),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=_delimiter(given.path),
            newlines_in_values=True,
            invalid_row_handler=skip,
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.binary()), strings_can_be_null=False
        ),
    )
    for batch in reader or ():
        for start in range(0, len(batch), ROWS):
            part = batch.slice(start, ROWS)
            texts = [
                column if name == named["body"] else _as_text(column)
                for name, column in zip(names, part.columns, strict=True)
            ]
            table = pa.RecordBatch.from_arrays(texts, names=names)
            yield _of_table(table, named, file.tell())


def _csv_reader(stream: Any, **options: Any) -> Any:
    """Return a reader of CSV; None where there are no rows."""
    try:
        return pyarrow.csv.open_csv(stream, **options)
    except pa.ArrowInvalid as error:
        if re.search("Empty CSV|Could not skip initial 1 rows", str(error)):
            return None
        raise


def _header(given: Input) -> list[str]:
    """Return the names of the columns of a CSV file.

    Raises:
        UnreadableError: it has no first line.
        WrongColumnsError: two columns have one name.
    """
    with open(given.path, "rb") as file:
        stream = _unpacked(given.path, pa.PythonFile(file, "r"))
        begin = stream.read(1 << 20).decode("utf-8-sig", "replace")
    line = re.split(r"\r\n|\n|\r", begin, maxsplit=1)[0]
    first = next(csv.reader([line], delimiter=_delimiter(given.path)), None)
    if not first:
        raise UnreadableError(f"{given.path}: is empty, without even the names of columns")
    if len(set(first)) < len(first):
        raise WrongColumnsError(f"{given.path}: two columns have the same name")
    return first


def _delimiter(path: str) -> str:
    return "\t" if ".tsv" in os.path.basename(path).lower() else ","


def _as_text(column: Any) -> Any:
    """Return a column of bytes as text; what is not UTF-8 of it is replaced."""
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:
        values = column.to_pylist()
        texts = [None if each is None else each.decode("utf-8", "replace") for each in values]
        return pa.array(texts, pa.string())


def _unpacked(path: str, stream: Any) -> Any:
    """Return a stream of Arrow's, unpacked as the name of its file says."""
    ending = os.path.splitext(path)[1].lower()
    codings = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".lz4": "lz4"}
    return pa.CompressedInputStream(stream, codings[ending]) if ending in codings else stream


#: Keys of objects that stay.
_MOST_KEYS = 1_000

#: Bytes of a line of JSON that are read: a body can take six for one.
_LONGEST_LINE = 128 * 1024 * 1024


def of_json(given: Input, columns: Columns, trouble: Trouble) -> Iterator[Batch]:
    """Go through lines of JSON, each an object: what the first ones have stays, as text."""
    rows: list[tuple[int, dict[str, Any]]] = []
    names: list[str] = []
    named: dict[str, str] = {}
    total = 0
    with open(given.path, "rb") as file:
        for number, line in _lines(_unpacked(given.path, pa.PythonFile(file, "r"))):
            row = _object(line)
            if isinstance(row, str):
                trouble.add(f"line {number}: {row}")
                continue
            rows.append((number, row))
            total += len(line or b"")
            if len(rows) == ROWS or total >= BYTES:
                if not names:
                    names, named = _keys(given, rows, columns)
                yield _of_objects(rows, names, named, trouble, file.tell())
                rows = []
                total = 0
        if rows:
            if not names:
                names, named = _keys(given, rows, columns)
            yield _of_objects(rows, names, named, trouble, given.size)


def _lines(stream: Any) -> Iterator[tuple[int, bytes | None]]:
    """Go through the lines of a stream that are not blank, with their numbers; None: too long."""
    number = 0
    rest = b""
    is_skipping = False
    while chunk := stream.read(1 << 20):
        parts = (rest + chunk).split(b"\n")
        rest = parts.pop()
        for part in parts:
            number += 1
            if is_skipping:
                is_skipping = False
            elif part.strip():
                yield number, part
        if is_skipping or len(rest) > _LONGEST_LINE:
            if not is_skipping:
                yield number + 1, None
            is_skipping = True
            rest = b""
    if rest.strip() and not is_skipping:
        yield number + 1, rest


def _object(line: bytes | None) -> dict[str, Any] | str:
    """Return an object of JSON, or what is wrong with it."""
    if line is None:
        return f"it has more than {_LONGEST_LINE:,} bytes"
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return "it is no JSON"
    return found if isinstance(found, dict) else "it is no object"


def _not_text(row: dict[str, Any], named: dict[str, str]) -> str | None:
    """Return what is wrong with an object."""
    for name in named.values():
        if not isinstance(row.get(name), (str, type(None))):
            return f"{name} is no text"
    return None


def _keys(
    given: Input, rows: list[tuple[int, dict[str, Any]]], columns: Columns
) -> tuple[list[str], dict[str, str]]:
    """Return the keys that stay, and which of them are asked for."""
    keys = itertools.islice(dict.fromkeys(name for _, row in rows for name in row), _MOST_KEYS)
    names = list(keys)
    named = _named(given, names, columns)
    return names, named


def _of_objects(
    rows: list[tuple[int, dict[str, Any]]],
    names: list[str],
    named: dict[str, str],
    trouble: Trouble,
    place: int,
) -> Batch:
    good = []
    for number, row in rows:
        wrong = _not_text(row, named)
        if wrong:
            trouble.add(f"line {number}: {wrong}")
        else:
            good.append(row)
    arrays = [
        pa.array([_bytes(row.get(name)) for row in good], pa.large_binary())
        if name == named["body"]
        else pa.array([_cell(row.get(name)) for row in good], pa.string())
        for name in names
    ]
    # Of two keys that are one when they are cleaned the first stays.
    columns = dict(zip(map(told, reversed(names)), reversed(arrays), strict=True))
    cleaned = {what: told(name) for what, name in named.items()}
    return _of_table(pa.RecordBatch.from_pydict(dict(reversed(columns.items()))), cleaned, place)


def _bytes(body: str | None) -> bytes | None:
    """Return text as bytes, as `koster.parse` reads it."""
    return None if body is None else body.encode("utf-8", "surrogatepass")


def _cell(value: Any) -> str | None:
    """Return a value as text: as it stands, or as JSON."""
    if value is None:
        return None
    return told(value if isinstance(value, str) else json.dumps(value))


_READERS: dict[str, Callable[[Input, Columns, Trouble], Iterator[Batch]]] = {
    "warc": of_archive,
    "parquet": of_parquet,
    "csv": of_csv,
    "json": of_json,
}

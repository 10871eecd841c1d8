"""Log files as requests in the order of time.

Servers log a request when it ends, rotated files and those of several servers overlap, and tables
have any order: all requests are sorted. Memory holds a few blocks, whatever the size of the log.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from .._opening import check_file
from .._wording import count_noun
from ..bulk._arrow import np, pa
from ..bulk.judging import NEVER
from ..errors import UnreadableError
from . import _formats
from ._blocks import Block, blocks, opened, read
from ._formats import Format
from ._identity import Identities
from ._patterns import FormatError, check_fields
from ._requests import MAX_SAMPLES, Parsed, parse_block
from ._sorting import sorter
from ._tables import kind_of, read_table

#: Bytes from the start of a file that its format, and its first moment, are found by.
_HEAD_BYTES = 2**18


@dataclass(slots=True)
class LogFile:
    """A log file: its format, and what was found in it so far.

    ``first`` is its first moment, in microseconds since 1970, and ``last`` the last one so far.
    ``disorder`` is how much earlier than a line before it a line is at most, in microseconds.
    """

    path: str
    format: Format | None
    kind: str | None = None
    first: int = NEVER
    lines: int = 0
    unreadable: int = 0
    samples: list[bytes] = field(default_factory=list)
    error: str | None = None
    last: int = NEVER
    disorder: int = 0

    @property
    def format_name(self) -> str:
        """The name of its format."""
        return self.format.name if self.format else self.kind or ""

    def check(self) -> str | None:
        """Return an error if most lines were unreadable."""
        if self.unreadable <= self.lines * (1 - _formats.MIN_READABLE):
            return None
        sample = self.samples[0] if self.samples else b""
        return (
            f"{self.path}: {self.unreadable:,} of {count_noun(self.lines, 'line')} could not be "
            f"read as {self.format_name}; they look like {_formats.looks_like(sample)}"
        )


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read files.

    Attributes:
        identities: Recognizes crawlers.
        format: The format of all files; None: detect it.
        columns: The names of the columns of tables, and of the fields of JSON, by field.
        jobs: How many threads parse.
        progress: Called with the number of bytes that were read.
    """

    identities: Identities
    format: Format | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    jobs: int = 1
    progress: Callable[[int], object] = lambda size: None  # noqa: ARG005 - does nothing


def find_files(
    paths: Iterable[str], reading: ReadOptions
) -> tuple[list[LogFile], list[str], list[str]]:
    """Return log files in the order of their first line, errors, and notices.

    A file in a folder that is no access log is skipped with a notice.
    """
    found: dict[str, LogFile] = {}
    errors, notices = [], []
    for path in paths:
        is_folder = path != "-" and os.path.isdir(path)
        for each in _in_folder(path) if is_folder else [path]:
            key = each if each == "-" else os.path.realpath(each)
            if key in found:
                continue
            try:
                found[key] = _open_head(each, reading)
            except (UnreadableError, FormatError) as error:
                if is_folder:
                    notices.append(f"Skipped {error}")
                else:
                    errors.append(str(error))
        if is_folder and not any(each.path.startswith(path) for each in found.values()):
            errors.append(f"{path}: has no access log")
    return sorted(found.values(), key=_place), errors, notices


def _place(file: LogFile) -> tuple[int, float, str]:
    """Return a sort key: the first moment, and when the file was written last."""
    written = 0.0 if file.path == "-" else os.path.getmtime(file.path)
    return file.first, written, file.path


def _in_folder(path: str) -> list[str]:
    return [
        os.path.join(path, name)
        for name in sorted(os.listdir(path))
        if not name.startswith(".") and os.path.isfile(os.path.join(path, name))
    ]


def _open_head(path: str, reading: ReadOptions) -> LogFile:
    """Return a file with its format and its first moment; standard input is not read.

    Raises:
        FormatError: its format is unknown.
        UnreadableError: it cannot be read.
    """
    if path == "-" or _is_stream(path):
        # It can be read only once.
        return LogFile(path, reading.format)
    kind = _kind_of_table(path)
    if kind is not None and reading.format is None:
        first = next(read_table(path, kind, reading.columns, reading.identities), None)
        return LogFile(path, None, kind, NEVER if first is None else first.first)
    with opened(path) as file:
        block = next(blocks(file, path, _HEAD_BYTES), Block(b""))
    if block.dropped and not block.data:
        raise FormatError(f"{path}: the first line is too long for a log")
    head = block.data
    found = _format_of(head, path, reading)
    segments = list(_formats.reader_of(found).segments(head))
    parsed = parse_block(block, segments, reading.identities)
    return LogFile(path, found, None, parsed.first)


def _is_stream(path: str) -> bool:
    """Return whether a path is a pipe that is open already, such as that of ``<(zcat …)``.

    Raises:
        UnreadableError: there is no such file, or it is another pipe, or a device.
    """
    try:
        check_file(path)
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from error


def _kind_of_table(path: str) -> str | None:
    """Return the kind of a table, or None for lines of text.

    Raises:
        UnreadableError: the file cannot be read.
    """
    with opened(path) as file:
        return kind_of(path, read(file, 4, path))


def _format_of(head: bytes, path: str, reading: ReadOptions) -> Format:
    if reading.format is not None:
        return _with_columns(reading.format, reading.columns)
    if reading.columns and head.lstrip().startswith(b"{"):
        return _with_columns(_formats.FORMATS["nginx-json"], reading.columns)
    return _formats.detect(head, path)


def _with_columns(form: Format, columns: Mapping[str, str]) -> Format:
    """Return a JSON format with the names of fields that were given."""
    if not columns or not isinstance(form.lines, _formats.JsonFormat):
        return form
    given = {name: _formats.json_path(column) for name, column in columns.items()}
    paths = dict(form.lines.paths) | {name: (path,) for name, path in given.items()}
    check_fields(paths)
    return replace(form, lines=_formats.JsonFormat(paths))


class LogReader:
    """Reads files one after the other, and puts their requests in the order of time."""

    def __init__(self, files: list[LogFile], reading: ReadOptions) -> None:
        self._files = files
        self._reading = reading
        self.first, self.last = NEVER, NEVER

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield requests in the order of time, when all are read.

        Raises:
            UnreadableError: the temporary folder is full.
        """
        with (
            sorter(self._reading.identities.names) as sorting,
            ThreadPoolExecutor(self._reading.jobs) as pool,
        ):
            for file in self._files:
                try:
                    for parsed in self._parsed(file, pool):
                        self._note(file, parsed)
                        if len(parsed.requests):
                            sorting.add(parsed.requests)
                except UnreadableError as error:
                    file.error = str(error)
            yield from sorting.batches()

    def _note(self, file: LogFile, parsed: Parsed) -> None:
        """Count the lines of a file."""
        file.lines += parsed.lines
        file.unreadable += parsed.unreadable
        file.samples += parsed.samples[: MAX_SAMPLES - len(file.samples)]
        if parsed.first == NEVER:
            return
        times = parsed.requests["time"].to_numpy()
        late = int((np.maximum.accumulate(times) - times).max(initial=0))
        since_others = file.last - parsed.first if file.last != NEVER else 0
        file.disorder = max(file.disorder, late, since_others)
        file.last = max(file.last, parsed.last)
        self.first = parsed.first if self.first == NEVER else min(self.first, parsed.first)
        self.last = max(self.last, parsed.last)

    def _parsed(self, file: LogFile, pool: ThreadPoolExecutor) -> Iterator[Parsed]:
        reading = self._reading
        if file.kind is not None:
            yield from read_table(file.path, file.kind, reading.columns, reading.identities)
            return
        pending: deque[Any] = deque()
        failure = None
        with opened(file.path) as data:
            reader = None
            try:
                for block in blocks(data, file.path):
                    if file.format is None:
                        # A stream.
                        name = "standard input" if file.path == "-" else file.path
                        file.format = _format_of(block.data, name, reading)
                    reader = reader or _formats.reader_of(file.format)
                    segments = list(reader.segments(block.data))
                    pending.append(pool.submit(parse_block, block, segments, reading.identities))
                    reading.progress(len(block.data))
                    while len(pending) > reading.jobs + 1:
                        yield pending.popleft().result()
            except (UnreadableError, FormatError) as error:
                failure = error
        while pending:
            yield pending.popleft().result()
        if failure is not None:
            raise UnreadableError(str(failure)) from failure

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
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any

from .._opening import check_file
from .._wording import count_noun
from ..bulk._arrow import np, pa
from ..bulk.judging import NEVER
from ..errors import UnreadableError
from ._blocks import Block, blocks, opened, read
from ._detection import MIN_READABLE, resolve
from ._explaining import unread
from ._formats import Format, reader_of
from ._identity import Identities
from ._patterns import FormatError
from ._requests import MAX_SAMPLES, Parsed, parse_block
from ._sorting import sorter
from ._tables import kind_of, read_table

#: Bytes from the start of a file that its format, and its first moment, are found by.
_HEAD_BYTES = 2**18

#: Bytes of an unreadable line to show.
_SHOWN_BYTES = 200


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
    unread: bytes = b""
    requests: int = 0
    has_agent: bool = False
    has_local_time: bool = False
    found: set[str] = field(default_factory=set)
    error: str | None = None
    last: int = NEVER
    disorder: int = 0

    @property
    def format_name(self) -> str:
        """The name of its format."""
        return self.format.name if self.format else self.kind or ""

    def count(self, parsed: Parsed) -> None:
        """Count the lines of a block, and note what they have."""
        self.lines += parsed.lines
        self.unreadable += parsed.unreadable
        self.unread = self.unread or next(iter(parsed.samples), b"")
        more = parsed.samples[: MAX_SAMPLES - len(self.samples)]
        self.samples += [each[:_SHOWN_BYTES] for each in more]
        self.requests += len(parsed.requests)
        self.has_agent |= parsed.has_agent
        self.has_local_time |= parsed.has_local_time
        self.found |= parsed.found
        if parsed.first != NEVER:
            times = parsed.requests["time"].to_numpy()
            late = int((np.maximum.accumulate(times) - times).max(initial=0))
            since_others = self.last - parsed.first if self.last != NEVER else 0
            self.disorder = max(self.disorder, late, since_others)
            self.last = max(self.last, parsed.last)

    def check(self) -> str | None:
        """Return an error if most lines were unreadable."""
        if self.unreadable <= self.lines * (1 - MIN_READABLE):
            return None
        return (
            f"{self.path}: {self.unreadable:,} of {count_noun(self.lines, 'line')} could not be "
            f"read as {self.format_name}; they look like {unread(self.format, self.unread)}"
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
        zone: The time zone of times without one; None: UTC.
    """

    identities: Identities
    format: Format | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    jobs: int = 1
    progress: Callable[[int], object] = lambda size: None  # noqa: ARG005 - does nothing
    zone: tzinfo | None = None


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
        return LogFile(path, None)
    kind = _kind_of_table(path)
    if kind is not None and reading.format is None:
        first = next(
            read_table(path, kind, reading.columns, reading.identities, reading.zone), None
        )
        return LogFile(path, None, kind, NEVER if first is None else first.first)
    with opened(path) as file:
        block = next(blocks(file, path, _HEAD_BYTES), Block(b""))
    if block.dropped and not block.data:
        raise FormatError(f"{path}: the first line is too long for a log")
    head = block.data
    found = resolve(head, path, reading.format, reading.columns)
    segments = list(reader_of(found).segments(head))
    parsed = parse_block(block, segments, reading.identities, reading.zone)
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
        with sorter(self._reading.identities.names) as sorting:
            with ThreadPoolExecutor(self._reading.jobs) as pool:
                for file in self._files:
                    try:
                        for parsed in self._parsed(file, pool):
                            self._note(file, parsed)
                            sorting.add(parsed.requests)
                    except UnreadableError as error:
                        file.error = str(error)
            yield from sorting.batches()

    def _note(self, file: LogFile, parsed: Parsed) -> None:
        """Count the lines of a file."""
        file.count(parsed)
        if parsed.first != NEVER:
            self.first = parsed.first if self.first == NEVER else min(self.first, parsed.first)
            self.last = max(self.last, parsed.last)

    def _parsed(self, file: LogFile, pool: ThreadPoolExecutor) -> Iterator[Parsed]:
        reading = self._reading
        if file.kind is not None:
            yield from read_table(
                file.path, file.kind, reading.columns, reading.identities, reading.zone
            )
            return
        pending: deque[Any] = deque()
        failure = None
        with opened(file.path) as data:
            reader = None
            try:
                for block in blocks(data, file.path):
                    if reader is None:
                        # That of a stream is not known yet.
                        name = "standard input" if file.path == "-" else file.path
                        file.format = file.format or resolve(
                            block.data, name, reading.format, reading.columns
                        )
                        reader = reader_of(file.format)
                    segments = list(reader.segments(block.data))
                    pending.append(
                        pool.submit(parse_block, block, segments, reading.identities, reading.zone)
                    )
                    reading.progress(len(block.data))
                    while len(pending) > reading.jobs + 1:
                        yield pending.popleft().result()
            except (UnreadableError, FormatError) as error:
                failure = error
        while pending:
            yield pending.popleft().result()
        if failure is not None:
            raise UnreadableError(str(failure)) from failure

"""Follows a growing log across its rotation, and yields violations as they happen."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from .._opening import open_file
from ..bulk.judging import VERDICTS, Verdict
from ..errors import UnreadableError
from ._blocks import BLOCK_BYTES, Block
from ._checks import check_named, check_order
from ._detection import format_of, resolve
from ._files import LogFile
from ._formats import reader_of
from ._identity import Identified
from ._patterns import FormatError
from ._requests import parse_block, sorted_by_time
from ._run import Analysis, Options
from ._summary import Example, example_of
from ._versions import GIT, Version, Versions

#: The seconds between two looks at the file.
_INTERVAL = 0.5

_VIOLATION = VERDICTS.index(Verdict.VIOLATION)


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation.

    Attributes:
        crawler: The product token of the crawler.
        identified: Whether its identity was verified.
        request: The request.
        line: The line of the rule that disallows it.
        rule: The rule, as written.
        version: The version of the file.
    """

    crawler: str
    identified: Identified
    request: Example
    line: int
    rule: str
    version: str


def follow(
    path: str,
    source: str,
    options: Options | None = None,
    wait: Callable[[float], object] = time.sleep,
) -> Generator[Violation]:
    """Yield the violations in a log from now on, without end.

    What the log has so far is read first, as crawlers may hold a version that they fetched before.
    If the log is renamed or truncated, the new file is followed. If ``source`` is a file, a change
    of it is a new version.

    Args:
        path: The log.
        source: The versions of the robots.txt: see `Versions.read`.
        options: How to read and judge; the same format is used for new files.
        wait: Waits some seconds before the next look at the file.

    Raises:
        FormatError: the format of the log is unknown.
        UnreadableError: the log or the versions cannot be read, or the log has no User-Agents, or
            is not in the order of time: what is still to come would change the verdicts before.
    """
    options = options or Options()
    watched = _Watched(source)
    analysis = Analysis(watched.versions, options)
    form = None if options.format is None else format_of(options.format)
    reader: Any = None
    is_past = True
    file = LogFile(path, form)
    with closing(_Tail(path)) as tail:
        while True:
            for data in tail.read():
                if reader is None:
                    try:
                        file.format = resolve(data, path, form, options.columns)
                        reader = reader_of(file.format)
                    except FormatError:
                        if is_past:
                            raise
                        continue
                segments = list(reader.segments(data))
                parsed = parse_block(Block(data), segments, analysis.identities, options.timezone)
                file.count(parsed)
                check_order(file)
                if len(parsed.requests):
                    requests, judgement = analysis.add(sorted_by_time(parsed.requests))
                    if not is_past:
                        yield from _violations(requests, judgement, analysis)
            if is_past:
                check_named(file)
            is_past = False
            wait(_INTERVAL)
            if watched.has_changed():
                analysis.replace_versions(watched.versions)


def _violations(requests: Any, judgement: Any, analysis: Analysis) -> Iterator[Violation]:
    for row in (judgement.verdicts == _VIOLATION).nonzero()[0].tolist():
        yield Violation(
            requests["crawler"][row].as_py(),
            Identified(requests["identified"][row].as_py()),
            example_of(requests, row, analysis.addresses),
            int(judgement.lines[row]),
            judgement.rules[row].as_py(),
            analysis.versions.versions[int(judgement.versions[row])].label,
        )


class _Tail:
    """Reads what is appended to a file, across its rotation, in whole lines."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: Any = None
        self._rest = b""

    def read(self) -> Iterator[bytes]:
        """Yield blocks of the lines that were appended since the last call.

        Raises:
            UnreadableError: the file cannot be read, at the first call.
        """
        if self._file is None:
            try:
                self._file = open_file(self._path)
            except OSError as error:
                raise UnreadableError(f"{self._path}: {error.strerror}") from error
        yield from self._blocks()
        if self._is_rotated():
            # What was written between the last read and the rotation.
            yield from self._blocks()
            if self._rest:
                yield self._rest + b"\n"
                self._rest = b""
            with suppress(OSError):
                new = open_file(self._path)
                self._file.close()
                self._file = new
                yield from self._blocks()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _blocks(self) -> Iterator[bytes]:
        while chunk := self._file.read(BLOCK_BYTES):
            cut = chunk.rfind(b"\n") + 1
            if cut:
                yield self._rest + chunk[:cut]
                self._rest = chunk[cut:]
            elif len(self._rest) < BLOCK_BYTES:
                self._rest += chunk
            else:
                # Too long for a line: its end is read as an unreadable one.
                self._rest = chunk[-1024:]

    def _is_rotated(self) -> bool:
        """Return whether the path is another file now, or was truncated."""
        try:
            now = os.stat(self._path)
        except OSError:
            # Renamed, and the new one does not exist yet.
            return False
        held = os.fstat(self._file.fileno())
        if (now.st_dev, now.st_ino) != (held.st_dev, held.st_ino):
            return True
        return bool(now.st_size < self._file.tell())


class _Watched:
    """The versions of a robots.txt, with those that are written meanwhile."""

    def __init__(self, source: str) -> None:
        self._source = source
        self.versions = Versions.read(source)
        self._stamp = self._stamp_now()

    def has_changed(self) -> bool:
        """Return whether there is a new version; ``versions`` then has it."""
        stamp = self._stamp_now()
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        with suppress(UnreadableError):
            read = Versions.read(self._source)
            if self._is_file():
                last = self.versions.versions[-1]
                if read.versions[0].body == last.body:
                    return False
                new = Version(last.label, datetime.now(UTC), read.versions[0].body)
                read = Versions(self._source, (*self.versions.versions, new))
            if read != self.versions:
                self.versions = read
                return True
        return False

    def _is_file(self) -> bool:
        return not self._source.startswith(GIT) and not os.path.isdir(self._source)

    def _stamp_now(self) -> Any:
        if self._source.startswith(GIT):
            return int(time.time() / 60)
        try:
            status = os.stat(self._source)
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

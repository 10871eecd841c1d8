"""The versions of a robots.txt: one file, a folder of dated files, or a file's git history."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from .._opening import open_file
from ..bulk._arrow import pa
from ..errors import UnreadableError
from ..robots import MAX_PARSED_BYTES, parse
from ._git import history

__all__ = ["Version", "Versions"]

#: The prefix of a file whose git history has the versions.
GIT = "git:"

#: ``2026-03-01``, ``2026-06-01T1200Z``, ``2026-06-01T12:00:30+0200``, after other text or nothing.
_DATED = re.compile(
    r"(?:.*[^0-9])?(?P<day>\d{4}-\d\d-\d\d)"
    r"(?:[T_ ](?P<hour>\d\d):?(?P<minute>\d\d)(?::?(?P<second>\d\d))?(?P<zone>Z|[+-]\d\d:?\d\d)?)?"
)


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a robots.txt.

    Attributes:
        label: Its name: of the file, or the commit.
        since: When it came into force; None: it was always.
        body: The file as it was served; None: there was none.
    """

    label: str
    since: datetime | None
    body: bytes | None


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of a robots.txt, in order, and what they are of."""

    source: str
    versions: tuple[Version, ...]

    @classmethod
    def read(cls, source: str) -> Versions:
        """Read versions.

        Args:
            source: The path of a file, of a folder of files named after the time since when they
                are in force (``2026-03-01.txt``, ``2026-06-01T1200Z.txt``; UTC unless they say
                otherwise), or ``git:`` and the path of a file in a repository.

        Raises:
            UnreadableError: they cannot be read, or a name has no date.
        """
        if source.startswith(GIT):
            return cls(source, tuple(_from_git(source.removeprefix(GIT))))
        if Path(source).is_dir():
            return cls(source, tuple(_from_folder(Path(source))))
        return cls(source, (Version(Path(source).name, None, _body(Path(source))),))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all groups, without ``*``."""
        found = {
            agent
            for body in {version.body for version in self.versions}
            for group in parse(body or b"").groups
            for agent in group.agents
        }
        return tuple(sorted(name for name in found if name and "*" not in name))

    def table(self) -> pa.Table:
        """Return the versions for `koster.logs.judge`."""
        return pa.table({
            "since": pa.array([each.since for each in self.versions], pa.timestamp("us", "UTC")),
            "body": pa.array([each.body for each in self.versions], pa.large_binary()),
            "label": pa.array([each.label for each in self.versions], pa.string()),
        })  # fmt: skip


def _body(path: Path) -> bytes:
    """Read a file.

    Raises:
        UnreadableError: it cannot be read.
    """
    try:
        with open_file(path) as file:
            return file.read(MAX_PARSED_BYTES + 1)
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from error


def _from_folder(folder: Path) -> Iterator[Version]:
    """Yield the versions in a folder, in order.

    Raises:
        UnreadableError: a file cannot be read, or its name has no date.
    """
    paths = [each for each in folder.iterdir() if each.is_file() and not each.name.startswith(".")]
    if not paths:
        raise UnreadableError(f"{folder}: has no files")
    moments = {path: moment_of(path.stem) for path in paths}
    undated = sorted(path.name for path, moment in moments.items() if moment is None)
    if undated:
        raise UnreadableError(
            f"{folder}: {undated[0]} has no date in its name; name files after the time since when "
            "they are in force, such as 2026-03-01.txt or 2026-06-01T1200Z.txt"
        )
    for path in sorted(paths, key=lambda each: (moments[each], each.name)):
        yield Version(path.name, moments[path], _body(path))


def moment_of(name: str) -> datetime | None:
    """Return the moment in a name, or None; UTC unless it says otherwise.

    >>> moment_of("2026-06-01T1200Z").isoformat(), moment_of("robots-2026-03-01").isoformat()
    ('2026-06-01T12:00:00+00:00', '2026-03-01T00:00:00+00:00')
    """
    match = _DATED.fullmatch(name)
    if match is None:
        return None
    time = f"{match['hour'] or '00'}:{match['minute'] or '00'}:{match['second'] or '00'}"
    zone = (match["zone"] or "+0000").replace("Z", "+0000")
    try:
        found = datetime.strptime(f"{match['day']} {time} {zone}", "%Y-%m-%d %H:%M:%S %z")
    except ValueError:
        return None
    return found.astimezone(UTC)


def _from_git(path: str) -> Iterator[Version]:
    """Yield the versions of a file in the history of its branch, in order.

    A version is in force from the time of its commit; merged branches from that of the merge.

    Raises:
        UnreadableError: git is missing or fails, or not the whole history can be read.
    """
    latest = None
    bodies: dict[bytes, bytes] = {}
    for change in history(path):
        # Clocks of committers may differ: a later commit is not earlier in force.
        latest = max(change.seconds, latest or change.seconds)
        body = change.body
        if body is not None:
            # The same version often comes back: it is in memory once.
            body = bodies.setdefault(body, body)
        yield Version(change.commit[:9], _time(latest, path), body)


def _time(seconds: int, path: str) -> datetime:
    """Return the time of a commit.

    Raises:
        UnreadableError: there is no such time.
    """
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError) as error:
        raise UnreadableError(
            f"{path}: a commit has the time {seconds}, which is not a date"
        ) from error

"""What a report says of its files: errors and notices about what they lack."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta, tzinfo
from typing import Protocol

from .._wording import count_noun, joined
from ..bulk.judging import DISORDER
from ..errors import UnreadableError
from ._formats import Format

#: Lines that are later than others by more are noticed, in microseconds.
_DISORDER = DISORDER // timedelta(microseconds=1)

#: So many lines without a User-Agent are no accident.
_MANY_LINES = 100


class Read(Protocol):
    """A file that was read: see `koster.logs._files.LogFile`."""

    path: str
    format: Format | None
    lines: int
    unreadable: int
    has_agent: bool
    has_local_time: bool
    requests: int
    found: set[str]
    disorder: int


def unnamed(files: Iterable[Read]) -> tuple[list[str], list[str]]:
    """Return errors and notices about files of which no line has a User-Agent.

    It is an error, unless crawlers were recognized by their addresses, or another file of the same
    format has User-Agents.
    """
    files = list(files)
    named = {_name(each) for each in files if each.has_agent}
    errors, notices = [], []
    for each in files:
        if each.has_agent or each.lines == each.unreadable:
            continue
        if each.requests:
            notices.append(
                f"No line of {each.path} has a User-Agent: crawlers are recognized by address "
                "only, if their operators publish them"
            )
        elif "agent" not in _fields(each) or _name(each) not in named:
            errors.append(_error(each))
    return errors, notices


def check_named(file: Read) -> None:
    """Check that a log that is followed has User-Agents: a few lines without may be of no crawler.

    Raises:
        UnreadableError: it has none.
    """
    errors, _ = unnamed([file])
    if errors and (file.lines >= _MANY_LINES or "agent" not in _fields(file)):
        raise UnreadableError(errors[0])


def _name(file: Read) -> str | None:
    return file.format.name if file.format else None


def _fields(file: Read) -> Iterable[str]:
    lines = file.format.lines if file.format else None
    return getattr(lines, "fields", file.found)


def _error(file: Read) -> str:
    advice = file.format.advice if file.format else ""
    path = "standard input" if file.path == "-" else file.path
    return (
        f"No line of {path} has a User-Agent, which tells crawlers apart. Fields found: "
        f"{joined(sorted(file.found - {'agent'}))}. Log the User-Agent, too"
        + (f": {advice}" if advice else "")
    )


def zone_notices(files: Iterable[Read], zone: tzinfo | None) -> list[str]:
    """Return a notice about times without a time zone, or about a zone that no time needs."""
    files = list(files)
    is_needed = any(each.has_local_time for each in files)
    if zone is None and is_needed:
        return [
            "Times have no time zone and are read as UTC; name it with --timezone Europe/Berlin"
        ]
    if zone is not None and files and not is_needed:
        return [f"--timezone {zone} is not used: all times have a time zone"]
    return []


def disordered(files: Iterable[Read]) -> list[str]:
    """Return notices about files that are not in the order of time."""
    return [
        f"{each.path} is not in the order of time (a line is {_words(each.disorder)} older than "
        "one before it): its requests were sorted"
        for each in files
        if each.disorder > _DISORDER
    ]


def check_order(file: Read) -> None:
    """Check that a log that is followed is in the order of time.

    Raises:
        UnreadableError: it is not, so that what is still to come would change the verdicts before.
    """
    if file.disorder > _DISORDER:
        raise UnreadableError(
            f"{file.path}: is not in the order of time: a line is {_words(file.disorder)} older "
            "than one before it. Without --follow its requests are sorted"
        )


def _words(disorder: int) -> str:
    """Return microseconds as days, hours or minutes, for a sentence.

    >>> _words(3 * 86_400_000_000), _words(5_400_000_000), _words(700_000_000)
    ('3 days', '90 minutes', '11 minutes')
    """
    minutes = disorder // 60_000_000
    for unit, size in (("day", 1440), ("hour", 60)):
        if minutes >= 2 * size:
            return count_noun(minutes // size, unit)
    return count_noun(minutes, "minute")

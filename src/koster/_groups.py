"""Groups: the second step, from the rows of `_lines` to a row for each group.

A group is ``(first row, row after its last)``; its agents and rules are the rows in between.
Where a dialect has versions, each group also has the number of its reading.

RFC 9309 §2.2.1 and §2.2.4: the first rule closes a group's list of agents, and no other line,
blank lines included, ends anything. MK1994 and MK1996: a blank line ends a record.
"""

from __future__ import annotations

import re

from . import _lines
from .dialects import Records
from .model import Directive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._rows import Rows

_USER_AGENT = Directive.USER_AGENT.code
_ALLOW = Directive.ALLOW.code
_DISALLOW = Directive.DISALLOW.code
_ROBOT_VERSION = Directive.ROBOT_VERSION.code
_BLANK_LINE_ENDS = int(Records.BLANK_LINE_ENDS)

_VERSION = re.compile(rb"(\d{1,9})\.(\d{1,9})(?:\.\d+)?")


def delimit(rows: Rows, records: int, groups: Rows) -> None:
    """Add to ``groups`` a row for each group."""
    first = -1
    closed = False
    for row in range(rows.count):
        code = rows.code(row)
        if code == _USER_AGENT:
            if first < 0 or closed:
                _end(rows, records, first, row, groups)
                first = row
                closed = False
        elif code == _lines.BLANK:
            _end(rows, records, first, row, groups)
            first = -1
        elif code == _ALLOW or code == _DISALLOW or records == _BLANK_LINE_ENDS:
            closed = True
    _end(rows, records, first, rows.count, groups)


def _end(rows: Rows, records: int, first: int, after: int, groups: Rows) -> None:
    """Add the group ``first`` to ``after``, if there is one."""
    if first < 0 or (records == _BLANK_LINE_ENDS and not _is_record(rows, first, after)):
        return
    groups.add_pair(first, after)


def _is_record(rows: Rows, first: int, after: int) -> bool:
    """Tell whether a record names a robot and says something (MK1994: "At least one Disallow")."""
    named = False
    ruled = False
    for row in range(first, after):
        code = rows.code(row)
        if code == _USER_AGENT and rows.end(row) > rows.start(row):
            named = True
        elif code == _ALLOW or code == _DISALLOW:
            ruled = True
    return named and ruled


def version_row(rows: Rows, first: int, after: int) -> int:
    """Return the row of a group's Robot-version, directly after its agents, or -1."""
    while first < after and rows.code(first) == _USER_AGENT:
        first += 1
    return first if first < after and rows.code(first) == _ROBOT_VERSION else -1


def reading_of(value: bytes, majors: list[int]) -> int:
    """Return the number of the reading that a Robot-version chooses.

    0 is the dialect's own, which also holds where the version is none; the others are those of
    ``majors``, in their order. -1: the group is to be passed over.
    """
    version = _VERSION.fullmatch(value)
    if version is None:
        return 0
    major, minor = int(version[1]), int(version[2])
    return majors.index(major) + 1 if minor % 2 == 0 and major in majors else -1

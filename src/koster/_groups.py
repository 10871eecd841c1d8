"""Groups: the second step, from the rows of `_lines` to a row for each group.

A group is ``(first row, row after its last, row of its version, number of its reading)``. Its
agents and rules are the rows in between; the version's row is -1 where there is none, and the
reading -1 for a group that is to be passed over.

RFC 9309 §2.2.1 and §2.2.4: the first rule closes a group's list of agents, and no other line,
blank lines included, ends anything. MK1994 and MK1996: a blank line ends a record.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import _lines
from .dialects import Records
from .model import Directive

if TYPE_CHECKING:
    from ._rows import Rows
    from .dialects import Dialect

_USER_AGENT = Directive.USER_AGENT.code
_ALLOW = Directive.ALLOW.code
_DISALLOW = Directive.DISALLOW.code
_ROBOT_VERSION = Directive.ROBOT_VERSION.code
_BLANK_LINE_ENDS = int(Records.BLANK_LINE_ENDS)

_VERSION = re.compile(rb"(\d{1,9})\.(\d{1,9})(?:\.\d+)?")


def delimit(rows: Rows, records: int, groups: Rows) -> None:
    """Add to ``groups`` a row for each group, read by the first reading."""
    first = -1
    closed = False
    for row in range(rows.count):
        code = rows.values[4 * row]
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
    row = first
    while row < after and rows.values[4 * row] == _USER_AGENT:
        row += 1
    has_version = row < after and rows.values[4 * row] == _ROBOT_VERSION
    groups.add(first, after, row if has_version else -1, 0)


def _is_record(rows: Rows, first: int, after: int) -> bool:
    """Tell whether a record names a robot and says something (MK1994: "At least one Disallow")."""
    named = False
    ruled = False
    for row in range(first, after):
        code = rows.values[4 * row]
        if code == _USER_AGENT and rows.values[4 * row + 3] > rows.values[4 * row + 2]:
            named = True
        elif code == _ALLOW or code == _DISALLOW:
            ruled = True
    return named and ruled


def choose_readings(data: bytes, rows: Rows, groups: Rows, dialect: Dialect) -> None:
    """Give each group that has a Robot-version the number of its reading.

    0 is the dialect's own; the others are those of its ``versions``, in their order.
    """
    majors = list(dialect.versions)
    for group in range(groups.count):
        row = groups.values[4 * group + 2]
        if row < 0:
            continue
        value = data[rows.values[4 * row + 2] : rows.values[4 * row + 3]]
        version = _VERSION.fullmatch(value)
        if version is None:
            continue
        major, minor = int(version[1]), int(version[2])
        usable = minor % 2 == 0 and major in dialect.versions
        groups.values[4 * group + 3] = majors.index(major) + 1 if usable else -1

# cython: binding=False
"""Groups: the second step, from the rows of `lexer` to a row for each group.

A group is ``(first row, row after the last)``; its agents and rules are the rows in between.

RFC 9309 §2.2.1 and §2.2.4: the first rule closes a group's list of agents, and no other line,
blank lines included, ends anything. MK1994 and MK1996: a blank line ends a record.
"""

from __future__ import annotations

import re

from ..dialects import GroupNeeds, Orphans
from ..model import Directive, LineKind
from . import lexer as _lexer
from . import no_cython as cython

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..dialects import Dialect
    from .rows import Rows
elif cython.compiled:
    import cython

_USER_AGENT = Directive.USER_AGENT.code
_ALLOW = Directive.ALLOW.code
_DISALLOW = Directive.DISALLOW.code
_ROBOT_VERSION = Directive.ROBOT_VERSION.code

#: Only the last digit of the minor number is needed: whether it is even. Compiled when it is first
#: used: few dialects have versions.
_VERSION = rb"0*(\d{1,9})\.\d*(\d)(?:\.\d+)?"
_LINE_ENDS = rb"\r\n|\n|\r"


class Grouping:
    """How a dialect forms groups, as numbers. Made once for each dialect."""

    def __init__(self, dialect: Dialect, needs: GroupNeeds) -> None:
        directives = [kind for kind in dialect.closing if isinstance(kind, Directive)]
        self.closing = sum([1 << directive.code for directive in directives])
        if LineKind.UNKNOWN in dialect.closing:
            self.closing |= 1 << _lexer.UNKNOWN
        self.needs_rules = needs == GroupNeeds.RULES
        self.needs_directives = needs == GroupNeeds.DIRECTIVES
        self.orphans = dialect.orphans == Orphans.FOR_EVERYBODY


@cython.locals(closed="bint", orphans="bint")
def delimit(rows: Rows, grouping: Grouping, groups: Rows) -> None:
    """Add to ``groups`` a row for each group."""
    first = -1
    closed = False
    orphans = grouping.orphans
    for row in range(rows.count):
        code = rows.code(row)
        if code == _USER_AGENT:
            orphans = False
            if first < 0 or closed:
                _end(rows, grouping, first, row, groups)
                first = row
                closed = False
        elif code == _lexer.BLANK:
            _end(rows, grouping, first, row, groups)
            first = -1
        elif code != _lexer.MALFORMED and grouping.closing >> code & 1:
            closed = True
            if orphans and first < 0:
                first = row
    _end(rows, grouping, first, rows.count, groups)


def _end(rows: Rows, grouping: Grouping, first: int, after: int, groups: Rows) -> None:
    """Add the group ``first`` to ``after``, if there is one."""
    if first < 0 or (
        (grouping.needs_rules or grouping.needs_directives)
        and not _meets_needs(rows, grouping.needs_rules, first, after)
    ):
        return
    groups.add_pair(first, after)


@cython.locals(named="bint", has_directive="bint")
def _meets_needs(rows: Rows, rules: bool, first: int, after: int) -> bool:
    """Tell whether a group has a name and a directive (MK1994: "At least one Disallow")."""
    named = rows.code(first) != _USER_AGENT
    has_directive = False
    for row in range(first, after):
        code = rows.code(row)
        if code == _USER_AGENT:
            named = named or rows.end(row) > rows.start(row)
        elif code in (_ALLOW, _DISALLOW) or not rules:
            has_directive = True
    return named and has_directive


def group_of(groups: Rows, row: int) -> int:
    """Return the number of the group that a row of the file belongs to, or -1."""
    low = 0
    high = groups.count
    while low < high:
        middle = (low + high) // 2
        if groups.values[2 * middle + 1] <= row:
            low = middle + 1
        else:
            high = middle
    return low if low < groups.count and groups.values[2 * low] <= row else -1


def version_row(rows: Rows, first: int, after: int) -> int:
    """Return the row of a group's Robot-version, directly after its agents, or -1."""
    while first < after and rows.code(first) == _USER_AGENT:
        first += 1
    return first if first < after and rows.code(first) == _ROBOT_VERSION else -1


def is_adjacent(data: bytes, after_agent: int, version: int) -> bool:
    """Tell whether there are only comments between the last agent and the Robot-version.

    ``after_agent`` is where the value of the agent ends, ``version`` where that of the version
    starts.
    """
    lines = re.split(_LINE_ENDS, data[after_agent:version])
    return all([not line.strip() or line.lstrip().startswith(b"#") for line in lines[1:-1]])  # noqa: C419 - a generator cannot be compiled here


def reading_of(value: bytes, majors: list[int]) -> int:
    """Return the number of the reading that a Robot-version chooses.

    0 is the dialect's own, also for an invalid version; the others are those of ``majors``, in
    order. -1: the group is ignored.
    """
    version = re.fullmatch(_VERSION, value)
    if version is None:
        return 0
    major, minor = int(version[1]), int(version[2])
    return majors.index(major) + 1 if minor % 2 == 0 and major in majors else -1

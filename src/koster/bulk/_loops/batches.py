# cython: boundscheck=False, wraparound=False, binding=False
"""Loops over Arrow's buffers: decisions about many rows, and other work byte by byte.

As in `extents`, the interpreter lock is released where no Python object is needed.
"""

from __future__ import annotations

from ..._engine import document as _document
from ..._engine import lexer as _lexer
from ..._engine import matcher as _matcher
from ..._engine import memory as _memory
from ..._engine import no_cython as cython
from ..._engine import rows as _rows
from ..._engine import selection as _selection
from ..._engine import table as _table
from ..._engine.rows import Rows
from ...decisions import Reason
from ...model import Directive
from . import buffers as _buffers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

    from ..._engine.memory import Bytes, Integers
    from ..._engine.selection import Selection
    from ...dialects import Dialect
    from .buffers import Buffer, Longs
elif cython.compiled:
    import cython

_ALLOW = Directive.ALLOW.code
_DISALLOW = Directive.DISALLOW.code

#: Reasons by number.
REASONS = (
    Reason.RULE,
    Reason.NO_RULE,
    Reason.NO_GROUP,
    Reason.ROBOTS_TXT,
    Reason.URL_TOO_LONG,
)
#: The maximum number of selections of a file that a new one can share rules with.
_MAX_SHARED = 64

_RULE, _NO_RULE, _NO_GROUP, _ROBOTS_TXT, _URL_TOO_LONG = range(5)

#: The bytes at the begin and at the end of a value that its hash is made of.
_HASHED = 128
#: Values with the same hash are compared with at most so many others.
_MAX_PROBES = 64


class Answers:
    """Buffers that `decide` fills, with an item for each row.

    ``lines`` are 0 if no rule decided. ``starts`` is where the pattern of the rule that decided
    starts in the bodies, or -1 without a rule; ``sizes`` its size in bytes.
    """

    def __init__(
        self,
        allowed: bytearray,
        reasons: bytearray,
        lines: array[int],
        starts: array[int],
        sizes: array[int],
    ) -> None:
        self.allowed = allowed
        self.reasons = reasons
        self.lines = lines
        self.starts = starts
        self.sizes = sizes

    def fill(
        self,
        selection: Selection,
        body: int,
        urls: Bytes,
        bounds: Longs,
        order: Longs,
        first: int,
        after: int,
    ) -> bool:
        """Decide about the URLs of some rows; ``body`` is where their robots.txt starts.

        Tells whether there was memory.
        """
        table = selection.ruleset.table_for(after - first)
        lines = selection.file.rows
        unmatched = _NO_RULE if selection.chosen else _NO_GROUP
        with cython.nogil:
            for index in range(first, after):
                row = order[index]
                size = bounds[row + 1] - bounds[row]
                number = _matcher.rule_for(_buffers.part(urls, bounds[row], size), size, table)
                if number == _matcher.NO_MEMORY:
                    return False
                self.allowed[row] = _matcher.allows(table, number)
                self.starts[row] = -1
                if number >= 0:
                    line = table.get(number, _table.ROW)
                    self.reasons[row] = _RULE
                    self.lines[row] = lines.number(line)
                    self.starts[row] = body + lines.start(line)
                    self.sizes[row] = lines.end(line) - lines.start(line)
                elif number == _matcher.EXEMPT:
                    self.reasons[row] = _ROBOTS_TXT
                elif number == _matcher.TOO_LONG:
                    self.reasons[row] = _URL_TOO_LONG
                else:
                    self.reasons[row] = unmatched
        return True


def decide(
    dialect: Dialect,
    data: Buffer,
    starts: Longs,
    ends: Longs,
    bodies: Longs,
    urls: Buffer,
    bounds: Longs,
    agents: Sequence[tuple[str, ...]],
    agent_codes: Longs,
    order: Longs,
    answers: Answers,
) -> None:
    """Decide for each row in ``order`` whether an agent may fetch a URL.

    Row n has the body ``data[starts[bodies[n]]:ends[bodies[n]]]``, the URL
    ``urls[bounds[n]:bounds[n + 1]]`` and the agent ``agents[agent_codes[n]]``, its names in
    order of preference. Adjacent rows with the same body share one parse, and with the same agent,
    too, one selection of groups.

    Raises:
        MemoryError: no memory for a file or a path.
    """
    raw = _buffers.address(urls)
    plan = _document.plan_for(dialect)
    names: list[tuple[bytes, ...]] = []
    for agent_names in agents:
        names.append(tuple([_selection.encoded(name) for name in agent_names]))  # noqa: PERF401
    after = 0
    while after < len(order):
        first = after
        body = bodies[order[first]]
        start = starts[body]
        file = _document.read(bytes(data[start : ends[body]]), plan)
        selections: list[Selection] = []
        while after < len(order) and bodies[order[after]] == body:
            first = after
            agent = agent_codes[order[first]]
            while (
                after < len(order)
                and bodies[order[after]] == body
                and agent_codes[order[after]] == agent
            ):
                after += 1
            selection = _selection.select(file, names[agent], selections)
            selections = [*selections[-_MAX_SHARED:], selection]
            if not answers.fill(selection, start, raw, bounds, order, first, after):
                raise MemoryError("no memory for the path of a URL")


@cython.locals(orphans="int")
def survey(
    body: bytes, dialect: Dialect
) -> tuple[list[int], list[tuple[int, bytes, int, int]], list[bytes], int, int, int]:
    """Count the lines and groups of a file.

    Returns the number of lines by code; code, value, line and group (from 1; 0 outside any) of each
    directive except rules; the unknown directives, one for each line; and the numbers of groups, of
    rules before any group, and of malformed lines.
    """
    file = _document.read(body, _document.plan_for(dialect))
    rows = Rows(3, 8 + len(file.data) // 16)
    file.plan.lexer.scan(file.data, len(file.data), rows, True)
    rows.close()
    counts = [0] * _rows.CODES
    unknown: list[bytes] = []
    data: Bytes = file.data
    for row in range(rows.count):
        code = rows.code(row)
        counts[code] += 1
        if code == _lexer.UNKNOWN:
            start = rows.start(row)
            unknown.append(file.data[_lexer.line_start(data, start) : start])
    entries = []
    orphans = 0
    for row in range(file.rows.count):
        group = file.group_of(row) + 1
        code = file.rows.code(row)
        if code in (_ALLOW, _DISALLOW):
            orphans += group == 0
        elif code != _lexer.UNKNOWN and code < _lexer.BLANK:
            entries.append((code, file.value(row), file.rows.number(row), group))
    return counts, entries, unknown, file.groups.count, orphans, counts[_lexer.MALFORMED]


def distinct(
    data: Buffer, starts: Longs, ends: Longs, numbers: array[int], firsts: array[int]
) -> int:
    """Number the values in a buffer, equal ones alike; return how many numbers.

    Value n is ``data[starts[n]:ends[n]]``. ``firsts`` has for each number the index of its first
    value. Equal values may have different numbers if the file is made to slow this down.

    Raises:
        MemoryError: no memory to find values that are equal.
    """
    if not len(starts):
        return 0
    raw = _buffers.address(data)
    size = 2
    while size < 2 * len(starts) + 2:
        size *= 2
    slots = _memory.integers(size)
    if not slots:
        raise MemoryError("no memory for a column")
    with cython.nogil:
        count = _number_values(raw, starts, ends, numbers, firsts, slots, size - 1)
    _memory.release(slots)
    return count


def _number_values(
    data: Bytes,
    starts: Longs,
    ends: Longs,
    numbers: array[int],
    firsts: array[int],
    slots: Integers,
    mask: int,
) -> int:
    """Number values; ``slots`` are a hash table, with numbers from 1 and 0 for none."""
    count = 0
    for index in range(len(starts)):
        start = starts[index]
        size = ends[index] - start
        known = 0
        if index > 0 and _is_value(data, starts, ends, index - 1, start, size):
            known = numbers[index - 1] + 1
        else:
            slot = _hashed(data, start, size) & mask
            for _ in range(_MAX_PROBES):
                known = slots[slot]
                if known == 0:
                    slots[slot] = count + 1
                    break
                if _is_value(data, starts, ends, firsts[known - 1], start, size):
                    break
                known = 0
                slot = (slot + 1) & mask
        if known == 0:
            firsts[count] = index
            count += 1
            known = count
        numbers[index] = known - 1
    return count


def _hashed(data: Bytes, start: int, size: int) -> int:
    """Return a hash of a value: of its begin and its end, where most differ that are different."""
    if size <= 2 * _HASHED:
        return _buffers.hashed(data, start, size)
    begin = _buffers.hashed(data, start, _HASHED)
    end = _buffers.hashed(data, start + size - _HASHED, _HASHED)
    return begin ^ (end >> 1) ^ size


def _is_value(data: Bytes, starts: Longs, ends: Longs, index: int, start: int, size: int) -> bool:
    """Tell whether a value equals some bytes."""
    return size == ends[index] - starts[index] and _memory.same(
        data, starts[index], data, start, size
    )


def is_sorted(numbers: Longs) -> bool:
    """Tell whether integers are in ascending order."""
    for index in range(1, len(numbers)):
        if numbers[index] < numbers[index - 1]:
            return False
    return True


def count_up(numbers: Longs) -> bool:
    """Tell whether integers are 0, 1, 2 and so on."""
    for index in range(len(numbers)):
        if numbers[index] != index:
            return False
    return True


def marked(data: Buffer, starts: Longs, ends: Longs) -> list[int]:
    """Return the numbers of parts that may have the byte order mark of UTF-16 or UTF-32.

    The first byte of these marks is 0x00, 0xFE or 0xFF.
    """
    text = _buffers.address(data)
    found = []
    for index in range(len(starts)):
        start = starts[index]
        if ends[index] > start + 1 and (text[start] >= 0xFE or text[start] == 0):
            found.append(index)
    return found


@cython.locals(byte="unsigned char", seen="unsigned char")
def unusual(data: Buffer, starts: Longs, ends: Longs) -> list[int]:
    """Return the numbers of parts that are not ASCII, or have NUL."""
    text = _buffers.address(data)
    found = []
    for index in range(len(starts)):
        seen = 0
        for at in range(starts[index], ends[index]):
            # The highest bit tells both: it is set in 0 less one, as bytes wrap around.
            byte = text[at]
            seen |= byte | ((byte - 1) & 255)
        if seen & 128:
            found.append(index)
    return found


def gather(data: Buffer, starts: Longs, ends: Longs, bounds: array[int]) -> bytearray:
    """Concatenate ``data[starts[n]:ends[n]]``, and fill in their bounds, one more than parts.

    A part with a negative start is empty.
    """
    total = 0
    bounds[0] = 0
    for row in range(len(starts)):
        if starts[row] >= 0:
            total += ends[row] - starts[row]
        bounds[row + 1] = total
    found = _buffers.unfilled(total)
    if total:
        _copy(_buffers.address(data), starts, bounds, _buffers.room(found))
    return found


def _copy(data: Bytes, starts: Longs, bounds: array[int], target: bytearray) -> None:
    with cython.nogil:
        for row in range(len(starts)):
            size = bounds[row + 1] - bounds[row]
            if size > 0:
                _memory.copy(target, bounds[row], data, starts[row], size)

"""Lines: the first step, from bytes to a row for each line with a directive.

Takes the bytes of a robots.txt and a dialect's choices for lines; adds rows of ``(code,
line number, start of value, end of value)``, where code is a `Directive`'s, or `BLANK`.
All bytes are valid input: nothing raises, and the time is linear in their number.

RFC 9309 §2.2: lines end at CRLF, LF or CR, ``#`` starts a comment, and a line is ``key :
value``. Google's parser, and so every dialect here, also accepts exactly two words without a
colon as key and value, and some misspelt keys.
"""

from __future__ import annotations

from ..dialects import BUFFER_BYTES, BlankLines, Bom, Comments, Keys, LineEnd, Separator
from ..model import Directive, LineKind
from . import memory as _memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..dialects import Dialect
    from .memory import Bytes
    from .rows import Rows

#: Codes of lines without a known directive. The rows of a parsed file have only `BLANK` and
#: `UNKNOWN`, if these end something; the others are for callers that need all lines.
UNKNOWN = 0
BLANK, COMMENT, MALFORMED = range(101, 104)

_LF = 10
_CR = 13
_SPACE = 32
_TAB = 9
_HASH = 35
_COLON = 58

#: 1 for ASCII whitespace.
_WHITE_TABLE = bytes(byte in b" \t\n\r\v\f" for byte in range(256))
WHITE = _WHITE_TABLE

#: The column of a byte in the automaton that recognises keys; 0 if no key contains it.
_KEY_BYTES = b"abcdefghijklmnopqrstuvwxyz- "
_COLUMN_TABLE = bytes(_KEY_BYTES.find(bytes([byte]).lower()) + 1 for byte in range(256))
_COLUMN = _COLUMN_TABLE
_WIDTH = len(_KEY_BYTES) + 1


def _automaton(spellings: dict[str, int]) -> list[list[int]]:
    """Return a trie over spellings: a list of states, each the next state of each column.

    Column 0 of a state is the code of the spelling that ends there, or 0. State 0 is dead,
    state 1 the start.
    """
    states = [[0] * _WIDTH, [0] * _WIDTH]
    for spelling, code in spellings.items():
        state = 1
        for byte in spelling.encode("ascii"):
            column = _COLUMN_TABLE[byte]
            if not states[state][column]:
                states[state][column] = len(states)
                states.append([0] * _WIDTH)
            state = states[state][column]
        states[state][0] = code
    return states


class Lexer:
    """The lines of one dialect. Made once for a dialect, used for any number of files."""

    def __init__(self, dialect: Dialect) -> None:
        spellings = dialect.spellings or {
            spelling: directive for directive in Directive for spelling in directive.spellings
        }
        codes = {
            spelling: directive.code
            for spelling, directive in spellings.items()
            if directive in dialect.directives
        }
        table = [value for state in _automaton(codes) for value in state]
        self._table = _memory.integers(len(table))
        if not self._table:
            raise MemoryError("no memory for the directives of a dialect")
        for index, value in enumerate(table):
            self._table[index] = value
        self._prefix = dialect.keys == Keys.PREFIX
        self._after_space = dialect.comments == Comments.AFTER_SPACE
        self._buffer = BUFFER_BYTES if dialect.line_end == LineEnd.BUFFER else 0
        self._partial_bom = dialect.bom == Bom.PARTIAL
        self._blanks = dialect.blank_lines == BlankLines.END_GROUP
        self._unknowns = LineKind.UNKNOWN in dialect.closing
        self._two_words = dialect.separator == Separator.COLON_OR_SPACE

    def __dealloc__(self) -> None:
        _memory.release(self._table)

    def scan(self, data: Bytes, size: int, rows: Rows, all_lines: bool) -> None:
        """Add a row for each line of ``data``; ``all_lines`` includes those without a directive."""
        start = self.after_bom(data, size)
        number = last = key_size = code = 0
        feed = carriage = mark = -1
        while start < size:
            number += 1
            if feed < start:
                feed = _memory.find(data, _LF, start, size)
            if carriage < start:
                carriage = _memory.find(data, _CR, start, size)
            if mark < start:
                mark = self._comment(data, start, size)
            stop = min(carriage, feed)
            end = min(stop, mark)
            if self._buffer:
                end = _memory.find(data, 0, start, min(end, start + self._buffer))
            # Most lines have the key of the last one.
            if key_size and end - start >= key_size and _memory.same(
                data, start, data, last, key_size
            ):  # fmt: skip
                _add(rows, code, number, data, start + key_size, end)
            else:
                found, found_code = self._line(data, start, end, stop, number, rows, all_lines)
                if found:
                    last, key_size, code = start, found, found_code
            start = stop + 2 if carriage + 1 == feed else stop + 1

    def after_bom(self, data: Bytes, size: int) -> int:
        """Return where the first line starts."""
        length = 0
        if size > 0 and data[0] == 0xEF:
            length = 1
            if size > 1 and data[1] == 0xBB:
                length = 2
                if size > 2 and data[2] == 0xBF:
                    length = 3
        return length if length == 3 or self._partial_bom else 0

    def _comment(self, data: Bytes, start: int, size: int) -> int:
        """Return where the next comment starts, at or after ``start``, the start of a line."""
        mark = _memory.find(data, _HASH, start, size)
        if self._after_space:
            while start < mark < size and not WHITE[data[mark - 1]]:
                mark = _memory.find(data, _HASH, mark + 1, size)
        return mark

    def _line(
        self, data: Bytes, start: int, end: int, stop: int, number: int, rows: Rows, all_lines: bool
    ) -> tuple[int, int]:
        """Add the row of the line ``data[start:end]``, which with its comment ends at ``stop``.

        Returns up to where, counted from ``start``, equal bytes have the same key, and its code; 0
        if that depends on what follows, or there is no row.
        """
        at = start
        while at < end and WHITE[data[at]]:
            at += 1
        if at == end:
            if all_lines or (self._blanks and end == stop):
                rows.add_line(BLANK if end == stop else COMMENT, number, end, end)
            return 0, BLANK
        if not (all_lines or self._unknowns or self._table[_WIDTH + _COLUMN[data[at]]]):
            # No key starts so, as on most lines of HTML pages.
            return 0, UNKNOWN
        separator, code = self._key(data, at, end)
        if not all_lines and (code == MALFORMED or (code == UNKNOWN and not self._unknowns)):
            return 0, code
        _add(rows, code, number, data, separator + 1, end)
        if code == MALFORMED or data[separator] != _COLON:
            return 0, code
        return separator + 1 - start, code

    def _key(self, data: Bytes, start: int, end: int) -> tuple[int, int]:
        """Return the position of a line's separator, and the code of its key."""
        table = self._table
        state = 1
        at = start
        while at < end and _COLUMN[data[at]]:
            state = table[state * _WIDTH + _COLUMN[data[at]]]
            at += 1
        if at < end and data[at] == _COLON and table[state * _WIDTH]:
            return at, table[state * _WIDTH]
        return self._unusual_key(data, start, end)

    def _unusual_key(self, data: Bytes, start: int, end: int) -> tuple[int, int]:
        """Return the position of an unusual line's separator, and the code of its key.

        Unusual is everything except a known key directly followed by a colon.
        """
        separator = _memory.find(data, _COLON, start, end)
        if separator == end and self._two_words:
            separator = self._two_words_gap(data, start, end)
        key_end = separator
        while key_end > start and WHITE[data[key_end - 1]]:
            key_end -= 1
        if key_end == start or separator == end:
            return start - 1, MALFORMED
        return separator, self._code_of_key(data, start, key_end)

    def _two_words_gap(self, data: Bytes, start: int, end: int) -> int:
        """Return where the first of exactly two words ends, or ``end``."""
        last = end
        # The first byte is not white.
        while WHITE[data[last - 1]]:
            last -= 1
        gap = self._word_end(data, start, last)
        second = gap
        while second < last and (data[second] == _SPACE or data[second] == _TAB):
            second += 1
        if gap < last and self._word_end(data, second, last) == last:
            return gap
        return end

    def _word_end(self, data: Bytes, start: int, end: int) -> int:
        """Return where the word at ``start`` ends."""
        while start < end and data[start] != _SPACE and data[start] != _TAB:
            start += 1
        return start

    def _code_of_key(self, data: Bytes, start: int, end: int) -> int:
        """Return the code of the key ``data[start:end]``, or `UNKNOWN`."""
        state = 1
        for at in range(start, end):
            state = self._table[state * _WIDTH + _COLUMN[data[at]]] if _COLUMN[data[at]] else 0
            if not state:
                break
            if self._prefix and self._table[state * _WIDTH]:
                return self._table[state * _WIDTH]
        return self._table[state * _WIDTH]


def _add(rows: Rows, code: int, number: int, data: Bytes, start: int, end: int) -> None:
    """Add the row of a line whose value is in ``data[start:end]``."""
    while start < end and WHITE[data[start]]:
        start += 1
    while end > start and WHITE[data[end - 1]]:
        end -= 1
    rows.add_line(code, number, start, end)


def line_start(data: Bytes, at: int) -> int:
    """Return the start of the line that contains or ends at ``data[at]``."""
    while at > 0 and data[at - 1] != _LF and data[at - 1] != _CR:
        at -= 1
    return at

"""Names: compares the names of a group with an agent.

A name stands in a User-agent line. Which part of it counts, and what it is compared with, depends
on the method: one of `Names`, or `WHOLE_NAME`.
"""

from __future__ import annotations

from ..dialects import Names
from ..model import Directive
from . import lexer as _lexer
from . import memory as _memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .memory import Bytes
    from .rows import Rows

_USER_AGENT = Directive.USER_AGENT.code
PRODUCT_TOKEN = int(Names.PRODUCT_TOKEN)
LETTERS = int(Names.LETTERS)
_SUBSTRING = int(Names.SUBSTRING)

#: In addition to `Names`: equals a name that was found in a User-Agent header.
WHOLE_NAME = len(Names)

#: How a User-agent line matches an agent.
OTHERS, EVERYBODY, NAMED = range(3)

_STAR = 42
_SLASH = 47
_SPACE = 32

_LOWER_TABLE = bytes(range(256)).lower()
LOWER = _LOWER_TABLE
_LETTER_TABLE = bytes(
    byte in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-" for byte in range(256)
)
LETTER = _LETTER_TABLE


class AgentNames:
    """The names of agents: finds the one that a User-agent line names."""

    def __init__(self, tokens: Sequence[bytes], method: int) -> None:
        """Take distinct names in lower case, and the `Names` of the dialect."""
        self.count = len(tokens)
        self.is_letters = method == LETTERS
        letters = sorted({byte for token in tokens for byte in token})
        self.width = len(letters) + 1
        columns = bytearray(256)
        for byte, lower in enumerate(bytes(range(256)).lower()):
            columns[byte] = letters.index(lower) + 1 if lower in letters else 0
        states = [[0] * self.width, [0] * self.width]
        for number, token in enumerate(tokens):
            state = 1
            for byte in token:
                if not states[state][columns[byte]]:
                    states[state][columns[byte]] = len(states)
                    states.append([0] * self.width)
                state = states[state][columns[byte]]
            if token:
                states[state][0] = number + 1
        # Keeps the memory of the pointer alive.
        self.column_bytes = bytes(columns)
        self.columns = self.column_bytes
        self.states = _memory.integers(len(states) * self.width)
        if not self.states:
            raise MemoryError("no memory for the names of agents")
        for index, value in enumerate([value for state in states for value in state]):
            self.states[index] = value

    def __dealloc__(self) -> None:
        _memory.release(self.states)

    def number(self, data: Bytes, start: int, end: int) -> int:
        """Return the number of the token that equals a name or its first word, or -1."""
        end = letters_end(data, start, end) if self.is_letters else name_end(data, start, end)
        state = 1
        while start < end and state and not _lexer.WHITE[data[start]]:
            column = self.columns[data[start]]
            state = self.states[state * self.width + column] if column else 0
            start += 1
        return self.states[state * self.width] - 1

    def is_everybody(self, data: Bytes, start: int, end: int) -> bool:
        """Tell whether a name is ``*``."""
        if self.is_letters:
            return is_everybody_in_letters(data, start, end)
        return is_everybody(data, start, end)


def match_group(raw: bytes, rows: Rows, first: int, after: int, how: int, key: bytes) -> int:
    """Return the best match among the User-agent lines of a group."""
    data: Bytes = raw
    agent: Bytes = key
    size = len(key)
    best = OTHERS
    if first < after and rows.code(first) != _USER_AGENT:
        best = EVERYBODY
    for row in range(first, after):
        if rows.code(row) == _USER_AGENT and best != NAMED:
            start = rows.start(row)
            end = rows.end(row)
            if how == PRODUCT_TOKEN:
                match = _match_token(data, start, end, agent, size)
            elif how == LETTERS:
                match = _match_letters(data, start, end, agent, size)
            elif how == WHOLE_NAME:
                match = _match_name(data, start, end, agent, size)
            else:
                match = _match_part(raw, start, end, how, key)
            best = max(best, match)
    return best


def _match_token(data: Bytes, start: int, end: int, token: Bytes, size: int) -> int:
    """Compare a name, or its first word, with a product token."""
    if is_everybody(data, start, end):
        return EVERYBODY
    end = name_end(data, start, end)
    if size == 0 or end - start < size or not equals_ignoring_case(data, start, token, 0, size):
        return OTHERS
    return NAMED if end - start == size or _lexer.WHITE[data[start + size]] else OTHERS


def _match_name(data: Bytes, start: int, end: int, key: Bytes, size: int) -> int:
    """Compare a name, with inner whitespace folded, with a whole name."""
    if is_everybody(data, start, end):
        return EVERYBODY
    end = name_end(data, start, end)
    at = 0
    while start < end and at < size:
        byte = LOWER[data[start]]
        if _lexer.WHITE[byte]:
            byte = _SPACE
            # A name does not end with whitespace.
            while _lexer.WHITE[data[start + 1]]:
                start += 1
        if byte != key[at]:
            return OTHERS
        start += 1
        at += 1
    return NAMED if size > 0 and start == end and at == size else OTHERS


def _match_letters(data: Bytes, start: int, end: int, agent: Bytes, size: int) -> int:
    """Compare a name, up to the first byte outside ``A-Za-z_-``, with the whole agent."""
    if is_everybody_in_letters(data, start, end):
        return EVERYBODY
    return (
        NAMED
        if letters_end(data, start, end) - start == size
        and equals_ignoring_case(data, start, agent, 0, size)
        else OTHERS
    )


def _match_part(data: bytes, start: int, end: int, how: int, agent: bytes) -> int:
    """Search the agent for a whole name: anywhere, or at its start."""
    name = data[start:end].lower()
    if name == b"*":
        return EVERYBODY
    if not name:
        return OTHERS
    found = name in agent if how == _SUBSTRING else agent.startswith(name)
    return NAMED if found else OTHERS


def is_everybody(data: Bytes, start: int, end: int) -> bool:
    """Tell whether a name is ``*``, alone or followed by a space or tab."""
    if start == end or data[start] != _STAR:
        return False
    return start + 1 == end or data[start + 1] == 32 or data[start + 1] == 9


def name_end(data: Bytes, start: int, end: int) -> int:
    """Return where a name ends: before the first ``/`` and without trailing ``*``."""
    at = start
    while at < end and data[at] != _SLASH:
        at += 1
    while at > start and (data[at - 1] == _STAR or _lexer.WHITE[data[at - 1]]):
        at -= 1
    return at


def is_everybody_in_letters(data: Bytes, start: int, end: int) -> bool:
    """Tell the same for `Names.LETTERS`: after ``*`` may be any whitespace."""
    if start == end or data[start] != _STAR:
        return False
    return start + 1 == end or _lexer.WHITE[data[start + 1]] != 0


def letters_end(data: Bytes, start: int, end: int) -> int:
    """Return where the letters at the start of a name end, for `Names.LETTERS`."""
    while start < end and LETTER[data[start]]:
        start += 1
    return start


def equals_ignoring_case(data: Bytes, start: int, agent: Bytes, at: int, size: int) -> bool:
    """Tell whether ``size`` bytes equal those of ``agent`` (lower case), ignoring case."""
    for index in range(size):
        if LOWER[data[start + index]] != agent[at + index]:
            return False
    return True

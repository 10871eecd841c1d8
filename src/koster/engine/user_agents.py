"""Agents: the third step, from the agent that asks to the groups that are for it.

Takes a robot's name as bytes and gives the numbers of its groups in file order: those that
name it, else those for everybody (``*``), else none.

RFC 9309 §2.2.1: the name is a product token, compared without case, and all its groups hold
together. What a product token is in practice (versions, several words, a whole User-Agent
header) is decided here; the older standards take the first record instead.
"""

from __future__ import annotations

import bisect
import re

from ..dialects import Names
from ..model import Directive
from . import lexer as _lexer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..dialects import Choose
    from .memory import Bytes
    from .rows import Rows

_USER_AGENT = Directive.USER_AGENT.code
_PRODUCT_TOKEN = int(Names.PRODUCT_TOKEN)
_LETTERS = int(Names.LETTERS)
_SUBSTRING = int(Names.SUBSTRING)
_PREFIX = int(Names.PREFIX)

#: How a User-agent line answers to the agent that asks.
_OTHERS = 0
_EVERYBODY = 1
_NAMED = 2

_WORD = re.compile(rb"[^ ();,]+")

#: Besides the ways of `Names`: a name of a group, found in a User-Agent header, must be equal.
_WHOLE_NAME = 100

#: Besides the ways of `Names`: the dialect's own function chose whole groups.
_CHOSEN = 101

#: Of names up to so long each place in the agent is tried.
_SHORT = 32

#: What is read of a User-Agent header: servers refuse longer ones (nginx, Apache: 8 KiB).
HEADER_BYTES = 8192

_STAR = 42
_SLASH = 47
_SPACE = 32

_LOWER_TABLE = bytes(range(256)).lower()
_LOWER = _LOWER_TABLE
_LETTER_TABLE = bytes(
    byte in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-" for byte in range(256)
)
_LETTER = _LETTER_TABLE

#: What may not stand right before or after a name in a User-Agent header.
_TOKEN_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
#: Nearly every browser and robot calls itself these; as names they would stand in all headers.
_COMMON_WORDS = frozenset({b"mozilla", b"compatible"})


def groups_of(
    data: bytes, rows: Rows, groups: Rows, names: int, merges: bool, agents: tuple[bytes, ...]
) -> tuple[list[int], int, bytes]:
    """Return the numbers of the groups for the first of ``agents`` that any group names.

    With them, for `binding_row`: how names were compared, and with what. Rows of groups that
    are to be passed over are empty. Without ``merges`` only the first group counts.
    """
    everybody: list[int] = []
    for agent in agents:
        how = names
        asked = agent
        if names == _PRODUCT_TOKEN:
            token = product_token(agent)
            if token is None:
                how = _WHOLE_NAME
                asked = _name_in_header(_names(data, rows, groups), agent[:HEADER_BYTES])
            else:
                asked = token
        elif names == _LETTERS:
            asked = agent.lower()
        else:
            asked = agent[:HEADER_BYTES].lower()
            if names == _PREFIX:
                asked = _from_named_word(data, rows, groups, asked)
        everybody = []
        named = _sort_out(data, rows, groups, how, asked, everybody)
        if named:
            return named if merges else named[:1], how, asked
    return everybody if merges else everybody[:1], names, b"*"


def chosen_groups(
    data: bytes,
    rows: Rows,
    groups: Rows,
    choose: Choose,
    merges: bool,
    agents: tuple[bytes, ...],
) -> tuple[list[int], int, bytes]:
    """Return what `groups_of` does, as a dialect's own function chooses."""
    everybody: list[int] = []
    for asked in agents:
        agent = asked[:HEADER_BYTES]
        everybody = []
        names: list[bytes] = []
        numbers: list[int] = []
        if _note_candidates(data, rows, groups, agent.lower(), names, numbers, everybody):
            named = list(choose(names, numbers, agent))
            if named:
                return named, _CHOSEN, agent
    return everybody if merges else everybody[:1], _CHOSEN, b"*"


def _note_candidates(
    data: bytes,
    rows: Rows,
    groups: Rows,
    asked: bytes,
    names: list[bytes],
    numbers: list[int],
    everybody: list[int],
) -> bool:
    """Note the names that may be those of an agent, and ``*``; tell whether there are others."""
    others = False
    size = len(asked)
    for group in range(groups.count):
        first = groups.values[2 * group]
        for row in range(first, groups.values[2 * group + 1]):
            if rows.code(row) == _USER_AGENT:
                start = rows.start(row)
                end = rows.end(row)
                is_star = end == start + 1 and data[start] == _STAR
                if is_star:
                    names.append(b"*")
                    numbers.append(group)
                elif _may_be_name(data, start, end, asked, size):
                    name = data[start:end].lower()
                    if name in asked or asked in name or _is_odd(data, start, end):
                        names.append(name)
                        numbers.append(group)
                        others = True
            else:
                is_star = row == first
                if is_star:
                    # Rules before any User-agent line.
                    names.append(b"*")
                    numbers.append(group)
            if is_star and (not everybody or everybody[-1] != group):
                everybody.append(group)
    return others


def _is_odd(data: Bytes, start: int, end: int) -> bool:
    """Tell whether a name may match otherwise than by its bytes.

    It has stars, control characters, or characters that are not ASCII.
    """
    for at in range(start, end):
        if data[at] == _STAR or data[at] > 126 or data[at] < _SPACE:
            return True
    return False


def _may_be_name(data: Bytes, start: int, end: int, agent: Bytes, size: int) -> bool:
    """Tell whether name and agent (lower case) stand in one another, or the name is an odd one.

    Where both are long it leaves the question to who asks: byte by byte it could take long.
    """
    length = end - start
    if min(length, size) > _SHORT:
        return True
    if _is_odd(data, start, end):
        return True
    if length <= size:
        for at in range(size - length + 1):
            if _same_letters(data, start, agent, at, length):
                return True
        return False
    for at in range(length - size + 1):
        if _same_letters(data, start + at, agent, 0, size):
            return True
    return False


def binding_row(data: bytes, rows: Rows, first: int, after: int, how: int, asked: bytes) -> int:
    """Return the first row of a group that binds the agent that `groups_of` found it for."""
    if how == _CHOSEN:
        return first
    wanted = _EVERYBODY if asked == b"*" else _NAMED
    for row in range(first, after):
        # Only a group's first row may be none of an agent: of rules before any.
        if (row == first or rows.code(row) == _USER_AGENT) and _answer_of_group(
            data, rows, row, row + 1, how, asked
        ) == wanted:
            return row
    return after


def product_token(agent: bytes) -> bytes | None:
    """Return the token in lower case and without its version, or None for a whole header."""
    if _is_lone_token(agent, len(agent)):
        return agent.lower()
    agent = agent.strip().lower()
    token, _, version = agent.partition(b"/")
    if b"(" in token or b")" in token or len(token.split()) > 1 or len(version.split()) > 1:
        return None
    return None if token != token.strip() or version != version.strip() else token


def _is_lone_token(agent: Bytes, size: int) -> bool:
    """Tell whether an agent is nothing but letters, ``_`` and ``-``: the usual case."""
    for at in range(size):
        if not _LETTER[agent[at]]:
            return False
    return True


def _sort_out(
    data: bytes, rows: Rows, groups: Rows, how: int, agent: bytes, everybody: list[int]
) -> list[int]:
    """Return the groups that name ``agent``; add those for everybody to a list."""
    named: list[int] = []
    for group in range(groups.count):
        answer = _answer_of_group(
            data, rows, groups.values[2 * group], groups.values[2 * group + 1], how, agent
        )
        if answer == _NAMED:
            named.append(group)
        elif answer == _EVERYBODY:
            everybody.append(group)
    return named


def _from_named_word(data: bytes, rows: Rows, groups: Rows, asked: bytes) -> bytes:
    """Return a header (lower case) from the first word on that a name begins, or all of it.

    Words are those of product tokens and comments, but for addresses: those name the operator.
    """
    starts = [word.start() for word in _WORD.finditer(asked) if not _is_address(word[0])]
    if len(starts) < 2:
        return asked
    names = _shortest_names(data, rows, groups)
    for start in starts:
        rest = asked[start:]
        at = bisect.bisect_right(names, rest)
        if at > 0 and rest.startswith(names[at - 1]):
            return rest
    return asked


def _shortest_names(data: bytes, rows: Rows, groups: Rows) -> list[bytes]:
    """Return the names of all groups in lower case, in order, without those that another begins."""
    names = set()
    for group in range(groups.count):
        for row in range(groups.values[2 * group], groups.values[2 * group + 1]):
            if rows.code(row) == _USER_AGENT:
                names.add(data[rows.start(row) : rows.end(row)].lower())
    found: list[bytes] = []
    for name in sorted(names - {b"", b"*"}):
        if not found or not name.startswith(found[-1]):
            found.append(name)
    return found


def _is_address(word: bytes) -> bool:
    """Tell whether a word of a header is a URL or an address."""
    return b"://" in word or b"@" in word or b"www." in word


def _answer_of_group(raw: bytes, rows: Rows, first: int, after: int, how: int, asked: bytes) -> int:
    """Return the best answer among the agent lines of a group."""
    data: Bytes = raw
    agent: Bytes = asked
    size = len(asked)
    best = _OTHERS
    if first < after and rows.code(first) != _USER_AGENT:
        best = _EVERYBODY
    for row in range(first, after):
        if rows.code(row) == _USER_AGENT and best != _NAMED:
            start = rows.start(row)
            end = rows.end(row)
            if how == _PRODUCT_TOKEN:
                answer = _answer_to_token(data, start, end, agent, size)
            elif how == _LETTERS:
                answer = _answer_to_letters(data, start, end, agent, size)
            elif how == _WHOLE_NAME:
                answer = _answer_to_name(data, start, end, agent, size)
            else:
                answer = _answer_to_part(raw, start, end, how, asked)
            best = max(best, answer)
    return best


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


def _same_letters(data: Bytes, start: int, agent: Bytes, at: int, size: int) -> bool:
    """Tell whether ``size`` bytes are those of ``agent`` (lower case) at a place, without case."""
    for index in range(size):
        if _LOWER[data[start + index]] != agent[at + index]:
            return False
    return True


def _answer_to_token(data: Bytes, start: int, end: int, token: Bytes, size: int) -> int:
    """Compare a name, or its first word, with a product token."""
    if is_everybody(data, start, end):
        return _EVERYBODY
    end = name_end(data, start, end)
    if size == 0 or end - start < size or not _same_letters(data, start, token, 0, size):
        return _OTHERS
    return _NAMED if end - start == size or _lexer.WHITE[data[start + size]] else _OTHERS


def _answer_to_name(data: Bytes, start: int, end: int, asked: Bytes, size: int) -> int:
    """Compare a name, its inner whitespace folded, with a whole name."""
    if is_everybody(data, start, end):
        return _EVERYBODY
    end = name_end(data, start, end)
    at = 0
    while start < end and at < size:
        byte = _LOWER[data[start]]
        if _lexer.WHITE[byte]:
            byte = _SPACE
            while start + 1 < end and _lexer.WHITE[data[start + 1]]:
                start += 1
        if byte != asked[at]:
            return _OTHERS
        start += 1
        at += 1
    return _NAMED if size > 0 and start == end and at == size else _OTHERS


def _answer_to_letters(data: Bytes, start: int, end: int, agent: Bytes, size: int) -> int:
    """Compare a name, up to the first byte outside ``A-Za-z_-``, with the whole agent."""
    if start < end and data[start] == _STAR and (start + 1 == end or _lexer.WHITE[data[start + 1]]):
        return _EVERYBODY
    at = start
    while at < end and _LETTER[data[at]]:
        at += 1
    return _NAMED if at - start == size and _same_letters(data, start, agent, 0, size) else _OTHERS


def _answer_to_part(data: bytes, start: int, end: int, how: int, agent: bytes) -> int:
    """Look for a whole name in the agent: anywhere, or where it begins."""
    name = data[start:end].lower()
    if name == b"*":
        return _EVERYBODY
    if not name:
        return _OTHERS
    found = name in agent if how == _SUBSTRING else agent.startswith(name)
    return _NAMED if found else _OTHERS


def _names(data: bytes, rows: Rows, groups: Rows) -> set[bytes]:
    """Return every name that a group has, in its canonical form."""
    names = set()
    for group in range(groups.count):
        for row in range(groups.values[2 * group], groups.values[2 * group + 1]):
            start = rows.start(row)
            end = rows.end(row)
            if rows.code(row) == _USER_AGENT and not is_everybody(data, start, end):
                value = data[start : name_end(data, start, end)]
                names.add(b" ".join(value.lower().split()))
    return names


def _name_in_header(names: set[bytes], header: bytes) -> bytes:
    """Return the longest name that stands in a header, the first of several; else nothing.

    Words with a URL or an address in them are not searched: they say who runs the robot. Words
    also end where comments and their parts do (RFC 9110 §5.6.5): ``(compatible;PetalBot;+https:…``.
    """
    text = _WORD.sub(_unless_address, b" ".join(header.lower().split()))
    best = (0, 0, b"")
    for name in names - _COMMON_WORDS - {b""}:
        at = _standing(text, name)
        if at >= 0:
            best = max(best, (len(name), -at, name))
    return best[2]


def _unless_address(word: re.Match[bytes]) -> bytes:
    """Return a word, or nothing that could be a name."""
    return b"\n" if _is_address(word[0]) else word[0]


def _standing(text: bytes, name: bytes) -> int:
    """Return where ``name`` stands in ``text`` as words of its own, or -1."""
    at = text.find(name)
    while at >= 0:
        after = at + len(name)
        if (at == 0 or text[at - 1] not in _TOKEN_BYTES) and (
            after == len(text) or text[after] not in _TOKEN_BYTES
        ):
            return at
        # It can only stand where a word begins: not again in this one.
        at += 1
        while at < len(text) and text[at - 1] in _TOKEN_BYTES:
            at += 1
        at = text.find(name, at)
    return -1

"""Agents: the third step, from an agent to the groups that apply to it.

Takes an agent as bytes and returns the numbers of its groups in file order: those that name it,
else the ``*`` groups, else none.

RFC 9309 §2.2.1: the name is a product token, compared ignoring case, and all its groups are
combined. Variants of product tokens in practice (versions, several words, a User-Agent header) are
handled here; the older standards use the first record instead.
"""

from __future__ import annotations

import re

from ..dialects import Names
from ..model import Directive
from . import lexer as _lexer
from . import names as _names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..dialects import Choose
    from .memory import Bytes
    from .rows import Rows

_USER_AGENT = Directive.USER_AGENT.code
_PREFIX = int(Names.PREFIX)

#: A word of a User-Agent header. Compiled when the first header is looked for.
_WORD = rb"[^ ();,]+"

#: In addition to the methods of `names`: the dialect's own function chose whole groups.
_CHOSEN = _names.WHOLE_NAME + 1

#: The maximum size of names that are searched at each position of the agent.
_MAX_SEARCHED = 32

#: The maximum size of a User-Agent header: servers refuse longer ones (nginx, Apache: 8 KiB).
HEADER_BYTES = 8192

#: The groups for ``*`` in an index of names: no name has a line feed.
_STAR_GROUPS = b"\n"

#: The size of a table of pairs of bytes. Pairs with the same number only cost time.
_PAIRS = 4096
_PAIR_SHIFT = 5

_STAR = 42
_SPACE = 32

#: Bytes that cannot be directly before or after a name in a User-Agent header.
_TOKEN_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
#: Words in nearly all User-Agent headers: as names they would match every crawler.
_COMMON_WORDS = frozenset({b"mozilla", b"compatible"})


def groups_of(
    data: bytes,
    rows: Rows,
    groups: Rows,
    names: int,
    merges: bool,
    agents: tuple[bytes, ...],
    index: dict[bytes, list[int]] | None,
) -> tuple[list[int], int, bytes]:
    """Return the numbers of the groups for the first of ``agents`` that any group names.

    Also returns, for `binding_row`, the method by which names were compared, and the key: the form
    of the agent for that method. Ignored groups have no rows. Without ``merges`` only the first
    group applies. ``index`` is that of `groups_by_name`, if it was made.
    """
    everybody: list[int] = []
    for agent in agents:
        how = names
        key = agent
        if names == _names.PRODUCT_TOKEN:
            token = product_token(agent)
            if token is None:
                how = _names.WHOLE_NAME
                key = _name_in_header(data, rows, groups, agent[:HEADER_BYTES])
            else:
                key = token
        elif names == _names.LETTERS:
            key = agent.lower()
        else:
            key = agent[:HEADER_BYTES].lower()
            if names == _PREFIX:
                key = _from_first_name(data, rows, groups, key)
        everybody = []
        if index is not None and how == names:
            named = [] if key == _STAR_GROUPS else index.get(key, [])
            everybody = index.get(_STAR_GROUPS, [])
        else:
            named = _matching_groups(data, rows, groups, how, key, everybody)
        if named:
            return named if merges else named[:1], how, key
    return everybody if merges else everybody[:1], names, b"*"


def chosen_groups(
    data: bytes,
    rows: Rows,
    groups: Rows,
    choose: Choose,
    merges: bool,
    agents: tuple[bytes, ...],
) -> tuple[list[int], int, bytes]:
    """Return the same as `groups_of`, chosen by the dialect's own function."""
    everybody: list[int] = []
    for header in agents:
        agent = header[:HEADER_BYTES]
        everybody = []
        names: list[bytes] = []
        numbers: list[int] = []
        if _collect_candidates(data, rows, groups, agent.lower(), names, numbers, everybody):
            # A group has a number for each of its names.
            named = list(dict.fromkeys(choose(names, numbers, agent)))
            if named:
                return named, _CHOSEN, agent
    # A group may have several names, of which more than one is "*".
    everybody = list(dict.fromkeys(everybody))
    return everybody if merges else everybody[:1], _CHOSEN, b"*"


def _collect_candidates(
    data: bytes,
    rows: Rows,
    groups: Rows,
    key: bytes,
    names: list[bytes],
    numbers: list[int],
    everybody: list[int],
) -> bool:
    """Collect ``*`` and the names that may match an agent; tell whether there are any but ``*``."""
    others = False
    size = len(key)
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
                elif _is_candidate(data, start, end, key, size):
                    name = data[start:end].lower()
                    if name in key or key in name or _has_unusual_bytes(data, start, end):
                        names.append(name)
                        numbers.append(group)
                        others = True
            else:
                is_star = row == first
                if is_star:
                    # Rules before any User-agent line.
                    names.append(b"*")
                    numbers.append(group)
            if is_star:
                everybody.append(group)
    return others


def _has_unusual_bytes(data: Bytes, start: int, end: int) -> bool:
    """Tell whether a name has stars, control characters or non-ASCII characters.

    Functions of dialects may match these in other ways than by their bytes.
    """
    for at in range(start, end):
        if data[at] == _STAR or data[at] > 126 or data[at] < _SPACE:
            return True
    return False


def _is_candidate(data: Bytes, start: int, end: int, agent: Bytes, size: int) -> bool:
    """Tell whether one of name and agent (lower case) contains the other, or the name is unusual.

    If both are long it returns True without a search, which could take long byte by byte.
    """
    length = end - start
    if min(length, size) > _MAX_SEARCHED:
        return True
    if _has_unusual_bytes(data, start, end):
        return True
    if length <= size:
        for at in range(size - length + 1):
            if _names.equals_ignoring_case(data, start, agent, at, length):
                return True
        return False
    for at in range(length - size + 1):
        if _names.equals_ignoring_case(data, start + at, agent, 0, size):
            return True
    return False


def binding_row(data: bytes, rows: Rows, first: int, after: int, how: int, key: bytes) -> int:
    """Return the first row of a group that applies to the agent of `groups_of`."""
    if how == _CHOSEN:
        return first
    expected = _names.EVERYBODY if key == b"*" else _names.NAMED
    row = first
    # A group's first row may be a rule: in a group of rules before any User-agent line.
    while row < after and not (
        (row == first or rows.code(row) == _USER_AGENT)
        and _names.match_group(data, rows, row, row + 1, how, key) == expected
    ):
        row += 1
    return row


def product_token(agent: bytes) -> bytes | None:
    """Return the token in lower case and without its version, or None for a header."""
    if _is_lone_token(agent, len(agent)):
        return agent.lower()
    agent = agent.strip().lower()
    token, _, version = agent.partition(b"/")
    if b"(" in token or b")" in token or len(token.split()) > 1 or len(version.split()) > 1:
        return None
    return None if token != token.strip() or version != version.strip() else token


def _is_lone_token(agent: Bytes, size: int) -> bool:
    """Tell whether an agent has only letters, ``_`` and ``-``: the usual case."""
    for at in range(size):
        if not _names.LETTER[agent[at]]:
            return False
    return True


def _matching_groups(
    data: bytes, rows: Rows, groups: Rows, how: int, agent: bytes, everybody: list[int]
) -> list[int]:
    """Return the groups that name ``agent``; add ``*`` groups to ``everybody``."""
    named: list[int] = []
    for group in range(groups.count):
        match = _names.match_group(
            data, rows, groups.values[2 * group], groups.values[2 * group + 1], how, agent
        )
        if match == _names.NAMED:
            named.append(group)
        elif match == _names.EVERYBODY:
            everybody.append(group)
    return named


def can_be_indexed(names: int) -> bool:
    """Tell whether agents are compared with names so that `groups_by_name` can find them."""
    return names in (_names.PRODUCT_TOKEN, _names.LETTERS)


def groups_by_name(data: bytes, rows: Rows, groups: Rows, names: int) -> dict[bytes, list[int]]:
    """Return the groups of each name, by the form of agents that it is compared with.

    Those for ``*`` are by `_STAR_GROUPS`. Selections share the lists: they must not be changed.
    """
    found: dict[bytes, list[int]] = {}
    for group in range(groups.count):
        first = groups.values[2 * group]
        for row in range(first, groups.values[2 * group + 1]):
            if rows.code(row) == _USER_AGENT:
                start = rows.start(row)
                end = rows.end(row)
                if names == _names.LETTERS:
                    is_star = _names.is_everybody_in_letters(data, start, end)
                    end = _names.letters_end(data, start, end)
                else:
                    is_star = _names.is_everybody(data, start, end)
                    end = _first_word_end(data, start, _names.name_end(data, start, end))
                    if end == start and not is_star:
                        # It matches no product token.
                        continue
                key = _STAR_GROUPS if is_star else data[start:end].lower()
            elif row == first:
                key = _STAR_GROUPS
            else:
                continue
            numbers = found.setdefault(key, [])
            if not numbers or numbers[-1] != group:
                numbers.append(group)
    return found


def _first_word_end(data: Bytes, start: int, end: int) -> int:
    """Return where the first word of a name ends."""
    while start < end and not _lexer.WHITE[data[start]]:
        start += 1
    return start


def _from_first_name(data: bytes, rows: Rows, groups: Rows, key: bytes) -> bytes:
    """Return a header (lower case) from the first word that starts with a name, or all of it.

    Words are those of product tokens and comments, except addresses, which name the operator.
    """
    starts = [word.start() for word in re.finditer(_WORD, key) if not _is_address(word[0])]
    if len(starts) < 2:
        return key
    from bisect import bisect_right  # noqa: PLC0415 - few dialects need it

    names = _shortest_names(data, rows, groups)
    for start in starts:
        rest = key[start:]
        at = bisect_right(names, rest)
        if at > 0 and rest.startswith(names[at - 1]):
            return rest
    return key


def _shortest_names(data: bytes, rows: Rows, groups: Rows) -> list[bytes]:
    """Return all names in lower case, sorted, without those that start with another."""
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


def _names_that_may_be_in(text: bytes, data: bytes, rows: Rows, groups: Rows) -> set[bytes]:
    """Return names of groups, in canonical form: all that a text in lower case has, and others."""
    pairs = bytearray(_PAIRS)
    for at in range(len(text) - 1):
        pairs[_pair(text, at)] = 1
    names = set()
    for group in range(groups.count):
        for row in range(groups.values[2 * group], groups.values[2 * group + 1]):
            if rows.code(row) == _USER_AGENT:
                start = rows.start(row)
                end = rows.end(row)
                if _names.is_everybody(data, start, end):
                    continue
                end = _names.name_end(data, start, end)
                # Nearly all names are not in the text, as their first or last two bytes tell.
                if end - start < 2 or (pairs[_pair(data, start)] and pairs[_pair(data, end - 2)]):
                    names.add(b" ".join(data[start:end].lower().split()))
    return names


def _pair(text: Bytes, at: int) -> int:
    """Return a number for two bytes of a text, ignoring case and the kind of whitespace."""
    first = _SPACE if _lexer.WHITE[text[at]] else _names.LOWER[text[at]]
    second = _SPACE if _lexer.WHITE[text[at + 1]] else _names.LOWER[text[at + 1]]
    return (first << _PAIR_SHIFT ^ second) % _PAIRS


def _name_in_header(data: bytes, rows: Rows, groups: Rows, header: bytes) -> bytes:
    """Return the longest name in a header, the first on a tie; else no bytes.

    Words with a URL or an address are skipped: they name the operator. Words also end at the ends
    of comments and their parts (RFC 9110 §5.6.5): ``(compatible;PetalBot;+https:…``.
    """
    text = re.sub(_WORD, _without_address, b" ".join(header.lower().split()))
    best = (0, 0, b"")
    names = _names_that_may_be_in(text, data, rows, groups)
    for name in names - _COMMON_WORDS - {b""}:
        at = _find_words(text, name)
        if at >= 0:
            best = max(best, (len(name), -at, name))
    return best[2]


def _without_address(word: re.Match[bytes]) -> bytes:
    """Return a word; for an address a line feed, which no name contains."""
    return b"\n" if _is_address(word[0]) else word[0]


def _find_words(text: bytes, name: bytes) -> int:
    """Return the position of ``name`` in ``text`` as whole words, or -1."""
    at = text.find(name)
    while at >= 0:
        after = at + len(name)
        if (at == 0 or text[at - 1] not in _TOKEN_BYTES) and (
            after == len(text) or text[after] not in _TOKEN_BYTES
        ):
            return at
        # It can only match at the start of a word: skip the rest of this one.
        at += 1
        while at < len(text) and text[at - 1] in _TOKEN_BYTES:
            at += 1
        at = text.find(name, at)
    return -1

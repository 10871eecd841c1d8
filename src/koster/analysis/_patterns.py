"""A compiled rule as a pattern: the literal prefix, and the rest.

A pattern tells which paths it matches, and which other patterns it surely covers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from operator import attrgetter

from .._engine import wildcards as _wildcards
from ..dialects import Patterns
from ._search import Shell, Starred
from ._search.automata import Automaton
from ._search.urls import SAFE

CompiledRule = tuple[bytes, int, int, bool, bool, int, int]

#: Pseudo-rows: no rule matches; the path of /robots.txt.
NO_RULE = -1
ROBOTS_TXT_ROW = -2

#: Comparing with a member of an enumeration takes ten times as long.
SHELL = int(Patterns.SHELL)
_PREFIX = int(Patterns.PREFIX)
_STAR = b"*"
#: All paths begin with it.
ROOT = b"/"

BY_ORDER = attrgetter("order")

#: Special characters of shell patterns besides stars.
_SHELL_SPECIAL = re.compile(rb"[?\[\]!\\]")
_SAFE = bytes(sorted(SAFE))
#: Bytes that all readings treat alike: RFC 3986 §2.3. In some, ``&`` matches its escape as well.
_READ_ALIKE = bytes(sorted(SAFE.difference(b"?&=")))
_PLAIN = bytes(sorted(SAFE.difference(b"?&=*")))
_DIGIT_OF_RUN = re.compile(rb"\*([0-9A-F])")


class Pattern:
    """The pattern of a rule, as a reading compares it.

    ``text`` is all of it, without trailing stars and anchor: ``literal`` is what it begins with up
    to the first special character, ``rest`` the rest. ``row`` is that of its rule in the file,
    ``order`` its place among those of `Ranking`. ``paths`` is the same for patterns of one reading
    that match the same paths. ``key`` is a prefix of all that it matches: the literal prefix, or
    what all readings compare alike of it.
    """

    __slots__ = (
        "_automaton", "allow", "is_anchored", "is_exact", "is_rule", "key", "kind", "literal",
        "needle", "order", "paths", "rank", "rest", "row", "runs", "text",
    )  # fmt: skip

    def __init__(self, rule: CompiledRule) -> None:
        text, size, kind, is_anchored, self.allow, self.rank, self.row = rule
        if kind == SHELL and not _SHELL_SPECIAL.search(text):
            # A shell pattern with only stars is a simpler one with wildcards.
            is_anchored = not text.endswith(_STAR)
            text = text.rstrip(_STAR)
            kind = int(Patterns.WILDCARDS if _STAR in text else Patterns.PREFIX)
        self.text = text
        self.literal = text[:size]
        self.rest = text[size:]
        self.kind = kind
        self.is_anchored = is_anchored
        self.paths: object = (
            text if kind == _PREFIX and not is_anchored else (text, kind, is_anchored)
        )
        self.key = self.literal
        #: Whether it is of a rule of the file, and whether it matches only one path.
        self.is_rule = self.row > NO_RULE
        self.is_exact = is_anchored and not self.rest
        self.order = 0
        #: What is between the stars of the rest, but in shell patterns.
        self.runs = self.rest.split(_STAR) if self.rest and kind != SHELL else []
        #: What is in all that it matches.
        self.needle = max(self.runs, key=len, default=b"")
        self._automaton: Automaton | None = None

    @property
    def min_bytes(self) -> int:
        """The minimum number of bytes of a matching path."""
        if self.kind == SHELL:
            elements = _wildcards.elements(self.rest)
            return len(self.literal) + sum(each is not None for each in elements)
        return len(self.text) - self.rest.count(_STAR)

    @property
    def automaton(self) -> Automaton:
        """Its automaton, cached."""
        if self._automaton is None:
            self._automaton = (
                Shell(self.literal, self.rest)
                if self.kind == SHELL
                else Starred(self.literal, self.rest, self.is_anchored)
            )
        return self._automaton

    @property
    def tables(self) -> tuple[bytes, ...]:
        """The tables of a shell pattern's elements."""
        # Without its automaton, which is rarely needed.
        found = self.automaton if self.kind == SHELL else None
        return found.tables if isinstance(found, Shell) else ()

    def matches(self, path: bytes) -> bool:
        """Return whether it matches a path in the form in which it is compared."""
        if not path.startswith(self.literal):
            return False
        if self.kind == SHELL:
            return self.automaton.accepts(self.automaton.after(0, path))
        position, end = len(self.literal), len(path)
        if not self.rest:
            return not self.is_anchored or position == end
        runs = self.runs
        if self.is_anchored:
            *runs, last = runs
            if not path.endswith(last):
                return False
            end -= len(last)
        for run in runs:
            position = path.find(run, position, end)
            if position < 0:
                return False
            position += len(run)
        return position <= end

    def covers(self, other: Pattern) -> bool:
        """Return whether it surely matches everything that another one of its reading matches.

        All paths begin with a slash. A conservative check: a star of the other pattern may match
        anything, so it must match the other one as if that were a path in which no run contains the
        stars.
        """
        if not (other.literal or ROOT).startswith(self.literal):
            return False
        if not self.rest and not self.is_anchored:
            return True
        if SHELL in (self.kind, other.kind) or not self.rest:
            return self.paths == other.paths
        return (other.is_anchored or not self.is_anchored) and self.matches(other.text)

    def is_read_alike(self, *, decodes: bool) -> bool:
        """Return whether the same text matches the same URLs in another reading, but for escapes.

        With ``decodes``, also if only one of both decodes the escapes of ``&``, ``=`` and ``?``.
        A run may begin inside of an escape, if a URL has one: see `digits_of_runs`.
        """
        return (
            self.kind != SHELL
            and (not decodes or _STAR not in self.literal)
            and is_text_read_alike(self.text, decodes=decodes)
        )


def is_text_read_alike(text: bytes, *, decodes: bool) -> bool:
    """Return what `Pattern.is_read_alike` does, for the text of a pattern with wildcards."""
    return not text.translate(None, _READ_ALIKE if decodes else _SAFE)


def digits_of_runs(text: bytes) -> list[bytes]:
    """Return the digits with which runs after stars begin: that may be inside of an escape."""
    return _DIGIT_OF_RUN.findall(text) if _STAR in text else []


def are_plain(texts: Iterable[bytes]) -> bool:
    """Return whether texts of patterns have no special characters, as in most large files.

    One look at all is faster than one at each.
    """
    return not b"".join(texts).translate(None, _PLAIN)


def pseudo_pattern(row: int, literal: bytes, *, allow: bool, is_anchored: bool = False) -> Pattern:
    """Return a pattern that is no rule. Its place among the others does not depend on its rank."""
    return Pattern((literal, len(literal), _PREFIX, is_anchored, allow, row, row))


def robots_txt_patterns(*, and_longer: bool) -> list[Pattern]:
    """Return the patterns that exempt /robots.txt; with ``and_longer``, all that start so."""
    path = b"/robots.txt"
    if and_longer:
        return [pseudo_pattern(ROBOTS_TXT_ROW, path, allow=True)]
    return [
        pseudo_pattern(ROBOTS_TXT_ROW, path, allow=True, is_anchored=True),
        pseudo_pattern(ROBOTS_TXT_ROW, path + b"?", allow=True),
    ]

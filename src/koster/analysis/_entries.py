"""Rules as entries: the literal prefix of a pattern, and its rest.

An entry tells which paths it matches, and which other entries it surely covers.
"""

from __future__ import annotations

import re
from operator import attrgetter
from typing import TYPE_CHECKING

from ..dialects import Patterns
from ..engine import wildcards as _wildcards
from ._automata import Automaton, Shell, automaton
from ._urls import ANY_URL, SAFE, digits_of_runs, with_likeness

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from ..dialects import Reading
    from ..engine.selection import Selection
    from ._urls import Likeness

    CompiledRule = tuple[bytes, int, int, bool, bool, int, int]

#: Entries with at most this many bytes after the literal prefix have weight 1, longer ones their
#: bytes divided by it. With more bytes than the second number, they are divided by the third.
USUAL_REST = 32
_LONG_REST = 128
_LONG_REST_PER_WEIGHT = 4

#: Pseudo-rows: no rule matches; the path of /robots.txt.
NO_RULE = -1
ROBOTS_TXT_ROW = -2

#: Comparing with a member of an enumeration takes ten times as long.
SHELL = int(Patterns.SHELL)
_PREFIX = int(Patterns.PREFIX)
STAR = b"*"
#: The key to sort and to bisect entries by precedence.
BY_ORDER = attrgetter("order")
ROOT = b"/"
#: Special characters of shell patterns besides stars.
_SHELL_SPECIAL = re.compile(rb"[?\[\]!\\]")
_SAFE = bytes(sorted(SAFE))
#: Bytes that all readings treat alike: RFC 3986 §2.3, with stars.
_READ_ALIKE = bytes(sorted(SAFE.difference(b"?&=")))
#: Those without the star: a text of them has no rest.
_PLAIN = bytes(sorted(SAFE.difference(b"?&=*")))
_ESCAPE = re.compile(rb"%[0-9A-F]{2}")
#: Shared: the garbage collector would look at a list of each entry each time that it runs.
_NONE: list[Entry] = []


class Entry:
    """A compiled rule: a literal prefix and the rest of its pattern.

    ``text`` is both together, without trailing stars and anchor. ``order`` is its index in the
    list, ``key`` a prefix of all that it matches, by which it is found: the literal prefix, or an
    unescaped one to compare with those of other readings, as ``likeness`` tells.
    """

    __slots__ = (
        *("_automaton", "_elements", "_is_alike", "_is_alike_with_wildcards", "_runs", "allow"),
        *("compared", "covered_by", "is_anchored", "key", "kind", "likeness", "literal", "order"),
        *("rank", "rest", "row", "same_part", "text", "uncompared", "weight_of_part"),
    )

    def __init__(
        self,
        text: bytes,
        literal: bytes,
        rest: bytes,
        kind: int,
        is_anchored: bool,
        allow: bool,
        rank: int,
        row: int,
        is_alike: bool | None = None,
        likeness: Likeness = ANY_URL,
    ) -> None:
        self.text = text
        self.literal = literal
        self.rest = rest
        self.kind = kind
        self.is_anchored = is_anchored
        self.allow = allow
        self.rank = rank
        self.row = row
        self.order = 0
        self.key = literal
        #: The entry before with the same part, and the weight of this one and all before.
        self.same_part: Entry | None = None
        self.weight_of_part = 0
        #: What surely covers it, of what was compared so far: of `Overlaps`.
        self.covered_by: list[Entry] | None = None
        self.uncompared: list[Entry] = _NONE
        self.compared = 0
        self.likeness = likeness
        self._is_alike = is_alike
        self._automaton: Automaton | None = None
        self._elements: int | None = None
        self._runs: list[bytes] | None = None
        self._is_alike_with_wildcards: bool | None = None

    @property
    def is_rule(self) -> bool:
        """Whether it is a rule of the file."""
        return self.row > NO_RULE

    @property
    def is_prefix(self) -> bool:
        """Whether it matches every path that starts with its literal prefix."""
        return not self.rest and not self.is_anchored

    @property
    def matches_longer(self) -> bool:
        """Whether it matches every path that begins with one that it matches."""
        return not self.is_anchored and (self.kind != SHELL or not self.rest)

    @property
    def is_exact(self) -> bool:
        """Whether it matches only one path."""
        return not self.rest and self.is_anchored

    @property
    def weight(self) -> int:
        """The cost of a comparison, relative to a usual entry."""
        size = len(self.rest)
        if size <= _LONG_REST:
            return max(1, size // USUAL_REST)
        return size // _LONG_REST_PER_WEIGHT

    @property
    def automaton(self) -> Automaton:
        """Its automaton, cached."""
        if self._automaton is None:
            self._automaton = automaton(self.literal, self.rest, self.kind, self.is_anchored)
        return self._automaton

    @property
    def runs(self) -> list[bytes]:
        """What is between the stars of its rest, cached; not for shell patterns."""
        if self._runs is None:
            self._runs = self.rest.split(STAR)
        return self._runs

    @property
    def form(self) -> tuple[bytes, bytes, int, bool, bool]:
        """Its content: entries with the same form are equivalent."""
        return self.literal, self.rest, self.kind, self.is_anchored, self.allow

    @property
    def paths(self) -> object:
        """What it matches: entries with the same value match the same paths."""
        return _paths(self.text, self.kind, self.is_anchored)

    @property
    def min_bytes(self) -> int:
        """The minimum number of bytes of a matching path."""
        if self.kind == SHELL:
            if self._elements is None:
                self._elements = sum(each is not None for each in _wildcards.elements(self.rest))
            return len(self.literal) + self._elements
        return len(self.literal) + len(self.rest) - self.rest.count(STAR)

    def matches(self, path: bytes) -> bool:
        """Return whether it matches a path in the form in which it is compared."""
        if not path.startswith(self.literal):
            return False
        if self.kind == SHELL:
            return self.automaton.accepts(self.automaton.start(path))
        position = len(self.literal)
        if not self.rest:
            return not self.is_anchored or position == len(path)
        runs = self.runs
        end = len(path)
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

    def covers(self, other: Entry) -> bool:
        """Return whether it surely matches everything that another entry of its reading matches.

        All paths begin with a slash. A conservative check: a star of the other entry may match
        anything, so it must match the other pattern as if that were a path in which no run
        contains the stars.
        """
        if not (other.literal or ROOT).startswith(self.literal):
            return False
        if self.is_prefix:
            return True
        if SHELL in (self.kind, other.kind) or not self.rest:
            return self.paths == other.paths
        return (other.is_anchored or not self.is_anchored) and self.matches(other.text)

    def is_read_alike_with_wildcards(self) -> bool:
        """Return whether it is compared alike in all readings with wildcards, cached.

        If all decode escapes or none does. Otherwise it matches at least the same URLs in one that
        decodes.
        """
        if self._is_alike_with_wildcards is None:
            self._is_alike_with_wildcards = self.kind != SHELL and is_text_read_alike(
                self.text, self.likeness
            )
        return self._is_alike_with_wildcards

    def covers_everywhere(self, other: Entry) -> bool:
        """Like `covers`, for entries of different readings."""
        return self.is_read_alike() and other.is_read_alike() and self.covers(other)

    def is_read_alike(self) -> bool:
        """Return whether it matches the same URLs in every reading, cached.

        False for ``&``, ``=`` and ``?``, unless they are signs of the likeness: some readings match
        their escapes as well. False for a star that is no wildcard.
        """
        if self._is_alike is None:
            self._is_alike = (
                self.kind != SHELL
                and STAR not in self.literal
                and _has_only(self.literal, _READ_ALIKE, self.likeness)
                and (not self.rest or self._is_rest_read_alike())
            )
        return self._is_alike

    def _is_rest_read_alike(self) -> bool:
        is_alike = _has_only(self.rest, _READ_ALIKE, self.likeness)
        return is_alike and self.is_read_alike_with_wildcards()

    def tables(self) -> tuple[bytes, ...]:
        """Return the tables of a shell pattern's elements."""
        if self.kind != SHELL:
            # Without its automaton, which is rarely needed.
            return ()
        return self.automaton.tables if isinstance(self.automaton, Shell) else ()


def _paths(text: bytes, kind: int, is_anchored: bool) -> object:
    # As most are: the hash of a text is kept.
    return text if kind == _PREFIX and not is_anchored else (text, kind, is_anchored)


def are_plain(texts: list[bytes]) -> bool:
    """Return whether texts of patterns have no special characters, as in most large files.

    One look at all is faster than one at each.
    """
    return not b"".join(texts).translate(None, _PLAIN)


def is_text_read_alike(text: bytes, likeness: Likeness = ANY_URL) -> bool:
    """Return what `Entry.is_read_alike_with_wildcards` does, for the text of a pattern."""
    return _has_only(text, _SAFE, likeness) and (
        STAR not in text or likeness.digits.isdisjoint(digits_of_runs(text))
    )


def _has_only(text: bytes, safe: bytes, likeness: Likeness) -> bool:
    """Return whether a text has only some bytes, and signs and escapes that are compared alike."""
    if likeness.escapes and likeness.escapes.issuperset(_ESCAPE.findall(text)):
        text = _ESCAPE.sub(b"x", text)
    return not text.translate(None, safe + likeness.signs)


def without_alike(entries: list[Entry], others: list[Entry]) -> list[Entry]:
    """Return the entries without those that are also in a set with another reading."""
    alike = {entry.paths for entry in others if entry.is_read_alike_with_wildcards()}
    return [
        entry
        for entry in entries
        if entry.paths not in alike or not entry.is_read_alike_with_wildcards()
    ]


def distinct(entries: Iterable[Entry]) -> list[Entry]:
    """Return one of all entries with the same text, kind and end."""
    found = {(each.literal, each.rest, each.kind, each.is_anchored): each for each in entries}
    return list(found.values())


def by_row(entries: list[Entry]) -> dict[int, list[Entry]]:
    """Return the entries of each rule, in their order, by row."""
    found: dict[int, list[Entry]] = {}
    for entry in entries:
        row = entry.row
        if row > NO_RULE:
            others = found.get(row)
            if others is None:
                found[row] = [entry]
            else:
                others.append(entry)
    return found


def each_entry_of(selection: Selection) -> Iterator[Entry]:
    """Yield the entries of compiled rules, by number."""
    compiled = selection.compiled_rules()
    is_alike = _are_read_alike(compiled)
    for rule in compiled:
        yield _entry_of(rule, is_alike)


def _are_read_alike(compiled: list[CompiledRule]) -> bool | None:
    """Return True if all rules are compared alike in all readings, else None."""
    return are_plain([rule[0] for rule in compiled]) or None


def _with_likeness(
    compiled: list[CompiledRule], reading: Reading, likeness: Likeness
) -> list[CompiledRule]:
    """Return rules with the texts of `with_likeness`."""
    places = [place for place, rule in enumerate(compiled) if b"%" in rule[0]]
    parts: list[bytes] = []
    for place in places:
        rule = compiled[place]
        parts += (rule[0][: rule[1]], rule[0][rule[1] :])
    # All at once is faster, if none has the byte between them.
    lines = with_likeness(b"\n".join(parts), reading, likeness).split(b"\n")
    if len(lines) > len(parts):
        lines = [with_likeness(part, reading, likeness) for part in parts]
    found = compiled.copy()
    for number, place in enumerate(places):
        literal, rest = lines[2 * number], lines[2 * number + 1]
        found[place] = (literal + rest, len(literal), *compiled[place][2:])
    return found


def _entry_of(rule: CompiledRule, is_alike: bool | None, likeness: Likeness = ANY_URL) -> Entry:
    text, size, kind, is_anchored, allow, rank, row = rule
    if kind == SHELL and not _SHELL_SPECIAL.search(text):
        return _simplified(text, size, allow, rank, row)
    literal, rest = text[:size], text[size:]
    return Entry(text, literal, rest, kind, is_anchored, allow, rank, row, is_alike, likeness)


def _paths_of(rule: CompiledRule) -> object:
    """Return the `Entry.paths` of a rule."""
    if rule[2] == SHELL:
        # It may be a simpler pattern.
        return _entry_of(rule, None).paths
    return _paths(rule[0], rule[2], rule[3])


def first_entries_of(
    selection: Selection, and_next: bool, likeness: Likeness = ANY_URL
) -> tuple[dict[int, Entry], list[int], list[object]]:
    """Return the entries that come before all others with their paths, by number, in its order.

    With ``and_next``, also the first of those of other rules, which decides without that rule;
    and those that match no path. And the rows and paths of all others, of which no entries are
    made: nearly all rules may be equal. Texts are those of `with_likeness`.
    """
    compiled = selection.compiled_rules()
    if likeness.signs or likeness.escapes:
        compiled = _with_likeness(compiled, selection.reading(), likeness)
    is_alike = _are_read_alike(compiled)
    numbers: dict[object, int] = {}
    #: The numbers of the next ones, of other rules.
    following: dict[object, int] = {}
    others: list[int] = []
    all_paths: list[object] = []
    for number, rule in enumerate(compiled):
        paths = _paths_of(rule)
        if not and_next and rule[1] and not rule[0].startswith(ROOT):
            others.append(rule[6])
            all_paths.append(paths)
            continue
        last = numbers.setdefault(paths, number)
        if last == number:
            continue
        later = number
        if rule[5] > compiled[last][5]:
            numbers[paths] = number
            later = last
        if and_next and compiled[last][6] != rule[6]:
            before = following.setdefault(paths, later)
            if before == later:
                continue
            if later == last or compiled[later][5] > compiled[before][5]:
                following[paths] = later
                later = before
        others.append(compiled[later][6])
        all_paths.append(paths)
    kept = [*numbers.values(), *following.values()] if following else numbers.values()
    found = {number: _entry_of(compiled[number], is_alike, likeness) for number in sorted(kept)}
    return found, others, all_paths


def entries_in_lines(selection: Selection, lines: Container[int]) -> dict[int, Entry]:
    """Return the entries of the rules in some lines, by number."""
    compiled = selection.compiled_rules()
    is_alike = _are_read_alike(compiled)
    return {
        number: _entry_of(rule, is_alike)
        for number, rule in enumerate(compiled)
        if selection.line_of(rule[-1]) in lines
    }


def _simplified(text: bytes, size: int, allow: bool, rank: int, row: int) -> Entry:
    """Return the entry of a shell pattern with only stars: of a simpler wildcard pattern."""
    is_anchored = not text.endswith(STAR)
    text = text.rstrip(STAR)
    kind = int(Patterns.WILDCARDS if STAR in text else Patterns.PREFIX)
    size = min(size, len(text))
    return Entry(text, text[:size], text[size:], kind, is_anchored, allow, rank, row)


def robots_txt_entries(*, and_longer: bool) -> list[Entry]:
    """Return the entries that exempt /robots.txt; with ``and_longer``, all paths that start so."""
    path = b"/robots.txt"
    if and_longer:
        return [pseudo_entry(ROBOTS_TXT_ROW, path, allow=True)]
    exact = pseudo_entry(ROBOTS_TXT_ROW, path, allow=True)
    exact.is_anchored = True
    return [exact, pseudo_entry(ROBOTS_TXT_ROW, path + b"?", allow=True)]


def pseudo_entry(row: int, literal: bytes, *, allow: bool) -> Entry:
    """Return an entry that is no rule. Its place in the list does not depend on its rank."""
    return Entry(literal, literal, b"", int(Patterns.PREFIX), False, allow, row, row)

"""The rules of one crawler in order of precedence, and an index of overlapping ones.

The first entry that matches a URL decides it. The last entry, for "no rule matches", matches
everything; entries for /robots.txt come first if it is exempt. An index of literal prefixes finds
the entries that can match the same URLs.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from ..dialects import Choice, Escapes, Patterns, RobotsTxtPath
from ..engine import wildcards as _wildcards
from ..robots import selection_of
from ._alphabet import UNDECODED_ESCAPES, comparison_path, with_written_escapes
from ._automata import Automaton, Shell, automaton
from ._search import BudgetSpentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..dialects import Reading
    from ..engine.selection import Selection
    from ..model import Rule
    from ..robots import Rules

#: Entries with a shorter literal prefix overlap with many others.
_SHORT_PREFIX = 3

#: Bytes of the parts of patterns by which they are found; longer ones first if there are many.
_PART = 3
_LONG_PART = 6
_MANY = 1_000

#: Maximum bytes of a literal prefix in an index with unescaped keys.
_MAX_KEY = 2_000

#: Entries with at most this many bytes after the literal prefix have weight 1; longer ones have
#: their bytes divided by the second number.
_USUAL_REST = 32
_REST_PER_WEIGHT = 4

#: Pseudo-rows: no rule matches; the path of /robots.txt.
NO_RULE = -1
ROBOTS_TXT_ROW = -2

#: Comparing with a member of an enumeration takes ten times as long.
_SHELL = int(Patterns.SHELL)
_STAR = b"*"
_ROOT = b"/"
#: Special characters of shell patterns besides stars.
_SHELL_SPECIAL = re.compile(rb"[?\[\]!\\]")
#: An incomplete UTF-8 character.
_INCOMPLETE_CHARACTER = re.compile(
    rb"(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z"
)
_INCOMPLETE_ESCAPE = re.compile(rb"%[0-9A-Fa-f]?\Z")
_SAFE = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/?&=*")
#: Bytes that all readings treat alike: RFC 3986 §2.3, with stars.
_READ_ALIKE = _SAFE - frozenset(b"?&=")
#: Bytes that are not escaped (RFC 3986 §3.3), except the dollar, which is special in patterns.
_PLAIN = _SAFE | frozenset(b":@!'()+,;")
_ESCAPES_OR_NOT_PLAIN = re.compile(
    rb"(?:%[0-9A-F]{2})+|[^" + re.escape(bytes(sorted(_PLAIN))) + rb"]", re.DOTALL
)
#: A run after a star that can start in the middle of an escape.
_STARTS_INSIDE_ESCAPE = re.compile(rb"\*[0-9A-F]")


@dataclass(slots=True)
class Entry:
    """A compiled rule: a literal prefix and the rest of its pattern.

    ``order`` is its index in the list, ``key`` its key in an index for several readings.
    """

    literal: bytes
    rest: bytes
    kind: int
    is_anchored: bool
    allow: bool
    rank: int
    row: int
    order: int = field(init=False)
    covered_by: list[Entry] | None = None
    key: bytes | None = None
    _automaton: Automaton | None = None
    _elements: int | None = None
    _runs: list[bytes] | None = None
    _is_alike: bool | None = None

    @property
    def is_rule(self) -> bool:
        """Whether it is a rule of the file."""
        return self.row > NO_RULE

    @property
    def is_prefix(self) -> bool:
        """Whether it matches every path that starts with its literal prefix."""
        return not self.rest and not self.is_anchored

    @property
    def is_exact(self) -> bool:
        """Whether it matches only one path."""
        return not self.rest and self.is_anchored

    @property
    def weight(self) -> int:
        """The cost of a comparison, relative to a usual entry."""
        return 1 if len(self.rest) <= _USUAL_REST else len(self.rest) // _REST_PER_WEIGHT

    @property
    def automaton(self) -> Automaton:
        """Its automaton, cached."""
        if self._automaton is None:
            self._automaton = automaton(self.literal, self.rest, self.kind, self.is_anchored)
        return self._automaton

    @property
    def text(self) -> bytes:
        """Its pattern, without trailing stars and anchor."""
        return self.literal + self.rest

    @property
    def runs(self) -> list[bytes]:
        """What is between the stars of its rest, cached; not for shell patterns."""
        if self._runs is None:
            self._runs = self.rest.split(_STAR)
        return self._runs

    @property
    def form(self) -> tuple[bytes, bytes, int, bool, bool]:
        """Its content: entries with the same form are equivalent."""
        return self.literal, self.rest, self.kind, self.is_anchored, self.allow

    @property
    def paths(self) -> tuple[bytes, int, bool]:
        """What it matches: entries with the same value match the same paths."""
        return self.text, self.kind, self.is_anchored

    @property
    def min_bytes(self) -> int:
        """The minimum number of bytes of a matching path."""
        if self.kind == _SHELL:
            if self._elements is None:
                self._elements = sum(each is not None for each in _wildcards.elements(self.rest))
            return len(self.literal) + self._elements
        return len(self.literal) + len(self.rest) - self.rest.count(_STAR)

    def matches(self, path: bytes) -> bool:
        """Return whether it matches a path in the form in which it is compared."""
        if not path.startswith(self.literal):
            return False
        if self.kind == _SHELL:
            return self.automaton.accepts(self.automaton.start(path))
        position = len(self.literal)
        if not self.rest:
            return not self.is_anchored or position == len(path)
        *runs, last = self.runs
        for run in runs:
            position = path.find(run, position)
            if position < 0:
                return False
            position += len(run)
        if self.is_anchored:
            return position + len(last) <= len(path) and path.endswith(last)
        return path.find(last, position) >= 0

    def covers(self, other: Entry) -> bool:
        """Return whether it surely matches everything that another entry of its reading matches.

        All paths begin with a slash. A conservative check: a star of the other entry may match
        anything, so it must match the other pattern as if that were a path in which no run
        contains the stars.
        """
        if not (other.literal or _ROOT).startswith(self.literal):
            return False
        if self.is_prefix:
            return True
        if _SHELL in (self.kind, other.kind) or not self.rest:
            return self.paths == other.paths
        return (other.is_anchored or not self.is_anchored) and self.matches(other.text)

    def is_read_alike_with_wildcards(self) -> bool:
        """Return whether every reading with wildcards compares it alike, cached."""
        if self._is_alike is None:
            self._is_alike = (
                self.kind != _SHELL
                and _SAFE.issuperset(self.text)
                and not _STARTS_INSIDE_ESCAPE.search(self.text)
            )
        return self._is_alike

    def covers_everywhere(self, other: Entry) -> bool:
        """Like `covers`, for entries of different readings."""
        return (
            _STAR not in self.literal + other.literal
            and self.is_read_alike()
            and other.is_read_alike()
            and self.covers(other)
        )

    def is_read_alike(self) -> bool:
        """Return whether it matches the same URLs in every reading.

        False for ``&``, ``=`` and ``?``: some readings match their escapes as well.
        """
        return self.is_read_alike_with_wildcards() and _READ_ALIKE.issuperset(self.text)

    def tables(self) -> tuple[bytes, ...]:
        """Return the tables of a shell pattern's elements."""
        if self.kind != _SHELL:
            # Without its automaton, which is rarely needed.
            return ()
        return self.automaton.tables if isinstance(self.automaton, Shell) else ()


def _entries_of(selection: Selection) -> list[Entry]:
    """Return the entries of compiled rules, by number."""
    found = []
    for rule in selection.compiled_rules():
        text, size, kind, is_anchored = rule.pattern, rule.literal_size, rule.kind, rule.is_anchored
        if kind == _SHELL and not _SHELL_SPECIAL.search(text):
            # With only stars, it is equivalent to a simpler wildcard pattern.
            is_anchored = not text.endswith(_STAR)
            text = text.rstrip(_STAR)
            kind = int(Patterns.WILDCARDS if _STAR in text else Patterns.PREFIX)
            size = min(size, len(text))
        found.append(
            Entry(text[:size], text[size:], kind, is_anchored, rule.allow, rule.rank, rule.row)
        )
    return found


def _robots_txt_entries(*, and_longer: bool) -> list[Entry]:
    """Return the entries that exempt /robots.txt; with ``and_longer``, all paths that start so."""
    path = b"/robots.txt"
    if and_longer:
        return [_pseudo_entry(ROBOTS_TXT_ROW, path, allow=True)]
    exact = _pseudo_entry(ROBOTS_TXT_ROW, path, allow=True)
    exact.is_anchored = True
    return [exact, _pseudo_entry(ROBOTS_TXT_ROW, path + b"?", allow=True)]


def _pseudo_entry(row: int, literal: bytes, *, allow: bool) -> Entry:
    """Return an entry that is no rule. Its place in the list does not depend on its rank."""
    return Entry(literal, b"", int(Patterns.PREFIX), False, allow, row, row)


class _Keys:
    """Entries by their keys, prefixes of all that they match."""

    def __init__(self, entries: Iterable[Entry], key_of: Callable[[Entry], bytes]) -> None:
        self._by_key: dict[bytes, list[Entry]] = {}
        for entry in entries:
            self._by_key.setdefault(key_of(entry), []).append(entry)
        self._keys = sorted(self._by_key)
        self._sizes = sorted({len(key) for key in self._keys})
        #: The total weight of entries with a short key.
        self.short_weight = sum(
            entry.weight
            for key, some in self._by_key.items()
            if len(key) < _SHORT_PREFIX
            for entry in some
        )

    def prefixing(self, key: bytes) -> Iterator[Entry]:
        """Yield the entries whose key is a prefix of ``key``."""
        for size in self._sizes[: bisect_right(self._sizes, len(key))]:
            yield from self._by_key.get(key[:size], ())

    def both_ways(self, key: bytes) -> Iterator[Entry]:
        """Yield the entries whose key is a prefix of ``key`` or begins with it."""
        yield from self.prefixing(key)
        place = bisect_right(self._keys, key)
        while place < len(self._keys) and self._keys[place].startswith(key):
            yield from self._by_key[self._keys[place]]
            place += 1


class _Parts:
    """Entries with stars by the rarest part that all matching texts have, the others by key.

    Nearly all entries with stars may begin with the same key, ``/``.
    """

    def __init__(self, entries: Sequence[Entry], key_of: Callable[[Entry], bytes]) -> None:
        sizes = (_LONG_PART, _PART) if len(entries) > _MANY else (_PART,)
        parts_of = {entry.order: _parts_of(entry, sizes) for entry in entries}
        counts = Counter(part for parts in parts_of.values() for part in parts)
        others = []
        self._by_part: dict[bytes, list[Entry]] = {}
        for entry in entries:
            parts = parts_of[entry.order]
            if parts:
                rarest = min(parts, key=lambda part: (counts[part], part))
                self._by_part.setdefault(rarest, []).append(entry)
            else:
                others.append(entry)
        self._sizes = {len(part) for part in self._by_part}
        self._others = _Keys(others, key_of)
        #: The maximum weight of the candidates for a text with one part that entries have.
        self.weight = self._others.short_weight + max(
            (sum(entry.weight for entry in some) for some in self._by_part.values()), default=0
        )

    def candidates(self, key: bytes, text: bytes) -> Iterator[Entry]:
        """Yield the entries that may match a text with this key."""
        yield from self._others.prefixing(key)
        for size in self._sizes:
            for part in _parts_in(text, size) & self._by_part.keys():
                yield from self._by_part[part]


def _parts_of(entry: Entry, sizes: Sequence[int]) -> set[bytes]:
    """Return the parts that all texts have that an entry matches, after its literal prefix.

    They are of the first size that its runs have.
    """
    if entry.kind == _SHELL or not entry.rest:
        return set()
    for size in sizes:
        parts = {part for run in entry.runs for part in _parts_in(run, size)}
        if parts:
            return parts
    return set()


def _parts_in(text: bytes, size: int) -> set[bytes]:
    return {text[at : at + size] for at in range(len(text) - size + 1)}


class Ranked:
    """The entries of some rules; ``unescaped`` keys allow comparisons with other readings.

    ``exempts`` excludes /robots.txt even if the reading does not exempt it; ``exempts_longer``
    excludes all paths that start so.
    """

    def __init__(
        self,
        rules: Rules,
        *,
        unescaped: bool = False,
        exempts: bool = False,
        exempts_longer: bool = False,
    ) -> None:
        selection = self._selection = selection_of(rules)
        self.reading = selection.reading()
        self.is_longest_first = self.reading.choice == Choice.LONGEST
        numbered = _entries_of(selection)
        no_rule_entry = _pseudo_entry(NO_RULE, b"", allow=selection.unmatched_allowed())
        always = self.reading.robots_txt == RobotsTxtPath.ALWAYS_ALLOWED
        exempt = exempts or exempts_longer or always
        robots_txt_entries = _robots_txt_entries(and_longer=exempts_longer) if exempt else []
        self.entries = [*robots_txt_entries, *sorted(numbered, key=_rank_key), no_rule_entry]
        for place, entry in enumerate(self.entries):
            entry.order = place
        self._numbered = numbered
        self.no_rule_entry = no_rule_entry
        self._robots_txt_entry = next(iter(robots_txt_entries), None)
        self._exempts_longer = exempts_longer
        self.removed: set[int] = set()
        #: A likely URL that an entry decides, or None, by the order of the entry.
        self.examples: dict[int, str | None] = {}
        self.key_of: Callable[[Entry], bytes] = self._unescaped_key if unescaped else _literal_key

    @cached_property
    def _by_key(self) -> _Keys:
        return _Keys(self.entries, self.key_of)

    @property
    def short_prefix_weight(self) -> int:
        """The weight of the entries that overlap with nearly all others."""
        return self._by_key.short_weight

    @cached_property
    def _alike(self) -> dict[object, list[Entry]]:
        """The entries by the paths that they match; each list is in the order of precedence."""
        found: dict[object, list[Entry]] = {}
        for entry in self.entries:
            found.setdefault(entry.paths, []).append(entry)
        return found

    @cached_property
    def _first_by_key(self) -> _Keys:
        return _Keys(self._first_entries(), self.key_of)

    @cached_property
    def _parts(self) -> _Parts:
        return _Parts(self._first_entries(), self.key_of)

    def _first_entries(self) -> list[Entry]:
        """Return the first entry for each set of paths."""
        return [alike[0] for alike in self._alike.values()]

    @property
    def candidate_weight(self) -> int:
        """The maximum weight of the entries that are tried to find those that match a path."""
        return self._parts.weight

    def _unescaped_key(self, entry: Entry) -> bytes:
        if entry.key is None:
            begin = with_written_escapes(entry.literal[:_MAX_KEY], self.reading)
            # A pattern whose escapes are not decoded may end within an escape of the URL.
            entry.key = unquote_to_bytes(_INCOMPLETE_ESCAPE.sub(b"", begin))
        return entry.key

    @property
    def in_file_order(self) -> list[Entry]:
        """The entries in the order of the file, then the one for no rule."""
        return [*self._numbered, self.no_rule_entry]

    def deciding(self, url: str) -> Entry:
        """Return the entry that decides a URL, according to the engine."""
        number = self._selection.number_for(url)
        if number >= 0:
            return self._numbered[number]
        if number == NO_RULE or self._robots_txt_entry is None:
            return self.no_rule_entry
        return self._robots_txt_entry

    def rule(self, row: int) -> Rule:
        """Return the rule of a row of the file."""
        return self._selection.rule(row)

    def is_exempt(self, url: str) -> bool:
        """Return whether a URL counts as exempt: that of /robots.txt."""
        if self._exempts_longer:
            return url.startswith("/robots.txt")
        return url == "/robots.txt" or url.startswith("/robots.txt?")

    def deciding_without(self, gone: Sequence[Entry], url: str) -> Entry:
        """Return the entry that decides a URL without some entries and the removed ones."""
        path = self._selection.path_of(url)
        orders = {entry.order for entry in gone}
        candidates = self._parts.candidates(path, path)
        matching = [self._first(each, orders) for each in candidates if each.matches(path)]
        return self.entries[min(matching)]

    def covered_by(self, entry: Entry, without: set[int] | frozenset[int] = frozenset()) -> int:
        """Return the order of the first entry that surely matches everything that one matches.

        Without some entries and the removed ones. It is at least that of ``no_rule_entry``.
        """
        if entry.covered_by is None:
            entry.covered_by = sorted(self._covering(entry), key=_order)
        best = self.no_rule_entry.order
        for each in entry.covered_by:
            # The others come later, and so do those that are alike.
            if each.order >= best:
                break
            best = min(best, self._first(each, without))
        return best

    def is_covered_above(self, entry: Entry, below: Entry) -> bool:
        """Return whether an entry with precedence over ``below`` surely covers another.

        ``entry`` may be one of other rules with the same reading.
        """
        return any(each.order < below.order for each in self._covering(entry))

    def is_covered_everywhere_above(self, entry: Entry, key: bytes, below: Entry) -> bool:
        """Like `is_covered_above`, for an entry of another reading."""
        return any(
            other.order < below.order and other.covers_everywhere(entry)
            for other in self._parts.candidates(key or _ROOT, entry.text)
        )

    def is_covered(self, entry: Entry) -> bool:
        """Return whether a single entry with precedence surely covers an entry."""
        return self.covered_by(entry) < entry.order

    def coverer(self, entry: Entry) -> Entry | None:
        """Return an entry with precedence that surely covers an entry: best one with its paths."""
        if not self.is_covered(entry):
            return None
        twin = self._alike[entry.paths][0]
        return twin if twin is not entry else self.entries[self.covered_by(entry)]

    def _covering(self, entry: Entry) -> Iterator[Entry]:
        """Yield the first of alike entries that surely match everything that an entry matches."""
        for other in self._parts.candidates(self.key_of(entry) or _ROOT, entry.text):
            if other.covers(entry):
                yield other

    def _first(self, entry: Entry, without: set[int] | frozenset[int]) -> int:
        """Return the order of the first entry that is left of those that are alike."""
        if entry.order not in without and entry.order not in self.removed:
            return entry.order
        return next(
            (
                each.order
                for each in self._alike[entry.paths]
                if each.order not in without and each.order not in self.removed
            ),
            self.no_rule_entry.order,
        )

    def may_match(self, key: bytes) -> Iterable[Entry]:
        """Return the entries that may match a path that starts with ``key``."""
        entries = self._by_key.both_ways(key)
        if not self.removed:
            return entries
        return (entry for entry in entries if entry.order not in self.removed)

    def first_that_may_match(self, key: bytes) -> Iterable[Entry]:
        """Return those of `may_match` that are not removed, and the first with their paths."""
        return self.may_match(key) if self.removed else self._first_by_key.both_ways(key)

    def ranked_above(self, entry: Entry, key: bytes) -> list[Entry]:
        """Return the entries of `first_that_may_match` with precedence over an entry."""
        return [other for other in self.first_that_may_match(key) if other.order < entry.order]


def _order(entry: Entry) -> int:
    return entry.order


def _rank_key(entry: Entry) -> int:
    return -entry.rank


def _literal_key(entry: Entry) -> bytes:
    return entry.literal


def url_of(path: bytes, reading: Reading) -> str:
    """Return a URL that is compared as ``path``; an arbitrary one if no URL is."""
    escapes = reading.escapes
    path = with_written_escapes(path, reading)
    if escapes in (Escapes.CANONICAL, Escapes.PATTERN_ONLY, Escapes.AS_WRITTEN):
        return path.decode("utf-8", "replace")
    # Keep remaining escapes; escape other bytes that are not plain.
    return _ESCAPES_OR_NOT_PLAIN.sub(_escape, path).decode("ascii")


def url_beginning_with(path: bytes, reading: Reading) -> str | None:
    """Return a URL's path that is compared as ``path``, or None if no path is.

    Raises:
        BudgetSpentError: not decided, because ``path`` ends within a character.
    """
    if not path.startswith(b"/"):
        return None
    url = url_of(path, reading)
    if comparison_path(reading, url) == path:
        return url
    if reading.escapes in UNDECODED_ESCAPES and _INCOMPLETE_CHARACTER.search(path):
        raise BudgetSpentError
    return None


def _escape(found: re.Match[bytes]) -> bytes:
    part = found[0]
    return part if len(part) != 1 else b"%%%02X" % ord(part)

"""The rules of one crawler in order of precedence, and an index of overlapping ones.

The first entry that matches a URL decides it. The last entry, for "no rule matches", matches
everything; entries for /robots.txt come first if it is exempt. An index of literal prefixes finds
the entries that can match the same URLs.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
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

#: Maximum bytes of a literal prefix in an index with unescaped keys.
_MAX_KEY = 2_000

#: Entries with at most this many bytes after the literal prefix have weight 1; longer ones have
#: their bytes divided by the second number.
_USUAL_REST = 32
_REST_PER_WEIGHT = 4

#: Pseudo-rows: no rule matches; the path of /robots.txt.
NO_RULE = -1
ROBOTS_TXT_ROW = -2

_STAR = b"*"
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
    is_covered: bool | None = None
    key: bytes | None = None
    _automaton: Automaton | None = None
    _elements: int | None = None
    _bytes: frozenset[int] | None = None

    @property
    def is_rule(self) -> bool:
        """Whether it is a rule of the file."""
        return self.row > NO_RULE

    @property
    def is_prefix(self) -> bool:
        """Whether it matches every path that starts with its literal prefix."""
        return not self.rest and not self.is_anchored

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
    def byte_set(self) -> frozenset[int]:
        """The bytes in its pattern except stars, cached."""
        if self._bytes is None:
            self._bytes = frozenset(self.literal + self.rest) - frozenset(_STAR)
        return self._bytes

    @property
    def form(self) -> tuple[bytes, bytes, int, bool, bool]:
        """Its content: entries with the same form are equivalent."""
        return self.literal, self.rest, self.kind, self.is_anchored, self.allow

    @property
    def paths(self) -> tuple[bytes, int, bool]:
        """What it matches: entries with the same value match the same paths."""
        return self.literal + self.rest, self.kind, self.is_anchored

    @property
    def min_bytes(self) -> int:
        """The minimum number of bytes of a matching path."""
        if self.kind == Patterns.SHELL:
            if self._elements is None:
                self._elements = sum(each is not None for each in _wildcards.elements(self.rest))
            return len(self.literal) + self._elements
        return len(self.literal) + len(self.rest) - self.rest.count(_STAR)

    def covers(self, other: Entry) -> bool:
        """Return whether it surely matches everything that another entry of its reading matches.

        A conservative check: a star of the other entry may match anything, so a partial match of
        the current run before the star does not count.
        """
        if not other.literal.startswith(self.literal):
            return False
        if self.is_prefix:
            return True
        if Patterns.SHELL in (self.kind, other.kind) or not self.rest:
            return self.paths == other.paths
        # Fast path for most pairs: the other pattern lacks one of its bytes.
        if (self.is_anchored and not other.is_anchored) or not self.byte_set <= other.byte_set:
            return False
        automaton = self.automaton
        state = automaton.start(other.literal)
        for number, run in enumerate(other.rest.split(_STAR)):
            state = automaton.after(automaton.minimum_state(state) if number else state, run)
        return state == automaton.full

    def is_read_alike_with_wildcards(self) -> bool:
        """Return whether every reading with wildcards compares it alike."""
        text = self.literal + self.rest
        return (
            self.kind != Patterns.SHELL
            and _SAFE.issuperset(text)
            and not _STARTS_INSIDE_ESCAPE.search(text)
        )

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
        return self.is_read_alike_with_wildcards() and _READ_ALIKE.issuperset(
            self.literal + self.rest
        )

    def tables(self) -> tuple[bytes, ...]:
        """Return the tables of a shell pattern's elements."""
        return self.automaton.tables if isinstance(self.automaton, Shell) else ()


def _entries_of(selection: Selection) -> list[Entry]:
    """Return the entries of compiled rules, by number."""
    found = []
    for rule in selection.compiled_rules():
        text, size, kind, is_anchored = rule.pattern, rule.literal_size, rule.kind, rule.is_anchored
        if kind == Patterns.SHELL and not _SHELL_SPECIAL.search(text):
            # With only stars, it is equivalent to a simpler wildcard pattern.
            is_anchored = not text.endswith(_STAR)
            text = text.rstrip(_STAR)
            kind = int(Patterns.WILDCARDS if _STAR in text else Patterns.PREFIX)
            size = min(size, len(text))
        entry = Entry(
            *(text[:size], text[size:], kind, is_anchored), *(rule.allow, rule.rank, rule.row)
        )
        found.append(entry)
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
        self.key_of: Callable[[Entry], bytes] = self._unescaped_key if unescaped else _literal_key
        self._by_key: dict[bytes, list[Entry]] = {}
        for entry in self.entries:
            self._by_key.setdefault(self.key_of(entry), []).append(entry)
        self._keys = sorted(self._by_key)
        #: The total weight of entries with a short prefix, which overlap with nearly all others.
        self.short_prefix_weight = sum(
            entry.weight
            for key, some in self._by_key.items()
            if len(key) < _SHORT_PREFIX
            for entry in some
        )
        self._sizes = sorted({len(key) for key in self._keys})

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
        matching = (
            entry
            for entry in self.with_key_prefixing(path)
            if entry not in gone and entry.automaton.accepts(entry.automaton.start(path))
        )
        return min(matching, key=lambda entry: entry.order)

    def may_match(self, key: bytes) -> Iterator[Entry]:
        """Yield the entries that may match a path that starts with ``key``."""
        yield from self.with_key_prefixing(key)
        place = bisect_right(self._keys, key)
        while place < len(self._keys) and self._keys[place].startswith(key):
            yield from self._not_removed(self._by_key[self._keys[place]])
            place += 1

    def with_key_prefixing(self, key: bytes) -> Iterator[Entry]:
        """Yield the entries whose key is a prefix of ``key``."""
        for size in self._sizes[: bisect_right(self._sizes, len(key))]:
            yield from self._not_removed(self._by_key.get(key[:size], ()))

    def _not_removed(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        for entry in entries:
            if entry.order not in self.removed:
                yield entry

    def is_covered(self, entry: Entry) -> bool:
        """Return whether a single entry with precedence surely covers an entry."""
        if entry.is_covered is None:
            entry.is_covered = any(
                other.order < entry.order and other.covers(entry)
                for other in self.with_key_prefixing(self.key_of(entry))
            )
        return entry.is_covered

    def ranked_above(self, entry: Entry, key: bytes) -> list[Entry]:
        """Return the entries of `may_match` with precedence over an entry."""
        return [other for other in self.may_match(key) if other.order < entry.order]


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

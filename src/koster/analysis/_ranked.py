"""The rules of one crawler in order of precedence, and indexes of overlapping ones.

The first entry that matches a URL decides it. The last entry, for "no rule matches", matches
everything; entries for /robots.txt come first if it is exempt. An index of literal prefixes finds
the entries that can match the same URLs.
"""

from __future__ import annotations

import re
from operator import attrgetter
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from .._asking import selection_of
from .._lazy import cached_property
from ..dialects import Choice, Patterns, RobotsTxtPath
from ._alike import count_rules
from ._alphabet import written_in
from ._entries import (
    NO_RULE,
    ROOT,
    by_row,
    entries_in_lines,
    first_entries_of,
    pseudo_entry,
    robots_txt_entries,
)
from ._index import HEAVY, Indexes, Keys
from ._overlaps import Overlaps
from ._urls import (
    ANY_URL,
    PLACES_PER_CHECK,
    UNAMBIGUOUS,
    checks_on,
    url_of,
    with_host_if_ambiguous,
    with_written_escapes,
)

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from ..dialects import Reading
    from ..engine.selection import Selection
    from ..model import Rule
    from ..robots import Rules
    from ._alphabet import Written
    from ._entries import Entry
    from ._urls import Likeness

#: What the engine returns for a URL that is too long, and the entry for that: of no set.
_TOO_LONG = -4
_NO_ENTRY = pseudo_entry(NO_RULE, b"", allow=False)

#: Maximum bytes of a literal prefix in an index with unescaped keys.
_MAX_KEY = 2_000

#: Entries of which it is not worth to have two indexes, of those that allow and of the others.
_FEW = 64

#: Rules that the engine checks in the time of one comparison here.
_ENGINE_CHECKS_PER_COMPARISON = 64

#: Rules that it may check to find examples of plain entries: a few milliseconds in real files.
_MAX_CHECKS = 10_000_000

#: The engine checks shell patterns in so many times the time of others.
_SHELL = 8

#: No usual pattern is longer.
USUAL_BYTES = 256

#: URLs whose rules are remembered.
_MAX_REMEMBERED = 10_000

#: Reversed, a sort by it keeps the order of equal ones.
_RANK = attrgetter("rank")

#: No entries.
_NONE: set[int] = set()

#: At the end of a literal prefix, or of a line of several.
_INCOMPLETE_ESCAPE = re.compile(rb"%[0-9A-Fa-f]?(?=\n|\Z)")


class Ranked:
    """The entries of some rules that may decide.

    It has no entries that match no path, or whose paths an entry before them also matches. With
    ``keeps_next``, it has the former, and of the latter those of the next rule, which decides
    without the one before. With ``lines``, it has the entries of the rules there, among them all
    that may decide. With a ``likeness``, entries can be compared with those of other readings.
    ``exempts`` excludes /robots.txt even if the reading does not exempt it; ``exempts_longer``
    excludes all paths that start so.
    """

    def __init__(
        self,
        rules: Rules,
        *,
        likeness: Likeness | None = None,
        exempts: bool = False,
        exempts_longer: bool = False,
        keeps_next: bool = False,
        lines: Container[int] | None = None,
    ) -> None:
        self._rules = rules
        selection = self._selection = selection_of(rules)
        self.reading = selection.reading()
        self.is_longest_first = self.reading.choice == Choice.LONGEST
        self.keeps_next = keeps_next
        #: The rows of the entries that are left out, and their paths.
        self.left_out: list[int] = []
        self._paths_left_out: list[object] = []
        if lines is None:
            some, self.left_out, self._paths_left_out = first_entries_of(
                selection, keeps_next, ANY_URL if likeness is None else likeness
            )
        else:
            some = entries_in_lines(selection, lines)
        numbered = [*some.values()]
        self._entry_of = some.__getitem__
        no_rule_entry = pseudo_entry(NO_RULE, b"", allow=selection.unmatched_allowed())
        exempt = exempts or exempts_longer or exempts_robots_txt(selection)
        exempted = robots_txt_entries(and_longer=exempts_longer) if exempt else []
        self.entries = [*exempted, *sorted(numbered, key=_RANK, reverse=True), no_rule_entry]
        _number(self.entries, None if likeness is None else self.reading)
        self._numbered = numbered
        self._indexes = Indexes()
        self.no_rule_entry = no_rule_entry
        self._robots_txt_entry = next(iter(exempted), None)
        self._exempts_longer = exempts_longer
        self._numbers: dict[str, int] = {}
        self._rules_of_rows: dict[int, Rule] = {}
        #: A likely URL that an entry decides, or None, by its order; of entries that were tried.
        self.examples: dict[int, str | None] = {}
        self._has_plain_examples = False
        #: What `decides_all` returns, once it has looked at too many keys for single entries.
        self._deciding_all: bytearray | None = None
        self._keys_looked_at = 0
        #: The last key of `first_that_may_match`, and what it found: the next one is often equal.
        self._last_key: bytes | None = None
        self._last: list[Entry] = []

    def with_lines(self, lines: Container[int]) -> Ranked:
        """Return the entries of the rules in some lines, among them all that may decide."""
        return Ranked(self._rules, lines=lines)

    @cached_property
    def written(self) -> Written:
        """What matters of the text of the patterns to make an alphabet."""
        entries = self.entries
        is_shell = self.reading.patterns == Patterns.SHELL
        tables = (table for entry in entries for table in entry.tables()) if is_shell else ()
        return written_in([entry.text for entry in entries], tables)

    @property
    def has_unescaped_keys(self) -> bool:
        """Whether all keys would be the same with any likeness."""
        return _are_unescaped([entry.literal for entry in self.entries])

    @cached_property
    def by_row(self) -> dict[int, list[Entry]]:
        """The entries of each rule in their order, by row."""
        return by_row(self.entries)

    def first_of_left_out(self) -> dict[int, list[Entry]]:
        """Return the first entries with the paths of those that are left out, by row.

        With ``keeps_next``.
        """
        found: dict[int, list[Entry]] = {}
        for row, paths in zip(self.left_out, self._paths_left_out, strict=True):
            found.setdefault(row, []).append(self.overlaps.first[paths])
        return found

    @cached_property
    def by_line(self) -> dict[int, list[Entry]]:
        """The entries of each rule, by line."""
        line_of = self._selection.line_of
        return {line_of(row): entries for row, entries in self.by_row.items()}

    @cached_property
    def _by_key(self) -> Keys:
        return self._indexes.of(self.entries)

    @cached_property
    def _repeated(self) -> int:
        """How often a rule is in the file, on average: of plain ones, or of the others if more.

        The engine also checks the rules that only repeat others, and so have no entries.
        """
        often = 1 + count_rules(self._rules) // len(self.entries)
        plain = sum(type(paths) is bytes for paths in self._paths_left_out)
        others = sum(not entry.is_prefix for entry in self.entries)
        return max(often, 1 + (len(self._paths_left_out) - plain) // max(1, others))

    @cached_property
    def _weight_of_check(self) -> int:
        """The weight of the check of an entry that is not heavy itself."""
        return self._repeated * (_SHELL if self.reading.patterns == Patterns.SHELL else 1)

    @property
    def most_checked(self) -> int:
        """The weight of the rules that the engine checks at most to decide a URL."""
        return self._by_key.max_weight() * self._weight_of_check

    def cost_of_deciding(self, entry: Entry) -> int:
        """Return the comparisons that `deciding` counts as, with a URL of an entry.

        The entry may be one of other rules.
        """
        checked = self._by_key.weight(entry.key)
        if not checked and len(entry.text) < self._short:
            return 0
        # The weight leaves out keys with few rules.
        again = (checked + HEAVY) * (checks_on(entry.text) - 1)
        return (checked + again) * self._weight_of_check // _ENGINE_CHECKS_PER_COMPARISON

    @cached_property
    def _short(self) -> int:
        """The bytes of text from which on it may count that keys have few rules."""
        return PLACES_PER_CHECK * (_ENGINE_CHECKS_PER_COMPARISON // (HEAVY * self._weight_of_check))

    @cached_property
    def overlaps(self) -> Overlaps:
        """The entries by what they match."""
        return Overlaps(self.entries, self._indexes.of)

    @property
    def firsts(self) -> list[Entry]:
        """The entries that are the first with their paths: the others decide nothing."""
        return [*self.overlaps.first.values()]

    def is_first_alike(self, entry: Entry) -> bool:
        """Return whether no entry before it matches the same paths."""
        return self.overlaps.first[entry.paths] is entry

    @cached_property
    def _first_by_key(self) -> Keys:
        return self._indexes.of(self.firsts)

    def weight_of_candidates(self, entry: Entry) -> int:
        """Return the weight of the entries that are tried to find those that match a path.

        ``entry`` matches the path; it may be one of other rules.
        """
        return self.overlaps.parts().weight(entry.key or ROOT)

    def find_plain_examples(self) -> None:
        """Find `examples` of plain entries: of nearly all in large files.

        They decide their own text, or that with two letters more. Leaves out those that begin with
        no slash and long ones, and all if that may take long.
        """
        if self._has_plain_examples:
            return
        self._has_plain_examples = True
        numbered = self._numbered
        checks = len(numbered) * self.most_checked if self._by_key.has_weight() else 0
        if checks > _MAX_CHECKS:
            return
        for entry in numbered:
            literal = entry.literal
            if len(literal) <= USUAL_BYTES and not entry.rest and literal.startswith(ROOT):
                url = (
                    literal.decode("ascii")
                    if UNAMBIGUOUS.fullmatch(literal)
                    else url_of(literal, self.reading)
                )
                url = with_host_if_ambiguous(url)
                decides = self.decides(entry, url)
                if not (decides or entry.is_anchored):
                    # Perhaps an exact rule decides the text.
                    url += "xy"
                    decides = self.decides(entry, url)
                self.examples[entry.order] = url if decides else None

    def decides(self, entry: Entry, url: str) -> bool:
        """Return whether an entry decides a URL that does not count as exempt."""
        return self.deciding(url) is entry and not self.is_exempt(url)

    @property
    def in_file_order(self) -> list[Entry]:
        """The entries in the order of the file, then the one for no rule."""
        return [*self._numbered, self.no_rule_entry]

    def deciding(self, url: str) -> Entry:
        """Return the entry that decides a URL, according to the engine."""
        return self.entry_of(self._selection.number_for(url))

    def number_for(self, url: str) -> int:
        """Return the number of the rule that decides a URL, according to the engine.

        It is remembered: with many rules, a decision takes as long as a search.
        """
        number = self._numbers.get(url)
        if number is None:
            number = self._selection.number_for(url)
            if len(self._numbers) < _MAX_REMEMBERED:
                self._numbers[url] = number
        return number

    def entry_of(self, number: int) -> Entry:
        """Return the entry of a result of `number_for`."""
        if number >= 0:
            return self._entry_of(number)
        if number == _TOO_LONG:
            return _NO_ENTRY
        if number == NO_RULE or self._robots_txt_entry is None:
            return self.no_rule_entry
        return self._robots_txt_entry

    def line_of(self, row: int) -> int:
        """Return the line of a row of the file."""
        return self._selection.line_of(row)

    def rule(self, row: int) -> Rule:
        """Return the rule of a row of the file, cached: it may cover all others, and be long."""
        rule = self._rules_of_rows.get(row)
        if rule is None:
            rule = self._rules_of_rows[row] = self._selection.rule(row)
        return rule

    def is_exempt(self, url: str) -> bool:
        """Return whether a URL counts as exempt: that of /robots.txt."""
        if self._exempts_longer:
            return url.startswith("/robots.txt")
        return url == "/robots.txt" or url.startswith("/robots.txt?")

    def deciding_without(self, gone: Sequence[Entry], url: str) -> Entry:
        """Return the entry that decides a URL without some entries and the removed ones.

        With all, one of ``gone`` decides it, unless there are removed ones.
        """
        path = self._selection.path_of(url)
        orders = {entry.order for entry in gone}
        return self.entries[self.overlaps.deciding_without(path, orders)]

    def is_covered_above(self, entry: Entry, below: Entry) -> bool:
        """Return whether an entry with precedence over ``below`` surely covers another.

        ``entry`` may be one of other rules with the same reading.
        """
        return any(
            other.order < below.order and other.covers(entry)
            for other in self.overlaps.may_cover(entry)
        )

    def is_covered_everywhere_above(self, entry: Entry, key: bytes, below: Entry) -> bool:
        """Like `is_covered_above`, for an entry of another reading."""
        return any(
            other.order < below.order and other.covers_everywhere(entry)
            for other in self.overlaps.parts().candidates(key or ROOT, entry.text)
        )

    def is_covered(self, entry: Entry) -> bool:
        """Return whether a single entry with precedence surely covers an entry."""
        return self.overlaps.covered_by(entry, _NONE) < entry.order

    def coverer(self, entry: Entry) -> Entry | None:
        """Return an entry with precedence that surely covers an entry: best one with its paths."""
        if not self.is_covered(entry):
            return None
        twin = self.overlaps.first[entry.paths]
        return twin if twin is not entry else self.entries[self.overlaps.covered_by(entry, _NONE)]

    def may_match(self, key: bytes) -> list[Entry]:
        """Return the entries that may match a path that starts with ``key``, also removed ones."""
        return self._by_key.both_ways(key)

    @cached_property
    def _by_verdict(self) -> dict[bool, Keys]:
        """The entries that allow, and those that disallow."""
        return {
            allow: Keys([each for each in self.entries if each.allow == allow])
            for allow in (True, False)
        }

    def opposed_to(self, entry: Entry) -> list[Entry]:
        """Return the entries with the other verdict that may match what an entry matches."""
        key = entry.key
        if self._by_key.count_both_ways(key) > _FEW:
            return self._by_verdict[not entry.allow].both_ways(key)
        return [each for each in self._by_key.both_ways(key) if each.allow != entry.allow]

    def first_that_may_match(self, key: bytes) -> list[Entry]:
        """Return those of `may_match` that are the first with their paths."""
        if key != self._last_key:
            self._last_key, self._last = key, self._first_by_key.both_ways(key)
        return self._last

    def decides_all(self, order: int) -> bool:
        """Return whether an entry comes before all others that may match what it matches.

        It is the first one with its paths.
        """
        if order == self.no_rule_entry.order:
            return not order
        if self._deciding_all is None:
            keys = self._first_by_key
            key = self.entries[order].key
            self._keys_looked_at += keys.count_keys(key)
            if self._keys_looked_at < len(self.entries):
                return keys.is_first(key, order)
            self._deciding_all = bytearray(len(self.entries))
            for each in keys.first_of_overlapping():
                self._deciding_all[each] = True
        return bool(self._deciding_all[order])

    def least_ranked_above(self, entry: Entry, key: bytes) -> int:
        """Return a lower bound of the number of entries of `ranked_above`."""
        # The entry for no rule comes after all others.
        if entry is not self.no_rule_entry:
            return 0
        return self._first_by_key.count_both_ways(key) - 1

    def ranked_above(self, entry: Entry, key: bytes) -> list[Entry]:
        """Return the entries of `first_that_may_match` with precedence over an entry."""
        return self._first_by_key.both_ways_before(key, entry.order)


def exempts_robots_txt(selection: Selection) -> bool:
    """Return whether the reading of some rules exempts /robots.txt."""
    return selection.reading().robots_txt == RobotsTxtPath.ALWAYS_ALLOWED


def _number(entries: list[Entry], compared: Reading | None) -> None:
    """Set the place and the key of each entry: to be compared with other readings, or none."""
    literals = [entry.literal for entry in entries]
    keys = literals if compared is None else _unescaped_keys(literals, compared)
    for place, (entry, key) in enumerate(zip(entries, keys, strict=True)):
        entry.order = place
        entry.key = key


def _are_unescaped(literals: list[bytes]) -> bool:
    """Return whether literal prefixes are their own unescaped keys, as in most files."""
    joined = b"".join(literals)
    return joined.isascii() and b"%" not in joined and max(map(len, literals)) <= _MAX_KEY


def _unescaped_keys(literals: list[bytes], reading: Reading) -> list[bytes]:
    if _are_unescaped(literals):
        return literals
    begins = [literal[:_MAX_KEY] for literal in literals]
    # All at once is faster, without those that have the byte that separates them.
    joined = with_written_escapes(b"\n".join(begins), reading)
    lines = joined.split(b"\n")
    if len(lines) > len(begins):
        begins = [begin.partition(b"\n")[0] for begin in begins]
        lines = [with_written_escapes(begin, reading) for begin in begins]
    odd = {}
    if b"%0a" in joined or b"%0A" in joined:
        odd = {place: line for place, line in enumerate(lines) if b"%0a" in line or b"%0A" in line}
        for place in odd:
            lines[place] = b""
    found = _unescaped(b"\n".join(lines)).split(b"\n")
    for place, line in odd.items():
        found[place] = _unescaped(line)
    return found


def _unescaped(literals: bytes) -> bytes:
    # A pattern whose escapes are not decoded may end within an escape of the URL.
    return unquote_to_bytes(_INCOMPLETE_ESCAPE.sub(b"", literals))

"""The rules of one crawler in order of precedence.

The first pattern that matches a URL decides it. The last one, for "no rule matches", matches
everything; those for /robots.txt come first if it is exempt.
"""

from __future__ import annotations

import re
from collections.abc import Container
from operator import attrgetter
from urllib.parse import unquote_to_bytes

from .._asking import selection_of
from .._engine.selection import Selection
from .._lazy import cached_property
from ..dialects import Patterns, Reading, RobotsTxtPath
from ..model import Rule
from ..robots import Rules
from ._index import Index
from ._patterns import (
    BY_ORDER,
    NO_RULE,
    ROOT,
    Pattern,
    pseudo_pattern,
    robots_txt_patterns,
)
from ._search import Budget, alphabet
from ._search.alphabet import Alphabet
from ._search.urls import with_written_escapes

#: What the engine returns for a URL that is too long, and the pattern for that: of no set.
_TOO_LONG = -4
_NO_PATTERN = pseudo_pattern(NO_RULE, b"", allow=False)

#: Bytes that the engine compares with patterns with stars in the time of a step, and what it takes
#: to begin with a pattern, in bytes.
_BYTES_PER_STEP = 2_048
_BYTES_TO_BEGIN = 16

#: At the end of a literal prefix.
_INCOMPLETE_ESCAPE = re.compile(rb"%[0-9A-Fa-f]?\Z")

#: Reversed, a sort by it keeps the order of equal ones.
_RANK = attrgetter("rank")
_IS_RULE = attrgetter("is_rule")


class Ranking:
    """The patterns of some rules, in order of precedence.

    ``exempts`` excludes /robots.txt even if the reading does not exempt it; ``exempts_longer``
    excludes all paths that start so. With ``is_compared``, the keys of the patterns are
    comparable with those in other readings.
    """

    def __init__(
        self,
        rules: Rules,
        *,
        exempts: bool = False,
        exempts_longer: bool = False,
        is_compared: bool = False,
    ) -> None:
        selection = self._selection = selection_of(rules)
        #: What the reading compares of a URL.
        self.path_of = selection.path_of
        self.reading = selection.reading()
        #: The patterns in the order of the file, by the number that the engine has for each.
        self.numbered = [*map(Pattern, selection.compiled_rules())]
        self.no_rule = pseudo_pattern(NO_RULE, b"", allow=selection.unmatched_allowed())
        exempt = exempts or exempts_longer or exempts_robots_txt(selection)
        exempted = robots_txt_patterns(and_longer=exempts_longer) if exempt else []
        self._robots_txt = exempted[0] if exempted else self.no_rule
        self._exempted = "/robots.txt" if exempts_longer else "/robots.txt?"
        self.patterns = [*exempted, *sorted(self.numbered, key=_RANK, reverse=True), self.no_rule]
        #: The patterns that match the same paths, in their order: only the first decides.
        self.alike: dict[object, list[Pattern]] = {}
        for order, each in enumerate(self.patterns):
            each.order = order
            if is_compared:
                each.key = _unescaped(each.literal, self.reading)
            self.alike.setdefault(each.paths, []).append(each)
        self._rules: dict[int, Rule] = {}
        #: A likely URL that a pattern decides, or None, by its order; of patterns that were tried.
        self.examples: dict[int, str | None] = {}

    @property
    def firsts(self) -> list[Pattern]:
        """The patterns without those that match the same paths as one before them."""
        return [alike[0] for alike in self.alike.values()]

    @cached_property
    def index(self) -> Index:
        """The index of `firsts`."""
        return Index(self.firsts)

    @property
    def text(self) -> bytes:
        """The text of all patterns, for an alphabet."""
        return b"/".join([each.text for each in self.patterns])

    @property
    def tables(self) -> set[bytes]:
        """The tables of the elements of all shell patterns, for an alphabet."""
        is_shell = self.reading.patterns == Patterns.SHELL
        return {table for each in self.patterns for table in each.tables} if is_shell else set()

    @cached_property
    def letters(self) -> Alphabet:
        """The alphabet of these patterns."""
        return alphabet([self.reading], [self.text], self.tables)

    @cached_property
    def by_row(self) -> dict[int, list[Pattern]]:
        """The patterns of each rule in their order, by row."""
        found: dict[int, list[Pattern]] = {}
        for each in filter(_IS_RULE, self.patterns):
            found.setdefault(each.row, []).append(each)
        return found

    @cached_property
    def by_line(self) -> dict[int, list[Pattern]]:
        """The patterns of each rule, by line."""
        return {self.line_of(row): patterns for row, patterns in self.by_row.items()}

    @cached_property
    def by_written_text(self) -> dict[str, list[Pattern]]:
        """The patterns by what is written in the file, in their order; without repeated ones."""
        found: dict[str, list[Pattern]] = {}
        for each in filter(_IS_RULE, self.firsts):
            found.setdefault(self.rule(each.row).pattern, []).append(each)
        return found

    def before(self, pattern: Pattern, key: bytes, budget: Budget) -> list[Pattern]:
        """Return the patterns before one that may match the same paths as a key."""
        touching = self.index.touching(key, budget)
        return [each for each in touching if each.order < pattern.order]

    @cached_property
    def with_stars(self) -> int:
        """How many patterns have stars: the engine tries all of them."""
        return sum(bool(each.rest) for each in self.numbered)

    def cost_of_deciding(self, text: bytes) -> int:
        """Return the steps that a decision takes: all patterns with stars are tried."""
        return self.with_stars * (len(text) + _BYTES_TO_BEGIN) // _BYTES_PER_STEP

    def deciding(self, url: str) -> Pattern:
        """Return the pattern that decides a URL, according to the engine."""
        number = self._selection.number_for(url)
        if number >= 0:
            return self.numbered[number]
        if number == _TOO_LONG:
            return _NO_PATTERN
        return self.no_rule if number == NO_RULE else self._robots_txt

    def line_of(self, row: int) -> int:
        """Return the line of a row of the file."""
        return self._selection.line_of(row)

    def rule(self, row: int) -> Rule:
        """Return the rule of a row of the file, cached: it may cover all others, and be long."""
        rule = self._rules.get(row)
        if rule is None:
            rule = self._rules[row] = self._selection.rule(row)
        return rule

    def is_exempt(self, url: str) -> bool:
        """Return whether a URL counts as exempt: that of /robots.txt."""
        return url.startswith(self._exempted) or url == "/robots.txt"

    def first_left(self, pattern: Pattern, gone: Container[int]) -> Pattern:
        """Return the first of the patterns that match the same paths whose order is not ``gone``.

        Without one, the pattern for no rule.
        """
        alike = self.alike[pattern.paths]
        # Nearly always.
        if alike[0].order not in gone:
            return alike[0]
        return next((each for each in alike if each.order not in gone), self.no_rule)

    def deciding_without(self, gone: Container[int], path: bytes, budget: Budget) -> Pattern:
        """Return the pattern that decides a path without those of some orders."""
        best = self.no_rule
        for each in self.index.candidates(path, path, budget):
            # The others come later, and so do those that are alike.
            if each.order >= best.order:
                break
            if each.matches(path):
                best = min(best, self.first_left(each, gone), key=BY_ORDER)
        return best

    def coverer(self, pattern: Pattern, budget: Budget, gone: Container[int] = ()) -> Pattern:
        """Return the first pattern that surely covers one, which may be of other rules.

        Without those of some orders. There is always one: that for no rule, or the pattern itself.
        """
        best = self.no_rule
        for each in self.index.candidates(pattern.key or ROOT, pattern.text, budget):
            if each.order >= best.order:
                break
            if each.covers(pattern):
                best = min(best, self.first_left(each, gone), key=BY_ORDER)
        return best


def exempts_robots_txt(selection: Selection) -> bool:
    """Return whether the reading of some rules exempts /robots.txt."""
    return selection.reading().robots_txt == RobotsTxtPath.ALWAYS_ALLOWED


def _unescaped(literal: bytes, reading: Reading) -> bytes:
    """Return a literal prefix as it would be without escapes: all readings agree on that."""
    if b"%" not in literal:
        return literal
    # A pattern whose escapes are not decoded may end within an escape of the URL.
    return unquote_to_bytes(_INCOMPLETE_ESCAPE.sub(b"", with_written_escapes(literal, reading)))

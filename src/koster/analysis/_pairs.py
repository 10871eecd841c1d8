"""Pairs of patterns of two rule sets that decide a URL differently."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

from .._asking import selection_of
from .._lazy import cached_property
from ..dialects import Choice
from ..robots import Rules
from ._index import Index
from ._patterns import ROBOTS_TXT_ROW, ROOT, Pattern, digits_of_runs
from ._ranking import Ranking, exempts_robots_txt
from ._search import Budget, BudgetSpentError, Search, alphabet
from ._search.alphabet import Alphabet
from ._search.urls import (
    DECODED_ESCAPES,
    UNAMBIGUOUS,
    comparison_path,
    simplify_url,
    url_beginning_with,
    url_of,
    with_host_if_ambiguous,
    with_written_escapes,
)

#: Pairs of which likely URLs are tried when no proof is found within the budget.
_MAX_SAMPLES = 200
#: Those of a rule that is hard.
_MAX_SAMPLES_OF_RULE = 4


class Pairs:
    """Two rule sets, and the pairs of their patterns.

    Patterns of two readings are the same if each URL that clients send is matched by both or by
    none: mostly the characters of their text tell, or else a search for those of one text.
    """

    def __init__(self, before: Rules, after: Rules, budget: Budget) -> None:
        selections = selection_of(before), selection_of(after)
        readings = [each.reading() for each in selections]
        self._is_one_reading = readings[0] == readings[1]
        self._decodes = len({each.escapes in DECODED_ESCAPES for each in readings}) == 2
        exempts = any(map(exempts_robots_txt, selections))
        self._old, self._new = self._both = [
            Ranking(rules, exempts=exempts, is_compared=not self._is_one_reading)
            for rules in (before, after)
        ]
        self._budget = budget
        self._is_proved = True
        self._samples_left = _MAX_SAMPLES
        #: How often each rule was hard: a search with it took too long, as others would.
        self._hard: Counter[int] = Counter()
        #: What is known of the patterns: the same one in the other set, and if it is covered.
        self._same: dict[Pattern, Pattern | None] = {}
        self._covered: dict[Pattern, bool] = {}

    def urls(self, *, once: bool) -> tuple[list[str], bool]:
        """Return a shortest URL for each pair of rules that decide one differently.

        And whether it is proved that these are all pairs. For ``once``, see `difference`.
        """
        found: dict[tuple[int, int], str] = {}
        rules: set[int] = set()
        try:
            for old, new in self._differing():
                rule = old.row if old.is_rule else new.row
                url = None if once and rule in rules else self._url(old, new, once=once)
                if url:
                    rules.add(rule)
                    rows = old.row, new.row
                    found[rows] = min(found.get(rows, url), url, key=len)
        except BudgetSpentError:
            self._is_proved = False
        return [*found.values()], self._is_proved

    def _url(self, old: Pattern, new: Pattern, *, once: bool) -> str | None:
        """Return a shortest URL of a pair, or a likely one if a search takes too long."""
        if not (once and (self._hard[old.row] or self._hard[new.row])):
            try:
                return self._shortest(old, new)
            except BudgetSpentError:
                pass
        self._is_proved = False
        harder = max(old, new, key=lambda each: len(each.rest))
        self._hard[harder.row] += bool(harder.rest)
        if once and self._hard[harder.row] > _MAX_SAMPLES_OF_RULE:
            return None
        return self._likely(old, new)

    def _differing(self) -> Iterator[tuple[Pattern, Pattern]]:
        """Yield the pairs with opposite verdicts that may decide the same URL."""
        kept = self._kept
        kept_new = set(kept.values())
        changed = Index([each for each in self._new.firsts if each not in kept_new])
        for old in self._old.firsts:
            index = changed if old in kept else self._new.index
            touching = index.touching(old.key, self._budget)
            opposed = [each for each in touching if each.allow != old.allow]
            same = self._counterpart(old, self._old, self._new) if opposed else None
            opposed = [each for each in opposed if same is None or each.order <= same.order]
            if opposed and not self._decides_nothing(old, self._old):
                # Shorter patterns first: their URLs are shorter, and likely.
                for new in sorted(opposed, key=lambda each: (len(each.text), each.order)):
                    same = self._counterpart(new, self._new, self._old)
                    if (same is None or same.order >= old.order) and not self._decides_nothing(
                        new, self._new
                    ):
                        yield old, new

    @cached_property
    def _kept(self) -> dict[Pattern, Pattern]:
        """The patterns that both sets rank alike: of two, the same one decides in both."""
        if any(each.reading.choice != Choice.LONGEST for each in self._both):
            return {}
        same = ((each, self._counterpart(each, self._old, self._new)) for each in self._old.firsts)
        return {
            old: new
            for old, new in same
            if new is not None and (new.rank, new.allow) == (old.rank, old.allow)
        }

    def _decides_nothing(self, pattern: Pattern, ranking: Ranking) -> bool:
        """Return whether a pattern is covered by another one.

        Also if it is one of /robots.txt and readings differ: they are not compared on it.
        """
        if pattern.row == ROBOTS_TXT_ROW and not self._is_one_reading:
            return True
        if pattern not in self._covered:
            self._covered[pattern] = self._is_covered(pattern, ranking, pattern.order)
        return self._covered[pattern]

    def _is_covered(self, pattern: Pattern, ranking: Ranking, order: int) -> bool:
        """Return whether a pattern of a ranking before an order surely covers one."""
        return ranking.coverer(pattern, self._budget).order < order

    def _counterpart(self, pattern: Pattern, own: Ranking, other: Ranking) -> Pattern | None:
        """Return the first pattern of the other ranking that surely matches the same URLs."""
        if self._is_one_reading or self._is_read_alike(pattern):
            found = other.alike.get(pattern.paths)
            return found[0] if found else None
        if pattern not in self._same:
            written = own.rule(pattern.row).pattern if pattern.is_rule else ""
            some = other.by_written_text.get(written, ())
            self._same[pattern] = next(
                (each for each in some if self._match_alike(pattern, own, each)), None
            )
        return self._same[pattern]

    def _is_read_alike(self, pattern: Pattern) -> bool:
        digits = digits_of_runs(pattern.text)
        return pattern.is_read_alike(decodes=self._decodes) and not (
            digits and self._digits.intersection(b"".join(digits))
        )

    @cached_property
    def _digits(self) -> set[int]:
        """The digits of all escapes that are compared."""
        moves = itertools.chain(*self._letters.moves)
        return {byte for each in moves for raw in each.raw if b"%" in raw for byte in raw}

    def _match_alike(self, pattern: Pattern, own: Ranking, other: Pattern) -> bool:
        """Return whether it is proved that patterns of both readings match the same URLs."""
        old, new = (pattern, other) if own is self._old else (other, pattern)
        try:
            return not (
                self._search([[old], []], [[], [new]]) or self._search([[], [new]], [[old], []])
            )
        except BudgetSpentError:
            return False

    @cached_property
    def _letters(self) -> Alphabet:
        readings = [each.reading for each in self._both[: 1 if self._is_one_reading else 2]]
        tables = self._old.tables | self._new.tables
        return alphabet(readings, [each.text for each in self._both], tables)

    def _search(self, inside: list[list[Pattern]], outside: list[list[Pattern]]) -> str | None:
        """Return a shortest URL for patterns by reading; see `Search`."""
        self._budget.begin_search(sum(map(len, outside)) + 2)
        begins = (UNAMBIGUOUS.match(each.literal) for each in itertools.chain(*inside))
        url = max((found[0] if found else ROOT for found in begins), key=len).decode("ascii")
        automata = [
            [[each.automaton for each in patterns] for patterns in by_reading]
            for by_reading in (inside, outside)
        ]
        compared = [comparison_path(each.reading, url) for each in self._both]
        return Search(self._letters, *automata).shortest(url, compared, self._budget)

    def _shortest(self, old: Pattern, new: Pattern) -> str | None:
        """Return a shortest URL that one pattern decides before and the other after, or None."""
        if self._is_one_reading:
            return self._shortest_in_one_reading(old, new)
        for pattern, own, other, last in (
            (old, self._old, self._new, new.order),
            (new, self._new, self._old, old.order),
        ):
            same = self._counterpart(pattern, own, other)
            if same is not None and self._is_covered(same, other, last):
                return None
        # That is asked faster without all others, and tells of many pairs.
        url = self._search([[old], [new]], [[], []])
        if url is None:
            return None
        if not (old.rest or new.rest) and self._decide(with_host_if_ambiguous(url), old, new):
            return with_host_if_ambiguous(url)
        key = max(old.key, new.key, key=len)
        before = self._old.before(old, key, self._budget)
        after = self._new.before(new, key, self._budget)
        alike = {self._counterpart(each, self._old, self._new) for each in before}
        after = [each for each in after if each not in alike]
        url = self._search([[old], [new]], [before, after])
        return None if url is None else with_host_if_ambiguous(url)

    def _shortest_in_one_reading(self, old: Pattern, new: Pattern) -> str | None:
        reading = self._old.reading
        prefix = max(old.literal, new.literal, key=len) or ROOT
        begin = url_beginning_with(prefix, reading)
        if begin is None:
            return None
        is_exact = old.is_exact or new.is_exact
        if is_exact or not (old.rest and new.rest):
            path = prefix if is_exact else prefix + (old.rest or new.rest).replace(b"*", b"")
            url = with_host_if_ambiguous(simplify_url(url_of(path, reading), reading))
            is_shortest = is_exact or len(path) == max(old.min_bytes, new.min_bytes, 1)
            if is_shortest and self._decide(url, old, new):
                return url
            if is_exact:
                return None
        if self._is_covered(new, self._old, old.order) or self._is_covered(
            old, self._new, new.order
        ):
            return None
        both = ((old, self._old), (new, self._new))
        before = [each.before(pattern, prefix, self._budget) for pattern, each in both]
        outside = [*{each.paths: each for each in itertools.chain(*before)}.values()]
        self._budget.begin_search(2 + len(outside))
        automata = [[[each.automaton for each in some]] for some in ((old, new), outside)]
        found = Search(self._letters, *automata).shortest(begin, [prefix], self._budget)
        return None if found is None else with_host_if_ambiguous(simplify_url(found, reading))

    def _decide(self, url: str, old: Pattern, new: Pattern) -> bool:
        """Return whether two patterns decide a URL, according to the engine."""
        text = max(old.text, new.text, key=len)
        self._budget.spend(sum(each.cost_of_deciding(text) for each in self._both))
        return self._old.deciding(url) is old and self._new.deciding(url) is new

    def _likely(self, old: Pattern, new: Pattern) -> str | None:
        """Return a likely URL that two patterns decide, or None."""
        self._samples_left -= 1
        if self._samples_left < 0:
            raise BudgetSpentError
        both = [(old, self._old.reading), (new, self._new.reading)]
        both.sort(key=lambda each: len(each[0].literal), reverse=True)
        reading = both[0][1]
        literal = with_written_escapes(both[0][0].literal, reading) or ROOT
        rests = b"".join(with_written_escapes(each.rest, own) for each, own in both)
        paths = [literal + rests.replace(b"*", filling) for filling in (b"", b"xy")]
        for path in (each for each in paths if each.startswith(ROOT)):
            spelt = url_of(path, reading)
            for url in map(with_host_if_ambiguous, (simplify_url(spelt, reading), spelt)):
                if self._old.deciding(url) is old and self._new.deciding(url) is new:
                    return url
        return None

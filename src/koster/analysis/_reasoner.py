"""Searches about the rules of one crawler: likely URLs first, then automata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import cached_property
from ._alphabet import alphabet
from ._search import BudgetSpentError, Search
from ._urls import (
    comparison_path,
    simplify_url,
    url_beginning_with,
    url_of,
    with_host_if_ambiguous,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..dialects import Reading
    from ._alphabet import Alphabet
    from ._entries import Entry
    from ._ranked import Ranked
    from ._search import Budget


def candidates(entry: Entry, reading: Reading) -> Iterator[str]:
    """Yield URLs that an entry probably matches, the shortest first."""
    if not entry.rest and entry.literal.startswith(b"/"):
        yield with_host_if_ambiguous(url_of(entry.literal, reading))
        if not entry.is_anchored:
            yield with_host_if_ambiguous(url_of(entry.literal + b"xy", reading))
        return
    joined = entry.literal + entry.rest.replace(b"*", b"")
    if not entry.literal:
        joined = b"/" + joined.removeprefix(b"/")
    spread = entry.literal + entry.rest.replace(b"*", b"xy")
    spread = spread if entry.literal else b"/" + spread.removeprefix(b"/")
    for path in (joined, spread) if entry.is_anchored else (joined, joined + b"xy", spread):
        if path.startswith(b"/"):
            yield with_host_if_ambiguous(url_of(path, reading))


class Reasoner:
    """Searches about the rules of one crawler."""

    def __init__(self, ranked: Ranked, budget: Budget) -> None:
        self.ranked = ranked
        self._budget = budget

    @cached_property
    def letters(self) -> Alphabet:
        """The alphabet of these rules."""
        return alphabet([self.ranked.reading], [self.ranked.written])

    def has_joint_example(self, entries: Sequence[Entry], entry: Entry, other: Entry) -> bool:
        """Return whether a likely URL of two entries is decided by the first, one of ``entries``.

        Without those it must be decided differently.
        """
        if not other.is_rule or entry.is_exact or other.is_exact:
            return False
        ranked = self.ranked
        literal = max(entry.literal, other.literal, key=len) or b"/"
        for rest in (entry.rest + other.rest, other.rest + entry.rest):
            path = literal + rest.replace(b"*", b"")
            if path.startswith(b"/"):
                url = with_host_if_ambiguous(url_of(path, ranked.reading))
                first = ranked.deciding(url)
                if first.order in ranked.overlaps.removed:
                    first = ranked.deciding_without((), url)
                if first is not entry or ranked.is_exempt(url):
                    continue
                if ranked.deciding_without(entries, url).allow != entry.allow:
                    return True
        return False

    def likely_url(self, entry: Entry) -> str | None:
        """Return a likely URL of an entry with the entry's verdict, whichever rule decides it.

        Raises:
            BudgetSpentError: too many checks with many overlapping rules.
        """
        self._budget.compare(self.ranked.cost_of_deciding(entry))
        for url in candidates(entry, self.ranked.reading):
            if not self.ranked.is_exempt(url) and self.ranked.deciding(url).allow == entry.allow:
                return url
        return None

    def decided_example(self, entry: Entry) -> str | None:
        """Return a likely URL that an entry decides according to the engine, or None.

        Raises:
            BudgetSpentError: too many checks with many overlapping rules.
        """
        examples = self.ranked.examples
        order = entry.order
        if order not in examples:
            self._budget.compare(self.ranked.cost_of_deciding(entry))
            examples[order] = self._example(entry)
        return examples[order]

    def _example(self, entry: Entry) -> str | None:
        if self.ranked.is_first_alike(entry):
            for url in candidates(entry, self.ranked.reading):
                if self.ranked.decides(entry, url):
                    return url
        return None

    def witness(self, entry: Entry) -> str | None:
        """Return a URL that an entry decides, or None if it decides no URL.

        Raises:
            BudgetSpentError: not decided within the budget.
        """
        decided_example = self.decided_example(entry)
        if decided_example is not None:
            return decided_example
        self.spend_comparisons(self.ranked.weight_of_candidates(entry))
        if self.ranked.is_covered(entry):
            return None
        return self.shortest_match([entry], self._above(entry))

    def _above(self, entry: Entry) -> list[Entry]:
        """Return the entries with precedence over an entry that may match the same paths.

        Raises:
            BudgetSpentError: there are too many entries.
        """
        above = self.ranked.ranked_above(entry, entry.literal)
        self.spend_comparisons(len(above))
        return above

    def shortest_match(self, inside: Sequence[Entry], outside: Sequence[Entry]) -> str | None:
        """Return a shortest URL that some entries match and others do not, or None.

        None of the others covers one of them: that is faster to check before. The literal
        prefixes of ``inside`` must be prefixes of one another.

        Raises:
            BudgetSpentError: not decided within the budget.
        """
        prefix = max((entry.literal for entry in inside), key=len) or b"/"
        begin = url_beginning_with(prefix, self.ranked.reading)
        if begin is None:
            return None
        self._budget.compare(1 + len(outside))
        url: str | None
        if any(entry.is_exact for entry in inside):
            is_found = all(entry.matches(prefix) for entry in inside)
            url = None if not is_found or any(each.matches(prefix) for each in outside) else begin
        else:
            self._budget.begin(len(inside) + len(outside))
            search = Search(
                self.letters,
                [[entry.automaton for entry in inside]],
                [[entry.automaton for entry in outside]],
            )
            url = search.shortest(begin, [prefix], self._budget)
        if url is None:
            return None
        return with_host_if_ambiguous(simplify_url(url, self.ranked.reading))

    def spend_comparisons(self, rules: int) -> None:
        """Count comparisons of rules.

        Raises:
            BudgetSpentError: the limit is exceeded.
        """
        self._budget.compare(1 + rules // 4)

    def is_dead(self, entry: Entry) -> bool:
        """Return whether an entry decides no URL.

        Raises:
            BudgetSpentError: not decided within the budget.
        """
        return self.witness(entry) is None

    def covers(self, entry: Entry) -> list[Entry]:
        """Return a small set of entries that together cover a dead one."""
        coverer = self.ranked.coverer(entry)
        if coverer is not None:
            return [coverer]
        above = self.ranked.ranked_above(entry, entry.literal)
        reading = self.ranked.reading
        paths = [comparison_path(reading, url) for url in candidates(entry, reading)]
        matching = [other for other in above if all(map(other.matches, paths))]
        try:
            if self.shortest_match([entry], []) is None:
                return []
            for other in matching:
                if self.shortest_match([entry], [other]) is None:
                    return [other]
            for other in list(above):
                others = [each for each in above if each is not other]
                if self.shortest_match([entry], others) is None:
                    above = others
        except BudgetSpentError:
            return matching
        return above

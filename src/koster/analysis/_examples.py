"""Example URLs of the patterns of one crawler: likely ones first, then a search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..dialects import Reading
from ._patterns import ROOT, Pattern
from ._ranking import Ranking
from ._search import Budget, Search
from ._search.urls import simplify_url, url_beginning_with, url_of, with_host_if_ambiguous


def likely_urls_of(pattern: Pattern, reading: Reading) -> Iterator[str]:
    """Yield URLs that a pattern probably matches, the shortest first."""
    paths = [pattern.literal + pattern.rest.replace(b"*", between) for between in (b"", b"xy")]
    if not pattern.literal:
        paths = [ROOT + path.removeprefix(ROOT) for path in paths]
    if not pattern.is_anchored:
        paths.insert(1, paths[0] + b"xy")
    for path in dict.fromkeys(paths):
        if path.startswith(ROOT):
            yield with_host_if_ambiguous(url_of(path, reading))


class Examples:
    """Finds URLs that patterns of a ranking decide, within a budget."""

    def __init__(self, ranking: Ranking, budget: Budget) -> None:
        self.ranking = ranking
        self.budget = budget

    def likely(self, pattern: Pattern) -> str | None:
        """Return a likely URL that a pattern decides, or None."""
        ranking = self.ranking
        if pattern.order not in ranking.examples:
            self.budget.spend(ranking.cost_of_deciding(pattern.text))
            urls: Iterable[str] = ()
            if ranking.alike[pattern.paths][0] is pattern:
                urls = likely_urls_of(pattern, ranking.reading)
            decided = (url for url in urls if ranking.deciding(url) is pattern)
            found = (url for url in decided if not ranking.is_exempt(url))
            ranking.examples[pattern.order] = next(found, None)
        return ranking.examples[pattern.order]

    def likely_of_any(self, patterns: Iterable[Pattern]) -> str | None:
        """Return the first likely URL that one of some patterns decides, or None."""
        return next(filter(None, map(self.likely, patterns)), None)

    def likely_with_verdict(self, pattern: Pattern) -> str | None:
        """Return a likely URL of a pattern with its verdict, whichever rule decides it."""
        ranking = self.ranking
        self.budget.spend(ranking.cost_of_deciding(pattern.text))
        for url in likely_urls_of(pattern, ranking.reading):
            if not ranking.is_exempt(url) and ranking.deciding(url).allow == pattern.allow:
                return url
        return None

    def decided(self, pattern: Pattern) -> str | None:
        """Return a URL that a pattern decides, or None if it decides no URL."""
        url = self.likely(pattern)
        if url is None and not self.is_covered(pattern):
            before = self.ranking.before(pattern, pattern.literal, self.budget)
            return self.shortest([pattern], before)
        return url

    def is_covered(self, pattern: Pattern) -> bool:
        """Return whether a single pattern with precedence surely covers one."""
        ranking = self.ranking
        if ranking.alike[pattern.paths][0] is not pattern:
            return True
        return ranking.coverer(pattern, self.budget).order < pattern.order

    def shortest(self, inside: Sequence[Pattern], outside: Sequence[Pattern]) -> str | None:
        """Return a shortest URL that some patterns match and others do not, or None.

        The literal prefixes of ``inside`` must be prefixes of one another.
        """
        reading = self.ranking.reading
        prefix = max((each.literal for each in inside), key=len) or ROOT
        url = url_beginning_with(prefix, reading)
        if url is not None:
            self.budget.begin_search(len(inside) + len(outside))
            if any(each.is_exact for each in inside):
                is_found = all(each.matches(prefix) for each in inside)
                url = (
                    url if is_found and not any(each.matches(prefix) for each in outside) else None
                )
            else:
                automata = [[[each.automaton for each in some]] for some in (inside, outside)]
                search = Search(self.ranking.letters, *automata)
                url = search.shortest(url, [prefix], self.budget)
        return None if url is None else with_host_if_ambiguous(simplify_url(url, reading))

"""The URLs that a crawler may not fetch, counted by the line that blocks them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..decisions import Decision

#: The number of examples for each line.
_MAX_EXAMPLES = 3


@dataclass(slots=True)
class Blocked:
    """The URLs that one line blocks, or that are blocked without a line.

    Attributes:
        decision: The decision about the first of them.
        count: How many there are.
        examples: The first ones.
    """

    decision: Decision
    count: int
    examples: list[str]


class BlockedUrls:
    """Counts the URLs that one crawler may not fetch. Its size does not grow with their number.

    Attributes:
        checked: The number of URLs so far.
        blocked: The number of those that are blocked.
    """

    def __init__(self, allowed: Callable[[str], bool], decide: Callable[[str], Decision]) -> None:
        # ``allowed`` is 20 times as fast.
        self._allowed = allowed
        self._decide = decide
        self._by_line: dict[int, Blocked] = {}
        self.checked = 0
        self.blocked = 0

    def add(self, urls: Iterable[str]) -> None:
        """Decide about some URLs."""
        for url in urls:
            self.checked += 1
            if not self._allowed(url):
                self._add_blocked(url)

    def _add_blocked(self, url: str) -> None:
        decision = self._decide(url)
        self.blocked += 1
        line = decision.rule.line if decision.rule else 0
        found = self._by_line.setdefault(line, Blocked(decision, 0, []))
        found.count += 1
        if len(found.examples) < _MAX_EXAMPLES:
            found.examples.append(url)

    def by_line(self) -> list[Blocked]:
        """Return what blocks URLs, the line that blocks most first."""
        return sorted(self._by_line.values(), key=lambda each: -each.count)

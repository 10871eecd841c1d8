"""How much of a site is disallowed for a crawler, and likely URLs of its rules."""

from __future__ import annotations

import enum
from contextlib import suppress
from dataclasses import dataclass

from ..model import Rule
from ..robots import Rules
from ._examples import Examples
from ._ranking import Ranking
from ._search import Budget, BudgetSpentError

#: Longer rules are not the first to try: all rules may be compared with each of their characters.
_LONG = 2_000


class Extent(enum.StrEnum):
    """How much of a site is disallowed, except paths that start with /robots.txt."""

    ALL = "all"
    SOME = "some"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Classification:
    """How much of a site is disallowed for a crawler.

    ``allowed`` and ``disallowed`` are example URLs, or None; SOME has both. The start page is
    preferred; if it is allowed, ``disallowed`` is an example for the first rule that disallows. The
    ``rule`` disallows ``disallowed``; None if no rule does, or there is no such URL.
    """

    extent: Extent
    allowed: str | None
    disallowed: str | None
    rule: Rule | None
    is_proved: bool = True


def classify(rules: Rules, budget: Budget | None = None) -> Classification:
    """Return how much of a site a crawler may not fetch, except paths starting with /robots.txt.

    >>> import koster
    >>> robots = koster.parse("User-agent: *\\nDisallow: /*\\nAllow: /a$\\nAllow: /b")
    >>> found = classify(robots.rules_for("x"))
    >>> found.extent, found.allowed, found.disallowed, found.rule.line
    (<Extent.SOME: 'some'>, '/a', '/', 2)
    """
    first = rules.allowed("/")
    found, is_proved = _url_with_verdict(rules, not first, budget or Budget())
    if found is None and first:
        return Classification(Extent.NONE, "/", None, None, is_proved)
    closed = "/" if not first or found is None else found
    rule = rules.decide(closed).rule
    if found is None:
        return Classification(Extent.ALL, None, closed, rule, is_proved)
    return Classification(Extent.SOME, "/" if first else found, closed, rule)


def _url_with_verdict(rules: Rules, allow: bool, budget: Budget) -> tuple[str | None, bool]:
    """Return a URL with a verdict, or None, and whether that is proved."""
    ranking = Ranking(rules, exempts_longer=True)
    examples = Examples(ranking, budget)
    some = [each for each in (*ranking.numbered, ranking.no_rule) if each.allow == allow]
    some.sort(key=lambda each: len(each.text) > _LONG)
    try:
        found = next(filter(None, map(examples.likely_with_verdict, some)), None)
        return found or next(filter(None, map(examples.decided, some)), None), True
    except BudgetSpentError:
        return None, False


def likely_urls(rules: Rules, budget: Budget | None = None) -> dict[int, str]:
    """Return a likely URL for each rule that decides one, by line.

    Fast, but not exact: a missing rule may decide other URLs, or the budget was spent.
    """
    found: dict[int, str] = {}
    examples = Examples(Ranking(rules), budget or Budget())
    with suppress(BudgetSpentError):
        for line, patterns in examples.ranking.by_line.items():
            for url in filter(None, map(examples.likely, patterns)):
                found[line] = url
    return found

"""Comparison of two rule sets: which URLs they decide differently, and by which rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._asking import decision_by, rules_for_data, selection_of
from ..robots import parse
from ._alike import decide_alike, proves
from ._pairs import Pairs, urls_of_pairs
from ._plain import plain_texts, urls_decided_differently
from ._rankings import Rankings
from ._search import Budget, BudgetSpentError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..dialects import Dialect
    from ..model import Decision
    from ..robots import RobotsTxt, Rules

#: Comparisons of rules for the disagreements of a file: one of 1,470 real files needs more.
_MAX_COMPARED = 450_000

#: The maximum differences of rules without special characters: a million would take seconds.
_MAX_PLAIN = 100_000


@dataclass(frozen=True, slots=True)
class Difference:
    """A URL that two rule sets decide differently: a shortest one for this pair of rules."""

    url: str
    before: Decision
    after: Decision

    @property
    def is_opened(self) -> bool:
        """Whether the URL was disallowed before, and is allowed now."""
        return self.after.allowed


@dataclass(frozen=True, slots=True)
class Differences:
    """The pairs of rules that decide a URL differently. Empty and proved: the sets are equal."""

    found: tuple[Difference, ...]
    is_proved: bool = True

    @property
    def are_equal(self) -> bool:
        """Whether it is proved that every URL is decided alike."""
        return self.is_proved and not self.found


@dataclass(frozen=True, slots=True)
class Disagreement:
    """The differences of a dialect, for one crawler."""

    agent: str
    dialect: Dialect
    differences: Differences


def difference(before: Rules, after: Rules, budget: Budget | None = None) -> Differences:
    """Return the differences between two rule sets, with a shortest URL for each pair of rules.

    Rules with different readings are compared only on URLs that clients send, see
    `koster.analysis`.

    >>> import koster
    >>> old = koster.parse("User-agent: *\\nDisallow: /a").rules_for("x")
    >>> new = koster.parse("User-agent: *\\nDisallow: /a/").rules_for("x")
    >>> [(each.url, each.is_opened) for each in difference(old, new).found]
    [('/a', True)]
    """
    return difference_of(before, after, budget or Budget(), Rankings())


def difference_of(
    before: Rules, after: Rules, budget: Budget, rankings: Rankings, *, once: bool = False
) -> Differences:
    """Return what `difference` does; ``rankings`` makes the entries of ``before``.

    With ``once``, a likely shortest URL for each rule of ``before``, and for those of ``after``
    that decide where no other rule does.
    """
    if decide_alike(before, after):
        return Differences(())
    # Sets with different readings are not compared on all URLs: that proves nothing more.
    if selection_of(before).reading() != selection_of(after).reading():
        return _difference_of(before, after, budget, rankings, once=once)
    proved = rankings.equal.setdefault((before.group_lines, after.group_lines), [])
    if any(proves(ours, before) and proves(theirs, after) for ours, theirs in proved):
        return Differences(())
    found = _difference_of(before, after, budget, rankings, once=once)
    if found.are_equal:
        proved.append((before, after))
    return found


def _difference_of(
    before: Rules, after: Rules, budget: Budget, rankings: Rankings, *, once: bool
) -> Differences:
    ours = rankings.plain_texts(before)
    theirs = None if ours is None else plain_texts(after)
    if ours is None or theirs is None:
        pairs = Pairs(before, after, budget, rankings)
        urls, is_proved = urls_of_pairs(pairs, once=once)
        some = pairs.decidable(sorted(urls, key=_by_size))
        decided = [Difference(url, *pairs.decide(url)) for url in some]
    else:
        is_proved = True
        try:
            urls = urls_decided_differently(before, after, ours | theirs, budget)
        except BudgetSpentError:
            urls, is_proved = [], False
        some = sorted(urls, key=_by_size)[:_MAX_PLAIN]
        decided = [Difference(url, before.decide(url), after.decide(url)) for url in some]
    is_proved = is_proved and len(some) == len(urls)
    # Dialects may make several patterns of a rule.
    found: dict[object, Difference] = {}
    for each in decided:
        if each.before.allowed == each.after.allowed:
            # The engine disagrees with the search.
            is_proved = False
        else:
            found.setdefault((_line(each.before), _line(each.after)), each)
    return Differences((*found.values(),), is_proved)


def _line(decision: Decision) -> int:
    return decision.rule.line if decision.rule else 0


def disagreements(
    robots: RobotsTxt,
    dialects: Iterable[Dialect],
    agents: Iterable[str],
    budget: Budget | None = None,
) -> tuple[Disagreement, ...]:
    """Return where dialects decide differently from a file's own dialect, for some crawlers.

    Pairs that are proved to be equal are omitted.
    """
    readings = [parse(robots.body, dialect) for dialect in dialects]
    budget = budget or Budget(compared=_MAX_COMPARED)
    found = []
    for agent in agents:
        before = rules_for_data(robots, agent)
        rankings = Rankings()
        compared: list[tuple[Rules, Differences]] = []
        for other in readings:
            after = rules_for_data(other, agent)
            differences = _differences_of_alike(before, after, compared)
            if differences is None:
                differences = difference_of(before, after, budget, rankings)
                compared.append((after, differences))
            if not differences.are_equal:
                found.append(Disagreement(agent, other.dialect, differences))
    return tuple(found)


def _differences_of_alike(
    before: Rules, after: Rules, compared: list[tuple[Rules, Differences]]
) -> Differences | None:
    """Return the differences if a rule set that decides like ``after`` is compared, or None."""
    own, reading = (selection_of(rules).reading() for rules in (before, after))
    for rules, differences in compared:
        other = selection_of(rules).reading()
        is_compared_alike = other.robots_txt == reading.robots_txt and (
            (other == own) == (reading == own)
        )
        if is_compared_alike and decide_alike(rules, after):
            # By the rules with the same numbers: the engine need not prepare those of each dialect.
            number_for = selection_of(rules).number_for
            found = (
                Difference(
                    each.url, each.before, decision_by(after, each.url, number_for(each.url))
                )
                for each in differences.found
            )
            return Differences(tuple(found), differences.is_proved)
    return None


def _by_size(url: str) -> tuple[int, str]:
    return len(url), url

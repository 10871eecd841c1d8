"""Which rules have no effect: they decide no URL (dead), or change no decision (idle)."""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ..model import Rule
from ..robots import Rules
from ._examples import Examples, likely_urls_of
from ._patterns import BY_ORDER, ROBOTS_TXT_ROW, ROOT, Pattern
from ._ranking import Ranking
from ._search import Budget, BudgetSpentError
from ._search.urls import comparison_path, url_of, with_host_if_ambiguous


class Cause(enum.StrEnum):
    """Why a rule has no effect on any URL."""

    COVERED = "covered"
    """Other rules override it for every URL that it matches."""
    NO_PATH = "no path"
    """No path of a URL can match its pattern."""
    ROBOTS_TXT = "robots.txt"
    """It matches only /robots.txt, which is always allowed."""


@dataclass(frozen=True, slots=True)
class DeadRule:
    """A rule that decides no URL, and the rules that override it.

    ``twin`` is one of them that matches the same URLs, if there is one.
    """

    rule: Rule
    cause: Cause
    covered_by: tuple[Rule, ...]
    twin: Rule | None = None


@dataclass(frozen=True, slots=True)
class DeadRules:
    """The rules that decide no URL, by line. If not proved, there may be more."""

    rules: tuple[DeadRule, ...]
    is_proved: bool


@dataclass(frozen=True, slots=True)
class IdleRule:
    """A redundant rule: the URLs that it decides would be decided alike without it.

    ``url`` is one of them, ``instead`` the rule that would decide it; None if no rule would.
    """

    rule: Rule
    url: str
    instead: Rule | None


@dataclass(frozen=True, slots=True)
class IdleRules:
    """The redundant rules, by line. If not proved, there may be more."""

    rules: tuple[IdleRule, ...]
    is_proved: bool


def dead_rules(rules: Rules, budget: Budget | None = None) -> DeadRules:
    """Return the rules that decide no URL, each with the rules that override it."""
    return dead_rules_of(Ranking(rules), budget or Budget())


def dead_rules_of(ranking: Ranking, budget: Budget) -> DeadRules:
    """Return them as `dead_rules` does."""
    examples = Examples(ranking, budget)
    found = []
    is_proved = True
    for row, patterns in sorted(ranking.by_row.items()):
        try:
            # Nearly always, the first has an example.
            if not any(map(examples.decided, patterns)):
                found.append(_dead_rule(examples, row, patterns))
        except BudgetSpentError:
            is_proved = False
            if budget.is_spent:
                break
    return DeadRules(tuple(found), is_proved)


def _dead_rule(examples: Examples, row: int, patterns: list[Pattern]) -> DeadRule:
    rule_of = examples.ranking.rule
    some = [each for pattern in patterns for each in _covering(examples, pattern)]
    covering = {each.row: each for each in some}
    covered_by = tuple(rule_of(each) for each in sorted(covering) if covering[each].is_rule)
    otherwise = Cause.ROBOTS_TXT if ROBOTS_TXT_ROW in covering else Cause.NO_PATH
    paths = [each.paths for each in patterns]
    twins = (rule_of(each.row) for each in some if each.is_rule and each.paths in paths)
    return DeadRule(
        rule_of(row), Cause.COVERED if covered_by else otherwise, covered_by, next(twins, None)
    )


def _covering(examples: Examples, pattern: Pattern) -> list[Pattern]:
    """Return a small set of patterns that together cover a dead one: a twin if there is one."""
    ranking = examples.ranking
    twin = ranking.alike[pattern.paths][0]
    if twin is not pattern:
        return [twin]
    coverer = ranking.coverer(pattern, examples.budget)
    if coverer.order < pattern.order:
        return [coverer]
    above = ranking.before(pattern, pattern.literal, examples.budget)
    paths = [
        comparison_path(ranking.reading, url) for url in likely_urls_of(pattern, ranking.reading)
    ]
    matching = [each for each in above if all(map(each.matches, paths))]
    try:
        if examples.shortest([pattern], []) is None:
            return []
        for each in matching:
            if examples.shortest([pattern], [each]) is None:
                return [each]
        for each in [*above]:
            others = [other for other in above if other is not each]
            if examples.shortest([pattern], others) is None:
                above = others
    except BudgetSpentError:
        return matching
    return above


def idle_rules(rules: Rules, budget: Budget | None = None) -> IdleRules:
    """Return the redundant rules: URLs that they decide would be decided alike without them.

    Each of them can be removed on its own, whether dead rules stay or not.
    """
    return idle_rules_of(Ranking(rules), budget or Budget())


def idle_rules_of(
    ranking: Ranking,
    budget: Budget,
    lines: Collection[int] | None = None,
    dead_lines: Collection[int] = (),
) -> IdleRules:
    """Return them as `idle_rules` does; with ``lines``, only those of these lines.

    ``dead_lines`` are those of dead rules, of which others may rely on none; without ``lines``
    they are found.
    """
    examples = Examples(ranking, budget)
    remaining = Remaining(examples)
    of_row = ranking.by_row
    rows = [row for row in sorted(of_row) if lines is None or ranking.line_of(row) in lines]
    try:
        urls = {row: examples.likely_of_any(of_row[row]) for row in rows}
    except BudgetSpentError:
        return IdleRules((), is_proved=False)
    some = [row for row in rows if urls[row] and remaining.is_idle(of_row[row])]
    # Rules that decide no likely URL may be removed later, so do not rely on them.
    gone = {row for row in rows if urls[row] is None}
    gone.update(row for row in of_row if ranking.line_of(row) in dead_lines)
    remaining.remove(each for row in gone for each in of_row[row])
    found = []
    for row in some:
        url = urls[row]
        if url and remaining.is_idle(of_row[row]):
            instead = remaining.deciding_instead(of_row[row], url)
            rule = ranking.rule(instead.row) if instead.is_rule else None
            found.append(IdleRule(ranking.rule(row), url, rule))
    return IdleRules(tuple(found), remaining.is_proved)


class Remaining:
    """The patterns of a ranking but those that are removed: whether rules are needed there."""

    def __init__(self, examples: Examples) -> None:
        self._examples = examples
        self.ranking = examples.ranking
        #: The orders of those that are removed.
        self._gone: set[int] = set()
        #: Whether all that was asked so far is proved.
        self.is_proved = True

    def remove(self, patterns: Iterable[Pattern]) -> None:
        """Remove some patterns."""
        self._gone.update(each.order for each in patterns)

    def is_idle(self, own: Sequence[Pattern]) -> bool:
        """Return whether it is proved that a rule with some patterns is not needed."""
        try:
            return not self.is_needed(own)
        except BudgetSpentError:
            self.is_proved = False
            return False

    def is_needed(self, own: Sequence[Pattern]) -> bool:
        """Return whether some URL that a rule decides would be decided differently without it."""
        with self._without(own):
            return any(self._is_needed(each, own) for each in own)

    def deciding_instead(self, own: Sequence[Pattern], url: str) -> Pattern:
        """Return the pattern that decides a URL without those of a rule."""
        with self._without(own):
            return self.ranking.deciding_without(self._gone, self.ranking.path_of(url), Budget())

    @contextmanager
    def _without(self, own: Sequence[Pattern]) -> Iterator[None]:
        orders = {each.order for each in own} - self._gone
        self._gone |= orders
        try:
            yield
        finally:
            self._gone -= orders

    def _deciding(self, path: bytes) -> Pattern:
        return self.ranking.deciding_without(self._gone, path, self._examples.budget)

    def _is_needed(self, pattern: Pattern, own: Sequence[Pattern]) -> bool:
        """Return whether a rule is needed for a URL of one of its patterns; without these."""
        ranking, examples = self.ranking, self._examples
        url = examples.likely(pattern)
        if url is not None and self._deciding(ranking.path_of(url)).allow != pattern.allow:
            return True
        coverer = self._coverer(pattern)
        if coverer.order < pattern.order:
            return False
        touching = self._touching(pattern)
        for other in touching:
            if (
                other.allow != pattern.allow
                and pattern.order < other.order <= coverer.order
                and self._coverer(other).order >= other.order
            ):
                if self._differs_on_likely_url(pattern, other, own):
                    return True
                between = [each for each in touching if each.order < other.order]
                if examples.shortest([pattern, other], between) is not None:
                    return True
        return False

    def _coverer(self, pattern: Pattern) -> Pattern:
        return self.ranking.coverer(pattern, self._examples.budget, self._gone)

    def _touching(self, pattern: Pattern) -> list[Pattern]:
        """Return the patterns that are left and may match the same paths as one, each once."""
        gone, first_left = self._gone, self.ranking.first_left
        touching = self.ranking.index.touching(pattern.key, self._examples.budget)
        left = {first_left(each, gone) if each.order in gone else each for each in touching}
        # In the same order in each run, so that a budget always ends at the same pattern.
        return sorted(left, key=BY_ORDER)

    def _differs_on_likely_url(
        self, pattern: Pattern, other: Pattern, own: Sequence[Pattern]
    ) -> bool:
        """Return whether a likely URL of two patterns is decided differently without a rule."""
        ranking = self.ranking
        if not other.is_rule or pattern.is_exact or other.is_exact:
            return False
        literal = max(pattern.literal, other.literal, key=len) or ROOT
        for rest in (pattern.rest + other.rest, other.rest + pattern.rest):
            url = with_host_if_ambiguous(url_of(literal + rest.replace(b"*", b""), ranking.reading))
            if (
                literal.startswith(ROOT)
                and ranking.deciding(url) in own
                and not ranking.is_exempt(url)
                and self._deciding(ranking.path_of(url)).allow != pattern.allow
            ):
                return True
        return False


def redundant_rules(*sets: Rules, budget: Budget | None = None) -> tuple[Rule, ...]:
    """Return rules that can all be removed together without changing any decision.

    With several rule sets of one file, also in different dialects, this is true for each of them.
    Includes rules that decide no URL. Only proved cases are returned.
    """
    budget = budget or Budget()
    everything = [Remaining(Examples(Ranking(rules), budget)) for rules in sets]
    rule_at: dict[int, Rule] = {}
    of_line: dict[int, list[tuple[Remaining, list[Pattern]]]] = {}
    for remaining in everything:
        for line, patterns in remaining.ranking.by_line.items():
            of_line.setdefault(line, []).append((remaining, patterns))
    found = _repeated_lines(everything)
    # Remove rules with the lowest precedence first: of two equivalent ones the more specific stays.
    for line in sorted(of_line, key=lambda line: -of_line[line][0][1][-1].order):
        try:
            if line in found or not any(
                remaining.is_needed(own) for remaining, own in of_line[line]
            ):
                found.add(line)
                for remaining, own in of_line[line]:
                    remaining.remove(own)
        except BudgetSpentError:
            # A single search may have been too long: then the other lines have a budget left.
            if budget.is_spent:
                break
    for line in found:
        remaining, own = of_line[line][0]
        rule_at[line] = remaining.ranking.rule(own[0].row)
    return tuple(rule_at[line] for line in sorted(found))


def _repeated_lines(everything: Iterable[Remaining]) -> set[int]:
    """Return the lines of rules that only match the same paths as others before them."""
    lines: set[int] = set()
    needed: set[int] = set()
    for ranking in (remaining.ranking for remaining in everything):
        lines.update(ranking.by_line)
        needed.update(ranking.line_of(each.row) for each in ranking.firsts if each.is_rule)
    return lines - needed

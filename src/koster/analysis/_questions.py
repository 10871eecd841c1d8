"""Analysis of one crawler's rules: how much is disallowed, which rules have no effect."""

from __future__ import annotations

import enum
import itertools
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._asking import selection_of
from ._entries import ROBOTS_TXT_ROW, each_entry_of
from ._ranked import Ranked
from ._reasoner import Reasoner, candidates
from ._search import Budget, BudgetSpentError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable

    from ..model import Rule
    from ..robots import Rules
    from ._entries import Entry


#: Rules with a verdict whose likely URLs are tried before all rules are indexed.
_FIRST_RULES = 16
#: Not those of longer rules: all rules may be compared with each of their characters.
_MAX_FIRST_TEXT = 2_000


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

    def moved(self, rule_for: Callable[[Rule], Rule]) -> DeadRule:
        """Return the same for a rule set with the same rules on other lines."""
        covered_by = tuple(map(rule_for, self.covered_by))
        twin = self.twin and rule_for(self.twin)
        return DeadRule(rule_for(self.rule), self.cause, covered_by, twin)


@dataclass(frozen=True, slots=True)
class DeadRules:
    """The rules that decide no URL, by line. If not proved, there may be more."""

    rules: tuple[DeadRule, ...]
    is_proved: bool

    def moved(self, rule_for: Callable[[Rule], Rule]) -> DeadRules:
        """Return the same for a rule set with the same rules on other lines."""
        return DeadRules(tuple(each.moved(rule_for) for each in self.rules), self.is_proved)


@dataclass(frozen=True, slots=True)
class IdleRule:
    """A redundant rule: the URLs that it decides would be decided alike without it.

    ``url`` is one of them, ``instead`` the rule that would decide it; None if no rule would.
    """

    rule: Rule
    url: str
    instead: Rule | None

    def moved(self, rule_for: Callable[[Rule], Rule]) -> IdleRule:
        """Return the same for a rule set with the same rules on other lines."""
        return IdleRule(rule_for(self.rule), self.url, self.instead and rule_for(self.instead))


@dataclass(frozen=True, slots=True)
class IdleRules:
    """The redundant rules, by line. If not proved, there may be more."""

    rules: tuple[IdleRule, ...]
    is_proved: bool

    def moved(self, rule_for: Callable[[Rule], Rule]) -> IdleRules:
        """Return the same for a rule set with the same rules on other lines."""
        return IdleRules(tuple(each.moved(rule_for) for each in self.rules), self.is_proved)


def likely_urls(rules: Rules, budget: Budget | None = None) -> dict[int, str]:
    """Return a likely URL for each rule that decides one, by line.

    Fast, but not exact: a missing rule may decide other URLs, or the budget was spent.
    """
    found: dict[int, str] = {}
    ranked = Ranked(rules)
    reasoner = Reasoner(ranked, budget or Budget())
    ranked.find_plain_examples()
    with suppress(BudgetSpentError):
        for entry in ranked.entries:
            url = reasoner.decided_example(entry) if entry.is_rule else None
            if url is not None:
                found[ranked.line_of(entry.row)] = url
    return found


def classify(rules: Rules, budget: Budget | None = None) -> Classification:
    """Return how much of a site a crawler may not fetch, except paths starting with /robots.txt.

    >>> import koster
    >>> robots = koster.parse("User-agent: *\\nDisallow: /*\\nAllow: /a$\\nAllow: /b")
    >>> found = classify(robots.rules_for("x"))
    >>> found.extent, found.allowed, found.disallowed, found.rule.line
    (<Extent.SOME: 'some'>, '/a', '/', 2)
    """
    first = rules.allowed("/")
    found = _url_of_first_rules(rules, allow=not first)
    is_proved = True
    if found is None:
        found, is_proved = _url_of_any_rule(rules, not first, budget or Budget())
    if found is None and first:
        return Classification(Extent.NONE, "/", None, None, is_proved)
    closed = "/" if not first or found is None else found
    rule = rules.decide(closed).rule
    if found is None:
        return Classification(Extent.ALL, None, closed, rule, is_proved)
    return Classification(Extent.SOME, "/" if first else found, closed, rule)


def _url_of_first_rules(rules: Rules, *, allow: bool) -> str | None:
    """Return a likely URL of one of the first rules with a verdict, or None.

    Nearly always there is one: no index of all rules is needed.
    """
    selection = selection_of(rules)
    reading = selection.reading()
    some = (entry for entry in each_entry_of(selection) if entry.allow == allow)
    for entry in itertools.islice(some, _FIRST_RULES):
        if len(entry.text) > _MAX_FIRST_TEXT:
            continue
        for url in candidates(entry, reading):
            if not url.startswith("/robots.txt") and rules.allowed(url) == allow:
                return url
    return None


def _url_of_any_rule(rules: Rules, allow: bool, budget: Budget) -> tuple[str | None, bool]:
    """Return a URL with a verdict, or None, and whether that is proved."""
    ranked = Ranked(rules, exempts_longer=True)
    reasoner = Reasoner(ranked, budget)
    some = [entry for entry in ranked.in_file_order if entry.allow == allow]
    found = None
    try:
        found = next(filter(None, map(reasoner.likely_url, some)), None)
        for entry in some:
            found = found or reasoner.witness(entry)
    except BudgetSpentError:
        return None, False
    return found, True


def dead_rules(rules: Rules, budget: Budget | None = None) -> DeadRules:
    """Return the rules that decide no URL, each with the rules that override it."""
    return dead_rules_of(Ranked(rules, keeps_next=True), budget or Budget())


def dead_rules_of(ranked: Ranked, budget: Budget) -> DeadRules:
    """Return them as `dead_rules` does."""
    reasoner = Reasoner(ranked, budget)
    of_row = ranked.by_row
    firsts = ranked.first_of_left_out()
    ranked.find_plain_examples()
    examples = ranked.examples
    found = []
    is_proved = True
    for row in sorted(of_row.keys() | firsts.keys()):
        entries = of_row.get(row, [])
        # Nearly always.
        if entries and examples.get(entries[0].order) is not None:
            continue
        if not budget.has_comparisons:
            is_proved = False
            break
        try:
            for first in firsts.get(row, ()):
                reasoner.spend_comparisons(ranked.weight_of_candidates(first))
            if all(map(reasoner.is_dead, entries)):
                found.append(_dead_rule(reasoner, row, entries, firsts.get(row, [])))
        except BudgetSpentError:
            is_proved = False
    return DeadRules(tuple(found), is_proved)


def _dead_rule(reasoner: Reasoner, row: int, entries: list[Entry], firsts: list[Entry]) -> DeadRule:
    """Return a dead rule with its entries, and the first with the paths of those left out."""
    rule_of = reasoner.ranked.rule
    some = [*(each for entry in entries for each in reasoner.covers(entry)), *firsts]
    covers = {each.row: each for each in some}
    covered_by = tuple(rule_of(each) for each in sorted(covers) if covers[each].is_rule)
    otherwise = Cause.ROBOTS_TXT if ROBOTS_TXT_ROW in covers else Cause.NO_PATH
    twins = (rule_of(each.row) for each in some if _are_twins(each, [*entries, *firsts]))
    return DeadRule(
        rule_of(row), Cause.COVERED if covered_by else otherwise, covered_by, next(twins, None)
    )


def _are_twins(entry: Entry, entries: list[Entry]) -> bool:
    """Return whether an entry matches the same paths as one of some others."""
    return entry.is_rule and any(entry.paths == each.paths for each in entries)


def idle_rules(rules: Rules, budget: Budget | None = None) -> IdleRules:
    """Return the redundant rules: URLs that they decide would be decided alike without them.

    Each of them can be removed on its own, whether dead rules stay or not.
    """
    return idle_rules_of(Ranked(rules, keeps_next=True), budget or Budget())


def idle_rules_of(
    ranked: Ranked,
    budget: Budget,
    lines: Container[int] | None = None,
    dead_lines: Collection[int] = (),
) -> IdleRules:
    """Return them as `idle_rules` does; with ``lines``, only those of these lines.

    ``dead_lines`` are those of dead rules, of which others may rely on none; without ``lines``
    they are found.
    """
    reasoner = Reasoner(ranked, budget)
    of_row = ranked.by_row
    if lines is None:
        ranked.find_plain_examples()
    rows = [row for row in of_row if lines is None or ranked.line_of(row) in lines]
    try:
        urls = {row: first_example(reasoner, of_row[row]) for row in rows}
        some = {row: url for row, url in urls.items() if url}
        # All are compared before one is proved to be redundant.
        budget.require(len(some))
    except BudgetSpentError:
        return IdleRules((), is_proved=False)
    first = {row: _is_idle(reasoner, of_row[row]) for row in some}
    is_proved = None not in first.values()
    # Rules that decide no likely URL may be removed later, so do not rely on them.
    gone = [row for row, url in urls.items() if url is None]
    if dead_lines:
        gone += [row for row in of_row if ranked.line_of(row) in dead_lines]
    ranked.overlaps.remove({entry.order for row in gone for entry in of_row[row]})
    found = []
    for row in sorted(row for row in some if first[row]):
        is_idle = _is_idle(reasoner, of_row[row])
        is_proved = is_proved and is_idle is not None
        if is_idle:
            url = some[row]
            instead = ranked.deciding_without(of_row[row], url)
            rule = ranked.rule(instead.row) if instead.is_rule else None
            found.append(IdleRule(ranked.rule(row), url, rule))
    ranked.overlaps.restore()
    return IdleRules(tuple(found), is_proved)


def first_example(reasoner: Reasoner, entries: Iterable[Entry]) -> str | None:
    """Return the first likely URL that one of some entries decides, or None.

    Raises:
        BudgetSpentError: too many checks with many overlapping rules.
    """
    for entry in entries:
        url = reasoner.decided_example(entry)
        if url:
            return url
    return None


def _is_idle(reasoner: Reasoner, entries: list[Entry]) -> bool | None:
    """Return whether a rule is redundant, or None if that is not proved."""
    try:
        return not _is_needed(reasoner, entries)
    except BudgetSpentError:
        return None


def redundant_rules(*sets: Rules, budget: Budget | None = None) -> tuple[Rule, ...]:
    """Return rules that can all be removed together without changing any decision.

    With several rule sets of one file, also in different dialects, this is true for each of them.
    Includes rules that decide no URL. Only proved cases are returned.
    """
    each_ranked = [Ranked(rules) for rules in sets]
    redundant = redundant_lines(each_ranked, budget or Budget())
    rules: dict[int, Rule] = {}
    for selection in map(selection_of, sets):
        for *_, row in selection.compiled_rules():
            line = selection.line_of(row)
            if line in redundant and line not in rules:
                rules[line] = selection.rule(row)
    return tuple(rules[line] for line in sorted(redundant))


def redundant_lines(each_ranked: Iterable[Ranked], budget: Budget) -> set[int]:
    """Return the lines of the rules that `redundant_rules` returns.

    ``each_ranked`` are the entries of each rule set, at least those that may decide.
    """
    each_ranked, found = _without_repeated_lines(each_ranked)
    of_line: dict[int, list[tuple[Reasoner, list[Entry]]]] = {}
    for ranked in each_ranked:
        reasoner = Reasoner(ranked, budget)
        ranked.find_plain_examples()
        for line, entries in ranked.by_line.items():
            of_line.setdefault(line, []).append((reasoner, entries))
    # Remove rules with the lowest precedence first: of two equivalent ones the more specific stays.
    for line in sorted(of_line, key=lambda line: -of_line[line][0][1][-1].order):
        try:
            if not any(_is_needed(*each) for each in of_line[line]):
                for reasoner, entries in of_line[line]:
                    reasoner.ranked.overlaps.remove({entry.order for entry in entries})
                found.add(line)
        except BudgetSpentError:
            if not budget.has_comparisons:
                break
    for ranked in each_ranked:
        ranked.overlaps.restore()
    return found


def _without_repeated_lines(each_ranked: Iterable[Ranked]) -> tuple[list[Ranked], set[int]]:
    """Return the entries of rule sets without lines that only repeat other rules, and these lines.

    Nearly all lines of a large file may be equal.
    """
    found = list(each_ranked)
    kept = set().union(*[ranked.by_line for ranked in found])
    repeated: set[int] = set()
    for number, ranked in enumerate(found):
        lines = set(map(ranked.line_of, ranked.left_out))
        repeated |= lines
        if not kept.isdisjoint(lines):
            found[number] = ranked.with_lines(kept)
    return found, repeated - kept


def _is_needed(reasoner: Reasoner, entries: list[Entry]) -> bool:
    """Return whether some URL that a rule decides would be decided differently without it."""
    ranked = reasoner.ranked
    overlaps = ranked.overlaps
    own = {entry.order for entry in entries}
    for entry in entries:
        reasoner.spend_comparisons(ranked.weight_of_candidates(entry))
        url = reasoner.decided_example(entry)
        if url is not None and ranked.deciding_without(entries, url).allow != entry.allow:
            return True
        covered_by = overlaps.covered_by(entry, own)
        if covered_by < entry.order:
            continue
        opposed = ranked.opposed_to(entry)
        reasoner.spend_comparisons(len(opposed))
        at = overlaps.next_open(entry, opposed, 0, covered_by, own)
        while at >= 0:
            other = opposed[at]
            if other.covered_by is None:
                reasoner.spend_comparisons(ranked.weight_of_candidates(other))
                overlaps.covered_by(other, own)
                at = overlaps.next_open(entry, opposed, at, covered_by, own)
                continue
            if reasoner.has_joint_example(entries, entry, other):
                return True
            may_match = ranked.may_match(entry.key)
            reasoner.spend_comparisons(len(may_match))
            between = overlaps.left_before(may_match, other.order, own)
            if reasoner.shortest_match([entry, other], between) is not None:
                return True
            at = overlaps.next_open(entry, opposed, at + 1, covered_by, own)
    return False

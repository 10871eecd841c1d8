"""Questions about the rules of one robot: how much is closed, which rules do nothing."""

from __future__ import annotations

import enum
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ._alphabet import alphabet, path_of, plainest, with_host
from ._ranked import ITSELF, Ranked, url_of, url_that_begins
from ._search import Budget, BudgetSpentError, Search

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..model import Rule
    from ..robots import Rules
    from ._alphabet import Alphabet
    from ._ranked import Entry


#: Rules that the engine tries in the time in which two are compared here.
_ASKED_AT_ONCE = 64


class Extent(enum.StrEnum):
    """How much of a site is disallowed, apart from what begins with /robots.txt."""

    ALL = "all"
    SOME = "some"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Classification:
    """How much of a site is disallowed for a robot.

    ``allowed`` and ``disallowed`` are URLs that are so, or None: of SOME both are there. The start
    page comes before all others; if it is allowed, what the first rule that disallows is for. The
    ``rule`` disallows ``disallowed``; None where nothing does, or there is no such URL.
    """

    extent: Extent
    allowed: str | None
    disallowed: str | None
    rule: Rule | None
    is_proved: bool = True


class Cause(enum.StrEnum):
    """Why a rule decides nothing."""

    COVERED = "covered"
    """Other rules decide whatever it matches."""
    NO_PATH = "no path"
    """No path of a URL is like its pattern."""
    ROBOTS_TXT = "robots.txt"
    """It matches nothing but /robots.txt, which may always be fetched."""


@dataclass(frozen=True, slots=True)
class DeadRule:
    """A rule that decides no URL at all, and the rules that decide in its place."""

    rule: Rule
    cause: Cause
    covered_by: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class DeadRules:
    """The rules that decide nothing, by line. Not proved: there may be more of them."""

    rules: tuple[DeadRule, ...]
    is_proved: bool = True


@dataclass(frozen=True, slots=True)
class IdleRule:
    """A rule that decides URLs, but each of them as it would be decided without that rule.

    ``url`` is one of them, and ``instead`` what would decide that one: None where no rule would.
    """

    rule: Rule
    url: str
    instead: Rule | None


class Reasoner:
    """The rules of one robot, and what can be asked about them."""

    def __init__(self, ranked: Ranked, budget: Budget) -> None:
        self.ranked = ranked
        self._budget = budget

    @cached_property
    def letters(self) -> Alphabet:
        """What URLs are made of, as far as these rules can tell."""
        entries = self.ranked.entries
        texts = [entry.literal + entry.rest for entry in entries]
        tables = [table for entry in entries for table in entry.tables()]
        return alphabet([self.ranked.reading], texts, tables)

    def by_row(self) -> dict[int, list[Entry]]:
        """Return the entries of each rule, by its row."""
        found: dict[int, list[Entry]] = {}
        for entry in self.ranked.entries:
            if entry.row >= 0:
                found.setdefault(entry.row, []).append(entry)
        return found

    def candidates(self, entry: Entry) -> Iterator[str]:
        """Go through URLs that an entry probably matches, the shortest first."""
        joined = entry.literal + entry.rest.replace(b"*", b"")
        if not entry.literal:
            joined = b"/" + joined.removeprefix(b"/")
        spread = entry.literal + entry.rest.replace(b"*", b"xy")
        spread = spread if entry.literal else b"/" + spread.removeprefix(b"/")
        for path in (joined, spread) if entry.is_anchored else (joined, joined + b"xy", spread):
            if path.startswith(b"/"):
                yield with_host(url_of(path, self.ranked.reading))

    def likely(self, entry: Entry) -> str | None:
        """Return a URL that an entry probably matches, decided as it says; by whom does not count.

        Raises:
            BudgetSpentError: too many were asked about that many rules may match.
        """
        self._budget.compare(self.ranked.crowd // _ASKED_AT_ONCE)
        for url in self.candidates(entry):
            if not self.ranked.leaves_out(url) and self.ranked.deciding(url).allow == entry.allow:
                return url
        return None

    def example(self, entry: Entry) -> str | None:
        """Return a URL that the engine says an entry decides, if a likely one is.

        Raises:
            BudgetSpentError: too many were asked about that many rules may match.
        """
        self._budget.compare(self.ranked.crowd // _ASKED_AT_ONCE)
        for url in self.candidates(entry):
            if self.ranked.deciding(url) is entry and not self.ranked.leaves_out(url):
                return url
        return None

    def witness(self, entry: Entry) -> str | None:
        """Return a URL that an entry decides, or None: there is none.

        Raises:
            BudgetSpentError: nobody knows.
        """
        example = self.example(entry)
        if example is not None:
            return example
        self._budget.compare(1 + self.ranked.crowd // 4)
        return self.matched([entry], self.ranked.before(entry, entry.literal))

    def matched(self, inside: Sequence[Entry], outside: Sequence[Entry]) -> str | None:
        """Return a shortest URL that some entries match and others do not, or None.

        Raises:
            BudgetSpentError: nobody knows.
        """
        prefix = max((entry.literal for entry in inside), key=len)
        if not all(prefix.startswith(entry.literal) for entry in inside):
            return None
        prefix = prefix or b"/"
        begin = url_that_begins(prefix, self.ranked.reading)
        if begin is None:
            return None
        self._budget.compare((1 + len(outside)) * max(entry.weight for entry in inside))
        if any(other.covers(entry) for other in outside for entry in inside):
            return None
        search = Search(
            self.letters,
            [(entry.automaton, 0) for entry in inside],
            [(entry.automaton, 0) for entry in outside],
        )
        url = search.shortest(begin, [prefix], self._budget)
        return None if url is None else with_host(plainest(url, self.ranked.reading))

    def compare(self, rules: int) -> None:
        """Compare a rule with so many others.

        Raises:
            BudgetSpentError: that is more than may be.
        """
        self._budget.compare(rules)

    def is_dead(self, entry: Entry) -> bool:
        """Tell whether an entry decides nothing.

        Raises:
            BudgetSpentError: nobody knows.
        """
        return self.witness(entry) is None

    def covers(self, entry: Entry) -> list[Entry]:
        """Return entries that together match all that a dead one matches, as few as can be."""
        before = self.ranked.before(entry, entry.literal)
        for other in before:
            if other.covers(entry):
                return [other]
        paths = [path_of(self.ranked.reading, url) for url in self.candidates(entry)]
        matching = [
            other
            for other in before
            if all(other.automaton.accepts(other.automaton.start(path)) for path in paths)
        ]
        try:
            if self.matched([entry], []) is None:
                return []
            for other in matching:
                if self.matched([entry], [other]) is None:
                    return [other]
            for other in list(before):
                others = [each for each in before if each is not other]
                if self.matched([entry], others) is None:
                    before = others
        except BudgetSpentError:
            return matching
        return before


def likely_urls(rules: Rules, budget: Budget | None = None) -> dict[int, str]:
    """Return for the line of each rule that decides a likely URL such a URL.

    Fast, and not exact: a rule that is not there may decide others, or the budget was spent.
    """
    found: dict[int, str] = {}
    with suppress(BudgetSpentError):
        found.update(each_likely_url(rules, budget or Budget()))
    return found


def each_likely_url(rules: Rules, budget: Budget) -> Iterator[tuple[int, str]]:
    """Go through the rules that decide a likely URL: the line of each, with such a URL.

    Raises:
        BudgetSpentError: there may be more.
    """
    ranked = Ranked(rules)
    reasoner = Reasoner(ranked, budget)
    for entry in ranked.entries:
        url = reasoner.example(entry) if entry.row >= 0 else None
        if url is not None:
            yield ranked.rule(entry.row).line, url


def classify(rules: Rules, budget: Budget | None = None) -> Classification:
    """Tell how much of a site a robot may not fetch, apart from what begins with /robots.txt.

    >>> import koster
    >>> robots = koster.parse("User-agent: *\\nDisallow: /*\\nAllow: /a$\\nAllow: /b")
    >>> found = classify(robots.rules_for("x"))
    >>> found.extent, found.allowed, found.disallowed, found.rule.line
    (<Extent.SOME: 'some'>, '/a', '/', 2)
    """
    ranked = Ranked(rules, exempts_longer=True)
    reasoner = Reasoner(ranked, budget or Budget())
    first = ranked.deciding("/").allow
    others = [entry for entry in ranked.in_file_order if entry.allow != first]
    found = None
    is_proved = True
    try:
        found = next(filter(None, map(reasoner.likely, others)), None)
        for entry in others:
            found = found or reasoner.witness(entry)
    except BudgetSpentError:
        is_proved = False
    if found is None and first:
        return Classification(Extent.NONE, "/", None, None, is_proved)
    closed = "/" if not first or found is None else found
    entry = ranked.deciding(closed)
    rule = ranked.rule(entry.row) if entry.row >= 0 else None
    if found is None:
        return Classification(Extent.ALL, None, closed, rule, is_proved)
    return Classification(Extent.SOME, "/" if first else found, closed, rule)


def dead_rules(rules: Rules, budget: Budget | None = None) -> DeadRules:
    """Return the rules that decide no URL at all, each with those that decide in its place."""
    ranked = Ranked(rules)
    reasoner = Reasoner(ranked, budget or Budget())
    of_row = reasoner.by_row()
    found = []
    is_proved = True
    for row in sorted(of_row):
        try:
            if all(reasoner.is_dead(entry) for entry in of_row[row]):
                found.append(_dead(reasoner, row, of_row[row]))
        except BudgetSpentError:
            is_proved = False
    return DeadRules(tuple(found), is_proved)


def _dead(reasoner: Reasoner, row: int, entries: list[Entry]) -> DeadRule:
    """Say why a rule is dead."""
    rule_of = reasoner.ranked.rule
    covers = {each.row: each for entry in entries for each in reasoner.covers(entry)}
    covered_by = tuple(rule_of(number) for number in sorted(covers) if number >= 0)
    otherwise = Cause.ROBOTS_TXT if ITSELF in covers else Cause.NO_PATH
    return DeadRule(rule_of(row), Cause.COVERED if covered_by else otherwise, covered_by)


def idle_rules(rules: Rules, budget: Budget | None = None) -> tuple[IdleRule, ...]:
    """Return rules that decide URLs and change nothing: others say the same without them.

    Each of them alone can be left out, whether rules that decide nothing stay or go. A rule is only
    named where that is proved.
    """
    ranked = Ranked(rules)
    reasoner = Reasoner(ranked, budget or Budget())
    of_row = reasoner.by_row()
    try:
        urls = {row: _first_example(reasoner, of_row[row]) for row in of_row}
    except BudgetSpentError:
        return ()
    idle = [row for row, url in urls.items() if url and _is_idle(reasoner, of_row[row], url)]
    # What decides no likely URL may be gone tomorrow.
    ranked.removed |= {
        entry.order for row, url in urls.items() if url is None for entry in of_row[row]
    }
    found = []
    for row in sorted(idle):
        url = urls[row]
        if url is not None and _is_idle(reasoner, of_row[row], url):
            instead = ranked.deciding_without(of_row[row], url)
            rule = ranked.rule(instead.row) if instead.row >= 0 else None
            found.append(IdleRule(ranked.rule(row), url, rule))
    return tuple(found)


def _first_example(reasoner: Reasoner, entries: list[Entry]) -> str | None:
    return next(filter(None, map(reasoner.example, entries)), None)


def _is_idle(reasoner: Reasoner, entries: list[Entry], url: str) -> bool:
    """Tell whether it is proved that a rule is not needed: not even for a URL that it decides."""
    try:
        reasoner.compare(1 + reasoner.ranked.crowd // 4)
        if reasoner.ranked.deciding_without(entries, url).allow != entries[0].allow:
            return False
        return not _is_needed(reasoner, entries)
    except BudgetSpentError:
        return False


def redundant_rules(*sets: Rules, budget: Budget | None = None) -> tuple[Rule, ...]:
    """Return rules without which, all of them together, every URL is decided as it is with them.

    Given several rule sets of one file, also such as dialects read it, that holds for each of them.
    Rules that decide nothing are among them. A rule is only named where that is proved.
    """
    budget = budget or Budget()
    of_line: dict[int, list[tuple[Reasoner, list[Entry]]]] = {}
    rule_of: dict[int, Rule] = {}
    for rules in sets:
        reasoner = Reasoner(Ranked(rules), budget)
        for row, entries in reasoner.by_row().items():
            rule = reasoner.ranked.rule(row)
            rule_of.setdefault(rule.line, rule)
            of_line.setdefault(rule.line, []).append((reasoner, entries))
    gone = []
    # What counts for least goes first: of two that say the same the more telling one stays.
    for line in sorted(of_line, key=lambda line: -max(each.order for each in of_line[line][0][1])):
        try:
            if not any(_is_needed(*each) for each in of_line[line]):
                for reasoner, entries in of_line[line]:
                    reasoner.ranked.removed |= {entry.order for entry in entries}
                gone.append(line)
        except BudgetSpentError:
            continue
    return tuple(rule_of[line] for line in sorted(gone))


def _is_needed(reasoner: Reasoner, entries: list[Entry]) -> bool:
    """Tell whether some URL that a rule decides would be decided differently without it."""
    ranked = reasoner.ranked
    gone = {entry.order for entry in entries}
    for entry in entries:
        reasoner.compare(1 + ranked.crowd // 4)
        meeting = [each for each in ranked.meeting(entry.literal) if each.order not in gone]
        for other in meeting:
            if other.order > entry.order and other.allow != entry.allow:
                between = [each for each in meeting if each.order < other.order]
                if reasoner.matched([entry, other], between) is not None:
                    return True
    return False

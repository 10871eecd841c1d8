"""Analysis of a whole file: which agents to check, and what applies to all of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from .._asking import rules_for_data, selection_of
from .._lazy import cached_property
from ..dialects import Dialect
from ..model import Rule
from ..robots import RobotsTxt, Rules, parse
from ._differences import Differences, count_rules, difference
from ._effects import DeadRule, DeadRules, IdleRule, IdleRules, dead_rules_of, idle_rules_of
from ._examples import Examples
from ._extent import Classification, Extent, classify
from ._names import Selecting, count_line_ends, first_of, names_in
from ._ranking import Ranking
from ._search import Budget, BudgetSpentError

Found = TypeVar("Found", DeadRules, IdleRules)

#: Patterns that all current dialects read alike.
_PLAIN = re.compile(r"[A-Za-z0-9._~/?&=*$-]*")

#: Rules of all sets that are looked at for dead and idle ones, see `Limit`: seconds of work. As
#: many as the file has lines, if these are more.
_MAX_RULES = 100_000

#: Rules that all sets may have together, see `Limit`: in each set, one takes 30 bytes and a
#: microsecond.
MAX_RULES_OF_SETS = 3_000_000

#: Rules with stars that single decisions about a file may look at together: seconds of work. Each
#: counts again for so many characters of the URL.
_CHARACTERS_PER_CHECK = 64
_MAX_DECIDED_RULES = 50_000_000


def rule_sets(robots: RobotsTxt, most: int | None = None) -> list[tuple[str, Rules]]:
    """Return each rule set of a file, with an agent that it applies to; that of ``*`` comes first.

    ``most`` is the maximum number of agents to check. Without some of the sets if all together have
    more than `MAX_RULES_OF_SETS` rules.
    """
    return _rule_sets(robots, most)[0]


def _rule_sets(robots: RobotsTxt, most: int | None) -> tuple[list[tuple[str, Rules]], bool]:
    """Return the rule sets as `rule_sets` does, and whether they are all of the file."""
    named = names_in(robots)
    selected = first_of(named, robots)[:most]
    limit = Limit(MAX_RULES_OF_SETS)
    found: dict[tuple[int, ...], tuple[str, Rules]] = {}
    for name, *_ in selected:
        rules = rules_for_data(robots, name)
        if rules.group_lines not in found:
            found[rules.group_lines] = (name, rules)
            if not limit.allows(count_rules(rules)):
                return list(found.values()), False
    return list(found.values()), len(selected) == len(named)


class Limit:
    """A limit of the rules of several rule sets together, but for the largest set.

    A file with many names may have most of its rules in each of their sets.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._count = 0
        self._largest = 0

    def allows(self, count: int) -> bool:
        """Count the rules of one more set; return whether the limit allows it."""
        self._count += count
        self._largest = max(self._largest, count)
        return self._count - self._largest <= self._most


def most_rules_to_check(robots: RobotsTxt) -> int:
    """Return how many rules of all sets of a file are checked, see `Limit`: that takes seconds."""
    return max(_MAX_RULES, count_line_ends(robots))


class WholeFile:
    """A file with all its rule sets, and other dialects to consider.

    Args:
        robots: The file, in its dialect.
        beside: Other dialects: a rule that has an effect in one of them is not dead or idle.
        budget: The budget for dead rules.
        idle_budget: The budget for idle rules.
        most: Maximum number of agents to check.
    """

    def __init__(
        self,
        robots: RobotsTxt,
        beside: Sequence[Dialect] = (),
        budget: Budget | None = None,
        idle_budget: Budget | None = None,
        most: int | None = None,
    ) -> None:
        self.robots = robots
        self._beside = beside
        self._budget = budget or Budget()
        self._idle_budget = idle_budget or Budget()
        self._most = most
        #: Whether all that was asked so far is proved.
        self.is_proved = True
        self._is_limited = False
        # By identity: the hash of a dialect takes as long as an answer.
        self._parsed: dict[int, tuple[RobotsTxt, Selecting]] = {}
        self._rules_beside: dict[tuple[int, object], Rules | None] = {}
        self._selecting = Selecting(robots)
        #: For all other dialects together: some look at each line for each agent.
        self._selecting_beside = Selecting()
        self._rankings: dict[Rules, Ranking] = {}
        self._decided_rules_left = _MAX_DECIDED_RULES
        self._classified = Limit(self._max_rules)
        self._compared = Limit(self._max_rules)

    @property
    def is_complete(self) -> bool:
        """Whether all that was asked so far was looked at: no limit is exceeded, no budget spent.

        What is not proved of single rules does not count.
        """
        return not (self._is_limited or self._budget.is_spent or self._idle_budget.is_spent)

    def leave_out(self) -> None:
        """Remember that something was not checked: `is_complete` is then false."""
        self._is_limited = True
        self.is_proved = False

    def rules_by(self, dialect: Dialect, agent: str | tuple[str, ...]) -> Rules | None:
        """Return an agent's rules by another dialect, cached; None if all of these take too long.

        The agent may be a sequence of names, as `koster.RobotsTxt.rules_for` takes it.
        """
        key = id(dialect), agent
        if key not in self._rules_beside:
            if id(dialect) not in self._parsed:
                robots = parse(self.robots.body, dialect)
                self._parsed[id(dialect)] = robots, Selecting(robots)
            robots, selecting = self._parsed[id(dialect)]
            names = (agent,) if isinstance(agent, str) else agent
            is_left = self._selecting_beside.takes(sum(map(selecting.cost, names)))
            if not is_left:
                self.leave_out()
            self._rules_beside[key] = rules_for_data(robots, agent) if is_left else None
        return self._rules_beside[key]

    @cached_property
    def _max_rules(self) -> int:
        return most_rules_to_check(self.robots)

    def rules_for(self, agent: str | tuple[str, ...]) -> Rules | None:
        """Return the rules of an agent; None once the agents asked for take too long together.

        The agent may be a sequence of names, as `koster.RobotsTxt.rules_for` takes it.
        """
        names = (agent,) if isinstance(agent, str) else agent
        if not all(map(self._selecting.allows, names)):
            self.leave_out()
            return None
        rules = rules_for_data(self.robots, agent)
        self._selecting.count(count_rules(rules))
        return rules

    def classification(self, rules: Rules) -> Classification:
        """Return what `classify` does; not proved if all rule sets have too many rules."""
        if not self._classified.allows(count_rules(rules)):
            self.leave_out()
            return Classification(Extent.SOME, None, None, None, is_proved=False)
        found = classify(rules, self._budget)
        self.is_proved &= found.is_proved
        return found

    @cached_property
    def _all_sets(self) -> tuple[list[tuple[str, Rules]], bool]:
        found, are_all = _rule_sets(self.robots, self._most)
        if not are_all:
            self.leave_out()
        return found, are_all

    @property
    def sets(self) -> list[tuple[str, Rules]]:
        """The rule sets of the file, each with an agent; that of ``*`` comes first."""
        return self._all_sets[0]

    @property
    def has_all_sets(self) -> bool:
        """Whether `sets` are all of the file: it has neither too many names nor too many rules."""
        return self._all_sets[1]

    @cached_property
    def dead(self) -> list[tuple[str, Rules, DeadRules]]:
        """The dead rules of each rule set."""
        return self._of_each_set(dead_rules_of, self._budget, DeadRules((), is_proved=False))

    @cached_property
    def _idle(self) -> list[tuple[str, Rules, IdleRules]]:
        """The idle rules of each rule set."""
        return self._of_each_set(idle_rules_of, self._idle_budget, IdleRules((), is_proved=False))

    def _of_each_set(
        self, analyze: Callable[[Ranking, Budget], Found], budget: Budget, nothing: Found
    ) -> list[tuple[str, Rules, Found]]:
        """Return what is found about each rule set: ``nothing`` beyond the limit of rules."""
        limit = Limit(self._max_rules)
        found: list[tuple[str, Rules, Found]] = []
        for name, rules in self.sets:
            is_within = limit.allows(count_rules(rules))
            if not is_within:
                self.leave_out()
            of_set = analyze(self._ranking(rules), budget) if is_within else nothing
            found.append((name, rules, of_set))
        self.is_proved &= all(each.is_proved for _, _, each in found)
        return found

    def difference(self, rules: Rules, theirs: Rules) -> Differences:
        """Return what another dialect decides differently, by its rules for the same agent.

        A URL for each rule, and not for each pair of rules.
        Not proved if these are too many rules, or all that were asked for together.
        """
        if not self._compared.allows(count_rules(theirs)):
            self.leave_out()
            return Differences((), is_proved=False)
        found = difference(rules, theirs, self._budget, once=True)
        self.is_proved &= found.is_proved
        return found

    def may_decide(self, rules: Rules, url: str) -> bool:
        """Count one more decision about a URL; return whether all of them take seconds.

        A file may have many URLs to decide, and many rules that each of them is compared with.
        """
        looked_at = self._ranking(rules).with_stars
        self._decided_rules_left -= looked_at * (1 + len(url) // _CHARACTERS_PER_CHECK)
        if self._decided_rules_left < 0:
            self.leave_out()
        return self._decided_rules_left >= 0

    def likely_url(self, line: int) -> str | None:
        """Return a likely URL that the rule of a line decides in the first rule set, or None."""
        try:
            return self._likely_url(line, self.sets[0][1], Budget())
        except BudgetSpentError:
            # A very long rule.
            self.is_proved = False
            return None

    def _likely_url(self, line: int, rules: Rules, budget: Budget) -> str | None:
        examples = Examples(self._ranking(rules), budget)
        return examples.likely_of_any(examples.ranking.by_line.get(line, ()))

    def _ranking(self, rules: Rules) -> Ranking:
        """Return the ranking of a rule set, cached: it knows what was found out."""
        if rules not in self._rankings:
            self._rankings[rules] = Ranking(rules)
        return self._rankings[rules]

    @cached_property
    def surely_dead(self) -> list[tuple[DeadRule, str]]:
        """The rules that are dead in all their rule sets, each with an agent, by line.

        Excludes rules that may have an effect in another dialect.
        """
        if not self.has_all_sets:
            return []
        found: dict[int, tuple[DeadRule, str]] = {}
        for name, _, dead_rules_of_set in self.dead:
            for each in dead_rules_of_set.rules:
                found.setdefault(each.rule.line, (each, name))
        living = _lines_elsewhere(
            {*found},
            ((rules, {each.rule.line for each in dead.rules}) for _, rules, dead in self.dead),
        )
        return [
            (dead, name)
            for line, (dead, name) in sorted(found.items())
            if line not in living
            and dead.rule.pattern
            and not self._is_alive_in_dialect(dead.rule, name)
        ]

    @cached_property
    def surely_idle(self) -> list[IdleRule]:
        """The rules that are redundant in all their rule sets, by line.

        Excludes rules that may have an effect in another dialect.
        """
        if not self.has_all_sets:
            return []
        found: dict[int, IdleRule] = {}
        needed: set[int] = set()
        for name, _, idle in self._idle:
            for each in idle.rules:
                found.setdefault(each.rule.line, each)
            needed.update(self._needed_in_dialects([each.rule for each in idle.rules], name))
        needed |= _lines_elsewhere(
            {*found},
            ((rules, {each.rule.line for each in idle.rules}) for _, rules, idle in self._idle),
        )
        return [each for line, each in sorted(found.items()) if line not in needed]

    def _needed_in_dialects(self, rules: Sequence[Rule], name: str) -> Iterator[int]:
        """Yield the lines of rules that may be needed in another dialect."""
        by_dialect: dict[Dialect, set[int]] = {}
        for rule in rules:
            for dialect in self._differing_dialects(rule):
                by_dialect.setdefault(dialect, set()).add(rule.line)
        dead_lines = {dead.rule.line for dead, _ in self.surely_dead} if by_dialect else set()
        for dialect, lines in by_dialect.items():
            rules_by_dialect = self.rules_by(dialect, name)
            if rules_by_dialect is None:
                yield from lines
                continue
            ranking = self._ranking(rules_by_dialect)
            idle = idle_rules_of(ranking, self._idle_budget, lines, dead_lines)
            self.is_proved &= idle.is_proved
            yield from lines.difference(each.rule.line for each in idle.rules)

    def _differing_dialects(self, rule: Rule) -> Iterator[Dialect]:
        """Yield the other dialects that may read a rule differently."""
        is_plain = _PLAIN.fullmatch(rule.pattern) is not None
        own = self.robots.dialect.reading
        for dialect in self._beside:
            theirs = dialect.reading
            if not is_plain or (theirs.patterns, theirs.choice) != (own.patterns, own.choice):
                yield dialect

    def _is_alive_in_dialect(self, rule: Rule, name: str) -> bool:
        """Return whether a rule decides a URL in another dialect.

        If only some dialects treat ``:`` and ``%3A`` alike, both lines are needed.
        """
        return any(
            self._decides_likely_url(rule.line, self.rules_by(dialect, name))
            for dialect in self._differing_dialects(rule)
        )

    def _decides_likely_url(self, line: int, rules: Rules | None) -> bool:
        """Return whether the rule in a line decides a likely URL; also if that takes too long."""
        if rules is None:
            return True
        try:
            return self._likely_url(line, rules, self._budget) is not None
        except BudgetSpentError:
            self.is_proved = False
            return True


def _lines_elsewhere(lines: set[int], found: Iterable[tuple[Rules, set[int]]]) -> set[int]:
    """Return those of some lines that are in a rule set for which they were not found.

    ``found`` are the rule sets, each with the lines that were found for it.
    """
    elsewhere: set[int] = set()
    #: The groups of sets for which none were found: large ones may be in many sets.
    seen: set[int] = set()
    for rules, own in found if lines else ():
        selection = selection_of(rules)
        of_set = selection.rule_lines() if own else selection.new_rule_lines(seen)
        elsewhere |= lines.intersection(of_set) - own
    return elsewhere

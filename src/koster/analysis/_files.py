"""Questions about a whole file: which robots there are to ask about, and what holds for all."""

from __future__ import annotations

import itertools
import re
from functools import cached_property
from typing import TYPE_CHECKING

from ..dialects import Names
from ..model import SPACE
from ..robots import file_of, parse, selection_of
from ._questions import dead_rules, each_likely_url, idle_rules
from ._search import Budget, BudgetSpentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..dialects import Dialect
    from ..model import Rule
    from ..robots import RobotsTxt, Rules
    from ._questions import DeadRule, DeadRules, IdleRule

_TOKEN = re.compile(r"[A-Za-z0-9._-]+")
_LETTERS = re.compile(r"[A-Za-z_-]*")

#: Patterns that all dialects of today read alike.
_PLAIN = re.compile(r"[A-Za-z0-9._~/?&=*$-]*")

#: Names that are compared with those of robots, all together, and how many take as long where
#: a header is searched for them.
_TRIED = 100_000_000
_AS_A_HEADER = 20

#: Names of which all pairs are asked about.
_PAIRED = 200

#: How everybody is called whom no file names.
EVERYBODY = "*"


def names_in(*files: RobotsTxt) -> list[list[str]]:
    """Return everybody, and robots that reach each group of files, by any of its names.

    Those in one list are called by the same groups, so that the first of them stands for all.

    A name as it is written may not reach its own group: a robot is called FooBot, and never
    ``FooBot/1.0``, ``FooBot*`` or, to Google, AI2Bot. So its product token stands for it, and for a
    name of several words the first of them besides, which all groups with that word are for.
    """
    called: dict[str, list[tuple[int, int, int]]] = {}
    written = {EVERYBODY: EVERYBODY}
    for number, robots in enumerate(files):
        for place, part, agent in file_of(robots).named_parts():
            for name in _robots_called(agent, robots.dialect.names):
                written.setdefault(name.lower(), name)
                called.setdefault(name.lower(), []).append((number, place, part))
    exact = all(robots.dialect.names in (Names.PRODUCT_TOKEN, Names.LETTERS) for robots in files)
    alike: dict[object, list[str]] = {}
    for lower, name in written.items():
        is_plain = exact and lower != EVERYBODY and _TOKEN.fullmatch(name)
        key = tuple(dict.fromkeys(called[lower])) if is_plain else name
        alike.setdefault(key, []).append(name)
    return list(alike.values())


def first_of(named: list[list[str]]) -> list[list[str]]:
    """Return the first of some robots: as many as can be asked about in seconds.

    To find a robot's groups takes longer the more names there are, and where its own is a header.
    """
    count = sum(map(len, named))
    left = _TRIED
    for number, (name, *_) in enumerate(named):
        left -= count * (1 if _TOKEN.fullmatch(name) else _AS_A_HEADER)
        if left < 0:
            return named[: number + 1]
    return named


def paired_names(named: list[list[str]], *files: RobotsTxt) -> Iterator[str]:
    """Go through robots that carry the names of two groups each, of those that `names_in` gives.

    Where a name has only to stand in the robot's, and the first such group counts, a robot may be
    in one group of one file and in another one of the next: two names are enough to tell.
    `rule_sets` of one file need none: a robot with the rules of a group can have its name alone.
    """
    if any(robots.dialect.names == Names.SUBSTRING for robots in files):
        names = [name for name, *_ in named if name != EVERYBODY]
        for one, other in itertools.combinations(names[:_PAIRED], 2):
            yield f"{one} {other}"


def rule_sets(robots: RobotsTxt, most: int | None = None) -> list[tuple[str, Rules]]:
    """Return each rule set that a robot may have, with one that has it; everybody's first.

    ``most``: so many robots are asked about.
    """
    found: dict[tuple[int, ...], tuple[str, Rules]] = {}
    for name, *_ in first_of(names_in(robots))[:most]:
        rules = robots.rules_for(name)
        found.setdefault(rules.group_lines, (name, rules))
    return list(found.values())


def letters_of(name: str) -> str:
    """Return what Google's parser reads of a name.

    >>> letters_of("AI2Bot")
    'AI'
    """
    found = _LETTERS.match(name)
    return found[0] if found else ""


def _robots_called(agent: str, names: Names) -> list[str]:
    """Return robots that a name may be for."""
    name = agent.partition("/")[0].rstrip("*" + SPACE)
    if names == Names.LETTERS:
        # Google compares what it cuts off with the whole name of the robot.
        found = [letters_of(agent)]
    elif names != Names.PRODUCT_TOKEN:
        # The older standards look for the name as it is written, also in a header.
        found = [agent, name]
    elif _TOKEN.fullmatch(name):
        found = [name]
    else:
        found = [agent, name, *name.split(None, 1)[:1]]
    return [each for each in dict.fromkeys(found) if each and each != EVERYBODY]


class WholeFile:
    """A file with all its rule sets, beside dialects that read it as well.

    Args:
        robots: The file, in its dialect.
        beside: Others that are to be thought of: what one of them needs does not do nothing.
        budget: How much may be done for what is dead.
        idle_budget: How much for what is idle.
        most: So many robots are asked about.
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
        self._read_by: dict[Dialect, RobotsTxt] = {}
        self._living_by: dict[tuple[Dialect, str], set[int]] = {}
        self._idle_by: dict[tuple[Dialect, str], set[int]] = {}

    def read_by(self, dialect: Dialect) -> RobotsTxt:
        """Return the file as another dialect reads it, parsed once."""
        if dialect not in self._read_by:
            self._read_by[dialect] = parse(self.robots.body, dialect)
        return self._read_by[dialect]

    @cached_property
    def sets(self) -> list[tuple[str, Rules]]:
        """The rule sets that robots may have, each with a robot that has it; everybody's first."""
        return rule_sets(self.robots, self._most)

    @cached_property
    def dead(self) -> list[tuple[str, Rules, DeadRules]]:
        """What is dead, set by set."""
        return [(name, rules, dead_rules(rules, self._budget)) for name, rules in self.sets]

    @cached_property
    def surely_dead(self) -> list[tuple[DeadRule, str]]:
        """The rules that are dead for every robot that has them, each with one, by line.

        Those are left out that a dialect which is compared may need.
        """
        if not any(gone_by.rules for _, _, gone_by in self.dead):
            return []
        lives: set[int] = set()
        found: dict[int, tuple[DeadRule, str]] = {}
        for name, rules, gone_by in self.dead:
            gone = {each.rule.line for each in gone_by.rules}
            for each in gone_by.rules:
                found.setdefault(each.rule.line, (each, name))
            lives.update(line for line in selection_of(rules).rule_lines() if line not in gone)
        return [
            (dead, name)
            for line, (dead, name) in sorted(found.items())
            if line not in lives
            and dead.rule.pattern
            and not self._lives_elsewhere(dead.rule, name)
        ]

    @cached_property
    def surely_idle(self) -> list[IdleRule]:
        """The rules that change nothing for any robot that has them, by line.

        Those are left out that a dialect which is compared may need.
        """
        found: dict[int, IdleRule] = {}
        needed: set[int] = set()
        for name, rules in self.sets:
            idle = {each.rule.line: each for each in idle_rules(rules, self._idle_budget)}
            needed.update(line for line in selection_of(rules).rule_lines() if line not in idle)
            for line, each in idle.items():
                found.setdefault(line, each)
                if self._is_needed_elsewhere(each.rule, name):
                    needed.add(line)
        return [idle for line, idle in sorted(found.items()) if line not in needed]

    def _is_needed_elsewhere(self, rule: Rule, name: str) -> bool:
        """Tell whether a rule may change something by a dialect that is compared."""
        return any(rule.line not in self._idle(dialect, name) for dialect in self._unlike(rule))

    def _idle(self, dialect: Dialect, name: str) -> set[int]:
        """Return the lines of rules that change nothing for a robot by another dialect."""
        key = dialect, name
        if key not in self._idle_by:
            rules = self.read_by(dialect).rules_for(name)
            self._idle_by[key] = {each.rule.line for each in idle_rules(rules, self._idle_budget)}
        return self._idle_by[key]

    def _unlike(self, rule: Rule) -> Iterator[Dialect]:
        """Go through the dialects that are compared, and may read such a rule otherwise."""
        is_plain = _PLAIN.fullmatch(rule.pattern) is not None
        own = self.robots.dialect.reading
        for dialect in self._beside:
            theirs = dialect.reading
            if not is_plain or (theirs.patterns, theirs.choice) != (own.patterns, own.choice):
                yield dialect

    def _lives_elsewhere(self, rule: Rule, name: str) -> bool:
        """Tell whether a dialect that is compared lets a rule decide something.

        Where one takes ``:`` and ``%3A`` for the same and another does not, both lines are needed.
        """
        return any(rule.line in self._living(dialect, name) for dialect in self._unlike(rule))

    def _living(self, dialect: Dialect, name: str) -> set[int]:
        """Return the lines of rules that decide some likely URL for a robot by another dialect."""
        key = dialect, name
        if key not in self._living_by:
            rules = self.read_by(dialect).rules_for(name)
            try:
                self._living_by[key] = {line for line, _ in each_likely_url(rules, self._budget)}
            except BudgetSpentError:
                # Then any of them may.
                self._living_by[key] = set(selection_of(rules).rule_lines())
        return self._living_by[key]

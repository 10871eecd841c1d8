"""What a change of a robots.txt changes: for whom, on which URLs, and by which lines.

Not the text is compared but what it says: for every robot that either file names, for known
crawlers and for everybody else. An empty comparison is a proof that both files say the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .analysis import Budget, Differences, difference
from .dialects import Names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._values import Preference
    from .robots import RobotsTxt, Rules

_SPACE = " \t\n\r\v\f"
_TOKEN = re.compile(r"[A-Za-z0-9._-]+")
_LETTERS = re.compile(r"[A-Za-z_-]*")

#: The groups of two rule sets, by their lines.
_Lines = tuple[tuple[int, ...], tuple[int, ...]]

#: How everybody is called whom neither file names.
EVERYBODY = "*"


@dataclass(frozen=True, slots=True)
class Setting:
    """What is said besides rules, before and after: ``name`` of it, and its values as text."""

    name: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """What changes for some robots, who all have the same rules before and the same after.

    ``agents`` are those that a file names, or known ones; `EVERYBODY` is among them where robots
    without a group have these rules.
    """

    agents: tuple[str, ...]
    differences: Differences
    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two files say differently: for robots, and for the whole site.

    ``compared`` is how many different rule sets there were to compare.
    """

    changes: tuple[Change, ...]
    settings: tuple[Setting, ...]
    compared: int

    @property
    def is_proved(self) -> bool:
        """Whether nothing but what is named changes any decision."""
        return all(change.differences.is_proved for change in self.changes)

    @property
    def decides_alike(self) -> bool:
        """Whether it is proved that every robot may fetch what it might before."""
        return all(change.differences.are_equal for change in self.changes)

    @property
    def is_empty(self) -> bool:
        """Whether both files say the same, also besides rules."""
        return self.decides_alike and not (
            self.settings or any(change.settings for change in self.changes)
        )


def names_in(*files: RobotsTxt) -> list[list[str]]:
    """Return everybody, and robots that reach each group of files, by any of its names.

    Those in one list are called by the same groups, so that the first of them stands for all.

    A name as it is written may not reach its own group: a robot is called FooBot, and never
    ``FooBot/1.0``, ``FooBot*`` or, to Google, AI2Bot. So its product token stands for it, and for a
    name of several words the first of them besides, which all groups with that word are for.
    """
    called: dict[str, list[tuple[int, int]]] = {}
    written = {EVERYBODY: EVERYBODY}
    for number, robots in enumerate(files):
        cuts = robots.dialect.names == Names.LETTERS
        for place, group in enumerate(robots.groups):
            for agent in group.agents:
                for name in _robots_called(agent, cuts=cuts):
                    written.setdefault(name.lower(), name)
                    called.setdefault(name.lower(), []).append((number, place))
    exact = all(robots.dialect.names in (Names.PRODUCT_TOKEN, Names.LETTERS) for robots in files)
    alike: dict[object, list[str]] = {}
    for lower, name in written.items():
        is_plain = exact and lower != EVERYBODY and _TOKEN.fullmatch(name)
        key = tuple(dict.fromkeys(called[lower])) if is_plain else name
        alike.setdefault(key, []).append(name)
    return list(alike.values())


def rule_sets(robots: RobotsTxt, most: int | None = None) -> list[tuple[str, Rules]]:
    """Return each rule set that a robot may have, with one that has it; everybody's first.

    ``most``: so many robots are asked about.
    """
    found: dict[tuple[int, ...], tuple[str, Rules]] = {}
    for name, *_ in names_in(robots)[:most]:
        rules = robots.rules_for(name)
        found.setdefault(_lines_of(rules), (name, rules))
    return list(found.values())


def _robots_called(agent: str, *, cuts: bool) -> list[str]:
    """Return robots that a name may be for."""
    name = agent.partition("/")[0].rstrip("*" + _SPACE)
    letters = _LETTERS.match(agent)
    if cuts:
        # Google compares what it cuts off with the whole name of the robot.
        found = [letters[0] if letters else ""]
    elif _TOKEN.fullmatch(name):
        found = [name]
    else:
        found = [agent, name, *name.split(None, 1)[:1]]
    return [each for each in dict.fromkeys(found) if each and each != EVERYBODY]


def compare(
    old: RobotsTxt, new: RobotsTxt, known: Iterable[str] = (), budget: Budget | None = None
) -> Comparison:
    """Return what two files say differently.

    Args:
        old: The file before, in its dialect.
        new: The file after.
        known: Robots to compare besides those that the files name, such as known crawlers.
        budget: How much may be done before the answer is *not proved*.
    """
    budget = budget or Budget()
    classes: dict[_Lines, list[str]] = {}
    sets: dict[_Lines, tuple[Rules, Rules]] = {}
    named = names_in(old, new)
    seen = {name.lower() for names in named for name in names}
    for names in [*named, *([name] for name in known if name.lower() not in seen)]:
        before, after = old.rules_for(names[0]), new.rules_for(names[0])
        key = _lines_of(before), _lines_of(after)
        classes.setdefault(key, []).extend(names)
        sets.setdefault(key, (before, after))
    changes = []
    for key, names in classes.items():
        before, after = sets[key]
        found = difference(before, after, budget)
        settings = _settings(before, after)
        if settings or not found.are_equal:
            changes.append(Change(tuple(names), found, settings))
    return Comparison(tuple(changes), _of_files(old, new), len(classes))


def _lines_of(rules: Rules) -> tuple[int, ...]:
    return tuple(group.line for group in rules.groups)


def _settings(before: Rules, after: Rules) -> tuple[Setting, ...]:
    """Return what is said to a robot besides rules, where it differs."""
    said = [_said(rules) for rules in (before, after)]
    return tuple(
        Setting(name, said[0][name], said[1][name])
        for name in said[0]
        if said[0][name] != said[1][name]
    )


def _said(rules: Rules) -> dict[str, tuple[str, ...]]:
    delay = rules.crawl_delay
    return {
        "Crawl-delay": () if delay is None else (f"{delay:g} s",),
        "Request-rate": tuple(
            f"{rate.requests}/{rate.seconds}s"
            + (f" {rate.start:%H%M}-{rate.end:%H%M}" if rate.start and rate.end else "")
            for rate in rules.request_rates
        ),
        "Visit-time": tuple(map(str, rules.visit_times)),
        "preferences": _told(rules.preferences),
    }


def _told(preferences: Iterable[Preference]) -> tuple[str, ...]:
    """Return preferences as text, each once, in an order of their own."""
    told = set()
    for each in preferences:
        path = f"{each.pattern} " if each.pattern else ""
        told.add(f"{each.directive}: {path}{each.key}={each.value}")
    return tuple(sorted(told))


def _of_files(old: RobotsTxt, new: RobotsTxt) -> tuple[Setting, ...]:
    """Return what is said for the whole site, where it differs."""
    pairs = (
        ("Sitemap", old.sitemaps, new.sitemaps),
        ("Host", old.hosts, new.hosts),
        ("License", old.licenses, new.licenses),
        ("Clean-param", _params(old), _params(new)),
    )
    return tuple(
        Setting(name, tuple(dict.fromkeys(before)), tuple(dict.fromkeys(after)))
        for name, before, after in pairs
        if set(before) != set(after)
    )


def _params(robots: RobotsTxt) -> tuple[str, ...]:
    return tuple(f"{'&'.join(each.names)} {each.path}" for each in robots.clean_params)

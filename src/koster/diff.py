"""What a change of a robots.txt changes: for whom, on which URLs, and by which lines.

Not the text is compared but what it says: for every robot that either file names, for known
crawlers and for everybody else. An empty comparison is a proof that both files say the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .analysis import EVERYBODY, Budget, Differences, difference, first_of, names_in, paired_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .directives import Preference
    from .robots import RobotsTxt, Rules

__all__ = ["EVERYBODY", "MOST_ASKED", "Change", "Comparison", "Setting", "compare"]

#: So many robots are asked about: no file that anyone means names as many in as many ways.
MOST_ASKED = 5_000


@dataclass(frozen=True, slots=True)
class Setting:
    """What is said besides rules, before and after: ``name`` of it, and its values as text."""

    name: str
    before: tuple[str, ...]
    after: tuple[str, ...]


#: The groups of two rule sets, by their lines, and what else differs: who shares it changes alike.
_Alike = tuple[tuple[int, ...], tuple[int, ...], tuple[Setting, ...]]


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

    ``compared`` is how many different rule sets there were to compare. ``is_whole``: all robots
    that a file names were asked about.
    """

    changes: tuple[Change, ...]
    settings: tuple[Setting, ...]
    compared: int
    is_whole: bool = True

    @property
    def is_proved(self) -> bool:
        """Whether nothing but what is named changes any decision."""
        return self.is_whole and all(change.differences.is_proved for change in self.changes)

    @property
    def decides_alike(self) -> bool:
        """Whether it is proved that every robot may fetch what it might before."""
        return self.is_whole and all(change.differences.are_equal for change in self.changes)

    @property
    def is_empty(self) -> bool:
        """Whether both files say the same, also besides rules."""
        return self.decides_alike and not (
            self.settings or any(change.settings for change in self.changes)
        )


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
    classes: dict[_Alike, list[str]] = {}
    sets: dict[_Alike, tuple[Rules, Rules]] = {}
    named = names_in(old, new)
    seen = {name.lower() for names in named for name in names}
    unnamed = [[name] for name in known if name.lower() not in seen]
    asked = first_of(named)[:MOST_ASKED]
    of_everybody: dict[object, tuple[Setting, ...]] = {}
    for names in [*asked, *unnamed]:
        before, after = old.rules_for(names[0]), new.rules_for(names[0])
        lines = before.group_lines, after.group_lines
        # Who is not named is told the same as all others who are not.
        settings = None if before.is_named or after.is_named else of_everybody.get(lines)
        if settings is None:
            settings = of_everybody[lines] = _settings(before, after)
        key = *lines, settings
        classes.setdefault(key, []).extend(names)
        sets.setdefault(key, (before, after))
    for name in paired_names(named, old, new):
        before, after = old.rules_for(name), new.rules_for(name)
        key = before.group_lines, after.group_lines, _settings(before, after)
        if key not in sets:
            classes[key] = [name]
            sets[key] = before, after
    changes = []
    for key, names in classes.items():
        before, after = sets[key]
        found = difference(before, after, budget)
        settings = key[2]
        if settings or not found.are_equal:
            changes.append(Change(tuple(names), found, settings))
    is_whole = len(named) == len(asked)
    return Comparison(tuple(changes), _of_files(old, new), len(classes), is_whole)


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

"""Compare two versions of a robots.txt: what changes for which crawlers, URLs and lines.

The comparison is semantic: for every agent that either file names, for known crawlers, and for all
others. An empty comparison proves that both files are equivalent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._asking import rules_for_data, values_of
from .analysis import (
    EVERYBODY,
    MAX_RULES_OF_SETS,
    Budget,
    BudgetSpentError,
    Differences,
    Limit,
    count_rules,
    decide_alike,
    difference,
    first_of,
    most_rules_to_check,
    names_in,
    paired_names,
)
from .crawlers import agent_for
from .robots import RobotsTxt, Rules

if TYPE_CHECKING:
    from .directives import Preference

__all__ = ["EVERYBODY", "MAX_AGENTS", "Change", "Comparison", "Setting", "compare"]

#: Maximum number of agents to compare; legitimate files name fewer.
MAX_AGENTS = 5_000
#: Steps that reading the setting of a line takes.
_STEPS_PER_LINE = 8
#: Rules that are skipped in one step to find settings between them.
_RULES_PER_STEP = 4


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting besides rules: its ``name``, and its values before and after as text."""

    name: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """The changes for some agents that have the same rules before, and the same after.

    ``agents`` are named in a file, or known crawlers; `EVERYBODY` is included if crawlers without
    a group have these rules.
    """

    agents: tuple[str, ...]
    differences: Differences
    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences between two files: for agents, and for the whole site.

    ``compared`` is the number of distinct rule sets compared. ``is_whole``: all agents named in a
    file were compared; not if there are too many, or too many rules for all of them together.
    """

    changes: tuple[Change, ...]
    settings: tuple[Setting, ...]
    compared: int
    is_whole: bool = True

    @property
    def is_proved(self) -> bool:
        """Whether it is proved that no other decision changes."""
        return self.is_whole and all(change.differences.is_proved for change in self.changes)

    @property
    def decides_alike(self) -> bool:
        """Whether it is proved that no access changes."""
        return self.is_whole and all(change.differences.are_equal for change in self.changes)

    @property
    def is_empty(self) -> bool:
        """Whether both files are equivalent, including settings."""
        return self.decides_alike and not (
            self.settings or any(change.settings for change in self.changes)
        )


def compare(
    old: RobotsTxt,
    new: RobotsTxt,
    known: Iterable[str] = (),
    budget: Budget | None = None,
) -> Comparison:
    """Return the differences between two files.

    Args:
        old: The file before, in its dialect.
        new: The file after.
        known: Agents to compare in addition to those in the files, such as known crawlers.
        budget: The budget, after which the result is *not proved*.
    """
    budget = budget or Budget()
    classes, is_whole = _classes(old, new, known, budget)
    changes = []
    limit = Limit(most_rules_to_check(old) + most_rules_to_check(new))
    count = 0
    for each in classes:
        before, after = each.before, each.after
        if decide_alike(before, after):
            found = Differences(())
        elif limit.allows(count_rules(before) + count_rules(after)):
            found = difference(before, after, budget)
        else:
            is_whole = False
            continue
        count += 1
        if each.settings or not found.are_equal:
            changes.append(Change(tuple(each.agents), found, each.settings))
    return Comparison(tuple(changes), _file_settings(old, new), count, is_whole)


@dataclass(slots=True)
class _Class:
    """Agents with the same rules, and the same settings that differ."""

    agents: list[str]
    before: Rules
    after: Rules
    settings: tuple[Setting, ...]


def _classes(
    old: RobotsTxt, new: RobotsTxt, known: Iterable[str], budget: Budget
) -> tuple[list[_Class], bool]:
    """Return the agents to compare, and whether they are all that a file names."""
    found: dict[object, _Class] = {}
    of_files = [_format_preferences(robots.preferences) for robots in (old, new)]
    star_settings: dict[object, tuple[Setting, ...]] = {}
    limit = Limit(MAX_RULES_OF_SETS)

    def add(names: Sequence[str], *, is_new: bool = False) -> None:
        agent = agent_for(names[0])
        before, after = rules_for_data(old, agent), rules_for_data(new, agent)
        lines = before.group_lines, after.group_lines
        # All agents without a named group have the same settings.
        settings = None if before.is_named or after.is_named else star_settings.get(lines)
        if settings is None:
            settings = star_settings[lines] = _settings(before, after, of_files, budget)
        each = found.get((lines, settings))
        if each is None:
            if not limit.allows(count_rules(before) + count_rules(after)):
                raise BudgetSpentError
            each = found[lines, settings] = _Class([], before, after, settings)
        if not (is_new and each.agents):
            each.agents.extend(names)

    named = names_in(old, new)
    seen = {name.lower() for names in named for name in names}
    selected = first_of(named, old, new)[:MAX_AGENTS]
    pairs = [[name] for name in paired_names(named, old, new)]
    selected_pairs = first_of(pairs, old, new)
    try:
        for names in [*selected, *([name] for name in known if name.lower() not in seen)]:
            add(names)
        for names in selected_pairs:
            add(names, is_new=True)
    except BudgetSpentError:
        return [*found.values()], False
    is_whole = len(named) == len(selected) and len(pairs) == len(selected_pairs)
    return [*found.values()], is_whole


def _settings(
    before: Rules, after: Rules, of_files: Sequence[Sequence[str]], budget: Budget
) -> tuple[Setting, ...]:
    """Return the settings of a group that differ; ``of_files`` are the preferences of the files.

    Raises:
        BudgetSpentError: too many lines, which apply to many agents.
    """
    # To say the same twice changes nothing.
    by_name = [
        {
            name: tuple(dict.fromkeys(values))
            for name, values in _group_settings(rules, of_file, budget).items()
        }
        for rules, of_file in zip((before, after), of_files, strict=True)
    ]
    return tuple(
        Setting(name, by_name[0][name], by_name[1][name])
        for name in by_name[0]
        if by_name[0][name] != by_name[1][name]
    )


def _group_settings(
    rules: Rules, of_file: Sequence[str], budget: Budget
) -> dict[str, tuple[str, ...]]:
    # Settings stand between rules, so all lines are read.
    budget.spend(count_rules(rules) // _RULES_PER_STEP)
    _, values = values_of(rules)
    budget.spend(_STEPS_PER_LINE * values.count)
    budget.spend(values.preference_bytes)
    delay = values.crawl_delay
    return {
        "Crawl-delay": () if delay is None else (f"{delay:g} s",),
        "Request-rate": tuple(
            f"{rate.requests}/{rate.seconds}s"
            + (f" {rate.start:%H%M}-{rate.end:%H%M}" if rate.start and rate.end else "")
            for rate in values.request_rates
        ),
        "Visit-time": tuple(map(str, values.visit_times)),
        "preferences": _merged(of_file, _format_preferences(values.preferences)),
    }


def _merged(texts: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({*texts, *others})) if others else tuple(texts)


def _format_preferences(preferences: Iterable[Preference]) -> tuple[str, ...]:
    """Return preferences as text, sorted and without duplicates."""
    texts = set()
    for each in preferences:
        path = f"{each.pattern} " if each.pattern else ""
        texts.add(f"{each.directive}: {path}{each.key}={each.value}")
    return tuple(sorted(texts))


def _file_settings(old: RobotsTxt, new: RobotsTxt) -> tuple[Setting, ...]:
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

"""Who may: the known crawlers against a robots.txt, by what they fetch pages for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..agents import Heeds, Purpose, known
from ..analysis import Budget, Extent, classify
from ._page import page

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._values import Preference
    from ..agents import Crawler
    from ..model import Rule
    from ..robots import RobotsTxt

__all__ = ["Audit", "Verdict", "audit", "page"]

#: What the summary speaks of.
_SPOKEN_OF = (
    *(Purpose.SEARCH, Purpose.AI_SEARCH, Purpose.USER_FETCH, Purpose.TRAINING, Purpose.DATASET),
)
#: So many names stand in the summary.
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a crawler may not fetch: all, some or none of the site.

    ``is_named``: a group names it. ``rule`` is the one that closes the site to it, or one of those
    that close a part of it; ``url`` is one that it may not fetch. Who heeds no file may fetch
    everything whatever the file says: ``extent`` is what it says. ``may_enter`` is whether it may
    fetch the start page.
    """

    crawler: Crawler
    extent: Extent
    is_named: bool
    rule: Rule | None
    url: str | None
    is_proved: bool = True
    may_enter: bool = True

    @property
    def how(self) -> str:
        """How the crawler comes to it, in words."""
        if self.crawler.heeds is Heeds.OWN_GROUPS and not self.is_named:
            return "heeds no group for everybody"
        if self.crawler.heeds is Heeds.NOTHING:
            return "does not read the file"
        how = "by name" if self.is_named else "as everybody"
        is_partly_out = self.extent is Extent.SOME and not self.may_enter
        return f"{how}, not the start page" if is_partly_out else how


@dataclass(frozen=True, slots=True)
class Audit:
    """What a file says to all known crawlers."""

    verdicts: tuple[Verdict, ...]
    preferences: tuple[Preference, ...]
    licenses: tuple[str, ...]
    sitemaps: tuple[str, ...]

    def of(self, purpose: Purpose) -> tuple[Verdict, ...]:
        """Return the verdicts on crawlers with a purpose."""
        return tuple(each for each in self.verdicts if each.crawler.purpose is purpose)

    @property
    def purposes(self) -> tuple[Purpose, ...]:
        """The purposes that there are crawlers for."""
        return tuple(purpose for purpose in Purpose if self.of(purpose))

    @property
    def summary(self) -> str:
        """Who may and who may not, in a sentence."""
        parts = [_told(purpose, self.of(purpose)) for purpose in _SPOKEN_OF if self.of(purpose)]
        sentence = "; ".join(parts)
        return sentence[:1].upper() + sentence[1:] + "."


def audit(
    robots: RobotsTxt, crawlers: Iterable[Crawler] | None = None, budget: Budget | None = None
) -> Audit:
    """Return what a file says to crawlers: all known ones, if none are given.

    Raises:
        MissingExtraError: none are given, and the registry is not installed.
    """
    budget = budget or Budget()
    verdicts = tuple(
        _verdict(robots, crawler, budget) for crawler in (known() if crawlers is None else crawlers)
    )
    preferences = {
        (each.line, each.key): each
        for name in ("*", *(verdict.crawler.token for verdict in verdicts if verdict.is_named))
        for each in robots.rules_for(name).preferences
    }
    return Audit(verdicts, tuple(preferences.values()), robots.licenses, robots.sitemaps)


def _verdict(robots: RobotsTxt, crawler: Crawler, budget: Budget) -> Verdict:
    rules = robots.rules_for(crawler.token)
    if crawler.heeds is Heeds.OWN_GROUPS and not rules.is_named:
        return Verdict(crawler, Extent.NONE, False, None, None)
    found = classify(rules, budget)
    rule = rules.decide(found.disallowed).rule if found.disallowed else None
    return Verdict(
        crawler,
        found.extent,
        rules.is_named,
        rule,
        found.disallowed,
        found.is_proved,
        rules.allowed("/"),
    )


def _told(purpose: Purpose, verdicts: tuple[Verdict, ...]) -> str:
    """Say in some words who of a purpose may."""
    counted = Counter(each.extent for each in verdicts)
    open_to = counted[Extent.NONE] + counted[Extent.SOME]
    total = len(verdicts)
    if counted[Extent.ALL] == 0:
        partly = " in part" if counted[Extent.SOME] > counted[Extent.NONE] else ""
        return f"{purpose} may{partly}"
    if open_to == 0:
        return f"{purpose} may not"
    if open_to <= counted[Extent.ALL]:
        names = [each.crawler.token for each in verdicts if each.extent is not Extent.ALL]
        told = f"{open_to} of {total} {purpose} crawlers are not covered"
        return f"{purpose} may not, but {told}: {_names(names)}"
    names = [each.crawler.token for each in verdicts if each.extent is Extent.ALL]
    return f"{purpose} may, but for {len(names)} of {total}: {_names(names)}"


def _names(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")

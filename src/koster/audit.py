"""Who may: the known crawlers against a robots.txt, by what they fetch pages for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .analysis import Budget, Extent, classify, likely_urls
from .crawlers import Obeys, Purpose, known

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .analysis import Classification
    from .crawlers import Crawler
    from .directives import Preference
    from .model import Rule
    from .robots import RobotsTxt, Rules

__all__ = ["Audit", "Verdict", "audit"]

#: What the summary speaks of.
_SPOKEN_OF = (
    *(Purpose.SEARCH, Purpose.AI_SEARCH, Purpose.USER_FETCH, Purpose.TRAINING, Purpose.DATASET),
)
#: Those whose operators do not say that they obey the file, or are not believed.
_DOUBTFUL = (Obeys.UNDOCUMENTED, Obeys.DISPUTED)
#: So many names stand in the summary.
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a crawler may not fetch: all, some or none of the site.

    ``extent`` is what holds: none for who obeys no group that the file has for it. ``is_named``: a
    group names it. ``rule`` is the one that closes the site to it, or the widest of those that
    close a part of it, ``closing`` how many of these there are; ``url`` is one that it may not
    fetch. ``may_enter`` is whether it may fetch the start page.
    """

    crawler: Crawler
    extent: Extent
    is_named: bool
    rule: Rule | None = None
    url: str | None = None
    is_proved: bool = True
    may_enter: bool = True
    closing: int = 0

    @property
    def how(self) -> str:
        """How the crawler comes to it, in words."""
        if self.crawler.obeys is Obeys.NOTHING:
            return "does not read the file"
        if self.crawler.obeys is Obeys.OWN_GROUPS and not self.is_named:
            return "not named; obeys no *"
        how = "by name" if self.is_named else "by *"
        is_partly_out = self.extent is Extent.SOME and not self.may_enter
        return f"{how}, not the start page" if is_partly_out else how

    @property
    def line(self) -> str:
        """The line that decides, and how many more do so."""
        if self.rule is None:
            return ""
        more = f" (and {self.closing - 1} more)" if self.closing > 1 else ""
        return f"{self.rule.line}: {self.rule}{more}"


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
        said = ", ".join(dict.fromkeys(f"{each.key}={each.value}" for each in self.preferences))
        stated = f" The file states {said}." if said else ""
        return f"{sentence[:1].upper()}{sentence[1:]}.{stated}"


def audit(
    robots: RobotsTxt, crawlers: Iterable[Crawler] | None = None, budget: Budget | None = None
) -> Audit:
    """Return what a file says to crawlers: all known ones, if none are given.

    Raises:
        MissingExtraError: none are given, and the registry is not installed.
    """
    judge = _Judge(robots, budget or Budget())
    verdicts = tuple(map(judge.verdict, known() if crawlers is None else crawlers))
    preferences = {
        (each.line, each.key): each
        for name in ("*", *(verdict.crawler.token for verdict in verdicts if verdict.is_named))
        for each in robots.rules_for(name).preferences
    }
    return Audit(verdicts, tuple(preferences.values()), robots.licenses, robots.sitemaps)


class _Judge:
    """Finds what crawlers may; those that have the same rules are judged once."""

    def __init__(self, robots: RobotsTxt, budget: Budget) -> None:
        self._robots = robots
        self._budget = budget
        self._found: dict[tuple[int, ...], tuple[Classification, Rule | None, int, bool]] = {}

    def verdict(self, crawler: Crawler) -> Verdict:
        """Return what a crawler may not fetch."""
        rules = self._robots.rules_for(crawler.token)
        is_bound = crawler.obeys is not Obeys.NOTHING and (
            crawler.obeys is not Obeys.OWN_GROUPS or rules.is_named
        )
        if not is_bound:
            return Verdict(crawler, Extent.NONE, rules.is_named)
        key = rules.group_lines
        if key not in self._found:
            self._found[key] = self._judged(rules)
        found, rule, closing, may_enter = self._found[key]
        return Verdict(
            crawler,
            found.extent,
            rules.is_named,
            rule,
            found.disallowed,
            found.is_proved,
            may_enter,
            closing,
        )

    def _judged(self, rules: Rules) -> tuple[Classification, Rule | None, int, bool]:
        """Return how much is closed, by which rule and how many, and whether one may enter."""
        found = classify(rules, self._budget)
        rule = found.rule
        if found.extent is not Extent.SOME or rule is None:
            return found, rule, int(rule is not None), rules.allowed("/")
        urls = likely_urls(rules)
        closing = [
            each
            for group in rules.groups
            for each in group.rules
            if not each.allow and each.line in urls
        ] or [rule]
        widest = min(closing, key=lambda each: (len(each.pattern.rstrip("*$")), each.line))
        url = urls.get(widest.line, found.disallowed)
        found = replace(found, disallowed=url)
        return found, widest, len(closing), rules.allowed("/")


def _told(purpose: Purpose, verdicts: tuple[Verdict, ...]) -> str:
    """Say in some words who of a purpose may."""
    counted = Counter(each.extent for each in verdicts)
    open_to = counted[Extent.NONE] + counted[Extent.SOME]
    total = len(verdicts)
    partly = " in part" if counted[Extent.SOME] > counted[Extent.NONE] else ""
    if counted[Extent.ALL] == 0:
        return f"{purpose} may{partly}"
    if open_to == 0:
        doubtful = sum(each.crawler.obeys in _DOUBTFUL for each in verdicts)
        doubt = f" (whether {doubtful} of {total} obey it is open)" if doubtful else ""
        return f"{purpose} may not{doubt}"
    if open_to <= counted[Extent.ALL]:
        names = [each.crawler.token for each in verdicts if each.extent is not Extent.ALL]
        told = f"{open_to} of {total} {purpose} crawlers are not covered"
        return f"{purpose} may not, but {told}: {_names(names)}"
    names = [each.crawler.token for each in verdicts if each.extent is Extent.ALL]
    return f"{purpose} may{partly}, but for {len(names)} of {total}: {_names(names)}"


def _names(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")

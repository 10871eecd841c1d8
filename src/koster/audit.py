"""Audit: what known crawlers may fetch, by purpose."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .analysis import Budget, Extent, classify, likely_urls
from .crawlers import Obeys, Purpose, known
from .robots import rules_for_data

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .analysis import Classification
    from .crawlers import Crawler
    from .directives import Preference
    from .model import Rule
    from .robots import RobotsTxt, Rules

__all__ = ["Audit", "Verdict", "audit"]

#: The purposes in the summary.
_SUMMARY_PURPOSES = (
    *(Purpose.SEARCH, Purpose.AI_SEARCH, Purpose.USER_FETCH, Purpose.TRAINING, Purpose.DATASET),
)
#: Crawlers that may ignore the file.
_DOUBTFUL = (Obeys.MAY_IGNORE, Obeys.UNDOCUMENTED, Obeys.DISPUTED)
#: Maximum number of names per purpose in the summary.
_MAX_NAMES = 5


@dataclass(frozen=True, slots=True)
class Verdict:
    """How much of the site is blocked for a crawler: all, some or none.

    ``extent`` takes into account what the crawler obeys: none if it ignores the file's groups.
    ``named_as`` is its token, or the token that it falls back to, if a group has it. ``rule`` is
    the rule that blocks the site, or the widest one that blocks a part of it, ``closing`` the
    number of such rules; ``url`` is a blocked URL.
    ``may_enter`` is whether the start page is allowed.
    """

    crawler: Crawler
    extent: Extent
    named_as: str | None
    rule: Rule | None = None
    url: str | None = None
    is_proved: bool = True
    may_enter: bool = True
    closing: int = 0

    @property
    def is_named(self) -> bool:
        """Whether a group names the crawler, or a token that it falls back to."""
        return self.named_as is not None

    @property
    def falls_back_to(self) -> str | None:
        """The token that it falls back to, if no group has its own but one has that."""
        return self.named_as if self.named_as != self.crawler.token else None

    @property
    def how(self) -> str:
        """Why the crawler has this verdict, in words."""
        if self.crawler.obeys is Obeys.NOTHING:
            return "ignores the file"
        if self.crawler.obeys is Obeys.OWN_GROUPS and not self.is_named:
            return "not named; ignores *"
        how = "by name" if self.is_named else "by *"
        if self.falls_back_to is not None:
            how = f"falls back to {self.falls_back_to}"
        is_start_page_blocked = self.extent is Extent.SOME and not self.may_enter
        return f"{how}, not the start page" if is_start_page_blocked else how

    @property
    def line(self) -> str:
        """The rule that decides with its line, and the number of further ones."""
        if self.rule is None:
            return ""
        more = f" (and {self.closing - 1} more)" if self.closing > 1 else ""
        return f"{self.rule.line}: {self.rule}{more}"


@dataclass(frozen=True, slots=True)
class Audit:
    """The audit of a file for known crawlers."""

    verdicts: tuple[Verdict, ...]
    preferences: tuple[Preference, ...]
    licenses: tuple[str, ...]
    sitemaps: tuple[str, ...]

    def of(self, purpose: Purpose) -> tuple[Verdict, ...]:
        """Return the verdicts on crawlers with a purpose."""
        return tuple(each for each in self.verdicts if each.crawler.purpose is purpose)

    @property
    def purposes(self) -> tuple[Purpose, ...]:
        """The purposes that have crawlers."""
        return tuple(purpose for purpose in Purpose if self.of(purpose))

    @property
    def summary(self) -> str:
        """A summary by purpose, in one or two sentences."""
        parts = [
            _summarize(purpose, self.of(purpose))
            for purpose in _SUMMARY_PURPOSES
            if self.of(purpose)
        ]
        sentence = "; ".join(parts)
        preferences = ", ".join(
            dict.fromkeys(f"{each.key}={each.value}" for each in self.preferences)
        )
        stated = f" The file states {preferences}." if preferences else ""
        return f"{sentence[:1].upper()}{sentence[1:]}.{stated}"


def audit(
    robots: RobotsTxt, crawlers: Iterable[Crawler] | None = None, budget: Budget | None = None
) -> Audit:
    """Audit a file for some crawlers; default: all known ones.

    Raises:
        MissingExtraError: none are given, and the registry is not installed.
    """
    auditor = _Auditor(robots, budget or Budget())
    verdicts = tuple(map(auditor.verdict, known() if crawlers is None else crawlers))
    preferences = {
        (each.line, each.key): each
        for name in ("*", *(verdict.named_as for verdict in verdicts if verdict.named_as))
        for each in rules_for_data(robots, name).preferences
    }
    return Audit(verdicts, tuple(preferences.values()), robots.licenses, robots.sitemaps)


class _Auditor:
    """Computes verdicts; crawlers with the same rules share the work."""

    def __init__(self, robots: RobotsTxt, budget: Budget) -> None:
        self._robots = robots
        self._budget = budget
        self._found: dict[tuple[int, ...], tuple[Classification, Rule | None, int, bool]] = {}

    def verdict(self, crawler: Crawler) -> Verdict:
        rules = rules_for_data(self._robots, crawler.tokens)
        obeys_file = crawler.obeys is not Obeys.NOTHING and (
            crawler.obeys is not Obeys.OWN_GROUPS or rules.is_named
        )
        if not obeys_file:
            return Verdict(crawler, Extent.NONE, rules.named_as)
        key = rules.group_lines
        if key not in self._found:
            self._found[key] = self._classify(rules)
        found, rule, closing, may_enter = self._found[key]
        return Verdict(
            crawler,
            found.extent,
            rules.named_as,
            rule,
            found.disallowed,
            found.is_proved,
            may_enter,
            closing,
        )

    def _classify(self, rules: Rules) -> tuple[Classification, Rule | None, int, bool]:
        """Return the classification, widest rule, number of rules, and whether / is allowed."""
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


def _summarize(purpose: Purpose, verdicts: tuple[Verdict, ...]) -> str:
    counts = Counter(each.extent for each in verdicts)
    open_to = counts[Extent.NONE] + counts[Extent.SOME]
    total = len(verdicts)
    access = "partly blocked" if counts[Extent.SOME] > counts[Extent.NONE] else "allowed"
    if counts[Extent.ALL] == 0:
        return f"{purpose}: {access}"
    if open_to == 0:
        doubtful = sum(each.crawler.obeys in _DOUBTFUL for each in verdicts)
        doubt = f" ({doubtful} of {total} crawlers may ignore it)" if doubtful else ""
        return f"{purpose}: blocked{doubt}"
    if open_to <= counts[Extent.ALL]:
        names = [each.crawler.token for each in verdicts if each.extent is not Extent.ALL]
        return f"{purpose}: blocked, except {open_to} of {total} ({_names(names)})"
    names = [each.crawler.token for each in verdicts if each.extent is Extent.ALL]
    return f"{purpose}: {access}, but blocked for {len(names)} of {total} ({_names(names)})"


def _names(names: list[str]) -> str:
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")

"""Compose a robots.txt from its author's intentions, naming the crawlers of the registry.

A crawler obeys only the groups that name it, so every group has all rules for its crawlers: a new
one repeats what its crawlers had in the old file, and the paths blocked for everybody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .._asking import rules_for_data
from ..analysis import Budget, Extent, classify
from ..crawlers import Obeys, Purpose, agent_for, known
from ..decisions import Decision
from ..diff import Comparison, compare
from ..robots import RobotsTxt, Rules, parse
from ._closed import left_open
from ._intentions import ALLOW, DISALLOW, Intentions
from ._keeping import Keeper, blocks_of
from ._settings import Settings

#: A page that no rule is about.
_ANY_PAGE = "/7d1c-any/page"

#: Patterns that match every path.
_EVERYTHING = re.compile(r"\**/|\**/?\*+\$?")

_REASONS = {
    Purpose.SEARCH: "search engines, which bring visitors",
    Purpose.AI_SEARCH: "assistants that search, cite and link",
    Purpose.USER_FETCH: "pages that a person asked an assistant for",
    Purpose.TRAINING: "crawlers that collect pages to train models",
    Purpose.DATASET: "crawlers whose collections others train on or buy",
    Purpose.ARCHIVE: "archives",
    Purpose.PREVIEW: "previews of shared links",
    Purpose.ADS: "checks of pages that advertisements lead to",
    Purpose.SEO: "crawlers that sell what links where",
    Purpose.TOOL: "software that anybody may run, and services that check a site for its owner",
}

#: A group that blocks nothing.
_NO_RULES = ["Disallow:"]

#: Steps to compare the files before and after.
_MAX_STEPS = 1_000_000


@dataclass(frozen=True, slots=True)
class Composed:
    """The composed file, and its changes to the original one.

    ``left_open`` are URLs on closed paths that existing, wider rules still allow. There may be
    more if not ``found_all``: the file is too large to look at all its rules.
    """

    body: bytes
    changes: Comparison
    left_open: tuple[Decision, ...] = ()
    found_all: bool = True


def compose(intentions: Intentions, keep: bytes = b"") -> Composed:
    """Compose a robots.txt.

    Args:
        intentions: The author's intentions.
        keep: An existing file; everything that does not contradict the intentions stays.

    Raises:
        MissingExtraError: the registry of crawlers is not installed.
    """
    old = parse(keep)
    groups = _crawler_groups(intentions, old)
    moving = {name.lower() for group in groups for name in group.moving}
    if intentions.others is not None:
        moving.add("*")
    blocks, end = blocks_of(old)
    writer = _Writer(intentions, old)
    out = [line for block in blocks for line in writer.keeper.lines_of(block, moving)]
    for group in groups:
        out += writer.groups_for(group)
    if intentions.others is not None or not any(block.is_star_group for block in blocks):
        out += writer.star_group()
    have = set(old.sitemaps)
    sitemaps = [each for each in dict.fromkeys(intentions.sitemaps) if each not in have]
    below = ["", *writer.keeper.lines_of(end, moving), *(f"Sitemap: {each}" for each in sitemaps)]
    # In this file, crawlers that ignore * have the rules that they are to have.
    same = parse(_join_lines([*out, *below]))
    body = _join_lines([*out, *writer.group_for_star_ignoring(moving, same), *below])
    if b"\r\n" in keep and keep.count(b"\n") == keep.count(b"\r\n"):
        body = body.replace(b"\n", b"\r\n")
    changes = compare(old, parse(body), [each.token for each in known()], Budget(_MAX_STEPS))
    return Composed(body, changes, *left_open(same, intentions.closed, intentions.opened))


@dataclass(frozen=True, slots=True)
class _CrawlerGroup:
    """Crawlers with the same intention; ``moving`` are those that need a new group."""

    title: str
    wanted: str
    names: tuple[str, ...]
    moving: tuple[str, ...]


def _crawler_groups(intentions: Intentions, old: RobotsTxt) -> list[_CrawlerGroup]:
    """Return the crawlers by intention; those that already comply keep their group."""
    intended = [
        (
            f"{_capital(purpose)} ({_REASONS[purpose]})",
            wanted,
            _tokens_for(purpose, intentions),
        )
        for purpose, wanted in intentions.purposes.items()
    ]
    for wanted in (ALLOW, DISALLOW):
        names = [name for name, each in intentions.names.items() if each == wanted]
        intended.append(("By name", wanted, names))
    wanted_of = {name.lower(): wanted for _, wanted, names in intended for name in names}
    needs_names = _needs_names(intentions, old)
    # Most crawlers have the same groups.
    known: dict[tuple[str, tuple[int, ...]], bool] = {}
    budget = Budget()

    def moves(name: str, wanted: str) -> bool:
        rules = rules_for_data(old, agent_for(name))
        fallbacks = {wanted_of.get(each.lower(), wanted) for each in _fallbacks_of(name)}
        if fallbacks - {wanted} and not rules_for_data(old, name).is_named:
            return True
        if not rules.is_named:
            return wanted == DISALLOW or needs_names
        key = wanted, rules.group_lines
        if key not in known:
            known[key] = _complies(rules, wanted, budget)
        return not known[key]

    return [
        _CrawlerGroup(
            title,
            wanted,
            tuple(names),
            tuple(name for name in names if moves(name, wanted)),
        )
        for title, wanted, names in intended
    ]


def _complies(rules: Rules, wanted: str, budget: Budget) -> bool:
    """Return whether rules are proved to be what the author wants of a crawler."""
    if wanted == ALLOW:
        return not _blocks_site(rules)
    found = classify(rules, budget)
    return found.is_proved and found.extent is Extent.ALL


def _fallbacks_of(name: str) -> tuple[str, ...]:
    """Return the names whose groups a crawler obeys if no group names it."""
    agent = agent_for(name)
    return () if isinstance(agent, str) else agent[1:]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _tokens_for(purpose: Purpose, intentions: Intentions) -> list[str]:
    """Return the tokens of known crawlers with a purpose, except those named individually."""
    named = {name.lower() for name in intentions.names}
    return [
        each.token
        for each in known()
        if each.purpose is purpose and each.token.lower() not in named
    ]


def _blocks_site(rules: Rules) -> bool:
    """Return whether rules block a site, possibly except some pages."""
    if rules.allowed(_ANY_PAGE):
        return False
    patterns = (rule.pattern for group in rules.groups for rule in group.rules if not rule.allow)
    return any(_EVERYTHING.fullmatch(pattern) for pattern in patterns)


def _join_lines(lines: Sequence[str]) -> bytes:
    """Return lines as a file, with consecutive blank lines merged."""
    found: list[str] = []
    for line in lines:
        if line or (found and found[-1]):
            found.append(line)
    while found and not found[-1]:
        found.pop()
    return "".join(f"{line}\n" for line in found).encode("utf-8", "surrogateescape")


def _needs_names(intentions: Intentions, old: RobotsTxt) -> bool:
    """Return whether allowed crawlers must be named, because ``*`` is blocked."""
    return intentions.others == DISALLOW or (
        intentions.others is None and _blocks_site(old.rules_for("*"))
    )


class _Writer:
    """Writes the groups of a new file, with what its crawlers had in the old one."""

    def __init__(self, intentions: Intentions, old: RobotsTxt) -> None:
        self._intentions = intentions
        self._old = old
        self._settings = Settings(intentions, old)
        self.keeper = Keeper(intentions, self._settings)
        self._star_rules = old.rules_for("*")
        #: By the lines where the groups in the old file begin: most crawlers have the same ones.
        self._rules: dict[tuple[int, ...], list[str]] = {}

    def groups_for(self, group: _CrawlerGroup) -> Iterator[str]:
        """Yield the lines of groups for crawlers with the same intention."""
        access = "blocked" if group.wanted == DISALLOW else "allowed"
        # Most crawlers have the same rules, of which there may be many.
        by_old: dict[object, list[str]] = {}
        by_new: dict[tuple[str, ...], list[str]] = {}
        for name in group.moving:
            rules = rules_for_data(self._old, agent_for(name))
            old = None if group.wanted == DISALLOW else (rules.group_lines, rules.named_as)
            if old not in by_old:
                lines = ["Disallow: /"] if old is None else self._lines_for(rules)
                by_old[old] = by_new.setdefault(tuple(lines), [])
            by_old[old].append(name)
        for lines_of_group, names in by_new.items():
            yield from _group(f"{group.title}: {access}.", names, lines_of_group)

    def star_group(self) -> list[str]:
        """Return the lines of the group for ``*``, if it is needed."""
        rules = self._star_rules
        if self._intentions.others == DISALLOW:
            lines = ["Disallow: /", *self._settings.signals_for(rules)]
            return _group("All other crawlers: blocked.", ["*"], lines)
        lines = self._lines_for(rules)
        if self._intentions.others == ALLOW:
            return _group("All other crawlers: allowed.", ["*"], lines)
        return [] if lines == _NO_RULES else _group("All other crawlers.", ["*"], lines)

    def _lines_for(self, rules: Rules) -> list[str]:
        """Return the lines below the names in a new group, for crawlers that had some rules."""
        return [*self._rules_for(rules), *self._settings.lines_for(rules)]

    def _rules_for(self, rules: Rules) -> list[str]:
        """Return the rules of a new group."""
        key = rules.group_lines
        if key not in self._rules:
            # Also those for *, which apply to a crawler that was blocked by name.
            kept = [line for each in (rules, self._star_rules) for line in self._kept_rules(each)]
            lines = list(dict.fromkeys([*kept, *self._intentions.path_rules]))
            # Without a rule, the group would merge with the next one.
            self._rules[key] = lines or _NO_RULES
        return self._rules[key]

    def _kept_rules(self, rules: Rules) -> list[str]:
        """Return rules of the old file, except those that block the site."""
        blocks_site = _blocks_site(rules)
        return [
            str(rule)
            for group in rules.groups
            for rule in group.rules
            if rule.pattern
            and not (blocks_site and not rule.allow and _EVERYTHING.fullmatch(rule.pattern))
            and not self.keeper.contradictions.has(rule.directive, rule.pattern)
        ]

    def group_for_star_ignoring(self, taken: set[str], same: RobotsTxt) -> list[str]:
        """Return a group for crawlers that ignore ``*``, so that they obey closed paths.

        ``same`` is the new file without it: the group repeats what is there for ``*``.
        """
        if self._intentions.others != DISALLOW and not self._intentions.path_rules:
            return []
        names = [
            each.token
            for each in known()
            if each.obeys is Obeys.OWN_GROUPS
            and taken.isdisjoint(token.lower() for token in each.tokens)
            and not rules_for_data(self._old, each.tokens).is_named
        ]
        rules = same.rules_for("*")
        if self._intentions.others is None and _blocks_site(rules):
            # They would be blocked from the whole site, which nobody asked for.
            return []
        lines = [str(rule) for group in rules.groups for rule in group.rules if rule.pattern]
        lines = list(dict.fromkeys([*lines, *self._settings.lines_for(rules)]))
        return _group("These crawlers ignore the * group.", names, lines) if names else []


def _group(comment: str, names: Sequence[str], lines: Sequence[str]) -> list[str]:
    return ["", f"# {comment}", *(f"User-agent: {name}" for name in names), *lines, ""]

"""Checks of groups without rules: only a rule ends a group, so they are joined with the next one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from .._wording import joined
from ..analysis import EVERYBODY, Extent
from ..crawlers import Purpose
from ..model import RULES, Directive, Line, LineKind
from ._checks import ERROR, WARNING, check
from ._directives import intended_directive
from ._model import CheckedFile, Edit, GroupLines, Remark, listed, truncate
from ._names import known_crawlers

#: Maximum numbers of rules, and of their characters, in a suggestion.
MAX_REPEATED = 20
_MAX_REPEATED_TEXT = 4_000
#: Maximum number of groups that a suggestion separates.
_MAX_SEPARATED = 200

#: The lines between two User-agent lines, the most telling kind first.
_TELLING = (LineKind.DIRECTIVE, LineKind.UNKNOWN, LineKind.MALFORMED, LineKind.COMMENT)
_RULE_NAMES = {str(each): each for each in RULES}


class Gap(NamedTuple):
    """What stands between two User-agent lines of a group, and does not end it.

    ``line`` is the most telling of its lines; a missing rule belongs below ``last``: the comments
    after that are about the next User-agent line.
    """

    line: Line
    last: Line

    @property
    def is_setting(self) -> bool:
        """Whether it says something about the crawlers above, or was meant to."""
        return self.line.kind not in (LineKind.COMMENT, LineKind.BLANK)

    def __str__(self) -> str:
        """Return its name at the start of a sentence."""
        number = self.line.number
        if self.line.directive is not None:
            return f"{self.line.directive} in line {number}"
        if self.line.kind is LineKind.UNKNOWN:
            return f'"{truncate(self.line.key)}" in line {number}'
        names = {LineKind.BLANK: "A blank line", LineKind.COMMENT: "A comment"}
        return names.get(self.line.kind, f"Line {number}")


class Joined(NamedTuple):
    """Groups without rules that are joined with the next one.

    ``agents`` are the names of the groups without rules, ``gaps`` what follows each of these;
    ``second`` is the first name of the group with the ``rules``.
    """

    agents: list[Line]
    gaps: list[Gap]
    second: Line
    rules: list[Line]
    blocks_all: bool


def joined_groups(subject: CheckedFile) -> list[Joined]:
    """Return the groups without rules, if the rules of the next group have an effect."""
    return subject.once("joined groups", lambda: list(_joined_groups(subject)))


def _joined_groups(subject: CheckedFile) -> Iterator[Joined]:
    for group in subject.groups:
        rules = [line for line in group.rules if line.value]
        gaps = _gaps(subject, group) if rules else {}
        # A list of names may have comments in it. What it says about crawlers tells more.
        gaps = {index: gap for index, gap in gaps.items() if gap.is_setting} or gaps
        if not gaps:
            continue
        start = max(gaps)
        second = group.agents[start]
        own = {agent.value.lower() for agent in group.agents[start:]}
        agents = [
            agent
            for agent in group.agents[:start]
            if agent.value and agent.value.lower() not in own
        ]
        if agents and second.value:
            blocks_all = _blocks_all(subject, agents[0], rules)
            yield Joined(agents, list(gaps.values()), second, rules, blocks_all)


def _gaps(subject: CheckedFile, group: GroupLines) -> dict[int, Gap]:
    """Return what stands between the User-agent lines, by the index of the one below it."""
    found = {}
    for index, (above, following) in enumerate(itertools.pairwise(group.agents), 1):
        between = subject.lines[above.number : following.number - 1]
        if between:
            telling = [each for kind in _TELLING for each in between if each.kind is kind]
            settings = [each for each in between if each.kind in _TELLING[:3]]
            found[index] = Gap((telling or between)[0], (settings or [above])[-1])
    return found


def _blocks_all(subject: CheckedFile, agent: Line, rules: list[Line]) -> bool:
    """Return whether the rules of a group block the whole site for an agent."""
    if not any(rule.value.strip("/*") == "" for rule in rules):
        return False
    if all(rule.directive is Directive.DISALLOW for rule in rules):
        return True
    found = subject.analysis.rules_for(agent.value)
    return found is not None and subject.extent(found).extent is Extent.ALL


def blocked_by_accident(subject: CheckedFile) -> dict[str, Joined]:
    """Return the groups without rules that the next one blocks, by the names that need the site.

    These are ``*``, unless the next group is for it, and the search engines: all that are known, if
    the next group blocks all others.
    """
    engines = {EVERYBODY, *map(str.lower, subject.crawlers)}
    known = {name for name, each in known_crawlers().items() if Purpose.SEARCH in each.purposes}
    return {
        agent.value.lower(): each
        for each in joined_groups(subject)
        if each.blocks_all
        for agent in each.agents
        if agent.value.lower() in engines
        or (each.second.value == EVERYBODY and agent.value.lower() in known)
    }


@check("G015", "closed-by-accident", ERROR, "A group without rules is joined with one that blocks the whole site",
    why="Only Allow and Disallow end a group. In `User-agent: * / Sitemap: … / User-agent: GPTBot / Disallow: /` all crawlers are blocked, search engines included. Comments, blank lines and unknown directives do not end a group either.",
    example="User-agent: *\nSitemap: https://e.com/s.xml\n\nUser-agent: FooBot\nDisallow: /\n",
    fix="User-agent: *\nDisallow:\nSitemap: https://e.com/s.xml\n\nUser-agent: FooBot\nDisallow: /\n",
    source="RFC 9309 §2.2.1, §2.2.4")  # fmt: skip
def closed_by_accident(subject: CheckedFile) -> Iterator[Remark]:
    """Find search engines, and all crawlers, that are blocked together with others by accident."""
    for name, each in blocked_by_accident(subject).items():
        agent = next(line for line in each.agents if line.value.lower() == name)
        part = _up_to(each, agent)
        who = listed([agent.value])
        others = _names([each.second])
        correction = _correction(subject, part, who)
        if correction:
            suggestion, proposal = correction
        else:
            suggestion = f"Write an empty Disallow: {_below(part)}, which allows the site for {who}"
            proposal = _separation(subject, part, "Disallow:")
        verb = "are" if name == EVERYBODY else "is"
        yield Remark(
            subject.value(agent),
            f"{part.gaps[-1]} does not end the group: {who} {verb} blocked together with {others}",
            suggestion,
            proposal=proposal,
        )


def _correction(
    subject: CheckedFile, each: Joined, who: str
) -> tuple[str, tuple[Edit, ...]] | None:
    """Return how to correct a misspelled rule, if that ends the group and opens the site."""
    line = each.gaps[-1].line
    rule = _RULE_NAMES.get(intended_directive(line.key) or "")
    if line.kind is not LineKind.UNKNOWN or rule is None:
        return None
    blocks = rule is Directive.DISALLOW and line.value
    if blocks and not line.value.strip("/*$"):
        return None
    at = max(line.text.find(line.key), 0)
    effect = (
        f"only {truncate(line.value)} is then blocked" if blocks else "the site is then allowed"
    )
    edits = (subject.edit(line, at, len(line.key), str(rule)),)
    return f"Write {rule} in line {line.number}, which ends the group: {effect} for {who}", edits


@check("G003", "joined-groups", WARNING, "A line between two User-agent lines does not end the group",
    why="Only Allow and Disallow do. In `User-agent: A / Crawl-delay: 5 / User-agent: B / Disallow: /` the rule also applies to A.",
    example="User-agent: FooBot\nCrawl-delay: 5\nUser-agent: BarBot\nDisallow: /\n",
    fix="User-agent: FooBot\nDisallow:\nCrawl-delay: 5\nUser-agent: BarBot\nDisallow: /\n",
    source="RFC 9309 §2.2.1, §2.2.4")  # fmt: skip
def joined_with_the_next(subject: CheckedFile) -> Iterator[Remark]:
    """Find groups without rules that get those of the next group."""
    accidents = blocked_by_accident(subject)
    for each in joined_groups(subject):
        # Names that follow one another are a list, even with comments between them. Nobody lists
        # "*" with others.
        is_list = not each.gaps[-1].is_setting and EVERYBODY not in [
            line.value for line in each.agents
        ]
        if is_list or each in accidents.values():
            continue
        if each.blocks_all:
            suggestion = f"Write an empty Disallow: {_below(each)} if {_names(each.agents)} should be allowed"
            added = ["Disallow:"]
        else:
            suggestion = f"Repeat the rules {_below(each)} if that is intended, else write an empty Disallow: there, which allows the site for {_names(each.agents)}"
            added = [line.text for line in each.rules]
        yield Remark(
            subject.value(each.second),
            f"{each.gaps[-1]} does not end the group: the rules below also apply to {_names(each.agents)}",
            suggestion,
            proposal=_separation(subject, each, *added) if are_few(added) else (),
        )


def are_few(lines: list[str]) -> bool:
    """Return whether a suggestion may repeat some lines, perhaps for each of many groups."""
    return len(lines) <= MAX_REPEATED and sum(map(len, lines)) <= _MAX_REPEATED_TEXT


def _names(agents: list[Line]) -> str:
    return listed([line.value for line in agents])


def _below(each: Joined) -> str:
    """Return where missing rules belong: ``below lines 2 and 5``."""
    numbers = [str(gap.last.number) for gap in each.gaps]
    if len(numbers) == 1:
        return f"below line {numbers[0]}"
    if len(numbers) > MAX_REPEATED:
        return f"below each {each.gaps[0].line.directive or 'name'}"
    return f"below lines {joined(numbers)}"


def _up_to(each: Joined, agent: Line) -> Joined:
    """Return joined groups without those after the one of an agent."""
    end = next(index for index, gap in enumerate(each.gaps) if gap.last.number >= agent.number)
    return each._replace(gaps=each.gaps[: end + 1])


def _separation(subject: CheckedFile, each: Joined, *rules: str) -> tuple[Edit, ...]:
    """Return the edits that give joined groups their own rules; none if there are very many."""
    if len(each.gaps) > _MAX_SEPARATED:
        return ()
    return tuple(subject.insertion(gap.last, *rules) for gap in each.gaps)

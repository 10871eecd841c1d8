"""Checks of groups and their names."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator

from ..analysis import letters_of
from ..dialects import EXTENDED2, Names
from ..model import RULES, Directive, Line
from ..robots import parse
from ._checks import ERROR, NOTE, WARNING, check
from ._managed import managed_lines
from ._model import WHOLE_FILE, CheckedFile, Edit, GroupLines, Remark, first_names, truncate
from ._names import is_tool

#: The versions that the engine accepts.
_ROBOT_VERSION = re.compile(r"0*([0-9]{1,9})\.([0-9]+)(?:\.[0-9]+)?")
#: Maximum number of names without rules to find other groups for: it takes time for each.
_MAX_AGENTS = 5_000


@check("G001", "rule-before-group", ERROR, "A rule comes before the first User-agent line",
    why="It belongs to no group: crawlers ignore it.",
    example="Disallow: /a\nUser-agent: *\nDisallow: /b\n",
    fix="Sitemap: https://e.com/s.xml\nUser-agent: *\nDisallow: /b\n",
    source="RFC 9309 §2.2.1")  # fmt: skip
def orphans(subject: CheckedFile) -> Iterator[Remark]:
    before, _ = subject.lines_by_group
    rules = [line for line in before if line.directive in RULES]
    if rules:
        count = len(rules)
        which = "Rule" if count == 1 else f"{count:,} rules"
        verb = "crawlers ignore it" if count == 1 else "crawlers ignore them"
        yield Remark(
            subject.text(rules[0]),
            f"{which} before the first User-agent line: {verb}",
            f"Write User-agent: * above: {'it then applies' if count == 1 else 'they then apply'} to all other crawlers",
            proposal=(subject.edit(rules[0], 0, 0, "User-agent: *\n"),),
        )


@check("G002", "group-without-rules", WARNING, "A group has no rules",
    why="Everything is allowed for the crawlers it names, because the * rules do not apply to them.",
    example="User-agent: Foo\nDisallow: /\nUser-agent: Bar\n",
    fix="User-agent: *\nDisallow: /\nUser-agent: *\nCrawl-delay: 10\n",
    source="RFC 9309 §2.2.1")  # fmt: skip
def no_rules(subject: CheckedFile) -> Iterator[Remark]:
    """Find groups without rules, if the rules for ``*`` would apply otherwise or nothing follows."""
    everybody = subject.robots.rules_for("*")
    has_star_rules = any(not rule.allow for rule in subject.rules_of(everybody))
    with_rules = {
        line.value.lower() for group in subject.groups if group.rules for line in group.agents
    }
    has_rules_at = {group.agents[0].number: bool(group.rules) for group in subject.groups}
    asked = 0
    for group in subject.groups:
        asked += 0 if group.rules else len(group.agents)
        if group.rules or asked > _MAX_AGENTS:
            continue
        names = [
            line.value
            for line in group.agents
            if line.value
            and line.value.lower() not in with_rules
            # A group with another spelling of the name may also apply.
            and not _has_rules(subject, line.value, has_rules_at)
        ]
        named = [name for name in names if name != "*"]
        if group.others and named and all(map(is_tool, named)):
            # A pace for a tool, or for what somebody shares: it need not have the other rules.
            continue
        if named and has_star_rules and len(named) == len(names):
            who = first_names(named)
            verb = "ignores" if len(named) == 1 else "ignore"
            own = "it has its" if len(named) == 1 else "they have their"
            yield Remark(
                subject.value(group.agents[0]),
                f"{who} {verb} the * rules because {own} own group, which has no rules",
                "Write Disallow: below if everything should be allowed, else repeat the * rules",
                proposal=(_below(subject, group, "Disallow:"),),
            )
        elif names and not group.others and len(subject.groups) > 1:
            yield Remark(
                subject.value(group.agents[0]),
                "Group without rules: the file may be cut off here",
                "Write Disallow: below if everything should be allowed",
                proposal=(_below(subject, group, "Disallow:"),),
            )


def _has_rules(subject: CheckedFile, name: str, has_rules_at: dict[int, bool]) -> bool:
    """Return whether the groups for a name have rules, or finding them takes too long."""
    rules = subject.analysis.rules_for(_agent_for_name(subject, name))
    return rules is None or any(map(has_rules_at.__getitem__, rules.group_lines))


def _below(subject: CheckedFile, group: GroupLines, line: str) -> Edit:
    last = max((*group.agents, *group.others), key=lambda each: each.number)
    return subject.insertion(last, line)


def _agent_for_name(subject: CheckedFile, name: str) -> str:
    """Return an agent that a name applies to: Google's parser truncates names."""
    is_cut = subject.robots.dialect.names == Names.LETTERS
    return (letters_of(name) or name) if is_cut else name


@check("G004", "several-groups", NOTE, "A crawler has several groups",
    why="RFC 9309 merges them; crawlers that follow older standards read only the first.",
    example="User-agent: FooBot\nDisallow: /a\nUser-agent: foobot\nDisallow: /b\n",
    fix="User-agent: FooBot\nDisallow: /a\nUser-agent: FooBots\nDisallow: /b\n",
    source="RFC 9309 §2.2.1")  # fmt: skip
def repeated(subject: CheckedFile) -> Iterator[Remark]:
    first: dict[str, int] = {}
    reported = set()
    managed = managed_lines(subject)
    for number, group in enumerate(subject.groups):
        if group.agents[0].number in managed:
            continue
        for line in group.agents:
            name = line.value.lower()
            if name and first.setdefault(name, number) != number and (name, number) not in reported:
                reported.add((name, number))
                where = subject.groups[first[name]].agents[0].number
                yield Remark(
                    subject.value(line),
                    f"{line.value} also has a group at line {where}: older crawlers read only the first",
                    "Merge the groups",
                )


@check("G008", "robot-version", WARNING, "Robot-version is ignored, or makes crawlers skip the rules",
    why="It must directly follow the User-agent lines. Use 1.0 or 2.0: odd minor versions are experimental, and crawlers that read Robot-version skip rules with any other version.",
    example="User-agent: *\nRobot-version: 2.1\nDisallow: /a\n",
    fix="User-agent: *\nRobot-version: 2.0.1\nDisallow: /a\n",
    source="An Extended Standard for Robot Exclusion")  # fmt: skip
def versions(subject: CheckedFile) -> Iterator[Remark]:
    """Find Robot-version lines that are ignored, or cause crawlers to skip a rule set.

    Only the Extended Standard has them, so its rule sets apply: a blank line ends one.
    """
    found = list(subject.lines_of(Directive.ROBOT_VERSION))
    if not found:
        return
    sets = parse(subject.body, EXTENDED2).groups
    starts = [group.line for group in sets]
    has_default = any("*" in group.agents for group in sets)
    first: dict[int, int] = {}
    for line in found:
        number = bisect.bisect(starts, line.number) - 1
        chosen = first.setdefault(number, line.number) if number >= 0 else line.number
        if chosen != line.number and sets[number].version is not None:
            yield Remark(
                subject.value(line),
                f"Redundant: line {chosen} already sets the Robot-version",
                "Remove it",
                edits=(subject.removal(line),),
            )
        elif number < 0 or sets[number].version is None:
            yield Remark(
                subject.value(line),
                "Robot-version is ignored here: it must directly follow the User-agent lines",
                "Move it directly below the User-agent lines",
            )
        else:
            is_default = "*" in sets[number].agents
            yield from _version(subject, line, has_default and not is_default)


def _version(subject: CheckedFile, line: Line, has_default: bool) -> Iterator[Remark]:
    shown = truncate(line.value)
    fix = "Write Robot-version: 2.0"
    skipped = "crawlers that read Robot-version skip these rules"
    if has_default:
        skipped += " and obey the * group"
    version = _ROBOT_VERSION.fullmatch(line.value)
    if not line.value:
        yield Remark(subject.text(line), "Robot-version has no value", fix)
    elif version is None:
        yield Remark(subject.value(line), f'Invalid Robot-version "{shown}": it is ignored', fix)
    elif version[1] not in ("1", "2"):
        yield Remark(subject.value(line), f"Robot-version {shown} is not supported: {skipped}", fix)
    elif int(version[2][-1]) % 2:
        yield Remark(
            subject.value(line),
            f"Robot-version {shown} is experimental (odd minor version): {skipped}",
            fix,
        )


@check("G009", "no-groups", NOTE, "The file has no groups",
    why="Everything is allowed. That may be intended.",
    example="# nothing here\nSitemap: https://e.com/s.xml\n",
    fix="User-agent: *\nDisallow:\n",
    source="RFC 9309 §2.2.2")  # fmt: skip
def no_groups(subject: CheckedFile) -> Iterator[Remark]:
    if not subject.groups and not any(line.directive in RULES for line in subject.directive_lines):
        yield Remark(
            WHOLE_FILE,
            "The file has no groups: everything is allowed",
            'Write "User-agent: *" and "Disallow:" to say so',
        )

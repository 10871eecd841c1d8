"""Checks of groups that stand beside that of ``*``: which of its rules they lose, or take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .._wording import joined
from ..crawlers import Obeys
from ..model import Directive, Line, LineKind, Rule
from ..robots import Rules
from ._checks import NOTE, WARNING, check
from ._joined import MAX_REPEATED, are_few
from ._model import CheckedFile, Edit, GroupLines, Remark, first_names, truncate, truncate_rule
from ._names import crawler_named, finds_pages

#: Crawlers that lose nothing, because they ignore the rules for ``*`` anyway.
_IGNORE_STAR = (Obeys.OWN_GROUPS, Obeys.NOTHING, Obeys.CONTROL, Obeys.RETIRED)
#: Maximum number of rules of ``*`` that all groups are compared with, together, and of those that a
#: message lists.
_MAX_COMPARED = 300_000
_MAX_LISTED = 3


class _Lost(NamedTuple):
    """The rules for ``*`` that groups with names of their own do not have.

    ``names`` are those of the crawlers that would obey them; ``groups`` come with the lines that they
    lack. ``is_meant``: they have rules of their own, and few of these.
    """

    names: list[str]
    groups: list[tuple[GroupLines, list[str]]]
    rules: list[tuple[Rule, str]]
    is_meant: bool


@check("S011", "star-rules-ignored", NOTE, "A crawler ignores the * rules because it has its own group",
    why="A crawler obeys the groups that name it, and the * groups only if no group names it. This group has other rules, so that may be intended.",
    example="User-agent: *\nDisallow: /admin/\nUser-agent: Googlebot\nDisallow: /search\n",
    fix="User-agent: *\nDisallow: /admin/\nUser-agent: Googlebot\nDisallow: /search\nDisallow: /admin/\nUser-agent: Foo\nDisallow: /\n",
    source="RFC 9309 §2.2.1")  # fmt: skip
def star_rules_ignored(subject: CheckedFile) -> Iterator[Remark]:
    yield from _remarks(subject, is_meant=True)


@check("S013", "star-rules-lost", WARNING, "A group repeats only some of the * rules, or none",
    why="A crawler obeys the groups that name it, and the * groups only if no group names it. A group that repeats some of the * rules, or only allows everything, probably should have them all.",
    example="User-agent: *\nDisallow: /admin/\nDisallow: /mcp\nUser-agent: GPTBot\nDisallow: /admin/\n",
    fix="User-agent: *\nDisallow: /admin/\nDisallow: /mcp\nUser-agent: GPTBot\nDisallow: /admin/\nDisallow: /mcp\n",
    source="RFC 9309 §2.2.1")  # fmt: skip
def star_rules_lost(subject: CheckedFile) -> Iterator[Remark]:
    yield from _remarks(subject, is_meant=False)


def _remarks(subject: CheckedFile, *, is_meant: bool) -> Iterator[Remark]:
    for each in subject.once("lost rules", lambda: list(_lost(subject))):
        if each.is_meant == is_meant:
            who = first_names(each.names)
            verb, has = (
                ("ignores", "it has its") if len(each.names) == 1 else ("ignore", "they have their")
            )
            does, it = ("does", "it") if len(each.rules) == 1 else ("do", "them")
            many = len(each.groups) > 1
            rule, url = each.rules[0]
            edits = tuple(
                subject.insertion((group.rules or group.agents)[-1], *missing)
                for group, missing in each.groups[:MAX_REPEATED]
                if missing
            )
            yield Remark(
                subject.value(each.groups[0][0].agents[0]),
                f"{who} {verb} the * rules because {has} own group{'s' * many}: {_listed([rule for rule, _ in each.rules])} {does} not apply",
                f"Repeat {it} in {'these groups' if many else 'this group'}, which blocks {truncate(rule.pattern)} for {who}",
                proposal=edits if len(edits) == len(each.groups) else (),
                url=url,
            )


def _listed(rules: list[Rule]) -> str:
    """Return rules with their lines: ``line 2 (Disallow: /a)``."""
    shown = [f"line {rule.line} ({truncate_rule(rule)})" for rule in rules[:_MAX_LISTED]]
    more = len(rules) - len(shown)
    return joined([*shown, f"{more:,} more"] if more else shown)


def _lost(subject: CheckedFile) -> Iterator[_Lost]:
    """Yield what groups lose: those that lose the same rules together."""
    everybody = subject.robots.rules_for("*")
    star_rules = [rule for rule in subject.rules_of(everybody) if rule.pattern]
    most = _MAX_COMPARED // len(subject.sets)
    if len(star_rules) > most:
        subject.analysis.leave_out()
    blocking = list(_with_examples(subject, everybody, star_rules[:most]))
    if not blocking:
        return
    group_at = {group.agents[0].number: group for group in subject.groups}
    reported = set(everybody.group_lines)
    star_lines = [*dict.fromkeys(map(str, star_rules))]
    found: dict[tuple[object, ...], _Lost] = {}
    for _, rules in subject.sets:
        own = subject.rules_of(rules)
        is_new = rules.is_named and reported.isdisjoint(rules.group_lines)
        if not is_new or not own or not rules.allowed("/"):
            continue
        reported.update(rules.group_lines)
        lost = [(rule, url) for rule, url in blocking if _is_open(rules, url)]
        group = group_at[min(rules.group_lines)]
        names = _names_that_lose(group)
        if lost and names:
            is_general = any(map(finds_pages, names))
            is_meant = not is_general or _is_other(own, len(lost), len(blocking))
            key = is_meant, *(rule.line for rule, _ in lost)
            same = found.setdefault(key, _Lost([], [], lost, is_meant))
            same.names.extend(names)
            same.groups.append((group, _missing(star_lines, own)))
    yield from found.values()


def _is_other(own: list[Rule], lost: int, total: int) -> bool:
    """Return whether a group is another list of rules, and neither a copy nor a general Allow."""
    has_own = any(not rule.allow and rule.pattern for rule in own)
    says_allow = not has_own and any(_is_everything(rule) for rule in own)
    return not (says_allow or lost <= total // 2)


def _with_examples(
    subject: CheckedFile, everybody: Rules, rules: list[Rule]
) -> Iterator[tuple[Rule, str]]:
    """Yield the rules that block a part of the site, each with a URL that it blocks."""
    for rule in rules:
        if not rule.allow and not _is_everything(rule):
            url = subject.analysis.likely_url(rule.line)
            if url is not None and not everybody.allowed(url):
                yield rule, url


def _is_everything(rule: Rule) -> bool:
    return bool(rule.pattern) and not rule.pattern.strip("/*$")


def _is_open(rules: Rules, url: str) -> bool:
    """Return whether rules allow a URL, without a rule that is about it."""
    decision = rules.decide(url)
    return decision.allowed and (decision.rule is None or _is_everything(decision.rule))


def _names_that_lose(group: GroupLines) -> list[str]:
    return [
        line.value
        for line in group.agents
        if line.value not in ("", "*")
        and ((crawler := crawler_named(line.value)) is None or crawler.obeys not in _IGNORE_STAR)
    ]


def _missing(star_lines: list[str], rules: list[Rule]) -> list[str]:
    """Return the lines without the rules that a group has; none if they are too many to repeat."""
    if len(star_lines) > len(rules) + MAX_REPEATED:
        return []
    own = set(map(str, rules))
    missing = [line for line in star_lines if line not in own]
    return missing if are_few(missing) else []


@check("S015", "rules-below-a-group", WARNING, "Rules below a group apply only to the crawlers it names",
    why="A blank line or a comment does not end a group. Rules below the last group belong to it, not to all crawlers.",
    example="User-agent: *\nAllow: /\n\nUser-agent: FooBot\nDisallow: /\n\nDisallow: /admin/\n",
    fix="User-agent: *\nAllow: /\nDisallow: /admin/\n\nUser-agent: FooBot\nDisallow: /\n",
    source="RFC 9309 §2.2.1")  # fmt: skip
def rules_below(subject: CheckedFile) -> Iterator[Remark]:
    """Find rules for parts of a site that stand apart from a group that is about all of it."""
    star = [each for each in subject.groups if any(line.value == "*" for line in each.agents)]
    for group, below in _apart(subject):
        names = first_names([line.value for line in group.agents])
        shown = f"{below[0].directive}: {truncate(below[0].value)}"
        more = len(below) - 1
        rules = (
            f"{shown} and {'the rule' if more == 1 else f'the {more:,} rules'} below"
            if more
            else shown
        )
        it, applies = ("them", "apply") if more else ("it", "applies")
        lines = [line.text.strip() for line in below]
        removals = [subject.removal(line) for line in below]
        where, edits = _place_for_all(subject, star, below[0], lines, removals)
        yield Remark(
            subject.text(below[0]),
            f"{rules} {applies} only to {names}",
            f"If {'they are' if more else 'it is'} for all crawlers, {where.format(it=it)}",
            proposal=edits if are_few(lines) else (),
        )


def _place_for_all(
    subject: CheckedFile,
    star: list[GroupLines],
    first: Line,
    lines: list[str],
    removals: list[Edit],
) -> tuple[str, tuple[Edit, ...]]:
    """Return where rules for all crawlers belong, and the edits that move them there."""
    if not star:
        edit = subject.edit(first, 0, 0, "User-agent: *\n")
        return "write User-agent: * above {it}, which blocks these paths for all other crawlers", (
            edit,
        )
    last = (star[-1].rules or star[-1].agents)[-1]
    return (
        f"move {{it}} below line {last.number}, which blocks these paths for all other crawlers",
        (subject.insertion(last, *lines), *removals),
    )


def lines_apart(subject: CheckedFile) -> set[int]:
    """Return the lines of rules that stand apart from their group."""
    return subject.once(
        "lines apart", lambda: {line.number for _, below in _apart(subject) for line in below}
    )


def _apart(subject: CheckedFile) -> list[tuple[GroupLines, list[Line]]]:
    return subject.once("rules apart", lambda: list(_find_apart(subject)))


def _find_apart(subject: CheckedFile) -> Iterator[tuple[GroupLines, list[Line]]]:
    groups = subject.groups
    for group in groups:
        if any(line.value in ("", "*") for line in group.agents):
            continue
        rules = group.rules
        at = _first_gap(subject, rules)
        general, below = rules[:at], rules[at:]
        if not at or any(line.value.strip("/*$") for line in general):
            continue
        blocks_all = general[-1].directive is Directive.DISALLOW and bool(general[-1].value)
        # Exceptions to a blocked site may stand apart from it.
        specific = [line for line in below if line.value.strip("/*$")]
        is_other = bool(specific) and all(line.directive is Directive.DISALLOW for line in specific)
        if is_other and (blocks_all or group is groups[-1]):
            yield group, below


def _first_gap(subject: CheckedFile, rules: list[Line]) -> int:
    """Return the index of the first rule below a blank line or a comment, or 0."""
    for at in range(1, len(rules)):
        between = subject.lines[rules[at - 1].number : rules[at].number - 1]
        if any(line.kind in (LineKind.BLANK, LineKind.COMMENT) for line in between):
            return at
    return 0

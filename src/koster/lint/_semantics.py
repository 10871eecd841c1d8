"""Checks of the effect of rules, by `koster.analysis`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .._asking import rules_for_data
from .._wording import count_noun
from ..analysis import Cause, DeadRule
from ..decisions import Decision
from ..dialects import GOOGLE
from ..model import Rule
from ..robots import Rules
from ._checks import NOTE, WARNING, check
from ._managed import CHANGE_ELSEWHERE, managed_lines
from ._model import CheckedFile, Remark, quote, truncate_rule
from ._names import crawlers_of
from ._star_rules import lines_apart

#: Allow rules that say explicitly that everything is allowed.
_EVERYTHING = re.compile(r"[/*]+\$?")
#: Names of who uses a dialect, for messages.
_READERS = {GOOGLE: "Google"}
#: Maximum number of rules listed in a message.
_MAX_LISTED = 3


@check("S001", "overridden-rule", WARNING, "A rule has no effect because others override it",
    why="Of the rules that match a URL the longest applies, Allow on a tie. Wherever this rule matches, a longer one with the opposite effect does, too.",
    example="User-agent: *\nDisallow: /a*c\nAllow: /*a*c*\n",
    fix="User-agent: *\nDisallow: /a*c\nAllow: /*a*d*\n",
    source="RFC 9309 §2.2.2; proved by koster.analysis")  # fmt: skip
def covered(subject: CheckedFile) -> Iterator[Remark]:
    for dead, name in subject.analysis.surely_dead:
        if dead.cause is Cause.COVERED and dead.twin is None and _is_opposed(dead):
            removal, proposal = subject.rule_removal(subject.lines[dead.rule.line - 1])
            who = "" if name == "*" else f" for {quote(name)}"
            yield Remark(
                subject.rule(dead.rule),
                f"Rule has no effect{who}: overridden by {_format_rules(dead.covered_by)}",
                f"{removal}, or make its path longer than the one that overrides it",
                proposal=proposal,
            )


def _is_opposed(dead: DeadRule) -> bool:
    return any(each.allow != dead.rule.allow for each in dead.covered_by)


def _format_rules(rules: tuple[Rule, ...]) -> str:
    reported = [f"line {rule.line} ({truncate_rule(rule)})" for rule in rules[:_MAX_LISTED]]
    more = len(rules) - _MAX_LISTED
    return ", ".join(reported) + (f" and {count_noun(more, 'more rule')}" if more > 0 else "")


@check("S002", "contradiction", WARNING, "A path is both allowed and disallowed",
    why="The longer of the two rules applies, Allow on a tie; crawlers that follow older standards use the first rule.",
    example="User-agent: *\nDisallow: /a\nAllow: /a\n",
    fix="User-agent: *\nDisallow: /a\nAllow: /a/\n",
    source="RFC 9309 §2.2.2")  # fmt: skip
def contradicted(subject: CheckedFile) -> Iterator[Remark]:
    for dead, _ in subject.analysis.surely_dead:
        if dead.twin is not None and dead.twin.allow != dead.rule.allow:
            if dead.twin.line in lines_apart(subject):
                continue
            removal, proposal = subject.rule_removal(subject.lines[dead.rule.line - 1])
            suggestion = f"{removal}, or remove line {dead.twin.line}"
            if dead.twin.line in managed_lines(subject):
                suggestion, proposal = CHANGE_ELSEWHERE.format(line=f"line {dead.twin.line}"), ()
            yield Remark(
                subject.rule(dead.rule),
                f"Contradicts line {dead.twin.line} ({truncate_rule(dead.twin)}), which applies",
                suggestion,
                proposal=proposal,
            )


@check("S003", "duplicate-rule", NOTE, "A rule is a duplicate",
    why="It does no harm.",
    example="User-agent: *\nDisallow: /a\nDisallow: /b\nDisallow: /a\n",
    fix="User-agent: *\nDisallow: /a\nDisallow: /b\n",
    source="RFC 9309 §2.2.2")  # fmt: skip
def repeated(subject: CheckedFile) -> Iterator[Remark]:
    for dead, _ in subject.analysis.surely_dead:
        if dead.twin is not None and dead.twin.allow == dead.rule.allow:
            removal, edits = subject.rule_removal(subject.lines[dead.rule.line - 1])
            # Only an identical rule in the same group is equivalent in every dialect.
            is_safe = dead.twin.pattern == dead.rule.pattern and subject.share_a_group(
                dead.rule.line, dead.twin.line
            )
            yield Remark(
                subject.rule(dead.rule),
                f"Duplicate of line {dead.twin.line}",
                removal,
                edits=edits if is_safe else (),
                proposal=() if is_safe else edits,
            )


@check("S009", "redundant-rule", NOTE, "A wider rule already covers this one",
    why="It does no harm.",
    example="User-agent: *\nDisallow: /a/\nAllow: /a/b/\nDisallow: /a/c/d\n",
    fix="User-agent: *\nDisallow: /a/\nAllow: /a/c/\nDisallow: /a/c/d\n",
    source="RFC 9309 §2.2.2; proved by koster.analysis")  # fmt: skip
def redundant(subject: CheckedFile) -> Iterator[Remark]:
    covering = {
        idle.rule.line: (idle.rule, idle.instead)
        for idle in subject.analysis.surely_idle
        if idle.instead is not None
    }
    covering |= {
        dead.rule.line: (dead.rule, dead.covered_by[0])
        for dead, _ in subject.analysis.surely_dead
        if dead.cause is Cause.COVERED and dead.twin is None and not _is_opposed(dead)
    }
    for number, (rule, instead) in sorted(covering.items()):
        if number in lines_apart(subject):
            continue
        removal, proposal = subject.rule_removal(subject.lines[rule.line - 1])
        yield Remark(
            subject.rule(rule),
            f"Redundant: {_covering(rule, instead)}",
            removal,
            proposal=proposal,
        )


def _covering(rule: Rule, instead: Rule) -> str:
    """Return what covers a rule, of which another one decides an example in its place."""
    shown = f"line {instead.line} ({truncate_rule(instead)})"
    is_plain = not any(each in instead.pattern for each in "*$%")
    if is_plain and not rule.pattern.startswith(instead.pattern):
        return f"other rules already cover this, such as {shown}"
    return f"{shown} already covers this"


@check("S010", "allow-without-effect", NOTE, "An Allow has no effect",
    why="What no rule disallows is allowed. To allow only this, disallow the rest.",
    example="User-agent: *\nDisallow: /b\nAllow: /a/\n",
    fix="User-agent: *\nDisallow: /a\nAllow: /a/\nUser-agent: Foo\nAllow: /\n",
    source="RFC 9309 §2.2.2; proved by koster.analysis")  # fmt: skip
def needless_allow(subject: CheckedFile) -> Iterator[Remark]:
    """Find Allow rules without a Disallow that they make an exception to."""
    for idle in subject.analysis.surely_idle:
        if (
            idle.instead is None
            and idle.rule.allow
            and not _EVERYTHING.fullmatch(idle.rule.pattern)
        ):
            removal, proposal = subject.rule_removal(subject.lines[idle.rule.line - 1])
            yield Remark(
                subject.rule(idle.rule),
                "Allow has no effect: no rule blocks this path",
                f"{removal}, or disallow the rest if only this should be allowed",
                proposal=proposal,
                url=idle.url,
            )


@check("S004", "matches-no-path", WARNING, "No URL can have this path",
    why="The rule has no effect.",
    example="Only the dialect MK1994 has such rules: it compares bytes, and no URL matches a path with bytes that are not UTF-8.",
    source="proved by koster.analysis")  # fmt: skip
def no_path(subject: CheckedFile) -> Iterator[Remark]:
    for dead, _ in subject.analysis.surely_dead:
        if dead.cause is Cause.NO_PATH and dead.rule.pattern.startswith(("/", "*")):
            yield Remark(subject.rule(dead.rule), "Rule has no effect: no URL can have this path")


@check("S005", "robots-txt-rule", NOTE, "A rule is about /robots.txt itself",
    why="Crawlers may always fetch it.",
    example="User-agent: *\nDisallow: /a\nAllow: /robots.txt$\n",
    fix="User-agent: *\nDisallow: /a\nAllow: /robots.txt.bak\n",
    source="RFC 9309 §2.2.2")  # fmt: skip
def robots_txt_rule(subject: CheckedFile) -> Iterator[Remark]:
    for dead, _ in subject.analysis.surely_dead:
        if dead.cause is Cause.ROBOTS_TXT:
            removal, proposal = subject.rule_removal(subject.lines[dead.rule.line - 1])
            yield Remark(
                subject.rule(dead.rule),
                "Rule has no effect: /robots.txt is always allowed",
                removal,
                proposal=proposal,
            )


@check("D001", "read-differently", NOTE, "Google, or another dialect, decides a URL differently",
    why="The message has a URL that proves it. Google's dialect is compared only for Google's crawlers; other dialects, chosen with --dialect, for all.",
    example="User-agent: *\nDisallow: /a%3Ab\n",
    fix="User-agent: *\nDisallow: /a:b\n",
    source="proved by koster.analysis")  # fmt: skip
def dialects(subject: CheckedFile) -> Iterator[Remark]:
    """Find URLs that other dialects decide differently, once per rule.

    Google's dialect matters only to Google's crawlers.
    """
    own = subject.robots.dialect
    for dialect in subject.dialects:
        if dialect == own:
            continue
        reported: set[int] = set()
        for agent, rules in _google_sets(subject) if dialect == GOOGLE else subject.sets:
            theirs = subject.analysis.rules_by(dialect, agent)
            if theirs is None:
                break
            if not rules.group_lines and not theirs.group_lines:
                continue
            # Report each line once, and differences without a rule once.
            for each in subject.analysis.difference(rules, theirs).found:
                rule = each.before.rule or each.after.rule
                if rule is None or rule.line in reported:
                    continue
                reported.add(rule.line)
                name = agent if isinstance(agent, str) else agent[0]
                yield Remark(
                    subject.rule(rule),
                    f"{_READERS.get(dialect, str(dialect))} reads this differently: {each.url} is {_verdict(each.after)} for {_who(name)}, {_verdict(each.before)} by {own}",
                    "Check that both verdicts are fine for such URLs",
                    url=each.url,
                )
            if rules.is_named != theirs.is_named:
                break


def _google_sets(subject: CheckedFile) -> list[tuple[str | tuple[str, ...], Rules]]:
    """Return Google's crawlers and their rules, once for the groups that apply to some of them."""
    found: dict[object, tuple[str | tuple[str, ...], Rules]] = {}
    google = crawlers_of("Google")
    for agent in [each.tokens for each in google] or [("Googlebot",)]:
        rules = rules_for_data(subject.robots, agent)
        theirs = subject.analysis.rules_by(GOOGLE, agent)
        lines = None if theirs is None else theirs.group_lines
        found.setdefault((rules.group_lines, lines), (agent, rules))
    return list(found.values())


def _who(name: str) -> str:
    return "crawlers without a group" if name == "*" else quote(name)


def _verdict(decision: Decision) -> str:
    verdict = "allowed" if decision.allowed else "blocked"
    return f"{verdict} (line {decision.rule.line})" if decision.rule else verdict

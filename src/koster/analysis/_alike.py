"""Rule sets that surely decide alike, so that what is proved of one is true of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._asking import selection_of
from ..dialects import Patterns, RobotsTxtPath
from ._entries import are_plain, is_text_read_alike

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..model import Rule
    from ..robots import Rules


def decide_alike(one: Rules, other: Rules) -> bool:
    """Return whether two rule sets surely decide alike, on URLs that are compared.

    They have the same rules, and the same reading or only text that all readings compare alike.
    """
    first, second = selection_of(one), selection_of(other)
    readings = first.reading(), second.reading()
    if (
        readings[0].choice != readings[1].choice
        or first.unmatched_allowed() != second.unmatched_allowed()
        or not first.has_same_rules(second)
    ):
        return False
    if readings[0] == readings[1]:
        return True
    texts = [rule[0] for rule in first.compiled_rules()]
    if all(reading.patterns == Patterns.WILDCARDS for reading in readings):
        # Also if one decodes escapes: the rules have none, so URLs with escapes are not compared.
        return are_plain(texts) or all(map(is_text_read_alike, texts))
    return are_plain(texts) and {text[:1] for text in texts} <= {b"", b"/"}


def count_rules(rules: Rules) -> int:
    """Return the number of the Allow and Disallow lines of a rule set."""
    return selection_of(rules).count_rules()


def content_of(rules: Rules) -> object:
    """Return what decides about all URLs: equal for rule sets alike on whatever lines they are."""
    selection = selection_of(rules)
    compiled = [rule[:-1] for rule in selection.compiled_rules()]
    return selection.reading(), selection.unmatched_allowed(), tuple(compiled)


def counterparts(one: Rules, other: Rules) -> Callable[[Rule], Rule]:
    """Return a function from the rules of a set to those of another with the same `content_of`."""
    first, second = selection_of(one), selection_of(other)
    rows = zip(first.compiled_rules(), second.compiled_rules(), strict=True)
    row_of_line = {first.line_of(own[-1]): theirs[-1] for own, theirs in rows}
    return lambda rule: second.rule(row_of_line[rule.line])


def proves(one: Rules, other: Rules) -> bool:
    """Return whether what is proved of all decisions by one rule set is true of those by another.

    Both have the same rules, as in two dialects that read a file alike. What is proved of a set
    without an exception for /robots.txt is also true with it.
    """
    own, theirs = (selection_of(rules).reading().robots_txt for rules in (one, other))
    return own in (theirs, RobotsTxtPath.NOT_SPECIAL) and decide_alike(one, other)


def least_sets(sets: Sequence[Rules]) -> list[Rules]:
    """Return some of the rule sets of a file: what is proved of their rules is true of the others.

    Most dialects read most files alike.
    """
    alike: dict[object, list[Rules]] = {}
    for rules in sets:
        lines = (*rules.group_lines, 0, *selection_of(rules).rule_lines())
        others = alike.setdefault(lines, [])
        if not any(proves(each, rules) for each in others):
            others[:] = [each for each in others if not proves(rules, each)]
            others.append(rules)
    left = {id(rules) for some in alike.values() for rules in some}
    return [rules for rules in sets if id(rules) in left]

"""Closed and opened paths in an existing file: which of its rules contradict them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..analysis import Budget, Limit, WholeFile, count_rules, difference, most_rules_to_check
from ..decisions import Decision
from ..diff import MAX_AGENTS
from ..model import RULES, Directive
from ..robots import RobotsTxt, Rules, parse

#: Stars that are added to a pattern: it matches the same, and is longer than any other.
_STAR_COUNT = 2_000

#: Maximum number of searches for patterns, and of searches for rule sets: a second.
_MAX_SEARCHED = 1_000

#: The beginning of a pattern that every URL it matches has, too.
_LITERAL = re.compile(r"/[A-Za-z0-9._~/-]*")

#: Steps of these searches together.
_MAX_STEPS = 1_000_000

#: Maximum number of rules in a search: preparing more takes seconds, and finds little.
_MAX_RULES = 100_000

#: After so many searches without a proof, no more follow.
_MAX_UNPROVED = 20

_ROBOTS_TXT = "/robots.txt"


class Contradictions:
    """The rules of a file that make exceptions to closed or opened paths."""

    def __init__(self, closed: Sequence[str], opened: Sequence[str]) -> None:
        #: By the directive that contradicts them: the paths, and what their URLs begin with.
        self._paths = {
            is_allow: [(path, _literal(path)) for path in paths]
            for is_allow, paths in ((True, closed), (False, opened))
        }
        self._known: dict[tuple[bool, str], bool] = {}
        self._searches_left = _MAX_SEARCHED
        self._budget = Budget(_MAX_STEPS)

    def has(self, directive: Directive | None, pattern: str) -> bool:
        """Return whether a line is a rule that only makes an exception.

        ``pattern`` is its value. If a proof takes too long, the line counts as none.
        """
        if directive not in RULES or not pattern:
            return False
        is_allow = directive is Directive.ALLOW
        literal = _literal(pattern)
        paths = [path for path, begin in self._paths[is_allow] if _may_overlap(literal, begin)]
        if not paths:
            return False
        key = is_allow, pattern
        if key not in self._known:
            self._known[key] = any(self._excepts(pattern, path, is_allow) for path in paths)
        return self._known[key]

    def _excepts(self, pattern: str, path: str, is_allow: bool) -> bool:
        if _is_plain(pattern) and _is_plain(path) and not pattern.startswith(_ROBOTS_TXT):
            # Of two equally long rules, the one that allows takes precedence.
            return pattern.startswith(path) and (is_allow or pattern != path)
        self._searches_left -= 1
        return (
            self._searches_left >= 0
            and self._is_within(pattern, path)
            and self._makes_exception(pattern, path, is_allow)
        )

    def _is_within(self, pattern: str, path: str) -> bool:
        """Return whether a path matches everything that a pattern matches."""
        base = f"Disallow: {path}"
        return self._are_equal([base], [base, f"Disallow: {pattern}"])

    def _makes_exception(self, pattern: str, path: str, is_allow: bool) -> bool:
        """Return whether a rule makes an exception to the opposite rule for a path."""
        # Everything else has the rule's verdict, so the rule can only change URLs on that path.
        base = [f"Disallow: {path}"] if is_allow else ["Disallow: /", f"Allow: {path}"]
        rule = f"{'Allow' if is_allow else 'Disallow'}: {pattern}"
        return not self._are_equal([*base, rule], base)

    def _are_equal(self, before: Sequence[str], after: Sequence[str]) -> bool:
        return difference(_star_rules(before), _star_rules(after), self._budget).are_equal


def left_open(
    robots: RobotsTxt, closed: Sequence[str], opened: Sequence[str]
) -> tuple[tuple[Decision, ...], bool]:
    """Return what allows URLs on closed paths, and whether all rules were checked.

    That is a decision for each such rule, but for the rules for ``opened``.
    """
    if not closed:
        return (), True
    whole = WholeFile(robots, most=MAX_AGENTS)
    limit = Limit(most_rules_to_check(robots))
    search = _Search()
    found: dict[int, Decision] = {}
    for _, rules in whole.sets:
        if not limit.allows(count_rules(rules)) or search.takes_long:
            return tuple(found.values()), False
        existing = [rule for group in rules.groups for rule in group.rules if rule.pattern]
        literals = [_literal(rule.pattern) for rule in existing]
        for path in closed:
            begin = _literal(path)
            some = [
                rule
                for rule, literal in zip(existing, literals, strict=True)
                if _may_overlap(literal, begin)
            ]
            if not any(rule.allow for rule in some):
                continue
            if len(some) > _MAX_RULES:
                return tuple(found.values()), False
            for url in search.allowed_under(path, tuple(map(str, some))):
                decision = rules.decide(url)
                rule = decision.rule
                if decision.allowed and rule and rule.pattern not in opened:
                    found.setdefault(rule.line, decision)
    return tuple(found.values()), whole.has_all_sets and search.found_all


class _Search:
    """A search for URLs on closed paths, in many rule sets, of which many may be alike."""

    def __init__(self) -> None:
        self._unproved = 0
        self._known: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        self._budget = Budget(_MAX_STEPS)

    @property
    def found_all(self) -> bool:
        """Whether it is proved that there are no other URLs."""
        return not self._unproved

    @property
    def takes_long(self) -> bool:
        """Whether it is time to stop."""
        return self._unproved > _MAX_UNPROVED or len(self._known) > _MAX_SEARCHED

    def allowed_under(self, path: str, lines: tuple[str, ...]) -> list[str]:
        """Return URLs on a path that rules allow, one for each such rule."""
        if path.endswith("$") and "*" not in path:
            return [path[:-1]]
        key = path, lines
        if key not in self._known:
            # With the stars it is the longest pattern, so it decides all URLs on the path.
            stars = "*" * _STAR_COUNT
            closing = path.replace("*", stars, 1) if path.endswith("$") else path + stars
            closed = [*lines, f"Disallow: {closing}"]
            found = difference(_star_rules(lines), _star_rules(closed), self._budget)
            self._unproved += not found.is_proved
            self._known[key] = [each.url for each in found.found]
        return self._known[key]


def _may_overlap(ours: str, theirs: str) -> bool:
    """Return whether two patterns may match the same URL, by what their URLs begin with."""
    return ours.startswith(theirs) or theirs.startswith(ours)


def _literal(pattern: str) -> str:
    found = _LITERAL.match(pattern)
    return found[0] if found else ""


def _is_plain(pattern: str) -> bool:
    """Return whether a pattern matches the URLs that begin with it, and no others."""
    return _LITERAL.fullmatch(pattern) is not None


def _star_rules(lines: Sequence[str]) -> Rules:
    return parse("".join(f"{line}\n" for line in ("User-agent: *", *lines))).rules_for("*")

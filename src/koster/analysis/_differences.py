"""Which URLs two rule sets decide differently, by which rules.

Each pair of patterns, one of each set, with opposite verdicts may decide a URL differently. A
pattern that is in both sets rules out most pairs: what comes after it in a set decides no URL that
it matches. The other pairs are asked one by one: a shortest URL that both match, and nothing before
them in either set.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .._asking import decision_by, rules_for_data, selection_of
from ..decisions import Decision
from ..dialects import Dialect, Patterns
from ..robots import RobotsTxt, Rules, parse
from ._pairs import Pairs
from ._patterns import SHELL, are_plain, digits_of_runs, is_text_read_alike
from ._search import Budget, BudgetSpentError
from ._search.urls import with_host_if_ambiguous

#: Steps for the disagreements of a file: seconds of work.
_STEPS_OF_FILE = 700_000

#: The maximum differences of rules without special characters: a million would take seconds.
_MAX_PLAIN = 100_000

#: What a comparison takes at least, and rules that are prepared for it in the time of a step.
_LEAST_STEPS = 20
_RULES_PER_STEP = 4

_ROBOTS_TXT = b"\n/robots.txt"


@dataclass(frozen=True, slots=True)
class Difference:
    """A URL that two rule sets decide differently: a shortest one for this pair of rules."""

    url: str
    before: Decision
    after: Decision

    @property
    def is_opened(self) -> bool:
        """Whether the URL was disallowed before, and is allowed now."""
        return self.after.allowed


@dataclass(frozen=True, slots=True)
class Differences:
    """The pairs of rules that decide a URL differently. Empty and proved: the sets are equal."""

    found: tuple[Difference, ...]
    is_proved: bool = True

    @property
    def are_equal(self) -> bool:
        """Whether it is proved that every URL is decided alike."""
        return self.is_proved and not self.found


@dataclass(frozen=True, slots=True)
class Disagreement:
    """The differences of a dialect, for one crawler."""

    agent: str
    dialect: Dialect
    differences: Differences


def difference(
    before: Rules, after: Rules, budget: Budget | None = None, *, once: bool = False
) -> Differences:
    """Return the differences between two rule sets, with a shortest URL for each pair of rules.

    Rules with different readings are compared only on URLs that clients send, see
    `koster.analysis`. With ``once``, only one of the pairs of each rule of ``before``, and of those
    of ``after`` that decide where no other rule does.

    >>> import koster
    >>> old = koster.parse("User-agent: *\\nDisallow: /a").rules_for("x")
    >>> new = koster.parse("User-agent: *\\nDisallow: /a/").rules_for("x")
    >>> [(each.url, each.is_opened) for each in difference(old, new).found]
    [('/a', True)]
    """
    if decide_alike(before, after):
        return Differences(())
    budget = budget or Budget()
    try:
        budget.spend(_LEAST_STEPS + (count_rules(before) + count_rules(after)) // _RULES_PER_STEP)
        texts = plain_texts(before, after)
        if texts is None:
            urls, is_proved = Pairs(before, after, budget).urls(once=once)
        else:
            urls, is_proved = _urls_decided_differently(before, after, texts), True
    except BudgetSpentError:
        return Differences((), is_proved=False)
    old, new = selection_of(before), selection_of(after)
    # Dialects may make several patterns of a rule.
    found: dict[object, Difference] = {}
    for url in sorted(urls, key=lambda url: (len(url), url))[:_MAX_PLAIN]:
        each = Difference(
            url,
            decision_by(before, url, old.number_for(url)),
            decision_by(after, url, new.number_for(url)),
        )
        if each.before.allowed == each.after.allowed:
            # The engine disagrees with the search.
            is_proved = False
        else:
            found.setdefault((_line(each.before), _line(each.after)), each)
    return Differences((*found.values(),), is_proved and len(urls) <= _MAX_PLAIN)


def _line(decision: Decision) -> int:
    return decision.rule.line if decision.rule else 0


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
        return are_plain(texts) or all(
            is_text_read_alike(each, decodes=False) and not digits_of_runs(each) for each in texts
        )
    return are_plain(texts) and {text[:1] for text in texts} <= {b"", b"/"}


def count_rules(rules: Rules) -> int:
    """Return the number of the Allow and Disallow lines of a rule set."""
    return selection_of(rules).count_rules()


def count_different(rules: Rules) -> int:
    """Return the number of distinct patterns of a rule set."""
    return len({rule[:4] for rule in selection_of(rules).compiled_rules()})


def plain_texts(*sets: Rules) -> set[bytes] | None:
    """Return the texts of all patterns, or None if one is more than the beginning of paths.

    Also None if one begins like /robots.txt, which is read in its own way.
    """
    compiled = [rule for rules in sets for rule in selection_of(rules).compiled_rules()]
    texts = {rule[0] for rule in compiled} - {b""}
    lines = b"\n".join([b"", *texts])
    is_plain = (
        are_plain(texts)
        and lines.count(b"\n/") == len(texts)
        and _ROBOTS_TXT not in lines
        and not any(rule[2] == SHELL or rule[3] for rule in compiled)
    )
    return texts if is_plain else None


def _urls_decided_differently(before: Rules, after: Rules, texts: set[bytes]) -> list[str]:
    """Return a shortest URL for each pair of plain patterns that decide one differently.

    No search is needed: if a URL is decided by two patterns, one of each set, so is the text of the
    longer one, because fewer patterns match it, and these two are among them. So the texts of all
    patterns are all URLs to look at.
    """
    # The engine finds rules next to one another faster.
    urls = [with_host_if_ambiguous(each.decode("ascii")) for each in sorted({*texts, b"/"})]
    found: dict[tuple[int, int], str] = {}
    old, new = selection_of(before), selection_of(after)
    pairs = zip(urls, before.allowed_many(urls), after.allowed_many(urls), strict=True)
    for url, was_allowed, is_allowed in pairs:
        if was_allowed != is_allowed:
            numbers = old.number_for(url), new.number_for(url)
            found[numbers] = min(found.get(numbers, url), url, key=len)
    return [*found.values()]


def disagreements(
    robots: RobotsTxt,
    dialects: Iterable[Dialect],
    agents: Iterable[str],
    budget: Budget | None = None,
) -> tuple[Disagreement, ...]:
    """Return where dialects decide differently from a file's own dialect, for some crawlers.

    Pairs that are proved to be equal are omitted.
    """
    others = [parse(robots.body, dialect) for dialect in dialects]
    budget = budget or Budget(_STEPS_OF_FILE)
    found = []
    for agent in agents:
        before = rules_for_data(robots, agent)
        for other in others:
            differences = difference(before, rules_for_data(other, agent), budget)
            if not differences.are_equal:
                found.append(Disagreement(agent, other.dialect, differences))
    return tuple(found)

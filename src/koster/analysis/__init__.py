"""Exact analysis of rule sets, with example URLs as proof.

**Rules are ranked patterns.** In each dialect, the rules of a crawler are patterns in order of
precedence (`_ranking`): the first that matches a URL decides it. So every question here is about
URLs that some patterns match and others do not, and `search` answers it, with a shortest URL or a
proof that none exists:

    dead?        decides no URL               it matches, and none before it
    redundant?   changes no decision          it and one below with the opposite verdict match,
                                              and none that is left before that one
    differences  two sets decide differently  one of each set matches, and none before them in both

**Most answers need no search.** A likely URL of a rule (`_examples`) nearly always is decided by
it: the engine says so. A rule with the same text, or one that is only its beginning, surely covers
it (`_patterns`). Two rules interact only if their beginnings and parts allow it: `_index` is the
one index of that. So the work is n log n in the rules of usual files.

**Not proved.** Each call has a `Budget` of steps, and each search a share of it. What is found
until it is spent is true; ``is_proved`` is false, and there may be more. All functions here but the
public ones raise `BudgetSpentError`.

/robots.txt itself, in its plain spelling, is excluded if the dialect exempts it. URLs are paths
with their query; if a path would be parsed as a host (``//a``), the URL is absolute.

>>> import koster
>>> robots = koster.parse("User-agent: *\\nDisallow: /a\\nDisallow: /a*b\\nDisallow: /a")
>>> for dead in dead_rules(robots.rules_for("x")).rules:
...     print(dead.rule.line, [rule.line for rule in dead.covered_by])
4 [2]
"""

from __future__ import annotations

from ._differences import (
    Difference,
    Differences,
    Disagreement,
    count_different,
    count_rules,
    decide_alike,
    difference,
    disagreements,
)
from ._effects import (
    Cause,
    DeadRule,
    DeadRules,
    IdleRule,
    IdleRules,
    dead_rules,
    idle_rules,
    redundant_rules,
)
from ._extent import Classification, Extent, classify, likely_urls
from ._files import MAX_RULES_OF_SETS, Limit, WholeFile, most_rules_to_check, rule_sets
from ._names import EVERYBODY, first_of, letters_of, names_in, paired_names
from ._search import Budget, BudgetSpentError

__all__ = [
    "EVERYBODY", "MAX_RULES_OF_SETS", "Budget", "BudgetSpentError", "Cause", "Classification",
    "DeadRule", "DeadRules", "Difference", "Differences", "Disagreement", "Extent", "IdleRule",
    "IdleRules", "Limit", "WholeFile", "classify", "count_different", "count_rules", "dead_rules",
    "decide_alike", "difference", "disagreements", "first_of", "idle_rules", "letters_of",
    "likely_urls", "most_rules_to_check", "names_in", "paired_names", "redundant_rules",
    "rule_sets",
]  # fmt: skip

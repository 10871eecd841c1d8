"""Exact analysis of rule sets, with example URLs as proof.

The rules of one crawler in one dialect are a ranked list of patterns, so finite automata determine
which rule decides. Results are therefore exact: each claim comes with a shortest example URL, and
"no such URL" is proved. If that takes too many states, the result is marked as not proved
(``is_proved``) and has what was found so far.

/robots.txt itself, in its plain spelling, is excluded if the dialect exempts it. URLs are paths
with their query; if a path would be parsed as a host (``//a``), the URL is absolute.

>>> import koster
>>> robots = koster.parse("User-agent: *\\nDisallow: /a\\nDisallow: /a*b\\nDisallow: /a")
>>> for dead in dead_rules(robots.rules_for("x")).rules:
...     print(dead.rule.line, [rule.line for rule in dead.covered_by])
4 [2]
"""

from __future__ import annotations

from ._alike import count_rules, decide_alike, least_sets
from ._differences import (
    Difference,
    Differences,
    Disagreement,
    difference,
    difference_of,
    disagreements,
)
from ._files import MAX_RULES_OF_SETS, Limit, WholeFile, max_rules_of, rule_sets
from ._names import EVERYBODY, first_of, letters_of, names_in, paired_names
from ._questions import (
    Cause,
    Classification,
    DeadRule,
    DeadRules,
    Extent,
    IdleRule,
    IdleRules,
    classify,
    dead_rules,
    idle_rules,
    likely_urls,
    redundant_lines,
    redundant_rules,
)
from ._ranked import Ranked
from ._rankings import Rankings
from ._search import Budget, BudgetSpentError

__all__ = [
    "EVERYBODY",
    "MAX_RULES_OF_SETS",
    "Budget",
    "BudgetSpentError",
    "Cause",
    "Classification",
    "DeadRule",
    "DeadRules",
    "Difference",
    "Differences",
    "Disagreement",
    "Extent",
    "IdleRule",
    "IdleRules",
    "Limit",
    "Ranked",
    "Rankings",
    "WholeFile",
    "classify",
    "count_rules",
    "dead_rules",
    "decide_alike",
    "difference",
    "difference_of",
    "disagreements",
    "first_of",
    "idle_rules",
    "least_sets",
    "letters_of",
    "likely_urls",
    "max_rules_of",
    "names_in",
    "paired_names",
    "redundant_lines",
    "redundant_rules",
    "rule_sets",
]

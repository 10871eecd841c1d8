"""Questions about whole rule sets, each answered with a URL that proves it.

The rules of one robot in one dialect are a ranked list of patterns; which of them decides is a
matter of finite automata. So these answers are exact: a claim that something is so comes with a
shortest URL that shows it, and "no such URL" is proved. Only where that would take too many states
an answer says that it is not proved (``is_proved``), and gives what was found.

/robots.txt itself is left out wherever a dialect exempts it, in its plain writing. URLs are
paths with their query; where one would be read as a host (``//a``) it is a whole URL.

>>> import koster
>>> robots = koster.parse("User-agent: *\\nDisallow: /a\\nDisallow: /a*b\\nDisallow: /a")
>>> for dead in dead_rules(robots.rules_for("x")).rules:
...     print(dead.rule.line, [rule.line for rule in dead.covered_by])
4 [2]
"""

from __future__ import annotations

from ._differences import Difference, Differences, Disagreement, difference, disagreements
from ._files import EVERYBODY, WholeFile, first_of, letters_of, names_in, paired_names, rule_sets
from ._questions import (
    Cause,
    Classification,
    DeadRule,
    DeadRules,
    Extent,
    IdleRule,
    classify,
    dead_rules,
    idle_rules,
    likely_urls,
    redundant_rules,
)
from ._search import Budget

__all__ = [
    "EVERYBODY",
    "Budget",
    "Cause",
    "Classification",
    "DeadRule",
    "DeadRules",
    "Difference",
    "Differences",
    "Disagreement",
    "Extent",
    "IdleRule",
    "WholeFile",
    "classify",
    "dead_rules",
    "difference",
    "disagreements",
    "first_of",
    "idle_rules",
    "letters_of",
    "likely_urls",
    "names_in",
    "paired_names",
    "redundant_rules",
    "rule_sets",
]

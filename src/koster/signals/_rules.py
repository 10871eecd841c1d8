"""What the rules of X-Robots-Tag, Robots-Tag and meta robots state.

They are restrictive: all that bind a crawler count, whichever header or tag they are in. See
https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from ..crawlers import registered
from ._dates import moments_of
from ._grammars import NOAI
from ._model import Grammar, Reading, Stated, Statement, Use
from ._notes import first_of, quoted, shortened
from ._words import (
    LIMITS_OF_OPERATORS,
    OTHER_RULES,
    ROBOTS_RULES,
    RULES_OF_OPERATORS,
    RULES_WITH_VALUES,
    OperatorRule,
)

#: Product tokens: anything else before a colon is no crawler.
_CRAWLER = re.compile(r"\*|(?=[0-9_.-]*[A-Za-z])[\w.-]{1,100}", re.ASCII)
#: The names of rules.
RULES = frozenset(name for name in ROBOTS_RULES if ":" not in name) | OTHER_RULES
_NUMBER = re.compile(r"-?[0-9]{1,10}")
#: Parts of a date between commas: "Friday, June 25, 2010".
_MAX_DATE_PARTS = 3


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule.

    Attributes:
        where: Its place.
        crawler: Whom it binds; empty: everybody.
        text: The rule as it is written.
        name: Its name, in lower case.
        value: What follows the colon.
    """

    where: str
    crawler: str
    text: str
    name: str
    value: str = ""

    @property
    def key(self) -> str:
        """Its name in the tables: with the number, if that has a meaning of its own."""
        if self.name == "max-snippet" and _NUMBER.fullmatch(self.value):
            with_number = f"{self.name}:{int(self.value)}"
            return with_number if with_number in ROBOTS_RULES else self.name
        return self.name


def rules_in(
    where: str, content: str, crawler: str = "", known: Mapping[str, str] | None = None
) -> Iterator[Rule]:
    """Yield the rules of a header or tag.

    Args:
        where: Its place.
        content: The rules, with commas between them.
        crawler: Whom the rules bind.
        known: The names of crawlers, by themselves in lower case. Then names, also others, may
            precede rules, with a colon: each binds the rules after it.
    """
    parts = [part.strip() for part in content.split(",")]
    number = 0
    while number < len(parts):
        text = parts[number]
        name, colon, value = _split(text)
        if colon and known is not None and _may_be_crawler(name):
            crawler = "" if name == "*" else known.get(name.lower(), name)
            text = value
            name, _, value = _split(text)
        count = 1
        if name.lower() == "unavailable_after":
            value, count = _joined_date(value, parts[number + 1 : number + _MAX_DATE_PARTS])
            text = f"{name}: {value}"
        if text:
            yield Rule(where, crawler, shortened(text), name.lower(), value)
        number += count


def _split(text: str) -> tuple[str, str, str]:
    name, colon, value = text.partition(":")
    return name.strip(), colon, value.strip()


def _may_be_crawler(name: str) -> bool:
    return name.lower() not in RULES and _CRAWLER.fullmatch(name) is not None


def _joined_date(value: str, following: list[str]) -> tuple[str, int]:
    """Return a date with the parts that belong to it, and their number."""
    joined = value
    for count, part in enumerate([*following, ""], 1):
        if moments_of(joined) is not None:
            return joined, count
        joined += f", {part}"
    return value, 1


def crawler_names(agents: Iterable[str]) -> Mapping[str, str]:
    """Return the product tokens of known crawlers, and agents, by themselves in lower case."""
    return _names_with(tuple(agents))


@lru_cache(maxsize=16)
def _names_with(agents: tuple[str, ...]) -> Mapping[str, str]:
    tokens = [agent.partition("/")[0].strip() for agent in agents]
    tokens += (each.token for each in registered())
    return {token.lower(): token for token in tokens if token}


def read_rules(
    rules: Iterable[Rule], grammar: Grammar, now: datetime, *, in_headers: bool = False
) -> Reading:
    """Return what rules state: those of all headers with a name, or of all tags of a page."""
    return _Reader(rules, grammar, now, in_headers).reading()


class _Reader:
    """Reads rules together: what some mean depends on others."""

    def __init__(
        self, rules: Iterable[Rule], grammar: Grammar, now: datetime, in_headers: bool
    ) -> None:
        self._rules = list(dict.fromkeys(rules))
        self._grammar = grammar
        self._now = now
        self._in_headers = in_headers
        self._statements: list[Statement] = []
        self._unknown: list[str] = []
        self._values: list[str] = []
        self._meanings: list[str] = []
        #: Whom each rule binds.
        self._bound = {(each.crawler.lower(), each.key) for each in self._rules}

    def reading(self) -> Reading:
        for rule in self._rules:
            self._read(rule)
        return Reading(
            list(dict.fromkeys(self._statements)),
            [
                *dict.fromkeys(self._meanings),
                *first_of(self._values),
                *first_of(self._unknown, "unknown rule"),
            ],
        )

    def _read(self, rule: Rule) -> None:
        if rule.name == "unavailable_after":
            self._read_date(rule)
        elif rule.name == "max-snippet":
            self._read_length(rule)
        elif rule.name not in RULES or (rule.value and rule.name not in RULES_WITH_VALUES):
            self._unknown.append(_unknown(rule))
        elif rule.name == "noimageai":
            self._values.append(f"{rule.where}: {rule.text} is about AI training, on pictures")
        elif rule.name in ROBOTS_RULES:
            self._state(rule)

    def _read_date(self, rule: Rule) -> None:
        """Read after which date the page is to be found no more."""
        moments = moments_of(rule.value)
        if moments is None:
            self._values.append(f"{rule.where}: {rule.text} is ignored: no date that can be read")
        elif self._now > moments[1]:
            self._add(rule, Use.SEARCH, Stated.NO)
        elif self._now <= moments[0]:
            self._values.append(f"{rule.where}: {rule.text} is in the future")
        else:
            self._add(rule, Use.SEARCH, Stated.UNDECIDED)
            self._values.append(
                f"{rule.where}: {rule.text} may have passed: it has no time, or no zone"
            )

    def _read_length(self, rule: Rule) -> None:
        """Read how long an excerpt may be."""
        if rule.key in ROBOTS_RULES:
            self._state(rule)
        elif not _NUMBER.fullmatch(rule.value):
            self._values.append(f"{rule.where}: {rule.text} is ignored: it has no number")
        elif not rule.value.startswith("-"):
            number = int(rule.value)
            self._values.append(f"{rule.where}: snippets are limited to {number:,} characters")
            self._add_limit(rule)

    def _state(self, rule: Rule) -> None:
        """Add what the tables say about a rule."""
        use, stated = ROBOTS_RULES[rule.key]
        self._add(rule, use, stated)
        for each in RULES_OF_OPERATORS.get(rule.key, ()):
            if _binds(rule, each.crawler) and (each.in_headers or not self._in_headers):
                self._add_of_operator(rule, each)
        self._add_limit(rule)

    def _add(self, rule: Rule, use: Use, stated: Stated, crawler: str | None = None) -> None:
        grammar = NOAI if rule.name == "noai" else self._grammar
        bound = rule.crawler if crawler is None else crawler
        self._statements.append(Statement(grammar, rule.where, rule.text, use, stated, bound))

    def _add_of_operator(self, rule: Rule, meaning: OperatorRule) -> None:
        crawler = meaning.crawler
        if self._bound.isdisjoint((who, meaning.unless) for who in ("", crawler.lower())):
            self._add(rule, meaning.use, Stated.NO, crawler)
            self._meanings.append(
                f"{rule.key} also means {meaning.use}: no to {crawler} ({meaning.source})"
            )
        else:
            self._meanings.append(
                f"{rule.key} with {meaning.unless} means only {meaning.unless} to {crawler} "
                f"({meaning.source})"
            )

    def _add_limit(self, rule: Rule) -> None:
        limit = LIMITS_OF_OPERATORS.get(rule.name)
        if limit is not None and _binds(rule, limit.crawler):
            self._meanings.append(
                f"{rule.name} leaves {limit.crawler} {limit.what} ({limit.source})"
            )


def _binds(rule: Rule, crawler: str) -> bool:
    return rule.crawler.lower() in ("", crawler.lower())


def _unknown(rule: Rule) -> str:
    words = rule.text.lower().split()
    hint = ": write commas between rules" if len(words) > 1 and RULES.issuperset(words) else ""
    return f"{rule.where}: unknown rule {quoted(rule.text)}{hint}"

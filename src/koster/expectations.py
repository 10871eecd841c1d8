"""Expectations: tests for a robots.txt, as data.

A TOML file: ``robots`` is the path of the robots.txt, ``[[expect]]`` tables define the expected
access, ``same-as`` is the path of an equivalent file, ``no-dead-rules`` requires that every rule
has an effect.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ._asking import rules_for_data
from ._toml import TomlError, read_toml
from ._wording import truncated
from .analysis import EVERYBODY, Budget, WholeFile, likely_urls
from .crawlers import UnknownPurposeError, agent_for, expand_agent
from .dialects import GOOGLE, RFC9309, Dialect, dialect_named
from .diff import compare
from .errors import KosterError, MissingExtraError, UnknownDialectError
from .robots import RobotsTxt, Rules


class ExpectationsError(KosterError, ValueError):
    """Invalid expectations file."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """One expectation: whether an agent may fetch a URL."""

    agent: str
    url: str
    allowed: bool

    def __str__(self) -> str:
        return f"{self.agent} should{'' if self.allowed else ' not'} be allowed to fetch {self.url}"


@dataclass(frozen=True, slots=True)
class Expectations:
    """The expectations for a file. ``robots`` and ``same_as`` are paths or sites as written."""

    robots: str | None
    dialect: Dialect
    questions: tuple[Expectation, ...]
    same_as: str | None = None
    no_dead_rules: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one expectation. ``why`` is the reason of a failure, ``line`` its line."""

    name: str
    passed: bool
    why: str = ""
    line: int | None = None


#: Maximum numbers of URLs and names of a table, and of tables, in what `written` returns.
_MAX_URLS = 5
_MAX_NAMES = 500
_MAX_TABLES = 20
#: Steps to find the URLs.
_MAX_STEPS = 1_000_000

_KEYS = {"robots", "dialect", "expect", "same-as", "no-dead-rules"}
#: `written` names them beside ``*``: an owner wants to know when they get a group of their own.
_SEARCH_CRAWLERS = ("Googlebot", "bingbot")

#: The maximum length of a value in a message.
_MAX_SHOWN = 100
#: Maximum number of pairs of an agent and a URL: some seconds of work.
_MAX_QUESTIONS = 100_000

_EXPECT_KEYS = {"agent", "allow", "disallow"}


def read(text: str) -> Expectations:
    """Parse an expectations file.

    Raises:
        ExpectationsError: the file is invalid.

    >>> read('[[expect]]\\nagent = "Googlebot"\\nallow = "/"\\n').questions
    (Expectation(agent='Googlebot', url='/', allowed=True),)
    """
    try:
        table = read_toml(text)
    except TomlError as error:
        raise ExpectationsError(f"invalid TOML: {error}") from error
    _check_keys(table, _KEYS, "the file")
    try:
        dialect = dialect_named(_get_typed(table, "dialect", str, "a name") or RFC9309.name)
    except UnknownDialectError as error:
        raise ExpectationsError(str(error)) from error
    expect = _get_typed(table, "expect", list, "[[expect]] tables") or []
    found = Expectations(
        robots=_get_typed(table, "robots", str, "a path"),
        dialect=dialect,
        questions=_all_questions(expect),
        same_as=_get_typed(table, "same-as", str, "a path"),
        no_dead_rules=bool(_get_typed(table, "no-dead-rules", bool, "true or false")),
    )
    if not (found.questions or found.same_as or found.no_dead_rules):
        raise ExpectationsError("no expectations: add [[expect]], same-as or no-dead-rules")
    return found


def _check_keys(table: dict[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(table) - known)
    if unknown:
        keys = ", ".join(sorted(known))
        raise ExpectationsError(
            f"unknown key {_shown(unknown[0])} in {where}: valid keys are {keys}"
        )


def _get_typed(table: dict[str, Any], key: str, type_: type, what: str) -> Any:
    value = table.get(key)
    if value is not None and not isinstance(value, type_):
        raise ExpectationsError(f"{key} must be {what}, not {_shown(value)}")
    return value


def _shown(value: object) -> str:
    return truncated(repr(value), _MAX_SHOWN)


def _all_questions(expect: list[object]) -> tuple[Expectation, ...]:
    """Return the questions of all tables.

    Raises:
        ExpectationsError: a table is invalid, or the questions are too many.
    """
    found: list[Expectation] = []
    for each in expect:
        found += islice(_questions(each), _MAX_QUESTIONS + 1 - len(found))
        if len(found) > _MAX_QUESTIONS:
            raise ExpectationsError(f"more than {_MAX_QUESTIONS:,} pairs of an agent and a URL")
    return tuple(found)


def _questions(each: object) -> Iterator[Expectation]:
    if not isinstance(each, dict):
        raise ExpectationsError("expect must be [[expect]] tables")
    _check_keys(each, _EXPECT_KEYS, "[[expect]]")
    asked = [
        (_validate_url(url), allowed)
        for key, allowed in (("allow", True), ("disallow", False))
        for url in _strings(each, key)
    ]
    if not asked:
        raise ExpectationsError("[[expect]] needs allow or disallow")
    for agent in _strings(each, "agent") or ["*"]:
        try:
            names = expand_agent(agent)
        except (MissingExtraError, UnknownPurposeError) as error:
            raise ExpectationsError(str(error)) from error
        yield from (Expectation(name, url, allowed) for name in names for url, allowed in asked)


def _validate_url(url: str) -> str:
    """Return a URL or path.

    Raises:
        ExpectationsError: it is neither.
    """
    if url.startswith("/") or "://" in url:
        return url
    raise ExpectationsError(f"invalid path or URL {_shown(url)}: a path must start with /")


def _strings(table: dict[str, Any], key: str) -> list[str]:
    value = table.get(key, [])
    strings = [value] if isinstance(value, str) else value
    if not isinstance(strings, list) or not all(isinstance(each, str) for each in strings):
        raise ExpectationsError(f"{key} must be a string or a list of strings, not {_shown(value)}")
    return strings


def check(
    expectations: Expectations, robots: RobotsTxt, same_as: RobotsTxt | None = None
) -> list[Result]:
    """Check all expectations; ``same_as`` is the parsed file of that name."""
    results = [_check_question(question, robots) for question in expectations.questions]
    if expectations.same_as is not None and same_as is not None:
        results.append(_check_same_as(expectations.same_as, same_as, robots))
    if expectations.no_dead_rules:
        results.append(_check_no_dead_rules(robots))
    return results


def _check_question(question: Expectation, robots: RobotsTxt) -> Result:
    decision = rules_for_data(robots, agent_for(question.agent)).decide(question.url)
    if decision.allowed == question.allowed:
        return Result(str(question), True)
    rule = decision.rule
    by = f"line {rule.line}: {rule}" if rule else str(decision.reason)
    if decision.falls_back_to:
        by += f"; falls back to {decision.falls_back_to}"
    verdict = f"it is {'allowed' if decision.allowed else 'blocked'} ({by})"
    return Result(str(question), False, verdict, rule.line if rule else None)


def _check_same_as(name: str, other: RobotsTxt, robots: RobotsTxt) -> Result:
    title = f"same decisions as {name}"
    comparison = compare(other, robots)
    if comparison.decides_alike:
        return Result(title, True)
    for change in comparison.changes:
        for each in change.differences.found:
            after = each.after
            line = after.rule.line if after.rule else None
            here, there = ("allowed", "blocked") if after.allowed else ("blocked", "allowed")
            by = f"line {line}" if line else str(after.reason)
            why = f"{each.url} is {here} for {after.agent} ({by}), but {there} in {name}"
            return Result(title, False, why, line)
    return Result(title, False, "not proved: the files differ too much")


def _check_no_dead_rules(robots: RobotsTxt) -> Result:
    title = "no dead rules"
    # As in koster lint: a rule that Google's parser needs is not dead.
    beside = (GOOGLE,) if robots.dialect == RFC9309 else ()
    whole = WholeFile(robots, beside)
    for dead, name in whole.surely_dead:
        others = ", ".join(str(rule.line) for rule in dead.covered_by)
        by = f": overridden by line {others}" if others else ""
        why = f"line {dead.rule.line} has no effect for {name} ({dead.rule}){by}"
        return Result(title, False, why, dead.rule.line)
    why = "" if whole.is_proved else "not proved: too many rules"
    return Result(title, whole.is_proved, why)


def written(robots: RobotsTxt, path: str) -> str:
    """Return an expectations file that a robots.txt meets: what each of its groups does now.

    ``path`` is that of the robots.txt, relative to the expectations.

    >>> import koster
    >>> print(written(koster.parse("User-agent: *\\nDisallow: /cart/"), "robots.txt"))
    # What the file does now. Change it to what it should do.
    robots = "robots.txt"
    no-dead-rules = true
    <BLANKLINE>
    [[expect]]
    agent = ["*", "Googlebot", "bingbot"]
    allow = ["/"]
    disallow = ["/cart/"]
    <BLANKLINE>
    """
    lines = [
        "# What the file does now. Change it to what it should do.",
        f"robots = {json.dumps(path)}",
    ]
    if robots.dialect != RFC9309:
        lines.append(f"dialect = {json.dumps(robots.dialect.name)}")
    if _check_no_dead_rules(robots).passed:
        lines.append("no-dead-rules = true")
    budget = Budget(_MAX_STEPS)
    for agents, rules in _groups(robots):
        likely = likely_urls(rules, budget).values()
        lines += [
            "",
            "[[expect]]",
            f"agent = {json.dumps(agents[0] if len(agents) == 1 else agents)}",
        ]
        some = _some_of_each(dict.fromkeys(["/", *likely]), rules)
        lines += [f"{key} = {json.dumps(urls)}" for key, urls in some.items() if urls]
    return "\n".join([*lines, ""])


def _some_of_each(urls: Iterable[str], rules: Rules) -> dict[str, list[str]]:
    """Return the first URLs that are allowed, and that are not."""
    found: dict[str, list[str]] = {"allow": [], "disallow": []}
    for url in urls:
        some = found["allow" if rules.allowed(url) else "disallow"]
        if len(some) < _MAX_URLS:
            some.append(url)
        elif all(len(each) == _MAX_URLS for each in found.values()):
            break
    return found


def _groups(robots: RobotsTxt) -> Iterator[tuple[list[str], Rules]]:
    """Yield the rule sets of a file, each with the names that have it.

    With the first names if all of them take too long to select.
    """
    whole = WholeFile(robots, most=_MAX_TABLES)
    for name, rules in whole.sets:
        if name == EVERYBODY:
            searching = (each for each in _SEARCH_CRAWLERS if not robots.rules_for(each).is_named)
            yield [EVERYBODY, *searching], rules
        else:
            yield _own_names(whole, rules)[:_MAX_NAMES] or [name], rules


def _own_names(whole: WholeFile, rules: Rules) -> list[str]:
    """Return the names in the groups of a rule set that select just these groups."""
    own = []
    for agent in dict.fromkeys(agent for group in rules.groups for agent in group.agents):
        selected = whole.rules_for(agent_for(agent)) if agent.strip("*") else None
        if selected is not None and selected.group_lines == rules.group_lines:
            own.append(agent)
    return own

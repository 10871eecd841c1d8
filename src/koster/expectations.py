"""Expectations: tests for a robots.txt, as data.

A table of TOML: ``robots`` names the file, ``[[expect]]`` tables say who may fetch what,
``same-as`` names a file that must decide alike, ``no-dead-rules`` asks that every rule decide
something.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .analysis import WholeFile
from .crawlers import Purpose, of_purposes
from .dialects import GOOGLE, RFC9309, dialect_named
from .diff import compare
from .errors import KosterError, MissingExtraError, UnknownDialectError

if TYPE_CHECKING:
    from .dialects import Dialect
    from .robots import RobotsTxt


class ExpectationsError(KosterError, ValueError):
    """A file of expectations is none."""


@dataclass(frozen=True, slots=True)
class Question:
    """One thing that is expected: a robot may, or may not, fetch a URL."""

    agent: str
    url: str
    allowed: bool

    def __str__(self) -> str:
        return f"{self.agent} should{'' if self.allowed else ' not'} be allowed to fetch {self.url}"


@dataclass(frozen=True, slots=True)
class Expectations:
    """What is expected of a file. ``robots`` and ``same_as`` are paths or sites as written."""

    robots: str | None
    dialect: Dialect
    questions: tuple[Question, ...]
    same_as: str | None = None
    no_dead_rules: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """How one expectation turned out. ``why`` says what was found, ``line`` where."""

    name: str
    passed: bool
    why: str = ""
    line: int | None = None


_KEYS = {"robots", "dialect", "expect", "same-as", "no-dead-rules"}
_EXPECT_KEYS = {"agent", "allow", "disallow"}


def read(text: str) -> Expectations:
    """Read a file of expectations.

    Raises:
        ExpectationsError: with what is wrong in it.

    >>> read('[[expect]]\\nagent = "Googlebot"\\nallow = "/"\\n').questions
    (Question(agent='Googlebot', url='/', allowed=True),)
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ExpectationsError(f"is no TOML: {error}") from error
    _check_keys(table, _KEYS, "the file")
    try:
        dialect = dialect_named(_of_type(table, "dialect", str, "a name") or RFC9309.name)
    except UnknownDialectError as error:
        raise ExpectationsError(str(error)) from error
    expect = _of_type(table, "expect", list, "[[expect]] tables") or []
    found = Expectations(
        robots=_of_type(table, "robots", str, "a path"),
        dialect=dialect,
        questions=tuple(question for each in expect for question in _questions(each)),
        same_as=_of_type(table, "same-as", str, "a path"),
        no_dead_rules=bool(_of_type(table, "no-dead-rules", bool, "true or false")),
    )
    if not (found.questions or found.same_as or found.no_dead_rules):
        raise ExpectationsError("expects nothing: write [[expect]], same-as or no-dead-rules")
    return found


def _check_keys(table: dict[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(table) - known)
    if unknown:
        raise ExpectationsError(f"{where} has {unknown[0]!r}; there are {', '.join(sorted(known))}")


def _of_type(table: dict[str, Any], key: str, type_: type, what: str) -> Any:
    value = table.get(key)
    if value is not None and not isinstance(value, type_):
        raise ExpectationsError(f"{key} must be {what}, not {value!r}")
    return value


def _questions(each: object) -> list[Question]:
    if not isinstance(each, dict):
        raise ExpectationsError("expect must be [[expect]] tables")
    _check_keys(each, _EXPECT_KEYS, "[[expect]]")
    agents = [name for agent in _strings(each, "agent") or ["*"] for name in robots_meant(agent)]
    found = [
        Question(agent, url, allowed)
        for agent in agents
        for key, allowed in (("allow", True), ("disallow", False))
        for url in map(_checked, _strings(each, key))
    ]
    if not found:
        raise ExpectationsError("[[expect]] has neither allow nor disallow")
    return found


def _checked(url: str) -> str:
    """Return a URL, or a path.

    Raises:
        ExpectationsError: it is neither, and would be taken for some path.
    """
    if url.startswith("/") or "://" in url:
        return url
    raise ExpectationsError(f"{url!r} is neither a path, which begins with /, nor a URL")


def robots_meant(agent: str) -> list[str]:
    """Return the robots that are meant: ``@`` and a purpose are all known crawlers with it.

    Raises:
        ExpectationsError: there is no such purpose, or nobody.
    """
    if not agent.startswith("@"):
        if not agent.strip():
            raise ExpectationsError("an agent has no name")
        return [agent]
    wanted = agent[1:].lower().replace("-", " ").replace("_", " ")
    purpose = next((each for each in Purpose if each.value.lower() == wanted), None)
    if purpose is None:
        there_are = ", ".join(f"@{each.value.lower().replace(' ', '-')}" for each in Purpose)
        raise ExpectationsError(f"{agent!r} is no kind of crawlers; there are {there_are}")
    try:
        return [each.token for each in of_purposes([purpose])]
    except MissingExtraError as error:
        raise ExpectationsError(str(error)) from error


def _strings(table: dict[str, Any], key: str) -> list[str]:
    value = table.get(key, [])
    strings = [value] if isinstance(value, str) else value
    if not isinstance(strings, list) or not all(isinstance(each, str) for each in strings):
        raise ExpectationsError(f"{key} must be a string or a list of strings, not {value!r}")
    return strings


def check(
    expectations: Expectations, robots: RobotsTxt, same_as: RobotsTxt | None = None
) -> list[Result]:
    """Return how each expectation turns out; ``same_as`` is the file of that name, parsed."""
    results = [_answer(question, robots) for question in expectations.questions]
    if expectations.same_as is not None and same_as is not None:
        results.append(_same(expectations.same_as, same_as, robots))
    if expectations.no_dead_rules:
        results.append(_no_dead_rules(robots))
    return results


def _answer(question: Question, robots: RobotsTxt) -> Result:
    decision = robots.decide(question.url, question.agent)
    if decision.allowed == question.allowed:
        return Result(str(question), True)
    rule = decision.rule
    by = f"line {rule.line}: {rule}" if rule else f"no line decides: {decision.reason}"
    verdict = f"it may{'' if decision.allowed else ' not'} ({by})"
    return Result(str(question), False, verdict, rule.line if rule else None)


def _same(name: str, other: RobotsTxt, robots: RobotsTxt) -> Result:
    title = f"decides as {name} does"
    comparison = compare(other, robots)
    if comparison.decides_alike:
        return Result(title, True)
    for change in comparison.changes:
        for each in change.differences.found:
            after = each.after
            line = after.rule.line if after.rule else None
            verdict = "may" if after.allowed else "may not"
            by = f"line {line}" if line else str(after.reason)
            why = f"{after.agent} {verdict} fetch {each.url} here ({by}), and there the other way"
            return Result(title, False, why, line)
    return Result(title, False, "not proved: the files are too unlike")


def _no_dead_rules(robots: RobotsTxt) -> Result:
    title = "every rule decides something"
    # As koster lint has it: what Google's parser needs is no dead rule.
    beside = (GOOGLE,) if robots.dialect == RFC9309 else ()
    whole = WholeFile(robots, beside)
    for dead, name in whole.surely_dead:
        others = ", ".join(str(rule.line) for rule in dead.covered_by)
        by = f": line {others} decides in its place" if others else ""
        why = f"line {dead.rule.line} decides nothing for {name} ({dead.rule}){by}"
        return Result(title, False, why, dead.rule.line)
    proved = all(each.is_proved for _, _, each in whole.dead)
    return Result(title, proved, "" if proved else "not proved: the rules are too many")

"""How each facade computes a column of the conformance data, and the required agreement."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from logging import getLogger
from typing import Any
from urllib.parse import urlsplit

import koster
from koster.compat import (
    apetest,
    protego,
    robotexclusionrulesparser,
    robotparser,
    robotstxt,
    webcanon,
)
from koster.compat.reppy import Robots


@cache
def facade_dialects(package: str) -> dict[str, koster.Dialect]:
    """Return the dialects of the facades in a package by name: ``koster``, or a copy of it."""
    names = ("robotstxt", "robotparser", "protego", "reppy.robots")
    modules = [importlib.import_module(f"{package}.compat.{name}") for name in names]
    rerp = importlib.import_module(f"{package}.compat.robotexclusionrulesparser")
    policy = importlib.import_module(f"{package}.compat.webcanon._policy")
    dialects = [*(module._DIALECT for module in modules), policy.DIALECT]
    return {dialect.name: dialect for dialect in (*dialects, *rerp._DIALECTS.values())}


Row = dict[str, str]


@dataclass(frozen=True)
class Column:
    """``text``: the files are handed over as text, with bytes that are not UTF-8 replaced.

    ``share`` is the least share of the rows that must agree.
    """

    name: str
    facade: str
    text: bool
    share: float
    parse: Callable[[Any, str], Any]
    answer: Callable[[Any, Row], str]
    #: Whether a different answer is one of the intended differences in docs/guides/migrate.
    is_listed: Callable[[bytes, Any, Row, str], bool] = lambda *_: False

    def expected(self, row: Row) -> str | None:
        """Return the value of the column, or None if its parser raised an error."""
        value = row[self.name]
        return None if value.startswith("E") else value

    def handed(self, body: bytes) -> str | bytes:
        return body.decode("utf-8", "replace") if self.text else body


def _digit(allowed: bool) -> str:
    return "1" if allowed else "0"


def _rerp(body: bytes, agent: str) -> robotexclusionrulesparser.RobotExclusionRulesParser:
    parser = robotexclusionrulesparser.RobotExclusionRulesParser()
    parser.parse(body)
    return parser


def _delay(parser: robotexclusionrulesparser.RobotExclusionRulesParser, row: Row) -> str:
    delay = parser.get_crawl_delay(row["agent"])
    expected = row["rerp_delay"]
    is_equal = delay == (float(expected) if expected else None)
    return expected if is_equal else repr(delay)


_quiet = getLogger("apetest")
_quiet.disabled = True


def _apetest(text: str, agent: str) -> apetest.Rules:
    records = apetest.scan_robots_txt(text.splitlines(), _quiet)
    return apetest.lookup_robots_rules(apetest.parse_robots_txt(records, _quiet), agent)


def _apetest_answer(rules: apetest.Rules, row: Row) -> str:
    try:
        path = apetest.unescape_path(urlsplit(row["url"]).path)
    except ValueError:
        return "E"
    return _digit(apetest.path_allowed(path, rules))


def _begins_with_mark(body: bytes, *_: object) -> bool:
    return body.startswith(b"\xef\xbb\xbf")


def _has_group_without_rules(
    _: bytes, policy: webcanon.RobotsPolicy, row: Row, answer: str
) -> bool:
    """Return whether the product's own group has no rules; koster applies such groups."""
    named = [rules for token, rules in policy.groups.items() if token in row["agent"].lower()]
    return answer == "allowed_implicit|" and bool(named) and not any(named)


def _webcanon_answer(policy: webcanon.RobotsPolicy, row: Row) -> str:
    verdict, match = webcanon.evaluate_robots(policy, row["url"], row["agent"])
    return f"{verdict.value}|{match.source_line if match else ''}"


COLUMNS = (
    Column(
        "rerp_gym2008", "robotexclusionrulesparser", False, 0.995, _rerp,
        lambda parser, row: _digit(parser.is_allowed(row["agent"], row["url"])),
    ),
    Column(
        "rerp_mk1996", "robotexclusionrulesparser", False, 0.995, _rerp,
        lambda parser, row: _digit(
            parser.is_allowed(row["agent"], row["url"], robotexclusionrulesparser.MK1996)  # type: ignore[attr-defined]
        ),
    ),
    Column("rerp_delay", "robotexclusionrulesparser", False, 1.0, _rerp, _delay),
    Column(
        "ruby", "robotstxt", True, 0.998, lambda text, agent: robotstxt.Parser(agent, text),
        lambda parser, row: _digit(parser.allowed(row["url"])),
    ),
    Column("apetest", "apetest", True, 0.999, _apetest, _apetest_answer, _begins_with_mark),
    Column(
        "webcanon", "webcanon", True, 0.998, lambda text, agent: webcanon.parse_robots(text),
        _webcanon_answer, _has_group_without_rules,
    ),
    Column(
        "protego", "protego", True, 0.995, lambda text, agent: protego.Protego.parse(text),
        lambda parser, row: _digit(parser.can_fetch(row["url"], row["agent"])),
    ),
    Column(
        "reppy", "reppy", False, 0.99,
        lambda body, agent: Robots.parse("https://example.com/robots.txt", body),
        lambda robots, row: _digit(robots.allowed(row["url"], row["agent"])),
    ),
)  # fmt: skip


def agreement(column: Column, rows: list[Row], bodies: dict[str, bytes]) -> tuple[int, list[Row]]:
    """Return the number of rows with an expected answer, and the rows where the facade differs.

    Intended differences are not included.
    """
    parsed: dict[tuple[str, str], Any] = {}
    compared = 0
    differing = []
    for row in rows:
        expected = column.expected(row)
        if expected is not None:
            key = row["site"], row["agent"]
            if key not in parsed:
                body = column.handed(bodies[row["site"]])
                parsed[key] = column.parse(body, row["agent"])
            compared += 1
            answer = column.answer(parsed[key], row)
            if answer != expected and not column.is_listed(
                bodies[row["site"]], parsed[key], row, answer
            ):
                differing.append(row)
    return compared, differing


def robotparser_of(text: str) -> robotparser.RobotFileParser:
    """Return a parser with a parsed text."""
    parser = robotparser.RobotFileParser()
    parser.parse(text.splitlines())
    return parser

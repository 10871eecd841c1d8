"""The generated tables of docs/dialects.md and docs/linting.md: ``python tests/tables.py`` prints them."""

from __future__ import annotations

import enum
from dataclasses import fields
from itertools import combinations

import koster
from koster.compose import PRESETS
from koster.dialects import Dialect, Reading, Statuses
from koster.lint import CHECKS, Family

#: Fields that are not choices, or that have their own table, such as the directives.
NOT_CHOICES = {
    *("name", "source", "spellings", "reading", "versions", "statuses"),
    *("choose", "rewrite", "rewritten"),
}

#: For each two dialects a query with different verdicts: a file, an agent and a URL.
WITNESSES = {
    ("RFC9309", "GOOGLE"): ("User-agent: *\nDisallow: /", "FooBot", "/robots.txt"),
    ("RFC9309", "MK1994"): ("User-agent: *\nDisallow: /a*c", "FooBot", "/abc"),
    ("RFC9309", "MK1996"): ("User-agent: *\nDisallow: /a*c", "FooBot", "/abc"),
    ("RFC9309", "GYM2008"): ("User-agent: *\nDisallow: /a\nAllow: /ab", "FooBot", "/ab"),
    ("RFC9309", "EXTENDED2"): ("User-agent: Bot\nDisallow: /", "BotFoo", "/a"),
    ("RFC9309", "EXTENDED2_1996"): ("User-agent: Bot\nDisallow: /", "BotFoo", "/a"),
    ("GOOGLE", "MK1994"): ("User-agent: *\nDisallow: /a*c", "FooBot", "/abc"),
    ("GOOGLE", "MK1996"): ("User-agent: *\nDisallow: /a*c", "FooBot", "/abc"),
    ("GOOGLE", "GYM2008"): ("User-agent: *\nDisallow: /a\nAllow: /ab", "FooBot", "/ab"),
    ("GOOGLE", "EXTENDED2"): ("User-agent: *\nDisallow: /a*c", "FooBot", "/abc"),
    ("GOOGLE", "EXTENDED2_1996"): ("User-agent: *\nDisallow: /a*c", "FooBot", "/abc"),
    ("MK1994", "MK1996"): ("User-agent: *\nAllow: /ab\nDisallow: /a", "FooBot", "/ab"),
    ("MK1994", "GYM2008"): ("User-agent: *\nDisallow: /a*c", "FooBot", "/abc"),
    ("MK1994", "EXTENDED2"): ("User-agent: Bot\nDisallow: /", "FooBot", "/a"),
    ("MK1994", "EXTENDED2_1996"): ("User-agent: Bot\nDisallow: /", "FooBot", "/a"),
    ("MK1996", "GYM2008"): ("User-agent: *\nDisallow: /a*c", "FooBot", "/abc"),
    ("MK1996", "EXTENDED2"): ("User-agent: Bot\nDisallow: /", "FooBot", "/a"),
    ("MK1996", "EXTENDED2_1996"): ("User-agent: Bot\nDisallow: /", "FooBot", "/a"),
    ("GYM2008", "EXTENDED2"): ("User-agent: Bot\nDisallow: /", "FooBot", "/a"),
    ("GYM2008", "EXTENDED2_1996"): ("User-agent: Bot\nDisallow: /", "FooBot", "/a"),
    ("EXTENDED2", "EXTENDED2_1996"): (
        "User-agent: *\nRobot-version: 2.0\nDisallow: /a*\nAllow: /ab", "FooBot", "/ab",
    ),
}  # fmt: skip


def shown(value: object) -> str:
    """Return a choice as text for the table."""
    if isinstance(value, enum.Enum):
        return value.name.lower().replace("_", " ")
    if isinstance(value, frozenset):
        names = {each.value: each for each in (*koster.Directive, *koster.LineKind)}
        known = [name for name, each in names.items() if each in value]
        return "all" if value >= set(koster.Directive) else ", ".join(known)
    raise TypeError(value)


def _rows() -> list[list[str]]:
    dialects = list(koster.DIALECTS.values())
    rows = [["", *(dialect.name for dialect in dialects)]]
    for each in fields(Dialect):
        if each.name not in NOT_CHOICES:
            cells = [shown(getattr(dialect, each.name)) for dialect in dialects]
            rows.append([f"`{each.name}`", *cells])
    for each in fields(Reading):
        cells = [_reading_cell(dialect, each.name) for dialect in dialects]
        rows.append([f"`reading.{each.name}`", *cells])
    for each in fields(Statuses):
        cells = [_status_cell(getattr(dialect.statuses, each.name)) for dialect in dialects]
        rows.append([f"`statuses.{each.name}`", *cells])
    return rows


def _status_cell(value: frozenset[int] | int) -> str:
    """Return statuses or a number of seconds as text."""
    if isinstance(value, int):
        return f"{value // 86400} d" if value >= 2 * 86400 else f"{value // 3600} h"
    if len(value) > 50:
        missing = sorted(set(range(400, 500)) - value)
        return f"4xx but {', '.join(map(str, missing))}"
    return ", ".join(map(str, sorted(value))) or "none"


def _reading_cell(dialect: Dialect, name: str) -> str:
    """Return a choice of a dialect's reading as text, with versions if they differ."""
    first = shown(getattr(dialect.reading, name))
    versions = {major: shown(getattr(reading, name)) for major, reading in dialect.versions.items()}
    if all(each == first for each in versions.values()):
        return first
    return "; ".join(f"{major}.x: {each}" for major, each in versions.items())


def _table(rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|---" * len(rows[0]) + "|")
    return "\n".join(lines)


def choices() -> str:
    """Return the table of the choices of all dialects."""
    return _table(_rows())


def verdict(file: str, dialect: str, agent: str, url: str) -> str:
    """Return a dialect's verdict as text for the table."""
    return "allowed" if koster.parse(file, koster.DIALECTS[dialect]).allowed(url, agent) else "not"


def pairs() -> str:
    """Return the table of the URLs on which dialects differ."""
    rows = [["these two", "a file", "who asks", "for", "the first", "the second"]]
    for first, second in combinations(koster.DIALECTS, 2):
        file, agent, url = WITNESSES[first, second]
        lines = " / ".join(f"`{line}`" for line in file.splitlines())
        verdicts = [verdict(file, name, agent, url) for name in (first, second)]
        assert verdicts[0] != verdicts[1], (first, second)
        rows.append([f"{first}, {second}", lines, agent, f"`{url}`", *verdicts])
    return _table(rows)


def sources() -> str:
    """Return the table of the dialects' sources."""
    rows = [["dialect", "source"]]
    return _table(rows + [[each.name, each.source] for each in koster.DIALECTS.values()])


def codes() -> str:
    """Return the tables of lint codes by family, for docs/linting.md."""
    parts = []
    for family in Family:
        rows = [
            "| code | severity | what it finds | why, and what to do | source |",
            "|---|---|---|---|---|",
        ]
        rows += [
            f"| {check.code} `{check.name}` | {check.severity} | {_escape(check.title)} | "
            f"{_escape(check.why)} | {_escape(check.source)} |"
            for check in CHECKS
            if check.family is family
        ]
        parts.append(f"### {family.value[:1].upper()}{family.value[1:]}\n\n" + "\n".join(rows))
    return "\n\n".join(parts)


def presets() -> str:
    """Return the rows of the table of presets, for docs/cli.md."""
    return "\n".join(
        f"| `{preset.name}` | {_escape(preset.title)} | {_escape('. '.join(preset.allowed))} |"
        for preset in PRESETS
    )


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


if __name__ == "__main__":
    print(sources(), choices(), pairs(), codes(), presets(), sep="\n\n")

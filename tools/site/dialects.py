"""Tables of dialects: sources, choices, and URLs that two of them decide differently."""

from __future__ import annotations

import enum
from dataclasses import fields
from itertools import combinations

import koster
from koster.dialects import Dialect, Reading, Statuses

from .markdown import table

#: Fields that are not choices, or that have their own table, such as the directives.
NOT_CHOICES = {
    "name", "source", "spellings", "reading", "versions", "statuses",
    "choose", "rewrite", "rewritten",
}  # fmt: skip

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
    rows = [["choice", *(dialect.name for dialect in dialects)]]
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


def choices() -> str:
    """Return the table of the choices of all dialects."""
    headings, *rows = _rows()
    return table(headings, rows)


def verdict(file: str, dialect: str, agent: str, url: str) -> str:
    """Return a dialect's verdict as text for the table."""
    return (
        "allowed" if koster.parse(file, koster.DIALECTS[dialect]).allowed(url, agent) else "blocked"
    )


def pairs() -> str:
    """Return the table of the URLs on which dialects differ."""
    rows = []
    for first, second in combinations(koster.DIALECTS, 2):
        file, agent, url = WITNESSES[first, second]
        lines = " / ".join(f"`{line}`" for line in file.splitlines())
        verdicts = [verdict(file, name, agent, url) for name in (first, second)]
        assert verdicts[0] != verdicts[1], (first, second)
        rows.append([f"{first}, {second}", lines, agent, f"`{url}`", *verdicts])
    return table(["dialects", "file", "crawler", "URL", "first", "second"], rows)


def sources() -> str:
    """Return the table of the dialects' sources."""
    return table(
        ["dialect", "source"], [[each.name, each.source] for each in koster.DIALECTS.values()]
    )


def differences(name: str) -> str:
    """Return the table of the choices in which a dialect differs from RFC9309."""
    first, *rows = _rows()
    column, default = first.index(name), first.index("RFC9309")
    different = [[row[0], row[column], row[default]] for row in rows if row[column] != row[default]]
    return table(["choice", name, "RFC9309"], different)

"""Parsing and matching take linear work.

Work is counted, not timed: the lines of Python that run plus the bytes searched. The tests need
the pure-Python build; the compiled build runs the same steps.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import mock

import pytest

import koster
from koster._engine import memory as _memory
from koster.compat import reppy, robotparser, webcanon
from tests.helpers.support import sampled

pytestmark = pytest.mark.skipif(koster.COMPILED, reason="counted in pure Python only")

HOSTILE: dict[str, Callable[[int], bytes]] = {
    "one long line": lambda size: b"a" * size,
    "line feeds": lambda size: b"\n" * size,
    "carriage returns": lambda size: b"\r" * size,
    "both": lambda size: b"\r\n" * (size // 2),
    "hashes": lambda size: b"#" * size,
    "hashes on lines": lambda size: b"a#\r" * (size // 3),
    "colons": lambda size: b":" * size,
    "spaces": lambda size: b" " * size,
    "spaces before a colon": lambda size: b"a" + b" " * size + b":",
    "NULs": lambda size: b"\0" * size,
    "agents": lambda size: b"User-agent: x\n" * (size // 14),
    "groups": lambda size: b"User-agent: x\nAllow: /\n" * (size // 23),
    "blank groups": lambda size: b"User-agent: x\nAllow: /\n\n" * (size // 24),
    "endless pattern": lambda size: b"User-agent: *\nDisallow: /" + b"%" * size,
    "stars": lambda size: b"User-agent: *\nDisallow: " + b"*" * size,
    "stars and letters": lambda size: b"User-agent: *\nDisallow: /" + b"*a" * (size // 2),
    "escapes": lambda size: b"User-agent: *\nDisallow: /" + b"%2F" * (size // 3),
    "long runs": lambda size: b"User-agent: *\nDisallow: /*" + (b"a" * 40 + b"b*") * (size // 42),
    "brackets": lambda size: b"User-agent: *\nRobot-version: 2.0\nDisallow: /" + b"[" * size,
    "brackets before a quoted one": lambda size: (
        b"User-agent: *\nRobot-version: 2.0\nDisallow: /" + b"[" * size + b"\\]"
    ),
    "classes": lambda size: (
        b"User-agent: *\nRobot-version: 2.0\nDisallow: /" + b"[!]a]" * (size // 5)
    ),
    "backslashes": lambda size: (
        b"User-agent: *\nRobot-version: 2.0\nDisallow: /*" + b"\\%5C" * (size // 4)
    ),
    "lines before a version": lambda size: (
        b"User-agent: *\n" + b"# a\n" * (size // 4) + b"Robot-version: 2.0\nDisallow: /"
    ),
}


def work(action: Callable[[], object]) -> int:
    """Return the lines of Python that an action runs, plus the bytes that it searches."""
    count = 0

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    def find(data: bytes, byte: int, start: int, end: int) -> int:
        nonlocal count
        position = data.find(bytes([byte]), start, end)
        count += (end if position < 0 else position) - min(start, end)
        return end if position < 0 else position

    def search(
        data: bytes, start: int, end: int, other: bytes, other_start: int, size: int
    ) -> int:  # fmt: skip
        nonlocal count
        position = data.find(other[other_start : other_start + size], start, end)
        count += (end if position < 0 else position) - min(start, end)
        return position

    before = sys.gettrace()
    with (
        mock.patch.object(_memory, "find", find),
        mock.patch.object(_memory, "search", search),
    ):
        sys.settrace(trace)
        try:
            action()
        finally:
            sys.settrace(before)
    return count


#: Those of facades choose groups with functions of their own.
DIALECTS = (
    *koster.DIALECTS.values(),
    robotparser._DIALECT,
    reppy.robots._DIALECT,
    webcanon._policy.DIALECT,
)


@pytest.mark.parametrize("dialect", sampled(DIALECTS, 5), ids=str)
@pytest.mark.parametrize("name", HOSTILE)
def test_parsing_is_linear(name: str, dialect: koster.Dialect) -> None:
    """Twice the bytes take at most a little more than twice the work."""
    small, large = HOSTILE[name](3000), HOSTILE[name](6000)

    def parse_and_query(body: bytes) -> None:
        robots = koster.parse(body, dialect)
        for agent in ("FooBot", "x"):
            robots.allowed("/y", agent)

    parse_and_query(b"")
    assert work(lambda: parse_and_query(large)) <= 2.2 * work(lambda: parse_and_query(small)) + 500


PATTERNS = {
    "many stars": "/" + "*a" * 60 + "*b",
    "one long run": "/*" + "a" * 120 + "b",
    "short runs": "/*" + ("a" * 20 + "*") * 6 + "b",
    "long runs": "/*" + ("a" * 39 + "b*") * 3 + "c",
}


SHELL_PATTERNS = {
    "many stars": "/" + "*a" * 60 + "*b",
    "one long run": "/*" + "?" * 120 + "b*",
    "classes": "/*" + "[!b]" * 60 + "b*",
    "brackets": "/*" + "[" * 120,
}


@pytest.mark.parametrize("name", PATTERNS)
def test_matching_is_linear_in_the_path(name: str) -> None:
    """Twice the path is at most a little more than twice the work, whatever the pattern."""
    rules = koster.parse(f"User-agent: *\nDisallow: {PATTERNS[name]}").rules_for("x")
    for path in ("/" + "a" * 1500, "/" + "ab" * 750, "/" + ("a" * 38 + "b") * 40):
        twice = path + path[1:]
        small, large = work(partial(rules.allowed, path)), work(partial(rules.allowed, twice))
        assert large <= 2.2 * small + 500


@pytest.mark.parametrize("name", SHELL_PATTERNS)
def test_shell_patterns_are_linear_in_the_path(name: str) -> None:
    """Twice the path is at most a little more than twice the work, whatever the pattern."""
    body = f"User-agent: *\nRobot-version: 2.0\nDisallow: {SHELL_PATTERNS[name]}"
    rules = koster.parse(body, koster.EXTENDED2).rules_for("x")
    for path in ("/" + "a" * 500, "/" + "ab" * 250):
        twice = path + path[1:]
        small, large = work(partial(rules.allowed, path)), work(partial(rules.allowed, twice))
        assert large <= 2.4 * small + 500


@pytest.mark.parametrize(
    ("part", "end", "dialect"),
    [
        ("*a", "*b", koster.RFC9309),
        ("*" + "a" * 20, "*b", koster.RFC9309),
        ("*" + "a" * 38, "b*", koster.RFC9309),
        ("*ab", "*c$", koster.RFC9309),
        ("*a", "*b", koster.EXTENDED2),
        ("*[!b]", "b*", koster.EXTENDED2),
    ],
    ids=str,
)
def test_matching_is_linear_in_the_stars(part: str, end: str, dialect: koster.Dialect) -> None:
    """Twice the stars are at most a little more than twice the work, whatever is between them."""

    def rules(count: int) -> koster.Rules:
        body = f"User-agent: *\nRobot-version: 2.0\nDisallow: /{part * count}{end}"
        return koster.parse(body, dialect).rules_for("x")

    for path in ("/" + "a" * 1500, "/" + "ab" * 750, "/" + ("a" * 38 + "b") * 40):
        small, large = (work(partial(rules(count).allowed, path)) for count in (15, 30))
        assert large <= 2.2 * small + 500

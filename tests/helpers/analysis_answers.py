"""What the analysis answers for small files.

Properties show in `test_analysis.py` that the answers are right; the recorded ones show every
change of them, or of their order. After a change on purpose, write them again:

    python -m tests.helpers.analysis_answers
"""

from __future__ import annotations

import itertools
import json
import random
from array import array
from collections.abc import Iterator
from typing import Any, NamedTuple

import koster
from koster import analysis
from koster._engine.names import AgentNames
from koster.analysis import WholeFile
from koster.bulk._loops import extents
from tests.helpers.support import HERE

PATH = HERE / "analysis" / "answers.json"

_PARTS = (
    "a", "b", "ab", "/", "/", "*", "*", "**", "?", "$", "%2F", "%61", "é", "%C3%A9", "a?b=", ":",
)  # fmt: skip
_SHELL_PARTS = ("a", "b", "*", "*", "?", "[ab]", "[!a]", "[a-x]", "\\a", "\\*", "[", "/", "%5B")
#: Bytes that are rare, and patterns that are long: 32 bytes after the first star are usual.
_RARE_PARTS = (
    "a", "b", "/", "*", "*", "*", "*a", "\x01", "\x7f", "%FF", "%7C", "|", "&", "=", "%26",
    "%3D", "%3F", "%25", "%", "%2", "[ab]", "()", "!", "%2A", "%24", "ü", "%C3", "*À", "*ÿ",
    "*%C0", "*%80", "*%BF", "*" + "ab" * 15, "*" + "ab" * 15 + "a", "*" + "ab" * 16,
    "*" + "ab" * 40,
)  # fmt: skip
_RARE_SHELL_PARTS = (
    "a", "b", "*", "?", "[[]", "[[a]", "\\[", "[!a]", "]", "|", "%FF", "[%2F]", "[a-x]b", "\\*",
    "*" + "ab" * 15, "*" + "[ab]" * 8, "?" + "[ab]" * 8,
)  # fmt: skip
_STARTS = ("/", "/", "/", "/", "*", "", "/*", "//", "/robots.txt", "/robots")
_ENDS = ("", "", "", "$", "*", "*$")
_NAMES = ("*", "*", "FooBot", "foobot", "Bar", "FooBot/2")
_RARE_NAMES = ("*", "Foo Bar", "Bar Foo", "FooBot 2", "A1.b/2", "Foo*", "* x", "AI2Bot", "foobot")
_AGENTS = ("foobot/2.1", "Mozilla/5.0 (compatible; Bar/1.0)", "x")
_URLS = (
    "/", "/a", "/ab", "/b/a", "/a/b", "//a", "/aab", "/?", "/a?b=", "/?a=b", "/%2Fa", "/a%2fb",
    "/%61", "/é", "/%c3%a9b", "/$", "/a$", "/*", "/a*b", "/robots.txt", "/robots.txta", "/[",
    "/x", "https://example.com/ab/a", "http://example.com", "/a:", "/:b", "/ba", "/bb", "/a/",
    "",
)  # fmt: skip


class _Words(NamedTuple):
    """What files are made of."""

    names: tuple[str, ...]
    parts: tuple[str, ...]
    shell_parts: tuple[str, ...]
    max_parts: int
    directives: tuple[str, ...]
    #: The share of User-agent lines.
    agents: float
    sizes: range
    #: The share of lines that are also in the second file.
    shared: float


_USUAL = _Words(
    _NAMES, _PARTS, _SHELL_PARTS, 4, ("Allow", "Disallow", "Disallow"), 0.12, range(1, 8), 0.8
)
_RARE = _Words(
    _RARE_NAMES, _RARE_PARTS, _RARE_SHELL_PARTS, 3, ("Allow", "Disallow"), 0.1, range(2, 7), 0.7
)


def files() -> Iterator[tuple[str, str, str]]:
    """Yield a dialect, and two files that are often similar."""
    chance = random.Random(22)
    for number in range(240):
        yield _similar(chance, _USUAL, 60 if number % 60 == 59 else None)
    # The first row is a rule; some lines are repeated.
    for _ in range(60):
        dialect = chance.choice(list(koster.DIALECTS))
        lines = [_line(chance, _USUAL, is_shell=False) for _ in range(chance.randrange(1, 6))]
        lines += chance.choices(lines, k=chance.randrange(4))
        other = chance.sample(lines, k=chance.randrange(len(lines) + 1))
        yield dialect, "\n".join(lines), "\n".join([*other, _line(chance, _USUAL, is_shell=False)])
    for _ in range(80):
        yield _similar(chance, _RARE)


def _similar(chance: random.Random, words: _Words, size: int | None = None) -> tuple[str, str, str]:
    """Return a dialect, a file, and one with most of its lines and some others."""
    dialect = chance.choice(list(koster.DIALECTS))
    is_shell = dialect.startswith("EXTENDED2") and chance.random() < 0.8
    size = size or chance.choice(words.sizes)
    lines = [_line(chance, words, is_shell=is_shell) for _ in range(size)]
    other = [line for line in lines if chance.random() < words.shared]
    more = 1 if words is _RARE else chance.randrange(3)
    other += [_line(chance, words, is_shell=is_shell) for _ in range(more)]
    head = ["User-agent: *", "Robot-version: 2.0"] if is_shell else ["User-agent: *"]
    return dialect, "\n".join([*head, *lines]), "\n".join([*head, *other])


def _line(chance: random.Random, words: _Words, *, is_shell: bool) -> str:
    if not is_shell and chance.random() < words.agents:
        return f"User-agent: {chance.choice(words.names)}"
    parts = words.shell_parts if is_shell else words.parts
    start, end = chance.choice(_STARTS), "" if is_shell else chance.choice(_ENDS)
    count = chance.randrange(words.max_parts + 1)
    pattern = start + "".join(chance.choices(parts, k=count)) + end
    return f"{chance.choice(words.directives)}: {pattern}"


def answers(dialect: str, body: str, other: str) -> dict[str, Any]:
    """Return what each function of the analysis answers."""
    robots, changed = (koster.parse(each, koster.DIALECTS[dialect]) for each in (body, other))
    rules, after = robots.rules_for("FooBot"), changed.rules_for("FooBot")
    beside = (koster.RFC9309, koster.GOOGLE, koster.MK1996)
    whole = WholeFile(robots, beside, most=5)
    found: dict[str, Any] = {
        "classify": _classified(rules),
        "dead": _dead(rules),
        "idle": [*map(_idle, analysis.idle_rules(rules).rules)],
        "redundant": _lines(analysis.redundant_rules(rules, after)),
        "likely": sorted(analysis.likely_urls(rules).items()),
        "difference": _differences(analysis.difference(rules, after)),
        "disagreements": _disagreements(robots, beside),
        "surely dead": [(each.rule.line, name) for each, name in whole.surely_dead],
        "surely idle": [each.rule.line for each in whole.surely_idle],
        "names": analysis.names_in(robots, changed),
        "extents": found_extents(robots.dialect, robots.body, changed.body),
        "decisions": decisions(robots),
    }
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def _classified(rules: koster.Rules) -> list[Any]:
    found = analysis.classify(rules)
    line = found.rule and found.rule.line
    return [found.extent, found.allowed, found.disallowed, line, found.is_proved]


def _dead(rules: koster.Rules) -> list[Any]:
    found = analysis.dead_rules(rules)
    dead = [
        [each.rule.line, each.cause, _lines(each.covered_by), each.twin and each.twin.line]
        for each in found.rules
    ]
    return [dead, found.is_proved]


def _idle(each: analysis.IdleRule) -> list[Any]:
    return [each.rule.line, each.url, each.instead and each.instead.line]


def _differences(found: analysis.Differences) -> list[Any]:
    urls = [
        [
            each.url,
            each.is_opened,
            *(way.rule and way.rule.line for way in (each.before, each.after)),
        ]
        for each in found.found
    ]
    return [urls, found.is_proved]


def _disagreements(robots: koster.RobotsTxt, dialects: tuple[koster.Dialect, ...]) -> list[Any]:
    found = analysis.disagreements(robots, dialects, ("FooBot", "*"))
    return [[each.agent, str(each.dialect), _differences(each.differences)] for each in found]


def found_extents(dialect: koster.Dialect, *bodies: bytes) -> list[Any]:
    """Return what the engine finds for columns of files, and leaves to the analysis."""
    if not extents.supports(dialect):
        dialect = koster.RFC9309
    names = AgentNames([b"foobot", b"bar", b"*"], dialect.names)
    reader = extents.Reader(dialect, names, ((0,), (1,), (2,), ()))
    cells = 4 * len(bodies)
    found = bytearray(cells), bytearray(cells), array("i", bytes(4 * cells))
    bounds = array("q", itertools.accumulate(map(len, bodies), initial=0))
    reader.classify(b"".join(bodies), bounds[:-1], bounds[1:], *found)
    return [list(each) for each in found]


def decisions(robots: koster.RobotsTxt) -> list[list[Any]]:
    """Return the decisions about some URLs for some agents."""
    return [_decisions(robots, agent) for agent in _AGENTS]


def _decisions(robots: koster.RobotsTxt, agent: str) -> list[Any]:
    """Return the deciding lines, with and without the index that many questions build."""
    rules, scanned = robots.rules_for(agent), robots.rules_for((agent,))
    rules.allowed_many(_URLS)
    decided = [rules.decide(url) for url in _URLS]
    assert [scanned.allowed(url) for url in _URLS[:4]] == [each.allowed for each in decided[:4]]
    return [rules.is_named, *(each.rule.line if each.rule else 0 for each in decided)]


def _lines(rules: tuple[koster.Rule, ...]) -> list[int]:
    return [each.line for each in rules]


def main() -> None:
    """Write the answers."""
    found = [
        {"dialect": dialect, "body": body, "other": other, **answers(dialect, body, other)}
        for dialect, body, other in files()
    ]
    lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in found)
    PATH.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main()

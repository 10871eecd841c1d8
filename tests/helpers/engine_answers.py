"""What the engine answers for generated files, and its work: searches, comparisons and memory.

Other tests show that the answers are right; the recorded ones show every change of them, and that
plain Python takes the same steps. After a change on purpose, write them again:

    KOSTER_PURE=1 python -m tests.helpers.engine_answers
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import koster
from koster._asking import file_of
from koster._engine import memory
from koster.bulk._loops import batches
from tests.helpers.analysis_answers import found_extents
from tests.helpers.support import HERE

PATH = HERE / "engine" / "answers.json"

#: Their last argument is a size, or where a search ends.
_COUNTED = ("find", "same", "search", "copy", "integers", "resized", "buffer")

_NAMES = (
    "*", "*", "Foo", "foobot", "Foo Bot", "Foo\t \tBot/2 *", "Foo/2", "Fo", "bar-x", "Bar_X*",
    "b", "* x", "*\tx", "*x", "x", "", "Mozilla", "5Bot", "a.b", "Foo (x)", "\u00e9", "oob",
    "Foo \tBot", "f*o", "\udcff", "foo\x0bbot", "Bar_X", "oo",
)  # fmt: skip
AGENTS = (
    "foo", "FooBot", "Foo/2.1", "foo bot", "Foo  Bot/1", "bar-x", "Mozilla/5.0", "x", "", "a.b",
    "Mozilla/5.0 (compatible; FooBot/2.1; +http://bar-x/) Foo Bot", "5Bot (x) bar_x", "*",
    "b 1/2", "(Foo)", "(x) Foo Bot/2", "Foo/1 2", "Mozilla/5.0 (x; www.foo) a.b", "FOO\tBOT",
    "oobar-x",
)  # fmt: skip
_KEYS = (
    "User-agent", "Disallow", "Allow", "Disallow", "Allow", "disallow", "allow ", "Dissalow",
    "useragent", "Crawl-delay", "Robot-version", "Unknown", "Sitemap", "user agent", "Allowance",
)  # fmt: skip
_SEPARATORS = (": ", ": ", ": ", ":", " : ", "\t:\t", " ", "", "::")
_COMMENTS = ("", "", "", "", " # x", "#y", "\x00", " ")
_PIECES = (
    "a", "b", "ab", "/", "/", "*", "**", "?", "&x=", "$", "%2F", "%2f", "%61", "%", "\u00e9",
    ";", "[a-c]", "[!b]", "\\*", "\\a", "]", "index.html", "#", "%2A", "%24", "%26", "-", ":",
    "~", "\udcff", "\x7f", "%7f", "[^a]", "[]a]", "[a-]", "%3F", "%G1", "%1G", "%5b", "\\%61",
    "?", "/", "%%5B", "%%2A", "%\\*",
)  # fmt: skip
#: Runs of 38 bytes, and of as many as are searched without links.
_LONG = "abcab" * 7 + "abd"
_SHORT = "abcab" * 6 + "ab"
URLS = (
    "/", "", "/a", "/ab", "/a/b", "/b/ab/", "//a", "//a//b?c", "/?a=b", "/a?b&x=/%2f", "/a%2Fb",
    "https://e.com/ab/b", "HTTP://e?a", "http://e", "h:/a", "/%61b", "/\u00e9", "/%C3%a9",
    "/a*b", "/robots.txt", "robots.txt?a", "/robots.txtb", "/a/index.html", "/a$", "/a;b",
    "/a#b", "a\x00b", f"/a{_LONG}b{_LONG}", f"/b{_LONG[:-1]}{_LONG}", "/%", "/%2", "/[a-c]",
    "/-~", "/a:b", "ab?", "///a", "//a/b#", "ab:x/ab/b", "ab:/x/ab", "ab://x?b", "/a\x00/b",
    "/a\x7f", "/b?%2f/?%3F=%26", "1b://e/a", "@b://e/a", "+://a/b", "://a/b", "#/a", "/a:b://ab",
    "//", "a;b", "/]", "/a/b/ab/",
)  # fmt: skip


def files() -> Iterator[tuple[str, str]]:
    """Yield a dialect and a file."""
    chance = random.Random(7)
    dialects = list(koster.DIALECTS)
    for number in range(220):
        size = 70 if number % 55 == 54 else chance.randrange(1, 10)
        lines = [_line(chance) for _ in range(size)]
        if number % 4 == 3:
            lines[:0] = ["User-agent: *", "Robot-version: 2.0"]
        lines.insert(0, chance.choice(("User-agent: *", "User-agent: *", "", "User-agent: Foo")))
        ends = chance.choice((("\n",), ("\r\n",), ("\r",), ("\n", "\r\n", "\r", "\n\n", "\n\r")))
        text = "".join(line + chance.choice(ends) for line in lines)
        dialect = "EXTENDED2" if number % 4 == 3 else chance.choice(dialects)
        yield dialect, chance.choice(("", "", "", "\ufeff", "\r\n")) + text


def _line(chance: random.Random) -> str:
    if chance.random() < 0.1:
        return chance.choice(("", " ", "#", "# c", " # c##d", "#x: y", "Allow:", "Disallow:"))
    key = chance.choice(_KEYS)
    if "agent" in key.lower():
        value = chance.choice(_NAMES)
    elif key == "Robot-version":
        value = chance.choice(("2.0", "1.0", "2.0.1", "x", "3.0"))
    elif key == "Crawl-delay":
        value = chance.choice(("1", "2", "3.5", "x"))
    else:
        value = chance.choice(("/", "/", "/", "*", "", "/*")) + "".join(
            chance.choices(_PIECES, k=chance.randrange(5))
        )
        if chance.random() < 0.1:
            value += "".join(f"*{run}" for run in chance.choices((_LONG, _SHORT), k=2))
        value += chance.choice(("", "", "", "$", "*", "*$"))
    indent = chance.choice(("", "", "", " ", "\t"))
    return indent + key + chance.choice(_SEPARATORS) + value + chance.choice(_COMMENTS)


def answers(dialect: str, body: str) -> dict[str, Any]:
    """Return the lines, the answers for each agent, and what columns of files have."""
    # As in file names, lone surrogates are bytes that are not UTF-8.
    robots = koster.parse(body.encode("utf-8", "surrogateescape"), koster.DIALECTS[dialect])
    agents: dict[str, list[str]] = {}
    for agent in AGENTS:
        agents.setdefault(_answer(robots, agent), []).append(agent)
    found = {
        "lines": " ".join(
            f"{each.kind[0]}{each.column}{each.comment or ''}" for each in robots.lines
        ),
        "agents": {", ".join(names): answer for answer, names in agents.items()},
        "extents": found_extents(robots.dialect, robots.body, robots.body[:-9]),
        "parts": file_of(robots).named_parts(),
        "survey": [str(each) for each in batches.survey(robots.body, robots.dialect)[1:]],
    }
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def _answer(robots: koster.RobotsTxt, agent: str) -> str:
    """Return the lines of the groups and of the rules that decide, negative if they disallow."""
    rules = robots.rules_for(agent)
    chosen = robots.rules_for(("Zed", agent))
    decided = [rules.decide(url) for url in URLS]
    lines = [(each.rule.line if each.rule else 0) * (1 if each.allowed else -1) for each in decided]
    names = (
        f"{chosen.named_as and chosen.named_as == agent} {rules.group_lines} {rules.crawl_delay}"
    )
    return f"{names}: {' '.join(map(str, lines))}"


def work(dialect: str, body: str) -> dict[str, list[int]]:
    """Return how often plain Python calls the functions of `memory`, with the sum of the sizes."""
    koster.parse("", koster.DIALECTS[dialect])
    with _counting() as found:
        answers(dialect, body)
    return {name: [found[name], found[f"{name} sizes"]] for name in _COUNTED}


@contextmanager
def _counting() -> Iterator[Counter[str]]:
    found: Counter[str] = Counter()
    with mock.patch.multiple(memory, **{name: _counted(name, found) for name in _COUNTED}):
        yield found


def _counted(name: str, found: Counter[str]) -> Any:
    function = getattr(memory, name)

    def counted(*arguments: Any) -> Any:
        found[name] += 1
        found[f"{name} sizes"] += arguments[-1]
        return function(*arguments)

    return counted


def main() -> None:
    """Write the answers."""
    assert not koster.COMPILED, "set KOSTER_PURE=1"
    found = [
        {"dialect": dialect, "body": body, **answers(dialect, body), "work": work(dialect, body)}
        for dialect, body in files()
    ]
    lines = ",\n".join(json.dumps(each) for each in found)
    PATH.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main()

"""Random robots.txt files from a grammar, for the differential tests.

A file has records: consecutive agents, rules with escapes, stars and anchors, comments, unknown and
malformed lines; with every line ending, with and without a byte order mark.
A `Grammar` lists what can occur. Each library has its own, which leaves out the intended
differences in `docs/guides/migrate`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

AGENTS = (
    "FooBot", "foobot", "Foo", "BarBot/2.1", "Googlebot", "Googlebot-News", "bar", "ÄBot", "x",
    "Mozilla/5.0 (compatible; FooBot/1.0; +https://foo.example/bot)",
    "Mozilla/5.0 (X11; Linux x86_64) BarBot",
)  # fmt: skip


@dataclass(frozen=True)
class Grammar:
    """What can occur in the files for one library.

    ``*_keys``: spellings of a directive; ``separators``: between directive and value;
    ``segments``: parts of paths; ``wild``: more parts of patterns; ``names``: of agents;
    ``ends``: line endings; ``others``: lines that are neither agents nor rules.
    """

    names: tuple[str, ...] = (
        "*", "*", "*", "foobot", "FooBot", "Foo", "bar", "BarBot", "Googlebot", "Googlebot-News",
        "google", "äbot", "x", "nobody", "Foo Bot", "",
    )  # fmt: skip
    agent_keys: tuple[str, ...] = ("User-agent", "User-agent", "user-agent", "USER-AGENT")
    allow_keys: tuple[str, ...] = ("Allow", "allow", "ALLOW")
    disallow_keys: tuple[str, ...] = ("Disallow", "Disallow", "disallow", "DISALLOW")
    separators: tuple[str, ...] = (": ", ": ", ": ", ":", ":  ", ":\t", " : ", "\t:")
    indents: tuple[str, ...] = ("", "", "", "", "", " ", "\t")
    trailers: tuple[str, ...] = ("", "", "", "", " ", "\t", " # comment", "# glued", "\t# tab")
    segments: tuple[str, ...] = (
        "/", "/", "/", "a", "b", "private", "c.html", "x.pdf", "?", "q=1", "&", "=", ";", "%20",
        "%61", "%2F", "%2f", "%C3%A9", "é", "-", "~", "%7E", "+", "@", "(", ":", "!", "'", ",",
        "%23", "%3F", "%26", "%3D", "%3d",
    )  # fmt: skip
    wild: tuple[str, ...] = ("*", "*", "**", "*a", "$")
    odd: tuple[str, ...] = ("\x00", "\x01", "\t", "\x1f", "\x7f", "\xa0", "\u2003", "\x85", "\x0b")
    """Rare characters, inserted anywhere in a few values."""
    others: tuple[str, ...] = (
        "Sitemap: https://example.com/s.xml", "sitemap:https://example.com/t.xml", "Crawl-delay: 5",
        "crawl-delay: 0.5", "Crawl-delay: x", "Crawl-delay:", "Host: example.com", "Foo: bar",
        "no colon here", "Disallow /a", "# a comment", "  # an indented one", "#", ":", "a:b:c",
        "Request-rate: 1/10", "Noindex: /x",
    )  # fmt: skip
    blanks: tuple[str, ...] = ("", "", " ", "\t")
    ends: tuple[str, ...] = ("\n", "\n", "\r\n", "\r")
    starts: tuple[str, ...] = ("", "", "", "\ufeff")
    queries: tuple[str, ...] = ("", "", "", "?", "?q=1", "#frag", ";", "?a=/b")
    prefixes: tuple[str, ...] = ("", "", "https://example.com", "http://user@example.com:8080")
    fills: tuple[str, ...] = ("", "a", "/b/", "%20")
    """Replacements in a URL for a star in a pattern."""
    slash: float = 0.95
    """The share of patterns that start with a slash."""


@dataclass
class Case:
    """A file, and pairs of agent and URL to query."""

    text: str
    questions: list[tuple[str, str]] = field(default_factory=list)


class Writer:
    """Generates cases from a grammar; the same seed gives the same cases."""

    def __init__(self, grammar: Grammar, seed: int) -> None:
        self._grammar = grammar
        self._random = random.Random(seed)

    def case(self, questions: int) -> Case:
        """Return a file with ``questions`` queries."""
        lines = self._lines()
        end = self._one(self._grammar.ends)
        mixed = self._random.random() < 0.1
        ends = [self._one(self._grammar.ends) if mixed else end for _ in lines]
        if self._random.random() < 0.2:
            ends[-1] = ""
        joined = "".join(line + end for line, end in zip(lines, ends, strict=True))
        text = self._one(self._grammar.starts) + joined
        agents = [self._one(AGENTS) for _ in range(2)]
        queries = [(self._one(agents), self.url(lines)) for _ in range(questions)]
        return Case(text, queries)

    def _lines(self) -> list[str]:
        lines: list[str] = []
        if self._random.random() < 0.1:
            lines += [self._rule() for _ in range(2)]
        for _ in range(self._random.randrange(1, 5)):
            lines += self._record()
        return lines

    def _record(self) -> list[str]:
        grammar, chance = self._grammar, self._random.random
        lines = []
        for _ in range(1 if chance() < 0.7 else self._random.randrange(1, 4)):
            lines.append(self._line(self._one(grammar.agent_keys), self._one(grammar.names)))
            if chance() < 0.1:
                lines.append(self._one((*grammar.others, *grammar.blanks)))
        count = 0 if chance() < 0.1 else self._random.randrange(1, 6)
        lines += [
            self._one(grammar.others) if chance() < 0.15 else self._rule() for _ in range(count)
        ]
        if chance() < 0.6:
            lines.append(self._one(grammar.blanks))
        return lines

    def _rule(self) -> str:
        grammar = self._grammar
        keys = grammar.allow_keys if self._random.random() < 0.35 else grammar.disallow_keys
        return self._line(self._one(keys), self.pattern())

    def _line(self, key: str, value: str) -> str:
        grammar = self._grammar
        if grammar.odd and self._random.random() < 0.03:
            at = self._random.randrange(len(value) + 1)
            value = value[:at] + self._one(grammar.odd) + value[at:]
        parts = (grammar.indents, (key,), grammar.separators, (value,), grammar.trailers)
        return "".join(map(self._one, parts))

    def pattern(self) -> str:
        """Return a pattern, which can be empty."""
        chance, grammar = self._random.random, self._grammar
        if chance() < 0.08:
            return ""
        parts = [self._one(grammar.segments) for _ in range(self._random.randrange(4))]
        if chance() < 0.4:
            parts.insert(self._random.randrange(len(parts) + 1), self._one(grammar.wild))
        if "$" in grammar.wild and chance() < 0.15:
            parts.append("$")
        text = "".join(parts)
        return "/" + text if chance() < grammar.slash else text

    def url(self, lines: list[str]) -> str:
        """Return a URL; about half of them start like a rule of the file."""
        path = "/" + "".join(
            self._one(self._grammar.segments) for _ in range(self._random.randrange(5))
        )
        rules = [line for line in lines if "allow" in line.lower() and "/" in line]
        if rules and self._random.random() < 0.6:
            rule = self._one(rules)
            path = "".join(filter(str.isprintable, rule[rule.index("/") :].split("#")[0])).split()[
                0
            ]
            path = path.replace("*", self._one(self._grammar.fills)).replace("$", "")
            if self._random.random() < 0.5:
                path += self._one(self._grammar.segments)
        # Two leading slashes would start an authority.
        path = "/" + path.lstrip("/")
        return self._one(self._grammar.prefixes) + path + self._one(self._grammar.queries)

    def _one(self, choices: tuple[str, ...] | list[str]) -> str:
        return choices[self._random.randrange(len(choices))]

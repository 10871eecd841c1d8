"""Tests of the engine that take half a second: most mutants do not survive them.

Run from the top of a copy of the project. The exit code is 1 at the first difference.
"""

from __future__ import annotations

import faulthandler
import random
import sys
from pathlib import Path

# A mutant may loop for ever, or use all memory.
faulthandler.dump_traceback_later(20, exit=True)
if sys.platform != "win32":
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (2 * 2**30, 2 * 2**30))

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

# The tests with pytest have it; without it is what most users of plain Python have.
sys.modules["cython"] = None  # type: ignore[assignment]

import koster  # noqa: E402
from tests.helpers import reference  # noqa: E402
from tools.suite.source import entries  # noqa: E402

LINES = (
    "User-agent: *", "User-agent: Foo", "user-agent:FooBot/2", "User-agent: Foo Bar", "", "#",
    "Crawl-delay: 2", "Disallow", "Disallow: /", "Allow: /a", "Disallow: /a*b", "Allow: /*b$",
    "Disallow: /a%2Fb", "Allow: /%61", "Disallow: *a*", "Disallow: /?a=%2F", "Disallow /b",
    "Allow: /é", "Disallow: /$", "Allow:", "Sitemap: x", "Disallow: /aab*aab$", "Disallow: a",
)  # fmt: skip
URLS = ("/", "/a", "/ab", "/axb", "/a%2fb", "/a/b", "/%61?a=/", "/b", "/aabaab", "/é/", "/a?b", "")
AGENTS = ("Foo", "FooBot", "x", "Foo/1", "A (Foo Bar) x")


def main() -> None:
    """Compare with the cases and with the reference."""
    _check_cases()
    _check_reference()


def _check_cases() -> None:
    for entry in entries():
        if "size" in entry.tags:
            continue
        robots = koster.parse(entry.body, koster.DIALECTS[entry.dialect])
        rules = robots.rules_for(entry.agent)
        assert rules.allowed_many(list(entry.expected)) == list(entry.expected.values())
        for url, allowed in entry.expected.items():
            decision = robots.decide(url, entry.agent)
            assert decision.allowed == robots.allowed(url, entry.agent) == allowed
            if url in entry.lines:
                assert decision.rule is not None
                assert decision.rule.line == entry.lines[url]


def _check_reference() -> None:
    chance = random.Random(1)
    for _ in range(150):
        lines = chance.choices(LINES, k=chance.randrange(12))
        body = chance.choice(("\n", "\r\n", "\r")).join(lines).encode()
        robots = koster.parse(body)
        for agent in AGENTS:
            for url in chance.sample(URLS, 4):
                decision = robots.decide(url, agent)
                line = decision.rule.line if decision.rule else None
                assert (decision.allowed, line) == reference.decide(body, url, agent)


if __name__ == "__main__":
    main()

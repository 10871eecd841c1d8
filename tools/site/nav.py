"""The pages of the site, in order: sections, and in them pages or sections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from koster.lint import CHECKS

from . import api, commands, parsers, suite

if TYPE_CHECKING:
    from collections.abc import Iterator

Entry: TypeAlias = "str | dict[str, list[Entry]]"

#: Titles in the menu, where the heading of the page is too long for it.
_TITLES = {
    "index.md": "Home",
    **{f"reference/lint/{each.code}.md": f"{each.code} {each.name}" for each in CHECKS},
    **{
        f"reference/{name}/index.md": "Overview"
        for name in ("commands", "lint", "api", "dialects", "conformance")
    },
    "guides/migrate/index.md": "Overview",
    "about/parsers.md": "Overview",
}


def _in(folder: str, names: str) -> list[Entry]:
    return [f"{folder}/{name}.md" for name in names.split()]


def _commands() -> list[Entry]:
    return [f"reference/commands/{name}" for name, _ in commands.pages()]


NAV: list[Entry] = [
    "index.md",
    "start.md",
    {
        "Guides": [
            {
                "Crawler authors": _in(
                    "guides/crawlers",
                    "polite-crawler clear-conscience httpx aiohttp requests scrapy caching pacing fleet millions-of-sites untrusted-urls events testing without-a-client",
                )
            },
            {
                "Site owners": _in(
                    "guides/owners",
                    "first-file no-ai-training what-i-said-about-ai staging check-and-fix generated-files indexed-though-blocked test-access compare ci pre-commit who-ignores tester",
                )
            },
            {
                "Data engineers": _in(
                    "guides/data", "archives duckdb polars spark warc report signals whole-crawl"
                )
            },
            {"Service": _in("guides/service", "run api")},
            {"Parser authors": _in("guides/parsers", "test-a-parser")},
            {
                "Migrate": _in(
                    "guides/migrate",
                    "index robotparser protego reppy robotexclusionrulesparser robotstxt apetest webcanon scrapy",
                )
            },
        ]
    },
    {
        "Concepts": _in(
            "concepts",
            "decisions groups patterns dialects fetching freshness pace signals proofs logs",
        )
    },
    {
        "Reference": [
            {"Commands": ["reference/commands/index.md", *_commands()]},
            {
                "Lint codes": [
                    "reference/lint/index.md",
                    *(f"reference/lint/{each.code}.md" for each in CHECKS),
                ]
            },
            {
                "Python API": [
                    "reference/api/index.md",
                    *(f"reference/api/{name}.md" for name in api.MODULES),
                ]
            },
            {
                "Dialects": _in(
                    "reference/dialects",
                    "index rfc9309 google mk1994 mk1996 gym2008 extended2 extended2-1996",
                )
            },
            {
                "Conformance suite": [
                    "reference/conformance/index.md",
                    *(f"reference/conformance/{topic}.md" for topic in suite.topics()),
                ]
            },
            *_in(
                "reference",
                "directives outcomes events errors crawlers presets configuration output columns http-api",
            ),
        ]
    },
    {
        "About": [
            *_in("about", "performance scale conformance"),
            {
                "Parsers compared": [
                    "about/parsers.md",
                    *(f"about/parsers/{name}" for name in parsers.names()),
                ]
            },
            *_in("about", "real-sites reliability tests security design changelog contributing"),
        ]
    },
]


def titled(entries: list[Entry]) -> list[Any]:
    """Return a part of the navigation as Zensical reads it, with titles for pages that need one."""
    return [
        ({_TITLES[each]: each} if each in _TITLES else each)
        if isinstance(each, str)
        else {name: titled(inner) for name, inner in each.items()}
        for each in entries
    ]


def paths(entries: list[Entry]) -> Iterator[str]:
    """Yield all pages of a part of the navigation, in order."""
    for each in entries:
        if isinstance(each, str):
            yield each
        else:
            for inner in each.values():
                yield from paths(inner)

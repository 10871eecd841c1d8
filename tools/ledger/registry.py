"""The registry of crawlers: its records, and what it answers about names and presets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from koster import crawlers
from koster.compose import PRESETS, compose, intentions_of
from koster.crawlers import Crawler, Purpose

from .entries import Entry, Part, Place, entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NAMES = (
    "Google", "OpenAI", "ChatGPT", "Claude", "Anthropic", "GPTBto", "Gogglebot", "bing", "Meta",
    "Perplexity", "Apple", "Amazon", "Yandex", "Baidu", "", "zzzz", "Common Crawl", "gemini",
)  # fmt: skip
_AGENTS = (
    "Googlebot", "Googlebot-Image/1.0", "AdsBot-Google-Mobile", "FooBot", "bingbot", "Applebot",
    "Google-Extended", "GoogleOther-Image", "Storebot-Google", "Applebot-Extended", "",
)  # fmt: skip


def _entries(name: str) -> Iterator[Entry]:
    kind, _, rest = name.partition("/")
    yield entry(Place("registry", name, ""), [], _KINDS[kind][1](rest))


def _record(token: str) -> list[str]:
    found = crawlers.named(token)
    assert found is not None
    return [f"{field}: {getattr(found, field)}" for field in Crawler.__slots__]


def _suggestions(name: str) -> list[str]:
    is_brand = "a brand" if crawlers.is_brand(name) else "not a brand"
    matching = ", ".join(each.token for each in crawlers.matching(name)[:20]) if name else ""
    return [
        is_brand,
        f"suggested: {', '.join(crawlers.suggestions(name))}",
        f"matching: {matching}",
    ]


def _preset(name: str) -> list[str]:
    return compose(intentions_of([name])).body.decode("utf-8").splitlines()


_KINDS: dict[str, tuple[Callable[[], Iterator[str] | list[str]], Callable[[str], list[str]]]] = {
    "crawler": (lambda: [each.token for each in crawlers.known()], _record),
    "purpose": (lambda: [each.value for each in Purpose],
                lambda purpose: crawlers.expand_agent(f"@{purpose}")),
    "name": (lambda: list(_NAMES), _suggestions),
    "agent": (lambda: list(_AGENTS), lambda agent: [str(crawlers.agent_for(agent))]),
    "preset": (lambda: [each.name for each in PRESETS], _preset),
}  # fmt: skip


def _files() -> list[str]:
    return [f"{kind}/{each}" for kind, (names, _) in _KINDS.items() for each in names()]


PART = Part("registry", False, _files, _entries)

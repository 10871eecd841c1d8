"""Columns for the bulk tests, and the results that the library gives for them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import koster
from koster.analysis import classify as classification
from koster.crawlers import agent_for

ONE = "User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /private\nAllow: /private/x\n"


OTHER = "User-agent: *\nAllow: /\n"


AGENTS = (
    "Googlebot", "bingbot", "GPTBot", "ClaudeBot", "CCBot", "Bytespider", "Amazonbot",
    "PerplexityBot", "Google-Extended", "AdsBot-Google", "archive.org_bot", "*", "gptbot/1.0",
    "Googlebot-Image", "Applebot", "YandexImages", "GoogleOther-Video/1.0",
    "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
)  # fmt: skip


#: A file is asked about many agents and URLs, one after the other.
parsed = lru_cache(maxsize=2)(koster.parse)


def cell(body: bytes | str, agent: str, dialect: koster.Dialect = koster.RFC9309) -> dict[str, Any]:
    """Return the library's classification of an agent, with the fallbacks of known crawlers."""
    robots = parsed(body, dialect)
    result = classification(robots.rules_for(agent_for(agent)))
    assert result.is_proved
    return {
        "agent": agent,
        "written": robots.rules_for(agent).is_named,
        "effective": result.extent.value,
        "line": result.rule.line if result.rule else None,
    }


def decision(
    body: bytes | str, url: str, agent: str, dialect: koster.Dialect = koster.RFC9309
) -> dict[str, Any]:
    """Return the library's decision, with the fallbacks of known crawlers."""
    decided = parsed(body, dialect).decide(url, agent_for(agent))
    pattern = None
    if decided.rule:
        raw_bytes = decided.rule.pattern.encode("utf-8", "surrogateescape")
        pattern = raw_bytes.decode("utf-8", "replace")
    return {
        "allowed": decided.allowed,
        "reason": decided.reason.value,
        "line": decided.rule.line if decided.rule else None,
        "pattern": pattern,
    }


BODIES = [ONE, None, OTHER, ONE, ONE, "", None, OTHER]

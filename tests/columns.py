"""Columns that tests of bulk share, and what the library says of them."""

from __future__ import annotations

from typing import Any

import koster
from koster.analysis import classify as classification

ONE = "User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /private\nAllow: /private/x\n"


OTHER = "User-agent: *\nAllow: /\n"


AGENTS = (
    *("Googlebot", "bingbot", "GPTBot", "ClaudeBot", "CCBot", "Bytespider", "Amazonbot"),
    *("PerplexityBot", "Google-Extended", "AdsBot-Google", "archive.org_bot", "*", "gptbot/1.0"),
    "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
)


def cell(body: bytes | str, agent: str, dialect: koster.Dialect = koster.RFC9309) -> dict[str, Any]:
    """Return what the library says of a robot."""
    rules = koster.parse(body, dialect).rules_for(agent)
    found = classification(rules)
    assert found.is_proved
    return {
        "agent": agent,
        "written": rules.is_named,
        "effective": found.extent.value,
        "line": found.rule.line if found.rule else None,
    }


def decision(
    body: bytes | str, url: str, agent: str, dialect: koster.Dialect = koster.RFC9309
) -> dict[str, Any]:
    """Return what the library decides."""
    found = koster.parse(body, dialect).decide(url, agent)
    pattern = None
    if found.rule:
        raw_bytes = found.rule.pattern.encode("utf-8", "surrogateescape")
        pattern = raw_bytes.decode("utf-8", "replace")
    return {
        "allowed": found.allowed,
        "reason": found.reason.value,
        "line": found.rule.line if found.rule else None,
        "pattern": pattern,
    }


BODIES = [ONE, None, OTHER, ONE, ONE, "", None, OTHER]

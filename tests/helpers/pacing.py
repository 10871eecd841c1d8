"""Rules with rates and delays, for tests."""

from __future__ import annotations

from datetime import UTC, datetime

import koster

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def rules(*lines: str, dialect: koster.Dialect = koster.EXTENDED2) -> koster.Rules:
    robots = koster.parse("\n".join(["User-agent: *", *lines]), dialect)
    return robots.rules_for("FooBot")


def rules_with_delay(seconds: float) -> koster.Rules:
    return rules(f"Crawl-delay: {seconds}", dialect=koster.RFC9309)

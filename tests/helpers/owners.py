"""Helpers for tests of the site owner's tools."""

from __future__ import annotations

import koster
from koster import expectations


def parsed(body: str | bytes) -> koster.RobotsTxt:
    return koster.parse(body)


def results(text: str, robots: str, other: str = "") -> list[tuple[bool, str, int | None]]:
    outcomes = expectations.check(expectations.read(text), parsed(robots), parsed(other))
    return [(each.passed, each.why, each.line) for each in outcomes]

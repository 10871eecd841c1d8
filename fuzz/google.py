"""The dialect GOOGLE decides as Google's own parser does (google/robotstxt, of jwm.robotstxt)."""

from __future__ import annotations

from jwm.robotstxt.googlebot import RobotsMatcher

import koster
from koster._asking import rules_for_data

from . import _inputs, _tally

_matcher = RobotsMatcher()


describe, simplify = _inputs.decode, _inputs.as_raw


def check(data: bytes) -> None:
    """Check one input."""
    case = _inputs.decode(data)
    robots = koster.parse(case.body, koster.GOOGLE)
    for agent in case.agents:
        name = agent if isinstance(agent, str) else "".join(agent[:1])
        rules = rules_for_data(robots, name)
        raw = _bytes(name)
        for url, verdict in zip(case.urls, rules.allowed_many(case.urls), strict=True):
            theirs = _matcher.OneAgentAllowedByRobots(case.body, raw, _bytes(url))
            assert verdict is theirs, (name, url, verdict)
        _tally.add(len(case.urls))


def _bytes(text: str) -> bytes:
    """Return text as koster encodes it."""
    return text.encode("utf-8", "surrogatepass")

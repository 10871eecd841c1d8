"""The compiled modules and the same source as plain Python give the same answers and objects."""

from __future__ import annotations

import importlib
from typing import Any

import koster
from koster._asking import rules_for_data

from . import _inputs, _tally, _twins
from ._inputs import Agent, Case

_twins.check_compiled()
_plain = _twins.plain()
_plain_asking = importlib.import_module(f"{_twins.PLAIN}._asking")
_DIALECTS = tuple(
    (each, _twins.dialects(_twins.PLAIN)[name]) for name, each in _twins.dialects().items()
)


describe, simplify = _inputs.decode, _inputs.as_raw


def check(data: bytes) -> None:
    """Check one input."""
    case = _inputs.decode(data)
    one_dialect, other_dialect = _DIALECTS[case.choice % len(_DIALECTS)]
    one = koster.parse(case.body, one_dialect)
    other = _plain.parse(case.body, other_dialect)
    for agent in case.agents:
        _check_agent(case, one, other, agent)
    if case.choice & 0x80:
        assert repr(one.lines) == repr(other.lines)
    assert repr(one.groups) == repr(other.groups)


def _check_agent(case: Case, one: Any, other: Any, agent: Agent) -> None:
    first = rules_for_data(one, agent)
    second = _plain_asking.rules_for_data(other, agent)
    assert first.group_lines == second.group_lines, agent
    assert first.is_named == second.is_named, agent
    for url in case.urls:
        assert _told(first.decide(url)) == _told(second.decide(url)), (agent, url)
    # Large sets of rules have an index by now.
    assert first.allowed_many(case.urls) == second.allowed_many(case.urls), agent
    if case.choice & 0x40:
        _check_settings(first, second, case.urls[0])
    _tally.add(len(case.urls))


def _told(decision: Any) -> tuple[object, ...]:
    """Return what a decision says, as values that both builds share."""
    rule = decision.rule
    place = rule and (rule.line, rule.column, rule.pattern, rule.allow, str(rule.directive))
    return (
        decision.allowed,
        str(decision.reason),
        place,
        decision.group and decision.group.line,
        decision.falls_back_to,
    )


def _check_settings(first: Any, second: Any, url: str) -> None:
    for name in ("crawl_delay", "request_rates", "visit_times", "comments", "preferences"):
        assert repr(getattr(first, name)) == repr(getattr(second, name)), name
    assert repr(first.preferences_for(url)) == repr(second.preferences_for(url))

"""Decisions about files, in all dialects, and the crawl delays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import koster

from . import inputs
from .entries import Entry, Part, Place, entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .inputs import Agent, File


def entries(name: str) -> Iterator[Entry]:
    file = inputs.file(name)
    labels = [*file.labels, *(f"Crawl-delay for {inputs.agent_text(each)}" for each in file.agents)]
    for dialect in koster.DIALECTS.values():
        answers = _answers(file, koster.parse(file.body, dialect))
        yield entry(Place("check", name, dialect.name), [file.body], answers, labels)


def _answers(file: File, robots: koster.RobotsTxt) -> Iterator[str]:
    for agent, url in file.questions:
        yield _decision(robots, agent, url)
    for agent in file.agents:
        yield str(robots.rules_for(agent).crawl_delay)


def _decision(robots: koster.RobotsTxt, agent: Agent, url: str) -> str:
    decision = robots.decide(url, agent)
    found = decision_text(decision)
    is_same = robots.allowed(url, agent) == decision.allowed
    return found if is_same else f"{found}, and the opposite without a reason"


def decision_text(decision: koster.Decision) -> str:
    """Return a decision with its line, or its reason without one."""
    why = f"line {decision.rule.line}" if decision.rule else str(decision.reason)
    return f"{'allowed' if decision.allowed else 'disallowed'}: {why}"


PART = Part("check", True, inputs.all_files, entries)

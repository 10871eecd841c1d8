"""The functions of the worker process: they return reports about a robots.txt as records.

Arguments and results are bytes, text, numbers, lists and dicts, for use across processes.
`koster.reports.records` defines the records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import lint as linting
from .._asking import rules_for_data
from .._wording import truncated
from ..analysis import disagreements
from ..audit import audit
from ..crawlers import agent_for, known, named
from ..dialects import dialect_named
from ..diff import compare
from ..reports._json import scalars
from ..reports.records import of_audit, of_comparison, of_disagreement, of_finding
from ..robots import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..lint import Finding
    from ..model import Decision
    from ..robots import RobotsTxt


#: Maximum characters of a rule or sentence, and items of a list: a line may be as long as the file,
#: and be repeated for each decision.
_MAX_TEXT = 1_000
_MAX_URL = 8_192
#: Maximum characters of a rule or sentence in a decision, of which there may be a thousand.
_MAX_RULE = 300
_MAX_ITEMS = 1_000


def _truncate(text: str, limit: int = _MAX_TEXT) -> str:
    return truncated(text, limit)


def _limit_record(record: Any) -> Any:
    """Truncate the texts and lists of a record."""
    if isinstance(record, dict):
        return {
            key: _truncate(value, _MAX_URL if key == "url" else _MAX_TEXT)
            if isinstance(value, str)
            else _limit_record(value)
            for key, value in record.items()
        }
    if isinstance(record, list):
        return [
            _truncate(each) if isinstance(each, str) else _limit_record(each)
            for each in record[:_MAX_ITEMS]
        ]
    return record


def decision_records(
    robots: RobotsTxt, agents: Sequence[str], urls: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the decisions for every URL and agent, ordered by agent."""
    found = []
    for agent in agents:
        rules = rules_for_data(robots, agent_for(agent))
        found += [decision_record(rules.decide(url)) for url in urls]
    return found


def decision_record(decision: Decision) -> dict[str, Any]:
    """Return a decision as a record, with agent, URL and a sentence."""
    rule = decision.rule
    return {
        "agent": decision.agent if isinstance(decision.agent, str) else decision.agent[0],
        "url": decision.url,
        "allowed": decision.allowed,
        "reason": decision.reason,
        "line": rule.line if rule else None,
        "rule": _truncate(str(rule), _MAX_RULE) if rule else None,
        "falls_back_to": decision.falls_back_to or None,
        "sentence": _truncate(str(decision), _MAX_RULE),
    }


def decide(
    body: bytes, dialect: str, agents: Sequence[str], urls: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the decisions for every URL and agent, ordered by agent."""
    return decision_records(parse(body, dialect_named(dialect)), agents, urls)


def lint(
    body: bytes, dialects: Sequence[str], is_cut: bool = False, charset: str | None = None
) -> dict[str, Any]:
    """Return the findings in a file with the fields of their checks, and which to look at first."""
    first, *others = map(dialect_named, dialects)
    findings = linting.lint(
        body,
        first,
        dialects=tuple(others),
        is_cut=is_cut,
        charset=charset,
    )
    first_finding = linting.most_important(findings)
    kept = _most_severe(findings, first_finding)
    found = []
    for each in kept:
        check = linting.CHECK_OF[each.code]
        check_fields = {
            "name": check.name,
            "title": check.title,
            "why": check.why,
            "docs": check.docs,
            "source": check.source,
        }
        found.append(of_finding(each) | check_fields)
    answer = {
        "findings": found,
        "more": len(findings) - len(found),
        "most_important": None if first_finding is None else kept.index(first_finding),
    }
    record: dict[str, Any] = scalars(answer)
    return record


def _most_severe(findings: list[Finding], first: Finding | None) -> list[Finding]:
    """Return as many findings as an answer has, ``first`` and the most severe, by position."""
    if len(findings) <= _MAX_ITEMS:
        return findings
    order = list(linting.Severity)
    ranked = sorted(
        range(len(findings)),
        key=lambda at: (findings[at] is not first, order.index(findings[at].severity), at),
    )
    return [findings[at] for at in sorted(ranked[:_MAX_ITEMS])]


def diff(before: bytes, after: bytes, dialect: str) -> dict[str, Any]:
    """Return the differences between two files."""
    target = dialect_named(dialect)
    tokens = [crawler.token for crawler in known()]
    comparison = compare(parse(before, target), parse(after, target), tokens)
    record: dict[str, Any] = scalars(_limit_record(of_comparison(comparison)))
    return record


def audit_crawlers(body: bytes, dialect: str, tokens: Sequence[str] = ()) -> dict[str, Any]:
    """Return what known crawlers may fetch; all of them, if no tokens are given.

    Raises:
        LookupError: a token is unknown.
    """
    crawlers = []
    for token in tokens:
        crawler = named(token)
        if crawler is None:
            raise LookupError(f"unknown crawler {token}")
        crawlers.append(crawler)
    found = audit(parse(body, dialect_named(dialect)), crawlers or None)
    record: dict[str, Any] = scalars(_limit_record(of_audit(found)))
    return record


def disagree(
    body: bytes, dialect: str, dialects: Sequence[str], agents: Sequence[str]
) -> list[dict[str, Any]]:
    """Return where other dialects decide differently from a given one, by agent."""
    robots = parse(body, dialect_named(dialect))
    others = [dialect_named(name) for name in dialects if name != dialect]
    found: list[dict[str, Any]] = scalars(
        _limit_record([of_disagreement(each) for each in disagreements(robots, others, agents)])
    )
    return found

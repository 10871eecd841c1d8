"""Questions about a robots.txt, answered as records: what a service is asked for.

Arguments and answers are bytes, text, numbers, lists and dicts, so that a question can be worked
on in another process. `koster.reports.records` says what the records hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import lint as linting
from ..analysis import disagreements
from ..audit import audit
from ..crawlers import known, named
from ..dialects import dialect_named
from ..diff import compare
from ..reports._json import scalars
from ..reports.records import of_audit, of_comparison, of_disagreement, of_finding
from ..robots import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..model import Decision
    from ..robots import RobotsTxt


#: Characters of a rule or sentence, and entries of a list, that an answer has at most: a line may
#: be as long as the file, and is repeated for each question.
_LONGEST = 1_000
_LONGEST_URL = 8_192
#: Of a rule or sentence in a decision, of which there may be a thousand.
_LONGEST_RULE = 300
_MOST = 1_000


def _cut(text: str, longest: int = _LONGEST) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _bounded(record: Any) -> Any:
    """Return a record with rules that are not too long, in lists that are not."""
    if isinstance(record, dict):
        return {
            key: _cut(value, _LONGEST_URL if key == "url" else _LONGEST)
            if isinstance(value, str)
            else _bounded(value)
            for key, value in record.items()
        }
    if isinstance(record, list):
        return [_cut(each) if isinstance(each, str) else _bounded(each) for each in record[:_MOST]]
    return record


def decided(robots: RobotsTxt, agents: Sequence[str], urls: Sequence[str]) -> list[dict[str, Any]]:
    """Return the decisions on every URL for every robot, by robot."""
    found = []
    for agent in agents:
        rules = robots.rules_for(agent)
        found += [decision_record(rules.decide(url)) for url in urls]
    return found


def decision_record(decision: Decision) -> dict[str, Any]:
    """Return a decision, with who asked for what, and as a sentence."""
    rule = decision.rule
    return {
        "agent": decision.agent,
        "url": decision.url,
        "allowed": decision.allowed,
        "reason": decision.reason,
        "line": rule.line if rule else None,
        "rule": _cut(str(rule), _LONGEST_RULE) if rule else None,
        "sentence": _cut(str(decision), _LONGEST_RULE),
    }


def decide(
    body: bytes, dialect: str, agents: Sequence[str], urls: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the decisions on every URL for every robot, by robot."""
    return decided(parse(body, dialect_named(dialect)), agents, urls)


def lint(
    body: bytes, dialects: Sequence[str], is_cut: bool = False, charset: str | None = None
) -> dict[str, Any]:
    """Return the findings in a file, each with what is known of its code."""
    first, *others = map(dialect_named, dialects)
    findings = linting.lint(
        body,
        first,
        dialects=tuple(others),
        is_cut=is_cut,
        charset=charset,
    )
    found = []
    for each in findings[:_MOST]:
        check = linting.CHECK_OF[each.code]
        explained = {
            "name": check.name,
            "title": check.title,
            "why": check.why,
            "source": check.source,
        }
        found.append(of_finding(each) | explained)
    more = len(findings) - len(found)
    answer: dict[str, Any] = scalars({"findings": found, "more": more})
    return answer


def diff(before: bytes, after: bytes, dialect: str) -> dict[str, Any]:
    """Return what two files say differently."""
    reading = dialect_named(dialect)
    tokens = [crawler.token for crawler in known()]
    comparison = compare(parse(before, reading), parse(after, reading), tokens)
    answer: dict[str, Any] = scalars(_bounded(of_comparison(comparison)))
    return answer


def audited(body: bytes, dialect: str, tokens: Sequence[str] = ()) -> dict[str, Any]:
    """Return what a file says to known crawlers: to all, if none are named.

    Raises:
        LookupError: there is none of a name.
    """
    crawlers = []
    for token in tokens:
        crawler = named(token)
        if crawler is None:
            raise LookupError(f"no crawler is known as {token}")
        crawlers.append(crawler)
    found = audit(parse(body, dialect_named(dialect)), crawlers or None)
    answer: dict[str, Any] = scalars(_bounded(of_audit(found)))
    return answer


def disagreeing(
    body: bytes, dialect: str, dialects: Sequence[str], agents: Sequence[str]
) -> list[dict[str, Any]]:
    """Return where dialects read a file otherwise than one of them, for some robots."""
    robots = parse(body, dialect_named(dialect))
    others = [dialect_named(name) for name in dialects if name != dialect]
    found: list[dict[str, Any]] = scalars(
        _bounded([of_disagreement(each) for each in disagreements(robots, others, agents)])
    )
    return found

"""The functions of the worker process: they return reports about a robots.txt as JSON.

Each takes the maximum bytes of its answer first, and refuses a larger one while it makes it. Other
arguments are text, lists and files. `koster._reports.records` defines the records.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from .. import lint as linting
from .._asking import decide_as_sent, rules_for_data
from .._bodies import compression_in
from .._contents import is_page
from .._reports.records import (
    of_audit,
    of_comparison,
    of_disagreement,
    of_finding,
    of_outcome,
    of_signals,
)
from .._wording import truncated
from ..access import Outcome
from ..analysis import Classification, classify, disagreements
from ..audit import audit
from ..crawlers import agent_for, known, named
from ..decisions import Decision
from ..dialects import dialect_named
from ..diff import compare
from ..errors import MissingExtraError, UrlError
from ..lint import Finding
from ..origins import origin_of
from ..signals import signals as signals_of
from ..signals._uses import rsl_licenses, unread_of
from . import bodies
from .files import File, NamedFile, UnreadOutcome, body_of, read, robots_of
from .refusals import RefusedError, answer_too_large

if TYPE_CHECKING:
    # To import it takes 10 MB.
    from ..fetch._page_signals import Sources

T = TypeVar("T")


#: Maximum characters of a rule or sentence, and items of a list: a line may be as long as the file,
#: and be repeated for each decision.
_MAX_TEXT = 1_000
_MAX_URL = 8_192
#: Maximum characters of a rule or sentence in a decision, of which there may be a thousand.
_MAX_RULE = 300
_MAX_ITEMS = 1_000

_SURROGATES = re.compile("[\ud800-\udfff]")


class _Budget:
    """The bytes left for an answer."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._left = limit

    def take(self, record: T) -> T:
        """Count a record, and return it.

        Raises:
            RefusedError: the answer would be too large.
        """
        self._left -= _size(record)
        if self._left < 0:
            raise answer_too_large(self._limit)
        return record

    def limited(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Return records of the first items with their texts and lists truncated."""
        return [self.take(_truncate_record(function(each))) for each in items[:_MAX_ITEMS]]

    def whole(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Return records of all items with their texts truncated."""
        return [self.take(_truncate_record(function(each), None)) for each in items]

    def to_json(self, record: Any) -> bytes:
        """Return a record, whose parts were counted, as JSON.

        Raises:
            RefusedError: it is too large.
        """
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError:
            # Bytes that were not UTF-8.
            data = _SURROGATES.sub("\ufffd", text).encode("utf-8")
        if len(data) > self._limit:
            raise answer_too_large(self._limit)
        return data


def _size(record: Any) -> int:
    """Return the bytes of a record as JSON, at least."""
    if isinstance(record, str):
        return len(record) + 2
    if isinstance(record, dict):
        return 2 + sum(len(name) + 3 + _size(value) for name, value in record.items())
    if isinstance(record, list):
        return 2 + sum(map(_size, record))
    return 1


def _truncate_record(record: Any, most: int | None = _MAX_ITEMS) -> Any:
    """Truncate the texts and lists of a record; lists have at most so many items."""
    if isinstance(record, dict):
        return {
            key: truncated(value, _MAX_URL if key == "url" else _MAX_TEXT)
            if isinstance(value, str)
            else _truncate_record(value, most)
            for key, value in record.items()
        }
    if isinstance(record, list):
        return [_truncate_record(each, most) for each in record[:most]]
    return truncated(record, _MAX_TEXT) if isinstance(record, str) else record


def _fetch_record(file: File | Outcome, budget: _Budget) -> dict[str, Any] | None:
    """Return the fetch of a file without the file; None if it was not fetched."""
    if isinstance(file, bytes):
        return None
    record = of_outcome(read(file) if isinstance(file, UnreadOutcome) else file)
    del record["body"]
    return budget.take(record)


def decide(
    limit: int, file: File, dialect: str, agents: Sequence[str], urls: Sequence[str]
) -> bytes:
    """Return the decisions for every URL and agent, ordered by agent.

    Raises:
        RefusedError: a URL belongs to another site than the file.
    """
    budget = _Budget(limit)
    _check_site(file, urls)
    robots = robots_of(file, dialect)
    decisions = []
    for agent in agents:
        rules = rules_for_data(robots, agent_for(agent))
        ask = partial(decide_as_sent, rules)
        if isinstance(file, UnreadOutcome):
            ask = partial(file.decide_by, rules)
        decisions += [budget.take(decision_record(ask(url))) for url in urls]
    answer = {"dialect": dialect, "decisions": decisions, "fetch": _fetch_record(file, budget)}
    return budget.to_json(answer)


def files(
    limit: int, some: Sequence[NamedFile], dialect: str, agents: Sequence[str], urls: Sequence[str]
) -> bytes:
    """Return how much of its site each file blocks, and the decisions about URLs, by file."""
    budget = _Budget(limit)
    records = []
    for each in some:
        record: dict[str, Any] = dict.fromkeys(("html", "agents", "decisions", "problem"))
        try:
            body = _readable(each.content)
        except RefusedError as refusal:
            record["problem"] = {"code": refusal.code, "detail": refusal.detail}
        else:
            record |= _answers_about(body, dialect, agents, urls, budget)
        records.append({"id": each.id, **record})
    return budget.to_json({"dialect": dialect, "files": records})


def _readable(content: bytes | str) -> bytes:
    """Return the bytes of a file.

    Raises:
        RefusedError: they are not base64, or compressed: a file without rules would allow all.
    """
    try:
        body = content if isinstance(content, bytes) else b64decode(content, validate=True)
    except ValueError:
        raise RefusedError(422, "not-base64", "body_base64 is not valid base64") from None
    how = compression_in(body)
    if how is not None:
        raise RefusedError(422, "compressed", f"the file is compressed with {how}: decode it first")
    return body


def _answers_about(
    body: bytes, dialect: str, agents: Sequence[str], urls: Sequence[str], budget: _Budget
) -> dict[str, Any]:
    """Return how much of a site a file blocks for each agent, and the decisions, by agent."""
    robots = robots_of(body, dialect)
    analyses: dict[tuple[int, ...], Classification] = {}
    classified, decisions = [], []
    for agent in agents:
        rules = rules_for_data(robots, agent_for(agent))
        found = analyses.get(rules.group_lines)
        if found is None:
            found = analyses[rules.group_lines] = classify(rules)
        rule = found.rule if found.is_proved else None
        record = {
            "agent": agent,
            "written": rules_for_data(robots, agent).is_named,
            "effective": found.extent.value if found.is_proved else None,
            "line": rule.line if rule else None,
        }
        classified.append(budget.take(record))
        decisions += [budget.take(decision_record(decide_as_sent(rules, url))) for url in urls]
    return {"html": is_page(body), "agents": classified, "decisions": decisions}


def _check_site(file: File, urls: Sequence[str]) -> None:
    """Check that URLs belong to the site that was fetched.

    Raises:
        RefusedError: one does not.
    """
    if isinstance(file, bytes):
        return
    for number, url in enumerate(urls):
        if not _is_on_site(url, file.origin):
            detail = f"{url} is not on {file.origin}: its rules do not apply"
            raise RefusedError(422, "another-site", detail, f"/urls/{number}")


def _is_on_site(url: str, origin: str) -> bool:
    """Return whether a URL or path belongs to an origin."""
    if "://" not in url and not url.startswith("//"):
        return True
    from ..fetch import to_ascii  # noqa: PLC0415 - takes 10 MB

    try:
        return str(origin_of(url, to_ascii)) == origin
    except UrlError:
        return False


def decision_record(decision: Decision) -> dict[str, Any]:
    """Return a decision as a record, with agent, URL and a sentence."""
    rule = decision.rule
    return {
        "agent": decision.agent if isinstance(decision.agent, str) else decision.agent[0],
        "url": decision.url,
        "allowed": decision.allowed,
        "reason": decision.reason.value,
        "line": rule.line if rule else None,
        "rule": truncated(str(rule), _MAX_RULE) if rule else None,
        "falls_back_to": decision.falls_back_to or None,
        "sentence": truncated(str(decision), _MAX_RULE),
    }


def check(limit: int, file: UnreadOutcome, url: str, agent: str) -> bytes:
    """Return the decision about a URL for an agent."""
    budget = _Budget(limit)
    outcome = read(file)
    decision = budget.take(decision_record(outcome.decide(url, agent_for(agent))))
    answer = {
        "dialect": outcome.dialect.name,
        "decision": decision,
        "fetch": _fetch_record(outcome, budget),
    }
    return budget.to_json(answer)


def fetch(limit: int, file: UnreadOutcome) -> bytes:
    """Return the outcome of a fetch, with the file."""
    budget = _Budget(limit)
    return budget.to_json(budget.take(of_outcome(read(file))))


def lint(limit: int, file: File, dialects: Sequence[str]) -> bytes:
    """Return the findings in a file with the fields of their checks, and which to look at first."""
    budget = _Budget(limit)
    first, *others = map(dialect_named, dialects)
    is_cut, charset = (False, None) if isinstance(file, bytes) else (file.is_cut, file.charset)
    findings = linting.lint(
        body_of(file), first, dialects=tuple(others), is_cut=is_cut, charset=charset
    )
    first_finding = linting.most_important(findings)
    kept = _most_severe(findings, first_finding)
    answer = {
        "findings": [budget.take(_finding_record(each)) for each in kept],
        "more": len(findings) - len(kept),
        "most_important": None if first_finding is None else kept.index(first_finding),
        "fetch": _fetch_record(file, budget),
    }
    return budget.to_json(answer)


def _finding_record(finding: Finding) -> dict[str, Any]:
    check = linting.CHECK_OF[finding.code]
    return of_finding(finding) | {
        "name": check.name,
        "title": check.title,
        "why": check.why,
        "source": check.source,
        "docs": check.docs,
    }


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


def diff(limit: int, before: File, after: File, dialect: str) -> bytes:
    """Return the differences between two files."""
    budget = _Budget(limit)
    tokens = [crawler.token for crawler in known()]
    comparison = compare(robots_of(before, dialect), robots_of(after, dialect), tokens)
    return budget.to_json(of_comparison(comparison, budget.limited))


def unknown_crawler(token: str, number: int) -> RefusedError:
    """Return the refusal of a token in a list of known crawlers."""
    detail = f"unknown crawler {token}: GET /v1/agents lists all"
    return RefusedError(422, "unknown-agent", detail, f"/agents/{number}")


def audit_crawlers(limit: int, file: File, dialect: str, tokens: Sequence[str] = ()) -> bytes:
    """Return what known crawlers may fetch; all of them, if no tokens are given.

    Raises:
        RefusedError: a token is unknown.
    """
    budget = _Budget(limit)
    crawlers = []
    for number, token in enumerate(tokens):
        crawler = named(token)
        if crawler is None:
            raise unknown_crawler(token, number)
        crawlers.append(crawler)
    unread = () if isinstance(file, bytes) else unread_of(file)
    audited = audit(robots_of(file, dialect), crawlers or None, unread=unread)
    found = of_audit(audited, budget.limited)
    return budget.to_json({"dialect": dialect, **found, "fetch": _fetch_record(file, budget)})


def refusal(_limit: int, file: UnreadOutcome, url: str, agent: str) -> str:
    """Return why an agent may not fetch a URL, or "" if it may."""
    decision = read(file).decide(url, agent)
    return "" if decision.allowed else truncated(str(decision), _MAX_RULE)


def signals(
    limit: int,
    file: File | None,
    sources: Sources,
    crawlers: Sequence[str],
    dialect: str,
    now: datetime,
) -> tuple[bytes, tuple[str, ...]]:
    """Return what a site says about a page, and the URLs of the RSL licenses that it names.

    No list is truncated: a crawler that is left out would seem to be told nothing else.

    Raises:
        RefusedError: headers or HTML need an extra that is not installed.
    """
    try:
        found = signals_of(
            **sources,
            robots=None if file is None else robots_of(file, dialect),
            crawlers=crawlers,
            now=now,
            dialect=dialect_named(dialect),
        )
    except MissingExtraError as error:
        raise RefusedError(501, "missing-extra", str(error)) from None
    moment = now.isoformat(timespec="seconds") if isinstance(file, UnreadOutcome) else None
    budget = _Budget(limit)
    answer = budget.to_json(of_signals(found, moment, many=budget.whole))
    return answer, rsl_licenses(found)


def disagree(
    limit: int, file: File, dialect: str, dialects: Iterable[str], agents: Sequence[str]
) -> bytes:
    """Return where other dialects decide differently from a given one, by agent."""
    budget = _Budget(limit)
    others = [name for name in dict.fromkeys(dialects) if name != dialect]
    found = disagreements(
        robots_of(file, dialect), map(dialect_named, others), dict.fromkeys(agents)
    )
    answer = {
        "dialect": dialect,
        "dialects": others,
        "disagreements": [of_disagreement(each, budget.limited) for each in found],
        "fetch": _fetch_record(file, budget),
    }
    return budget.to_json(answer)


def read_json(_limit: int, body: bytes) -> Any:
    """Return the value of a request's JSON; see `bodies`."""
    return bodies.read_json(body)

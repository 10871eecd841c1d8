"""Results as records, for JSON of the command line and the service.

Each function returns a dict, or a list of dicts, of str, numbers, bool and None. Text may have lone
surrogates if a file was not UTF-8: `koster._reports.json` replaces them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from ..decisions import Decision
from ..model import text_of
from .plain import printable

if TYPE_CHECKING:
    from ..access import Outcome
    from ..analysis import Difference, Disagreement
    from ..audit import Audit, Policy, Row, StatedUse, Verdict
    from ..crawlers import Crawler, PolicyToken
    from ..diff import Comparison, Setting
    from ..directives import Preference
    from ..lint import Edit, Finding
    from ..signals import (
        Answer,
        Conflict,
        Crawl,
        License,
        Signals,
        Statement,
        Unseen,
        Use,
    )

    #: Returns the records of items, made by a function.
    Many: TypeAlias = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]


def _all(function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    return list(map(function, items))


def _itself(item: Any) -> Any:
    return item


def of_decision(decision: Decision) -> dict[str, Any]:
    """Return a decision and its line."""
    rule = decision.rule
    return {
        "allowed": decision.allowed,
        "reason": decision.reason.value,
        "line": rule.line if rule else None,
        "rule": str(rule) if rule else None,
    }


def of_outcome(outcome: Outcome) -> dict[str, Any]:
    """Return the outcome of fetching a robots.txt, with the file."""
    robots = outcome.robots
    return {
        "site": outcome.origin,
        "dialect": outcome.dialect.name,
        "outcome": "file" if outcome.reason is None else outcome.reason.value,
        "why": outcome.why or None,
        "url": outcome.url,
        "hops": [
            {
                "url": hop.url,
                "status": hop.status,
                "headers": dict(hop.headers),
                "why": hop.why or None,
                "seconds": round(hop.seconds, 3),
            }
            for hop in outcome.hops
        ],
        "stale": outcome.is_stale,
        "downgraded": outcome.is_downgraded,
        "cut": outcome.is_cut,
        "html": outcome.is_html,
        "charset": outcome.charset,
        "fetched": outcome.fetched.isoformat(),
        "expires": outcome.expires.isoformat(),
        "unreachable_since": outcome.unreachable_since and outcome.unreachable_since.isoformat(),
        "sitemaps": list(outcome.sitemaps),
        "body": None if robots is None else text_of(robots.body),
    }


def sentence(finding: Finding) -> str:
    """Return a finding and its suggestion, printable."""
    return printable(finding.message + (f". {finding.suggestion}" if finding.suggestion else ""))


def of_finding(finding: Finding) -> dict[str, Any]:
    """Return a finding."""
    return {
        "line": finding.line,
        "column": finding.column,
        "end_column": finding.end_column,
        "code": finding.code,
        "severity": finding.severity.value,
        "message": finding.message,
        "suggestion": finding.suggestion or None,
        "url": finding.url,
        "fixable": bool(finding.edits),
        "edits": list(map(_of_edit, finding.edits)),
        "proposal": list(map(_of_edit, finding.proposal)),
    }


def _of_edit(edit: Edit) -> dict[str, Any]:
    return {"start": edit.start, "end": edit.end, "text": text_of(edit.replacement)}


def of_comparison(comparison: Comparison, many: Many = _all) -> dict[str, Any]:
    """Return the differences between two files; ``many`` makes each list."""
    return {
        "decides_alike": comparison.decides_alike,
        "proved": comparison.is_proved,
        "changes": [
            {
                "agents": many(_itself, change.agents),
                "proved": change.differences.is_proved,
                "differences": many(of_difference, change.differences.found),
                "settings": many(_of_setting, change.settings),
            }
            for change in comparison.changes
        ],
        "settings": many(_of_setting, comparison.settings),
    }


def of_difference(each: Difference) -> dict[str, Any]:
    """Return a URL that is decided differently."""
    return {
        "url": each.url,
        "opened": each.is_opened,
        "before": of_decision(each.before),
        "after": of_decision(each.after),
    }


def _of_setting(setting: Setting) -> dict[str, Any]:
    return {"name": setting.name, "before": list(setting.before), "after": list(setting.after)}


def of_disagreement(each: Disagreement, many: Many = _all) -> dict[str, Any]:
    """Return the differences of a dialect for an agent; ``many`` makes their list."""
    return {
        "agent": each.agent,
        "dialect": each.dialect.name,
        "proved": each.differences.is_proved,
        "differences": many(of_difference, each.differences.found),
    }


def of_audit(audit: Audit, many: Many = _all) -> dict[str, Any]:
    """Return an audit: what known crawlers may fetch; ``many`` makes each list."""
    return {
        "overview": many(_of_row, audit.overview),
        "crawlers": many(_of_verdict, audit.verdicts),
        "preferences": many(_of_preference, audit.preferences),
        "licenses": many(_itself, audit.licenses),
        "sitemaps": many(_itself, audit.sitemaps),
        "uses": many(_of_use, audit.uses),
        "unread": many(_itself, audit.unread),
        "policy_tokens": [_of_policy(each) for each in audit.policies],
    }


def _of_use(each: StatedUse) -> dict[str, Any]:
    return {
        "use": each.use.value,
        "stated": each.stated.value,
        "sources": list(map(_of_statement, each.statements)),
        "elsewhere": list(map(_of_statement, each.elsewhere)),
    }


def _of_policy(each: Policy) -> dict[str, Any]:
    return {
        "token": each.token.token,
        "purpose": each.token.purpose.value,
        "stated": each.extent is not None,
        "access": each.access,
        "line": each.rule.line if each.rule else None,
        "rule": str(each.rule) if each.rule else None,
        "proved": each.is_proved,
        "source": each.token.source,
        "checked": each.token.checked,
    }


def _of_row(row: Row) -> dict[str, Any]:
    return {
        "label": row.label,
        "purposes": [purpose.value for purpose in row.purposes],
        "disallowed": row.extent.value,
        "text": row.text,
    }


def _of_verdict(each: Verdict) -> dict[str, Any]:
    return {
        "token": each.crawler.token,
        "operator": each.crawler.operator,
        "purpose": each.crawler.purpose.value,
        "purposes": [purpose.value for purpose in each.crawler.purposes],
        "obeys": each.crawler.obeys.value,
        "source": each.crawler.source,
        "checked": each.crawler.checked,
        "disallowed": each.extent.value,
        "access": each.access,
        "how": each.how,
        "named": each.is_named,
        "falls_back_to": each.falls_back_to,
        "line": each.rule.line if each.rule else None,
        "rule": str(each.rule) if each.rule else None,
        "closing": each.closing,
        "url": each.url,
        "proved": each.is_proved,
    }


def _of_preference(each: Preference) -> dict[str, Any]:
    return {
        "directive": str(each.directive),
        "key": each.key,
        "value": each.value,
        "path": each.pattern,
        "line": each.line,
    }


def of_signals(
    page: Signals, fetched: str | None = None, uses: Sequence[Use] = (), many: Many = _all
) -> dict[str, Any]:
    """Return what a site says about a page; of some uses, or all; ``many`` makes each list."""
    return {
        "url": page.url,
        "fetched": fetched,
        "crawl": many(_of_crawl, page.crawl),
        "uses": many(_of_answer, [each for each in page.answers if not uses or each.use in uses]),
        "unseen": many(_of_unseen, page.unseen),
        "conflicts": many(_of_conflict, page.conflicts),
        "licenses": many(_of_license, page.licenses),
        "notes": many(_itself, page.notes),
        "unread": many(_itself, page.unread),
    }


def _of_crawl(each: Crawl) -> dict[str, Any]:
    return {
        "crawler": each.crawler,
        "allowed": each.allowed,
        "line": each.line,
        "rule": each.rule,
    }


def _of_answer(each: Answer) -> dict[str, Any]:
    return {
        "use": each.use.value,
        "stated": each.stated.value,
        "for": each.crawler or "*",
        "sources": [_of_statement(some) for some in each.statements],
    }


def _of_unseen(each: Unseen) -> dict[str, Any]:
    return {
        "signal": each.signal,
        "where": each.where,
        "crawler": each.crawler,
        "because": each.because,
    }


def _of_conflict(each: Conflict) -> dict[str, Any]:
    return {
        "use": each.use.value,
        "for": each.crawler or "*",
        "yes": _of_statement(each.yes),
        "no": _of_statement(each.no),
    }


def _of_license(each: License) -> dict[str, Any]:
    return {"url": each.url, "where": each.where}


def _of_statement(each: Statement) -> dict[str, Any]:
    return {
        "kind": each.grammar.name,
        "where": each.where,
        "line": each.line,
        "text": each.text,
        "stated": each.stated.value,
        "for": each.crawler or "*",
        "standing": each.grammar.standing,
    }


def of_policy_token(token: PolicyToken) -> dict[str, Any]:
    """Return what is known about a policy token."""
    return {
        "token": token.token,
        "purpose": token.purpose.value,
        "title": token.title,
        "specification": token.specification,
        "source": token.source,
        "checked": token.checked,
        "spelled_in": token.spelled_in,
        "spelling_certain": token.is_spelling_certain,
        "open": list(token.open),
        "followers": [
            {
                "operator": each.operator,
                "says": each.says,
                "source": each.source,
                "checked": each.checked,
            }
            for each in token.followers
        ],
    }


def of_crawler(crawler: Crawler, today: date) -> dict[str, Any]:
    """Return what is known about a crawler on a day."""
    return {
        "token": crawler.token,
        "operator": crawler.operator,
        "purpose": crawler.purpose.value,
        "purposes": [purpose.value for purpose in crawler.purposes],
        "obeys": crawler.obeys.value,
        "falls_back_to": list(crawler.falls_back_to),
        "verification": {
            "ranges": list(crawler.verification.ranges),
            "domains": list(crawler.verification.domains),
            "signatures": crawler.verification.signatures,
        },
        "names": list(crawler.names),
        "successor": crawler.successor or None,
        "change_delay_hours": crawler.change_delay // timedelta(hours=1),
        "old_copy_days": crawler.old_copy.days or None,
        "note": crawler.note or None,
        "source": crawler.source,
        "checked": crawler.checked,
        "checked_more_than_a_year_ago": crawler.is_outdated(today),
    }

"""Complaints to the operators of crawlers that ignore a robots.txt, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from .._wording import count_noun, joined
from ..crawlers import CHANGE_DELAY
from .bulk import percent
from .log_words import CAUTION, Judged, identity_of, lead, time_of
from .plain import markdown, markdown_code

if TYPE_CHECKING:
    from ..logs import CrawlerReport

#: The maximum number of rules, and of requests, of a crawler.
_MAX_RULES = 10
_MAX_EXAMPLES = 12


def complaints(judged: Judged) -> Iterator[str]:
    """Yield the lines of a complaint for each verified crawler that broke rules."""
    broken = [each for each in judged.report.crawlers if each.violations]
    verified = [each for each in broken if each.identified == "verified"]
    others = [each for each in broken if each.identified != "verified"]
    if not verified:
        yield "# No violations by verified crawlers"
        yield ""
        yield markdown(lead(judged.report))
    for number, each in enumerate(verified):
        yield from ["", "---", ""] if number else []
        yield from _complaint(judged, each)
    if others:
        yield ""
        yield "## Not verified"
        yield ""
        yield f"{CAUTION}. They are no evidence against an operator."
        yield ""
        yield "| crawler | identity | requests | violations |"
        yield "|---|---|---:|---:|"
        for each in others:
            yield (
                f"| {markdown(each.crawler)} | {identity_of(each)} | {each.requests:,} "
                f"| {each.violations:,} |"
            )


def _complaint(judged: Judged, each: CrawlerReport) -> Iterator[str]:
    report = judged.report
    of = f" of {markdown(judged.title)}" if judged.title else ""
    yield f"# Requests by {markdown(each.crawler)} that the robots.txt{of} disallows"
    yield ""
    operator = f", run by {markdown(each.operator)}," if each.operator else ""
    yield (
        f"From {time_of(each.first)} to {time_of(each.last)} UTC, {markdown(each.crawler)}"
        f"{operator} made {count_noun(each.requests, 'request')}{of}. The robots.txt disallowed "
        f"{each.violations:,} of them ({percent(each.share)}) in every version that it may have "
        "had."
    )
    yield ""
    yield "## Rules"
    yield ""
    yield "| rule | version, in force since | violations | first (UTC) | last (UTC) |"
    yield "|---|---|---:|---|---|"
    for rule in each.rules[:_MAX_RULES]:
        since = "the beginning of the log" if rule.since is None else f"{time_of(rule.since)} UTC"
        yield (
            f"| line {rule.line}: {markdown_code(rule.rule)} | {markdown(rule.version)}, {since} "
            f"| {rule.violations:,} | {time_of(rule.first)} | {time_of(rule.last)} |"
        )
    if len(each.rules) > _MAX_RULES:
        yield ""
        yield f"And {count_noun(len(each.rules) - _MAX_RULES, 'other rule')}."
    yield ""
    yield "## Requests, for example"
    yield ""
    yield "| time (UTC) | address | request | status | User-Agent |"
    yield "|---|---|---|---:|---|"
    examples = [some for rule in each.rules for some in rule.examples][:_MAX_EXAMPLES]
    for some in sorted(examples, key=lambda example: example.time):
        request = markdown_code(f"{some.method} {some.url}".strip())
        status = "" if some.status is None else some.status
        yield (
            f"| {time_of(some.time)} | {markdown(some.address)} | {request} | {status} "
            f"| {markdown_code(some.agent)} |"
        )
    if judged.are_addresses_hashed:
        yield ""
        yield "The addresses are hashed; koster logs --show-addresses has them."
    yield ""
    yield "## Identification"
    yield ""
    yield _identification(each, judged)
    yield ""
    yield "## How violations were counted"
    yield ""
    yield (
        f"A request counts only if every version of the robots.txt disallows it that the crawler "
        f"may have held at that moment: {_held(each, judged)}"
    )
    if each.within_caching_period:
        yield ""
        yield (
            f"Not counted: {count_noun(each.within_caching_period, 'request')} that only the "
            "current version disallowed."
        )
    if report.first is not None and report.last is not None:
        yield ""
        yield (
            f"Source: access logs from {time_of(report.first)} to {time_of(report.last)} UTC, "
            f"{count_noun(len(report.versions), 'version')} of the robots.txt, read by koster."
        )


def _held(each: CrawlerReport, judged: Judged) -> str:
    """Return which versions a crawler may have held."""
    usual = (
        f"the one it last fetched, according to this log, in the {judged.grace} before (RFC 9309 "
        "§2.4), or any version in force in that time."
    )
    record = each.record
    if record is None:
        return usual
    if record.change_delay > CHANGE_DELAY:
        hours = count_noun(record.change_delay // timedelta(hours=1), "hour")
        return (
            f"any version in force in the {hours} before, as changes reach it only after that time."
        )
    if record.old_copy:
        days = count_noun(record.old_copy.days, "day")
        return (
            f"{usual} After fetches that failed, according to this log, it may have held an older "
            f"one, of up to {days} before, as its operator says."
        )
    return usual


def _identification(each: CrawlerReport, judged: Judged) -> str:
    """Return how the identity of a crawler was verified."""
    record = each.record
    ways = []
    if record is not None and record.verification.ranges:
        ways.append(f"the ranges published at {' and '.join(record.verification.ranges)}")
    if record is not None and record.verification.domains:
        ways.append(f"reverse DNS in {joined(record.verification.domains, 'or')}")
    how = f" The operator's ways to verify are {joined(ways)}." if ways else ""
    lists = f" {judged.lists}." if judged.lists else ""
    return f"All of these requests were verified as those of {markdown(each.crawler)}.{how}{lists}"

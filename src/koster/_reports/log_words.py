"""What all formats of ``koster logs`` say: the result, numbers and times, in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from .._wording import count_noun, joined
from .bulk import percent
from .plain import shorten

if TYPE_CHECKING:
    from ..logs import CrawlerReport, Report

#: What is known about an identity, for a person.
IDENTITIES = {
    "verified": "verified",
    "impostor": "impostor",
    "unverified": "not verified",
}

CAUTION = (
    "Anyone can use the name of a crawler: do not blame its operator for requests that are not "
    "verified"
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A report for output.

    Attributes:
        report: The result.
        title: What the log is of.
        source: Where the numbers are from.
        grace: The caching period, in words.
        are_addresses_hashed: Whether addresses are hashes.
        lists: The days of the lists of addresses, in words.
    """

    report: Report
    title: str = ""
    source: str = ""
    grace: str = "24 hours"
    are_addresses_hashed: bool = True
    lists: str = ""


def day_of(moment: datetime) -> str:
    """Format a day."""
    return f"{moment:%Y-%m-%d}"


def time_of(moment: datetime) -> str:
    """Format a time."""
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def period_of(first: datetime, last: datetime) -> str:
    """Format a period of days."""
    return day_of(first) if day_of(first) == day_of(last) else f"{day_of(first)} to {day_of(last)}"


def lead(report: Report) -> str:
    """Return the result in a sentence.

    Only crawlers that were verified are named.
    """
    verified = [each for each in report.crawlers if each.identified == "verified"]
    broken = [each for each in verified if each.violations]
    others = sum(each.violations for each in report.crawlers) - sum(
        each.violations for each in broken
    )
    names = [each.crawler for each in broken]
    some = names if len(names) <= 4 else [*names[:3], f"{len(names) - 3} more"]
    if broken:
        total = sum(each.violations for each in broken)
        share = total / max(sum(each.requests for each in broken), 1)
        sentence = f"{joined(some)} broke robots.txt: {count_noun(total, 'violation')}, "
        sentence += f"{percent(share)} of {'its' if len(broken) == 1 else 'their'} requests."
    elif verified:
        sentence = "No verified crawler broke robots.txt."
    elif report.crawlers:
        sentence = "No crawler could be verified."
    elif report.errors:
        return "No crawler in what could be read of the log."
    else:
        return "No crawler in the log."
    if others:
        sentence += f" {count_noun(others, 'violation')} by crawlers that are not verified."
    return sentence


def heading(report: Report) -> str:
    """Return the period and the size of a log."""
    if report.first is None or report.last is None:
        return count_noun(report.lines, "line")
    versions = count_noun(len(report.versions), "version")
    return (
        f"{period_of(report.first, report.last)}, {count_noun(report.lines, 'line')}, "
        f"{versions} of robots.txt"
    )


def identity_of(each: CrawlerReport) -> str:
    """Return what is known about the identity of a crawler, in words."""
    return IDENTITIES[each.identified]


def fetches_of(each: CrawlerReport) -> str:
    """Return how often a crawler fetched the robots.txt, in words."""
    return "never" if each.asked_for_robots_txt is False else f"{each.robots_txt:,}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def most_broken(each: CrawlerReport) -> str:
    """Return the rule that a crawler broke most, in words."""
    if not each.rules:
        return ""
    rule = each.rules[0]
    more = f", and {count_noun(len(each.rules) - 1, 'other rule')}" if len(each.rules) > 1 else ""
    return f"line {rule.line}, {shorten(rule.rule)} ({_times(rule.violations)}{more})"


def pace_of(each: CrawlerReport) -> str:
    """Return how a crawler kept to the pace that a site asks for, in words."""
    pace = each.pace
    if pace is None:
        return ""
    parts = []
    if pace.intervals:
        kept = percent(pace.kept / pace.intervals)
        parts.append(f"kept {kept} of {count_noun(pace.intervals, 'interval')}")
    if pace.outside_visit_time:
        parts.append(f"{count_noun(pace.outside_visit_time, 'request')} outside the visit time")
    parts.append(
        f"at most {count_noun(pace.worst_minute_requests, 'request')} in a minute "
        f"({pace.worst_minute:%Y-%m-%d %H:%M})"
    )
    return f"{pace.directive}: {'; '.join(parts)}"


def notices(report: Report) -> list[str]:
    """Return what the numbers leave open, in sentences."""
    found = list(report.notices)
    if report.unreadable:
        found.append(f"{count_noun(report.unreadable, 'line')} could not be read, such as:")
        found += [f"{path}: {shorten(sample)}" for path, sample in report.samples[:3]]
    if any(each.violations and each.identified != "verified" for each in report.crawlers):
        found.append(CAUTION)
    return found

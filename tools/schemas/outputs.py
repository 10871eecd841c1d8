"""The schemas of JSON (draft 2020-12): what each command prints, and the JSON that it keeps."""

from __future__ import annotations

from typing import Any

import koster
from koster.analysis import Extent
from koster.bulk._batches import NOTES
from koster.conformance import LEVELS
from koster.crawlers import Obeys, Purpose
from koster.decisions import Reason
from koster.lint import Severity
from koster.logs import Identified
from koster.signals import GRAMMARS, Stated, Use

from .shapes import (
    Shape,
    array,
    boolean,
    integer,
    moment,
    nullable,
    number,
    one_of,
    record,
    text,
    texts,
    titled,
)

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_RULE = "The rule, as in Disallow: /private."

_DIALECT = one_of(koster.DIALECTS, "How the robots.txt is read.")
_REASON = one_of(Reason, "Why the URL is allowed or blocked.")
_DECIDING_LINE = nullable(integer("The line that decides, from 1; null if none does.", 1))


def _check() -> Shape:
    times = {
        "at": moment("The time that was asked about."),
        "open": boolean("Whether the site wants visits at that time."),
        "visit_times": texts("The times when the site wants visits, in UTC."),
        "next_open": moment("When the site next wants visits."),
        "interval": nullable(number("Seconds between two requests; null if there is no limit.")),
    }
    answer = {
        "allowed": boolean("Whether the crawler may fetch the URL."),
        "agent": text("The crawler, as asked."),
        "url": text("The URL or path, as asked."),
        "reason": _REASON,
        "file": text("The robots.txt: a path, or the address of a site."),
        "line": _DECIDING_LINE,
        "rule": nullable(text(_RULE)),
        "text": nullable(text("The whole line, as written.")),
        "dialect": _DIALECT,
        "falls_back_to": nullable(text("The name whose group applies, if it is another one.")),
        "comments": texts("The Comment lines for the crawler."),
        "why": nullable(text("What happened, if the site has no file.")),
        **times,
    }
    meaning = "A decision. The keys from at on are there if a time was asked about."
    return titled(
        "koster check --format json",
        array(record(answer, meaning, optional=times)),
        "The decisions, by file, crawler, URL and dialect.",
    )


def _fetch() -> Shape:
    hop = record({
        "url": text("The URL that was requested."),
        "status": nullable(integer("The HTTP status; null if there was no response.", 100)),
        "headers": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": "The response headers that matter, with names in lower case.",
        },
        "why": nullable(text("The error, if there was one.")),
        "seconds": number("How long the request took."),
    })  # fmt: skip
    outcomes = ("file", Reason.UNAVAILABLE, Reason.UNREACHABLE, Reason.FORBIDDEN)
    site = record({
        "site": text("The site, as in https://example.com."),
        "dialect": _DIALECT,
        "outcome": one_of(outcomes, "file, or why no file applies."),
        "why": nullable(text("The error, if there was one.")),
        "url": text("Where the file came from, after redirects."),
        "hops": array(hop, "The requests of the last try, in order."),
        "stale": boolean("Whether an expired file is used because the site is unreachable."),
        "downgraded": boolean("Whether a redirect led from HTTPS to HTTP."),
        "cut": boolean("Whether the file is longer than 500 KiB."),
        "html": boolean("Whether the file is an HTML page, not a robots.txt."),
        "charset": nullable(text("The original charset; null if it is UTF-8.")),
        "fetched": moment("When the answer was received or last confirmed."),
        "expires": moment("The site is not fetched again before."),
        "unreachable_since": nullable(moment("When the site became unreachable.")),
        "sitemaps": texts("The absolute URLs of the Sitemap lines."),
        "body": nullable(text("The robots.txt as text; null without a file.")),
        "comments": texts("The Comment lines for the user agent."),
    })  # fmt: skip
    return titled("koster fetch --format json", array(site), "The outcome of each fetch.")


def _lint() -> Shape:
    edits = array({"$ref": "#/$defs/edit"})
    finding = record({
        "file": text("The robots.txt: a path, or the address of a site."),
        "line": integer("The line, from 1.", 1),
        "column": integer("The first column in characters, from 1.", 1),
        "end_column": integer("The column after the last one.", 1),
        "code": {"type": "string", "pattern": "^[A-Z][0-9]{3}$",
                 "description": "The code of the check; versions add codes."},
        "severity": one_of(Severity, "How bad it is. A file with notes only is clean."),
        "message": text("What is wrong."),
        "suggestion": nullable(text("What to do.")),
        "url": nullable(text("A URL that shows it.")),
        "fixable": boolean("Whether there are edits, which --fix applies."),
        "edits": {**edits, "description": "What --fix does."},
        "proposal": {**edits, "description": "A fix that may change access: look at it first."},
    })  # fmt: skip
    edit = record({
        "start": integer("The first byte of the file to replace, from 0."),
        "end": integer("The byte after the last one."),
        "text": text("What replaces them."),
    })  # fmt: skip
    findings = {**array(finding), "$defs": {"edit": edit}}
    return titled("koster lint --format json", findings, "The findings, by file and line.")


def _baseline() -> Shape:
    known = record({
        "file": text("The path from the folder of the baseline, or the address of a site."),
        "code": text("The code of the check."),
        "text": text("The text of the line."),
        "count": integer("How many such findings are known.", 1),
    })  # fmt: skip
    return titled(
        "koster lint --write-baseline",
        record({"findings": array(known, "The known findings.")}),
        "A baseline: findings that koster lint --baseline does not report again.",
    )


def _diff() -> Shape:
    decision = record({
        "allowed": boolean("Whether the URL is allowed."),
        "reason": _REASON,
        "line": _DECIDING_LINE,
        "rule": nullable(text(_RULE)),
    })  # fmt: skip
    difference = record({
        "url": text("A URL or path that is decided differently, a shortest one."),
        "opened": boolean("true: now allowed; false: now blocked."),
        "before": {"$ref": "#/$defs/decision"},
        "after": {"$ref": "#/$defs/decision"},
    })  # fmt: skip
    setting = record({
        "name": text("The directive."),
        "before": texts("The values in the first file."),
        "after": texts("The values in the second file."),
    })  # fmt: skip
    settings = array({"$ref": "#/$defs/setting"}, "Other lines that changed.")
    change = record({
        "agents": texts("Crawlers that change alike; * is those without a group of their own."),
        "proved": boolean("Whether the list of differences is complete."),
        "differences": array(difference, "A URL for each pair of lines that decide differently."),
        "settings": settings,
    })  # fmt: skip
    comparison = record({
        "decides_alike": boolean("Whether it is proved that no access changes."),
        "proved": boolean("Whether all differences are listed."),
        "changes": array(change, "What changes for some crawlers."),
        "settings": {**settings, "description": "What changes for the whole site."},
    })  # fmt: skip
    definitions = {"$defs": {"decision": decision, "setting": setting}}
    return titled(
        "koster diff --format json",
        comparison | definitions,
        "The changes from one file to another.",
    )


_PURPOSES = array(
    {"$ref": "#/$defs/purpose"}, "What the crawler fetches pages for; the main purpose first."
)
_CRAWLER: dict[str, Shape] = {
    "token": text("The product token."),
    "operator": text("Who runs the crawler."),
    "purpose": {"$ref": "#/$defs/purpose"},
    "purposes": _PURPOSES,
    "obeys": one_of(Obeys, "Which rules the crawler obeys, according to its operator."),
}
_SOURCE: dict[str, Shape] = {
    "source": text("The page with these facts."),
    "checked": {"type": "string", "format": "date", "description": "When that page was read."},
}
_PURPOSE = {"$defs": {"purpose": one_of(Purpose, "What a crawler fetches pages for.")}}


def _statement(line: Shape) -> Shape:
    return record({
        "kind": one_of([each.name for each in GRAMMARS], "The grammar."),
        "where": text("The place: a line, header, tag, or file and pointer."),
        "line": line,
        "text": text("The words there."),
        "stated": one_of(Stated, "What is stated."),
        "for": text("A crawler; * is everybody."),
        "standing": text("How binding the specification is, with its revision."),
    })  # fmt: skip


def _audit() -> Shape:
    row = record({
        "label": text("The kind of crawlers."),
        "purposes": array({"$ref": "#/$defs/purpose"}, "Their purposes."),
        "disallowed": one_of(Extent, "How much of the site is blocked for most of them."),
        "text": text("The same in words, with the exceptions."),
    })  # fmt: skip
    verdict = record({
        **_CRAWLER,
        **_SOURCE,
        "disallowed": one_of(Extent, "How much of the site is blocked."),
        "access": text("What the crawler may fetch, in words."),
        "how": text("Which group applies, in words."),
        "named": boolean("Whether a group names it, or a name that it falls back to."),
        "falls_back_to": nullable(text("The name whose group applies, if it is another one.")),
        "line": nullable(integer("The line that blocks most, from 1.", 1)),
        "rule": nullable(text(_RULE)),
        "closing": integer("How many rules block something."),
        "url": nullable(text("A URL or path that is blocked.")),
        "proved": boolean("Whether it is proved how much is blocked."),
    })  # fmt: skip
    preference = record({
        "directive": one_of(("Content-Signal", "Content-Usage"), "The directive."),
        "key": text("The use, such as ai-train."),
        "value": text("What the site says about it, such as no."),
        "path": nullable(text("The path of a Content-Usage line.")),
        "line": integer("The line, from 1.", 1),
    })  # fmt: skip
    policy = record({
        "token": text("The policy token."),
        "purpose": {"$ref": "#/$defs/purpose"},
        "stated": boolean("Whether a group names it."),
        "access": text("What is allowed in that group; without one, unstated or undecided."),
        "line": nullable(integer("The line of the rule that blocks, from 1.", 1)),
        "rule": nullable(text(_RULE)),
        "proved": boolean("Whether that is proved."),
        **_SOURCE,
    })  # fmt: skip
    use = record({
        "use": one_of(Use, "The use."),
        "stated": one_of(Stated, "What is stated to everybody about the start page."),
        "sources": array({"$ref": "#/$defs/statement"}, "The sources that state something."),
        "elsewhere": array(
            {"$ref": "#/$defs/statement"}, "What is stated about other paths, if it differs."
        ),
    })  # fmt: skip
    audit = record({
        "site": text("The site or file."),
        "dialect": _DIALECT,
        "overview": array(row, "What applies to crawlers with some purposes."),
        "crawlers": array(verdict, "What applies to each known crawler."),
        "preferences": array(preference, "What Content-Signal and Content-Usage say."),
        "licenses": texts("The URLs of License lines."),
        "sitemaps": texts("The URLs of Sitemap lines, as written."),
        "uses": array(use, "What the file states about each use."),
        "unread": texts("What could not be read, and why: then no use is unstated."),
        "policy_tokens": array(policy, "What the file states with policy tokens."),
    })  # fmt: skip
    return titled(
        "koster audit --format json",
        audit
        | {"$defs": _PURPOSE["$defs"] | {"statement": _statement(integer("The line, from 1.", 1))}},
        "What known crawlers may fetch of a site.",
    )


def _agents() -> Shape:
    verification = record({
        "ranges": texts("The URLs of its published lists of addresses."),
        "domains": texts("The domains of its addresses, for reverse DNS."),
        "signatures": boolean("Whether it signs its requests (Web Bot Auth)."),
    }, "How to verify that a request comes from the crawler.")  # fmt: skip
    crawler = record({
        **_CRAWLER,
        "falls_back_to": texts("The names whose groups apply if none names it, in order."),
        "verification": verification,
        "names": texts("Products, and other names of the crawler."),
        "successor": nullable(text("The product token that replaced it.")),
        "change_delay_hours": integer("How long it may act on a robots.txt that has changed."),
        "old_copy_days": nullable(
            integer("How old a copy it may use while it cannot fetch the file, if that is known.")
        ),
        "note": nullable(text("What these facts leave open.")),
        **_SOURCE,
        "checked_more_than_a_year_ago": boolean("Whether that page was read more than a year ago."),
    })  # fmt: skip
    follower = record({
        "operator": text("Who runs crawlers."),
        "says": text("What the operator says about the token."),
        **_SOURCE,
    })  # fmt: skip
    policy = record({
        "token": text("The policy token: no crawler, but a use of pages."),
        "purpose": {"$ref": "#/$defs/purpose"},
        "title": text("What it states."),
        "specification": text("The document that defines it, with its date."),
        "spelled_in": text("The page that its spelling is from."),
        "spelling_certain": boolean("Whether that is the specification."),
        "open": texts("Questions that the text that was read does not decide."),
        "followers": array(follower, "Who says that they follow it."),
        **_SOURCE,
    })  # fmt: skip
    return titled(
        "koster agents --format json",
        array({"anyOf": [crawler, policy]}) | _PURPOSE,
        "Known crawlers, then policy tokens.",
    )


def _signals() -> Shape:
    stated = one_of(Stated, "What is stated.")
    whom = text("A crawler; * is everybody.")
    use = one_of(Use, "The use.")
    crawl = record({
        "crawler": text("The crawler, as asked."),
        "allowed": boolean("Whether it may fetch the page."),
        "line": _DECIDING_LINE,
        "rule": nullable(text(_RULE)),
    })  # fmt: skip
    answer = record({
        "use": use,
        "stated": stated,
        "for": whom,
        "sources": array({"$ref": "#/$defs/statement"}, "The sources that state something."),
    })  # fmt: skip
    unseen = record({
        "signal": text("The words that are not seen."),
        "where": text("Their place."),
        "crawler": whom,
        "because": text("Why."),
    })  # fmt: skip
    conflict = record({
        "use": use,
        "for": whom,
        "yes": {"$ref": "#/$defs/statement"},
        "no": {"$ref": "#/$defs/statement"},
    })  # fmt: skip
    license_ = record({
        "url": text("The address of the license."),
        "where": text("Where it is named."),
    })  # fmt: skip
    page = record({
        "url": text("The page, after redirects."),
        "fetched": nullable(moment("When it was fetched; null if nothing was.")),
        "crawl": array(crawl, "Whether crawlers may fetch the page."),
        "uses": array(answer, "What is stated to everybody, then to single crawlers."),
        "unseen": array(unseen, "What is never seen, or has no effect."),
        "conflicts": array(conflict, "What contradicts what."),
        "licenses": array(license_, "The licenses that sources name."),
        "notes": texts("What was ignored, and why."),
        "unread": texts("The sources that could not be read, and why."),
    })  # fmt: skip
    line = nullable(integer("The line, if it is in the robots.txt, from 1.", 1))
    return titled(
        "koster signals --format json",
        array(page) | {"$defs": {"statement": _statement(line)}},
        "What sites say about the use of pages.",
    )


def _test() -> Shape:
    result = record({
        "file": text("The file of expectations."),
        "name": text("The name of the expectation."),
        "passed": boolean("Whether it holds."),
        "why": nullable(text("Why it does not.")),
        "line": nullable(integer("The line of the rule that decides, from 1.", 1)),
    })  # fmt: skip
    return titled("koster test --format json", array(result), "The result of each expectation.")


def _conformance() -> Shape:
    answers = array({"$ref": "#/$defs/answer"})
    failure = record({
        "id": text("The case."),
        "level": one_of(LEVELS, "How binding the case is."),
        "title": text("What it tests."),
        "source": text("Where that is written."),
        "expected": {**answers, "description": "The right answers to what was answered wrongly."},
        "got": {"anyOf": [answers, {"type": "string"}],
                "description": "The answers to the same, or why it has no answers."},
    })  # fmt: skip
    answer = record({
        "url": text("The URL that was asked about."),
        "allowed": boolean("Whether it is allowed."),
        "line": integer("The line that decides, where the case asks for it.", 1),
    }, optional=["line"])  # fmt: skip
    report = record({
        "subject": text("What the program calls itself."),
        "version": text("Its version."),
        "cases": integer("How many cases were run."),
        "passed": integer("How many passed."),
        "failed": integer("How many failed."),
        "skipped": integer("How many the program does not support."),
        "failures": array(failure, "Those that failed."),
    })  # fmt: skip
    return titled(
        "koster conformance run --format json", report | {"$defs": {"answer": answer}},
        "How a parser did on the conformance suite.",
    )  # fmt: skip


def _logs() -> Shape:
    example = record({
        "time": moment("When the request was made."),
        "address": nullable(text("The address, hashed without --show-addresses.")),
        "method": nullable(text("The HTTP method.")),
        "url": text("The URL or path."),
        "status": nullable(integer("The HTTP status.")),
        "agent": nullable(text("The User-Agent.")),
    })  # fmt: skip
    rule = record({
        "line": integer("Its line, from 1.", 1),
        "rule": text(_RULE),
        "version": text("The version of the robots.txt."),
        "since": nullable(moment("Since when that version is in force; null: always.")),
        "violations": integer("How often it was broken.", 1),
        "first": moment("The first time."),
        "last": moment("The last time."),
        "example": text("The URL of the first request."),
        "examples": array(example, "The first requests."),
    })  # fmt: skip
    pace = record({
        "directive": text("The directive with its line: line 3, Crawl-delay: 10."),
        "intervals": integer("The intervals for which a pace was set."),
        "kept": integer("How many of them were long enough."),
        "worst_minute": moment("The minute with the most requests."),
        "worst_minute_requests": integer("How many they were."),
        "outside_visit_time": integer("Requests at times when the site wants none."),
    }, "How the crawler kept to Crawl-delay and the like.")  # fmt: skip
    address = record({
        "address": text("The address, hashed without --show-addresses."),
        "requests": integer("How many requests it made.", 1),
    })  # fmt: skip
    crawler = record({
        "crawler": text("The product token."),
        "operator": nullable(text("Who runs the crawler; null if it is unknown.")),
        "identified": one_of(Identified, "Whether it is the crawler that it says it is."),
        "requests": integer("All requests but those for /robots.txt."),
        "disallowed": integer("Those that the version in force at that moment disallows."),
        "violations": integer("Those that all versions that it may have held disallow."),
        "within_caching_period": integer("Those that only some of these versions disallow."),
        "exempt": integer("Those that no group applies to, or that a person caused."),
        "not_judged": integer("Those before the first version."),
        "robots_txt": integer("The requests for /robots.txt."),
        "asked_for_robots_txt": nullable(boolean(
            "Whether it made one; null if it may have fetched the file before the log begins."
        )),
        "first": moment("The first request."),
        "last": moment("The last request."),
        "rules": array(rule, "The rules that it broke, the most broken first."),
        "pace": nullable(pace),
        "addresses": array(address, "The ten addresses with the most requests."),
    })  # fmt: skip
    report = record({
        "crawlers": array(crawler, "What each crawler did, by identity."),
        "lines": integer("How many lines were read."),
        "unreadable": integer("How many of them could not be read."),
        "samples": array(
            record({"file": text("The log."), "line": text("The line.")}),
            "Some lines that could not be read.",
        ),
        "first": nullable(moment("The first moment in the log; null if it has no line.")),
        "last": nullable(moment("The last moment.")),
        "versions": array(
            record({
                "version": text("The name of the version."),
                "since": nullable(moment("Since when it is in force; null: always.")),
            }),
            "The versions of the robots.txt.",
        ),
        "files": array(
            record({"file": text("The log."), "format": text("Its format.")}), "What was read."
        ),
        "errors": texts("What could not be read, in sentences."),
        "notices": texts("What the numbers leave open, in sentences."),
    })  # fmt: skip
    return titled("koster logs --format json", report, "What crawlers did in a log.")


def _bulk_metadata() -> Shape:
    columns = "body url agent crawl time delimiter"
    question = record({
        "kind": one_of(("classify", "decide", "facts", "signals"), "The command."),
        "agents": texts("The crawlers that were asked about."),
        "urls": texts("The URLs that were asked about."),
        "dialect": _DIALECT,
        "columns": record(
            {name: nullable(text(f"The option for {name}.")) for name in columns.split()},
            "The names of columns that were given; null stands for the usual ones.",
        ),
    }, "The question that the file answers.")  # fmt: skip
    source = record({
        "path": text("Its path or URL."),
        "size": integer("Its size in bytes; 0 for a URL."),
        "modified": integer("When it was last changed, in nanoseconds since 1970; 0 for a URL."),
    }, "The input.")  # fmt: skip
    noted = record(
        {name: integer(f"How many: {what}{why}.", 1) for name, (what, why) in NOTES.items()},
        "What was counted besides.",
        optional=NOTES,
    )
    metadata = record({
        "version": text("The version of koster."),
        "question": question,
        "input": source,
        "rows": integer("How many rows the file has."),
        "bad": integer("How many records of the input could not be read."),
        "listed": texts("The errors of the first of them, in sentences."),
        "noted": noted,
    })  # fmt: skip
    return titled(
        "koster bulk: metadata of Parquet", metadata,
        "The value of koster.bulk in the metadata of the Parquet files that koster bulk writes.",
    )  # fmt: skip


def _serve_log() -> Shape:
    entry = record({
        "time": moment("When it happened."),
        "level": one_of(("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"), "How serious it is."),
        "logger": text("Which part of the program says it."),
        "message": text("What happened."),
    })  # fmt: skip
    return titled(
        "koster serve: log", entry | {"additionalProperties": True},
        "A line of the log. Other keys depend on the message, and may come and go.",
    )  # fmt: skip


SCHEMAS: dict[str, dict[str, Any]] = {
    "agents": _agents(),
    "audit": _audit(),
    "bulk-metadata": _bulk_metadata(),
    "check": _check(),
    "conformance": _conformance(),
    "diff": _diff(),
    "fetch": _fetch(),
    "lint": _lint(),
    "lint-baseline": _baseline(),
    "logs": _logs(),
    "serve-log": _serve_log(),
    "signals": _signals(),
    "test": _test(),
}

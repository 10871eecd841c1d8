"""The columns of CSV and Parquet, in their order; the types of Parquet are those of the code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

import koster
from koster.analysis import Extent
from koster.bulk import CLASSIFIED, DECIDED, FACTS, SIGNAL
from koster.bulk._archived import ARCHIVED, FETCHED
from koster.bulk._downloads import Kind
from koster.bulk._page_signals import SIGNALS
from koster.bulk._site_files import ANSWERED_PAGES
from koster.bulk.judging import Verdict
from koster.bulk.warc import FetchClass
from koster.crawlers import Purpose
from koster.decisions import Reason
from koster.logs import EVENTS, Identified
from koster.signals import GRAMMARS, Stated, Use

if TYPE_CHECKING:
    from collections.abc import Iterable


class Column(NamedTuple):
    """What a column means; ``values`` are all that it may have, if they are a closed set.

    ``fields`` are those of a struct, or of the structs in a list.
    """

    name: str
    meaning: str
    nullable: bool = False
    values: Iterable[str] = ()
    fields: tuple[Column, ...] = ()


def _null(name: str, meaning: str, values: Iterable[str] = ()) -> Column:
    """Return a column that may be null."""
    return Column(name, meaning, True, values)


#: Reasons of decisions about archives; tables have no others.
_REASONS = tuple(each for each in Reason if each is not Reason.FORBIDDEN)

_PLACE = (
    _null("group_number", "The number of the group, from 1; null before the first group."),
    Column("line", "The line, from 1."),
)

_GRAMMARS = tuple(each.name for each in GRAMMARS)
_SIGNAL = (
    Column("use", "What the page may be used for.", values=Use),
    Column("stated", "What is stated about that.", values=Stated),
    Column("grammars", "The names of the grammars in which something is stated about it."),
)
_CRAWLER_SIGNAL = (Column("crawler", "The crawler, as asked."), *_SIGNAL)

COLUMNS: dict[str, tuple[Column, ...]] = {
    "archived": (
        Column("url", "The URL that was requested."),
        Column("origin", "Its site: `https://example.com`."),
        _null("crawl", "The name of the crawl: `CC-MAIN-2026-43`."),
        _null("fetched", "When, in UTC; a date without a time is its first moment."),
        Column("status", "The HTTP status."),
        Column("class", "What the response is for crawlers.", values=FetchClass),
        _null("location", "The target of a redirect."),
        _null("content_type", "The declared media type."),
        _null("charset", "The declared charset."),
        _null(
            "whole",
            "The body is complete and can be decoded; null if that is unknown, or the status is "
            "not 2xx.",
        ),
        Column("body_bytes", "The size of the body in bytes."),
        Column("archive", "The name of the WARC file."),
        Column("archive_offset", "Where the record begins in it, in bytes."),
    ),
    "unread": (
        _null("body", "The file as crawlers read it; null without a file."),
        _null("error", "What could not be read; all columns but `archive` are null then."),
        _null("error_kind", "Why.", ("record", "archive", *Kind)),
    ),
    "input": (Column("input", "The path or URL of the input."),),
    "classify": (
        Column("agent", "The agent, as asked."),
        Column("written", "A group names the agent."),
        _null("effective", "How much of the site is blocked; null: not proved.", Extent),
        _null("line", "The line that blocks, from 1; null if none does."),
    ),
    "asked": (
        Column("asked_url", "The URL or path that was asked about."),
        Column("asked_agent", "The agent that was asked about."),
    ),
    "decide": (
        Column("allowed", "The agent may fetch the URL."),
        Column("reason", "Why it may, or may not.", values=_REASONS),
        _null("line", "The line that decides, from 1; null if none does."),
        _null("pattern", "The pattern of that line, as written."),
    ),
    "facts": (
        Column("bytes", "The size of the file."),
        Column("lines", "The number of lines."),
        Column("groups", "The number of groups."),
        Column("rules", "The number of Allow and Disallow lines, also without a value."),
        Column("malformed", "Lines that are neither directive nor comment."),
        Column("agents", "Each User-agent line.", fields=(Column("name", "Its value."), *_PLACE)),
        Column("sitemaps", "The URLs, as written."),
        Column(
            "delays",
            "Each valid Crawl-delay.",
            fields=(Column("seconds", "Its value."), *_PLACE),
        ),
        Column(
            "preferences",
            "What Content-Signal and Content-Usage say.",
            fields=(
                Column("directive", "Which one.", values=("Content-Signal", "Content-Usage")),
                Column("key", "The use, such as ai-train."),
                Column("value", "What the site says about it."),
                _null("path", "The path of a Content-Usage line."),
                *_PLACE,
            ),
        ),
        Column(
            "directives",
            "Each known directive.",
            fields=(Column("directive", "Its name."), Column("count", "Its number of lines.")),
        ),
        Column(
            "unknown",
            "Each unknown directive, in lower case.",
            fields=(Column("key", "Its name."), Column("count", "Its number of lines.")),
        ),
        Column("findings", "Names of checks, see below."),
        _null(
            "training_preference",
            "What the group of the policy token `__usage_ai-training` states about AI training; "
            "undecided: it is not proved; null: no group names it.",
            ("yes", "no", "partly", "undecided"),
        ),
    ),
    "pages": (
        Column("url", "The URL of the page."),
        Column("origin", "Its site: `https://example.com`."),
        _null("crawl", "The name of the crawl: `CC-MAIN-2026-43`."),
        _null("fetched", "When, in UTC; a date without a time is its first moment."),
        Column("status", "The HTTP status: 2xx."),
        Column("archive", "The name of the WARC file."),
        Column("archive_offset", "Where the record begins in it, in bytes."),
        Column("input", "The path or URL of the archive."),
        _null(
            "robots_fetched",
            "When the robots.txt that counts was fetched; null: it is not in "
            "the archives, or has no date.",
        ),
        _null("robots_status", "The status after redirects; null: it is not in the archives."),
        Column(
            "signals",
            "What is stated to everybody: a struct for each use, in this order.",
            fields=_SIGNAL,
        ),
        Column(
            "crawlers",
            "Those of `--crawler` to which something else is stated.",
            fields=_CRAWLER_SIGNAL,
        ),
        Column("licenses", "The URLs of the licenses that are named, at most 100."),
        Column("unread", "Sources that could not be read, and why: then nothing is `unstated`."),
    ),
    "signal": _SIGNAL,
    "events": (
        Column("time", "When the request was made, in UTC."),
        Column("crawler", "The product token of the crawler."),
        Column("operator", "Who runs it; empty if that is unknown."),
        Column("identified", "Whether it is the crawler that it says it is.", values=Identified),
        Column("client", "Who shares a copy of robots.txt with it; empty if it is verified."),
        _null("address", "Its address, hashed without `--show-addresses`."),
        _null("host", "The site, where the log has it."),
        _null("method", "The HTTP method."),
        Column("url", "The URL or path."),
        _null("status", "The HTTP status."),
        _null("agent", "The User-Agent."),
        Column("verdict", "What the request was.", values=Verdict),
        Column("disallowed", "The version in force disallows it."),
        _null("version", "The version with the line and the rule; null if none disallows it."),
        _null("line", "The line that disallows it, from 1."),
        _null("rule", "The rule of that line."),
    ),
}

#: Columns of CSV have their types here: Parquet's are those of the code.
_TEXT, _COUNT, _BOOL, _SHARE, _TIME = "text", "integer", "boolean", "decimal", "date-time"

_DECISIONS = (
    (_BOOL, Column("allowed", "Whether the crawler may fetch the URL.")),
    (_TEXT, Column("agent", "The crawler, as asked.")),
    (_TEXT, Column("url", "The URL or path, as asked.")),
    (_TEXT, Column("reason", "Why the URL is allowed or blocked.", values=Reason)),
    (_TEXT, Column("file", "The robots.txt: a path, or the address of a site.")),
    (_COUNT, _null("line", "The line that decides, from 1; empty if none does.")),
    (_TEXT, _null("rule", "The rule of that line.")),
    (_TEXT, _null("text", "The whole line, as written.")),
    (_TEXT, Column("dialect", "How the robots.txt is read.", values=koster.DIALECTS)),
    (_TEXT, _null("falls_back_to", "The name whose group applies, if it is another one.")),
    (_TEXT, _null("comments", "The Comment lines for the crawler, each on a line of the cell.")),
    (_TEXT, _null("why", "What happened, if the site has no file.")),
    (_TIME, Column("at", "With `--at`: the time that was asked about.")),
    (_BOOL, Column("open", "With `--at`: whether the site wants visits at that time.")),
    (_TEXT, _null("visit_times", "With `--at`: when it wants visits, each on a line of the cell.")),
    (_TIME, Column("next_open", "With `--at`: when the site next wants visits.")),
    (_SHARE, _null("interval", "With `--at`: seconds between requests; empty without a limit.")),
)

_CRAWLERS = (
    (_TEXT, Column("crawler", "The product token.")),
    (_TEXT, _null("operator", "Who runs the crawler; empty if that is unknown.")),
    (_TEXT, Column("identified", "Whether it is the crawler that it says.", values=Identified)),
    (_COUNT, Column("requests", "All requests but those for /robots.txt.")),
    (_COUNT, Column("disallowed", "Those that the version in force at that moment disallows.")),
    (_COUNT, Column("violations", "Those that all versions that it may have held disallow.")),
    (_SHARE, Column("share", "The share of requests that are violations, 0 to 1.")),
    (_COUNT, Column("within_caching_period", "Those that only some of the versions disallow.")),
    (_COUNT, Column("exempt", "Those that no group applies to, or that a person caused.")),
    (_COUNT, Column("not_judged", "Those before the first version.")),
    (_COUNT, Column("robots_txt", "The requests for /robots.txt.")),
    (_BOOL, _null("asked_for_robots_txt", "Whether it made one; empty if it may have a file that "
                  "it fetched before the log begins.")),
    (_TIME, Column("first", "The first request.")),
    (_TIME, Column("last", "The last request.")),
    (_COUNT, _null("most_broken_line", "The line of the most broken rule; empty without one.")),
    (_TEXT, _null("most_broken_rule", "That rule.")),
    (_TEXT, _null("version", "The version of the robots.txt with that rule.")),
)  # fmt: skip

_SHARES = (
    (_TEXT, Column("crawl", "The crawl.")),
    (_TEXT, _null("month", "When half of it was fetched, as in `2026-10`; empty without dates.")),
    (_TEXT, Column("agent", "The crawler.")),
    (_TEXT, _null("operator", "Who runs it; empty if that is unknown.")),
    (_TEXT, Column("purpose", "What it crawls for.", values=(*Purpose, "others"))),
    (_BOOL, Column("by_name", "It ignores `*`, so only sites that name it block it.")),
    (_COUNT, Column("sites", "Sites with a robots.txt.")),
    (_COUNT, Column("without_file", "Sites without one: 4xx, or a null in a table.")),
    (_COUNT, Column("not_read", "Sites whose file could not be fetched or read: 5xx, broken "
                    "bodies, redirects without an end.")),
    (_COUNT, Column("not_fetched", "Sites of `--sites` that the crawl does not have; 0 without the "
                    "option.")),
    (_COUNT, Column("without_host", "How many of `sites` are files without URL or host.")),
    (_COUNT, Column("named", "Sites with a group for the crawler.")),
    (_COUNT, Column("blocked", "Sites that block the crawler.")),
    (_COUNT, Column("blocked_by_name", "Those that do so in a group that names it.")),
    (_COUNT, Column("partly", "Sites that block a part of the site for it.")),
    (_COUNT, Column("partly_by_name", "Those that do so in a group that names it.")),
    (_COUNT, Column("unknown", "Sites for which it could not be proved.")),
    (_COUNT, Column("blocked_by_star", "Sites that block it in a `*` group.")),
    (_COUNT, Column("partly_by_star", "Sites that block a part of the site in a `*` group.")),
    (_SHARE, Column("share_blocked", "`blocked`, divided by `sites`: 0 to 1.")),
    (_SHARE, Column("share_by_name", "`blocked_by_name`, divided by `sites`.")),
    (_SHARE, Column("share_partly", "`partly`, divided by `sites`.")),
)  # fmt: skip

_USE_SHARES = (
    (_TEXT, Column("crawl", "The crawl.")),
    (_TEXT, Column("use", "What pages may be used for.", values=Use)),
    (_TEXT, _null("stated", "The answer; empty: all that are stated in a grammar.", Stated)),
    (_TEXT, _null("grammar", "The grammar; empty: all of them together.", _GRAMMARS)),
    (_COUNT, Column("pages", "Pages with the answer, or with a source in the grammar.")),
    (_COUNT, Column("sites", "Sites that have such a page.")),
    (_COUNT, Column("all_pages", "All pages of the crawl.")),
    (_COUNT, Column("all_sites", "All its sites.")),
    (_COUNT, Column("unread_pages", "Pages with a source that could not be read.")),
    (_COUNT, Column("unread_sites", "Sites that have such a page.")),
    (_COUNT, Column("not_fetched", "Sites of `--sites` without a page in the crawl; 0 without the "
                    "option.")),
    (_SHARE, Column("share_of_pages", "`pages`, divided by `all_pages`: 0 to 1.")),
    (_SHARE, Column("share_of_sites", "`sites`, divided by `all_sites`.")),
)  # fmt: skip


def _described(column: Column, type_: str, fields: list[dict[str, Any]]) -> dict[str, Any]:
    values = {"values": [str(each) for each in column.values]} if column.values else {}
    return {
        "name": column.name,
        "type": type_,
        "nullable": column.nullable,
        "description": column.meaning,
        **values,
        **({"fields": fields} if fields else {}),
    }


def _typed(columns: Iterable[Column], types: Iterable[pa.Field]) -> list[dict[str, Any]]:
    """Return columns of Parquet with the types of the code, which must have the same names."""
    return [_with_type(each, field) for each, field in zip(columns, types, strict=True)]


def _with_type(column: Column, field: pa.Field) -> dict[str, Any]:
    if column.name != field.name:
        raise ValueError(f"the code has {field.name} in place of {column.name}")
    type_ = field.type
    inner = type_.value_type if pa.types.is_list(type_) else type_
    if not pa.types.is_struct(inner):
        return _described(column, f"list<{inner}>" if inner is not type_ else str(inner), [])
    name = "list<struct>" if inner is not type_ else "struct"
    return _described(column, name, _typed(column.fields, inner))


def _table(form: str, title: str, meaning: str, columns: list[dict[str, Any]]) -> dict[str, Any]:
    return {"title": title, "description": meaning, "format": form, "columns": columns}


_COPIED = (
    "For a table, its own columns stand in place of those from url to archive_offset; the "
    "parts of a path such as crawl=2026-43/ are columns after input."
)


def _bulk(kind: str, meaning: str, answer: Column, type_: Any) -> dict[str, Any]:
    """Return the columns of the answers of a command about archives."""
    asked = COLUMNS["asked"] if kind == "decide" else ()
    text = [pa.field(each.name, pa.string()) for each in (*COLUMNS["input"], *asked)]
    columns = (*COLUMNS["archived"], *COLUMNS["input"], *asked, answer)
    types = [*ARCHIVED, *text, pa.field(answer.name, type_)]
    return _table("parquet", f"koster bulk {kind}", f"{meaning} {_COPIED}", _typed(columns, types))


def _csv(title: str, meaning: str, columns: Iterable[tuple[str, Column]]) -> dict[str, Any]:
    return _table("csv", title, meaning, [_described(each, type_, []) for type_, each in columns])


_ROBOTS = Column("robots", "How much is blocked for each agent; null without a file.", True,
                 fields=COLUMNS["classify"])  # fmt: skip
_DECISION = Column("decision", "The decision; null for a redirect.", True,
                   fields=COLUMNS["decide"])  # fmt: skip
_FACTS = Column("facts", "What the file says; null without a file.", True,
                fields=COLUMNS["facts"])  # fmt: skip

SCHEMAS: dict[str, dict[str, Any]] = {
    "bulk-classify": _bulk(
        "classify", "How much of each site is blocked.", _ROBOTS, pa.list_(CLASSIFIED)
    ),
    "bulk-decide": _bulk("decide", "Whether agents may fetch URLs.", _DECISION, DECIDED),
    "bulk-facts": _bulk("facts", "Facts about each file.", _FACTS, FACTS),
    "bulk-report-csv": _csv(
        "koster bulk report --csv", "How many sites block each crawler, by crawl.", _SHARES
    ),
    "bulk-signals": _table(
        "parquet", "koster bulk signals", "What sites state about the use of each page.",
        _typed(COLUMNS["pages"], [*ANSWERED_PAGES, *map(pa.field, SIGNALS, SIGNALS.values())]),
    ),
    "bulk-signals-csv": _csv(
        "koster bulk report --csv, of signals", "What sites state about use, by crawl.", _USE_SHARES
    ),
    "check-csv": _csv("koster check --format csv", "A row for each decision.", _DECISIONS),
    "logs-csv": _csv("koster logs --format csv", "A row for each crawler.", _CRAWLERS),
    "logs-events": _table(
        "parquet", "koster logs --events", "A row for each request of a crawler.",
        _typed(COLUMNS["events"], EVENTS),
    ),
    "spark-archives": _table(
        "parquet", "koster.bulk.spark.archives",
        "A row for each fetch in archives, and for what could not be read of them.",
        _typed(
            # Rows for what could not be read have only `archive` and the error.
            [*(each._replace(nullable=each.name != "archive") for each in COLUMNS["archived"]),
             *COLUMNS["unread"]],
            FETCHED,
        ),
    ),
}  # fmt: skip


def table_of(name: str) -> str:
    """Return columns, by their name in `COLUMNS` or `SCHEMAS`, as a table of Markdown."""
    columns = SCHEMAS[name]["columns"] if name in SCHEMAS else _typed(COLUMNS[name], PARTS[name])
    lines = ["| column | type | meaning |", "|---|---|---|"]
    for each in columns:
        type_ = each["type"].replace("<", " of ").replace(">", "").split("[")[0]
        lines.append(f"| `{each['name']}` | {type_} | {_meaning(each)} |")
    return "\n".join(lines)


#: The types of parts of tables, which the docs show on their own.
PARTS: dict[str, Any] = {
    "archived": ARCHIVED,
    "classify": CLASSIFIED,
    "decide": DECIDED,
    "facts": FACTS,
    "signal": SIGNAL,
    "unread": list(FETCHED)[len(ARCHIVED) :],
}


def _meaning(column: dict[str, Any]) -> str:
    """Return the meaning of a column, with its values and the names of its fields."""
    parts = [column["description"]]
    for title, names in (("One of", column.get("values")), ("Each has", _names(column))):
        if names:
            parts.append(f"{title} {', '.join(f'`{each}`' for each in names)}.")
    return " ".join(parts)


def _names(column: dict[str, Any]) -> list[str]:
    return [each["name"] for each in column.get("fields", ())]

"""From the cases of the project to those of the suite, as values for JSON.

A case stays out of the suite if it is a choice of koster, if its crawler has several names, or if
no URL remains: texts that are no URLs with a host are left out, but for Google's parser, which
defines what it makes of them.
"""

from __future__ import annotations

import base64
import re
from typing import Any

import koster

from .source import (
    OWN,
    Entry,
    Part,
    ServerEntry,
    Step,
    entries,
    server_entries,
    signals_entries,
)

#: The names of the dialects in the suite.
DIALECTS = {
    "RFC9309": "rfc9309",
    "GOOGLE": "google",
    "MK1994": "1994",
    "MK1996": "1996",
    "GYM2008": "2008",
    "EXTENDED2": "extended2",
    "EXTENDED2_1996": "extended2-1996",
}

#: The levels, from the strictest on; what each means is in the suite's README.
LEVELS = ("must", "should", "may", "widespread", "google", "2008", "1996", "1994", "extended2")

#: The level of cases about the use of pages: what they test is no standard yet.
DRAFT = "draft"
#: When the pages of these cases are read.
NOW = "2026-11-30T12:00:00Z"
_SITE = "https://shop.example"
_USES = ("search", "snippet", "archive", "ai-input", "ai-train", "tdm")

Case = dict[str, Any]


def cases() -> list[Case]:
    """Return the cases about decisions, by topic and in the order of their files."""
    chosen = [entry for entry in entries() if _is_shared(entry)]
    exported = [case for entry in chosen if (case := _case(entry))]
    return exported + [case for entry in chosen if (case := _as_google_decides(entry))]


def _is_shared(entry: Entry) -> bool:
    return entry.level != OWN and isinstance(entry.agent, str)


def _case(entry: Entry) -> Case:
    asked = {url: _absolute(url, entry) for url in entry.expected}
    questions = [
        _question(url, entry.expected[given], entry.lines.get(given))
        for given, url in asked.items()
        if url is not None
    ]
    return _record(entry, questions) if questions else {}


def _record(entry: Entry, questions: list[Case]) -> Case:
    return {
        "id": entry.id,
        "title": entry.name,
        "level": entry.level,
        "dialect": DIALECTS[entry.dialect],
        "source": entry.source,
        **({"sentences": list(entry.sentences)} if entry.sentences else {}),
        "tags": list(entry.tags),
        "robots": _robots(entry),
        "agent": entry.agent,
        "questions": questions,
        **({"budget_seconds": entry.budget} if entry.budget else {}),
    }


def _question(url: str, allowed: bool, line: int | None) -> Case:
    return {"url": url, "allowed": allowed, **({"line": line} if line else {})}


def _robots(entry: Entry) -> Case:
    if entry.parts:
        return {"parts": [_part(part) for part in entry.parts]}
    try:
        return {"text": entry.body.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(entry.body).decode("ascii")}


def _part(part: Part) -> Case:
    return {"text": part.text, **({"times": part.times} if part.times != 1 else {})}


def _absolute(url: str, entry: Entry) -> str | None:
    """Return a URL with a host, or None if there is no such URL."""
    if re.search(r"[\x00-\x1f\x7f\ud800-\udfff]", url):
        return None
    if url.startswith("/") and not url.startswith("//"):
        return f"https://example.com{url}"
    if entry.dialect == "GOOGLE" or re.match(r"https?://[^/?#]+", url):
        return url
    return None


def _as_google_decides(entry: Entry) -> Case:
    """Return the case as Google's parser decides it, if that differs from the RFC."""
    case = _case(entry)
    if entry.dialect != "RFC9309" or not case:
        return {}
    google = koster.parse(entry.body, koster.GOOGLE)
    questions = [
        _question(each["url"], google.allowed(each["url"], case["agent"]), None)
        for each in case["questions"]
    ]
    if [each["allowed"] for each in questions] == [each["allowed"] for each in case["questions"]]:
        return {}
    identity = {
        "id": f"google-differs/{entry.id.replace('/', '-')}",
        "level": "google",
        "dialect": "google",
        "source": f"google/robotstxt decides otherwise than {entry.id}",
        "questions": questions,
    }
    return {key: value for key, value in {**case, **identity}.items() if key != "sentences"}


def server_cases() -> list[Case]:
    """Return the cases about fetching, by topic and in the order of their files."""
    return [_server_case(entry) for entry in server_entries()]


def _server_case(entry: ServerEntry) -> Case:
    return {
        "id": entry.id,
        "title": entry.name,
        "level": entry.level,
        "source": entry.source,
        **({"sentences": list(entry.sentences)} if entry.sentences else {}),
        "tags": list(entry.tags),
        "agent": "FooBot",
        "steps": [_step(step) for step in entry.steps],
        **({"budget_seconds": entry.budget} if entry.budget else {}),
    }


def _step(step: Step) -> Case:
    asked = dict.fromkeys(step.allowed, True) | dict.fromkeys(step.disallowed, False)
    answers = {
        site: {path: _answer(answer) for path, answer in pages.items()}
        for site, pages in step.answers.items()
    }
    return {
        "hours": step.hours,
        "answers": answers,
        "questions": [{"url": _at_site(url), "allowed": allowed} for url, allowed in asked.items()],
    }


def _answer(answer: Case) -> Case:
    headers = dict(answer.get("headers", {}))
    if "to" in answer:
        headers["Location"] = _at_site(answer["to"]) if ":" in answer["to"] else answer["to"]
    body = _answer_body(answer)
    return {
        **({"fault": answer["fault"]} if "fault" in answer else {}),
        "status": int(answer.get("status", 200)),
        **({"headers": headers} if headers else {}),
        **({"etag": answer["etag"]} if "etag" in answer else {}),
        **({"body": body} if body else {}),
    }


def _answer_body(answer: Case) -> Case:
    if "body_parts" in answer:
        return {"parts": [_part(Part(**each)) for each in answer["body_parts"]]}
    if "body_latin1" in answer:
        return {"base64": base64.b64encode(answer["body_latin1"].encode("latin-1")).decode("ascii")}
    return {"text": answer["body"]} if "body" in answer else {}


def _at_site(url: str) -> str:
    """Return a URL with the name of its site in braces: ``{a}/x``."""
    site, colon, path = url.partition(":")
    return f"{{{site}}}{path}" if colon and site in ("a", "b", "closed") else f"{{a}}{url}"


def signals_cases() -> list[Case]:
    """Return the cases about the use of pages, by what states something there.

    Those of koster's own are left out.
    """
    return [_signals_case(entry) for entry in signals_entries() if not entry.get("own")]


def _signals_case(entry: Case) -> Case:
    sources: Case = {}
    if "headers" in entry:
        sources["headers"] = [line.split(": ", 1) for line in entry["headers"]]
    for name in ("robots", "html", "tdmrep"):
        if name in entry:
            sources[name] = {"text": entry[name]}
    if "license" in entry:
        sources["licenses"] = {f"{_SITE}/license.xml": {"text": entry["license"]}}
    answers = {None: entry["uses"], **entry.get("crawlers", {})}
    url = entry.get("url", "/")
    return {
        "id": f"{next(iter(sources)) if len(sources) == 1 else 'several'}/{entry['id']}",
        "title": entry["id"].replace("-", " "),
        "level": DRAFT,
        "source": entry["from"],
        "url": f"{_SITE}{url}" if url.startswith("/") else url,
        "now": NOW,
        **sources,
        "questions": [
            {"agent": agent, "uses": _all_uses(uses, entry)} for agent, uses in answers.items()
        ],
    }


def _all_uses(stated: dict[str, str], entry: Case) -> dict[str, str]:
    """Return what is stated about each use; of a case that is not about all, about its own."""
    if entry.get("partly"):
        return stated
    return {use: stated.get(use, "unstated") for use in _USES}

"""The table of all results and their formats; add new formats here.

A result is a frozen value of the module that prints it; the first format is the default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..conformance import Report
from . import (
    agents,
    audit,
    bulk,
    check,
    conformance,
    diff,
    fetch,
    github,
    junit,
    lint,
    logs,
    sarif,
    summary,
    test,
)

if TYPE_CHECKING:
    from collections.abc import Callable

RENDERERS: dict[type, dict[str, Callable[[Any], None]]] = {
    check.Answers: {
        "text": check.print_text,
        "json": check.print_json,
        "csv": check.print_csv,
    },
    summary.Summary: {
        "text": summary.print_text,
    },
    fetch.Fetched: {
        "text": fetch.print_text,
        "json": fetch.print_json,
        "file": fetch.print_file,
    },
    lint.Findings: {
        "text": lint.print_text,
        "concise": lint.print_concise,
        "json": lint.print_json,
        "sarif": sarif.print_log,
        "github": github.print_commands,
    },
    diff.Changes: {
        "text": diff.print_text,
        "json": diff.print_json,
        "markdown": diff.print_markdown,
    },
    audit.Audited: {
        "text": audit.print_text,
        "json": audit.print_json,
        "markdown": audit.print_markdown,
        "html": audit.print_html,
    },
    test.Results: {
        "text": test.print_text,
        "json": test.print_json,
        "junit": junit.print_suites,
        "github": github.print_failures,
    },
    Report: {
        "text": conformance.print_text,
        "json": conformance.print_json,
        "junit": junit.print_cases,
    },
    agents.Agents: {
        "text": agents.print_text,
        "json": agents.print_json,
    },
    logs.Judged: {
        "text": logs.print_text,
        "json": logs.print_json,
        "csv": logs.print_csv,
        "markdown": logs.print_markdown,
        "html": logs.print_html,
    },
    bulk.Shares: {
        "text": bulk.print_text,
        "html": bulk.print_html,
        "csv": bulk.print_csv,
    },
}


def formats_of(result: type) -> list[str]:
    """Return the formats of a type of result, the default first."""
    return list(RENDERERS[result])


def render(result: object, form: str = "text") -> None:
    """Print a result to standard output in one of its formats."""
    RENDERERS[type(result)][form](result)

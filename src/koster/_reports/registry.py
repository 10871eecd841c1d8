"""The table of all results and their formats; add new formats here.

A result is a frozen value of the module that prints it; the first format is the default. The table
has names: a command imports the formats that it prints, and no others.
"""

from __future__ import annotations

from importlib import import_module

#: By type of result: the function of each format, by its module.
RENDERERS: dict[str, dict[str, str]] = {
    "CheckResults": {
        "text": "check.print_text",
        "json": "check.print_json",
        "csv": "check.print_csv",
    },
    "Summary": {
        "text": "summary.print_text",
    },
    "FetchResults": {
        "text": "fetch.print_text",
        "json": "fetch.print_json",
        "file": "fetch.print_file",
    },
    "Findings": {
        "text": "lint.print_text",
        "concise": "lint.print_concise",
        "json": "lint.print_json",
        "sarif": "sarif.print_log",
        "github": "github.print_commands",
    },
    "Changes": {
        "text": "diff.print_text",
        "json": "diff.print_json",
        "markdown": "diff.print_markdown",
    },
    "Audited": {
        "text": "audit.print_text",
        "json": "audit.print_json",
        "markdown": "audit.print_markdown",
        "html": "audit.print_html",
    },
    "PageSignals": {
        "text": "signals.print_text",
        "json": "signals.print_json",
    },
    "Results": {
        "text": "test.print_text",
        "json": "test.print_json",
        "junit": "junit.print_suites",
        "github": "github.print_failures",
    },
    "SuiteReport": {
        "text": "conformance.print_text",
        "json": "conformance.print_json",
        "junit": "junit.print_cases",
    },
    "Agents": {
        "text": "agents.print_text",
        "json": "agents.print_json",
    },
    "Judged": {
        "text": "logs.print_text",
        "json": "logs.print_json",
        "csv": "logs.print_csv",
        "markdown": "logs.print_markdown",
        "html": "logs.print_html",
    },
    "Shares": {
        "text": "bulk.print_text",
        "html": "bulk.print_html",
        "csv": "bulk.print_csv",
    },
    "UseShares": {
        "text": "use.print_text",
        "html": "use.print_html",
        "csv": "use.print_csv",
    },
}


def formats_of(result: type) -> list[str]:
    """Return the formats of a type of result, the default first."""
    return list(RENDERERS[result.__name__])


def render(result: object, form: str = "text") -> None:
    """Print a result to standard output in one of its formats."""
    module, _, function = RENDERERS[type(result).__name__][form].partition(".")
    getattr(import_module(f".{module}", __package__), function)(result)

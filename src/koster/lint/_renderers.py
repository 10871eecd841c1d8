"""Findings for machines: SARIF 2.1.0 and GitHub's workflow commands."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .._json import dumped
from .._version import VERSION
from ..model import spelt_out
from ._checks import CHECKS
from ._model import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ._model import Finding

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def as_sarif(files: Iterable[tuple[str, list[Finding]]], troubles: Sequence[str] = ()) -> str:
    """Return a log of one run; paths that are not absolute stay relative.

    ``troubles`` say what could not be read.
    """
    rules = [
        {
            "id": check.code,
            "name": check.name,
            "shortDescription": {"text": check.title},
            "fullDescription": {"text": check.why},
            "help": {"text": f"{check.why} ({check.source})"},
            "defaultConfiguration": {"level": _LEVELS[check.severity]},
            "properties": {"tags": [check.family.value]},
        }
        for check in CHECKS
    ]
    numbers = {check.code: number for number, check in enumerate(CHECKS)}
    driver = {"name": "koster", "version": VERSION, "rules": rules}
    results = [_result(path, each, numbers) for path, findings in files for each in findings]
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not troubles,
                "toolExecutionNotifications": [
                    {"level": "error", "message": {"text": _printable(each)}} for each in troubles
                ],
            }
        ],
        "results": results,
    }
    return dumped(
        {
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [run],
        }
    )


def _result(path: str, finding: Finding, numbers: dict[str, int]) -> dict[str, Any]:
    region = {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endColumn": max(finding.end_column, finding.column),
    }
    artifact = {"uri": _uri(path)}
    result = {
        "ruleId": finding.code,
        "ruleIndex": numbers[finding.code],
        "level": _LEVELS[finding.severity],
        "message": {"text": _sentence(finding)},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
    }
    if finding.edits:
        replacements = [
            {
                "deletedRegion": {"byteOffset": edit.start, "byteLength": edit.end - edit.start},
                "insertedContent": _content(edit.replacement),
            }
            for edit in finding.edits
        ]
        change = {"artifactLocation": artifact, "replacements": replacements}
        described = _printable(finding.suggestion or finding.message)
        result["fixes"] = [{"description": {"text": described}, "artifactChanges": [change]}]
    return result


def _content(raw: bytes) -> dict[str, str]:
    try:
        return {"text": raw.decode("utf-8")}
    except UnicodeDecodeError:
        return {"binary": base64.b64encode(raw).decode("ascii")}


def _uri(path: str) -> str:
    """Return a path as a URI: a relative one stays that, a site's address is one."""
    if "://" in path:
        return path
    quoted = quote(os.fsencode(path.replace(os.sep, "/")))
    return f"file://{quoted}" if path.startswith("/") else quoted


def _sentence(finding: Finding) -> str:
    text = finding.message + (f": {finding.suggestion}" if finding.suggestion else "")
    return _printable(text)


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else spelt_out(each) for each in text)


def as_github(files: Iterable[tuple[str, list[Finding]]], troubles: Sequence[str] = ()) -> str:
    """Return a workflow command for each finding, and for what could not be read, a line each.

    Control characters, which GitHub has no escape for, are spelt out as in text for a terminal.
    """
    lines = [f"::error title=koster::{_data(_printable(each))}" for each in troubles]
    lines += [
        f"::{_COMMANDS[each.severity]} file={_property(_printable(path))},line={each.line},"
        f"col={each.column},endColumn={max(each.end_column - 1, each.column)},"
        f"title={_property(each.code)}::{_data(_sentence(each))}"
        for path, findings in files
        for each in findings
    ]
    return "\n".join(lines)


def _data(text: str) -> str:
    """Return text as the data of a workflow command: GitHub knows these escapes and no others."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Return text as a property of a workflow command, which also ends at a colon or comma."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")

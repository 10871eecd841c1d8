"""Findings as SARIF 2.1.0, the format of code scanning."""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .._version import VERSION
from ..lint import CHECKS, Finding, Severity
from .json import to_json
from .plain import printable
from .records import sentence

if TYPE_CHECKING:
    from .lint import Findings

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def print_log(found: Findings) -> None:
    """Print the log."""
    print(as_log(found))


def as_log(found: Findings) -> str:
    """Return a log of one run; paths that are not absolute stay relative."""
    numbers = {check.code: number for number, check in enumerate(CHECKS)}
    run = {
        "tool": {"driver": {"name": "koster", "version": VERSION, "rules": _rules()}},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not found.errors,
                "toolExecutionNotifications": [
                    {"level": "error", "message": {"text": printable(each)}}
                    for each in found.errors
                ],
            }
        ],
        "results": [
            _result(file.path, each, numbers) for file in found.files for each in file.findings
        ],
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return to_json({"$schema": schema, "version": "2.1.0", "runs": [run]})


def _rules() -> list[dict[str, Any]]:
    return [
        {
            "id": check.code,
            "name": check.name,
            "shortDescription": {"text": check.title},
            "fullDescription": {"text": check.why},
            "helpUri": check.docs,
            "help": {"text": f"{check.why} ({check.source})"},
            "defaultConfiguration": {"level": _LEVELS[check.severity]},
            "properties": {"tags": [check.family.value]},
        }
        for check in CHECKS
    ]


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
        "message": {"text": sentence(finding)},
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
        description = printable(finding.suggestion or finding.message)
        result["fixes"] = [{"description": {"text": description}, "artifactChanges": [change]}]
    return result


def _content(raw: bytes) -> dict[str, str]:
    try:
        return {"text": raw.decode("utf-8")}
    except UnicodeDecodeError:
        return {"binary": base64.b64encode(raw).decode("ascii")}


def _uri(path: str) -> str:
    """Return a path as a URI; relative paths stay relative, URLs stay unchanged."""
    if "://" in path:
        return path
    quoted = quote(os.fsencode(path.replace(os.sep, "/")))
    return f"file://{quoted}" if path.startswith("/") else quoted

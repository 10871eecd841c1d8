"""Findings for machines: JSON, SARIF 2.1.0 and GitHub's workflow commands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .._version import VERSION
from ._checks import CHECKS
from ._model import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._model import Finding

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def as_json(files: Iterable[tuple[str, list[Finding]]]) -> str:
    """Return an array with an object for each finding."""
    return json.dumps(
        [
            {
                "file": path,
                "line": each.line,
                "column": each.column,
                "end_column": each.end_column,
                "code": each.code,
                "severity": each.severity.value,
                "message": each.message,
                "suggestion": each.suggestion or None,
                "url": each.url,
                "fixable": bool(each.edits),
            }
            for path, findings in files
            for each in findings
        ],
        indent=2,
    )


def as_sarif(files: Iterable[tuple[str, list[Finding]]]) -> str:
    """Return a log of one run; paths that are not absolute stay relative."""
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
        "results": results,
    }
    return json.dumps(
        {
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [run],
        },
        indent=2,
    )


def _result(path: str, finding: Finding, numbers: dict[str, int]) -> dict[str, Any]:
    region = {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endColumn": max(finding.end_column, finding.column),
    }
    uri = path if "://" in path else quote(path.replace("\\", "/"))
    return {
        "ruleId": finding.code,
        "ruleIndex": numbers[finding.code],
        "level": _LEVELS[finding.severity],
        "message": {"text": _sentence(finding)},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}],
    }


def _sentence(finding: Finding) -> str:
    text = finding.message + (f": {finding.suggestion}" if finding.suggestion else "")
    return "".join(each if each.isprintable() else _spelt_out(each) for each in text)


def _spelt_out(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def as_github(files: Iterable[tuple[str, list[Finding]]]) -> str:
    """Return a workflow command for each finding, a line each."""
    return "\n".join(
        f"::{_COMMANDS[each.severity]} file={_property(path)},line={each.line},"
        f"col={each.column},endColumn={max(each.end_column - 1, each.column)},"
        f"title={_property(each.code)}::{_data(_sentence(each))}"
        for path, findings in files
        for each in findings
    )


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

"""The results of ``koster test`` and ``koster conformance`` as JUnit's XML for CI servers."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from ..conformance import LEVELS, CaseResult, CaseVerdict, SuiteReport
from .conformance import failure_text

if TYPE_CHECKING:
    from .test import FileResults, Results

#: XML 1.0 §2.2: characters it cannot contain.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def print_suites(results: Results) -> None:
    """Print a suite for each file, and a case for each expectation."""
    suites = ET.Element("testsuites", name="koster")
    for file in results.files:
        _add_suite(suites, file)
    for failure in results.failures:
        counts = {"tests": "1", "failures": "0", "errors": "1"}
        suite = ET.SubElement(suites, "testsuite", {"name": _xml_text(failure.name), **counts})
        case = ET.SubElement(
            suite, "testcase", classname=_xml_text(failure.path), name="can be read"
        )
        ET.SubElement(case, "error", message=_xml_text(failure.why))
    _print(suites)


def print_cases(report: SuiteReport) -> None:
    """Print a suite for each level, and a case for each case."""
    suites = ET.Element("testsuites", name=_xml_text(f"{report.subject} {report.version}"))
    for level in LEVELS:
        results = [each for each in report.results if each.case.level == level]
        if results:
            _add_level(suites, level, results)
    _print(suites)


def _add_level(suites: ET.Element, level: str, results: list[CaseResult]) -> None:
    counts = Counter(each.verdict for each in results)
    suite = ET.SubElement(
        suites,
        "testsuite",
        name=level,
        tests=str(len(results)),
        failures=str(counts[CaseVerdict.FAILED]),
        skipped=str(counts[CaseVerdict.SKIPPED]),
        errors="0",
    )
    for each in results:
        topic, _, name = each.case.id.partition("/")
        case = ET.SubElement(
            suite,
            "testcase",
            classname=_xml_text(topic),
            name=_xml_text(f"{name}: {each.case.title}"),
            time=f"{each.seconds:.3f}",
        )
        if each.verdict is CaseVerdict.FAILED:
            ET.SubElement(case, "failure", message=_xml_text(failure_text(each)))
        elif each.verdict is CaseVerdict.SKIPPED:
            ET.SubElement(case, "skipped", message=_xml_text(str(each.got)))


def _print(suites: ET.Element) -> None:
    ET.indent(suites)
    xml = ET.tostring(suites, "unicode")
    # XML allows characters that control a terminal: escape them as references.
    safe = (each if each.isprintable() or each == "\n" else f"&#{ord(each)};" for each in xml)
    print('<?xml version="1.0" encoding="UTF-8"?>\n' + "".join(safe))


def _add_suite(suites: ET.Element, file: FileResults) -> None:
    suite = ET.SubElement(
        suites,
        "testsuite",
        name=_xml_text(file.name),
        tests=str(len(file.results)),
        failures=str(sum(not each.passed for each in file.results)),
        errors="0",
    )
    for each in file.results:
        case = ET.SubElement(
            suite, "testcase", classname=_xml_text(file.path), name=_xml_text(each.name)
        )
        if not each.passed:
            ET.SubElement(case, "failure", message=_xml_text(each.why))


def _xml_text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)

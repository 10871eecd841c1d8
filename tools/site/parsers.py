"""The results of ``make matrix``: a table of all parsers, and a page for each."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from koster.conformance import LEVELS, DecisionCase

from . import suite
from .markdown import front, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from koster.conformance import AnyCase

ROOT = Path(__file__).parents[2]
#: Written by ``make matrix``.
RESULTS = ROOT / "docs" / "_details" / "parsers.json"

#: The levels that every parser is asked.
_COMMON = ("must", "should", "widespread")
#: The topics of the second table.
_TOPICS = (
    "groups", "names", "specificity", "wildcards", "escapes", "paths", "lines", "encoding",
    "other-records",
)  # fmt: skip
#: The tag of cases that take a parser much time.
_SLOW = {"time", "size"}
#: Of less than this many questions, a level is not shown: nearly all were skipped.
_FEW = 5
_UNKNOWN = "-"


@cache
def results() -> dict[str, Any]:
    """Return the results as they were written."""
    return json.loads(RESULTS.read_text("utf-8"))  # type: ignore[no-any-return]


def file_name(parser: dict[str, Any]) -> str:
    """Return the file of a parser's page."""
    return re.sub(r"[^a-z0-9.]+", "-", parser["name"].lower()).strip("-") + ".md"


def pages() -> Iterator[tuple[str, str]]:
    """Yield the file name and the text of each page."""
    for parser in results()["parsers"]:
        yield file_name(parser), "\n".join(_page(parser))


def names() -> list[str]:
    """Return the files of the pages, in the order of the table."""
    return [file_name(parser) for parser in _ranked()]


def summary() -> str:
    """Return the table of all parsers."""
    rows = [
        [
            _linked(parser),
            parser["language"],
            *(_share(parser, level) for level in _COMMON),
            _share(parser, "google"),
            _slow(parser),
            _hostile(parser),
            _speed(parser),
        ]
        for parser in _ranked()
    ]
    heads = ["parser", "language", *_COMMON, "google", "large", "random", "time"]
    return table(heads, rows)


def by_topic() -> str:
    """Return the table of the cases of level must by topic."""
    rows = [
        [
            _linked(parser),
            *(_share(parser, "must", tag) for tag in _TOPICS),
        ]
        for parser in _ranked()
    ]
    return table(["parser", *_TOPICS], rows)


def missing() -> str:
    """Return the parsers that could not be run, as a list."""
    if not results()["missing"]:
        return "All parsers of the table could be run."
    return "\n".join(f"- {each['name']}: {each['why']}" for each in results()["missing"])


def about() -> str:
    """Return when the parsers were run, as a sentence."""
    found = results()
    return (
        f"These are {len(found['parsers'])} parsers, run on {found['date']} with version "
        f"{found['suite']} of the suite."
    )


def _ranked() -> list[dict[str, Any]]:
    """Return the parsers, those that fail the fewest cases of level must first."""
    return sorted(
        results()["parsers"], key=lambda each: (-_rate(each, "must"), each["name"].lower())
    )


def _linked(parser: dict[str, Any]) -> str:
    version = "" if parser["version"] in parser["name"] else f" {parser['version']}"
    return f"[{parser['name']}](parsers/{file_name(parser)}){version}"


def _cases(parser: dict[str, Any], level: str, tag: str = "") -> list[AnyCase]:
    """Return the cases that a parser was asked."""
    skipped = {name for names in parser["skipped"].values() for name in names}
    return [
        case
        for case in suite.suite().cases
        if case.level == level
        and (not tag or tag in case.tags)
        and case.id not in skipped
        and _is_asked(parser, case)
    ]


def _is_asked(parser: dict[str, Any], case: AnyCase) -> bool:
    if isinstance(case, DecisionCase):
        return case.dialect in parser["dialects"]
    return bool(parser["fetches"])


def _rate(parser: dict[str, Any], level: str, tag: str = "") -> float:
    cases = [each for each in _cases(parser, level, tag) if isinstance(each, DecisionCase)]
    failed = sum(case.id in parser["failures"] for case in cases)
    return 1 - failed / len(cases) if cases else 0.0


def _share(parser: dict[str, Any], level: str, tag: str = "") -> str:
    """Return how many of the questions about files are answered well, in percent."""
    cases = [each for each in _cases(parser, level, tag) if isinstance(each, DecisionCase)]
    if len(cases) < _FEW:
        return _UNKNOWN
    rate = 100 * _rate(parser, level, tag)
    return "100 %" if rate == 100 else f"{min(rate, 99.9):.1f} %" if rate > 99 else f"{rate:.0f} %"


def _slow(parser: dict[str, Any]) -> str:
    """Return how many of the large and slow cases are answered in time."""
    cases = [
        case
        for case in suite.suite().cases
        if _SLOW & set(case.tags) and isinstance(case, DecisionCase) and _is_asked(parser, case)
    ]
    skipped = {name for names in parser["skipped"].values() for name in names}
    asked = [case for case in cases if case.id not in skipped]
    if len(asked) < _FEW:
        return _UNKNOWN
    late = sum(
        isinstance(parser["failures"].get(case.id), str)
        and re.search("no answer|took|ended|not asked", parser["failures"][case.id]) is not None
        for case in asked
    )
    return f"{len(asked) - late} / {len(asked)}"


def _hostile(parser: dict[str, Any]) -> str:
    """Return how many random files get an answer."""
    counts = parser["hostile"]
    return f"{counts['answers']} / {sum(counts.values())}"


def _speed(parser: dict[str, Any]) -> str:
    milliseconds = parser["milliseconds"]
    return _UNKNOWN if milliseconds is None else f"{milliseconds:,.2f} ms"


def _page(parser: dict[str, Any]) -> Iterator[str]:
    name, version = parser["name"], parser["version"]
    yield from front(f"How the robots.txt parser {name} does in the conformance suite.")
    yield f"# {name}"
    yield ""
    place = f", from {parser['registry']}" if parser["registry"] else ""
    home = f" [Home page]({parser['homepage']})." if parser["homepage"] else ""
    yield f"Version {version}, {parser['language']}{place}.{home}"
    yield ""
    yield f"{about()} [All parsers](../parsers.md) has the others."
    yield ""
    yield from _levels(parser)
    yield from _failures(parser)
    yield from _skipped(parser)


def _levels(parser: dict[str, Any]) -> Iterator[str]:
    rows = []
    for level in LEVELS:
        cases = _cases(parser, level)
        failed = sum(case.id in parser["failures"] for case in cases)
        if cases:
            rows.append([level, f"{len(cases) - failed}", f"{failed}"])
    yield table(["level", "passed", "failed"], rows)
    yield ""


def _failures(parser: dict[str, Any]) -> Iterator[str]:
    for level in LEVELS:
        failed = [case for case in _cases(parser, level) if case.id in parser["failures"]]
        if failed:
            yield f"## Failed: {level}"
            yield ""
        for case in failed:
            got = parser["failures"][case.id]
            yield f"- {suite.link(case, '../../')}: {suite.prose(case.title)}"
            if isinstance(got, str):
                yield f"    - {suite.code(got)}"
            elif isinstance(case, DecisionCase):
                # The case may have changed since the parsers were run.
                for number in [each for each in got if each < len(case.questions)][:3]:
                    yield f"    - should be {suite.verdict(case.questions[number])}"
        if failed:
            yield ""


def _skipped(parser: dict[str, Any]) -> Iterator[str]:
    if not parser["skipped"]:
        return
    yield "## Skipped"
    yield ""
    counts = Counter({why: len(names) for why, names in parser["skipped"].items()})
    for why, count in counts.most_common():
        yield f"- {count}: {suite.code(why)}"
    yield ""

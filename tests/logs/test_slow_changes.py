"""Crawlers that may act on older versions than others, as their operators say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from koster import crawlers
from koster._reports.complaints import complaints
from koster._reports.log_words import Judged
from koster.bulk.duckdb import register
from koster.logs import (
    Identified,
    Judge,
    Options,
    Report,
    Verdict,
    Version,
    Versions,
    analyze,
    judge,
)  # fmt: skip
from tests.helpers.requests_of import CLOSED, OPEN, at, requests, versions

VIOLATION, WITHIN = Verdict.VIOLATION.value, Verdict.WITHIN_CACHING_PERIOD.value

#: The file is closed at noon; both versions are known from long before.
CLOSING = versions((-10_000, OPEN), (0, CLOSED))
ALWAYS = versions((None, CLOSED))

PRIVATE = "/private/a"
DUCK, AMAZON, USUAL = "DuckAssistBot", "Amazonbot", "GPTBot"
DAY = 24


def row(hours: float, url: str = PRIVATE, status: int = 200) -> tuple[Any, ...]:
    return hours, url, status


def fetch(hours: float, status: int = 200) -> tuple[Any, ...]:
    return row(hours, "/robots.txt", status)


#: The crawler, its requests, the versions, and the verdict about the last request.
CASES: list[tuple[str, str, Any, pa.Table, str]] = [
    # DuckDuckGo: "the change will take effect after 72 hours".
    ("30 hours after a change", DUCK, [row(30)], CLOSING, WITHIN),
    ("80 hours after a change", DUCK, [row(80)], CLOSING, VIOLATION),
    ("30 hours, for others", USUAL, [row(30)], CLOSING, VIOLATION),
    ("80 hours, for others", USUAL, [row(80)], CLOSING, VIOLATION),
    ("20 hours, for others", USUAL, [row(20)], CLOSING, WITHIN),
    ("it fetched the new file", DUCK, [fetch(1), row(30)], CLOSING, WITHIN),
    ("it fetched the new file, for others", USUAL, [fetch(1), row(30)], CLOSING, VIOLATION),
    ("it fetched both", DUCK, [fetch(-1), fetch(1), row(71)], CLOSING, WITHIN),
    ("it fetched both, 72 hours later", DUCK, [fetch(-1), fetch(1), row(73)], CLOSING, VIOLATION),
    ("with the version of its header", "duckassistbot/1.2; (+http://x)", [row(30)], CLOSING,
     WITHIN),
    ("no file, 2 days ago", DUCK, [fetch(0, 404), fetch(1), row(50)], ALWAYS, WITHIN),
    ("no file, for its address, 2 days ago", DUCK, [fetch(0, 403), fetch(1), row(50)], ALWAYS,
     WITHIN),
    ("no file, 4 days ago", DUCK, [fetch(0, 404), fetch(1), row(96)], ALWAYS, VIOLATION),
    ("no file for another, 2 days ago", DUCK,
     [(0, "/robots.txt", 404, "", "bingbot"), row(50)], ALWAYS, WITHIN),
    ("no file for another, for others", USUAL,
     [(0, "/robots.txt", 404, "", "bingbot"), row(50)], ALWAYS, VIOLATION),
    ("503 keeps an older one", DUCK, [fetch(-1), fetch(73, 503), row(80)], CLOSING, WITHIN),
    # Amazon: "use a cached copy from the last 30 days" if it cannot fetch the file.
    ("it does not fetch the file", AMAZON, [fetch(-1), row(30)], CLOSING, VIOLATION),
    ("it fetches the new file", AMAZON, [fetch(-1), fetch(1), row(2)], CLOSING, VIOLATION),
    *(
        (f"{status}, 5 days ago", AMAZON, [fetch(-1), fetch(DAY, status), row(6 * DAY)], CLOSING,
         WITHIN)
        for status in (301, 403, 404, 429, 460, 499, 503)
    ),
    *(
        (f"{status}, 5 days ago, for others", USUAL,
         [fetch(-1), fetch(DAY, status), row(6 * DAY)], CLOSING, VIOLATION)
        for status in (301, 403, 404, 429, 460, 499, 503)
    ),
    ("it failed before it fetched the new file", AMAZON,
     [fetch(-1), fetch(DAY, 503), fetch(2 * DAY), row(6 * DAY)], CLOSING, VIOLATION),
    ("304 confirms the new file", AMAZON,
     [fetch(-1), fetch(DAY, 503), fetch(2 * DAY, 304), row(6 * DAY)], CLOSING, VIOLATION),
    ("its copy is of the new file", AMAZON,
     [fetch(1), fetch(3 * DAY, 503), row(6 * DAY)], CLOSING, VIOLATION),
    ("its copy is older than 30 days: all is allowed", AMAZON,
     [fetch(-40 * DAY), fetch(DAY, 503), row(6 * DAY)], ALWAYS, WITHIN),
    ("it may have no copy", AMAZON, [fetch(DAY, 503), row(6 * DAY)], ALWAYS, WITHIN),
    ("it may have no copy, for others", USUAL, [fetch(DAY, 503), row(6 * DAY)], ALWAYS, VIOLATION),
    ("the failure is 31 days ago", AMAZON, [fetch(0, 503), row(31 * DAY)], ALWAYS, VIOLATION),
    ("another failed", AMAZON,
     [fetch(-1), (DAY, "/robots.txt", 503, "", "bingbot"), row(6 * DAY)], CLOSING, VIOLATION),
    ("Amazon's others, too", "Amzn-SearchBot", [fetch(-1), fetch(DAY, 301), row(6 * DAY)],
     CLOSING, WITHIN),
]  # fmt: skip
_IDS = [f"{each[1]}: {each[0]}" for each in CASES]


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        register(connection)
        yield connection


@pytest.mark.parametrize(("name", "crawler", "rows", "of", "expected"), CASES, ids=_IDS)
def test_last_request(
    con: duckdb.DuckDBPyConnection, name: str, crawler: str, rows: Any, of: pa.Table, expected: str
) -> None:
    del name
    asked = requests(rows, crawler)
    assert judge(asked, of).to_pylist()[-1]["verdict"] == expected
    # A request at a time, as koster logs --follow reads them.
    judged = Judge(of)
    for number in range(len(asked)):
        (last,) = judged.judge(asked.slice(number, 1)).verdicts
    assert list(Verdict)[int(last)].value == expected
    con.register("asked", asked)
    con.register("versions", of)
    found = con.sql("FROM robots_judge('asked', 'versions') ORDER BY time").to_arrow_table()
    assert found["verdict"].to_pylist()[-1] == expected


def test_grace_may_be_longer_but_not_shorter() -> None:
    asked = requests([row(80)], DUCK)
    for grace, expected in ((timedelta(minutes=1), VIOLATION), (timedelta(days=5), WITHIN)):
        assert judge(asked, CLOSING, grace).to_pylist()[-1]["verdict"] == expected
    asked = requests([row(30)], DUCK)
    assert judge(asked, CLOSING, timedelta(minutes=1)).to_pylist()[-1]["verdict"] == WITHIN


def test_periods_are_those_of_the_registry() -> None:
    found = {each.token: (each.change_delay, each.old_copy) for each in crawlers.slow_to_change()}
    nothing, day, month = timedelta(0), timedelta(hours=24), timedelta(days=30)
    assert found == {
        "DuckAssistBot": (timedelta(hours=72), nothing),
        "Amazonbot": (day, month),
        "Amzn-SearchBot": (day, month),
        "Amzn-User": (day, month),
    }
    others = [each for each in crawlers.known() if each.token not in found]
    assert {(each.change_delay, each.old_copy) for each in others} == {(day, nothing)}


# The command.


def _report(folder: Path, rows: list[tuple[float, str, int]], agent: str) -> Report:
    log = folder / "access.log"
    lines = [
        f'192.0.2.1 - - [{at(hours):%d/%b/%Y:%H:%M:%S %z}] "GET {url} HTTP/1.1" {status} 5 "-" '
        f'"{agent}"\n'
        for hours, url, status in rows
    ]
    log.write_text("".join(lines))
    of = (
        Version("old", at(-10_000), OPEN.encode()),
        Version("new", at(0), CLOSED.encode()),
    )
    return analyze([str(log)], Versions("robots.txt", of), Options())


def test_reports_do_not_accuse_sooner(tmp_path: Path) -> None:
    rows = [row(30), row(80)]
    (each,) = _report(tmp_path, rows, f"{DUCK}/1.2; (+http://duckduckgo.com)").crawlers
    assert (each.violations, each.within_caching_period) == (1, 1)
    (each,) = _report(tmp_path, rows, "Mozilla/5.0 (compatible; GPTBot/1.2)").crawlers
    assert (each.violations, each.within_caching_period) == (2, 0)


@pytest.mark.parametrize(
    ("agent", "hours", "asked"),
    [(DUCK, 50, None), (DUCK, 80, False), (USUAL, 20, None), (USUAL, 50, False)],
)
def test_never_asked_is_not_said_sooner(
    tmp_path: Path, agent: str, hours: float, asked: bool | None
) -> None:
    (each,) = _report(tmp_path, [row(0, "/a"), row(hours, "/a")], agent).crawlers
    assert each.asked_for_robots_txt is asked


@pytest.mark.parametrize(
    ("agent", "sentence"),
    [
        (DUCK, "any version in force in the 72 hours before, as changes reach it only after"),
        (AMAZON, r"After fetches that failed, according to this log, .* of up to 30 days before"),
        (USUAL, r"in the 24 hours before \(RFC 9309 §2.4\), or any version in force in that time"),
    ],
)
def test_complaints_say_how_violations_were_counted(
    tmp_path: Path, agent: str, sentence: str
) -> None:
    report = _report(tmp_path, [row(80)], agent)
    (each,) = report.crawlers
    verified = replace(report, crawlers=(replace(each, identified=Identified.VERIFIED),))
    text = "\n".join(complaints(Judged(verified)))
    assert re.search(sentence, text), text

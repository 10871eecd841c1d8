"""The bulk report: its numbers, its CSV, and an HTML page that escapes all input."""

from __future__ import annotations

import csv
import itertools
import re
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from koster._cli.root import koster as command
from koster._reports.bulk import Shares, as_csv, as_page, percent
from koster._reports.line_charts import NARROW, WIDE, ChartLine, Frame, chart
from koster.analysis import Budget
from koster.bulk import _sites, kernel, runs
from koster.bulk.report import BlockingReport, Share, report
from koster.bulk.runs import Question
from koster.errors import UnreadableError
from tests.helpers import archives
from tests.helpers.archives import Fetch
from tests.helpers.columns import ONE, OTHER
from tests.helpers.support import ROOT

AGENTS = ("GPTBot", "AdsBot-Google", "FooBot")


def bulk(*arguments: object) -> Result:
    return CliRunner().invoke(command, ["bulk", *map(str, arguments)])


def classify_inputs(folder: Path, agents: tuple[str, ...] = AGENTS) -> Path:
    out = folder / "out.parquet"
    inputs = runs.find_inputs([str(folder / "in")])
    assert not runs.run(Question("classify", agents), inputs, out, 1).failed
    return out


def shares_by_crawl_and_agent(folder: Path) -> dict[tuple[str, str], Share]:
    return {(each.crawl, each.agent): each for each in report(folder).shares}


ALL = b"User-agent: *\nDisallow: /\n"
SITES = [
    Fetch("https://a.com/robots.txt", ALL),
    Fetch("https://b.com/robots.txt", ONE.encode()),
    # The last fetch in a crawl counts.
    Fetch("https://c.com/robots.txt", ALL, date="2026-11-01T00:00:00Z"),
    Fetch("https://c.com/robots.txt", OTHER.encode(), date="2026-11-02T00:00:00Z"),
    Fetch(
        "https://d.com/robots.txt", b"", "301 Moved", {"Location": "https://www.d.com/robots.txt"}
    ),
    Fetch("https://www.d.com/robots.txt", b"", "302 Found", {"Location": "/elsewhere.txt"}),
    Fetch("https://www.d.com/elsewhere.txt", ALL),
    Fetch("https://e.com/robots.txt", b"", "404 Not Found"),
    Fetch("https://f.com/robots.txt", b"", "503 Unavailable"),
    Fetch("https://g.com/robots.txt", b"", "301 Moved", {"Location": "https://gone.com/"}),
    Fetch("https://h.com/robots.txt", b"", "301 Moved", {"Location": "https://h.com/robots.txt"}),
    Fetch("https://i.com/robots.txt", b"<!doctype html>", headers={"Content-Type": "text/html"}),
    Fetch("https://j.com/robots.txt", b"User-agent: AdsBot-Google\nDisallow: /\n"),
]


def test_report_numbers(tmp_path: Path) -> None:
    archives.write(tmp_path / "in" / "a.warc.gz", SITES)
    result = report(classify_inputs(tmp_path))
    by_agent = {each.agent: each for each in result.shares}
    # These returned a file: a, b, c, d (through www.d), i and j.
    assert {each.sites for each in result.shares} == {6}
    gpt, ads, foo = (by_agent[name] for name in AGENTS)
    assert (gpt.named, gpt.blocked, gpt.blocked_by_name, gpt.partly) == (1, 3, 1, 0)
    # AdsBot-Google ignores the * groups; only j names it.
    assert (ads.by_name, ads.named, ads.blocked, ads.partly) == (True, 1, 1, 0)
    assert (foo.named, foo.blocked, foo.partly, foo.purpose) == (0, 2, 1, "others")
    assert {(each.outcome, each.sites) for each in result.fetches} == {
        ("ok", 5), ("wrong type", 1), ("unavailable", 1), ("unreachable", 1),
        ("not in the archive", 1), ("too many redirects", 1),
    }  # fmt: skip
    assert result.crawls == ("CC-MAIN-2026-45",)


def test_crawls_are_separate(tmp_path: Path) -> None:
    for crawl, body in (("CC-MAIN-2025-01", OTHER.encode()), ("CC-MAIN-2026-01", ALL)):
        fetch = Fetch("https://a.com/robots.txt", body, date=f"{crawl[8:12]}-02-01T00:00:00Z")
        archives.write(tmp_path / "in" / f"{crawl}.warc.gz", [fetch], crawl)
    undated = Fetch("https://a.com/robots.txt", ALL, date="2024-03-01T00:00:00Z")
    archives.write(tmp_path / "in" / "x.warc.gz", [undated], None)
    out = classify_inputs(tmp_path)
    by_crawl_and_agent = shares_by_crawl_and_agent(out)
    assert report(out).crawls == ("2024-03", "CC-MAIN-2025-01", "CC-MAIN-2026-01")
    assert [by_crawl_and_agent[crawl, "GPTBot"].blocked for crawl in report(out).crawls] == [
        1,
        0,
        1,
    ]
    page = as_page(Shares(report(out), "t"))
    assert page.count("<polyline") >= 1


def test_some_crawls_at_a_time_give_the_same_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for crawl in ("CC-MAIN-2025-01", "CC-MAIN-2026-01", None):
        archives.write(tmp_path / "in" / f"{crawl}.warc.gz", SITES, crawl)
    undated = Fetch("https://a.com/robots.txt", ALL, date="")
    archives.write(tmp_path / "in" / "x.warc.gz", [undated], None)
    out = classify_inputs(tmp_path)
    at_once = report(out)
    assert len(at_once.crawls) == 4
    # Each crawl is a part.
    monkeypatch.setattr(_sites, "_CRAWL_ROWS", 1)
    assert report(out) == at_once


def test_table_rows_count_as_sites(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    table = pa.table({"body": [ONE, ONE, OTHER, None]})
    pq.write_table(table, tmp_path / "in" / "robots.parquet")
    share = shares_by_crawl_and_agent(classify_inputs(tmp_path))["undated", "GPTBot"]
    assert (share.sites, share.blocked, share.named) == (3, 2, 2)


def test_report_without_sites(tmp_path: Path) -> None:
    archives.write(tmp_path / "in" / "a.warc.gz", [])
    page = as_page(Shares(report(classify_inputs(tmp_path)), "Nothing"))
    assert "No site answered" in page


def test_redirects_of_a_host_count_as_one_site(tmp_path: Path) -> None:
    final = "https://www.a.com/robots.txt"
    moved = [
        Fetch(url, b"", "301 Moved", {"Location": final})
        for url in ("http://a.com/robots.txt", "https://a.com/robots.txt",
                    "http://www.a.com/robots.txt")
    ]  # fmt: skip
    fetches = [*moved, Fetch(final, ALL), Fetch("http://b.com/robots.txt", OTHER.encode())]
    archives.write(tmp_path / "in" / "a.warc.gz", fetches)
    share = shares_by_crawl_and_agent(classify_inputs(tmp_path))["CC-MAIN-2026-45", "GPTBot"]
    assert (share.sites, share.blocked, share.blocked_by_name) == (2, 1, 0)


def test_csv_escapes_formulas(tmp_path: Path) -> None:
    """Agents come from a user's list and crawls from archives: neither is trusted."""
    archives.write(tmp_path / "in" / "a.warc.gz", SITES)
    agents = ("=1+1", "+x", "-x", "@x", "\uff1dx", 'a"b')
    csv_text = as_csv(report(classify_inputs(tmp_path, agents)))
    rows = list(csv.DictReader(csv_text.splitlines()))
    assert {row["agent"] for row in rows} == {*(f"'{name}" for name in agents[:5]), 'a"b'}
    assert not [cell for row in rows for cell in row.values() if cell.startswith(agents[:5])]
    # Text is quoted, numbers are not.
    last = csv_text.splitlines()[-1]
    assert re.fullmatch(
        r'("([^"]|"")*",){5}(false,)(\d+,){13}\d\.\d{6},\d\.\d{6},\d\.\d{6}', last
    ), last


def test_unproved_results_count_as_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "_budget", lambda: Budget(steps=0))
    rules = "".join(f"Allow: /*x{n}*b\nDisallow: /*x{n}*b*\n" for n in range(20))
    (tmp_path / "in").mkdir()
    table = pa.table({"body": [f"User-agent: *\nDisallow: /\n{rules}"]})
    pq.write_table(table, tmp_path / "in" / "robots.parquet")
    result = report(classify_inputs(tmp_path))
    assert {(each.unknown, each.blocked, each.partly) for each in result.shares} == {(1, 0, 0)}
    assert as_csv(result)


@pytest.mark.parametrize(
    "zone", ["America/Los_Angeles", pytest.param("Asia/Tokyo", marks=pytest.mark.thorough)]
)
def test_months_do_not_depend_on_the_time_zone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    fetch = Fetch("https://a.com/robots.txt", ALL, date="2024-02-01T00:00:00Z")
    last_day = Fetch("https://b.com/robots.txt", ALL, date="2024-02-29T23:59:59Z")
    archives.write(tmp_path / "in" / "a.warc.gz", [fetch, last_day], None)
    out = classify_inputs(tmp_path)
    code = f"import sys; from koster.bulk.report import report; print(report({str(out)!r}).crawls)"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == "('2024-02',)"
    monkeypatch.undo()
    time.tzset()


class PageParser(HTMLParser):
    """Collects tags and text, and checks that tags are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_page_escapes_html(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>\"'&\u202e"
    archives.write(tmp_path / "in" / "a.warc.gz", SITES, f"x{evil}1")
    archives.write(tmp_path / "in" / "b.warc.gz", SITES, f"y{evil}2")
    out = classify_inputs(tmp_path, (evil, "GPTBot"))
    reader = PageParser()
    reader.feed(as_page(Shares(report(out), evil, evil)))
    assert not reader.open
    assert "script" not in reader.tags
    assert evil.partition("\u202e")[0] in reader.text
    assert "\u202e" not in reader.text


def crawls_of(folder: Path, count: int, agents: tuple[str, ...]) -> BlockingReport:
    """Return a report on so many crawls of ten sites, in each of which more block GPTBot."""
    rows = [
        {"crawl": f"c-{crawl}", "host": f"s{site}.example",
         "body": f"User-agent: {'GPTBot' if site * count < 8 * crawl else 'none'}\nDisallow: /\n"}
        for crawl in range(count)
        for site in range(10)
    ]  # fmt: skip
    (folder / "in").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), folder / "in" / "t.parquet")
    return report(classify_inputs(folder, agents))


@pytest.mark.parametrize("count", [1, 2, 4, 60, 300])
def test_page_shows_each_crawler_over_time(tmp_path: Path, count: int) -> None:
    found = crawls_of(tmp_path, count, ("GPTBot", "none", "CCBot"))
    page = as_page(Shares(found, "t"))
    reader = PageParser()
    reader.feed(page)
    assert not reader.open
    assert "rect" not in reader.tags if count > 1 else "polyline" not in reader.tags
    assert "@import" not in page
    assert "url(" not in page
    assert len(page) < 60_000
    if count > 1:
        # Two lines, each in a wide and a narrow chart, and a small one for every crawler.
        assert page.count("<polyline") == 2 * 2 + 3
        most = max(found.of(f"c-{count - 1}"), key=lambda each: each.share_blocked)
        assert f"{percent(most.share_blocked)} block {most.agent}, the most of 3 crawlers." in page
        assert f"In c-0 it was {'0' if most.agent == 'GPTBot' else '100'} %." in page
    # What is partly blocked has no line and no bar.
    assert "partly" not in page.partition("<h2>")[2].partition("<p")[0].lower()


def test_page_without_a_blocked_crawler(tmp_path: Path) -> None:
    page = as_page(Shares(crawls_of(tmp_path, 2, ("CCBot",)), "t"))
    assert "None of 10 sites in c-1 blocks any of these crawlers." in page
    assert "<polyline" not in page


def test_crawlers_with_the_same_numbers_share_a_line(tmp_path: Path) -> None:
    agents = tuple(f"Crawler{number}" for number in range(9))
    archives.write(tmp_path / "in" / "a.warc.gz", SITES, "a")
    archives.write(tmp_path / "in" / "b.warc.gz", SITES, "b")
    page = as_page(Shares(report(classify_inputs(tmp_path, agents)), "t"))
    assert page.count("<polyline") == 2 + 9
    assert "Crawler0 +8</text>" in page
    assert "Crawler0, Crawler1, Crawler2, Crawler3 and 5 more: 33.3 %" in page


@pytest.mark.parametrize("frame", [WIDE, NARROW])
@pytest.mark.parametrize("length", [1, 7, 15, 200])
@pytest.mark.parametrize("count", [2, 3, 4, 5, 60])
def test_labels_of_a_chart_do_not_overlap(frame: Frame, length: int, count: int) -> None:
    moments = [f"{number:0{length}}" for number in range(count)]
    lines = [
        ChartLine(str(number), [0.2, *([0.1 * (number > 5)] * (count - 1))]) for number in range(8)
    ]
    drawn = chart(moments, lines, frame)
    ends = sorted(line.label_y for line in drawn.lines)
    assert all(upper + 16 <= lower for upper, lower in itertools.pairwise(ends))
    assert frame.top <= ends[0]
    assert ends[-1] <= frame.height
    edges = []
    for x, anchor, text in drawn.moments:
        width = 6.5 * len(text)
        begin = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
        edges += [begin, begin + width]
    assert edges == sorted(edges)
    assert {drawn.moments[0][0], drawn.moments[-1][0]} == {frame.left, frame.width - frame.right}
    assert all(0 <= edge <= frame.width for edge in edges)


def test_line_omits_crawls_without_sites() -> None:
    (line,) = chart(["a", "b", "c"], [ChartLine("x", [0.5, None, None])], WIDE).lines
    assert line.points == "60,12"
    assert (line.end.moment, line.end.share) == ("a", 0.5)


def test_report_command(tmp_path: Path) -> None:
    archives.write(tmp_path / "in" / "a.warc.gz", SITES)
    out = classify_inputs(tmp_path)
    page, numbers = tmp_path / "r.html", tmp_path / "n.csv"
    result = bulk("report", out, "-o", page, "--csv", numbers, "--title", "Mine")
    assert result.exit_code == 0, result.output
    assert "GPTBot" in result.output
    assert "<title>Mine</title>" in page.read_text("utf-8")
    with numbers.open(newline="") as file:
        rows = {row["agent"]: row for row in csv.DictReader(file)}
    assert rows["GPTBot"]["blocked"] == "3"
    assert float(rows["GPTBot"]["share_blocked"]) == pytest.approx(3 / 6, abs=1e-6)
    assert rows["AdsBot-Google"]["by_name"] == "true"


@pytest.mark.thorough
def test_command_prints_no_warnings_of_duckdb_when_it_ends(tmp_path: Path) -> None:
    archives.write(tmp_path / "in" / "a.warc.gz", SITES)
    out = classify_inputs(tmp_path)
    command = [sys.executable, "-m", "koster", "bulk", "report", out, "-o", tmp_path / "r.html"]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("gone", "No such file or directory"),
        ("empty", "has no shards of koster bulk"),
        ("facts", "a report needs those of koster bulk classify"),
    ],
)
def test_report_of_an_invalid_folder(tmp_path: Path, kind: str, message: str) -> None:
    folder = tmp_path / kind
    if kind == "empty":
        folder.mkdir()
    elif kind == "facts":
        archive = archives.write(tmp_path / "in" / "a.warc.gz", SITES)
        runs.run(Question("facts"), runs.find_inputs([str(archive)]), folder, 1)
    with pytest.raises(UnreadableError, match=message):
        report(folder)
    result = bulk("report", folder, "-o", tmp_path / "r.html")
    assert result.exit_code == 3
    assert not (tmp_path / "r.html").exists()


@pytest.mark.thorough
def test_example_runs(tmp_path: Path) -> None:
    example = ROOT / "examples" / "who_blocks_ai.py"
    process: Any = subprocess.run(
        [sys.executable, example, tmp_path], capture_output=True, text=True, check=True
    )
    assert "blocking_gptbot" in process.stdout
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "Who blocks AI crawlers" in page
    assert page.count("<polyline") >= 5

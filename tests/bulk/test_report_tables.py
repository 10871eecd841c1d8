"""The bulk report over tables: crawls, dates and sites come from their columns."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import random
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from koster._reports.bulk import Shares, as_csv, as_page
from koster.bulk import _attribution, runs
from koster.bulk import report as reports
from koster.bulk._archived import ARCHIVED
from koster.bulk._shards import KEY
from koster.bulk._sites import read_panel
from koster.bulk.kernel import CLASSIFIED
from koster.bulk.report import BlockingReport, Share, report
from koster.bulk.runs import Columns, Question
from koster.errors import UnreadableError
from tests.helpers import archives
from tests.helpers.archives import Fetch
from tests.helpers.bulk_runs import GPT, WRITERS, bulk
from tests.helpers.support import EVERYTHING, ROOT

BLOCKING = "User-agent: GPTBot\nDisallow: /\n"
OPEN = "User-agent: *\nDisallow: /admin/\n"
TRUTH = {"2025-01": 0.040, "2025-06": 0.158, "2025-11": 0.281, "2026-04": 0.405}
MARCH = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)


on_linux = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="needs /proc, which only Linux has"
)


def peak_memory(script: str) -> int:
    """Return the peak memory of a process that runs a script, in bytes."""
    end = "\nimport re; print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
    process = subprocess.run(
        [sys.executable, "-c", script + end], capture_output=True, text=True, check=True
    )
    return int(process.stdout) * 1024


def report_on(
    path: Path, columns: dict[str, Any], named: Columns | None = None, **options: str
) -> BlockingReport:
    """Return the report on a table with these columns."""
    count = max(map(len, columns.values()))
    path.mkdir(exist_ok=True)
    pq.write_table(pa.table({"body": [BLOCKING] * count} | columns), path / "t.parquet")
    return report_on_file(path / "t.parquet", named, **options)


def report_on_file(path: Path, named: Columns | None = None, **options: str) -> BlockingReport:
    question = Question("classify", GPT.agents, columns=named or Columns())
    done = runs.run(question, runs.find_inputs([str(path)]), path.parent / "out", 1)
    assert not done.failed, done.failed
    return report(path.parent / "out", **options)


def sites(found: BlockingReport) -> dict[str, int]:
    return {each.crawl: each.sites for each in found.shares}


def crawls_of_known_truth(sites_of_a_crawl: int = 1_000) -> list[dict[str, Any]]:
    """Return the rows of four crawls of the same sites, in disorder."""
    rows = []
    for crawl, share in TRUTH.items():
        for number in range(sites_of_a_crawl):
            body = BLOCKING if number < share * sites_of_a_crawl else OPEN
            www = "www." if number % 2 else ""
            url = f"https://{www}site-{number}.example/robots.txt"
            fetched = f"{crawl}-03T{number % 24:02}:00:00Z"
            rows.append({"url": url, "crawl": crawl, "fetched": fetched, "body": body})
    random.Random(1).shuffle(rows)
    return rows


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        # The formats differ in their types of values.
        (name, missing)
        for number, name in enumerate(WRITERS)
        for place, missing in enumerate(("", "crawl", "fetched"))
        if EVERYTHING or number % 3 == place
    ],
)
def test_crawls_of_a_table_have_their_own_shares(tmp_path: Path, name: str, missing: str) -> None:
    """Crawls come from the column crawl, else from the month in the column fetched."""
    rows = crawls_of_known_truth()
    for row in rows:
        row.pop(missing, None)
    WRITERS[name](tmp_path / name, rows)
    found = report_on_file(tmp_path / name)
    assert {each.crawl: each.share_blocked for each in found.shares} == TRUTH
    assert found.crawls == tuple(TRUTH)
    assert set(sites(found).values()) == {1_000}
    assert (found.files, found.undated, found.without_host) == (4_000, 0, 0)


def test_report_command_shows_all_crawls_of_a_table(tmp_path: Path) -> None:
    WRITERS["robots.parquet"](tmp_path / "t.parquet", crawls_of_known_truth())
    assert bulk("classify", tmp_path / "t.parquet", "-a", "GPTBot", "-o", tmp_path / "o") \
        .exit_code == 0  # fmt: skip
    result = bulk("report", tmp_path / "o", "-o", tmp_path / "r.html", "--csv", tmp_path / "n.csv")
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.output.splitlines()]
    assert ["Crawler", *TRUTH] in lines
    assert ["GPTBot", "4.0", "%", "15.8", "%", "28.1", "%", "40.5", "%"] in lines
    assert "undated" not in result.output
    page = (tmp_path / "r.html").read_text("utf-8")
    for share in ("4.0 %", "15.8 %", "28.1 %", "40.5 %"):
        assert f'<td class="number">{share}</td>' in page
    assert "no date" not in page
    csv_lines = (tmp_path / "n.csv").read_text("utf-8").splitlines()
    assert [line.split(",")[-3] for line in csv_lines[1:]] == [
        "0.040000", "0.158000", "0.281000", "0.405000",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-01T12:00:00Z", MARCH),
        ("2026-03-01 12:00:00", MARCH),
        ("2026-03-01T13:00:00.000000000+01:00", MARCH),
        ("2026-03-01 12:00:00 UTC", MARCH),
        ("20260301T120000Z", MARCH),
        (" 20260301120000 ", MARCH),
        ("1772366400", MARCH),
        ("1772366400.25", MARCH),
        ("1772366400000", MARCH),
        ("2026-03-01", MARCH.replace(hour=0)),
        ("20260301", MARCH.replace(hour=0)),
        ("2026-03", MARCH.replace(hour=0)),
        ("1994-01-01", dt.datetime(1994, 1, 1, tzinfo=dt.UTC)),
        ("2100-01-01T00:30:00+01:00", dt.datetime(2099, 12, 31, 23, 30, tzinfo=dt.UTC)),
        *((text, None) for text in (
            "", " ", "garbage", "2026", "0001-01-01", "9999-12-31", "1970-01-01T00:00:00Z",
            "0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00", "2100-01-01", "1993-12-31",
            "2026-02-30", "20261301000000", "0", "-1", "1" * 5_000, "٢٠٢٦٠٣٠١", "12:00", "NaN",
        )),
    ],
)  # fmt: skip
def test_moments_in_text(text: str, moment: dt.datetime | None) -> None:
    assert _attribution.moments(pa.array([text])).to_pylist() == [moment]


_NAIVE = MARCH.replace(tzinfo=None)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        *(
            (pa.array([_NAIVE, dt.datetime(1970, 1, 1), None], pa.timestamp(unit)), [MARCH, None, None])
            for unit in ("s", "ms", "us", "ns")
        ),
        (pa.array([MARCH], pa.timestamp("us", "Asia/Tokyo")), [MARCH]),
        (pa.array([MARCH], pa.timestamp("us", "Nowhere/At-all")), [MARCH]),
        (pa.array([2**63 - 1, -(2**63), 2**62], pa.timestamp("s")), [None] * 3),
        (pa.array([2**63 - 1, -(2**63)], pa.timestamp("ns")), [None] * 2),
        (pa.array([dt.date(2026, 3, 1), dt.date(1, 1, 1), dt.date(9999, 12, 31)]),
         [MARCH.replace(hour=0), None, None]),
        (pa.array([dt.date(2026, 3, 1)], pa.date64()), [MARCH.replace(hour=0)]),
        (pa.array([1772366400, 1772366400000, 20260301120000, 7, -1, 2**63 - 1]),
         [MARCH, MARCH, MARCH, None, None, None]),
        (pa.array([2**64 - 1], pa.uint64()), [None]),
        (pa.array([1772366400.0, float("nan"), float("inf"), 1e300, None]), [MARCH] + [None] * 4),
        (pa.array([Decimal("20260301120000.00"), None]), [MARCH, None]),
        (pa.array(["2026-03-01T12:00:00Z", None, "x"]).dictionary_encode(), [MARCH, None, None]),
        (pa.array([b"2026-03-01T12:00:00Z", b"\xff"]), [MARCH, None]),
        (pa.array([True, None]), [None, None]),
        (pa.array([[1], None]), [None, None]),
        (pa.array([{"a": 1}]), [None]),
        (pa.array([3], pa.time32("s")), [None]),
        (pa.nulls(2), [None, None]),
    ],
)  # fmt: skip
def test_moments_in_columns(column: pa.Array, expected: list[dt.datetime | None]) -> None:
    assert _attribution.moments(column).to_pylist() == expected


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array(["a", " b ", "", " ", None, "x" * 300]), ["a", "b", None, None, None, "x" * 200]),
        (pa.array([2026, None]), ["2026", None]),
        (pa.array([2026.0, 2.5, float("nan"), None]), ["2026", "2.5", None, None]),
        (pa.array([Decimal("7.00")]), ["7"]),
        (pa.array([dt.date(2026, 3, 1)]), ["2026-03-01"]),
        (pa.array([b"\xffa"]), ["\ufffda"]),
        (pa.array(["a", None]).dictionary_encode(), ["a", None]),
        (pa.array([MARCH], pa.timestamp("us", "Nowhere/At-all")), [None]),
        (pa.array([[1], None]), [None, None]),
        (pa.nulls(1), [None]),
    ],
)
def test_names_of_crawls(column: pa.Array, expected: list[str | None]) -> None:
    assert _attribution.crawls(column).to_pylist() == expected


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://a.example/robots.txt", "https://a.example"),
        ("HTTP://User@A.example:80/x", "http://a.example"),
        (" https://a.example:8443/x ", "https://a.example:8443"),
        ("http://bücher.example/", "http://xn--bcher-kva.example"),
        ("https://[2001:DB8::1]/", "https://[2001:db8::1]"),
        ("http://localhost/", "http://localhost"),
        ("www.a.example", "http://www.a.example"),
        ("a.example:8080", "http://a.example:8080"),
        ("a.example/robots.txt?x", "http://a.example"),
        ("192.0.2.1", "http://192.0.2.1"),
        *((text, None) for text in (
            "", "null", "/robots.txt", "not a url", "http://", "http://[x/", "ftp://a.example/",
            "a b.example", "javascript:alert(1.0)", "http://a.example:99999/", "//a.example/",
            "https://" + "a" * 100_000 + ".example/", "a." * 100_000,
        )),
    ],
)  # fmt: skip
def test_origins_of_urls_and_hosts(text: str, origin: str | None) -> None:
    assert _attribution.origins(pa.array([text])).to_pylist() == [origin]


@pytest.mark.parametrize("column", [pa.array([1.5]), pa.array([{"a": 1}]), pa.nulls(1)])
def test_columns_that_are_not_text_have_no_origins(column: pa.Array) -> None:
    assert _attribution.origins(column).to_pylist() == [None]


def test_invalid_utf8_is_read(tmp_path: Path) -> None:
    """Arrow does not check the text of a Parquet file."""
    raw = pa.array([b"\xff\xfe", b"2026-03"])
    text = pa.Array.from_buffers(pa.string(), 2, [None, *raw.buffers()[1:]])
    found = report_on(tmp_path, {"crawl": text, "fetched": text, "url": text})
    assert found.crawls == ("2026-03", "\ufffd\ufffd")
    assert found.without_host == 2


def test_files_without_date_or_host_are_counted(tmp_path: Path) -> None:
    found = report_on(
        tmp_path,
        {
            "crawl": ["one", None, "", None, None],
            "fetched": ["garbage", "2026-03-01", None, "0001-01-01", "9999-12-31"],
            "url": ["https://a.example/", None, "?", "https://b.example", "https://b.example"],
        },
    )
    assert (found.files, found.undated, found.without_host) == (5, 3, 2)
    # Both files of b.example are undated: one site.
    assert sites(found) == {"undated": 2, "2026-03": 1, "one": 1}
    assert found.crawls[0] == "undated"
    assert found.dated == ("2026-03", "one")
    by_crawl = {each.crawl: each.without_host for each in found.shares}
    assert by_crawl == {"undated": 1, "2026-03": 1, "one": 0}


def test_output_begins_with_what_is_unknown(tmp_path: Path) -> None:
    report_on(tmp_path, {"fetched": [None, "2026-03-01", "2026-04-01"]})
    result = bulk(
        "report", tmp_path / "out", "-o", tmp_path / "r.html", "--csv", tmp_path / "n.csv"
    )
    assert result.output.splitlines()[:2] == [
        "1 of 3 files has no date and is reported as undated.",
        "3 of 3 files have no URL or host: each counts as a site of its own.",
    ]
    page = (tmp_path / "r.html").read_text("utf-8")
    body = page.partition("<h1>")[2].partition("<h2>")[0]
    for line in result.output.splitlines()[:2]:
        assert line in body
    assert "--crawl-column" not in result.output
    header, undated, *_ = (tmp_path / "n.csv").read_text("utf-8").splitlines()
    assert header.split(",")[6:8] == ['"sites"', '"without_file"']
    assert undated.startswith('"undated"')


def test_undated_table_suggests_the_options(tmp_path: Path) -> None:
    report_on(tmp_path, {"snapshot": ["a", "b"]})
    result = bulk("report", tmp_path / "out", "-o", tmp_path / "r.html")
    assert "Name other columns with --crawl-column or --time-column" in result.output


def bodies_and_shares(found: BlockingReport) -> list[tuple[int, int]]:
    return [(each.sites, each.blocked) for each in found.shares]


@pytest.mark.parametrize(
    ("columns", "closed"),
    [
        # The last fetched; without dates, the last of the table.
        ({"url": ["http://a.example"] * 2, "fetched": ["2026-03-02", "2026-03-01"]}, 1),
        ({"url": ["http://a.example"] * 2, "fetched": ["2026-03-01", "2026-03-02"]}, 0),
        ({"url": ["http://a.example/x", "http://a.example/y"]}, 0),
        ({"host": ["a.example", "www.A.example:80"], "fetched": [20260302, 20260301]}, 1),
        # https before http, then without www.
        ({"url": ["https://www.a.example", "http://a.example"]}, 1),
        ({"url": ["http://z.example", "http://www.z.example"]}, 1),
        # The host, before the URL.
        ({"url": ["https://cdn.example"] * 2, "host": ["b.example", "www.b.example"]}, 1),
    ],
)
def test_a_site_counts_once_in_a_crawl(
    tmp_path: Path, columns: dict[str, list[Any]], closed: int
) -> None:
    found = report_on(tmp_path, {"body": [BLOCKING, OPEN], "crawl": ["c", "c"]} | columns)
    assert bodies_and_shares(found) == [(1, closed)]
    assert (found.files, found.without_host) == (2, 0)


def test_row_without_a_file_is_no_site(tmp_path: Path) -> None:
    columns = {"body": [BLOCKING, None, None], "crawl": ["c"] * 3, "fetched": [None] * 3}
    hosts = {"host": ["a.example", "a.example", "b.example"]}
    found = report_on(tmp_path, columns | hosts)
    assert bodies_and_shares(found) == [(1, 1)]
    assert found.files == 1
    assert {each.outcome: each.sites for each in found.fetches} == {"ok": 1, "no file": 1}


def test_newest_crawl_without_files_is_not_in_the_chart(tmp_path: Path) -> None:
    found = report_on(tmp_path, {"body": [BLOCKING, OPEN, None], "crawl": ["a", "b", "c"]})
    assert found.crawls == ("a", "b", "c")
    assert found.dated == ("a", "b")
    assert "Of 1 site in a " not in as_page(Shares(found))
    assert "None of 1 site in b blocks" in as_page(Shares(found))


def test_sites_with_unreadable_hosts_are_not_merged(tmp_path: Path) -> None:
    found = report_on(tmp_path, {"crawl": ["c"] * 4, "host": ["null", "null", None, ""]})
    assert bodies_and_shares(found) == [(4, 4)]


def test_archives_and_tables_of_a_crawl_are_merged(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    fetches = [Fetch(f"https://{name}.example/robots.txt", OPEN.encode()) for name in "ab"]
    archives.write(folder / "a.warc.gz", fetches, "CC-MAIN-2026-45")
    columns = {"body": [BLOCKING] * 2, "crawl": ["CC-MAIN-2026-45"] * 2}
    table = pa.table(columns | {"host": ["www.b.example", "c.example"]})
    pq.write_table(table, folder / "t.parquet")
    runs.run(GPT, runs.find_inputs([str(folder)]), tmp_path / "out", 1)
    found = report(tmp_path / "out")
    assert found.crawls == ("CC-MAIN-2026-45",)
    # b.example is in both: the one by https counts.
    assert bodies_and_shares(found) == [(3, 1)]
    assert found.files == 4


@pytest.mark.parametrize(
    ("columns", "crawls"),
    [
        ({"crawl": [10, 9, 2]}, ("2", "9", "10")),
        ({"crawl": ["b", "a", "a"], "fetched": ["2026-01-01", "2026-02-01", None]}, ("b", "a")),
        # One of two has no dates: by name.
        ({"crawl": ["b", "a", "a"], "fetched": ["2026-01-01", None, None]}, ("a", "b")),
        # A wrong date does not move a crawl.
        (
            {"crawl": ["b", *"aaa"], "fetched": ["2026-01-01", "1994-01-01", *["2026-02-01"] * 2]},
            ("b", "a"),
        ),
        # The name of a crawl may be the label.
        ({"crawl": ["undated", "a", None]}, ("undated", "a")),
    ],
)
def test_order_of_crawls(
    tmp_path: Path, columns: dict[str, list[Any]], crawls: tuple[str, ...]
) -> None:
    assert report_on(tmp_path, columns).crawls == crawls


def test_too_many_crawls_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [str(number) for number in range(3_000)]
    with pytest.raises(
        UnreadableError, match=r"has 3,000 crawls, and a report shows at most 2,000;"
    ):
        report_on(tmp_path, {"crawl": names})
    monkeypatch.setattr(reports, "MAX_CRAWLS", 3)
    assert len(report_on(tmp_path / "b", {"crawl": names[:3]}).crawls) == 3


OTHER_NAMES = {"snapshot": ["a", "b"], "seen": ["2026-03-01", "2026-04-01"], "crawl": ["x", "x"]}


def test_columns_with_other_names(tmp_path: Path) -> None:
    named = Columns(crawl="snapshot")
    days = tuple(OTHER_NAMES["seen"])
    without_crawl = {"seen": days}
    assert report_on(tmp_path / "1", OTHER_NAMES, named).crawls == ("a", "b")
    by_time = report_on(tmp_path / "2", without_crawl, Columns(time="seen"))
    assert by_time.crawls == ("2026-03", "2026-04")
    # The report can name other columns than the run.
    assert report_on(tmp_path / "3", OTHER_NAMES, crawl_column="snapshot").crawls == ("a", "b")
    assert report_on(tmp_path / "4", OTHER_NAMES, named, crawl_column="seen").crawls == days
    assert report_on(tmp_path / "5", OTHER_NAMES).crawls == ("x",)


def test_options_name_columns(tmp_path: Path) -> None:
    days = enumerate(("2026-03-01", "2026-04-01"), 1)
    rows = [{"body": BLOCKING, "snapshot": number, "seen": day} for number, day in days]
    WRITERS["robots.jsonl"](tmp_path / "t.jsonl", rows)
    arguments = ["classify", tmp_path / "t.jsonl", "-a", "GPTBot", "-o", tmp_path / "out"]
    named = ["--crawl-column", "snapshot", "--time-column", "seen"]
    result = bulk(*arguments, *named)
    assert result.exit_code == 0, result.output
    assert report(tmp_path / "out").crawls == ("1", "2")
    # The same command resumes, another question is refused.
    assert "0 of them new" in bulk(*arguments, *named).output
    for other in ([], ["--crawl-column", "snapshot"]):
        result = bulk(*arguments, *other)
        assert result.exit_code == 2
        assert "has answers to another question" in " ".join(
            result.output.replace("│", " ").split()
        )
    page = tmp_path / "r.html"
    result = bulk("report", tmp_path / "out", "-o", page, "--crawl-column", "seen")
    assert "2026-03-01" in result.output


@pytest.mark.parametrize("option", ["--crawl-column", "--time-column"])
@pytest.mark.parametrize("name", WRITERS)
def test_missing_columns_are_errors(tmp_path: Path, option: str, name: str) -> None:
    path = tmp_path / name
    WRITERS[name](path, [{"body": BLOCKING, "x": "1"}])
    result = bulk("classify", path, "-a", "GPTBot", "-o", tmp_path / "out", option, "y")
    assert result.exit_code == 3
    assert "no column 'y' (columns: body, x)" in result.output
    result = bulk("classify", path, "-a", "GPTBot", "-o", tmp_path / "out", option, "body")
    assert "column 'body' has the robots.txt files" in result.output
    assert bulk("classify", path, "-a", "GPTBot", "-o", tmp_path / "out").exit_code == 0
    result = bulk("report", tmp_path / "out", "-o", tmp_path / "r.html", option, "y")
    assert result.exit_code == 3
    assert "out: no column 'y' (columns: x)" in result.output
    assert not (tmp_path / "r.html").exists()


def test_named_columns_of_nested_types_are_errors(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="time must be text, numbers or dates"):
        report_on(tmp_path, {"seen": [[1]]}, Columns(time="seen"))
    # Otherwise they are not used.
    found = report_on(tmp_path, {"crawl": [[1]], "fetched": [{"a": 1}], "url": [[]], "host": [5]})
    assert (found.undated, found.without_host) == (1, 1)


def test_columns_of_duckdb_and_of_parquet_are_kept_apart(tmp_path: Path) -> None:
    names = ("file_row_number", "filename", "shard", "row", "name", "url.x", "robots.x")
    found = report_on(tmp_path, {"crawl": ["a", "b"]} | {name: ["x", "y"] for name in names})
    assert sites(found) == {"a": 1, "b": 1}


def test_folder_with_the_characters_of_patterns(tmp_path: Path) -> None:
    """DuckDB reads ``crawl=x`` in a path as a column, and ``[1]`` as a pattern."""
    folder = tmp_path / "crawl=x[1]*"
    assert report_on(folder, {"crawl": ["a", "b"]}).crawls == ("a", "b")


def test_shards_of_earlier_versions_are_read_and_resumed(tmp_path: Path) -> None:
    report_on(tmp_path, {"crawl": ["a", "b"]})
    (shard,) = (tmp_path / "out").glob("*.parquet")
    table = pq.read_table(shard)
    metadata = json.loads(pq.read_metadata(shard).metadata[KEY])
    for name in ("crawl", "time"):
        del metadata["question"]["columns"][name]
    pq.write_table(table.replace_schema_metadata({KEY: json.dumps(metadata)}), shard)
    assert report(tmp_path / "out").crawls == ("a", "b")
    result = bulk("classify", tmp_path / "t.parquet", "-a", "GPTBot", "-o", tmp_path / "out")
    assert "0 of them new" in result.output


def test_empty_tables_have_no_crawls(tmp_path: Path) -> None:
    WRITERS["robots.csv"](tmp_path / "t.csv", [{"body": "", "crawl": ""}])
    (tmp_path / "t.csv").write_text("body,crawl\n")
    found = report_on_file(tmp_path / "t.csv", Columns(crawl="crawl"))
    assert (found.crawls, found.files, found.shares) == ((), 0, ())


def test_columns_of_the_csv_and_fields_of_the_report_are_documented(tmp_path: Path) -> None:
    paths = ("reference/columns.md", "guides/data/report.md")
    page = "".join((ROOT / "docs" / path).read_text("utf-8") for path in paths)
    header = as_csv(report_on(tmp_path, {"crawl": ["a"]})).splitlines()[0]
    names = [name.strip('"') for name in header.split(",")]
    assert [name for name in names if f"`{name}`" not in page] == []
    fields = [field.name for field in dataclasses.fields(BlockingReport)]
    assert [
        name for name in fields if f"\n        {name}: " not in (BlockingReport.__doc__ or "")
    ] == []


@on_linux
@pytest.mark.thorough
def test_report_does_not_hold_the_answers_in_memory(tmp_path: Path) -> None:
    """40,000 files and 200 agents are 8 million answers, which took 400 MB."""
    peaks = []
    for count in (1_000, 40_000):
        path = tmp_path / f"{count}.parquet"
        pq.write_table(pa.table({"body": [BLOCKING] * count, "crawl": ["c"] * count}), path)
        question = Question("classify", tuple(f"Crawler{number}" for number in range(200)))
        runs.run(question, runs.find_inputs([str(path)]), tmp_path / f"{count}.out", 1)
        folder = str(path.with_suffix(".out"))
        script = f"from koster.bulk.report import report; report({folder!r})"
        peaks.append(peak_memory(script))
    assert peaks[1] - peaks[0] < 200_000_000


def test_share_names_its_fields(tmp_path: Path) -> None:
    found = report_on(tmp_path, {"crawl": ["a"], "url": ["https://a.example/"]})
    assert found.shares == (
        Share(
            crawl="a", month="", agent="GPTBot", operator="OpenAI", purpose="training",
            by_name=False, sites=1, without_file=0, not_read=0, not_fetched=0, without_host=0,
            named=1, blocked=1, blocked_by_name=1, partly=0, partly_by_name=0, unknown=0,
        ),
    )  # fmt: skip


ANSWER = {"agent": "GPTBot", "written": True, "effective": "all", "line": 2}
OTHER = {"agent": "GPTBot", "written": False, "effective": "none", "line": None}


def write_like_spark(folder: Path, partition: str, rows: list[dict[str, Any]]) -> None:
    """Write answers as ``robots.classify(robots.archives(…)).drop("body")`` does, in a partition."""
    fields = [field for field in ARCHIVED if field.name != "crawl"]
    schema = pa.schema([*fields, pa.field("error", pa.string()),
                        pa.field("robots", pa.list_(CLASSIFIED))])  # fmt: skip
    (folder / partition).mkdir(parents=True)
    table = pa.Table.from_pylist(rows, schema=schema)
    pq.write_table(table, folder / partition / "part-0.snappy.parquet")


def fetched(host: str, answer: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "url": f"https://{host}/robots.txt", "origin": f"https://{host}", "fetched": MARCH,
        "class": "unavailable" if answer is None else "ok",
        "robots": None if answer is None else [answer],
    }  # fmt: skip


def test_answers_of_spark_in_partitions(tmp_path: Path) -> None:
    write_like_spark(tmp_path, "crawl=2026-01", [fetched("a.com", ANSWER), fetched("b.com", OTHER)])
    write_like_spark(
        tmp_path,
        "crawl=2026-02",
        [fetched("a.com", ANSWER), fetched("c.com", None), {"error": "at byte 5: broken"}],
    )
    (tmp_path / "_SUCCESS").touch()
    found = report(tmp_path)
    assert [(each.crawl, each.sites, each.blocked, each.without_file) for each in found.shares] == [
        ("2026-01", 2, 1, 0), ("2026-02", 1, 1, 1),
    ]  # fmt: skip
    assert (found.files, found.inputs, found.bad, found.dialect) == (3, 2, 1, "")


def test_folder_of_other_parquet_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"robots": ["x"]}), tmp_path / "t.parquet")
    with pytest.raises(UnreadableError, match="has no column robots with the answers of koster"):
        report(tmp_path)


@pytest.mark.parametrize(
    "text",
    ["1,a.com\n2,b.com\n3,gone.com\n", "a.com\nwww.b.com\nGONE.com\n", "rank,domain\n1,a.com\n2,b.com\n3,gone.com"],
)  # fmt: skip
def test_a_list_of_sites_is_a_panel(tmp_path: Path, text: str) -> None:
    hosts = ["a.com", "www.b.com", "c.com"]
    report_on(tmp_path / "in", {"host": hosts, "crawl": ["x"] * 3})
    (tmp_path / "panel.csv").write_text(text)
    (share,) = report(tmp_path / "in" / "out", sites=str(tmp_path / "panel.csv")).shares
    assert (share.sites, share.not_fetched) == (2, 1)
    result = bulk(
        "report", tmp_path / "in" / "out", "-o", tmp_path / "r.html", "--sites",
        tmp_path / "panel.csv",
    )  # fmt: skip
    assert result.output.startswith("1 of 3 sites of the list is not in x.\n")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "names no site"),
        (b"rank,domain\n", "names no site"),
        (b"a.com\nnot a site\n", "line 2 names no site: 'not a site'"),
        (b"\xff\xfe\x00a", "is not a list of sites"),
    ],
)
def test_invalid_lists_of_sites(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "panel.csv").write_bytes(content)
    with pytest.raises(UnreadableError, match=message):
        read_panel(str(tmp_path / "panel.csv"))

"""koster.bulk.spark agrees with the kernel, in a real local session of two workers.

``make test-spark`` runs these tests; pyspark is half a gigabyte, and needs Java 17.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import koster
from koster.bulk import kernel, runs
from koster.bulk import spark as robots
from tests.helpers import archives, signal_cases
from tests.helpers.columns import AGENTS, BODIES
from tests.helpers.support import ROOT

URLS = ["/private", "/private/x", "https://e.com/", "/robots.txt"]
ROWS = 2_000


@pytest.fixture(scope="module")
def table() -> pa.Table:
    bodies = [BODIES[number % len(BODIES)] for number in range(ROWS)]
    return pa.table({
        "id": pa.array(range(ROWS), pa.int64()),
        "text": pa.array(bodies, pa.string()),
        "body": pa.array([each and each.encode() for each in bodies], pa.binary()),
        "url": [URLS[number % len(URLS)] for number in range(ROWS)],
        "agent": [AGENTS[number % 3] for number in range(ROWS)],
    })  # fmt: skip


@pytest.fixture(scope="module")
def frame(session: Any, table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("spark") / "robots.parquet"
    pq.write_table(table, path, row_group_size=300)
    return session.read.parquet(str(path)).repartition(4)


def collect_column(frame: Any, column: str) -> list[Any]:
    rows = frame.select("id", column).orderBy("id").collect()
    return [row.asDict(recursive=True)[column] for row in rows]


@pytest.mark.parametrize("body", ["text", "body"])
def test_spark_agrees_with_the_kernel(frame: Any, table: pa.Table, body: str) -> None:
    classified = robots.classify(frame, AGENTS, body=body)
    assert classified.columns == [*frame.columns, "robots"]
    assert collect_column(classified, "robots") == kernel.classify(table[body], AGENTS).to_pylist()
    decisions = robots.decide(frame, body=body)
    expected = kernel.decide(table[body], table["url"], table["agent"]).to_pylist()
    assert collect_column(decisions, "decision") == expected
    facts = collect_column(robots.facts(frame, body=body), "facts")
    assert facts == kernel.facts(table[body]).to_pylist()


def test_decide_with_one_agent_for_all_rows(frame: Any, table: pa.Table) -> None:
    decisions = robots.decide(frame, koster.GOOGLE, agent="GPTBot", result="answer")
    expected = kernel.decide(table["body"], table["url"], "GPTBot", koster.GOOGLE)
    assert collect_column(decisions, "answer") == expected.to_pylist()


def test_spark_agrees_with_signals(session: Any, tmp_path: Path) -> None:
    pq.write_table(signal_cases.table(), tmp_path / "cases.parquet")
    cases = session.read.parquet(str(tmp_path / "cases.parquet")).repartition(2)
    found = robots.signals(cases, headers="headers", html="html", fetched="fetched")
    assert found.columns == [*cases.columns, "signals"]
    answers = signal_cases.sorted_names(collect_column(found, "signals"))
    assert answers == signal_cases.sorted_names([*signal_cases.expected()])
    # Maps, and without pages.
    of_maps = cases.selectExpr("id", "body", "url", "map('x-robots-tag', 'noai') AS h")
    for answer in collect_column(robots.signals(of_maps, headers="h"), "signals"):
        assert "noai" in answer[4]["grammars"]
    assert robots.signals(cases, result="said").columns[-1] == "said"
    with pytest.raises(TypeError, match="no column 'page'"):
        robots.signals(cases, html="page")
    with pytest.raises(TypeError, match="fetched must be a column of text or bytes"):
        robots.signals(cases, html="fetched")


def test_invalid_columns_raise_before_the_job_runs(frame: Any) -> None:
    with pytest.raises(TypeError, match=r"no column 'robots_txt' \(columns: id, text"):
        robots.classify(frame, ["x"], body="robots_txt")
    with pytest.raises(TypeError, match="id must be a column of text or bytes, not of bigint"):
        robots.facts(frame, body="id")
    with pytest.raises(TypeError, match="already has a column 'url'"):
        robots.facts(frame, result="url")


def test_the_command_writes_the_same_table(session: Any, table: pa.Table, tmp_path: Path) -> None:
    input_file, out = tmp_path / "robots.parquet", tmp_path / "out"
    pq.write_table(table.drop_columns(["text"]), input_file)
    command = [sys.executable, "-m", "koster", "bulk", "classify", str(input_file), "-o", str(out)]
    for agent in AGENTS:
        command += ["--agent", agent]
    subprocess.run(command, check=True)
    written_frame = session.read.parquet(str(out))
    classified = robots.classify(session.read.parquet(str(input_file)), AGENTS)
    assert collect_column(written_frame, "robots") == collect_column(classified, "robots")


def test_workers_read_archives(session: Any, tmp_path: Path) -> None:
    """The rows equal those that the command writes; unreadable archives have rows with an error."""
    for number in range(3):
        archives.write(tmp_path / "in" / f"{number}.warc.gz", archives.sites(40, 40 * number))
    broken = tmp_path / "in" / "3.warc.gz"
    broken.write_bytes(archives.archive(archives.sites(4, 900))[0][:-20])
    paths = [*map(str, sorted((tmp_path / "in").iterdir())), str(tmp_path / "gone.warc.gz")]
    frame = session.createDataFrame([(path,) for path in paths], "path string").repartition(3)
    archive_rows = robots.archives(frame)
    errors = [row.error for row in archive_rows.where("error is not null").collect()]
    assert len(errors) == 2
    assert any("No such file" in each for each in errors)
    rows = robots.classify(archive_rows.where("error is null"), ["GPTBot", "x"])
    out = tmp_path / "out"
    question = runs.Question("classify", ("GPTBot", "x"))
    runs.run(question, runs.find_inputs([str(tmp_path / "in")]), out, 1)
    columns = [
        "url",
        "status",
        "class",
        "location",
        "whole",
        "body_bytes",
        "archive_offset",
        "archive",
        "robots",
    ]

    def sorted_rows(frame: Any) -> list[Any]:
        return [row.asDict(True) for row in frame.select(*columns).orderBy("url").collect()]

    assert sorted_rows(rows) == sorted_rows(session.read.parquet(str(out)))


def test_the_example_job_runs(table: pa.Table, tmp_path: Path) -> None:
    input_file, out = tmp_path / "robots.parquet", tmp_path / "out.parquet"
    pq.write_table(table, input_file)
    job = ROOT / "examples" / "spark_job.py"
    submit = Path(sys.executable).parent / "spark-submit"
    options = ["--master", "local[2]"]
    for setting in ("spark.ui.enabled=false", "spark.sql.shuffle.partitions=2"):
        options += ["--conf", setting]
    command = [submit, *options, job, input_file, out, "GPTBot", "CCBot"]
    process = subprocess.run(
        command, check=False, capture_output=True, text=True,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
    )  # fmt: skip
    assert process.returncode == 0, process.stderr[-2000:]
    rows = pq.read_table(out).sort_by("agent").to_pylist()
    expected = kernel.classify(table["body"], ["CCBot", "GPTBot"]).to_pylist()
    counts = [sum(each[n]["effective"] == "all" for each in expected if each) for n in (0, 1)]
    assert [(row["agent"], row["blocked"]) for row in rows] == [
        ("CCBot", counts[0]),
        ("GPTBot", counts[1]),
    ]

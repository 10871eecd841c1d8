"""Unusual, broken and large inputs of koster bulk."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from koster.bulk import (
    _archives,
    _inputs,
    _json_lines,
    _parquet,
    _reading,
    runs,
)
from koster.bulk._batches import BadRecords
from koster.bulk._parquet import BYTES
from koster.bulk.report import report
from koster.bulk.runs import Columns, Question
from koster.errors import UnreadableError
from tests.helpers import archives
from tests.helpers.archives import Fetch
from tests.helpers.bulk_runs import GPT, WRITERS, bulk, contents, rows, run_answers
from tests.helpers.columns import ONE


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_tables_with_odd_columns(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"robots.{kind}"
    if kind == "parquet":
        column = pa.array([ONE])
        pq.write_table(pa.Table.from_arrays([column] * 3, names=["body", "n", "n"]), path)
    else:
        path.write_text('{"\\ud800": 1, "body": "x", "\\ud801": 2}\n{"body": "\\ud800"}\n')
    result = runs.run(Question("facts"), runs.find_inputs([str(path)]), tmp_path / "out", 1)
    if kind == "parquet":
        assert "two columns have the same name" in str(result.failed[0].why)
    else:
        assert result.rows == 2


def test_input_without_valid_records_has_a_shard(tmp_path: Path) -> None:
    path = tmp_path / "robots.jsonl"
    path.write_text('{"body": 5, "k": 1}\n')
    result = runs.run(GPT, runs.find_inputs([str(path)]), tmp_path / "out", 1)
    assert (result.rows, result.bad, result.failed) == (0, 1, ())
    header = tmp_path / "header.csv"
    header.write_text("body,k")
    assert not runs.run(GPT, runs.find_inputs([str(header)]), tmp_path / "out2", 1).failed


def test_agents_and_urls_with_invalid_unicode(tmp_path: Path, table: Path) -> None:
    result = bulk("classify", table, "-a", "\udcff", "-o", tmp_path / "a")
    assert result.exit_code == 0, result.output
    result = bulk("decide", table, "--url", "/\udcff", "-a", "\udcff", "-o", tmp_path / "b")
    assert result.exit_code == 0, result.output


def test_small_file_of_large_texts_is_read_in_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With dictionary encoding, a small file can decode to gigabytes."""
    monkeypatch.setattr(_parquet, "BYTES", 1_000_000)
    path = tmp_path / "robots.parquet"
    row_count = 500
    pq.write_table(pa.table({"body": [ONE] * row_count, "k": ["#" * 100_000] * row_count}), path)
    (input_,) = _inputs.find([str(path)])
    assert input_.size < 50_000
    batches = list(_reading.batches(input_, Columns(), BadRecords()))
    assert max(len(each.bodies) for each in batches) <= 10
    assert sum(len(each.bodies) for each in batches) == row_count
    assert {str(each.passthrough.schema.field("k").type) for each in batches} == {"string"}


def test_utf16_is_decoded_and_reported(tmp_path: Path) -> None:
    """``facts`` and ``classify`` see the same groups."""
    body = "User-agent: GPTBot\nDisallow: /\n".encode("utf-16")
    path = archives.write(tmp_path / "a.warc.gz", [Fetch("http://e.com/robots.txt", body)])
    (facts_row,) = run_answers(Question("facts"), path)
    assert facts_row["facts"]["agents"][0]["name"] == "GPTBot"
    assert (facts_row["facts"]["bytes"], facts_row["facts"]["unknown"]) == (len(body), [])
    assert "wide-encoding" in facts_row["facts"]["findings"]
    (row,) = run_answers(GPT, path)
    assert row["robots"][0]["written"]


@pytest.mark.thorough
def test_csv_row_over_the_limit_is_an_error(tmp_path: Path) -> None:
    """The command exits too: Arrow's read-ahead thread must not block it."""
    path = tmp_path / "robots.csv.gz"
    parts = [b'body\n"', *[b"#" * 1_000_000] * 200, b'"\n']
    # Members that repeat are compressed once.
    members = {part: gzip.compress(part) for part in set(parts)}
    path.write_bytes(b"".join(members[part] for part in parts))
    options = ["-a", "FooBot", "-o", str(tmp_path / "out"), "-j", "1"]
    process = subprocess.run(
        [sys.executable, "-m", "koster", "bulk", "classify", str(path), *options],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert process.returncode == 3
    assert process.stderr == f"koster: {path}: a row has more than 67,108,864 bytes\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_named_pipes_are_not_inputs(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.warc")
    archives.write(tmp_path / "a.warc.gz", archives.sites(3))
    assert len(runs.find_inputs([str(tmp_path)])) == 1
    with pytest.raises(UnreadableError, match="is not a regular file"):
        runs.find_inputs([str(tmp_path / "pipe.warc")])


@pytest.mark.skipif(sys.platform == "darwin", reason="file names are UTF-8 on macOS")
def test_file_names_that_are_not_utf8(tmp_path: Path) -> None:
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe\n")
    os.mkdir(folder)
    for name, write in WRITERS.items():
        write(Path(folder) / name, [{"body": ONE}])
    archives.write(Path(folder) / "a.warc.gz", archives.sites(3))
    result = bulk("classify", folder, "-a", "GPTBot", "-o", f"{folder}/out", "-j", 1)
    assert result.exit_code == 0, result.output
    assert "\n\\xff" not in result.output
    assert len(contents(Path(folder) / "out")) == 7


@pytest.mark.parametrize(
    "raw_bytes",
    [
        b"body\n\0\0\n", b"\0\0\0", b'"' + b"x" * 200_000, b"body,body\nx,y\n", b'body\n"x',
        b"body\r" * 3, b"\xef\xbb\xbfbody\nx\n", b"a,b,c\n", b"\n\n\n",
    ],
)  # fmt: skip
def test_odd_csv_is_read_or_an_error(tmp_path: Path, raw_bytes: bytes) -> None:
    path = tmp_path / "robots.csv"
    path.write_bytes(raw_bytes)
    result = runs.run(Question("facts"), runs.find_inputs([str(path)]), tmp_path / "out", 1)
    for each in result.failed:
        assert str(each.why).startswith(f"{path}: ")


def test_empty_input_has_a_shard(tmp_path: Path) -> None:
    path = tmp_path / "empty.warc.gz"
    path.write_bytes(b"")
    assert run_answers(GPT, path) == []


def test_json_line_over_the_limit_is_one_bad_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _json_lines._MAX_LINE == 128 << 20
    monkeypatch.setattr(_json_lines, "_MAX_LINE", 3_000_000)
    path = tmp_path / "robots.jsonl"
    long = json.dumps({"body": "#" * 9_000_000})
    path.write_text(f"{json.dumps({'body': ONE})}\n{long}\n{json.dumps({'body': ONE})}\n{long}")
    bad = BadRecords()
    (input_,) = _inputs.find([str(path)])
    sizes = [len(each.bodies) for each in _reading.batches(input_, Columns(), bad)]
    assert sum(sizes) == 2
    assert bad.listed == [f"line {n}: longer than 3,000,000 bytes" for n in (2, 4)]


def test_batches_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (_archives, _json_lines):
        monkeypatch.setattr(module, "BYTES", 10_000)
    monkeypatch.setattr(_parquet, "BYTES", 10_000)
    body = ONE + "#" * 3_000
    records = [{"body": f"{body}{n}"} for n in range(60)]
    for name, write in WRITERS.items():
        path = tmp_path / name
        write(path, records)
        (input_,) = _inputs.find([str(path)])
        batches = list(_reading.batches(input_, Columns(), BadRecords()))
        assert sum(len(each.bodies) for each in batches) == 60
        if path.suffix not in (".csv", ".tsv"):
            assert max(len(each.bodies) for each in batches) <= 5
    warc = archives.write(tmp_path / "a.warc", [Fetch("http://e.com/r", body.encode())] * 60)
    (input_,) = _inputs.find([str(warc)])
    batches = list(_reading.batches(input_, Columns(), BadRecords()))
    assert max(len(each.bodies) for each in batches) <= 5


def test_csv_row_longer_than_a_batch(tmp_path: Path) -> None:
    path = tmp_path / "robots.csv"
    with io.StringIO(newline="") as text:
        writer = csv.writer(text)
        writer.writerows([["body"], [ONE + "#" * (BYTES + 10)], [ONE]])
        path.write_text(text.getvalue())
    result = bulk("classify", path, "-a", "GPTBot", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert len(rows(tmp_path / "out")) == 2


def test_folders_name_columns(tmp_path: Path) -> None:
    """Partitions as Hive and Spark write them; a column of the file comes first."""
    table = pa.table({"body": [b"User-agent: *\nDisallow: /"], "site": ["of the file"]})
    for partition in (
        "crawl=2026-01/site=x",
        "crawl=a%2Fb/site=y",
        "crawl=__HIVE_DEFAULT_PARTITION__",
    ):
        folder = tmp_path / "in" / partition
        folder.mkdir(parents=True)
        pq.write_table(table, folder / "part.parquet")
    inputs = runs.find_inputs([str(tmp_path / "in")])
    columns = runs.Columns(crawl="crawl")
    done = runs.run(Question("classify", ("GPTBot",), columns=columns), inputs, tmp_path / "out", 1)
    assert not done.failed, done.failed
    found = pa.dataset.dataset(tmp_path / "out").to_table().to_pylist()
    assert {each["crawl"] for each in found} == {"2026-01", "a/b", None}
    assert {each["site"] for each in found} == {"of the file"}
    assert {each["input"] for each in found} == {each.path for each in inputs}
    crawls = {each.crawl: each.sites for each in report(tmp_path / "out").shares}
    assert crawls == {"2026-01": 1, "a/b": 1, "undated": 1}


@pytest.mark.parametrize(("given", "delimiter"), [(";", ";"), ("tab", "\t"), ("|", "|")])
def test_delimiter_of_csv(tmp_path: Path, given: str, delimiter: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f'host{delimiter}body\na.example{delimiter}"User-agent: *\nDisallow: /"\n')
    result = bulk("classify", path, "-a", "GPTBot", "--delimiter", given, "-o", tmp_path / "o")
    assert result.exit_code == 0, result.output
    (row,) = pa.dataset.dataset(tmp_path / "o").to_table().to_pylist()
    assert (row["host"], row["robots"][0]["effective"]) == ("a.example", "all")


@pytest.mark.parametrize("given", ["", "ab", '"', "a", "\n"])
def test_invalid_delimiters(tmp_path: Path, given: str) -> None:
    result = bulk("facts", tmp_path, "--delimiter", given, "-o", tmp_path / "o")
    assert result.exit_code == 2
    assert "is not one character" in result.output

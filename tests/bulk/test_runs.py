"""Bulk runs over many inputs: classify, decide and facts."""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import koster
import koster.bulk.polars
from koster.bulk import (
    _answering,
    _shards,
    _writer,
    kernel,
    runs,
)
from koster.bulk._batches import BadRecords
from koster.bulk.duckdb import register
from koster.bulk.runs import Columns, Question
from koster.errors import UnreadableError
from tests.helpers import archives
from tests.helpers.archives import Fetch
from tests.helpers.bulk_runs import (
    GPT,
    WRITERS,
    as_jsonl,
    as_parquet,
    bulk,
    contents,
    rows,
    run_answers,
)
from tests.helpers.columns import AGENTS, ONE, OTHER, cell, decision
from tests.helpers.support import bodies


def test_all_engines_and_the_command_give_the_same_table(table: Path, tmp_path: Path) -> None:
    source = pq.read_table(table)
    agents = list(AGENTS)
    result = bulk("classify", table, "-o", tmp_path / "out", *[f"-a{name}" for name in agents])
    assert result.exit_code == 0, result.output
    command_table = pyarrow.dataset.dataset(tmp_path / "out").to_table().sort_by("id")
    assert command_table.column_names == ["id", "url", "agent", "input", "robots"]
    with duckdb.connect() as con:
        register(con)
        query = f"SELECT id, robots_classify(body, {agents}) AS robots FROM '{table}' ORDER BY id"
        duckdb_table = con.sql(query).to_arrow_table()
    bodies: Any = pl.col("body")
    frame = pl.scan_parquet(table).select("id", robots=bodies.robots.classify(agents)).sort("id")
    expected = kernel.classify(source["body"], agents).to_pylist()
    assert command_table["robots"].to_pylist() == expected
    assert duckdb_table["robots"].to_pylist() == expected
    assert frame.collect()["robots"].to_arrow().to_pylist() == expected


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("compressed", [False, True])
def test_all_table_formats(tmp_path: Path, name: str, compressed: bool) -> None:
    records = [
        {"url": f"https://e.com/{n}", "text": f'{ONE}# "{n}", é\r\n', "note": "ü"}
        for n in range(50)
    ]
    path = tmp_path / name
    WRITERS[name](path, records)
    if compressed and name != "robots.parquet":
        path = path.rename(tmp_path / f"{name}.gz")
        path.write_bytes(gzip.compress(path.read_bytes()))
    results = run_answers(Question("decide", ("GPTBot",), columns=Columns(url="url")), path)
    assert [each["url"] for each in results] == [each["url"] for each in records]
    assert [each["note"] for each in results] == ["ü"] * 50
    assert "text" not in results[0]
    assert [each["decision"] for each in results] == [
        decision(each["text"], each["url"], "GPTBot") for each in records
    ]
    assert {each["asked_agent"] for each in results} == {"GPTBot"}


def test_bodies_can_be_bytes_or_null(tmp_path: Path) -> None:
    records = [{"body": "User-agent: *\nDisallow: /\udcff"}, {"body": None}, {"other": "x"}]
    path = tmp_path / "robots.jsonl"
    as_jsonl(path, records)
    results = run_answers(GPT, path)
    assert [each["robots"] and each["robots"][0]["effective"] for each in results] == [
        "some", None, None,
    ]  # fmt: skip
    latin = tmp_path / "latin.csv"
    latin.write_bytes(b'body,\xe9\n"User-agent: *\nDisallow: /\xff",\xe9\n')
    (row,) = run_answers(Question("facts"), latin)
    assert row["facts"]["findings"] == ["not-utf-8"]


def test_archives(tmp_path: Path) -> None:
    path = archives.write(tmp_path / "robots.warc.gz", archives.sites(40))
    results = run_answers(Question("classify", ("GPTBot", "x")), path)
    assert len(results) == 40
    for fetch, row in zip(archives.sites(40), results, strict=True):
        assert row["url"] == fetch.url
        assert row["archive"] == "robots.warc.gz"
        assert row["crawl"] == "CC-MAIN-2026-45"
        if row["class"] == "ok":
            assert row["robots"] == [cell(fetch.body, "GPTBot"), cell(fetch.body, "x")]
        else:
            assert row["robots"] is None
    assert {row["class"] for row in results} == {"ok", "redirect", "unavailable", "unreachable"}


def test_archive_bodies_are_decoded_as_crawlers_do(tmp_path: Path) -> None:
    """The charset is used, and only the first 500 KiB are read."""
    text = "User-agent: *\nDisallow: /café"
    latin = {"Content-Type": "text/plain; charset=ISO-8859-1"}
    long = b"User-agent: *\nDisallow: /a\n" + b"#\n" * 256_000 + b"Disallow: /\n"
    path = archives.write(
        tmp_path / "robots.warc.gz",
        [
            Fetch("http://a.com/robots.txt", text.encode("latin-1"), headers=latin),
            Fetch("http://b.com/robots.txt", text.encode("utf-16")),
            Fetch("http://c.com/robots.txt", long),
        ],
    )
    question = Question("decide", ("x",), ("/caf%C3%A9", "/"))
    results = run_answers(question, path)
    verdicts = {(row["origin"][7], row["asked_url"]): row["decision"]["allowed"] for row in results}
    assert verdicts == {
        ("a", "/caf%C3%A9"): False, ("a", "/"): True,
        ("b", "/caf%C3%A9"): False, ("b", "/"): True,
        ("c", "/caf%C3%A9"): True, ("c", "/"): True,
    }  # fmt: skip
    facts = {row["origin"][7]: row["facts"] for row in run_answers(Question("facts"), path)}
    assert facts["c"]["findings"] == ["too-large"]
    assert facts["c"]["bytes"] == len(long)
    assert "wide-encoding" in facts["b"]["findings"]


def test_archive_decisions_depend_on_the_fetch_class(tmp_path: Path) -> None:
    path = archives.write(tmp_path / "robots.warc.gz", archives.sites(10))
    results = run_answers(Question("decide", ("GPTBot", "x"), ("/",)), path)
    by_class: dict[str, Any] = {}
    for row in results:
        by_class.setdefault(row["class"], set()).add(
            row["decision"] and (row["decision"]["allowed"], row["decision"]["reason"])
        )
    assert by_class["unavailable"] == {(True, "unavailable")}
    assert by_class["unreachable"] == {(False, "unreachable")}
    assert by_class["redirect"] == {None}
    assert len(results) == 20
    assert [row["asked_agent"] for row in results[:1] + results[-1:]] == ["GPTBot", "x"]


@pytest.mark.usefixtures("conformance_data")
def test_corpus_agrees_with_the_library(tmp_path: Path) -> None:
    files = bodies("modern-verdicts.tsv.gz")
    path = archives.write(
        tmp_path / "robots.warc.gz",
        [Fetch(f"http://{site.lower()}.test/robots.txt", body) for site, body in files.items()],
    )
    results = run_answers(Question("classify", AGENTS), path)
    for body, row in zip(files.values(), results, strict=True):
        assert row["robots"] == [cell(body[: 500 * 1024], agent) for agent in AGENTS]


def test_bad_records_are_counted_and_listed(tmp_path: Path) -> None:
    path = tmp_path / "robots.jsonl"
    good = json.dumps({"body": ONE})
    path.write_text(f'{good}\nno json\n[1]\n{{"body": 5}}\n\n{good}\n{{"a": {"[" * 100_000}')
    result = bulk("classify", path, "-a", "GPTBot", "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "line 2: invalid JSON" in result.output
    assert "line 3: not a JSON object" in result.output
    assert "1 more record that could not be read" in result.output
    assert "4 records could not be read" in result.output
    assert len(rows(tmp_path / "out")) == 2
    # They are listed again when no input is left to process.
    again = bulk("classify", path, "-a", "GPTBot", "-o", tmp_path / "out")
    assert again.exit_code == 1
    assert "line 2: invalid JSON" in again.output


def test_bad_csv_rows_are_counted_and_listed(tmp_path: Path) -> None:
    path = tmp_path / "robots.csv"
    path.write_text(f'url,body\na,"{ONE}"\nalone\na,b,c\nb,"{OTHER}"\n')
    result = bulk("classify", path, "-a", "GPTBot", "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "row 3: has 1 of 2 columns" in result.output
    assert [row["url"] for row in rows(tmp_path / "out")] == ["a", "b"]


def test_csv_row_that_cannot_be_skipped_is_an_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "robots.csv"
    path.write_bytes(f'url,body\na,"{ONE}"\n'.encode() + b"a,b,\xff\n")
    result = bulk("classify", path, "-a", "GPTBot", "-o", tmp_path / "out")
    assert result.exit_code == 3
    error = "cannot be read to its end: row 3 has too many or too few columns, and is not UTF-8"
    assert f"robots.csv: {error}" in " ".join(result.output.split())
    assert "Traceback" not in capfd.readouterr().err


def test_truncated_archive_records_are_counted_and_listed(tmp_path: Path) -> None:
    data, offsets = archives.archive(archives.sites(6))
    path = tmp_path / "robots.warc.gz"
    path.write_bytes(data[: offsets[3] + 30])
    result = bulk("facts", path, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert f"at byte {offsets[3]}: the record is truncated" in result.output
    assert len(rows(tmp_path / "out")) == 2


def test_unreadable_inputs_are_errors_and_others_are_processed(tmp_path: Path) -> None:
    archives.write(tmp_path / "in" / "good.warc.gz", archives.sites(5))
    (tmp_path / "in" / "bad.warc.gz").write_bytes(b"no archive")
    (tmp_path / "in" / "bad.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "in" / "bad.csv.gz").write_bytes(b"no gzip")
    (tmp_path / "in" / "empty.csv").write_bytes(b"")
    as_parquet(tmp_path / "in" / "none.parquet", [{"x": 1}])
    as_parquet(tmp_path / "in" / "wrong.parquet", [{"body": 1}])
    (tmp_path / "in" / "readme.md").write_text("no input")
    result = bulk("classify", tmp_path / "in", "-a", "GPTBot", "-o", tmp_path / "out", "-j", 1)
    assert result.exit_code == 3
    errors = [line for line in result.output.splitlines() if line.startswith("koster: ")]
    assert len(errors) == 6
    output = result.output
    assert "bad.warc.gz: is not a WARC file" in output
    assert "none.parquet: no column named body, text, content" in output
    assert "(columns: x)" in output
    assert "column 'body' has type int64; body must be text or bytes" in output
    assert "empty.csv: is empty; the first line must name the columns" in output
    assert "no answers from 6 inputs" in output
    assert len(rows(tmp_path / "out")) == 5
    assert [path.suffix for path in (tmp_path / "out").glob("[!.]*")] == [".parquet"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["classify", "{table}", "-o", "{out}"], 2, "no agents given"),
        (["classify", "{table}", "-a", "@nobody", "-o", "{out}"], 2, "unknown purpose"),
        (["classify", "{table}", "--agents", "gone.txt", "-o", "{out}"], 3, "gone.txt: No such"),
        (["classify", "gone.parquet", "-a", "x", "-o", "{out}"], 3, "gone.parquet: No such file"),
        (["classify", "{table}.md", "-a", "x", "-o", "{out}"], 3, "unsupported file name"),
        (["classify", "{folder}", "-a", "x", "-o", "{out}"], 3, "has no WARC, Parquet, JSON lines"),
        (["classify", "{table}", "-a", "x", "-o", "{table}"], 2, "is a file"),
        (["classify", "{table}", "-a", "x", "-o", "{table}/out"], 3, "Not a directory"),
        (
            ["classify", "{table}", "-a", "x", "-o", "{other}"],
            2,
            "contains notes.txt, which is not a",
        ),
        (["classify", "{table}", "-a", "x", "--body", "no", "-o", "{out}"], 3, "no column 'no'"),
        (["decide", "{table}", "--url-column", "u", "-a", "x", "-o", "{out}"], 3, "no column 'u'"),
        (["decide", "{table}", "--url-column", "id", "-o", "{out}"], 3, "url must be text"),
        (
            ["decide", "{table}", "--url", "/", "--url-column", "u", "-o", "{out}"],
            2,
            "cannot be used together",
        ),
        (["decide", "{warc}", "-a", "x", "-o", "{out}"], 2, "no URLs given"),
        (["decide", "{warc}", "--url", "/", "-o", "{out}"], 2, "no agents given"),
    ],
)
def test_usage_errors(
    table: Path, tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    (tmp_path / "robots.parquet.md").write_text("")
    for name in ("empty", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    warc = archives.write(tmp_path / "warc" / "a.warc.gz", archives.sites(2))
    paths = {
        "table": table, "out": tmp_path / "out", "folder": tmp_path / "empty",
        "other": tmp_path / "other", "warc": warc,
    }  # fmt: skip
    result = bulk(*[each.format(**paths) for each in arguments])
    assert (result.exit_code, result.output) == (code, result.output)
    assert message in " ".join(result.output.replace("│", " ").split())
    assert not list((tmp_path / "out").glob("*.parquet"))


def test_agents_from_a_file_and_from_the_registry(table: Path, tmp_path: Path) -> None:
    names = tmp_path / "agents.txt"
    names.write_text("# mine\nGPTBot\n\nFooBot\nGPTBot\n")
    assert bulk("classify", table, "--agents", names, "-o", tmp_path / "a").exit_code == 0
    assert [each["agent"] for each in rows(tmp_path / "a")[0]["robots"]] == ["GPTBot", "FooBot"]
    assert bulk("classify", table, "--agents", "known", "-o", tmp_path / "b").exit_code == 0
    known = [each.token for each in koster.crawlers.known()]
    assert [each["agent"] for each in rows(tmp_path / "b")[0]["robots"]] == known


def test_warning_of_a_probable_typo(table: Path, tmp_path: Path) -> None:
    result = bulk("classify", table, "--agent", "GTPBot", "-a", "@training", "-o", tmp_path / "out")
    assert result.exit_code == 0
    assert result.stderr == "koster: GTPBot is not a known crawler. Did you mean GPTBot?\n"


def test_dialect_is_used(tmp_path: Path) -> None:
    path = tmp_path / "robots.jsonl"
    as_jsonl(path, [{"body": "User-agent: *\nDisallowance: /"}])
    (row,) = run_answers(Question("classify", ("x",), dialect="GOOGLE"), path)
    assert row["robots"][0]["effective"] == "all"
    (row,) = run_answers(Question("classify", ("x",)), path)
    assert row["robots"][0]["effective"] == "none"


def test_second_run_skips_finished_inputs(inputs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = runs.run(GPT, runs.find_inputs([str(inputs)]), out, 1)
    before = {path: path.stat().st_mtime_ns for path in out.glob("*.parquet")}
    assert [each.is_new for each in first.shards] == [True] * 4
    archives.write(inputs / "part-9.warc.gz", archives.sites(10, 9_000))
    archives.write(inputs / "part-0.warc.gz", archives.sites(5, 8_000))
    again = runs.run(GPT, runs.find_inputs([str(inputs)]), out, 1)
    assert [each.is_new for each in again.shards] == [True, False, False, False, True]
    assert again.rows == 300 * 3 + 15
    unchanged = [path for path in before if path.stat().st_mtime_ns == before[path]]
    assert len(unchanged) == 3


def test_update_of_koster_reads_all_inputs_again(
    inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers may differ."""
    input_files = runs.find_inputs([str(inputs)])
    runs.run(GPT, input_files, tmp_path / "out", 1)
    for module in (_answering, _shards):
        monkeypatch.setattr(module, "VERSION", "99.0")
    for is_new in (True, False):
        result = runs.run(GPT, input_files, tmp_path / "out", 1)
        assert [each.is_new for each in result.shards] == [is_new] * 4


def test_processes_write_the_same_shards(inputs: Path, tmp_path: Path) -> None:
    input_files = runs.find_inputs([str(inputs)])
    runs.run(GPT, input_files, tmp_path / "one", 1)
    progress: list[int] = []
    result = runs.run(
        GPT, input_files, tmp_path / "two", 2, lambda indices, rows: progress.append(sum(rows))
    )
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert result.rows == progress[-1] == 1_200


def test_threads_write_the_same_shards(table: Path, tmp_path: Path) -> None:
    input_files = runs.find_inputs([str(table)])
    runs.run(GPT, input_files, tmp_path / "one", 1)
    runs.run(GPT, input_files, tmp_path / "two", 4)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_hidden_files_in_the_output_folder_stay(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / ".movie.mp4.part").write_text("mine")
    runs.run(GPT, runs.find_inputs([str(table)]), out, 1)
    assert (out / ".movie.mp4.part").read_text() == "mine"


def test_input_column_with_the_name_of_the_result_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "robots.parquet"
    as_parquet(path, [{"body": ONE, "robots": "mine"}])
    result = bulk("classify", path, "-a", "x", "-o", tmp_path / "out")
    assert result.exit_code == 3
    assert "the input already has a column 'robots'; rename it" in result.output


def test_missing_input_does_not_affect_others(table: Path, tmp_path: Path) -> None:
    result = bulk("facts", table, tmp_path / "gone.parquet", "-o", tmp_path / "out")
    assert result.exit_code == 3
    assert "gone.parquet: No such file" in result.output
    assert len(contents(tmp_path / "out")) == 1


def test_concurrent_runs_in_one_folder_are_rejected(table: Path, tmp_path: Path) -> None:
    input_files = runs.find_inputs([str(table)])
    with (
        _shards.locked(tmp_path / "out"),
        pytest.raises(UnreadableError, match="another run is writ"),
    ):
        runs.run(GPT, input_files, tmp_path / "out")
    assert runs.run(GPT, input_files, tmp_path / "out").rows == 1_000


def test_output_folder_of_another_question_is_rejected(table: Path, tmp_path: Path) -> None:
    input_files = runs.find_inputs([str(table)])
    runs.run(GPT, input_files, tmp_path / "out")
    with pytest.raises(runs.ForeignFolderError, match="has answers to another question"):
        runs.run(Question("classify", ("CCBot",)), input_files, tmp_path / "out")
    result = bulk("facts", table, "-o", tmp_path / "out")
    assert result.exit_code == 2


@pytest.mark.parametrize("kind", ["classify", "facts"])
def test_shards_of_archives_have_what_their_readers_use(tmp_path: Path, kind: str) -> None:
    """No dictionaries of URLs, and no statistics of lists."""
    data, _ = archives.archive(archives.sites(50))
    (tmp_path / "robots.warc.gz").write_bytes(data)
    agents = ("GPTBot",) if kind == "classify" else ()
    run_answers(Question(kind, agents), tmp_path / "robots.warc.gz")
    [shard] = tmp_path.glob("out-*/*.parquet")
    group = pq.read_metadata(shard).row_group(0)
    columns = [group.column(number) for number in range(group.num_columns)]
    without = {each.path_in_schema for each in columns if not each.has_dictionary_page}
    assert without >= {"url", "origin", "body_bytes", "archive_offset"}
    assert without.isdisjoint({"archive", "content_type", "robots.list.element.agent"})
    for each in columns:
        assert each.is_stats_set == (".list." not in each.path_in_schema)


def test_shards_have_the_types_of_the_input_and_of_the_kernel(tmp_path: Path) -> None:
    bodies = ["User-agent: *\nDisallow: /", None, "User-agent: GPTBot\nDisallow: /a"]
    table = pa.table({
        "body": pa.array(bodies),
        "site": pa.array(["a", "b", None]).dictionary_encode(),
        "tags": pa.array([["x"], None, []], pa.large_list(pa.large_string())),
        "seen": pa.array([1_000, None, 0], pa.timestamp("ns", tz="Europe/Amsterdam")),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "table.parquet")
    run_answers(Question("classify", ("GPTBot", "CCBot")), tmp_path / "table.parquet")
    [shard] = tmp_path.glob("out-*/*.parquet")
    found = pq.read_table(shard)
    answers = kernel.classify(table["body"], ("GPTBot", "CCBot"))
    assert found.drop_columns(["robots", "input"]) == table.drop_columns(["body"])
    assert found["input"].unique().to_pylist() == [str(tmp_path / "table.parquet")]
    assert found.schema.field("robots").type == pa.list_(kernel.CLASSIFIED)
    assert found["robots"].combine_chunks() == answers.combine_chunks()


def test_no_space_left(
    table: Path, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is one sentence, no partial shard is left, and finished shards stay."""
    input_files = runs.find_inputs([str(inputs)])
    real_close = _writer.Writer.close
    calls = []

    def close(self: Any, metadata: dict[bytes, str]) -> None:
        calls.append(metadata)
        if len(calls) in (2, 3):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real_close(self, metadata)

    monkeypatch.setattr(_writer.Writer, "close", close)
    result = runs.run(GPT, input_files, tmp_path / "out", 1)
    assert [each.why is None for each in result.shards] == [True, False, False, True]
    assert "No space left on device" in (result.failed[0].why or "")
    assert len(contents(tmp_path / "out")) == 2
    assert not list((tmp_path / "out").glob(".*.part"))
    again = bulk("classify", inputs, "-a", "GPTBot", "-o", tmp_path / "out", "-j", 1)
    assert again.exit_code == 0
    assert len(contents(tmp_path / "out")) == 4


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_full_disk_raises_the_system_error(table: Path) -> None:
    task = runs.Task(0, runs.find_inputs([str(table)])[0], "/dev/full", GPT)  # type: ignore[attr-defined]
    with pytest.raises(OSError, match="No space left"):
        _answering._write(task, "/dev/full", BadRecords(), 1, lambda *_: None)


def test_shard_names_are_unique_and_printable(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        archives.write(tmp_path / folder / "same.warc.gz", archives.sites(3))
    odd = archives.write(tmp_path / "a" / "\u202e odd\n.warc.gz", archives.sites(3))
    input_files = runs.find_inputs([str(tmp_path), str(odd)])
    assert len(input_files) == 3
    result = runs.run(GPT, input_files, tmp_path / "out", 1)
    names = {Path(each.shard or "").name for each in result.shards}
    assert len(names) == 3
    assert all(name.isascii() and name.isprintable() for name in names)


def test_output_folder_is_not_an_input(tmp_path: Path) -> None:
    """The output folder can be inside the input folder."""
    archives.write(tmp_path / "a.warc.gz", archives.sites(3))
    for _ in range(2):
        input_files = runs.find_inputs([str(tmp_path)])
        assert [Path(each.path).name for each in input_files] == ["a.warc.gz"]
        runs.run(GPT, input_files, tmp_path / "out.parquet", 1)


def test_rejected_output_folder_is_left_unchanged(tmp_path: Path) -> None:
    archives.write(tmp_path / "a.warc.gz", archives.sites(3))
    with pytest.raises(
        runs.ForeignFolderError, match=r"contains a\.warc\.gz, which is not a shard"
    ):
        runs.run(GPT, runs.find_inputs([str(tmp_path)]), tmp_path, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["a.warc.gz"]
    assert len(runs.find_inputs([str(tmp_path)])) == 1


def test_quiet_prints_no_progress_bar(table: Path, tmp_path: Path) -> None:
    assert bulk("facts", table, "-q", "-o", tmp_path / "out").output == ""


@pytest.mark.parametrize("command", [[], ["classify"], ["decide"], ["facts"]])
def test_help_says_that_the_output_is_a_folder(command: list[str]) -> None:
    output = " ".join(bulk(*command, "--help").output.replace("│", " ").split())
    assert "folder" in output
    assert "OUT.parquet" not in output
    assert not command or re.search(r"-o --output <FOLDER> Folder for the answers", output)


@pytest.mark.parametrize("command", ["classify", "decide", "facts"])
def test_output_that_is_a_file_is_an_error(tmp_path: Path, command: str) -> None:
    as_jsonl(tmp_path / "t.jsonl", [{"body": ""}])
    result = bulk(command, tmp_path / "t.jsonl", "-o", tmp_path / "t.jsonl")
    assert result.exit_code == 2
    message = "".join(result.output.replace("│", " ").split())
    assert "t.jsonlisafile;nameafolderfortheanswers" in message


def test_missing_arrow_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from koster._cli import main; sys.argv = ['koster', 'bulk', 'facts', 'x', '-o', 'y']; main()"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert "pip install 'koster[bulk]'" in " ".join(result.stderr.replace("│", " ").split())


@pytest.mark.parametrize("jobs", [pytest.param("1", marks=pytest.mark.thorough), "2"])
def test_commands_import_no_pandas(tmp_path: Path, jobs: str) -> None:
    """Arrow would import it in each process; whoever uses koster as a library may need it."""
    (tmp_path / "pandas.py").write_text("print('imported')")
    for name in ("one", "two"):
        as_parquet(tmp_path / f"{name}.parquet", [{"body": b"User-agent: *\nDisallow: /"}])
    inputs = [tmp_path / "one.parquet", tmp_path / "two.parquet"]
    arguments = ["classify", *inputs, "-a", GPT, "-j", jobs, "-o", tmp_path / "out"]
    result = subprocess.run(
        [sys.executable, "-m", "koster", "bulk", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert result.stdout.startswith("2 answers from 2 inputs")
    assert "imported" not in result.stdout + result.stderr


def test_inputs_without_a_record_are_no_success(tmp_path: Path) -> None:
    table = tmp_path / "empty.csv"
    table.write_text("url,body\n")
    result = bulk("facts", table, "-o", tmp_path / "out")
    assert result.exit_code == 3
    assert "koster: no robots.txt in the inputs" in result.output

"""``koster bulk``: what it answers, and that nothing of it is lost, half-written or hidden."""

from __future__ import annotations

import csv
import errno
import gzip
import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import archives
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from archives import Fetch
from click.testing import CliRunner, Result
from support import bodies
from test_bulk_kernel import AGENTS, BODIES, ONE, OTHER, cell, decision

import koster
import koster.bulk.polars
from koster.bulk import (
    _answering,
    _archives,
    _inputs,
    _json_lines,
    _parquet,
    _processes,
    _shards,
    kernel,
    runs,
)
from koster.bulk._batches import BadRecords
from koster.bulk._parquet import BYTES
from koster.bulk.duckdb import register
from koster.bulk.runs import Columns, Question
from koster.cli._root import koster as command
from koster.errors import UnreadableError

pytestmark = pytest.mark.any_mode

GPT = Question("classify", ("GPTBot",))


def bulk(*arguments: object) -> Result:
    return CliRunner().invoke(command, ["bulk", *map(str, arguments)])


def rows(folder: Path) -> list[dict[str, Any]]:
    """Return the answers in a folder, as engines read them."""
    table = pyarrow.dataset.dataset(folder, format="parquet").to_table()
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def answered(question: Question, *paths: Path, jobs: int = 1) -> list[dict[str, Any]]:
    """Return the answers about files."""
    folder = paths[0].parent / f"out-{random.random()}"
    done = runs.run(question, runs.find_inputs(map(str, paths)), folder, jobs)
    assert not done.failed
    return rows(folder)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A Parquet file in several row groups."""
    count = 1_000
    given = pa.table({
        "id": pa.array(range(count)),
        "body": pa.array([BODIES[n % len(BODIES)] for n in range(count)], pa.string()),
        "url": [f"/private/{n % 7}" for n in range(count)],
        "agent": [AGENTS[n % 3] for n in range(count)],
    })  # fmt: skip
    path = tmp_path / "robots.parquet"
    pq.write_table(given, path, row_group_size=300)
    return path


def test_every_engine_and_the_command_give_one_table(table: Path, tmp_path: Path) -> None:
    given = pq.read_table(table)
    agents = list(AGENTS)
    result = bulk("classify", table, "-o", tmp_path / "out", *[f"-a{name}" for name in agents])
    assert result.exit_code == 0, result.output
    ours = pyarrow.dataset.dataset(tmp_path / "out").to_table().sort_by("id")
    assert ours.column_names == ["id", "url", "agent", "robots"]
    with duckdb.connect() as con:
        register(con)
        query = f"SELECT id, robots_classify(body, {agents}) AS robots FROM '{table}' ORDER BY id"
        sql = con.sql(query).to_arrow_table()
    bodies: Any = pl.col("body")
    frame = pl.scan_parquet(table).select("id", robots=bodies.robots.classify(agents)).sort("id")
    expected = kernel.classify(given["body"], agents).to_pylist()
    assert ours["robots"].to_pylist() == expected
    assert sql["robots"].to_pylist() == expected
    assert frame.collect()["robots"].to_arrow().to_pylist() == expected


def as_jsonl(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(each) + "\n" for each in records))


def as_csv(path: Path, records: list[dict[str, Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, records[0], delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writeheader()
        writer.writerows(records)


def as_parquet(path: Path, records: list[dict[str, Any]]) -> None:
    with path.open("wb") as file:
        pq.write_table(pa.Table.from_pylist(records), file)


WRITERS: dict[str, Callable[[Path, list[dict[str, Any]]], None]] = {
    "robots.jsonl": as_jsonl, "robots.ndjson": as_jsonl, "robots.json": as_jsonl,
    "robots.csv": as_csv, "robots.tsv": as_csv, "robots.parquet": as_parquet,
}  # fmt: skip


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("packed", [False, True])
def test_tables_of_every_kind(tmp_path: Path, name: str, packed: bool) -> None:
    records = [
        {"url": f"https://e.com/{n}", "text": f'{ONE}# "{n}", é\r\n', "note": "ü"}
        for n in range(50)
    ]
    path = tmp_path / name
    WRITERS[name](path, records)
    if packed and name != "robots.parquet":
        path = path.rename(tmp_path / f"{name}.gz")
        path.write_bytes(gzip.compress(path.read_bytes()))
    found = answered(Question("decide", ("GPTBot",), columns=Columns(url="url")), path)
    assert [each["url"] for each in found] == [each["url"] for each in records]
    assert [each["note"] for each in found] == ["ü"] * 50
    assert "text" not in found[0]
    assert [each["decision"] for each in found] == [
        decision(each["text"], each["url"], "GPTBot") for each in records
    ]
    assert {each["asked_agent"] for each in found} == {"GPTBot"}


def test_bodies_may_be_bytes_or_null(tmp_path: Path) -> None:
    records = [{"body": "User-agent: *\nDisallow: /\udcff"}, {"body": None}, {"other": "x"}]
    path = tmp_path / "robots.jsonl"
    as_jsonl(path, records)
    found = answered(GPT, path)
    assert [each["robots"] and each["robots"][0]["effective"] for each in found] == [
        "some", None, None,
    ]  # fmt: skip
    latin = tmp_path / "latin.csv"
    latin.write_bytes(b'body,\xe9\n"User-agent: *\nDisallow: /\xff",\xe9\n')
    (row,) = answered(Question("facts"), latin)
    assert row["facts"]["findings"] == ["not-utf-8"]


def test_archives(tmp_path: Path) -> None:
    path = archives.write(tmp_path / "robots.warc.gz", archives.sites(40))
    found = answered(Question("classify", ("GPTBot", "x")), path)
    assert len(found) == 40
    for fetch, row in zip(archives.sites(40), found, strict=True):
        assert row["url"] == fetch.url
        assert row["archive"] == "robots.warc.gz"
        assert row["crawl"] == "CC-MAIN-2026-45"
        if row["class"] == "ok":
            assert row["robots"] == [cell(fetch.body, "GPTBot"), cell(fetch.body, "x")]
        else:
            assert row["robots"] is None
    assert {row["class"] for row in found} == {"ok", "redirect", "unavailable", "unreachable"}


def test_archives_are_read_as_crawlers_do(tmp_path: Path) -> None:
    """By the charset, and no more than 500 KiB."""
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
    found = answered(question, path)
    verdicts = {(row["origin"][7], row["asked_url"]): row["decision"]["allowed"] for row in found}
    assert verdicts == {
        ("a", "/caf%C3%A9"): False, ("a", "/"): True,
        ("b", "/caf%C3%A9"): False, ("b", "/"): True,
        ("c", "/caf%C3%A9"): True, ("c", "/"): True,
    }  # fmt: skip
    told = {row["origin"][7]: row["facts"] for row in answered(Question("facts"), path)}
    assert told["c"]["findings"] == ["too-large"]
    assert told["c"]["bytes"] == len(long)
    assert "not-utf-8-but-wide" in told["b"]["findings"]


def test_decisions_about_archives_follow_from_the_class(tmp_path: Path) -> None:
    path = archives.write(tmp_path / "robots.warc.gz", archives.sites(10))
    found = answered(Question("decide", ("GPTBot", "x"), ("/",)), path)
    by_class: dict[str, Any] = {}
    for row in found:
        by_class.setdefault(row["class"], set()).add(
            row["decision"] and (row["decision"]["allowed"], row["decision"]["reason"])
        )
    assert by_class["unavailable"] == {(True, "unavailable")}
    assert by_class["unreachable"] == {(False, "unreachable")}
    assert by_class["redirect"] == {None}
    assert len(found) == 20
    assert [row["asked_agent"] for row in found[:1] + found[-1:]] == ["GPTBot", "x"]


@pytest.mark.usefixtures("conformance_data")
def test_the_corpus_is_answered_as_the_library_does(tmp_path: Path) -> None:
    files = bodies("modern-verdicts.tsv.gz")
    path = archives.write(
        tmp_path / "robots.warc.gz",
        [Fetch(f"http://{site.lower()}.test/robots.txt", body) for site, body in files.items()],
    )
    found = answered(Question("classify", AGENTS), path)
    for body, row in zip(files.values(), found, strict=True):
        assert row["robots"] == [cell(body[: 500 * 1024], agent) for agent in AGENTS]


# Bad input.


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
    # Also when nothing is left to be done.
    again = bulk("classify", path, "-a", "GPTBot", "-o", tmp_path / "out")
    assert again.exit_code == 1
    assert "line 2: invalid JSON" in again.output


def test_bad_rows_of_csv(tmp_path: Path) -> None:
    path = tmp_path / "robots.csv"
    path.write_text(f'url,body\na,"{ONE}"\nalone\na,b,c\nb,"{OTHER}"\n')
    result = bulk("classify", path, "-a", "GPTBot", "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "row 3: has 1 of 2 columns" in result.output
    assert [row["url"] for row in rows(tmp_path / "out")] == ["a", "b"]


def test_bad_records_of_archives(tmp_path: Path) -> None:
    data, offsets = archives.archive(archives.sites(6))
    path = tmp_path / "robots.warc.gz"
    path.write_bytes(data[: offsets[3] + 30])
    result = bulk("facts", path, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert f"at byte {offsets[3]}: the record is truncated" in result.output
    assert len(rows(tmp_path / "out")) == 2


def test_what_cannot_be_read_is_told_and_the_rest_is_done(tmp_path: Path) -> None:
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
    complaints = [line for line in result.output.splitlines() if line.startswith("koster: ")]
    assert len(complaints) == 6
    told = result.output
    assert "bad.warc.gz: is not a WARC file" in told
    assert "none.parquet: no column named body, text, content" in told
    assert "(columns: x)" in told
    assert "column 'body' has type int64; body must be text or bytes" in told
    assert "empty.csv: is empty; the first line must name the columns" in told
    assert "no answers from 6 inputs" in told
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
def test_wrong_usage(
    table: Path, tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    (tmp_path / "robots.parquet.md").write_text("")
    for name in ("empty", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    warc = archives.write(tmp_path / "warc" / "a.warc.gz", archives.sites(2))
    named = {
        "table": table, "out": tmp_path / "out", "folder": tmp_path / "empty",
        "other": tmp_path / "other", "warc": warc,
    }  # fmt: skip
    result = bulk(*[each.format(**named) for each in arguments])
    assert (result.exit_code, result.output) == (code, result.output)
    assert message in " ".join(result.output.replace("│", " ").split())
    assert not list((tmp_path / "out").glob("*.parquet"))


def test_agents_from_a_file_and_those_that_are_known(table: Path, tmp_path: Path) -> None:
    names = tmp_path / "agents.txt"
    names.write_text("# mine\nGPTBot\n\nFooBot\nGPTBot\n")
    assert bulk("classify", table, "--agents", names, "-o", tmp_path / "a").exit_code == 0
    assert [each["agent"] for each in rows(tmp_path / "a")[0]["robots"]] == ["GPTBot", "FooBot"]
    assert bulk("classify", table, "--agents", "known", "-o", tmp_path / "b").exit_code == 0
    known = [each.token for each in koster.crawlers.known()]
    assert [each["agent"] for each in rows(tmp_path / "b")[0]["robots"]] == known


def test_the_dialect_is_obeyed(tmp_path: Path) -> None:
    path = tmp_path / "robots.jsonl"
    as_jsonl(path, [{"body": "User-agent: *\nDisallowance: /"}])
    (row,) = answered(Question("classify", ("x",), dialect="GOOGLE"), path)
    assert row["robots"][0]["effective"] == "all"
    (row,) = answered(Question("classify", ("x",)), path)
    assert row["robots"][0]["effective"] == "none"


# Going on.


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    for number in range(4):
        archives.write(folder / f"part-{number}.warc.gz", archives.sites(300, 300 * number))
    return folder


def test_what_is_done_is_not_done_again(inputs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = runs.run(GPT, runs.find_inputs([str(inputs)]), out, 1)
    before = {path: path.stat().st_mtime_ns for path in out.glob("*.parquet")}
    assert [each.is_new for each in first.shards] == [True] * 4
    archives.write(inputs / "part-9.warc.gz", archives.sites(10, 9_000))
    archives.write(inputs / "part-0.warc.gz", archives.sites(5, 8_000))
    again = runs.run(GPT, runs.find_inputs([str(inputs)]), out, 1)
    assert [each.is_new for each in again.shards] == [True, False, False, False, True]
    assert again.rows == 300 * 3 + 15
    same = [path for path in before if path.stat().st_mtime_ns == before[path]]
    assert len(same) == 3


def test_processes_write_the_same_shards(inputs: Path, tmp_path: Path) -> None:
    found = runs.find_inputs([str(inputs)])
    runs.run(GPT, found, tmp_path / "one", 1)
    seen: list[int] = []
    done = runs.run(GPT, found, tmp_path / "two", 2, lambda places, rows: seen.append(sum(rows)))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert done.rows == seen[-1] == 1_200


def test_threads_write_the_same_shards(table: Path, tmp_path: Path) -> None:
    found = runs.find_inputs([str(table)])
    runs.run(GPT, found, tmp_path / "one", 1)
    runs.run(GPT, found, tmp_path / "two", 4)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_a_killed_run_goes_on_where_it_was(inputs: Path, tmp_path: Path) -> None:
    """kill -9 at ten moments; what is there between is whole, and the end is as if unbroken."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    runs.run(GPT, runs.find_inputs([str(inputs)]), whole, 1)
    expected = contents(whole)
    arguments = [sys.executable, "-m", "koster", "bulk", "classify", str(inputs)]
    arguments += ["-a", "GPTBot", "-o", str(broken)]
    began = time.monotonic()
    subprocess.run(arguments, check=True, capture_output=True)
    usual = time.monotonic() - began
    assert contents(broken) == expected
    rng = random.Random(7)
    for path in broken.glob("*.parquet"):
        path.unlink()
    for number in range(10):
        process = subprocess.Popen(
            [*arguments, "-j", str(1 + number % 2)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(rng.uniform(0.2, 1) * usual)
        process.send_signal(signal.SIGKILL)
        process.wait()
        there = contents(broken)
        assert there.items() <= expected.items()
        if len(there) == len(expected):
            for path in rng.sample(sorted(broken.glob("*.parquet")), 3):
                path.unlink()
    wait_for_workers(broken)
    last = subprocess.run(arguments, check=False, capture_output=True, text=True)
    assert last.returncode == 0, last.stderr
    assert contents(broken) == expected
    assert not list(broken.glob(".*.part"))


def wait_for_workers(folder: Path) -> None:
    """Wait until no process of a killed run writes there."""
    for _ in range(100):
        if not any(str(folder).encode() in line for line in commands()):
            return
        time.sleep(0.05)


def commands() -> list[bytes]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes())
        except OSError:
            continue
    return found


def test_processes_end_with_the_one_that_began_them(inputs: Path, tmp_path: Path) -> None:
    for number in range(4, 12):
        archives.write(inputs / f"part-{number}.warc.gz", archives.sites(1_500, 1_500 * number))
    code = (
        "import sys; from koster.bulk import runs\n"
        "if __name__ == '__main__':\n"
        "    runs.run(runs.Question('facts'), runs.find_inputs(sys.argv[1:2]), sys.argv[2], 2)"
    )
    script = tmp_path / "job.py"
    script.write_text(code)
    process = subprocess.Popen([sys.executable, script, inputs, tmp_path / "out"])
    children: list[int] = []
    for _ in range(200):
        path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        if not path.exists():
            process.kill()
            process.wait()
            pytest.skip("this system does not tell the children of a process")
        children = [int(pid) for pid in path.read_text().split()]
        if len(children) >= 3 and list((tmp_path / "out").glob(".*.part")):
            break
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert children
    for _ in range(200):
        if not any(Path(f"/proc/{pid}").exists() and not is_gone(pid) for pid in children):
            break
        time.sleep(0.05)
    assert not any(Path(f"/proc/{pid}").exists() and not is_gone(pid) for pid in children)


def is_gone(pid: int) -> bool:
    """Tell whether a process has ended, and only nobody has asked how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_a_run_that_is_told_to_stop_stops(inputs: Path, tmp_path: Path) -> None:
    """With workers too: not when all inputs are done, but now."""
    for number in range(4, 24):
        archives.write(inputs / f"part-{number}.warc.gz", archives.sites(1_000, 1_000 * number))
    out = tmp_path / "out"
    arguments = [
        sys.executable,
        "-m",
        "koster",
        "bulk",
        "facts",
        str(inputs),
        "-o",
        str(out),
        "-j2",
    ]
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        if list(out.glob("*.parquet")):
            break
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == "koster: stopped\n"
    assert 0 < len(list(out.glob("*.parquet"))) < 24
    wait_for_workers(out)
    again = subprocess.run(arguments, check=False, capture_output=True, text=True)
    assert (again.returncode, again.stderr) == (0, "")
    assert not list(out.glob(".*.part"))


def test_what_others_hide_in_the_folder_stays(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / ".movie.mp4.part").write_text("mine")
    runs.run(GPT, runs.find_inputs([str(table)]), out, 1)
    assert (out / ".movie.mp4.part").read_text() == "mine"


def test_a_column_with_the_name_of_the_answers_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "robots.parquet"
    as_parquet(path, [{"body": ONE, "robots": "mine"}])
    result = bulk("classify", path, "-a", "x", "-o", tmp_path / "out")
    assert result.exit_code == 3
    assert "the input already has a column 'robots'; rename it" in result.output


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_odd_tables_are_told(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"robots.{kind}"
    if kind == "parquet":
        column = pa.array([ONE])
        pq.write_table(pa.Table.from_arrays([column] * 3, names=["body", "n", "n"]), path)
    else:
        path.write_text('{"\\ud800": 1, "body": "x", "\\ud801": 2}\n{"body": "\\ud800"}\n')
    done = runs.run(Question("facts"), runs.find_inputs([str(path)]), tmp_path / "out", 1)
    if kind == "parquet":
        assert "two columns have the same name" in str(done.failed[0].why)
    else:
        assert done.rows == 2


def test_an_input_with_nothing_good_in_it_has_a_shard(tmp_path: Path) -> None:
    path = tmp_path / "robots.jsonl"
    path.write_text('{"body": 5, "k": 1}\n')
    done = runs.run(GPT, runs.find_inputs([str(path)]), tmp_path / "out", 1)
    assert (done.rows, done.bad, done.failed) == (0, 1, ())
    header = tmp_path / "header.csv"
    header.write_text("body,k")
    assert not runs.run(GPT, runs.find_inputs([str(header)]), tmp_path / "out2", 1).failed


def test_agents_and_urls_that_are_no_text(tmp_path: Path, table: Path) -> None:
    result = bulk("classify", table, "-a", "\udcff", "-o", tmp_path / "a")
    assert result.exit_code == 0, result.output
    result = bulk("decide", table, "--url", "/\udcff", "-a", "\udcff", "-o", tmp_path / "b")
    assert result.exit_code == 0, result.output


def test_a_small_file_of_large_texts_is_read_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dictionaries make a few bytes of what is gigabytes when it is spelt out."""
    monkeypatch.setattr(_parquet, "BYTES", 1_000_000)
    path = tmp_path / "robots.parquet"
    rows_ = 500
    pq.write_table(pa.table({"body": [ONE] * rows_, "k": ["#" * 100_000] * rows_}), path)
    (given,) = _inputs.find([str(path)])
    assert given.size < 50_000
    found = list(_inputs.batches(given, Columns(), BadRecords()))
    assert max(len(each.bodies) for each in found) <= 10
    assert sum(len(each.bodies) for each in found) == rows_
    assert {str(each.passthrough.schema.field("k").type) for each in found} == {"string"}


def test_utf16_is_read_as_crawlers_do_and_told(tmp_path: Path) -> None:
    """What facts say of groups is what classify goes by."""
    body = "User-agent: GPTBot\nDisallow: /\n".encode("utf-16")
    path = archives.write(tmp_path / "a.warc.gz", [Fetch("http://e.com/robots.txt", body)])
    (told,) = answered(Question("facts"), path)
    assert told["facts"]["agents"][0]["name"] == "GPTBot"
    assert (told["facts"]["bytes"], told["facts"]["unknown"]) == (len(body), [])
    assert "not-utf-8-but-wide" in told["facts"]["findings"]
    (row,) = answered(GPT, path)
    assert row["robots"][0]["written"]


def test_a_row_of_csv_that_is_too_long_is_told(tmp_path: Path) -> None:
    """And the command ends: Arrow's thread that reads ahead may not wait for it."""
    path = tmp_path / "robots.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b'body\n"')
        for _ in range(400):
            file.write(b"#" * 1_000_000)
        file.write(b'"\n')
    options = ["-a", "x", "-o", str(tmp_path / "out"), "-j", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "koster", "bulk", "classify", str(path), *options],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr == f"koster: {path}: a row has more than 67,108,864 bytes\n"


def test_one_input_that_is_not_there_costs_no_other(table: Path, tmp_path: Path) -> None:
    result = bulk("facts", table, tmp_path / "gone.parquet", "-o", tmp_path / "out")
    assert result.exit_code == 3
    assert "gone.parquet: No such file" in result.output
    assert len(contents(tmp_path / "out")) == 1


def test_two_runs_do_not_write_into_one_folder(table: Path, tmp_path: Path) -> None:
    found = runs.find_inputs([str(table)])
    with (
        _shards.locked(tmp_path / "out"),
        pytest.raises(UnreadableError, match="another run is writ"),
    ):
        runs.run(GPT, found, tmp_path / "out")
    assert runs.run(GPT, found, tmp_path / "out").rows == 1_000


def test_another_question_is_not_mixed_in(table: Path, tmp_path: Path) -> None:
    found = runs.find_inputs([str(table)])
    runs.run(GPT, found, tmp_path / "out")
    with pytest.raises(runs.ForeignFolderError, match="has answers to another question"):
        runs.run(Question("classify", ("CCBot",)), found, tmp_path / "out")
    result = bulk("facts", table, "-o", tmp_path / "out")
    assert result.exit_code == 2


def test_no_space_left(
    table: Path, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence, nothing half-written, and what is done stays."""
    found = runs.find_inputs([str(inputs)])
    whole = _shards.Writer.close
    calls = []

    def close(self: Any, said: dict[bytes, str]) -> None:
        calls.append(said)
        if len(calls) in (2, 3):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        whole(self, said)

    monkeypatch.setattr(_shards.Writer, "close", close)
    done = runs.run(GPT, found, tmp_path / "out", 1)
    assert [each.why is None for each in done.shards] == [True, False, False, True]
    assert "No space left on device" in (done.failed[0].why or "")
    assert len(contents(tmp_path / "out")) == 2
    assert not list((tmp_path / "out").glob(".*.part"))
    result = bulk("classify", inputs, "-a", "GPTBot", "-o", tmp_path / "out", "-j", 1)
    assert result.exit_code == 0
    assert len(contents(tmp_path / "out")) == 4


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_told_by_the_system(table: Path) -> None:
    task = _answering.Task(0, runs.find_inputs([str(table)])[0], "/dev/full", GPT)
    with pytest.raises(OSError, match="No space left"):
        _answering._write(task, "/dev/full", BadRecords(), 1, lambda *_: None)


def test_a_process_that_dies_costs_one_input(
    inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = runs.find_inputs([str(inputs)])
    monkeypatch.setenv("KOSTER_TEST_DIE_AT", "part-2")
    monkeypatch.setattr(_processes, "_run_task", dying)
    done = runs.run(GPT, found, tmp_path / "out", 2)
    assert [each.why is None for each in done.shards] == [True, True, False, True]
    assert "part-2.warc.gz: the process that read it was killed" in (done.failed[0].why or "")


def dying(task: Any, threads: int) -> Any:
    if "part-2" in task.input.path:
        os.kill(os.getpid(), signal.SIGKILL)
    return _answering.write_shard(task, threads, lambda *_: None)


def test_shards_have_names_of_their_own(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        archives.write(tmp_path / folder / "same.warc.gz", archives.sites(3))
    odd = archives.write(tmp_path / "a" / "\u202e odd\n.warc.gz", archives.sites(3))
    found = runs.find_inputs([str(tmp_path), str(odd)])
    assert len(found) == 3
    done = runs.run(GPT, found, tmp_path / "out", 1)
    names = {Path(each.shard or "").name for each in done.shards}
    assert len(names) == 3
    assert all(name.isascii() and name.isprintable() for name in names)


def test_answers_are_no_inputs(tmp_path: Path) -> None:
    """The folder for the answers may be in the one with the inputs."""
    archives.write(tmp_path / "a.warc.gz", archives.sites(3))
    for _ in range(2):
        found = runs.find_inputs([str(tmp_path)])
        assert [Path(each.path).name for each in found] == ["a.warc.gz"]
        runs.run(GPT, found, tmp_path / "out.parquet", 1)


def test_nothing_is_left_in_a_folder_that_is_refused(tmp_path: Path) -> None:
    archives.write(tmp_path / "a.warc.gz", archives.sites(3))
    with pytest.raises(
        runs.ForeignFolderError, match=r"contains a\.warc\.gz, which is not a shard"
    ):
        runs.run(GPT, runs.find_inputs([str(tmp_path)]), tmp_path, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["a.warc.gz"]
    assert len(runs.find_inputs([str(tmp_path)])) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_pipes_are_no_inputs(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.warc")
    archives.write(tmp_path / "a.warc.gz", archives.sites(3))
    assert len(runs.find_inputs([str(tmp_path)])) == 1
    with pytest.raises(UnreadableError, match="is not a regular file"):
        runs.find_inputs([str(tmp_path / "pipe.warc")])


@pytest.mark.skipif(sys.platform == "darwin", reason="names of files are UTF-8 there")
def test_names_that_are_no_text(tmp_path: Path) -> None:
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
    "octets",
    [
        b"body\n\0\0\n", b"\0\0\0", b'"' + b"x" * 200_000, b"body,body\nx,y\n", b'body\n"x',
        b"body\r" * 3, b"\xef\xbb\xbfbody\nx\n", b"a,b,c\n", b"\n\n\n",
    ],
)  # fmt: skip
def test_odd_csv_is_read_or_told(tmp_path: Path, octets: bytes) -> None:
    path = tmp_path / "robots.csv"
    path.write_bytes(octets)
    done = runs.run(Question("facts"), runs.find_inputs([str(path)]), tmp_path / "out", 1)
    for each in done.failed:
        assert str(each.why).startswith(f"{path}: ")


def test_an_empty_input_has_a_shard(tmp_path: Path) -> None:
    path = tmp_path / "empty.warc.gz"
    path.write_bytes(b"")
    assert answered(GPT, path) == []


def test_bars_are_for_who_looks(table: Path, tmp_path: Path) -> None:
    assert bulk("facts", table, "-q", "-o", tmp_path / "out").output == ""


def test_without_arrow_the_command_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from koster.cli import main; sys.argv = ['koster', 'bulk', 'facts', 'x', '-o', 'y']; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'koster[bulk]'" in " ".join(done.stderr.replace("│", " ").split())


def test_a_line_that_is_too_long_is_one_bad_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_json_lines, "_MAX_LINE", 3_000_000)
    path = tmp_path / "robots.jsonl"
    long = json.dumps({"body": "#" * 9_000_000})
    path.write_text(f"{json.dumps({'body': ONE})}\n{long}\n{json.dumps({'body': ONE})}\n{long}")
    bad = BadRecords()
    (given,) = _inputs.find([str(path)])
    found = [len(each.bodies) for each in _inputs.batches(given, Columns(), bad)]
    assert sum(found) == 2
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
        (given,) = _inputs.find([str(path)])
        batches = list(_inputs.batches(given, Columns(), BadRecords()))
        assert sum(len(each.bodies) for each in batches) == 60
        if path.suffix not in (".csv", ".tsv"):
            assert max(len(each.bodies) for each in batches) <= 5
    warc = archives.write(tmp_path / "a.warc", [Fetch("http://e.com/r", body.encode())] * 60)
    (given,) = _inputs.find([str(warc)])
    batches = list(_inputs.batches(given, Columns(), BadRecords()))
    assert max(len(each.bodies) for each in batches) <= 5


def test_a_csv_row_longer_than_any_batch(tmp_path: Path) -> None:
    path = tmp_path / "robots.csv"
    with io.StringIO(newline="") as text:
        writer = csv.writer(text)
        writer.writerows([["body"], [ONE + "#" * (BYTES + 10)], [ONE]])
        path.write_text(text.getvalue())
    result = bulk("classify", path, "-a", "GPTBot", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert len(rows(tmp_path / "out")) == 2

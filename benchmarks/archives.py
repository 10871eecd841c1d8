"""Whole archives: the kernel, the engines, and time and memory of the command."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from fastwarc.warc import ArchiveIterator, WarcRecordType
from protego import Protego
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

import koster
import koster.bulk.polars
from koster.bulk import kernel
from koster.bulk.duckdb import register

from . import data
from .measure import Action, Cost, child, cost, format_time, in_turns, ratio, table

#: Protego takes many minutes for larger files.
_SMALL = 2_000


def classify(rounds: int) -> dict[str, float]:
    """Measure the kernel and the engines that call it, beside a loop over Protego."""
    bodies, agents = data.bodies(), list(data.CRAWLERS)
    small = [body for body in bodies if len(body) <= _SMALL]
    texts = [body.decode("utf-8", "replace") for body in small]
    column, few = pa.array(bodies, pa.large_binary()), pa.array(small, pa.large_binary())
    frame = pl.DataFrame({"body": pl.Series(pl.from_arrow(column))})
    body: Any = pl.col("body")
    sql = f"SELECT robots_classify(body, {agents}) AS r FROM robots"
    loop, on_few = "a loop over Protego, / and each rule", f"koster, files up to {_SMALL:,} bytes"
    with duckdb.connect() as con:
        con.execute("SET threads = 1")
        register(con)
        con.register("files", pa.table({"body": column}))
        con.execute("CREATE TABLE robots AS SELECT * FROM files")
        actions: dict[str, Action] = {
            "koster": lambda: kernel.classify(column, agents),
            "koster, in DuckDB": lambda: con.sql(sql).to_arrow_table(),
            "koster, in Polars": lambda: frame.select(body.robots.classify(agents)),
            "koster, facts": lambda: kernel.facts(column),
            on_few: lambda: kernel.classify(few, agents),
        }
        # The first passes take several times as long as the next ones.
        taken = in_turns(actions, min(rounds, 5), before=2)
    taken |= in_turns({loop: lambda: _count_blocked(texts)}, 1)
    rows = {
        name: (len(small if name in (on_few, loop) else bodies), median(times))
        for name, times in taken.items()
    }
    faster = rows[loop][1] / rows[on_few][1]
    print(f"## The kernel: classify for {len(data.CRAWLERS)} crawlers, on one core\n")
    table(
        ["", "files", "a file", "files a second"],
        ([name, f"{count:,}", format_time(seconds / count), f"{count / seconds:,.0f}"]
         for name, (count, seconds) in rows.items()),
    )  # fmt: skip
    print(f"koster is {faster:,.0f} × as fast as the loop, which gets the small files.\n")
    return {"classify Protego": faster}


def _count_blocked(texts: list[str]) -> int:
    """Count with Protego how many agents are blocked: check / and the path of every rule."""
    blocked = 0
    for text in texts:
        parsed = Protego.parse(text)
        paths = [rule.pattern for group in koster.parse(text).groups for rule in group.rules]
        for agent in data.CRAWLERS:
            blocked += {parsed.can_fetch(path, agent) for path in ("/", *paths)} == {False}
    return blocked


def decide(rounds: int) -> dict[str, float]:
    """Measure the kernel's decisions."""
    bodies = data.bodies()
    urls = [url for _, _, url in data.questions()]
    rows: dict[str, list[str]] = {}
    for each in (20, 100):
        count = len(bodies) * each
        pages = pa.array([urls[number * 7919 % len(urls)] for number in range(count)])
        indices = pa.array([number // each for number in range(count)], pa.int32())
        files = pa.DictionaryArray.from_arrays(indices, pa.array(bodies, pa.large_binary()))
        order = pa.array([number * 7919 % count for number in range(count)])
        ways = {
            "a dictionary": (files, pages),
            "next to each other": (files.dictionary_decode(), pages),
            "a dictionary, in disorder": (files.take(order), pages.take(order)),
        }
        actions = {
            name: partial(kernel.decide, *columns, "GPTBot") for name, columns in ways.items()
        }
        for name, times in in_turns(actions, min(rounds, 3), before=1).items():
            rows.setdefault(name, [name]).append(f"{count / median(times) / 1e6:.2f}")
    print("## The kernel: million decisions a second, on one core\n")
    table(["files", "20 URLs a file", "100 URLs a file"], rows.values())
    return {}


# The command

#: Distinct archives, with so many copies of all files; the others are hard links to these.
_DISTINCT = 4
_COPIES = 6
#: The archives of a run are so many that it takes about so many seconds on one core: in a few
#: seconds, the start of the processes counts, which is nothing for a whole crawl.
_RUN_SECONDS = 10
_ONE, _TWO, _GOOGLE = "classify, 1 core", "classify, 2 cores", "classify --dialect google, 1 core"
_FASTWARC = "fastwarc, only reading the records, 1 core"


def command(rounds: int) -> dict[str, float]:
    """Measure the command on one core and two, beside fastwarc, in turns."""
    bodies = data.bodies()
    with tempfile.TemporaryDirectory() as folder:
        inputs, out = Path(folder, "archives"), Path(folder, "out")
        inputs.mkdir()
        for number in range(_DISTINCT):
            path = inputs / f"{number}.warc.gz"
            path.write_bytes(_archive(bodies, number * len(bodies)) * _COPIES)
        first = _classified(inputs, out / "first", "-j", "1").seconds
        often = max(1, round(_RUN_SECONDS / first))
        for number in range(_DISTINCT, _DISTINCT * often):
            os.link(inputs / f"{number % _DISTINCT}.warc.gz", inputs / f"{number}.warc.gz")
        count = len(bodies) * _COPIES * _DISTINCT * often
        size = sum(path.stat().st_size for path in inputs.iterdir())
        runs: dict[str, list[Cost]] = {name: [] for name in (_ONE, _TWO, _GOOGLE, _FASTWARC)}
        for number in range(2 if rounds > 1 else 1):
            into = out / str(number)
            runs[_ONE].append(_classified(inputs, into / "1", "-j", "1"))
            runs[_FASTWARC].append(_read_by_fastwarc(inputs, often))
            runs[_TWO].append(_classified(inputs, into / "2", "-j", "2"))
            google = ("--dialect", "google", "-j", "1")
            runs[_GOOGLE].append(_classified(inputs, into / "google", *google))
    print(f"## koster bulk: {count:,} files in archives of {size / 1e6:,.0f} MB\n")
    seconds = {name: [each.seconds for each in some] for name, some in runs.items()}
    busy = {name: [each.busy for each in some] for name, some in runs.items()}
    table(
        ["", "time", "files a second", "CPU seconds a million files"],
        ([name, format_time(median(seconds[name])), f"{count / median(seconds[name]):,.0f}",
          f"{median(busy[name]) / count * 1e6:,.1f}"] for name in runs),
    )  # fmt: skip
    two = ratio(seconds[_ONE], seconds[_TWO])
    print(f"Two cores are {two:.2f} × one.\n")
    return {
        "archives": count / median(seconds[_ONE]),
        "archives google": count / median(seconds[_GOOGLE]),
        # Of the processor: on a busy machine, how long each waits is chance.
        "archives fastwarc": ratio(busy[_FASTWARC], busy[_ONE]),
        "two cores": two,
    }


def _classified(source: Path, out: Path, *options: str) -> Cost:
    agents = [each for name in data.CRAWLERS for each in ("-a", name)]
    run = [sys.executable, "-m", "koster", "bulk", "classify", *agents, *options]
    out.parent.mkdir(parents=True, exist_ok=True)
    return Cost(*child(cost, [*run, str(source), "-o", str(out)]))


def _read_by_fastwarc(inputs: Path, often: int) -> Cost:
    """Read the responses of the distinct archives; return what all of them would take."""
    start, busy = time.perf_counter(), time.process_time()
    for number in range(_DISTINCT):
        with (inputs / f"{number}.warc.gz").open("rb") as file:
            for record in ArchiveIterator(file, record_types=WarcRecordType.response):
                record.reader.read()
    return Cost(often * (time.perf_counter() - start), often * (time.process_time() - busy), 0)


def _archive(bodies: list[bytes], first: int = 0) -> bytes:
    """Return an archive with request, response and metadata of each fetch."""
    sent = StatusAndHeaders("GET /robots.txt HTTP/1.1", [("Host", "x")], is_http_request=True)
    head = [("Content-Type", "text/plain"), ("Server", "nginx")]
    more = b"fetchTimeMs: 120\r\ncharset-detected: UTF-8\r\n"
    fields = {"warc_content_type": "application/warc-fields"}
    file = io.BytesIO()
    writer = WARCWriter(file, gzip=True)
    record = writer.create_warc_record
    info = {"isPartOf": "CC-MAIN-2026-43", "software": "benchmarks"}
    writer.write_record(writer.create_warcinfo_record("robots.warc.gz", info))
    for number, body in enumerate(bodies, first):
        url = f"https://site-{number}.example/robots.txt"
        received = StatusAndHeaders("200 OK", [*head], "HTTP/1.1")
        writer.write_record(record(url, "request", http_headers=sent))
        writer.write_record(record(url, "response", io.BytesIO(body), http_headers=received))
        writer.write_record(record(url, "metadata", io.BytesIO(more), **fields))
    return file.getvalue()


def memory(_: int) -> dict[str, float]:
    """Measure the peak memory of a run by the size of its one input."""
    bodies = data.bodies()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for copies in (1, 10, 30):
            archive, parquet = Path(folder, f"{copies}.warc.gz"), Path(folder, f"{copies}.parquet")
            archive.write_bytes(_archive(bodies) * copies)
            with pq.ParquetWriter(parquet, pa.schema([("body", pa.binary())])) as writer:
                for _ in range(copies):
                    writer.write_table(pa.table({"body": pa.array(bodies, pa.binary())}))
            rows.append([f"{copies} ({copies * sum(map(len, bodies)) / 1e6:,.0f} MB)"])
            for path in (archive, parquet):
                taken = _classified(path, Path(folder, f"out-{path.name}"), "-j", "1")
                rows[-1].append(f"{taken.megabytes:,.0f} MB")
    print("## Memory: the most that a run takes, by the number of copies in its input file\n")
    table(["copies of the corpus", "an archive", "Parquet"], rows)
    return {}

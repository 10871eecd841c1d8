"""Whole archives: the kernel, the engines, and time and memory of the command."""

from __future__ import annotations

import io
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
from koster.bulk import _reading, kernel, runs
from koster.bulk._batches import BadRecords
from koster.bulk.duckdb import register

from . import data, decompression
from .measure import format_time, in_turns, ratio, table

AGENTS = (
    *("Googlebot", "bingbot", "YandexBot", "Baiduspider", "DuckDuckBot", "Applebot"),
    *("GPTBot", "ClaudeBot", "CCBot", "Bytespider", "Amazonbot", "PerplexityBot"),
    *("Google-Extended", "Applebot-Extended", "meta-externalagent", "OAI-SearchBot"),
    *("ChatGPT-User", "anthropic-ai", "Claude-Web", "cohere-ai", "Diffbot", "FacebookBot"),
    *("AhrefsBot", "SemrushBot"),
)
#: URLs for each file.
URLS = (20, 100)


def run(*, is_quick: bool = False) -> dict[str, float]:
    """Print the tables; return what `commands` does."""
    rounds = 1 if is_quick else 3
    bodies = list(data.corpus().values())
    classify(bodies, rounds)
    for each in URLS:
        decide(bodies, each, rounds)
    engines(bodies, rounds)
    with tempfile.TemporaryDirectory() as folder:
        measured = commands(Path(folder), bodies, 1 if is_quick else 2)
        memory(Path(folder), bodies)
    return measured


def count_blocked(bodies: list[str], rules: list[list[str]]) -> int:
    """Count with Protego how many agents are blocked: check / and the path of every rule."""
    blocked = 0
    for body, paths in zip(bodies, rules, strict=True):
        parsed = Protego.parse(body)
        for agent in AGENTS:
            verdicts = {parsed.can_fetch(path, agent) for path in ("/", *paths)}
            blocked += verdicts == {False}
    return blocked


def classify(bodies: list[bytes], rounds: int) -> None:
    column = pa.array(bodies, pa.binary())
    # Protego takes many minutes for the large files.
    small = [body for body in bodies if len(body) <= 2_000]
    texts = [body.decode("utf-8", "replace") for body in small]
    rules = [
        [rule.pattern for group in koster.parse(body).groups for rule in group.rules]
        for body in small
    ]
    few = pa.array(small, pa.binary())
    # The first passes take several times as long as the next ones.
    taken = in_turns(
        {
            "all": lambda: kernel.classify(column, AGENTS),
            "small": lambda: kernel.classify(few, AGENTS),
        },
        rounds=3 * rounds,
        before=3,
    ) | in_turns({"protego": lambda: count_blocked(texts, rules)}, 1)
    facts = in_turns({"facts": lambda: kernel.facts(column)}, rounds, before=1)["facts"]
    faster = taken["protego"] / taken["small"]
    print(f"## The kernel: classify for {len(AGENTS)} agents, on one core\n")
    table(
        ["", "files", "files a second", "koster is"],
        [
            ["koster, all files", len(bodies), f"{len(bodies) / taken['all']:,.0f}", ""],
            ["koster, files of at most 2,000 bytes", len(small),
             f"{len(small) / taken['small']:,.0f}", ""],
            ["a Protego loop over these, / and each rule", len(small),
             f"{len(small) / taken['protego']:,.0f}", f"{faster:,.0f} ×"],
            ["koster, facts, all files", len(bodies), f"{len(bodies) / facts:,.0f}", ""],
        ],
    )  # fmt: skip


def decide(bodies: list[bytes], each: int, rounds: int) -> None:
    urls = [url for _, _, url in data.questions()]
    count = len(bodies) * each
    column = pa.array([urls[number * 7919 % len(urls)] for number in range(count)])
    indices = pa.array([number // each for number in range(count)], pa.int32())
    encoded = pa.DictionaryArray.from_arrays(indices, pa.array(bodies, pa.large_binary()))
    plain = encoded.dictionary_decode()
    order = pa.array([number * 7919 % count for number in range(count)])
    ways = {
        "dictionary-encoded bodies": (encoded, column),
        "adjacent bodies, not encoded": (plain, column),
        "dictionary-encoded, in disorder": (encoded.take(order), column.take(order)),
    }
    print(f"## The kernel: {count:,} decisions, {each} a file, on one core\n")
    rows = []
    for name, (files, pages) in ways.items():
        taken = in_turns(
            {
                "decide": lambda files=files, pages=pages: kernel.decide(files, pages, "GPTBot"),
                "allowed": lambda files=files, pages=pages: kernel.allowed(files, pages, "GPTBot"),
            },
            rounds,
            before=1,
        )
        rows.append([name, *(f"{count / taken[way] / 1e6:.2f}" for way in ("decide", "allowed"))])
    table(["", "decide, M rows/s", "allowed, M rows/s"], rows)


def engines(bodies: list[bytes], rounds: int) -> None:
    """Measure the overhead of the engines with one thread, and the kernel with two threads."""
    files = [b"%b\n# %d" % (body, copy) for copy in range(5) for body in bodies]
    column = pa.array(files, pa.large_binary())
    frame = pl.DataFrame({"body": pl.Series(pl.from_arrow(column))})
    halves = [column.slice(0, len(files) // 2), column.slice(len(files) // 2)]
    agents = list(AGENTS)
    body: Any = pl.col("body")
    with duckdb.connect() as con, ThreadPoolExecutor(2) as pool:
        con.execute("SET threads = 1")
        register(con)
        con.register("files", pa.table({"body": column}))
        con.execute("CREATE TABLE robots AS SELECT * FROM files")
        sql = f"SELECT robots_classify(body, {agents}) AS r FROM robots"
        pool_map = pool.map
        actions: dict[str, Callable[[], object]] = {
            "the kernel": lambda: kernel.classify(column, agents),
            "the kernel, two threads": lambda: list(
                pool_map(lambda half: kernel.classify(half, agents), halves)
            ),
            "DuckDB, one thread": lambda: con.sql(sql).to_arrow_table(),
            "Polars": lambda: frame.select(body.robots.classify(agents)),
        }
        taken = in_turns(actions, rounds, before=1)
    print(f"## Engines: classify for {len(AGENTS)} agents, {len(files):,} files\n")
    base = taken["the kernel"]
    table(
        ["", "a file", "files a second", "over the kernel"],
        [
            [name, format_time(time_ / len(files)), f"{len(files) / time_:,.0f}",
             "" if name.startswith("the") else f"{(time_ - base) / len(files) * 1e6:+.1f} µs"]
            for name, time_ in taken.items()
        ],
    )  # fmt: skip
    faster = base / taken["the kernel, two threads"]
    print(f"Two threads of one process are {faster:.2f} × one.\n")


def write_archive(path: Path, bodies: list[bytes], copies: int = 1, start: int = 0) -> None:
    """Write an archive with request, response and metadata of each fetch."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        info = {"isPartOf": "CC-MAIN-2026-43", "software": "benchmarks"}
        writer.write_record(writer.create_warcinfo_record(path.name, info))
        for copy in range(copies):
            for number, body in enumerate(bodies):
                url = f"https://site-{start + copy * len(bodies) + number}.example/robots.txt"
                request = StatusAndHeaders(
                    "GET /robots.txt HTTP/1.1", [("Host", "x")], is_http_request=True
                )
                head = StatusAndHeaders(
                    "200 OK", [("Content-Type", "text/plain"), ("Server", "nginx")], "HTTP/1.1"
                )  # fmt: skip
                writer.write_record(writer.create_warc_record(url, "request", http_headers=request))
                writer.write_record(
                    writer.create_warc_record(url, "response", io.BytesIO(body), http_headers=head)
                )
                more = io.BytesIO(b"fetchTimeMs: 120\r\ncharset-detected: UTF-8\r\n")
                writer.write_record(
                    writer.create_warc_record(
                        url, "metadata", more, warc_content_type="application/warc-fields"
                    )
                )


#: Where broken records would be counted.
_NONE = BadRecords()

#: Distinct archives; the others are hard links to these.
_DISTINCT_ARCHIVES = 4

#: The archives of a run; more of them where one core is faster, so that it takes about so many
#: seconds: in a few seconds, the start of the processes counts, which is nothing for a whole crawl.
_ARCHIVES = 40
_RUN_SECONDS = 15

#: These runs are compared with one another.
_COMPARED = ("classify, 1 core", "classify, 2 cores")

#: What the machine allows two cores to do.
_SEPARATE = "two runs at once, half of the archives each"

_GOOGLE = "classify --dialect google, 1 core"

_AGENT_OPTIONS = [each for name in AGENTS for each in ("-a", name)]

#: A run that prints the peak memory of its process.
_PEAK_MEMORY_SCRIPT = """
import re, sys
from koster.bulk import runs
question = runs.Question("classify", tuple(sys.argv[3:]))
runs.run(question, runs.find_inputs(sys.argv[1:2]), sys.argv[2], 1)
print(re.search("VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""


def _command(*together: list[object]) -> tuple[float, float]:
    """Return the seconds that commands take, at the same time, and those of their processes.

    The latter on all cores. Each command is given by its arguments.
    """
    before, busy = time.perf_counter(), _busy_children()
    command = [sys.executable, "-m", "koster", "bulk"]
    started = [
        subprocess.Popen([*command, *map(str, arguments)], stdout=subprocess.DEVNULL)
        for arguments in together
    ]
    exit_codes = [process.wait() for process in started]
    if any(exit_codes):
        raise RuntimeError(f"koster bulk failed: {together}")
    return time.perf_counter() - before, _busy_children() - busy


def _busy_children() -> float:
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime


def _read(archive: Path) -> None:
    """Read an archive as columns."""
    (source,) = runs.find_inputs([str(archive)])
    for each in _reading.batches(source, runs.Columns(), _NONE):
        assert each.bodies


def _read_by_fastwarc(archive: Path) -> None:
    """Read the responses of an archive, and nothing else."""
    with archive.open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response):
            record.reader.read()


def _reading_time(read: Callable[[Path], None], inputs: Path) -> tuple[float, float]:
    """Return the seconds to read all archives, and those of the processor.

    From the time for the distinct ones.
    """
    before, busy = time.perf_counter(), time.process_time()
    for number in range(_DISTINCT_ARCHIVES):
        read(inputs / f"{number}.warc.gz")
    often = len(os.listdir(inputs)) / _DISTINCT_ARCHIVES
    return often * (time.perf_counter() - before), often * (time.process_time() - busy)


def _peak_memory(source: Path, out: Path) -> float:
    """Return the peak memory of a run, in bytes."""
    command = [sys.executable, "-c", _PEAK_MEMORY_SCRIPT, str(source), str(out), *AGENTS]
    done = subprocess.run(command, capture_output=True, check=True)
    return int(done.stdout) * 1024


def commands(folder: Path, bodies: list[bytes], rounds: int) -> dict[str, float]:
    """Measure one core and two, from archives; and Spark, if it is installed.

    Returns the files a second on one core, also by Google's dialect, and the speed of two of it.
    """
    copies = 6
    inputs = _write_archives(folder / "archives", bodies, copies)
    taken, _ = _command(["classify", *_AGENT_OPTIONS, inputs, "-j", 1, "-o", folder / "first"])
    parts = _ARCHIVES * max(1, round(_RUN_SECONDS / taken))
    _link(inputs, parts)
    count = len(bodies) * copies * parts
    size = sum(path.stat().st_size for path in inputs.iterdir())
    times = _times(folder, inputs, rounds)
    found = {
        name: (median(taken for taken, _ in some), median(busy for _, busy in some))
        for name, some in times.items()
    }
    print(f"## koster bulk: {count:,} files in {parts} archives, {size / 1e6:,.0f} MB\n")
    table(
        ["", "time", "files a second", "CPU seconds a million files"],
        [
            [name, format_time(taken), f"{count / taken:,.0f}", f"{busy / count * 1e6:,.1f}"]
            for name, (taken, busy) in found.items()
        ],
    )
    one, *others = (
        [taken for taken, _ in times[name]] for name in (*_COMPARED, _SEPARATE, _GOOGLE)
    )
    two, separate, google = (ratio(one, other) for other in others)
    print(
        f"Two cores are {two:.2f} × one; {_SEPARATE}, {separate:.2f} ×.\n"
        f"{_GOOGLE}, is {google:.2f} × as fast as without the option.\n"
    )
    decompression.run((inputs / "0.warc.gz").read_bytes(), rounds)
    _spark(folder, bodies * copies * _ARCHIVES)
    return {
        "archives": count / found[_COMPARED[0]][0],
        "archives google": count / found[_GOOGLE][0],
        "two cores": two,
    }


def _write_archives(folder: Path, bodies: list[bytes], copies: int) -> Path:
    """Write archives with some copies of all files each; return their folder."""
    folder.mkdir()
    for number in range(_DISTINCT_ARCHIVES):
        path = folder / f"{number}.warc.gz"
        write_archive(path, bodies, copies, number * copies * len(bodies))
    _link(folder, _ARCHIVES)
    return folder


def _link(folder: Path, count: int) -> None:
    """Add links to the distinct archives of a folder, up to a number of archives in all."""
    for number in range(len(os.listdir(folder)), count):
        os.link(folder / f"{number % _DISTINCT_ARCHIVES}.warc.gz", folder / f"{number}.warc.gz")


def _times(folder: Path, inputs: Path, rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Return what `_command` and `_reading_time` do in each round, by what they measure."""
    commands: dict[str, list[list[object]]] = {
        **{name: [[inputs, "-j", cores]] for cores, name in enumerate(_COMPARED, 1)},
        _SEPARATE: [[half, "-j", 1] for half in _halves(inputs)],
        _GOOGLE: [[inputs, "-j", 1, "--dialect", "google"]],
    }
    times: dict[str, list[tuple[float, float]]] = {}
    for number in range(rounds):
        for place, (name, some) in enumerate(commands.items()):
            out = folder / f"out-{place}-{number}"
            taken = _command(
                *(
                    ["classify", *_AGENT_OPTIONS, *options, "-o", f"{out}-{which}"]
                    for which, options in enumerate(some)
                )
            )
            times.setdefault(name, []).append(taken)
    for name, read in (("reading alone", _read), ("the same, by fastwarc", _read_by_fastwarc)):
        times[f"{name}, 1 core"] = [_reading_time(read, inputs) for _ in range(rounds)]
    return times


def _halves(inputs: Path) -> list[Path]:
    """Return two folders with half of the archives each."""
    halves = [inputs.with_name(f"half-{number}") for number in range(2)]
    for half in halves:
        half.mkdir()
    for number, path in enumerate(sorted(inputs.iterdir())):
        os.link(path, halves[number % 2] / path.name)
    return halves


def _spark(folder: Path, bodies: list[bytes]) -> None:
    """Measure Spark with two cores and the command, on the same Parquet files."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        print("Spark is not measured: it is not installed\n")
        return
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from koster.bulk import spark as robots

    source = folder / "parquet"
    source.mkdir()
    size = len(bodies) // 6
    for number in range(6):
        part = pa.table(
            {"body": pa.array(bodies[number * size : (number + 1) * size], pa.binary())}
        )
        pq.write_table(part, source / f"{number}.parquet", use_dictionary=False)
    session = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1").getOrCreate()
    )  # fmt: skip
    session.sparkContext.setLogLevel("ERROR")
    frame = session.read.parquet(str(source))
    times: dict[str, list[float]] = {"Spark, local[2]": [], "koster bulk, 2 cores": []}
    for number in range(3):
        start = time.perf_counter()
        classified = robots.classify(frame, AGENTS)
        classified.drop("body").write.mode("overwrite").parquet(str(folder / "spark-out"))
        times["Spark, local[2]"].append(time.perf_counter() - start)
        out = folder / f"beside-{number}"
        taken, _ = _command(["classify", source, *_AGENT_OPTIONS, "-j", 2, "-o", out])
        times["koster bulk, 2 cores"].append(taken)
    session.stop()
    print(f"## Spark beside the command: {len(bodies):,} files in Parquet\n")
    table(
        ["", "time", "files a second"],
        [
            [name, format_time(median(some)), f"{len(bodies) / median(some):,.0f}"]
            for name, some in times.items()
        ],
    )
    print("The session of Spark was there already; the command counts from its start.\n")


def memory(folder: Path, bodies: list[bytes]) -> None:
    """Measure the peak memory of a run by the size of its one input."""
    rows = []
    for copies in (1, 10, 30):
        cells = [f"{copies} ({copies * sum(map(len, bodies)) / 1e6:,.0f} MB)"]
        archive, parquet = folder / f"{copies}.warc.gz", folder / f"{copies}.parquet"
        write_archive(archive, bodies, copies)
        with pq.ParquetWriter(parquet, pa.schema([("body", pa.binary())])) as writer:
            for _ in range(copies):
                writer.write_table(pa.table({"body": pa.array(bodies, pa.binary())}))
        for path in (archive, parquet):
            peak = _peak_memory(path, folder / f"memory-{path.name}")
            cells.append(f"{peak / 1e6:,.0f} MB")
            path.unlink()
        rows.append(cells)
    print("## Memory: the most that a run takes, by the number of copies in its input file\n")
    table(["copies of the corpus", "an archive", "Parquet"], rows)


def main() -> None:
    """Print only these tables: ``python -m benchmarks.archives``."""
    run(is_quick="--quick" in sys.argv)


if __name__ == "__main__":
    main()

"""Fetching, caching and pacing: ``python -m benchmarks.fetching [--quick]``.

Everything runs on loopback: the server, the names (a patched resolver returns one address) and
Redis. Rounds of the client and of plain httpx2 alternate.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import random
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import koster
from koster.cache import SqliteCache
from koster.cache.store import encode_entry
from koster.fetch import FleetPacer, MockTransport
from koster.freshness import Answer, Entry

from . import data
from .measure import format_time, table

ORIGINS = 5_000
AT_ONCE = 100
ENTRIES = 100_000
WORKERS = 20
NAME = "FooBot/1.0 (+https://foo.example/bot)"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fetching", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few seconds of everything")
    run(is_quick=parser.parse_args().quick)


def run(*, is_quick: bool) -> None:
    """Print the tables."""
    origins(rounds=1 if is_quick else 2)
    warm()
    warm_start(ENTRIES // 100 if is_quick else ENTRIES)
    crash_safety(seconds=5 if is_quick else 20)
    fleet(seconds=5 if is_quick else 10)


# Many origins


def origins(rounds: int) -> None:
    print(f"## {ORIGINS:,} origins, {AT_ONCE} at a time, each fetched once over loopback\n")
    taken: dict[str, list[dict[str, Any]]] = {"koster": [], "httpx2": []}
    for _ in range(rounds):
        for name, results in taken.items():
            with _server() as port:
                done = _child(name, str(port))
                counts = _request_counts(port)
            assert len(counts) == ORIGINS, (name, len(counts))
            done["max"] = max(counts.values())
            results.append(done)
    rate = {
        name: statistics.median(ORIGINS / each["seconds"] for each in results)
        for name, results in taken.items()
    }
    ratios = [
        other["seconds"] / own["seconds"]
        for own, other in zip(taken["koster"], taken["httpx2"], strict=True)
    ]
    table(
        ["client", "fetches a second", "of httpx2", "asked of an origin, at most",
         "RSS after 1,000", "after all", "grown"],
        (
            [name, f"{rate[name]:,.0f}",
             f"{statistics.median(ratios):.0%}" if name == "koster" else "",
             max(each["max"] for each in results),
             *_memory(results)]
            for name, results in taken.items()
        ),
    )  # fmt: skip
    print(
        "httpx2 reads each body and does nothing with it; koster decodes, parses, decides and keeps"
    )
    print("the last 1,000 entries.\n")


def _memory(results: list[dict[str, Any]]) -> list[str]:
    first = statistics.median(each["first"] for each in results)
    last = statistics.median(each["last"] for each in results)
    return [f"{first / 1024:.0f} MiB", f"{last / 1024:.0f} MiB", f"{last / first - 1:.0%}"]


@contextlib.contextmanager
def _server() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.fetching_children", "server", str(port)]
    )
    try:
        for _ in range(500):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.02)
        yield port
    finally:
        process.terminate()
        process.wait()


def _request_counts(port: int) -> dict[str, int]:
    """Return the number of requests that the server received, by host."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"GET /counts HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answer = b""
        while part := connection.recv(1 << 16):
            answer += part
    found: dict[str, int] = json.loads(answer.partition(b"\r\n\r\n")[2])
    return found


def _child(task: str, *arguments: str) -> Any:
    command = [sys.executable, "-m", "benchmarks.fetching_children", task, *arguments]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


# Caches


@contextlib.contextmanager
def client_of_one_site() -> Iterator[tuple[koster.RobotsClient, str]]:
    """Open a client that has a site, and a URL of it."""
    body = next(body for body in data.corpus().values() if len(body) > 3_000)
    sites = MockTransport({"https://example.com": body})
    url = "https://example.com/some/page?x=1"
    with koster.RobotsClient(NAME, transport=sites) as client:
        client.decide(url)
        yield client, url


def warm() -> None:
    print("## A warm decision through the client\n")
    with client_of_one_site() as (client, url):
        robots = client.robots(url).robots
        assert robots is not None
        rules = robots.rules_for(NAME)
        taken = {
            "Rules.allowed": _each(rules.allowed, url),
            "Rules.decide": _each(rules.decide, url),
            "RobotsClient.allowed": _each(client.allowed, url),
            "RobotsClient.decide": _each(client.decide, url),
        }
    table(["call", "takes"], ([name, format_time(each)] for name, each in taken.items()))


def _each(ask: Any, url: str, count: int = 20_000) -> float:
    times = []
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(count):
            ask(url)
        times.append(time.perf_counter() - start)
    return statistics.median(times) / count


def _entry(number: int, body: bytes) -> Entry:
    now = datetime.now(UTC)
    origin = f"https://site{number}.example"
    return Entry(
        origin,
        Answer.FILE,
        f"{origin}/robots.txt",
        (),
        200,
        "",
        body,
        now,
        now + timedelta(hours=20),
    )


def warm_start(count: int) -> None:
    print(f"## SQLite: the first decision of a new process, with {count:,} entries in the file\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cache.sqlite"
        cache = SqliteCache(path)
        cache.put("first", _entry(0, b""))
        cache.close()
        bodies = list(data.corpus().values())
        with contextlib.closing(sqlite3.connect(path)) as raw:
            rows = (
                (f"https://site{n}.example", encode_entry(_entry(n, bodies[n % len(bodies)])))
                for n in range(count)
            )
            raw.executemany("INSERT INTO entries VALUES (?, ?)", rows)
            raw.commit()
        size = path.stat().st_size
        taken = []
        for _ in range(5):
            start = time.perf_counter()
            inside = _child("first_decision", str(path), str(random.randrange(count)))
            taken.append((time.perf_counter() - start, inside["opened"]))
    whole, opened = (statistics.median(each) for each in zip(*taken, strict=True))
    from_client, from_start = format_time(opened), format_time(whole)
    print(f"{from_client} from the making of the client to the decision, {from_start} with the")
    print(f"start of Python and its imports; the file has {size / 1e6:,.0f} MB.\n")


def crash_safety(seconds: float) -> None:
    print(f"## SQLite: 8 processes write for {seconds:g} s, and are killed (-9) again and again\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cache.sqlite"
        until = time.monotonic() + seconds
        acknowledged: dict[str, int] = {}
        kills = writes = 0
        writers = {f"w{number}": _writer(path, f"w{number}", 0) for number in range(8)}
        while time.monotonic() < until:
            time.sleep(0.15)
            name = random.choice(list(writers))
            last = _stop(writers[name])
            writes += max(last - acknowledged.get(name, 0), 0)
            acknowledged[name] = max(last, acknowledged.get(name, 0))
            kills += 1
            stored = _stored_number(path, name)
            assert stored >= acknowledged[name], (
                f"lost: {name} was acknowledged {acknowledged[name]}, {stored} is stored"
            )
            writers[name] = _writer(path, name, stored)
        for name, writer in writers.items():
            last = _stop(writer)
            writes += max(last - acknowledged.get(name, 0), 0)
            assert _stored_number(path, name) >= last, f"lost: {name}"
        with contextlib.closing(sqlite3.connect(path)) as raw:
            (sound,) = raw.execute("PRAGMA integrity_check").fetchone()
    print(f"{kills} kills, {writes:,} acknowledged writes ({writes / seconds:,.0f} a second); none")
    print(f"lost; integrity_check: {sound}.\n")


def _writer(path: Path, name: str, first: int) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-m",
        "benchmarks.fetching_children",
        "write",
        str(path),
        name,
        str(first),
    ]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def _stop(writer: subprocess.Popen[bytes]) -> int:
    """Kill a writer; return the last number that it acknowledged."""
    writer.send_signal(signal.SIGKILL)
    output = writer.communicate()[0]
    lines = output[: output.rfind(b"\n") + 1].split()
    return int(lines[-1]) if lines else 0


def _stored_number(path: Path, name: str) -> int:
    cache = SqliteCache(path)
    entry = cache.get(name)
    cache.close()
    if entry is None or entry.status is None:
        return 0
    assert entry.body == b"%d\n" % entry.status * 1000
    return entry.status


# A fleet


def fleet(seconds: float) -> None:
    print(f"## {WORKERS} workers on one Redis keep one site's interval, for {seconds:g} s each\n")
    program = shutil.which("redis-server")
    if program is None:
        print("Not measured: there is no redis-server on this machine.\n")
        return
    rows = []
    with _redis(program) as url:
        for interval in (0.5, 1.0):
            began = _grants(url, interval, seconds)
            gaps = [second - first for first, second in pairwise(began)]
            rows.append([
                f"{interval:g} s", len(began), f"{seconds / interval:.0f}",
                f"{min(gaps) / interval:.2%}", f"{statistics.median(gaps) / interval:.2%}",
            ])  # fmt: skip
    table(["interval", "grants", "at most", "closest two", "median"], rows)
    print("As the workers see it: when they were granted a turn, by the clock of the machine.\n")


@contextlib.contextmanager
def _redis(program: str) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    options = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    process = subprocess.Popen([program, "--port", str(port), *options], stdout=subprocess.DEVNULL)
    try:
        for _ in range(500):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.02)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait()


def _grants(url: str, interval: float, seconds: float) -> list[float]:
    context = multiprocessing.get_context("spawn")
    results: Any = context.Queue()
    start = time.time() + 4
    workers = [
        context.Process(target=work, args=(url, interval, start, start + seconds, results))
        for _ in range(WORKERS)
    ]
    for worker in workers:
        worker.start()
    began = sorted(moment for _ in workers for moment in results.get(timeout=seconds + 60))
    for worker in workers:
        worker.join()
    return began


def work(url: str, interval: float, start: float, until: float, results: Any) -> None:
    """Take turns until the time ``until``."""
    pacer = FleetPacer(url, prefix=f"bench{interval}:")
    rules = koster.parse(f"User-agent: *\nCrawl-delay: {interval}").rules_for("FooBot")
    began = []
    time.sleep(max(start - time.time(), 0))
    while time.time() < until:
        left = pacer.turn("https://example.com FooBot", rules, datetime.now(UTC))
        if left == 0:
            began.append(time.time())
        else:
            time.sleep(left)
    results.put(began)


if __name__ == "__main__":
    main()

"""Processes that run out of file descriptors."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from koster.cache import SqliteCache
from tests.helpers import archives, children, commands, server
from tests.helpers.bulk_runs import contents
from tests.helpers.fetching import FILE, KINDS

#: How many descriptors a client is left with.
LEFT = [0, 1, 3, 10]
LEFT_CACHED = [0, 1, 2, 3, 4]


@pytest.fixture(scope="module")
def ports() -> Iterator[list[int]]:
    """The ports of 25 sites that take a while to answer."""
    with ExitStack() as stack:
        sites = [stack.enter_context(server.running()) for _ in range(25)]
        for site in sites:
            site.robots(body=FILE, delay=0.2)
        yield [site.port for site in sites]


class Exhausted:
    """What clients do without descriptors: one process for each kind, with all numbers."""

    def __init__(self, folder: Path, ports: list[int]) -> None:
        self._folder = folder
        self._ports = ports
        self._found: dict[tuple[str, bool], dict[str, Any]] = {}

    def path(self, kind: str, left: int) -> Path:
        return self._folder / kind / f"{left}.sqlite"

    def client(self, kind: str, left: int) -> list[Any]:
        """Return the decisions of a client without and with descriptors."""
        decisions: list[Any]
        decisions, _ = self._results(kind, "", LEFT)[str(left)]
        return decisions

    def cached(self, kind: str, left: int) -> tuple[list[Any], list[str]]:
        """Return the same for a client with a cache, and the failures of the cache."""
        folder = self._folder / kind
        folder.mkdir(exist_ok=True)
        decisions, failures = self._results(kind, folder, LEFT_CACHED)[str(left)]
        return decisions, failures

    def _results(self, kind: str, folder: Path | str, numbers: list[int]) -> dict[str, Any]:
        key = kind, bool(folder)
        if key not in self._found:
            task = children.command(
                "exhaust", kind, folder, ",".join(map(str, numbers)), *self._ports
            )
            process = subprocess.run(task, check=False, capture_output=True, text=True, timeout=90)
            assert process.returncode == 0, process.stderr
            assert process.stderr.count("Traceback") == 0
            self._found[key] = json.loads(process.stdout)
        return self._found[key]


#: Tests that share the results.
SHARED = pytest.mark.xdist_group("exhausted")


@pytest.fixture(scope="module")
def exhausted(tmp_path_factory: pytest.TempPathFactory, ports: list[int]) -> Exhausted:
    return Exhausted(tmp_path_factory.mktemp("exhausted"), ports)


@SHARED
@pytest.mark.parametrize("left", LEFT)
@pytest.mark.parametrize("kind", KINDS)
def test_client_without_descriptors(
    kind: str, left: int, exhausted: Exhausted, ports: list[int]
) -> None:
    """No question raises an error or hangs, nothing is allowed, and it ends with the fault."""
    decisions = exhausted.client(kind, left)
    without, afterwards = decisions[: len(ports)], decisions[len(ports) :]
    assert afterwards == [[False, ""]] * len(ports)
    assert not any(allowed for allowed, _ in without)
    failed = [why for _, why in without if why]
    assert len(failed) >= len(ports) - 3 * left
    assert all(why.startswith("connection failed: ") for why in failed), set(failed)


@SHARED
@pytest.mark.parametrize("kind", KINDS)
def test_reason_says_that_descriptors_ran_out(kind: str, exhausted: Exhausted) -> None:
    """An unreachable site has a reason, which says what happened."""
    reasons = {why for _, why in exhausted.client(kind, 1) if why}
    assert reasons == {"connection failed: [Errno 24] Too many open files"}


@SHARED
@pytest.mark.parametrize("left", LEFT_CACHED)
@pytest.mark.parametrize("kind", KINDS)
def test_cache_without_descriptors(
    kind: str, left: int, exhausted: Exhausted, ports: list[int]
) -> None:
    """A cache that fails later stops no decision, is reported once, and is used again."""
    path = exhausted.path(kind, left)
    decisions, failures = exhausted.cached(kind, left)
    assert decisions[len(ports) :] == [[False, ""]] * len(ports)
    assert not any(allowed for allowed, _ in decisions)
    assert len(failures) <= 1
    if left == 0:
        assert failures == [f"{path}: unable to open database file"]
    with closing(SqliteCache(path)) as cache:
        stored = [cache.get(f"http://127.0.0.1:{port}") for port in ports]
        assert all(entry is not None and entry.body == FILE for entry in stored)


def test_first_lookup_without_descriptors() -> None:
    """It needs no module that is not imported yet."""
    code = """
import contextlib, os
from koster.fetch import RobotsClient
client = RobotsClient("FooBot/1.0")
with contextlib.suppress(OSError):
    while True:
        os.open(os.devnull, os.O_RDONLY)
print(client.robots("http://127.0.0.1:1/").why)
"""
    limit = at_most(100)
    process = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, preexec_fn=limit
    )
    assert process.stderr == ""
    assert process.stdout == "connection failed: [Errno 24] Too many open files\n"


def at_most(number: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (number, number))


def check_sites(ports: list[int], folder: Path, number: int) -> tuple[int, str, str]:
    """Check a URL of each site with so many descriptors; return exit code, output and errors."""
    urls = " ".join(f"http://127.0.0.1:{port}/private" for port in ports)
    result = commands.run(f"check {urls}", folder, folder, limit=at_most(number))
    return result.returncode, result.stdout, result.stderr


def test_check_with_enough_descriptors(ports: list[int], tmp_path: Path) -> None:
    code, output, errors = check_sites(ports, tmp_path, 64)
    assert (code, errors) == (1, "")
    assert output.count("Disallow: /private") == len(ports)


@pytest.mark.parametrize("number", [6, 8, 12])
def test_check_with_few_descriptors(number: int, ports: list[int], tmp_path: Path) -> None:
    """Sites that cannot be fetched are answered with a reason, and the others are not lost."""
    code, output, errors = check_sites(ports, tmp_path, number)
    assert code == 3
    # A crawler that fails, too, is the only thing to say about such a site.
    notes = "koster: if crawlers cannot fetch it either: "
    assert [line for line in errors.splitlines() if not line.startswith(notes)] == []
    lines = [line for line in output.splitlines() if line.startswith("blocked")]
    assert len(lines) == len(ports)
    assert all("Disallow: /private" in each or "Too many open files" in each for each in lines)


@pytest.fixture(scope="module")
def archives_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with archives in ``in``, and the answers about them in ``whole``."""
    folder = tmp_path_factory.mktemp("archives")
    for number in range(4):
        archives.write(folder / "in" / f"part-{number}.warc.gz", archives.sites(30, 30 * number))
    assert (
        commands.run(BULK.replace("{disk}", "{data}/whole") + " -j 1", folder, folder).returncode
        == 0
    )
    return folder


BULK = "bulk classify {data}/in -a GPTBot -o {disk}"


@pytest.mark.parametrize(
    ("jobs", "number"),
    [*((1, number) for number in (5, 6, 8)), *((2, number) for number in range(8, 25, 2))],
)
def test_bulk_with_few_descriptors(
    jobs: int, number: int, archives_folder: Path, tmp_path: Path
) -> None:
    """A run that fails says so; its Parquet files are complete, and the next run resumes."""
    expected = contents(archives_folder / "whole")
    out = tmp_path / "out"
    line = f"{BULK} -j {jobs}"
    result = commands.run(line, archives_folder, out, limit=at_most(number))
    assert "Traceback" not in result.stderr
    assert (result.returncode == 3) == ("Too many open files" in result.stderr)
    assert contents(out).items() <= expected.items()
    assert commands.run(line, archives_folder, out).returncode == 0
    assert contents(out) == expected
    assert {path.name for path in out.iterdir()} == {*expected, ".koster-bulk"}

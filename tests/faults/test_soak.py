"""Minutes of clients and of the service, whose memory, descriptors and threads stay bounded.

``KOSTER_SOAK_SECONDS`` sets the length: `make soak` takes ten minutes. Two clients, one for threads and one for asyncio, and
``koster serve`` run at once, each in a process of its own.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.helpers import server, serving, soaking
from tests.helpers.random_requests import RATE, child_pids, send_request

SECONDS = float(os.environ.get("KOSTER_SOAK_SECONDS", "120"))
#: The part of the time after which nothing may grow any more, and the number of samples.
WARM_UP, SAMPLES = 0.2, 100

#: What is allowed on top of the most during the warm-up: memory by a fifth and some MiB.
MEMORY_FACTOR, MEMORY_MIB = 1.2, 8
THREADS, DESCRIPTORS = 8, 16

#: The sites of each kind: in ten minutes, more than a client keeps in memory.
SITES = int(max(100, min(600, SECONDS)))


@dataclass
class Subject:
    """A process: samples of its resident MiB, threads and descriptors, and its report."""

    pids: Callable[[], list[int]]
    memory: list[int] = field(default_factory=list)
    threads: list[int] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)
    report: dict[str, Any] = field(default_factory=dict)

    def sample(self) -> None:
        """Add a sample; of several processes, the largest ones."""
        found = [soaking.usage(pid) for pid in self.pids()]
        for samples, values in zip(
            (self.memory, self.threads, self.descriptors), zip(*found, strict=True), strict=True
        ):
            samples.append(max(values))


class Sites:
    """A server for each kind of site; `change` changes those that do."""

    def __init__(self, stack: ExitStack) -> None:
        self._servers = {kind: stack.enter_context(server.running()) for kind in soaking.EXPECTED}
        self.ports = {kind: each.port for kind, each in self._servers.items()}
        good = b"User-agent: *\nDisallow: /private\n"
        target = f"http://good-0.test:{self.ports['good']}/robots.txt"
        lifetime = {"Cache-Control": "max-age=3600"}
        answers: dict[str, tuple[int, bytes, dict[str, Any]]] = {
            "good": (200, good, {"headers": {"ETag": '"1"', **lifetime}}),
            "redirecting": (301, b"", {"headers": {"Location": target}}),
            "large": (200, good + b"Disallow: /0123456789\n" * 15_000, {"headers": lifetime}),
            "missing": (404, b"", {"headers": lifetime}),
            "failing": (500, b"", {}),
            "broken": (200, b"", {"garbage": True}),
            "slow": (200, good, {"delay": soaking.DELAY}),
        }
        for kind, (status, body, options) in answers.items():
            self._servers[kind].robots(status, body, **options)
        self._count = 0
        self.change()

    @property
    def url(self) -> str:
        return self._servers["good"].url

    def change(self) -> None:
        """Change a site, and forget the requests."""
        self._count += 1
        statuses = (200, 404, 500, 200)
        body = b"User-agent: *\nDisallow: /%d\n" % self._count
        self._servers["changing"].robots(statuses[self._count % 4], body)
        for each in self._servers.values():
            each.requests.clear()


@contextmanager
def running_client(kind: str, folder: Path, sites: Sites) -> Iterator[Subject]:
    path = folder / f"{kind}.sqlite"
    arguments = [kind, SECONDS, SITES, path, json.dumps(sites.ports)]
    process = subprocess.Popen(
        [sys.executable, soaking.__file__, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        # With an arena for each thread, what they freed hides what grows.
        env=os.environ | {"MALLOC_ARENA_MAX": "1"},
    )
    subject = Subject(lambda: [process.pid])
    try:
        yield subject
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        subject.report = json.loads(output)
    finally:
        process.kill()
        process.wait()


@contextmanager
def running_service(folder: Path) -> Iterator[tuple[Subject, Subject, str]]:
    """Run the service; yield it, its workers and its URL."""
    options = ("--rate", 0, "--work-per-minute", 0, "--let-through", "127.0.0.1/32")
    with serving.as_command(*options, "--cache", folder / "service.sqlite") as command:
        pid = command.process.pid
        service, workers = Subject(lambda: [pid]), Subject(lambda: child_pids(pid))
        yield service, workers, command.url


def ask_and_sample(url: str, sites: Sites, subjects: list[Subject]) -> dict[str, Any]:
    """Ask the service, and take samples, until the time is over; return its answers."""
    rng = random.Random(16)
    statuses: Counter[int] = Counter()
    start = time.monotonic()
    # A little less than the clients run.
    seconds = SECONDS - 1
    with httpx2.Client(base_url=url, timeout=30) as api:
        while (elapsed := time.monotonic() - start) < seconds:
            statuses[send_request(api, sites.url, rng)] += 1
            if elapsed * SAMPLES / seconds >= len(subjects[0].memory):
                sites.change()
                for subject in subjects:
                    subject.sample()
            time.sleep(max(0, statuses.total() / RATE - (time.monotonic() - start)))
    return {"asked": dict(statuses)}


@pytest.fixture(scope="module")
def soak(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Subject]:
    """Run clients and the service at once."""
    folder = tmp_path_factory.mktemp("soak")
    with ExitStack() as stack:
        sites = Sites(stack)
        service, workers, url = stack.enter_context(running_service(folder))
        subjects = {"service": service, "workers": workers}
        for kind in soaking.RUN:
            subjects[kind] = stack.enter_context(running_client(kind, folder, sites))
        service.report = ask_and_sample(url, sites, list(subjects.values()))
    return subjects


@pytest.mark.parametrize("name", ["threads", "asyncio", "service", "workers"])
def test_memory_threads_and_descriptors_are_bounded(name: str, soak: dict[str, Subject]) -> None:
    """After a fifth of the time nothing grows any more, however long it goes on."""
    subject = soak[name]
    memory = [each >> 20 for each in subject.memory]
    print(
        f"\n{name}, {SECONDS:g} s: MiB {memory[:: SAMPLES // 10]}, threads "
        f"{min(subject.threads)} to {max(subject.threads)}, descriptors "
        f"{min(subject.descriptors)} to {max(subject.descriptors)}, {subject.report}"
    )
    count = int(len(memory) * WARM_UP) + 1
    assert max(memory) <= max(memory[:count]) * MEMORY_FACTOR + MEMORY_MIB, memory
    for samples, more in ((subject.threads, THREADS), (subject.descriptors, DESCRIPTORS)):
        assert max(samples) <= max(samples[:count]) + more, samples


@pytest.mark.parametrize("kind", soaking.RUN)
def test_clients_answer_right_and_leave_nothing_open(kind: str, soak: dict[str, Subject]) -> None:
    """No question raises an error; a closed client has no threads and descriptors."""
    report = soak[kind].report
    assert report["wrong"] == []
    # A busy machine may be as slow as a slow site.
    assert all(why.startswith("no complete response") for why in report["failed"].values()), report
    assert sum(report["asked"].values()) > SECONDS
    assert report["left"] == [0, 0]


def test_service_answers(soak: dict[str, Subject]) -> None:
    statuses = soak["service"].report["asked"]
    assert not any(status >= 500 for status in statuses), statuses

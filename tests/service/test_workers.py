"""Workers: fair scheduling, time limits, and interrupted processes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import httpx2
import pytest
from anyio.abc import TaskGroup

from koster.service import ServiceSettings
from koster.service._fair import Lane, WorkTime
from tests.helpers import serving
from tests.helpers.api import BROKEN, post, problem
from tests.helpers.support import EVERYTHING, ROOT


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_work_time_budget_recovers() -> None:
    clock = Clock()
    time = WorkTime(30, clock)
    assert (time.used("a"), time.wait("a")) == (0, 0)
    time.charge("a", 25)
    assert time.wait("a") == 0
    time.charge("a", 10)
    assert time.wait("a") == pytest.approx(10)
    assert time.wait("b") == 0
    clock.now += 9
    assert time.wait("a") == pytest.approx(1)
    clock.now += 2
    assert time.wait("a") == 0
    clock.now += 1_000
    assert time.used("a") == 0
    unlimited = WorkTime(0, clock)
    unlimited.charge("a", 1e6)
    assert unlimited.wait("a") == 0
    assert unlimited.used("a") > 0


class LaneClients:
    """Clients that wait for a lane; each records its turn and holds its slot until `end`."""

    def __init__(self, lane: Lane[int], group: TaskGroup) -> None:
        self.lane = lane
        self.group = group
        self.running: list[str] = []
        self.ends: dict[str, anyio.Event] = {}

    async def start(self, *names: str) -> None:
        for name in names:
            self.ends[name] = anyio.Event()
            self.group.start_soon(self._use, name)
            await anyio.wait_all_tasks_blocked()

    async def end(self, *names: str) -> None:
        for name in names:
            self.ends[name].set()
            await anyio.wait_all_tasks_blocked()

    async def _use(self, name: str) -> None:
        async with self.lane.slot(name[0], 60):
            self.running.append(name)
            await self.ends[name].wait()
            self.running.remove(name)


def test_clients_take_turns() -> None:
    async def main() -> None:
        clock = Clock()
        time = WorkTime(0, clock)
        async with anyio.create_task_group() as group:
            clients = LaneClients(Lane([0], time), group)
            await clients.start("a1", "a2", "a3", "b1", "b2", "c1")
            order = []
            while clients.running:
                (name,) = clients.running
                order.append(name)
                await clients.end(name)
            # Clients with the same work time alternate.
            assert order == ["a1", "a2", "b1", "c1", "a3", "b2"]

    anyio.run(main)


def test_client_with_the_least_work_time_is_next() -> None:
    async def main() -> None:
        time = WorkTime(0, Clock())
        time.charge("a", 10)
        time.charge("b", 5)
        async with anyio.create_task_group() as group:
            clients = LaneClients(Lane([0], time), group)
            await clients.start("x1", "a1", "a2", "b1", "c1")
            await clients.end("x1")
            assert clients.running == ["c1"]
            await clients.end("c1")
            assert clients.running == ["b1"]
            await clients.end("b1")
            assert clients.running == ["a1"]
            await clients.end("a1", "a2")

    anyio.run(main)


def test_one_client_cannot_use_all_workers() -> None:
    async def main() -> None:
        async with anyio.create_task_group() as group:
            clients = LaneClients(Lane([0, 1, 2], WorkTime(0, Clock())), group)
            await clients.start("a1", "a2", "a3", "a4")
            # The last worker is reserved for another client.
            assert clients.running == ["a1", "a2"]
            await clients.start("b1")
            assert clients.running == ["a1", "a2", "b1"]
            await clients.start("c1")
            await clients.end("a1")
            assert clients.running == ["a2", "b1", "c1"]
            await clients.end("b1", "c1")
            assert clients.running == ["a2", "a3"]
            await clients.end("a2", "a3", "a4")

    anyio.run(main)


def test_short_requests_do_not_wait_for_long_ones() -> None:
    """The only worker for long requests is busy, and another long request waits for it."""
    hard = json.dumps({"robots": serving.hard()}).encode()
    head = b"POST /v1/lint HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    settings = ServiceSettings(rate=0, workers=1, work_per_minute=0, work_timeout=60)
    with (
        serving.in_thread(settings) as url,
        serving.connected(url) as first,
        serving.connected(url) as second,
        httpx2.Client(base_url=url, timeout=30) as api,
    ):
        for connection in (first, second):
            connection.sendall(head + b"Content-Length: %d\r\n\r\n" % len(hard) + hard)
        while "koster_work_in_progress 2.0" not in api.get("/metrics").text:
            time.sleep(0.1)
        assert post(api, "lint", {"robots": ""})
        assert "koster_work_in_progress 2.0" in api.get("/metrics").text


def test_cancelled_wait_takes_no_slot() -> None:
    async def main() -> None:
        lane = Lane([0], WorkTime(0, Clock()))
        async with anyio.create_task_group() as group:
            clients = LaneClients(lane, group)
            await clients.start("a1")
            with pytest.raises(TimeoutError):
                async with lane.slot("b", 0.05):
                    pytest.fail("there was no slot")
            with anyio.move_on_after(0.05) as scope:
                async with lane.slot("b", 60):
                    pytest.fail("there was no slot")
            assert scope.cancelled_caught
            await clients.start("c1")
            await clients.end("a1")
            assert clients.running == ["c1"]
            await clients.end("c1")
        assert lane._free == [0]
        assert not lane._waiting
        assert not lane._running

    anyio.run(main)


@pytest.mark.thorough
def test_work_time_limit_sends_retry_after() -> None:
    """Over the limit the response is 429 with Retry-After; other clients are not affected."""
    settings = ServiceSettings(rate=0, work_timeout=0.5, work_per_minute=0.5)
    with serving.in_thread(settings) as url, httpx2.Client(base_url=url, timeout=30) as api:
        problem(api.post("/v1/lint", json={"robots": serving.hard()}), 422, "too-much-work")
        answer = api.post("/v1/lint", json={"robots": serving.hard()})
        while answer.status_code == 422:
            answer = api.post("/v1/lint", json={"robots": serving.hard()})
        problem(answer, 429, "too-much-work-time")
        assert 1 <= int(answer.headers["retry-after"]) <= 300
        problem(api.post("/v1/lint", json={"robots": ""}), 429, "too-much-work-time")
        # Requests that need no worker are answered.
        assert post(api, "decide", {"robots": "", "urls": ["/"]})
        transport = httpx2.HTTPTransport(local_address="127.0.0.2")
        with httpx2.Client(base_url=url, transport=transport, timeout=30) as other:
            assert post(other, "lint", {"robots": ""})


def test_worker_imports_no_clients() -> None:
    """Nor a web framework: it needs a third of the memory without them."""
    code = "import sys, koster._worker.loop; print(*sys.modules)"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert not {b"ssl", b"asyncio", b"pydantic", b"idna"} & {*process.stdout.split()}


INTERRUPTED = """
import json, random, sys
from koster._worker import answers
from koster._worker import loop
chance = random.Random(1)
LIMIT = 1 << 20
files = [open(path, "rb").read() for path in sys.argv[2:]]
def all_answers():
    results = []
    for body in files:
        results.append(answers.lint(LIMIT, body, ["RFC9309", "GOOGLE"]).decode())
        results.append(answers.audit_crawlers(LIMIT, body, "RFC9309").decode())
        dialects = ["MK1996", "GOOGLE", "EXTENDED2"]
        results.append(answers.disagree(LIMIT, body, "RFC9309", dialects, ["*"]).decode())
    return results
timeouts = 0
while timeouts < int(sys.argv[1]):
    for body in files:
        seconds = chance.uniform(0.0005, 0.02)
        result = loop.run("lint", (LIMIT, body, ["RFC9309", "GOOGLE"]), seconds, 9)
        timeouts += result[0] == loop.TIMED_OUT
        arguments = LIMIT, body, "GOOGLE", ["MK1994"], ["x"]
        result = loop.run("disagree", arguments, 9, seconds)
        timeouts += result[0] == loop.TIMED_OUT
        loop.run("audit_crawlers", (LIMIT, body, "GOOGLE"), seconds, 9)
print(json.dumps(all_answers()))
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_interrupted_process_answers_later_requests(tmp_path: Path) -> None:
    files = [ROOT / "examples/robots.txt", tmp_path / "second.txt"]
    files[1].write_text(BROKEN * 5 + "User-agent: GPTBot\nDisallow: /*a*b*c$\nAllow: /*b\n")
    outputs = []
    for timeouts in ("30" if EVERYTHING else "8", "0"):
        process = subprocess.run(
            [sys.executable, "-c", INTERRUPTED, timeouts, *map(str, files)],
            capture_output=True, text=True, check=True, timeout=120,
        )  # fmt: skip
        outputs.append(process.stdout)
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) > 1_000

"""Workers: turns, time, and processes."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import anyio
import httpx2
import pytest
import serving
from anyio.abc import TaskGroup
from api import BROKEN, post, problem
from support import ROOT

from koster.service import Settings
from koster.service._fair import Lane, WorkTime


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_worker_time_is_forgiven() -> None:
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


class Users:
    """Clients that wait for a lane; each notes when its turn comes, and holds it until told."""

    def __init__(self, lane: Lane[int], group: TaskGroup) -> None:
        self.lane = lane
        self.group = group
        self.running: list[str] = []
        self.ends: dict[str, anyio.Event] = {}

    async def ask(self, *names: str) -> None:
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
            users = Users(Lane([0], time), group)
            await users.ask("a1", "a2", "a3", "b1", "b2", "c1")
            order = []
            while users.running:
                (name,) = users.running
                order.append(name)
                await users.end(name)
            # Those that have used the same: by turns, not all of the first client.
            assert order == ["a1", "a2", "b1", "c1", "a3", "b2"]

    anyio.run(main)


def test_who_used_the_least_is_next() -> None:
    async def main() -> None:
        time = WorkTime(0, Clock())
        time.charge("a", 10)
        time.charge("b", 5)
        async with anyio.create_task_group() as group:
            users = Users(Lane([0], time), group)
            await users.ask("x1", "a1", "a2", "b1", "c1")
            await users.end("x1")
            assert users.running == ["c1"]
            await users.end("c1")
            assert users.running == ["b1"]
            await users.end("b1")
            assert users.running == ["a1"]
            await users.end("a1", "a2")

    anyio.run(main)


def test_one_client_does_not_take_all_workers() -> None:
    async def main() -> None:
        async with anyio.create_task_group() as group:
            users = Users(Lane([0, 1, 2], WorkTime(0, Clock())), group)
            await users.ask("a1", "a2", "a3", "a4")
            # The last worker is for somebody else.
            assert users.running == ["a1", "a2"]
            await users.ask("b1")
            assert users.running == ["a1", "a2", "b1"]
            await users.ask("c1")
            await users.end("a1")
            assert users.running == ["a2", "b1", "c1"]
            await users.end("b1", "c1")
            assert users.running == ["a2", "a3"]
            await users.end("a2", "a3", "a4")

    anyio.run(main)


def test_who_stops_waiting_takes_no_slot() -> None:
    async def main() -> None:
        lane = Lane([0], WorkTime(0, Clock()))
        async with anyio.create_task_group() as group:
            users = Users(lane, group)
            await users.ask("a1")
            with pytest.raises(TimeoutError):
                async with lane.slot("b", 0.05):
                    pytest.fail("there was no slot")
            with anyio.move_on_after(0.05) as scope:
                async with lane.slot("b", 60):
                    pytest.fail("there was no slot")
            assert scope.cancelled_caught
            await users.ask("c1")
            await users.end("a1")
            assert users.running == ["c1"]
            await users.end("c1")
        assert lane._free == [0]
        assert not lane._waiting
        assert not lane._running

    anyio.run(main)


def test_a_client_may_use_so_much_worker_time() -> None:
    """Beyond it the answer is 429, which says when to ask again; others are not concerned."""
    hard = "User-agent: *\n" + "Disallow: *9*x\n" * 60_000
    settings = Settings(rate=0, work_timeout=1, work_per_minute=1)
    with serving.in_thread(settings) as url, httpx2.Client(base_url=url, timeout=30) as api:
        problem(api.post("/v1/audit", json={"robots": hard}), 422, "too-much-work")
        answer = api.post("/v1/audit", json={"robots": hard})
        while answer.status_code == 422:
            answer = api.post("/v1/audit", json={"robots": hard})
        problem(answer, 429, "too-much-work-time")
        assert 1 <= int(answer.headers["retry-after"]) <= 120
        problem(api.post("/v1/lint", json={"robots": ""}), 429, "too-much-work-time")
        # What takes no worker is answered.
        assert post(api, "decide", {"robots": "", "urls": ["/"]})
        transport = httpx2.HTTPTransport(local_address="127.0.0.2")
        with httpx2.Client(base_url=url, transport=transport, timeout=30) as other:
            assert post(other, "lint", {"robots": ""})


INTERRUPTED = """
import json, random, sys
from koster.worker import answers
from koster.worker import loop
chance = random.Random(1)
files = [open(path, "rb").read() for path in sys.argv[1:]]
def all_answers():
    found = []
    for body in files:
        found.append(answers.lint(body, ["RFC9309", "GOOGLE"]))
        found.append(answers.audit_crawlers(body, "RFC9309"))
        found.append(answers.disagree(body, "RFC9309", ["MK1996", "GOOGLE", "EXTENDED2"], ["*"]))
    return found
ended = 0
while ended < 30:
    for body in files:
        seconds = chance.uniform(0.0005, 0.02)
        found = loop.run("lint", (body, ["RFC9309", "GOOGLE"]), seconds, 9)
        ended += found[0] == loop.TIMED_OUT
        question = body, "GOOGLE", ["MK1994"], ["x"]
        found = loop.run("disagree", question, 9, seconds)
        ended += found[0] == loop.TIMED_OUT
        loop.run("audit_crawlers", (body, "GOOGLE"), seconds, 9)
print(json.dumps(all_answers()))
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_a_process_whose_question_was_ended_answers_the_next_ones(tmp_path: Path) -> None:
    files = [ROOT / "examples/robots.txt", tmp_path / "second.txt"]
    files[1].write_text(BROKEN * 5 + "User-agent: GPTBot\nDisallow: /*a*b*c$\nAllow: /*b\n")
    printed = []
    for code in (INTERRUPTED, INTERRUPTED.replace("ended < 30", "False")):
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, files)],
            capture_output=True, text=True, check=True, timeout=120,
        )  # fmt: skip
        printed.append(done.stdout)
    assert printed[0] == printed[1]
    assert len(printed[0]) > 1_000

"""A client that asks about sites of all kinds for a while: ``python soaking.py KIND …``."""

from __future__ import annotations

import contextlib
import json
import os
import random
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio

import koster
from koster.fetch import AsyncRobotsClient, Event, RobotsClient

NAME = "FooBot/1.0 (+https://foo.example/bot)"

#: Concurrent callers, and questions per second of each.
CALLERS, RATE = 8, 20
#: Seconds for a fetch, and before slow sites answer.
TIMEOUT, DELAY = 1.0, 1.5
#: How much faster than real time the clock runs, so that files expire within seconds.
SPEED = 300

#: Whether a crawler may fetch /private and /public, by the kind of site; None: it changes, or the
#: time is up on a busy machine only after the file of a slow site has come.
EXPECTED: dict[str, tuple[bool | None, bool | None]] = {
    "good": (False, True),
    "redirecting": (False, True),
    "large": (False, True),
    "missing": (True, True),
    "failing": (False, False),
    "broken": (False, False),
    "slow": (False, None),
    "changing": (None, None),
}
#: The kinds whose fetches do not fail.
REACHABLE = ("good", "redirecting", "large", "missing")
#: Slow sites and large files are rare: so many are there, and so often they are asked about.
RARE = {"slow": 40, "large": 5}
KINDS = [kind for kind in EXPECTED for _ in range(1 if kind in RARE else 6)]


def kind_of(url: str) -> str:
    return url.removeprefix("http://").partition("-")[0]


def usage(pid: int | str = "self") -> tuple[int, int, int]:
    """Return the resident bytes, threads and descriptors of a process."""
    folder = Path(f"/proc/{pid}")
    pages = int((folder / "statm").read_text().split()[1])
    return (
        pages * os.sysconf("SC_PAGE_SIZE"),
        len(os.listdir(folder / "task")),
        len(os.listdir(folder / "fd")),
    )


class Soak:
    """The questions of a run, and what became of them."""

    def __init__(self, seconds: float, sites: int, ports: dict[str, int]) -> None:
        self._began = time.monotonic()
        self._until = self._began + seconds
        self._ports = ports
        self._start = datetime.now(UTC)
        self._rng = random.Random(1)
        self._counts = {kind: RARE.get(kind, sites) for kind in EXPECTED}
        #: Sites that nobody was asked about yet: all are, as fast as possible, at first.
        self._new = [(kind, number) for kind in EXPECTED for number in range(self._counts[kind])]
        self._rng.shuffle(self._new)
        self.events: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        self.wrong: list[str] = []
        #: Why sites that should be reachable were not, by their origins.
        self.failed: dict[str, str] = {}

    def clock(self) -> datetime:
        return self._start + SPEED * timedelta(seconds=time.monotonic() - self._began)

    def on_event(self, event: Event) -> None:
        self.events[event.name] += 1
        if "error.type" in event.attributes and kind_of(event.origin) in REACHABLE:
            self.failed[event.origin] = str(event.attributes["koster.why"])

    def is_over(self) -> bool:
        return time.monotonic() > self._until

    def pause(self) -> float:
        """Return the seconds until the next question."""
        return 0 if self._new else 1 / RATE

    def question(self) -> tuple[str, str]:
        """Return a method of a client, and the URL of a site."""
        try:
            method = "allowed"
            kind, number = self._new.pop()
        except IndexError:
            others = ["wait", "refetch", "cached", "robots", "prefetch"]
            method = self._rng.choice([method] * 15 + others)
            kind = self._rng.choice(KINDS)
            number = self._rng.randrange(self._counts[kind])
        return method, f"http://{kind}-{number}.test:{self._ports[kind]}/"

    def arguments(self, method: str, url: str) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        """Return the arguments of each call."""
        if method == "allowed":
            return [((f"{url}private",), {}), ((f"{url}public",), {})]
        if method == "prefetch":
            return [(([url] * 3,), {})]
        return [((url,), {"at_most": 1} if method == "wait" else {})]

    def check(self, method: str, url: str, answers: list[Any]) -> None:
        self.asked[method] += 1
        origin = url.removesuffix("/")
        if method != "allowed" or origin in self.failed:
            return
        for answer, expected in zip(answers, EXPECTED[kind_of(url)], strict=True):
            if expected not in (None, answer):
                self.wrong.append(f"{origin}: {answers}")

    def options(self, path: str) -> dict[str, Any]:
        return {
            "cache": path,
            "timeout": TIMEOUT,
            "clock": self.clock,
            "on_event": self.on_event,
            "default_interval": 0.01,
        }


def resolve_to_loopback() -> None:
    """Resolve names of the domain test, as the sites have no others."""
    real = socket.getaddrinfo

    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        is_site = name.endswith(".test") and not kwargs.get("flags")
        return real("127.0.0.1" if is_site else host, *args, **kwargs)

    socket.getaddrinfo = getaddrinfo


def in_threads(soak: Soak, path: str) -> None:
    with RobotsClient(NAME, **soak.options(path)) as client:

        def work() -> None:
            while not soak.is_over():
                method, url = soak.question()
                answers = []
                with contextlib.suppress(koster.TooSoonError):
                    for args, kwargs in soak.arguments(method, url):
                        answers.append(getattr(client, method)(*args, **kwargs))
                    soak.check(method, url, answers)
                time.sleep(soak.pause())

        threads = [threading.Thread(target=work) for _ in range(CALLERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def in_tasks(soak: Soak, path: str) -> None:
    async def work(client: AsyncRobotsClient) -> None:
        while not soak.is_over():
            method, url = soak.question()
            answers = []
            with contextlib.suppress(koster.TooSoonError):
                for args, kwargs in soak.arguments(method, url):
                    answers.append(await getattr(client, method)(*args, **kwargs))
                soak.check(method, url, answers)
            await anyio.sleep(soak.pause())

    async def run() -> None:
        async with (
            AsyncRobotsClient(NAME, **soak.options(path)) as client,
            anyio.create_task_group() as tasks,
        ):
            for _ in range(CALLERS):
                tasks.start_soon(work, client)

    anyio.run(run)


def _left(threads: int, descriptors: int) -> list[int]:
    """Return how many more threads and descriptors there are than before."""
    _, threads_left, descriptors_left = usage()
    return [threads_left - threads, descriptors_left - descriptors]


RUN: dict[str, Callable[[Soak, str], None]] = {"threads": in_threads, "asyncio": in_tasks}


def main(kind: str, seconds: str, sites: str, path: str, ports: str) -> None:
    """Run, and print what was asked, and what is left open once the client is closed."""
    resolve_to_loopback()
    soak = Soak(float(seconds), int(sites), json.loads(ports))
    _, threads, descriptors = usage()
    RUN[kind](soak, path)
    # Lookups of names end on their own, on a busy machine in seconds.
    until = time.monotonic() + 10
    while any(left := _left(threads, descriptors)) and time.monotonic() < until:
        time.sleep(0.1)
    print(
        json.dumps(
            {
                "asked": soak.asked,
                "wrong": soak.wrong,
                "failed": soak.failed,
                "events": soak.events,
                "left": left,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])

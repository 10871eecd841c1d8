"""Programs that tests start, limit and kill: ``python children.py NAME ARGUMENTS``.

Some are started a hundred times, so each imports what only it needs.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import resource
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

import koster
from koster.cache import SqliteCache
from koster.freshness import Entry
from tests.helpers.entries import ENTRY

#: Each writer writes this many entries in turn.
SLOTS = 50


def command(name: str, *arguments: object) -> list[str]:
    """Return the command that runs a function of this file."""
    return [sys.executable, __file__, name, *map(str, arguments)]


def key_of(writer: str, number: int) -> str:
    return f"{writer} {number % SLOTS}"


def entry_of(number: int) -> Entry:
    """Return the entry with a number; most span several pages of the file."""
    return replace(ENTRY, status=number, body=b"%d\n" % number * (number * 7919 % 1500))


def write(path: str, writer: str, first: str) -> None:
    """Write numbered entries until killed; print each number once its entry is written."""
    cache = SqliteCache(path)
    for number in itertools.count(int(first)):
        while True:
            try:
                cache.put(key_of(writer, number), entry_of(number))
                break
            except koster.CacheError as error:
                # Seven others write, too, and SQLite does not queue them.
                if "locked" not in str(error):
                    raise
        print(number, flush=True)


def create(path: str) -> None:
    """Create a cache when a line is received."""
    print("ready", flush=True)
    sys.stdin.readline()
    SqliteCache(path).put("a", ENTRY)
    print("created", flush=True)


def exhaust(kind: str, folder: str, numbers: str, *ports: str) -> None:
    """Let descriptors run out but for a number, with a new client and cache for each number.

    The first client imports what it needs; the others find it imported.
    """
    from koster.cache import resilient
    from tests.helpers import asking, fetching  # noqa: F401 - before descriptors run out

    resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
    resilient.RETRY_SECONDS = 0
    urls = [f"http://127.0.0.1:{port}/private" for port in ports]
    print(json.dumps({
        left: _exhaust(kind, f"{folder}/{left}.sqlite" if folder else None, int(left), urls)
        for left in numbers.split(",")
    }))  # fmt: skip


def _exhaust(kind: str, cache: str | None, left: int, urls: list[str]) -> tuple[Any, Any]:
    """Ask a client while file descriptors run out, and when they are free again."""
    from koster.fetch import Event, EventName
    from tests.helpers import asking
    from tests.helpers.fetching import Clock

    clock = Clock()
    events: list[Event] = []
    held: list[int] = []

    def take() -> None:
        with contextlib.suppress(OSError):
            while True:
                held.append(os.open(os.devnull, os.O_RDONLY))
        for _ in range(left):
            os.close(held.pop())

    def give_back() -> None:
        while held:
            os.close(held.pop())
        # A site that was unreachable is tried again after a minute.
        clock.later(minutes=2)

    decisions = asking.decide(
        kind, [take, urls, give_back, urls], cache=cache, clock=clock, on_event=events.append
    )
    failures = [event for event in events if event.name is EventName.CACHE_FAILED]
    return (
        [[each.allowed, each.why] for each in decisions],
        [str(event.attributes["error.message"]) for event in failures],
    )


if __name__ == "__main__":
    task, *arguments = sys.argv[1:]
    globals()[task](*arguments)

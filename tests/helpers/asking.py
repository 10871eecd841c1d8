"""Asks each kind of client many questions at once, with something happening in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio

from koster import Decision
from koster.fetch import AsyncRobotsClient, RobotsClient
from tests.helpers.fetching import NAME

#: URLs to ask about at once, or a function to call.
Step = list[str] | Callable[[], object]


def decide(kind: str, steps: Sequence[Step], **options: Any) -> list[Decision]:
    """Return the decisions about all URLs, in their order."""
    if kind == "threads":
        return _in_threads(steps, options)
    return anyio.run(_in_tasks, steps, options, backend=kind)


def _in_threads(steps: Sequence[Step], options: dict[str, Any]) -> list[Decision]:
    found: list[Decision] = []
    with RobotsClient(NAME, **options) as client, ThreadPoolExecutor(50) as pool:
        for step in steps:
            if callable(step):
                step()
            else:
                found += pool.map(client.decide, step)
    return found


async def _in_tasks(steps: Sequence[Step], options: dict[str, Any]) -> list[Decision]:
    found: list[Decision] = []
    async with AsyncRobotsClient(NAME, **options) as client:
        for step in steps:
            if callable(step):
                step()
                continue
            decisions: dict[str, Decision] = {}

            async def ask(url: str, decisions: dict[str, Decision] = decisions) -> None:
                decisions[url] = await client.decide(url)

            async with anyio.create_task_group() as tasks:
                for url in step:
                    tasks.start_soon(ask, url)
            found += [decisions[url] for url in step]
    return found

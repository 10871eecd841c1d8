"""Long questions, worked on in processes beside the server, which can be ended.

Reasoning about a hostile file may take minutes, and holds the interpreter lock: done in the server
it would hold up everybody, and a thread cannot be ended.
"""

from __future__ import annotations

import signal
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_process

from ._limits import client_of
from ._problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import Request

    from ._metrics import Metrics

T = TypeVar("T")

#: Questions that wait for a process, for each that there is.
_WAITING = 50
#: Those of one client.
_WAITING_OF_ONE = 10

#: Seconds that the first process has to begin.
_BEGINNING = 60.0

#: Seconds after its time at which a process ends itself.
_GRACE = 5


class Workers:
    """Processes for long questions: as many as are told, begun when they are needed."""

    def __init__(self, number: int, timeout: float, metrics: Metrics) -> None:
        self._number = number
        self._timeout = timeout
        self._metrics = metrics
        self._waiting: Counter[str] = Counter()
        self._limiter: anyio.CapacityLimiter | None = None

    async def begin(self) -> None:
        """Begin the first process, so that nobody waits for it."""
        await self._run(self._limited(), _nothing, (), _BEGINNING)

    async def run(self, request: Request, function: Callable[..., T], *arguments: Any) -> T:
        """Return what a function gives, worked on beside, while somebody waits for it.

        Raises:
            Problem: it takes too long, there is too much to do, or nobody waits any more.
        """
        client = client_of(request)
        if sum(self._waiting.values()) >= self._number * _WAITING:
            raise _busy()
        if self._waiting[client] >= _WAITING_OF_ONE:
            raise Problem(429, "too-many-requests", "answers are being worked on already", wait=2)
        self._waiting[client] += 1
        self._metrics.work_in_progress.inc()
        try:
            return await self._watched(request, function, arguments)
        finally:
            self._waiting[client] -= 1
            if not self._waiting[client]:
                del self._waiting[client]
            self._metrics.work_in_progress.dec()

    async def _watched(self, request: Request, function: Callable[..., T], arguments: Any) -> T:
        """Work on a question until it is answered, or who asked it hangs up.

        Raises:
            Problem: see `run`.
        """
        found: list[T] = []
        problems: list[Problem] = []
        async with anyio.create_task_group() as group:

            async def watch() -> None:
                while (await request.receive())["type"] != "http.disconnect":
                    pass
                group.cancel_scope.cancel()

            group.start_soon(watch)
            try:
                found.append(await self._run(self._limited(), function, arguments, self._timeout))
            except Problem as problem:
                problems.append(problem)
            group.cancel_scope.cancel()
        if found:
            return found[0]
        raise problems[0] if problems else Problem(400, "gone", "nobody waits for the answer")

    def _limited(self) -> anyio.CapacityLimiter:
        """Return what tells how many may work; it is made where there is an event loop."""
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(self._number)
        return self._limiter

    async def _run(
        self,
        limiter: anyio.CapacityLimiter,
        function: Callable[..., T],
        arguments: Any,
        timeout: float,
    ) -> T:
        """Wait for a process; then have it work, for a time.

        Raises:
            Problem: see `run`.
        """
        # A process is waited for here, so that it is known which of both took too long.
        with anyio.move_on_after(timeout) as scope:
            await limiter.acquire()
        if scope.cancelled_caught:
            raise _busy()
        try:
            with anyio.fail_after(timeout):
                return await anyio.to_process.run_sync(
                    _work,
                    function,
                    arguments,
                    int(timeout) + _GRACE,
                    cancellable=True,
                    limiter=anyio.CapacityLimiter(1),
                )
        except TimeoutError as error:
            detail = f"an answer takes longer than {timeout:g} s: ask about a smaller file"
            raise Problem(422, "too-much-work", detail) from error
        except anyio.BrokenWorkerProcess as error:
            raise Problem(503, "busy", "the process that worked on it ended", wait=1) from error
        finally:
            limiter.release()


def _busy() -> Problem:
    return Problem(503, "busy", "there is too much to do: try again", wait=2)


def _work(function: Callable[..., T], arguments: Any, seconds: int) -> T:
    """Work on a question. Who stops the service stops the server, which waits for this."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    if not hasattr(signal, "alarm"):
        return function(*arguments)
    # Were the server killed, nobody else would end it.
    signal.alarm(seconds)
    try:
        return function(*arguments)
    finally:
        signal.alarm(0)


def _nothing() -> None:
    """Do nothing, but import what the questions need."""
    from .. import _answers  # noqa: F401, PLC0415 - in another process

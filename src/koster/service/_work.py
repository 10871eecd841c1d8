"""Long questions, worked on in processes beside the server, which can be ended.

Reasoning about a hostile file may take seconds, and holds the interpreter lock: done in the server
it would hold up everybody, and a thread cannot be ended. How long a question takes is known only
when it is answered. So each small one first has a fraction of a second in the quick lane; what is
not done by then is begun again in the slow lane, whose processes are shared out between clients.
Nobody's small question ever waits for a large one.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

import anyio

from ..worker.loop import ANSWERED, FAILED, OVERTIME
from ._fair import Lane, WorkTime
from ._limits import client_key, client_of
from ._log import log_sparsely
from ._problems import Problem, limited
from ._process import Worker, WorkerEndedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import Request

    from ._gate import State
    from ._metrics import Metrics
    from ._settings import Settings

T = TypeVar("T")

#: Questions that wait for a process, for each that there is; and those of one client.
_WAITING = 50
_WAITING_OF_ONE = 10

#: Bytes of files that a question for the quick lane has at most.
_SMALL = 64 * 1024

#: Seconds of processor time in the quick lane, and seconds whatever the machine does besides.
_QUICK = 0.25
_QUICK_AT_MOST = 2.0

#: Processes of the slow lane that are started before there is a question.
_STARTED = 3

#: Seconds after its time at which a process that did not end its question is ended.
_GRACE = 1.0

#: Seconds of processor time that it takes to start a process in the place of one that was ended.
_START = 0.5


@dataclass(frozen=True, slots=True)
class _Question:
    """A question: its client, the name of a function of `worker.answers`, and its arguments."""

    client: str
    name: str
    arguments: tuple[Any, ...]


class Workers:
    """Processes for long questions, started when they are needed."""

    def __init__(self, settings: Settings, metrics: Metrics, state: State) -> None:
        self._timeout = settings.work_timeout
        self._time = WorkTime(settings.work_per_minute, time.monotonic)
        self._workers = [Worker() for _ in range(1 + settings.workers)]
        self._quick = Lane(self._workers[:1], self._time)
        self._slow = Lane(self._workers[:0:-1], self._time)
        self._metrics = metrics
        self._state = state
        self._waiting: Counter[str] = Counter()

    async def begin(self) -> None:
        """Start the first processes, so that nobody waits for them."""
        async with anyio.create_task_group() as group:
            for worker in self._workers[: 1 + _STARTED]:
                group.start_soon(worker.start)

    async def aclose(self) -> None:
        """End all processes."""
        for worker in self._workers:
            await worker.kill()

    async def run(self, request: Request, function: Callable[..., T], *arguments: Any) -> T:
        """Return what a function of `koster.worker.answers` gives, while somebody waits for it.

        Raises:
            Problem: it takes too long, the service is busy, or the client has hung up.
        """
        client = client_key(client_of(request))
        if sum(self._waiting.values()) >= len(self._workers) * _WAITING:
            raise _busy()
        if self._waiting[client] >= _WAITING_OF_ONE:
            detail = (
                f"{_WAITING_OF_ONE} questions in progress, the maximum per client: wait for one"
            )
            raise Problem(429, "too-many-requests", detail, wait=2)
        self._waiting[client] += 1
        self._metrics.work_in_progress.inc()
        try:
            question = _Question(client, function.__name__, arguments)
            return cast("T", await self._watched(request, question))
        finally:
            self._waiting[client] -= 1
            if not self._waiting[client]:
                del self._waiting[client]
            self._metrics.work_in_progress.dec()

    async def _watched(self, request: Request, question: _Question) -> Any:
        """Work on a question until it is answered, or who asked it hangs up.

        Raises:
            Problem: see `run`.
        """
        found: list[Any] = []
        problems: list[Problem] = []
        async with anyio.create_task_group() as group:

            async def watch() -> None:
                while (await request.receive())["type"] != "http.disconnect":
                    pass
                group.cancel_scope.cancel()

            group.start_soon(watch)
            try:
                found.append(await self._answer(question))
            except Problem as problem:
                problems.append(problem)
            group.cancel_scope.cancel()
        if found:
            return found[0]
        raise problems[0] if problems else Problem(400, "gone", "the client has hung up")

    async def _answer(self, question: _Question) -> Any:
        """Work on a question, in the quick lane first if it is small.

        Raises:
            Problem: see `run`.
        """
        size = sum(len(each) for each in question.arguments if isinstance(each, bytes))
        if size <= _SMALL:
            limits = min(_QUICK, self._timeout), min(_QUICK_AT_MOST, self._timeout)
            answers = await self._turn(self._quick, question, limits)
            if answers is not None:
                return answers[0]
        limits = self._timeout, self._timeout
        answers = await self._turn(self._slow, question, limits)
        if answers is not None:
            return answers[0]
        detail = f"not answered within {self._timeout:g} s: try a smaller file"
        raise Problem(422, "too-much-work", detail)

    async def _turn(
        self, lane: Lane[Worker], question: _Question, limits: tuple[float, float]
    ) -> tuple[Any] | None:
        """Work on a question when it is its client's turn; None: it was not done in time.

        Raises:
            Problem: see `run`.
        """
        self._check_time(question.client)
        try:
            async with lane.slot(question.client, self._timeout) as worker:
                # Others of the same client may have used it up meanwhile.
                self._check_time(question.client)
                return await self._charged(worker, question, limits)
        except TimeoutError as error:
            raise _busy() from error
        except WorkerEndedError as error:
            log_sparsely(str(error))
            raise Problem(503, "busy", "the worker process ended: try again", wait=1) from error

    def _check_time(self, client: str) -> None:
        """See that a client has worker time left.

        Raises:
            Problem: it has not.
        """
        wait = self._time.wait(client)
        if wait:
            raise limited("too-much-work-time", "worker time limit reached: ", wait)

    async def _charged(
        self, worker: Worker, question: _Question, limits: tuple[float, float]
    ) -> tuple[Any] | None:
        """Work on a question and charge its client; None: it was not done in time.

        Raises:
            WorkerEndedError: the process ended, or does not start.
        """
        began = time.monotonic()
        seconds = None
        kind, answer = OVERTIME, None
        try:
            # What is as good as done is not worth the end of its process.
            is_short = limits[1] <= _QUICK_AT_MOST
            with anyio.move_on_after(limits[1] + _GRACE, shield=is_short):
                kind, answer, seconds = await worker.ask(question.name, question.arguments, *limits)
        finally:
            if seconds is None:
                seconds = time.monotonic() - began + _START
                # Whoever has the worker next does not wait for a new process.
                with anyio.CancelScope(shield=True), contextlib.suppress(WorkerEndedError):
                    await worker.kill()
                    if not self._state.is_stopping:
                        await worker.start()
            self._time.charge(question.client, seconds)
            self._metrics.work_seconds.inc(seconds)
        if kind == FAILED:
            raise RuntimeError(f"a question of the kind {question.name!r} failed:\n{answer}")
        return (answer,) if kind == ANSWERED else None


def _busy() -> Problem:
    return Problem(503, "busy", "the service is busy: try again", wait=2)

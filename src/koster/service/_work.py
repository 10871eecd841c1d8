"""Worker processes for long requests.

Deciding by a hostile file, or analyzing it, may take seconds while holding the interpreter lock: in
the server it would block all requests, and threads cannot be killed. The duration is not known in
advance. So each small job first gets a fraction of a second in the quick lane; if it does not
finish, it starts again in the slow lane, whose processes are shared fairly between clients. Small
jobs never wait for large ones.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import anyio
from fastapi import Request

from .._worker import answers
from .._worker.files import NamedFile, UnreadOutcome, body_of
from .._worker.loop import FAILED, FINISHED, REFUSED, TIMED_OUT
from .._worker.refusals import RefusedError
from ._fair import Lane, WorkTime
from ._gate import ServiceState, max_response
from ._limits import client_address, client_key
from ._log import log_rate_limited
from ._metrics import Metrics
from ._problems import Problem, of_refusal, rate_limited
from ._process import Worker, WorkerEndedError
from ._settings import ServiceSettings

T = TypeVar("T")

#: Maximum jobs per process, and per client.
_MAX_QUEUED = 50
_MAX_QUEUED_PER_CLIENT = 10

#: Maximum bytes of files for the quick lane.
_MAX_QUICK_BYTES = 64 * 1024

#: Maximum bytes of JSON that the server itself parses, commas (there are few more values), and
#: quotation marks.
_MAX_JSON_BYTES = 64 * 1024
_MAX_JSON_COMMAS = 1_000
_MAX_JSON_QUOTES = 10_000

#: Functions that take milliseconds for any file.
_SHORT = frozenset({answers.read_json.__name__, answers.fetch.__name__})

#: Maximum CPU seconds in the quick lane, and maximum wall-clock seconds.
_QUICK_SECONDS = 0.25
_QUICK_WALL_SECONDS = 2.0

#: Processes of the slow lane started in advance.
_INITIAL_WORKERS = 3

#: Seconds after its timeout when a process that has not stopped its job is killed.
_GRACE = 1.0

#: CPU seconds for starting a process in place of a killed one.
_START_COST = 0.5


@dataclass(frozen=True, slots=True)
class _Job:
    """A job: its client, the name of a function of `worker.answers`, and its arguments."""

    client: str
    name: str
    arguments: tuple[Any, ...]

    @property
    def is_short(self) -> bool:
        """Whether it is likely to finish in the quick lane."""
        size = sum(map(_size_of, self.arguments))
        return size <= _MAX_QUICK_BYTES or self.name in _SHORT


def _size_of(argument: Any) -> int:
    """Return the bytes of the files in an argument."""
    if isinstance(argument, bytes | UnreadOutcome):
        return len(body_of(argument))
    if isinstance(argument, list):
        return sum(len(each.content) for each in argument if isinstance(each, NamedFile))
    if isinstance(argument, dict):
        return sum(map(_size_of, argument.values()))
    return 0


class Workers:
    """The worker processes, started on demand."""

    def __init__(self, settings: ServiceSettings, metrics: Metrics, state: ServiceState) -> None:
        self._timeout = settings.work_timeout
        self._max_response = max_response(settings)
        self._time = WorkTime(settings.work_per_minute, time.monotonic)
        self._workers = [Worker() for _ in range(1 + settings.workers)]
        self._quick = Lane(self._workers[:1], self._time)
        self._slow = Lane(self._workers[:0:-1], self._time)
        self._metrics = metrics
        self._state = state
        self._waiting: Counter[str] = Counter()

    async def start(self) -> None:
        """Start the first processes in advance."""
        async with anyio.create_task_group() as group:
            for worker in self._workers[: 1 + _INITIAL_WORKERS]:
                group.start_soon(worker.start)

    async def aclose(self) -> None:
        """Kill all processes."""
        for worker in self._workers:
            await worker.kill()

    async def answer(
        self, request: Request, function: Callable[..., T], *arguments: Any, is_small: bool
    ) -> T:
        """Run a function as `run` does; in the server itself if that takes few milliseconds.

        Raises:
            Problem: see `run`.
        """
        if not is_small:
            return await self.run(request, function, *arguments)
        try:
            return function(self._max_response, *arguments)
        except RefusedError as refusal:
            raise of_refusal(refusal) from None

    async def read_json(self, request: Request, body: bytes) -> Any:
        """Return the value of a request's JSON.

        Raises:
            Problem: it is not JSON, or see `run`.
        """
        is_small = (
            len(body) <= _MAX_JSON_BYTES
            and body.count(b",") <= _MAX_JSON_COMMAS
            and body.count(b'"') <= _MAX_JSON_QUOTES
        )
        return await self.answer(request, answers.read_json, body, is_small=is_small)

    async def run(self, request: Request, function: Callable[..., T], *arguments: Any) -> T:
        """Run a function of `koster._worker.answers`; stop when the client disconnects.

        ``arguments`` are those after the limit of the answer.

        Raises:
            Problem: it takes too long or is refused, the service is busy, or the client has
                disconnected.
        """
        client = client_key(client_address(request))
        if sum(self._waiting.values()) >= len(self._workers) * _MAX_QUEUED:
            raise _busy()
        if self._waiting[client] >= _MAX_QUEUED_PER_CLIENT:
            detail = f"{_MAX_QUEUED_PER_CLIENT} requests in progress, the maximum per client: wait"
            raise Problem(429, "too-many-requests", detail, wait=2)
        self._waiting[client] += 1
        self._metrics.work_in_progress.inc()
        try:
            job = _Job(client, function.__name__, (self._max_response, *arguments))
            return cast("T", await self._run_while_connected(request, job))
        finally:
            self._waiting[client] -= 1
            if not self._waiting[client]:
                del self._waiting[client]
            self._metrics.work_in_progress.dec()

    async def _run_while_connected(self, request: Request, job: _Job) -> Any:
        """Run a job until it ends, or its client disconnects.

        Raises:
            Problem: see `run`.
        """
        results: list[Any] = []
        problems: list[Problem] = []
        async with anyio.create_task_group() as group:

            async def watch() -> None:
                while (await request.receive())["type"] != "http.disconnect":
                    pass
                group.cancel_scope.cancel()

            group.start_soon(watch)
            try:
                results.append(await self._run_job(job))
            except Problem as problem:
                problems.append(problem)
            group.cancel_scope.cancel()
        if results:
            return results[0]
        raise problems[0] if problems else Problem(400, "gone", "the client has disconnected")

    async def _run_job(self, job: _Job) -> Any:
        """Run a job, first in the quick lane if it is small.

        Raises:
            Problem: see `run`.
        """
        if job.is_short:
            limits = min(_QUICK_SECONDS, self._timeout), min(_QUICK_WALL_SECONDS, self._timeout)
            result = await self._run_in_lane(self._quick, job, limits)
            if result is not None:
                return result[0]
        limits = self._timeout, self._timeout
        result = await self._run_in_lane(self._slow, job, limits)
        if result is not None:
            return result[0]
        detail = f"no result within {self._timeout:g} s: try a smaller file"
        raise Problem(422, "too-much-work", detail)

    async def _run_in_lane(
        self, lane: Lane[Worker], job: _Job, limits: tuple[float, float]
    ) -> tuple[Any] | None:
        """Wait for a slot, and run a job; None if it times out.

        Raises:
            Problem: see `run`.
        """
        self._check_worker_time(job.client)
        try:
            async with lane.slot(job.client, self._timeout) as worker:
                # Other jobs of the client may have used its time meanwhile.
                self._check_worker_time(job.client)
                return await self._run_and_charge(worker, job, limits)
        except TimeoutError as error:
            raise _busy() from error
        except WorkerEndedError as error:
            log_rate_limited(str(error))
            raise Problem(503, "busy", "the worker process ended: try again", wait=1) from error

    def _check_worker_time(self, client: str) -> None:
        """Check that a client has worker time left.

        Raises:
            Problem: it has not.
        """
        wait = self._time.wait(client)
        if wait:
            raise rate_limited("too-much-work-time", "worker time limit reached: ", wait)

    async def _run_and_charge(
        self, worker: Worker, job: _Job, limits: tuple[float, float]
    ) -> tuple[Any] | None:
        """Run a job, and charge its time to the client; None if it times out.

        Raises:
            WorkerEndedError: the process ended, or does not start.
        """
        began = time.monotonic()
        seconds = None
        kind, value = TIMED_OUT, None
        try:
            # A short job ends soon: do not kill its process when the client disconnects.
            is_short = limits[1] <= _QUICK_WALL_SECONDS
            with anyio.move_on_after(limits[1] + _GRACE, shield=is_short):
                kind, value, seconds = await worker.call(job.name, job.arguments, *limits)
        finally:
            if seconds is None:
                seconds = time.monotonic() - began + _START_COST
                # Restart it now, so that the next job does not wait.
                with anyio.CancelScope(shield=True), contextlib.suppress(WorkerEndedError):
                    await worker.kill()
                    if not self._state.is_stopping:
                        await worker.start()
            self._time.charge(job.client, seconds)
            self._metrics.work_seconds.inc(seconds)
        if kind == REFUSED:
            raise of_refusal(RefusedError(*cast("tuple[Any, ...]", value)))
        if kind == FAILED:
            raise RuntimeError(f"worker function {job.name!r} failed:\n{value}")
        return (value,) if kind == FINISHED else None


def _busy() -> Problem:
    return Problem(503, "busy", "the service is busy: try again", wait=2)

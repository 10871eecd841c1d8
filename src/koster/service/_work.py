"""Long questions, worked on in processes beside the server, which can be ended.

Reasoning about a hostile file may take seconds, and holds the interpreter lock: done in the server
it would hold up everybody, and a thread cannot be ended. How long a question takes is known only
when it is answered. So each small one first has a fraction of a second in the quick lane; what is
not done by then is begun again in the slow lane, whose processes are shared out between clients.
Nobody's small question ever waits for a large one.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_process

from ._fair import Lane, WorkTime
from ._limits import client_key, client_of
from ._problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import Request

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

#: Processes of the slow lane that are started before there is a question, and seconds for that.
_STARTED = 3
_STARTING = 60.0

#: Seconds after its time at which the server ends a process that did not end its question, and
#: after which the process is ended by the system, where there is no server any more.
_GRACE = 1.0
_LAST_GRACE = 5.0

#: Seconds of processor time that it takes to start a process in the place of one that was ended.
_START = 0.5


class Workers:
    """Processes for long questions, started when they are needed."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._number = settings.workers
        self._timeout = settings.work_timeout
        self._time = WorkTime(settings.work_per_minute, time.monotonic)
        self._quick = Lane(1, self._time)
        self._slow = Lane(settings.workers, self._time)
        self._metrics = metrics
        self._waiting: Counter[str] = Counter()
        #: Processes that were started, and those of them that work.
        self._started = 1 + min(settings.workers, _STARTED)
        self._working = 0

    async def begin(self) -> None:
        """Start the first processes, so that nobody waits for them."""
        with anyio.fail_after(_STARTING):
            await _reach(self._started)

    async def run(self, request: Request, function: Callable[..., T], *arguments: Any) -> T:
        """Return what a function gives, worked on beside, while somebody waits for it.

        Raises:
            Problem: it takes too long, there is too much to do, or nobody waits any more.
        """
        client = client_key(client_of(request))
        if sum(self._waiting.values()) >= (self._number + 1) * _WAITING:
            raise _busy()
        if self._waiting[client] >= _WAITING_OF_ONE:
            detail = f"{_WAITING_OF_ONE} of your questions are being worked on: wait for an answer"
            raise Problem(429, "too-many-requests", detail, wait=2)
        self._waiting[client] += 1
        self._metrics.work_in_progress.inc()
        try:
            return await self._watched(request, client, function, arguments)
        finally:
            self._waiting[client] -= 1
            if not self._waiting[client]:
                del self._waiting[client]
            self._metrics.work_in_progress.dec()

    async def _watched(
        self, request: Request, client: str, function: Callable[..., T], arguments: Any
    ) -> T:
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
                found.append(await self._answer(client, function, arguments))
            except Problem as problem:
                problems.append(problem)
            group.cancel_scope.cancel()
        if found:
            return found[0]
        raise problems[0] if problems else Problem(400, "gone", "nobody waits for the answer")

    async def _answer(self, client: str, function: Callable[..., T], arguments: Any) -> T:
        """Work on a question, in the quick lane first if it is small.

        Raises:
            Problem: see `run`.
        """
        size = sum(len(each) for each in arguments if isinstance(each, bytes))
        if size <= _SMALL:
            limits = min(_QUICK, self._timeout), min(_QUICK_AT_MOST, self._timeout)
            answers = await self._turn(self._quick, client, limits, function, arguments)
            if answers is not None:
                return answers[0]
        limits = self._timeout, self._timeout
        answers = await self._turn(self._slow, client, limits, function, arguments)
        if answers is not None:
            return answers[0]
        detail = f"an answer takes longer than {self._timeout:g} s: ask about a smaller file"
        raise Problem(422, "too-much-work", detail)

    async def _turn(
        self,
        lane: Lane,
        client: str,
        limits: tuple[float, float],
        function: Callable[..., T],
        arguments: Any,
    ) -> tuple[T] | None:
        """Work on a question when it is its client's turn; None: it was not done in time.

        Raises:
            Problem: see `run`.
        """
        self._check_time(client)
        try:
            async with lane.slot(client, self._timeout):
                # Others of the same client may have used it up meanwhile.
                self._check_time(client)
                return await self._charged(client, limits, function, arguments)
        except TimeoutError as error:
            raise _busy() from error
        except anyio.BrokenWorkerProcess as error:
            raise Problem(503, "busy", "the process that worked on it ended", wait=1) from error

    def _check_time(self, client: str) -> None:
        """See that a client has worker time left.

        Raises:
            Problem: it has not.
        """
        wait = self._time.wait(client)
        if wait:
            seconds = max(1, round(wait + 0.5))
            detail = f"your questions took too much time to answer: try again in {seconds} s"
            raise Problem(429, "too-much-work-time", detail, wait=seconds)

    async def _charged(
        self, client: str, limits: tuple[float, float], function: Callable[..., T], arguments: Any
    ) -> tuple[T] | None:
        """Work on a question and charge its client; None: it was not done in time."""
        began = time.monotonic()
        seconds = None
        self._started = max(self._started, self._working + 1)
        self._working += 1
        try:
            # What is as good as done is not worth the end of its process.
            is_short = limits[1] <= _QUICK_AT_MOST
            with anyio.move_on_after(limits[1] + _GRACE, shield=is_short):
                answers, seconds = await anyio.to_process.run_sync(
                    _work,
                    function,
                    arguments,
                    *limits,
                    cancellable=True,
                    limiter=anyio.CapacityLimiter(1),
                )
                return answers
            return None
        finally:
            self._working -= 1
            if seconds is None:
                seconds = time.monotonic() - began + _START
                self._started -= 1
                with anyio.CancelScope(shield=True):
                    await self._start_process()
            self._time.charge(client, seconds)
            self._metrics.work_seconds.inc(seconds)

    async def _start_process(self) -> None:
        """Start a process in the place of one that was ended, before its slot is given on."""
        # Those that are idle would be taken in place of a new one.
        idle = self._started - self._working
        self._started += 1
        with contextlib.suppress(anyio.BrokenWorkerProcess):
            await _reach(idle + 1)


async def _reach(number: int) -> None:
    """Have so many processes do nothing at the same time: those that there are not are started."""
    async with anyio.create_task_group() as group:
        for _ in range(number):
            group.start_soon(_reach_one)


async def _reach_one() -> None:
    await anyio.to_process.run_sync(_nothing, limiter=anyio.CapacityLimiter(1))


def _busy() -> Problem:
    return Problem(503, "busy", "there is too much to do: try again", wait=2)


class _Overtime(BaseException):
    """The time for a question is over."""


#: Whether a question is worked on in this process.
_is_working = False


def _stop(_number: int, _frame: object) -> None:
    """End what is worked on, once: a timer may go off when the answer is just there."""
    global _is_working  # noqa: PLW0603 - as signals have it
    if _is_working:
        _is_working = False
        raise _Overtime


def _work(
    function: Callable[..., T], arguments: Any, processor: float, real: float
) -> tuple[tuple[T] | None, float]:
    """Work on a question for so many seconds of processor time, and of time, at most.

    Returns the answer or, if it was not done, None; and the processor time that it took. What a
    question leaves behind in a process that goes on are tables of `functools.cache`, which are
    whole however it ended.
    """
    global _is_working  # noqa: PLW0603 - as signals have it
    began = time.process_time()
    # Who stops the service stops the server, which waits for this.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    answers = None
    try:
        _is_working = True
        _set_timers(processor, real)
        answer = function(*arguments)
        _is_working = False
        answers = (answer,)
    except _Overtime:
        pass
    finally:
        _is_working = False
        _set_timers(0, 0)
    return answers, time.process_time() - began


def _set_timers(processor: float, real: float) -> None:
    """Have signals come after so many seconds; 0 for none."""
    if not hasattr(signal, "setitimer"):
        return
    signal.signal(signal.SIGPROF, _stop)
    signal.signal(signal.SIGALRM, _stop)
    # Where code does not look at signals and the server was killed, this ends the process.
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_VIRTUAL, real + _LAST_GRACE if real else 0)
    signal.setitimer(signal.ITIMER_PROF, processor)
    signal.setitimer(signal.ITIMER_REAL, real)


def _nothing() -> None:
    """Do nothing, but import what the questions need."""
    from .. import _answers  # noqa: F401, PLC0415 - in another process

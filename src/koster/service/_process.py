"""The server's side of a worker process; see `koster._worker`.

`anyio.to_process` and the pools of the standard library start processes that import from the
current folder, which may be anybody's, and run the main module again; and none limits the processor
time of a call.
"""

from __future__ import annotations

import contextlib
import pickle
import subprocess
from typing import TYPE_CHECKING, Any

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream

from .._own_process import command_of
from .._worker.loop import SIZE

if TYPE_CHECKING:
    from anyio.abc import ByteSendStream, Process

#: Seconds for a process to start.
_START_TIMEOUT = 60.0


class WorkerEndedError(Exception):
    """A worker process ended before it responded, or did not start."""


class Worker:
    """A worker process, started on demand."""

    def __init__(self) -> None:
        self._process: Process | None = None

    async def start(self) -> None:
        """Start the process, unless it is running.

        Raises:
            WorkerEndedError: it does not start.
        """
        if self._process is not None and self._process.returncode is None:
            return
        await self.kill()
        try:
            with anyio.fail_after(_START_TIMEOUT):
                self._process = await anyio.open_process(
                    command_of("koster._worker.loop"),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=None,
                    # Only the server receives the terminal's signals.
                    start_new_session=True,
                )
                await self._receive()
        except (OSError, WorkerEndedError) as error:
            await self.kill()
            raise WorkerEndedError(f"a worker process did not start: {error}") from error
        except BaseException:
            await self.kill()
            raise

    async def call(self, *request: Any) -> Any:
        """Run a function in the process, and return its result; see `koster._worker.loop.run`.

        Raises:
            WorkerEndedError: the process ended, or does not start.
        """
        await self.start()
        data = pickle.dumps(request, pickle.HIGHEST_PROTOCOL)
        try:
            await self._stdin.send(SIZE.pack(len(data)) + data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError) as error:
            raise WorkerEndedError("a worker process ended") from error
        return await self._receive()

    async def kill(self) -> None:
        """Kill the process."""
        process, self._process = self._process, None
        if process is not None:
            with anyio.CancelScope(shield=True):
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.aclose()

    @property
    def _stdin(self) -> ByteSendStream:
        assert self._process is not None  # noqa: S101 - for its type
        assert self._process.stdin is not None  # noqa: S101
        return self._process.stdin

    async def _receive(self) -> Any:
        """Return the next message.

        Raises:
            WorkerEndedError: the process ended.
        """
        assert self._process is not None  # noqa: S101 - for its type
        assert self._process.stdout is not None  # noqa: S101
        stream = BufferedByteReceiveStream(self._process.stdout)
        try:
            (size,) = SIZE.unpack(await stream.receive_exactly(SIZE.size))
            data = await stream.receive_exactly(size)
        except (
            anyio.IncompleteRead, anyio.BrokenResourceError, anyio.ClosedResourceError,
        ) as error:  # fmt: skip
            raise WorkerEndedError("a worker process ended") from error
        return pickle.loads(data)  # noqa: S301 - our own process

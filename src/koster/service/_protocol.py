"""A connection that nobody can hold for long: uvicorn's, with the limits that it lacks.

Who sends a request slowly, an endless head, or does not read the answer, is cut off.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from ._problems import MEDIA_TYPE, Problem

#: Octets that the head of a request may have.
MAX_HEAD = 64 * 1024

#: Octets that a chunk of a body may have besides its own.
_CHUNK = 32

#: Octets that are parsed at a time, and requests that may wait behind the one that is answered.
_PIECE = 16 * 1024
_MOST_WAITING = 100

#: Seconds in which a whole request must come, in which an answer must be read on, and in which
#: the first request must begin.
PATIENCE = 30.0

#: Seconds between the word to stop and closing a connection on which nothing happens: a request
#: may be on its way.
_LAST_CHANCE = 0.2


#: Fields of a request that has a body.
_OF_BODIES = frozenset({b"content-length", b"transfer-encoding"})


class Protocol(HttpToolsProtocol):
    """A connection."""

    #: Connections that there may be; see `serve`.
    max_connections = 1_000

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        #: Octets of the request that are no body: its head, the frames of chunks, trailers.
        self._head = 0
        self._chunks = 0
        self._is_reading_head = False
        self._is_refused = False
        self._is_reading = False
        self._is_last = False
        self._slow_sender: asyncio.TimerHandle | None = None
        self._slow_reader: asyncio.TimerHandle | None = None

    # How much, and how slowly.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin: refuse what is too much."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - for its type
        super().connection_made(transport)
        # Whatever is not sent at once waits for who reads slowly: see `pause_writing`.
        transport.set_write_buffer_limits(high=0)
        if len(self.connections) > self.max_connections:
            self._refuse(Problem(503, "busy", "there are too many connections", wait=2))
            return
        self._slow_sender = self.loop.call_later(PATIENCE, self._hang_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._stop_waiting_for_request()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on."""
        if self.parser is None or self.transport.is_closing():
            # What comes after a refusal is dropped.
            return
        for at in range(0, len(data), _PIECE):
            piece = data[at : at + _PIECE]
            if self._is_reading:
                self._head += len(piece)
            super().data_received(piece)
            if self._is_refused or self.transport.is_closing():
                return
            if self._is_reading and self._head > MAX_HEAD + _CHUNK * self._chunks:
                self._refuse(Problem(431, "head-too-large", "the head is larger than 64 KiB"))
                return
            if len(self.pipeline) > _MOST_WAITING:
                self.transport.abort()
                return
        if self._is_reading and not self.transport.is_closing():
            if self._slow_sender is None:
                self._slow_sender = self.loop.call_later(PATIENCE, self._hang_up)
        else:
            self._stop_waiting_for_request()

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._stop_waiting_for_request()
        self._head = self._chunks = 0
        self._is_reading_head = self._is_reading = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Read a field; trailers are none."""
        if self._is_reading_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """End the head of a request."""
        self._is_reading_head = False
        if self.parser.should_upgrade():
            if any(name in _OF_BODIES for name, _ in self.headers):
                # The parser would take the body for what comes after the upgrade, or a request.
                self._refuse(Problem(400, "not-http", "an upgrade has no body"))
                return
            self._is_last = True
        super().on_headers_complete()
        if self._is_last:
            self.cycle.keep_alive = False

    def on_chunk_header(self) -> None:
        """Begin a chunk of a body."""
        self._chunks += 1

    def on_body(self, body: bytes) -> None:
        """Read on in a body."""
        self._head -= len(body)
        if not self._is_refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._is_reading = False
        if not self._is_refused:
            super().on_message_complete()

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing: who asks for an upgrade is answered without."""

    def pause_writing(self) -> None:
        """Wait until more of the answer is read."""
        super().pause_writing()
        self._slow_reader = self.loop.call_later(PATIENCE, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on with the answer."""
        if self._slow_reader is not None:
            self._slow_reader.cancel()
            self._slow_reader = None
        if self.flow is not None:
            super().resume_writing()

    def _stop_waiting_for_request(self) -> None:
        if self._slow_sender is not None:
            self._slow_sender.cancel()
            self._slow_sender = None

    def _hang_up(self) -> None:
        """End a connection on which a request does not come to its end."""
        self._slow_sender = None
        if self.transport.is_closing():
            return
        # While its head is read, the cycle is still the one of the request before.
        is_answered = self.cycle is not None and (
            not self.cycle.response_complete
            if self._is_reading_head
            else self.cycle.response_started
        )
        if not is_answered:
            self._refuse(Problem(408, "too-slow", f"no whole request came in {PATIENCE:g} s"))
        else:
            self.transport.close()

    # What is answered before there is a request.

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP."""
        self._refuse(Problem(400, "not-http", msg))

    def _refuse(self, problem: Problem) -> None:
        """Answer with a problem, and close."""
        self._is_refused = True
        body = problem.body()
        headers = {
            **problem.headers,
            "Content-Type": MEDIA_TYPE,
            "Content-Length": str(len(body)),
            "Connection": "close",
        }
        lines = "".join(f"{name}: {text}\r\n" for name, text in headers.items())
        self.transport.write(STATUS_LINE[problem.status] + lines.encode("ascii") + b"\r\n" + body)
        self.transport.close()

    # Stopping.

    def shutdown(self) -> None:
        """Be told to stop: answer what is on its way, and close."""
        self._is_last = True
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.keep_alive = False
        elif not self._is_reading:
            self.loop.call_later(_LAST_CHANCE, self._close_if_idle)

    def _close_if_idle(self) -> None:
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if not (is_answering or self._is_reading or self.transport.is_closing()):
            self.transport.close()

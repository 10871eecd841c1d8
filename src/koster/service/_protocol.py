"""A connection that nobody can hold for long: uvicorn's, with the limits that it lacks.

Who sends a request slowly, an endless head, or does not read the answer, is cut off.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ._gate import WATCHED
from ._problems import Problem

if TYPE_CHECKING:
    from ._connections import Connections

#: Bytes that the head of a request may have, and its target (path and query).
MAX_HEAD = 64 * 1024
MAX_TARGET = 32 * 1024

#: Bytes that a chunk of a body may have besides its own.
_CHUNK = 32

#: Chunks that a body may have, if they are smaller than so many bytes on average: each takes time.
_MOST_SMALL = 1_000
_SMALL = 64

#: Bytes that are parsed at a time, and requests that may wait behind the one that is answered.
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

    def __init__(
        self, *arguments: Any, registry: Connections, address: str = "", **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self.address = address
        self._registry = registry
        self._is_spare = False
        self._is_read = False
        #: The loop's time at which the last request began or was answered.
        self.since = self.loop.time()
        #: The request that is being answered, or was last.
        self._answered: Any = None
        #: What is answered once the requests before are.
        self._refusal: Problem | None = None
        #: Bytes of the request: of the target and the fields that are complete; of all that came
        #: and is not of its body; and of its body. And chunks.
        self._fields = self._head = self._body = self._chunks = 0
        self._is_reading_head = False
        self._is_refused = False
        self._is_reading = False
        self._is_last = False
        self._slow_sender: asyncio.TimerHandle | None = None
        self._slow_reader: asyncio.TimerHandle | None = None

    # How much, and how slowly.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - for its type
        super().connection_made(transport)
        # Whatever is not sent at once waits for who reads slowly: see `pause_writing`.
        transport.set_write_buffer_limits(high=0)
        self._is_spare = self._registry.is_over_limit
        self._slow_sender = self.loop.call_later(PATIENCE, self._hang_up)
        self.loop.call_soon(self.loop.call_soon, self._begin_to_be_idle)

    def _begin_to_be_idle(self) -> None:
        """What was sent with the connection has been read by now: two turns of the loop later."""
        self._is_read = True

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._registry.closed(self)
        self._stop_waiting_for_request()
        self.resume_writing()
        # uvicorn tells only the last of several requests that nobody waits any more.
        for cycle in (self._answered, *(cycle for cycle, _ in self.pipeline)):
            if cycle is not None and not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on."""
        if self.parser is None or self._is_refused or self.transport.is_closing():
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
                self._refuse(_head_too_large())
                return
            if len(self.pipeline) > _MOST_WAITING:
                self.transport.abort()
                return
        # Empty lines before a request begin none, and end the time for which uvicorn waits.
        is_waiting = self._is_reading or not self._is_answering()
        if is_waiting and self._slow_sender is None and not self.transport.is_closing():
            self._slow_sender = self.loop.call_later(PATIENCE, self._hang_up)

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._stop_waiting_for_request()
        self._note_use()
        self._fields = self._head = self._body = self._chunks = 0
        self._is_reading_head = self._is_reading = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Read a field; trailers are none."""
        if self._is_reading_head:
            super().on_header(name, value)
            # With ": " and the end of the line.
            self._fields += len(name) + len(value) + 4

    def on_url(self, url: bytes) -> None:
        """Read on in the target of a request."""
        super().on_url(url)
        self._fields = len(self.url)
        if self._fields > MAX_TARGET:
            limit = f"{MAX_TARGET >> 10} KiB"
            self._refuse(Problem(414, "uri-too-long", f"the path is longer than {limit}"))

    def on_headers_complete(self) -> None:
        """End the head of a request."""
        if self._is_refused:
            return
        problem = self._problem_of_head()
        if problem is not None:
            self._refuse(problem)
            return
        if self._is_spare or self.parser.should_upgrade():
            self._is_last = True
        super().on_headers_complete()
        self._is_reading_head = False
        if self._is_last:
            self.cycle.keep_alive = False

    def _problem_of_head(self) -> Problem | None:
        """Return why a request is not answered, whatever it asks for."""
        if self._fields > MAX_HEAD:
            return _head_too_large()
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (hosts == 0 and self.parser.get_http_version() == "1.1"):
            # RFC 9112 §3.2.
            return Problem(400, "not-http", "a request must have exactly one Host header")
        if self.parser.should_upgrade() and any(name in _OF_BODIES for name, _ in self.headers):
            # The parser would take the body for what comes after the upgrade, or a request.
            return Problem(400, "not-http", "a request for an upgrade must not have a body")
        if self._is_spare and self.url.partition(b"?")[0].decode("latin-1") not in WATCHED:
            return Problem(503, "busy", "connection limit reached: try again", wait=2)
        return None

    def on_chunk_header(self) -> None:
        """Begin a chunk of a body."""
        self._chunks += 1
        if self._chunks > _MOST_SMALL and self._body < _SMALL * self._chunks:
            self._refuse(Problem(400, "not-http", "the body comes in too many small chunks"))

    def on_body(self, body: bytes) -> None:
        """Read on in a body."""
        self._head -= len(body)
        self._body += len(body)
        if not self._is_refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._stop_waiting_for_request()
        self._is_reading = False
        if not self._is_refused:
            super().on_message_complete()

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        """End an answer; then comes the next one, or a refusal."""
        is_last = not self.pipeline
        super().on_response_complete()
        self._note_use()
        if is_last and self._refusal is not None:
            self._send_refusal(self._refusal)

    def _note_use(self) -> None:
        self.since = self.loop.time()
        self._registry.used(self)

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
        if self._is_answering():
            self.transport.close()
        else:
            self._refuse(Problem(408, "too-slow", f"no complete request within {PATIENCE:g} s"))

    def _is_answering(self) -> bool:
        """Tell whether an answer is on its way, or a complete request waits for it."""
        if self._is_reading and not self._is_reading_head:
            # The last cycle is that of the request whose body is read.
            return bool(self.pipeline) or self.cycle.response_started
        return self.cycle is not None and not self.cycle.response_complete

    # Making room.

    @property
    def is_idle(self) -> bool:
        """Whether no request is in progress."""
        is_busy = self._is_reading or self._is_refused or self._is_answering()
        return self._is_read and not is_busy

    @property
    def is_receiving(self) -> bool:
        """Whether a request is arriving, and nothing is answered."""
        return self._is_reading and not (self._is_refused or self._is_answering())

    def give_way(self) -> None:
        """Close, for another connection: it is idle, or receives a request."""
        if self.transport.get_write_buffer_size():
            # Its descriptor would be open until the rest is read.
            self.transport.abort()
        elif self._is_reading:
            self._refuse(Problem(503, "busy", "connection limit reached: try again", wait=2))
        else:
            self.transport.close()

    # What is answered before there is a request.

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP."""
        self._refuse(Problem(400, "not-http", msg))

    def _refuse(self, problem: Problem) -> None:
        """Answer with a problem, once the requests before are answered; then close."""
        if self._is_refused:
            return
        self._is_refused = True
        is_answering = self._is_answering()
        if self._is_reading and not self._is_reading_head:
            if not self.pipeline and is_answering:
                # Its own answer has begun: there is no place for another one.
                self.transport.close()
                return
            if self.pipeline:
                # It will not be complete.
                self.pipeline.popleft()
        if is_answering:
            self._refusal = problem
        else:
            self._send_refusal(problem)

    def _send_refusal(self, problem: Problem) -> None:
        if not self.transport.is_closing():
            self.transport.write(problem.as_http())
            self.transport.close()

    # Stopping.

    def shutdown(self) -> None:
        """Answer the requests that are on their way, and close."""
        self._is_last = True
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.keep_alive = False
        elif not self._is_reading:
            self.loop.call_later(_LAST_CHANCE, self._close_if_idle)

    def _close_if_idle(self) -> None:
        if not (self._is_reading or self._is_answering() or self.transport.is_closing()):
            self.transport.close()

    def end(self, problem: Problem) -> None:
        """Close: what is still arriving is refused, and an answer that has begun is cut off.

        The task of a request that has no answer yet is to be cancelled; then it answers.
        """
        if self._is_answering():
            if self._answered.response_started:
                self.transport.abort()
        elif self._is_reading:
            self._refuse(problem)
        else:
            self.transport.close()


def _head_too_large() -> Problem:
    return Problem(431, "head-too-large", f"the head is larger than {MAX_HEAD >> 10} KiB")

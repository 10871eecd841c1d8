"""The HTTP protocol: uvicorn's, with additional limits against denial of service.

Clients that send slowly, send an endless head, or do not read the response are disconnected.
"""

from __future__ import annotations

import asyncio
import typing

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ._gate import MONITORING_PATHS
from ._problems import Problem


class _Registry(typing.Protocol):
    """What a connection needs of the object that has all of them."""

    @property
    def is_over_limit(self) -> bool: ...

    def mark_used(self, connection: Protocol) -> None: ...

    def remove(self, connection: Protocol) -> None: ...


#: Maximum bytes of a request's head, and of its target (path and query).
MAX_HEAD = 64 * 1024
MAX_TARGET = 16 * 1024

#: Maximum number of headers: even unknown ones cost time.
_MAX_HEADERS = 200

#: Maximum bytes per chunk of a body besides its data.
_CHUNK_OVERHEAD = 32

#: Maximum number of chunks smaller than `_SMALL_CHUNK` on average: each one takes time.
_MAX_SMALL_CHUNKS = 1_000
_SMALL_CHUNK = 64

#: Bytes parsed at a time, and maximum number of pipelined requests.
_PARSE_SIZE = 16 * 1024
_MAX_PIPELINED = 100

#: Seconds for receiving a request, for progress in sending a response, and until the first request.
TIMEOUT = 30.0

#: Seconds until an idle connection is closed on shutdown: a request may be in transit.
_SHUTDOWN_GRACE = 0.2


#: Headers of requests with a body.
_BODY_HEADERS = frozenset({b"content-length", b"transfer-encoding"})


class Protocol(HttpToolsProtocol):
    """A connection."""

    def __init__(
        self, *arguments: typing.Any, registry: _Registry, address: str = "", **options: typing.Any
    ) -> None:
        super().__init__(*arguments, **options)
        self.address = address
        self._registry = registry
        self._is_spare = False
        self._is_read = False
        #: The loop's time when the last request began or ended.
        self.last_used = self.loop.time()
        #: The cycle of the current or last request.
        self._last_cycle: typing.Any = None
        #: Sent after the responses to previous requests.
        self._pending_problem: Problem | None = None
        #: Bytes of the request: its target and complete headers; everything except its body; its
        #: body. And its number of chunks.
        self._fields = self._head = self._body = self._chunks = 0
        self._is_reading_head = False
        self._is_rejected = False
        self._is_reading = False
        self._is_last = False
        self._request_timer: asyncio.TimerHandle | None = None
        self._response_timer: asyncio.TimerHandle | None = None

    # How much, and how slowly.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the timers of a new connection."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - for its type
        super().connection_made(transport)
        # Pause as soon as data is buffered, to detect slow readers: see `pause_writing`.
        transport.set_write_buffer_limits(high=0)
        self._is_spare = self._registry.is_over_limit
        self._request_timer = self.loop.call_later(TIMEOUT, self._time_out)
        self.loop.call_soon(self.loop.call_soon, self._mark_first_read)

    def _mark_first_read(self) -> None:
        """Note that data sent with the connection has been read, two turns of the loop later."""
        self._is_read = True

    def connection_lost(self, exc: Exception | None) -> None:
        """Clean up after a closed connection."""
        self._registry.remove(self)
        self._cancel_request_timer()
        self.resume_writing()
        # uvicorn notifies only the last of several pipelined requests.
        for cycle in (self._last_cycle, *(cycle for cycle, _ in self.pipeline)):
            if cycle is not None and not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data, within the limits."""
        if self.parser is None or self._is_rejected or self.transport.is_closing():
            # Drop data after a rejected request.
            return
        for at in range(0, len(data), _PARSE_SIZE):
            block = data[at : at + _PARSE_SIZE]
            if self._is_reading:
                self._head += len(block)
            super().data_received(block)
            if self._is_rejected or self.transport.is_closing():
                return
            if self._is_reading and self._head > MAX_HEAD + _CHUNK_OVERHEAD * self._chunks:
                self._reject(_head_too_large())
                return
            if len(self.pipeline) > _MAX_PIPELINED:
                self.transport.abort()
                return
        # Empty lines before a request do not start one, but cancel uvicorn's keep-alive timer.
        is_waiting = self._is_reading or not self._is_answering()
        if is_waiting and self._request_timer is None and not self.transport.is_closing():
            self._request_timer = self.loop.call_later(TIMEOUT, self._time_out)

    def on_message_begin(self) -> None:
        """Handle the start of a request."""
        self._cancel_request_timer()
        self._mark_used()
        self._fields = self._head = self._body = self._chunks = 0
        self._is_reading_head = self._is_reading = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Handle a header; ignore trailers."""
        if not self._is_reading_head or self._is_rejected:
            return
        # Plus ": " and the line ending.
        self._fields += len(name) + len(value) + 4
        # The framework would parse cookies, which nothing reads.
        if name.lower() != b"cookie":
            super().on_header(name, value)
        if len(self.headers) > _MAX_HEADERS:
            detail = f"the request has more than {_MAX_HEADERS} headers"
            self._reject(Problem(431, "head-too-large", detail))

    def on_url(self, url: bytes) -> None:
        """Handle a part of a request's target."""
        super().on_url(url)
        self._fields = len(self.url)
        if self._fields > MAX_TARGET:
            limit = f"{MAX_TARGET >> 10} KiB"
            self._reject(Problem(414, "uri-too-long", f"the path is longer than {limit}"))

    def on_headers_complete(self) -> None:
        """Handle the end of a request's head."""
        if self._is_rejected:
            return
        problem = self._check_head()
        if problem is not None:
            self._reject(problem)
            return
        self._use_authority()
        if self._is_spare or self.parser.should_upgrade():
            self._is_last = True
        super().on_headers_complete()
        self._is_reading_head = False
        if self._is_last:
            self.cycle.keep_alive = False

    def _use_authority(self) -> None:
        """Replace the Host by that of a complete URL in the request line (RFC 9112 §3.2.2)."""
        if not self.url.startswith(b"/") and b"://" in self.url:
            authority = self.url.partition(b"://")[2].partition(b"/")[0].partition(b"?")[0]
            others = [(name, value) for name, value in self.headers if name != b"host"]
            self.headers[:] = [*others, (b"host", authority)]

    def _check_head(self) -> Problem | None:
        if self._fields > MAX_HEAD:
            return _head_too_large()
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (hosts == 0 and self.parser.get_http_version() == "1.1"):
            # RFC 9112 §3.2.
            return Problem(400, "not-http", "a request must have exactly one Host header")
        if self.parser.should_upgrade() and any(name in _BODY_HEADERS for name, _ in self.headers):
            # The parser would treat the body as upgraded data, or as another request.
            return Problem(400, "not-http", "a request for an upgrade must not have a body")
        if self._is_spare and self.url.partition(b"?")[0].decode("latin-1") not in MONITORING_PATHS:
            return Problem(503, "busy", "connection limit reached: try again", wait=2)
        return None

    def on_chunk_header(self) -> None:
        """Handle the start of a chunk."""
        self._chunks += 1
        if self._chunks > _MAX_SMALL_CHUNKS and self._body < _SMALL_CHUNK * self._chunks:
            self._reject(Problem(400, "not-http", "the body has too many small chunks"))

    def on_body(self, body: bytes) -> None:
        """Handle a part of a body."""
        self._head -= len(body)
        self._body += len(body)
        if not self._is_rejected:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Handle the end of a request."""
        self._cancel_request_timer()
        self._is_reading = False
        if not self._is_rejected:
            super().on_message_complete()

    def _start_asgi_task(self, cycle: typing.Any, app: typing.Any) -> None:
        self._last_cycle = cycle
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        """Handle the end of a response; continue with the next one, or a pending problem."""
        is_last = not self.pipeline
        super().on_response_complete()
        self._mark_used()
        if is_last and self._pending_problem is not None:
            self._send_problem(self._pending_problem)

    def _mark_used(self) -> None:
        self.last_used = self.loop.time()
        self._registry.mark_used(self)

    def _unsupported_upgrade_warning(self) -> None:
        """Log nothing: the request is handled without the upgrade."""

    def pause_writing(self) -> None:
        """Start the timer for slow readers."""
        super().pause_writing()
        self._response_timer = self.loop.call_later(TIMEOUT, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel the timer for slow readers."""
        if self._response_timer is not None:
            self._response_timer.cancel()
            self._response_timer = None
        if self.flow is not None:
            super().resume_writing()

    def _cancel_request_timer(self) -> None:
        if self._request_timer is not None:
            self._request_timer.cancel()
            self._request_timer = None

    def _time_out(self) -> None:
        """Close a connection whose request is incomplete."""
        self._request_timer = None
        if self.transport.is_closing():
            return
        if self._is_answering():
            self.transport.close()
        else:
            self._reject(Problem(408, "too-slow", f"no complete request within {TIMEOUT:g} s"))

    def _is_answering(self) -> bool:
        """Return whether a response is in progress or due."""
        if self._is_reading and not self._is_reading_head:
            # The current cycle belongs to the request whose body is being read.
            return bool(self.pipeline) or self.cycle.response_started
        return self.cycle is not None and not self.cycle.response_complete

    # Making room.

    @property
    def is_idle(self) -> bool:
        """Whether no request is in progress."""
        is_busy = self._is_reading or self._is_rejected or self._is_answering()
        return self._is_read and not is_busy

    @property
    def is_receiving(self) -> bool:
        """Whether a request is being received, and no response is in progress."""
        return self._is_reading and not (self._is_rejected or self._is_answering())

    def evict(self) -> None:
        """Close an idle or receiving connection, to make room for another one."""
        if self.transport.get_write_buffer_size():
            # `close` would keep the descriptor until the client has read the rest.
            self.transport.abort()
        elif self._is_reading:
            self._reject(Problem(503, "busy", "connection limit reached: try again", wait=2))
        else:
            self.transport.close()

    # Rejecting requests.

    def send_400_response(self, msg: str) -> None:
        """Reject invalid HTTP."""
        self._reject(Problem(400, "not-http", msg))

    def _reject(self, problem: Problem) -> None:
        """Send a problem after the responses to previous requests, then close."""
        if self._is_rejected:
            return
        self._is_rejected = True
        is_answering = self._is_answering()
        if self._is_reading and not self._is_reading_head:
            if not self.pipeline and is_answering:
                # Its response has already started.
                self.transport.close()
                return
            if self.pipeline:
                # This request stays incomplete.
                self.pipeline.popleft()
        if is_answering:
            self._pending_problem = problem
        else:
            self._send_problem(problem)

    def _send_problem(self, problem: Problem) -> None:
        if not self.transport.is_closing():
            self.transport.write(problem.to_http(self._method()))
            self.transport.close()

    def _method(self) -> str:
        """Return the method of the request that is read, or was last."""
        return "" if self.parser is None else self.parser.get_method().decode("ascii")

    # Stopping.

    def shutdown(self) -> None:
        """Close after responding to the requests in progress."""
        self._is_last = True
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.keep_alive = False
        elif not self._is_reading:
            self.loop.call_later(_SHUTDOWN_GRACE, self._close_if_idle)

    def _close_if_idle(self) -> None:
        if not (self._is_reading or self._is_answering() or self.transport.is_closing()):
            self.transport.close()

    def terminate(self, problem: Problem) -> None:
        """Close now: reject an incomplete request, and abort a started response.

        A request without a response yet gets one when the server cancels its task.
        """
        if self._is_answering():
            if self._last_cycle.response_started:
                self.transport.abort()
        elif self._is_reading:
            self._reject(problem)
        else:
            self.transport.close()


def _head_too_large() -> Problem:
    return Problem(431, "head-too-large", f"the head is larger than {MAX_HEAD >> 10} KiB")

"""The gate: what holds for every request, whatever it asks for.

Around the application (ASGI): sizes of bodies, requests a second, headers for browsers, a count and
a line in the log. It adds some microseconds to a request.
"""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING, Any

import anyio

from . import _problems
from ._log import log
from ._problems import Problem, answer_too_large, limited, stopping, too_large

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping
    from typing import TypeAlias

    from ._limits import RateLimit
    from ._metrics import Metrics

    Message: TypeAlias = MutableMapping[str, Any]
    Receive: TypeAlias = Callable[[], Awaitable[Message]]
    Send: TypeAlias = Callable[[Message], Awaitable[None]]
    App: TypeAlias = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

#: For every answer: it is what it says it is, and nothing is run, loaded or framed.
_HEADERS = [
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
#: For the page, which loads what this origin has, and nothing else; no text becomes HTML.
_PAGE_HEADERS = [
    (
        b"content-security-policy",
        (
            b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
            b"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
            b"require-trusted-types-for 'script'; trusted-types 'none'"
        ),
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=()"),
    (b"cache-control", b"no-cache"),
]

#: Monitoring endpoints: not rate-limited, and answered when all connections are in use.
WATCHED = frozenset({"/healthz", "/readyz", "/metrics"})

#: Bytes of an answer of the API, where requests may not have more.
LARGEST_ANSWER = 1 << 20

#: Methods that have a name of their own in metrics: a client may send any word.
_METHODS = frozenset({"GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH"})

#: Parameters of a query: each costs time before it is known to be unknown.
_PARAMETERS = 20

#: Bytes of a body that is too large that are read all the same: many clients read an answer only
#: when they have sent all. Who sends more is cut off.
_SWALLOWED = 32 << 20
#: Seconds in which they must come.
_LINGERING = 5.0


class State:
    """Whether the service is stopping."""

    def __init__(self) -> None:
        self.is_stopping = False


class Gate:
    """An ASGI application around another; see the module."""

    def __init__(
        self, app: App, max_body: int, limit: RateLimit, metrics: Metrics, state: State
    ) -> None:
        self._app = app
        self._max_body = max_body
        self._max_answer = max(max_body, LARGEST_ANSWER)
        self._limit = limit
        self._metrics = metrics
        self._state = state

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        answer = _Answer(scope["path"], send, self._max_answer, self._state)
        self._metrics.in_progress += 1
        try:
            await self._answer(scope, receive, answer.send)
        except asyncio.CancelledError:
            # The server cancels requests at the end of its grace period, and waits for these words.
            if not self._state.is_stopping:
                raise
            if not answer.status:
                for message in _messages_of(stopping()):
                    await answer.send(message)
        finally:
            self._metrics.in_progress -= 1
            self._note(scope, answer, time.perf_counter() - began)

    async def _answer(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer what is not too much."""
        declared = next((v for name, v in scope["headers"] if name == b"content-length"), b"0")
        problem = self._refusal(scope, declared)
        if problem is not None:
            await _refuse(problem, receive, send)
            return
        if declared != b"0":
            # uvicorn gives no more than that.
            await self._app(scope, receive, send)
            return
        left = self._max_body

        async def receiving() -> Message:
            nonlocal left
            if left >= 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if left >= 0:
                    return message
            return {"type": "http.disconnect"}

        async def sending(message: Message) -> None:
            # What it says to half a body does not count.
            if left >= 0:
                await send(message)

        await self._app(scope, receiving, sending)
        if left < 0:
            await _refuse(too_large(self._max_body), receive, send)

    def _refusal(self, scope: MutableMapping[str, Any], declared: bytes) -> Problem | None:
        """Return why a request is not answered, by its head; ``declared`` is its body's length."""
        client = scope["client"]
        if scope["path"] not in WATCHED:
            wait = self._limit.take(client[0] if client else "", 1)
            if wait:
                return too_many(wait)
        if scope["query_string"].count(b"&") > _PARAMETERS:
            return Problem(422, "invalid", f"more than {_PARAMETERS} parameters")
        if not declared.isdigit() or int(declared) > self._max_body:
            return too_large(self._max_body)
        return None

    def _note(self, scope: MutableMapping[str, Any], answer: _Answer, seconds: float) -> None:
        """Count a request, and write it down."""
        route = scope.get("route")
        handler = getattr(route, "operation_id", None) or _handler_at(scope["path"])
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.answered(handler, method, answer.status, seconds)
        client = scope["client"]
        log(
            "request",
            request=answer.request,
            client=client[0] if client else None,
            handler=handler,
            method=method,
            status=answer.status,
            bytes=answer.sent,
            ms=round(seconds * 1000, 2),
        )


class _Answer:
    """An answer on its way: with the headers that all have, and not too large."""

    def __init__(self, path: str, send: Send, most: int, state: State) -> None:
        self.request = os.urandom(8).hex()
        self.status = 0
        self.sent = 0
        self._path = path
        self._send = send
        self._most = most
        self._state = state
        self._is_replaced = False

    async def send(self, message: Message) -> None:
        """Send the start of the answer, or a part of its body."""
        if message["type"] != "http.response.start":
            if not self._is_replaced:
                await self._send_body(message)
            return
        if self._path.startswith("/v1/") and _size_of(message) > self._most:
            self._is_replaced = True
            message, body = _messages_of(answer_too_large(self._most))
        self.status = message["status"]
        self._add_headers(message)
        await self._send(message)
        if self._is_replaced:
            await self._send_body(body)

    async def _send_body(self, message: Message) -> None:
        self.sent += len(message.get("body", b""))
        await self._send(message)

    def _add_headers(self, message: Message) -> None:
        headers = list(message.get("headers", ()))
        is_page = self._path == "/" or self._path.startswith("/static/")
        headers += _PAGE_HEADERS if is_page else _HEADERS
        headers.append((b"x-request-id", self.request.encode("ascii")))
        if self._state.is_stopping:
            headers.append((b"connection", b"close"))
        message["headers"] = headers


def _size_of(start: Message) -> int:
    """Return the bytes of an answer, as its start declares them."""
    return next((int(text) for name, text in start["headers"] if name == b"content-length"), 0)


def _messages_of(problem: Problem) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a problem as the two messages of an answer."""
    body = problem.body()
    headers = [
        (b"content-type", _problems.MEDIA_TYPE.encode("ascii")),
        (b"content-length", str(len(body)).encode("ascii")),
        *((name.lower().encode(), text.encode()) for name, text in problem.headers.items()),
    ]
    start = {"type": "http.response.start", "status": problem.status, "headers": headers}
    return start, {"type": "http.response.body", "body": body}


def _handler_at(path: str) -> str:
    """Return what answers at a path that is no route of the API."""
    if path == "/openapi.json":
        return "openapi"
    return "static" if path.startswith("/static/") else "none"


def too_many(wait: float) -> Problem:
    """Return what is said to a client that asks too often."""
    return limited("too-many-requests", "", wait)


async def _refuse(problem: Problem, receive: Receive, send: Send) -> None:
    """Answer with a problem, read the rest of the body, and close the connection.

    The answer is whole before the body is read: closing at once would take it from clients that are
    still sending.
    """
    start, body = _messages_of(problem)
    start["headers"].append((b"connection", b"close"))
    await send(start)
    await send(body | {"more_body": True})
    left = _SWALLOWED
    with anyio.move_on_after(_LINGERING):
        while left > 0:
            message = await receive()
            if message["type"] != "http.request" or not message.get("more_body"):
                break
            left -= len(message.get("body", b""))
    await send({"type": "http.response.body", "body": b"", "more_body": False})

"""The gate: ASGI middleware for every request.

It limits body sizes and request rates, answers HEAD as GET without the body (RFC 9110 §9.3.2), adds
security headers, and updates metrics and log. It adds some microseconds per request.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

import anyio

from .._worker.refusals import answer_too_large
from . import _problems
from ._bodies import Body, Message, Receive, Send, decoder_of
from ._hosts import HostCheck, cross_site_rejection
from ._limits import RateLimit
from ._log import log
from ._metrics import Metrics
from ._problems import Problem, body_too_large, not_found, of_refusal, rate_limited, stopping
from ._settings import ServiceSettings

App: TypeAlias = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

#: Headers of API responses: no sniffing, scripts, loading or framing.
_HEADERS = [
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
#: Headers of the page: it loads resources only from its origin, and never turns text into HTML.
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

#: Monitoring endpoints: not rate-limited, and available when all connections are in use.
MONITORING_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})

#: Maximum bytes of an API response, unless request bodies may be larger.
_MAX_RESPONSE = 1 << 20

#: Methods with their own metrics label: clients may send any token.
_METHODS = frozenset({"GET", "POST", "HEAD"})

#: Characters of a path: no route has more.
_MAX_PATH = 1_000

#: Query parameters: even unknown ones cost time.
_MAX_PARAMETERS = 20

#: Bytes read of a rejected body: many clients read the response only after sending everything.
_MAX_DRAINED = 32 << 20
#: Seconds for reading a rejected body.
_DRAIN_SECONDS = 5.0


def max_response(settings: ServiceSettings) -> int:
    """Return the maximum bytes of an answer."""
    return max(settings.max_body, _MAX_RESPONSE)


class ServiceState:
    """Whether the service is stopping."""

    def __init__(self) -> None:
        self.is_stopping = False


class Gate:
    """The ASGI middleware; see the module.

    Raises:
        ValueError: a host name in the settings is invalid.
    """

    def __init__(
        self,
        app: App,
        settings: ServiceSettings,
        limit: RateLimit,
        metrics: Metrics,
        state: ServiceState,
    ) -> None:
        self._app = app
        self._max_body = settings.max_body
        self._max_response = max_response(settings)
        self._hosts = HostCheck(settings.host_names)
        self._limit = limit
        self._metrics = metrics
        self._state = state

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        is_head = scope["method"] == "HEAD"
        response = _Response(
            scope["path"], send, self._max_response, self._state, has_body=not is_head
        )
        # A copy: the server, log and metrics know the method that was sent.
        asked = {**scope, "method": "GET"} if is_head else scope
        self._metrics.in_progress += 1
        try:
            await self._respond(asked, receive, response.send)
        except asyncio.CancelledError:
            # After its grace period the server cancels requests, and waits for this response.
            if not self._state.is_stopping:
                raise
            if not response.status:
                for message in _asgi_messages(stopping()):
                    await response.send(message)
        finally:
            self._metrics.in_progress -= 1
            self._record(
                {**scope, "route": asked.get("route")}, response, time.perf_counter() - began
            )

    async def _respond(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Handle a request within the limits, or reject it."""
        declared = next((v for name, v in scope["headers"] if name == b"content-length"), b"0")
        problem = self._rejection(scope, declared)
        if problem is not None:
            await _send_rejection(problem, receive, send)
            return
        try:
            decoder = decoder_of(scope["headers"])
        except Problem as unknown:
            await _send_rejection(unknown, receive, send)
            return
        if declared != b"0" and decoder is None:
            # uvicorn passes at most this many bytes.
            await self._app(scope, receive, send)
            return
        body = Body(receive, send, self._max_body, decoder)
        await self._app(scope, body.receive, body.send)
        if body.problem is not None:
            await _send_rejection(body.problem, receive, send)

    def _rejection(self, scope: MutableMapping[str, Any], declared: bytes) -> Problem | None:
        """Return the problem with a request's head, if any; ``declared`` is its Content-Length."""
        # First: a website must not use up the rate of its visitor.
        problem = self._hosts.rejection(scope) or cross_site_rejection(scope)
        if problem is not None:
            return problem
        client = scope["client"]
        if scope["path"] not in MONITORING_PATHS:
            wait = self._limit.take(client[0] if client else "", 1)
            if wait:
                return too_many_requests(wait)
        if len(scope["path"]) > _MAX_PATH:
            return not_found()
        if scope["query_string"].count(b"&") > _MAX_PARAMETERS:
            return Problem(422, "invalid", f"more than {_MAX_PARAMETERS} parameters")
        if not declared.isdigit() or int(declared) > self._max_body:
            return body_too_large(self._max_body)
        return None

    def _record(self, scope: MutableMapping[str, Any], response: _Response, seconds: float) -> None:
        route = scope.get("route")
        handler = getattr(route, "operation_id", None) or _handler_name(scope["path"])
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.record_request(handler, method, response.status, seconds)
        client = scope["client"]
        log(
            "request",
            request=response.request,
            client=client[0] if client else None,
            handler=handler,
            method=method,
            status=response.status,
            bytes=response.sent,
            ms=round(seconds * 1000, 2),
        )


class _Response:
    """A response being sent: adds headers, and limits its size."""

    def __init__(
        self, path: str, send: Send, max_bytes: int, state: ServiceState, *, has_body: bool
    ) -> None:
        self.request = os.urandom(8).hex()
        self.status = 0
        self.sent = 0
        self._path = path
        self._send = send
        self._max_bytes = max_bytes
        self._state = state
        self._has_body = has_body
        self._is_replaced = False

    async def send(self, message: Message) -> None:
        """Send the start of the response, or a part of its body."""
        if message["type"] != "http.response.start":
            if not self._is_replaced:
                await self._send_body(message)
            return
        if self._path.startswith("/v1/") and _declared_length(message) > self._max_bytes:
            self._is_replaced = True
            message, body = _asgi_messages(of_refusal(answer_too_large(self._max_bytes)))
        self.status = message["status"]
        self._add_headers(message)
        await self._send(message)
        if self._is_replaced:
            await self._send_body(body)

    async def _send_body(self, message: Message) -> None:
        if not self._has_body:
            message = {**message, "body": b""}
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


def _declared_length(start: Message) -> int:
    return next((int(value) for name, value in start["headers"] if name == b"content-length"), 0)


def _asgi_messages(problem: Problem) -> tuple[dict[str, Any], dict[str, Any]]:
    body = problem.body()
    headers = [
        (b"content-type", _problems.MEDIA_TYPE.encode("ascii")),
        (b"content-length", str(len(body)).encode("ascii")),
        *((name.lower().encode(), value.encode()) for name, value in problem.headers.items()),
    ]
    start = {"type": "http.response.start", "status": problem.status, "headers": headers}
    return start, {"type": "http.response.body", "body": body}


def _handler_name(path: str) -> str:
    """Return the metrics label of a path outside the API."""
    if path == "/openapi.json":
        return "openapi"
    return "static" if path.startswith("/static/") else "none"


def too_many_requests(wait: float) -> Problem:
    """Return the problem for a client over its rate limit."""
    return rate_limited("too-many-requests", "", wait)


async def _send_rejection(problem: Problem, receive: Receive, send: Send) -> None:
    """Send a problem, read the rest of the body, and close the connection.

    Closing at once would lose the response for clients that are still sending.
    """
    start, body = _asgi_messages(problem)
    start["headers"].append((b"connection", b"close"))
    await send(start)
    await send(body | {"more_body": True})
    bytes_left = _MAX_DRAINED
    with anyio.move_on_after(_DRAIN_SECONDS):
        while bytes_left > 0:
            message = await receive()
            if message["type"] != "http.request" or not message.get("more_body"):
                break
            bytes_left -= len(message.get("body", b""))
    await send({"type": "http.response.body", "body": b"", "more_body": False})

"""Problems: the errors of the API (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from .._charsets import media_type_of
from .._wording import truncated
from .._worker.refusals import RefusedError

MEDIA_TYPE = "application/problem+json"

#: Maximum characters of each text in a problem, and maximum number of errors.
_MAX_CHARACTERS = 300
_MAX_ERRORS = 20


class Problem(Exception):  # noqa: N818 - the standard's name
    """An error as problem details.

    ``errors`` are objects with ``detail`` and either ``pointer`` (a JSON pointer into the body, RFC
    6901) or ``parameter`` (a name in the query). ``wait`` is the Retry-After in seconds.
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        errors: Sequence[dict[str, str]] = (),
        wait: int | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = errors
        self.wait = wait
        self._headers = headers

    def body(self) -> bytes:
        """Return the problem as JSON."""
        record: dict[str, Any] = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "code": self.code,
            "detail": _shorten(self.detail),
        }
        if self.errors:
            record["errors"] = [
                {name: _shorten(text) for name, text in error.items()} for error in self.errors
            ]
        return json.dumps(record).encode("ascii")

    @property
    def headers(self) -> dict[str, str]:
        """The response headers."""
        wait = {} if self.wait is None else {"Retry-After": str(self.wait)}
        return {**self._headers, **wait}

    def to_http(self, method: str = "GET") -> bytes:
        """Return the problem as the last response on a connection; one to HEAD has no body."""
        body = self.body()
        headers = {
            **self.headers,
            "Content-Type": MEDIA_TYPE,
            "Content-Length": str(len(body)),
            "Connection": "close",
        }
        lines = "".join(f"{name}: {text}\r\n" for name, text in headers.items())
        phrase = HTTPStatus(self.status).phrase
        head = f"HTTP/1.1 {self.status} {phrase}\r\n{lines}\r\n".encode("ascii")
        return head if method == "HEAD" else head + body

    def response(self) -> Response:
        """Return the problem as a response."""
        return Response(self.body(), self.status, self.headers, MEDIA_TYPE)


def _shorten(text: str) -> str:
    """Truncate text, which may contain parts of the request."""
    return truncated(text, _MAX_CHARACTERS)


def rate_limited(code: str, prefix: str, wait: float) -> Problem:
    """Return the problem for a client that must wait for some seconds."""
    seconds = max(1, round(wait + 0.5))
    return Problem(429, code, f"{prefix}try again in {seconds} s", wait=seconds)


def of_refusal(refusal: RefusedError) -> Problem:
    """Return the problem of a request that a function of `koster._worker` refused."""
    detail, pointer = refusal.detail, refusal.pointer
    errors = [] if pointer is None else [{"detail": detail, "pointer": pointer}]
    return Problem(refusal.status, refusal.code, detail, errors)


def not_found() -> Problem:
    """Return the problem for an unknown path."""
    return Problem(404, *_CODES[404])


def stopping() -> Problem:
    """Return the problem for requests while the service stops."""
    return Problem(503, "stopping", "the service is stopping: try again", wait=2)


def body_too_large(limit: int) -> Problem:
    """Return the problem for a body over the limit."""
    return Problem(413, "body-too-large", f"the body is larger than {limit:,} bytes")


def too_many_connections(limit: int) -> Problem:
    """Return the problem for a client with the maximum number of connections."""
    detail = f"you have {limit} open connections, the maximum for one client: close some"
    return Problem(429, "too-many-connections", detail, wait=2)


class _Request(Request):
    """A request whose JSON repeats no key, and has few values: see `koster._worker.bodies`."""

    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            self._json = await self.app.state.read_json(self, await self.body())
        return self._json


class _Route(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await handler(_Request(request.scope, request.receive))
            except HTTPException as error:
                # FastAPI wraps exceptions that occur while reading the body.
                if isinstance(error.__cause__, (Problem, RuntimeError)):
                    raise error.__cause__ from None
                raise

        return handle


#: Codes and details for statuses of the framework.
_CODES = {
    400: ("not-json", "the body is not JSON"),
    404: ("not-found", "not found: /openapi.json lists all routes"),
    405: ("method-not-allowed", "method not allowed: /openapi.json lists those of each route"),
}


def install(app: FastAPI) -> None:
    """Register the error handlers of an application."""
    app.router.route_class = _Route

    @app.exception_handler(Problem)
    async def _problem(_request: Request, problem: Exception) -> Response:
        assert isinstance(problem, Problem)  # noqa: S101 - for its type
        return problem.response()

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # noqa: S101 - for its type
        media_type = media_type_of(request.headers.get("content-type", ""))
        if request.method == "POST" and not media_type.endswith(("/json", "+json")):
            detail = "the Content-Type of the body must be application/json"
            return Problem(415, "not-declared-json", detail).response()
        return _validation_problem(error).response()

    @app.exception_handler(HTTPException)
    async def _http(_request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 - for its type
        code, detail = _CODES.get(error.status_code, ("error", str(error.detail)))
        problem = Problem(error.status_code, code, detail)
        response = problem.response()
        response.headers.update(error.headers or {})
        if response.headers.get("allow") == "GET":
            # The gate answers HEAD as GET.
            response.headers["allow"] = "GET, HEAD"
        return response

    @app.exception_handler(Exception)
    async def _internal_error(_request: Request, _error: Exception) -> Response:
        detail = "internal error: the log of the service has the details"
        return Problem(500, "failed", detail).response()


#: Messages for pydantic's error types.
_MESSAGES = {
    "missing": "is missing",
    "extra_forbidden": "is unknown",
    "string_type": "must be a string",
    "string_unicode": "has a lone surrogate",
    "list_type": "must be a list",
    "tuple_type": "must be a list of a name and a value",
    "bool_type": "must be true or false",
    "int_parsing": "must be an integer",
    "int_type": "must be an integer",
    "greater_than_equal": "must be at least {ge}",
    "string_too_long": "is longer than {max_length:,} characters",
    "string_too_short": "must not be empty",
    "model_attributes_type": "must be an object",
    "model_type": "must be an object",
    "dict_type": "must be an object",
}


def _detail(error: dict[str, Any]) -> str:
    """Return the message for a validation error, without the input."""
    message, context = _MESSAGES.get(error["type"]), error.get("ctx") or {}
    is_text = isinstance(error.get("input"), str)
    if error["type"] == "too_long":
        return f"has more than {context['max_length']:,} {'characters' if is_text else 'entries'}"
    if error["type"] == "too_short":
        return "must not be empty"
    if message is None:
        return str(error["msg"]).removeprefix("Value error, ")
    return message.format(**context)


def _validation_problem(error: RequestValidationError) -> Problem:
    errors = []
    for each in error.errors()[:_MAX_ERRORS]:
        location, *path = each["loc"]
        detail = _detail(each)
        if location == "body":
            parts = (str(part).replace("~", "~0").replace("/", "~1") for part in path)
            pointer = "".join(f"/{part}" for part in parts)
            errors.append({"detail": detail, "pointer": pointer})
        else:
            errors.append({"detail": detail, "parameter": ".".join(map(str, path))})
    if not errors:
        return Problem(422, "invalid", "the request cannot be read")
    first = errors[0]
    where = first.get("parameter") or first.get("pointer") or "the body:"
    return Problem(422, "invalid", f"{where} {first['detail']}", errors)

"""Problems: what the API says where it has no answer (RFC 9457)."""

from __future__ import annotations

import json
from collections import Counter
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from fastapi import FastAPI

MEDIA_TYPE = "application/problem+json"

#: Characters of each text in a problem, and places in a request of which it tells.
_LONGEST = 300
_MOST_ERRORS = 20

#: Lists, objects and strings (names of fields too) that the JSON of a request may have of each.
_MOST_PARTS = 20_000


class Problem(Exception):  # noqa: N818 - the standard's name
    """Something that keeps a request from being answered.

    ``errors`` are objects with ``detail`` and either ``pointer``, into the request's JSON (RFC
    6901), or ``parameter``, of its query. ``wait`` is after how many seconds to try again.
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        errors: Sequence[dict[str, str]] = (),
        wait: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = errors
        self.wait = wait

    def body(self) -> bytes:
        """Return the problem as JSON."""
        record: dict[str, Any] = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "code": self.code,
            "detail": _shortened(self.detail),
        }
        if self.errors:
            record["errors"] = [
                {name: _shortened(text) for name, text in error.items()} for error in self.errors
            ]
        return json.dumps(record).encode("ascii")

    @property
    def headers(self) -> dict[str, str]:
        """The headers that go with it."""
        return {} if self.wait is None else {"Retry-After": str(self.wait)}

    def as_http(self) -> bytes:
        """Return it as the last answer on a connection."""
        body = self.body()
        headers = {
            **self.headers,
            "Content-Type": MEDIA_TYPE,
            "Content-Length": str(len(body)),
            "Connection": "close",
        }
        lines = "".join(f"{name}: {text}\r\n" for name, text in headers.items())
        phrase = HTTPStatus(self.status).phrase
        return f"HTTP/1.1 {self.status} {phrase}\r\n{lines}\r\n".encode("ascii") + body

    def response(self) -> Response:
        """Return it as an answer."""
        return Response(self.body(), self.status, self.headers, MEDIA_TYPE)


def _shortened(text: str) -> str:
    """Return text as long as a problem needs: part of it may be from a request."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def limited(code: str, why: str, wait: float) -> Problem:
    """Return what is said to a client that has to wait for some seconds; ``why`` begins it."""
    seconds = max(1, round(wait + 0.5))
    return Problem(429, code, f"{why}try again in {seconds} s", wait=seconds)


def answer_too_large(limit: int) -> Problem:
    """Return what is said in place of an answer that is too large."""
    detail = f"the answer is larger than {limit:,} bytes: ask about less at once"
    return Problem(422, "answer-too-large", detail)


def stopping() -> Problem:
    """Return what is said where the service is about to stop."""
    return Problem(503, "stopping", "the service is stopping: try again", wait=2)


def too_large(limit: int) -> Problem:
    """Return what is said to a body that is too large."""
    return Problem(413, "body-too-large", f"the body is larger than {limit:,} bytes")


def too_many_connections(limit: int) -> Problem:
    """Return what a client is told that has its maximum of connections."""
    detail = f"you have {limit} open connections, the maximum for one client: close some"
    return Problem(429, "too-many-connections", detail, wait=2)


class _Request(Request):
    """A request whose JSON has no name twice: readers differ in which of the two counts."""

    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            body = await self.body()
            # They take the server's own time; a robots.txt in a string hardly has so many brackets
            # or quotation marks.
            if max(body.count(b"["), body.count(b"{"), body.count(b'"') // 2) > _MOST_PARTS:
                what = f"the body has more than {_MOST_PARTS:,} lists, objects or strings"
                raise Problem(422, "invalid", what)
            self._json = json.loads(body, object_pairs_hook=_without_duplicates)
        return self._json


class _Route(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await handler(_Request(request.scope, request.receive))
            except HTTPException as error:
                # FastAPI's word for any exception while it reads a body.
                if isinstance(error.__cause__, Problem):
                    raise error.__cause__ from None
                raise

        return handle


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        numbers = Counter(name for name, _ in pairs)
        twice = next(name for name, number in numbers.items() if number > 1)
        raise json.JSONDecodeError(f'duplicate key "{_shortened(twice)}"', "", 0)
    return found


#: What there is to know of a status that the framework gives.
_CODES = {
    400: ("not-json", "the body is not JSON"),
    404: ("not-found", "not found: /openapi.json lists all routes"),
    405: ("method-not-allowed", "method not allowed: /openapi.json lists those of each route"),
}


def install(app: FastAPI) -> None:
    """Have an application say its problems so."""
    app.router.route_class = _Route

    @app.exception_handler(Problem)
    async def _problem(_request: Request, problem: Exception) -> Response:
        assert isinstance(problem, Problem)  # noqa: S101 - for its type
        return problem.response()

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # noqa: S101 - for its type
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if request.method == "POST" and not media_type.endswith(("/json", "+json")):
            detail = "the Content-Type of the body must be application/json"
            return Problem(415, "not-declared-json", detail).response()
        return _of_validation(error).response()

    @app.exception_handler(HTTPException)
    async def _http(_request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101 - for its type
        code, detail = _CODES.get(error.status_code, ("error", str(error.detail)))
        problem = Problem(error.status_code, code, detail)
        response = problem.response()
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(Exception)
    async def _failed(_request: Request, _error: Exception) -> Response:
        detail = "internal error: the log of the service has the details"
        return Problem(500, "failed", detail).response()


#: What pydantic finds wrong, in words for those who asked.
_WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is unknown",
    "string_type": "must be a string",
    "list_type": "must be a list",
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
    """Return what is wrong, without what was said."""
    words, context = _WORDS.get(error["type"]), error.get("ctx") or {}
    is_text = isinstance(error.get("input"), str)
    if error["type"] == "too_long":
        return f"has more than {context['max_length']:,} {'characters' if is_text else 'entries'}"
    if error["type"] == "too_short":
        return "must not be empty"
    if words is None:
        return str(error["msg"]).removeprefix("Value error, ")
    return words.format(**context)


def _of_validation(error: RequestValidationError) -> Problem:
    """Return what is wrong with a request, without what it said."""
    errors = []
    for each in error.errors()[:_MOST_ERRORS]:
        place, *path = each["loc"]
        detail = _detail(each)
        if each["type"] == "json_invalid":
            return Problem(400, "not-json", f"the body is not valid JSON: {each['ctx']['error']}")
        if place == "body":
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

"""The application: routes, page, and their shared state."""

from __future__ import annotations

import mimetypes
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

from fastapi import FastAPI, Response
from fastapi.openapi.utils import get_openapi
from starlette.responses import FileResponse
from starlette.staticfiles import StaticFiles

from .._version import VERSION
from . import _api, _metrics, _problems
from ._gate import Gate, ServiceState
from ._limits import RateLimit
from ._pages import Pages
from ._settings import ServiceSettings
from ._sites import Sites
from ._work import Workers

_PAGE = Path(__file__).parent / "page"

_DESCRIPTION = (
    "Which crawlers may fetch which URLs, and which line decides? Unknown fields and parameters "
    "are errors. Errors are problem details (RFC 9457) with a `code`. Every response has an "
    "`X-Request-ID`, which is also in the service's log."
)

_PROBLEM = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
#: Errors of every route: a limit may be exceeded, or a header be wrong, in any request.
_ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"description": description, "content": _PROBLEM}
    for status, description in {
        400: "The request is not HTTP, or its body is not JSON or cannot be decoded.",
        403: "A page of another site causes the request.",
        408: "The request arrives too slowly.",
        413: "The body is too large.",
        414: "The path and query are too long.",
        415: "The body has another Content-Type than JSON, or an unknown Content-Encoding.",
        421: "The Host is not one of the service.",
        422: "The request is invalid, or exceeds a limit.",
        429: "The client sends too many requests: wait.",
        431: "The head is too large.",
        500: "An internal error: the log of the service has the details.",
        501: "The service lacks a package that the request needs.",
        503: "The service is busy or stopping: try again.",
    }.items()
}
_PROBLEM_SCHEMA = {
    "type": "object",
    "description": "An error (RFC 9457).",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string", "const": "about:blank"},
        "title": {"type": "string", "examples": ["Unprocessable Content"]},
        "status": {"type": "integer", "examples": [422]},
        "code": {"type": "string", "examples": ["too-many-questions"]},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["detail"],
                "properties": {
                    "detail": {"type": "string"},
                    "pointer": {
                        "type": "string",
                        "description": "JSON pointer into the body (RFC 6901).",
                    },
                    "parameter": {"type": "string", "description": "Name of the query parameter."},
                },
            },
        },
    },
}


def create_app(settings: ServiceSettings | None = None) -> Service:
    """Return the service as an ASGI application, for a server such as uvicorn.

    >>> app = create_app(ServiceSettings(max_questions=100))
    """
    return Service(settings or ServiceSettings())


class Service(Gate):
    """The ASGI application; a server sets ``state.is_stopping`` when it stops."""

    _schema: ClassVar[dict[str, Any] | None] = None

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings
        self.state = ServiceState()
        self.metrics = metrics = _metrics.Metrics()
        limit = RateLimit(settings.rate, time.monotonic)
        sites = Sites(settings, limit, metrics)
        workers = Workers(settings, metrics, self.state)
        pages = Pages(settings, sites, workers)

        @asynccontextmanager
        async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
            self._prepare()
            sites.open()
            pages.open()
            await workers.start()
            try:
                yield
            finally:
                await sites.aclose()
                pages.close()
                await workers.aclose()

        self.api = FastAPI(
            title="koster",
            version=VERSION,
            description=_DESCRIPTION,
            lifespan=lifespan,
            responses=_ERROR_RESPONSES,
            # These pages load third-party scripts.
            docs_url=None,
            # Redirects would use the client's Host header.
            redirect_slashes=False,
            redoc_url=None,
        )
        self.api.openapi = self._openapi  # type: ignore[method-assign]
        self.api.state.read_json = workers.read_json
        _problems.install(self.api)
        _api.add_routes(self.api, _api.Api(settings, self.state, sites, pages, workers, metrics))
        self._add_metrics(metrics)
        self._add_page()
        super().__init__(self.api, settings, limit, metrics, self.state)

    def _prepare(self) -> None:
        """Do what would otherwise hold up the first requests."""
        _api.prepare()
        self._openapi()
        mimetypes.init()

    def _openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document, the same for every service."""
        if Service._schema is None:
            schema = get_openapi(
                title=self.api.title,
                version=self.api.version,
                description=self.api.description,
                routes=self.api.routes,
            )
            schema["components"]["schemas"]["Problem"] = _PROBLEM_SCHEMA
            Service._schema = schema
        return Service._schema

    def _add_metrics(self, metrics: _metrics.Metrics) -> None:

        @self.api.get(
            "/metrics",
            operation_id="metrics",
            summary="Prometheus metrics",
            response_class=Response,
            responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
        )
        async def metrics_page() -> Response:
            return Response(await metrics.page(), media_type=_metrics.MEDIA_TYPE)

    def _add_page(self) -> None:

        @self.api.api_route("/", methods=["GET"], operation_id="page", include_in_schema=False)
        async def page() -> FileResponse:
            return FileResponse(_PAGE / "index.html")

        self.api.mount("/static", StaticFiles(directory=_PAGE), name="static")

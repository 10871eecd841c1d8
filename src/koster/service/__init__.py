"""The service: decisions over HTTP, and the tester page. Needs the extra ``service``.

`create_app` returns the ASGI application; `serve` runs it, as ``koster serve`` does.
"""

from __future__ import annotations

from ..errors import missing

try:
    import ai_crawler_index  # noqa: F401
    import fastapi  # noqa: F401 - for the error message
    import httptools  # noqa: F401
    import httpx2  # noqa: F401
    import prometheus_client  # noqa: F401
    import uvicorn  # noqa: F401
except ModuleNotFoundError as error:
    raise missing("koster.service", "service") from error

from ._app import Service, create_app
from ._server import CannotListenError, listener_address, open_listener, serve
from ._settings import Settings

__all__ = [
    "CannotListenError",
    "Service",
    "Settings",
    "create_app",
    "listener_address",
    "open_listener",
    "serve",
]

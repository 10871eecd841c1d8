"""The service: decisions over HTTP, and the tester page. Needs the extra ``service``.

`create_app` returns the ASGI application; `serve` runs it, as ``koster serve`` does.
"""

# How a request becomes an answer:
#
#     socket ──_connections──▶ connection ──_protocol──▶ head, body ──_gate──▶ request ──_api──┐
#                                                                                             │
#              response ◀── _problems or an answer ◀──_process── worker ◀──_fair── _work ◀────┘
#
# Each step has a limit, and refuses what is beyond it, so that the next one never meets it:
#
# * `_connections`: how many there are, in all and from one client. A server that has no descriptor
#   left can neither accept nor open files, so idle connections are closed for new ones.
# * `_protocol` (uvicorn's, with time limits): how slowly a head, a body and a response may pass.
# * `_gate`, `_bodies` and `_requests`: the size of a body, also once it is decoded, how long it may
#   take to arrive, and what it costs.
# * `_work`: how long a question may take. The interpreter lock allows one at a time, so all but the
#   shortest are answered in worker processes (`koster._worker`), first in the quick lane, then in
#   the slow one, whose processes `_fair` shares between clients. One that takes too long is
#   stopped; its process is killed if it does not stop.
#
# A proxy in front (nginx) has limits of the first three kinds, but is not always there, and none of
# the last: it cannot know what a question costs. SECURITY.md promises that they hold without one,
# and `tests/live` attacks the service alone.

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
from ._settings import ServiceSettings

__all__ = [
    "CannotListenError",
    "Service",
    "ServiceSettings",
    "create_app",
    "listener_address",
    "open_listener",
    "serve",
]

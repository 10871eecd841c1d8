"""Clients that fetch and cache robots.txt files, and pace requests.

`RobotsClient` and `AsyncRobotsClient` drive `koster.access`, over koster's own network (extra
``http``) or the HTTP client that the caller has; `PUBLIC_ONLY` blocks addresses that are not
public; `Pacer` and, with the extra ``redis``, `FleetPacer` keep requests to the pace that sites
set; `event_hooks` check every request of an httpx client; `MockTransport` replaces the network in
tests.
"""

from __future__ import annotations

import logging
from importlib import import_module

from ..access import Html, Outcome, Redirects, Unreachable
from ..errors import KosterError, missing
from ..politeness import Limits, Longer

try:
    from ._hosts import to_ascii
except ModuleNotFoundError as error:
    raise missing("koster.fetch", "http") from error

from ._grouping import PaceBy
from ._page_responses import NotAllowedError
from .events import Event, EventName
from .guard import PUBLIC_ONLY, Guard, RefusedAddressError
from .pace import Pacer
from .sync import RobotsClient

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._event_hooks import event_hooks
    from .aio import AsyncRobotsClient
    from .fleet import FleetPacer, Outage
    from .mock import MockTransport, Reply

logging.getLogger("koster").addHandler(logging.NullHandler())

__all__ = [
    "PUBLIC_ONLY",
    "AsyncRobotsClient",
    "Event",
    "EventName",
    "FleetPacer",
    "Guard",
    "Html",
    "Limits",
    "Longer",
    "MockTransport",
    "NotAllowedError",
    "Outage",
    "Outcome",
    "PaceBy",
    "Pacer",
    "Redirects",
    "RefusedAddressError",
    "Reply",
    "RobotsClient",
    "Unreachable",
    "event_hooks",
    "to_ascii",
]

#: Names by module, for those that need packages which not every caller has.
_LATE = {
    "AsyncRobotsClient": "aio",
    "FleetPacer": "fleet",
    "MockTransport": "mock",
    "event_hooks": "_event_hooks",
    "Outage": "fleet",
    "Reply": "mock",
}


def __getattr__(name: str) -> object:
    """Import a name on first access."""
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f".{_LATE[name]}", __name__), name)
    except ModuleNotFoundError as error:
        if isinstance(error, KosterError):
            raise
        raise missing(f"koster.fetch.{name}", "http") from error

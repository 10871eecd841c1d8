"""Clients that fetch and cache robots.txt files, and pace requests. Needs the extra ``http``.

`RobotsClient` and `AsyncRobotsClient` drive `koster.access` over httpx2; `PUBLIC_ONLY` blocks
addresses that are not public; `Pacer` and, with the extra ``redis``, `FleetPacer` keep requests to
the pace that sites set; `MockTransport` replaces the network in tests.
"""

from __future__ import annotations

import logging

from ..errors import missing

try:
    import httpx2  # noqa: F401 - for the error message
except ModuleNotFoundError as error:
    raise missing("koster.fetch", "http") from error

from ..access import Outcome, Unreachable
from ._lookup import to_ascii
from .aio import AsyncRobotsClient
from .events import Event, EventName
from .guard import PUBLIC_ONLY, Guard, RefusedAddressError
from .mock import MockTransport, Reply
from .pace import Pacer
from .sync import RobotsClient

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .fleet import FleetPacer

logging.getLogger("koster").addHandler(logging.NullHandler())

__all__ = [
    "PUBLIC_ONLY",
    "AsyncRobotsClient",
    "Event",
    "EventName",
    "FleetPacer",
    "Guard",
    "MockTransport",
    "Outcome",
    "Pacer",
    "RefusedAddressError",
    "Reply",
    "RobotsClient",
    "Unreachable",
    "to_ascii",
]


def __getattr__(name: str) -> object:
    """Import `FleetPacer` on first access: it needs the extra ``redis``."""
    if name == "FleetPacer":
        from .fleet import FleetPacer  # noqa: PLC0415 - needs an extra

        return FleetPacer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

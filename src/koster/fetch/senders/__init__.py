"""Senders over HTTP libraries: koster's own network, and the client that the caller has.

Each module needs only its library, which the caller's client has imported. None is a dependency.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .._exchange import AsyncSender, Sender

#: The classes of clients: library, class, the module here, and its sender.
_CLIENTS = (
    ("httpx2", "Client", "httpx", "ClientSender"),
    ("httpx", "Client", "httpx", "ClientSender"),
    ("requests", "Session", "requests", "SessionSender"),
)
_ASYNC_CLIENTS = (
    ("httpx2", "AsyncClient", "httpx", "AsyncClientSender"),
    ("httpx", "AsyncClient", "httpx", "AsyncClientSender"),
    ("aiohttp", "ClientSession", "aiohttp", "SessionSender"),
)


def sender_for(http: object) -> Sender:
    """Return the sender over a client of httpx, httpx2 or requests.

    Raises:
        TypeError: it is not such a client.
    """
    sender: Sender | None = _find(http, _CLIENTS)
    if sender is not None:
        return sender
    if _is_instance(http, _ASYNC_CLIENTS):
        raise TypeError(f"{_name(http)} is asynchronous: use it with AsyncRobotsClient")
    raise TypeError(
        f"http must be an httpx.Client, an httpx2.Client or a requests.Session, not {_name(http)}"
    )


def async_sender_for(http: object) -> AsyncSender:
    """Return the sender over a client of httpx, httpx2 or aiohttp.

    Raises:
        TypeError: it is not such a client.
    """
    sender: AsyncSender | None = _find(http, _ASYNC_CLIENTS)
    if sender is not None:
        return sender
    if _is_instance(http, _CLIENTS):
        raise TypeError(f"{_name(http)} is not asynchronous: use it with RobotsClient")
    raise TypeError(
        "http must be an httpx.AsyncClient, an httpx2.AsyncClient or an aiohttp.ClientSession, "
        f"not {_name(http)}"
    )


def is_client(http: object) -> bool:
    """Return whether a value is a client for the argument ``http``."""
    return _is_instance(http, _CLIENTS + _ASYNC_CLIENTS)


def _is_instance(http: object, classes: tuple[tuple[str, str, str, str], ...]) -> bool:
    return any(
        isinstance(http, getattr(sys.modules[library], name))
        for library, name, _, _ in classes
        if sys.modules.get(library)
    )


def _find(http: object, classes: tuple[tuple[str, str, str, str], ...]) -> Any:
    for each in classes:
        if _is_instance(http, (each,)):
            library, _, module, sender = each
            factory = getattr(import_module(f"{__name__}.{module}"), sender)
            return factory(http, sys.modules[library])
    return None


def _name(http: object) -> str:
    kind = type(http)
    return f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}"

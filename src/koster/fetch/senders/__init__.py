"""Senders over HTTP libraries: koster's own network, and the client that the caller has.

Each module needs only its library, which the caller's client has imported. None is a dependency.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

from ...errors import missing
from .._arguments import NetworkSettings, name_of_type
from .._exchange import AsyncSender, Sender

#: Classes of clients: the library, the class, the module here, and its sender.
Classes: TypeAlias = tuple[tuple[str, str, str, str], ...]


@dataclass(frozen=True, slots=True)
class _Mode:
    """What threads and event loops differ in.

    Attributes:
        classes: The clients that are accepted.
        wanted: Their names, for errors.
        wrong: What to say of clients of the other mode.
        own: The function in `transport` that opens koster's own network.
        over: The function in `transport` that wraps a transport.
    """

    classes: Classes
    wanted: str
    wrong: str
    own: str
    over: str


_THREADS = _Mode(
    classes=(
        ("httpx2", "Client", "httpx", "ClientSender"),
        ("httpx", "Client", "httpx", "ClientSender"),
        ("requests", "Session", "requests", "SessionSender"),
    ),
    wanted="an httpx.Client, an httpx2.Client or a requests.Session",
    wrong="is asynchronous: use it with AsyncRobotsClient",
    own="own_sender",
    over="sender_over",
)
_EVENT_LOOP = _Mode(
    classes=(
        ("httpx2", "AsyncClient", "httpx", "AsyncClientSender"),
        ("httpx", "AsyncClient", "httpx", "AsyncClientSender"),
        ("aiohttp", "ClientSession", "aiohttp", "SessionSender"),
    ),
    wanted="an httpx.AsyncClient, an httpx2.AsyncClient or an aiohttp.ClientSession",
    wrong="is not asynchronous: use it with RobotsClient",
    own="own_async_sender",
    over="async_sender_over",
)


def sender_for(network: NetworkSettings, http: object, transport: object) -> Sender:
    """Return what sends the requests of a `RobotsClient`.

    Raises:
        MissingExtraError: koster's own network needs the extra ``http``.
        TypeError: ``http`` or ``transport`` has the wrong type.
    """
    sender: Sender = _open(network, http, transport, _THREADS, _EVENT_LOOP)
    return sender


def async_sender_for(network: NetworkSettings, http: object, transport: object) -> AsyncSender:
    """Return what sends the requests of an `AsyncRobotsClient`; see `sender_for`."""
    sender: AsyncSender = _open(network, http, transport, _EVENT_LOOP, _THREADS)
    return sender


def _open(
    network: NetworkSettings, http: object, transport: object, mode: _Mode, other: _Mode
) -> Any:
    if http is not None:
        return _over_client(http, mode, other)
    try:
        from . import transport as own  # noqa: PLC0415 - needs an extra
    except ModuleNotFoundError as error:
        raise missing("koster.fetch", "http") from error
    if transport is not None:
        return getattr(own, mode.over)(transport)
    return getattr(own, mode.own)(network)


def _over_client(http: object, mode: _Mode, other: _Mode) -> Any:
    for library, name, module, sender in mode.classes:
        if _is_instance(http, library, name):
            factory = getattr(import_module(f"{__name__}.{module}"), sender)
            return factory(http, sys.modules[library])
    if any(_is_instance(http, library, name) for library, name, _, _ in other.classes):
        raise TypeError(f"{name_of_type(http)} {mode.wrong}")
    raise TypeError(f"http must be {mode.wanted}, not {name_of_type(http)}")


def _is_instance(http: object, library: str, name: str) -> bool:
    module = sys.modules.get(library)
    return module is not None and isinstance(http, getattr(module, name))

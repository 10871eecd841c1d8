"""The addresses of host names, as far as the guard permits them."""

from __future__ import annotations

import contextlib

# `socket.getaddrinfo` needs this codec, and codecs caches failed lookups forever, even if only the
# file descriptors ran out.
import encodings.idna  # noqa: F401
import queue
import socket
import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import anyio
import anyio.from_thread
import anyio.lowlevel

from .guard import Guard, RefusedAddressError

#: Addresses, or an error.
_LookupResult: TypeAlias = list[str] | Exception


def resolve(host: str, port: int, seconds: float) -> list[str]:
    """Return the addresses of a host.

    Raises:
        TimeoutError: the lookup took too long.
        OSError: the lookup failed.
        UnicodeError: the name is invalid.
    """
    found = _literal_address(host, port)
    if found is not None:
        return found
    results: queue.SimpleQueue[_LookupResult] = queue.SimpleQueue()
    _start_lookup(host, port, results.put)
    try:
        return _unwrap(results.get(timeout=seconds))
    except queue.Empty:
        raise TimeoutError(f"DNS lookup of {host} timed out") from None


async def resolve_async(host: str, port: int) -> list[str]:
    """Return the addresses of a host without blocking the event loop.

    Raises:
        OSError: the lookup failed.
        UnicodeError: the name is invalid.
    """
    found = _literal_address(host, port)
    if found is not None:
        return found
    done = anyio.Event()
    loop_thread = threading.current_thread()
    token = anyio.lowlevel.current_token()
    results: list[_LookupResult] = []

    def put(found: _LookupResult) -> None:
        results.append(found)
        if threading.current_thread() is loop_thread:
            done.set()
            return
        # The loop may have ended meanwhile.
        with contextlib.suppress(RuntimeError, anyio.RunFinishedError):
            anyio.from_thread.run_sync(done.set, token=token)

    _start_lookup(host, port, put)
    await done.wait()
    return _unwrap(results[0])


def _literal_address(host: str, port: int) -> list[str] | None:
    """Return the IP address that a host is, or None if it is a name."""
    try:
        return _addresses(socket.getaddrinfo(host, port, flags=socket.AI_NUMERICHOST))
    except (OSError, UnicodeError):
        return None


def _start_lookup(host: str, port: int, put: Callable[[_LookupResult], object]) -> None:
    """Look up a host in a new thread, and pass the addresses or the error to ``put``.

    The system resolver has no timeout: callers abandon its daemon thread if it takes too long.
    """

    def resolve() -> None:
        try:
            put(_addresses(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))
        except (OSError, UnicodeError) as error:
            put(error)

    thread = threading.Thread(target=resolve, name=f"resolve {host}", daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        put(OSError(f"cannot look up {host}: {error}"))


def _unwrap(found: _LookupResult) -> list[str]:
    """Return the addresses, or raise the error."""
    if isinstance(found, Exception):
        raise found
    return found


def _addresses(found: Iterable[tuple[Any, ...]]) -> list[str]:
    """Return the distinct addresses of a `socket.getaddrinfo` result."""
    return list(dict.fromkeys(str(each[4][0]) for each in found))


def permitted(addresses: list[str], port: int, guard: Guard | None) -> list[str]:
    """Return the addresses that the guard permits.

    Raises:
        RefusedAddressError: it permits none, or not that port.
    """
    if guard is None:
        return addresses
    reason = guard.why_not_at(port)
    if reason is not None:
        raise RefusedAddressError(f"port {port} is {reason}")
    permitted = [address for address in addresses if guard.why_not(address) is None]
    if addresses and not permitted:
        raise RefusedAddressError(f"{addresses[0]} is {guard.why_not(addresses[0])}")
    return permitted

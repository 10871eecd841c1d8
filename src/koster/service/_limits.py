"""How often a client may ask: the generic cell rate algorithm, a number for each client."""

from __future__ import annotations

import functools
import ipaddress
from typing import TYPE_CHECKING

from ..cache.memory import Recent

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import Request

#: Clients that are remembered; who is forgotten begins anew.
_CLIENTS = 100_000

#: Seconds' worth of requests that may come at once.
_BURST = 2.0


class RateLimit:
    """Lets each client make so many requests a second on average, twice as many at once.

    Args:
        rate: Requests a second; 0 for any number.
        clock: Gives seconds, which only grow.
    """

    def __init__(self, rate: float, clock: Callable[[], float]) -> None:
        self._interval = 1 / rate if rate else 0.0
        self._clock = clock
        self._due: Recent[str, float] = Recent(_CLIENTS, _CLIENTS, lambda _: 1)

    def take(self, client: str, cost: float = 1) -> float:
        """Count a request; return 0, or after how many seconds it may be made.

        ``cost``: as how many it counts. One that is refused counts as none.
        """
        if not self._interval:
            return 0.0
        now = self._clock()
        key = client_key(client)
        due = max(self._due.get(key) or now, now)
        seconds = cost * self._interval
        # What counts as more than may come at once may come when there is hardly anything else.
        early = due - now - max(_BURST - seconds, self._interval)
        # What rounding makes of nothing is nothing.
        if early > 1e-9:
            return early
        self._due.put(key, due + seconds)
        return 0.0


def client_of(request: Request) -> str:
    """Return the address of who asks."""
    return request.client.host if request.client else ""


@functools.lru_cache(4_096)
def client_key(client: str) -> str:
    """Return the part of an address that surely belongs to one client: of IPv6 a /64 network.

    >>> client_key("2001:db8:1:2:3::4"), client_key("192.0.2.1")
    ('2001:db8:1:2::', '192.0.2.1')
    """
    try:
        address = ipaddress.ip_address(client.partition("%")[0])
    except ValueError:
        # A proxy that hands on what clients say of themselves.
        return ""
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    mapped = address.ipv4_mapped
    return str(mapped or ipaddress.IPv6Address(int(address) >> 64 << 64))

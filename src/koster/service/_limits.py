"""Rate limits by client, with the generic cell rate algorithm (GCRA)."""

from __future__ import annotations

import functools
import ipaddress
from collections.abc import Callable

from fastapi import Request

from ..cache.memory import LRUCache

#: Clients remembered; a discarded one starts again at zero.
_MAX_CLIENTS = 100_000

#: Size of a burst, in seconds at the average rate.
_BURST_SECONDS = 2.0


class RateLimit:
    """Limits each client to a rate of requests, with bursts of twice the rate.

    Args:
        rate: Requests per second; 0 for no limit.
        clock: Returns seconds of a monotonic clock.
    """

    def __init__(self, rate: float, clock: Callable[[], float]) -> None:
        self._interval = 1 / rate if rate else 0.0
        self._clock = clock
        self._due: LRUCache[str, float] = LRUCache(_MAX_CLIENTS, _MAX_CLIENTS, lambda _: 1)

    def take(self, client: str, cost: float = 1) -> float:
        """Count a request and return 0, or return the seconds until it is allowed.

        ``cost`` is the number of requests that it counts as; rejected requests do not count.
        """
        if not self._interval:
            return 0.0
        now = self._clock()
        key = client_key(client)
        due = max(self._due.get(key) or now, now)
        seconds = cost * self._interval
        # A cost above the burst size is allowed if the client is almost idle.
        early = due - now - max(_BURST_SECONDS - seconds, self._interval)
        # Ignore rounding errors.
        if early > 1e-9:
            return early
        self._due.put(key, due + seconds)
        return 0.0


def client_address(request: Request) -> str:
    """Return the client's address, or an empty string."""
    return request.client.host if request.client else ""


@functools.lru_cache(4_096)
def client_key(client: str) -> str:
    """Return the key of a client for limits: its IPv4 address, or IPv6 /64 network.

    >>> client_key("2001:db8:1:2:3::4"), client_key("192.0.2.1")
    ('2001:db8:1:2::', '192.0.2.1')
    """
    try:
        address = ipaddress.ip_address(client.partition("%")[0])
    except ValueError:
        # A proxy forwarded an invalid address from a client.
        return ""
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    mapped = address.ipv4_mapped
    return str(mapped or ipaddress.IPv6Address(int(address) >> 64 << 64))

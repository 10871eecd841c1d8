"""Which requests a web page may cause: websites must not use a service on their visitor's computer.

A page of another site can send requests to ``http://127.0.0.1:8000``, and read the answers if its
own name resolves to that address (DNS rebinding). Browsers say so in two headers: ``Host`` has the
name in the page's address, and ``Sec-Fetch-Site`` who causes the request.
"""

from __future__ import annotations

import functools
import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from ..fetch import to_ascii
from ._problems import Problem

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

#: Names of this computer, which no name server is asked about.
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})

#: A Host header: an address in brackets, or a name, and a port.
_HOST = re.compile(r"(?:\[([^\]]*)\]|([^:\[\]]*))(?::[0-9]*)?", re.ASCII)

_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*", re.ASCII)

#: Values of Sec-Fetch-Site for the tester page itself, and for addresses that people type.
_OWN_SITE = frozenset({b"same-origin", b"none"})


class HostCheck:
    """Checks the Host of requests over loopback, and of all requests if names are given.

    Args:
        names: Host names that are accepted besides those of this computer.

    Raises:
        ValueError: one is not a host name.
    """

    def __init__(self, names: Iterable[str]) -> None:
        own = frozenset(map(_parse_name, names))
        self._allowed = _LOCAL | own
        self._is_always = bool(own)

    def rejection(self, scope: Mapping[str, Any]) -> Problem | None:
        """Return the problem with a request's Host, if any."""
        server = (scope.get("server") or ("",))[0]
        local = _loopback(server)
        if local is None and not self._is_always:
            return None
        # Browsers send one. Monitoring that speaks HTTP/1.0 may send none.
        for host in _values(scope["headers"], b"host"):
            name = _host_name(host)
            if name is None or (name not in self._allowed and name != local):
                shown = host.decode("ascii", "replace")
                detail = f'host "{shown}" is not allowed: see koster serve --host-name'
                return Problem(421, "unknown-host", detail)
        return None


def cross_site_rejection(scope: Mapping[str, Any]) -> Problem | None:
    """Return the problem with a request to the API that another site causes, if any."""
    if scope["path"].startswith("/v1/") and any(
        value not in _OWN_SITE for value in _values(scope["headers"], b"sec-fetch-site")
    ):
        return Problem(403, "cross-site", "pages of other sites cannot use the API")
    return None


def _values(headers: Sequence[tuple[bytes, bytes]], wanted: bytes) -> list[bytes]:
    return [value for name, value in headers if name == wanted]


@functools.lru_cache(1_024)
def _host_name(value: bytes) -> str | None:
    """Return the name or address in a Host header, or None if it is invalid.

    >>> _host_name(b"LOCALHOST.:8000"), _host_name(b"[0::1]"), _host_name(b"a@localhost")
    ('localhost', '::1', None)
    """
    found = _HOST.fullmatch(value.decode("latin-1"))
    if found is None:
        return None
    address, name = found.groups()
    if address is None:
        name = name.lower().removesuffix(".")
        return name if _NAME.fullmatch(name) else None
    try:
        return str(ipaddress.IPv6Address(address))
    except ValueError:
        return None


@functools.lru_cache(64)
def _loopback(server: str) -> str | None:
    """Return the address of a server if it is loopback, else None."""
    try:
        address: Address = ipaddress.ip_address(server)
    except ValueError:
        # A Unix socket.
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return str(address) if address.is_loopback else None


def _parse_name(name: str) -> str:
    """Return a host name as it is in a Host header.

    Raises:
        ValueError: it is invalid, for example a URL, or has a port.
    """
    try:
        parsed = _host_name((name if name.isascii() else to_ascii(name)).encode("ascii"))
    except ValueError:
        parsed = None
    if parsed is None or re.search(r":[0-9]*\Z", name.rpartition("]")[2]):
        raise ValueError(f"invalid host name {name!r}: write it without scheme and port")
    return parsed

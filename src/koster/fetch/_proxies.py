"""Proxies: the one that the caller names, or those of the environment."""

from __future__ import annotations

import ipaddress
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..origins import origin_of
from ._hosts import to_ascii

#: The schemes of proxies, with their default ports.
_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy server; ``str(proxy)`` has no password."""

    scheme: str
    host: str
    port: int
    auth: tuple[bytes, bytes] | None = field(default=None, repr=False)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def is_socks(self) -> bool:
        """Whether it speaks SOCKS, not HTTP."""
        return self.scheme.startswith("socks")


def parse_proxy(text: str, source: str = "proxy") -> Proxy:
    """Return the proxy at a URL; ``source`` names it in errors.

    Raises:
        TypeError: it is not a str.
        ValueError: it is not the URL of a proxy.
    """
    if not isinstance(text, str):
        raise TypeError(f"{source} must be a str, not {type(text).__name__}")
    try:
        parts = urllib.parse.urlsplit(text if "://" in text else f"http://{text}")
        # Checks the host as that of a site.
        host = origin_of(f"http://{parts.netloc.rpartition('@')[2]}", to_ascii).host.strip("[]")
        port = parts.port
    except ValueError:
        parts, host, port = urllib.parse.urlsplit(""), "", None
    if parts.scheme not in _PORTS or not host or parts.path.strip("/") or parts.query:
        # The text may have a password.
        raise ValueError(
            f"{source} must be a URL such as http://proxy.example:3128 (also https, socks5); "
            "write special characters of a password as %XX"
        )
    auth = None
    if parts.username is not None:
        user, password = (
            urllib.parse.unquote_to_bytes(each or "") for each in (parts.username, parts.password)
        )
        auth = user, password
    return Proxy(parts.scheme, host, port or _PORTS[parts.scheme], auth)


class Proxies:
    """Chooses the proxy for a URL.

    Args:
        proxy: The URL of the proxy for all URLs, or None.
        environment: Variables to use if ``proxy`` is None, by lower-case name without ``_proxy``:
            ``http``, ``https``, ``all`` and ``no``.

    Raises:
        ValueError: one is not the URL of a proxy.
    """

    def __init__(self, proxy: str | None, environment: Mapping[str, str]) -> None:
        self._one = None if proxy is None else parse_proxy(proxy)
        self._by_scheme: dict[str, Proxy] = {}
        self._exceptions: dict[str, str] = {}
        self._networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = []
        if self._one is not None:
            return
        for scheme in ("http", "https"):
            name = scheme if environment.get(scheme) else "all"
            if environment.get(name):
                source = f"the environment variable {name.upper()}_PROXY"
                self._by_scheme[scheme] = parse_proxy(environment[name], source)
        if environment.get("no"):
            self._exceptions = {"no": environment["no"]}
            self._networks = _networks(environment["no"])

    @property
    def all(self) -> frozenset[Proxy]:
        """All proxies."""
        return frozenset(self._by_scheme.values() if self._one is None else (self._one,))

    def proxy_for(self, scheme: str, host: str, port: int) -> Proxy | None:
        """Return the proxy for a site; None for a direct connection."""
        if self._one is not None:
            return self._one
        proxy = self._by_scheme.get(scheme)
        return None if proxy is None or self._is_exception(host.strip("[]"), port) else proxy

    def _is_exception(self, host: str, port: int) -> bool:
        if not self._exceptions:
            return False
        name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        if urllib.request.proxy_bypass_environment(name, self._exceptions):  # type: ignore[attr-defined]
            return True
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        return any(address in network for network in self._networks)


def _networks(text: str) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    """Return the networks and addresses in NO_PROXY."""
    found = []
    for each in text.split(","):
        try:
            found.append(ipaddress.ip_network(each.strip().strip("[]"), strict=False))
        except ValueError:
            continue
    return found


def environment() -> Mapping[str, str]:
    """Return the proxies of the environment: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY.

    HTTP_PROXY is ignored in CGI, where a client could set it.
    """
    return urllib.request.getproxies_environment()

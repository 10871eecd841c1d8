"""The proxy of a page, and its credentials, for the requests for its robots.txt.

Scrapy's HttpProxyMiddleware moves the credentials of ``meta["proxy"]`` to the header
Proxy-Authorization, and notes the proxy that they are for in ``meta["_auth_proxy"]``; it removes
the header where another proxy, or none, is used. A request for a robots.txt takes all three along,
so the same happens to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ...cache.memory import LRUCache

if TYPE_CHECKING:
    from scrapy import Request

_HEADER = b"Proxy-Authorization"
_META = ("proxy", "_auth_proxy", "_scheme_proxy")

#: Proxies whose credentials are remembered.
_MAX_PROXIES = 1000


class Credentials:
    """The credentials that Scrapy sent to each proxy.

    A page with a copied ``meta`` names the proxy that they are for, but has no header.
    """

    def __init__(self) -> None:
        self._headers: LRUCache[str, bytes] = LRUCache(_MAX_PROXIES, _MAX_PROXIES, lambda _: 1)

    def note(self, request: Request) -> None:
        """Note the credentials of a request that was sent."""
        proxy, header = request.meta.get("_auth_proxy"), request.headers.get(_HEADER)
        if proxy and header:
            self._headers.put(proxy, header)

    def header_for(self, request: Request) -> bytes | None:
        """Return the header of a page's request, else the one for the proxy that it names."""
        header = request.headers.get(_HEADER)
        if header is not None:
            return header
        proxy = request.meta.get("_auth_proxy")
        return self._headers.get(proxy) if proxy and proxy == request.meta.get("proxy") else None


def route(
    before: Request, url: str, credentials: Credentials, has_middleware: bool
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the meta and headers that lead a request the way of the one before it.

    Args:
        before: The page's request; for a redirect, the previous request for robots.txt.
        url: The URL that is requested next.
        credentials: Those that were sent before.
        has_middleware: Whether HttpProxyMiddleware is on: it removes the header where no proxy,
            or another one, is used.
    """
    meta = {name: before.meta[name] for name in _META if name in before.meta}
    if "_scheme_proxy" in meta and urlsplit(before.url).scheme != urlsplit(url).scheme:
        # The environment has a proxy for each scheme. Scrapy's redirects do the same.
        del meta["_scheme_proxy"]
        meta.pop("proxy", None)
    header = credentials.header_for(before)
    is_for_proxy = has_middleware or meta.get("proxy")
    return meta, {_HEADER.decode(): header} if header and is_for_proxy else {}


def route_key(request: Request) -> str:
    """Return a key for the way of a page's request: its proxy and credentials."""
    header = request.headers.get(_HEADER) or b""
    return f"{request.meta.get('proxy', '(environment)')} {header.decode('latin-1')}"


def proxy_of(request: Request) -> str:
    """Return the proxy of a request that was sent, without a password; empty if it had none."""
    proxy = str(request.meta.get("proxy") or "")
    scheme, separator, rest = proxy.rpartition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"

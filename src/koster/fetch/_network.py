"""Koster's own network: httpcore2 with a guard, a deadline, proxies and TLS settings."""

from __future__ import annotations

import errno
import os
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from functools import lru_cache
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpcore2
import httpx2

from ..cache.forks import at_fork
from ..errors import MissingExtraError
from ..origins import PORTS
from ._arguments import NetworkSettings
from ._backends import AsyncBackend, AsyncProxyBackend, Backend, ProxyBackend
from ._deadline import remaining
from ._lookup import permitted, resolve, resolve_async
from ._proxies import Proxies, Proxy, environment

#: Connections that are kept open for a while after a response: redirects often stay on a host.
_MAX_IDLE_CONNECTIONS = 3
_IDLE_SECONDS = 5.0


def tls_context(settings: NetworkSettings) -> ssl.SSLContext:
    """Return the context for TLS.

    Raises:
        OSError: a file of certificates cannot be read.
        ValueError: both a context and a client certificate are given.
    """
    verify, cert = settings.verify, settings.cert
    if isinstance(verify, ssl.SSLContext):
        if cert is not None:
            raise ValueError("cert cannot be combined with an SSLContext: load it into the context")
        return verify
    if isinstance(verify, bool):
        locations = (os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"))
        if cert is None:
            return _shared_context(verify, settings.trust_env, *locations)
        context = httpx2.create_ssl_context(verify, trust_env=settings.trust_env)
    elif isinstance(verify, (str, os.PathLike)):
        path = _existing(verify)
        where = {"capath" if os.path.isdir(path) else "cafile": path}
        context = ssl.create_default_context(**where)  # type: ignore[arg-type]
    else:
        raise TypeError(
            f"verify must be True, False, a path or an ssl.SSLContext, not {type(verify).__name__}"
        )
    if cert is not None:
        context.load_cert_chain(*_cert_chain(cert))
    return context


@lru_cache(maxsize=4)
def _shared_context(verify: bool, trust_env: bool, *_locations: str | None) -> ssl.SSLContext:
    """Return a context for all clients: to load the certificates takes 30 ms."""
    return httpx2.create_ssl_context(verify, trust_env=trust_env)


def _cert_chain(cert: Any) -> tuple[str, ...]:
    """Return the certificate, its key and the key's password, as far as they are given.

    Raises:
        OSError: a file does not exist.
        TypeError: it is neither a path nor a tuple.
    """
    if isinstance(cert, (str, os.PathLike)):
        return (_existing(cert),)
    if not isinstance(cert, tuple) or not 1 <= len(cert) <= 3:
        raise TypeError("cert must be a path, or a tuple (certificate, key) or with a password")
    return (*map(_existing, cert[:2]), *cert[2:])


def _existing(path: str | os.PathLike[str]) -> str:
    """Return a path; ssl does not name the file in its errors."""
    if not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
    return os.fspath(path)


class _Body(httpx2.SyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        yield from self._stream

    def close(self) -> None:
        self._stream.close()


class _AsyncBody(httpx2.AsyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async with aclosing(aiter(self._stream)) as parts:
            async for part in parts:
                yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


class _SocksHandshake:
    """Closes a connection whose SOCKS handshake fails, which httpcore2 leaves open."""

    _NAME = "socks.setup_socks5_connection"

    def __init__(self) -> None:
        self._stream: Any = None

    def trace(self, name: str, info: dict[str, Any]) -> None:
        if self._has_failed(name, info):
            self._stream.close()

    async def trace_async(self, name: str, info: dict[str, Any]) -> None:
        if self._has_failed(name, info):
            with anyio.CancelScope(shield=True):
                await self._stream.aclose()

    def _has_failed(self, name: str, info: dict[str, Any]) -> bool:
        if name == f"{self._NAME}.started":
            self._stream = info["stream"]
        return name == f"{self._NAME}.failed"


def _to_httpcore(request: httpx2.Request, trace: Callable[..., Any]) -> httpcore2.Request:
    url = request.url
    return httpcore2.Request(
        method=request.method,
        url=httpcore2.URL(
            scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
        ),
        headers=request.headers.raw,
        extensions={**request.extensions, "trace": trace},
    )


class _Routes:
    """The proxy for each URL, and the arguments of connection pools."""

    def __init__(self, settings: NetworkSettings) -> None:
        self.guard = settings.guard
        self._proxies = Proxies(settings.proxy, environment() if settings.trust_env else {})
        if any(proxy.is_socks for proxy in self._proxies.all) and not find_spec("socksio"):
            raise MissingExtraError("SOCKS proxies need the package socksio: pip install socksio")
        self._tls = tls_context(settings)

    @property
    def all(self) -> list[Proxy | None]:
        """All routes; None is a direct connection."""
        return [None, *self._proxies.all]

    def proxy_for(self, url: httpx2.URL) -> Proxy | None:
        """Return the proxy for a URL."""
        return self._proxies.proxy_for(url.scheme, *self.target(url))

    def proxy_for_text(self, url: str) -> Proxy | None:
        """Return the proxy for a URL that httpx2 may reject."""
        parts = urlsplit(url)
        port = parts.port or PORTS[parts.scheme]
        return self._proxies.proxy_for(parts.scheme, parts.hostname or "", port)

    def target(self, url: httpx2.URL) -> tuple[str, int]:
        """Return the host and the port of a URL."""
        return url.raw_host.decode("ascii"), url.port or PORTS[url.scheme]

    def pool_arguments(self, proxy: Proxy | None) -> dict[str, Any]:
        """Return the arguments of the pool for a proxy."""
        arguments: dict[str, Any] = {
            "ssl_context": self._tls,
            "max_connections": None,
            "max_keepalive_connections": _MAX_IDLE_CONNECTIONS,
            "keepalive_expiry": _IDLE_SECONDS,
        }
        if proxy is None:
            return arguments
        url = httpcore2.URL(
            scheme=proxy.scheme.encode(), host=proxy.host.encode(), port=proxy.port, target=b"/"
        )
        if proxy.scheme == "https":
            arguments["proxy_ssl_context"] = self._tls
        return arguments | {"proxy_url": url, "proxy_auth": proxy.auth}


class Transport(httpx2.BaseTransport):
    """The network for `RobotsClient`."""

    def __init__(self, settings: NetworkSettings) -> None:
        self._routes = _Routes(settings)
        self._direct, self._proxied = Backend(settings.guard), ProxyBackend()
        self._open_pools()
        at_fork(in_child=self._reset_after_fork)

    def _open_pools(self) -> None:
        self._pools = {proxy: self._new_pool(proxy) for proxy in self._routes.all}

    def _new_pool(self, proxy: Proxy | None) -> httpcore2.ConnectionPool:
        arguments = self._routes.pool_arguments(proxy)
        if proxy is None:
            return httpcore2.ConnectionPool(network_backend=self._direct, **arguments)
        pool = httpcore2.SOCKSProxy if proxy.is_socks else httpcore2.HTTPProxy
        return pool(network_backend=self._proxied, **arguments)

    def _reset_after_fork(self) -> None:
        for backend in (self._direct, self._proxied):
            backend.close_inherited()
        self._open_pools()

    def proxy_for(self, url: str) -> Proxy | None:
        """Return the proxy for a URL, which httpx2 may reject."""
        return self._routes.proxy_for_text(url)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request."""
        proxy = self._routes.proxy_for(request.url)
        if proxy is not None and self._routes.guard is not None:
            host, port = self._routes.target(request.url)
            permitted(resolve(host, port, remaining(None)), port, self._routes.guard)
        sent = _to_httpcore(request, _SocksHandshake().trace)
        response = self._pools[proxy].handle_request(sent)
        return httpx2.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response.stream),
            extensions=response.extensions,
        )

    def close(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            pool.close()


class AsyncTransport(httpx2.AsyncBaseTransport):
    """The network for `AsyncRobotsClient`."""

    def __init__(self, settings: NetworkSettings) -> None:
        self._routes = _Routes(settings)
        self._direct, self._proxied = AsyncBackend(settings.guard), AsyncProxyBackend()
        self.reset_connections()
        at_fork(in_child=self._reset_after_fork)

    def reset_connections(self) -> None:
        """Start with new pools: connections of the old ones belong to a closed event loop."""
        self._pools = {proxy: self._new_pool(proxy) for proxy in self._routes.all}

    def _new_pool(self, proxy: Proxy | None) -> httpcore2.AsyncConnectionPool:
        arguments = self._routes.pool_arguments(proxy)
        if proxy is None:
            return httpcore2.AsyncConnectionPool(network_backend=self._direct, **arguments)
        pool = httpcore2.AsyncSOCKSProxy if proxy.is_socks else httpcore2.AsyncHTTPProxy
        return pool(network_backend=self._proxied, **arguments)

    def _reset_after_fork(self) -> None:
        for backend in (self._direct, self._proxied):
            backend.close_inherited()
        self.reset_connections()

    def proxy_for(self, url: str) -> Proxy | None:
        """Return the proxy for a URL, which httpx2 may reject."""
        return self._routes.proxy_for_text(url)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request."""
        proxy = self._routes.proxy_for(request.url)
        if proxy is not None and self._routes.guard is not None:
            host, port = self._routes.target(request.url)
            permitted(await resolve_async(host, port), port, self._routes.guard)
        sent = _to_httpcore(request, _SocksHandshake().trace_async)
        response = await self._pools[proxy].handle_async_request(sent)
        return httpx2.Response(
            response.status,
            headers=response.headers,
            stream=_AsyncBody(response.stream),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            await pool.aclose()

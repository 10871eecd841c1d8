"""The sender over a session of aiohttp."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

import yarl

from ...access import FailureKind
from .._exchange import CallersClient, Headers, Received
from .._failures import ERRORS, kinds


class SessionSender(CallersClient):
    """Sends through an ``aiohttp.ClientSession``: its connector, proxies, cookies and headers."""

    def __init__(self, session: Any, library: ModuleType) -> None:
        self._session = session
        self._no_timeout = library.ClientTimeout()
        self.errors = (library.ClientError, TimeoutError, *ERRORS)
        self.kinds = kinds(
            (
                (library.ClientProxyConnectionError, library.ClientHttpProxyError),
                FailureKind.PROXY,
            ),
            ((library.ServerTimeoutError, TimeoutError), FailureKind.TIMEOUT),
            ((library.ClientSSLError,), FailureKind.TLS),
            ((library.ClientConnectorDNSError, library.InvalidURL), FailureKind.NAME),
            (
                (
                    library.ClientPayloadError,
                    library.ClientResponseError,
                    library.ServerDisconnectedError,
                ),
                FailureKind.NOT_HTTP,
            ),
        )

    @asynccontextmanager
    async def send(self, url: str, headers: Headers) -> AsyncIterator[Received[Any]]:
        """Send a GET request."""
        response = await self._session.get(
            yarl.URL(url, encoded=True),
            headers=headers,
            allow_redirects=False,
            auto_decompress=False,
            raise_for_status=False,
            timeout=self._no_timeout,
        )
        try:
            parts = _parts(response)
            yield Received(response.status, response.raw_headers, parts, may_be_of_proxy=True)
        finally:
            # Leaving its context would wait, and a cancellation then leak the connection. One whose
            # body was read to its end is back in the pool already.
            response.close()


async def _parts(response: Any) -> AsyncIterator[bytes]:
    """Yield the encoded body as it arrives."""
    async for part in response.content.iter_any():
        yield part

"""Senders over clients of httpx and httpx2, which have the same interface."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import ModuleType
from typing import Any

from ...access import FailureKind
from .._exchange import OWN_REQUEST, CallersClient, Headers, Received
from .._failures import ERRORS, Kinds, kinds


def errors_of(library: ModuleType) -> tuple[type[BaseException], ...]:
    """Return the errors of a request."""
    return (library.HTTPError, library.InvalidURL, library.StreamError, *ERRORS)


def kinds_of(library: ModuleType) -> Kinds:
    """Return the kinds of the library's errors."""
    return kinds(
        ((library.TimeoutException,), FailureKind.TIMEOUT),
        ((library.ProxyError,), FailureKind.PROXY),
        ((library.InvalidURL,), FailureKind.NAME),
        ((library.DecodingError,), FailureKind.ENCODING),
        ((library.ProtocolError,), FailureKind.NOT_HTTP),
    )


def received(response: Any, parts: Any, *, may_be_of_proxy: bool) -> Received[Any]:
    """Return a response; a mock transport or a cache may already have read its body."""
    is_read = response.is_stream_consumed
    content = response.content if is_read else None
    return Received(response.status_code, response.headers.raw, parts, content, may_be_of_proxy)


class _ClientSender(CallersClient):
    """What both senders share."""

    def __init__(self, client: Any, library: ModuleType) -> None:
        self._client = client
        self._library = library
        self.errors = errors_of(library)
        self.kinds = kinds_of(library)

    def _request(self, url: str, headers: Headers, seconds: float | None) -> Any:
        request = self._client.build_request("GET", url, headers=headers, timeout=seconds)
        request.extensions = {**request.extensions, OWN_REQUEST: True}
        # Without the client's default parameters.
        request.url = self._library.URL(url)
        return request


class ClientSender(_ClientSender):
    """Sends through an ``httpx.Client`` or ``httpx2.Client``, with its settings."""

    @contextmanager
    def send(self, url: str, headers: Headers, seconds: float) -> Iterator[Received[Any]]:
        """Send a GET request; ``seconds`` limits each operation of the network."""
        request = self._request(url, headers, seconds)
        response = self._client.send(request, stream=True, follow_redirects=False)
        try:
            yield received(response, response.iter_raw(), may_be_of_proxy=True)
        finally:
            response.close()


class AsyncClientSender(_ClientSender):
    """Sends through an ``httpx.AsyncClient`` or ``httpx2.AsyncClient``, with its settings."""

    @asynccontextmanager
    async def send(self, url: str, headers: Headers) -> AsyncIterator[Received[Any]]:
        """Send a GET request."""
        request = self._request(url, headers, None)
        response = await self._client.send(request, stream=True, follow_redirects=False)
        try:
            yield received(response, response.aiter_raw(), may_be_of_proxy=True)
        finally:
            await response.aclose()

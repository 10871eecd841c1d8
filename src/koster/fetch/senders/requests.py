"""The sender over a session of requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import urllib3

from ...access import FailureKind
from .._exchange import CallersClient, Headers, Received
from .._failures import ERRORS, kinds

#: Bytes read at once.
_CHUNK = 1 << 16


class SessionSender(CallersClient):
    """Sends through a ``requests.Session``: its adapters, proxies, certificates and headers.

    Requests go to the session's adapters, not to ``Session.send``, which reads the whole body of a
    redirect. So the session's response hooks are not called.
    """

    def __init__(self, session: Any, library: ModuleType) -> None:
        self._session = session
        self._library = library
        errors = library.exceptions
        self.errors = (errors.RequestException, urllib3.exceptions.HTTPError, *ERRORS)
        self.kinds = kinds(
            ((errors.ProxyError, urllib3.exceptions.ProxyError), FailureKind.PROXY),
            ((urllib3.exceptions.NameResolutionError,), FailureKind.NAME),
            # A subclass of its error for timeouts.
            ((urllib3.exceptions.NewConnectionError,), FailureKind.CONNECTION),
            ((errors.Timeout, urllib3.exceptions.TimeoutError), FailureKind.TIMEOUT),
            ((errors.SSLError, urllib3.exceptions.SSLError), FailureKind.TLS),
            ((errors.InvalidURL, urllib3.exceptions.LocationParseError), FailureKind.NAME),
            ((urllib3.exceptions.InvalidHeader,), FailureKind.NOT_HTTP),
        )

    @contextmanager
    def send(self, url: str, headers: Headers, seconds: float) -> Iterator[Received[Any]]:
        """Send a GET request; ``seconds`` limits the connection and each read."""
        session = self._session
        request = session.prepare_request(self._library.Request("GET", url, headers=dict(headers)))
        # Without the session's default parameters.
        request.url = url
        settings = session.merge_environment_settings(url, {}, True, None, None)
        adapter = session.get_adapter(url)
        response = adapter.send(request, timeout=seconds, **settings)
        try:
            raw = response.raw
            # Adapters for tests may have read the body.
            content = None if hasattr(raw, "headers") else response.content
            headers_of = response if content is not None else raw
            pairs = [
                (name.encode("latin-1"), value.encode("latin-1"))
                for name, value in headers_of.headers.items()
            ]
            yield Received(response.status_code, pairs, _parts(raw), content, may_be_of_proxy=True)
        finally:
            response.close()


def _parts(raw: Any) -> Iterator[bytes]:
    """Yield the encoded body as it arrives."""
    # Before urllib3 2 there is no read1, and each read waits until the part is full.
    read = getattr(raw, "read1", raw.read)
    while part := read(_CHUNK, decode_content=False):
        yield part

"""One request and its response over httpx2, for both clients."""

from __future__ import annotations

import httpx2

from ..access import (
    MAX_BYTES,
    Failure,
    FailureKind,
    Request,
    Response,
    coding_failure,
    collect_headers,
    wants_body,
)
from ._codings import ACCEPTED, CODINGS, decoder_for

#: Encoded bytes read of a body: a coding never doubles the size of the decoded bytes used.
_MAX_ENCODED = 2 * MAX_BYTES


def http_request(request: Request, user_agent: str, timeout: float | None) -> httpx2.Request:
    """Return the httpx2 request for a `Request`."""
    headers = [("User-Agent", user_agent), ("Accept", "text/plain,*/*;q=0.8")]
    headers += [("Accept-Encoding", ACCEPTED), *request.headers]
    times = dict.fromkeys(("connect", "read", "write", "pool"), timeout)
    return httpx2.Request("GET", request.url, headers=headers, extensions={"timeout": times})


class BodyReader:
    """Decodes the body of a response, up to the size limit."""

    def __init__(self, response: httpx2.Response) -> None:
        self._status = response.status_code
        self._headers = collect_headers(response.headers.raw)
        self._body = bytearray()
        self._received = 0
        has_body = wants_body(self._status)
        # A mock transport may already have read and decoded it.
        is_consumed = response.is_stream_consumed
        self.wants_body = has_body and not is_consumed
        coding = self._headers.get("content-encoding", "") if self.wants_body else ""
        self._decoder = decoder_for(coding)
        if has_body and is_consumed:
            self.feed(response.content)

    def feed(self, chunk: bytes) -> bool:
        """Decode a chunk of the body; return whether no more is needed."""
        self._received += len(chunk)
        self._body += self._decoder.feed(chunk, MAX_BYTES + 1 - len(self._body))
        return (
            len(self._body) > MAX_BYTES
            or self._received > _MAX_ENCODED
            or self._decoder.is_finished
        )

    def result(self) -> Response | Failure:
        """Return the response, or why its body is invalid."""
        raw, is_whole = bytes(self._body[:MAX_BYTES]), len(self._body) <= MAX_BYTES
        # An empty body has no encoded stream: 204, or an empty file.
        if is_whole and self._received and not self._decoder.is_whole:
            return Failure(FailureKind.ENCODING, "truncated response body")
        failure = coding_failure(self._headers, CODINGS, raw)
        return failure or Response(self._status, self._headers, raw, is_whole)

"""One request and its answer, as both clients send and read them over httpx2."""

from __future__ import annotations

import httpx2

from ..access import (
    MAX_BYTES,
    Failure,
    FailureKind,
    Request,
    Response,
    coding_failure,
    headers_of,
    wants_body,
)
from ._codings import ACCEPTED, CODINGS, unpacker

#: Bytes of a packed body that are read: nothing that is used is longer than what it is packed in.
_MOST_PACKED = 2 * MAX_BYTES


def http_request(request: Request, user_agent: str, timeout: float | None) -> httpx2.Request:
    """Return a request as httpx2 sends it."""
    headers = [("User-Agent", user_agent), ("Accept", "text/plain,*/*;q=0.8")]
    headers += [("Accept-Encoding", ACCEPTED), *request.headers]
    times = dict.fromkeys(("connect", "read", "write", "pool"), timeout)
    return httpx2.Request("GET", request.url, headers=headers, extensions={"timeout": times})


class Reading:
    """An answer whose body is being read: unpacked, and as far as it is used."""

    def __init__(self, response: httpx2.Response) -> None:
        self._status = response.status_code
        self._headers = headers_of(response.headers.raw)
        self._body = bytearray()
        self._came = 0
        has_body = wants_body(self._status)
        # A mock may have read it, and unpacked it, already.
        was_read = response.is_stream_consumed
        self.wants_body = has_body and not was_read
        coding = self._headers.get("content-encoding", "") if self.wants_body else ""
        self._unpacker = unpacker(coding)
        if has_body and was_read:
            self.is_enough(response.content)

    def is_enough(self, part: bytes) -> bool:
        """Take a part of the body as it came; tells whether no more is used."""
        self._came += len(part)
        self._body += self._unpacker.feed(part, MAX_BYTES + 1 - len(self._body))
        return len(self._body) > MAX_BYTES or self._came > _MOST_PACKED or self._unpacker.is_over

    def result(self) -> Response | Failure:
        """Return the answer, as far as it was read."""
        raw, is_whole = bytes(self._body[:MAX_BYTES]), len(self._body) <= MAX_BYTES
        # Where nothing came there is nothing packed: 204, or a file without a byte.
        if is_whole and self._came and not self._unpacker.is_whole:
            return Failure(FailureKind.ENCODING, "its body breaks off before its end")
        failure = coding_failure(self._headers, CODINGS, raw)
        return failure or Response(self._status, self._headers, raw, is_whole)

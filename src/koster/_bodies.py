"""Bodies of responses: decoded, up to the size limit, or why they cannot be read."""

from __future__ import annotations

from collections.abc import Mapping

from ._charsets import is_utf8
from ._codings import CODINGS, decoder_for, is_brotli
from .access import (
    MAX_BYTES,
    Failure,
    FailureKind,
    Response,
    coding_failure,
    compressed_failure,
    wants_body,
)

#: Encoded bytes read of a body: a coding never doubles the size of the decoded bytes used.
_MAX_ENCODED = 2 * MAX_BYTES


def undecoded_failure(headers: Mapping[str, str], body: bytes) -> Failure | None:
    """Return the failure for a body that is still encoded after its coding was undone."""
    failure = coding_failure(headers, CODINGS, body)
    if failure is None and not is_utf8(body) and is_brotli(body):
        return compressed_failure("Brotli")
    return failure


class BodyReader:
    """Decodes the body of a response with these headers, up to the size limit.

    ``content`` is the body if an HTTP library has already decoded it.

    Raises:
        CodingError: the body has several codings.
    """

    def __init__(
        self, status: int, headers: Mapping[str, str], content: bytes | None = None
    ) -> None:
        self._status = status
        self._headers = headers
        self._body = bytearray()
        self._received = 0
        has_body = wants_body(status)
        self.wants_body = has_body and content is None
        self._decoder = decoder_for(headers.get("content-encoding", "") if self.wants_body else "")
        if has_body and content is not None:
            self.feed(content)

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
        """Return the response, or why its body cannot be read."""
        raw, is_whole = bytes(self._body[:MAX_BYTES]), len(self._body) <= MAX_BYTES
        # An empty body has no encoded stream: 204, or an empty file.
        if is_whole and self._received and not self._decoder.is_whole:
            return Failure(FailureKind.ENCODING, "truncated response body")
        failure = undecoded_failure(self._headers, raw)
        return failure or Response(self._status, self._headers, raw, is_whole)

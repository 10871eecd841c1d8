"""Bodies of responses, decoded by their Content-Encoding: whole, or an exception."""

from __future__ import annotations

import http.client
from typing import TYPE_CHECKING, Any

from .._bodies import undecoded_failure
from .._charsets import is_utf8
from .._codings import ERRORS, decoder_for
from ._timed import RequestDeadline, read_up_to

if TYPE_CHECKING:
    from email.message import Message


def read_body(response: Any, deadline: RequestDeadline, limit: int) -> bytes:
    """Return at most ``limit`` bytes of a body without its Content-Encoding.

    Raises:
        TimeoutError: the deadline has passed.
        http.client.IncompleteRead: the body was cut off.
        http.client.HTTPException: the body cannot be decoded.
        OSError: the connection failed.
    """
    # Compressed text is never twice as long.
    encoded_limit = 2 * limit + 1024 if "Content-Encoding" in response.headers else limit
    content = read_up_to(response, deadline, encoded_limit)
    return decode_body(content, response.headers, limit)


def decode_body(content: bytes, headers: Message, limit: int) -> bytes:
    """Return at most ``limit`` bytes of a body without its Content-Encoding.

    Raises:
        http.client.IncompleteRead: the compressed body was cut off.
        http.client.HTTPException: the body cannot be decoded.
    """
    coding = ", ".join(headers.get_all("Content-Encoding", []))
    try:
        decoder = decoder_for(coding)
        decoded = decoder.feed(content, limit)
        is_whole = decoder.is_whole or len(decoded) >= limit or not content
    except ERRORS as error:
        # Some servers declare a coding for plain text.
        if not is_utf8(content):
            raise http.client.HTTPException(f"the body cannot be decoded: {error}") from error
        decoded, is_whole = content[:limit], True
    if not is_whole:
        raise http.client.IncompleteRead(decoded)
    failure = undecoded_failure({"content-encoding": coding}, decoded)
    if failure is not None:
        raise http.client.HTTPException(failure.why)
    return decoded

"""Bodies of responses, decoded by their Content-Encoding: whole, or an exception."""

from __future__ import annotations

import http.client
from typing import TYPE_CHECKING, Any

from .. import _bodies
from ..access import Failure
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
    found = _bodies.decode_body({"content-encoding": coding}, content, limit=limit, enough=limit)
    if isinstance(found, Failure):
        if found is _bodies.TRUNCATED:
            raise http.client.IncompleteRead(content)
        raise http.client.HTTPException(found.why)
    return found.content

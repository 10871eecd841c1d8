"""Bodies of requests: limited in size, and decoded if they have a Content-Encoding."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import TYPE_CHECKING, Any, TypeAlias

from .._codings import DECODERS, ERRORS, codings_of
from ._problems import Problem, body_too_large

if TYPE_CHECKING:
    from .._codings import Decoder

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

#: The codings of request bodies; `koster._codings` may have more, if packages are installed.
_ACCEPTED = ("gzip", "deflate")
_CODINGS = frozenset({*_ACCEPTED, "x-gzip"})


def decoder_of(headers: Iterable[tuple[bytes, bytes]]) -> Decoder | None:
    """Return the decoder for the body of a request; None if it has no coding.

    Raises:
        Problem: the coding is unknown, or there are several.
    """
    lines = [value.decode("latin-1") for name, value in headers if name == b"content-encoding"]
    codings = codings_of(", ".join(lines))
    if not codings:
        return None
    if len(codings) > 1 or codings[0] not in _CODINGS:
        detail = f"the Content-Encoding of the body must be one of {', '.join(_ACCEPTED)}"
        accepted = {"Accept-Encoding": ", ".join(_ACCEPTED)}
        raise Problem(415, "unknown-coding", detail, headers=accepted)
    return DECODERS[codings[0]]()


class Body:
    """The body of a request, of at most ``limit`` bytes, before and after it is decoded.

    Attributes:
        problem: Why it cannot be read. The application then sees a client that disconnects.
    """

    def __init__(self, receive: Receive, send: Send, limit: int, decoder: Decoder | None) -> None:
        self._receive = receive
        self._send = send
        self._limit = limit
        self._decoder = decoder
        self._encoded = self._decoded = 0
        self.problem: Problem | None = None

    async def receive(self) -> Message:
        """Return the next message for the application."""
        if self.problem is None:
            message = await self._receive()
            if message["type"] != "http.request":
                return message
            try:
                return self._read(message)
            except Problem as problem:
                self.problem = problem
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Send a message of the application, unless it has not seen the whole body."""
        if self.problem is None:
            await self._send(message)

    def _read(self, message: Message) -> Message:
        """Return a message with a part of the body, decoded.

        Raises:
            Problem: it cannot be decoded, or the body is too large.
        """
        part = message.get("body", b"")
        self._encoded += len(part)
        if self._encoded > self._limit:
            raise body_too_large(self._limit)
        if self._decoder is None:
            return message
        is_last = not message.get("more_body")
        decoded = self._decode(self._decoder, part, is_last=is_last)
        self._decoded += len(decoded)
        if self._decoded > self._limit:
            raise body_too_large(self._limit)
        return {"type": "http.request", "body": decoded, "more_body": not is_last}

    def _decode(self, decoder: Decoder, part: bytes, *, is_last: bool) -> bytes:
        """Return a part without its coding: at most one byte more than the limit allows.

        Bytes after the end of the encoded body are ignored.

        Raises:
            Problem: it is not in the coding, or ends too early.
        """
        room = self._limit + 1 - self._decoded
        try:
            decoded = decoder.feed(part, room)
        except ERRORS as error:
            raise _not_decoded("it is damaged, or has another coding") from error
        is_cut = is_last and len(decoded) < room and not decoder.is_whole
        if is_cut and self._encoded:
            raise _not_decoded("it ends too early")
        return decoded


def _not_decoded(why: str) -> Problem:
    return Problem(400, "not-decoded", f"the body does not match its Content-Encoding: {why}")

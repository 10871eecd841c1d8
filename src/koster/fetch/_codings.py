"""The content codings of the clients: those of `koster._codings`, and Brotli if it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

try:
    import brotli  # type: ignore[import-untyped]
except ModuleNotFoundError:  # only the extra http has it
    brotli = None

from .. import _codings
from .._charsets import is_utf8

if TYPE_CHECKING:
    from .._codings import Decoder, Decoders

#: The maximum bytes that are decoded to find out whether a body is a stream of Brotli.
_MAX_TRIED = 1 << 16


class _Brotli:
    """br (RFC 7932), with the package brotli."""

    def __init__(self) -> None:
        self._stream: Any = brotli.Decompressor()

    @property
    def is_whole(self) -> bool:
        return bool(self._stream.is_finished())

    @property
    def is_finished(self) -> bool:
        return self.is_whole

    def feed(self, chunk: bytes, limit: int) -> bytes:
        if self.is_finished:
            return b""
        decoded = self._stream.process(chunk, output_buffer_limit=limit)
        while len(decoded) < limit and not self._stream.can_accept_more_data():
            more = self._stream.process(b"", output_buffer_limit=limit)
            if not more:
                break
            decoded += more
        return bytes(decoded)


DECODERS: Decoders = {**_codings.DECODERS, **({} if brotli is None else {"br": _Brotli})}

#: The Accept-Encoding header, and the codings supported.
ACCEPTED = ", ".join(each for each in DECODERS if each != "x-gzip")
CODINGS = frozenset({"identity", *DECODERS})

#: What decoders raise for invalid bodies.
ERRORS = (*_codings.ERRORS, *([] if brotli is None else [brotli.error]))


def is_brotli(body: bytes) -> bool:
    """Return whether bytes are a whole stream of Brotli with text; it has no magic number."""
    if brotli is None:
        return False
    decoder = _Brotli()
    try:
        text = decoder.feed(body, _MAX_TRIED)
    except brotli.error:
        return False
    if decoder.is_finished:
        return bool(text) and is_utf8(text)
    # The last character may be cut.
    return len(text) >= _MAX_TRIED and is_utf8(text[:-4])


def decoder_for(content_encoding: str) -> Decoder:
    """Return the decoder for a Content-Encoding; see `koster._codings.decoder_for`."""
    return _codings.decoder_for(content_encoding, DECODERS)

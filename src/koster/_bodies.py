"""Bodies of responses: decoded, up to the size limit, or why they cannot be read.

The same bytes have the same result, whether they arrive from a network (`BodyReader`), were read by
a library (`decode_body`), or are in an archive (`stored_body`). A body that is cut before the bytes
that crawlers must read (RFC 9309 §2.5), or is still compressed, is not an answer of the site.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from ._charsets import complete_lines, declared_charset, is_text
from ._codings import (
    CODINGS,
    COMPRESSING,
    DECODERS,
    ERRORS,
    MAGIC,
    codings_of,
    decoder_for,
    is_brotli,
    whole_gzip,
)
from ._contents import compression_of
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

#: The failure for a body that ends too early.
TRUNCATED = Failure(FailureKind.ENCODING, "truncated response body")


class Body(NamedTuple):
    """A decoded body.

    Attributes:
        content: Its bytes, up to a limit.
        is_whole: True if all that crawlers must read is there; None if nothing says so: an archive
            has it without the coding that its headers declare.
        is_cut: Whether the file has more bytes.
    """

    content: bytes
    is_whole: bool | None = True
    is_cut: bool = False


#: Enough of a compressed body not to be UTF-8. To decode a whole file takes as long as to parse it.
_BEGIN = 4096


def compression_in(body: bytes) -> str | None:
    """Return how a body is compressed, or None. Text in UTF-8 never is."""
    begin = body[:_BEGIN]
    with suppress(UnicodeDecodeError):
        # The last character may be cut.
        codecs.utf_8_decode(begin, "strict", False)
        if 0 not in begin:
            return None
    return compression_of(body) or ("Brotli" if is_brotli(body) else None)


def undecoded_failure(headers: Mapping[str, str], body: bytes) -> Failure | None:
    """Return the failure for a body that is still encoded after its coding was undone."""
    coding = headers.get("content-encoding", "")
    if coding and not CODINGS.issuperset(codings_of(coding)):
        failure = coding_failure(headers, CODINGS, body)
        if failure is not None:
            return failure
    how = compression_in(body)
    return None if how is None else compressed_failure(how)


def _judged(
    headers: Mapping[str, str], decoded: bytes, *, has_ended: bool, limit: int, enough: int
) -> Body | Failure:
    """Return what was decoded of a body, or why it cannot be read.

    ``has_ended``: its end was decoded. It need not be if there are ``enough`` bytes.
    """
    if not has_ended and len(decoded) < enough:
        return TRUNCATED
    failure = undecoded_failure(headers, decoded[:enough])
    is_cut = not has_ended or len(decoded) > limit
    return failure or Body(decoded[:limit], True, is_cut)


def decode_body(
    headers: Mapping[str, str],
    body: bytes,
    *,
    limit: int,
    enough: int = MAX_BYTES,
    is_cut: bool = False,
    length: int = 0,
) -> Body | Failure:
    """Return at most ``limit`` bytes of a body without its Content-Encoding.

    Text that is not in the coding declared was not encoded, or is decoded already. Bytes after the
    first ``enough`` may be invalid or missing. ``is_cut``: the body is known to end too early;
    ``length`` is the size that the encoded body should have, if that is known.
    """
    coding = headers.get("content-encoding", "")
    if coding and body and _is_decoded(headers, body, is_cut=is_cut):
        found = _judged({}, body, has_ended=not is_cut, limit=limit, enough=enough)
        return found if isinstance(found, Failure) else found._replace(is_whole=None)
    try:
        decoded, has_ended = _decoded(coding, body, limit, enough) if coding else (body, True)
    except ERRORS as error:
        return Failure(FailureKind.ENCODING, f"response body cannot be decoded: {error}")
    has_ended = has_ended and not is_cut and len(body) >= length
    return _judged(headers, decoded, has_ended=has_ended, limit=limit, enough=enough)


def _decoded(coding: str, body: bytes, limit: int, enough: int) -> tuple[bytes, bool]:
    """Return what is decoded of a body, and whether it is all.

    Raises:
        zlib.error, CodingError, brotli.error, zstd.ZstdError: the body is invalid.
    """
    usual = whole_gzip(body, limit) if coding == "gzip" else None
    if usual is not None:
        return usual, True
    decoder = decoder_for(coding)
    decoded = decoder.feed(body, enough + 1)
    if len(decoded) > enough and limit > enough:
        with suppress(*ERRORS):
            longer = decoder_for(coding)
            decoded, decoder = longer.feed(body, limit + 1), longer
    return decoded, not body or decoder.is_whole


#: Some bodies in deflate and Brotli that are shorter, or cut, are text.
_MIN_TEXT = 8


def _is_decoded(headers: Mapping[str, str], body: bytes, *, is_cut: bool) -> bool:
    """Return whether a body is text, and not in the codings that are declared."""
    codings = [each for each in codings_of(headers["content-encoding"]) if each in COMPRESSING]
    for each in codings:
        if each in MAGIC and body.startswith(MAGIC[each]):
            return False
    if not codings:
        return False
    charset = declared_charset(headers.get("content-type", ""))
    return is_text(complete_lines(body, not is_cut), charset) and not any(
        _may_be_in(each, body) for each in codings
    )


def _may_be_in(coding: str, text: bytes) -> bool:
    """Return whether text may be a body in this coding, or the start of one."""
    magic = MAGIC.get(coding)
    if magic is not None:
        return magic.startswith(text[: len(magic)])
    if coding not in ("deflate", "br"):
        return False
    return len(text) < _MIN_TEXT or compression_of(text) == "deflate" or is_brotli(text)


def stored_body(
    headers: Mapping[str, str],
    body: bytes,
    *,
    is_cut: bool,
    limit: int,
    enough: int = MAX_BYTES,
) -> Body | Failure:
    """Return at most ``limit`` bytes of the body of a response in an archive.

    Archives have bodies as they arrived, or without their codings, of which they may still have the
    headers. ``is_cut``: the archive says that the body is truncated. It need not be whole if there
    are ``enough`` bytes.
    """
    transfer = codings_of(headers.get("transfer-encoding", ""))
    if not transfer:
        length = _content_length(headers.get("content-length", ""))
        return decode_body(headers, body, limit=limit, enough=enough, is_cut=is_cut, length=length)
    chunks = _chunks(body) if transfer == ("chunked",) else None
    if chunks is not None:
        content, has_ended = chunks
        return decode_body(
            headers, content, limit=limit, enough=enough, is_cut=is_cut or not has_ended
        )
    if transfer != ("chunked",) and not is_text(complete_lines(body, not is_cut)):
        return Failure(
            FailureKind.ENCODING, f"unsupported Transfer-Encoding {', '.join(transfer)[:40]!r}"
        )
    found = decode_body(headers, body, limit=limit, enough=enough, is_cut=is_cut)
    # Without the chunks, only the end of a compressed stream says that nothing is missing.
    codings = codings_of(headers.get("content-encoding", ""))
    if isinstance(found, Failure) or DECODERS.keys() & codings:
        return found
    return found._replace(is_whole=None)


_MAX_DIGITS = 18
_LENGTH = re.compile(rf"(\d{{1,{_MAX_DIGITS}}})(?:\s*,\s*\1)*", re.ASCII)


def _content_length(header: str) -> int:
    """Return the Content-Length; 0 if it is missing or invalid."""
    if header.isascii() and header.isdecimal() and len(header) < _MAX_DIGITS:
        return int(header)
    match = _LENGTH.fullmatch(header.strip()) if header else None
    return int(match[1]) if match else 0


#: The line before a chunk, the start of one, and what follows the last one (RFC 9112 §7.1).
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\r\n]*)?\r\n")
_CHUNK_START = re.compile(rb"[0-9A-Fa-f]{1,16}[ \t]*(?:;[^\r\n]*)?(?:\r?\n|\r?\Z)")
_TRAILER = re.compile(rb"(?:[^\r\n]++\r\n)*+\r\n")


def _chunks(body: bytes) -> tuple[bytes, bool] | None:
    """Return the content of chunks, and whether they have an end; None for other content."""
    if not _CHUNK_START.match(body):
        return None
    parts: list[bytes] = []
    at = 0
    while match := _CHUNK.match(body, at):
        start, size = match.end(), int(match[1], 16)
        if not size:
            return b"".join(parts), _TRAILER.match(body, start) is not None
        at = start + size + 2
        parts.append(body[start : start + size])
        if body[start + size : at] != b"\r\n":
            break
    return b"".join(parts), False


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
        # An empty body has no encoded stream: 204, or an empty file.
        has_ended = not self._received or self._decoder.is_whole
        found = _judged(
            self._headers, bytes(self._body), has_ended=has_ended, limit=MAX_BYTES, enough=MAX_BYTES
        )
        if isinstance(found, Failure):
            return found
        return Response(self._status, self._headers, found.content, not found.is_cut)

"""Bodies of responses, decoded by their Content-Encoding: whole, or an exception."""

from __future__ import annotations

import http.client
import zlib
from typing import TYPE_CHECKING, Any

from .._charsets import is_utf8
from ._timed import read_up_to

if TYPE_CHECKING:
    from email.message import Message

    from ._timed import Deadline

_GZIP_MAGIC = b"\x1f\x8b"
#: The first bytes of compressed files: gzip, compress, Zstandard, xz, bzip2 and zip.
_MAGICS = (_GZIP_MAGIC, b"\x1f\x9d", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0", b"BZh", b"PK\x03\x04")

#: Gzip members decoded per body: each one copies the rest of the input.
_MAX_MEMBERS = 100


def read_body(response: Any, deadline: Deadline, limit: int) -> bytes:
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
    names = ",".join(headers.get_all("Content-Encoding", [])).lower().split(",")
    codings = [name.strip() for name in names if name.strip() not in ("", "identity")]
    try:
        if codings in (["gzip"], ["x-gzip"]):
            content = _gunzip(content, limit)
        elif codings == ["deflate"]:
            content = _inflate(content, limit)
        elif codings and not is_utf8(content):
            raise _undecodable(", ".join(codings))
    except zlib.error as error:
        # Some servers declare a coding for plain text.
        if content.startswith(_GZIP_MAGIC[:1]) or not is_utf8(content):
            raise _undecodable(codings[0]) from error
    if content.startswith(_MAGICS):
        raise http.client.HTTPException("the body is compressed more than its label says")
    return content[:limit]


def _undecodable(coding: str) -> http.client.HTTPException:
    return http.client.HTTPException(f"cannot decode the Content-Encoding {coding[:40]!r}")


def _gunzip(content: bytes, limit: int) -> bytes:
    """Decode gzip (RFC 1952): consecutive members; bytes after them are ignored.

    Raises:
        http.client.IncompleteRead: the last member was cut off.
        zlib.error: it is not gzip.
    """
    decoded = b""
    for _ in range(_MAX_MEMBERS):
        member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        decoded += member.decompress(content, limit - len(decoded))
        if len(decoded) >= limit:
            return decoded
        if not member.eof:
            raise http.client.IncompleteRead(decoded)
        content = member.unused_data.lstrip(b"\0")
        if not content or not _GZIP_MAGIC.startswith(content[:2]):
            return decoded
    raise http.client.HTTPException(f"more than {_MAX_MEMBERS} gzip members")


def _inflate(content: bytes, limit: int) -> bytes:
    """Decode deflate: with the zlib header (RFC 1950), or raw, as some servers send it.

    Raises:
        http.client.IncompleteRead: it was cut off.
        zlib.error: it is not deflate.
    """
    stream = zlib.decompressobj()
    try:
        decoded = stream.decompress(content, limit)
    except zlib.error:
        stream = zlib.decompressobj(-zlib.MAX_WBITS)
        decoded = stream.decompress(content, limit)
    if len(decoded) < limit and not stream.eof:
        raise http.client.IncompleteRead(decoded)
    return decoded


def complete_lines(body: bytes, limit: int) -> bytes:
    """Return the first ``limit`` bytes of a file, without a last line that is cut off."""
    if len(body) <= limit:
        return body
    start = body[:limit]
    return start[: max(start.rfind(b"\n"), start.rfind(b"\r")) + 1]

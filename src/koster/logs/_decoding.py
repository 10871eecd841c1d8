"""Undoes how servers encode the text of log lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_to_bytes

from ..bulk._arrow import pa, pc

#: Fields that no server encodes.
_PLAIN = frozenset({"time", "address", "status"})


def decoded(columns: dict[str, Any], encoding: str) -> dict[str, Any]:
    """Decode the fields of lines, by the encoding of their format.

    ========= =========================================================================
    escapes   ``\\x22``: nginx, Apache
    haproxy   ``#22``; the headers that were captured are in one field
    plus      values in quotes, or ``+`` for a space in User-Agents: W3C logs
    w3c       values in quotes, or User-Agents encoded as in URLs: CloudFront
    akamai    the same, and the site before the path: logs of Akamai in W3C's format
    percent   User-Agents encoded as in URLs: JSON of CloudFront
    form      the same, and ``+`` is a space where none is ``%20``: JSON of Akamai
    ========= =========================================================================

    URLs are judged as they are written.
    """
    if encoding in _QUOTED:
        return _QUOTED[encoding](_dequoted(columns, _AGENTS[encoding]))
    if encoding == "escapes":
        return _each(columns, _unescaped)
    if encoding == "haproxy":
        return _each(_with_captured(columns), _unhashed)
    if encoding in _AGENTS and "agent" in columns:
        columns = columns | {"agent": _replaced(columns["agent"], _AGENTS[encoding])}
    return _with_slash(columns) if encoding == "form" else columns


def _each(columns: dict[str, Any], undo: Callable[[Any], Any]) -> dict[str, Any]:
    return {name: column if name in _PLAIN else undo(column) for name, column in columns.items()}


def _dequoted(columns: dict[str, Any], undo: Callable[[bytes], bytes]) -> dict[str, Any]:
    quoted = {name: _is_quoted(column) for name, column in columns.items()}
    if "agent" in columns:
        columns = columns | {"agent": _replaced(columns["agent"], undo)}
    return {
        name: _unquoted(column, quoted[name]) if pc.any(quoted[name]).as_py() else column
        for name, column in columns.items()
    }


def _with_slash(columns: dict[str, Any]) -> dict[str, Any]:
    """Return columns with a slash before each path: Akamai writes some without."""
    urls = columns["url"]
    slash = pa.scalar("", urls.type)
    rooted = pc.binary_join_element_wise(pa.scalar("/", urls.type), urls, slash)
    return columns | {"url": pc.if_else(pc.starts_with(urls, "/"), urls, rooted)}


def _with_captured(columns: dict[str, Any]) -> dict[str, Any]:
    """Return columns with User-Agent and site from the headers that HAProxy captured.

    The log does not name them: ``{www.example.com|Mozilla/5.0 …}``, or each in quotes.
    """
    values = columns["agent"].cast(pa.large_binary()).dictionary_encode()
    found = [_captured(each) for each in values.dictionary.to_pylist()]
    agents, hosts = zip(*found, strict=True) if found else ((), ())
    return columns | {
        name: pa.array(some, pa.large_binary()).take(values.indices)
        for name, some in (("agent", agents), ("host", hosts))
    }


def _captured(raw: bytes) -> tuple[bytes, bytes | None]:
    headers = raw.strip(b'" ').split(b'" "') if raw.startswith(b'"') else raw.split(b"|")
    hosts = [each for each in headers if _HOST.fullmatch(each)]
    agents = [each for each in headers if each != b"-" and not _NOT_AGENT.fullmatch(each)]
    return b" | ".join(agents), hosts[0] if hosts else None


#: A host; what else no User-Agent looks like: addresses, media types, URLs.
_HOST = re.compile(rb"(?:[A-Za-z0-9_-]+\.)+[A-Za-z][A-Za-z0-9-]*(?::\d+)?")
_NOT_AGENT = re.compile(
    rb"|(?:[A-Za-z0-9_-]+\.)+[A-Za-z0-9-]+(?::\d+)?|[\dA-Fa-f:.]+"
    rb"|(?:text|application|image|audio|video|font|multipart|\*)/\S*(?:[ ,;].*)?|https?://\S*"
)


def _is_quoted(column: Any) -> Any:
    return pc.match_substring_regex(column, r'(?s)^".*"$').fill_null(False)


def _unquoted(column: Any, are: Any) -> Any:
    r"""Return a column without the quotes around values, in which quotes are doubled."""
    bare = pc.replace_substring(pc.binary_slice(column, 1, -1), '""', '"')
    return pc.if_else(are, bare, column)


def _with_site(columns: dict[str, Any]) -> dict[str, Any]:
    """Split paths such as ``/www.example.com/path``, which Akamai writes, into site and path."""
    found = pc.extract_regex(columns["url"], _SITE_AND_PATH)
    host, url = (pc.struct_field(found, name) for name in ("host", "url"))
    return columns | {
        "host": pc.coalesce(host, columns.get("host", host)),
        "url": pc.coalesce(url, columns["url"]),
    }


_SITE_AND_PATH = r"(?s)^/(?P<host>(?:[A-Za-z0-9_-]+\.)+[A-Za-z]{2,})(?P<url>/.*)$"


def _replaced(column: Any, replace: Callable[[bytes], bytes]) -> Any:
    """Return a column with each distinct value replaced."""
    values = column.cast(pa.large_binary()).dictionary_encode()
    found = [None if each is None else replace(each) for each in values.dictionary.to_pylist()]
    return pa.array(found, pa.large_binary()).take(values.indices)


def _spaces(raw: bytes) -> bytes:
    # What is in quotes has spaces of its own.
    return raw if raw.startswith(b'"') and raw.endswith(b'"') else raw.replace(b"+", b" ")


def _unpercent(raw: bytes) -> bytes:
    """Decode percent-encoded text; CloudFront encodes some of it twice."""
    return unquote_to_bytes(unquote_to_bytes(raw) if b"%25" in raw else raw)


def _unform(raw: bytes) -> bytes:
    # A plus is a space only where no space is "%20".
    return _unpercent(raw if b"%20" in raw else raw.replace(b"+", b" "))


_AGENTS = {
    "plus": _spaces, "percent": _unpercent, "w3c": _unpercent, "akamai": _unpercent,
    "form": _unform,
}  # fmt: skip

#: What is done with logs that may have values in quotes.
_QUOTED: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "plus": dict, "w3c": dict, "akamai": _with_site,
}  # fmt: skip

_ESCAPE = re.compile(rb"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_CONTROLS = {b"t": b"\t", b"n": b"\n", b"r": b"\r", b"b": b"\b", b"v": b"\v", b"f": b"\f"}
_HASH = re.compile(rb"#([0-9A-Fa-f]{2})")


def _unescaped(column: Any) -> Any:
    r"""Decode the escapes of Apache (``\"``, ``\n``, ``\xhh``) and nginx (``\xHH``, ``\u00HH``)."""
    return _substituted(column, "\\", lambda raw: _ESCAPE.sub(_unescape, raw))


def _unhashed(column: Any) -> Any:
    """Decode the escapes of HAProxy (``#22``)."""
    return _substituted(
        column, "#", lambda raw: _HASH.sub(lambda match: bytes([int(match[1], 16)]), raw)
    )


def _substituted(column: Any, sign: str, replace: Callable[[bytes], bytes]) -> Any:
    """Return a column with the values replaced that have a sign."""
    are = pc.match_substring(column, sign)
    if not pc.any(are).as_py():
        return column
    values = [replace(each) for each in column.filter(are).to_pylist()]
    return pc.replace_with_mask(column, are, pa.array(values, column.type))


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if len(code) == 3:
        return bytes([int(code[1:], 16)])
    if len(code) == 5:
        # nginx with escape=json.
        return chr(int(code[1:], 16)).encode("utf-8", "replace")
    return _CONTROLS.get(code, code)

"""Origins of URLs, and targets of redirects (RFC 6454, RFC 3986 §5).

Pure functions on text. URLs are parsed as in browsers (WHATWG URL): surrounding white space, tabs
and line endings are removed, ``\\\\`` is ``/``, and any number of slashes may follow the scheme.
The caller passes the function that encodes host names in ASCII; `idna_2003` is that of the
standard library.
"""

from __future__ import annotations

import ipaddress
import re
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass

from ._urls import is_read_as_written
from .errors import UrlError

#: Returns a lower-case host name in ASCII, or raises `ValueError`.
ToAscii = Callable[[str], str]

PORTS = {"http": 80, "https": 443}

#: Maximum length of a URL.
MAX_URL = 1 << 16

#: Maximum length of a redirect's target: RFC 9110 §4.1 recommends at least 8,000 bytes.
MAX_LOCATION = 1 << 13

#: Characters of ASCII host names, including the underscore of real names.
_HOST = re.compile(r"(?!\.+\Z)[a-z0-9_~!$&'()*+,;=.-]+\Z")
_ABSOLUTE = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?P<rest>.*)\Z", re.DOTALL)
_AUTHORITY = re.compile(r"/*(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?P<query>\?[^#]*)?", re.DOTALL)
_REMOVED = dict.fromkeys(map(ord, "\t\n\r"))
_WHITE_SPACE = "".join(map(chr, range(0x21)))
#: Characters that stay unescaped in the path and query of a request.
_UNESCAPED = "".join(map(chr, range(0x21, 0x7F)))
#: The same as HTTP clients send it: the path and query percent-encode sets of WHATWG URL.
_SENT_IN_QUERIES = "".join(sorted(set(_UNESCAPED) - set('"<>')))
_SENT_IN_PATHS = "".join(sorted(set(_SENT_IN_QUERIES) - set("`{}")))
_SELDOM = re.compile('[ "<>`{}]')


@dataclass(frozen=True, slots=True)
class Origin:
    """A site: ``scheme`` is http or https, ``host`` in ASCII (IPv6 in brackets), ``port``.

    ``str(origin)`` is as in ``https://example.com``, with the port if it is not the default.

    >>> print(origin_of("HTTPS://user@Example.COM:443/page?x=1"))
    https://example.com
    """

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        is_default_port = self.port == PORTS[self.scheme]
        return f"{self.scheme}://{self.host}" + ("" if is_default_port else f":{self.port}")

    @property
    def robots_url(self) -> str:
        """The URL of its robots.txt."""
        return f"{self}/robots.txt"


def idna_2003(host: str) -> str:
    """Return a host name in ASCII, by the encoder of the standard library (IDNA 2003).

    Raises:
        ValueError: the name is invalid.
    """
    # Before Python 3.14 the encoder takes quadratic time.
    if len(host) > 253:
        raise ValueError("host name longer than 253 characters")
    return host.encode("idna").decode("ascii")


def as_browsers_read(url: str) -> str:
    """Return an HTTP URL with its path normalized as in browsers, for matching rules.

    Surrounding white space, tabs and line endings are removed, ``\\`` becomes ``/``, and the
    segments ``.`` and ``..`` are resolved: rules must match the URL that is fetched. Userinfo, host
    and query stay unchanged, as do paths and other URLs.

    >>> as_browsers_read(" https://example.com\\\\a/../private")
    'https://example.com/private'
    """
    if is_read_as_written(url):
        return url
    parts = _parts(url)
    if parts is None:
        return url
    scheme, authority, path, query = parts
    return f"{scheme}://{authority}{_remove_dot_segments(path)}{query}"


def as_sent(url: str) -> str:
    """Return a URL or path with the escapes that HTTP clients send (WHATWG URL).

    These are white space, controls, characters beyond ASCII, and some punctuation.

    >>> as_sent("https://example.com/café?q=a b")
    'https://example.com/caf%C3%A9?q=a%20b'
    """
    if url.isascii() and url.isprintable() and not _SELDOM.search(url):
        return url
    return bytes_as_sent(url.encode("utf-8", "surrogatepass"))


def bytes_as_sent(url: bytes) -> str:
    """Return the same for a URL in UTF-8, or any other bytes."""
    path, mark, query = url.partition(b"?")
    return (
        urllib.parse.quote(path, safe=_SENT_IN_PATHS)
        + mark.decode("ascii")
        + urllib.parse.quote(query, safe=_SENT_IN_QUERIES)
    )


def origin_of(url: str, to_ascii: ToAscii = idna_2003) -> Origin:
    """Return the origin of a URL.

    Raises:
        UrlError: it is not an HTTP or HTTPS URL, or has no valid host.
    """
    return _split(url, to_ascii)[0]


def _split(url: str, to_ascii: ToAscii) -> tuple[Origin, str]:
    """Return the origin of a URL, and its path and query.

    Raises:
        TypeError: it is not a str.
        UrlError: it is not an HTTP or HTTPS URL, or has no valid host.
    """
    if not isinstance(url, str):
        raise TypeError(f"url must be a str, not {type(url).__name__}")
    if len(url) > MAX_URL:
        raise UrlError(f"URL too long ({len(url):,} characters): {url[:80]!r}…")
    parts = _parts(url)
    if parts is None:
        raise UrlError(f"not an absolute http:// or https:// URL: {url!r}")
    scheme, authority, path, query = parts
    host, port = _host_and_port(authority.rpartition("@")[2], url)
    origin = Origin(scheme, _normalize_host(host, url, to_ascii), port or PORTS[scheme])
    return origin, path + query


def _parts(url: str) -> tuple[str, str, str, str] | None:
    """Return scheme, authority, path and query of an HTTP URL; None for other text."""
    match = _ABSOLUTE.match(url.strip(_WHITE_SPACE).translate(_REMOVED))
    scheme = match["scheme"].lower() if match else ""
    if match is None or scheme not in PORTS:
        return None
    rest = _AUTHORITY.match(_replace_backslashes(match["rest"]))
    assert rest is not None  # noqa: S101 - the pattern matches any text
    return scheme, rest["authority"], rest["path"], rest["query"] or ""


def _replace_backslashes(text: str) -> str:
    """Replace backslashes by slashes, except in query and fragment."""
    path, mark, query = text.partition("?")
    path, hash_, fragment = path.partition("#")
    return path.replace("\\", "/") + hash_ + fragment + mark + query


def _host_and_port(authority: str, url: str) -> tuple[str, int]:
    """Split an authority without userinfo; the port is 0 if it is missing."""
    host, colon, digits = authority.rpartition(":")
    if not colon or digits.endswith("]"):
        return authority, 0
    if not digits:
        return host, 0
    if not (digits.isascii() and digits.isdigit() and len(digits) < 100):
        raise UrlError(f"invalid port {digits[:20]!r} in {url!r}")
    port = int(digits)
    if not 0 < port < 1 << 16:
        raise UrlError(f"invalid port {digits[:20]!r} in {url!r}")
    return host, port


def _normalize_host(text: str, url: str, to_ascii: ToAscii) -> str:
    """Return a host in canonical form.

    Raises:
        UrlError: it is invalid.
    """
    try:
        if text.startswith("["):
            # A zone ID is invalid in a URL.
            address = text.removeprefix("[").removesuffix("]").replace("%", "/")
            return f"[{ipaddress.IPv6Address(address if text.endswith(']') else '').compressed}]"
        name = urllib.parse.unquote(text, errors="strict") if "%" in text else text
        name = _recode_latin_1(name).lower()
        host = name if name.isascii() else to_ascii(name).lower()
    except ValueError as error:
        raise UrlError(f"invalid host {text[:80]!r} in {url[:200]!r}") from error
    if not _HOST.match(host):
        raise UrlError(f"invalid host {text[:80]!r} in {url[:200]!r}")
    return host


def _recode_latin_1(name: str) -> str:
    """Decode a name as Latin-1 if its bytes are not valid UTF-8 (lone surrogates).

    Raises:
        ValueError: it has other surrogates.
    """
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return name.encode("utf-8", "surrogateescape").decode("latin-1")
    return name


def redirect_target(base: str, location: str, to_ascii: ToAscii = idna_2003) -> str:
    """Return the URL of a Location header, in ASCII, without userinfo and fragment.

    Args:
        base: The URL of the request.
        location: The header, decoded as UTF-8 with bytes that are not UTF-8 as lone surrogates.
        to_ascii: The encoder for host names.

    Raises:
        UrlError: the target is not a valid HTTP or HTTPS URL.

    >>> redirect_target("https://example.com/robots.txt", "//www.example.com:443/r/../robots.txt")
    'https://www.example.com/robots.txt'
    """
    if len(location) > MAX_LOCATION:
        raise UrlError(f"URL too long ({len(location):,} characters): {location[:80]!r}…")
    cleaned = location.strip(_WHITE_SPACE).translate(_REMOVED)
    match = _ABSOLUTE.match(cleaned)
    if match is None or (
        match["scheme"].lower() == base.partition(":")[0]
        and not match["rest"].startswith(("/", "\\"))
    ):
        # WHATWG URL: "https:x" is relative where the base has the same scheme.
        relative = match["rest"] if match else cleaned
        try:
            cleaned = urllib.parse.urljoin(base, _replace_backslashes(relative))
        except ValueError as error:
            raise UrlError(f"invalid URL: {location[:200]!r}") from error
    origin, path = _split(cleaned, to_ascii)
    path, mark, query = path.partition("?")
    try:
        raw = (_remove_dot_segments(path) + mark + query).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise UrlError(f"invalid URL: {location[:200]!r}") from error
    return f"{origin}{urllib.parse.quote(raw, safe=_UNESCAPED)}"


def _remove_dot_segments(path: str) -> str:
    """Remove the segments ``.`` and ``..`` of a path (RFC 3986 §5.2.4)."""
    result: list[str] = []
    segments = path.split("/")[1:] if path else [""]
    for number, segment in enumerate(segments):
        plain = segment.lower().replace("%2e", ".")
        if plain == ".." and result:
            result.pop()
        if plain not in (".", ".."):
            result.append(segment)
        elif number == len(segments) - 1:
            result.append("")
    return "/" + "/".join(result)

"""Origins: which site a URL belongs to, and where a redirect leads (RFC 6454, RFC 3986 §5).

Pure functions on text. URLs are read as browsers read them (WHATWG URL): white space around
them, tabs and line ends in them are dropped, ``\\\\`` is ``/``, any number of slashes may follow
the scheme. Names of hosts become ASCII by an encoder that the caller hands in; `idna_2003` is
the one of the standard library.
"""

from __future__ import annotations

import ipaddress
import re
import urllib.parse
from dataclasses import dataclass

from .errors import UrlError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    #: The name of a host in lower case: gives it in ASCII, or raises `ValueError`.
    ToAscii: TypeAlias = Callable[[str], str]

PORTS = {"http": 80, "https": 443}

#: Longer URLs belong to no site.
MAX_URL = 1 << 16

#: Longer redirects are not followed: RFC 9110 §4.1 wants 8,000 bytes to be understood.
MAX_LOCATION = 1 << 13

#: What may stand in a host's name in ASCII; the underscore is in real names.
_HOST = re.compile(r"(?!\.+\Z)[a-z0-9_~!$&'()*+,;=.-]+\Z")
_ABSOLUTE = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?P<rest>.*)\Z", re.DOTALL)
_AUTHORITY = re.compile(r"/*(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?P<query>\?[^#]*)?", re.DOTALL)
_IGNORED = dict.fromkeys(map(ord, "\t\n\r"))
_AROUND = "".join(map(chr, range(0x21)))
#: What stays as it is in a path and query that are put into a request.
_KEPT = "".join(map(chr, range(0x21, 0x7F)))


@dataclass(frozen=True, slots=True)
class Origin:
    """A site: ``scheme`` is http or https, ``host`` in ASCII (IPv6 in brackets), ``port``.

    ``str(origin)`` is as in ``https://example.com``, with the port if it is not the usual one.

    >>> print(origin_of("HTTPS://user@Example.COM:443/page?x=1"))
    https://example.com
    """

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        usual = self.port == PORTS[self.scheme]
        return f"{self.scheme}://{self.host}" + ("" if usual else f":{self.port}")

    @property
    def robots_url(self) -> str:
        """Where its robots.txt is."""
        return f"{self}/robots.txt"


def idna_2003(host: str) -> str:
    """Return a host's name in ASCII, by the encoder of the standard library.

    Raises:
        ValueError: it has no such form.
    """
    # Before Python 3.14 the time it takes grows with the square of what it is given.
    if len(host) > 253:
        raise ValueError("longer than a host's name can be")
    return host.encode("idna").decode("ascii")


#: A URL that means to a browser what it says: no white space, no ``\\``, nothing odd at its start.
_PLAIN = re.compile(r"https?://[^\x00-\x20\\/][^\x00-\x20\\]*\Z")


def as_browsers_read(url: str) -> str:
    """Return a URL of HTTP with its path as a browser reads it, for rules to match.

    White space around it, tabs and line ends go, ``\\`` becomes ``/``, and the segments ``.`` and
    ``..`` are resolved: the URL that is matched must be the one that is fetched. Userinfo, host and
    query stay as they are, and so do paths alone and what is no URL of HTTP.

    >>> as_browsers_read(" https://example.com\\\\a/../private")
    'https://example.com/private'
    """
    is_plain = _PLAIN.match(url) and "/." not in url and "%2e" not in url and "%2E" not in url
    if is_plain:
        return url
    parts = _parts(url)
    if parts is None:
        return url
    scheme, authority, path, query = parts
    return f"{scheme}://{authority}{_without_dots(path)}{query}"


def origin_of(url: str, to_ascii: ToAscii = idna_2003) -> Origin:
    """Return the origin of a URL.

    Raises:
        UrlError: it is no URL of HTTP or HTTPS, or has no host.
    """
    return _split(url, to_ascii)[0]


def _split(url: str, to_ascii: ToAscii) -> tuple[Origin, str]:
    """Return the origin of a URL, and what follows it without a fragment.

    Raises:
        UrlError: it is no URL of HTTP or HTTPS, or has no host.
    """
    if len(url) > MAX_URL:
        raise UrlError(f"a URL of {len(url):,} characters: {url[:80]!r}…")
    parts = _parts(url)
    if parts is None:
        raise UrlError(f"no URL that begins with https:// or http://: {url!r}")
    scheme, authority, path, query = parts
    host, port = _host_and_port(authority.rpartition("@")[2], url)
    origin = Origin(scheme, _host(host, url, to_ascii), port or PORTS[scheme])
    return origin, path + query


def _parts(url: str) -> tuple[str, str, str, str] | None:
    """Return scheme, authority, path and query of a URL of HTTP, or None if it is none."""
    match = _ABSOLUTE.match(url.strip(_AROUND).translate(_IGNORED))
    scheme = match["scheme"].lower() if match else ""
    if match is None or scheme not in PORTS:
        return None
    rest = _AUTHORITY.match(_with_slashes(match["rest"]))
    assert rest is not None  # noqa: S101 - it matches anything
    return scheme, rest["authority"], rest["path"], rest["query"] or ""


def _with_slashes(text: str) -> str:
    """Return a URL, or the rest of one, with slashes for backslashes, but not in its query."""
    path, mark, query = text.partition("?")
    path, hash_, fragment = path.partition("#")
    return path.replace("\\", "/") + hash_ + fragment + mark + query


def _host_and_port(authority: str, url: str) -> tuple[str, int]:
    """Split an authority without userinfo; the port is 0 where it names none."""
    host, colon, digits = authority.rpartition(":")
    if not colon or digits.endswith("]"):
        return authority, 0
    if not digits:
        return host, 0
    if not (digits.isascii() and digits.isdigit() and len(digits) < 100):
        raise UrlError(f"no port: {digits[:20]!r} in {url!r}")
    port = int(digits)
    if not 0 < port < 1 << 16:
        raise UrlError(f"no port: {digits[:20]!r} in {url!r}")
    return host, port


def _host(text: str, url: str, to_ascii: ToAscii) -> str:
    """Return a host in its one form.

    Raises:
        UrlError: it is none.
    """
    try:
        if text.startswith("["):
            # Without its brackets, and no zone: what is left over is no address.
            address = text.removeprefix("[").removesuffix("]").replace("%", "/")
            return f"[{ipaddress.IPv6Address(address if text.endswith(']') else '').compressed}]"
        name = urllib.parse.unquote(text, errors="strict") if "%" in text else text
        name = _readable(name).lower()
        host = name if name.isascii() else to_ascii(name).lower()
    except ValueError as error:
        raise UrlError(f"no host: {text[:80]!r} in {url[:200]!r}") from error
    if not _HOST.match(host):
        raise UrlError(f"no host: {text[:80]!r} in {url[:200]!r}")
    return host


def _readable(name: str) -> str:
    """Return a name whose bytes were no UTF-8 as the Latin-1 that it probably is.

    Raises:
        ValueError: it is neither.
    """
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return name.encode("utf-8", "surrogateescape").decode("latin-1")
    return name


def redirect_target(base: str, location: str, to_ascii: ToAscii = idna_2003) -> str:
    """Return the URL that a Location leads to, in ASCII, without userinfo and fragment.

    Args:
        base: The URL that was asked.
        location: The header, decoded as UTF-8 with bytes that are not UTF-8 as lone surrogates.
        to_ascii: The encoder for names of hosts.

    Raises:
        UrlError: it leads nowhere that can be asked.

    >>> redirect_target("https://example.com/robots.txt", "//www.example.com:443/r/../robots.txt")
    'https://www.example.com/robots.txt'
    """
    if len(location) > MAX_LOCATION:
        raise UrlError(f"a URL of {len(location):,} characters: {location[:80]!r}…")
    cleaned = location.strip(_AROUND).translate(_IGNORED)
    match = _ABSOLUTE.match(cleaned)
    if match is None or (
        match["scheme"].lower() == base.partition(":")[0]
        and not match["rest"].startswith(("/", "\\"))
    ):
        # WHATWG URL: "https:x" is relative where the base has the same scheme.
        relative = match["rest"] if match else cleaned
        try:
            cleaned = urllib.parse.urljoin(base, _with_slashes(relative))
        except ValueError as error:
            raise UrlError(f"no URL: {location[:200]!r}") from error
    origin, path = _split(cleaned, to_ascii)
    path, mark, query = path.partition("?")
    try:
        raw = (_without_dots(path) + mark + query).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise UrlError(f"no URL: {location[:200]!r}") from error
    return f"{origin}{urllib.parse.quote(raw, safe=_KEPT)}"


def _without_dots(path: str) -> str:
    """Return a path without its segments ``.`` and ``..`` (RFC 3986 §5.2.4)."""
    kept: list[str] = []
    segments = path.split("/")[1:] if path else [""]
    for number, segment in enumerate(segments):
        plain = segment.lower().replace("%2e", ".")
        if plain == ".." and kept:
            kept.pop()
        if plain not in (".", ".."):
            kept.append(segment)
        elif number == len(segments) - 1:
            kept.append("")
    return "/" + "/".join(kept)

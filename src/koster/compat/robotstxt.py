"""Replacement for the Ruby gem robotstxt, with the same names in Python.

`get`, `parse` and `get_allowed` (``get_allowed?`` in Ruby), and `Parser` with `allowed` and
`sitemaps`. The first section with a name contained in the user agent applies, including ``*``, in
file order; ``*`` is a wildcard in names, too; the first matching rule decides.
"""

from __future__ import annotations

import codecs
import http.client
import re
import ssl
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import ParseResult, SplitResult, quote, urljoin, urlsplit

from .. import dialects
from .._asking import allowed_for_data
from .._charsets import complete_lines, decode_text
from ..dialects import (
    Choice,
    Comments,
    Decoding,
    EmptyRules,
    Merging,
    Names,
    Orphans,
    RobotsTxtPath,
    Separator,
    keys_of,
)
from ..model import Directive
from ..origins import PORTS
from ..robots import RobotsTxt
from ..robots import parse as _parse
from ._bodies import decode_body
from ._http import ASCII, MAX_BYTES, bracket_ipv6
from ._timed import RequestDeadline, exchange, fetch, request_target

if TYPE_CHECKING:
    from email.message import Message

    #: A URL, as text or parsed.
    Urlish: TypeAlias = str | SplitResult | ParseResult
    #: The source of a robots.txt: its site, or a connection to it.
    Source: TypeAlias = Urlish | http.client.HTTPConnection


def _choose(names: Sequence[bytes], groups: Sequence[int], agent: bytes) -> list[int]:
    """Return the first section with a name contained in the agent."""
    user_agent = agent.lower()
    for name, group in zip(names, groups, strict=True):
        if name == b"*" or name in user_agent:
            return [group]
        if b"*" in name and _occur_in_order(name.split(b"*"), user_agent):
            return [group]
    return []


def _occur_in_order(parts: Iterable[bytes], text: bytes) -> bool:
    at = 0
    for part in parts:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True


#: An escape of one of ``/?&=``, possibly escaped repeatedly.
_SEPARATORS = re.compile(r"%((?:25)*(?:26|2F|3D|3F))", re.IGNORECASE | re.ASCII)
_SEPARATORS_BYTES = re.compile(_SEPARATORS.pattern.encode(), re.IGNORECASE)


def _rewrite(value: bytes, _allow: bool) -> list[tuple[bytes, int]]:
    """Let a trailing ``$`` also match before a query, and treat an escaped star as a star.

    Escapes of ``/?&=`` are escaped once more, here and in URLs, so that they are not decoded.
    """
    value = value.replace(b"%2A", b"*").replace(b"%2a", b"*")
    value = _SEPARATORS_BYTES.sub(lambda match: b"%25" + match[1].upper(), value)
    if value.endswith(b"$"):
        return [(value, -1), (value[:-1] + b"?", -1)]
    return [(value, -1)]


_SPELLINGS = {
    **keys_of(*dialects.GOOGLE.directives),
    "useragent": Directive.USER_AGENT,
}
_DIALECT = replace(
    dialects.RFC9309,
    name="robotstxt (Ruby)",
    source="github.com/rapportive-oss/robotstxt",
    decoding=Decoding.NONE,
    directives=frozenset(_SPELLINGS.values()),
    spellings=_SPELLINGS,
    separator=Separator.COLON,
    comments=Comments.AFTER_SPACE,
    orphans=Orphans.FOR_EVERYBODY,
    names=Names.CHOSEN,
    merging=Merging.FIRST,
    choose=_choose,
    rewrite=_rewrite,
    rewritten=b"$%",
    reading=replace(
        dialects.RFC9309.reading,
        choice=Choice.FIRST,
        empty_rules=EmptyRules.OPPOSITE,
        robots_txt=RobotsTxtPath.NOT_SPECIAL,
    ),
)

#: An Allow without a value.
_EMPTY_ALLOW = re.compile(
    rb"(\n[ \t\v\f]*)allow(?=[ \t\v\f]*:[ \t\v\f]*(?:(?<=[ \t\v\f])#|\n|\Z))", re.IGNORECASE
)


def _parse_file(body: str | bytes) -> RobotsTxt:
    """Parse a file in which an empty Allow allows everything, like an empty Disallow."""
    raw = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    robots = _parse(raw, _DIALECT)
    if "" not in robots.values(Directive.ALLOW):
        return robots
    lines = b"\n" + raw.removeprefix(codecs.BOM_UTF8)
    if b"\r" in lines:
        lines = lines.replace(b"\r", b"\n")
    return _parse(_EMPTY_ALLOW.sub(rb"\1Disallow", lines), _DIALECT)


_DISALLOW_ALL = b"User-agent: *\nDisallow: /\n"
_ALLOW_ALL = b"User-agent: *\nDisallow:\n"


class Parser:
    """The rules of a robots.txt for one user agent."""

    def __init__(self, user_agent: str, body: str | bytes | None = None) -> None:
        """Parse a robots.txt; bytes must be in the charset of the URLs, usually UTF-8."""
        self.robot_id = user_agent
        self.body = body
        self.found = body is not None
        self._charset = "utf-8"
        self._robots = _parse_file(body or b"")

    def allowed(self, urlish: Urlish) -> bool:
        """Return whether the user agent may fetch a URL."""
        url = urlish if isinstance(urlish, str) else urlish.geturl()
        if "%" in url:
            url = _SEPARATORS.sub(lambda match: "%25" + match[1].upper(), url)
        if self._charset != "utf-8" and not url.isascii():
            url = quote(url, safe=ASCII, encoding=self._charset, errors="replace")
        return allowed_for_data(self._robots, url, self.robot_id)

    @property
    def sitemaps(self) -> list[str]:
        """The values of Sitemap lines."""
        return list(self._robots.values(Directive.SITEMAP))


def parse(robots_txt: str | bytes, user_agent: str) -> Parser:
    """Return a `Parser` for the text of a robots.txt."""
    return Parser(user_agent, robots_txt)


def get(
    source: Source,
    user_agent: str,
    *,
    num_redirects: int = 5,
    http_timeout: float = 10,
    url_charset: str = "utf8",
) -> Parser:
    """Return a `Parser` for the robots.txt of a site.

    401 and 403 disallow everything; redirects are followed; any other response except 2xx, and a
    missing one, allows everything.

    Args:
        source: A URL, of which only scheme, host and port matter, or a connection, which stays
            open for reuse.
        user_agent: The User-Agent header, and the agent of the rules.
        num_redirects: Maximum number of redirects.
        http_timeout: Seconds per request, from the DNS lookup to the end of the body. A shorter
            timeout of a connection still applies.
        url_charset: The charset in which the URLs are encoded.

    Raises:
        http.client.IncompleteRead: the response was cut off.
        http.client.HTTPException: the body cannot be decoded.
        LookupError: the charset is unknown.
        ValueError: the source is not a URL with a host.
    """
    body = _fetch_body(source, user_agent, num_redirects, http_timeout, url_charset)
    parser = Parser(user_agent, body)
    parser._charset = codecs.lookup(url_charset).name
    return parser


def get_allowed(
    urlish: Urlish,
    user_agent: str,
    *,
    num_redirects: int = 5,
    http_timeout: float = 10,
    url_charset: str = "utf8",
) -> bool:
    """Return whether the robots.txt of a URL's site allows the URL; see `get`."""
    parser = get(
        urlish,
        user_agent,
        num_redirects=num_redirects,
        http_timeout=http_timeout,
        url_charset=url_charset,
    )
    return parser.allowed(urlish)


def _fetch_body(
    source: Source, user_agent: str, redirects: int, timeout: float, charset: str
) -> bytes:
    """Return the robots.txt of a source, or an equivalent one for its status."""
    open_connection = source if isinstance(source, http.client.HTTPConnection) else None
    site = source if not isinstance(source, http.client.HTTPConnection) else _site(source)
    url = _robots_url(site)
    for _ in range(max(redirects, 0) + 1):
        reused = (
            open_connection
            if open_connection is not None and _site(open_connection) == _origin(url)
            else None
        )
        try:
            status, headers, content = _request(reused, url, user_agent, timeout)
        except http.client.IncompleteRead:
            raise
        except (OSError, UnicodeError, http.client.HTTPException):
            break
        location = headers.get("Location")
        if not (300 <= status < 400 and location):
            return _to_robots_txt(status, headers, content, charset)
        try:
            url = urljoin(url, location)
            _origin(url)
        except ValueError:
            break
    return _ALLOW_ALL


def _robots_url(site: Urlish) -> str:
    """Return the URL of a site's robots.txt.

    Raises:
        ValueError: the site is not an HTTP URL with a host.
    """
    return _origin(site if isinstance(site, str) else site.geturl()) + "/robots.txt"


def _origin(url: str) -> str:
    """Return scheme, host and port of a URL.

    Raises:
        ValueError: it is not an HTTP URL with a host.
    """
    parts = urlsplit(url)
    if parts.scheme not in PORTS or not parts.hostname:
        raise ValueError(f"not an absolute http:// or https:// URL: {url!r}")
    host = bracket_ipv6(parts.hostname)
    host.encode("idna")
    return f"{parts.scheme}://{host}:{parts.port or PORTS[parts.scheme]}"


def _site(connection: http.client.HTTPConnection) -> str:
    secure = isinstance(connection, http.client.HTTPSConnection)
    host = bracket_ipv6(connection.host.lower())
    return f"http{'s' if secure else ''}://{host}:{connection.port}"


def _request(
    open_connection: http.client.HTTPConnection | None, url: str, user_agent: str, timeout: float
) -> tuple[int, Message, bytes]:
    """Return status, headers and body of a response; an ``open_connection`` stays open.

    Raises:
        OSError: there is no response within ``timeout`` seconds.
        http.client.HTTPException: the response is not valid HTTP.
    """
    deadline = RequestDeadline(timeout)
    request_headers = {"User-Agent": user_agent}
    if open_connection is None:
        # Like the gem, do not verify certificates.
        context = None if url.startswith("http:") else ssl._create_unverified_context()  # noqa: S323
        return fetch(url, request_headers, context, deadline, MAX_BYTES + 1)[:3]
    target = request_target(url)
    try:
        return exchange(open_connection, target, request_headers, deadline, MAX_BYTES + 1)[:3]
    except (ConnectionError, http.client.CannotSendRequest):
        # The server has closed the connection, or the last response was not read.
        open_connection.close()
        return exchange(open_connection, target, request_headers, deadline, MAX_BYTES + 1)[:3]


def _to_robots_txt(status: int, headers: Message, content: bytes, charset: str) -> bytes:
    """Return the robots.txt for a response, in the charset of the URLs."""
    if status in (401, 403):
        return _DISALLOW_ALL
    if not 200 <= status < 300:
        return _ALLOW_ALL
    content = complete_lines(decode_body(content, headers, MAX_BYTES + 1), limit=MAX_BYTES)
    content = content.removeprefix(codecs.BOM_UTF8)
    for declared in (_declared_charset(headers), "utf-8", "iso-8859-1"):
        try:
            text = decode_text(content, declared)
        except (UnicodeError, LookupError):
            continue
        return text.encode(charset, "replace")
    return content


def _declared_charset(headers: Message) -> str:
    try:
        return headers.get_content_charset() or "utf-8"
    except (ValueError, LookupError):
        return "utf-8"

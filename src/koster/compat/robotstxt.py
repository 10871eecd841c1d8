"""Stands in for the Ruby gem robotstxt, for whoever comes from there: the same names in Python.

`get`, `parse` and `get_allowed` (``get_allowed?`` in Ruby), and `Parser` with `allowed` and
`sitemaps`. The first section with a name that is in the user agent holds, ``*`` among them in
file order; ``*`` is special in names too; the first rule that matches decides.
"""

from __future__ import annotations

import codecs
import http.client
import re
import ssl
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import ParseResult, SplitResult, quote, urljoin, urlsplit

from .. import dialects
from .._charsets import decoded
from ..dialects import (
    Choice,
    Comments,
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
from ..robots import parse as _parse
from ._http import ASCII, MAX_BYTES, in_brackets, unpacked
from ._timed import Deadline, exchange, fetch, target_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from email.message import Message
    from typing import TypeAlias

    from ..robots import RobotsTxt

    #: What stands for a URL.
    Urlish: TypeAlias = str | SplitResult | ParseResult
    #: Where a robots.txt is had from: its site, or a connection to it.
    Source: TypeAlias = Urlish | http.client.HTTPConnection


def _choose(names: Sequence[bytes], groups: Sequence[int], agent: bytes) -> list[int]:
    """Return the first section with a name that is in the agent."""
    asked = agent.lower()
    for name, group in zip(names, groups, strict=True):
        if name == b"*" or name in asked:
            return [group]
        if b"*" in name and _stand_in_order(name.split(b"*"), asked):
            return [group]
    return []


def _stand_in_order(parts: Iterable[bytes], text: bytes) -> bool:
    """Tell whether parts stand in a text one after the other."""
    at = 0
    for part in parts:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True


#: An escape of one of ``/?&=``, however often it is escaped itself.
_SEPARATORS = re.compile(r"%((?:25)*(?:26|2F|3D|3F))", re.IGNORECASE | re.ASCII)
_SEPARATORS_BYTES = re.compile(_SEPARATORS.pattern.encode(), re.IGNORECASE)


def _rewrite(value: bytes, _allow: bool) -> list[tuple[bytes, int]]:
    """Let a closing ``$`` match before a query, too, and an escaped star be a star.

    The escapes of ``/?&=`` are escaped once more, here as in URLs, so that they stay what they are.
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
    rb"((?<![^\r\n])(?:\xef\xbb\xbf)?[ \t\v\f]*)"
    rb"allow(?=[ \t\v\f]*:[ \t\v\f]*(?:(?<=[ \t\v\f])#|[\r\n]|\Z))",
    re.IGNORECASE,
)


def _read(body: str | bytes) -> RobotsTxt:
    """Parse a file: an empty Allow allows everything, as an empty Disallow does."""
    raw = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    return _parse(_EMPTY_ALLOW.sub(rb"\1Disallow", raw), _DIALECT)


_ALL_FORBIDDEN = b"User-agent: *\nDisallow: /\n"
_ALL_ALLOWED = b"User-agent: *\nDisallow:\n"


class Parser:
    """The rules of a robots.txt for one user agent."""

    def __init__(self, user_agent: str, body: str | bytes | None = None) -> None:
        """Parse a robots.txt, ready to be: bytes in the charset of the URLs, usually UTF-8."""
        self.robot_id = user_agent
        self.body = body
        self.found = body is not None
        self._charset = "utf-8"
        self._robots = _read(body or b"")

    def allowed(self, urlish: Urlish) -> bool:
        """Tell whether the user agent may fetch a URL."""
        url = urlish if isinstance(urlish, str) else urlish.geturl()
        if "%" in url:
            url = _SEPARATORS.sub(lambda match: "%25" + match[1].upper(), url)
        if self._charset != "utf-8" and not url.isascii():
            url = quote(url, safe=ASCII, encoding=self._charset, errors="replace")
        return self._robots.allowed(url, self.robot_id)

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

    401 and 403 forbid everything; redirects are followed; any other response but 2xx, or none,
    allows everything.

    Args:
        source: A URL, of which only scheme, host and port count, or a connection, which is
            used and left open, so that it can be used again.
        user_agent: What is sent as User-Agent, and for whom the rules are.
        num_redirects: Redirects to follow before giving up.
        http_timeout: Seconds for one request, from looking the host up to the end of the body.
            A connection that has a shorter timeout keeps it.
        url_charset: The charset in which the URLs are encoded.

    Raises:
        LookupError: there is no such charset.
        ValueError: the source is no URL with a host.
    """
    body = _obtain(source, user_agent, num_redirects, http_timeout, url_charset)
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
    """Tell whether the robots.txt of a URL's site lets the user agent fetch the URL; see `get`."""
    parser = get(
        urlish,
        user_agent,
        num_redirects=num_redirects,
        http_timeout=http_timeout,
        url_charset=url_charset,
    )
    return parser.allowed(urlish)


def _obtain(source: Source, user_agent: str, redirects: int, timeout: float, charset: str) -> bytes:
    """Return the robots.txt of a source, or what stands for its status."""
    given = source if isinstance(source, http.client.HTTPConnection) else None
    site = source if not isinstance(source, http.client.HTTPConnection) else _site(source)
    url = _robots_url(site)
    for _ in range(max(redirects, 0) + 1):
        reused = given if given is not None and _site(given) == _origin(url) else None
        try:
            status, headers, content = _request(reused, url, user_agent, timeout)
        except (OSError, http.client.HTTPException):
            break
        location = headers.get("Location")
        if not (300 <= status < 400 and location):
            return _meaning(status, headers, content, charset)
        try:
            url = urljoin(url, location)
            _origin(url)
        except ValueError:
            break
    return _ALL_ALLOWED


def _robots_url(site: Urlish) -> str:
    """Return the URL of a site's robots.txt.

    Raises:
        ValueError: the site is no HTTP URL with a host.
    """
    return _origin(site if isinstance(site, str) else site.geturl()) + "/robots.txt"


def _origin(url: str) -> str:
    """Return scheme, host and port of a URL.

    Raises:
        ValueError: it is no HTTP URL with a host.
    """
    parts = urlsplit(url)
    if parts.scheme not in PORTS or not parts.hostname:
        raise ValueError(f"{url!r} is not the URL of a site")
    host = in_brackets(parts.hostname)
    host.encode("idna")
    return f"{parts.scheme}://{host}:{parts.port or PORTS[parts.scheme]}"


def _site(connection: http.client.HTTPConnection) -> str:
    """Return scheme, host and port of a connection."""
    secure = isinstance(connection, http.client.HTTPSConnection)
    host = in_brackets(connection.host.lower())
    return f"http{'s' if secure else ''}://{host}:{connection.port}"


def _request(
    given: http.client.HTTPConnection | None, url: str, user_agent: str, timeout: float
) -> tuple[int, Message, bytes]:
    """Return status, headers and body of a response; leave a connection that was given open.

    Raises:
        OSError: there is no response within ``timeout`` seconds.
        http.client.HTTPException: what came is none.
    """
    deadline = Deadline(timeout)
    sent = {"User-Agent": user_agent}
    if given is None:
        # As in the gem, certificates are not verified.
        context = None if url.startswith("http:") else ssl._create_unverified_context()  # noqa: S323
        return fetch(url, sent, context, deadline, MAX_BYTES)[:3]
    target = target_of(url)
    try:
        return exchange(given, target, sent, deadline, MAX_BYTES)[:3]
    except (ConnectionError, http.client.CannotSendRequest):
        # The server had closed it meanwhile, or the last response was not read.
        given.close()
        return exchange(given, target, sent, deadline, MAX_BYTES)[:3]


def _meaning(status: int, headers: Message, content: bytes, charset: str) -> bytes:
    """Return what a response says, as a robots.txt in the charset of the URLs."""
    if status in (401, 403):
        return _ALL_FORBIDDEN
    if not 200 <= status < 300:
        return _ALL_ALLOWED
    content = unpacked(content, headers.get("Content-Encoding"), MAX_BYTES)
    content = content.removeprefix(codecs.BOM_UTF8)
    for declared in (_declared(headers), "utf-8", "iso-8859-1"):
        try:
            text = decoded(content, declared)
        except (UnicodeError, LookupError):
            continue
        return text.encode(charset, "replace")
    return content


def _declared(headers: Message) -> str:
    """Return the charset that a response declares, or UTF-8."""
    try:
        return headers.get_content_charset() or "utf-8"
    except (ValueError, LookupError):
        return "utf-8"

"""Stands in for robotexclusionrulesparser 1.7.1 (nikitathespider.com/python/rerp).

`RobotExclusionRulesParser` and `RobotFileParserLookalike` with all their functions and
attributes. Files are read as koster's GYM2008 and MK1996, which are this library's reading of the
standards, but for what stands in `_DIALECTS`.
"""

from __future__ import annotations

import calendar
import re
import time
import urllib.error
import urllib.request
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import dialects
from .._charsets import decoded
from ..dialects import RobotsTxtPath, Separator, keys_of
from ..freshness import seconds_of
from ..model import Directive
from ..robots import parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..model import Group
    from ..robots import RobotsTxt

PY_MAJOR_VERSION = 3

#: The syntaxes.
MK1996 = 1
GYM2008 = 2

#: Seconds until a robots.txt expires that does not say when (draft-koster-robots-00, §3.4).
SEVEN_DAYS = 60 * 60 * 24 * 7

#: Octets that `fetch` reads.
MAX_FILESIZE = 100 * 1024

_SPELLINGS = {
    **keys_of(*dialects.GYM2008.directives),
    "useragent": Directive.USER_AGENT,
}


def _dialect(name: str, standard: dialects.Dialect) -> dialects.Dialect:
    """Return how the library reads a standard: five keys and a colon, /robots.txt as any path."""
    return replace(
        standard,
        name=f"robotexclusionrulesparser {name}",
        source="robotexclusionrulesparser 1.7.1",
        directives=frozenset(_SPELLINGS.values()),
        spellings=_SPELLINGS,
        separator=Separator.COLON,
        reading=replace(standard.reading, robots_txt=RobotsTxtPath.NOT_SPECIAL),
    )


_DIALECTS = {
    MK1996: _dialect("MK1996", dialects.MK1996),
    GYM2008: _dialect("GYM2008", dialects.GYM2008),
}

_EMPTY = parse(b"", _DIALECTS[GYM2008])
_open = urllib.request.urlopen
_DEFAULT_CHARSET = "iso-8859-1"
_CHARSET = re.compile(r"charset=['\"]?([^'\"]*)")


class RobotExclusionRulesParser:
    """A parser for robots.txt files."""

    def __init__(self) -> None:
        #: What `fetch` sends as User-Agent, or None for Python's own.
        self.user_agent: str | None = None
        #: Whether `expiration_date` is in local time, as `fetch` sets it.
        self.use_local_time = True
        #: When the file is out of date, in seconds since the epoch.
        self.expiration_date: float = self._now() + SEVEN_DAYS
        self._source_url = ""
        self._response_code: int | None = None
        self._gym2008: RobotsTxt = _EMPTY
        self._mk1996: RobotsTxt | None = None

    @property
    def source_url(self) -> str:
        """The URL that was fetched last."""
        return self._source_url

    @property
    def response_code(self) -> int | None:
        """The status of the last fetch: None before the first, 0 where there was no response."""
        return self._response_code

    @property
    def sitemap(self) -> str:
        """Deprecated; use `sitemaps`.

        Raises:
            DeprecationWarning: always.
        """
        raise DeprecationWarning("The sitemap property is deprecated. Use 'sitemaps' instead.")

    @property
    def sitemaps(self) -> list[str]:
        """The values of Sitemap lines: a new list each time."""
        return list(self._gym2008.values(Directive.SITEMAP))

    @property
    def is_expired(self) -> bool:
        """Whether the expiration date is past."""
        return self.expiration_date <= self._now()

    def _now(self) -> float:
        """Return the time as `expiration_date` counts it."""
        return time.time() if self.use_local_time else calendar.timegm(time.gmtime())

    def is_allowed(self, user_agent: str, url: str, syntax: int = GYM2008) -> bool:
        """Tell whether the user agent may visit the URL.

        Raises:
            ValueError: ``syntax`` is neither `GYM2008` nor `MK1996`.
        """
        robots = self._gym2008 if syntax == GYM2008 else self._in_syntax(syntax)
        # An empty query, or a fragment: rare, and read in a way of its own.
        if "#" in url or url[-1:] in "?;":
            url = _as_compared(url)
        return robots.allowed(url, user_agent)

    def _in_syntax(self, syntax: int) -> RobotsTxt:
        """Return the file in the other syntax.

        Raises:
            ValueError: there is no such syntax.
        """
        if syntax != MK1996:
            raise ValueError("Syntax must be MK1996 or GYM2008")
        if self._mk1996 is None:
            self._mk1996 = parse(self._gym2008.body, _DIALECTS[MK1996])
        return self._mk1996

    def get_crawl_delay(self, user_agent: str) -> float | None:
        """Return the crawl delay of a user agent in seconds: the last that is a number, or None."""
        rules = self._gym2008.rules_for(user_agent)
        for value in reversed(rules.values(Directive.CRAWL_DELAY)):
            try:
                return float(value)
            except ValueError:
                continue
        return None

    def fetch(self, url: str, timeout: float | None = None) -> None:
        """Fetch a robots.txt and parse it. 401 and 403 forbid everything, 404 allows it.

        Args:
            url: The URL of the robots.txt.
            timeout: Seconds to wait for the server; None for the system's own.

        Raises:
            urllib.error.URLError: the server could not be asked, or answered with any other
                status.
            UnicodeError: the body is not in its declared charset (ISO-8859-1 if there is none).
            TimeoutError: the server took longer than ``timeout`` (`socket.timeout`).
            http.client.HTTPException, OSError: what else can go wrong while it answers.
        """
        headers = {"User-Agent": self.user_agent} if self.user_agent else {}
        request = urllib.request.Request(url, None, headers)  # noqa: S310 - any scheme, as it was
        self._response_code = 0
        self._source_url = url
        content = b""
        expires = content_type = None
        try:
            opened = _open(request, timeout=timeout) if timeout else _open(request)
            with opened as response:
                content = response.read(MAX_FILESIZE)
                expires = response.headers.get("Expires")
                content_type = response.headers.get("Content-Type")
                self._response_code = response.status or 200
        except urllib.error.HTTPError as error:
            self._response_code = error.code
            error.close()
        except urllib.error.URLError:
            pass
        self.expiration_date = self._expiration(expires)
        self.parse(_text_of(self._response_code, content, content_type))

    def _expiration(self, expires: str | None) -> float:
        """Return when a response expires that has this Expires header."""
        if expires and 200 <= (self._response_code or 0) < 300:
            try:
                moment = seconds_of(expires)
                if moment is not None:
                    local = time.mktime(time.gmtime(moment))
                    return local if self.use_local_time else moment
            except (ValueError, OverflowError):
                # It is beyond what the system counts.
                pass
        return self._now() + SEVEN_DAYS

    def parse(self, s: str | bytes | bytearray) -> None:
        """Parse a robots.txt. Octets are read as ISO-8859-1.

        Raises:
            TypeError: it is neither text nor octets.
        """
        if not isinstance(s, (str, bytes, bytearray)):
            raise TypeError(f"s must be str or bytes, not {type(s).__name__}")
        if not isinstance(s, str):
            s = bytes(s) if s.isascii() else s.decode(_DEFAULT_CHARSET)
        # A byte order mark that was read as ISO-8859-1: by the line above, or by the caller.
        if isinstance(s, str) and s.startswith("\xef\xbb\xbf"):
            s = s[3:]
        self._gym2008 = parse(s, _DIALECTS[GYM2008])
        self._mk1996 = None

    def __str__(self) -> str:
        sitemaps = self.sitemaps
        head = f"Sitemaps: {sitemaps}\n\n" if sitemaps else ""
        groups = self._gym2008.groups
        ordered = sorted(groups, key=lambda group: "*" in group.agents)
        return head + "\n".join(map(self._shown, ordered))

    def _shown(self, group: Group) -> str:
        """Return a record as a file would have it."""
        lines = [f"User-agent: {name}" for name in group.agents if name]
        named = next(name for name in group.agents if name)
        if delay := self.get_crawl_delay(named):
            lines.append(f"Crawl-delay: {delay}")
        lines += [str(rule) for rule in group.rules]
        return "\n".join(lines) + "\n"


def _as_compared(url: str) -> str:
    """Return a URL whose fragment belongs to its path, without empty parameters and query."""
    rest, _, fragment = url.partition("#")
    path, _, query = rest.partition("?")
    if path.endswith(";") and path.find(";", path.rfind("/") + 1) == len(path) - 1:
        path = path[:-1]
    if query:
        path += "?" + query
    return f"{path}%23{fragment}" if fragment else path


def _text_of(status: int, content: bytes, content_type: str | None) -> str:
    """Return the text of a response to be parsed.

    Raises:
        urllib.error.URLError: the standard says nothing of this status.
        UnicodeError: the body is not in its declared charset.
    """
    if status in (401, 403):
        return "User-agent: *\nDisallow: /\n"
    if status == 404:
        return ""
    if not 200 <= status < 300:
        raise urllib.error.URLError(status)  # type: ignore[arg-type]
    declared = _CHARSET.findall((content_type or "").lower())
    charset = (declared[-1].strip() if declared else "") or _DEFAULT_CHARSET
    try:
        return decoded(content, charset)
    except UnicodeError:
        raise UnicodeError(
            f"Robots.txt contents are not in the encoding expected ({charset})."
        ) from None
    except (LookupError, ValueError):
        raise UnicodeError(f'I don\'t understand the encoding "{charset}".') from None


class RobotFileParserLookalike(RobotExclusionRulesParser):
    """A drop-in replacement for `urllib.robotparser.RobotFileParser`."""

    def __init__(self, url: str = "") -> None:
        super().__init__()
        #: When `modified` was called last, in seconds since the epoch; else None.
        self.last_checked: float | None = None
        self._user_provided_url = ""
        self.set_url(url)

    def set_url(self, url: str) -> None:
        """Set the URL that `read` fetches."""
        self._user_provided_url = url

    def read(self) -> None:
        """Fetch the robots.txt and parse it; raises what `fetch` does."""
        self.fetch(self._user_provided_url)

    def parse(self, lines: Any) -> None:
        """Parse lines, which have their ends, or one string."""
        text: Iterable[str] = lines
        super().parse("".join(text))

    def can_fetch(self, user_agent: str, url: str, syntax: int = GYM2008) -> bool:
        """Tell whether the user agent may visit the URL; see `is_allowed`."""
        return self.is_allowed(user_agent, url, syntax)

    def mtime(self) -> float | None:
        """Return when `modified` was called last."""
        return self.last_checked

    def modified(self) -> None:
        """Note that the file was fetched now."""
        self.last_checked = time.time()

"""Drop-in replacement for robotexclusionrulesparser 1.7.1 (nikitathespider.com/python/rerp).

`RobotExclusionRulesParser` and `RobotFileParserLookalike` with all their methods and attributes.
Files are read as koster's GYM2008 and MK1996, which follow this library, with the changes in
`_DIALECTS`.
"""

from __future__ import annotations

import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple
from urllib.parse import unquote

from .. import dialects
from .._asking import allowed_for_data, rules_for_data
from .._charsets import decode_text
from ..dialects import Decoding, Names, RobotsTxtPath, Separator, keys_of
from ..freshness import parse_http_date
from ..model import RULES, Directive, LineKind, text_of
from ..robots import RobotsTxt, Rules, parse
from ._bodies import read_body
from ._http import encoded, lower_non_ascii
from ._kept import GYM2008, MK1996, RerpFile, normalized
from ._timed import deadline_for, open_url

PY_MAJOR_VERSION = 3

#: Default lifetime of a robots.txt in seconds (draft-koster-robots-00, §3.4).
SEVEN_DAYS = 60 * 60 * 24 * 7

#: Maximum bytes that `fetch` reads.
MAX_FILESIZE = 100 * 1024

_SPELLINGS = {
    **keys_of(*dialects.GYM2008.directives, Directive.REQUEST_RATE),
    "useragent": Directive.USER_AGENT,
}


def _without_tabs(value: bytes, _allow: bool) -> list[tuple[bytes, int]]:
    return [(value.replace(b"\t", b""), -1)]


def _choose(names: Sequence[bytes], groups: Sequence[int], agent: bytes) -> list[int]:
    """Return the first record with a name that is in the agent, except records that name ``*``.

    Names compare in Unicode lower case.
    """
    user_agent = text_of(agent).lower()
    defaults = {group for name, group in zip(names, groups, strict=True) if name == b"*"}
    for name, group in zip(names, groups, strict=True):
        token = text_of(name.replace(b"\t", b"")).lower()
        if group not in defaults and token and token in user_agent:
            return [group]
    return []


def _dialect(name: str, standard: dialects.Dialect) -> dialects.Dialect:
    """Return the dialect of the library for a standard.

    It knows five directives, requires a colon, and does not exempt /robots.txt. Request-rate, which
    only the lookalike uses, does not end a list of agents: the original does not know it.
    """
    return replace(
        standard,
        name=f"robotexclusionrulesparser {name}",
        source="robotexclusionrulesparser 1.7.1",
        decoding=Decoding.NONE,
        directives=frozenset(_SPELLINGS.values()),
        spellings=_SPELLINGS,
        separator=Separator.COLON,
        closing=dialects.GYM2008.directives,
        names=Names.CHOSEN,
        choose=_choose,
        rewrite=_without_tabs,
        rewritten=b"\t",
        reading=replace(standard.reading, robots_txt=RobotsTxtPath.NOT_SPECIAL),
    )


_DIALECTS = {
    MK1996: _dialect("MK1996", dialects.MK1996),
    GYM2008: _dialect("GYM2008", dialects.GYM2008),
}

_EMPTY = parse(b"", _DIALECTS[GYM2008])
#: After a fetch that failed, if nothing was parsed before.
_UNKNOWN = parse(b"User-agent: *\nDisallow: /", _DIALECTS[GYM2008])
_urlopen = open_url
_DEFAULT_CHARSET = "iso-8859-1"
_RATE = re.compile(r"([0-9]{1,18})\s*/\s*([0-9]{1,18})")
_CHARSET = re.compile(r"charset=['\"]?([^'\"]*)")

#: The bytes of nearly all files, which need no scrubbing.
_USUAL_BYTES = bytes({*range(32, 127), *range(128, 256), *b"\t\n\r"} - {0x85, 0xA0, 0xEF})
_CONTROLS = re.compile(r"[\x00-\x1f]")
#: Control characters except tabs, non-ASCII white space, and the start of a byte order mark (also
#: of one decoded as ISO-8859-1).
_UNUSUAL_CHARACTERS = (
    "".join(map(chr, sorted(set(range(256)) - set(_USUAL_BYTES) - {0x7F})))
    + "\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    + "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_COMMENT = re.compile("#[^\n]*")
_BOMS = re.compile("^(?:\ufeff|\xef\xbb\xbf)+(?=.)")


def _scrub(text: str) -> str:
    """Remove characters that the library drops, except tabs, which the dialect handles.

    Line numbers do not change.
    """
    try:
        unusual = set(text.encode("latin-1").translate(None, _USUAL_BYTES).decode("latin-1"))
    except UnicodeEncodeError:
        unusual = {each for each in _UNUSUAL_CHARACTERS if each in text}
    if not unusual:
        return text
    # Most non-ASCII text is in comments.
    text = _COMMENT.sub("#", text.replace("\r\n", "\n").replace("\r", "\n"))
    parts: list[str] = []
    done = 0
    for start in sorted(set().union(*(_line_starts_with(each, text) for each in unusual))):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        parts += text[done:start], _scrub_line(text[start:end])
        done = end
    return "".join([*parts, text[done:]])


def _line_starts_with(character: str, text: str) -> Iterator[int]:
    """Yield the start offsets of lines that contain a character."""
    at = text.find(character)
    while at >= 0:
        yield text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        at = text.find(character, end) if end >= 0 else -1


def _scrub_line(line: str) -> str:
    """Return a line without its comment, with its value scrubbed like in the library."""
    line = _BOMS.sub("", line.strip())
    if line.startswith("#"):
        return "#"
    key, colon, value = line.partition("#")[0].strip().partition(":")
    return key + colon + _CONTROLS.sub("", value).strip()


class RobotExclusionRulesParser(RerpFile):
    """A parser for robots.txt files."""

    def __init__(self) -> None:
        # First: what each decision needs is next to the beginning.
        self._robots = _EMPTY
        #: The User-Agent header of `fetch`, or None for Python's default.
        self.user_agent: str | None = None
        #: Without effect: `expiration_date` counts from the epoch, which has no time zone.
        self.use_local_time = True
        #: When the file expires, in seconds since the epoch.
        self.expiration_date: float = time.time() + SEVEN_DAYS
        self._source_url = ""
        self._response_code: int | None = None
        self._mk1996: RobotsTxt | None = None
        self._is_parsed = False

    @property
    def source_url(self) -> str:
        """The URL of the last fetch."""
        return self._source_url

    @property
    def response_code(self) -> int | None:
        """The status of the last fetch; None before the first, 0 if there was no response."""
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
        return [value.replace("\t", "") for value in self._robots.values(Directive.SITEMAP)]

    @property
    def is_expired(self) -> bool:
        """Whether the expiration date is past."""
        return self.expiration_date <= time.time()

    def _is_allowed(self, user_agent: str, url: str, syntax: int) -> bool:
        robots = self._robots if syntax == GYM2008 else self._in_syntax(syntax)
        # Of a subclass of str, a slice is a str.
        return allowed_for_data(robots, normalized(url[:]), lower_non_ascii(user_agent))

    def _in_syntax(self, syntax: int) -> RobotsTxt:
        """Return the file in another syntax.

        Raises:
            ValueError: the syntax is unknown.
        """
        if syntax != MK1996:
            raise ValueError("Syntax must be MK1996 or GYM2008")
        if self._mk1996 is None:
            self._mk1996 = parse(self._robots.body, _DIALECTS[MK1996])
        return self._mk1996

    def get_crawl_delay(self, user_agent: str) -> float | None:
        """Return the last valid crawl delay of a user agent in seconds, or None."""
        return _delay(self._rules_for(user_agent).values(Directive.CRAWL_DELAY))

    def _rules_for(self, user_agent: str) -> Rules:
        return rules_for_data(self._robots, lower_non_ascii(user_agent))

    def fetch(self, url: str, timeout: float | None = None) -> None:
        """Fetch a robots.txt and parse it. 401 and 403 disallow everything, 404 allows everything.

        If it fails, what was parsed before still applies; without that, everything is disallowed.

        Args:
            url: The URL of the robots.txt.
            timeout: Seconds that all of it may take; None for those of `socket.setdefaulttimeout`,
                else 30.

        Raises:
            urllib.error.URLError: there is no response, or one with another status.
            UnicodeError: the body is not in its declared charset (default: ISO-8859-1).
            TimeoutError: the response took longer than ``timeout`` (`socket.timeout`).
            http.client.IncompleteRead: the response was cut off.
            http.client.HTTPException, OSError: reading the response failed.
        """
        if not self._is_parsed:
            self._robots, self._mk1996 = _UNKNOWN, None
        headers = {"User-Agent": self.user_agent} if self.user_agent else {}
        request = urllib.request.Request(url, None, headers)  # noqa: S310 - any scheme, like the original
        self._response_code = 0
        self._source_url = url
        content = b""
        expires = content_type = None
        deadline = deadline_for(timeout)
        try:
            with _urlopen(request, deadline) as response:
                content = read_body(response, deadline, MAX_FILESIZE + 1)
                expires = response.headers.get("Expires")
                content_type = response.headers.get("Content-Type")
                self._response_code = response.status or 200
        except urllib.error.HTTPError as error:
            self._response_code = error.code
            error.close()
        except urllib.error.URLError:
            pass
        text = _response_text(self._response_code, content, content_type)
        self.expiration_date = self._expiration(expires)
        self.parse(text)

    def _expiration(self, expires: str | None) -> float:
        if expires and 200 <= (self._response_code or 0) < 300:
            moment = parse_http_date(expires)
            # Later dates are invalid for the original.
            if moment is not None and moment.replace(tzinfo=None) < datetime.max:
                return moment.timestamp()
        return time.time() + SEVEN_DAYS

    def parse(self, s: str | bytes | bytearray) -> None:
        """Parse a robots.txt. Bytes are read as ISO-8859-1.

        Raises:
            TypeError: it is neither str nor bytes.
        """
        if not isinstance(s, (str, bytes, bytearray)):
            raise TypeError(f"s must be str or bytes, not {type(s).__name__}")
        if isinstance(s, str):
            s = encoded(_scrub(s))
        elif not s.isascii() or s.translate(None, _USUAL_BYTES):
            s = encoded(_scrub(s.decode(_DEFAULT_CHARSET)))
        body = bytes(s) if isinstance(s, bytearray) else s
        self._robots = parse(body, _DIALECTS[GYM2008])
        self._mk1996 = None
        self._is_parsed = True

    def __str__(self) -> str:
        sitemaps = self.sitemaps
        head = f"Sitemaps: {sitemaps}\n\n" if sitemaps else ""
        records = sorted(_records(self._robots), key=lambda record: "*" in record.names)
        return head + "\n".join(map(str, records))


class _Record:
    """A record of a robots.txt for `str`."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.delays: list[str] = []
        self.rules: list[str] = []

    def __str__(self) -> str:
        lines = [f"User-agent: {name}" for name in self.names]
        if delay := _delay(self.delays):
            lines.append(f"Crawl-delay: {delay}")
        return "\n".join([*lines, *self.rules]) + "\n"


def _records(robots: RobotsTxt) -> list[_Record]:
    """Return the records of a file; a blank line or another User-agent line ends a record."""
    starts = {group.line for group in robots.groups}
    found = []
    record: _Record | None = None
    names_agents = False
    for line in robots.lines:
        if line.number in starts:
            record = _Record()
            found.append(record)
            names_agents = True
        elif line.kind is LineKind.BLANK or (
            line.directive is Directive.USER_AGENT and not names_agents
        ):
            record = None
        if record is None or line.directive not in dialects.GYM2008.directives:
            continue
        value = line.value.replace("\t", "")
        names_agents = line.directive is Directive.USER_AGENT
        if names_agents and value:
            record.names.append(value)
        elif line.directive is Directive.CRAWL_DELAY:
            record.delays.append(value)
        elif line.directive in RULES:
            record.rules.append(f"{line.directive}: {_decode_path(value)}")
    return found


def _decode_path(path: str) -> str:
    """Decode the escapes of a path except that of ``/``."""
    return unquote(path.replace("%2f", "\n").replace("%2F", "\n")).replace("\n", "%2F")


def _delay(values: Sequence[str]) -> float | None:
    """Return the last delay that is a number."""
    for value in reversed(values):
        try:
            return float(value.replace("\t", ""))
        except ValueError:
            continue
    return None


def _response_text(status: int, content: bytes, content_type: str | None) -> str:
    """Return the robots.txt to parse for a response.

    Raises:
        urllib.error.URLError: the standard does not define this status.
        UnicodeError: the body is not in its declared charset.
    """
    if status in (401, 403):
        return "User-agent: *\nDisallow: /\n"
    if status == 404:
        return ""
    if not 200 <= status < 300:
        raise urllib.error.URLError(status)  # type: ignore[arg-type]
    charset = _declared_charset(content_type or "") or _DEFAULT_CHARSET
    if not content:
        return ""
    try:
        text = decode_text(content[:MAX_FILESIZE], charset)
    except UnicodeError:
        raise UnicodeError(
            f"Robots.txt contents are not in the encoding expected ({charset})."
        ) from None
    except (LookupError, ValueError):
        raise UnicodeError(f'I don\'t understand the encoding "{charset}".') from None
    if len(content) > MAX_FILESIZE:
        # The last line may be cut off.
        return text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
    return text


def _declared_charset(content_type: str) -> str:
    """Return the last charset of a Content-Type header in lower case, or an empty string."""
    declared = ""
    for parameter in content_type.lower().split(";")[1:]:
        if (match := _CHARSET.search(parameter.strip())) and match[1]:
            declared = match[1].strip()
    return declared


class RequestRate(NamedTuple):
    """A number of requests in a number of seconds, as in `urllib.robotparser`."""

    requests: int
    seconds: int


class RobotFileParserLookalike(RobotExclusionRulesParser):
    """A drop-in replacement for `urllib.robotparser.RobotFileParser`.

    Unlike that one, it allows everything before a file is fetched or parsed.
    """

    def __init__(self, url: str = "") -> None:
        super().__init__()
        #: When `modified` was last called, in seconds since the epoch; 0 before that.
        self.last_checked: float = 0
        self._user_provided_url = ""
        self.set_url(url)

    def set_url(self, url: str) -> None:
        """Set the URL that `read` fetches."""
        self._user_provided_url = url

    def read(self) -> None:
        """Fetch the robots.txt and parse it; raises the errors of `fetch`."""
        self.fetch(self._user_provided_url)

    def parse(self, lines: str | bytes | bytearray | Iterable[str]) -> None:
        """Parse text or its lines, with or without line endings."""
        if not isinstance(lines, (str, bytes, bytearray)):
            lines = "".join(line if line.endswith(("\n", "\r")) else f"{line}\n" for line in lines)
        super().parse(lines)

    def can_fetch(
        self,
        useragent: str | None = None,
        url: str | None = None,
        syntax: int = GYM2008,
        *,
        user_agent: str | None = None,
    ) -> bool:
        """Return whether the user agent may visit the URL; see `is_allowed`.

        The standard library calls the first argument ``useragent``, the original ``user_agent``.

        Raises:
            TypeError: one of the two is missing.
        """
        agent = useragent if user_agent is None else user_agent
        if agent is None or url is None:
            raise TypeError("can_fetch() takes a user agent and a URL")
        return self.is_allowed(agent, url, syntax)

    def crawl_delay(self, useragent: str) -> float | None:
        """Return the crawl delay of a user agent in seconds, or None."""
        return self.get_crawl_delay(useragent)

    def request_rate(self, useragent: str) -> RequestRate | None:
        """Return the last valid Request-rate of a user agent, or None."""
        for value in reversed(self._rules_for(useragent).values(Directive.REQUEST_RATE)):
            if match := _RATE.fullmatch(value):
                return RequestRate(int(match[1]), int(match[2]))
        return None

    def site_maps(self) -> list[str] | None:
        """Return the values of Sitemap lines, or None if the file has none."""
        return self.sitemaps or None

    def mtime(self) -> float:
        """Return when `modified` was last called; 0 before that."""
        return self.last_checked

    def modified(self) -> None:
        """Set `last_checked` to the current time."""
        self.last_checked = time.time()

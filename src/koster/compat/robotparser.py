"""Stands in for `urllib.robotparser` of the standard library, as of Python 3.15.

`RobotFileParser` with its functions and attributes. Rules are read and matched as RFC 9309
says; which groups are for a robot is decided as the standard library does.
"""

from __future__ import annotations

import re
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from .. import dialects
from ..dialects import Names, Separator, keys_of
from ..model import Directive
from ..robots import parse as _parse
from ._http import ASCII, MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..model import Group, Line

__all__ = ["RobotFileParser"]


class RequestRate(NamedTuple):
    """So many requests in so many seconds."""

    requests: int
    seconds: int


def _choose(names: Sequence[bytes], groups: Sequence[int], agent: bytes) -> list[int]:
    """Return the groups with the agent's name, else with the first name that is in it."""
    asked = agent.lower()
    if asked not in names:
        token = asked.split(b"/")[0]
        found = (name for name in names if name and name != b"*" and name in token)
        asked = next(found, b"")
    if not asked:
        return []
    return [group for name, group in zip(names, groups, strict=True) if name == asked]


def _rewrite(value: bytes, _allow: bool) -> list[tuple[bytes, int]]:
    """Take a ``$`` for an anchor only: a rule that goes on after it is none."""
    if not value:
        return []
    value = _ANCHORS.sub(b"$", value)
    return [] if b"$" in value[:-1] else [(value, -1)]


_ANCHORS = re.compile(rb"\$[$*]+")

_SPELLINGS = keys_of(*dialects.GYM2008.directives, Directive.REQUEST_RATE)
_DIALECT = replace(
    dialects.RFC9309,
    name="urllib.robotparser",
    source="CPython 3.15, Lib/urllib/robotparser.py",
    directives=frozenset(_SPELLINGS.values()),
    spellings=_SPELLINGS,
    separator=Separator.COLON,
    closing=frozenset(_SPELLINGS.values()) - {Directive.USER_AGENT, Directive.SITEMAP},
    names=Names.CHOSEN,
    choose=_choose,
    rewrite=_rewrite,
    rewritten=b"$",
)

_EMPTY = _parse(b"", _DIALECT)
#: Between two files that are parsed one after the other: a group that binds nobody.
_SEAM = b"\nUser-agent:\n"


@dataclass
class RuleLine:
    """An Allow or Disallow line."""

    path: str
    allowance: bool

    def __str__(self) -> str:
        return f"{'Allow' if self.allowance else 'Disallow'}: {self.path}"


@dataclass
class Entry:
    """A group: its agents, its rules and its pace."""

    useragents: list[str]
    rulelines: list[RuleLine]
    delay: int | None
    req_rate: RequestRate | None

    def __str__(self) -> str:
        lines = [f"User-agent: {agent}" for agent in self.useragents]
        if self.delay is not None:
            lines.append(f"Crawl-delay: {self.delay}")
        if self.req_rate is not None:
            lines.append(f"Request-rate: {self.req_rate.requests}/{self.req_rate.seconds}")
        return "\n".join(lines + (list(map(str, self.rulelines)) or ["Allow:"]))


class RobotFileParser:
    """Read, parse and answer questions about a robots.txt."""

    def __init__(self, url: str | urllib.request.Request = "") -> None:
        #: Whether `read` found that everything is forbidden, or allowed.
        self.disallow_all = False
        self.allow_all = False
        #: When the file was parsed last, in seconds since the epoch; 0 before that.
        self.last_checked: float = 0
        #: The standard library no longer sets it.
        self.default_entry: Entry | None = None
        self._robots = _EMPTY
        self.set_url(url)

    def mtime(self) -> float:
        """Return when the file was parsed last."""
        return self.last_checked

    def modified(self) -> None:
        """Note that the file was parsed now."""
        self.last_checked = time.time()

    def set_url(self, url: str | urllib.request.Request) -> None:
        """Set the URL that `read` fetches."""
        self.url = url
        address = url.full_url if isinstance(url, urllib.request.Request) else url
        parts = urllib.parse.urlsplit(address)
        self.host = parts.netloc
        self.path = parts.path

    def read(self) -> None:
        """Fetch the file and parse it. 401, 403 and 5xx forbid everything, other 4xx allow it.

        Raises:
            urllib.error.URLError: the server could not be asked.
        """
        try:
            with urllib.request.urlopen(self.url) as response:  # noqa: S310 - any, as it was
                body = response.read(MAX_BYTES)
        except urllib.error.HTTPError as error:
            self._take_status(error.code)
            error.close()
        else:
            self._take(body)

    def _take_status(self, status: int) -> None:
        """Note what a status means that is no success (RFC 9309 §2.3.1, but for 401 and 403)."""
        if status in (401, 403) or 500 <= status < 600:
            self.disallow_all = True
        elif 400 <= status < 500:
            self.allow_all = True

    def parse(self, lines: Iterable[str]) -> None:
        """Parse the lines of a file, with or without their ends; add to what was parsed before."""
        text = "\n".join(lines)
        try:
            self._take(text.encode("utf-8", "surrogateescape"))
        except UnicodeEncodeError:
            self._take(text.encode("utf-8", "surrogatepass"))

    def _take(self, body: bytes) -> None:
        """Parse bytes."""
        before = self._robots.body
        self._robots = _parse(before + _SEAM + body if before else body, _DIALECT)
        self.modified()

    def can_fetch(self, useragent: str, url: str) -> bool:
        """Tell whether the user agent may fetch the URL; False before anything was parsed."""
        if self.disallow_all:
            return False
        if self.allow_all:
            return True
        if not self.last_checked:
            return False
        if not url.isascii():
            url = urllib.parse.quote(url, safe=ASCII, errors="surrogateescape")
        return self._robots.allowed(url, useragent)

    def crawl_delay(self, useragent: str) -> int | None:
        """Return the last Crawl-delay of the user agent that is a whole number, or None."""
        if not self.mtime():
            return None
        return _delay(self._robots.rules_for(useragent).values(Directive.CRAWL_DELAY))

    def request_rate(self, useragent: str) -> RequestRate | None:
        """Return the last Request-rate of the user agent that is two whole numbers, or None."""
        if not self.mtime():
            return None
        return _rate(self._robots.rules_for(useragent).values(Directive.REQUEST_RATE))

    def site_maps(self) -> list[str] | None:
        """Return the values of Sitemap lines, or None if there are none."""
        return self.sitemaps or None

    @property
    def sitemaps(self) -> list[str]:
        """The values of Sitemap lines."""
        return list(self._robots.values(Directive.SITEMAP))

    @property
    def entries(self) -> list[Entry]:
        """The groups, in file order."""
        groups = self._robots.groups
        lines = self._robots.lines
        after = [*(group.line - 1 for group in groups[1:]), len(lines)]
        return [
            _entry(group, lines[group.line - 1 : end])
            for group, end in zip(groups, after, strict=False)
            if any(group.agents)
        ]

    @property
    def groups(self) -> dict[str, Entry]:
        """The groups by each name in lower case; those of one name are one."""
        of_name: dict[str, tuple[int, ...]] = {}
        entries = self.entries
        for number, entry in enumerate(entries):
            for agent in dict.fromkeys(map(str.lower, entry.useragents)):
                of_name[agent] = (*of_name.get(agent, ()), number)
        made: dict[tuple[int, ...], Entry] = {}
        for numbers in of_name.values():
            if numbers not in made:
                made[numbers] = reduce(_merged, [entries[number] for number in numbers])
        return {agent: made[numbers] for agent, numbers in of_name.items()}

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.entries))


def _delay(values: Sequence[str]) -> int | None:
    """Return the last of some delays that is a whole number."""
    return next((int(value) for value in reversed(values) if _is_number(value)), None)


def _is_number(text: str) -> bool:
    """Tell whether a text is a whole number, of a length that Python converts."""
    return text.isdecimal() and len(text) < 1000


def _rate(values: Sequence[str]) -> RequestRate | None:
    """Return the last of some rates that is two whole numbers."""
    for value in reversed(values):
        numbers = [number.strip() for number in value.split("/")]
        if len(numbers) == 2 and all(map(_is_number, numbers)):
            return RequestRate(int(numbers[0]), int(numbers[1]))
    return None


def _entry(group: Group, lines: Sequence[Line]) -> Entry:
    """Return a group, which has these lines, as the standard library shows it."""
    delays = [line.value for line in lines if line.directive is Directive.CRAWL_DELAY]
    rates = [line.value for line in lines if line.directive is Directive.REQUEST_RATE]
    rules = [RuleLine(rule.pattern, rule.allow or not rule.pattern) for rule in group.rules]
    return Entry([agent for agent in group.agents if agent], rules, _delay(delays), _rate(rates))


def _merged(first: Entry, second: Entry) -> Entry:
    """Return two entries of one name as one."""
    return Entry(
        list(filter(frozenset(second.useragents).__contains__, first.useragents)),
        first.rulelines + second.rulelines,
        first.delay if second.delay is None else second.delay,
        first.req_rate if second.req_rate is None else second.req_rate,
    )

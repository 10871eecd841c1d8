"""Drop-in replacement for `urllib.robotparser` of the standard library, as of Python 3.15.

`RobotFileParser` with its methods and attributes. Rules are parsed and matched according to RFC
9309; groups are selected like in the standard library.
"""

from __future__ import annotations

import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple

from .. import dialects
from .._asking import allowed_for_data, rules_for_data
from .._charsets import complete_lines
from ..dialects import Decoding, Names, Separator, keys_of
from ..model import Directive, Group, Line
from ..robots import parse as _parse
from ._bodies import read_body
from ._http import MAX_BYTES, escape_non_ascii
from ._kept import RobotparserFile
from ._timed import deadline_for, open_url

__all__ = ["RobotFileParser"]


class RequestRate(NamedTuple):
    """A number of requests in a number of seconds."""

    requests: int
    seconds: int


def _choose(names: Sequence[bytes], groups: Sequence[int], agent: bytes) -> list[int]:
    """Return the groups with the agent's name, else those with the first name contained in it."""
    selected = agent.lower()
    if selected not in names:
        token = selected.split(b"/")[0]
        found = (name for name in names if name and name != b"*" and name in token)
        selected = next(found, b"")
    if not selected:
        return []
    return [group for name, group in zip(names, groups, strict=True) if name == selected]


def _rewrite(value: bytes, _allow: bool) -> list[tuple[bytes, int]]:
    """Treat ``$`` only as an anchor: drop rules with text after it."""
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
    decoding=Decoding.NONE,
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
#: Separates files that are parsed one after another: a group that applies to nobody.
_SEPARATOR = b"\nUser-agent:\n"


@dataclass
class RuleLine:
    """An Allow or Disallow line."""

    path: str
    allowance: bool

    def __str__(self) -> str:
        return f"{'Allow' if self.allowance else 'Disallow'}: {self.path}"


@dataclass
class GroupEntry:
    """A group: its agents, rules, crawl delay and request rate."""

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


#: What the standard library calls it.
Entry = GroupEntry


class RobotFileParser(RobotparserFile):
    """Reads and parses a robots.txt, and decides about URLs."""

    def __init__(self, url: str | urllib.request.Request = "") -> None:
        self._robots = _EMPTY
        self.disallow_all = self.allow_all = False
        self.last_checked = 0
        #: The standard library no longer sets it.
        self.default_entry: GroupEntry | None = None
        self.set_url(url)

    def mtime(self) -> float:
        """Return when the file was last parsed."""
        return self.last_checked

    def modified(self) -> None:
        """Set `last_checked` to the current time."""
        self.last_checked = time.time()

    def set_url(self, url: str | urllib.request.Request) -> None:
        """Set the URL that `read` fetches."""
        self.url = url
        address = url.full_url if isinstance(url, urllib.request.Request) else url
        parts = urllib.parse.urlsplit(address)
        self.host = parts.netloc
        self.path = parts.path

    def read(self) -> None:
        """Fetch and parse the file. 401, 403 and 5xx disallow everything, other 4xx allow it.

        All of it takes at most 30 seconds, or those of `socket.setdefaulttimeout`. A status of an
        earlier call no longer counts.

        Raises:
            urllib.error.URLError: there is no response.
            TimeoutError: the response took too long.
            http.client.IncompleteRead: the response was cut off.
            http.client.HTTPException, OSError: reading the response failed.
        """
        self.disallow_all = self.allow_all = False
        deadline = deadline_for(None)
        try:
            with open_url(self.url, deadline) as response:
                body = read_body(response, deadline, MAX_BYTES + 1)
        except urllib.error.HTTPError as error:
            self._apply_status(error.code)
            error.close()
        else:
            self._add(complete_lines(body, limit=MAX_BYTES))

    def _apply_status(self, status: int) -> None:
        """Apply an error status (RFC 9309 §2.3.1, except 401 and 403)."""
        if status in (401, 403) or 500 <= status < 600:
            self.disallow_all = True
        elif 400 <= status < 500:
            self.allow_all = True

    def parse(self, lines: Iterable[str]) -> None:
        """Parse lines, with or without line endings, in addition to those parsed before."""
        text = "\n".join(lines)
        try:
            self._add(text.encode("utf-8", "surrogateescape"))
        except UnicodeEncodeError:
            self._add(text.encode("utf-8", "surrogatepass"))

    def _add(self, body: bytes) -> None:
        before = self._robots.body
        self._robots = _parse(before + _SEPARATOR + body if before else body, _DIALECT)
        self.modified()

    def _can_fetch(self, useragent: str, url: str) -> bool:
        if not url.isascii():
            url = escape_non_ascii(url)
        return allowed_for_data(self._robots, url, useragent)

    def crawl_delay(self, useragent: str) -> int | None:
        """Return the last valid Crawl-delay of the user agent, an integer, or None."""
        if not self.mtime():
            return None
        return _delay(rules_for_data(self._robots, useragent).values(Directive.CRAWL_DELAY))

    def request_rate(self, useragent: str) -> RequestRate | None:
        """Return the last valid Request-rate of the user agent, or None."""
        if not self.mtime():
            return None
        return _rate(rules_for_data(self._robots, useragent).values(Directive.REQUEST_RATE))

    def site_maps(self) -> list[str] | None:
        """Return the values of Sitemap lines, or None if there are none."""
        return self.sitemaps or None

    @property
    def sitemaps(self) -> list[str]:
        """The values of Sitemap lines."""
        return list(self._robots.values(Directive.SITEMAP))

    @property
    def entries(self) -> list[GroupEntry]:
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
    def groups(self) -> dict[str, GroupEntry]:
        """The groups by lower-case name; groups with the same name are merged."""
        of_name: dict[str, tuple[int, ...]] = {}
        entries = self.entries
        for number, entry in enumerate(entries):
            for agent in dict.fromkeys(map(str.lower, entry.useragents)):
                of_name[agent] = (*of_name.get(agent, ()), number)
        merged: dict[tuple[int, ...], GroupEntry] = {}
        for numbers in of_name.values():
            if numbers not in merged:
                merged[numbers] = reduce(_merge_entries, [entries[number] for number in numbers])
        return {agent: merged[numbers] for agent, numbers in of_name.items()}

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.entries))


def _delay(values: Sequence[str]) -> int | None:
    """Return the last delay that is an integer."""
    return next((int(value) for value in reversed(values) if _is_number(value)), None)


def _is_number(text: str) -> bool:
    """Return whether a text is an integer of a length that Python converts."""
    return text.isdecimal() and len(text) < 1000


def _rate(values: Sequence[str]) -> RequestRate | None:
    """Return the last rate with two integers."""
    for value in reversed(values):
        numbers = [number.strip() for number in value.split("/")]
        if len(numbers) == 2 and all(map(_is_number, numbers)):
            return RequestRate(int(numbers[0]), int(numbers[1]))
    return None


def _entry(group: Group, lines: Sequence[Line]) -> GroupEntry:
    delays = [line.value for line in lines if line.directive is Directive.CRAWL_DELAY]
    rates = [line.value for line in lines if line.directive is Directive.REQUEST_RATE]
    rules = [RuleLine(rule.pattern, rule.allow or not rule.pattern) for rule in group.rules]
    return GroupEntry(
        [agent for agent in group.agents if agent], rules, _delay(delays), _rate(rates)
    )


def _merge_entries(first: GroupEntry, second: GroupEntry) -> GroupEntry:
    return GroupEntry(
        list(filter(frozenset(second.useragents).__contains__, first.useragents)),
        first.rulelines + second.rulelines,
        first.delay if second.delay is None else second.delay,
        first.req_rate if second.req_rate is None else second.req_rate,
    )

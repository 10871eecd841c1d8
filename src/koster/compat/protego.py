"""Stands in for Protego 0.7.

`Protego` with its functions and properties, `RequestRate` and `VisitTime`. Files are read as
Protego reads them: lines without a colon, names with stars, the longest name that stands in a
User-Agent, ``$`` as an anchor and as itself.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from .. import dialects
from ..dialects import IndexPages, Names, Separator
from ..model import SPACE, Directive, LineKind, text_of
from ..robots import parse as _parse
from ._http import decoders, folded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import time
    from typing import Self

    from ..robots import RobotsTxt

__all__ = ["Protego", "RequestRate", "VisitTime"]


class RequestRate(NamedTuple):
    """So many requests in so many seconds, from one time of day to another, if there are any."""

    requests: int
    seconds: int
    start_time: time | None
    end_time: time | None


class VisitTime(NamedTuple):
    """When robots are welcome."""

    start_time: time
    end_time: time


_SPELLINGS = {
    **{
        spelling: directive
        for directive in (
            *(Directive.USER_AGENT, Directive.ALLOW, Directive.DISALLOW, Directive.SITEMAP),
            *(Directive.CRAWL_DELAY, Directive.REQUEST_RATE, Directive.VISIT_TIME, Directive.HOST),
        )
        for spelling in directive.spellings
    },
    "crawl delay": Directive.CRAWL_DELAY,
    "request rate": Directive.REQUEST_RATE,
    "visit time": Directive.VISIT_TIME,
}
_DIRECTIVES = frozenset(_SPELLINGS.values())
_KEYS = "|".join(sorted(_SPELLINGS, key=len, reverse=True))
#: A line that begins with a key and white space, or consists of a key, without a colon after it.
_WITHOUT_COLON = re.compile(
    rf"(?:\A\ufeff?|(?<=[\r\n]))([ \t\v\f]*(?:{_KEYS}))"
    r"(?:[ \t]+(?![ \t:])|(?=[ \t\v\f]*(?:[#\r\n]|\Z)))([^\r\n#]*)",
    re.IGNORECASE | re.ASCII,
)

#: What nearly no file has: a first word that is not followed by a colon. Searching for it is ten
#: times as fast as for the lines themselves.
_WORD_WITHOUT_COLON = re.compile(r"\n[ \t\v\f]*[A-Za-z-]+[^A-Za-z:-]")


def _with_colons(content: str) -> str:
    """Return a file with the colons that Protego does without."""
    lines = f"\n{content.removeprefix(chr(0xFEFF))}\n"
    if "\r" in lines:
        lines = lines.replace("\r", "\n")
    if not _WORD_WITHOUT_COLON.search(lines):
        return content
    return _WITHOUT_COLON.sub(_with_colon, content)


def _with_colon(line: re.Match[str]) -> str:
    """Write the colon of a line, unless an unknown key ends at a later one.

    A colon with nothing or white space after it is one that ends a key.
    """
    _, colon, value = line[2].rstrip(SPACE).partition(":")
    if colon and (not value or value[0] in SPACE):
        return line[0]
    return f"{line[1]}:{line[2]}"


def _choose(names: Sequence[bytes], groups: Sequence[int], agent: bytes) -> list[int]:
    """Return the groups of the longest name that begins a word of the agent.

    A name with stars stands for itself and for what is left without them.
    """
    asked = text_of(agent).strip().lower()
    lower = [text_of(name).lower() for name in names]
    best = ""
    for name in dict.fromkeys(lower):
        for each in (name, name.replace("*", "")) if "*" in name else (name,):
            if each in asked and len(each) > len(best) and _begins_word(asked, each):
                best = each
    if best in ("", "*"):
        return []
    return [
        group
        for name, group in dict.fromkeys(zip(lower, groups, strict=True))
        if name == best or ("*" in name and name.replace("*", "") == best)
    ]


def _begins_word(text: str, name: str) -> bool:
    """Tell whether a name stands in a text with no letter, digit, ``_`` or ``-`` before it."""
    at = text.find(name)
    while at > 0 and _is_of_word(text[at - 1]):
        # Not again in this word: it can only stand where one begins.
        at += 1
        while at < len(text) and _is_of_word(text[at - 1]):
            at += 1
        at = text.find(name, at)
    return at >= 0


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character in "-_"


def _rewrite(value: bytes, _allow: bool) -> list[tuple[bytes, int]]:
    """Return a pattern in Protego's form, and with a ``$`` the one in which it is literal."""
    if not value:
        return []
    if value.startswith(_SCHEMES):
        value = b"/" + value
    value = _pattern_in_form(value)
    if b"$" in value:
        literal = value.replace(b"$", b"%24")
        return [(value, _size(value)), (literal, _size(literal))]
    return [(value, _size(value))]


_SCHEMES = (b"http://", b"https://")
#: The escapes of ``?``, ``&`` and ``=`` are no others than these bytes.
_pattern_in_form, _url_in_form = decoders("?&=")
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
#: What Protego does not escape in a pattern.
_VERBATIM = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~/*=%"


def _size(pattern: bytes) -> int:
    """Return for how much a pattern counts: its characters once it is escaped as Protego does."""
    anchor = pattern.endswith(b"$")
    if b"%" in pattern:
        pattern = _ESCAPE.sub(_unless_kept, pattern)
    return len(pattern) + 2 * (len(pattern.translate(None, _VERBATIM)) - anchor)


def _unless_kept(escape: re.Match[bytes]) -> bytes:
    byte = bytes.fromhex(escape[1].decode("ascii"))
    return escape[0] if byte in b"/%*" else byte


_DIALECT = replace(
    dialects.RFC9309,
    name="Protego",
    source="Protego 0.7.0",
    directives=_DIRECTIVES,
    spellings=_SPELLINGS,
    separator=Separator.COLON,
    closing=(_DIRECTIVES - {Directive.SITEMAP, Directive.HOST}) | {LineKind.UNKNOWN},
    names=Names.CHOSEN,
    choose=_choose,
    rewrite=_rewrite,
    rewritten=b"%$:?&",
    reading=replace(dialects.RFC9309.reading, index_pages=IndexPages.DIRECTORY_TOO),
)


class Protego:
    """A parsed robots.txt. `parse` makes one."""

    def __init__(self) -> None:
        self._robots: RobotsTxt = _EMPTY

    @classmethod
    def parse(cls, content: str) -> Self:
        """Parse the text of a robots.txt.

        Raises:
            TypeError: it is no str.
        """
        if not isinstance(content, str):
            raise TypeError(f"Protego.parse expects str, got {type(content).__name__}")
        parser = cls()
        parser._robots = _parse(_with_colons(content), _DIALECT)
        return parser

    def can_fetch(self, url: str, user_agent: str) -> bool:
        """Tell whether the user agent may fetch the URL."""
        if "%" in url:
            url = _url_in_form(url)
        return self._robots.allowed(url, folded(user_agent))

    def crawl_delay(self, user_agent: str) -> float | None:
        """Return the last crawl delay of the user agent that is a number, in seconds, or None."""
        for value in reversed(
            self._robots.rules_for(folded(user_agent)).values(Directive.CRAWL_DELAY)
        ):
            try:
                delay = float(value)
            except ValueError:
                continue
            if math.isfinite(delay) and delay >= 0:
                return delay
        return None

    def request_rate(self, user_agent: str) -> RequestRate | None:
        """Return the last request rate of the user agent, or None."""
        rates = self._robots.rules_for(folded(user_agent)).request_rates
        if not rates:
            return None
        rate = rates[-1]
        return RequestRate(rate.requests, rate.seconds, rate.start, rate.end)

    def visit_time(self, user_agent: str) -> VisitTime | None:
        """Return the last visit time of the user agent, or None."""
        times = self._robots.rules_for(folded(user_agent)).visit_times
        return VisitTime(times[-1].start, times[-1].end) if times else None

    @property
    def sitemaps(self) -> Iterator[str]:
        """The values of Sitemap lines: an iterator."""
        return iter(self._robots.sitemaps)

    @property
    def preferred_host(self) -> str | None:
        """The value of the last Host line, or None."""
        hosts = self._robots.hosts
        return hosts[-1] if hosts else None


_EMPTY = _parse(b"", _DIALECT)

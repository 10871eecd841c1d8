"""Drop-in replacement for Protego 0.7.

`Protego` with its methods and properties, `RequestRate` and `VisitTime`. Files are read like in
Protego: lines without a colon, names with stars, the longest name in a User-Agent applies, ``$``
is an anchor and a literal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import time
from typing import NamedTuple, Self

from .. import dialects
from .._asking import allowed_for_data, rules_for_data
from ..dialects import Decoding, IndexPages, Names, Separator
from ..model import SPACE, Directive, LineKind, text_of
from ..robots import parse as _parse
from ._http import decoders, encoded, lower_non_ascii
from ._kept import PROTEGO_ESCAPES, ProtegoFile

__all__ = ["Protego", "RequestRate", "VisitTime"]


class RequestRate(NamedTuple):
    """A number of requests in a number of seconds, optionally within a window of the day."""

    requests: int
    seconds: int
    start_time: time | None
    end_time: time | None


class VisitTime(NamedTuple):
    """The window of the day in which visits are allowed."""

    start_time: time
    end_time: time


_SPELLINGS = {
    **{
        spelling: directive
        for directive in (
            Directive.USER_AGENT,
            Directive.ALLOW,
            Directive.DISALLOW,
            Directive.SITEMAP,
            Directive.CRAWL_DELAY,
            Directive.REQUEST_RATE,
            Directive.VISIT_TIME,
            Directive.HOST,
        )
        for spelling in directive.spellings
    },
    "crawl delay": Directive.CRAWL_DELAY,
    "request rate": Directive.REQUEST_RATE,
    "visit time": Directive.VISIT_TIME,
}
_DIRECTIVES = frozenset(_SPELLINGS.values())
_KEYS = "|".join(sorted(_SPELLINGS, key=len, reverse=True))
_BEGINNINGS = frozenset(key[:2] for key in _SPELLINGS)
#: A line whose first word is not followed by a colon. Few files have one, and it is found fast.
_UNUSUAL_LINE = re.compile(r"\n[ \t\v\f]*+[A-Za-z-]++(?!:)[^\n]*")
#: A directive without a colon after it, and the rest of its line without the comment.
_WITHOUT_COLON = re.compile(
    rf"(\n[ \t\v\f]*(?:{_KEYS}))(?:[ \t]+(?![ \t:])|(?=[ \t\v\f]*(?:#|\Z)))([^#]*)",
    re.IGNORECASE | re.ASCII,
)


def _add_colons(content: str) -> str:
    """Add missing colons after directives, which Protego does not require."""
    lines = f"\n{content.removeprefix(chr(0xFEFF))}"
    if "\r" in lines:
        lines = lines.replace("\r", "\n")
    return _UNUSUAL_LINE.sub(_add_colon_after_key, lines)


def _add_colon_after_key(line: re.Match[str]) -> str:
    """Add the missing colon of a line; most lines of an HTML page begin with no directive."""
    text = line[0]
    if text.lstrip()[:2].lower() not in _BEGINNINGS:
        return text
    return _WITHOUT_COLON.sub(_add_colon, text)


def _add_colon(line: re.Match[str]) -> str:
    """Add the colon of a line, unless a later colon ends an unknown directive.

    A colon ends a directive if nothing or white space follows.
    """
    _, colon, value = line[2].rstrip(SPACE).partition(":")
    if colon and (not value or value[0] in SPACE):
        return line[0]
    return f"{line[1]}:{line[2]}"


def _choose(names: Sequence[bytes], groups: Sequence[int], agent: bytes) -> list[int]:
    """Return the groups of the longest name that starts a word of the agent.

    A name with stars matches as written, and without its stars.
    """
    user_agent = text_of(agent).strip().lower()
    lower = [text_of(name).lower() for name in names]
    best = ""
    for name in dict.fromkeys(lower):
        for each in (name, name.replace("*", "")) if "*" in name else (name,):
            if each in user_agent and len(each) > len(best) and _begins_word(user_agent, each):
                best = each
    if best in ("", "*"):
        return []
    return [
        group
        for name, group in dict.fromkeys(zip(lower, groups, strict=True))
        if name == best or ("*" in name and name.replace("*", "") == best)
    ]


def _begins_word(text: str, name: str) -> bool:
    """Return whether a name occurs in a text without a letter, digit, ``_`` or ``-`` before it."""
    at = text.find(name)
    while at > 0 and _is_word_character(text[at - 1]):
        # Skip the rest of this word.
        at += 1
        while at < len(text) and _is_word_character(text[at - 1]):
            at += 1
        at = text.find(name, at)
    return at >= 0


def _is_word_character(character: str) -> bool:
    return character.isalnum() or character in "-_"


def _rewrite(value: bytes, _allow: bool) -> list[tuple[bytes, int]]:
    """Normalize a pattern like Protego; with ``$``, also return the one with a literal ``$``.

    The rank of a pattern is its length after Protego's escaping.
    """
    if not value:
        return []
    if value.startswith(_SCHEMES):
        value = b"/" + value
    decoded = value
    if b"%" in value:
        value = _normalize_pattern(value)
        decoded = _ESCAPE.sub(_decode_unless_special, value)
    rank = len(decoded) + 2 * len(decoded.translate(None, _VERBATIM))
    if b"$" not in value:
        return [(value, rank)]
    # Protego does not escape an anchor.
    return [(value, rank - 2 * value.endswith(b"$")), (value.replace(b"$", b"%24"), rank)]


_SCHEMES = (b"http://", b"https://")
#: Escapes of ``?``, ``&`` and ``=`` are equivalent to the bytes.
_normalize_pattern, _normalize_url = decoders(PROTEGO_ESCAPES)
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
#: Characters that Protego does not escape in a pattern.
_VERBATIM = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~/*=%"


def _decode_unless_special(escape: re.Match[bytes]) -> bytes:
    byte = bytes.fromhex(escape[1].decode("ascii"))
    return escape[0] if byte in b"/%*" else byte


_DIALECT = replace(
    dialects.RFC9309,
    name="Protego",
    source="Protego 0.7.0",
    decoding=Decoding.NONE,
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


class Protego(ProtegoFile):
    """A parsed robots.txt. `parse` makes one."""

    def __init__(self) -> None:
        self._robots = _EMPTY

    @classmethod
    def parse(cls, content: str) -> Self:
        """Parse the text of a robots.txt.

        Raises:
            TypeError: it is not a str.
        """
        if not isinstance(content, str):
            raise TypeError(f"Protego.parse expects str, got {type(content).__name__}")
        parser = cls()
        parser._robots = _parse(encoded(_add_colons(content)), _DIALECT)
        return parser

    def _can_fetch(self, url: str, user_agent: str) -> bool:
        if not user_agent.isascii():
            user_agent = user_agent.lower()
        return allowed_for_data(self._robots, _normalize_url(url), user_agent)

    def crawl_delay(self, user_agent: str) -> float | None:
        """Return the last valid crawl delay of the user agent in seconds, or None."""
        for value in reversed(
            rules_for_data(self._robots, lower_non_ascii(user_agent)).values(Directive.CRAWL_DELAY)
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
        rates = rules_for_data(self._robots, lower_non_ascii(user_agent)).request_rates
        if not rates:
            return None
        rate = rates[-1]
        return RequestRate(rate.requests, rate.seconds, rate.start, rate.end)

    def visit_time(self, user_agent: str) -> VisitTime | None:
        """Return the last visit time of the user agent, or None."""
        times = rules_for_data(self._robots, lower_non_ascii(user_agent)).visit_times
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

"""Links in Link headers (RFC 8288)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_WHITE = " \t\r\n"
_NAME = re.compile(r"[^\s=;,]*")
_TOKEN = re.compile(r"[^;,]*")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_QUOTED = re.compile(r'"((?:[^"\\]++|\\.)*+)"', re.DOTALL)
#: Links of a header.
_MAX_LINKS = 1_000


@dataclass(frozen=True, slots=True)
class Link:
    """A link: its target as it is written, and its parameters with names in lower case."""

    target: str
    parameters: Mapping[str, str]

    @property
    def relations(self) -> frozenset[str]:
        """What the target is to the page, in lower case."""
        return frozenset(self.parameters.get("rel", "").lower().split())


def links_in(header: str) -> Iterator[Link]:
    """Yield the links of a Link header, as RFC 8288, appendix B.2, reads it.

    >>> [each.target for each in links_in('</a,b>; rel="license"; title="x, <y>", </c>')]
    ['/a,b', '/c']
    """
    position = 0
    for _ in range(_MAX_LINKS):
        start = header.find("<", position)
        end = header.find(">", start)
        # Anything but white space and commas between links is an error.
        if start < 0 or end < 0 or header[position:start].strip(_WHITE + ","):
            return
        parameters, position = _parameters(header, end + 1)
        yield Link(header[start + 1 : end].strip(), parameters)


def _parameters(header: str, position: int) -> tuple[dict[str, str], int]:
    """Return the parameters of a link, and where they end. Of repeated ones the first counts."""
    found: dict[str, str] = {}
    while True:
        position = _skip_white(header, position)
        if header[position : position + 1] != ";":
            return found, position
        position = _skip_white(header, position + 1)
        name, position = _token(_NAME, header, position)
        position = _skip_white(header, position)
        value = ""
        if header[position : position + 1] == "=":
            value, position = _value(header, _skip_white(header, position + 1))
        found.setdefault(name.lower(), value)


def _value(header: str, position: int) -> tuple[str, int]:
    if quoted := _QUOTED.match(header, position):
        return _ESCAPE.sub(r"\1", quoted[1]), quoted.end()
    value, end = _token(_TOKEN, header, position)
    return value.strip(_WHITE), end


def _token(pattern: re.Pattern[str], header: str, position: int) -> tuple[str, int]:
    """Return what a pattern, which matches any text, matches at a position, and where it ends."""
    found = pattern.match(header, position)
    assert found is not None  # noqa: S101
    return found[0], found.end()


def _skip_white(header: str, position: int) -> int:
    while header[position : position + 1] in _WHITE and position < len(header):
        position += 1
    return position

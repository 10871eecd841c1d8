"""How the lines of a format become columns.

A format reads lines of text (`TextFormat`), lines of JSON (`JsonFormat`), lines inside of other
lines (`Enveloped`), or lines whose format changes within a file (`W3cFormat`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from ..bulk._arrow import pa, pc
from ..bulk._columns import to_text, unchunked
from ._decoding import decoded
from ._patterns import FormatError, LinePattern, from_w3c
from ._times import query

_FIELDS = re.compile(rb"^#Fields:(.*)$", re.MULTILINE)

#: Fields that other columns become, in the order in which they are joined.
_PARTS = ("date", "time")


@dataclass(frozen=True, slots=True)
class TextFormat:
    """Lines that an expression matches."""

    pattern: LinePattern

    @property
    def fields(self) -> Collection[str]:
        """The names of its fields."""
        return self.pattern.fields

    @property
    def time(self) -> str:
        """The strptime format of its times; empty: see `koster.logs._times`."""
        return self.pattern.time

    @property
    def is_utc(self) -> bool:
        """Whether times without a zone are UTC by definition."""
        return self.pattern.is_utc

    @property
    def comment(self) -> str:
        """What comments begin with; empty: it has no comments."""
        return self.pattern.comment

    def are_valid(self, lines: Any) -> Any:
        """Return which lines have this format."""
        return pc.match_substring_regex(lines, re.sub(r"\(\?P<\w+>", "(?:", self.pattern.regex))

    def columns(self, lines: Any) -> dict[str, Any]:
        """Return the fields of valid lines, as bytes."""
        found = pc.extract_regex(lines, self.pattern.regex)
        columns = {name: found.field(name) for name in self.pattern.fields}
        parts = [*_PARTS, *(name for name in columns if name.startswith("time_"))]
        times = [columns.pop(name) for name in parts if name in columns]
        if times:
            space = pa.scalar(b" ", pa.large_binary())
            columns["time"] = pc.binary_join_element_wise(*times, space)
        return decoded(columns, self.pattern.encoding)

    def segments(self, data: bytes) -> Iterator[tuple[LineFormat, bytes]]:
        """Yield the parts of a block, each with its format."""
        yield self, data


@dataclass(frozen=True, slots=True)
class JsonFormat:
    """Lines that are JSON objects.

    Attributes:
        paths: The paths of each field; the first one that exists counts.
        encoding: How text is encoded: see `koster.logs._decoding`.
        is_utc: Whether times without a zone are UTC by definition.
        mark: A path that only lines of this format have; empty: none.
    """

    paths: Mapping[str, tuple[str, ...]]
    encoding: str = ""
    is_utc: bool = False
    mark: str = ""

    #: As in `TextFormat`.
    time: ClassVar[str] = ""
    comment: ClassVar[str] = ""

    @property
    def fields(self) -> Collection[str]:
        """The names of its fields."""
        return self.paths

    def are_valid(self, lines: Any) -> Any:
        """Return which lines are JSON objects."""
        found = query(
            to_text(lines),
            "CASE WHEN json_valid(text) THEN json_type(text) = 'OBJECT' ELSE false END AS valid",
        )
        return unchunked(found["valid"]).fill_null(False)

    def has_mark(self, lines: Any) -> bool:
        """Return whether a valid line has the mark of this format, if there is one."""
        if not self.mark:
            return True
        found = query(to_text(lines), f"{_extract(self.mark)} AS mark")["mark"]
        return bool(found.null_count < len(found))

    def columns(self, lines: Any) -> dict[str, Any]:
        """Return the fields of valid lines, as text."""
        columns = ", ".join(
            f"coalesce({', '.join(map(_extract, paths))}) AS {name}"
            for name, paths in self.paths.items()
        )
        found = query(to_text(lines), columns)
        return decoded({name: unchunked(found[name]) for name in self.paths}, self.encoding)

    def segments(self, data: bytes) -> Iterator[tuple[LineFormat, bytes]]:
        """Yield the parts of a block, each with its format."""
        yield self, data


@dataclass(frozen=True, slots=True)
class Envelope:
    """Lines that have another log's line in the field ``line``, and perhaps its time."""

    outer: TextFormat | JsonFormat


@dataclass(frozen=True, slots=True)
class Enveloped:
    """Lines of a format inside of an envelope, which has the time if they have none."""

    outer: TextFormat | JsonFormat
    inner: TextFormat | JsonFormat | Enveloped

    @property
    def fields(self) -> Collection[str]:
        """The names of its fields."""
        return {*self.inner.fields, *({"time"} & {*self.outer.fields})}

    @property
    def time(self) -> str:
        """As in `TextFormat`."""
        return self.inner.time

    @property
    def is_utc(self) -> bool:
        """As in `TextFormat`."""
        return self.inner.is_utc

    @property
    def comment(self) -> str:
        """As in `TextFormat`."""
        return ""

    def are_valid(self, lines: Any) -> Any:
        """Return which lines have this format."""
        are = self.outer.are_valid(lines)
        if not pc.any(are).as_py():
            return are
        inside = self.outer.columns(lines.filter(are))["line"].cast(pa.large_binary())
        return pc.replace_with_mask(are, are, self.inner.are_valid(inside.fill_null(b"")))

    def columns(self, lines: Any) -> dict[str, Any]:
        """Return the fields of valid lines."""
        outside = self.outer.columns(lines)
        columns = self.inner.columns(outside["line"].cast(pa.large_binary()).fill_null(b""))
        if "time" in outside:
            time = outside["time"].cast(pa.large_binary())
            inside = columns.get("time")
            columns["time"] = (
                time if inside is None else pc.coalesce(inside.cast(pa.large_binary()), time)
            )
        return columns

    def segments(self, data: bytes) -> Iterator[tuple[LineFormat, bytes]]:
        """Yield the parts of a block, each with its format."""
        yield self, data


#: Matches no line.
_NOTHING = TextFormat(
    LinePattern(r"x^(?P<time>)(?P<url>)(?P<agent>)", ("time", "url", "agent"), comment="#")
)


#: The most lists of fields in a log, and fields in a list: servers write about 30 fields.
_MAX_LISTS = 64
_MAX_FIELDS = 256


@dataclass(slots=True)
class W3cFormat:
    """A W3C extended log, whose ``#Fields:`` lines name the fields of the lines after them.

    Lines after too many different lists are unreadable.
    """

    current: TextFormat = _NOTHING
    known: dict[bytes, TextFormat] = field(default_factory=dict)

    def segments(self, data: bytes) -> Iterator[tuple[LineFormat, bytes]]:
        """Yield the parts of a block, each with its format; lines before any are unreadable.

        Parts with equal lists of fields have the same format.
        """
        start = 0
        for match in _FIELDS.finditer(data):
            if match.start() > start:
                yield self.current, data[start : match.start()]
            self.current = self._format_of(match[1])
            start = match.end() + 1
        if start < len(data):
            yield self.current, data[start:]

    def _format_of(self, names: bytes) -> TextFormat:
        found = self.known.get(names)
        if found is None and len(self.known) < _MAX_LISTS:
            found = self.known[names] = _w3c_format(names)
        return found or _NOTHING


def has_field_list(data: bytes) -> bool:
    """Return whether a W3C log names its fields."""
    return _FIELDS.search(data) is not None


def _w3c_format(names: bytes) -> TextFormat:
    fields = names.decode("latin-1").split(maxsplit=_MAX_FIELDS)
    if len(fields) > _MAX_FIELDS:
        return _NOTHING
    try:
        return TextFormat(from_w3c(fields))
    except FormatError:
        return _NOTHING


def _extract(path: str) -> str:
    return f"json_extract_string(text, '{path}')"


@dataclass(frozen=True, slots=True)
class Format:
    """An entry of the table of formats.

    Attributes:
        name: Its name.
        source: The page that describes it.
        lines: How its lines are read; None: a W3C log.
        advice: How to log the User-Agent, if the server does not by default.
    """

    name: str
    source: str
    lines: TextFormat | JsonFormat | Enveloped | Envelope | None = field(default=None)
    advice: str = ""


LineFormat: TypeAlias = TextFormat | JsonFormat | Enveloped


def reader_of(found: Format) -> LineFormat | W3cFormat:
    """Return what reads the lines of a file in a format.

    Raises:
        FormatError: it is an envelope: what is inside is not known.
    """
    if isinstance(found.lines, Envelope):
        raise FormatError(f"the format of the lines inside of {found.name} is unknown")
    return found.lines or W3cFormat()

"""Findings, and what they are found in."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from .._charsets import marked_charset
from ..analysis import Budget, WholeFile, likely_urls
from ..dialects import GOOGLE, RFC9309
from ..model import RULES, SPACE, Directive, LineKind
from ..robots import file_of, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..dialects import Dialect
    from ..model import Line, Rule
    from ..robots import RobotsTxt, Rules

_HTML = re.compile(rb"<(?:!doctype|html|head|body|meta|script|div|title|\?xml)", re.IGNORECASE)
#: gzip, Zstandard, ZIP, PDF, PNG, GIF, JPEG, ELF.
_MAGIC = (
    *(b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"%PDF-"),
    *(b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"\x7fELF"),
)
_LINE_ENDS = re.compile(rb"\r\n|\n|\r")


def is_page(body: bytes) -> bool:
    """Tell whether bytes are a page of HTML."""
    return _HTML.match(body.lstrip(b"\xef\xbb\xbf \t\r\n\v\f")[:16]) is not None


def wide_charset(body: bytes) -> str | None:
    """Return which charset of two or four bytes a character a file is in, or None."""
    marked = marked_charset(body)
    if marked:
        return marked.upper()
    begin = body[:200]
    # Of ASCII's characters one half, or three quarters, is zero.
    halves = sorted(begin[start::2].count(0) for start in (0, 1))
    is_wide = len(begin) > 3 and halves[1] * 5 >= len(begin) * 2 and halves[0] * 3 <= len(begin)
    return "UTF-16 or UTF-32" if is_wide else None


def is_binary(body: bytes) -> bool:
    """Tell whether bytes are no text at all: compressed, a picture, a program."""
    begin = body[:200]
    return body.startswith(_MAGIC) or (
        begin.count(0) * 10 >= len(begin) > 0 and not wide_charset(body)
    )


class Severity(enum.StrEnum):
    """How bad a finding is. Notes are remarks: a file that has no others is clean."""

    ERROR = "error"
    """Something that was meant does not hold."""
    WARNING = "warning"
    """Something probably does not do what was meant, or not everywhere."""
    NOTE = "note"


class Family(enum.StrEnum):
    """What a finding is about; the first letter of its code."""

    BYTES = "bytes and encoding"
    LINES = "lines and keys"
    GROUPS = "groups"
    PATTERNS = "patterns"
    SEMANTICS = "semantics"
    SITEMAPS = "sitemaps"
    EXTENSIONS = "preferences and extensions"
    LIMITS = "limits"
    PORTABILITY = "portability"


@dataclass(frozen=True, slots=True)
class Edit:
    """Bytes of the file that are to be others: ``start`` to ``end``, counted from 0."""

    start: int
    end: int
    replacement: bytes


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a file's author should know.

    Lines and columns count from 1; columns count characters, ``end_column`` is behind the last.
    ``suggestion`` says what to do, ``edits`` do it; ``url`` proves it where that can be.
    """

    code: str
    severity: Severity
    line: int
    column: int
    end_column: int
    message: str
    suggestion: str = ""
    edits: tuple[Edit, ...] = ()
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """A thing to be found: one entry of the table.

    ``title`` says in a sentence what is wrong, ``why`` what comes of it and what to do, ``source``
    where that stands. ``find`` goes through what it finds, as `Remark`.
    """

    code: str
    name: str
    severity: Severity
    title: str
    why: str
    source: str
    find: Callable[[Subject], Iterable[Remark]]

    @property
    def family(self) -> Family:
        """What it is about."""
        return FAMILIES[self.code[0]]


#: The letter that the codes of a family begin with.
FAMILIES = {
    "B": Family.BYTES,
    "L": Family.LINES,
    "G": Family.GROUPS,
    "P": Family.PATTERNS,
    "S": Family.SEMANTICS,
    "M": Family.SITEMAPS,
    "E": Family.EXTENSIONS,
    "Z": Family.LIMITS,
    "D": Family.PORTABILITY,
}


@dataclass(frozen=True, slots=True)
class Remark:
    """What a check finds, before it has a code: a place and a sentence."""

    line: int
    start: int
    end: int
    message: str
    suggestion: str = ""
    edits: tuple[Edit, ...] = ()
    url: str | None = None


@dataclass(slots=True)
class GroupLines:
    """The lines of a group: its agents, then all the others."""

    agents: list[Line]
    others: list[Line] = field(default_factory=list)

    @property
    def rules(self) -> list[Line]:
        """Its Allow and Disallow lines."""
        return [line for line in self.others if line.directive in RULES]


#: Rule sets that are looked at: no file that anyone means has as many.
_MOST_SETS = 2_000


class Subject:
    """A file that is looked at, and what several checks want to know of it.

    ``is_cut``: the file is longer than what was fetched of it; ``charset``: that was in another one
    than UTF-8. ``dialects`` are those that are compared with the file's own.
    """

    def __init__(
        self,
        body: bytes,
        dialect: Dialect = RFC9309,
        *,
        dialects: tuple[Dialect, ...] = (),
        is_cut: bool = False,
        charset: str | None = None,
    ) -> None:
        self.robots: RobotsTxt = parse(body, dialect)
        self.body = body
        self.dialects = dialects
        self.is_cut = is_cut
        self.charset = charset
        self.budget = Budget(states=500, total=6_000, compared=100_000)
        #: What only remarks come of may not use up what errors need.
        self.idle_budget = Budget(states=200, total=3_000, compared=50_000)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """All lines."""
        return self.robots.lines

    @cached_property
    def is_text(self) -> bool:
        """Whether the file is one that robots can read: no page, no UTF-16, no picture."""
        return not (is_page(self.body) or wide_charset(self.body) or is_binary(self.body))

    @cached_property
    def said(self) -> list[Line]:
        """The lines that have a known key."""
        return [line for line in self.lines if line.directive is not None]

    @cached_property
    def only_for_google(self) -> dict[int, Directive]:
        """What Google's parser reads in lines whose key is unknown, by the number of the line."""
        found = {}
        read_as: dict[str, Directive | None] = {}
        for line in self.lines:
            if line.kind is LineKind.UNKNOWN:
                if line.key not in read_as:
                    read_as[line.key] = parse(f"{line.key}: x", GOOGLE).lines[0].directive
                read = read_as[line.key]
                if read is not None:
                    found[line.number] = read
        return found

    @cached_property
    def starts(self) -> list[int]:
        """Where each line begins, in bytes."""
        return [0, *[match.end() for match in _LINE_ENDS.finditer(self.robots.body)]]

    def of(self, *directives: Directive) -> Iterator[Line]:
        """Go through the lines of some directives."""
        return (line for line in self.said if line.directive in directives)

    @cached_property
    def rules(self) -> list[Line]:
        """The Allow and Disallow lines."""
        return list(self.of(*RULES))

    @cached_property
    def grouped(self) -> tuple[list[Line], list[GroupLines]]:
        """The directives outside any group, and the groups."""
        outside, inside = file_of(self.robots).lines_by_group()
        return self._directives(outside), [
            GroupLines(
                [line for line in lines if line.directive is Directive.USER_AGENT],
                [line for line in lines if line.directive is not Directive.USER_AGENT],
            )
            for lines in map(self._directives, inside)
        ]

    def _directives(self, numbers: Iterable[int]) -> list[Line]:
        lines = (self.lines[number - 1] for number in numbers)
        return [line for line in lines if line.directive is not None]

    @property
    def groups(self) -> list[GroupLines]:
        """The groups."""
        return self.grouped[1]

    def share_a_group(self, line: int, other: int) -> bool:
        """Tell whether two lines stand in the same group."""
        return any({line, other} <= {each.number for each in group.others} for group in self.groups)

    @cached_property
    def all_sets(self) -> WholeFile:
        """What all rule sets of the file come to."""
        return WholeFile(self.robots, self.dialects, self.budget, self.idle_budget, _MOST_SETS)

    @property
    def sets(self) -> list[tuple[str, Rules]]:
        """The rule sets that robots may have, each with a robot that has it; everybody's first."""
        return self.all_sets.sets

    @cached_property
    def likely(self) -> dict[int, str]:
        """For the line of each rule for everybody a URL that it decides."""
        return likely_urls(self.robots.rules_for("*"))

    def value(
        self,
        line: Line,
        message: str,
        suggestion: str = "",
        edits: tuple[Edit, ...] = (),
        url: str | None = None,
    ) -> Remark:
        """Remark on the value of a line, or on all of it if it has none."""
        start = self.value_at(line)
        size = len(line.value) or len(line.text.rstrip()) - start
        return Remark(line.number, start, start + size, message, suggestion, edits, url)

    def part(
        self,
        line: Line,
        at: int,
        size: int,
        message: str,
        suggestion: str = "",
        edits: tuple[Edit, ...] = (),
        url: str | None = None,
    ) -> Remark:
        """Remark on a part of a line, by characters from its start."""
        return Remark(line.number, at, at + size, message, suggestion, edits, url)

    def key(
        self,
        line: Line,
        message: str,
        suggestion: str = "",
        edits: tuple[Edit, ...] = (),
        url: str | None = None,
    ) -> Remark:
        """Remark on the key of a line."""
        at = max(line.text.find(line.key), 0)
        return self.part(line, at, len(line.key), message, suggestion, edits, url)

    def whole(
        self,
        line: Line,
        message: str,
        suggestion: str = "",
        edits: tuple[Edit, ...] = (),
        url: str | None = None,
    ) -> Remark:
        """Remark on a line."""
        text = line.text.strip()
        at = line.text.find(text)
        return self.part(line, at, len(text), message, suggestion, edits, url)

    def rule(
        self,
        rule: Rule,
        message: str,
        suggestion: str = "",
        edits: tuple[Edit, ...] = (),
        url: str | None = None,
    ) -> Remark:
        """Remark on the value of a rule's line."""
        return self.value(self.lines[rule.line - 1], message, suggestion, edits, url)

    def file(
        self,
        message: str,
        suggestion: str = "",
        edits: tuple[Edit, ...] = (),
        url: str | None = None,
    ) -> Remark:
        """Remark on the file."""
        return Remark(1, 0, 0, message, suggestion, edits, url)

    def comment_at(self, line: Line) -> int:
        """Return the characters before the # of a line's comment, or -1: dialects differ on it."""
        at = line.text.find("#") if line.comment is not None else -1
        while at >= 0 and line.text[at + 1 :].strip(SPACE) != line.comment:
            at = line.text.find("#", at + 1)
        return at

    def value_at(self, line: Line) -> int:
        """Return the characters before the value of a line."""
        raw = line.text.encode("utf-8", "surrogateescape")[: line.column - 1]
        return len(raw.decode("utf-8", "surrogateescape"))

    def edit(self, line: Line, at: int, size: int, text: str) -> Edit:
        """Return the edit that replaces characters of a line."""
        start = self.starts[line.number - 1]
        before = len(line.text[:at].encode("utf-8", "surrogateescape"))
        gone = len(line.text[at : at + size].encode("utf-8", "surrogateescape"))
        return Edit(start + before, start + before + gone, text.encode("utf-8", "surrogateescape"))

    def edit_value(self, line: Line, text: str) -> Edit:
        """Return the edit that gives a line another value."""
        return self.edit(line, self.value_at(line), len(line.value), text)

    def edit_away(self, line: Line) -> Edit:
        """Return the edit that removes a line."""
        start = self.starts[line.number - 1]
        is_last = line.number >= len(self.starts)
        end = len(self.robots.body) if is_last else self.starts[line.number]
        return Edit(start, end, b"")


def shortened(text: str) -> str:
    """Return a value of a file as a message shows it."""
    return text if len(text) <= 60 else text[:59] + "…"


def remark_count(count: int, what: str) -> str:
    """Return a number of things in words.

    >>> remark_count(2, "rule")
    '2 rules'
    """
    return f"{count:,} {what}{'s' * (count != 1)}"

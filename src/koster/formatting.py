"""Layout: a robots.txt written plainly, or as shortly as can be; that it says the same is proved.

`formatted` keeps every line that says something and every comment: keys in their usual spelling,
one space behind the colon, one blank line between groups, LF, no byte order mark. `minified` drops
comments, lines that say nothing, and rules without which every robot may fetch what it might
before.

Both take UTF-8. Where a file has text but not one line that can be read, such as one in UTF-16, a
page or a picture, they raise, because nothing could be proved of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ._charsets import MAX_BYTES, as_utf8, marked_charset
from .analysis import Budget, redundant_rules, rule_sets
from .dialects import GOOGLE, RFC9309
from .diff import MOST_ASKED, compare
from .model import RULES, SPACE, Directive, LineKind
from .robots import parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .dialects import Dialect
    from .model import Line
    from .robots import RobotsTxt

_BOM = "\ufeff"


class NotTheSame(Exception):  # noqa: N818 - it is no error of the caller's
    """What was written is not proved to say what was read."""


def is_readable(body: bytes, dialects: Iterable[Dialect] = (RFC9309, GOOGLE)) -> bool:
    """Tell whether some dialect reads a line of a file, or it has only comments and blank lines."""
    return _is_readable([parse(body, dialect) for dialect in dialects])


def _is_readable(readings: list[RobotsTxt]) -> bool:
    # To make all lines takes long: most files have groups.
    if any(robots.groups for robots in readings):
        return True
    lines = [line for robots in readings for line in robots.lines]
    return any(line.directive is not None for line in lines) or all(
        line.kind in (LineKind.BLANK, LineKind.COMMENT) for line in lines
    )


def formatted(body: bytes, dialects: Iterable[Dialect] = (RFC9309, GOOGLE)) -> bytes:
    """Return a file in its usual layout; every robot may fetch what it might before.

    Raises:
        NotTheSame: that is not proved for one of the dialects.
    """
    readings = _readings(body, dialects)
    lines = parse(body).lines
    out: list[str] = []
    in_rules = False
    for number, line in enumerate(lines):
        if line.directive is Directive.USER_AGENT and in_rules:
            _part(out, lines, number)
            in_rules = False
        in_rules = in_rules or line.directive in RULES
        text = _written(line)
        if text or (out and out[-1]):
            out.append(text)
    while out and not out[-1]:
        out.pop()
    return _proved(readings, out)


def _readings(body: bytes, dialects: Iterable[Dialect]) -> list[RobotsTxt]:
    """Return a file as the dialects read it.

    Raises:
        NotTheSame: none of them reads a line of it, or it is not in UTF-8.
    """
    if marked_charset(body):
        raise NotTheSame("the file is not in UTF-8")
    readings = [parse(body, dialect) for dialect in dialects]
    if not _is_readable(readings):
        raise NotTheSame("no line of the file can be read as robots.txt")
    return readings


def check_first_part(before: bytes, after: bytes, dialects: Iterable[Dialect]) -> None:
    """Check that a file says the same to clients, which read the first 500 KiB of it.

    ``before`` may have a byte order mark of UTF-16 or UTF-32. What `formatted` and `minified` prove
    is about the whole file.

    Raises:
        NotTheSame: it does not, or that is not proved for one of the dialects.
    """
    if max(len(before), len(after)) <= MAX_BYTES:
        return
    parts = [as_utf8(body, None, is_whole=True)[0] for body in (before, after)]
    for dialect in dialects:
        old, new = (parse(part, dialect) for part in parts)
        if not compare(old, new, budget=Budget()).is_empty:
            raise NotTheSame("crawlers read the first 500 KiB, and would find other rules there")


def _part(out: list[str], lines: tuple[Line, ...], number: int) -> None:
    """Put a blank line before the comments that stand directly above a group."""
    at = len(out)
    while at and number and lines[number - 1].kind is LineKind.COMMENT:
        at -= 1
        number -= 1
    if at and out[at - 1]:
        out.insert(at, "")


def _written(line: Line) -> str:
    """Return a line as it is usually written."""
    comment = "" if line.comment is None else f"# {line.comment}".rstrip(SPACE)
    if line.directive is None:
        return _text_of(line)
    return "  ".join(filter(None, (f"{line.directive}: {line.value}".rstrip(SPACE), comment)))


def _text_of(line: Line) -> str:
    """Return a line as it stands, without a byte order mark, which only the first has."""
    text = line.text.removeprefix(_BOM) if line.number == 1 else line.text
    return text.strip(SPACE)


def minified(body: bytes, dialects: Iterable[Dialect] = (RFC9309, GOOGLE)) -> bytes:
    """Return a file without what can be left out; every robot may fetch what it might before.

    Raises:
        NotTheSame: that is not proved for one of the dialects.
    """
    readings = _readings(body, dialects)
    groups = _Groups()
    gone = _redundant(readings)
    drops_empty = not any(robots.dialect.reading.empty_rules for robots in readings)
    for line, *others in zip(*(robots.lines for robots in (parse(body), *readings)), strict=True):
        if line.directive is None:
            if any(each.directive for each in others):
                groups.add_line(_text_of(line), is_rule=False)
        elif line.directive is Directive.USER_AGENT:
            groups.add_agent(line.value)
        elif line.directive in RULES and (line.number in gone or (drops_empty and not line.value)):
            groups.close()
        else:
            text = f"{line.directive}: {line.value}".rstrip(SPACE)
            groups.add_line(text, is_rule=line.directive in RULES)
    try:
        return _proved(readings, groups.written(without_empty=True))
    except NotTheSame:
        # To some dialects a group without rules says more than none.
        return _proved(readings, groups.written(without_empty=False))


def _redundant(readings: list[RobotsTxt]) -> set[int]:
    """Return the lines of rules that no dialect needs."""
    sets = [rules for robots in readings for _, rules in rule_sets(robots, MOST_ASKED)]
    return {rule.line for rule in redundant_rules(*sets, budget=Budget(2_000, 50_000))}


@dataclass(slots=True)
class _Group:
    """A group that is written shortly: its names, and all its lines in their order."""

    names: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    has_rules: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether it has no lines but names."""
        return len(self.lines) == len(self.names)


class _Groups:
    """A file that is written shortly."""

    def __init__(self) -> None:
        self._before: list[str] = []
        self._groups: list[_Group] = []
        self._is_open = False

    def add_agent(self, name: str) -> None:
        """Add a name to the group that is open, or to a new one."""
        if not self._is_open:
            self._groups.append(_Group())
        self._is_open = True
        self._groups[-1].names.append(name.lower())
        self._groups[-1].lines.append(f"{Directive.USER_AGENT}: {name}".rstrip(SPACE))

    def close(self) -> None:
        """Let the next name open a group."""
        self._is_open = False

    def add_line(self, text: str, *, is_rule: bool) -> None:
        """Add a line that stays."""
        if not self._groups:
            self._before.append(text)
            return
        self._groups[-1].lines.append(text)
        if is_rule:
            self._groups[-1].has_rules = True
            self.close()

    def written(self, *, without_empty: bool) -> list[str]:
        """Return the lines; groups without rules get one that says nothing, or go if they may."""
        # Everybody may do what no group forbids; who has another group needs none that is empty.
        full = (each for each in self._groups if not each.is_empty)
        needless = {"*", *(name for each in full for name in each.names)}
        left = [
            each
            for each in self._groups
            if not (without_empty and each.is_empty and needless.issuperset(each.names))
        ]
        out = list(self._before)
        for group in left:
            out += group.lines
            if not group.has_rules and group is not left[-1]:
                out.append("Disallow:")
        return out


def _proved(readings: list[RobotsTxt], out: list[str]) -> bytes:
    """Return lines as a file, if that is proved to say the same.

    Raises:
        NotTheSame: it is not.
    """
    after = "".join(f"{line}\n" for line in out).encode("utf-8", "surrogateescape")
    if marked_charset(after):
        # Bytes that were somewhere in the file would be a byte order mark at its start.
        raise NotTheSame("the file written so would be read in another charset")
    for robots in readings:
        if not compare(robots, parse(after, robots.dialect), budget=Budget()).is_empty:
            told = f"the file written so is not proved to say the same to {robots.dialect}"
            raise NotTheSame(told)
    return after

"""Format or minify a robots.txt, with a proof that it stays equivalent.

`formatted` keeps all directives and comments, and normalizes their layout: usual spelling, one
space after the colon, one blank line between groups, LF, no byte order mark. `minified` drops
comments, lines without effect, and redundant rules.

Both take UTF-8. They raise if no line of the file can be read, such as for UTF-16, HTML or an
image, because nothing could be proved. Crawlers read only the first 500 KiB of a file: that part
stays equivalent as well. If the file itself is in UTF-16 or UTF-32, pass it as ``on_disk``.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TypeVar

from ._asking import file_of
from ._charsets import MAX_BYTES, bom_charset, complete_lines
from ._contents import has_readable_line
from ._lazy import cached_property
from .analysis import (
    Budget,
    Limit,
    count_different,
    count_rules,
    names_in,
    redundant_rules,
    rule_sets,
)
from .dialects import GOOGLE, RFC9309, Dialect, RobotsTxtPath
from .diff import MAX_AGENTS, compare
from .model import RULES, SPACE, Directive, Line, LineKind
from .robots import RobotsTxt, Rules, parse

T = TypeVar("T")

_BOM = "\ufeff"
#: For many lines, faster than the property ``value``.
_NAME_OF = {directive.code: directive.value for directive in Directive}

#: The limit of rules in all rule sets of a dialect, see `Limit`: seconds of work, and far more than
#: in any real file.
_MAX_RULES = 40_000
#: So many repeated rules count as one.
_REPEATED_PER_RULE = 5
#: In so many different rules, redundant ones are found at once.
_FEW_RULES = 200
#: Steps to find redundant rules, and for all proofs: seconds of work.
_MAX_STEPS = 2_000_000


class NotTheSame(Exception):  # noqa: N818 - not an error of the caller
    """The new file is not proved to be equivalent."""


def formatted(
    body: bytes, dialects: Iterable[Dialect] = (RFC9309, GOOGLE), on_disk: bytes | None = None
) -> bytes:
    """Return a file with normalized layout, proved to be equivalent.

    Raises:
        NotTheSame: not proved for one of the dialects.
    """
    readings = _readings(body, dialects)
    lines = _usual_reading(readings).lines
    out: list[str] = []
    in_rules = False
    for number, line in enumerate(lines):
        if line.directive is Directive.USER_AGENT and in_rules:
            _separate_group(out, lines, number)
            in_rules = False
        in_rules = in_rules or line.directive in RULES
        text = _format_line(line) if line.text else ""
        if text or (out and out[-1]):
            out.append(text)
    while out and not out[-1]:
        out.pop()
    return _Proof(on_disk or body, readings).verify(_joined(out))


def _readings(body: bytes, dialects: Iterable[Dialect]) -> list[RobotsTxt]:
    """Return a file parsed in each dialect.

    Raises:
        NotTheSame: no dialect reads a line of it, it is not in UTF-8, or names too many agents.
    """
    if bom_charset(body):
        raise NotTheSame("the file is not in UTF-8")
    readings = [parse(body, dialect) for dialect in dialects]
    if not has_readable_line(readings):
        raise NotTheSame("no line of the file can be read as robots.txt")
    if len(names_in(*readings)) > MAX_AGENTS:
        raise NotTheSame(f"the file names more than {MAX_AGENTS:,} user agents")
    return readings


def _usual_reading(readings: list[RobotsTxt]) -> RobotsTxt:
    """Return the file parsed in the usual dialect."""
    found = next((robots for robots in readings if robots.dialect == RFC9309), None)
    return found or parse(readings[0].body)


def _separate_group(out: list[str], lines: tuple[Line, ...], number: int) -> None:
    """Insert a blank line before the comments directly above a group."""
    at = len(out)
    while at and number and lines[number - 1].kind is LineKind.COMMENT:
        at -= 1
        number -= 1
    if at and out[at - 1]:
        out.insert(at, "")


def _format_line(line: Line) -> str:
    comment = "" if line.comment is None else f"# {line.comment}".rstrip(SPACE)
    if line.directive is None:
        return _stripped_text(line)
    text = f"{_NAME_OF[line.directive.code]}: {line.value}".rstrip(SPACE)
    return "  ".join(filter(None, (text, comment)))


def _stripped_text(line: Line) -> str:
    text = line.text.removeprefix(_BOM) if line.number == 1 else line.text
    return text.strip(SPACE)


def minified(
    body: bytes, dialects: Iterable[Dialect] = (RFC9309, GOOGLE), on_disk: bytes | None = None
) -> bytes:
    """Return a file without comments and redundant lines, proved to be equivalent.

    Raises:
        NotTheSame: not proved for one of the dialects.
    """
    readings = _readings(body, dialects)
    proof = _Proof(on_disk or body, readings)
    if proof.is_of_large_file:
        _verify_beginning(readings, proof)
    redundant = _redundant_lines(_all_sets(readings))
    return _verify_either(proof.verify, _groups_without(readings, redundant))


def _verify_beginning(readings: list[RobotsTxt], proof: _Proof) -> None:
    """Check a large file without the rules that are redundant in its first 500 KiB.

    Without them, later rules move into the part that crawlers read, so most large files fail. It
    is checked first because the search for all redundant rules takes long; in a few cases that
    search would have led to a proof.

    Raises:
        NotTheSame: the first part is not proved to be equivalent.
    """
    sets = _all_sets(proof.first_part)
    if sum(map(count_different, sets)) <= _FEW_RULES:
        return
    redundant = _redundant_lines(sets)
    size = 2 * MAX_BYTES
    beginning = [parse(robots.body[:size], robots.dialect) for robots in readings]
    groups = _groups_without(beginning, redundant)
    is_whole = len(readings[0].body) <= size
    if is_whole or len(_joined(groups.lines(without_empty=True))) > MAX_BYTES:
        _verify_either(proof.verify_first_part, groups)


def _verify_either(verify: Callable[[bytes], T], groups: _Groups) -> T:
    """Verify groups without empty ones; with them if that fails.

    Raises:
        NotTheSame: both failed.
    """
    out = groups.lines(without_empty=True)
    try:
        return verify(_joined(out))
    except NotTheSame:
        # In some dialects an empty group has an effect.
        whole = groups.lines(without_empty=False)
        if whole == out:
            raise
        return verify(_joined(whole))


def _groups_without(readings: list[RobotsTxt], redundant: AbstractSet[int]) -> _Groups:
    """Return the groups of a file without comments and some redundant lines."""
    groups = _Groups()
    drops_empty = not any(robots.dialect.reading.empty_rules for robots in readings)
    usual = _usual_reading(readings)
    lines = usual.lines
    unknown = {line.number for line in lines if line.directive is None and line.text}
    others = (file_of(each).directives_of(unknown) for each in readings if each is not usual)
    read_by_others = set().union(*others)
    for line in lines:
        if line.directive is None:
            if line.number in read_by_others:
                groups.add_line(_stripped_text(line), is_rule=False)
        elif line.directive is Directive.USER_AGENT:
            groups.add_agent(line.value)
        elif line.directive in RULES and (
            line.number in redundant or (drops_empty and not line.value)
        ):
            groups.close()
        else:
            text = f"{_NAME_OF[line.directive.code]}: {line.value}".rstrip(SPACE)
            groups.add_line(text, is_rule=line.directive in RULES)
    return groups


def _all_sets(readings: list[RobotsTxt]) -> list[Rules]:
    """Return each rule set in each dialect.

    Raises:
        NotTheSame: there are too many rules to tell which are redundant.
    """
    found = [rules for robots in readings for _, rules in rule_sets(robots, MAX_AGENTS)]
    limits = {robots.dialect: Limit(_MAX_RULES) for robots in readings}
    for rules in found:
        different = count_different(rules)
        repeated = count_rules(rules) - different
        if not limits[rules.dialect].allows(different + max(0, repeated) // _REPEATED_PER_RULE):
            raise NotTheSame("its user agents have too many rules together")
    return found


def _redundant_lines(sets: list[Rules]) -> set[int]:
    """Return the lines of rules that are redundant; those not proved within the budget stay."""
    return {rule.line for rule in redundant_rules(*sets, budget=Budget(_MAX_STEPS))}


@dataclass(slots=True)
class _Group:
    """A group of the minified file: its names, and all its lines."""

    names: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    has_rules: bool = False

    @property
    def is_empty(self) -> bool:
        return len(self.lines) == len(self.names)


class _Groups:
    def __init__(self) -> None:
        self._before: list[str] = []
        self._groups: list[_Group] = []
        self._is_open = False

    def add_agent(self, name: str) -> None:
        """Add a name to the open group, or to a new one."""
        if not self._is_open:
            self._groups.append(_Group())
        self._is_open = True
        self._groups[-1].names.append(name.lower())
        self._groups[-1].lines.append(f"{Directive.USER_AGENT}: {name}".rstrip(SPACE))

    def close(self) -> None:
        """Close the open group: the next name starts a new one."""
        self._is_open = False

    def add_line(self, text: str, *, is_rule: bool) -> None:
        if not self._groups:
            self._before.append(text)
            return
        self._groups[-1].lines.append(text)
        if is_rule:
            self._groups[-1].has_rules = True
            self.close()

    def lines(self, *, without_empty: bool) -> list[str]:
        """Return all lines; groups without rules get an empty rule, or are dropped if redundant."""
        # An empty group is redundant for * and for agents that have another group.
        full = (each for each in self._groups if not each.is_empty)
        redundant_names = {"*", *(name for each in full for name in each.names)}
        remaining = [
            each
            for each in self._groups
            if not (without_empty and each.is_empty and redundant_names.issuperset(each.names))
        ]
        out = list(self._before)
        for group in remaining:
            out += group.lines
            if not group.has_rules and group is not remaining[-1]:
                out.append("Disallow:")
        return out


class _Proof:
    """Proves that a new file is equivalent to a file, which crawlers receive as ``on_disk``."""

    def __init__(self, on_disk: bytes, readings: list[RobotsTxt]) -> None:
        self._on_disk = on_disk
        self._readings = readings
        #: All dialects and all attempts share it.
        self._budget = Budget(_MAX_STEPS)

    @property
    def is_of_large_file(self) -> bool:
        """Whether crawlers read only a part of the file."""
        return len(self._on_disk) > MAX_BYTES

    @cached_property
    def first_part(self) -> list[RobotsTxt]:
        """What crawlers read, in each dialect."""
        return _first_part(self._on_disk, self._readings)

    def verify(self, after: bytes) -> bytes:
        """Return a new file, if it is proved to be equivalent.

        Raises:
            NotTheSame: it is not.
        """
        self.verify_first_part(after)
        # A proof for dialects without exceptions also holds for those with them.
        for robots in sorted(self._readings, key=_has_exceptions):
            new = parse(after, robots.dialect)
            if not compare(robots, new, budget=self._budget).is_empty:
                message = f"the new file is not proved to be equivalent in {robots.dialect}"
                raise NotTheSame(message)
        return after

    def verify_first_part(self, after: bytes) -> None:
        """Check that the new file is equivalent for crawlers that read only the first 500 KiB.

        Raises:
            NotTheSame: it is not proved.
        """
        if max(len(self._on_disk), len(after)) <= MAX_BYTES:
            return
        for old, new in zip(self.first_part, _first_part(after, self._readings), strict=True):
            if not compare(old, new, budget=self._budget).is_empty:
                raise NotTheSame("the first 500 KiB, which crawlers read, would have other rules")


def _has_exceptions(robots: RobotsTxt) -> bool:
    return robots.dialect.reading.robots_txt != RobotsTxtPath.NOT_SPECIAL


def _first_part(body: bytes, readings: list[RobotsTxt]) -> list[RobotsTxt]:
    """Return what crawlers read of a file, in some dialects."""
    part = complete_lines(body, limit=MAX_BYTES)
    return [parse(part, robots.dialect) for robots in readings]


def _joined(out: list[str]) -> bytes:
    """Return lines as a file.

    Raises:
        NotTheSame: it would be read in another charset.
    """
    after = "".join(f"{line}\n" for line in out).encode("utf-8", "surrogateescape")
    # A line that begins with the bytes of a byte order mark may now be the first one.
    if bom_charset(after):
        raise NotTheSame("the new file would be read in another charset")
    if after.startswith(codecs.BOM_UTF8):
        raise NotTheSame("the new file would begin with a byte order mark")
    return after

"""Layout: a robots.txt written plainly, or as shortly as can be; that it says the same is proved.

`formatted` keeps every line that says something and every comment: keys in their usual spelling,
one space behind the colon, one blank line between groups, LF, no byte order mark. `minified` drops
comments, lines that say nothing, and rules without which every robot may fetch what it might
before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .analysis import Budget, redundant_rules
from .dialects import RFC9309
from .diff import compare, rule_sets
from .model import RULES, Directive, LineKind
from .robots import parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .dialects import Dialect
    from .model import Line
    from .robots import RobotsTxt

_BOM = "\ufeff"
_SPACE = " \t\n\r\v\f"


class NotTheSame(Exception):  # noqa: N818 - it is no error of the caller's
    """What was written is not proved to say what was read."""


def formatted(body: bytes, dialects: Iterable[Dialect] = (RFC9309,)) -> bytes:
    """Return a file in its usual layout; every robot may fetch what it might before.

    Raises:
        NotTheSame: that is not proved for one of the dialects.
    """
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
    return _proved(body, out, dialects)


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
    comment = "" if line.comment is None else f"# {line.comment}".rstrip(_SPACE)
    if line.kind is LineKind.COMMENT:
        return line.text.removeprefix(_BOM).strip(_SPACE)
    if line.directive is None:
        return line.text.removeprefix(_BOM).strip(_SPACE)
    return "  ".join(filter(None, (f"{line.directive}: {line.value}".rstrip(_SPACE), comment)))


def minified(body: bytes, dialects: Iterable[Dialect] = (RFC9309,)) -> bytes:
    """Return a file without what can be left out; every robot may fetch what it might before.

    Raises:
        NotTheSame: that is not proved for one of the dialects.
    """
    robots = parse(body)
    sets = [rules for _, rules in rule_sets(robots)]
    gone = {rule.line for rule in redundant_rules(*sets, budget=Budget(2_000, 50_000))}
    gone |= _empty_rules(robots)
    out: list[str] = []
    is_open = False
    for line in robots.lines:
        if line.directive is None:
            continue
        if line.directive is Directive.USER_AGENT:
            if not is_open and out and _is_needed_before(out):
                out.append("Disallow:")
            is_open = True
        elif line.directive in RULES:
            is_open = False
            if line.number in gone:
                continue
        out.append(f"{line.directive}: {line.value}".rstrip(_SPACE))
    return _proved(body, out, dialects)


def _is_needed_before(out: list[str]) -> bool:
    """Tell whether a rule must close the agents that were written last."""
    for text in reversed(out):
        if text.startswith(("Allow:", "Disallow:")):
            return False
        if text.startswith("User-agent:"):
            return True
    return False


def _empty_rules(robots: RobotsTxt) -> set[int]:
    return {line.number for line in robots.lines if line.directive in RULES and not line.value}


def _proved(body: bytes, out: list[str], dialects: Iterable[Dialect]) -> bytes:
    """Return lines as a file, if that is proved to say the same.

    Raises:
        NotTheSame: it is not.
    """
    after = "".join(f"{line}\n" for line in out).encode("utf-8", "surrogateescape")
    for dialect in dialects:
        comparison = compare(parse(body, dialect), parse(after, dialect), budget=Budget())
        if not comparison.is_empty:
            raise NotTheSame(f"the file written so is not proved to say the same to {dialect}")
    return after

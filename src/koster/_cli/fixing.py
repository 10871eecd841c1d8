"""Fixes: the edits of findings put together, and what they change for crawlers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .. import lint as linting
from .._charsets import complete_lines
from .._reports import screen
from .._reports.plain import printable, shorten
from .._reports.screen import Text
from ..dialects import Dialect
from ..diff import compare
from ..lint import Finding, Fixed, Severity
from ..robots import parse
from .line_diff import unified_diff


@dataclass(frozen=True, slots=True)
class Effect:
    """What a change means for crawlers, in one line; ``is_nothing``: proved to change no access."""

    summary: str
    is_nothing: bool


def fixed(
    body: bytes,
    on_disk: bytes,
    find: Callable[[bytes], list[Finding]],
    dialects: tuple[Dialect, ...],
) -> tuple[Fixed, Effect]:
    """Return a file in which findings are fixed, and the effect on crawlers.

    Notes are fixed only if access does not change.
    """

    def find_serious(text: bytes) -> list[Finding]:
        return [finding for finding in find(text) if finding.severity is not Severity.NOTE]

    after = linting.fixes(body, find)
    effect = effect_of(on_disk, after.body, dialects)
    if not effect.is_nothing:
        after = linting.fixes(body, find_serious)
        effect = effect_of(on_disk, after.body, dialects)
    return after, effect


def print_change(name: str, before: bytes, after: Fixed) -> None:
    """Print a unified diff of two versions of a file."""
    for line in unified_diff(before, after.body, after.kept, name, f"{name} (fixed)"):
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
        screen.print_lines(Text(printable(line.expandtabs(1)), style))


def effect_of(before: bytes, after: bytes, dialects: tuple[Dialect, ...]) -> Effect:
    """Return what a change of a file means for crawlers of each dialect."""
    unproved = []
    old, new = (complete_lines(body) for body in (before, after))
    for dialect in dialects:
        comparison = compare(parse(old, dialect), parse(new, dialect))
        if comparison.decides_alike:
            continue
        urls = [found for change in comparison.changes for found in change.differences.found]
        if not urls:
            unproved.append(str(dialect))
            continue
        opened = sum(found.is_opened for found in urls)
        first = urls[0]
        verdict = "allowed" if first.is_opened else "blocked"
        agent = first.after.agent if isinstance(first.after.agent, str) else first.after.agent[0]
        example = f"{shorten(first.url)} is now {verdict} for {shorten(agent)}"
        at_least = "" if comparison.is_proved else "at least "
        counted = f"{at_least}{opened} allowed, {len(urls) - opened} blocked"
        summary = f"access changes by {dialect} ({counted}): {example}"
        return Effect(f"{summary}; koster diff -d {dialect} shows all", is_nothing=False)
    if unproved:
        summary = f"access may change: no proof by {' or '.join(unproved)}"
        return Effect(summary, is_nothing=False)
    by = " and ".join(map(str, dialects))
    return Effect(f"no access changes (proved by {by})", is_nothing=True)

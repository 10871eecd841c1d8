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
from ..lint import Finding, Fixed
from ..robots import parse
from .line_diff import unified_diff


@dataclass(frozen=True, slots=True)
class Effect:
    """What a change means for crawlers, in one line; ``changes_access``: a URL proves it."""

    summary: str
    changes_access: bool = False


def fixed(
    body: bytes,
    on_disk: bytes,
    find: Callable[[bytes], list[Finding]],
    dialects: tuple[Dialect, ...],
) -> tuple[Fixed, Effect]:
    """Return a file in which findings are fixed that can be without a change of access."""
    after = linting.fixes(body, find)
    effect = effect_of(on_disk, after.body, dialects)
    if effect.changes_access:
        # What changes nothing for RFC 9309 and Google may change something in other dialects.
        codes = {each.code for each in find(body) if each.edits}

        def only(some: set[str]) -> Callable[[bytes], list[Finding]]:
            return lambda text: [each for each in find(text) if each.code in some]

        safe = {
            code
            for code in codes
            if not effect_of(body, linting.fixes(body, only({code})).body, dialects).changes_access
        }
        after = linting.fixes(body, only(safe))
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
        return Effect(f"{summary}; koster diff -d {dialect} shows all", changes_access=True)
    if unproved:
        return Effect(f"access may change: no proof by {' or '.join(unproved)}")
    by = " and ".join(map(str, dialects))
    return Effect(f"no access changes (proved by {by})")

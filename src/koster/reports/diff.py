"""What ``koster diff`` found: the changes between two files, as text, JSON and Markdown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.text import Text

from ..analysis import EVERYBODY
from . import screen
from ._json import dumped
from .plain import markdown_code, printable, shortened
from .records import of_comparison

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..analysis import Difference
    from ..dialects import Dialect
    from ..diff import Change, Comparison, Setting
    from ..model import Decision

#: URLs that are shown for some crawlers; JSON has them all.
_SHOWN = 50
#: Crawlers of one change that are named.
_NAMED = 6


@dataclass(frozen=True, slots=True)
class Changes:
    """A comparison of two files, read in a dialect; ``names`` are those of the files."""

    comparison: Comparison
    dialect: Dialect
    names: tuple[str, str] = ("", "")


def print_json(changes: Changes) -> None:
    """Print the comparison as an object."""
    print(dumped(of_comparison(changes.comparison)))


def _merged(changes: Iterable[Change]) -> list[Change]:
    """Return changes, those as one that are the same but for the lines of their rules.

    Files often have a group for each of many robots, all with the same rule; JSON tells them apart.
    """
    found: dict[object, Change] = {}
    for change in changes:
        saying = tuple(
            (each.url, each.is_opened, _without_line(each.before), _without_line(each.after))
            for each in change.differences.found
        )
        key = saying, change.differences.is_proved, change.settings
        same = found.get(key)
        agents = change.agents if same is None else (*same.agents, *change.agents)
        found[key] = replace(same or change, agents=agents)
    return list(found.values())


def _without_line(decision: Decision) -> str:
    return str(decision.rule or decision.reason)


def _who(change: Change) -> str:
    """Return the robots of a change in words."""
    names = [name for name in change.agents if name != EVERYBODY]
    everybody = EVERYBODY in change.agents
    if everybody:
        # Who has no group of its own need not be named.
        return "Robots without a group of their own"
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _who_as_markdown(change: Change) -> str:
    """Return the robots of a change as Markdown: names are code, and no mention or link."""
    who = _who(change)
    return who if EVERYBODY in change.agents else markdown_code(who)


def _by(decision: Decision) -> str:
    """Return the line that decides, or why there is none."""
    rule = decision.rule
    return f"{rule.line}: {rule}" if rule else str(decision.reason)


def _summary(comparison: Comparison, dialect: Dialect) -> str:
    """Return what changes in a sentence, for robots that read the files in a way."""
    urls = [each for change in comparison.changes for each in change.differences.found]
    opened = sum(each.is_opened for each in urls)
    if comparison.decides_alike:
        more = "" if comparison.is_empty else "; other lines differ"
        return f"By {dialect} every robot may fetch what it might before: proved{more}."
    proof = "" if comparison.is_proved else " At least: the rest is not proved."
    pairs = f"{opened} opened, {len(urls) - opened} closed"
    return f"By {dialect} robots may fetch other URLs: {pairs} (pairs of lines that decide).{proof}"


def print_text(changes: Changes) -> None:
    """Print what changes for whom, then a summary."""
    comparison = changes.comparison
    for change in _merged(comparison.changes):
        screen.print_lines(Text(printable(_who(change)), "bold"))
        found = change.differences.found
        if found:
            screen.print_table(["", "URL", "Before", "After"], map(_row, found[:_SHOWN]))
        if len(found) > _SHOWN:
            more = f"and {len(found) - _SHOWN} more: --format json has all"
            screen.print_lines(Text(more, "dim"))
        if not change.differences.is_proved:
            screen.print_lines(Text("not proved: there may be more", "yellow"))
        _print_settings(change.settings)
        print()
    if comparison.settings:
        screen.print_lines(Text("The whole site", "bold"))
        _print_settings(comparison.settings)
        print()
    screen.print_lines(Text(_summary(comparison, changes.dialect)))


def _row(each: Difference) -> list[Text]:
    verdict = Text("opened", "green") if each.is_opened else Text("closed", "bold red")
    cells = (each.url, _by(each.before), _by(each.after))
    return [verdict, *(Text(shortened(cell)) for cell in cells)]


def _print_settings(settings: tuple[Setting, ...]) -> None:
    for setting in settings:
        for sign, style, value in _changed(setting):
            text = shortened(f"{sign} {setting.name}: {value}")
            screen.print_lines(Text(text, style))


def _changed(setting: Setting) -> Iterator[tuple[str, str, str]]:
    """Go through the values that went and came."""
    before, after = set(setting.before), set(setting.after)
    for value in setting.before:
        if value not in after:
            yield "-", "red", value
    for value in setting.after:
        if value not in before:
            yield "+", "green", value


def print_markdown(changes: Changes) -> None:
    """Print a comment for a pull request."""
    print("\n".join(_markdown(changes)))


def _markdown(changes: Changes) -> Iterator[str]:
    """Go through the lines of the comment."""
    comparison = changes.comparison
    yield f"### robots.txt: {' → '.join(map(markdown_code, changes.names))}"
    yield ""
    yield _summary(comparison, changes.dialect)
    for change in _merged(comparison.changes):
        yield ""
        yield f"**{_who_as_markdown(change)}**"
        found = change.differences.found
        if found:
            yield ""
            yield "| | URL | before | after |"
            yield "|---|---|---|---|"
            yield from map(_row_as_markdown, found[:_SHOWN])
        if len(found) > _SHOWN:
            yield f"\nand {len(found) - _SHOWN} more"
        if not change.differences.is_proved:
            yield "\nNot proved: there may be more."
        yield from _settings_as_markdown(change.settings)
    if comparison.settings:
        yield ""
        yield "**The whole site**"
        yield from _settings_as_markdown(comparison.settings)


def _row_as_markdown(each: Difference) -> str:
    verdict = "opened" if each.is_opened else "**closed**"
    cells = (each.url, _by(each.before), _by(each.after))
    return f"| {verdict} | " + " | ".join(map(markdown_code, cells)) + " |"


def _settings_as_markdown(settings: tuple[Setting, ...]) -> Iterator[str]:
    lines = [
        f"{sign} {setting.name}: {shortened(value)}"
        for setting in settings
        for sign, _, value in _changed(setting)
    ]
    if lines:
        yield ""
        fence = "```"
        while any(fence in line for line in lines):
            fence += "`"
        yield from (f"{fence}diff", *lines, fence)

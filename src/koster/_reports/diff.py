"""The result of ``koster diff``, as text, JSON and Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..analysis import EVERYBODY, Difference
from ..decisions import Decision
from ..dialects import Dialect
from . import screen
from .json import to_json
from .plain import markdown_code, printable, shorten
from .records import of_comparison
from .text import Text

if TYPE_CHECKING:
    from ..diff import Change, Comparison, Setting

#: The maximum number of URLs for each change; JSON has all.
_MAX_URLS = 50
#: The maximum number of names for each change.
_MAX_NAMES = 6


@dataclass(frozen=True, slots=True)
class Changes:
    """A comparison of two files in a dialect; ``names`` are those of the files."""

    comparison: Comparison
    dialect: Dialect
    names: tuple[str, str] = ("", "")


def print_json(changes: Changes) -> None:
    """Print the comparison as an object."""
    print(to_json(of_comparison(changes.comparison)))


def _merge_equal(changes: Iterable[Change]) -> list[Change]:
    """Merge changes that are equal except for the line numbers of their rules.

    Files often have a group for each of many crawlers, all with the same rule; JSON has each.
    """
    found: dict[object, Change] = {}
    for change in changes:
        differences = tuple(
            (each.url, each.is_opened, _without_line(each.before), _without_line(each.after))
            for each in change.differences.found
        )
        key = differences, change.differences.is_proved, change.settings
        equal = found.get(key)
        agents = change.agents if equal is None else (*equal.agents, *change.agents)
        found[key] = replace(equal or change, agents=agents)
    return list(found.values())


def _without_line(decision: Decision) -> str:
    return str(decision.rule or decision.reason)


def _agents_text(change: Change) -> str:
    """Return the agents of a change as text."""
    names = [name for name in change.agents if name != EVERYBODY]
    if EVERYBODY in change.agents:
        return "Crawlers without a group of their own"
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(names[:_MAX_NAMES]) + more


def _agents_markdown(change: Change) -> str:
    """Return the agents of a change as Markdown; names are code, so not mentions or links."""
    text = _agents_text(change)
    return text if EVERYBODY in change.agents else markdown_code(text)


def _deciding_line(decision: Decision) -> str:
    """Return the line that decides, or the reason of the decision."""
    rule = decision.rule
    return f"{rule.line}: {rule}" if rule else str(decision.reason)


def _summary(comparison: Comparison, dialect: Dialect) -> str:
    """Return in a sentence what changes for crawlers of a dialect."""
    urls = [each for change in comparison.changes for each in change.differences.found]
    opened = sum(each.is_opened for each in urls)
    if comparison.decides_alike:
        more = "" if comparison.is_empty else "; other lines differ"
        return f"No access changes by {dialect} (proved){more}."
    if not urls:
        return f"Access may change by {dialect}: no proof that it does not."
    at_least = "" if comparison.is_proved else "at least "
    counts = f"{at_least}{opened:,} now allowed, {len(urls) - opened:,} now blocked"
    return f"Access changes by {dialect}: {counts} (one URL for each pair of deciding lines)."


def print_text(changes: Changes) -> None:
    """Print the changes for each agent, then a summary."""
    comparison = changes.comparison
    for change in _merge_equal(comparison.changes):
        screen.print_lines(Text(printable(_agents_text(change)), "bold"))
        found = change.differences.found
        if found:
            screen.print_table(["", "URL", "Before", "After"], map(_row, found[:_MAX_URLS]))
        if len(found) > _MAX_URLS:
            more = f"and {len(found) - _MAX_URLS} more: --format json has all"
            screen.print_lines(Text(more, "dim"))
        if not change.differences.is_proved:
            screen.print_lines(Text("Not proved: there may be more changes", "yellow"))
        _print_settings(change.settings)
        print()
    if comparison.settings:
        screen.print_lines(Text("The whole site", "bold"))
        _print_settings(comparison.settings)
        print()
    screen.print_lines(Text(_summary(comparison, changes.dialect)))


def _row(each: Difference) -> list[Text]:
    verdict = Text("now allowed", "green") if each.is_opened else Text("now blocked", "bold red")
    cells = (each.url, _deciding_line(each.before), _deciding_line(each.after))
    return [verdict, *(Text(shorten(cell)) for cell in cells)]


def _print_settings(settings: tuple[Setting, ...]) -> None:
    for setting in settings:
        for sign, style, value in _changed_values(setting):
            text = shorten(f"{sign} {setting.name}: {value}")
            screen.print_lines(Text(text, style))


def _changed_values(setting: Setting) -> Iterator[tuple[str, str, str]]:
    """Yield the removed and added values."""
    before, after = set(setting.before), set(setting.after)
    for value in setting.before:
        if value not in after:
            yield "-", "red", value
    for value in setting.after:
        if value not in before:
            yield "+", "green", value


def print_markdown(changes: Changes) -> None:
    """Print a report for a comment on a pull request."""
    print("\n".join(_markdown(changes)))


def _markdown(changes: Changes) -> Iterator[str]:
    comparison = changes.comparison
    yield f"### robots.txt: {' → '.join(map(markdown_code, changes.names))}"
    yield ""
    yield _summary(comparison, changes.dialect)
    for change in _merge_equal(comparison.changes):
        yield ""
        yield f"**{_agents_markdown(change)}**"
        found = change.differences.found
        if found:
            yield ""
            yield "| | URL | before | after |"
            yield "|---|---|---|---|"
            yield from map(_row_as_markdown, found[:_MAX_URLS])
        if len(found) > _MAX_URLS:
            yield f"\nand {len(found) - _MAX_URLS} more"
        if not change.differences.is_proved:
            yield "\nNot proved: there may be more changes."
        yield from _settings_as_markdown(change.settings)
    if comparison.settings:
        yield ""
        yield "**The whole site**"
        yield from _settings_as_markdown(comparison.settings)


def _row_as_markdown(each: Difference) -> str:
    verdict = "now allowed" if each.is_opened else "**now blocked**"
    cells = (each.url, _deciding_line(each.before), _deciding_line(each.after))
    return f"| {verdict} | " + " | ".join(map(markdown_code, cells)) + " |"


def _settings_as_markdown(settings: tuple[Setting, ...]) -> Iterator[str]:
    lines = [
        f"{sign} {setting.name}: {shorten(value)}"
        for setting in settings
        for sign, _, value in _changed_values(setting)
    ]
    if lines:
        yield ""
        fence = "```"
        while any(fence in line for line in lines):
            fence += "`"
        yield from (f"{fence}diff", *lines, fence)

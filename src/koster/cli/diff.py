"""``koster diff``: what a change of a robots.txt changes, for whom, and by which lines."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import rich_click as click
from rich.text import Text

from .._json import dumped
from .._records import of_comparison
from ..agents import known
from ..analysis import EVERYBODY
from ..diff import compare
from ..errors import MissingExtraError
from ..robots import parse
from . import _inputs, _screen, _sites
from ._types import dialect_option

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..analysis import Difference
    from ..dialects import Dialect
    from ..diff import Change, Comparison, Setting
    from ..model import Decision

#: URLs that are shown for some robots; JSON has them all.
_SHOWN = 50
#: Robots of one change that are named.
_NAMED = 6


@click.command(options_metavar="[OPTIONS]")
@click.argument("old")
@click.argument("new")
@dialect_option("How to read both files")
@click.option(
    "--format",
    "-f",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="How to print what changes; markdown fits into a comment on a pull request.",
)
@_sites.fetching_options
@_sites.stoppable
def diff(
    old: str,
    new: str,
    dialect: Dialect,
    form: str,
    timeout: float,
    cache: str | None,
    user_agent: str,
) -> None:
    """Say what a change opens and closes: for every robot, with a URL and both deciding lines.

    OLD and NEW are a robots.txt each, - for standard input, or the address of a site.

    Example: koster diff https://example.com robots.txt

    Exit codes: 0 every robot may fetch what it might before, 1 not so, 2 wrong usage, 3 a file
    could not be read.
    """
    settings = _sites.Settings(timeout, cache, user_agent)
    inputs, troubles = _inputs.read_all((old, new), settings, dialect)
    if troubles:
        sys.exit(3)
    before, after = (parse(each.body, dialect) for each in inputs)
    for each in inputs:
        _inputs.warn_of_no_text(each)
    comparison = compare(before, after, _known())
    if form == "json":
        print(dumped(of_comparison(comparison)))
    elif form == "markdown":
        names = [each.name for each in inputs]
        print("\n".join(_markdown(comparison, names, dialect)))
    else:
        print_text(comparison, dialect)
    sys.exit(0 if comparison.decides_alike else 1)


def _known() -> list[str]:
    try:
        return [crawler.token for crawler in known()]
    except MissingExtraError:
        return []


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


def _named(change: Change) -> str:
    """Return the robots of a change as Markdown: names are code, and no mention or link."""
    who = _who(change)
    return who if EVERYBODY in change.agents else _screen.markdown_code(who)


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


def print_text(comparison: Comparison, dialect: Dialect) -> None:
    """Print what changes for whom, then a sentence."""
    for change in _merged(comparison.changes):
        _screen.print_lines(Text(_screen.printable(_who(change)), "bold"))
        found = change.differences.found
        if found:
            _screen.print_table(["", "URL", "Before", "After"], map(_row, found[:_SHOWN]))
        if len(found) > _SHOWN:
            more = f"and {len(found) - _SHOWN} more: --format json has all"
            _screen.print_lines(Text(more, "dim"))
        if not change.differences.is_proved:
            _screen.print_lines(Text("not proved: there may be more", "yellow"))
        _print_settings(change.settings)
        print()
    if comparison.settings:
        _screen.print_lines(Text("The whole site", "bold"))
        _print_settings(comparison.settings)
        print()
    _screen.print_lines(Text(_summary(comparison, dialect)))


def _row(each: Difference) -> list[Text]:
    verdict = Text("opened", "green") if each.is_opened else Text("closed", "bold red")
    cells = (each.url, _by(each.before), _by(each.after))
    return [verdict, *(Text(_screen.shortened(cell)) for cell in cells)]


def _print_settings(settings: tuple[Setting, ...]) -> None:
    for setting in settings:
        for sign, style, value in _changed(setting):
            text = _screen.shortened(f"{sign} {setting.name}: {value}")
            _screen.print_lines(Text(text, style))


def _changed(setting: Setting) -> Iterator[tuple[str, str, str]]:
    """Go through the values that went and came."""
    before, after = set(setting.before), set(setting.after)
    for value in setting.before:
        if value not in after:
            yield "-", "red", value
    for value in setting.after:
        if value not in before:
            yield "+", "green", value


def _markdown(comparison: Comparison, names: list[str], dialect: Dialect) -> Iterator[str]:
    """Go through the lines of a comment on a change."""
    yield f"### robots.txt: {_screen.markdown_code(names[0])} → {_screen.markdown_code(names[1])}"
    yield ""
    yield _summary(comparison, dialect)
    for change in _merged(comparison.changes):
        yield ""
        yield f"**{_named(change)}**"
        found = change.differences.found
        if found:
            yield ""
            yield "| | URL | before | after |"
            yield "|---|---|---|---|"
            for each in found[:_SHOWN]:
                verdict = "opened" if each.is_opened else "**closed**"
                cells = (each.url, _by(each.before), _by(each.after))
                yield f"| {verdict} | " + " | ".join(map(_screen.markdown_code, cells)) + " |"
        if len(found) > _SHOWN:
            yield f"\nand {len(found) - _SHOWN} more"
        if not change.differences.is_proved:
            yield "\nNot proved: there may be more."
        yield from _settings_as_markdown(change.settings)
    if comparison.settings:
        yield ""
        yield "**The whole site**"
        yield from _settings_as_markdown(comparison.settings)


def _settings_as_markdown(settings: tuple[Setting, ...]) -> Iterator[str]:
    lines = [
        f"{sign} {setting.name}: {_screen.shortened(value)}"
        for setting in settings
        for sign, _, value in _changed(setting)
    ]
    if lines:
        yield ""
        fence = "```"
        while any(fence in line for line in lines):
            fence += "`"
        yield from (f"{fence}diff", *lines, fence)

"""``koster lint``: what a robots.txt's author should know, and often how to mend it."""

from __future__ import annotations

import difflib
import re
import sys
from typing import TYPE_CHECKING

import rich_click as click
from rich.text import Text

from .. import lint as linting
from ..dialects import GOOGLE, RFC9309
from ..diff import compare
from ..errors import UnreadableError
from ..lint import CHECK_OF, CHECKS, Severity
from ..lint._renderers import as_github, as_json, as_sarif
from ..model import text_of
from ..robots import parse
from . import _files, _inputs, _screen, _sites
from ._types import dialects_option, flattened

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..dialects import Dialect
    from ..lint import Check, Finding
    from ._inputs import Input

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}

_LINE_END = re.compile(r"\r\n|\n|\r")

#: Characters of a line that are shown around what is found.
_SHOWN = 72

_RENDERERS: dict[str, Callable[[list[tuple[str, list[Finding]]]], str]] = {
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
}


def _explain(context: click.Context, _parameter: click.Parameter, code: str | None) -> None:
    """Print what is known of a code, or of all, and end."""
    if code is None or context.resilient_parsing:
        return
    if code.lower() == "all":
        rows = [
            [Text(check.code), Text(check.severity, _STYLES[check.severity]), Text(check.title)]
            for check in CHECKS
        ]
        _screen.print_table(["Code", "Severity", "What it finds"], rows)
    elif code.upper() in CHECK_OF:
        check = CHECK_OF[code.upper()]
        _screen.print_lines(
            Text.assemble(
                (check.code, "bold"), f"  {check.name}  ", (check.severity, _STYLES[check.severity])
            ),
            Text(check.title),
            Text(check.why),
            Text(f"Source: {check.source}", "dim"),
        )
    else:
        raise click.BadParameter(f"there is no code {code}; --explain all lists them")
    context.exit()


@click.command(options_metavar="[OPTIONS]")
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option(
    "--select",
    multiple=True,
    metavar="CODES",
    help="Look for these alone: codes or how they begin, such as S or P001; with commas, or "
    "repeated.",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="CODES",
    help="Do not look for these.",
)
@click.option(
    "--fix",
    is_flag=True,
    help="Mend what can be mended: print the change, and what it changes for robots.",
)
@click.option("--write", is_flag=True, help="With --fix: change the files.")
@dialects_option(
    "Read the file so, and compare with the others that are named",
    f". Repeatable; without it {RFC9309} and {GOOGLE}.",
)
@click.option(
    "--format",
    "-f",
    "form",
    type=click.Choice(["text", *_RENDERERS]),
    default="text",
    show_default=True,
    help="How to print the findings.",
)
@click.option(
    "--explain",
    metavar="CODE",
    is_eager=True,
    expose_value=False,
    callback=_explain,
    help="Say what a code means and why, and end; all lists the codes.",
)
@_sites.fetching_options
@_sites.stoppable
def lint(
    files: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fix: bool,
    write: bool,
    dialects: tuple[tuple[Dialect, ...], ...],
    form: str,
    timeout: float,
    cache: str | None,
    user_agent: str,
) -> None:
    """Find what a robots.txt's author should know: each finding with its place and a suggestion.

    FILE is a robots.txt, - for standard input, or the address of a site.

    Examples: koster lint robots.txt; koster lint --fix robots.txt; koster lint --explain S001

    Exit codes: 0 clean, or notes alone; 1 errors or warnings; 2 wrong usage; 3 something could not
    be read.
    """
    _check_usage(files, fix, write, form)
    try:
        checks = linting.chosen(_split(select), _split(ignore))
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    chosen = flattened(dialects) or (RFC9309, GOOGLE)
    settings = _sites.Settings(timeout, cache, user_agent)
    inputs, complete = _inputs.read_all(files, settings, chosen[0])
    found = [(each, _findings(each, chosen, checks)) for each in inputs]
    if form != "text":
        print(_RENDERERS[form]([(each.name, findings) for each, findings in found]))
    elif fix:
        for each, findings in found:
            complete = _fix(each, findings, chosen[0], write) and complete
    else:
        for each, findings in found:
            _print_findings(each, findings)
        _print_summary([finding for _, findings in found for finding in findings])
    if not complete:
        sys.exit(3)
    bad = any(each.severity is not Severity.NOTE for _, findings in found for each in findings)
    sys.exit(1 if bad else 0)


def _check_usage(files: tuple[str, ...], fix: bool, write: bool, form: str) -> None:
    """Complain about what cannot be done.

    Raises:
        click.UsageError: with what is wrong.
    """
    if not files:
        raise click.UsageError("nothing to look at: give a robots.txt, - or the address of a site")
    if write and not fix:
        raise click.UsageError("--write goes with --fix")
    if fix and form != "text":
        raise click.UsageError("--fix prints a change; it goes with --format text")
    if write and any(path == _files.STDIN or _inputs.is_site(path) for path in files):
        raise click.UsageError("--write changes files; standard input and sites it cannot change")


def _split(codes: tuple[str, ...]) -> list[str]:
    return [code.strip() for each in codes for code in each.split(",") if code.strip()]


def _findings(
    each: Input, dialects: tuple[Dialect, ...], checks: tuple[Check, ...]
) -> list[Finding]:
    first, *others = dialects
    return linting.lint(
        each.body,
        first,
        checks,
        dialects=tuple(others),
        is_cut=each.is_cut,
        charset=each.charset,
    )


def _print_findings(each: Input, findings: list[Finding]) -> None:
    """Print each finding with its line, and a mark under what is meant."""
    lines = parse(each.body).lines
    for finding in findings:
        place = f"{each.name}:{finding.line}:{finding.column}"
        head = Text.assemble(
            (place, "bold"),
            " ",
            (finding.severity, _STYLES[finding.severity]),
            " ",
            (finding.code, "bold"),
            " ",
            _screen.printable(finding.message),
        )
        text = lines[finding.line - 1].text if finding.line <= len(lines) else ""
        excerpt, mark = _excerpt(text, finding)
        number = f"{finding.line:>5} | "
        blank = " " * (len(number) - 2) + "| "
        parts = [head]
        if excerpt and finding.end_column > finding.column:
            parts.append(Text.assemble((number, "dim"), excerpt))
            under = Text.assemble((blank, "dim"), (mark, _STYLES[finding.severity]))
            if finding.suggestion:
                under.append(f" {_screen.printable(finding.suggestion)}")
            parts.append(under)
        elif finding.suggestion:
            parts.append(Text.assemble((blank, "dim"), _screen.printable(finding.suggestion)))
        _screen.print_lines(*parts)


def _excerpt(text: str, finding: Finding) -> tuple[str, str]:
    """Return a part of a line with what is found, and the marks to stand below it."""
    start, end = finding.column - 1, finding.end_column - 1
    first = 0 if end <= _SHOWN else max(0, start - _SHOWN // 3)
    shown = text[first : first + _SHOWN]
    before = ("…" if first else "") + _screen.printable(shown[: start - first].expandtabs(1))
    marked = _screen.printable(shown[start - first : end - first].expandtabs(1))
    after = _screen.printable(shown[end - first :].expandtabs(1)) + (
        "…" if len(text) > first + _SHOWN else ""
    )
    return before + marked + after, " " * len(before) + "^" * max(len(marked), 1)


def _print_summary(findings: list[Finding]) -> None:
    """Print how many there are of each severity, to a person."""
    counted = [
        f"{count} {severity}{'s' * (count != 1)}"
        for severity in Severity
        if (count := sum(finding.severity is severity for finding in findings))
    ]
    fixable = sum(bool(finding.edits) for finding in findings)
    more = f"; --fix mends {fixable}" if fixable else ""
    _screen.print_note((", ".join(counted) or "nothing found") + more)


def _fix(each: Input, findings: list[Finding], dialect: Dialect, write: bool) -> bool:
    """Print what mending changes, in the text and for robots; write it if that is wanted.

    Tells whether what was to be written was.
    """
    try:
        _inputs.check_size(each)
    except UnreadableError as error:
        _screen.complain(str(error))
        return False
    after = linting.fixed(each.body, findings)
    if after == each.body:
        _screen.print_note(f"{each.name}: nothing can be mended by itself")
        return True
    old, new = (_LINE_END.split(text_of(body)) for body in (each.body, after))
    for line in difflib.unified_diff(old, new, each.name, f"{each.name} (mended)", lineterm=""):
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
        _screen.print_lines(Text(_screen.printable(line.expandtabs(1)), style))
    _screen.print_lines(Text(_effect(each.body, after, dialect), "bold"))
    if write:
        try:
            _inputs.replace(each.path, after)
        except UnreadableError as error:
            _screen.complain(str(error))
            return False
    return True


def _effect(before: bytes, after: bytes, dialect: Dialect) -> str:
    """Say in a line what a change changes for robots."""
    comparison = compare(parse(before, dialect), parse(after, dialect))
    if comparison.decides_alike:
        return "every robot may fetch what it might before: proved"
    urls = [found for change in comparison.changes for found in change.differences.found]
    opened = sum(found.is_opened for found in urls)
    if not urls:
        return "whether robots may fetch what they might before is not proved"
    first = urls[0]
    verdict = "may now fetch" if first.is_opened else "may no longer fetch"
    told = f"{first.after.agent} {verdict} {_screen.shortened(first.url)}"
    at_least = "" if comparison.is_proved else "at least "
    counted = f"{at_least}{opened} opened, {len(urls) - opened} closed"
    return f"this changes what robots may fetch ({counted}): {told}; koster diff shows all"

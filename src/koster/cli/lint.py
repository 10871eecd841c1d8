"""``koster lint``: what a robots.txt's author should know, and often how to mend it."""

from __future__ import annotations

import functools
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import rich_click as click
from rich.text import Text

from .. import lint as linting
from .._charsets import MAX_BYTES
from ..dialects import GOOGLE, RFC9309
from ..errors import UnreadableError
from ..lint import CHECKS, Severity
from ..reports import screen
from ..reports.lint import STYLES, FileFindings, Findings
from ..reports.registry import render
from . import _files, _fixing, _inputs, _sites, _writing
from ._types import dialects_option, flattened, format_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..dialects import Dialect
    from ..lint import Check, Finding
    from ._inputs import Input

#: The code for a file that is in UTF-16 or UTF-32.
_WRONG_CHARSET = "B002"


def _explain(context: click.Context, _parameter: click.Parameter, code: str | None) -> None:
    """Print what is known of a code, or of all, and end."""
    if code is None or context.resilient_parsing:
        return
    if code.lower() == "all":
        rows = [
            [Text(check.code), Text(check.severity, STYLES[check.severity]), Text(check.title)]
            for check in CHECKS
        ]
        screen.print_table(["Code", "Severity", "What it finds"], rows)
    for check in _meant_by(code) if code.lower() != "all" else ():
        screen.print_lines(
            Text.assemble(
                (check.code, "bold"), f"  {check.name}  ", (check.severity, STYLES[check.severity])
            ),
            Text(check.title),
            Text(check.why),
            Text(f"Source: {check.source}", "dim"),
        )
    context.exit()


def _meant_by(codes: str) -> list[Check]:
    """Return the checks that codes, their beginnings or names stand for.

    Raises:
        click.BadParameter: one stands for none.
    """
    found: list[Check] = []
    for code in _split((codes,)):
        named = [check for check in CHECKS if check.name == code.lower()]
        try:
            found += named or linting.chosen([code])
        except ValueError as error:
            raise click.BadParameter(
                f"there is no code {code}; --explain all lists them"
            ) from error
    return found


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
@click.option("--strict", is_flag=True, help="Exit with 1 for notes as well.")
@dialects_option(
    "Read the file so, and compare with the others that are named",
    f". Repeatable; without it {RFC9309} and {GOOGLE}.",
)
@format_option(Findings, "How to print the findings.")
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
    strict: bool,
    dialects: tuple[tuple[Dialect, ...], ...],
    form: str,
    timeout: float,
    cache: str | None,
    user_agent: str,
) -> None:
    """Find what a robots.txt's author should know: each finding with its place and a suggestion.

    FILE is a robots.txt, - for standard input, or the address of a site.

    Examples: koster lint robots.txt; koster lint --fix robots.txt; koster lint --explain S001

    Exit codes: 0 clean, or notes alone; 1 errors or warnings (with --fix --write: that are left); 2
    wrong usage; 3 something could not be read or written, or changed on disk in the meantime.
    """
    _check_usage(files, fix, write, form)
    try:
        checks = linting.chosen(_split(select), _split(ignore))
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    chosen = flattened(dialects) or (RFC9309, GOOGLE)
    settings = _sites.Settings(timeout, cache, user_agent)
    inputs, troubles = _inputs.read_all(files, settings, chosen[0])
    look = functools.partial(_findings, dialects=chosen, checks=checks)
    found = [(each, look(each)) for each in inputs]
    if not fix:
        of_form = _as_is if form == "text" else _for_machines
        shown = [_shown(each, of_form(each, some)) for each, some in found]
        render(Findings(shown, troubles), form)
    for number, (each, findings) in enumerate(found if fix else ()):
        try:
            found[number] = each, _fix(each, findings, look, chosen, write)
        except UnreadableError as error:
            screen.complain(str(error))
            troubles.append(str(error))
    if form == "text" and found:
        _print_summary(found)
    if troubles:
        sys.exit(3)
    bad = any(
        strict or each.severity is not Severity.NOTE for _, findings in found for each in findings
    )
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
    """Return codes that stand on several options, and with commas.

    Raises:
        click.UsageError: one is empty.
    """
    found = [code.strip() for each in codes for code in each.split(",")]
    if not all(found):
        raise click.UsageError("a code is empty; koster lint --explain all lists them")
    return found


def _findings(
    each: Input, dialects: tuple[Dialect, ...], checks: tuple[Check, ...]
) -> list[Finding]:
    first, *others = dialects
    return linting.lint(
        each.body,
        first,
        checks,
        dialects=tuple(others),
        # Clients read so many bytes as it has on disk.
        is_cut=each.is_cut or len(each.on_disk) > MAX_BYTES,
        charset=each.charset,
    )


def _shown(each: Input, findings: list[Finding]) -> FileFindings:
    return FileFindings(each.name, _files.file_name(each.path), each.body, findings)


def _as_is(_each: Input, findings: list[Finding]) -> list[Finding]:
    return findings


def _for_machines(each: Input, findings: list[Finding]) -> list[Finding]:
    """Return findings; edits count bytes of UTF-8, so that other files have none."""
    return (
        findings if each.charset is None else [replace(finding, edits=()) for finding in findings]
    )


def _print_summary(found: list[tuple[Input, list[Finding]]]) -> None:
    """Print how many there are of each severity."""
    all_findings = [finding for _, findings in found for finding in findings]
    counted = [
        f"{count} {severity}{'s' * (count != 1)}"
        for severity in Severity
        if (count := sum(finding.severity is severity for finding in all_findings))
    ]
    fixable = sum(_is_fixable(each, finding) for each, findings in found for finding in findings)
    more = f"; --fix fixes {fixable}" if fixable else ""
    print((", ".join(counted) or "nothing found") + more, file=sys.stderr)


def _fix(
    each: Input,
    findings: list[Finding],
    look: Callable[[Input], list[Finding]],
    dialects: tuple[Dialect, ...],
    write: bool,
) -> list[Finding]:
    """Print what a fix changes, in the text and for crawlers; write it if that is wanted.

    Returns the findings that are left; all of them, if it is not written.

    Raises:
        UnreadableError: the file cannot be read or written, or has changed.
    """
    _inputs.check_whole(each)
    after, effect = _fixing.fixed(each.body, each.on_disk, findings, dialects)
    if after == each.body and not any(_is_by_charset(each, finding) for finding in findings):
        screen.print_lines(Text(f"{each.name}: nothing can be fixed automatically"))
        return findings
    if write:
        _inputs.check_rewritable(each, dialects, after)
    _fixing.print_change(each.name, each.body, after)
    screen.print_lines(Text(f"{each.name}: {effect.summary}", "bold"))
    if write:
        _writing.replace(each.path, after, each.before)
    if each.charset:
        done = "written" if write else "would be written"
        was = _inputs.charset_name(each)
        screen.print_lines(Text(f"{each.name}: {done} as UTF-8; it was in {was}", "bold"))
    if not write:
        return findings
    written = replace(each, body=after, charset=None, before=None)
    left = look(written)
    render(Findings([_shown(written, left)], []))
    return left


def _is_fixable(each: Input, finding: Finding) -> bool:
    """Tell whether --fix does something about a finding."""
    return bool(finding.edits) or _is_by_charset(each, finding)


def _is_by_charset(each: Input, finding: Finding) -> bool:
    """Tell whether a finding is that a file on disk is in a charset that can be read."""
    return finding.code == _WRONG_CHARSET and each.charset is not None and each.before is not None

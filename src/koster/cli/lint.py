"""``koster lint``: finds problems in a robots.txt, and fixes some of them."""

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
from ._types import dialects_option, format_option, unique_dialects

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..dialects import Dialect
    from ..lint import Check, Finding
    from ._inputs import Input

#: The code for a file that is in UTF-16 or UTF-32.
_WRONG_CHARSET = "B002"


def _explain(context: click.Context, _parameter: click.Parameter, code: str | None) -> None:
    """Print the documentation of a code, or of all codes, and exit."""
    if code is None or context.resilient_parsing:
        return
    if code.lower() == "all":
        rows = [
            [Text(check.code), Text(check.severity, STYLES[check.severity]), Text(check.title)]
            for check in CHECKS
        ]
        screen.print_table(["Code", "Severity", "What it finds"], rows)
    for check in _checks_for(code) if code.lower() != "all" else ():
        screen.print_lines(
            Text.assemble(
                (check.code, "bold"), f"  {check.name}  ", (check.severity, STYLES[check.severity])
            ),
            Text(check.title),
            Text(check.why),
            Text(f"Source: {check.source}", "dim"),
        )
    context.exit()


def _checks_for(codes: str) -> list[Check]:
    """Return the checks with these codes, code prefixes or names.

    Raises:
        click.BadParameter: one is unknown.
    """
    found: list[Check] = []
    for code in _split((codes,)):
        named = [check for check in CHECKS if check.name == code.lower()]
        try:
            found += named or linting.chosen([code])
        except ValueError as error:
            raise click.BadParameter(
                f"unknown code {code}; --explain all lists the codes"
            ) from error
    return found


@click.command(options_metavar="[OPTIONS]")
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option(
    "--select",
    multiple=True,
    metavar="CODES",
    help="Run only these checks: codes or prefixes, such as S or P001; separated by commas, or "
    "repeated.",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="CODES",
    help="Skip these checks.",
)
@click.option(
    "--fix",
    is_flag=True,
    help="Fix what can be fixed: print the change, and what it changes for crawlers.",
)
@click.option("--write", is_flag=True, help="With --fix: change the files.")
@click.option("--strict", is_flag=True, help="Exit with 1 for notes, too.")
@dialects_option(
    "How to read the file, and the dialects to compare it with",
    f". Repeatable; default: {RFC9309} and {GOOGLE}.",
)
@format_option(Findings, "How to print the findings.")
@click.option(
    "--explain",
    metavar="CODE",
    is_eager=True,
    expose_value=False,
    callback=_explain,
    help="Explain a code and exit; all lists the codes.",
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
    settings: _sites.Settings,
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
    chosen = unique_dialects(dialects) or (RFC9309, GOOGLE)
    inputs, errors = _inputs.read_all(files, settings, chosen[0])
    find = functools.partial(_findings, dialects=chosen, checks=checks)
    found = [(each, find(each)) for each in inputs]
    if not fix:
        reports = [
            _file_findings(each, _with_valid_edits(each, findings)) for each, findings in found
        ]
        render(Findings(reports, errors), form)
    for number, (each, findings) in enumerate(found if fix else ()):
        try:
            found[number] = each, _fix(each, findings, find, chosen, write)
        except UnreadableError as error:
            screen.complain(str(error))
            errors.append(str(error))
    if form == "text" and found:
        _print_summary(found)
    if errors:
        sys.exit(3)
    bad = any(
        strict or each.severity is not Severity.NOTE for _, findings in found for each in findings
    )
    sys.exit(1 if bad else 0)


def _check_usage(files: tuple[str, ...], fix: bool, write: bool, form: str) -> None:
    """Check arguments and options.

    Raises:
        click.UsageError: they do not go together.
    """
    if not files:
        raise click.UsageError("no files given: name a robots.txt, - or the address of a site")
    if write and not fix:
        raise click.UsageError("--write needs --fix")
    if fix and form != "text":
        raise click.UsageError("--fix needs --format text")
    if write and any(path == _files.STDIN or _inputs.is_site(path) for path in files):
        raise click.UsageError("--write needs files; it cannot change standard input or sites")


def _split(codes: tuple[str, ...]) -> list[str]:
    """Return the codes of several options, each a comma-separated list.

    Raises:
        click.UsageError: one is empty.
    """
    found = [code.strip() for each in codes for code in each.split(",")]
    if not all(found):
        raise click.UsageError("empty code; koster lint --explain all lists the codes")
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
        # The size on disk is what crawlers fetch.
        is_cut=each.is_cut or len(each.on_disk) > MAX_BYTES,
        charset=each.charset,
    )


def _file_findings(each: Input, findings: list[Finding]) -> FileFindings:
    return FileFindings(each.name, _files.file_name(each.path), each.body, findings)


def _with_valid_edits(each: Input, findings: list[Finding]) -> list[Finding]:
    """Return findings, without edits if the file is not UTF-8: edits count bytes of UTF-8."""
    return (
        findings if each.charset is None else [replace(finding, edits=()) for finding in findings]
    )


def _print_summary(found: list[tuple[Input, list[Finding]]]) -> None:
    """Print the number of findings by severity."""
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
    find: Callable[[Input], list[Finding]],
    dialects: tuple[Dialect, ...],
    write: bool,
) -> list[Finding]:
    """Print what a fix changes, in the text and for crawlers; optionally write it.

    Returns:
        The remaining findings; all of them, if it is not written.

    Raises:
        UnreadableError: the file cannot be read or written, or has changed.
    """
    _inputs.check_whole(each)
    after, effect = _fixing.fixed(each.body, each.on_disk, findings, dialects)
    if after == each.body and not any(_is_convertible(each, finding) for finding in findings):
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
    remaining = find(written)
    render(Findings([_file_findings(written, remaining)], []))
    return remaining


def _is_fixable(each: Input, finding: Finding) -> bool:
    """Tell whether --fix fixes a finding."""
    return bool(finding.edits) or _is_convertible(each, finding)


def _is_convertible(each: Input, finding: Finding) -> bool:
    """Tell whether a finding is about a charset that writing as UTF-8 fixes."""
    return finding.code == _WRONG_CHARSET and each.charset is not None and each.before is not None

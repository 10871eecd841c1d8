"""``koster lint``: finds problems in a robots.txt, and fixes some of them."""

from __future__ import annotations

import sys
from dataclasses import replace

import rich_click as click

from ... import lint as linting
from ..._charsets import MAX_BYTES
from ..._reports import screen
from ..._reports.lint import STYLES, FileFindings, Findings, print_statistics, print_summary
from ..._reports.plain import printable
from ..._reports.registry import render as rendering
from ..._reports.screen import Text
from ..._wording import count_noun
from ...dialects import RFC9309, Dialect
from ...errors import UnreadableError
from ...lint import CHECKS, Check, Finding, Severity, SitemapUrls
from ...lint._fetched_sitemaps import CODE as SITEMAP_NOT_FOUND
from ...lint._fetched_sitemaps import FetchedSitemaps, with_fetched
from ...lint.settings import Settings, SettingsError
from .. import fetch_options, file_access, fixing, reading, writing
from ..baseline import Baseline
from ..baseline import write as write_baseline_file
from ..collecting import collects_rarely
from ..configuration import Configuration, Configurations
from ..help import INPUT, OUTPUT, RULES, command
from ..lint_inputs import files_to_lint, rendered
from ..names import CodesType
from ..reading import RobotsFile
from ..stopping import finish, stop, stoppable
from ..types import FileType, dialects_option, format_option, sitemap_option, unique_dialects

#: The group of options for fixes.
FIXING = "Fixing"

#: The error in a report that Ctrl-C cut short.
_STOPPED = "stopped before all files were checked"

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
            Text(f"More: {check.docs}", "dim"),
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


@command(
    "lint",
    "0 no errors or warnings, 1 some are left, 2 wrong usage, 3 something could not be read or "
    "written",
)
@click.argument("files", nargs=-1, type=FileType(), metavar="FILE...")
@sitemap_option("Find the blocked URLs")
@click.option(
    "--render",
    metavar="CMD",
    panel=INPUT,
    help="Check what CMD prints for FILE (its input, or {}).",
)
@click.option(
    "--select",
    multiple=True,
    type=CodesType(),
    metavar="CODES",
    panel=RULES,
    help="Run only these checks, such as S,P001.",
)
@click.option(
    "--ignore",
    multiple=True,
    type=CodesType(),
    metavar="CODES",
    panel=RULES,
    help="Skip these checks.",
)
@dialects_option("How to read the file", ".")
@click.option(
    "--config",
    type=FileType(),
    metavar="FILE",
    panel=RULES,
    help="Use these settings, not koster.toml or pyproject.toml.",
)
@click.option(
    "--baseline",
    type=FileType(),
    metavar="FILE",
    panel=RULES,
    help="Report only findings that this file does not list.",
)
@click.option(
    "--write-baseline",
    is_flag=True,
    panel=RULES,
    help="List all current findings in the baseline.",
)
@click.option("--fix", is_flag=True, panel=FIXING, help="Show what can be fixed, and its effect.")
@click.option("--write", is_flag=True, panel=FIXING, help="With --fix: change the files.")
@format_option(Findings, "Format")
@click.option("--notes", is_flag=True, panel=OUTPUT, help="Also print notes.")
@click.option("--strict", is_flag=True, panel=OUTPUT, help="Like --notes; exit with 1 for notes.")
@click.option(
    "--statistics", is_flag=True, panel=OUTPUT, help="Print only the number of findings by code."
)
@click.option(
    "--explain",
    type=CodesType(has_names=True),
    metavar="CODE",
    is_eager=True,
    expose_value=False,
    callback=_explain,
    panel=OUTPUT,
    help="Explain a code and exit; all lists the codes.",
)
@fetch_options.fetching_options
@stoppable
@collects_rarely
def lint(
    *,
    files: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    notes: bool,
    strict: bool,
    statistics: bool,
    fix: bool,
    write: bool,
    render: str | None,
    config: str | None,
    baseline: str | None,
    write_baseline: bool,
    sitemaps: tuple[str, ...],
    dialects: tuple[tuple[Dialect, ...], ...],
    form: str,
    settings: fetch_options.FetchOptions,
) -> None:
    """Find mistakes in a robots.txt: each with its line, a reason and a suggestion.

    FILE is a robots.txt, a folder, a site's address, or - for standard input. Default:
    robots.txt, public/robots.txt or static/robots.txt.
    """
    _check_usage(files, form, sitemaps, fix=fix, write=write, render=render)
    if write_baseline and not baseline:
        raise click.UsageError("--write-baseline needs --baseline FILE")
    linter = _Linter(config, _split(select), _split(ignore), unique_dialects(dialects), settings)
    try:
        linter.baseline = None if baseline is None or write_baseline else Baseline(baseline)
        inputs, errors, unread = _read(files, render, settings, linter)
        unreadable = len(errors)
        if sitemaps:
            errors += linter.read_sitemaps(inputs, sitemaps)
        finished = finish(inputs, lambda each: (each, linter.findings(each)))
        found = finished.results
        left = unread + len(inputs) - len(found)
        if left and (fix or write_baseline):
            raise KeyboardInterrupt
        if baseline is not None and write_baseline:
            _write_baseline(baseline, found)
            sys.exit(3 if errors else 0)
    except UnreadableError as error:
        screen.complain(str(error))
        sys.exit(3)
    if fix and not statistics:
        found = _fix_all(found, linter, errors, write=write, notes=notes or strict)
    else:
        seen = [*errors, _STOPPED] if left else errors
        _print(_report(found, seen, notes=notes or strict), form, statistics=statistics)
    if left:
        done = len(found) + unreadable
        stop(done, done + left, "file")
    if errors:
        sys.exit(3)
    bad = any(
        strict or each.severity is not Severity.NOTE for _, findings in found for each in findings
    )
    sys.exit(1 if bad else 0)


def _print(report: Findings, form: str, *, statistics: bool) -> None:
    if statistics:
        print_statistics(report)
        print_summary(report)
    else:
        rendering(report, form)


class _Linter:
    """Finds what is wrong with files, each with its own configuration."""

    def __init__(
        self,
        config: str | None,
        select: list[str],
        ignore: list[str],
        dialects: tuple[Dialect, ...],
        fetching: fetch_options.FetchOptions,
    ) -> None:
        def update(settings: Settings) -> Settings:
            return settings.updated(select, ignore, dialects)

        try:
            update(Settings())
        except SettingsError as error:
            raise click.UsageError(str(error)) from error
        self._configurations = Configurations(config, update)
        self.baseline: Baseline | None = None
        self._sitemap_urls: dict[str, SitemapUrls] = {}
        self._fetching = fetching
        self._fetched: dict[str, FetchedSitemaps] = {}

    def read_sitemaps(self, inputs: list[RobotsFile], sitemaps: tuple[str, ...]) -> list[str]:
        """Read sitemaps, to check their URLs, too; return the errors, which are printed."""
        from .. import sitemap_findings

        files = [(each, self._configurations.of(each.path).settings) for each in inputs]
        self._sitemap_urls, errors = sitemap_findings.blocked_urls(files, sitemaps, self._fetching)
        return errors

    def dialects(self, path: str) -> tuple[Dialect, ...]:
        """Return how to read a file, and the dialects to compare that with."""
        return self._configurations.of(path).settings.dialects

    def findings(self, each: RobotsFile) -> list[Finding]:
        """Return the findings in a file that the baseline does not have."""
        configuration = self._configurations.of(each.path)
        first, *others = configuration.settings.dialects
        found = linting.lint(
            each.body,
            first,
            self._checks(each, configuration),
            dialects=tuple(others),
            crawlers=configuration.settings.crawlers,
            severities=configuration.settings.severities,
            # The size on disk is what crawlers fetch.
            is_cut=each.is_cut or len(each.on_disk) > MAX_BYTES,
            charset=each.charset,
            site=each.site,
        )
        return self.baseline.unknown(each.path, each.body, found) if self.baseline else found

    def _checks(self, each: RobotsFile, configuration: Configuration) -> tuple[Check, ...]:
        checks = configuration.checks_for(each.path)
        urls = self._sitemap_urls.get(each.path)
        if urls is not None:
            checks = linting.with_sitemaps(checks, urls)
        if each.site is None or not any(check.code == SITEMAP_NOT_FOUND for check in checks):
            return checks
        if each.path not in self._fetched:
            from .. import named_sitemaps

            found = named_sitemaps.fetch(each, configuration.settings.dialects[0], self._fetching)
            self._fetched[each.path] = found
        return with_fetched(checks, self._fetched[each.path])


def _read(
    files: tuple[str, ...],
    render: str | None,
    settings: fetch_options.FetchOptions,
    linter: _Linter,
) -> tuple[list[RobotsFile], list[str], int]:
    """Return the files to check, the errors, and the number of files that Ctrl-C left.

    Raises:
        UnreadableError: a template could not be rendered.
    """
    if render is not None:
        return [rendered(render, path) for path in files or (None,)], [], 0
    paths, errors = files_to_lint(files)
    dialect = linter.dialects(paths[0])[0] if paths else RFC9309
    finished = finish(paths, lambda path: reading.read_all([path], settings, dialect))
    inputs = [each for some, _ in finished.results for each in some]
    errors += [each for _, some in finished.results for each in some]
    return inputs, errors, len(paths) - len(finished.results)


def _write_baseline(path: str, found: list[tuple[RobotsFile, list[Finding]]]) -> None:
    files = [(each.path, each.body, findings) for each, findings in found]
    count = write_baseline_file(path, files)
    screen.print_lines(Text(f"{printable(path)}: {count_noun(count, 'finding')} written"))


def _report(
    found: list[tuple[RobotsFile, list[Finding]]], errors: list[str], *, notes: bool
) -> Findings:
    files = [
        FileFindings(
            each.name,
            file_access.file_name(each.path),
            each.body,
            _with_valid_edits(each, findings),
            sum(_is_fixable(each, finding) for finding in findings),
            each.is_missing,
        )
        for each, findings in found
    ]
    shown = tuple(each for each in Severity if notes or each is not Severity.NOTE)
    return Findings(files, errors, shown)


def _fix_all(
    found: list[tuple[RobotsFile, list[Finding]]],
    linter: _Linter,
    errors: list[str],
    *,
    write: bool,
    notes: bool,
) -> list[tuple[RobotsFile, list[Finding]]]:
    """Fix files, and return them with the findings that remain; errors are printed and added."""
    remaining = []
    for each, findings in found:
        left = findings
        try:
            left = _fix(each, findings, linter, write=write)
        except UnreadableError as error:
            screen.complain(str(error))
            errors.append(str(error))
        if write:
            # The report quotes lines of the file as it is now.
            now = each if left is findings else reading.read_file(each.path)
            remaining.append((now, left))
            if left is not findings:
                rendering(_report([(now, left)], [], notes=notes))
        else:
            remaining.append((each, findings))
    return remaining


def _check_usage(
    files: tuple[str, ...],
    form: str,
    sitemaps: tuple[str, ...],
    *,
    fix: bool,
    write: bool,
    render: str | None,
) -> None:
    """Check arguments and options.

    Raises:
        click.UsageError: they do not go together.
    """
    if write and not fix:
        raise click.UsageError("--write needs --fix")
    if fix and form != "text":
        raise click.UsageError("--fix needs --format text")
    if fix and render is not None:
        raise click.UsageError("--fix cannot change a rendered file")
    if fix and sitemaps:
        raise click.UsageError("--fix and --sitemap cannot be used together")
    if (*files, *sitemaps).count(file_access.STDIN) > 1:
        raise click.UsageError("standard input (-) can be read only once")
    if write and any(path == file_access.STDIN or reading.is_site(path) for path in files):
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


def _with_valid_edits(each: RobotsFile, findings: list[Finding]) -> list[Finding]:
    """Return findings, without edits if the file is not UTF-8: edits count bytes of UTF-8."""
    return (
        findings
        if each.charset is None
        else [finding._replace(edits=(), proposal=()) for finding in findings]
    )


def _fix(
    each: RobotsFile, findings: list[Finding], linter: _Linter, *, write: bool
) -> list[Finding]:
    """Print what a fix changes, in the text and for crawlers; optionally write it.

    Returns:
        The remaining findings; the same list, if nothing was written.

    Raises:
        UnreadableError: the file cannot be read or written, or has changed.
    """
    reading.check_whole(each)
    dialects = linter.dialects(each.path)
    fixed, effect = fixing.fixed(
        each.body, each.on_disk, lambda body: linter.findings(replace(each, body=body)), dialects
    )
    after = fixed.body
    if after == each.body and not any(_is_convertible(each, finding) for finding in findings):
        asks = any(finding.proposal for finding in findings)
        but = (
            "; what koster suggests changes what crawlers may fetch, so decide yourself"
            if asks
            else ""
        )
        screen.print_lines(Text(f"{each.name}: nothing to fix automatically{but}"))
        return findings
    if write:
        reading.check_rewritable(each, dialects, after)
    fixing.print_change(each.name, each.body, fixed)
    screen.print_lines(Text(f"{each.name}: {effect.summary}", "bold"))
    if write:
        writing.replace(each.path, after, each.before)
    if each.charset:
        done = "written" if write else "would be written"
        was = reading.charset_name(each)
        screen.print_lines(Text(f"{each.name}: {done} as UTF-8; it was in {was}", "bold"))
    return (
        linter.findings(replace(each, body=after, charset=None, before=None)) if write else findings
    )


def _is_fixable(each: RobotsFile, finding: Finding) -> bool:
    """Tell whether --fix fixes a finding."""
    return bool(finding.edits) or _is_convertible(each, finding)


def _is_convertible(each: RobotsFile, finding: Finding) -> bool:
    """Tell whether a finding is about a charset that writing as UTF-8 fixes."""
    return finding.code == _WRONG_CHARSET and each.charset is not None and each.before is not None

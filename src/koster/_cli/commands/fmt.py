"""``koster fmt``: formats or minifies a robots.txt; that access does not change is proved."""

from __future__ import annotations

import sys

import rich_click as click

from ... import formatting
from ..._reports import screen
from ..._reports.screen import Text
from ..._wording import count_noun
from ...dialects import GOOGLE, RFC9309, Dialect
from ...errors import UnreadableError
from .. import fetch_options, file_access, reading, writing
from ..collecting import collects_rarely
from ..help import OUTPUT, command
from ..reading import RobotsFile
from ..stopping import stoppable
from ..types import FileType, dialects_option, unique_dialects


@command(
    "fmt",
    "0 done, 1 no proof that access stays the same, or --check found changes, 2 wrong usage, "
    "3 something could not be read or written",
)
@click.argument("files", nargs=-1, type=FileType(), metavar="FILE...")
@click.option(
    "--minify",
    is_flag=True,
    panel=OUTPUT,
    help="Drop comments, lines without effect and redundant rules.",
)
@click.option("--write", is_flag=True, panel=OUTPUT, help="Change the files.")
@click.option(
    "--check", is_flag=True, panel=OUTPUT, help="Only name the files that would change: for CI."
)
@dialects_option(f"Also prove it for this dialect, besides {RFC9309} and {GOOGLE}", ". Repeatable.")
@fetch_options.fetching_options
@stoppable
@collects_rarely
def fmt(
    files: tuple[str, ...],
    minify: bool,
    write: bool,
    check: bool,
    dialects: tuple[tuple[Dialect, ...], ...],
    settings: fetch_options.FetchOptions,
) -> None:
    """Format a robots.txt, with a proof that no access changes.

    FILE is a robots.txt, the address of a site, or - for standard input.
    """
    _check_usage(files, write, check)
    chosen = tuple(dict.fromkeys([RFC9309, GOOGLE, *unique_dialects(dialects)]))
    inputs, errors = reading.read_all(files, settings)
    is_done = True
    for each in inputs:
        try:
            reading.check_rewritable(each, chosen)
            rewritten = formatting.minified if minify else formatting.formatted
            after = rewritten(each.body, chosen, each.on_disk)
            if not check:
                _write(each, after, write)
            elif after != each.on_disk:
                screen.print_lines(Text(f"{each.name}: would be reformatted{_as_utf8(each)}"))
                is_done = False
        except formatting.NotTheSame as error:
            screen.complain(f"{each.name}: {error}; it stays as it is")
            is_done = False
        except UnreadableError as error:
            screen.complain(str(error))
            errors.append(str(error))
    if errors:
        sys.exit(3)
    sys.exit(0 if is_done else 1)


def _check_usage(files: tuple[str, ...], write: bool, check: bool) -> None:
    """Check arguments and options.

    Raises:
        click.UsageError: they do not go together.
    """
    if not files:
        raise click.UsageError("no files given: name a robots.txt, - or the address of a site")
    if len(files) > 1 and not (write or check):
        raise click.UsageError("several files need --write or --check")
    if write and check:
        raise click.UsageError("--write and --check cannot be used together")
    if write and any(path == file_access.STDIN or reading.is_site(path) for path in files):
        raise click.UsageError("--write needs files; it cannot change standard input or sites")


def _as_utf8(each: RobotsFile) -> str:
    """Return a note on the charset, as the end of a sentence, if it is not UTF-8."""
    return f" as UTF-8; it is in {reading.charset_name(each)}" if each.charset else ""


def _write(each: RobotsFile, after: bytes, write: bool) -> None:
    """Write a file in place or to standard output.

    Raises:
        UnreadableError: it cannot be written, or has changed.
    """
    if not write:
        screen.print_file(after)
    elif after != each.on_disk:
        writing.replace(each.path, after, each.before)
        before = count_noun(len(each.on_disk), "byte")
        screen.print_note(f"{each.name}: {before} before, {len(after):,} now")
    if each.charset:
        done = "written" if write else "printed"
        screen.complain(f"{each.name}: {done} as UTF-8; it was in {reading.charset_name(each)}")

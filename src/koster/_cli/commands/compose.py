"""``koster compose``: writes a robots.txt from its author's intentions."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from typing import Any

import rich_click as click

from ... import compose as composing
from ..._reports import screen
from ..._reports.audit import Audited
from ..._reports.diff import Changes
from ..._reports.registry import render
from ..._reports.screen import Text
from ...audit import audit
from ...crawlers import Purpose
from ...dialects import GOOGLE, RFC9309
from ...errors import MissingExtraError, UnreadableError
from ...lint import Severity, lint
from ...robots import parse
from .. import fetch_options, file_access, reading, writing
from ..file_access import FileVersion
from ..help import OUTPUT, RULES, command
from ..names import CrawlerType, problem_with
from ..stopping import stoppable
from ..types import FileType

_TOKEN = re.compile(r"[A-Za-z0-9._-]+(?: [A-Za-z0-9._-]+)*")
#: The group of options for crawlers.
_ACCESS_PANEL = "Access"
_WHO = {
    Purpose.SEARCH: "Search engines",
    Purpose.AI_SEARCH: "AI search",
    Purpose.USER_FETCH: "Pages that a user of an assistant asks for",
    Purpose.TRAINING: "AI training",
    Purpose.DATASET: "Data sets",
    Purpose.ARCHIVE: "Archives",
    Purpose.PREVIEW: "Link previews",
    Purpose.ADS: "Ads",
    Purpose.SEO: "SEO tools",
    Purpose.TOOL: "Other tools",
}
#: Rules named that keep URLs on closed paths open.
_MAX_OPEN = 20
_ACCESS = click.Choice([composing.ALLOW, composing.DISALLOW])


def _option_of(purpose: Purpose) -> str:
    return purpose.name.lower()


def _purpose_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for each purpose to a command."""
    for purpose in reversed(Purpose):
        name = _option_of(purpose)
        command = click.option(
            f"--{name.replace('_', '-')}",
            name,
            type=_ACCESS,
            metavar="ACCESS",
            panel=_ACCESS_PANEL,
            help=f"{_WHO[purpose]}.",
        )(command)
    return command


@command("compose", "0 done, 2 wrong usage, 3 a file could not be read or written")
@click.option(
    "--preset",
    "presets",
    multiple=True,
    type=click.Choice([preset.name for preset in composing.PRESETS]),
    metavar="NAME",
    panel=RULES,
    help="A preset, such as no-ai-training. Repeatable.",
)
@click.option(
    "--keep",
    type=FileType(),
    metavar="OLD",
    panel=RULES,
    help="Keep the rest of this file: a path, a site or -.",
)
@_purpose_options
@click.option(
    "--others", type=_ACCESS, metavar="ACCESS", panel=_ACCESS_PANEL, help="All other crawlers."
)
@click.option(
    "--allow",
    "allowed",
    multiple=True,
    metavar="NAME",
    type=CrawlerType(),
    panel=_ACCESS_PANEL,
    help="A crawler to allow, whatever its purpose. Repeatable.",
)
@click.option(
    "--disallow",
    "disallowed",
    multiple=True,
    metavar="NAME",
    type=CrawlerType(),
    panel=_ACCESS_PANEL,
    help="A crawler to disallow. Repeatable.",
)
@click.option(
    "--force", is_flag=True, panel=_ACCESS_PANEL, help="Accept unknown names of crawlers."
)
@click.option(
    "--close",
    "closed",
    multiple=True,
    metavar="PATH",
    panel=RULES,
    help="A path to disallow for all, such as /cart/. Repeatable.",
)
@click.option(
    "--open",
    "opened",
    multiple=True,
    metavar="PATH",
    panel=RULES,
    help="A path to allow within a closed one. Repeatable.",
)
@click.option(
    "--delay",
    type=click.FloatRange(0, 86400),
    metavar="SECONDS",
    panel=RULES,
    help="Crawl-delay for crawlers that are allowed.",
)
@click.option(
    "--sitemap",
    "sitemaps",
    multiple=True,
    metavar="URL",
    panel=RULES,
    help="A sitemap. Repeatable.",
)
@click.option(
    "--signal",
    "signals",
    multiple=True,
    metavar="KEY=VALUE",
    panel=RULES,
    help="A Content-Signal, such as ai-train=no. Repeatable.",
)
@click.option(
    "--write",
    type=FileType(),
    metavar="FILE",
    panel=OUTPUT,
    help="Replace this file; it may be that of --keep.",
)
@click.option("--quiet", "-q", is_flag=True, panel=OUTPUT, help="Print only the file.")
@fetch_options.fetching_options
@stoppable
def compose(
    *,
    presets: tuple[str, ...],
    others: str | None,
    closed: tuple[str, ...],
    opened: tuple[str, ...],
    allowed: tuple[str, ...],
    disallowed: tuple[str, ...],
    force: bool,
    delay: float | None,
    sitemaps: tuple[str, ...],
    signals: tuple[str, ...],
    keep: str | None,
    write: str | None,
    quiet: bool,
    settings: fetch_options.FetchOptions,
    **purposes: str | None,
) -> None:
    """Write a robots.txt from what you want, with known crawlers by name.

    ACCESS is allow or disallow.
    """
    by_purpose = {purpose: purposes[_option_of(purpose)] for purpose in Purpose}
    wanted = composing.Intentions(
        purposes={purpose: each for purpose, each in by_purpose.items() if each is not None},
        names={
            **dict.fromkeys(allowed, composing.ALLOW),
            **dict.fromkeys(disallowed, composing.DISALLOW),
        },
        others=others,
        closed=closed,
        opened=opened,
        delay=delay,
        sitemaps=sitemaps,
        signals=signals,
    )
    try:
        wanted = composing.combined(composing.intentions_of(presets), wanted)
    except MissingExtraError as error:
        screen.complain(str(error))
        sys.exit(2)
    _check_intentions(wanted, force=force)
    try:
        # Before anything is read: only this version may be overwritten, not a newer one.
        before = None if write is None else file_access.version_of(write)
        old = b"" if keep is None else _read_old(keep, settings)
        composed = composing.compose(wanted, old)
        _write(composed.body, write, before)
    except MissingExtraError as error:
        screen.complain(str(error))
        sys.exit(2)
    except UnreadableError as error:
        reading.complain(error)
        sys.exit(3)
    _complain_of_open(composed)
    if not quiet:
        _explain(composed, keep is not None, presets)


def _complain_of_open(composed: composing.Composed) -> None:
    """Name URLs on closed paths that rules of the existing file allow."""
    for decision in composed.left_open[:_MAX_OPEN]:
        screen.complain(
            f"{decision.url} stays open to {decision.agent}: {decision.rule} allows more than that "
            "path, and was kept"
        )
    more = len(composed.left_open) - _MAX_OPEN
    if more > 0:
        screen.complain(f"{more:,} more rules keep such URLs open")
    if not composed.found_all:
        screen.complain(
            "other URLs on these paths may stay open too: the file has too many rules to check all"
        )


def _read_old(path: str, settings: fetch_options.FetchOptions) -> bytes:
    """Return the file of --keep, as UTF-8.

    Raises:
        UnreadableError: it cannot be read, or has no rules to read.
    """
    old = reading.read_one(path, settings)
    reading.warn_of_template(old)
    if not old.body and not reading.is_site(path) and path != file_access.STDIN:
        screen.complain(f"{old.name}: is empty. If > emptied it, use --write {old.name} instead")
    reading.check_rewritable(old, (RFC9309, GOOGLE))
    if old.charset:
        charset = reading.charset_name(old)
        screen.complain(f"{old.name}: is in {charset}; the new file is in UTF-8")
    return old.body


def _write(body: bytes, path: str | None, before: FileVersion | None) -> None:
    """Write the file to standard output, or replace the version ``before``.

    Raises:
        UnreadableError: the file cannot be written, or has changed.
    """
    if path is None:
        screen.print_file(body)
    else:
        writing.replace(path, body, before)


def _check_intentions(wanted: composing.Intentions, *, force: bool) -> None:
    """Check the values of options.

    Raises:
        click.UsageError: one is missing or invalid.
    """
    if wanted == composing.Intentions():
        raise click.UsageError(
            "no options given: use --preset no-ai-training, --training disallow, --close /path, …"
        )
    for path in (*wanted.closed, *wanted.opened):
        if not path.startswith(("/", "*")):
            raise click.UsageError(f"{path}: a path must start with /")
    _check_names(wanted.names, force=force)
    for signal in wanted.signals:
        if "=" not in signal:
            raise click.UsageError(f"--signal {signal}: must be KEY=VALUE, such as ai-train=no")
    lines = [*wanted.closed, *wanted.opened, *wanted.sitemaps, *wanted.signals]
    if any(each in line for line in lines for each in "\r\n#"):
        raise click.UsageError(
            "a value must not contain a line end or #, which end it in a robots.txt"
        )
    written = "".join(
        [
            "User-agent: *\nDisallow:\n",
            *(f"Sitemap: {each}\n" for each in wanted.sitemaps),
            *(f"Disallow: {each}\n" for each in wanted.closed),
            *(f"Allow: {each}\n" for each in wanted.opened),
            *(f"Content-Signal: {each}\n" for each in wanted.signals),
        ]
    )
    for finding in lint(written.encode("utf-8", "surrogateescape"), dialects=()):
        if finding.severity is not Severity.NOTE and finding.code[0] in "PME":
            raise click.UsageError(f"{finding.message}. {finding.suggestion}")


def _check_names(names: Iterable[str], *, force: bool) -> None:
    """Check the names of crawlers.

    Raises:
        click.UsageError: one is invalid, or unknown without ``force``.
    """
    for name in names:
        if not _TOKEN.fullmatch(name):
            raise click.UsageError(f"{name!r} is not a crawler's name; use one such as GPTBot")
        problem = None if force else problem_with(name)
        if problem is not None:
            raise click.UsageError(f"{problem} --force accepts it")


def _explain(composed: composing.Composed, has_old: bool, presets: tuple[str, ...]) -> None:
    """Print who is allowed, and what changes, on standard error."""
    with redirect_stdout(sys.stderr):
        print()
        for preset in composing.PRESETS:
            if preset.name in presets:
                _print_preset(preset)
        render(Audited(audit(parse(composed.body))))
        if has_old:
            print("\nChanges:\n")
            render(Changes(composed.changes, RFC9309))


def _print_preset(preset: composing.Preset) -> None:
    """Print what a preset does, and who stays allowed."""
    screen.print_lines(Text(f"{preset.name}: {preset.title}", "bold"), Text("Who stays allowed:"))
    for each in preset.allowed:
        screen.print_lines(Text(f"  {each}"))
    if preset.source:
        screen.print_lines(Text(f"Source: {preset.source}", "dim"))
    print()

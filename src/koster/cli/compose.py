"""``koster compose``: writes a robots.txt from its author's intentions."""

from __future__ import annotations

import re
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

import rich_click as click

from .. import compose as composing
from ..audit import audit
from ..crawlers import Purpose
from ..dialects import GOOGLE, RFC9309
from ..errors import MissingExtraError, UnreadableError
from ..lint import Severity, lint
from ..reports import screen
from ..reports.audit import Audited
from ..reports.diff import Changes
from ..reports.registry import render
from ..robots import parse
from . import _files, _inputs, _sites, _writing

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._files import Version

_TOKEN = re.compile(r"[A-Za-z0-9._-]+(?: [A-Za-z0-9._-]+)*")
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
            help=f"Allow or disallow crawlers for {purpose.value}.",
        )(command)
    return command


@click.command(options_metavar="[OPTIONS]")
@_purpose_options
@click.option("--others", type=_ACCESS, help="Allow or disallow all other crawlers.")
@click.option(
    "--close",
    "closed",
    multiple=True,
    metavar="PATH",
    help="A path to disallow for all crawlers, such as /cart/. Repeatable.",
)
@click.option(
    "--open",
    "opened",
    multiple=True,
    metavar="PATH",
    help="A path to allow within a closed one, for crawlers that are allowed. Repeatable.",
)
@click.option(
    "--allow", "allowed", multiple=True, metavar="NAME", help="A crawler to allow. Repeatable."
)
@click.option(
    "--disallow",
    "disallowed",
    multiple=True,
    metavar="NAME",
    help="A crawler to disallow, whatever its purpose. Repeatable.",
)
@click.option(
    "--delay",
    type=click.FloatRange(0, 86400),
    metavar="SECONDS",
    help="The Crawl-delay for the crawlers that are allowed.",
)
@click.option("--sitemap", "sitemaps", multiple=True, metavar="URL", help="A sitemap. Repeatable.")
@click.option(
    "--signal",
    "signals",
    multiple=True,
    metavar="KEY=VALUE",
    help="A Content-Signal, such as ai-train=no. Repeatable.",
)
@click.option(
    "--keep",
    metavar="OLD",
    help="Keep all of this robots.txt that does not conflict: a file, - for standard input, or "
    "the address of a site.",
)
@click.option(
    "--write",
    metavar="FILE",
    help="Replace this file instead of writing to standard output; it may be the file of --keep.",
)
@click.option("--quiet", is_flag=True, help="Print only the file, without the audit.")
@_sites.fetching_options
@_sites.stoppable
def compose(
    *,
    others: str | None,
    closed: tuple[str, ...],
    opened: tuple[str, ...],
    allowed: tuple[str, ...],
    disallowed: tuple[str, ...],
    delay: float | None,
    sitemaps: tuple[str, ...],
    signals: tuple[str, ...],
    keep: str | None,
    write: str | None,
    quiet: bool,
    settings: _sites.Settings,
    **purposes: str | None,
) -> None:
    """Write a robots.txt from what you want, with the known crawlers by name.

    The file goes to standard output; the audit, and what changes, to standard error.

    Example: koster compose --training disallow --dataset disallow --close /cart/ > robots.txt

    Exit codes: 0 done, 2 wrong usage, 3 a file could not be read or written, or changed on disk in
    the meantime.
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
    _check_intentions(wanted)
    try:
        # Before anything is read: only this version may be overwritten, not a newer one.
        before = None if write is None else _files.version_of(write)
        old = b"" if keep is None else _read_old(keep, settings)
        composed = composing.compose(wanted, old)
        _write(composed.body, write, before)
    except MissingExtraError as error:
        screen.complain(str(error))
        sys.exit(2)
    except UnreadableError as error:
        screen.complain(str(error))
        sys.exit(3)
    for decision in composed.left_open:
        screen.complain(
            f"{decision.url} stays open to {decision.agent}: {decision.rule} allows more than that "
            "path, and was kept"
        )
    if not quiet:
        _explain(composed, keep is not None)


def _read_old(path: str, settings: _sites.Settings) -> bytes:
    """Return the file of --keep, as UTF-8.

    Raises:
        UnreadableError: it cannot be read, or has no rules to read.
    """
    old = _inputs.read_one(path, settings)
    _inputs.check_rewritable(old, (RFC9309, GOOGLE))
    if old.charset:
        charset = _inputs.charset_name(old)
        screen.complain(f"{old.name}: is in {charset}; the new file is in UTF-8")
    return old.body


def _write(body: bytes, path: str | None, before: Version | None) -> None:
    """Write the file to standard output, or replace the version ``before``.

    Raises:
        UnreadableError: the file cannot be written, or has changed.
    """
    if path is None:
        screen.print_file(body)
    else:
        _writing.replace(path, body, before)


def _check_intentions(wanted: composing.Intentions) -> None:
    """Check the values of options.

    Raises:
        click.UsageError: one is missing or invalid.
    """
    if wanted == composing.Intentions():
        raise click.UsageError("no options given: use --training disallow, --close /path, …")
    for path in (*wanted.closed, *wanted.opened):
        if not path.startswith(("/", "*")):
            raise click.UsageError(f"{path}: a path must start with /")
    for name in filter(lambda name: not _TOKEN.fullmatch(name), wanted.names):
        raise click.UsageError(f"{name!r} is not a product token; use one such as GPTBot")
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
            raise click.UsageError(f"{finding.message}; {finding.suggestion}")


def _explain(composed: composing.Composed, has_old: bool) -> None:
    """Print the audit, and what changes, on standard error."""
    with redirect_stdout(sys.stderr):
        print()
        render(Audited(audit(parse(composed.body))))
        if has_old:
            print("\nAgainst what was kept:\n")
            render(Changes(composed.changes, RFC9309))

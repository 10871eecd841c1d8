"""``koster compose``: a robots.txt from what its author wants."""

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
_SAYS = click.Choice([composing.ALLOW, composing.DISALLOW])


def _option_of(purpose: Purpose) -> str:
    return purpose.name.lower()


def _purpose_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command an option for each purpose."""
    for purpose in reversed(Purpose):
        name = _option_of(purpose)
        command = click.option(
            f"--{name.replace('_', '-')}",
            name,
            type=_SAYS,
            help=f"Whether crawlers for {purpose.value} may.",
        )(command)
    return command


@click.command(options_metavar="[OPTIONS]")
@_purpose_options
@click.option("--others", type=_SAYS, help="Whether everybody else may.")
@click.option(
    "--close",
    "closed",
    multiple=True,
    metavar="PATH",
    help="A path that nobody may fetch, such as /cart/. Repeatable.",
)
@click.option(
    "--open",
    "opened",
    multiple=True,
    metavar="PATH",
    help="A path that all may fetch who may, though a wider one is closed. Repeatable.",
)
@click.option(
    "--allow", "allowed", multiple=True, metavar="NAME", help="A crawler that may. Repeatable."
)
@click.option(
    "--disallow",
    "disallowed",
    multiple=True,
    metavar="NAME",
    help="A crawler that may not, whatever it fetches pages for. Repeatable.",
)
@click.option(
    "--delay",
    type=click.FloatRange(0, 86400),
    metavar="SECONDS",
    help="The Crawl-delay to say.",
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
    help="Keep all of this robots.txt that is not contradicted: a file, - for standard input, or "
    "the address of a site.",
)
@click.option(
    "--write",
    metavar="FILE",
    help="Write it into this file, as a whole, and not to standard output; it may be that of "
    "--keep.",
)
@click.option("--quiet", is_flag=True, help="Print the file alone, without the audit.")
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
    timeout: float,
    cache: str | None,
    user_agent: str,
    **purposes: str | None,
) -> None:
    """Write a robots.txt from what you want, with the known crawlers by name.

    The file goes to standard output; what it changes, and who then may, to standard error.

    Example: koster compose --training disallow --dataset disallow --close /cart/ > robots.txt

    Exit codes: 0 done, 2 wrong usage, 3 a file could not be read or written, or changed on disk in
    the meantime.
    """
    said = {purpose: purposes[_option_of(purpose)] for purpose in Purpose}
    wanted = composing.Intentions(
        purposes={purpose: each for purpose, each in said.items() if each is not None},
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
    _check(wanted)
    try:
        # Before anything is read: what is there now may be written over, and nothing newer.
        before = None if write is None else _files.version_of(write)
        old = b"" if keep is None else _kept(keep, _sites.Settings(timeout, cache, user_agent))
        made = composing.compose(wanted, old)
        _put(made.body, write, before)
    except MissingExtraError as error:
        screen.complain(str(error))
        sys.exit(2)
    except UnreadableError as error:
        screen.complain(str(error))
        sys.exit(3)
    for decision in made.left_open:
        screen.complain(
            f"{decision.rule} still lets {decision.agent} fetch {decision.url}, which was to be "
            "closed: it is about more than that"
        )
    if not quiet:
        _explain(made, keep is not None)


def _kept(path: str, settings: _sites.Settings) -> bytes:
    """Return the file that is kept, as UTF-8.

    Raises:
        UnreadableError: it cannot be read, or no rule in it can be.
    """
    given = _inputs.read_one(path, settings)
    _inputs.check_rewritable(given, (RFC9309, GOOGLE))
    if given.charset:
        was = _inputs.charset_name(given)
        screen.complain(f"{given.name}: is in {was}; the new file is in UTF-8")
    return given.body


def _put(body: bytes, path: str | None, before: Version | None) -> None:
    """Write the file to standard output, or over the file that was there ``before``.

    Raises:
        UnreadableError: it cannot be written there, or has changed.
    """
    if path is None:
        screen.print_file(body)
    else:
        _writing.replace(path, body, before)


def _check(wanted: composing.Intentions) -> None:
    """Complain about what cannot be meant.

    Raises:
        click.UsageError: with what is wrong.
    """
    if wanted == composing.Intentions():
        raise click.UsageError("say what you want: --training disallow, --close /path, …")
    for path in (*wanted.closed, *wanted.opened):
        if not path.startswith(("/", "*")):
            raise click.UsageError(f"{path}: a path begins with /")
    for name in filter(lambda name: not _TOKEN.fullmatch(name), wanted.names):
        raise click.UsageError(f"{name!r} is no product token such as GPTBot")
    for signal in wanted.signals:
        if "=" not in signal:
            raise click.UsageError(f"--signal {signal}: write it as ai-train=no")
    lines = [*wanted.closed, *wanted.opened, *wanted.sitemaps, *wanted.signals]
    if any(each in line for line in lines for each in "\r\n#"):
        raise click.UsageError("a value has a line end or a #, which ends it in a robots.txt")
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


def _explain(made: composing.Composed, keeps: bool) -> None:
    """Print who then may, and what changes, for a person: on standard error."""
    with redirect_stdout(sys.stderr):
        print()
        render(Audited(audit(parse(made.body))))
        if keeps:
            print("\nAgainst what was kept:\n")
            render(Changes(made.changes, RFC9309))

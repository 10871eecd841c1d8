"""``koster compose``: a robots.txt from what its author wants."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

import rich_click as click

from .. import compose as composing
from ..agents import Purpose
from ..audit import audit
from ..dialects import RFC9309
from ..errors import MissingExtraError
from ..lint import Severity, lint
from ..robots import parse
from . import _inputs, _screen, _sites
from .audit import print_text
from .diff import print_text as print_changes

if TYPE_CHECKING:
    from collections.abc import Callable

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
@click.option("--quiet", is_flag=True, help="Print the file alone, without the audit.")
@_sites.fetching_options
@_sites.stoppable
def compose(
    others: str | None,
    closed: tuple[str, ...],
    delay: float | None,
    sitemaps: tuple[str, ...],
    signals: tuple[str, ...],
    keep: str | None,
    quiet: bool,
    timeout: float,
    cache: str | None,
    user_agent: str,
    **purposes: str | None,
) -> None:
    """Write a robots.txt from what you want, with the known crawlers by name.

    The file goes to standard output; what it changes, and who then may, to standard error.

    Example: koster compose --training disallow --data-sets disallow --close /cart/ > robots.txt

    Exit codes: 0 done, 2 wrong usage, 3 the file to keep could not be read.
    """
    said = {purpose: purposes[_option_of(purpose)] for purpose in Purpose}
    wanted = composing.Intentions(
        purposes={purpose: each for purpose, each in said.items() if each is not None},
        others=others,
        closed=closed,
        delay=delay,
        sitemaps=sitemaps,
        signals=signals,
    )
    _check(wanted)
    old = b""
    if keep is not None:
        inputs, troubles = _inputs.read_all((keep,), _sites.Settings(timeout, cache, user_agent))
        if troubles:
            sys.exit(3)
        _inputs.warn_of_no_text(inputs[0])
        old = inputs[0].body
    try:
        made = composing.compose(wanted, old)
    except MissingExtraError as error:
        _screen.complain(str(error))
        sys.exit(2)
    sys.stdout.flush()
    sys.stdout.buffer.write(made.body)
    sys.stdout.flush()
    if not quiet:
        _explain(made, keep is not None)


def _check(wanted: composing.Intentions) -> None:
    """Complain about what cannot be meant.

    Raises:
        click.UsageError: with what is wrong.
    """
    if wanted == composing.Intentions():
        raise click.UsageError("say what you want: --training disallow, --close /path, …")
    for path in wanted.closed:
        if not path.startswith(("/", "*")):
            raise click.UsageError(f"--close {path}: a path begins with /")
    for signal in wanted.signals:
        if "=" not in signal:
            raise click.UsageError(f"--signal {signal}: write it as ai-train=no")
    lines = [*wanted.closed, *wanted.sitemaps, *wanted.signals]
    if any(each in line for line in lines for each in "\r\n#"):
        raise click.UsageError("a value has a line end or a #, which ends it in a robots.txt")
    written = "".join(
        [
            "User-agent: *\nDisallow:\n",
            *(f"Sitemap: {each}\n" for each in wanted.sitemaps),
            *(f"Disallow: {each}\n" for each in wanted.closed),
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
        print_text(audit(parse(made.body)))
        if keeps:
            print("\nAgainst what was kept:\n")
            print_changes(made.changes, RFC9309)

"""The command line's root: what all commands hang on."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import rich_click as click
from click.exceptions import NoArgsIsHelpError

from .. import COMPILED, __version__
from ..reports.plain import printable
from .audit import audit
from .bulk import bulk
from .check import check
from .compose import compose
from .diff import diff
from .fetch import fetch
from .fmt import fmt
from .lint import lint
from .serve import serve
from .test import test

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Koster(click.RichGroup):
    """A group of commands whose error messages cannot command a terminal."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Read the arguments."""
        with _printable_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _printable_errors():
            return super().invoke(ctx)


@contextmanager
def _printable_errors() -> Iterator[None]:
    """Spell out control characters in errors: a script may pass on names that others chose."""
    try:
        yield
    except NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        lines = error.format_message().split("\n")
        raise click.UsageError("\n".join(map(printable, lines)), error.ctx) from error


@click.group(cls=_Koster, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(
    __version__,
    "-V",
    "--version",
    prog_name="koster",
    message=f"%(prog)s %(version)s ({'compiled' if COMPILED else 'pure Python'})",
)
def koster() -> None:
    """May this robot fetch this URL, and which line says so?

    Exit codes: 0 all is well, 1 something is not, 2 wrong usage, 3 something could not be read.
    """


for command in (check, fetch, lint, diff, audit, test, fmt, compose, bulk, serve):
    koster.add_command(command)

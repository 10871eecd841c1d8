"""The command line's root: what all commands hang on."""

from __future__ import annotations

import rich_click as click

from .. import COMPILED, __version__
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


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
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

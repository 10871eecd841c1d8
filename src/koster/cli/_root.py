"""The root of the command line: finds the commands, one for each module of this folder."""

from __future__ import annotations

import importlib
import os
import pkgutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import rich_click as click
from click.exceptions import NoArgsIsHelpError

from .. import COMPILED, __version__
from ..reports.plain import printable

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Koster(click.RichGroup):
    """The group of all commands; error messages in it cannot control a terminal."""

    def list_commands(self, _ctx: Any) -> list[str]:
        modules = pkgutil.iter_modules([os.path.dirname(__file__)])
        return sorted(each.name for each in modules if not each.name.startswith("_"))

    def get_command(self, ctx: Any, name: str) -> Any:
        """Import a command when it is used: the function with the module's name."""
        if name not in self.list_commands(ctx):
            return None
        return getattr(importlib.import_module(f"{__package__}.{name}"), name)

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        with _printable_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        with _printable_errors():
            return super().invoke(ctx)


@contextmanager
def _printable_errors() -> Iterator[None]:
    """Escape control characters in errors: a script may pass on names that others chose."""
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
    """May this crawler fetch this URL, and which line says so?

    Exit codes: 0 all is well, 1 something is not, 2 wrong usage, 3 something could not be read.
    """

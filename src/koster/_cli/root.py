"""The root of the command line: finds the commands, one for each module of `commands`."""

from __future__ import annotations

import importlib
import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import rich_click as click
from click.exceptions import NoArgsIsHelpError
from rich_click.rich_panel import RichCommandPanel

from .. import COMPILED, __version__
from .._reports import screen
from .._reports.plain import printable
from .._reports.screen import Text
from .examples import GUIDE
from .help import COMMANDS, STYLE, describe

#: The question that koster answers.
_TITLE = "May this crawler fetch this URL, and which line of robots.txt says so?"


#: The names of all commands, so that finding one need not read the folder.
_NAMES = frozenset(itertools.chain.from_iterable(COMMANDS.values()))


class _Koster(click.RichGroup):
    """The group of all commands; error messages in it cannot control a terminal."""

    def list_commands(self, _ctx: Any) -> list[str]:
        import pkgutil

        modules = pkgutil.iter_modules([os.path.join(os.path.dirname(__file__), "commands")])
        return sorted(each.name for each in modules)

    def get_command(self, ctx: Any, name: str) -> Any:
        """Import a command when it is used: the function with the module's name."""
        if name not in _NAMES and name not in self.list_commands(ctx):
            return None
        return getattr(importlib.import_module(f"{__package__}.commands.{name}"), name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command; suggest one that is spelt alike."""
        if self.get_command(ctx, args[0]) is None:
            import difflib

            near = difflib.get_close_matches(args[0], self.list_commands(ctx), 1)
            if near:
                ctx.fail(f"No such command {args[0]!r}. Did you mean {near[0]}?")
        return super().resolve_command(ctx, args)

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


@click.group(
    cls=_Koster,
    panels=[RichCommandPanel(name, list(commands)) for name, commands in COMMANDS.items()],
    invoke_without_command=True,
    subcommand_metavar="COMMAND",
    options_metavar="",
    epilog="Exit codes: 0 all is well, 1 something is not, 2 wrong usage, 3 something could not be "
    "read.",
    context_settings={"help_option_names": ["-h", "--help"], "rich_help_config": STYLE},
)
@click.version_option(
    __version__,
    "-V",
    "--version",
    prog_name="koster",
    message=f"%(prog)s %(version)s ({'compiled' if COMPILED else 'pure Python'})",
)
@click.pass_context
def koster(context: click.Context) -> None:
    """May this crawler fetch this URL, and which line of robots.txt says so?

    koster help COMMAND explains a command, with examples.
    """
    if context.invoked_subcommand is None:
        _print_guide()


describe(koster, "koster")


def _print_guide() -> None:
    """Print the most useful commands, each with an example, and where to find more."""
    screen.print_lines(Text(f"{_TITLE}\n"))
    width = max(len(what) for what, _ in GUIDE)
    for what, example in GUIDE:
        screen.print_lines(Text.assemble(f"  {what:<{width}}  ", (example, "bold cyan")))
    more = ("koster --help", "all commands"), ("koster help check", "one command, with examples")
    screen.print_lines(Text(""))
    for command, what in (*more, ("koster completion bash", "complete names with Tab")):
        screen.print_lines(Text.assemble((f"  {command:<24}", "bold cyan"), what))

"""How commands and their help are declared: examples first, options in groups, then exit codes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import rich_click as click
from rich_click.rich_help_configuration import RichHelpConfiguration

from .examples import EXAMPLES

#: The groups of options that several commands have.
INPUT, RULES, OUTPUT, FETCHING = "Input", "Rules", "Output", "Fetching"

#: The groups of commands, in the order of ``koster --help``.
COMMANDS = {
    "Ask": ("check", "fetch", "agents"),
    "Write and review a robots.txt": ("lint", "audit", "signals", "test", "diff", "fmt", "compose"),
    "Logs, archives and services": ("logs", "bulk", "serve"),
    "Write a parser": ("conformance",),
    "Help": ("help", "completion"),
}

#: No boxes, and a line for each option.
STYLE = RichHelpConfiguration(
    theme="default-slim",
    enable_theme_env_var=False,
    style_helptext_first_line="",
    style_helptext="",
    style_epilog_text="",
    options_table_help_sections=["help", "default"],
    default_string="\\[default: {}]",
    padding_helptext_first_line=(0, 0, 1, 0),
    padding_epilog=0,
    text_markup=None,
)


def describe(made: click.RichCommand, path: str) -> None:
    """Add the examples to the help of a command, after its first sentence."""
    sentence, more = inspect.cleandoc(made.help or "").split("\n\n")
    # \b keeps the lines of a paragraph, and a line with a space does not end it.
    lines = ["\b", "Examples:", *(f"  {each}" for each in EXAMPLES[path]), " "]
    made.help = "\n\n".join([sentence, "\n".join([*lines, more.replace("\n", " ")])])


class Command(click.RichCommand):
    """A command; ``--help`` stands among the options for output."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option, in its group."""
        option: Any = super().get_help_option(ctx)
        if option is not None:
            option.panel = OUTPUT
        return option


def command(path: str, exit_codes: str) -> Callable[[Callable[..., Any]], Command]:
    """Return a decorator that makes a command.

    Args:
        path: Its name, with that of its group: ``bulk classify``.
        exit_codes: What they mean, in a line of help.
    """

    def decorate(function: Callable[..., Any]) -> Command:
        made: Command = click.command(
            path.rsplit(maxsplit=1)[-1],
            cls=Command,
            epilog=f"Exit codes: {exit_codes}.",
            options_metavar="[OPTIONS]",
        )(function)
        describe(made, path)
        return made

    return decorate


def group(name: str, exit_codes: str) -> Callable[[Callable[..., Any]], click.RichGroup]:
    """Return a decorator that makes a group of commands."""

    def decorate(function: Callable[..., Any]) -> click.RichGroup:
        made = click.group(name, epilog=f"Exit codes: {exit_codes}.")(function)
        describe(made, name)
        return made

    return decorate

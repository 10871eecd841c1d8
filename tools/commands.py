"""The commands as the man page and the site show them."""

from __future__ import annotations

import inspect
from contextlib import chdir
from typing import TYPE_CHECKING

import click
from click.testing import CliRunner

from koster._cli.examples import EXAMPLES
from koster._cli.root import koster

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


class Described:
    """A command as the page shows it."""

    def __init__(self, path: str, command: click.Command, context: click.Context) -> None:
        self.path = path
        self.command = command
        self.usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
        text = inspect.cleandoc(command.callback.__doc__ or "").split("\n\n")
        self.sentence, self.more = (" ".join(each.split()) for each in text)
        self.examples = EXAMPLES[path]
        self.epilog = command.epilog or ""
        panels: dict[str, list[tuple[str, str]]] = {}
        for option in command.params:
            if isinstance(option, click.Option):
                panel = getattr(option, "panel", None) or "Options"
                panels.setdefault(panel, []).append((_names(option, context), _help(option)))
        self.panels = list(panels.items())


def _names(option: click.Option, context: click.Context) -> str:
    names = ", ".join(sorted(option.opts, key=len))
    return names if option.is_flag else f"{names} {option.make_metavar(context)}"


def _help(option: click.Option) -> str:
    default = f" Default: {option.default}." if option.show_default else ""
    return f"{option.help}{default}"


def described(names: tuple[str, ...], parent: click.Context) -> Iterator[Described]:
    """Yield commands, each followed by those in it."""
    for name in names:
        command = parent.command.get_command(parent, name)  # type: ignore[attr-defined]
        context = click.Context(command, parent=parent, info_name=name)
        yield Described(context.command_path.removeprefix("koster "), command, context)
        if isinstance(command, click.Group):
            yield from described(tuple(command.list_commands(context)), context)


def printed(arguments: Sequence[str], folder: Path) -> str:
    """Return what the command prints in a folder, at 80 columns."""
    with chdir(folder):
        return CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1"}).invoke(koster, arguments).output

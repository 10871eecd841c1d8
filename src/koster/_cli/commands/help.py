"""``koster help``: the help of commands."""

from __future__ import annotations

from typing import Any

import rich_click as click
from click.shell_completion import CompletionItem

from ..help import command


def _complete(context: click.Context, _parameter: Any, incomplete: str) -> list[CompletionItem]:
    """Return the commands that may follow those that are complete."""
    found = context.find_root()
    for name in context.params.get("names") or ():
        found = _context_of(name, found)
    if not isinstance(found.command, click.Group):
        return []
    return [
        CompletionItem(name)
        for name in found.command.list_commands(found)
        if name.startswith(incomplete)
    ]


@command("help", "0 done, 2 there is no such command")
@click.argument("names", nargs=-1, metavar="[COMMAND]...", shell_complete=_complete)
@click.pass_context
def help(context: click.Context, names: tuple[str, ...]) -> None:  # noqa: A001 - the command's name
    """Explain a command.

    Without COMMAND, list all commands.
    """
    found = context.find_root()
    for name in names:
        found = _context_of(name, found)
    click.echo(found.get_help(), color=context.color)


def _context_of(name: str, parent: click.Context) -> click.Context:
    """Return the context of a command.

    Raises:
        click.UsageError: there is no such command.
    """
    if not isinstance(parent.command, click.Group):
        raise click.UsageError(f"{parent.command_path} has no commands", parent)
    _, found, _ = parent.command.resolve_command(parent, [name])
    if found is None:
        raise click.UsageError(f"No such command {name!r}", parent)
    return found.context_class(found, parent=parent, info_name=name)

"""``koster completion``: completes commands, options, files, crawlers and codes in a shell."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import rich_click as click
from click.shell_completion import get_completion_class

from ..._reports import screen
from ..._reports.plain import printable
from ..._reports.screen import Text
from ...errors import UnreadableError
from .. import file_access, writing
from ..help import OUTPUT, command

_PROGRAM = "koster"
#: The variable that click reads when a shell asks for completions.
_VARIABLE = "_KOSTER_COMPLETE"
#: The last line of an installed script: only such a file is replaced.
_MARK = f"# Written by {_PROGRAM} completion, which replaces this file."


@command("completion", "0 done, 2 wrong usage, 3 the script could not be written")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="SHELL")
@click.option(
    "--print", "is_printed", is_flag=True, panel=OUTPUT, help="Print the script; install nothing."
)
@click.pass_context
def completion(context: click.Context, shell: str, is_printed: bool) -> None:
    """Install completion with Tab: of files, options, crawlers, dialects and codes.

    SHELL is bash, zsh or fish. Run it again after an update of koster.
    """
    script = _script(shell, context.find_root().command)
    if is_printed:
        print(script, end="")
        return
    path = _PLACES[shell]()
    try:
        _install(path, script)
    except UnreadableError as error:
        screen.complain(str(error))
        sys.exit(3)
    for line in _next_steps(shell, path):
        screen.print_lines(Text(line))


def _script(shell: str, root: click.Command) -> str:
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"click has no completion for {shell}")
    script = kind(root, {}, _PROGRAM, _VARIABLE).source()
    # A list of codes has commas, too.
    script = script.replace('string split ","', 'string split --max 1 ","')
    return f"{script.rstrip()}\n\n{_MARK}\n"


def _folder(variable: str, default: str) -> Path:
    """Return the folder that a variable of the environment names, else one of the user."""
    return Path(os.environ.get(variable) or Path.home() / default)


def _bash() -> Path:
    own = os.environ.get("BASH_COMPLETION_USER_DIR")
    data = _folder("XDG_DATA_HOME", ".local/share")
    return (Path(own) if own else data / "bash-completion") / "completions" / _PROGRAM


def _zsh() -> Path:
    return _folder("ZDOTDIR", "") / ".zfunc" / f"_{_PROGRAM}"


def _fish() -> Path:
    return _folder("XDG_CONFIG_HOME", ".config") / "fish" / "completions" / f"{_PROGRAM}.fish"


#: Where each shell looks for the completions of a user.
_PLACES: dict[str, Callable[[], Path]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}


def _install(path: Path, script: str) -> None:
    """Write a script, or replace one of an earlier version.

    Raises:
        UnreadableError: it cannot be written, or the file there is another one.
    """
    shown = printable(str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnreadableError(f"{shown}: {error.strerror}") from error
    before = file_access.version_of(str(path))
    if before.content is not None and _MARK not in before.content.decode("utf-8", "replace"):
        raise UnreadableError(
            f"{shown}: exists and is not from koster; not overwritten. --print prints the script"
        )
    if before.content != script.encode():
        writing.replace(str(path), script.encode(), before)


def _next_steps(shell: str, path: Path) -> list[str]:
    shown = printable(str(path))
    done = f"Completion for {shell} is in {shown}"
    if shell == "zsh":
        rc = printable(str(_folder("ZDOTDIR", "") / ".zshrc"))
        return [
            done,
            f"Add to {rc}, if it is not there, and open a new shell:",
            f"  fpath=({printable(str(path.parent))} $fpath)",
            "  autoload -Uz compinit && compinit",
        ]
    if shell == "bash":
        return [
            done,
            "Open a new shell to use it. Without the package bash-completion, add to ~/.bashrc:",
            f"  source {shown}",
        ]
    return [done, "Open a new shell to use it."]

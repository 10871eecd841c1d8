"""Command lines that an option names: run without a shell, so that no file name is code."""

from __future__ import annotations

import os
import re
import shlex

import rich_click as click

from .._reports.plain import printable
from ..errors import UnreadableError

_PLACEHOLDER = "{}"
#: Where a path takes the place of ``{}``: ``{}``, ``--file={}``, ``-f{}``, ``@{}``.
_WITH_PATH = re.compile(r"(?:--?[\w-]+=?|@)?\{\}")
#: What a shell would read in another way than as an argument: outside all quotes, and also in
#: double quotes.
_OPERATOR = re.compile(r"[|&;<>()\n]")
_EXPANSION = re.compile(r"\$[\w({]|`")
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_QUOTED = re.compile(r"""\\.|'[^']*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_SHELLS = {"sh", "bash", "dash", "ash", "zsh", "ksh", "fish", "cmd", "powershell", "pwsh"}
_RUNS_NEXT = re.compile(r"[-/]\w*[ck]|-command|--command", re.IGNORECASE)
#: The first characters of names that programs may read as an option, or as the name of a list.
_SPECIAL_STARTS = ("-", "+", "@")
#: Windows runs such programs with a shell, which reads these characters even in quotes.
_BATCH_FILES = (".bat", ".cmd")
_UNSAFE_IN_BATCH_FILES = re.compile(r"[^\w ./\\:+,=@~-]")


def arguments(option: str, command: str, path: str | None) -> list[str]:
    """Return a program and its arguments, with a path in place of ``{}``.

    Raises:
        click.UsageError: the command needs a shell, is empty, or has ``{}`` within an argument.
        UnreadableError: the path cannot be passed safely.
    """
    _check_needs_no_shell(option, command)
    lexer = shlex.shlex(command, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    if os.name == "nt":
        lexer.escape = ""
    try:
        parts = list(lexer)
    except ValueError as error:
        raise click.UsageError(f"{option}: a quotation mark is not closed") from error
    if not parts:
        raise click.UsageError(f"{option}: the command is empty")
    for number, part in enumerate(parts):
        if _PLACEHOLDER in part and (not _WITH_PATH.fullmatch(part) or _is_code(parts[:number])):
            raise click.UsageError(
                f"{option}: {{}} must be an argument of its own, as in {{}} or --file={{}}; "
                """for a shell, write sh -c '… "$1" …' sh {}"""
            )
    if path is None:
        return parts
    _check_path(option, parts[0], path)
    safe = f".{os.sep}{path}" if path != "-" and path.startswith(_SPECIAL_STARTS) else path
    return [part.replace(_PLACEHOLDER, safe, 1) for part in parts]


def _check_needs_no_shell(option: str, command: str) -> None:
    with_expansions = _QUOTED.sub(lambda each: each[0] if each[0][0] == '"' else "", command)
    found = _EXPANSION.search(_ESCAPED.sub("", with_expansions)) or _OPERATOR.search(
        _QUOTED.sub("", command)
    )
    if found:
        raise click.UsageError(
            f"{option} runs the command without a shell, which {found[0]!r} needs; "
            """for a shell, write sh -c '… "$1" …' sh {}"""
        )


def _is_code(before: list[str]) -> bool:
    """Return whether a shell runs the argument after some others as a command."""
    names = {os.path.splitext(os.path.basename(each))[0].lower() for each in before}
    return bool(names & _SHELLS and _RUNS_NEXT.fullmatch(before[-1]))


def _check_path(option: str, program: str, path: str) -> None:
    is_batch_file = os.name == "nt" and program.lower().endswith(_BATCH_FILES)
    if is_batch_file and _UNSAFE_IN_BATCH_FILES.search(path):
        raise UnreadableError(f"{printable(path)}: {option} cannot pass this name to a batch file")

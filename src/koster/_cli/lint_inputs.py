"""The files that ``koster lint`` checks: named, found in folders, or rendered from templates."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import rich_click as click

from .._reports import screen
from .._reports.plain import printable
from ..errors import UnreadableError
from ..robots import MAX_PARSED_BYTES
from . import file_access, links, reading
from .command_lines import arguments
from .reading import RobotsFile

if TYPE_CHECKING:
    import subprocess


#: Where a robots.txt is, if no file is named.
_USUAL_PLACES = ("robots.txt", "public/robots.txt", "static/robots.txt")
#: The names of files in a folder that is searched: ``robots.txt``, ``robots.staging.txt``, and
#: templates such as ``robots.txt.j2`` and ``robots.txt.liquid``.
_NAME = re.compile(
    r"robots(\.[\w-]+)?\.txt(\.(j2|jinja2?|njk|twig|liquid|erb|ejs|hbs|tmpl|tpl|gotmpl|php))?",
    re.IGNORECASE,
)
_SKIPPED = {"node_modules", "__pycache__", "venv"}
_MAX_RENDER_SECONDS = 60


def files_to_lint(files: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Return the files to check: those in place of folders; without any, the usual one.

    Also returns the errors of folders without one, which are printed.

    Raises:
        click.UsageError: none is named, and the usual one is missing.
    """
    found = []
    errors = []
    for path in files or [_usual_file()]:
        if path == file_access.STDIN or reading.is_site(path) or not os.path.isdir(path):
            found.append(path)
            continue
        in_folder = sorted(_search(path))
        if not in_folder:
            errors.append(f"{printable(path)}: no robots.txt in this folder")
            screen.complain(errors[-1])
        for each in in_folder:
            try:
                links.check(each, path)
            except UnreadableError as error:
                errors.append(str(error))
                screen.complain(str(error))
            else:
                found.append(each)
    return found, errors


def _usual_file() -> str:
    for path in _USUAL_PLACES:
        if os.path.isfile(path):
            return path
    places = f"{', '.join(_USUAL_PLACES[:-1])} or {_USUAL_PLACES[-1]}"
    raise click.UsageError(f"no {places} here: name a file, a folder, - or the address of a site")


def _search(folder: str) -> Iterator[str]:
    for path, folders, names in os.walk(folder):
        folders[:] = [
            each
            for each in folders
            if not each.startswith(".")
            and each not in _SKIPPED
            and not os.path.exists(os.path.join(path, each, "pyvenv.cfg"))
        ]
        yield from (os.path.join(path, name) for name in names if _NAME.fullmatch(name))


def rendered(command: str, path: str | None) -> RobotsFile:
    """Return the output of a command that renders a template, as a file to check.

    The template is its standard input; ``{}`` in the command is the path of the template.

    Raises:
        click.UsageError: the command is invalid.
        UnreadableError: the template cannot be read; the command fails, prints nothing or too
            much, or takes too long.
    """
    import subprocess
    import tempfile

    line = arguments("--render", command, path)
    template = b"" if path is None else file_access.read_bytes(path)
    shown = "<rendered>" if path is None else f"{file_access.shown_name(path)} (rendered)"
    with tempfile.TemporaryFile() as source:
        source.write(template)
        source.seek(0)
        try:
            process = subprocess.Popen(  # noqa: S603 - the user's own command, without a shell
                line, stdin=source, stdout=subprocess.PIPE, start_new_session=True
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise UnreadableError(f"{shown}: cannot run {printable(line[0])}: {why}") from error
    expired = threading.Event()

    def stop_late() -> None:
        expired.set()
        _stop(process)

    timer = threading.Timer(_MAX_RENDER_SECONDS, stop_late)
    timer.start()
    try:
        body = process.stdout.read(MAX_PARSED_BYTES + 1) if process.stdout else b""
        if len(body) > MAX_PARSED_BYTES:
            raise UnreadableError(f"{shown}: --render printed more than a robots.txt can have")
        code = process.wait()
    finally:
        timer.cancel()
        _stop(process)
        if process.stdout:
            process.stdout.close()
    if expired.is_set():
        raise UnreadableError(f"{shown}: --render took more than {_MAX_RENDER_SECONDS} s")
    if code:
        raise UnreadableError(f"{shown}: --render failed with exit code {code}")
    if not body.strip():
        raise UnreadableError(f"{shown}: --render printed nothing")
    return reading.RobotsFile(shown, body)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Stop a command and what it started, if they still run."""
    with suppress(ProcessLookupError, PermissionError):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

"""The configuration files of ``koster lint``: ``koster.toml``, or ``pyproject.toml``.

As with other linters, the nearest one above a file applies to it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rich_click as click

from .. import crawlers
from .._opening import open_file
from .._reports import screen
from .._reports.plain import printable
from .._toml import MAX_SIZE, TomlError, read_toml
from .._wording import count_noun, truncated
from ..errors import MissingExtraError
from ..lint import Check
from ..lint import settings as lint_settings
from ..lint.settings import Settings, SettingsError
from . import file_access, links, reading

_OWN_FILE = "koster.toml"
_PROJECT_FILE = "pyproject.toml"
#: The maximum number of warnings of unknown crawlers, and the maximum length of a name there.
_MAX_WARNINGS = 5
_MAX_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Configuration:
    """Settings, the file that has them, and its folder: paths are relative to it."""

    settings: Settings
    folder: Path
    file: Path | None = None

    def checks_for(self, path: str) -> tuple[Check, ...]:
        """Return the checks for a file."""
        if path == file_access.STDIN or reading.is_site(path):
            return self.settings.checks_for(path)
        return self.settings.checks_for(os.path.relpath(path, self.folder).replace(os.sep, "/"))


class Configurations:
    """The configurations of files, each read once.

    ``path`` is a file to use for all of them, ``update`` applies the options of the command.
    """

    def __init__(self, path: str | None, update: Callable[[Settings], Settings]) -> None:
        self._update = update
        self._found: dict[Path, Configuration] = {}
        self._told: set[Path] = set()
        self._only = None
        if path is not None:
            file = Path(path)
            table = _load(file)
            own = (_tool_table(table) or {}) if file.name == _PROJECT_FILE else table
            self._only = self._configuration(file, own)

    def of(self, path: str) -> Configuration:
        """Return the configuration of a file; of standard input and sites, that of this folder.

        Raises:
            click.UsageError: the configuration is invalid.
        """
        is_file = path != file_access.STDIN and not reading.is_site(path)
        return self._only or self._of_folder(Path(path if is_file else "x").absolute().parent)

    def _of_folder(self, folder: Path) -> Configuration:
        if folder not in self._found:
            found = self._read(folder)
            self._found[folder] = found
            self._tell_if_above(found, folder)
        return self._found[folder]

    def _tell_if_above(self, found: Configuration, folder: Path) -> None:
        """Say which file is used if it is in a parent folder, which people may not think of."""
        if found.file is None or found.file in self._told or found.folder in (folder, Path.cwd()):
            return
        self._told.add(found.file)
        print(f"koster: settings of {_shown(found.file)}", file=sys.stderr)

    def _read(self, folder: Path) -> Configuration:
        own, project = folder / _OWN_FILE, folder / _PROJECT_FILE
        if own.is_file():
            return self._configuration(own, _load(own))
        if project.is_file():
            table = _tool_table(_load(project))
            if table is not None:
                return self._configuration(project, table)
        if folder.parent != folder:
            return self._of_folder(folder.parent)
        return Configuration(self._update(Settings()), folder)

    def _configuration(self, file: Path, table: object) -> Configuration:
        """Return the configuration in a table of a file.

        Raises:
            click.UsageError: it is invalid.
        """
        try:
            if not isinstance(table, dict):
                raise SettingsError("tool.koster must be a table")  # noqa: TRY301
            settings = self._update(lint_settings.read(table))
        except SettingsError as error:
            raise click.UsageError(f"{_shown(file)}: {error}") from error
        _warn_of_unknown(settings, file)
        return Configuration(settings, file.absolute().parent, file.absolute())


def _tool_table(project: dict[str, Any]) -> object:
    """Return what ``pyproject.toml`` has for koster, or None."""
    tools = project.get("tool")
    return tools.get("koster") if isinstance(tools, dict) else None


def _shown(file: Path) -> str:
    return printable(os.path.relpath(file))


def _warn_of_unknown(settings: Settings, file: Path) -> None:
    """Warn of the first unknown crawlers: suggestions take long."""
    try:
        unknown = [name for name in settings.crawlers if crawlers.named(name) is None]
        for name in unknown[:_MAX_WARNINGS]:
            near = ", ".join(crawlers.suggestions(name))
            hint = f". Did you mean {near}?" if near else ""
            shown = truncated(repr(name), _MAX_SHOWN)
            screen.complain(f"{_shown(file)}: unknown crawler {shown}{hint}")
    except MissingExtraError:
        return
    if more := len(unknown[_MAX_WARNINGS:]):
        screen.complain(f"{_shown(file)}: {count_noun(more, 'more unknown crawler')}")


def _load(file: Path) -> dict[str, Any]:
    """Return the content of a TOML file.

    Raises:
        click.UsageError: it cannot be read, or is invalid.
        UnreadableError: it is a link out of the working tree.
    """
    links.check(str(file))
    try:
        with open_file(file) as opened:
            return read_toml(opened.read(MAX_SIZE + 1))
    except OSError as error:
        raise click.UsageError(f"{_shown(file)}: {error.strerror}") from error
    except TomlError as error:
        raise click.UsageError(f"{_shown(file)}: {error}") from error

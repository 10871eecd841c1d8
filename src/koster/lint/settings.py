"""The settings of lint: which checks run, on which files, and how severe their findings are.

A table of TOML has them: all of ``koster.toml``, or ``[tool.koster]`` of ``pyproject.toml``.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sized
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import Any

from .._wording import truncated
from ..dialects import GOOGLE, RFC9309, Dialect, dialect_named
from ..errors import KosterError, UnknownDialectError
from ._checks import Check
from ._model import SEARCH_CRAWLERS, Severity
from ._table import CHECK_OF, CHECKS

__all__ = ["Settings", "SettingsError", "chosen", "read"]


class SettingsError(KosterError, ValueError):
    """Invalid settings."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How to check files.

    Attributes:
        select: Prefixes of the codes of checks to run; all, if it is empty.
        ignore: Prefixes of the codes of checks to skip.
        per_file_ignores: Prefixes to skip by a pattern for file names, such as ``staging/*``.
        severities: Severities that differ from those of the checks, by code.
        dialects: How to read files, and the dialects to compare that with.
        crawlers: The search engines that should find the site.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    severities: Mapping[str, Severity] = field(default_factory=dict)
    dialects: tuple[Dialect, ...] = (RFC9309, GOOGLE)
    crawlers: tuple[str, ...] = SEARCH_CRAWLERS

    def updated(
        self, select: Iterable[str], ignore: Iterable[str], dialects: tuple[Dialect, ...]
    ) -> Settings:
        """Return the settings with options: of the command line, for example.

        ``select`` and ``dialects`` replace the settings, unless they are empty; ``ignore`` is
        added.

        Raises:
            SettingsError: no code starts with a prefix, or no check is left.
        """
        select, ignore = tuple(select), tuple(ignore)
        _check_prefixes([*select, *ignore])
        if ignore and not chosen(select or self.select, (*self.ignore, *ignore)):
            raise SettingsError("no check is left: others are ignored or not selected")
        return replace(
            self,
            select=select or self.select,
            ignore=(*self.ignore, *ignore),
            dialects=dialects or self.dialects,
        )

    def checks_for(self, path: str) -> tuple[Check, ...]:
        """Return the checks for a file; ``path`` is relative to the file with the settings."""
        ignore = list(self.ignore)
        for pattern, prefixes in self.per_file_ignores.items():
            if fnmatchcase(path, pattern) or fnmatchcase(PurePath(path).name, pattern):
                ignore += prefixes
        return chosen(self.select, ignore)


def chosen(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> tuple[Check, ...]:
    """Return the checks selected by code prefixes, except those ignored by other prefixes.

    Raises:
        SettingsError: no code starts with a prefix.
    """
    select, ignore = list(select), list(ignore)
    _check_prefixes([*select, *ignore])

    def starts_with_any(check: Check, prefixes: list[str]) -> bool:
        return any(check.code.startswith(prefix.upper()) for prefix in prefixes)

    def is_selected(check: Check) -> bool:
        if not check.is_on:
            return check.code in map(str.upper, select)
        return not select or starts_with_any(check, select)

    return tuple(
        check for check in CHECKS if is_selected(check) and not starts_with_any(check, ignore)
    )


def _check_prefixes(prefixes: Iterable[str]) -> None:
    for prefix in prefixes:
        if not any(check.code.startswith(prefix.upper()) for check in CHECKS):
            raise SettingsError(
                f"unknown code {truncated(prefix, _MAX_SHOWN)}; koster lint --explain all lists the codes"
            )


#: The maximum length of a value in a message.
_MAX_SHOWN = 100
#: The maximum length of a list or table: each file is compared with all of them.
_MAX_ENTRIES = 1_000

_KEYS = ("select", "ignore", "per-file-ignores", "severity", "dialects", "crawlers")


def read(table: Mapping[str, Any]) -> Settings:
    """Return the settings in a table.

    Raises:
        SettingsError: a key or value is invalid.

    >>> read({"ignore": ["S009"], "severity": {"S008": "note"}}).severities
    {'S008': <Severity.NOTE: 'note'>}
    """
    for key in table:
        if key not in _KEYS:
            raise SettingsError(f"unknown key {_shown(key)}{_hint(key, _KEYS)}")
    select, ignore = (_strings(table, key) for key in ("select", "ignore"))
    _check_prefixes([*select, *ignore])
    return Settings(
        select,
        ignore,
        _per_file_ignores(table),
        _severities(table),
        _dialects(_strings(table, "dialects")) or (RFC9309, GOOGLE),
        _strings(table, "crawlers") or SEARCH_CRAWLERS,
    )


def _shown(value: object) -> str:
    return truncated(repr(value), _MAX_SHOWN)


def _hint(name: str, names: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the nearest one, or all."""
    names = list(names)
    near = difflib.get_close_matches(name, names, n=1)
    return f". Did you mean {near[0]}?" if near else f"; valid are {', '.join(names)}"


def _strings(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise SettingsError(f"{key} must be a list of strings, not {_shown(value)}")
    _check_size(value, key)
    return tuple(value)


def _table(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise SettingsError(f"{key} must be a table, not {_shown(value)}")
    _check_size(value, key)
    return value


def _check_size(entries: Sized, key: str) -> None:
    if len(entries) > _MAX_ENTRIES:
        raise SettingsError(f"{_shown(key)} has more than {_MAX_ENTRIES:,} entries")


def _per_file_ignores(table: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    patterns = _table(table, "per-file-ignores")
    found = {pattern: _strings(patterns, pattern) for pattern in patterns}
    _check_prefixes(prefix for prefixes in found.values() for prefix in prefixes)
    return found


def _severities(table: Mapping[str, Any]) -> dict[str, Severity]:
    found = {}
    for code, value in _table(table, "severity").items():
        if code.upper() not in CHECK_OF:
            raise SettingsError(f"unknown code {_shown(code)} in severity{_hint(code, CHECK_OF)}")
        if value not in list(Severity):
            raise SettingsError(
                f"invalid severity {_shown(value)} of {code}: write {', '.join(Severity)}"
            )
        found[code.upper()] = Severity(value)
    return found


def _dialects(names: Iterable[str]) -> tuple[Dialect, ...]:
    try:
        return tuple(dict.fromkeys(map(dialect_named, names)))
    except UnknownDialectError as error:
        raise SettingsError(str(error)) from error

"""Parts of koster that need an extra, imported when a command uses them."""

from __future__ import annotations

import importlib
from typing import Any

import rich_click as click

from ..errors import MissingExtraError


def imported(name: str) -> Any:
    """Import a module of koster: ``bulk.runs``.

    Raises:
        click.UsageError: an extra is missing.
    """
    try:
        return importlib.import_module(f"koster.{name}")
    except MissingExtraError as error:
        raise click.UsageError(str(error)) from error

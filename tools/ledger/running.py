"""Computes the answers of parts, in processes."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

from .parts import PARTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .entries import Entry, Part, Place

_PART_OF = {part.name: part for part in PARTS}


def answers(part: Part, names: Iterable[str]) -> dict[Place, Entry]:
    """Return the entries of some files."""
    return {each.place: each for name in names for each in part.entries(name)}


def all_answers() -> Mapping[str, dict[Place, Entry]]:
    """Return all entries by the name of their part, computed on all cores."""
    found: dict[str, dict[Place, Entry]] = {part.name: {} for part in PARTS}
    tasks = [task for part in PARTS for task in _tasks(part)]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for (name, _), entries in zip(tasks, pool.map(_answered, tasks), strict=True):
            found[name] |= entries
    return found


def _tasks(part: Part) -> Iterable[tuple[str, list[str]]]:
    names = list(part.files())
    for start in range(0, len(names), part.at_once):
        yield part.name, names[start : start + part.at_once]


def _answered(task: tuple[str, list[str]]) -> dict[Place, Entry]:
    name, names = task
    return answers(_PART_OF[name], names)

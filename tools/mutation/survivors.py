"""Changes that no test notices, and the list of those that stay."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cosmic_ray.work_item import TestOutcome

if TYPE_CHECKING:
    from cosmic_ray.work_db import WorkDB

#: The survivors that stay, each with its reason.
_LIST = Path(__file__).with_name("survivors.toml")


class Survivor(NamedTuple):
    """A change that no test noticed."""

    module: str
    operator: str
    line: str
    changed: str

    @property
    def part(self) -> str:
        """``_engine``, ``analysis``, ``access`` or ``freshness``."""
        return self.module.partition("-")[0]


def listed() -> set[Survivor]:
    """Return the survivors that have a reason."""
    entries = tomllib.loads(_LIST.read_text("utf-8"))["survivor"]
    return {Survivor(*(each[key] for key in Survivor._fields)) for each in entries}


def survivors_of(session: WorkDB, module: str) -> dict[str, Survivor]:
    """Return the survivors of a session, by the identifier of the change."""
    found = {}
    for item, result in session.completed_work_items:
        if result.test_outcome is TestOutcome.SURVIVED:
            operator = item.mutations[0].operator_name.partition("/")[2]
            diff = result.diff or ""
            found[item.job_id] = Survivor(module, operator, _lines(diff, "-"), _lines(diff, "+"))
    return found


def _lines(diff: str, mark: str) -> str:
    """Return what a diff removes or adds."""
    lines = [each[1:].strip() for each in diff.splitlines() if each[:1] == mark]
    return " ".join(each for each in lines if not each.startswith(mark * 2))

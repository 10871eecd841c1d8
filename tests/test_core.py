"""The core: what import-linter keeps free of packages is what `make coverage` measures."""

from __future__ import annotations

import pkgutil
import tomllib
from pathlib import Path

import koster
from tests.helpers.support import ROOT


def test_coverage_is_measured_for_the_core() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    (contract,) = [
        each for each in tools["importlinter"]["contracts"] if each["name"].startswith("The core ")
    ]
    core = {name.removeprefix("koster.") for name in contract["source_modules"]}
    omitted = {Path(path).parts[2].removesuffix(".py") for path in tools["coverage"]["run"]["omit"]}
    names = {each.name for each in pkgutil.iter_modules(koster.__path__)}
    assert core | omitted == names - {"_version"}
    assert not core & omitted


def test_names_of_the_package_are_listed() -> None:
    assert {"parse", "RobotsTxt", "RobotsClient"} <= set(dir(koster))

"""A pytest plugin: redirects imports to a facade, and writes results to a file.

``KOSTER_MODULES`` has the names as JSON, ``KOSTER_RESULTS`` is the file.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from types import ModuleType
from typing import Any

_results: dict[str, str] = {}


def _redirect(modules: dict[str, str]) -> None:
    """Install facades under the import names of their originals."""
    for name, facade in modules.items():
        module = importlib.import_module(facade)
        package, _, last = name.rpartition(".")
        if package and package not in sys.modules:
            if package in sys.stdlib_module_names:
                importlib.import_module(package)
            else:
                # Not the original, if it is installed: it has what the facade lacks.
                sys.modules[package] = ModuleType(package)
        if package:
            setattr(sys.modules[package], last, module)
        sys.modules[name] = module


class _Private(ModuleType):
    """Stands for private helpers of an original: importable, every name is None."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None


def pytest_configure() -> None:
    modules = json.loads(os.environ["KOSTER_MODULES"])
    _redirect(modules)
    for name in modules:
        if "." not in name:
            sys.modules[f"{name}._utils"] = _Private(f"{name}._utils")


def pytest_runtest_logreport(report: Any) -> None:
    """Record the worst outcome of a test; subtests count for their test."""
    order = ("passed", "skipped", "failed")
    name = "::".join(report.nodeid.split("::")[1:]).split("[")[0] or report.nodeid
    name = f"{report.nodeid.split('::')[0].rpartition('/')[2]}::{name}"
    if "[" in report.nodeid:
        name += "[" + report.nodeid.split("[", 1)[1]
    before = _results.get(name, "passed")
    _results[name] = max(before, report.outcome, key=order.index)


def pytest_collectreport(report: Any) -> None:
    if report.failed:
        _results[f"{report.nodeid} (collection)"] = "failed"


def pytest_sessionfinish() -> None:
    with open(os.environ["KOSTER_RESULTS"], "w", encoding="utf-8") as file:
        json.dump(_results, file)

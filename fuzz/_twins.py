"""Which build of koster a process imports: compiled, plain, both at once, or with instrumentation.

`plain` imports koster a second time, as plain Python, under another name. `instrument` makes later
imports of koster report to atheris which branches they take; the compiled modules cannot, so that
it also loads these from their source.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from functools import cache
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

#: The name of the second koster.
PLAIN = "plain_koster"


class _Finder:
    """Finds a package and its modules, always as source."""

    def __init__(self, package: str, folder: Path, loader: type[SourceFileLoader]) -> None:
        self._package = package
        self._folder = folder
        self._loader = loader

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module of the package."""
        package, *parts = name.split(".")
        if package != self._package:
            return None
        folder = self._folder.joinpath(*parts)
        is_package = folder.is_dir()
        file = str(folder / "__init__.py" if is_package else folder.with_suffix(".py"))
        return importlib.util.spec_from_file_location(
            name,
            file,
            loader=self._loader(name, file),
            submodule_search_locations=[str(folder)] if is_package else None,
        )


class _InstrumentedLoader(SourceFileLoader):
    """Loads a module so that atheris sees its branches and comparisons."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the module, with instrumentation."""
        import atheris

        found: CodeType = atheris.patch_code(super().get_code(fullname), trace_dataflow=True)
        return found


_loader: type[SourceFileLoader] = SourceFileLoader


def _folder() -> Path:
    """Return the folder of koster, without importing it."""
    spec = importlib.util.find_spec("koster")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def instrument() -> None:
    """Instrument koster, which must not be imported yet: needs atheris."""
    global _loader  # noqa: PLW0603 - for the second koster, too
    assert "koster" not in sys.modules
    _loader = _InstrumentedLoader
    sys.meta_path.insert(0, _Finder("koster", _folder(), _loader))


@cache
def plain() -> ModuleType:
    """Return koster as plain Python."""
    sys.meta_path.insert(0, _Finder(PLAIN, _folder(), _loader))
    module = importlib.import_module(PLAIN)
    assert not module.COMPILED
    return module


def check_compiled() -> None:
    """Check that there are two builds to compare, unless koster is instrumented or packed.

    Raises:
        RuntimeError: koster is not compiled, or its source is newer.
    """
    if _loader is _InstrumentedLoader or getattr(sys, "frozen", False):
        return
    for name in importlib.import_module("koster._pure").HOT:
        file = Path(str(importlib.import_module(f"koster.{name}").__file__))
        source = _folder().joinpath(*name.split(".")).with_suffix(".py")
        if file == source or file.stat().st_mtime < source.stat().st_mtime:
            raise RuntimeError(f"{source.name} is not compiled, or is newer: make compiles it")


@cache
def dialects(package: str = "koster") -> dict[str, Any]:
    """Return the named dialects, and those of the facades that can be imported, by name."""
    found = dict(importlib.import_module(package).DIALECTS)
    names = ("robotstxt", "robotparser", "protego", "reppy.robots")
    modules = [importlib.import_module(f"{package}.compat.{name}") for name in names]
    rerp = importlib.import_module(f"{package}.compat.robotexclusionrulesparser")
    policy = importlib.import_module(f"{package}.compat.webcanon._policy")
    own = [*(module._DIALECT for module in modules), *rerp._DIALECTS.values(), policy.DIALECT]
    for dialect in own:
        found[dialect.name] = dialect
    return found

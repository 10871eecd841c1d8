"""Chooses between the hot modules as plain Python and as compiled extensions: all or none.

`HOT` lists them. With ``KOSTER_PURE=1`` in the environment the extensions are ignored. So they are
if some are missing: those of two builds do not fit together.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

#: The modules that the build compiles.
HOT = (
    "_engine.rows", "_engine.lexer", "_engine.groups", "_engine.names", "_engine.user_agents",
    "_engine.canonical", "_engine.wildcards", "_engine.trie", "_engine.table", "_engine.matcher",
    "_engine.ruleset", "_engine.compiler", "_engine.document", "_engine.selection",
    "bulk._loops.batches", "bulk._loops.extents", "bulk._loops.records",
    "robots", "_asking", "_urls", "compat._kept",
)  # fmt: skip

#: The extension with the code that the others share. It has no source of its own.
SHARED = "_engine._cython"

_HOME = os.path.dirname(__file__)
#: The packages of hot modules.
_PACKAGES = tuple(sorted({name.rpartition(".")[0] for name in HOT}))


class _SourceFinder:
    """Finds the source of the hot modules before the extensions beside it are found."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root = f"{__package__}."
        if not name.startswith(root) or name.removeprefix(root) not in HOT or not path:
            return None
        file = os.path.join(path[0], f"{name.rpartition('.')[2]}.py")
        spec: ModuleSpec = sys.modules["importlib.util"].spec_from_file_location(name, file)
        return spec


def settle() -> None:
    """Ignore the extensions if ``KOSTER_PURE`` is set, or some are missing."""
    if os.environ.get("KOSTER_PURE", "") in ("", "0"):
        extensions = _extensions()
        missing = [name for name in (*HOT, SHARED) if name not in extensions]
        if not missing or not extensions:
            return
        import warnings  # noqa: PLC0415 - rarely needed

        warnings.warn(
            "koster runs as plain Python, which is slower: compiled modules are missing "
            f"({', '.join(missing)}); install koster again",
            RuntimeWarning,
            stacklevel=3,
        )
    import importlib.util  # noqa: F401, PLC0415 - takes a millisecond, and is rarely needed

    sys.meta_path.insert(0, _SourceFinder)


def outdated() -> str:
    """Return what to say if an extension is older than its source, as may be in a checkout."""
    in_checkout = os.path.exists(os.path.join(_HOME, os.pardir, os.pardir, "setup.py"))
    if not in_checkout or _SourceFinder in sys.meta_path:
        return ""
    files = [entry for package in _PACKAGES for entry in _entries(package)]
    times = {entry.path: entry.stat().st_mtime for entry in files}
    shared = [path for path in times if path.endswith(".pxd")]
    found = []
    for path in [entry.path for name, entry in _extensions().items() if name != SHARED]:
        sources = [f"{path.partition('.')[0]}.py", *shared]
        newer = [source for source in sources if times.get(source, 0) > times[path]]
        found += [f"{path} is older than {newer[0]}"] if newer else []
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return f"{found[0]}{more}: type make run" if found else ""


def _extensions() -> dict[str, os.DirEntry[str]]:
    """Return the files of extensions by the names of their modules."""
    found = {}
    for package in _PACKAGES:
        for entry in _entries(package):
            stem, dot, suffix = entry.name.partition(".")
            name = f"{package}.{stem}".lstrip(".")
            # A checkout may have extensions of modules that are gone.
            if dot + suffix in EXTENSION_SUFFIXES and (name in HOT or name == SHARED):
                found[name] = entry
    return found


def _entries(package: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(os.path.join(_HOME, *package.split("."))) as entries:
            return list(entries)
    except OSError:
        # In a ZIP archive, no module can be an extension.
        return []


def is_compiled() -> bool:
    """Tell whether all imported hot modules are extensions."""
    imported = filter(None, (sys.modules.get(f"{__package__}.{name}") for name in HOT))
    files = (getattr(module, "__file__", None) for module in imported)
    return not any((file or "").endswith(".py") for file in files)

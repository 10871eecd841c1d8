"""Chooses between the hot modules as plain Python and as compiled extensions.

`HOT` lists them. With ``KOSTER_PURE=1`` in the environment the extensions are ignored.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

#: The modules that the build compiles.
HOT = (
    *("engine.rows", "engine.lexer", "engine.groups", "engine.names", "engine.user_agents"),
    *("engine.canonical", "engine.wildcards", "engine.trie", "engine.matcher", "engine.packing"),
    *("engine.ruleset", "engine.compiler", "engine.document", "engine.selection"),
    *("engine.batches", "engine.extents", "engine.records", "robots", "_asking", "_urls"),
    *("compat._kept", "analysis._entries", "analysis._index", "analysis._overlaps"),
)


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
    """Ignore the extensions if ``KOSTER_PURE`` is set."""
    if os.environ.get("KOSTER_PURE", "") not in ("", "0"):
        import importlib.util  # noqa: F401, PLC0415 - takes a millisecond, and is rarely needed

        sys.meta_path.insert(0, _SourceFinder)


def is_compiled() -> bool:
    """Tell whether all imported hot modules are extensions."""
    imported = filter(None, (sys.modules.get(f"{__package__}.{name}") for name in HOT))
    files = (getattr(module, "__file__", None) for module in imported)
    return not any((file or "").endswith(".py") for file in files)

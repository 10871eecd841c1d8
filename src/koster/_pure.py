"""Compiled or not: the hot steps exist as plain Python and, where a compiler was, as extensions.

`HOT` names them. With ``KOSTER_PURE=1`` in the environment the extensions are left aside.
"""

from __future__ import annotations

import importlib
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
    *("_rows", "_lines", "_groups", "_agents", "_paths"),
    *("_glob", "_trie", "_match", "_file", "robots"),
)


class _SourceFinder:
    """Finds the hot modules as source, before anyone finds the extensions beside them."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, module = name.rpartition(".")
        if package != __package__ or module not in HOT or not path:
            return None
        return importlib.util.spec_from_file_location(name, os.path.join(path[0], module + ".py"))


def settle() -> None:
    """Leave the extensions aside if the environment says so."""
    if os.environ.get("KOSTER_PURE", "") not in ("", "0"):

        sys.meta_path.insert(0, _SourceFinder)


def is_compiled() -> bool:
    """Tell whether the hot modules that are in use are extensions."""
    suffixes = tuple(EXTENSION_SUFFIXES)
    return all(
        (getattr(sys.modules.get(f"{__package__}.{name}"), "__file__", "") or "").endswith(suffixes)
        for name in HOT
    )

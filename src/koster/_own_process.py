"""For processes that run nothing but koster: how they start, and what holds for all of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from types import ModuleType

#: The folder that contains the package.
_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def command_of(module: str) -> list[str]:
    """Return the command that runs a module's ``main()`` in a process of its own.

    The process imports what this one can import, but nothing from the current folder, which may
    belong to anybody. If koster itself is there, its folder comes last.
    """
    path = [each for each in map(str, sys.path) if not _is_current_folder(each)]
    if _HOME not in path:
        path.append(_HOME)
    code = f"import sys; sys.path[:] = {path}\nfrom {module} import main; main()"
    options = ["-P"]
    if sys.flags.ignore_environment:
        options.append("-E")
    if sys.flags.no_user_site:
        options.append("-s")
    return [sys.executable, *options, "-c", code]


def leave_current_folder() -> None:
    """Remove the current folder from the search path, if ``python -m`` has put it there."""
    if not sys.flags.safe_path and sys.path and _is_current_folder(sys.path[0]):
        del sys.path[0]


def _is_current_folder(entry: str) -> bool:
    """Return whether an entry of the search path is the current folder."""
    try:
        return not entry or os.path.samefile(entry, os.curdir)
    except (OSError, ValueError):
        return False


class _WithoutPandas:
    """A finder that finds no pandas."""

    @staticmethod
    def find_spec(
        name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("koster does not use pandas", name=name)


def leave_out_unused() -> None:
    """Leave out what libraries start, and koster does not use.

    Arrow imports pandas, if it is installed, to recognize its types: 0.15 s. NumPy starts threads
    for linear algebra, which keep a core busy for 0.1 s.
    """
    sys.meta_path.insert(0, _WithoutPandas)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

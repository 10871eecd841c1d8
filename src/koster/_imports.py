"""What processes of koster itself leave out."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType


class _WithoutPandas:
    """A finder that finds no pandas."""

    @staticmethod
    def find_spec(
        name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("koster does not use pandas", name=name)


def leave_out_pandas() -> None:
    """Import no pandas in this process; only for processes that run nothing but koster.

    Arrow imports it, if it is installed, to recognize its types: 0.15 s.
    """
    sys.meta_path.insert(0, _WithoutPandas)

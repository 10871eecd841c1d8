"""For processes that run nothing but koster: what they change holds for the whole process."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

#: Limits of glibc, by their numbers in malloc.h: how many free bytes are kept, and from which size
#: on a block has memory of its own, which is never kept. 32 MiB is the most that this can be.
_M_TRIM_THRESHOLD, _KEPT_BYTES = -1, 1 << 28
_M_MMAP_THRESHOLD, _OWN_BYTES = -3, 1 << 25

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


def leave_out_unused() -> None:
    """Leave out what libraries start, and koster does not use.

    Arrow imports pandas, if it is installed, to recognize its types: 0.15 s. NumPy starts threads
    for linear algebra, which keep a core busy for 0.1 s.
    """
    sys.meta_path.insert(0, _WithoutPandas)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def keep_freed_memory() -> None:
    """Keep the memory of large blocks that are freed: the next batch needs as much.

    Else the system takes each, and gives it back page by page, filled with zeros: a tenth of the
    time for archives. Only with the C library of GNU.
    """
    if sys.platform != "linux":
        return
    # Some Pythons have no ctypes, and other C libraries no mallopt.
    with suppress(ImportError, AttributeError):
        import ctypes  # noqa: PLC0415 - most commands do not need it

        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
        mallopt(_M_MMAP_THRESHOLD, _OWN_BYTES)

"""Whole archives: robots.txt files by the million, as columns of Arrow.

`classify`, `decide`, `allowed` and `facts` take and return columns of any engine.
`koster.bulk.duckdb`, `koster.bulk.polars` and `koster.bulk.spark` add them to an engine,
`koster.bulk.warc` reads web archives, and ``koster bulk`` does all of it for folders. They need
the extra ``bulk``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .kernel import CLASSIFIED, DECIDED, FACTS, allowed, classify, decide, facts

__all__ = ["CLASSIFIED", "DECIDED", "FACTS", "allowed", "classify", "decide", "facts"]


def __getattr__(name: str) -> Any:
    """Import the kernel, and Arrow with it, when it is used: `runs` starts processes without."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import kernel  # noqa: PLC0415

    return getattr(kernel, name)

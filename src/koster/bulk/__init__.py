"""Whole archives: robots.txt files by the million, as columns of Arrow.

`classify`, `decide`, `allowed` and `facts` take and give columns, whatever engine they are from.
`koster.bulk.duckdb`, `koster.bulk.polars` and `koster.bulk.spark` put them into an engine,
`koster.bulk.warc` reads web archives, and ``koster bulk`` does all of it for folders of them. The
extra ``bulk`` brings what is needed.
"""

from __future__ import annotations

from .kernel import CLASSIFIED, DECIDED, FACTS, allowed, classify, decide, facts

__all__ = ["CLASSIFIED", "DECIDED", "FACTS", "allowed", "classify", "decide", "facts"]

"""Whole archives: robots.txt files by the million, as columns of Arrow.

`classify`, `decide`, `allowed`, `facts` and `signals` take and return columns of any engine.
`koster.bulk.duckdb`, `koster.bulk.polars` and `koster.bulk.spark` add them to an engine,
`koster.bulk.warc` reads web archives, and ``koster bulk`` does all of it for folders. They need
the extra ``bulk``.
"""

# How an input becomes answers:
#
#     input ──_reading──▶ batches ──kernel──▶ columns of answers ──_writer──▶ shard
#                                     │ ▲
#                           buffers   ▼ │   buffers
#                             `loops`, compiled
#
# An *input* is a file: an archive, or a table as Parquet, JSON lines or CSV. A *batch* is some of
# its records, as Arrow columns: at most `_parquet.ROWS` rows and about `_parquet.BYTES`, however
# large the input is. All else is done batch by batch, so the memory of a run does not depend
# on the size of its inputs. A *question* is what is asked about each file, a *shard* the Parquet
# file with the answers about one input; its metadata has the question, the input and the errors, so
# a run that is killed resumes with the inputs that have no shard.
#
# `runs` makes a *task* of each input without one. `_processes` gives the tasks to processes
# (`_worker`), because readers hold the interpreter lock; with fewer inputs than cores, `_answering`
# answers the batches of an input in threads, because the loops release it.
#
# `_reading` has a reader for each kind of input. Archives have two:
#
#     archive ──_members──▶ gzip members ──loops.records──▶ offsets ──_scanned──▶ columns ┐
#                 │                                                                       ├▶ batches
#                 └─ unusual or broken ──_warc_recovery──▶ _warc_reader ──▶ warc.Record ──┘
#
# The upper one makes no Python object of a record: it decompresses a chunk of members into one
# buffer, finds the parts of the records there, and gathers them as columns (`_parts`). It reads
# only what is written as most programs write it, and stops where anything is unusual. The lower one
# reads record by record with fastwarc from there on, and skips what is broken.
#
# `kernel` turns any column of text into bytes in one buffer, without repeats (`_columns`), so that
# a file that repeats in a batch is parsed once. The loops take such buffers:
#
# * `loops.batches` decides about rows: a body, a URL, an agent;
# * `loops.extents` finds how much of a site each agent may fetch; what it leaves undecided, such as
#   rules that only together cover a site, `koster.analysis` decides;
# * `loops.records` finds the parts of records of WARC files.
#
# Pages are about two things that are far apart in archives: a page, and the files of its site. So
# ``koster bulk signals`` has two passes, and both are runs as above:
#
#     archives ──_page_archives──▶ shards of pages and files ──_site_order──▶ by site and time
#     by site and time ──_site_files──▶ pages with files ──_page_signals──▶ shards of answers
#
# `judging` is the same for requests that have been made: which versions of a file a crawler may
# have held. `report` and `_sites` read shards again, with DuckDB.

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._signal_columns import SIGNAL, signals
    from .kernel import CLASSIFIED, DECIDED, FACTS, allowed, classify, decide, facts

__all__ = [
    "CLASSIFIED",
    "DECIDED",
    "FACTS",
    "SIGNAL",
    "allowed",
    "classify",
    "decide",
    "facts",
    "signals",
]


def __getattr__(name: str) -> Any:
    """Import the kernel, and Arrow with it, when it is used: `runs` starts processes without."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _signal_columns, kernel  # noqa: PLC0415

    return getattr(_signal_columns if name in ("SIGNAL", "signals") else kernel, name)

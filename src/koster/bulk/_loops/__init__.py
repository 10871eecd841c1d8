"""Loops over Arrow's buffers, compiled: what `koster.bulk` does for each file, row or byte.

`batches` decides about rows, `extents` finds how much of each site is disallowed, `records` finds
the parts of the records of WARC files; `buffers` has their low-level functions. They call the
engine for each file, and release the interpreter lock where no Python object is needed.
"""

"""Fuzz targets: each module without an underscore is one, and opens with its invariant.

A target has ``check(data: bytes) -> None``, which raises if the invariant does not hold. See
`fuzz.__main__` for how to run them.
"""

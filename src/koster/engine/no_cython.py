"""Replaces Cython for the loops over batches if it is not installed."""

from __future__ import annotations

import contextlib

compiled = False
#: In compiled modules, it releases the interpreter lock.
nogil = contextlib.nullcontext()

"""What the loops over batches need of Cython where it is not installed, and nothing is compiled."""

from __future__ import annotations

import contextlib

#: Compiled, it gives the interpreter lock back.
nogil = contextlib.nullcontext()

"""Arrow and NumPy, which the extra ``bulk`` brings."""

from __future__ import annotations

from ..errors import missing

try:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as error:
    raise missing("koster.bulk", "bulk") from error

__all__ = ["np", "pa", "pc"]

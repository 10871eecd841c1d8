"""Arrow and NumPy, which the extra ``bulk`` brings."""

from __future__ import annotations

from typing import Any, TypeAlias

from ..errors import missing

try:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as error:
    raise missing("koster.bulk", "bulk") from error

__all__ = ["Numbers", "np", "pa", "pc"]

#: NumPy's arrays.
Numbers: TypeAlias = Any

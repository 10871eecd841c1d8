"""Times in logs, as microseconds since 1970.

Text is that of the Common Log Format (``10/Oct/2026:13:55:36 +0200``), ISO 8601 (UTC if it has no
offset), or a number: seconds, milliseconds, microseconds or nanoseconds since 1970, by its size.
"""

from __future__ import annotations

import threading
from typing import Any

from ..bulk._arrow import np, pa, pc
from ..bulk._columns import to_numpy, to_text, unchunked
from ..bulk.judging import NEVER, microseconds
from ..errors import missing

try:
    import duckdb
except ImportError as error:
    raise missing("koster.logs", "logs") from error

from ..bulk._arrow import Numbers

#: The years 1 to 9999.
_FIRST, _LAST = -62_135_596_800_000_000, 253_402_300_799_999_999

_CLF = "%d/%b/%Y:%H:%M:%S %z"
_CLF_START = r"^\d{1,2}/[A-Za-z]{3}/\d{4}:"
_NUMBER = r"^\d{1,19}(?:\.\d*)?$"

#: The first moments, in seconds, that only smaller units can have: seconds up to the year 5138.
_FACTORS = ((1e11, 1e6), (1e14, 1e3), (1e17, 1.0), (float("inf"), 1e-3))

_local = threading.local()


def connection() -> Any:
    """Return this thread's connection to DuckDB: one core, UTC."""
    if not hasattr(_local, "connection"):
        _local.connection = duckdb.connect(config={"threads": 1})
        _local.connection.execute("SET TimeZone = 'UTC'")
        # In an interactive Python it would be printed on standard output.
        _local.connection.execute("SET enable_progress_bar = false")
    return _local.connection


def query(texts: Any, columns: str) -> Any:
    """Return columns that DuckDB computes from an array ``text``, as a table of Arrow."""
    relation = connection().from_arrow(pa.table({"text": texts}))
    return relation.project(columns).to_arrow_table().combine_chunks()


def moments(column: Any, time_format: str = "") -> Numbers:
    """Return times as microseconds since 1970, `NEVER` if they cannot be read.

    Args:
        column: Text, numbers or timestamps.
        time_format: The strptime format of text, if it is not one that is recognized.
    """
    found = _moments(column, time_format)
    return np.where((found >= _FIRST) & (found <= _LAST), found, NEVER)


def _moments(column: Any, time_format: str) -> Numbers:
    column = unchunked(column)
    if pa.types.is_timestamp(column.type):
        return microseconds(column)
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return _from_numbers(column.cast(pa.float64()).fill_null(np.nan))
    texts = column.dictionary_encode()
    if not len(texts.dictionary):
        return np.full(len(column), NEVER)
    # Apache's times have brackets.
    found = _from_text(pc.utf8_trim(to_text(texts.dictionary), "[] "), time_format)
    codes = to_numpy(texts.indices.fill_null(0))
    return np.where(to_numpy(texts.is_valid()), found[codes], NEVER)


def _from_text(words: Any, time_format: str) -> Numbers:
    if time_format:
        return _microseconds(_parse(words, time_format))
    found = np.full(len(words), NEVER)
    is_clf = pc.match_substring_regex(words, _CLF_START)
    is_number = pc.match_substring_regex(words, _NUMBER)
    for are, read in ((is_clf, _from_clf), (is_number, _from_digits), (None, _from_iso)):
        if are is None:
            are = pc.invert(pc.or_(is_clf, is_number))  # noqa: PLW2901 - the rest
        mask = are.to_numpy(zero_copy_only=False)
        if mask.any():
            found[mask] = read(words.filter(are))
    return found


def _parse(words: Any, time_format: str) -> Any:
    return pc.strptime(words, format=time_format, unit="us", error_is_null=True)


def _from_clf(words: Any) -> Numbers:
    return _microseconds(_parse(words, _CLF))


def _from_digits(words: Any) -> Numbers:
    return _from_numbers(words.cast(pa.float64()))


def _from_iso(words: Any) -> Numbers:
    found = query(words, "epoch_us(try_cast(replace(text, ',', '.') AS TIMESTAMPTZ)) AS moment")
    return _microseconds(found["moment"])


def _from_numbers(column: Any) -> Numbers:
    numbers = column.to_numpy(zero_copy_only=False)
    with np.errstate(invalid="ignore", over="ignore"):
        factors = np.select(
            [np.abs(numbers) < limit for limit, _ in _FACTORS], [factor for _, factor in _FACTORS]
        )
        found = np.round(numbers * factors)
        is_time = np.isfinite(numbers) & (numbers > 0) & (np.abs(found) < 2**62)
        return np.where(is_time, found, 0).astype(np.int64) + np.where(is_time, 0, NEVER)


def _microseconds(column: Any) -> Numbers:
    return microseconds(unchunked(column).cast(pa.int64()))

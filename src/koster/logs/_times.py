"""Times in logs, as microseconds since 1970.

Text is that of the Common Log Format (``10/Oct/2026:13:55:36 +0200``), ISO 8601, or a number:
seconds, milliseconds, microseconds or nanoseconds since 1970, by its size. Times without a zone are
those of a zone that is given, or UTC.
"""

from __future__ import annotations

import re
import threading
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from ..bulk._arrow import Numbers, np, pa, pc
from ..bulk._columns import to_numpy, to_text, unchunked
from ..bulk.judging import NEVER, connected, microseconds

#: The years 1 to 9999.
_FIRST, _LAST = -62_135_596_800_000_000, 253_402_300_799_999_999

_CLF = "%d/%b/%Y:%H:%M:%S %z"
_CLF_START = r"^\d{1,2}/[A-Za-z]{3}/\d{4}:"
_CLF_ZONE = r" [+-]\d{4}$"
#: HAProxy's times have a fraction and no zone.
_CLF_LOCAL = "%d/%b/%Y:%H:%M:%S"
_CLF_PARTS = r"^(?P<moment>[^. ]*)(?:\.(?P<fraction>\d{1,9}))?$"
_NUMBER = r"^\d{1,19}(?:\.\d*)?$"

#: How a time ends that has a zone.
_ZONED = r":\d{2}(?:[.,]\d+)?\s*(?:[Zz]|[+-]\d{1,2}(?::?\d{2}){0,2}|[A-Za-z][\w/+-]*)$"
#: Directives of strptime for a moment or an offset.
_ZONE_DIRECTIVE = re.compile(r"(?<!%)(?:%%)*%[zs]")

_MINUTE = 60_000_000
_EPOCH = datetime(1970, 1, 1)

#: The first moments, in seconds, that only smaller units can have: seconds up to the year 5138.
_FACTORS = ((1e11, 1e6), (1e14, 1e3), (1e17, 1.0), (float("inf"), 1e-3))

_local = threading.local()


def connection() -> Any:
    """Return this thread's connection to DuckDB."""
    if not hasattr(_local, "connection"):
        _local.connection = connected()
    return _local.connection


def query(texts: Any, columns: str) -> Any:
    """Return columns that DuckDB computes from an array ``text``, as a table of Arrow."""
    relation = connection().from_arrow(pa.table({"text": texts}))
    return relation.project(columns).to_arrow_table().combine_chunks()


def moments(column: Any, time_format: str = "", zone: tzinfo = UTC) -> tuple[Numbers, bool]:
    """Return times as microseconds since 1970, and whether some have no zone.

    Those that cannot be read are `NEVER`.

    Args:
        column: Text, numbers or timestamps.
        time_format: The strptime format of text, if it is not one that is recognized.
        zone: The zone of times without one. The earlier moment counts where clocks are set back;
            where they are set forward, times that do not exist are as if they were not.
    """
    found, are_local = _moments(unchunked(column), time_format)
    found = _in_range(found)
    are_local &= found != NEVER
    if zone is not UTC and are_local.any():
        found[are_local] = _in_zone(found[are_local], zone)
        found = _in_range(found)
    return found, bool(are_local.any())


def _in_range(found: Numbers) -> Numbers:
    return np.where((found >= _FIRST) & (found <= _LAST), found, NEVER)


def _moments(column: Any, time_format: str) -> tuple[Numbers, Numbers]:
    """Return moments, and which have no zone: those are as in UTC."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        return microseconds(column), np.full(len(column), kind.tz is None)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        found = _from_numbers(column.cast(pa.float64()).fill_null(np.nan))
        return found, np.zeros(len(column), bool)
    if pa.types.is_date(kind):
        column = column.cast(pa.string())
    texts = column.dictionary_encode()
    if not len(texts.dictionary):
        return np.full(len(column), NEVER), np.zeros(len(column), bool)
    # Apache's times have brackets.
    words = pc.utf8_trim(to_text(texts.dictionary), "[] ")
    found, are_local = _from_text(words, time_format)
    codes = to_numpy(texts.indices.fill_null(0))
    return np.where(to_numpy(texts.is_valid()), found[codes], NEVER), are_local[codes]


def _from_text(words: Any, time_format: str) -> tuple[Numbers, Numbers]:
    if time_format:
        is_local = _ZONE_DIRECTIVE.search(time_format) is None
        return _microseconds(_parse(words, time_format)), np.full(len(words), is_local)
    found = np.full(len(words), NEVER)
    is_clf = pc.match_substring_regex(words, _CLF_START)
    is_number = pc.match_substring_regex(words, _NUMBER)
    is_zoned = pc.match_substring_regex(words, _ZONED)
    if pc.any(is_clf).as_py():
        is_zoned = pc.if_else(is_clf, pc.match_substring_regex(words, _CLF_ZONE), is_zoned)
    is_local_clf = pc.and_not(is_clf, is_zoned)
    is_clf = pc.and_(is_clf, is_zoned)
    others = pc.invert(pc.or_(pc.or_(is_clf, is_number), is_local_clf))
    for are, read in (
        (is_clf, _from_clf), (is_local_clf, _from_local_clf), (is_number, _from_digits),
        (others, _from_iso),
    ):  # fmt: skip
        mask = to_numpy(are)
        if mask.any():
            found[mask] = read(words.filter(are))
    return found, ~to_numpy(pc.or_(is_zoned, is_number))


def _in_zone(local: Numbers, zone: tzinfo) -> Numbers:
    """Return the moments of times in a zone: its offset changes on a minute."""
    minutes, which = np.unique(local // _MINUTE, return_inverse=True)
    offsets = [_offset(int(minute), zone) for minute in minutes]
    return local - np.array(offsets, np.int64)[which.reshape(-1)]


def _offset(minute: int, zone: tzinfo) -> int:
    offset = (_EPOCH + timedelta(minutes=minute)).replace(tzinfo=zone).utcoffset()
    return 0 if offset is None else offset // timedelta(microseconds=1)


def _parse(words: Any, time_format: str) -> Any:
    return pc.strptime(words, format=time_format, unit="us", error_is_null=True)


def _from_clf(words: Any) -> Numbers:
    return _microseconds(_parse(words, _CLF))


def _from_local_clf(words: Any) -> Numbers:
    parts = pc.extract_regex(words, _CLF_PARTS)
    found = _microseconds(_parse(parts.field("moment"), _CLF_LOCAL))
    digits = pc.utf8_slice_codeunits(pc.utf8_rpad(parts.field("fraction"), 6, "0"), 0, 6)
    fractions = digits.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return np.where(found == NEVER, NEVER, found + fractions)


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

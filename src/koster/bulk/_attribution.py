"""The crawl, the moment and the site of each row of a table, from its columns.

Takes columns of any type. What cannot be read is null: a report counts it, and says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from ..errors import UrlError
from ..origins import MAX_URL, origin_of
from ._arrow import pa, pc
from ._columns import to_large_binary, to_text
from ._parquet import TEXT

#: The maximum characters of a crawl's name; longer ones are cut.
_MAX_CRAWL = 200

#: Robots.txt dates from 1994. Other years stand for "unknown" or "never": 1, 1970, 9999.
FIRST = datetime(1994, 1, 1, tzinfo=UTC)
LAST = datetime(2100, 1, 1, tzinfo=UTC)

_MOMENT = pa.timestamp("us", "UTC")
_NO_TEXT = pa.scalar(None, pa.string())
#: How many units of a type are in a second.
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def crawls(column: Any) -> Any:
    """Return the names of crawls: text, numbers or dates; null where it is missing."""
    names = pc.utf8_trim_whitespace(_to_text(column))
    names = pc.utf8_slice_codeunits(names, 0, _MAX_CRAWL)
    return pc.if_else(pc.equal(names, ""), _NO_TEXT, names)


def moments(column: Any) -> Any:
    """Return moments: timestamps in UTC, in microseconds; null where it is missing.

    Moments without a time zone are in UTC; for numbers and text see `_moment`.
    """
    type_ = column.type
    if pa.types.is_timestamp(type_):
        return _from_integers(column.cast(pa.int64()), _PER_SECOND[type_.unit])
    if pa.types.is_date32(type_):
        days = column.cast(pa.int32()).cast(pa.int64())
        return _from_integers(pc.multiply(days, 86_400), 1)
    if pa.types.is_date64(type_):
        return _from_integers(column.cast(pa.int64()), _PER_SECOND["ms"])
    if _has_fractions(type_):
        column = pc.floor(_exact(column))
    return _of_distinct(_to_text(column), _moment, _MOMENT)


def _from_integers(integers: Any, per_second: int) -> Any:
    """Return moments, given how many units since 1970 there are, and units per second."""
    first, last = (int(limit.timestamp()) * per_second for limit in (FIRST, LAST))
    is_valid = pc.and_(pc.greater_equal(integers, first), pc.less(integers, last))
    valid = pc.if_else(is_valid, integers, pa.scalar(None, pa.int64()))
    micros = _PER_SECOND["us"]
    if per_second > micros:
        return pc.divide(valid, per_second // micros).cast(_MOMENT)
    return pc.multiply(valid, micros // per_second).cast(_MOMENT)


_NUMBER = re.compile(r"([0-9]+)(?:\.[0-9]*)?")
_MONTH = re.compile(r"[0-9]{4}-[0-9]{2}")


def _moment(text: str) -> datetime | None:
    """Return the moment in ISO 8601, a timestamp of WARC files, or a number.

    The number of digits tells what a number is: 8 a date, 14 a timestamp such as 20260301120000,
    9 or 10 seconds and 12 or 13 milliseconds since 1970.

    >>> for text in "2026-03-01 12:00+02:00", "2026-03", "20260301120000", "1772366400", "soon":
    ...     print(_moment(text))
    2026-03-01 10:00:00+00:00
    2026-03-01 00:00:00+00:00
    2026-03-01 12:00:00+00:00
    2026-03-01 12:00:00+00:00
    None
    """
    text = text.strip()
    try:
        number = _NUMBER.fullmatch(text)
        found = _from_digits(number[1]) if number else _from_iso(text)
    except (ValueError, OverflowError):
        return None
    return found if found is not None and FIRST <= found < LAST else None


def _from_iso(text: str) -> datetime:
    found = datetime.fromisoformat(
        f"{text}-01" if _MONTH.fullmatch(text) else text.removesuffix(" UTC")
    )
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _from_digits(digits: str) -> datetime | None:
    if len(digits) in (8, 14):
        return _from_iso(digits if len(digits) == 8 else f"{digits[:8]}T{digits[8:]}")
    if len(digits) in (9, 10):
        return datetime.fromtimestamp(int(digits), UTC)
    if len(digits) in (12, 13):
        return datetime.fromtimestamp(int(digits) / 1_000, UTC)
    return None


#: URLs whose origin needs no normalization.
_PLAIN_ORIGIN = r"^(?P<origin>https?://[a-z0-9-]+(?:\.[a-z0-9-]+)+)(?:/|\z)"
#: URLs without a scheme, as in ``example.com/robots.txt``.
_DOMAIN = re.compile(r"[^\s/?#:@\\.]+(?:\.[^\s/?#:@\\.]+)+\.?(?::[0-9]*)?(?:[/?#]|\Z)")


def origins(column: Any) -> Any:
    """Return the origins of URLs and host names, such as ``https://example.com``.

    That of a name is ``http://``. Null where there is no host, or the column is not text.
    """
    type_ = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not TEXT.fullmatch(str(type_)):
        return pa.nulls(len(column), pa.string())
    text = _to_text(column)
    text = pc.if_else(pc.less_equal(pc.binary_length(text), MAX_URL), text, _NO_TEXT)
    plain = pc.struct_field(pc.extract_regex(text, _PLAIN_ORIGIN), "origin")
    others = pc.if_else(plain.is_valid(), _NO_TEXT, text)
    return pc.coalesce(plain, _of_distinct(others, _origin, pa.string()))


def _origin(text: str) -> str | None:
    """Return the origin of a URL or host name.

    A name needs a dot: the values "null" and "unknown" are not sites.

    >>> for text in "HTTPS://Example.COM:443/page", "example.com:8080", "null", "/robots.txt":
    ...     print(_origin(text))
    https://example.com
    http://example.com:8080
    None
    None
    """
    text = text.strip()
    try:
        return str(origin_of(f"http://{text}" if _DOMAIN.match(text) else text))
    except UrlError:
        return None


def _of_distinct(column: Any, read: Callable[[str], Any], type_: Any) -> Any:
    """Apply a function to each distinct text of a column."""
    encoded = column.dictionary_encode()
    found = [read(text) for text in encoded.dictionary.to_pylist()]
    return pa.array(found, type_).take(encoded.indices)


def _to_text(column: Any) -> Any:
    """Return a column of any type as text; null where a value cannot be text."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if TEXT.fullmatch(str(column.type)):
        return to_text(to_large_binary(column))
    if _has_fractions(column.type):
        numbers = _exact(column)
        whole = pc.equal(numbers, pc.floor(numbers))
        integers = pc.if_else(whole, numbers, pa.scalar(None, pa.float64())).cast(pa.int64())
        return pc.coalesce(integers.cast(pa.string()), numbers.cast(pa.string()))
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.nulls(len(column), pa.string())


def _has_fractions(type_: Any) -> bool:
    return bool(pa.types.is_floating(type_) or pa.types.is_decimal(type_))


def _exact(column: Any) -> Any:
    """Return numbers as floats; null for those that are not finite or exact."""
    numbers = column.cast(pa.float64(), safe=False)
    return pc.if_else(pc.less(pc.abs(numbers), 2.0**53), numbers, pa.scalar(None, pa.float64()))

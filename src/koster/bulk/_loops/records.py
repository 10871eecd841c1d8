# cython: boundscheck=False, wraparound=False
"""Where the records of a WARC file and their parts are: the loops over bytes.

Takes records in a buffer, and fills a table with offsets: no Python object is made of a record or a
header, and the interpreter lock is released. Settles only what is usual in archives, so that every
reader agrees on it; `scan` leaves all other records to a reader of whole records.
"""

from __future__ import annotations

from ..._engine import memory as _memory
from ..._engine import no_cython as cython
from . import buffers as _buffers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..._engine.memory import Bytes
    from .buffers import Buffer, Longs
elif cython.compiled:
    import cython

_TAB, _LINE_END, _RETURN, _SPACE, _HYPHEN, _DOT = 9, 10, 13, 32, 45, 46
_ZERO, _NINE, _COLON, _SEMICOLON, _ZULU = 48, 57, 58, 59, 90

#: What the integers of a row are: the number of its record; its HTTP status, 0 if the record is
#: irregular; start and size of the target URI, and the size of its origin; start and size of the
#: date; start (-1 if it is missing) and size of Content-Type and Location; start and size of the
#: body; whether it has its Content-Length, without WARC-Truncated; and whether it is `_is_plain`.
COLUMNS = (
    "number", "status", "url", "url_size", "origin_size", "date", "date_size",
    "content_type", "content_type_size", "location", "location_size", "body", "body_size",
    "is_whole", "is_plain",
)  # fmt: skip
_NUMBER, _STATUS, _URL, _, _ORIGIN_SIZE, _DATE = range(6)
_TYPE, _, _LOCATION, _, _BODY, _BODY_SIZE, _WHOLE, _PLAIN, _WIDTH = range(7, 16)

#: The header fields that are read: of records, then of HTTP responses. As most programs write them.
_NAMES = (
    b"WARC-Type", b"Content-Length", b"Content-Type", b"WARC-Target-URI", b"WARC-Date",
    b"WARC-Truncated", b"Content-Type", b"Location", b"Content-Encoding", b"Transfer-Encoding",
    b"Content-Length",
)  # fmt: skip
_KIND, _LENGTH, _MEDIA, _TARGET, _MOMENT, _CUT = range(6)
_HTTP_TYPE, _HTTP_LOCATION, _CONTENT_CODING = range(6, 9)
_TRANSFER_CODING, _HTTP_LENGTH, _FIELDS = range(9, 12)
_NAME_TABLE = b"".join(_NAMES)
_NAME_BYTES = _NAME_TABLE
_NAME_SIZE_TABLE = bytes(map(len, _NAMES))
_NAME_SIZES = _NAME_SIZE_TABLE

_VERSION_TABLE = b"WARC/1."
_VERSION = _VERSION_TABLE
_RECORD_END_TABLE = b"\r\n\r\n"
_RECORD_END = _RECORD_END_TABLE
_RESPONSE_TABLE = b"response"
_RESPONSE = _RESPONSE_TABLE
_REQUEST_TABLE = b"request"
_REQUEST = _REQUEST_TABLE
_METADATA_TABLE = b"metadata"
_METADATA = _METADATA_TABLE
_HTTP_MEDIA_TABLE = b"application/http"
_HTTP_MEDIA = _HTTP_MEDIA_TABLE
_HTTP_MEDIA_SIZE = len(_HTTP_MEDIA_TABLE)
_HTTP_TABLE = b"HTTP/1."
_HTTP = _HTTP_TABLE
_SCHEME_TABLE = b"https://"
_SCHEME = _SCHEME_TABLE
_FILE_TABLE = b"/robots.txt"
_FILE = _FILE_TABLE
_FILE_SIZE = len(_FILE_TABLE)
_MOMENT_TABLE = b"2000-00-00T00:00:00"
_SHAPE = _MOMENT_TABLE
_SHAPE_SIZE = len(_MOMENT_TABLE)

#: Longer header lines are irregular: readers limit them.
_MAX_LINE = 4_096
#: The maximum digits of a length: no number of so many overflows.
_MAX_DIGITS = 9


#: The size of a gzip member's header without optional parts.
MEMBER_HEADER = 10
_HEADER_SIZE = MEMBER_HEADER
_GZIP_TABLE = b"\x1f\x8b\x08"
_GZIP = _GZIP_TABLE


def find_members(data: Buffer, starts: Longs) -> int:
    """Find what looks like the start of a gzip member; return the number of places.

    ``starts`` has room for one in `MEMBER_HEADER` bytes.
    """
    raw = _buffers.address(data)
    with cython.nogil:
        return _find_all(raw, len(data), starts)


def _find_all(data: Bytes, size: int, starts: Longs) -> int:
    count = 0
    last = size - _HEADER_SIZE
    at = _memory.find(data, 31, 0, size)
    while at <= last:
        is_start = _is_member(data, at)
        if is_start:
            starts[count] = at
            count += 1
        at = _memory.find(data, 31, at + (_HEADER_SIZE if is_start else 1), size)
    return count


def _is_member(data: Bytes, at: int) -> bool:
    """Tell whether a gzip header starts there, with usual values (RFC 1952 §2.3).

    Magic number and method, flags without reserved bits, after the time level and system.
    """
    return (
        _memory.same(data, at, _GZIP, 0, 3)
        and data[at + 3] < 32
        and data[at + 8] in (0, 2, 4)
        and (data[at + 9] < 14 or data[at + 9] == 255)
    )


class Scanner:
    """Finds the parts of records; for one thread at a time."""

    def __init__(self) -> None:
        self.spans = _memory.integers(2 * _FIELDS)
        if not self.spans:
            raise MemoryError("no memory for the headers of a record")

    def __dealloc__(self) -> None:
        _memory.release(self.spans)

    def scan(self, data: Buffer, bounds: Longs, table: Longs) -> int:
        """Add a row to ``table`` for each record that may be a response or warcinfo.

        ``bounds`` are where the records start, and where the last one ends; ``table`` has room for
        a row for each. Returns the number of rows; -1 if anything but complete records is there.
        """
        raw = _buffers.address(data)
        with cython.nogil:
            return self._scan_all(raw, bounds, table)

    def _scan_all(self, data: Bytes, bounds: Longs, table: Longs) -> int:
        rows = 0
        for number in range(len(bounds) - 1):
            start = bounds[number]
            end = bounds[number + 1]
            content = self._read_record(data, start, end)
            if content < 0:
                return -1
            if not self._is_skipped(data):
                at = rows * _WIDTH
                table[at + _NUMBER] = number
                table[at + _STATUS] = self._read_response(data, content, end - 4, table, at)
                rows += 1
        return rows

    def _read_record(self, data: Bytes, start: int, end: int) -> int:
        """Read the header of a record, and return where its content starts.

        Returns -1 if it is invalid, or the record is not complete.
        """
        for field in range(_FIELDS):
            self.spans[2 * field] = -1
            self.spans[2 * field + 1] = 0
        self.is_regular = True
        if end - start < 20 or not _memory.same(data, start, _VERSION, 0, 7):
            return -1
        content = self._read_fields(data, start, end, 0, _HTTP_TYPE)
        if content < 0 or self.spans[2 * _LENGTH] < 0:
            return -1
        length = _number(data, self.spans[2 * _LENGTH], self.spans[2 * _LENGTH + 1])
        if length < 0 or content + length + 4 != end:
            return -1
        return content if _memory.same(data, end - 4, _RECORD_END, 0, 4) else -1

    def _read_fields(self, data: Bytes, start: int, end: int, first: int, after: int) -> int:
        """Read header lines after a first line, and return where the content starts; -1 if invalid.

        Only the fields with these numbers are kept.
        """
        line = _memory.find(data, _LINE_END, start, end) + 1
        if data[line - 2] != _RETURN:
            return -1
        while line < end:
            line_end = _memory.find(data, _LINE_END, line, end)
            if line_end == end or data[line_end - 1] != _RETURN or line_end - line > _MAX_LINE:
                return -1
            if line_end - 1 == line:
                return line_end + 1
            colon = _memory.find(data, _COLON, line, line_end - 1)
            if colon in (line, line_end - 1):
                return -1
            if _is_white(data[line]) or _is_white(data[colon - 1]):
                return -1
            self._keep_field(data, line, colon, line_end - 1, first, after)
            line = line_end + 1
        return -1

    def _keep_field(
        self, data: Bytes, start: int, colon: int, end: int, first: int, after: int
    ) -> None:
        """Keep the value of a field if it is one of those."""
        at = 0
        for field in range(after):
            size = _NAME_SIZES[field]
            if field >= first and size == colon - start and _is_name(data, start, at, size):
                self._keep_value(data, field, colon + 1, end)
                return
            at += size

    @cython.locals(odd="unsigned char")
    def _keep_value(self, data: Bytes, field: int, start: int, end: int) -> None:
        """Keep a value without the space around it; a repeated or odd one makes it irregular."""
        while start < end and _is_white(data[start]):
            start += 1
        while start < end and _is_white(data[end - 1]):
            end -= 1
        odd = start == end or self.spans[2 * field] >= 0
        for at in range(start, end):
            odd |= (data[at] < _SPACE) | (data[at] > 126)
        if odd:
            self.is_regular = False
        self.spans[2 * field] = start
        self.spans[2 * field + 1] = end - start

    def _is_skipped(self, data: Bytes) -> bool:
        """Tell whether a record is a request or metadata."""
        start = self.spans[2 * _KIND]
        size = self.spans[2 * _KIND + 1]
        if not self.is_regular or start < 0:
            return False
        if size == 7:
            return _memory.same(data, start, _REQUEST, 0, size)
        return size == 8 and _memory.same(data, start, _METADATA, 0, size)

    @cython.locals(is_coded="bint", length="int")
    def _read_response(self, data: Bytes, start: int, end: int, table: Longs, at: int) -> int:
        """Fill in a row, and return the HTTP status; 0 if the record is irregular."""
        status = _status(data, start) if end - start > 16 and self._is_response(data) else 0
        if status < 100:
            return 0
        origin = _origin_size(data, self.spans[2 * _TARGET], self.spans[2 * _TARGET + 1])
        body = self._read_fields(data, start, end, _HTTP_TYPE, _FIELDS)
        is_coded = self.spans[2 * _CONTENT_CODING] >= 0 or self.spans[2 * _TRANSFER_CODING] >= 0
        if origin == 0 or body < 0 or is_coded or not self.is_regular:
            return 0
        length = 0
        if self.spans[2 * _HTTP_LENGTH] >= 0:
            length = _number(data, self.spans[2 * _HTTP_LENGTH], self.spans[2 * _HTTP_LENGTH + 1])
            if length < 0:
                return 0
        self._fill(table, at + _URL, _TARGET)
        self._fill(table, at + _DATE, _MOMENT)
        self._fill(table, at + _TYPE, _HTTP_TYPE)
        self._fill(table, at + _LOCATION, _HTTP_LOCATION)
        table[at + _ORIGIN_SIZE] = origin
        table[at + _BODY] = body
        table[at + _BODY_SIZE] = end - body
        table[at + _WHOLE] = self.spans[2 * _CUT] < 0 and length <= end - body
        table[at + _PLAIN] = 200 <= status < 300 and _is_plain(data, body, end)
        return status

    def _fill(self, table: Longs, at: int, field: int) -> None:
        """Fill in start and size of a header field."""
        table[at] = self.spans[2 * field]
        table[at + 1] = self.spans[2 * field + 1]

    def _is_response(self, data: Bytes) -> bool:
        """Tell whether a record is a regular HTTP response, except for its content."""
        if not self.is_regular or self.spans[2 * _KIND + 1] != 8:
            return False
        return (
            _memory.same(data, self.spans[2 * _KIND], _RESPONSE, 0, 8)
            and _is_http(data, self.spans[2 * _MEDIA], self.spans[2 * _MEDIA + 1])
            and _is_moment(data, self.spans[2 * _MOMENT], self.spans[2 * _MOMENT + 1])
        )


def _is_white(byte: int) -> bool:
    return byte in (_SPACE, _TAB)


def _is_name(data: Bytes, start: int, at: int, size: int) -> bool:
    """Tell whether a name equals the one at a place of `_NAME_BYTES`, ignoring case."""
    if _memory.same(data, start, _NAME_BYTES, at, size):
        return True
    for index in range(size):
        byte, expected = data[start + index], _NAME_BYTES[at + index]
        # Letters differ from the other case in one bit; only they and hyphens are in names.
        if byte != expected and (byte ^ 32 != expected or expected == _HYPHEN):
            return False
    return True


def _number(data: Bytes, start: int, size: int) -> int:
    """Return a number of decimal digits, or -1."""
    if size == 0 or size > _MAX_DIGITS:
        return -1
    number = 0
    for at in range(start, start + size):
        if data[at] < _ZERO or data[at] > _NINE:
            return -1
        number = 10 * number + data[at] - _ZERO
    return number


def _status(data: Bytes, start: int) -> int:
    """Return the status of an HTTP response, as in ``HTTP/1.1 200 OK``; 0 if it has none."""
    if not _memory.same(data, start, _HTTP, 0, 7) or data[start + 8] != _SPACE:
        return 0
    if data[start + 7] not in (_ZERO, _ZERO + 1):
        return 0
    end = start + 12
    if data[end] not in (_SPACE, _RETURN):
        return 0
    return max(_number(data, start + 9, 3), 0)


def _is_http(data: Bytes, start: int, size: int) -> bool:
    """Tell whether a record's media type is application/http, with or without parameters."""
    if size < _HTTP_MEDIA_SIZE or not _memory.same(data, start, _HTTP_MEDIA, 0, _HTTP_MEDIA_SIZE):
        return False
    return size == _HTTP_MEDIA_SIZE or data[start + _HTTP_MEDIA_SIZE] == _SEMICOLON


@cython.locals(is_digit="bint")
def _is_moment(data: Bytes, start: int, size: int) -> bool:
    """Tell whether a date is as in ``2026-11-01T00:00:00Z``, with up to six digits of a second."""
    if size <= _SHAPE_SIZE or size > _SHAPE_SIZE + 8 or data[start + size - 1] != _ZULU:
        return False
    if data[start] not in (_ZERO + 1, _ZERO + 2):
        return False
    for index in range(1, _SHAPE_SIZE):
        is_digit = _ZERO <= data[start + index] <= _NINE
        if (_SHAPE[index] == _ZERO) != is_digit:
            return False
        if not is_digit and data[start + index] != _SHAPE[index]:
            return False
    if size == _SHAPE_SIZE + 1:
        return True
    digits = _number(data, start + _SHAPE_SIZE + 1, size - _SHAPE_SIZE - 2)
    return data[start + _SHAPE_SIZE] == _DOT and digits >= 0


@cython.locals(at="int", byte="int")
def _origin_size(data: Bytes, start: int, size: int) -> int:
    """Return the size of the origin of a URL as in ``https://example.com/robots.txt``, or 0.

    It has no port, no upper case, and no name without a dot.
    """
    after = size - _FILE_SIZE
    if after < 12 or not _memory.same(data, start + after, _FILE, 0, _FILE_SIZE):
        return 0
    at = 4 + (data[start + 4] == _SCHEME[4])
    if not _memory.same(data, start, _SCHEME, 0, at):
        return 0
    if not _memory.same(data, start + at, _SCHEME, 5, 3):
        return 0
    label = at + 3
    dots = 0
    for index in range(label, after):
        byte = data[start + index]
        if byte == _DOT and index > label:
            label = index + 1
            dots += 1
        elif not (97 <= byte <= 122 or _ZERO <= byte <= _NINE or byte == _HYPHEN):
            return 0
    return after if dots and label < after else 0


@cython.locals(odd="unsigned char", text="unsigned char", control="unsigned char")
def _is_plain(data: Bytes, start: int, end: int) -> bool:
    """Tell whether a body is ASCII text without control characters, and no HTML page.

    No conversion to UTF-8 changes it, and no check of `koster.lint` calls it a page or binary.
    """
    odd = False
    for at in range(start, end):
        # One comparison for each range, as bytes that wrap around.
        text, control = (data[at] - _SPACE) & 255, (data[at] - _TAB) & 255
        odd |= (text > 94) & (control > 4)
    if odd:
        return False
    while start < end and data[start] <= _SPACE:
        start += 1
    # Pages, %PDF and GIF start with these.
    return start == end or data[start] not in (60, 37, 71)

cimport cython
from koster.bulk.loops cimport buffers as _buffers
from koster.engine cimport memory as _memory

cdef int _TAB, _LINE_END, _RETURN, _SPACE, _HYPHEN, _DOT, _ZERO, _NINE, _COLON, _SEMICOLON, _ZULU
cdef int _NUMBER, _STATUS, _URL, _ORIGIN_SIZE, _DATE, _TYPE, _LOCATION, _BODY, _BODY_SIZE
cdef int _WHOLE, _PLAIN, _WIDTH
cdef int _KIND, _LENGTH, _MEDIA, _TARGET, _MOMENT, _CUT
cdef int _HTTP_TYPE, _HTTP_LOCATION, _CONTENT_CODING, _TRANSFER_CODING, _FIELDS
cdef bytes _NAME_TABLE, _NAME_SIZE_TABLE, _VERSION_TABLE, _RECORD_END_TABLE, _RESPONSE_TABLE
cdef bytes _REQUEST_TABLE, _METADATA_TABLE, _HTTP_MEDIA_TABLE, _HTTP_TABLE, _SCHEME_TABLE
cdef bytes _FILE_TABLE, _MOMENT_TABLE, _GZIP_TABLE
cdef const unsigned char* _NAME_BYTES
cdef const unsigned char* _NAME_SIZES
cdef const unsigned char* _VERSION
cdef const unsigned char* _RECORD_END
cdef const unsigned char* _RESPONSE
cdef const unsigned char* _REQUEST
cdef const unsigned char* _METADATA
cdef const unsigned char* _HTTP_MEDIA
cdef const unsigned char* _HTTP
cdef const unsigned char* _SCHEME
cdef const unsigned char* _FILE
cdef const unsigned char* _SHAPE
cdef const unsigned char* _GZIP
cdef int _HEADER_SIZE, _HTTP_MEDIA_SIZE, _FILE_SIZE, _SHAPE_SIZE, _MAX_LINE, _MAX_DIGITS


@cython.locals(raw="const unsigned char*", size=Py_ssize_t)
cpdef Py_ssize_t find_members(const unsigned char[::1] data, long long[::1] starts)
@cython.locals(count=Py_ssize_t, last=Py_ssize_t, at=Py_ssize_t, is_start=bint)
cdef Py_ssize_t _find_all(
    const unsigned char* data, Py_ssize_t size, long long[::1] starts
) noexcept nogil
cdef bint _is_member(const unsigned char* data, Py_ssize_t at) noexcept nogil
@cython.locals(
    size=Py_ssize_t, found=bytearray, raw="const unsigned char*", target="unsigned char*",
    is_whole=bint,
)
cpdef object decompress_members(
    Py_ssize_t decompress, Py_ssize_t decompressor, const unsigned char[::1] data,
    const long long[::1] bounds, const long long[::1] places, Py_ssize_t spare
)
@cython.locals(number=Py_ssize_t, last=Py_ssize_t, size=Py_ssize_t)
cdef bint _decompress_all(
    Py_ssize_t decompress, Py_ssize_t decompressor, const unsigned char* data,
    const long long[::1] bounds, unsigned char* target, const long long[::1] places,
    Py_ssize_t room
) noexcept nogil


@cython.final
cdef class Scanner:
    cdef int* spans
    cdef bint is_regular

    @cython.locals(raw="const unsigned char*")
    cpdef Py_ssize_t scan(
        self, const unsigned char[::1] data, const long long[::1] bounds, long long[::1] table
    )
    @cython.locals(
        rows=Py_ssize_t, number=Py_ssize_t, start=Py_ssize_t, end=Py_ssize_t, content=Py_ssize_t,
        at=Py_ssize_t,
    )
    cdef Py_ssize_t _scan_all(
        self, const unsigned char* data, const long long[::1] bounds, long long[::1] table
    ) noexcept nogil
    @cython.locals(field=int, content=Py_ssize_t, length=Py_ssize_t)
    cdef Py_ssize_t _read_record(
        self, const unsigned char* data, Py_ssize_t start, Py_ssize_t end
    ) noexcept nogil
    @cython.locals(line=Py_ssize_t, line_end=Py_ssize_t, colon=Py_ssize_t)
    cdef Py_ssize_t _read_fields(
        self, const unsigned char* data, Py_ssize_t start, Py_ssize_t end, int first, int after
    ) noexcept nogil
    @cython.locals(at=int, field=int, size=int)
    cdef void _keep_field(
        self, const unsigned char* data, Py_ssize_t start, Py_ssize_t colon, Py_ssize_t end,
        int first, int after
    ) noexcept nogil
    @cython.locals(at=Py_ssize_t, odd="unsigned char")
    cdef void _keep_value(
        self, const unsigned char* data, int field, Py_ssize_t start, Py_ssize_t end
    ) noexcept nogil
    @cython.locals(start=Py_ssize_t, size=int)
    cdef bint _is_skipped(self, const unsigned char* data) noexcept nogil
    @cython.locals(status=int, origin=int, body=Py_ssize_t, is_coded=bint)
    cdef int _read_response(
        self, const unsigned char* data, Py_ssize_t start, Py_ssize_t end, long long[::1] table,
        Py_ssize_t at
    ) noexcept nogil
    cdef void _fill(self, long long[::1] table, Py_ssize_t at, int field) noexcept nogil
    @cython.locals(size=int)
    cdef bint _is_response(self, const unsigned char* data) noexcept nogil


cdef bint _is_white(int byte) noexcept nogil
@cython.locals(index=int, byte=int, expected=int)
cdef bint _is_name(
    const unsigned char* data, Py_ssize_t start, int at, int size
) noexcept nogil
@cython.locals(number=int, at=Py_ssize_t)
cdef int _number(const unsigned char* data, Py_ssize_t start, int size) noexcept nogil
@cython.locals(end=Py_ssize_t)
cdef int _status(const unsigned char* data, Py_ssize_t start) noexcept nogil
cdef bint _is_http(const unsigned char* data, Py_ssize_t start, int size) noexcept nogil
@cython.locals(index=int, is_digit=bint)
cdef bint _is_moment(const unsigned char* data, Py_ssize_t start, int size) noexcept nogil
@cython.locals(after=int, at=int, label=int, dots=int, index=int, byte=int)
cdef int _origin_size(const unsigned char* data, Py_ssize_t start, int size) noexcept nogil
@cython.locals(
    odd="unsigned char", at=Py_ssize_t, text="unsigned char", control="unsigned char"
)
cdef bint _is_plain(const unsigned char* data, Py_ssize_t start, Py_ssize_t end) noexcept nogil

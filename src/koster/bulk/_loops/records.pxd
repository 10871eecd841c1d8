cimport cython
from koster.bulk._loops cimport buffers as _buffers
from koster._engine cimport memory as _memory
from koster._engine.memory cimport bytes_t

cdef int _TAB, _LINE_END, _RETURN, _SPACE, _HYPHEN, _DOT, _ZERO, _NINE, _COLON, _SEMICOLON, _ZULU
cdef int _NUMBER, _STATUS, _URL, _ORIGIN_SIZE, _DATE, _TYPE, _LOCATION, _BODY, _BODY_SIZE
cdef int _WHOLE, _PLAIN, _WIDTH
cdef int _KIND, _LENGTH, _MEDIA, _TARGET, _MOMENT, _CUT
cdef int _HTTP_TYPE, _HTTP_LOCATION, _CONTENT_CODING, _TRANSFER_CODING, _HTTP_LENGTH, _FIELDS
cdef bytes _NAME_TABLE, _NAME_SIZE_TABLE, _VERSION_TABLE, _RECORD_END_TABLE, _RESPONSE_TABLE
cdef bytes _REQUEST_TABLE, _METADATA_TABLE, _HTTP_MEDIA_TABLE, _HTTP_TABLE, _SCHEME_TABLE
cdef bytes _FILE_TABLE, _MOMENT_TABLE, _GZIP_TABLE
cdef bytes_t _NAME_BYTES, _NAME_SIZES, _VERSION, _RECORD_END, _RESPONSE, _REQUEST, _METADATA
cdef bytes_t _HTTP_MEDIA, _HTTP, _SCHEME, _FILE, _SHAPE, _GZIP
cdef int _HEADER_SIZE, _HTTP_MEDIA_SIZE, _FILE_SIZE, _SHAPE_SIZE, _MAX_LINE, _MAX_DIGITS

cpdef Py_ssize_t find_members(const unsigned char[::1] data, long long[::1] starts)
cdef Py_ssize_t _find_all(bytes_t data, Py_ssize_t size, long long[::1] starts) noexcept nogil
cdef bint _is_member(bytes_t data, Py_ssize_t at) noexcept nogil

@cython.final
cdef class Scanner:
    cdef int* spans
    cdef bint is_regular

    cpdef Py_ssize_t scan(
        self, const unsigned char[::1] data, const long long[::1] bounds, long long[::1] table
    )
    cdef Py_ssize_t _scan_all(
        self, bytes_t data, const long long[::1] bounds, long long[::1] table
    ) noexcept nogil
    cdef Py_ssize_t _read_record(
        self, bytes_t data, Py_ssize_t start, Py_ssize_t end
    ) noexcept nogil
    cdef Py_ssize_t _read_fields(
        self, bytes_t data, Py_ssize_t start, Py_ssize_t end, int first, int after
    ) noexcept nogil
    cdef void _keep_field(
        self, bytes_t data, Py_ssize_t start, Py_ssize_t colon, Py_ssize_t end, int first, int after
    ) noexcept nogil
    cdef void _keep_value(
        self, bytes_t data, int field, Py_ssize_t start, Py_ssize_t end
    ) noexcept nogil
    cdef bint _is_skipped(self, bytes_t data) noexcept nogil
    cdef int _read_response(
        self, bytes_t data, Py_ssize_t start, Py_ssize_t end, long long[::1] table, Py_ssize_t at
    ) noexcept nogil
    cdef void _fill(self, long long[::1] table, Py_ssize_t at, int field) noexcept nogil
    cdef bint _is_response(self, bytes_t data) noexcept nogil

cdef bint _is_white(int byte) noexcept nogil
cdef bint _is_name(bytes_t data, Py_ssize_t start, int at, int size) noexcept nogil
cdef int _number(bytes_t data, Py_ssize_t start, int size) noexcept nogil
cdef int _status(bytes_t data, Py_ssize_t start) noexcept nogil
cdef bint _is_http(bytes_t data, Py_ssize_t start, int size) noexcept nogil
cdef bint _is_moment(bytes_t data, Py_ssize_t start, int size) noexcept nogil
cdef int _origin_size(bytes_t data, Py_ssize_t start, int size) noexcept nogil
cdef bint _is_plain(bytes_t data, Py_ssize_t start, Py_ssize_t end) noexcept nogil

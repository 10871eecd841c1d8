cimport cython
from koster._engine cimport document as _document, lexer as _lexer, matcher as _matcher, selection as _selection, memory as _memory, rows as _rows, table as _table
from koster.bulk._loops cimport buffers as _buffers
from koster._engine.document cimport File, Plan
from koster._engine.table cimport Table
from koster._engine.rows cimport Rows
from koster._engine.selection cimport Selection
from koster._engine.memory cimport bytes_t

cdef int _ALLOW, _DISALLOW, _RULE, _NO_RULE, _NO_GROUP, _ROBOTS_TXT, _URL_TOO_LONG, _MAX_PROBES
cdef int _HASHED

@cython.final
cdef class Answers:
    cdef unsigned char[::1] allowed, reasons
    cdef int[::1] lines
    cdef long long[::1] starts, sizes

    cdef bint fill(
        self, Selection selection, Py_ssize_t body, bytes_t urls, const long long[::1] bounds,
        const long long[::1] order, Py_ssize_t first, Py_ssize_t after
    ) except -1

cpdef object decide(
    object dialect, const unsigned char[::1] data, const long long[::1] starts,
    const long long[::1] ends, const int[::1] bodies, const unsigned char[::1] urls,
    const long long[::1] bounds, object agents, const int[::1] agent_codes,
    const long long[::1] order, Answers answers
)
cpdef tuple survey(bytes body, object dialect)
cpdef Py_ssize_t distinct(
    const unsigned char[::1] data, const long long[::1] starts, const long long[::1] ends,
    int[::1] numbers, long long[::1] firsts
) except -1
cdef Py_ssize_t _number_values(
    bytes_t data, const long long[::1] starts, const long long[::1] ends, int[::1] numbers,
    long long[::1] firsts, int* slots, Py_ssize_t mask
) noexcept nogil
cdef Py_ssize_t _hashed(bytes_t data, Py_ssize_t start, Py_ssize_t size) noexcept nogil
cdef bint _is_value(
    bytes_t data, const long long[::1] starts, const long long[::1] ends, Py_ssize_t index,
    Py_ssize_t start, Py_ssize_t size
) noexcept nogil
cpdef bint is_sorted(const int[::1] numbers) noexcept
cpdef bint count_up(const int[::1] numbers) noexcept
cpdef list marked(
    const unsigned char[::1] data, const long long[::1] starts, const long long[::1] ends
)
cpdef list unusual(
    const unsigned char[::1] data, const long long[::1] starts, const long long[::1] ends
)
cpdef bytearray gather(
    const unsigned char[::1] data, const long long[::1] starts, const long long[::1] ends,
    long long[::1] bounds
)
cdef int _copy(
    bytes_t data, const long long[::1] starts, long long[::1] bounds, unsigned char* target
) except -1

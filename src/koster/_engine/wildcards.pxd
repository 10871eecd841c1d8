from koster._engine cimport memory as _memory
from koster._engine.memory cimport bytes_t

cdef int NO_ROOM, _SHORT, _MISSING, _NO_LINKS, _WINDOW
cdef bytes _EVERY_TABLE
cdef bytes_t _EVERY_BYTE
cdef int _STAR, _QUESTION, _BRACKET, _CLOSING, _BANG, _HYPHEN, _BACKSLASH

cdef int matches(
    bytes_t text, Py_ssize_t at, Py_ssize_t end, bint anchored, bytes_t path, Py_ssize_t position,
    Py_ssize_t stop
) noexcept nogil
cdef Py_ssize_t _search(
    bytes_t text, Py_ssize_t at, Py_ssize_t size, bytes_t path, Py_ssize_t position, Py_ssize_t stop
) noexcept nogil
cdef Py_ssize_t _search_long(
    bytes_t text, Py_ssize_t at, Py_ssize_t size, const int* links, bytes_t path,
    Py_ssize_t position, Py_ssize_t stop
) noexcept nogil
cdef void _link(bytes_t text, Py_ssize_t at, Py_ssize_t size, int* links) noexcept nogil
cpdef list links_of(bytes run)
cdef bint is_special(int byte) noexcept nogil
cdef bint is_explicit(bytes_t text, Py_ssize_t at, Py_ssize_t end) noexcept nogil
cdef int shell_matches(
    bytes_t text, Py_ssize_t at, Py_ssize_t end, bytes_t path, Py_ssize_t position, Py_ssize_t stop
) noexcept nogil
cpdef list elements(bytes pattern)
cdef Py_ssize_t _last_bracket(bytes_t text, Py_ssize_t at, Py_ssize_t end) noexcept nogil
cdef (Py_ssize_t, Py_ssize_t) _run(
    bytes_t text, Py_ssize_t at, Py_ssize_t end, Py_ssize_t closing
) noexcept nogil
cdef Py_ssize_t _element_end(
    bytes_t text, Py_ssize_t at, Py_ssize_t end, Py_ssize_t closing
) noexcept nogil
cdef Py_ssize_t _find_run(
    bytes_t text, Py_ssize_t at, Py_ssize_t end, Py_ssize_t closing, unsigned char* room,
    bytes_t path, Py_ssize_t low, Py_ssize_t high
) noexcept nogil
cdef void _clear_mismatches(
    bytes_t text, Py_ssize_t at, Py_ssize_t end, unsigned char* room, Py_ssize_t count,
    bytes_t path, Py_ssize_t position
) noexcept nogil
cdef void _clear_others(
    bytes_t text, Py_ssize_t at, Py_ssize_t end, unsigned char* room, Py_ssize_t count,
    bytes_t path, Py_ssize_t position
) noexcept nogil

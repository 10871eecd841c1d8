cimport cython
from koster.engine cimport memory as _memory

cdef int NO_ROOM, _SHORT, _MISSING, _NO_LINKS, _WINDOW
cdef bytes _EVERY_TABLE
cdef const unsigned char* _EVERY_BYTE
cdef int _STAR, _QUESTION, _BRACKET, _CLOSING, _BANG, _HYPHEN, _BACKSLASH

cdef int matches(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end, bint anchored,
    const unsigned char* path, Py_ssize_t position, Py_ssize_t stop
) noexcept nogil
cdef Py_ssize_t _search(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t size,
    const unsigned char* path, Py_ssize_t position, Py_ssize_t stop
) noexcept nogil
cdef Py_ssize_t _search_long(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t size, const int* links,
    const unsigned char* path, Py_ssize_t position, Py_ssize_t stop
) noexcept nogil
cdef void _link(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t size, int* links
) noexcept nogil
cpdef list links_of(bytes run)
cdef bint is_special(int byte) noexcept nogil
cdef bint is_explicit(const unsigned char* text, Py_ssize_t at, Py_ssize_t end) noexcept nogil
cdef int shell_matches(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end,
    const unsigned char* path, Py_ssize_t position, Py_ssize_t stop
) noexcept nogil
cpdef list elements(bytes pattern)
cdef Py_ssize_t _last_bracket(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end
) noexcept nogil
cdef (Py_ssize_t, Py_ssize_t) _run(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end, Py_ssize_t closing
) noexcept nogil
cdef Py_ssize_t _element_end(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end, Py_ssize_t closing
) noexcept nogil
cdef Py_ssize_t _find_run(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end, Py_ssize_t closing,
    unsigned char* room, const unsigned char* path, Py_ssize_t low, Py_ssize_t high
) noexcept nogil
cdef void _clear_mismatches(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end, unsigned char* room,
    Py_ssize_t count, const unsigned char* path, Py_ssize_t position
) noexcept nogil
cdef void _clear_others(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end, unsigned char* room,
    Py_ssize_t count, const unsigned char* path, Py_ssize_t position
) noexcept nogil

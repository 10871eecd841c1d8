cimport cython
from koster.engine cimport memory as _memory

cdef int SHORT, NO_ROOM, _WINDOW
cdef bytes _EVERY_TABLE
cdef const unsigned char* _EVERY_BYTE
cdef int _STAR, _QUESTION, _BRACKET, _CLOSING, _BANG, _HYPHEN, _BACKSLASH

@cython.locals(run_end=Py_ssize_t, size=Py_ssize_t)
cdef bint matches(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end, bint anchored, const int* links,
    const unsigned char* path, Py_ssize_t position, Py_ssize_t stop
) noexcept nogil
cdef Py_ssize_t _search(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t size, const int* links,
    const unsigned char* path, Py_ssize_t position, Py_ssize_t stop
) noexcept nogil
@cython.locals(matched=Py_ssize_t)
cdef Py_ssize_t _search_long(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t size, const int* links,
    const unsigned char* path, Py_ssize_t position, Py_ssize_t stop
) noexcept nogil
@cython.locals(longest=Py_ssize_t, run_end=Py_ssize_t)
cdef Py_ssize_t longest_run(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end
) noexcept nogil
@cython.locals(run_end=Py_ssize_t, matched=int, position=Py_ssize_t)
cdef void link(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end, int* links
) noexcept nogil
@cython.locals(links="int*", at=Py_ssize_t, found=list)
cpdef list links_of(bytes run)
cdef bint is_special(int byte) noexcept nogil
@cython.locals(closing=Py_ssize_t, after=Py_ssize_t)
cdef bint is_explicit(const unsigned char* text, Py_ssize_t at, Py_ssize_t end) noexcept nogil
@cython.locals(
    room="unsigned char*", closing=Py_ssize_t, matched=int, after_star=bint, run_end=Py_ssize_t,
    size=Py_ssize_t, low=Py_ssize_t, high=Py_ssize_t,
)
cdef int shell_matches(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end,
    const unsigned char* path, Py_ssize_t position, Py_ssize_t stop
) noexcept nogil
@cython.locals(
    end=Py_ssize_t, closing=Py_ssize_t, at=Py_ssize_t, after=Py_ssize_t, room="unsigned char*",
    found=list,
)
cpdef list elements(bytes pattern)
@cython.locals(last=Py_ssize_t)
cdef Py_ssize_t _last_bracket(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end
) noexcept nogil
@cython.locals(size=Py_ssize_t)
cdef (Py_ssize_t, Py_ssize_t) _run(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end, Py_ssize_t closing
) noexcept nogil
@cython.locals(first=Py_ssize_t, last=Py_ssize_t)
cdef Py_ssize_t _element_end(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end, Py_ssize_t closing
) noexcept nogil
@cython.locals(
    count=Py_ssize_t, possible=Py_ssize_t, element=Py_ssize_t, after=Py_ssize_t,
    position=Py_ssize_t,
)
cdef Py_ssize_t _find_run(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end, Py_ssize_t closing,
    unsigned char* room, const unsigned char* path, Py_ssize_t low, Py_ssize_t high
) noexcept nogil
@cython.locals(byte="unsigned char", place=Py_ssize_t)
cdef void _clear_mismatches(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end, unsigned char* room,
    Py_ssize_t count, const unsigned char* path, Py_ssize_t position
) noexcept nogil
@cython.locals(
    is_negated="unsigned char", low="unsigned char", high="unsigned char", span="unsigned char",
    distance="unsigned char", members=Py_ssize_t, place=Py_ssize_t,
)
cdef void _clear_others(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end, unsigned char* room,
    Py_ssize_t count, const unsigned char* path, Py_ssize_t position
) noexcept nogil

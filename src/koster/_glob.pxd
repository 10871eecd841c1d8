cimport cython
from koster cimport _octets

cdef int SHORT
cdef int _STAR, _QUESTION, _BRACKET, _CLOSING, _BANG, _HYPHEN, _BACKSLASH

@cython.locals(run_end=Py_ssize_t, size=Py_ssize_t)
cdef bint matches(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end, bint anchored, const int* links,
    const unsigned char* path, Py_ssize_t position, Py_ssize_t stop
) noexcept nogil
@cython.locals(last=Py_ssize_t)
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
cdef bint is_special(int octet) noexcept nogil
@cython.locals(star=Py_ssize_t, mark=Py_ssize_t, size=Py_ssize_t)
cdef bint shell_matches(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end,
    const unsigned char* path, Py_ssize_t position, Py_ssize_t stop
) noexcept nogil
@cython.locals(after=Py_ssize_t)
cdef Py_ssize_t _element(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end, int octet
) noexcept nogil
@cython.locals(first=Py_ssize_t)
cdef Py_ssize_t _class_end(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end
) noexcept nogil
@cython.locals(wanted=bint, low=int, high=int)
cdef bint _in_class(
    const unsigned char* text, Py_ssize_t at, Py_ssize_t end, int octet
) noexcept nogil

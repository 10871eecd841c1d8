cimport cython
from koster._engine cimport memory as _memory

cdef int CODES

@cython.final
@cython.freelist(32)
cdef class Rows:
    cdef int* values
    cdef readonly Py_ssize_t count
    cdef Py_ssize_t width, room
    cdef bint lost

    cdef Py_ssize_t allocated(self) except -1

    cdef void add_line(self, int code, int number, int start, int end) noexcept nogil
    cdef void clear(self) noexcept nogil
    cdef int code(self, int row) noexcept nogil
    cdef int number(self, int row) noexcept nogil
    cdef int start(self, int row) noexcept nogil
    cdef int end(self, int row) noexcept nogil
    cdef void add_pair(self, int first, int second) noexcept nogil
    cdef bint has_room(self, Py_ssize_t room) noexcept nogil
    cdef bint resize(self, Py_ssize_t room) noexcept nogil
    cdef int close(self) except -1

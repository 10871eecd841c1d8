cimport cython
from koster cimport _octets


@cython.final
@cython.freelist(32)
cdef class Rows:
    cdef int* values
    cdef readonly Py_ssize_t count
    cdef Py_ssize_t room
    cdef bint lost

    @cython.locals(at=Py_ssize_t, values="int*")
    cdef void add(self, int first, int second, int third, int fourth) noexcept nogil
    @cython.locals(values="int*")
    cdef bint resize(self, Py_ssize_t room) noexcept nogil
    cdef int close(self) except -1

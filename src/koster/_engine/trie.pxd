cimport cython
from koster._engine cimport memory as _memory
from koster._engine.memory cimport bytes_t

cdef int NODE, LABEL, SIZE, BYTE, CHILD, CHILDREN, LOWEST, FIRST, LAST

@cython.final
@cython.no_gc
cdef class Trie:
    cdef int* cells
    cdef int root, end
    cdef bytes labels
    cdef bytes_t text

    cdef Py_ssize_t allocated(self) except -1
    cdef void _add_children(self, int node, const int* starts) noexcept nogil
    cdef int step(self, int node, bytes_t path, Py_ssize_t position, Py_ssize_t stop) noexcept nogil

cdef list _in_order(list prefixes, list ranks)

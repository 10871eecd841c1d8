cimport cython
from koster.analysis._entries cimport Entry


@cython.final
cdef class Prefixes:
    cdef readonly list keys, parents

    cdef Py_ssize_t longest(self, bytes key, Py_ssize_t end) except -2
    @cython.locals(place=Py_ssize_t, found=list)
    cdef list all_of(self, bytes key, Py_ssize_t end)


@cython.final
cdef class Keys:
    cdef list _entries, _keys, _starts, _weights
    cdef Prefixes _prefixes, _heavy
    cdef bytes _last_weighed
    cdef Py_ssize_t _last_weight
    cdef object _orders

    cdef Prefixes _all_prefixes(self)
    cdef Prefixes _weigh(self)
    cpdef Py_ssize_t count_keys(self, bytes key) except -1
    @cython.locals(place=Py_ssize_t, entry=Entry)
    cpdef bint is_first(self, bytes key, long order) except -1
    cpdef bint has_weight(self) except -1
    cpdef object max_weight(self)
    @cython.locals(prefixes=Prefixes, place=Py_ssize_t)
    cpdef Py_ssize_t weight(self, bytes key) except -1
    cpdef list prefixing(self, bytes key)
    @cython.locals(found=list)
    cdef list _joined(self, list places)
    @cython.locals(end=Py_ssize_t, found=list)
    cpdef list both_ways(self, bytes key)
    @cython.locals(end=Py_ssize_t, count=Py_ssize_t)
    cpdef Py_ssize_t count_both_ways(self, bytes key) except -1
    @cython.locals(after=Py_ssize_t, end=Py_ssize_t, found=list)
    cpdef list both_ways_before(self, bytes key, long order)
    cdef object _all_orders(self)
    @cython.locals(
        begin=Py_ssize_t, end=Py_ssize_t, low=Py_ssize_t, middle=Py_ssize_t, entry=Entry
    )
    cdef list _before(self, Py_ssize_t place, long order)
    cdef tuple _beginning_with(self, bytes key, Py_ssize_t end)
    @cython.locals(following=bytes)
    cdef tuple _places_beginning_with(self, bytes key, Py_ssize_t end)

from koster cimport _text

cdef tuple _SCHEMES
cdef Py_ssize_t _LONGEST_SCHEME, _SHORTEST_SITE

cpdef bint is_read_as_written(str url) except -1
cpdef str site_as_written(str url)

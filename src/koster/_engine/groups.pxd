cimport cython
from koster._engine cimport lexer as _lexer
from koster._engine.rows cimport Rows

cdef int _USER_AGENT, _ALLOW, _DISALLOW, _ROBOT_VERSION

@cython.final
cdef class Grouping:
    cdef unsigned int closing
    cdef bint needs_rules, needs_directives, orphans

cdef void delimit(Rows rows, Grouping grouping, Rows groups) noexcept nogil
cdef void _end(Rows rows, Grouping grouping, int first, int after, Rows groups) noexcept nogil
cdef bint _meets_needs(Rows rows, bint rules, int first, int after) noexcept nogil
cdef int group_of(Rows groups, int row) noexcept nogil
cdef int version_row(Rows rows, int first, int after) noexcept nogil
cdef bint is_adjacent(bytes data, Py_ssize_t after_agent, Py_ssize_t version) except -1
cdef int reading_of(bytes value, list majors) except -2

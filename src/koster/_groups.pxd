cimport cython
from koster cimport _lines
from koster._rows cimport Rows

cdef int _USER_AGENT, _ALLOW, _DISALLOW, _ROBOT_VERSION, _BLANK_LINE_ENDS

@cython.locals(first=int, closed=bint, row=int, code=int)
cdef void delimit(Rows rows, int records, Rows groups) noexcept nogil
cdef void _end(Rows rows, int records, int first, int after, Rows groups) noexcept nogil
@cython.locals(named=bint, ruled=bint, row=int, code=int)
cdef bint _is_record(Rows rows, int first, int after) noexcept nogil
cdef int version_row(Rows rows, int first, int after) noexcept nogil
cdef int reading_of(bytes value, list majors) except -2

cimport cython
from koster cimport _text
from koster.robots cimport RobotsTxt, Rules

cdef class KeptFile:
    cdef public RobotsTxt _robots

cdef class ProtegoFile(KeptFile):
    pass

cdef class ReppyFile(KeptFile):
    cdef public str _own_prefix

cdef class RerpFile(KeptFile):
    pass

cdef class RobotparserFile(KeptFile):
    cdef public object disallow_all, allow_all, last_checked

cdef bint _verdict(RobotsTxt robots, object url, object agent) except -1
cdef bint _starts_with(str text, str prefix) except -1
@cython.locals(escape=str, character=str)
cdef str _decoded(str url, tuple escapes)
@cython.locals(size=Py_ssize_t, rest=str, path=str)
cpdef str normalized(str url)

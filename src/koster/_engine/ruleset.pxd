cimport cython
from koster._engine cimport canonical as _canonical, matcher as _matcher, memory as _memory, table as _table
from koster._engine.table cimport Table

cdef int _CANONICAL, _WILDCARDS, _SHELL
cdef int MAX_RULES_WITHOUT_INDEX, _LOOKUPS_BEFORE_INDEX, _LARGE, _LOOKUPS_IF_LARGE

@cython.final
@cython.no_gc
@cython.freelist(16)
cdef class Ruleset:
    cdef Table table
    cdef Py_ssize_t _lookups

    cdef list compiled(self)
    cdef bint has_same_rules(self, Ruleset other) except -1
    cdef bytes path_of(self, bytes url)
    cdef Table table_for(self, Py_ssize_t lookups)
    cdef int number_for(self, object url) except -100

cdef Py_ssize_t pattern_bytes(bytes pattern) except -1

cimport cython
from koster._engine cimport compiler as _compiler, user_agents as _user_agents
from koster._engine.document cimport File, Plan
from koster._engine.rows cimport Rows
from koster._engine.ruleset cimport Ruleset
from koster._engine.table cimport Table

cdef int _ALLOW, _DISALLOW

cpdef bytes encoded(str text)
cdef Selection select(File file, tuple agents, list others)
cdef Py_ssize_t first_named(File file, tuple agents) except -2

@cython.final
@cython.freelist(16)
cdef class Selection:
    cdef Ruleset ruleset
    cdef File file
    cdef list chosen
    cdef int how
    cdef bytes agent
    # The number and group of the last decision.
    cdef tuple last_group

    cdef int choose(self, File file, tuple agents) except -1
    cdef int compile(self) except -1
    cdef bint is_named(self) except -1
    cdef object group(self, int number)
    cdef tuple groups(self)
    cdef tuple group_lines(self)
    cpdef list rule_lines(self)
    cpdef list new_rule_lines(self, set seen)
    cpdef int count_rules(self) except -1
    cdef list binding_rows(self)
    cpdef int line_of(self, int row) except -1
    cpdef object rule(self, int row)
    cpdef object reading(self)
    cpdef bint unmatched_allowed(self) except -1
    cpdef list compiled_rules(self)
    cpdef bint has_same_rules(self, Selection other) except -1
    cpdef bytes path_of(self, str url)
    cpdef int number_for(self, object url) except -100


cimport cython
from koster._engine cimport groups as _groups, lexer as _lexer, memory as _memory, user_agents as _user_agents
from koster._engine.groups cimport Grouping
from koster._engine.lexer cimport Lexer
from koster._engine.table cimport Form
from koster._engine.rows cimport Rows

cdef int _USER_AGENT, _ALLOW, _DISALLOW, _RETURN, _LINE_FEED
cdef Py_ssize_t _MIN_SELECTIONS, _MAX_SEARCHED_ROWS
cdef Plan _default_plan

@cython.final
cdef class Plan:
    cdef object dialect
    cdef bint decodes, is_literal
    cdef Lexer lexer
    cdef Grouping grouping, written_grouping
    cdef int names
    cdef bint merges
    cdef object choose
    cdef list forms, majors

cdef Plan plan_for(object dialect)
cdef bytes bytes_of(object body)
cdef File read(bytes data, Plan plan)

# A file cannot be part of a reference cycle: it needs no garbage collector.
@cython.final
@cython.no_gc
@cython.freelist(16)
cdef class File:
    cdef Plan plan
    cdef bytes data
    cdef Rows rows, groups, applicable
    cdef dict version_rows, groups_by_name, large_objects
    cdef Py_ssize_t selections

    cdef int fill(self, bytes data, Plan plan) except -1
    cdef Py_ssize_t allocated(self) except -1
    cdef dict index_of_names(self)
    cdef int first_row(self, int number) except -1
    cdef int row_after(self, int number) except -1
    cdef int group_of(self, int row) except -2
    cpdef tuple lines_by_group(self)
    cpdef dict directives_of(self, object lines)
    cpdef list named_parts(self)
    cpdef Py_ssize_t count_agents(self) except -1
    cdef Rows applicable_groups(self)
    cdef int reading(self, int number) except -2
    cdef int version_row(self, int number) except -2
    cdef int find_version_row(self, int number) except -2
    cdef bytes value(self, int row)
    cdef object text(self, int row)
    cdef object large_object(self, int key)
    cdef int keep_large(self, int key, object made) except -1
    cdef object group(self, int number)
    cdef tuple agents_of(self, int number, int first, int after)
    cdef list rows_with(self, int first, int after, int code)
    cdef tuple rules_between(self, int first, int after)
    cdef object rule(self, int row)
    cdef object rule_in(self, int row, Form form)
    cdef Form form_of(self, int row)
    cdef Form form(self, int number)
    cdef object rows_before_groups(self)
    cdef tuple values(self, object rows, int code)
    cdef list entries(self, object rows)
    cdef tuple lines(self)

cdef tuple _rules_between(File file, int first, int after)
cdef object _line(bytes text, int code, int number, int start, int end, int skipped, dict keys)

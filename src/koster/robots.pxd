cimport cython
from koster cimport _agents, _groups, _lines, _match, _octets
from koster._lines cimport Lexer
from koster._match cimport Form, Ruleset
from koster._rows cimport Rows

cdef Plan _default_plan


@cython.final
cdef class Plan:
    cdef object dialect
    cdef Lexer lexer
    cdef int records, names
    cdef list forms
    cdef bint versioned


cdef Plan _plan_for(object dialect)
@cython.locals(robots=RobotsTxt)
cdef RobotsTxt _parsed(object body, object dialect)


cdef class RobotsTxt:
    cdef Plan _plan
    cdef bytes _data
    cdef Rows _rows
    cdef Rows _groups
    cdef dict _prepared
    cdef Rules _last
    cdef tuple _group_objects

    @cython.locals(plan=Plan, data=bytes)
    cdef int _read(self, object body, object dialect) except -1
    @cython.locals(last=Rules, rules=Rules)
    cdef Rules _rules_for(self, object agent)
    @cython.locals(first=int, after=int, version=int)
    cdef object _group(self, int number)
    @cython.locals(row=int)
    cdef list _rows_with(self, int first, int after, int code)
    @cython.locals(row=int)
    cdef list _rule_rows(self, int first, int after)
    cdef bytes _value(self, int row)
    cdef object _text(self, int row)
    cdef int _line_of(self, int row) except -1
    @cython.locals(start=int)
    cdef object _rule(self, int row)
    cdef list _said(self, object directive)


@cython.locals(rules=Rules)
cdef Rules _prepare(RobotsTxt robots, object agent)
@cython.locals(other=Rules, reading=int, ruleset=Ruleset)
cdef Ruleset _ruleset_for(RobotsTxt robots, list chosen)
cdef tuple _rules_between(RobotsTxt robots, int first, int after)


cdef class Rules:
    cdef RobotsTxt _robots
    cdef object _agent
    cdef list _chosen
    cdef int _how
    cdef bytes _asked
    cdef Ruleset _ruleset

    cdef bint _verdict(self, object url) except -1
    @cython.locals(octets="const unsigned char*", size=Py_ssize_t, number=int)
    cdef int _number(self, object url) except -100
    @cython.locals(number=int)
    cdef int _group_of(self, int row) except -1
    @cython.locals(first=int, after=int)
    cdef list _bound_rows(self)

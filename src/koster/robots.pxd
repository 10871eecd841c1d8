cimport cython
from koster.engine cimport document as _document, matcher as _matcher, memory as _memory, ruleset as _ruleset, selection as _selection
from koster.engine.document cimport File, Plan
from koster.engine.ruleset cimport Ruleset
from koster.engine.selection cimport Selection
from koster.engine.matcher cimport RuleTable


@cython.locals(robots=RobotsTxt, plan=Plan, served=bytes, data=bytes)
cdef RobotsTxt _parse(object body, object dialect)


cdef class RobotsTxt:
    cdef File _file
    cdef bytes _served
    cdef dict _prepared
    cdef Rules _last
    cdef Py_ssize_t _clock

    @cython.locals(last=Rules, rules=Rules)
    cdef Rules _rules_for(self, object agent, object url)


cdef object _values_in(File file, object rows)
@cython.locals(rules=Rules, names=tuple, index=Py_ssize_t)
cdef Rules _prepare(File file, object agent, dict prepared)
@cython.locals(rules=Rules, least=Rules)
cdef int _discard_least_recent(dict prepared) except -1


cdef class Rules:
    # The fields that a decision reads are the first ones, in one cache line.
    cdef RuleTable _settled
    cdef Ruleset _ruleset
    cdef Py_ssize_t _used
    cdef bint _is_literal
    cdef object _agent
    cdef object _named_as
    cdef Selection _selection

    cdef int _copy_from(self, Rules other) except -1
    cdef int _assign(self, object agent, Selection selection, object named_as) except -1
    cdef bint _verdict(self, object url) except -1
    @cython.locals(selection=Selection, row=int)
    cdef object _decision(self, object url, int number, RuleTable table)
    @cython.locals(table=RuleTable)
    cdef RuleTable _table(self)

from koster._engine cimport document as _document, matcher as _matcher, memory as _memory, ruleset as _ruleset, selection as _selection, table as _table
from koster._engine.document cimport File, Plan
from koster._engine.selection cimport Selection
from koster._engine.table cimport Table

cdef RobotsTxt _parse(object body, object dialect)

cdef class RobotsTxt:
    cdef File _file
    cdef bytes _served
    cdef dict _prepared
    cdef Rules _last
    cdef Py_ssize_t _clock

    cdef Rules _rules_for(self, object agent, object url)

cdef object _values_in(File file, object rows)
cdef Rules _prepare(File file, object agent, dict prepared)
cdef int _discard_least_recent(dict prepared) except -1

cdef class Rules:
    cdef Table _table
    cdef Py_ssize_t _used
    cdef bint _is_literal
    cdef object _agent
    cdef object _named_as
    cdef Selection _selection

    cdef int _copy_from(self, Rules other) except -1
    cdef int _assign(self, object agent, Selection selection, object named_as) except -1
    cdef Table _current_table(self)
    cdef bint _verdict(self, object url) except -1
    cdef object _decision(self, object url, int number, Table table)

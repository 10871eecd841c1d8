cimport cython
from koster.engine cimport user_agents as _user_agents, document as _document, ruleset as _ruleset, memory as _memory
from koster.engine.document cimport File, Plan
from koster.engine.ruleset cimport Ruleset


@cython.locals(robots=RobotsTxt, plan=Plan)
cdef RobotsTxt _parsed(object body, object dialect)


cdef class RobotsTxt:
    cdef File _file
    cdef dict _prepared
    cdef Rules _last
    cdef Py_ssize_t _clock

    @cython.locals(last=Rules, rules=Rules)
    cdef Rules _rules_for(self, object agent)


cdef object _values_in(File file, object rows)
cdef bytes _encoded(str text)
@cython.locals(rules=Rules, other=Rules, names=tuple)
cdef Rules _prepare(File file, object agent, dict prepared)
@cython.locals(rules=Rules, least=Rules)
cdef int _drop_least_recent(dict prepared) except -1
@cython.locals(ruleset=Ruleset)
cdef Ruleset _compiled(File file, list chosen)


# What a question needs stands first: it shares a cache line with the head of the object.
cdef class Rules:
    cdef Ruleset _ruleset
    cdef Py_ssize_t _used
    cdef object _agent
    cdef File _file
    cdef list _chosen
    cdef int _how
    cdef bytes _asked
    # The group that was asked for last, with its number: to make a large one takes long.
    cdef tuple _made

    cdef object _group(self, int number)
    cdef int _take(self, Rules other) except -1
    @cython.locals(plan=Plan)
    cdef int _find(self, File file, object agent, tuple names) except -1
    @cython.locals(_=int)
    cdef int _expect(self, Py_ssize_t questions) except -1
    cdef bint _verdict(self, object url) except -1
    @cython.locals(raw="const unsigned char*", size=Py_ssize_t, number=int)
    cdef int _number(self, object url) except -100
    @cython.locals(number=int, found=int)
    cdef int _group_of(self, int row) except -1
    @cython.locals(file=File, number=int, first=int, after=int)
    cdef list _bound_rows(self)


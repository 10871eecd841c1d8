cimport cython
from koster.engine cimport memory as _memory, canonical as _canonical, matcher as _matcher, packing as _packing
from koster.engine.matcher cimport RuleTable

cdef int _CANONICAL, _WILDCARDS, _SHELL, _SLASH
cdef int LOOKUPS_BEFORE_PACKING, _LARGE, _LOOKUPS_IF_LARGE


@cython.final
cdef class Form:
    cdef object reading
    cdef object rewrite
    cdef bytes rewritten
    cdef int url_path, escapes, patterns, choice, empty_rules
    cdef bint unless_allows, exempt, index_pages


@cython.final
@cython.no_gc
cdef class CompiledTable(RuleTable):
    cdef Form form
    cdef int used, longest_run
    cdef Py_ssize_t rules_room, text_room

    cdef int prepare(self, Form form) except -1
    cdef int byte(self, int at) noexcept nogil
    cdef bint is_anchored(self, int rule) noexcept nogil
    @cython.locals(size=int)
    cdef bint matches_all(self, int rule) noexcept nogil
    cdef int best_of_all(self, const unsigned char* path, Py_ssize_t size) noexcept nogil
    cdef bint link_runs(self) noexcept nogil


@cython.locals(table=CompiledTable)
cdef CompiledTable new_table(Form form)
@cython.locals(ruleset=Ruleset)
cdef Ruleset new_ruleset(Form form, RuleTable table)


@cython.final
@cython.no_gc
@cython.freelist(16)
cdef class Ruleset:
    cdef RuleTable table
    cdef bint is_settled
    cdef int _lookups
    cdef Form form

    cdef int fill(self, Form form, RuleTable table) except -1
    @cython.locals(
        table=RuleTable, rule=int, at=int, start=int, flags=int, kind=int, is_anchored=bint,
        allow=bint, found=list,
    )
    cdef list compiled(self)
    @cython.locals(
        first=RuleTable, second=RuleTable, rule=int, one=int, two=int, start=int, start2=int, size=int,
    )
    cdef bint has_same_rules(self, Ruleset other) except -1
    @cython.locals(start=Py_ssize_t, end=Py_ssize_t, path="unsigned char*", found=bytes)
    cdef bytes path_of(self, bytes url)
    @cython.locals(table=RuleTable, packed=RuleTable)
    cdef int count_lookup(self) except -1
    cdef int number_for(self, object url) except -100
    @cython.locals(_=int)
    cdef int expect_lookups(self, Py_ssize_t lookups) except -1


@cython.locals(out="unsigned char*", size=Py_ssize_t)
cdef Py_ssize_t pattern_bytes(bytes pattern) except -1

cimport cython
from koster.engine cimport memory as _memory, canonical as _canonical, matcher as _matcher, trie as _trie
from koster.engine.trie cimport Trie

cdef int _CANONICAL, _WILDCARDS, _SHELL, _SLASH
cdef int MAX_UNINDEXED_RULES, LOOKUPS_BEFORE_PACKING


@cython.final
cdef class Form:
    cdef object reading
    cdef object rewrite
    cdef bytes rewritten
    cdef int url_path, escapes, patterns, choice, empty_rules
    cdef bint unless_allows, exempt, index_pages


# A ruleset cannot be part of a reference cycle: it needs no garbage collector.
@cython.final
@cython.no_gc
@cython.freelist(16)
cdef class Ruleset:
    cdef readonly int count
    cdef int paths
    cdef bint unmatched_allowed
    cdef long long* keys
    cdef int* rules
    cdef unsigned char* text
    cdef int* links
    cdef Trie trie
    cdef int _lookups
    cdef unsigned char* _block
    cdef Form form
    cdef int used, longest_run
    cdef Py_ssize_t rules_room, text_room

    cdef int row(self, int rule) noexcept nogil
    cdef int start(self, int rule) noexcept nogil
    cdef int size(self, int rule) noexcept nogil
    cdef int byte(self, int at) noexcept nogil
    cdef bint is_anchored(self, int rule) noexcept nogil
    @cython.locals(size=int)
    cdef bint matches_all(self, int rule) noexcept nogil
    cdef bint allows(self, int rule) noexcept nogil
    cdef int rule_for(self, const unsigned char* url, Py_ssize_t size) noexcept nogil
    cdef int best_of_all(self, const unsigned char* path, Py_ssize_t size) noexcept nogil
    @cython.locals(rule=int, at=int, start=int, flags=int, kind=int, allow=bint, found=list)
    cdef list compiled(self)
    @cython.locals(start=Py_ssize_t, end=Py_ssize_t, path="unsigned char*", found=bytes)
    cdef bytes path_of(self, bytes url)
    cpdef Py_ssize_t allocated(self)
    cdef int count_lookup(self) except -1
    cdef bint is_settled(self) noexcept nogil
    cdef int number_for(self, object url) except -100
    @cython.locals(_=int)
    cdef int expect_lookups(self, Py_ssize_t lookups) except -1
    @cython.locals(
        keys=Py_ssize_t, rules=Py_ssize_t, links=Py_ssize_t, at=Py_ssize_t, rule=int,
        block="unsigned char*", packed="int*",
    )
    cdef void _pack(self) noexcept nogil
    @cython.locals(at=int, start=int, end=int, kinds=int)
    cdef long long _key_of(self, int rule) noexcept nogil
    @cython.locals(trie=Trie)
    cdef int index(self) except -1
    @cython.locals(rule=int, at=int, node=int, best=int)
    cdef void _fill_trie(self, Trie trie) noexcept nogil

@cython.locals(out="unsigned char*", size=Py_ssize_t)
cdef Py_ssize_t pattern_bytes(bytes pattern) except -1

cimport cython
from koster.engine cimport wildcards as _wildcards, memory as _memory, canonical as _canonical, trie as _trie
from koster.engine.trie cimport Trie

cdef int _CANONICAL, _WILDCARDS, _SHELL
cdef int _SLASH, _QUERY
cdef int RULE, START, END, LITERAL, FLAGS, RANK, ROW
cdef int ALLOWS, ANCHORED, WILD, GLOB, SPECIAL
cdef int UNMATCHED, EXEMPT, NO_MEMORY, MAX_UNINDEXED_RULES, MAX_UNFILTERED_RULES, LOOKUPS_BEFORE_INDEX
cdef bytes _EXEMPT_TABLE
cdef int* _BITS
cdef int _OTHERS
cdef const unsigned char* _EXEMPT_PATH
cdef Py_ssize_t _EXEMPT_SIZE

@cython.locals(bits="int*", byte=int, kind=int)
cdef int* _kind_bits()


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
    cdef int _lookups
    cdef int* _kinds
    cdef Form form
    cdef int* rules
    cdef unsigned char* text
    cdef Trie _trie
    cdef bint unmatched_allowed
    cdef int* links
    cdef int used, longest_run
    cdef Py_ssize_t rules_room, text_room

    cdef int row(self, int rule) noexcept nogil
    cdef int start(self, int rule) noexcept nogil
    cdef int size(self, int rule) noexcept nogil
    cdef int byte(self, int at) noexcept nogil
    cdef bint is_anchored(self, int rule) noexcept nogil
    @cython.locals(size=int)
    cdef bint matches_all(self, int rule) noexcept nogil
    @cython.locals(rule=int, at=int, start=int, flags=int, kind=int, found=list)
    cdef list compiled(self)
    @cython.locals(start=Py_ssize_t, end=Py_ssize_t, path="unsigned char*", found=bytes)
    cdef bytes path_of(self, bytes url)
    cdef bint allows(self, int rule) noexcept nogil
    cpdef Py_ssize_t allocated(self)
    @cython.locals(raw="const unsigned char*", size=Py_ssize_t, number=int)
    cdef int number_for(self, object url) except -100
    cdef int count_lookup(self) except -1
    @cython.locals(_=int)
    cdef int expect_lookups(self, Py_ssize_t lookups) except -1
    @cython.locals(rule=int, at=int, kinds=int, kinds_of="int*")
    cdef void _collect_kinds(self) noexcept nogil
    @cython.locals(trie=Trie)
    cdef int index(self) except -1
    @cython.locals(rule=int, at=int, node=int, best=int)
    cdef void _fill_trie(self, Trie trie) noexcept nogil
    @cython.locals(
        start=Py_ssize_t, end=Py_ssize_t, path="unsigned char*", best=int, kinds=int, plain=bint,
    )
    cdef int rule_for(self, const unsigned char* url, Py_ssize_t size) noexcept nogil
    cdef int _best(
        self, const unsigned char* path, Py_ssize_t start, Py_ssize_t end, int kinds
    ) noexcept nogil
    cdef int best_of_all(self, const unsigned char* path, Py_ssize_t size) noexcept nogil
    @cython.locals(
        rules="int*", kinds_of="int*", best=int, best_rank=int, rule=int, at=int,
        size=Py_ssize_t, matched=int,
    )
    cdef int best_by_scan(
        self, const unsigned char* path, Py_ssize_t start, Py_ssize_t end, int kinds
    ) noexcept nogil
    @cython.locals(
        rules="int*", kinds_of="int*", nodes="int*", best=int, best_rank=int, node=int, at=int,
        rule=int, rank=int, matched=int,
    )
    cdef int best_by_index(
        self, Trie trie, const unsigned char* path, Py_ssize_t start, Py_ssize_t end, int kinds
    ) noexcept nogil
    @cython.locals(rules="int*", flags=int)
    cdef int _rest_matches(
        self, int at, const unsigned char* path, Py_ssize_t position, Py_ssize_t end
    ) noexcept nogil


@cython.locals(kinds=int)
cdef int _kinds_in(const unsigned char* text, Py_ssize_t start, Py_ssize_t end) noexcept nogil
@cython.locals(missing=int, size=Py_ssize_t)
cdef bint _is_exempt(
    const unsigned char* url, Py_ssize_t start, Py_ssize_t end
) noexcept nogil
cdef bint _is_better(int rank, int rule, int best_rank, int best) noexcept nogil
cdef unsigned char* _room_for(Py_ssize_t size) noexcept nogil
@cython.locals(out="unsigned char*", size=Py_ssize_t)
cdef Py_ssize_t pattern_bytes(bytes pattern) except -1

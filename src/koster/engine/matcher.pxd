cimport cython
from koster.engine cimport wildcards as _wildcards, memory as _memory, canonical as _canonical, trie as _trie
from koster.engine.trie cimport Trie

cdef int _CANONICAL, _GOOGLE, _SLASH, _QUERY, _HASH, _FIELD, _ESCAPES_SHIFT, _EXEMPTS
cdef int RULE, START, END, LITERAL, FLAGS, RANK, ROW
cdef int ALLOWS, ANCHORED, WILD, GLOB, SPECIAL, REPEATED
cdef int UNMATCHED, EXEMPT, NO_MEMORY, TOO_LONG
cdef Py_ssize_t MAX_SEARCHED
cdef int _HEAD_BYTES, _HEAD_SHIFT, _PREFETCHED
cdef long long _MULTIPLIER, _PLACE_MASK
cdef int _PRODUCT_BITS, ANY, SLOT, NUMBER_SHIFT
cdef bytes _EXEMPT_TABLE
cdef int* _BITS
cdef int OTHERS
cdef const unsigned char* _EXEMPT_PATH
cdef Py_ssize_t _EXEMPT_SIZE

@cython.locals(bits="int*", byte=int, kind=int)
cdef int* _kind_bits()


# A table cannot be part of a reference cycle: it needs no garbage collector.
@cython.no_gc
cdef class RuleTable:
    cdef int paths, count, bits, weight
    cdef bint unmatched_allowed
    cdef long long* keys
    cdef int* places
    cdef int* rules
    cdef unsigned char* text
    cdef int* links
    cdef int* starts
    cdef long long* slots
    cdef Trie trie

    cdef int clear(self) except -1
    cdef Py_ssize_t allocated(self) except -1


cdef int paths_of(int url_path, int escapes, bint exempt) noexcept nogil
cdef int place(RuleTable table, int rule) noexcept nogil
cdef int row_of(RuleTable table, int rule) noexcept nogil
cdef int start_of(RuleTable table, int rule) noexcept nogil
@cython.locals(at=int)
cdef int size_of(RuleTable table, int rule) noexcept nogil
cdef bint allows(RuleTable table, int rule) noexcept nogil
cdef bint verdict(object url, RuleTable table) except -1
@cython.locals(raw="const unsigned char*", size=Py_ssize_t, number=int)
cdef int find(object url, RuleTable table) except -100
@cython.locals(
    start=Py_ssize_t, end=Py_ssize_t, path="unsigned char*", best=int, kinds=int, escapes=int,
    plain=bint,
)
cdef int rule_for(const unsigned char* url, Py_ssize_t size, RuleTable table) noexcept nogil
@cython.locals(missing="long long")
cdef int _best(
    RuleTable table, const unsigned char* path, Py_ssize_t start, Py_ssize_t end, int kinds
) noexcept nogil
@cython.locals(
    keys="const long long*", rules="const int*", best=int, best_rank=int, rule=int, at=int,
    size=Py_ssize_t, matched=int,
)
cdef int best_by_scan(
    RuleTable table, const unsigned char* path, Py_ssize_t start, Py_ssize_t end, long long missing
) noexcept nogil
@cython.locals(
    nodes="const int*", best=int, best_rank=int, node=int, at=int, rule=int, rank=int, first=int,
    last=int,
)
cdef int _best_by_trie(
    RuleTable table, Trie trie, const unsigned char* path, Py_ssize_t start, Py_ssize_t end,
    long long missing
) noexcept nogil
@cython.locals(first=int, last=int, best=int, bucket=int)
cdef int _best_by_buckets(
    RuleTable table, const unsigned char* path, Py_ssize_t start, Py_ssize_t end, long long missing
) noexcept nogil
# Inline: a call would take as long as the rest.
@cython.locals(
    slots="const long long*", rules="const int*", best_rank=int, slot=int, at=int, rule=int,
    matched=int,
)
cdef inline int _best_in_slots(
    RuleTable table, int first, int last, int best, const unsigned char* path, Py_ssize_t start,
    Py_ssize_t end, long long missing, bint is_after_literal
) noexcept nogil
@cython.locals(rules="const int*", size=Py_ssize_t)
cdef inline int _matches(
    RuleTable table, int at, const unsigned char* path, Py_ssize_t start, Py_ssize_t end
) noexcept nogil
@cython.locals(head="long long")
cdef int bucket_of(
    const unsigned char* text, Py_ssize_t start, Py_ssize_t end, int bits
) noexcept nogil
@cython.locals(rules="const int*", flags=int, stop=int, anchored=bint)
cdef int _rest_matches(
    RuleTable table, int at, const unsigned char* path, Py_ssize_t position, Py_ssize_t end
) noexcept nogil


@cython.locals(kinds=int)
cdef int kinds_in(const unsigned char* text, Py_ssize_t start, Py_ssize_t end) noexcept nogil
@cython.locals(head="long long", byte=int)
cdef long long head_in(const unsigned char* text, Py_ssize_t start, Py_ssize_t end) noexcept nogil
@cython.locals(missing=int, size=Py_ssize_t)
cdef bint _is_exempt(
    const unsigned char* url, Py_ssize_t start, Py_ssize_t end
) noexcept nogil
cdef bint _is_better(int rank, int rule, int best_rank, int best) noexcept nogil
cdef unsigned char* room_for(Py_ssize_t size) noexcept nogil

cimport cython
from koster.engine cimport wildcards as _wildcards, memory as _memory, canonical as _canonical, trie as _trie
from koster.engine.trie cimport Trie

cdef int _CANONICAL, _SLASH, _QUERY, _FIELD, _ESCAPES_SHIFT, _EXEMPTS
cdef int RULE, START, END, LITERAL, FLAGS, RANK, ROW
cdef int ALLOWS, ANCHORED, WILD, GLOB, SPECIAL
cdef int UNMATCHED, EXEMPT, NO_MEMORY
cdef int _HEAD_BYTES, _HEAD_SHIFT
cdef bytes _EXEMPT_TABLE
cdef int* _BITS
cdef int OTHERS
cdef const unsigned char* _EXEMPT_PATH
cdef Py_ssize_t _EXEMPT_SIZE

@cython.locals(bits="int*", byte=int, kind=int)
cdef int* _kind_bits()


cdef int paths_of(int url_path, int escapes, bint exempt) noexcept nogil
cdef bint allows(const int* rules, int rule, bint unmatched_allowed) noexcept nogil
@cython.locals(raw="const unsigned char*", size=Py_ssize_t, number=int)
cdef int find(
    object url, int paths, int count, const long long* keys, const int* rules,
    const unsigned char* text, const int* links, Trie trie
) except -100
@cython.locals(
    start=Py_ssize_t, end=Py_ssize_t, path="unsigned char*", best=int, kinds=int, escapes=int,
    plain=bint,
)
cdef int rule_for(
    const unsigned char* url, Py_ssize_t size, int paths, int count, const long long* keys, const int* rules,
    const unsigned char* text, const int* links, Trie trie
) noexcept nogil
@cython.locals(missing="long long")
cdef int _best(
    const unsigned char* path, Py_ssize_t start, Py_ssize_t end, int kinds, int count,
    const long long* keys, const int* rules,
    const unsigned char* text, const int* links, Trie trie
) noexcept nogil
@cython.locals(best=int, best_rank=int, rule=int, at=int, size=Py_ssize_t, matched=int)
cdef int best_by_scan(
    const unsigned char* path, Py_ssize_t start, Py_ssize_t end, long long missing, int count,
    const long long* keys, const int* rules,
    const unsigned char* text, const int* links
) noexcept nogil
@cython.locals(
    nodes="const int*", best=int, best_rank=int, node=int, at=int, rule=int, rank=int, matched=int,
)
cdef int best_by_index(
    const unsigned char* path, Py_ssize_t start, Py_ssize_t end, long long missing,
    const long long* keys, const int* rules,
    const unsigned char* text, const int* links, Trie trie
) noexcept nogil
@cython.locals(flags=int, stop=int, anchored=bint)
cdef int _rest_matches(
    const int* rules, int at, const unsigned char* text, const int* links,
    const unsigned char* path, Py_ssize_t position, Py_ssize_t end
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

cimport cython
from koster.engine cimport memory as _memory, matcher as _matcher, trie as _trie, wildcards as _wildcards
from koster.engine.matcher cimport RuleTable
from koster.engine.trie cimport Trie

cdef int MAX_RULES_WITHOUT_BUCKETS, MAX_RULES_WITHOUT_TRIE, _MAX_IN_BUCKETS, _MAX_BITS


@cython.final
@cython.no_gc
cdef class Packed(RuleTable):
    cdef int words
    cdef unsigned char* block

    cdef Py_ssize_t allocated(self) noexcept
    @cython.locals(first=int, rule=int, at=int)
    cdef bint fill(self, RuleTable table) noexcept nogil
    @cython.locals(count=int, bucket=int, rule=int, slot=int, number="long long")
    cdef void _fill_buckets(self) noexcept nogil
    @cython.locals(source=int, start=int, size=int, moved=int, part=int)
    cdef int _copy(self, RuleTable table, int rule, int at) noexcept nogil
    @cython.locals(trie=Trie)
    cdef int index(self) except -1
    @cython.locals(rule=int, at=int, node=int, best=int, rank=int)
    cdef void _fill_trie(self, Trie trie) noexcept nogil


@cython.locals(found=Packed)
cdef Packed packed(RuleTable table)
@cython.locals(rule=int, at=int, links="int*")
cdef void fill_links(RuleTable table) noexcept nogil
@cython.locals(bits=int, sizes="int*", most=int, rule=int, bucket=int)
cdef int _bits_for(RuleTable table) noexcept nogil
cdef int _starts(int bits) noexcept nogil
@cython.locals(at=int, start=int, end=int)
cdef int _bucket_of(RuleTable table, int rule, int bits) noexcept nogil
@cython.locals(at=int, start=int, end=int, kinds=int)
cdef long long _key_of(RuleTable table, int rule) noexcept nogil
cdef int _words(int size) noexcept nogil

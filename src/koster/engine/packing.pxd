cimport cython
from koster.engine cimport memory as _memory, matcher as _matcher, trie as _trie, wildcards as _wildcards
from koster.engine.matcher cimport RuleTable
from koster.engine.trie cimport Trie

cdef int MAX_RULES_WITHOUT_BUCKETS, MAX_RULES_WITHOUT_TRIE, _MAX_IN_BUCKETS, _MAX_BITS
cdef Py_ssize_t _ARENA_BYTES, _MAX_SHARED_BYTES, _MANY_BYTES, _PAGE_BYTES


@cython.final
cdef class Arena:
    cdef unsigned char* memory
    cdef Py_ssize_t size, next, end
    cdef bint is_shared


cdef Arena _arena
cdef Py_ssize_t _shared_bytes, _used_bytes
@cython.locals(arena=Arena)
cdef Arena _arena_for(Py_ssize_t size)


@cython.final
@cython.no_gc
cdef class Packed(RuleTable):
    cdef int words
    cdef Arena arena
    cdef Py_ssize_t start, shared_bytes

    @cython.locals(words=int, rule=int, size=Py_ssize_t, arena=Arena)
    cdef bint reserve(self, RuleTable table) except -1
    cdef bint has_keys(self) noexcept nogil
    cdef int _first(self) noexcept nogil
    @cython.locals(rule=int, slot=int)
    cdef int fill(self, RuleTable table, Trie trie) except -1
    @cython.locals(memory="unsigned char*", first=int, rule=int, at=int, slot=int)
    cdef int _copy_rules(self, RuleTable table, Trie trie) except -1
    @cython.locals(memory="unsigned char*", count=int, bucket=int, rule=int)
    cdef void _fill_buckets(self) noexcept nogil
    @cython.locals(number="long long")
    cdef void _fill_slot(self, int slot, int rule) noexcept nogil
    @cython.locals(source=int, start=int, size=int, moved=int, part=int, target=Py_ssize_t)
    cdef int _copy(self, RuleTable table, int rule, int at) noexcept nogil


@cython.locals(found=Packed, has_trie=bint)
cdef Packed packed(RuleTable table)
@cython.locals(trie=Trie, rule=int, at=int, start=int, end=int, node=int)
cdef Trie trie_of(RuleTable table)
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

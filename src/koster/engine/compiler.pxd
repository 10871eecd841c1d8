cimport cython
from koster.engine cimport canonical as _canonical, memory as _memory, matcher as _matcher, packing as _packing, trie as _trie, wildcards as _wildcards
from koster.engine.rows cimport Rows
from koster.engine.ruleset cimport CompiledTable
from koster.engine.trie cimport Trie

cdef int _ALLOW, _DISALLOW, _WILDCARDS, _SHELL, _FIRST, _LONGEST
cdef int _STAR, _DOLLAR, _SLASH, _BAND, _MANY, _ELEMENTS
cdef bytes _INDEX_TABLE
cdef const unsigned char* INDEX_PAGE
cdef Py_ssize_t INDEX_SIZE

@cython.locals(
    count=Py_ssize_t, size=Py_ssize_t, group=int, row=int, others=dict,
    patterns=list, value=bytes,
)
cdef int add_groups(CompiledTable table, bytes data, Rows rows, Rows groups, list chosen) except -1
@cython.locals(count=Py_ssize_t, size=Py_ssize_t, index=int, group=int, row=int)
cdef bint replace_groups(
    CompiledTable table, const unsigned char* data, Rows rows, Rows groups, const int* chosen, int first,
    int after
) noexcept nogil
@cython.locals(more=Py_ssize_t, rules=Py_ssize_t, text=Py_ssize_t)
cdef bint _make_room(CompiledTable table, Py_ssize_t count, Py_ssize_t size) noexcept nogil
cdef bint _finish(CompiledTable table) noexcept nogil
@cython.locals(start=int, end=int, rewritten="const unsigned char*")
cdef bint _is_rewritten(CompiledTable table, const unsigned char* data, Rows rows, int row) noexcept
@cython.locals(
    group=int, row=int, pattern=bytes, length=int, size=int,
)
cdef int _add_mixed(
    CompiledTable table, bytes data, Rows rows, Rows groups, list chosen, dict others
) except -1
@cython.locals(row=int, code=int, start=int, end=int, allow=bint)
cdef void _add_group(
    CompiledTable table, const unsigned char* data, Rows rows, int first, int after
) noexcept nogil
@cython.locals(at=int, stop=int)
cdef void _add(
    CompiledTable table, const unsigned char* data, int start, int end, int length, bint allow, int row
) noexcept nogil
@cython.locals(slash=int, size=int, place=int)
cdef void _add_directory(CompiledTable table, int at, int stop, int row) noexcept nogil
@cython.locals(flags=int, literal=int, rank=int)
cdef void _add_pattern(CompiledTable table, int at, int stop, int length, bint allow, int row) noexcept nogil
cdef int _weight(int flags, int size) noexcept nogil
@cython.locals(
    trie=Trie, sums="int*", node=int, at=int, slot=int, place=int, size=int, first=int, child=int
)
cdef bint _weigh(CompiledTable table) except -1
@cython.locals(trie=Trie, rule=int, at=int, flags=int, end=int, node=int, other=int, rank=int)
cdef bint _mark_repeated(CompiledTable table) except -1
@cython.locals(earlier=int)
cdef int _rank(CompiledTable table, int length, int flags) noexcept nogil
@cython.locals(allows=int, rule=int, flags=int)
cdef void _set_unmatched(CompiledTable table) noexcept nogil
cdef void _set_rule(
    int* rules, int at, int start, int end, int literal, int flags, int rank, int row
) noexcept nogil

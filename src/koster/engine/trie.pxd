cimport cython
from koster.engine cimport memory as _memory

cdef int NODE, LABEL, SIZE, CHILD, CHILDREN, PLAIN, SLOTS, BYTE, RANK, _SIBLING
cdef int HAS_SLOTS, _CHILDREN, _FIRST_SHIFT, _BYTES, _BYTE


@cython.final
cdef class Trie:
    cdef int used, count
    cdef int* nodes
    cdef int* before
    cdef unsigned char* room
    cdef long long* slots
    cdef unsigned char* labels
    cdef Py_ssize_t label_bytes

    cdef Py_ssize_t allocated(self) noexcept

    @cython.locals(nodes="int*", node=int, child=int, size=int, common=int)
    cdef int insert(self, const unsigned char* text, int start, int end) noexcept nogil
    @cython.locals(nodes="int*", new=int)
    cdef int _append(self, int parent, int start, int end, int byte) noexcept nogil
    @cython.locals(nodes="int*", new=int)
    cdef void _split(self, int node, int common, const unsigned char* text) noexcept nogil
    cdef void add_plain(self, int node, int rule, int rank) noexcept nogil
    cdef void add_slot(self, int node, int rule) noexcept nogil
    @cython.locals(order="int*", out="int*", node=int, at=int, size=int, label=int)
    cdef bint arrange(self, const unsigned char* text) noexcept nogil
    @cython.locals(node=int, first=int, last=int, rule=int, slot=int)
    cdef void _number_slots(self) noexcept nogil

@cython.locals(child=int)
cdef int _find_child(int* nodes, int node, int byte) noexcept nogil
@cython.locals(limit=int, common=int)
cdef int _common_prefix(
    const unsigned char* text, int label, int size, int start, int end
) noexcept nogil
@cython.locals(filled=int, at=int, node=int, first=int, child=int, part=int)
cdef void _arrange(int* nodes, int count, int* order, int* out) noexcept nogil
@cython.locals(byte=int)
cdef void _insert_sorted(int* nodes, int child, int* order, int first, int at) noexcept nogil
@cython.locals(nodes="const int*", low=int, children=int, high=int, byte=int, middle=int)
cdef int step(
    Trie trie, int node, const unsigned char* path, Py_ssize_t position, Py_ssize_t stop
) noexcept nogil
@cython.locals(nodes="const int*", size=int, more=int, label=int)
cdef bint _fits(
    Trie trie, int node, const unsigned char* path, Py_ssize_t position, Py_ssize_t stop
) noexcept nogil
@cython.locals(middle=int, other=int)
cdef int _search(const int* nodes, int low, int high, int byte) noexcept nogil
cdef int count_children(Trie trie, int node) noexcept nogil

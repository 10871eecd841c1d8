cimport cython
from koster._engine cimport memory as _memory
from koster._engine.trie cimport Trie
from koster._engine.memory cimport bytes_t

cdef int RULE, ROW, START, END, LITERAL, FLAGS, RANK
cdef int ALLOWS, ANCHORED, WILD, GLOB, SPECIAL, REPEATED
cdef int _STAR, _KEY_SIZE, _RULE_SIZE

@cython.final
cdef class Form:
    cdef object reading, rewrite
    cdef bytes rewritten
    cdef int url_path, escapes, patterns, choice, empty_rules
    cdef bint unless_allows, exempt, index_pages

# A table cannot be part of a reference cycle: it needs no garbage collector.
@cython.final
@cython.no_gc
cdef class Table:
    cdef Form form
    cdef int count, weight, used
    cdef bint unmatched_allowed
    cdef unsigned long long* keys
    cdef int* rules
    cdef unsigned char* text
    cdef Trie trie
    cdef Table original
    cdef unsigned char* block
    cdef Py_ssize_t room, most

    cdef int prepare(self, Form form) except -1
    cdef bint reserve(self, Py_ssize_t most, Py_ssize_t size) noexcept nogil
    cdef void _point(self, Py_ssize_t size) noexcept nogil
    cdef void add(
        self, int start, int end, int literal, int flags, int rank, int row
    ) noexcept nogil
    cdef void shrink(self) noexcept nogil
    cdef Py_ssize_t allocated(self) except -1
    cdef unsigned long long _key(self, int start, int end, int literal, int flags) noexcept nogil
    cdef int get(self, int rule, int field) noexcept nogil
    cdef int size_of(self, int rule) noexcept nogil
    cdef Trie make_index(self)
    cdef Table indexed(self)

cdef Table new_table(Form form)
cdef unsigned long long pairs_in(bytes_t text, Py_ssize_t start, Py_ssize_t end) noexcept nogil

from koster._engine cimport canonical as _canonical, memory as _memory, matcher as _matcher, table as _table, trie as _trie, wildcards as _wildcards
from koster._engine.rows cimport Rows
from koster._engine.table cimport Form, Table
from koster._engine.memory cimport bytes_t

cdef int _ALLOW, _DISALLOW, _WILDCARDS, _SHELL, _FIRST, _LONGEST
cdef int _STAR, _DOLLAR, _SLASH, _BAND, _MANY, _ELEMENTS
cdef bytes _INDEX_TABLE
cdef bytes_t INDEX_PAGE
cdef Py_ssize_t INDEX_SIZE

cdef Table compiled(Form form, bytes data, Rows rows, Rows groups, list chosen)
cdef bint replace_groups(
    Table table, bytes_t data, Rows rows, Rows groups, const int* chosen, int first, int after
) noexcept nogil
cdef bint _reserve(Table table, Py_ssize_t count, Py_ssize_t size) noexcept nogil
cdef bint _is_rewritten(Form form, bytes_t data, Rows rows, int row) noexcept
cdef int _add_mixed(
    Table table, bytes data, Rows rows, Rows groups, list chosen, dict others
) except -1
cdef void _add_group(Table table, bytes_t data, Rows rows, int first, int after) noexcept nogil
cdef void _add(
    Table table, bytes_t data, int start, int end, int length, bint allow, int row
) noexcept nogil
cdef void _add_directory(Table table, int at, int stop, int row) noexcept nogil
cdef void _add_pattern(Table table, int at, int stop, int length, bint allow, int row) noexcept nogil
cdef int _weight(int flags, int size) noexcept nogil
cdef int _weigh(Table table) except -1
cdef int _mark_repeated(Table table) except -1
cdef int _rank(Table table, int length, int flags) noexcept nogil
cdef void _set_unmatched(Table table) noexcept nogil

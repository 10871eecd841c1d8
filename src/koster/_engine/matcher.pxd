from koster._engine cimport canonical as _canonical, memory as _memory, table as _table, trie as _trie, wildcards as _wildcards
from koster._engine.table cimport Table
from koster._engine.trie cimport Trie
from koster._engine.memory cimport bytes_t

cdef int _SLASH, _QUERY
cdef int UNMATCHED, EXEMPT, NO_MEMORY, TOO_LONG
cdef Py_ssize_t MAX_SEARCHED
cdef bytes _EXEMPT_TABLE
cdef bytes_t _EXEMPT_PATH
cdef Py_ssize_t _EXEMPT_SIZE

cdef bint allows(Table table, int rule) noexcept nogil
cdef bint verdict(object url, Table table) except -1
cdef int find(object url, Table table) except -100
cdef int rule_for(bytes_t url, Py_ssize_t size, Table table) noexcept nogil
cdef int _best(Table table, bytes_t path, Py_ssize_t start, Py_ssize_t end) noexcept nogil
cdef int best_by_scan(Table table, bytes_t path, Py_ssize_t start, Py_ssize_t end) noexcept nogil
cdef int _best_by_trie(
    Table table, Trie trie, bytes_t path, Py_ssize_t start, Py_ssize_t end
) noexcept nogil
cdef int _matches(
    Table table, int rule, bytes_t path, Py_ssize_t start, Py_ssize_t end
) noexcept nogil
cdef int _rest_matches(
    Table table, int rule, bytes_t path, Py_ssize_t position, Py_ssize_t end
) noexcept nogil
cdef bint _is_exempt(bytes_t url, Py_ssize_t start, Py_ssize_t end) noexcept nogil
cdef unsigned char* room_for(Py_ssize_t size) noexcept nogil

from koster._engine cimport lexer as _lexer, names as _names
from koster._engine.rows cimport Rows
from koster._engine.memory cimport bytes_t

cdef int _USER_AGENT, _PREFIX, _CHOSEN, _MAX_SEARCHED, _PAIRS, _PAIR_SHIFT, _STAR, _SPACE, HEADER_BYTES
cdef bytes _STAR_GROUPS

cdef tuple groups_of(
    bytes data, Rows rows, Rows groups, int names, bint merges, tuple agents, dict index
)
cdef tuple chosen_groups(
    bytes data, Rows rows, Rows groups, object choose, bint merges, tuple agents
)
cdef bint _collect_candidates(
    bytes data, Rows rows, Rows groups, bytes key, list names, list numbers, list everybody
) except -1
cdef bint _has_unusual_bytes(bytes_t data, Py_ssize_t start, Py_ssize_t end) noexcept nogil
cdef bint _is_candidate(
    bytes_t data, Py_ssize_t start, Py_ssize_t end, bytes_t agent, Py_ssize_t size
) noexcept nogil
cdef int binding_row(bytes data, Rows rows, int first, int after, int how, bytes key) except -1
cpdef object product_token(bytes agent)
cdef bint _is_lone_token(bytes_t agent, Py_ssize_t size) noexcept nogil
cdef list _matching_groups(bytes data, Rows rows, Rows groups, int how, bytes agent, list everybody)
cdef bint can_be_indexed(int names) except -1
cdef dict groups_by_name(bytes data, Rows rows, Rows groups, int names)
cdef Py_ssize_t _first_word_end(bytes_t data, Py_ssize_t start, Py_ssize_t end) noexcept nogil
cdef bytes _from_first_name(bytes data, Rows rows, Rows groups, bytes key)
cdef list _shortest_names(bytes data, Rows rows, Rows groups)
cdef bint _is_address(bytes word) except -1
cdef set _names_that_may_be_in(bytes text, bytes data, Rows rows, Rows groups)
cdef int _pair(bytes_t text, Py_ssize_t at) noexcept nogil

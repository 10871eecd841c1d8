cimport cython
from koster._engine cimport canonical as _canonical, compiler as _compiler, user_agents as _user_agents, document as _document, groups as _groups, matcher as _matcher, memory as _memory, table as _table
from koster.bulk._loops cimport buffers as _buffers
from koster._engine.document cimport Plan
from koster._engine.names cimport AgentNames
from koster._engine.table cimport Table
from koster._engine.rows cimport Rows
from koster._engine.memory cimport bytes_t

cdef int _ALLOW, _DISALLOW, _USER_AGENT, _LETTERS, _SLASH, _STAR, _DOLLAR, _PERCENT
cdef int _MAX_COMPARISONS, _MAX_PATTERN_BYTES, _MAX_REUSED_ROWS
cdef bytes _EXEMPT_TABLE, _START_TABLE, _FILLER_TABLE, _REST_TABLE
cdef bytes_t _EXEMPT, _START, _FILLER, _REST
cdef int _EXEMPT_SIZE, _START_SIZE, _FILLER_SIZE, _REST_SIZE
cdef Py_ssize_t MAX_PARSED_BYTES
cdef int _ALL, _SOME, _NONE, _UNSETTLED

@cython.final
cdef class Reader:
    cdef Plan plan
    cdef AgentNames names
    cdef int tokens, agent_count, used, sets, closing
    cdef Rows rows, groups, links, chosen
    cdef Table table
    cdef int* agent_starts
    cdef int* agent_tokens
    cdef int* heads
    cdef int* tails
    cdef int* results
    cdef unsigned char* path
    cdef unsigned char* has_byte

    cpdef object classify(
        self, const unsigned char[::1] data, const long long[::1] starts, const long long[::1] ends,
        unsigned char[::1] written, unsigned char[::1] extents, int[::1] lines
    )
    cdef bint _classify_all(
        self, bytes_t data, const long long[::1] starts, const long long[::1] ends,
        unsigned char[::1] written, unsigned char[::1] extents, int[::1] lines
    ) noexcept nogil
    cdef int _named_token(self, int agent) noexcept nogil
    cdef bint _read(self, bytes_t data, Py_ssize_t size) noexcept nogil
    cdef void _collect_names(self, bytes_t data, int group) noexcept nogil
    cdef void _link(self, int token, int group) noexcept nogil
    cdef int _result(self, bytes_t data, int token) noexcept nogil
    cdef int _first_disallow(self, int first) noexcept nogil
    cdef bint _is_only_match(self, bytes_t data, int row, int first) noexcept nogil
    cdef int _write_plain_sample(self, bytes_t data, int start, int end) noexcept nogil
    cdef bint _diverges(self, bytes_t data, int start, int end, int size) noexcept nogil
    cdef bint _has_groups(self, int number, int first) noexcept nogil
    cdef int _extent(self, Table rules) noexcept nogil
    cdef bint _any_decided(self, Table rules, bint allow) noexcept nogil
    cdef bint _is_decided(self, Table rules, int rule, int way, bint allow) noexcept nogil
    cdef bint _is_rest_open(self, Table rules) noexcept nogil
    cdef int _write_sample(self, Table rules, int rule, int way) noexcept nogil

cdef int _best(Table rules, bytes_t path, Py_ssize_t size) noexcept nogil
cdef bint _matches_all(Table rules, int rule) noexcept nogil
cdef bint _is_exempt(bytes_t path, Py_ssize_t size) noexcept nogil

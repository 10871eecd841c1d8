cimport cython
from koster.engine cimport canonical as _canonical, compiler as _compiler, user_agents as _user_agents, document as _document, groups as _groups, matcher as _matcher, memory as _memory, ruleset as _ruleset
from koster.bulk.loops cimport buffers as _buffers
from koster.engine.document cimport Plan
from koster.engine.names cimport AgentNames
from koster.engine.ruleset cimport CompiledTable
from koster.engine.rows cimport Rows

cdef int _ALLOW, _DISALLOW, _USER_AGENT, _LETTERS, _SLASH, _STAR, _DOLLAR, _PERCENT
cdef int _MAX_COMPARISONS, _MAX_PATTERN_BYTES, _MAX_REUSED_ROWS
cdef bytes _EXEMPT_TABLE, _START_TABLE, _FILLER_TABLE, _REST_TABLE
cdef const unsigned char* _EXEMPT
cdef const unsigned char* _START
cdef const unsigned char* _FILLER
cdef const unsigned char* _REST
cdef int _EXEMPT_SIZE, _START_SIZE, _FILLER_SIZE, _REST_SIZE
cdef Py_ssize_t MAX_PARSED_BYTES
cdef int _ALL, _SOME, _NONE, _UNSETTLED


@cython.final
cdef class Reader:
    cdef Plan plan
    cdef AgentNames names
    cdef int tokens, agent_count, used, sets, closing
    cdef Rows rows, groups, links, chosen
    cdef CompiledTable table
    cdef int* agent_starts
    cdef int* agent_tokens
    cdef int* heads
    cdef int* tails
    cdef int* results
    cdef unsigned char* path
    cdef unsigned char* has_byte

    @cython.locals(raw="const unsigned char*", done=bint)
    cpdef object classify(
        self, const unsigned char[::1] data, const long long[::1] starts,
        const long long[::1] ends, unsigned char[::1] written, unsigned char[::1] extents,
        int[::1] lines
    )
    @cython.locals(
        body=Py_ssize_t, size=Py_ssize_t, at=Py_ssize_t, first=int, raw="const unsigned char*",
        result=int, agent=int,
    )
    cdef bint _classify_all(
        self, const unsigned char* data, const long long[::1] starts,
        const long long[::1] ends, unsigned char[::1] written, unsigned char[::1] extents,
        int[::1] lines
    ) noexcept nogil
    @cython.locals(first=int, place=int)
    cdef int _named_token(self, int agent) noexcept nogil
    @cython.locals(token=int, group=int)
    cdef bint _read(self, const unsigned char* data, Py_ssize_t size) noexcept nogil
    @cython.locals(
        first=int, after=int, row=int, start=int, end=int, token=int,
    )
    cdef void _collect_names(self, const unsigned char* data, int group) noexcept nogil
    @cython.locals(tail=int, number=int)
    cdef void _link(self, int token, int group) noexcept nogil
    @cython.locals(
        head=int, first=int, number=int, at=int, extent=int, row=int,
    )
    cdef int _result(self, const unsigned char* data, int token) noexcept nogil
    @cython.locals(index=int, group=int, row=int)
    cdef int _first_disallow(self, int first) noexcept nogil
    @cython.locals(
        size=int, index=int, group=int, other=int, code=int, start=int, end=int
    )
    cdef bint _is_only_match(
        self, const unsigned char* data, int row, int first
    ) noexcept nogil
    @cython.locals(size=int, at=int, byte=int)
    cdef int _write_plain_sample(
        self, const unsigned char* data, int start, int end
    ) noexcept nogil
    @cython.locals(at=int)
    cdef bint _diverges(
        self, const unsigned char* data, int start, int end, int size
    ) noexcept nogil
    @cython.locals(start=int, size=int, index=int)
    cdef bint _has_groups(self, int number, int first) noexcept nogil
    @cython.locals(allows=int, rule=int, longest=int, is_open=bint)
    cdef int _extent(self, CompiledTable rules) noexcept nogil
    @cython.locals(rule=int, way=int, compared=long)
    cdef bint _any_decided(self, CompiledTable rules, bint allow) noexcept nogil
    @cython.locals(size=int, number=int)
    cdef bint _is_decided(self, CompiledTable rules, int rule, int way, bint allow) noexcept nogil
    cdef bint _is_rest_open(self, CompiledTable rules) noexcept nogil
    @cython.locals(start=int, end=int, size=int, at=int, byte=int)
    cdef int _write_sample(self, CompiledTable rules, int rule, int way) noexcept nogil


cdef bint _is_exempt(const unsigned char* path, Py_ssize_t size) noexcept nogil

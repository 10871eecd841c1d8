cimport cython
from koster.engine cimport document as _document, lexer as _lexer, matcher as _matcher, selection as _selection, memory as _memory, rows as _rows
from koster.bulk.loops cimport buffers as _buffers
from koster.engine.document cimport File, Plan
from koster.engine.matcher cimport RuleTable
from koster.engine.rows cimport Rows
from koster.engine.selection cimport Selection

cdef int _ALLOW, _DISALLOW, _RULE, _NO_RULE, _NO_GROUP, _ROBOTS_TXT, _URL_TOO_LONG, _MAX_PROBES
cdef int _HASHED


@cython.final
cdef class Answers:
    cdef unsigned char[::1] allowed, reasons
    cdef int[::1] lines
    cdef long long[::1] starts, sizes

    @cython.locals(
        table=RuleTable, lines=Rows, unmatched=int, index=Py_ssize_t, row=Py_ssize_t,
        size=Py_ssize_t, number=int, line=int,
    )
    cdef bint fill(
        self, Selection selection, Py_ssize_t body, const unsigned char* urls, const long long[::1] bounds,
        const long long[::1] order, Py_ssize_t first, Py_ssize_t after
    ) except -1


@cython.locals(
    raw="const unsigned char*", after=Py_ssize_t, first=Py_ssize_t, body=Py_ssize_t,
    start=Py_ssize_t, agent=Py_ssize_t, plan=Plan, names=list, file=File,
    selection=Selection, selections=list,
)
cpdef object decide(
    object dialect, const unsigned char[::1] data, const long long[::1] starts,
    const long long[::1] ends, const int[::1] bodies, const unsigned char[::1] urls,
    const long long[::1] bounds, object agents, const int[::1] agent_codes,
    const long long[::1] order, Answers answers
)
@cython.locals(
    file=File, rows=Rows, counts=list, unknown=list, data="const unsigned char*", row=int,
    code=int, start=int, entries=list, orphans=int, group=int,
)
cpdef tuple survey(bytes body, object dialect)
@cython.locals(raw="const unsigned char*", count=Py_ssize_t, size=Py_ssize_t, slots="int*")
cpdef Py_ssize_t distinct(
    const unsigned char[::1] data, const long long[::1] starts, const long long[::1] ends,
    int[::1] numbers, long long[::1] firsts
) except -1
@cython.locals(
    count=int, index=Py_ssize_t, start=Py_ssize_t, size=Py_ssize_t, known=int, slot=Py_ssize_t,
    _=int,
)
cdef Py_ssize_t _number_values(
    const unsigned char* data, const long long[::1] starts, const long long[::1] ends,
    int[::1] numbers, long long[::1] firsts, int* slots, Py_ssize_t mask
) noexcept nogil
@cython.locals(begin=Py_ssize_t, end=Py_ssize_t)
cdef Py_ssize_t _hashed(
    const unsigned char* data, Py_ssize_t start, Py_ssize_t size
) noexcept nogil
cdef bint _is_value(
    const unsigned char* data, const long long[::1] starts, const long long[::1] ends,
    Py_ssize_t index, Py_ssize_t start, Py_ssize_t size
) noexcept nogil
@cython.locals(index=Py_ssize_t)
cpdef bint is_sorted(const int[::1] numbers) noexcept
@cython.locals(index=Py_ssize_t)
cpdef bint count_up(const int[::1] numbers) noexcept
@cython.locals(text="const unsigned char*", index=Py_ssize_t, start=Py_ssize_t, found=list)
cpdef list marked(
    const unsigned char[::1] data, const long long[::1] starts, const long long[::1] ends
)
@cython.locals(total=Py_ssize_t, row=Py_ssize_t, found=bytearray)
cpdef bytearray gather(
    const unsigned char[::1] data, const long long[::1] starts, const long long[::1] ends,
    long long[::1] bounds
)
@cython.locals(row=Py_ssize_t, size=Py_ssize_t)
cdef int _copy(
    const unsigned char* data, const long long[::1] starts, long long[::1] bounds,
    unsigned char* target
) except -1

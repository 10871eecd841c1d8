cimport cython


@cython.final
cdef class Entry:
    cdef readonly bytes text, literal, rest
    cdef readonly int kind
    cdef public bint is_anchored
    cdef readonly bint allow
    cdef readonly long long rank
    cdef readonly long row
    cdef public long order
    cdef public bytes key
    cdef public Entry same_part
    cdef public long weight_of_part
    cdef public list covered_by, uncompared
    cdef public Py_ssize_t compared
    cdef readonly object likeness
    cdef object _is_alike, _automaton, _elements, _is_alike_with_wildcards
    cdef list _runs

    @cython.locals(position=Py_ssize_t, end=Py_ssize_t, run=bytes, last=bytes, runs=list)
    cpdef bint matches(self, bytes path) except -1
    cpdef bint covers(self, Entry other) except -1
    cpdef bint is_read_alike_with_wildcards(self) except -1
    cpdef bint covers_everywhere(self, Entry other) except -1
    cpdef bint is_read_alike(self) except -1
    cdef bint _is_rest_read_alike(self) except -1


@cython.locals(entry=Entry, others=list)
cpdef dict by_row(list entries)
cdef object _paths(bytes text, int kind, bint is_anchored)
@cython.locals(
    places=list, parts=list, lines=list, found=list, place=Py_ssize_t, number=Py_ssize_t, rule=tuple
)
cdef list _with_likeness(list compiled, object reading, object likeness)
cdef Entry _entry_of(tuple rule, object is_alike, object likeness=*)
cdef object _paths_of(tuple rule)
@cython.locals(
    compiled=list, numbers=dict, following=dict, others=list, all_paths=list, number=Py_ssize_t,
    last=Py_ssize_t, later=Py_ssize_t, before=Py_ssize_t, rule=tuple
)
cpdef tuple first_entries_of(object selection, bint and_next, object likeness=*)
cdef Entry _simplified(bytes text, Py_ssize_t size, bint allow, object rank, object row)

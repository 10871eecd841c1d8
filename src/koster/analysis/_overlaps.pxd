cimport cython
from koster.analysis._entries cimport Entry
from koster.analysis._index cimport Keys

cdef Py_ssize_t _PART
cdef int _LAST_PLACE


@cython.final
cdef class Parts:
    cdef dict _by_part, _kept
    cdef Py_ssize_t _weight
    cdef list _sizes
    cdef bytearray _starts
    cdef Keys _others

    cpdef Py_ssize_t weight(self, bytes key) except -1
    @cython.locals(found=list)
    cpdef list candidates(self, bytes key, bytes text)
    @cython.locals(found=list, each=Entry, part=bytes)
    cdef list _candidates(self, bytes key, bytes text)
    @cython.locals(
        data="const unsigned char*", starts="const unsigned char*", found=set, at=Py_ssize_t,
        size=Py_ssize_t, part=bytes,
    )
    cdef set _parts_in(self, bytes text)


cdef inline Py_ssize_t _place(const unsigned char* data, Py_ssize_t at) noexcept
@cython.locals(size=Py_ssize_t, at=Py_ssize_t, parts=list, run=bytes, end=Py_ssize_t)
cdef list _parts_of(Entry entry, tuple sizes)


@cython.final
cdef class Overlaps:
    cdef list _entries
    cdef long _last
    cdef object _keys_of
    cdef Parts _parts
    cdef readonly dict first, later
    cdef readonly set removed
    cdef dict _passed

    cpdef Parts parts(self)
    @cython.locals(first=long, best=long, each=Entry)
    cpdef long deciding_without(self, bytes path, set gone) except -1
    @cython.locals(best=long, number=Py_ssize_t, each=Entry)
    cpdef long covered_by(self, Entry entry, set gone) except -1
    @cython.locals(found=list, other=Entry)
    cdef Entry _coverer(self, Entry entry, Py_ssize_t number)
    cpdef list may_cover(self, Entry entry)
    @cython.locals(found=Entry)
    cpdef long first_alike(self, Entry entry) except -1
    @cython.locals(found=list, other=Entry, is_alike=bint)
    cpdef list opposed(self, Entry entry, list others, long last, bint is_one_reading)
    @cython.locals(place=Py_ssize_t, other=Entry)
    cpdef Py_ssize_t next_open(
        self, Entry entry, list others, Py_ssize_t at, long covered_by, set gone
    ) except -2
    @cython.locals(found=list, entry=Entry, own=long)
    cpdef list left_before(self, list entries, long order, set gone)
    @cython.locals(removed=set, later=list, number=Py_ssize_t, order=long)
    cdef long _first_left(self, Entry entry, set gone) except -1

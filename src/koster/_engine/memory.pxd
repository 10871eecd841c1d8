# The C side of memory.py: the same functions, for the compiled modules. Without memory they return
# NULL, as malloc does; callers check.

from libc.string cimport memchr, memcmp, memcpy, memset
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc, PyMem_RawRealloc
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_GET_LENGTH

cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(object text)
    int PyObject_GenericSetAttr(object value, object name, object item) except -1

ctypedef const unsigned char* bytes_t

cdef inline Py_ssize_t find(
    bytes_t data, int byte, Py_ssize_t start, Py_ssize_t end
) noexcept nogil:
    cdef const void* found
    if start >= end:
        return end
    found = memchr(data + start, byte, <size_t> (end - start))
    return end if found is NULL else <bytes_t> found - data

cdef inline bint same(
    bytes_t data, Py_ssize_t start, bytes_t other, Py_ssize_t other_start, Py_ssize_t size
) noexcept nogil:
    # The functions of C take no NULL, which a buffer without bytes may have.
    return size == 0 or memcmp(data + start, other + other_start, <size_t> size) == 0

cdef inline Py_ssize_t search(
    bytes_t data, Py_ssize_t start, Py_ssize_t end,
    bytes_t other, Py_ssize_t other_start, Py_ssize_t size
) noexcept nogil:
    cdef Py_ssize_t last = end - size + 1
    while start < last:
        start = find(data, other[other_start], start, last)
        if start < last and memcmp(data + start, other + other_start, <size_t> size) == 0:
            return start
        start += 1
    return -1

cdef inline void copy(
    unsigned char* target, Py_ssize_t at, bytes_t source, Py_ssize_t start, Py_ssize_t size
) noexcept nogil:
    if size:
        memcpy(target + at, source + start, <size_t> size)

cdef inline void fill(unsigned char* target, Py_ssize_t at, int byte, Py_ssize_t size) noexcept nogil:
    if size:
        memset(target + at, byte, <size_t> size)

cdef inline int* integers(Py_ssize_t count) noexcept nogil:
    return <int*> PyMem_RawCalloc(<size_t> count, sizeof(int))

cdef inline int* resized(int* values, Py_ssize_t count) noexcept nogil:
    return <int*> PyMem_RawRealloc(values, <size_t> count * sizeof(int))

cdef inline unsigned char* buffer(Py_ssize_t count) noexcept nogil:
    return <unsigned char*> PyMem_RawMalloc(<size_t> count)

cdef inline unsigned char* shrunk(unsigned char* values, Py_ssize_t count) noexcept nogil:
    cdef unsigned char* fewer = <unsigned char*> PyMem_RawRealloc(values, <size_t> count)
    return values if fewer is NULL else fewer

cdef inline unsigned char* no_buffer() noexcept nogil:
    return NULL

cdef inline void release(void* values) noexcept nogil:
    PyMem_RawFree(values)

cdef inline unsigned long long* longs_in(
    unsigned char* block, Py_ssize_t at, Py_ssize_t count
) noexcept nogil:
    return <unsigned long long*> (block + at)

cdef inline int* integers_in(unsigned char* block, Py_ssize_t at, Py_ssize_t count) noexcept nogil:
    return <int*> (block + at)

cdef inline unsigned char* bytes_in(
    unsigned char* block, Py_ssize_t at, Py_ssize_t count
) noexcept nogil:
    return block + at

# An ASCII string is its own UTF-8: no copy.
cdef inline object utf8(str text):
    if PyUnicode_IS_ASCII(text):
        return text
    return text.encode("utf-8", "surrogatepass")

cdef inline (bytes_t, Py_ssize_t) view(object text) noexcept:
    if PyBytes_CheckExact(text):
        return (<bytes_t> PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))
    return (<bytes_t> PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text))

cdef inline str text(bytes raw):
    return raw.decode("utf-8", "surrogateescape")

cdef inline object new(cls):
    return object.__new__(cls)

cdef inline int assign(object value, str name, object item) except -1:
    return PyObject_GenericSetAttr(value, name, item)

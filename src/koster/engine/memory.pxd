# The C side of memory.py: the same functions, for the compiled modules. Without memory they return
# NULL, as malloc does; callers check.

from libc.string cimport memchr, memcmp, memcpy, memset
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc, PyMem_RawRealloc
from cpython.unicode cimport PyUnicode_DATA, PyUnicode_GET_LENGTH

cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(object text)
    int PyObject_GenericSetAttr(object value, object name, object item) except -1

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define KOSTER_PREFETCH(address) __builtin_prefetch(address)
    #else
    #define KOSTER_PREFETCH(address) ((void) (address))
    #endif
    """
    void KOSTER_PREFETCH(const void* address) noexcept nogil

# A system that refuses has small pages there: madvise(2).
cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__linux__)
    #include <sys/mman.h>
    #endif
    static inline Py_ssize_t koster_large_page(unsigned char *values, Py_ssize_t size) {
        Py_ssize_t start = (Py_ssize_t) (-(uintptr_t) values & (uintptr_t) (size - 1));
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        (void) madvise(values + start, (size_t) size, MADV_HUGEPAGE);
    #endif
        return start;
    }
    """
    Py_ssize_t koster_large_page(unsigned char* values, Py_ssize_t size) noexcept nogil

# Eight bytes at a time, in two lanes: a processor multiplies both at once. Two hashes that are equal
# cost a comparison, so it need not resist an attacker.
cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    static inline Py_ssize_t koster_hashed(const unsigned char *data, Py_ssize_t size) {
        const uint64_t factor = 0x9E3779B97F4A7C15u;
        uint64_t one = (uint64_t) size * factor, other = factor, word;
        while (size >= 16) {
            memcpy(&word, data, 8);
            one = (one ^ word) * factor;
            one ^= one >> 32;
            memcpy(&word, data + 8, 8);
            other = (other ^ word) * factor;
            other ^= other >> 32;
            data += 16;
            size -= 16;
        }
        while (size > 0) {
            word = 0;
            memcpy(&word, data, size < 8 ? (size_t) size : 8);
            one = (one ^ word) * factor;
            one ^= one >> 32;
            data += 8;
            size -= 8;
        }
        one = (one ^ (other * factor)) * factor;
        return (Py_ssize_t) ((one ^ (one >> 32)) & (SIZE_MAX >> 1));
    }
    """
    Py_ssize_t koster_hashed(const unsigned char* data, Py_ssize_t size) noexcept nogil

# memchr takes longer to call than to look at a few bytes. Where the first byte of a run is often,
# only calls would take ten times as long; where it is rare, only looking would.
cdef extern from *:
    """
    #include <string.h>
    static inline int koster_begins(const unsigned char *data, const unsigned char *run,
                                    Py_ssize_t size) {
        return size == 1 || (data[1] == run[1] && memcmp(data, run, (size_t) size) == 0);
    }
    static inline Py_ssize_t koster_search(const unsigned char *data, Py_ssize_t start,
                                           Py_ssize_t end, const unsigned char *run,
                                           Py_ssize_t size) {
        const Py_ssize_t last = end - size + 1, few = 8;
        Py_ssize_t before = start - few - 1, near;
        const unsigned char *found;
        while (start < last) {
            found = (const unsigned char *) memchr(data + start, run[0], (size_t) (last - start));
            if (found == NULL) return -1;
            start = found - data;
            if (koster_begins(found, run, size)) return start;
            near = start - before > few ? start : start + few;
            before = start++;
            if (near > last) near = last;
            for (; start < near; start++) {
                if (data[start] != run[0]) continue;
                if (koster_begins(data + start, run, size)) return start;
                before = start;
                near = last - start > few ? start + few : last;
            }
        }
        return -1;
    }
    """
    Py_ssize_t koster_search(
        const unsigned char* data, Py_ssize_t start, Py_ssize_t end,
        const unsigned char* run, Py_ssize_t size
    ) noexcept nogil

ctypedef const unsigned char* bytes_t


cdef inline Py_ssize_t find(
    const unsigned char* data, int byte, Py_ssize_t start, Py_ssize_t end
) noexcept nogil:
    cdef const void* found
    if start >= end:
        return end
    found = memchr(data + start, byte, <size_t> (end - start))
    return end if found is NULL else <const unsigned char*> found - data


cdef inline bint same(
    const unsigned char* data, Py_ssize_t start,
    const unsigned char* other, Py_ssize_t other_start, Py_ssize_t size
) noexcept nogil:
    # The functions of C take no NULL, which a buffer without bytes may have.
    return size == 0 or memcmp(data + start, other + other_start, <size_t> size) == 0


cdef inline Py_ssize_t search(
    const unsigned char* data, Py_ssize_t start, Py_ssize_t end,
    const unsigned char* other, Py_ssize_t other_start, Py_ssize_t size
) noexcept nogil:
    return koster_search(data, start, end, other + other_start, size)


cdef inline Py_ssize_t hashed(
    const unsigned char* data, Py_ssize_t start, Py_ssize_t size
) noexcept nogil:
    return koster_hashed(data + start, size)


cdef inline void copy(
    unsigned char* target, Py_ssize_t at,
    const unsigned char* source, Py_ssize_t start, Py_ssize_t size
) noexcept nogil:
    if size:
        memcpy(target + at, source + start, <size_t> size)


cdef inline void fill(
    unsigned char* target, Py_ssize_t at, int byte, Py_ssize_t size
) noexcept nogil:
    if size:
        memset(target + at, byte, <size_t> size)


cdef inline int* integers(Py_ssize_t count) noexcept nogil:
    return <int*> PyMem_RawCalloc(<size_t> count, sizeof(int))


cdef inline int* resized(int* values, Py_ssize_t count) noexcept nogil:
    return <int*> PyMem_RawRealloc(values, <size_t> count * sizeof(int))


cdef inline unsigned char* buffer(Py_ssize_t count) noexcept nogil:
    return <unsigned char*> PyMem_RawMalloc(<size_t> count)


cdef inline bytearray unfilled(Py_ssize_t size):
    return PyByteArray_FromStringAndSize(NULL, size)


cdef inline Py_ssize_t large_page(unsigned char* values, Py_ssize_t size) noexcept nogil:
    return koster_large_page(values, size)


cdef inline int* no_integers() noexcept nogil:
    return NULL


cdef inline long long* no_longs() noexcept nogil:
    return NULL


cdef inline unsigned char* no_buffer() noexcept nogil:
    return NULL


cdef inline void release(void* values) noexcept nogil:
    PyMem_RawFree(values)


cdef inline int* released(int* values) noexcept nogil:
    PyMem_RawFree(values)
    return NULL


cdef inline int* integers_in(unsigned char* values, Py_ssize_t at, Py_ssize_t count) noexcept nogil:
    return <int*> (values + at)


cdef inline long long* longs_in(unsigned char* values, Py_ssize_t at, Py_ssize_t count) noexcept nogil:
    return <long long*> (values + at)


cdef inline unsigned char* bytes_in(
    unsigned char* values, Py_ssize_t at, Py_ssize_t count
) noexcept nogil:
    return values + at


cdef inline const unsigned char* part(
    const unsigned char* data, Py_ssize_t start, Py_ssize_t size
) noexcept nogil:
    return data + start


cdef inline unsigned char* room(bytearray target) noexcept:
    return <unsigned char*> PyByteArray_AS_STRING(target)


# An ASCII string is its own UTF-8: no copy.
cdef inline object utf8(str text):
    if PyUnicode_IS_ASCII(text):
        return text
    return text.encode("utf-8", "surrogatepass")


cdef inline (bytes_t, Py_ssize_t) view(object text) noexcept:
    if PyBytes_CheckExact(text):
        return (<bytes_t> PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))
    return (<bytes_t> PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text))


# Starts to load cache lines: the processor computes while it waits for them.
cdef inline void prefetch(const void* address, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t at = 0
    while at < size:
        KOSTER_PREFETCH(<const char*> address + at)
        at += 64


cdef inline str text(bytes raw):
    return raw.decode("utf-8", "surrogateescape")


cdef inline object new(cls):
    return object.__new__(cls)


cdef inline int assign(object value, str name, object item) except -1:
    return PyObject_GenericSetAttr(value, name, item)

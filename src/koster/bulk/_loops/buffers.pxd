# The C side of buffers.py.

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize

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

cdef inline Py_ssize_t hashed(
    const unsigned char* data, Py_ssize_t start, Py_ssize_t size
) noexcept nogil:
    return koster_hashed(data + start, size)

cdef inline const unsigned char* part(
    const unsigned char* data, Py_ssize_t start, Py_ssize_t size
) noexcept nogil:
    return data + start

cdef inline bytearray unfilled(Py_ssize_t size):
    return PyByteArray_FromStringAndSize(NULL, size)

cdef inline unsigned char* room(bytearray target) noexcept:
    return <unsigned char*> PyByteArray_AS_STRING(target)

cdef inline const unsigned char* address(const unsigned char[::1] data) noexcept nogil:
    return &data[0] if data.shape[0] > 0 else NULL

# The C side of buffers.py.

cdef inline const unsigned char* address(const unsigned char[::1] data) noexcept nogil:
    return &data[0] if data.shape[0] > 0 else NULL


ctypedef int (*decompress_t)(
    void*, const void*, size_t, void*, size_t, size_t*, size_t*
) noexcept nogil


cdef inline bint decompress(
    Py_ssize_t function, Py_ssize_t decompressor,
    const unsigned char* data, Py_ssize_t start, Py_ssize_t stop, Py_ssize_t size,
    unsigned char* target, Py_ssize_t at, Py_ssize_t after, Py_ssize_t room
) noexcept nogil:
    cdef size_t used = 0
    cdef size_t made = 0
    return (<decompress_t> <void*> function)(
        <void*> decompressor, data + start, <size_t> (size - start),
        target + at, <size_t> (room - at), &used, &made
    ) == 0 and used == <size_t> (stop - start) and made == <size_t> (after - at)

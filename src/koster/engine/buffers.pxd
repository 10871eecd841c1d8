# The C side of buffers.py.

cdef inline const unsigned char* address(const unsigned char[::1] data) noexcept nogil:
    return &data[0] if data.shape[0] > 0 else NULL

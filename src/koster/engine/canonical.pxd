cimport cython
from koster.engine cimport memory as _memory

cdef int _CANONICAL, _PATTERN_ONLY, _AS_WRITTEN, _DECODED, _GOOGLE, _WILDCARDS, _SHELL
cdef int URL
cdef int _SLASH, _COLON, _QUERY, _HASH, _PERCENT, _STAR, _DOLLAR, _BACKSLASH, _NO_DIGIT
cdef int _ESCAPE, _KEEP, _INSPECT
cdef bytes _HEX_TABLE, _MARKED_TABLE, _NIBBLE_TABLE, _SCHEME_TABLE
cdef bytes _CANONICAL_TABLE, _DECODED_TABLE, _PLAIN_TABLE, _SHELL_TABLE, _SHELL_ACTIONS_TABLE
cdef bytes _LITERAL_TABLE, _AUTHORITY_END_TABLE, _HTTPS_TABLE
cdef const unsigned char* _AUTHORITY_END
cdef const unsigned char* _HTTPS
cdef const unsigned char* _HEX
cdef const unsigned char* _MARKED
cdef const unsigned char* _NIBBLE
cdef const unsigned char* _SCHEME
cdef const unsigned char* _CANONICAL_ACTIONS
cdef const unsigned char* LITERAL
cdef const unsigned char* _DECODED_ACTIONS
cdef const unsigned char* _PLAIN_ACTIONS
cdef const unsigned char* _SHELL_ACTIONS
cdef const unsigned char* _SHELL_SPECIAL

cdef const unsigned char* _actions_of(int escapes, int patterns) noexcept nogil
cdef (Py_ssize_t, Py_ssize_t) span(
    const unsigned char* url, Py_ssize_t size, int url_path
) noexcept nogil
cdef Py_ssize_t path_start(const unsigned char* url, Py_ssize_t size) noexcept nogil
cdef (Py_ssize_t, Py_ssize_t) _google_span(
    const unsigned char* url, Py_ssize_t size
) noexcept nogil
cdef Py_ssize_t _google_path(
    const unsigned char* url, Py_ssize_t start, Py_ssize_t size
) noexcept nogil
cdef Py_ssize_t _google_separator(
    const unsigned char* url, Py_ssize_t start, Py_ssize_t size
) noexcept nogil
cdef bint is_plain(
    const unsigned char* data, Py_ssize_t start, Py_ssize_t end, int escapes
) noexcept nogil
cdef Py_ssize_t write(
    const unsigned char* data, Py_ssize_t start, Py_ssize_t end, int escapes, int patterns,
    unsigned char* out, Py_ssize_t at
) noexcept nogil
cdef Py_ssize_t _write_form(
    const unsigned char* data, Py_ssize_t start, Py_ssize_t end, int escapes, int patterns,
    unsigned char* out, Py_ssize_t at
) noexcept nogil
cdef bint _is_escape(
    const unsigned char* data, Py_ssize_t position, Py_ssize_t end
) noexcept nogil
cdef bint _is_special(int byte, bint last, int patterns) noexcept nogil
cdef Py_ssize_t _write_escape(
    int value, int escapes, int patterns, bint query, bint quoted, unsigned char* out,
    Py_ssize_t at
) noexcept nogil
cdef Py_ssize_t _escape(
    int byte, int escapes, unsigned char* out, Py_ssize_t at
) noexcept nogil
cdef Py_ssize_t _write_google(
    const unsigned char* data, Py_ssize_t start, Py_ssize_t end, unsigned char* out, Py_ssize_t at
) noexcept nogil

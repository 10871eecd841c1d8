from koster._engine cimport memory as _memory
from koster._engine.memory cimport bytes_t

cdef int _CANONICAL, _PATTERN_ONLY, _AS_WRITTEN, _DECODED, _GOOGLE, _WILDCARDS, _SHELL
cdef int URL
cdef int _SLASH, _COLON, _QUERY, _HASH, _PERCENT, _STAR, _DOLLAR, _BACKSLASH, _NO_DIGIT
cdef int _ESCAPE, _KEEP, _INSPECT
cdef bytes _HEX_TABLE, _MARKED_TABLE, _NIBBLE_TABLE, _SCHEME_TABLE, _CANONICAL_TABLE
cdef bytes _DECODED_TABLE, _PLAIN_TABLE, _SHELL_TABLE, _SHELL_ACTIONS_TABLE, _LITERAL_TABLE
cdef bytes _AUTHORITY_END_TABLE, _HTTPS_TABLE
cdef bytes_t _AUTHORITY_END, _HTTPS, _HEX, _MARKED, _NIBBLE, _SCHEME, _CANONICAL_ACTIONS, LITERAL
cdef bytes_t _DECODED_ACTIONS, _PLAIN_ACTIONS, _SHELL_ACTIONS, _SHELL_SPECIAL

cdef bytes_t _actions_of(int escapes, int patterns) noexcept nogil
cdef (Py_ssize_t, Py_ssize_t) span(bytes_t url, Py_ssize_t size, int url_path) noexcept nogil
cdef Py_ssize_t path_start(bytes_t url, Py_ssize_t size) noexcept nogil
cdef (Py_ssize_t, Py_ssize_t) _google_span(bytes_t url, Py_ssize_t size) noexcept nogil
cdef Py_ssize_t _google_path(bytes_t url, Py_ssize_t start, Py_ssize_t size) noexcept nogil
cdef Py_ssize_t _google_separator(bytes_t url, Py_ssize_t start, Py_ssize_t size) noexcept nogil
cdef bint is_plain(bytes_t data, Py_ssize_t start, Py_ssize_t end, int escapes) noexcept nogil
cdef Py_ssize_t write(
    bytes_t data, Py_ssize_t start, Py_ssize_t end, int escapes, int patterns, unsigned char* out,
    Py_ssize_t at
) noexcept nogil
cdef Py_ssize_t _write_form(
    bytes_t data, Py_ssize_t start, Py_ssize_t end, int escapes, int patterns, unsigned char* out,
    Py_ssize_t at
) noexcept nogil
cdef bint _is_escape(bytes_t data, Py_ssize_t position, Py_ssize_t end) noexcept nogil
cdef bint _is_special(int byte, bint last, int patterns) noexcept nogil
cdef Py_ssize_t _write_escape(
    int value, int escapes, int patterns, bint query, bint quoted, unsigned char* out, Py_ssize_t at
) noexcept nogil
cdef Py_ssize_t _escape(int byte, int escapes, unsigned char* out, Py_ssize_t at) noexcept nogil
cdef Py_ssize_t _write_google(
    bytes_t data, Py_ssize_t start, Py_ssize_t end, unsigned char* out, Py_ssize_t at
) noexcept nogil

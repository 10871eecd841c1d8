cimport cython
from koster._engine cimport memory as _memory
from koster._engine.rows cimport Rows
from koster._engine.memory cimport bytes_t

cdef int UNKNOWN, BLANK, COMMENT, MALFORMED
cdef int _LF, _CR, _SPACE, _TAB, _HASH, _COLON, _WIDTH
cdef bytes _WHITE_TABLE, _COLUMN_TABLE
cdef bytes_t WHITE, _COLUMN

@cython.final
cdef class Lexer:
    cdef int* _table
    cdef bint _prefix, _after_space, _partial_bom, _blanks, _unknowns, _two_words
    cdef Py_ssize_t _buffer

    cdef void scan(self, bytes_t data, Py_ssize_t size, Rows rows, bint all_lines) noexcept nogil
    cdef Py_ssize_t after_bom(self, bytes_t data, Py_ssize_t size) noexcept nogil
    cdef Py_ssize_t _comment(self, bytes_t data, Py_ssize_t start, Py_ssize_t size) noexcept nogil
    cdef (Py_ssize_t, int) _line(
        self, bytes_t data, Py_ssize_t start, Py_ssize_t end, Py_ssize_t stop, int number,
        Rows rows, bint all_lines
    ) noexcept nogil
    cdef (Py_ssize_t, int) _key(self, bytes_t data, Py_ssize_t start, Py_ssize_t end) noexcept nogil
    cdef (Py_ssize_t, int) _unusual_key(
        self, bytes_t data, Py_ssize_t start, Py_ssize_t end
    ) noexcept nogil
    cdef Py_ssize_t _two_words_gap(
        self, bytes_t data, Py_ssize_t start, Py_ssize_t end
    ) noexcept nogil
    cdef Py_ssize_t _word_end(self, bytes_t data, Py_ssize_t start, Py_ssize_t end) noexcept nogil
    cdef int _code_of_key(self, bytes_t data, Py_ssize_t start, Py_ssize_t end) noexcept nogil

cdef void _add(
    Rows rows, int code, int number, bytes_t data, Py_ssize_t start, Py_ssize_t end
) noexcept nogil
cdef Py_ssize_t line_start(bytes_t data, Py_ssize_t at) noexcept nogil

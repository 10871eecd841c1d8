cimport cython
from koster.engine cimport memory as _memory
from koster.engine.rows cimport Rows

cdef int UNKNOWN, BLANK, COMMENT, MALFORMED
cdef int _LF, _CR, _SPACE, _TAB, _HASH, _COLON, _WIDTH
cdef bytes _WHITE_TABLE, _COLUMN_TABLE
cdef const unsigned char* WHITE
cdef const unsigned char* _COLUMN


@cython.final
cdef class Lexer:
    cdef int* _table
    cdef bint _prefix, _after_space, _partial_bom, _blanks, _unknowns, _two_words
    cdef Py_ssize_t _buffer

    @cython.locals(
        start=Py_ssize_t, number=int, feed=Py_ssize_t, carriage=Py_ssize_t, mark=Py_ssize_t,
        stop=Py_ssize_t, end=Py_ssize_t, last=Py_ssize_t, key_size=Py_ssize_t, code=int,
        found=Py_ssize_t, found_code=int,
    )
    cdef void scan(
        self, const unsigned char* data, Py_ssize_t size, Rows rows, bint all_lines
    ) noexcept nogil
    @cython.locals(length=Py_ssize_t)
    cdef Py_ssize_t after_bom(self, const unsigned char* data, Py_ssize_t size) noexcept nogil
    @cython.locals(mark=Py_ssize_t)
    cdef Py_ssize_t _comment(
        self, const unsigned char* data, Py_ssize_t start, Py_ssize_t size
    ) noexcept nogil
    @cython.locals(at=Py_ssize_t, separator=Py_ssize_t, code=int)
    cdef (Py_ssize_t, int) _line(
        self, const unsigned char* data, Py_ssize_t start, Py_ssize_t end, Py_ssize_t stop,
        int number, Rows rows, bint all_lines
    ) noexcept nogil
    @cython.locals(table="int*", state=int, at=Py_ssize_t)
    cdef (Py_ssize_t, int) _key(
        self, const unsigned char* data, Py_ssize_t start, Py_ssize_t end
    ) noexcept nogil
    @cython.locals(separator=Py_ssize_t, key_end=Py_ssize_t)
    cdef (Py_ssize_t, int) _unusual_key(
        self, const unsigned char* data, Py_ssize_t start, Py_ssize_t end
    ) noexcept nogil
    @cython.locals(last=Py_ssize_t, gap=Py_ssize_t, second=Py_ssize_t)
    cdef Py_ssize_t _two_words_gap(
        self, const unsigned char* data, Py_ssize_t start, Py_ssize_t end
    ) noexcept nogil
    cdef Py_ssize_t _word_end(
        self, const unsigned char* data, Py_ssize_t start, Py_ssize_t end
    ) noexcept nogil
    @cython.locals(state=int, at=Py_ssize_t)
    cdef int _code_of_key(
        self, const unsigned char* data, Py_ssize_t start, Py_ssize_t end
    ) noexcept nogil


cdef void _add(
    Rows rows, int code, int number, const unsigned char* data, Py_ssize_t start, Py_ssize_t end
) noexcept nogil
cdef Py_ssize_t line_start(const unsigned char* data, Py_ssize_t at) noexcept nogil

cimport cython
from koster._engine cimport lexer as _lexer, memory as _memory
from koster._engine.rows cimport Rows
from koster._engine.memory cimport bytes_t

cdef int PRODUCT_TOKEN, LETTERS, WHOLE_NAME, OTHERS, EVERYBODY, NAMED
cdef int _USER_AGENT, _SUBSTRING, _STAR, _SLASH, _SPACE
cdef bytes _LOWER_TABLE, _LETTER_TABLE
cdef bytes_t LOWER, LETTER

@cython.final
cdef class AgentNames:
    cdef readonly int count
    cdef int width
    cdef bint is_letters
    cdef bytes column_bytes
    cdef bytes_t columns
    cdef int* states

    cdef int number(self, bytes_t data, Py_ssize_t start, Py_ssize_t end) noexcept nogil
    cdef bint is_everybody(self, bytes_t data, Py_ssize_t start, Py_ssize_t end) noexcept nogil

cdef int match_group(bytes raw, Rows rows, int first, int after, int how, bytes key) except -1
cdef int _match_token(
    bytes_t data, Py_ssize_t start, Py_ssize_t end, bytes_t token, Py_ssize_t size
) noexcept nogil
cdef int _match_name(
    bytes_t data, Py_ssize_t start, Py_ssize_t end, bytes_t key, Py_ssize_t size
) noexcept nogil
cdef int _match_letters(
    bytes_t data, Py_ssize_t start, Py_ssize_t end, bytes_t agent, Py_ssize_t size
) noexcept nogil
cdef int _match_part(bytes data, Py_ssize_t start, Py_ssize_t end, int how, bytes agent) except -1
cdef bint is_everybody(bytes_t data, Py_ssize_t start, Py_ssize_t end) noexcept nogil
cdef Py_ssize_t name_end(bytes_t data, Py_ssize_t start, Py_ssize_t end) noexcept nogil
cdef bint is_everybody_in_letters(bytes_t data, Py_ssize_t start, Py_ssize_t end) noexcept nogil
cdef Py_ssize_t letters_end(bytes_t data, Py_ssize_t start, Py_ssize_t end) noexcept nogil
cdef bint equals_ignoring_case(
    bytes_t data, Py_ssize_t start, bytes_t agent, Py_ssize_t at, Py_ssize_t size
) noexcept nogil

cimport cython
from koster.engine cimport lexer as _lexer, memory as _memory
from koster.engine.rows cimport Rows

cdef int PRODUCT_TOKEN, LETTERS, WHOLE_NAME, OTHERS, EVERYBODY, NAMED
cdef int _USER_AGENT, _SUBSTRING, _STAR, _SLASH, _SPACE
cdef bytes _LOWER_TABLE, _LETTER_TABLE
cdef const unsigned char* LOWER
cdef const unsigned char* LETTER


@cython.final
cdef class AgentNames:
    cdef readonly int count
    cdef int width
    cdef bint is_letters
    cdef bytes column_bytes
    cdef const unsigned char* columns
    cdef int* states

    cdef int number(
        self, const unsigned char* data, Py_ssize_t start, Py_ssize_t end
    ) noexcept nogil
    cdef bint is_everybody(
        self, const unsigned char* data, Py_ssize_t start, Py_ssize_t end
    ) noexcept nogil


cdef int match_group(
    bytes raw, Rows rows, int first, int after, int how, bytes key
) except -1
cdef int _match_token(
    const unsigned char* data, Py_ssize_t start, Py_ssize_t end,
    const unsigned char* token, Py_ssize_t size
) noexcept nogil
cdef int _match_name(
    const unsigned char* data, Py_ssize_t start, Py_ssize_t end,
    const unsigned char* key, Py_ssize_t size
) noexcept nogil
cdef int _match_letters(
    const unsigned char* data, Py_ssize_t start, Py_ssize_t end,
    const unsigned char* agent, Py_ssize_t size
) noexcept nogil
cdef int _match_part(
    bytes data, Py_ssize_t start, Py_ssize_t end, int how, bytes agent
) except -1
cdef bint is_everybody(
    const unsigned char* data, Py_ssize_t start, Py_ssize_t end
) noexcept nogil
cdef Py_ssize_t name_end(
    const unsigned char* data, Py_ssize_t start, Py_ssize_t end
) noexcept nogil
cdef bint is_everybody_in_letters(
    const unsigned char* data, Py_ssize_t start, Py_ssize_t end
) noexcept nogil
cdef Py_ssize_t letters_end(
    const unsigned char* data, Py_ssize_t start, Py_ssize_t end
) noexcept nogil
cdef bint equals_ignoring_case(
    const unsigned char* data, Py_ssize_t start, const unsigned char* agent, Py_ssize_t at,
    Py_ssize_t size
) noexcept nogil

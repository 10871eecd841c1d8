# The C side of _text.py: the same functions, for the compiled modules. The text must not be None.

cdef extern from *:
    """
    #include <string.h>

    static CYTHON_INLINE int koster_text_has(PyObject *text, Py_UCS4 character) {
        /* A search by memchr: the loop that Cython writes looks at the kind of each character. */
        if (PyUnicode_IS_ASCII(text)) {
            return character < 128 && memchr(
                PyUnicode_DATA(text), (int) character, (size_t) PyUnicode_GET_LENGTH(text)
            ) != NULL;
        }
        return PyUnicode_FindChar(text, character, 0, PyUnicode_GET_LENGTH(text), 1) >= 0;
    }

    static CYTHON_INLINE int koster_text_is_printable(PyObject *text) {
        Py_ssize_t at, size = PyUnicode_GET_LENGTH(text);
        if (PyUnicode_IS_ASCII(text)) {
            const unsigned char *data = (const unsigned char *) PyUnicode_DATA(text);
            for (at = 0; at < size; at++)
                if (data[at] < 32 || data[at] == 127) return 0;
            return 1;
        }
        for (at = 0; at < size; at++)
            if (!Py_UNICODE_ISPRINTABLE(PyUnicode_READ_CHAR(text, at))) return 0;
        return 1;
    }
    """
    bint has "koster_text_has" (str text, Py_UCS4 character) noexcept
    bint is_ascii "PyUnicode_IS_ASCII" (str text) noexcept
    bint is_printable "koster_text_is_printable" (str text) noexcept

r"""CSV that is safe to open in a spreadsheet: cells may contain untrusted text.

A spreadsheet runs a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a line end as a
formula. Such text gets a leading single quote, and all text is quoted, as OWASP recommends
(https://owasp.org/www-community/attacks/CSV_Injection). Numbers are written as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from .json import scalars

#: The first characters of formulas; spreadsheets also accept the full-width forms.
_FORMULA = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def csv_line(cells: Iterable[object]) -> str:
    r"""Return cells as a line of CSV, with its line end.

    None is an empty cell, a bool is ``true`` or ``false``; all text is quoted, and bytes that were
    not UTF-8 are U+FFFD.

    >>> csv_line(["=1+1", "a,b", -5, None, True])
    '"\'=1+1","a,b",-5,,true\n'
    """
    return ",".join(map(_cell, cells)) + "\n"


def _cell(value: object) -> str:
    if value is None:
        return ""
    # Most are: a million URLs have many cells.
    if type(value) is not str:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (int, float, Decimal)):
            return str(value)
        value = str(value)
    text: str = value if value.isascii() else scalars(value)
    safe = f"'{text}" if text[:1] in _FORMULA else text
    return '"' + safe.replace('"', '""') + '"'

"""Host names in ASCII."""

from __future__ import annotations

import idna

from ..origins import idna_2003


def to_ascii(host: str) -> str:
    """Return a host name in ASCII: by UTS 46, as browsers do, or else by IDNA 2003.

    Raises:
        ValueError: the name is invalid.
    """
    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except idna.IDNAError:
        return idna_2003(host)

# cython: nonecheck=True
"""Which URLs browsers read as they are written: most are, and each decision of a client asks.

`koster.origins` reads the others.
"""

from __future__ import annotations

from . import _text

_SCHEMES = ("https://", "http://")
#: Longer URLs have more than a scheme.
_LONGEST_SCHEME = len("https://")
#: No site is shorter.
_SHORTEST_SITE = len("http://a")


def is_read_as_written(url: str) -> bool:
    """Tell whether `koster.origins.as_browsers_read` surely returns a URL unchanged."""
    # Each check is a search in C; a regular expression takes longer than all of them.
    return (
        url.startswith(_SCHEMES)
        and len(url) > _LONGEST_SCHEME
        and _text.is_printable(url)
        and not _text.has(url, " ")
        and not _text.has(url, "\\")
        and ":///" not in url
        and "/." not in url
        and (not _text.has(url, "%") or ("%2e" not in url and "%2E" not in url))
    )


def site_as_written(url: str) -> str:
    """Return what is before the path of an HTTP URL; "" if that is not found at once."""
    end = url.find("/", _SHORTEST_SITE)
    return url[:end] if end > 0 else ""

"""Notes of readers: short, and not more than a person reads."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urljoin

from .._wording import count_noun, truncated

#: Notes of a kind about a source: then only their number.
_MAX_NOTES = 5
#: Characters of a text of the site within a note or statement.
_MAX_TEXT = 80
#: Characters of the URL of a license.
_MAX_URL = 2_000


def shortened(text: str) -> str:
    """Return a text of the site on one line, with an ellipsis if it is long.

    >>> shortened(" noindex,  nofollow ")
    'noindex, nofollow'
    """
    # A prefix is enough, and texts may be large.
    return truncated(" ".join(text[: 4 * _MAX_TEXT].split()), _MAX_TEXT)


def quoted(text: str) -> str:
    """Return a text of the site for a note, in quotation marks."""
    return f'"{shortened(text)}"'


def first_of(notes: Iterable[str], what: str = "note") -> list[str]:
    """Return the first notes of a kind, each once, and the number of the others.

    >>> first_of(map(str, range(7)), "unknown rule")
    ['0', '1', '2', '3', '4', '2 more unknown rules']
    """
    distinct = list(dict.fromkeys(notes))
    more = len(distinct) - _MAX_NOTES
    return [*distinct[:_MAX_NOTES], count_noun(more, f"more {what}")] if more > 0 else distinct


def usable_url(text: str) -> str:
    """Return the URL of a license as it is written, "" if it is invalid.

    >>> usable_url(" /license.xml "), usable_url("no URL at all")
    ('/license.xml', '')
    """
    url = text[: 2 * _MAX_URL].strip()
    is_usable = len(url) <= _MAX_URL and url.isprintable() and " " not in url
    return url if is_usable else ""


def joined_url(base: str, text: str) -> str:
    """Return the URL of a license, relative to another one; "" if it is invalid.

    >>> joined_url("https://shop.example/press/", "../license.xml")
    'https://shop.example/license.xml'
    """
    url = usable_url(text)
    try:
        return urljoin(base, url) if url else ""
    except ValueError:
        return ""

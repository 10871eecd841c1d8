"""The names of a crawler that sources may state something to."""

from __future__ import annotations

import functools
import re

#: A product token.
_NAME = re.compile(r"(?=[0-9_.-]*[A-Za-z])[\w.-]{1,100}", re.ASCII)
#: What separates the words of a User-Agent header.
_SEPARATORS = re.compile(r"[\s;,()]+")
#: Words of a User-Agent header that are not names.
_NO_NAMES = frozenset(("mozilla", "compatible"))


@functools.lru_cache(1000)
def tokens_of(agent: str) -> tuple[str, ...]:
    """Return the names in an agent: its product token, or the words of a User-Agent header.

    >>> tokens_of("FooBot/1.0"), tokens_of("Mozilla/5.0 (compatible; FooBot/1.0; +https://a.example)")
    (('FooBot',), ('FooBot',))
    """
    if not _SEPARATORS.search(agent.strip()):
        return (agent.partition("/")[0].strip(),)
    # As in the names of groups: addresses are not searched.
    words = (
        each.partition("/")[0]
        for each in _SEPARATORS.split(agent)
        if not ("://" in each or "@" in each or "www." in each)
    )
    return tuple(
        dict.fromkeys(
            each for each in words if _NAME.fullmatch(each) and each.lower() not in _NO_NAMES
        )
    )

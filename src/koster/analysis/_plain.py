"""Comparison of rule sets without special characters, as most are: no search is needed.

Such a pattern matches the paths that start with it. If a URL is decided by two rules, one of each
set, so is the text of the longer one: fewer patterns match it, and these two are among them. So the
texts of all patterns are all URLs to look at, and those of the longer rules are the shortest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._asking import selection_of
from ._entries import SHELL, are_plain
from ._urls import with_host_if_ambiguous

if TYPE_CHECKING:
    from ..robots import Rules
    from ._search import Budget

#: URLs that the engine decides in the time of one comparison.
_URLS_PER_COMPARISON = 8

_ROBOTS_TXT = b"\n/robots.txt"
_HOST = b"\n//"


def plain_texts(rules: Rules) -> set[bytes] | None:
    """Return the texts of all patterns, or None if one is more than the beginning of paths.

    Also None if one begins like /robots.txt, which is read in its own way.
    """
    compiled = selection_of(rules).compiled_rules()
    if not compiled:
        return set()
    texts = {rule[0] for rule in compiled} - {b""}
    lines = b"\n".join([b"", *texts])
    is_plain = (
        are_plain([*texts])
        and lines.count(b"\n/") == len(texts)
        and _ROBOTS_TXT not in lines
        and not any(rule[2] == SHELL or rule[3] for rule in compiled)
    )
    return texts if is_plain else None


def urls_decided_differently(
    before: Rules, after: Rules, texts: set[bytes], budget: Budget
) -> list[str]:
    """Return a shortest URL for each pair of patterns that decide one differently.

    ``texts`` are those of the patterns of both sets.

    Raises:
        BudgetSpentError: there are too many.
    """
    budget.compare(1 + len(texts) // _URLS_PER_COMPARISON)
    # The engine finds rules next to one another faster.
    lines = b"\n".join([b"", *sorted({*texts, b"/"})])
    urls = lines[1:].decode("ascii").split("\n")
    if _HOST in lines:
        urls = [*map(with_host_if_ambiguous, urls)]
    found: dict[tuple[int, int], str] = {}
    old, new = selection_of(before), selection_of(after)
    pairs = zip(urls, before.allowed_many(urls), after.allowed_many(urls), strict=True)
    for url, was_allowed, is_allowed in pairs:
        if was_allowed != is_allowed:
            numbers = old.number_for(url), new.number_for(url)
            found[numbers] = min(found.get(numbers, url), url, key=len)
    return [*found.values()]

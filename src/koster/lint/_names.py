"""What is known about the names in a file."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence

from .. import crawlers
from ..crawlers import Crawler
from ..errors import MissingExtraError

#: Operators with crawlers that have other names than the company and its products.
_BRANDS = {
    "Ahrefs", "Amazon", "Anthropic", "Apple", "ByteDance", "Cohere", "Common Crawl", "DeepSeek",
    "DuckDuckGo", "Google", "Meta", "Microsoft", "Mistral AI", "Mojeek", "OpenAI", "Perplexity",
    "Semrush", "Seznam", "xAI", "Yahoo",
}  # fmt: skip
#: But a crawler or an app sends the names of these products, or another company had them before.
_NOT_BRANDS = {"alexa", "instagram", "messenger", "outlook", "safari", "teams", "whatsapp"}

#: Shorter names are similar to too many others.
_MIN_LETTERS = 6
_OTHERS = re.compile(r"[^a-z0-9]")


@functools.cache
def known_crawlers() -> dict[str, Crawler]:
    """Return known crawlers by lower-case token; empty if the registry is not installed."""
    try:
        return {each.token.lower(): each for each in crawlers.known()}
    except MissingExtraError:
        return {}


def operator_of(name: str) -> str | None:
    """Return who runs a crawler, or None if it is not known."""
    crawler = known_crawlers().get(name.partition("/")[0].strip().lower())
    return crawler.operator if crawler else None


def crawlers_of(operator: str) -> tuple[Crawler, ...]:
    """Return the known crawlers of an operator."""
    return tuple(each for each in known_crawlers().values() if each.operator == operator)


def tokens_for_brand(name: str) -> Sequence[str]:
    """Return the crawlers of a company or product, or nothing if a name is not that of one."""
    brand = name.lower()
    return _suggestions(brand) if brand in _brands() else ()


@functools.cache
def _suggestions(brand: str) -> Sequence[str]:
    return crawlers.suggestions(brand)


@functools.cache
def _brands() -> set[str]:
    """Return the names of companies and products, in lower case."""
    return {
        name.lower()
        for each in known_crawlers().values()
        if each.operator in _BRANDS
        for name in (each.operator, *each.names)
        if name.lower() not in _NOT_BRANDS and crawlers.is_brand(name)
    }


def similar_token(name: str) -> str | None:
    """Return the known crawler with the same letters, or one more, fewer or transposed.

    Replaced letters do not count, because they make other names: Roverbot is not rogerbot.
    """
    letters = _letters_and_digits(name)
    by_letters = _tokens_by_letters()
    if letters in by_letters:
        return by_letters[letters]
    if len(letters) < _MIN_LETTERS:
        return None
    found = None
    if not _similar_parts().isdisjoint(_parts_of(letters)):
        words = _shorter_or_transposed(letters)
        found = next((by_letters[each] for each in words if each in by_letters), None)
    return found or _tokens_by_fewer_letters().get(letters)


@functools.cache
def _tokens_by_letters() -> dict[str, str]:
    return {_letters_and_digits(lower): each.token for lower, each in known_crawlers().items()}


def _letters_and_digits(name: str) -> str:
    lower = name.lower()
    return lower if lower.isascii() and lower.isalnum() else _OTHERS.sub("", lower)


@functools.cache
def _tokens_by_fewer_letters() -> dict[str, str]:
    """Return the tokens by their letters with one missing: any but the first."""
    return {
        letters[:at] + letters[at + 1 :]: token
        for letters, token in _tokens_by_letters().items()
        for at in range(1, len(letters))
    }


@functools.cache
def _similar_parts() -> set[tuple[int, str]]:
    """Return the parts of words that `_shorter_or_transposed` may turn into a known crawler."""
    return {
        (size, part)
        for letters in _tokens_by_letters()
        for _, part in _parts_of(letters)
        for size in (len(letters), len(letters) + 1)
    }


def _parts_of(letters: str) -> tuple[tuple[int, str], tuple[int, str]]:
    """Return the size of a word with its first letters, marked by ``^``, and with its last ones.

    If a letter is deleted or two are transposed, one of the two parts stays.
    """
    size = len(letters)
    return (size, "^" + letters[:3]), (size, letters[-2:])


def _shorter_or_transposed(letters: str) -> Iterator[str]:
    """Yield the words with one letter deleted or transposed after the first one."""
    for at in range(1, len(letters)):
        yield letters[:at] + letters[at + 1 :]
        yield letters[:at] + letters[at : at + 2][::-1] + letters[at + 2 :]

"""What is known about the names in a file."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence

from .. import crawlers
from ..crawlers import Crawler, Purpose
from ..errors import MissingExtraError

#: Operators with crawlers that have other names than the company and its products.
_BRANDS = {
    "Ahrefs", "Amazon", "Anthropic", "Apple", "Baidu", "ByteDance", "Cohere", "Common Crawl", "DeepSeek",
    "DuckDuckGo", "Google", "Huawei", "Meta", "Microsoft", "Mistral AI", "Mojeek", "OpenAI", "Perplexity",
    "Semrush", "Seznam", "xAI", "Yahoo",
}  # fmt: skip
#: But a crawler or an app sends the names of these products, or another company had them before.
_NOT_BRANDS = {"alexa", "instagram", "messenger", "outlook", "safari", "teams", "whatsapp"}

#: What people write after the name of a company or product, if that is at least so long.
_AFTER_BRANDS = re.compile(r"(?:bots?|ai|crawler|spider|robot|agent)\Z")
_MIN_BRAND = 4

#: Shorter names are similar to too many others.
_MIN_LETTERS = 5
#: Longer ones are no typos.
_MAX_LETTERS = 60
#: The letters of real crawlers that koster does not know, but whose names are similar to others: in
#: robots.txt files of well-known sites, and in github.com/monperrus/crawler-user-agents.
_REAL_NAMES = frozenset(
    (
        "aibot", "aipbot", "antibot", "chatgptagent", "claudecode", "coccocbot", "devil", "doubaobot",
        "echobotbot", "grobbot", "imgproxy", "linguee", "owlerw", "roverbot", "seokicksrobot", "slickbot",
        "snapbot", "toutiaospider", "webzip",
    )
)  # fmt: skip
_WORDS_FOR_CRAWLERS = ("bot", "bots", "crawler", "robot", "spider", "web")
#: Names of one or more words.
_PLAIN = re.compile(r"[A-Za-z0-9._-]+(?: [A-Za-z0-9._-]+)*[+!]?")
#: Why crawlers visit all of a site.
_GENERAL = {
    Purpose.SEARCH,
    Purpose.AI_SEARCH,
    Purpose.USER_FETCH,
    Purpose.TRAINING,
    Purpose.DATASET,
}
_SEPARATORS = re.compile(r"[-_. ]+")
_OTHERS = re.compile(r"[^a-z0-9]")


@functools.cache
def known_crawlers() -> dict[str, Crawler]:
    """Return known crawlers by lower-case token; empty if the registry is not installed."""
    try:
        return {each.token.lower(): each for each in crawlers.known()}
    except MissingExtraError:
        return {}


def crawler_named(name: str) -> Crawler | None:
    """Return the known crawler for a name in a file, which may have a version or a star."""
    return known_crawlers().get(name.partition("/")[0].rstrip("*").lower())


def finds_pages(name: str) -> bool:
    """Return whether a crawler visits all of a site, and not what somebody shares, or its owner's."""
    crawler = crawler_named(name)
    return crawler is not None and not _GENERAL.isdisjoint(crawler.purposes)


def is_tool(name: str) -> bool:
    """Return whether a crawler is known, and does not visit all of a site: see `finds_pages`."""
    crawler = crawler_named(name) or crawler_named(f"{name}bot")
    return crawler is not None and _GENERAL.isdisjoint(crawler.purposes)


def operator_of(name: str) -> str | None:
    """Return who runs a crawler, or None if it is not known."""
    crawler = known_crawlers().get(name.partition("/")[0].strip().lower())
    return crawler.operator if crawler else None


def crawlers_of(operator: str) -> tuple[Crawler, ...]:
    """Return the known crawlers of an operator."""
    return tuple(each for each in known_crawlers().values() if each.operator == operator)


def is_brand(name: str) -> bool:
    """Return whether a name is that of a company or product, without a word for crawlers."""
    return _letters_and_digits(name) in _brands()


def tokens_for_brand(name: str) -> Sequence[str]:
    """Return the crawlers of a company or product, or nothing if a name is not that of one.

    A word for a crawler may follow it: ``OpenAIBot``.
    """
    brands = _brands()
    letters = _letters_and_digits(name)
    if letters in _REAL_NAMES:
        return ()
    brand = brands.get(letters)
    if brand is None:
        stem = _AFTER_BRANDS.sub("", letters)
        brand = brands.get(stem) if len(stem) >= _MIN_BRAND else None
    return _suggestions(brand) if brand else ()


@functools.cache
def _suggestions(brand: str) -> Sequence[str]:
    return crawlers.suggestions(brand)


@functools.cache
def _brands() -> dict[str, str]:
    """Return the names of companies and products, by their letters."""
    tokens = {token.lower() for each in known_crawlers().values() for token in each.tokens}
    return {
        _letters_and_digits(name): name
        for each in known_crawlers().values()
        if each.operator in _BRANDS
        for name in (each.operator, *each.names)
        if name.lower() not in tokens | _NOT_BRANDS
    }


def similar_token(name: str) -> str | None:
    """Return the known crawler that a name probably is a typo of, or None.

    It has the same letters but for one, two of them are transposed, or a part is missing or added.
    """
    if len(name) > _MAX_LETTERS or not _PLAIN.fullmatch(name):
        return None
    letters = _letters_and_digits(name)
    if letters in _REAL_NAMES:
        return None
    same = _tokens_by_letters().get(letters)
    if same or len(letters) < _MIN_LETTERS:
        return same
    begin, hyphen, _ = name.lower().partition("-")
    if hyphen and begin in known_crawlers():
        # SemrushBot-SI and SemrushBot-SA are two crawlers.
        return _with_other_parts(name)
    shorter = _tokens_by_fewer_letters()
    for variant in (letters, *_fewer_letters(letters)):
        for token in shorter.get(variant, ()):
            if _is_one_edit(letters, _letters_and_digits(token)):
                return token
    return _with_other_parts(name)


@functools.cache
def _tokens_by_letters() -> dict[str, str]:
    return {_letters_and_digits(lower): each.token for lower, each in known_crawlers().items()}


def _letters_and_digits(name: str) -> str:
    lower = name.lower()
    return lower if lower.isascii() and lower.isalnum() else _OTHERS.sub("", lower)


@functools.cache
def _tokens_by_fewer_letters() -> dict[str, list[str]]:
    """Return the tokens by their letters, and by these with one missing."""
    found: dict[str, list[str]] = {}
    for letters, token in _tokens_by_letters().items():
        if len(letters) >= _MIN_LETTERS:
            for variant in {letters, *_fewer_letters(letters)}:
                found.setdefault(variant, []).append(token)
    return found


def _fewer_letters(letters: str) -> Iterator[str]:
    """Yield a word with one letter missing: any but the first, which few people get wrong."""
    for at in range(1, len(letters)):
        yield letters[:at] + letters[at + 1 :]


def _is_one_edit(first: str, second: str) -> bool:
    """Return whether two words differ by one letter: more, fewer, another one, or transposed.

    >>> [_is_one_edit("abcd", each) for each in ("abd", "abxd", "acbd", "abcde", "bcda")]
    [True, True, True, True, False]
    """
    start = 0
    while start < min(len(first), len(second)) and first[start] == second[start]:
        start += 1
    one, other = first[start:], second[start:]
    return (
        one[1:] in (other, other[1:])
        or one == other[1:]
        or (one[:2] == other[1::-1] and one[2:] == other[2:])
    )


def parts_of(name: str) -> tuple[str, ...]:
    """Return the parts of a name in lower case, in alphabetical order.

    >>> parts_of("AdsBot-Google"), parts_of("google adsbot")
    (('adsbot', 'google'), ('adsbot', 'google'))
    """
    return tuple(sorted(filter(None, _SEPARATORS.split(name.lower()))))


def _with_other_parts(name: str) -> str | None:
    """Return the known crawler whose name has the same parts, or one more or fewer.

    That one is a word for a crawler, or its operator: ``Googlebot-News`` is not Googlebot.
    """
    parts, tokens = parts_of(name), _tokens_by_parts()
    for at, part in enumerate(parts):
        token = tokens.get(parts[:at] + parts[at + 1 :])
        if token and part in _words_around(token):
            return token
    return tokens.get(parts) or _tokens_by_fewer_parts().get(parts)


def _words_around(token: str) -> list[str]:
    operator = known_crawlers()[token.lower()].operator.lower()
    return [*_WORDS_FOR_CRAWLERS, operator, *operator.split()]


@functools.cache
def _tokens_by_parts() -> dict[tuple[str, ...], str]:
    return {parts_of(each.token): each.token for each in known_crawlers().values()}


@functools.cache
def _tokens_by_fewer_parts() -> dict[tuple[str, ...], str]:
    """Return the tokens without a word for crawlers, or their operator, if that leaves one token."""
    found: dict[tuple[str, ...], list[str]] = {}
    for parts, token in _tokens_by_parts().items():
        for at, part in enumerate(parts if len(parts) > 1 else ()):
            if part in _words_around(token):
                found.setdefault(parts[:at] + parts[at + 1 :], []).append(token)
    return {
        parts: tokens[0]
        for parts, tokens in found.items()
        if len(tokens) == 1 and not {*parts}.issubset(_WORDS_FOR_CRAWLERS)
    }

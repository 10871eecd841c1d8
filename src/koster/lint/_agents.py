"""Checks of the names on User-agent lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .._wording import joined
from ..analysis import letters_of
from ..dialects import GOOGLE, RFC9309, Dialect
from ..model import Directive, Line
from ..robots import parse
from ._checks import ERROR, NOTE, WARNING, check
from ._model import SECOND_DIRECTIVE, CheckedFile, Place, Remark, listed, truncate
from ._names import (
    crawlers_of,
    is_brand,
    known_crawlers,
    similar_token,
    tokens_for_brand,
)

#: RFC 9309 §2.2.1.
_PRODUCT_TOKEN = re.compile(r"[A-Za-z_-]+")
#: Names such as MJ12bot and archive.org_bot.
_EXTENDED_TOKEN = re.compile(r"[A-Za-z0-9._-]+")
_ONE_OR_MORE_WORDS = re.compile(r"[A-Za-z0-9._-]+(?: [A-Za-z0-9._-]+)*")
_VERSION = re.compile(r"([A-Za-z0-9._-]+)/[\w.]*\Z")
_HEADER = re.compile(r"Mozilla/|\(compatible|AppleWebKit|Gecko", re.IGNORECASE)
#: The product token in a header, after the parts that browsers have.
_TOKEN_IN_HEADER = re.compile(r"compatible;\s*((?!MSIE)[A-Za-z][A-Za-z0-9_.-]*)")

#: What people write between names, and around them.
_BETWEEN_NAMES = re.compile(
    r"\s*[,;|>\u3001\uff0c\u00b7\u2022\u2013]\s*|\s*&&\s*|\s+(?:and|or|und|oder|et|ou|y|o|e|&|\+|-)\s+",
    re.IGNORECASE,
)
#: What some write behind a name.
_REMARK = re.compile(r"\s+\([^()]*\)(?=\s*(?:[,;|]|\Z))")
_AROUND_NAMES = " \t\"'`\u201c\u201d\u201e\u2018\u2019\u201a\u00ab\u00bb<>()[]{}:;,|=@^$"
_NAME = re.compile(r"\*|[A-Za-z0-9._-]+\*?(?=/[\w.]*\Z|\Z)")
_BOT_LIKE = re.compile(r"[\w.-]{2,}(?:bot|spider|crawler)\Z", re.IGNORECASE)
_REPEATED = re.compile(r"user-?agents?\s*[:=]\s*", re.IGNORECASE)
#: What people write for all crawlers.
_EVERYBODY = re.compile(
    r"\*{2,}|[.(]\.?\*\)?|(?:any|every|all)(?:one|body)?|alle|todos|tous|tutti|\*\W+.*|(?:all other|all|any|every|other)[ _-]?"
    r"(?:robots?|bots?|crawlers?|spiders?|agents?|user[ _-]?agents?|search ?engines?)"
    r"|robots|bots|crawlers|spiders",
    re.IGNORECASE,
)
#: What describes crawlers, and names none of them.
_DESCRIPTION = re.compile(
    r"(?:ai|llm|gpt|seo|bad|scraper|training|google|bing|social(?: media)?)[ _-](?:bots|crawlers|spiders|scrapers|agents)",
    re.IGNORECASE,
)
#: Maximum number of names on a line to look at.
_MAX_NAMES = 100
_MAX_NAME_LINE = 10_000
#: An agent that no group names.
_SOMEBODY = "koster-somebody"


@check("G014", "rule-in-name", ERROR, "A User-agent line has a second directive",
    why="Crawlers read it as part of the name, so the rule has no effect, and most names then match no crawler.",
    example="User-agent: * Disallow: /\n",
    fix="User-agent: * # Disallow: /\nDisallow: /\n",
    source="RFC 9309 §2.2.1")  # fmt: skip
def glued_rule(subject: CheckedFile) -> Iterator[Remark]:
    for line in subject.lines_of(Directive.USER_AGENT):
        found = SECOND_DIRECTIVE.search(line.value)
        if found:
            at = subject.value_start(line) + found.start()
            path = SECOND_DIRECTIVE.split(line.value[found.end() :])[0].strip()
            is_safe = bool(path.strip("/*$"))
            verb = "allows" if found[1].lower() == "allow" else "blocks"
            effect = f", which {verb} {truncate(path)}" if "allow" in found[1].lower() else ""
            yield Remark(
                Place(line.number, at + 1, len(line.value) - found.start() - 1),
                "Second directive on this line: crawlers read it as part of the name",
                f"Write it on a line of its own{effect}",
                # On a line of its own, a lone / would block the whole site.
                proposal=(subject.edit(line, at, 1, "\n"),) if is_safe else (),
            )


@check("G010", "duplicate-name", NOTE, "A group has the same name twice",
    why="It does no harm.",
    example="User-agent: Foo\nUser-agent: foo\nDisallow: /a\n",
    fix="User-agent: Foo\nDisallow: /a\n",
    source="RFC 9309 §2.2.1")  # fmt: skip
def twice(subject: CheckedFile) -> Iterator[Remark]:
    for group in subject.groups:
        seen: dict[str, int] = {}
        for line in group.agents:
            first = seen.setdefault(line.value.lower(), line.number)
            if line.value and first != line.number:
                yield Remark(
                    subject.value(line),
                    f"Duplicate of line {first}",
                    "Remove it",
                    edits=(subject.removal(line),),
                )


@check("G006", "several-names", ERROR, "A User-agent line has several names",
    why="Crawlers read the line as one name. It matches at most the first of them.",
    example="User-agent: FooBot, BarBot\nDisallow: /a\n",
    fix="User-agent: FooBot\nUser-agent: BarBot\nDisallow: /a\n",
    source="RFC 9309 §2.2.1; google/robotstxt, robots.cc: ExtractUserAgent")  # fmt: skip
def several_names(subject: CheckedFile) -> Iterator[Remark]:
    for line, names in _several(subject).items():
        readers = _readers(line.value, names, RFC9309)
        left = [name for name in names if name not in readers]
        too = ", too" if readers else ""
        yield Remark(
            subject.value(line),
            f"Several names on one line: {_users_of_several(line.value, names)}",
            f"Write a User-agent line for each: the rules below then apply to {listed(left)}{too}"
            if left
            else "Write a User-agent line for each, or only those that the rules below apply to",
            proposal=(subject.edit_value(line, "\nUser-agent: ".join(names)),)
            if len(names) <= _MAX_NAMES
            else (),
        )


@check("G005", "not-a-name", WARNING, "A User-agent line has something that is no crawler's name",
    why="Crawlers look for their own name, without quotation marks, brackets and headers around it. Use the product token, such as Googlebot, and * for all other crawlers.",
    example="User-agent: Foo*Bot\nDisallow: /a\n",
    fix="User-agent: Foo*\nDisallow: /a\n",
    source="RFC 9309 §2.2.1")  # fmt: skip
def not_a_token(subject: CheckedFile) -> Iterator[Remark]:
    """Find names that match no crawler: headers, wildcards, and names in quotation marks."""
    for line, name in _no_names(subject).items():
        if _HEADER.search(line.value):
            yield Remark(
                subject.value(line),
                "A User-Agent header is not a crawler's name: no crawler uses this group",
                _apply_to(name) if name else "Write only the name",
                proposal=(subject.edit_value(line, name),) if name else (),
            )
        elif name:
            yield Remark(
                subject.value(line),
                f"{truncate(line.value)} is no crawler's name: {_users(line.value, [name])}",
                _apply_to(name),
                proposal=(subject.edit_value(line, name),),
            )
        else:
            what = (
                '"*" is not a wildcard in names'
                if "*" in line.value
                else f"{truncate(line.value)} is no crawler's name"
            )
            yield Remark(
                subject.value(line),
                f"{what}: no crawler uses this group",
                "Write one User-agent line per crawler; koster agents lists their names",
            )


def _apply_to(name: str) -> str:
    return f"Write {name}: the rules below then apply to {listed([name])}"


def _several(subject: CheckedFile) -> dict[Line, list[str]]:
    """Return the names on each User-agent line that has several."""
    return subject.once(
        "several names",
        lambda: {
            line: names
            for line in subject.lines_of(Directive.USER_AGENT)
            # Most names are plain, and this expression is the fastest.
            if not _EXTENDED_TOKEN.fullmatch(line.value) and (names := _names_in(line.value))
        },
    )


def _names_in(value: str) -> list[str]:
    """Return the names on a User-agent line; nothing if it has only one.

    >>> _names_in("GPTBot and CCBot"), _names_in("GPTBot/ClaudeBot"), _names_in("Yahoo Slurp")
    (['GPTBot', 'CCBot'], ['GPTBot', 'ClaudeBot'], [])
    """
    if _HEADER.search(value) or SECOND_DIRECTIVE.search(value):
        return []
    text = _REMARK.sub("", value[:_MAX_NAME_LINE]).strip(_AROUND_NAMES)
    names = [part.strip(_AROUND_NAMES) for part in _BETWEEN_NAMES.split(text)]
    if len(names) == 1:
        known = known_crawlers()
        names = re.split(r"[\s/]+", text)
        if not all(each == "*" or each.lower() in known or _BOT_LIKE.match(each) for each in names):
            return []
    names = list({name.lower(): name for name in reversed(names) if name}.values())[::-1]
    found = [match[0] for match in map(_NAME.match, names[: _MAX_NAMES + 1]) if match]
    return found if len(found) == min(len(names), _MAX_NAMES + 1) > 1 else []


def _no_names(subject: CheckedFile) -> dict[Line, str]:
    """Return the User-agent lines that have no name, with the name that was meant, or ``""``."""
    return subject.once("no names", lambda: dict(_find_no_names(subject)))


def _find_no_names(subject: CheckedFile) -> Iterator[tuple[Line, str]]:
    several = _several(subject)
    known = known_crawlers()
    for line in subject.lines_of(Directive.USER_AGENT):
        value = line.value
        if not value or value == "*" or line in several or value.lower() in known:
            continue
        if _HEADER.search(value):
            token = _TOKEN_IN_HEADER.search(value)
            yield line, token[1] if token else ""
            continue
        if SECOND_DIRECTIVE.search(value):
            continue
        name = _REPEATED.sub("", value).strip(_AROUND_NAMES)
        if _EVERYBODY.fullmatch(value) or _EVERYBODY.fullmatch(name):
            yield line, "*"
        elif name != value and _ONE_OR_MORE_WORDS.fullmatch(name.partition("/")[0]):
            name = name.partition("/")[0]
            if not _readers(value, [name], RFC9309):
                yield line, name if name.lower() in known else similar_token(name) or name
        elif "*" in value.rstrip("*") or value.endswith(("-*", "_*")):
            bare = value.strip("*-_")
            yield line, bare if bare.lower() in known else ""
        elif _DESCRIPTION.fullmatch(name):
            yield line, ""


def _users(value: str, names: Sequence[str]) -> str:
    """Return which crawlers use a group for a value that is meant for some names."""
    by_rfc, by_google = (_readers(value, names, dialect) for dialect in (RFC9309, GOOGLE))
    if by_rfc == by_google:
        return _used_by(by_rfc)
    return f"by RFC 9309 {_used_by(by_rfc)}, by Google's parser {_only(by_google)}"


def _users_of_several(value: str, names: Sequence[str]) -> str:
    """Return the same for several names, and which of them do not use the group."""
    users = _readers(value, names, RFC9309)
    if users != _readers(value, names, GOOGLE):
        return _users(value, names)
    left = [name for name in names if name not in users]
    others = (
        f", {listed(left)} {'does' if len(left) == 1 and left[0] != '*' else 'do'} not"
        if users and left
        else ""
    )
    return f"by RFC 9309 and Google's parser {_used_by(users)}{others}"


def _used_by(names: list[str]) -> str:
    verb = "use" if len(names) > 1 or "*" in names else "uses"
    return f"{_only(names)} {verb} this group"


def _only(names: list[str]) -> str:
    only = "" if "*" in names else "only "
    return f"{only}{listed(names)}" if names else "no crawler"


def _readers(value: str, names: Sequence[str], dialect: Dialect) -> list[str]:
    """Return those of some names whose crawlers use a group for a value."""
    body = f"User-agent: {value}\nDisallow: /\n"
    robots = parse(body.encode("utf-8", "surrogateescape"), dialect)
    return [
        name
        for name in names
        if not robots.allowed("/", _SOMEBODY if name == "*" else name.rstrip("*"))
    ]


def _has_one_name(subject: CheckedFile, line: Line) -> bool:
    """Return whether a User-agent line has what may be a name: no other check is about it."""
    return (
        line.value not in ("", "*")
        and line not in _several(subject)
        and line not in _no_names(subject)
        and not SECOND_DIRECTIVE.search(line.value)
    )


@check("G012", "unusual-name", NOTE, "A name has characters RFC 9309 does not allow",
    why="Product tokens consist of letters, _ and -. Some crawlers have other characters in their names; those koster knows are not reported.",
    example="User-agent: Foo*\nDisallow: /a\n",
    fix="User-agent: Foo\nDisallow: /a\n",
    source="RFC 9309 §2.2.1; google/robotstxt, robots.cc: ExtractUserAgent")  # fmt: skip
def unusual_token(subject: CheckedFile) -> Iterator[Remark]:
    """Find names that RFC 9309 does not allow, but that may match a crawler."""
    known = known_crawlers()
    for line in subject.lines_of(Directive.USER_AGENT):
        name = line.value
        if _PRODUCT_TOKEN.fullmatch(name) or not _has_one_name(subject, line):
            continue
        version = _VERSION.fullmatch(name)
        if version:
            yield Remark(
                subject.value(line),
                f"Crawlers ignore the version in {name}",
                f"Write {version[1]}",
                edits=(subject.edit_value(line, version[1]),),
            )
        elif name.endswith("*"):
            yield Remark(
                subject.value(line),
                'Some crawlers do not ignore "*" at the end of a name',
                f"Write {name.rstrip('*')}",
                edits=(subject.edit_value(line, name.rstrip("*")),),
            )
        elif name.lower() not in known:
            yield Remark(
                subject.value(line),
                "The name contains characters RFC 9309 does not allow",
                "Check the name on the page of the crawler's operator",
            )


@check("G013", "brand-or-typo", WARNING, "A name is that of a company or product, or a typo",
    why="Crawlers look for their own name, in any case but with all its letters: no crawler uses the group. koster agents NAME finds crawlers.",
    example="User-agent: Bing\nDisallow: /\n",
    fix="User-agent: bingbot\nDisallow: /\n",
    source="RFC 9309 §2.2.1; koster.crawlers")  # fmt: skip
def nearly_a_crawler(subject: CheckedFile) -> Iterator[Remark]:
    """Find brands and misspelled names instead of those of known crawlers."""
    known = known_crawlers()
    names = {line.value.lower() for line in subject.lines_of(Directive.USER_AGENT)}
    for line in subject.lines_of(Directive.USER_AGENT):
        lower = line.value.lower()
        if lower in known or not _has_one_name(subject, line):
            continue
        token = similar_token(lower)
        tokens = () if token and not is_brand(lower) else tokens_for_brand(lower)
        missing = [token for token in tokens if token.lower() not in names]
        edits = (subject.edit_value(line, "\nUser-agent: ".join(missing)),) if missing else ()
        if tokens:
            yield Remark(
                subject.value(line),
                f"{truncate(line.value)} is a company or product, not a crawler's name",
                f"Write {joined(tokens[:3], 'or')}: the rules below then apply to it",
                proposal=edits,
            )
        elif token:
            yield Remark(
                subject.value(line),
                f"{truncate(line.value)} is not a known crawler",
                f"Did you mean {token}? The rules below then apply to it",
                proposal=(subject.edit_value(line, token),),
            )


@check("G007", "no-name", WARNING, "A User-agent line has no name",
    why="The group applies to no crawler.",
    example="User-agent:\nDisallow: /a\n",
    fix="User-agent: *\nDisallow:\n",
    source="RFC 9309 §2.2.1")  # fmt: skip
def no_name(subject: CheckedFile) -> Iterator[Remark]:
    for line in subject.lines_of(Directive.USER_AGENT):
        if not line.value:
            yield Remark(
                subject.text(line),
                "User-agent without a name: no crawler uses this group",
                "Write a crawler's name, or * for all other crawlers",
            )


@check("G011", "read-as-google", WARNING, "Google reads a name as one of its own crawlers",
    why="It reads names only up to the first character that is not a letter, _ or -.",
    example="User-agent: Googlebot 2\nDisallow: /\n",
    fix="User-agent: AI2Bot\nDisallow: /\nUser-agent: AI\nDisallow: /a\n",
    source="google/robotstxt, robots.cc: ExtractUserAgent")  # fmt: skip
def cut_by_google(subject: CheckedFile) -> Iterator[Remark]:
    """Find names that Google's parser takes for those of Google's crawlers."""
    google = {each.token.lower(): each.token for each in crawlers_of("Google")}
    for line in subject.lines_of(Directive.USER_AGENT):
        name, read = line.value, letters_of(line.value).lower()
        if read not in google or name.lower() in google or not _has_one_name(subject, line):
            continue
        if "/" not in name and not name.lower().startswith(f"{read}*"):
            yield Remark(
                subject.value(line),
                f"Google reads {truncate(name)} as {google[read]}: the rules apply to that crawler",
                "Write another name if they should not",
            )

"""Checks of the names on User-agent lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .._wording import joined
from ..analysis import letters_of
from ..model import Directive
from ._checks import ERROR, NOTE, WARNING, check
from ._model import SECOND_DIRECTIVE, CheckedFile, Place, Remark, truncate
from ._names import crawlers_of, known_crawlers, similar_token, tokens_for_brand

#: RFC 9309 §2.2.1.
_PRODUCT_TOKEN = re.compile(r"[A-Za-z_-]+")
#: Names such as MJ12bot and archive.org_bot.
_EXTENDED_TOKEN = re.compile(r"[A-Za-z0-9._-]+")
_VERSION = re.compile(r"([A-Za-z0-9._-]+)/[\w.]*\Z")
_HEADER = re.compile(r"Mozilla/|\(compatible|AppleWebKit|Gecko", re.IGNORECASE)
#: The product token in a header, after the parts that browsers have.
_TOKEN_IN_HEADER = re.compile(r"compatible;\s*((?!MSIE)[A-Za-z][A-Za-z0-9_.-]*)")
_LIST = re.compile(r"[\w*.-]+(?:\s*[,;|]\s*[\w*.-]+)+[,;|]?")


@check("G014", "rule-in-name", ERROR, "A User-agent line has a second directive",
    why="Crawlers read it as part of the name: the group applies to none of them, and the rule has no effect.",
    example="User-agent: * Disallow: /\n",
    fix="User-agent: * # Disallow: /\nDisallow: /\n",
    source="RFC 9309 §2.2.1")  # fmt: skip
def glued_rule(subject: CheckedFile) -> Iterator[Remark]:
    for line in subject.lines_of(Directive.USER_AGENT):
        found = SECOND_DIRECTIVE.search(line.value)
        if found:
            at = subject.value_start(line) + found.start()
            path = line.value[found.end() :].strip()
            is_safe = bool(path.strip("/*$"))
            yield Remark(
                Place(line.number, at + 1, len(line.value) - found.start() - 1),
                "Second directive on this line: crawlers read it as part of the name",
                "Write it on a line of its own",
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


@check("G005", "not-a-name", WARNING, "A User-agent line has a header or a wildcard instead of a name",
    why="Crawlers look for their own name. Use the product token, such as Googlebot.",
    example="User-agent: Foo*Bot\nDisallow: /a\n",
    fix="User-agent: Foo*\nDisallow: /a\n",
    source="RFC 9309 §2.2.1")  # fmt: skip
def not_a_token(subject: CheckedFile) -> Iterator[Remark]:
    """Find names that match no crawler: headers, and names with wildcards."""
    for line in subject.lines_of(Directive.USER_AGENT):
        name = line.value
        if not name or name == "*" or _is_several(name):
            continue
        if _HEADER.search(name):
            token = _TOKEN_IN_HEADER.search(name)
            yield Remark(
                subject.value(line),
                "A User-Agent header is not a crawler's name: no crawler uses this group",
                f"Write only the name, such as {token[1]}" if token else "Write only the name",
                proposal=(subject.edit_value(line, token[1]),) if token else (),
            )
        elif "*" in name.rstrip("*"):
            yield Remark(
                subject.value(line),
                '"*" is not a wildcard in names: no crawler uses this group',
                "Write one User-agent line per crawler",
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
        if not name or name == "*" or _PRODUCT_TOKEN.fullmatch(name) or _is_several(name):
            continue
        if _HEADER.search(name) or "*" in name.rstrip("*"):
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
                subject.value(line), "The name contains characters RFC 9309 does not allow"
            )


def _is_several(name: str) -> bool:
    # Most names are plain, and this expression is the fastest.
    is_one = _EXTENDED_TOKEN.fullmatch(name)
    return not is_one and bool(_LIST.fullmatch(name) or SECOND_DIRECTIVE.search(name))


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
        if lower in known or not lower or lower == "*":
            continue
        tokens = tokens_for_brand(lower)
        missing = [token for token in tokens if token.lower() not in names]
        edits = (subject.edit_value(line, "\nUser-agent: ".join(missing)),) if missing else ()
        if tokens:
            yield Remark(
                subject.value(line),
                f"{truncate(line.value)} is a company or product, not a crawler's name",
                f"Write {joined(tokens[:3], 'or')}",
                proposal=edits,
            )
        elif _EXTENDED_TOKEN.fullmatch(line.value):
            token = similar_token(lower)
            if token and lower.partition("-")[0] not in known:
                yield Remark(
                    subject.value(line),
                    f"{line.value} is not a known crawler",
                    f"Did you mean {token}?",
                    proposal=(subject.edit_value(line, token),),
                )


@check("G006", "several-names", ERROR, "A User-agent line has several names",
    why="Crawlers read them as one name: the group applies to none of them.",
    example="User-agent: FooBot, BarBot\nDisallow: /a\n",
    fix="User-agent: FooBot\nUser-agent: BarBot\nDisallow: /a\n",
    source="RFC 9309 §2.2.1")  # fmt: skip
def several_names(subject: CheckedFile) -> Iterator[Remark]:
    for line in subject.lines_of(Directive.USER_AGENT):
        if not _EXTENDED_TOKEN.fullmatch(line.value) and _LIST.fullmatch(line.value):
            names = [name for name in re.split(r"[\s,;|]+", line.value) if name]
            yield Remark(
                subject.value(line),
                "Several names on one User-agent line: no crawler uses this group",
                "Write one User-agent line per name",
                proposal=(subject.edit_value(line, "\nUser-agent: ".join(names)),),
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
        if read not in google or name.lower() in google:
            continue
        if "/" not in name and not name.lower().startswith(f"{read}*"):
            yield Remark(
                subject.value(line),
                f"Google reads {truncate(name)} as {google[read]}: the rules apply to that crawler",
                "Write another name if they should not",
            )

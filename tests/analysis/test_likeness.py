"""Patterns with characters that some readings compare escaped: which are alike on URLs of clients.

All short URLs that clients may send are decided, and compared with what the analysis proves.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator

import pytest

import koster
from koster.analysis import Differences, difference
from tests.helpers.support import EVERYTHING

HEAD = "User-agent: *\n"
PARTS = (
    "a", "b", "/", "*", "*", "*", "+", "@", ":", "&", "=", "?", "%2B", "%40", "%26", "%61",
    " ", "%20", "20", "0", "2", "B", "é", "%C3%A9", "9", "|", "%7C", "$x", "4", "*4", "(", "%28",
)  # fmt: skip
#: RFC 3986 §3.3 and §3.4, besides those that are never escaped.
UNESCAPED = "/?:@!$&'()*+,;="
#: A dialect of each way to read escapes.
DIALECTS = (koster.GOOGLE, koster.GYM2008, koster.MK1996, koster.EXTENDED2)


FILES = 150 if EVERYTHING else 50


def compared(body: str, dialect: koster.Dialect) -> Differences:
    own, other = (koster.parse(body, each).rules_for("x") for each in (koster.RFC9309, dialect))
    return difference(own, other)


@pytest.mark.parametrize(
    "pattern", ["/*a+b", "/*:x", "/*a@b;c(d)!'$,", "/*?a=b&c", "/*a%20b", "/*a*é", "/*Ab", "/*0"]
)
def test_patterns_that_are_compared_alike_decide_alike(pattern: str) -> None:
    body = f"{HEAD}Disallow: {pattern}\nAllow: /*a/much/longer/pattern*than/that\nAllow: /b\n"
    assert compared(body, koster.GOOGLE).are_equal


def test_written_escape_may_be_in_urls() -> None:
    found = compared(f"{HEAD}Disallow: /a+b\nDisallow: /x%2By\n", koster.GOOGLE).found
    assert {each.url for each in found} == {"/a%2Bb", "/x+y"}


@pytest.mark.parametrize("end", ["", "$"])
def test_plain_patterns_in_both_spellings_decide_alike(end: str) -> None:
    body = f"{HEAD}Disallow: /a:b{end}\nDisallow: /a%3Ab{end}\n"
    assert compared(body, koster.GOOGLE).are_equal


def test_only_one_spelling_of_a_plain_pattern_is_decided_differently() -> None:
    body = f"{HEAD}Disallow: /a:b\nDisallow: /x%3Ay\nDisallow: /x:y\n"
    found = compared(body, koster.GOOGLE)
    assert [each.url for each in found.found] == ["/a%3Ab"]
    assert found.is_proved


@pytest.mark.parametrize(
    ("patterns", "url"),
    [
        # A rule with a star decides some URLs that begin with it.
        (["/a:b", "Allow /a%3Ab*x"], "/a:bx"),
        # So many spellings that they are not looked at.
        (["/a:::::b", "/x%3Ay", "/x:y"], "/a::::%3Ab"),
        # A token goes on after the pattern.
        (["/a%3", "/x%3Ay", "/x:y"], "/a%3A"),
        # In a query, `%2F` is not sent.
        (["/a?b:c", "/x%3Ay%2Fz", "/x:y%2Fz"], "/a?b%3Ac"),
    ],
)
def test_plain_patterns_whose_spellings_do_not_tell(patterns: list[str], url: str) -> None:
    rules = (each if " " in each else f"Disallow {each}" for each in patterns)
    body = HEAD + "".join(f"{each.replace(' ', ': ')}\n" for each in rules)
    found = compared(body, koster.GOOGLE)
    assert found.is_proved
    assert url in {each.url for each in found.found}


def test_run_may_begin_inside_an_escape_of_the_file() -> None:
    found = compared(f"{HEAD}Disallow: /*20c\nDisallow: /b%20\n", koster.GOOGLE)
    assert [each.url for each in found.found] == ["/%20c"]


def test_line_ends_are_no_characters_of_urls() -> None:
    assert compared(f"{HEAD}Disallow: /*Ab\nDisallow: /c\n", koster.GOOGLE).are_equal


def _files(seed: int) -> Iterator[str]:
    rng = random.Random(seed)
    for _ in range(FILES):
        rules = (
            f"{rng.choice(('Allow', 'Disallow'))}: /{''.join(rng.choices(PARTS, k=rng.randint(1, 4)))}"
            for _ in range(rng.randint(1, 3))
        )
        yield HEAD + "\n".join(rules) + "\n"


def _urls(body: str, decodes: bool) -> Iterator[str]:
    """Yield short URLs of the characters and the escapes of a file that clients send."""
    patterns = "".join(re.findall(r"llow: (.*)", body))
    escapes = {each for each in re.findall("%[0-9A-F]{2}", patterns) if not _is_letter(each)}
    if decodes:
        # The reading has the characters of others in place of their escapes.
        escapes = {
            each for each in escapes if chr(int(each[1:], 16)) not in UNESCAPED or each == "%26"
        }
    rest = re.sub("%[0-9A-F]{2}", "", patterns)
    tokens = {
        each for each in f"{rest}x/" if (each.isalnum() and each.isascii()) or each in UNESCAPED
    }
    tokens |= {
        f"%{byte:02X}"
        for each in rest
        if not each.isascii() or each in " |"
        for byte in each.encode()
    }
    tokens |= {chr(int(each[1:], 16)) for each in escapes if chr(int(each[1:], 16)) in UNESCAPED}
    for size in range(4):
        for some in itertools.product(sorted(tokens | escapes), repeat=size):
            url = "/" + "".join(some)
            # After a question mark these are not escaped, and nothing is known of /robots.txt.
            if "?" not in url or not re.search("[?].*%(2F|3F)", url):
                yield url


def _is_letter(escape: str) -> bool:
    return chr(int(escape[1:], 16)).isascii() and chr(int(escape[1:], 16)).isalnum()


@pytest.mark.parametrize("dialect", DIALECTS, ids=str)
def test_what_is_proved_holds_for_all_short_urls(dialect: koster.Dialect) -> None:
    proved = 0
    for body in _files(len(str(dialect))):
        own, other = (koster.parse(body, each).rules_for("x") for each in (koster.RFC9309, dialect))
        differences = difference(own, other)
        lines = {
            tuple(decision.rule and decision.rule.line for decision in (each.before, each.after))
            for each in differences.found
        }
        if not differences.is_proved:
            continue
        proved += 1
        for url in _urls(body, dialect not in (koster.GOOGLE, koster.GYM2008)):
            before, after = own.decide(url), other.decide(url)
            if before.allowed != after.allowed:
                found = tuple(decision.rule and decision.rule.line for decision in (before, after))
                assert found in lines, (body, url)
    assert proved > FILES * 2 // 3

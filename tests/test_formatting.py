"""Formatting and minifying files without changing what they mean."""

from __future__ import annotations

import codecs
import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import koster
from koster import _charsets, formatting
from koster._contents import is_readable
from koster.analysis import Budget, count_rules, redundant_rules
from koster.dialects import GOOGLE, RFC9309, Merging
from koster.diff import compare
from koster.model import LineKind
from tests.helpers import strategies
from tests.helpers.owners import parsed, results
from tests.helpers.support import bodies


def test_formatted_layout() -> None:
    body = (
        "\ufeffuser-agent:foo\rDISALLOW :/a# why\r\nsitemap:https://e.com/s\n\n\n\n# Bar\n"
        "User-Agent:  bar\nallow:\nowner: me\n  odd\n\n"
    )
    assert formatting.formatted(body.encode()).decode() == (
        "User-agent: foo\nDisallow: /a  # why\nSitemap: https://e.com/s\n\n# Bar\n"
        "User-agent: bar\nAllow:\nowner: me\nodd\n"
    )


def test_groups_are_separated_by_a_blank_line() -> None:
    body = b"User-agent: a\nDisallow: /\n# b and c\nUser-agent: b\nUser-agent: c\nDisallow: /x\n"
    assert formatting.formatted(body) == body.replace(b"# b", b"\n# b")


def test_minified_file_is_equivalent() -> None:
    body = (
        b"# c\nUser-agent: *\nDisallow: /a\nDisallow: /a/b\nAllow: /c\nFoo: bar\nCrawl-delay: 1\n"
    )
    assert formatting.minified(body) == b"User-agent: *\nDisallow: /a\nCrawl-delay: 1\n"


def test_minified_file_keeps_lines_that_only_google_reads() -> None:
    body = b"User-agent: a\nUser-agent: b\nDisallowed: /x\nDisallowed: /y # why\nFoo: /\n"
    after = b"User-agent: a\nUser-agent: b\nDisallowed: /x\nDisallowed: /y # why\n"
    assert formatting.minified(body) == after
    assert formatting.minified(body, [koster.RFC9309]) == b"User-agent: a\nUser-agent: b\n"


def test_minified_file_keeps_an_empty_group_that_has_an_effect() -> None:
    """Where groups are not merged, the first one of a crawler hides the others."""
    body = b"User-agent: foo\nAllow: /\n\nUser-agent: foo\nDisallow: /a\n"
    first = replace(koster.RFC9309, name="FIRST", merging=Merging.FIRST)
    assert formatting.minified(body) == b"User-agent: foo\nDisallow: /a\n"
    after = b"User-agent: foo\nDisallow:\nUser-agent: foo\nDisallow: /a\n"
    assert formatting.minified(body, [first]) == after


@pytest.mark.parametrize(
    "dialect", [koster.RFC9309, pytest.param(koster.GOOGLE, marks=pytest.mark.thorough)]
)
def test_first_500_kib_stay_equivalent(dialect: koster.Dialect) -> None:
    """Crawlers need not read more, and a shorter file moves rules there."""
    head = b"User-agent: *\nDisallow: /a\n"
    long = head + b"# comment\n" * 60_000 + b"Disallow: /b\n"
    assert formatting.formatted(long, [dialect]) == long
    assert formatting.minified(long.replace(b"/b", b"/a/b"), [dialect]) == head
    with pytest.raises(formatting.NotTheSame, match="the first 500 KiB, which crawlers read"):
        formatting.minified(long, [dialect])


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let crawlers read 5 KB instead of 500 KiB: large files take long."""
    monkeypatch.setattr(formatting, "MAX_BYTES", 5_000)


@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize("few_rules", [0, 200])
def test_minified_large_file_that_is_mostly_comments(
    monkeypatch: pytest.MonkeyPatch, few_rules: int
) -> None:
    """Twice what crawlers read does not fill that part of the new file."""
    monkeypatch.setattr(formatting, "_FEW_RULES", few_rules)
    body = b"User-agent: *\nDisallow: /a\n" + b"# comment\n" * 1_100 + b"Disallow: /a/b\n"
    assert formatting.minified(body) == b"User-agent: *\nDisallow: /a\n"
    with pytest.raises(formatting.NotTheSame, match="the first 500 KiB, which crawlers read"):
        formatting.minified(body + b"Disallow: /c\n")


def test_rules_that_are_repeated_thousands_of_times_are_removed() -> None:
    """Without comparing each with all others."""
    rules = b"Allow: *a\nDisallow: *b\nAllow: *ab\n" * 1_000
    body = b"User-agent: x\n" + rules + b"User-agent: x\nUser-agent: y\n" + rules
    expected = b"User-agent: x\nUser-agent: y\nAllow: *a\nDisallow: *b\nAllow: *ab\n"
    assert len(formatting.minified(body)) < 2 * len(expected)


def test_a_file_with_too_many_rules_of_all_names_together_is_not_minified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(formatting, "_MAX_RULES", 20)
    one = b"User-agent: a\n" + b"".join(b"Disallow: /%d/\n" % each for each in range(30))
    assert formatting.minified(one) == one
    with pytest.raises(formatting.NotTheSame, match="have too many rules together"):
        formatting.minified(one + one.replace(b"a\n", b"b\n").replace(b"/1", b"/x"))


@pytest.mark.usefixtures("small_limit")
def test_a_large_file_is_refused_before_the_search_for_redundant_rules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only its first part is searched."""
    searched: list[int] = []

    def redundant(*sets: koster.Rules, budget: Budget) -> tuple[koster.Rule, ...]:
        searched.extend(map(count_rules, sets))
        return redundant_rules(*sets, budget=budget)

    monkeypatch.setattr(formatting, "redundant_rules", redundant)
    rules = b"".join(b"Disallow: /%d/\n" % number for number in range(1_000))
    body = b"User-agent: *\nDisallow: /1/%b\n" % (b"a" * 100) + rules
    with pytest.raises(formatting.NotTheSame, match="the first 500 KiB, which crawlers read"):
        formatting.minified(body)
    assert 0 < max(searched) < 500


def test_first_500_kib_are_those_that_crawlers_receive() -> None:
    body = b"User-agent: *\nDisallow: /a\n" + b"# comment\n" * 30_000 + b"Disallow: /b\n"
    assert formatting.formatted(body) == body
    with pytest.raises(formatting.NotTheSame, match="the first 500 KiB, which crawlers read"):
        formatting.formatted(body, on_disk=codecs.BOM_UTF16_LE + body.decode().encode("utf-16-le"))


def test_minifying_keeps_a_group_without_rules() -> None:
    body = b"User-agent: foo\nAllow: /\nUser-agent: bar\nDisallow: /\n"
    assert (
        formatting.minified(body) == b"User-agent: foo\nDisallow:\nUser-agent: bar\nDisallow: /\n"
    )


def test_change_of_meaning_in_a_dialect_is_an_error() -> None:
    """In the Extended Standard, a comment starts only after white space."""
    body = b"User-agent: *\nRobot-version: 2.0\nDisallow: /a#b\n"
    formatting.formatted(body)
    with pytest.raises(formatting.NotTheSame, match="EXTENDED2"):
        formatting.formatted(body, [koster.RFC9309, koster.EXTENDED2])


@given(strategies.bodies, st.sampled_from([formatting.formatted, formatting.minified]))
def test_rewritten_files_are_equivalent(body: bytes, write: object) -> None:
    assert callable(write)
    try:
        after = write(body)
    except formatting.NotTheSame:
        return
    for dialect in (koster.RFC9309, koster.GOOGLE):
        assert compare(koster.parse(body, dialect), koster.parse(after, dialect)).is_empty
    assert write(after) == after


@pytest.mark.parametrize("write", [formatting.formatted, formatting.minified])
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("User-agent: *\nDisallow: /private\n".encode("utf-16"), "not in UTF-8"),
        # UTF-16 text whose bytes look like rules.
        (b"\xff\xfe" + b"\nUser-agent: *\nDisallow: /\n", "not in UTF-8"),
        ("User-agent: *\nDisallow: /private\n".encode("utf-16-be"), "no line of the file"),
        (b"<!doctype html>\n<title>404</title>\n", "no line of the file"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "no line of the file"),
        (b"# ours\nplease be nice to us\n", "no line of the file"),
        # Without the blank line, the file would start with a byte order mark.
        (b"\n\xff\xfex\nUser-agent: *\nDisallow: /a\n", "in another charset"),
        (b"\xef\xbb\xbf\n\xef\xbb\xbfUser-agent: *\nAllow: /\n", "with a byte order mark"),
    ],
    ids=range(8),
)
def test_unreadable_files_are_not_rewritten(
    write: Callable[[bytes], bytes], body: bytes, message: str
) -> None:
    if write is formatting.minified and body.startswith((b"\n", b"\xef\xbb\xbf")):
        # Minifying removes the line that starts with the byte order mark.
        assert write(body) in (b"User-agent: *\nDisallow: /a\n", b"Allow: /\n")
        return
    with pytest.raises(formatting.NotTheSame, match=message):
        write(body)


@pytest.mark.parametrize("body", [b"", b"\n \n", b"# we allow everything\n", b"Sitemap: /s\n"])
def test_file_without_rules_is_readable(body: bytes) -> None:
    assert is_readable(body)
    assert formatting.formatted(body) == body.strip() + b"\n" * (body.strip() != b"")


@given(
    st.lists(st.sampled_from(["#", " ", "\t", "\v", "\f", "\r", "\n", "\0", "a", ":", "\ufeff"]))
)
def test_file_is_readable_by_its_lines(parts: list[str]) -> None:
    body = "".join(parts).encode()
    lines = [line for dialect in (RFC9309, GOOGLE) for line in koster.parse(body, dialect).lines]
    kinds = {line.kind for line in lines}
    is_known = any(line.directive for line in lines)
    assert is_readable(body) == (is_known or kinds <= {LineKind.BLANK, LineKind.COMMENT})


def test_rewritten_real_files_are_equivalent(conformance_data: None) -> None:
    """Proved for every crawler, and checked with 200 random URLs each."""
    rng = random.Random(1)
    for name, body in bodies("verdicts.tsv.gz").items():
        robots = parsed(body)
        patterns = [rule.pattern for group in robots.groups for rule in group.rules] or ["/"]
        urls = [random_url(rng, patterns) for _ in range(200)]
        names = ["*", *rng.sample([a for g in robots.groups for a in g.agents] or ["x"], 1)]
        for write in (formatting.formatted, formatting.minified):
            if not is_readable(body) or _charsets.bom_charset(body):
                with pytest.raises(formatting.NotTheSame):
                    write(body)
                continue
            after = parsed(write(body))
            for agent in names:
                before = robots.rules_for(agent).allowed_many(urls)
                assert after.rules_for(agent).allowed_many(urls) == before, name


def random_url(rng: random.Random, patterns: list[str]) -> str:
    """Return a URL similar to one of the patterns."""
    fill = "".join(rng.choice("abx/?&=.1") for _ in range(rng.randrange(4)))
    url = rng.choice(patterns).replace("*", fill).rstrip("$")
    return (url[: rng.randrange(len(url) + 1)] if rng.random() < 0.3 else url) + rng.choice(
        ["", "", fill, rng.choice(patterns)]
    )


def test_rule_that_google_needs_is_not_dead() -> None:
    text = "User-agent: *\nDisallow: /a+\nDisallow: /a%2B\n"
    assert results("no-dead-rules = true\n", text)[0][0]
    assert not results("no-dead-rules = true\ndialect = 'GOOGLE'\n", text + "Disallow: /a+\n")[0][0]
    minified = formatting.minified(text.encode())
    assert compare(*(koster.parse(each, koster.GOOGLE) for each in (text, minified))).is_empty
    assert formatting.minified(text.encode(), [koster.RFC9309]) != minified


def test_minified_file_has_no_redundant_groups() -> None:
    body = b"User-agent: *\nDisallow: /a\n\nUser-agent: foo\nDisallow:\n\nUser-agent: *\nAllow: /\n"
    assert formatting.minified(body) == b"User-agent: *\nDisallow: /a\nUser-agent: foo\n"


def test_file_with_too_many_agents_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formatting, "MAX_AGENTS", 3)
    body = b"User-agent: a\nDisallow: /1\nUser-agent: b\nDisallow: /2\n"
    assert formatting.minified(body) == formatting.formatted(body).replace(b"\n\n", b"\n")
    body += b"User-agent: c\nDisallow: /3\n"
    for action in (formatting.formatted, formatting.minified):
        with pytest.raises(formatting.NotTheSame, match="names more than 3 user agents"):
            action(body)

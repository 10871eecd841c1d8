"""The facade for apetest: every branch of apetest.robots, as its documentation shows it."""

from __future__ import annotations

import logging
from urllib.parse import urlsplit

import pytest

from koster.compat import apetest

LOGGER = logging.getLogger("apetest-test")

Messages = list[tuple[str, str]]


@pytest.fixture
def debug_log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG)
    return caplog


def messages(caplog: pytest.LogCaptureFixture) -> Messages:
    return [(record.levelname, record.getMessage()) for record in caplog.records]


def scan(*lines: str) -> list[apetest.Record]:
    return [list(record) for record in apetest.scan_robots_txt(lines, LOGGER)]


def parse(*lines: str) -> dict[str, apetest.Rules]:
    return apetest.parse_robots_txt(apetest.scan_robots_txt(lines, LOGGER), LOGGER)


# scan_robots_txt


def test_records_are_triples_between_blank_lines(debug_log: pytest.LogCaptureFixture) -> None:
    records = scan(
        "", "User-Agent: *\n", "DISALLOW:  /a  # why", "\n", "   ", "Allow:/b:c", "# comment", "X:"
    )
    assert records == [
        [(2, "user-agent", "*"), (3, "disallow", "/a")],
        [(6, "allow", "/b:c"), (8, "x", "")],
    ]
    assert messages(debug_log) == []


def test_a_comment_does_not_end_a_record() -> None:
    assert scan("a: 1", "  # comment", "b: 2") == [[(1, "a", "1"), (3, "b", "2")]]


def test_a_byte_order_mark_in_the_first_line_is_skipped(
    debug_log: pytest.LogCaptureFixture,
) -> None:
    """ "recommended to support at least UTF-8 both with and without a BOM"."""
    assert parse("\ufeffUser-agent: *", "Disallow: /") == {"*": [(False, "/")]}
    assert scan("\ufeff# comment", "a: 1") == scan("\ufeff", "a: 1") == [[(2, "a", "1")]]
    assert messages(debug_log) == []
    assert scan("a: 1", "\ufeffb: 2") == [[(1, "a", "1"), (2, "\ufeffb", "2")]]


@pytest.mark.parametrize(("prefix", "allowed"), [("/", False), ("/a", True)])
def test_a_url_without_a_path_is_the_root(prefix: str, allowed: bool) -> None:
    path = apetest.unescape_path(urlsplit("https://example.com").path)
    assert apetest.path_allowed(path, [(False, prefix)]) == allowed


def test_empty_input_has_no_records() -> None:
    assert scan() == []
    assert scan("", "# comment", "") == []


def test_white_space_before_a_field_is_warned_about(debug_log: pytest.LogCaptureFixture) -> None:
    assert scan(" a: 1") == [[(1, "a", "1")]]
    assert messages(debug_log) == [("WARNING", "Line 1 has whitespace before field")]


def test_a_line_without_a_colon_is_ignored(debug_log: pytest.LogCaptureFixture) -> None:
    assert scan("a: 1", "Disallow /x", "b # c: d") == [[(1, "a", "1")]]
    assert messages(debug_log) == [
        ("ERROR", 'Line 2 contains no ":"; ignoring line'),
        ("ERROR", 'Line 3 contains no ":"; ignoring line'),
    ]


def test_scan_is_a_generator() -> None:
    records = apetest.scan_robots_txt(iter(["a: 1", "", "b: 2"]), LOGGER)
    assert next(records) == [(1, "a", "1")]


# parse_robots_txt


def test_rules_are_pairs_by_folded_name(debug_log: pytest.LogCaptureFixture) -> None:
    rules = parse("User-agent: FooBot", "User-agent: STRASSE", "Allow: /a", "Disallow: /b%41")
    assert rules == {
        "foobot": [(True, "/a"), (False, "/bA")],
        "strasse": [(True, "/a"), (False, "/bA")],
    }
    assert messages(debug_log) == []


def test_an_agent_after_rules_begins_a_record(debug_log: pytest.LogCaptureFixture) -> None:
    rules = parse("User-agent: a", "Disallow: /a", "User-agent: b", "Disallow: /b")
    assert rules == {"a": [(False, "/a")], "b": [(False, "/b")]}
    assert messages(debug_log) == [
        ("ERROR", "Line 3 specifies user agent after rules; assuming new record")
    ]


def test_repeated_agent_is_ignored(debug_log: pytest.LogCaptureFixture) -> None:
    rules = parse("User-agent: a", "Disallow: /a", "", "User-agent: A", "Disallow: /b")
    assert rules == {"a": [(False, "/a")]}
    assert messages(debug_log) == [(
        "ERROR",
        ('Line 4 specifies user agent "A", which was already addressed in an earlier record; '
        "ignoring new record"),
    )]  # fmt: skip


def test_a_rule_without_an_agent_is_ignored(debug_log: pytest.LogCaptureFixture) -> None:
    assert parse("Disallow: /a", "Allow: /b", "", "User-agent: *") == {"*": []}
    assert messages(debug_log) == [
        ("ERROR", (f"Line {line} specifies {field} rule without a preceding user agent line; "
         "ignoring line")) for line, field in ((1, "disallow"), (2, "allow"))
    ]  # fmt: skip


def test_a_bad_escape_drops_the_rule(debug_log: pytest.LogCaptureFixture) -> None:
    assert parse("User-agent: *", "Disallow: /%4", "Allow: /%zz", "Allow: /ok") == {
        "*": [(True, "/ok")]
    }
    assert messages(debug_log) == [
        ("ERROR", ("Bad escape in disallow URL on line 2: incomplete escape, expected 2 characters "
         'after "%"')),
        ("ERROR", ("Bad escape in allow URL on line 3: incorrect escape: expected 2 hex digits "
         'after "%", got "zz"')),
    ]  # fmt: skip


def test_a_rule_without_a_path_is_ignored(debug_log: pytest.LogCaptureFixture) -> None:
    assert parse("User-agent: *", "Disallow:", "Allow: # all") == {"*": []}
    assert messages(debug_log) == []


def test_unknown_field_is_logged_once(debug_log: pytest.LogCaptureFixture) -> None:
    parse("User-agent: *", "Sitemap: a", "SITEMAP: b", "", "Host: c", "Sitemap: d")
    assert messages(debug_log) == [
        ("INFO", 'Unknown field "sitemap" (line 2)'), ("INFO", 'Unknown field "host" (line 5)')
    ]  # fmt: skip


# unescape_path


@pytest.mark.parametrize(
    ("path", "unescaped"),
    [
        ("", ""), ("/a", "/a"), ("/%41", "/A"), ("%41%42c%43", "ABcC"), ("/a%2Fb%2f", "/a%2fb%2f"),
        ("/caf%C3%A9", "/café"), ("/%E2%82%AC", "/€"), ("/%f0%9f%98%80x", "/😀x"), ("/%25", "/%"),
        ("/%00", "/\0"), ("/%7F", "/\x7f"),
    ],
)  # fmt: skip
def test_unescape_path(path: str, unescaped: str) -> None:
    assert apetest.unescape_path(path) == unescaped


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/%", 'incomplete escape, expected 2 characters after "%"'),
        ("/%4", 'incomplete escape, expected 2 characters after "%"'),
        ("/%4x", 'incorrect escape: expected 2 hex digits after "%", got "4x"'),
        ("/%-1", 'incorrect escape: expected 2 hex digits after "%", got "-1"'),
        ("/%-0", 'incorrect escape: expected 2 hex digits after "%", got "-0"'),
        ("/%80", "invalid percent-encoded UTF8: expected 0xC0..0xF7 for first byte, got 0x80"),
        ("/%BF", "invalid percent-encoded UTF8: expected 0xC0..0xF7 for first byte, got 0xBF"),
        ("/%F8", "invalid percent-encoded UTF8: expected 0xC0..0xF7 for first byte, got 0xF8"),
        ("/%C3", "incomplete escaped UTF8 character, expected 1 more escaped bytes"),
        ("/%C3a", "incomplete escaped UTF8 character, expected 1 more escaped bytes"),
        ("/%E2%82", "incomplete escaped UTF8 character, expected 1 more escaped bytes"),
        ("/%F0a", "incomplete escaped UTF8 character, expected 3 more escaped bytes"),
        ("/%C3%41", ("invalid percent-encoded UTF8: expected 0x80..0xBF for non-first byte, "
         "got 0x41")),
        ("/%C3%4", 'incomplete escape, expected 2 characters after "%"'),
    ],
)  # fmt: skip
def test_invalid_escape_is_a_value_error(path: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole message is compared
        apetest.unescape_path(path)
    assert str(caught.value) == message


def test_overlong_utf8_is_a_unicode_error() -> None:
    with pytest.raises(UnicodeDecodeError):
        apetest.unescape_path("/%C0%80")


# lookup_robots_rules

RULES = {"foobot": [(False, "/a")], "foo": [(False, "/b")], "*": [(False, "/")]}


@pytest.mark.parametrize(
    ("agent", "rules"),
    [("FooBot", "foobot"), ("foo", "foobot"), ("FOOBOT/1", "*"), ("bar", "*"), ("", "foobot")],
)
def test_first_name_that_starts_with_the_agent_is_used(agent: str, rules: str) -> None:
    assert apetest.lookup_robots_rules(RULES, agent) is RULES[rules]


def test_lookup_without_a_star_record_returns_no_rules() -> None:
    assert apetest.lookup_robots_rules({}, "foo") == []


# path_allowed


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/", True), ("/a", False), ("/a/b", True), ("/a/b/c", False), ("/same", False)],
)
def test_the_longest_prefix_decides(path: str, allowed: bool) -> None:
    rules = [(True, "/a/b"), (False, "/a"), (False, "/a/b/c"), (False, "/same"), (True, "/same")]
    assert apetest.path_allowed(path, rules) == allowed


def test_without_rules_everything_is_allowed() -> None:
    assert apetest.path_allowed("/", [])

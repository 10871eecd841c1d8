"""What findings say where it depends on the file: line, message and suggestion."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

import koster
from koster import crawlers
from koster.lint import CHECK_OF, Finding, _names, lint, with_edits

_SIGNAL = "Write search, ai-input or ai-train with =yes or =no"
_SIGNALS = "Use one of search, ai-input, ai-train, use"
_USAGE = "Write train-ai=n or search=y, optionally after a path"
_SITEMAP = "Write https://, the host and the path"
_TOO_MANY = "".join(f"User-agent: a{number}\nCrawl-delay: 1\n" for number in range(201))
_MANY = _TOO_MANY[: _TOO_MANY.index("User-agent: a21\n")]
_JOINED = "Crawl-delay in line 2 does not end the group: the rules below also apply to"

CASES = {
    "B006": [
        ("User\u2010agent: *\nDisallow: /a\n",
         (1, "U+2010 HYPHEN only looks like an ASCII character: crawlers ignore this line", "Write User-agent in ASCII, which applies the rules below to all other crawlers")),
    ],
    "B011": [
        ("{# a\n b #}\nUser-agent: *\nDisallow: /a\n",
         (1, "Template (Jinja, Twig or Liquid): 2 lines with tags were not checked", "Check the rendered file with --render")),
    ],
    "L002": [
        ("User-agent: *\nDisallow: /a\nDisallow\n",
         (3, "Disallow has no colon and no value: crawlers ignore this line", "Write Disallow: with a value, or remove the line")),
    ],
    "L004": [
        ("User-agent: *\nDisallow: /a\n\nUser_agent: x\n",
         (4, 'Unknown directive "User_agent": crawlers ignore this line', "Did you mean User-agent? It then applies the rules below to x")),
    ],
    "L009": [
        ("User-agent: *\nDisallowed: /a\nDisallowed: /b\n",
         (2, 'Google reads "Disallowed" as Disallow; other crawlers ignore the line', "Write Disallow, which blocks /a"),
         (3, 'Google reads "Disallowed" as Disallow; other crawlers ignore the line', "Write Disallow, which blocks /b")),
    ],
    "G003": [
        # The same name twice is one crawler.
        ("User-agent: a\nCrawl-delay: 1\nUser-agent: A\nDisallow: /\n",),
        ("User-agent: a\nCrawl-delay: 1\nUser-agent: b\nDisallow: /*\nAllow: /\n",
         (3, f"{_JOINED} a", "Write an empty Disallow: below line 2 if a should be allowed")),
        ("User-agent: a\nCrawl-delay: 1\nUser-agent: b\nDisallow: /\nAllow: /x\n",
         (3, f"{_JOINED} a", "Repeat the rules below line 2 if that is intended, else write an empty Disallow: there, which allows the site for a")),
        (f"{_MANY}User-agent: b\nDisallow: /\n",
         (43, f"{_JOINED.replace('line 2', 'line 42')} a0, a1 and 19 others", "Write an empty Disallow: below each Crawl-delay if a0, a1 and 19 others should be allowed")),
    ],
    "G011": [
        ("User-agent: Googlebot2\nDisallow: /a\n",
         (1, "Google reads Googlebot2 as Googlebot: the rules apply to that crawler", "Write another name if they should not")),
        ("User-agent: Googlebot/2\nUser-agent: Googlebot*\nUser-agent: Foobot2\nDisallow: /a\n",),
    ],
    "P005": [
        ("User-agent: *\nDisallow: /a User-agent: x\n",
         (2, "Second directive on this line: crawlers read it as part of the path", "Write it on a line of its own, with its rules below")),
    ],
    "M002": [
        # Nobody can fetch anything: that is another finding.
        ("User-agent: *\nDisallow: /\nSitemap: https://e.com/s.xml\n",),
        ("User-agent: *\nDisallow: /s\nSitemap: https://e.com/s.xml\n",
         (3, "Line 2 (Disallow: /s) blocks this sitemap, if it is on this site", "Add Allow: /s.xml, which allows it")),
    ],
    "M003": [
        ("Sitemap: https://[bad/s.xml\nSitemap: https://e.com:0/s\nSitemap: https://e.com:99999/s\n",
         (1, "Invalid sitemap URL: https://[bad/s.xml", _SITEMAP),
         (2, "Invalid sitemap URL: https://e.com:0/s", _SITEMAP),
         (3, "Invalid sitemap URL: https://e.com:99999/s", _SITEMAP)),
        ("Sitemap: \nhttps://e.com/s.xml \nUser-agent: *\nDisallow:\n",
         (1, "Sitemap without a URL", "Move the URL onto the Sitemap line")),
    ],
    "E004": [
        ("User-agent: *\nContent-Signal: ai-train\nContent-Signal: foo=yes, search=maybe, use=\nDisallow:\n",
         (2, 'Invalid Content-Signal "ai-train"', _SIGNAL),
         (3, 'Unknown Content-Signal "foo"', _SIGNALS),
         (3, 'Invalid value "maybe" of search', "Write yes or no"),
         (3, 'Invalid Content-Signal "use="', _SIGNAL)),
    ],
    "E005": [
        ("User-agent: *\nContent-Usage: /x train-ia=n, search=x\nContent-Usage: /a\nContent-Usage: /a ?\nDisallow:\n",
         (2, 'Unknown Content-Usage "train-ia"', "Write train-ai or search in lower case"),
         (2, 'Invalid value "x" of search', "Write y or n"),
         (3, "Content-Usage without a preference", _USAGE),
         (4, 'Invalid Content-Usage "/a ?"', _USAGE)),
    ],
}  # fmt: skip


def found(code: str, body: str, **options: Any) -> list[Finding]:
    return [each for each in lint(body.encode(), **options) if each.code == code]


@pytest.mark.parametrize(
    ("code", "case"),
    [(code, case) for code, cases in CASES.items() for case in cases],  # type: ignore[attr-defined]
)
def test_messages(code: str, case: tuple[Any, ...]) -> None:
    body, *expected = case
    findings = found(code, body)
    assert [(each.line, each.message, each.suggestion) for each in findings] == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("", "Robot-version has no value"),
        ("two", 'Invalid Robot-version "two": it is ignored'),
        ("3.0", "Robot-version 3.0 is not supported: crawlers that read Robot-version skip these rules"),
        ("2.1", "Robot-version 2.1 is experimental (odd minor version): crawlers that read Robot-version skip these rules"),
        ("2.0.1", None),
    ],
)  # fmt: skip
def test_robot_version(value: str, message: str | None) -> None:
    body = f"User-agent: *\nRobot-version: {value}\nDisallow: /a\n"
    findings = found("G008", body, dialect=koster.EXTENDED2)
    assert [each.message for each in findings] == ([] if message is None else [message])


def test_url_below_a_sitemap_line_is_moved() -> None:
    (finding,) = found("M003", "Sitemap: \n  https://e.com/s.xml \nUser-agent: *\n")
    body = b"Sitemap: \n  https://e.com/s.xml \nUser-agent: *\n"
    assert with_edits(body, [Finding(**fields(finding))]) == (
        b"Sitemap: https://e.com/s.xml\nUser-agent: *\n"
    )


def fields(finding: Finding) -> dict[str, Any]:
    """Return the fields of a finding, with what it proposes as its edits."""
    names = ("code", "severity", "line", "column", "end_column", "message", "suggestion")
    return {name: getattr(finding, name) for name in names} | {"edits": finding.proposal}


def test_groups_are_separated_unless_there_are_very_many() -> None:
    for groups, count in ((_MANY, 21), (_TOO_MANY, 0)):
        (finding,) = found("G003", f"{groups}User-agent: b\nDisallow: /\n")
        assert len(finding.proposal) == count


def test_file_that_was_converted_to_utf_8_names_its_charset() -> None:
    (finding,) = found("B004", "User-agent: *\nDisallow: /\u00e9\n", charset="ISO-8859-1")
    assert (finding.line, finding.message) == (
        1, "Served as ISO-8859-1: crawlers that read only UTF-8 see other paths",
    )  # fmt: skip


def test_a_line_is_read_differently_once() -> None:
    body = "User-agent: *\nDisallow: /a\nAllow: /ab\nAllow: /ac\n"
    (finding,) = found("D001", body, dialect=koster.MK1996, dialects=(koster.RFC9309,))
    assert finding.message == (
        "RFC9309 reads this differently: /ab is allowed (line 3) for crawlers without a group, "
        "blocked (line 2) by MK1996"
    )
    assert not found("D001", body, dialect=koster.MK1996, dialects=(koster.MK1996,))


@pytest.fixture
def without_registry() -> Iterator[None]:
    caches = [
        crawlers.known,
        *(each for each in vars(_names).values() if hasattr(each, "cache_clear")),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "ai_crawler_index", None)
        for cache in caches:
            cache.cache_clear()
        yield
    for cache in caches:
        cache.cache_clear()


@pytest.mark.usefixtures("without_registry")
def test_lint_without_the_registry_knows_googlebot() -> None:
    findings = lint(b"User-agent: Googlebot\nCrawl-delay: 1\nDisallow: /a%3Ab\n")
    assert [(each.code, each.line) for each in findings] == [("D001", 3)]
    assert "for Googlebot" in findings[0].message


def test_check_has_a_page() -> None:
    assert CHECK_OF["P001"].docs.endswith("/reference/lint/P001.html")

"""The check of the URLs of sitemaps: lines, crawlers, and files that block a whole site."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import koster
from koster.lint import CHECKS, SitemapUrls, chosen, lint, with_sitemaps
from koster.lint._sitemaps import Comparisons
from tests.helpers.strategies import bodies

URLS = [
    *(f"https://e.com/search/{number}" for number in range(4)),
    *(f"https://e.com/search/deep/{number}" for number in range(2)),
    *(f"https://e.com/blog/{number}" for number in range(3)),
]


def messages(robots: str, *urls: str, dialect: koster.Dialect = koster.RFC9309) -> list[str]:
    counted = SitemapUrls(koster.parse(robots, dialect))
    for url in urls or URLS:
        counted.add([url])
    assert counted.checked == len(urls or URLS)
    checks = with_sitemaps(chosen(["M005"]), counted)
    findings = lint(robots.encode(), dialect, checks)
    return [f"{each.line}: {each.message.partition(', such as')[0]}" for each in findings]


@pytest.mark.parametrize(
    ("robots", "expected"),
    [
        ("User-agent: *\nDisallow: /x\nUser-agent: Foo\nDisallow: /", []),
        ("User-agent: *\nDisallow: /search\nAllow: /search/1", [
            "2: Disallow: /search blocks 5 sitemap URLs for Googlebot, bingbot and other crawlers"
        ]),
        ("User-agent: *\nDisallow: /blog/1", [
            "2: Disallow: /blog/1 blocks 1 sitemap URL for Googlebot, bingbot and other crawlers"
        ]),
        ("User-agent: Googlebot\nDisallow: /blog", [
            "2: Disallow: /blog blocks 3 sitemap URLs for Googlebot"
        ]),
        ("User-agent: bingbot\nUser-agent: Googlebot\nDisallow: /blog", [
            "3: Disallow: /blog blocks 3 sitemap URLs for Googlebot and bingbot"
        ]),
        ("User-agent: *\nDisallow: /blog\nUser-agent: Googlebot\nUser-agent: Bingbot\nAllow: /", [
            "2: Disallow: /blog blocks 3 sitemap URLs for crawlers without a group of their own"
        ]),
        ("User-agent: *\nDisallow: /blog\nUser-agent: Googlebot\nDisallow: /search", [
            "2: Disallow: /blog blocks 3 sitemap URLs for bingbot and other crawlers",
            "4: Disallow: /search blocks 6 sitemap URLs for Googlebot",
        ]),
        # One line, and crawlers with different other groups.
        ("User-agent: Googlebot\nUser-agent: *\nDisallow: /search\nUser-agent: Googlebot\nAllow: /search/deep", [
            "3: Disallow: /search blocks 4 sitemap URLs for Googlebot, 6 for bingbot and other crawlers"
        ]),
    ],
)  # fmt: skip
def test_one_finding_for_each_line(robots: str, expected: list[str]) -> None:
    assert messages(robots) == expected


@pytest.mark.parametrize("pattern", ["/", "/*", "*"])
def test_one_finding_where_the_whole_site_is_blocked(pattern: str) -> None:
    robots = f"User-agent: *\nDisallow: /search\nDisallow: {pattern}\nAllow: /blog/1\n"
    assert messages(robots) == [
        f"3: Disallow: {pattern} blocks 8 sitemap URLs for Googlebot, bingbot and other crawlers"
    ]


def test_dialects_that_read_stars_literally() -> None:
    robots = "User-agent: *\nDisallow: /*\nDisallow: /search\n"
    assert messages(robots, dialect=koster.MK1996) == [
        "3: Disallow: /search blocks 6 sitemap URLs for Googlebot, bingbot and other crawlers"
    ]


def test_urls_are_read_as_browsers_read_them() -> None:
    robots = "User-agent: *\nDisallow: /search\n"
    assert messages(robots, "https://e.com/blog/../search", "https://e.com\\search") == [
        "2: Disallow: /search blocks 2 sitemap URLs for Googlebot, bingbot and other crawlers"
    ]


def test_examples_are_whole_urls() -> None:
    body = b"User-agent: *\nDisallow: /a\n"
    counted = SitemapUrls(koster.parse(body))
    long = "https://e.com/" + "a" * 1000
    counted.add([long])
    (finding,) = lint(body, checks=with_sitemaps(chosen(["M005"]), counted))
    assert finding.url == long
    assert finding.message.endswith(f"such as {long[:200]}")


def test_other_checks_stay() -> None:
    checks = with_sitemaps(CHECKS, SitemapUrls(koster.parse("")))
    assert [each.code for each in checks] == [each.code for each in CHECKS]
    assert lint(b"User-agent: *\nDisallow: x", checks=checks) == lint(b"User-agent: *\nDisallow: x")


@given(bodies, st.lists(st.text(max_size=20), max_size=5))
def test_any_file_and_urls(body: bytes, urls: list[str]) -> None:
    robots = koster.parse(body)
    counted = SitemapUrls(robots)
    counted.add(urls)
    findings = lint(body, checks=with_sitemaps(chosen(["M005"]), counted))
    for each in findings:
        assert robots.lines[each.line - 1].directive is koster.Directive.DISALLOW


def test_files_and_crawlers_share_the_comparisons_and_what_is_left_out_is_said() -> None:
    robots = koster.parse("User-agent: bingbot\nDisallow: /*a\nUser-agent: *\nDisallow: /blog")
    # Each byte counts for the rule with a star, and as 16 others for both of these groups.
    comparisons = Comparisons(2 * len("".join(URLS)) * (17 + 16) + 1)
    first, second = (SitemapUrls(robots, comparisons=comparisons) for _ in range(2))
    for counted in (first, second, second):
        counted.add(URLS)
    assert [(each.checked, each.left_out) for each in (first, second)] == [
        (len(URLS), 0),
        (len(URLS), len(URLS)),
    ]
    second.add(["https://e.com/"])  # None of those after them, either: that would depend on chance.
    found = lint(robots.body, checks=with_sitemaps(CHECKS, second))
    assert [each.message for each in found if each.code == "Z004"] == [
        "Not checked completely: 10 sitemap URLs would take too long"
    ]
    assert "M005" in {each.code for each in found}
    assert "Z004" not in {
        each.code for each in lint(robots.body, checks=with_sitemaps(CHECKS, first))
    }


def test_rules_that_an_index_finds_take_nothing() -> None:
    plain = "".join(f"Disallow: /{number}\n" for number in range(50_000))
    comparisons = Comparisons()
    SitemapUrls(koster.parse(f"User-agent: *\n{plain}"), comparisons=comparisons).add(URLS)
    assert Comparisons().left - comparisons.left == 16 * len("".join(URLS))

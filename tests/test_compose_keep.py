"""compose --keep: what an existing file says stays in force."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

import koster
from koster import crawlers
from koster.analysis import EVERYBODY
from koster.compose import Composed, Intentions, compose
from koster.crawlers import Obeys, Purpose
from tests.helpers.owners import parsed
from tests.helpers.support import bodies, sampled

CLOSED = Intentions(closed=("/x/",))


def opened(composed: Composed) -> list[tuple[str, str]]:
    """Return an agent and a URL for each URL that is allowed now, and was not."""
    assert composed.changes.is_proved
    return [
        (change.agents[0], each.url)
        for change in composed.changes.changes
        for each in change.differences.found
        if each.is_opened
    ]


def group_of(composed: Composed, name: str) -> list[str]:
    """Return the lines of the last group that names a crawler, without its names."""
    lines = composed.body.decode().split("\n")
    at = max(number for number, line in enumerate(lines) if line == f"User-agent: {name}")
    group = lines[at : lines.index("", at)]
    return [line for line in group if not line.startswith("User-agent: ")]


def assert_closes_only(body: bytes) -> None:
    """Check what `--keep FILE --close /x/` changes, for all known crawlers and an unknown one."""
    composed = compose(CLOSED, body)
    assert opened(composed) == []
    assert not composed.changes.settings
    for change in composed.changes.changes:
        assert not change.settings, change.agents
        for each in change.differences.found:
            assert each.url.startswith("/x/"), change.agents
    robots = parsed(composed.body)
    for name in ("NoBot", "Googlebot", "AdsBot-Google", "AdsBot-Google-Mobile-Apps"):
        assert not robots.allowed("/x/", name) or composed.left_open, name


@pytest.mark.usefixtures("conformance_data")
@pytest.mark.parametrize("name", ["verdicts.tsv.gz", "modern-verdicts.tsv.gz"])
def test_closing_a_path_of_real_files_never_allows_anything(name: str) -> None:
    files = sampled(sorted(bodies(name).items()), 2)
    assert files
    for _, body in files:
        assert_closes_only(body)


_LINES = st.sampled_from([
    "User-agent: *", "User-agent: *", "User-agent: Googlebot", "User-agent: AdsBot-Google",
    "User-agent: FooBot", "Disallow: /", "Disallow: /a", "Disallow: */", "Disallow:", "Allow: /x/y",
    "Allow: /*y", "Allow: /a/b", "Disallow: /x", "Crawl-delay: 5", "Content-Signal: ai-train=no",
    "Request-rate: 1/5s", "Sitemap: https://e.com/s", "Host: e.com", "Noindex: /n", "", "# c", "x",
])  # fmt: skip


@given(st.lists(_LINES, max_size=14))
def test_closing_a_path_never_allows_anything(lines: list[str]) -> None:
    assert_closes_only("\n".join(lines).encode())


@pytest.mark.parametrize(
    "keep",
    [
        "User-agent: *\nDisallow: /a/\n",
        "User-agent: *\nDisallow: /a/\nAllow: /a/b\nCrawl-delay: 5",
        "User-agent: *\nDisallow: /\n",
        "User-agent: *\nAllow: /$\nDisallow: /\n",
        "User-agent: *\nSitemap: https://e.com/s\nUser-agent: X\nDisallow: /\n",
        "User-agent: *\nSitemap: https://e.com/s\nUser-agent: X\nDisallow: /a\n",
        "User-agent: *\nDisallow: /a\n\nUser-agent: X\n",
        "User-agent: *\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\nCrawl-delay: 2\n",
        "User-agent: *\nDisallow: /\n\nUser-agent: *\nAllow: /x/y\n",
        "User-agent: AdsBot-Google\nDisallow: /b\n\nUser-agent: *\nAllow: /b\n",
        "User-agent: Googlebot\nDisallow: /b\n\nUser-agent: *\nAllow: /\n",
        "Disallow: /a\nUser-agent: X\nDisallow: /b\n",
        "User-agent: *\nDisallow: /a\nContent-Signal: ai-train=no\nContent-Usage: /b train-ai=n\n",
        "User-agent: *\nDisallow: /a\nRequest-rate: 1/5s\nVisit-time: 0100-0200\n",
        "User-agent: *\nDisallow: /\nAllow: /a\u00a0\nAllow: /b\x1c\n",
        "Sitemap: https://e.com/s\n",
        "# nothing\n",
        "",
    ],
)
def test_closing_a_path_changes_nothing_else(keep: str) -> None:
    for body in (keep, keep.replace("\n", "\r\n"), "\ufeff" + keep, keep.rstrip("\n")):
        assert_closes_only(body.encode())


def test_crawlers_that_ignore_the_star_group_get_its_rules() -> None:
    keep = (
        b"User-agent: *\nDisallow: /a/\nAllow: /a/b\nCrawl-delay: 5\nContent-Signal: search=yes\n"
    )
    composed = compose(CLOSED, keep)
    assert group_of(composed, "AdsBot-Google") == [
        "Disallow: /a/",
        "Allow: /a/b",
        "Disallow: /x/",
        "Crawl-delay: 5",
        "Content-Signal: search=yes",
    ]
    robots = parsed(composed.body)
    for each in crawlers.known():
        assert not robots.allowed("/a/", each.token), each
    # Also if they fall back to a crawler with a group.
    keep = b"User-agent: AdsBot-Google\nDisallow: /b\n\nUser-agent: *\nDisallow: /a/\n"
    robots = parsed(compose(CLOSED, keep).body)
    for name, path in (("AdsBot-Google", "/b"), ("Mediapartners-Google", "/a/")):
        assert not robots.allowed(path, name)
    names = [each.tokens for each in crawlers.known() if each.obeys is Obeys.OWN_GROUPS]
    assert ("AdsBot-Google-Mobile-Apps", "AdsBot-Google") in names
    assert not robots.allowed("/b", ("AdsBot-Google-Mobile-Apps", "AdsBot-Google"))


def test_allowed_crawlers_keep_the_rules_and_the_delay_that_they_had() -> None:
    keep = (
        b"User-agent: *\nDisallow: /\nDisallow: /admin/\nCrawl-delay: 5\n\n"
        b"User-agent: GPTBot\nDisallow: /\nDisallow: /gpt/\nCrawl-delay: 9\n"
    )
    intentions = Intentions(names={"FooBot": "allow", "GPTBot": "allow"})
    composed = compose(intentions, keep)
    assert group_of(composed, "FooBot") == ["Disallow: /admin/", "Crawl-delay: 5"]
    assert group_of(composed, "GPTBot") == [
        "Disallow: /gpt/",
        "Disallow: /admin/",
        "Crawl-delay: 9",
    ]
    wanted = dataclasses.replace(intentions, delay=2)
    assert group_of(compose(wanted, keep), "GPTBot")[-1] == "Crawl-delay: 2"
    # So do all other crawlers.
    robots = parsed(compose(Intentions(others="allow"), keep).body)
    assert robots.allowed("/", "NoBot")
    assert not robots.allowed("/admin/", "NoBot")
    assert robots.rules_for("NoBot").crawl_delay == 5


def test_a_crawler_is_what_its_author_wants_beside_the_one_it_falls_back_to() -> None:
    image = ("Googlebot-Image", "Googlebot")
    names = {"Googlebot": "disallow", "Googlebot-Image": "allow"}
    robots = parsed(compose(Intentions(names=names)).body)
    assert not robots.allowed("/", "Googlebot")
    assert robots.allowed("/", image)
    names = {"Googlebot": "allow", "Googlebot-Image": "disallow"}
    robots = parsed(compose(Intentions(names=names), b"User-agent: Googlebot\nDisallow: /\n").body)
    assert robots.allowed("/", "Googlebot")
    assert not robots.allowed("/", image)
    # It keeps the group that it falls back to if that is right.
    keep = b"User-agent: Googlebot\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n"
    robots = parsed(compose(Intentions(purposes={Purpose.SEARCH: "allow"}), keep).body)
    assert robots.rules_for("Googlebot-Image").is_named is False
    assert not robots.allowed("/a", image)


@pytest.mark.parametrize("blocking", ["/", "*", "*/", "/*$", "*/*"])
def test_a_site_is_blocked_by_each_pattern_that_matches_all(blocking: str) -> None:
    keep = f"User-agent: *\nDisallow: {blocking}\nDisallow: /a/\n".encode()
    robots = parsed(compose(Intentions(names={"FooBot": "allow"}), keep).body)
    assert robots.allowed("/", "FooBot")
    assert not robots.allowed("/a/", "FooBot")
    assert not robots.allowed("/", "NoBot")


def test_new_lines_stand_above_the_sitemaps_at_the_end() -> None:
    keep = b"User-agent: *\nDisallow: /a\n# end of a\n\n# Our sitemap\nSitemap: https://e.com/s\n# end\n"
    intentions = dataclasses.replace(CLOSED, purposes={Purpose.ARCHIVE: "disallow"})
    text = compose(intentions, keep).body.decode()
    assert text.startswith("User-agent: *\nDisallow: /a\nDisallow: /x/\n# end of a\n\n# Archive")
    assert text.endswith("\n\n# Our sitemap\nSitemap: https://e.com/s\n# end\n")
    # Without a blank line, comments are about the sitemaps.
    keep = b"User-agent: *\nDisallow: /a\n# Our sitemap\nSitemap: https://e.com/s"
    text = compose(CLOSED, keep).body.decode()
    assert text.startswith("User-agent: *\nDisallow: /a\nDisallow: /x/\n\n# These")
    assert text.endswith("\n\n# Our sitemap\nSitemap: https://e.com/s\n")
    # Within the file, too.
    keep = b"User-agent: *\nDisallow: /a\nSitemap: https://e.com/s\n\nUser-agent: X\nAllow: /\n"
    text = compose(CLOSED, keep).body.decode()
    assert text.startswith("User-agent: *\nDisallow: /a\nDisallow: /x/\nSitemap: https://e.com/s\n")


def test_line_ends_stay() -> None:
    keep = b"User-agent: *\r\nDisallow: /a\r\n\r\nSitemap: https://e.com/s\r\n"
    body = compose(CLOSED, keep).body
    assert body.count(b"\n") == body.count(b"\r\n")
    assert b"\r" not in compose(CLOSED, b"User-agent: *\r\nDisallow: /a\n").body


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        ("Content-Signal: ai-train=yes\n\nUser-agent: *\nDisallow: /a\n", "no"),
        ("User-agent: *\nDisallow: /\n", "no"),
        ("User-agent: *\nContent-Signal: ai-train=yes, search=yes\nDisallow: /\n", "no"),
        ("User-agent: *\nContent-Signal: search=yes\nDisallow: /a\n", "no"),
    ],
)
@pytest.mark.parametrize("others", [None, "allow", "disallow"])
def test_signals_are_written_whatever_the_file_says(
    keep: str, expected: str, others: str | None
) -> None:
    intentions = Intentions(others=others, signals=("ai-train=no",))
    composed = compose(intentions, keep.encode())
    preferences = parsed(composed.body).rules_for("NoBot").preferences
    assert [each.value for each in preferences if each.key == "ai-train"] == [expected]
    assert ("search=yes" in composed.body.decode()) == ("search=yes" in keep)


def test_lines_of_a_removed_name_reach_no_other_group() -> None:
    keep = (
        b"User-agent: Bar\nDisallow: /b\n\n"
        b"User-agent: GPTBot\nContent-Signal: ai-train=no\nUser-agent: Foo\nDisallow: /\n"
    )
    robots = parsed(compose(Intentions(names={"GPTBot": "allow"}), keep).body)
    assert not robots.rules_for("Bar").preferences
    assert not robots.rules_for("Foo").preferences
    assert robots.rules_for("GPTBot").preferences


def test_changes_name_no_crawler_that_keeps_its_access() -> None:
    composed = compose(CLOSED, b"User-agent: *\nDisallow: /a/\n")
    (change, *more) = composed.changes.changes
    assert EVERYBODY in change.agents
    for each in (change, *more):
        assert [found.url for found in each.differences.found] == ["/x/"]


def test_lines_of_cloudflare_stay_as_they_are() -> None:
    managed = "# BEGIN Cloudflare Managed content\nUser-agent: *\nAllow: /\n\nUser-agent: GPTBot\nDisallow: /\n# END Cloudflare Managed Content\n"
    composed = compose(Intentions(closed=("/x/",)), managed.encode()).body.decode()
    assert composed.startswith(managed)
    assert not koster.parse(composed).allowed("/x/", "FooBot")


def test_crawlers_that_ignore_a_blocked_star_group_are_not_blocked() -> None:
    """They may fetch the site today: closing a path must not block them from all of it."""
    body = b"User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nAllow: /\n"
    composed = compose(Intentions(closed=("/x/",)), body).body.decode()
    assert "AdsBot-Google" not in composed
    assert "Disallow: /x/" in composed

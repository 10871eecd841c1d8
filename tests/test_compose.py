"""Files from what their authors want."""

from __future__ import annotations

import dataclasses

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from owners import parsed

from koster import compose, crawlers, formatting
from koster.analysis import EVERYBODY, Extent, classify
from koster.crawlers import Purpose


def test_intentions_become_a_file() -> None:
    wanted = compose.Intentions(
        purposes={Purpose.TRAINING: "disallow", Purpose.SEARCH: "allow"},
        closed=("/cart/",),
        sitemaps=("https://e.com/s.xml",),
        signals=("ai-train=no",),
        delay=5,
    )
    made = compose.compose(wanted)
    robots = parsed(made.body)
    assert not robots.allowed("/", "GPTBot")
    assert robots.allowed("/", "Googlebot")
    for name in ("Googlebot", "AdsBot-Google", "FooBot"):
        assert not robots.allowed("/cart/x", name), name
    assert robots.sitemaps == ("https://e.com/s.xml",)
    assert robots.rules_for("FooBot").crawl_delay == 5
    assert robots.rules_for("FooBot").preferences


def test_who_may_is_named_where_everybody_may_not() -> None:
    wanted = compose.Intentions(
        purposes={Purpose.SEARCH: "allow"}, others="disallow", closed=("/x",)
    )
    robots = parsed(compose.compose(wanted).body)
    assert robots.allowed("/", "Googlebot")
    assert not robots.allowed("/x", "Googlebot")
    assert not robots.allowed("/", "GPTBot")
    assert not robots.allowed("/", "FooBot")


def test_a_robot_that_has_what_is_wanted_keeps_its_group() -> None:
    keep = (
        b"# BEGIN managed\nUser-agent: *\nContent-Signal: search=yes,ai-train=no\nAllow: /\n\n"
        b"User-agent: GPTBot\nDisallow: /\n# END managed\n\nUser-agent: *\nDisallow: /lists\nCrawl-delay: 3\n"
    )
    wanted = compose.Intentions(
        purposes={Purpose.TRAINING: "disallow"}, delay=5, signals=("ai-train=yes", "ai-input=no")
    )
    text = compose.compose(wanted, keep).body.decode()
    managed, _, after = text.partition("# END managed")
    assert managed == (
        "# BEGIN managed\nUser-agent: *\nContent-Signal: search=yes, ai-train=yes\nAllow: /\n"
        "Content-Signal: ai-input=no\n\nUser-agent: GPTBot\nDisallow: /\n"
    )
    assert after.startswith("\n\nUser-agent: *\nDisallow: /lists\nCrawl-delay: 5\n\n# Training")
    assert "GPTBot" not in after


def test_a_group_that_may_has_a_rule_before_its_delay() -> None:
    wanted = compose.Intentions(purposes={Purpose.SEARCH: "allow"}, others="disallow", delay=7)
    robots = parsed(compose.compose(wanted).body)
    assert robots.allowed("/", "bingbot")
    assert robots.rules_for("bingbot").crawl_delay == 7
    assert not robots.allowed("/", "FooBot")


def test_single_crawlers_and_paths_are_opened_and_closed() -> None:
    wanted = compose.Intentions(
        purposes={Purpose.TRAINING: "disallow"},
        names={"GPTBot": "allow", "FooBot": "disallow"},
        closed=("/cart/",),
        opened=("/cart/help",),
    )
    robots = parsed(compose.compose(wanted, b"User-agent: Bar\nDisallow: /cart/help\n").body)
    assert robots.allowed("/", "GPTBot")
    assert not robots.allowed("/", "FooBot")
    assert not robots.allowed("/", "ClaudeBot")
    for name in ("Bar", "Baz", "GPTBot", "AdsBot-Google"):
        assert robots.allowed("/cart/help", name), name
        assert not robots.allowed("/cart/x", name), name


def test_a_mark_of_the_beginning_is_text_elsewhere() -> None:
    keep = "\ufeffUser-agent: *\nDisallow: /x\n\ufeffDisallow: /\n".encode()
    made = compose.compose(compose.Intentions(sitemaps=("https://e.com/s",)), keep).body
    assert parsed(made).allowed("/y", "x")
    assert "\n\ufeffDisallow: /\n" in made.decode()
    assert parsed(formatting.formatted(keep)).allowed("/y", "x")
    assert formatting.formatted(formatting.formatted(keep)) == formatting.formatted(keep)


def test_comments_that_are_not_about_a_group_stay_when_it_goes() -> None:
    keep = (
        b"# Copyright ACME\n# contact x\n\n# robots that train\nUser-agent: GPTBot\nDisallow: /x\n"
    )
    made = compose.compose(compose.Intentions(purposes={Purpose.TRAINING: "disallow"}), keep)
    assert made.body.startswith(b"# Copyright ACME\n# contact x\n\n# Training")


@pytest.mark.parametrize(
    ("closed", "allow"),
    [("/cart/", "/cart/public"), ("/", "/*"), ("/a*b", "/aab"), ("/*.pdf$", "/x*.pdf$")],
)
def test_no_exception_from_a_closed_path_is_kept(closed: str, allow: str) -> None:
    keep = f"User-agent: *\nAllow: {allow}\n".encode()
    made = compose.compose(compose.Intentions(closed=(closed,)), keep)
    assert not [rule for rule in parsed(made.body).groups[0].rules if rule.allow]
    assert not made.left_open


def test_what_was_said_to_those_that_go_goes_with_them() -> None:
    keep = (
        b"User-agent: GPTBot\nContent-Signal: ai-train=no\n# note\nUser-agent: Foo\nDisallow: /a\n"
    )
    wanted = compose.Intentions(purposes={Purpose.TRAINING: "disallow"})
    robots = parsed(compose.compose(wanted, keep).body)
    assert not robots.preferences
    assert not robots.rules_for("Foo").preferences
    assert not robots.allowed("/a", "Foo")


def test_what_allows_more_than_a_closed_path_stays_and_is_told() -> None:
    keep = b"User-agent: *\nAllow: /*.css$\nDisallow: /x\n\nUser-agent: Foo\nUser-agent: *\nDisallow: /y\n"
    made = compose.compose(compose.Intentions(closed=("/cart/",)), keep)
    (decision,) = made.left_open
    assert str(decision.rule) == "Allow: /*.css$"
    assert decision.url.startswith("/cart/")
    robots = parsed(made.body)
    assert robots.allowed("/a.css", "x")
    for name in ("x", "Foo", "AdsBot-Google"):
        assert not robots.allowed("/cart/a", name)
    both = compose.Intentions(purposes={Purpose.TRAINING: "allow"}, closed=("/cart/",))
    assert not parsed(compose.compose(both).body).allowed("/cart/", "YandexAdditional")


def test_what_is_kept_stays() -> None:
    keep = (
        b"# ours\nUser-agent: GPTBot\nUser-agent: FooBot\nAllow: /foo # yes\nDisallow: /\n\n"
        b"# everybody\nUser-agent: *\nDisallow: /private\nSitemap: https://e.com/s.xml\n"
    )
    made = compose.compose(compose.Intentions(purposes={Purpose.TRAINING: "disallow"}), keep)
    text = made.body.decode()
    robots = parsed(made.body)
    for line in ("# ours", "User-agent: FooBot", "Allow: /foo # yes", "# everybody"):
        assert line in text
    assert text.count("GPTBot") == 1
    assert not robots.allowed("/foo", "GPTBot")
    assert robots.allowed("/foo", "FooBot")
    assert not robots.allowed("/private", "x")
    assert robots.sitemaps == ("https://e.com/s.xml",)
    changed = {agent for change in made.changes.changes for agent in change.agents}
    assert "GPTBot" in changed
    assert "FooBot" not in changed
    assert EVERYBODY not in changed


def test_closed_paths_are_closed_to_everybody_who_is_kept() -> None:
    keep = (
        b"User-agent: FooBot\nAllow: /cart/\nDisallow: /x\n\n"
        b"User-agent: *\nAllow: /cart/help\nCrawl-delay: 9\n"
    )
    wanted = compose.Intentions(closed=("/cart/",), delay=2, signals=("ai-train=no",))
    robots = parsed(compose.compose(wanted, keep).body)
    for name in ("FooBot", "Googlebot", "AdsBot-Google", "x"):
        assert not robots.allowed("/cart/", name), name
        assert not robots.allowed("/cart/help", name), name
    opened = dataclasses.replace(wanted, opened=("/cart/help",))
    assert parsed(compose.compose(opened, keep).body).allowed("/cart/help", "x")
    assert not robots.allowed("/x", "FooBot")
    assert robots.rules_for("x").crawl_delay == 2
    assert len([group for group in robots.groups if "*" in group.agents]) == 1


def test_a_last_group_without_rules_is_not_glued_to_what_follows() -> None:
    for keep in (
        b"User-agent: *\nSitemap: https://e.com/s\n",
        b"User-agent: Foo\nCrawl-delay: 3\n",
    ):
        made = compose.compose(compose.Intentions(purposes={Purpose.ARCHIVE: "disallow"}), keep)
        robots = parsed(made.body)
        assert robots.allowed("/", "Googlebot")
        assert robots.allowed("/", "Foo")
        assert not robots.allowed("/", "archive.org_bot")


def test_what_belongs_to_the_file_stays_when_its_group_goes() -> None:
    keep = b"User-agent: GPTBot\nDisallow: /secret\n\nSitemap: https://e.com/s\nHost: e.com\n"
    wanted = compose.Intentions(
        purposes={Purpose.TRAINING: "disallow"}, sitemaps=("https://e.com/s",)
    )
    robots = parsed(compose.compose(wanted, keep).body)
    assert robots.sitemaps == ("https://e.com/s",)
    assert robots.hosts == ("e.com",)


def test_names_with_versions_and_stars_are_those_of_the_robot() -> None:
    for name in ("GPTBot/1.1", "gptbot*"):
        keep = f"User-agent: {name}\nAllow: /\n".encode()
        made = compose.compose(compose.Intentions(purposes={Purpose.TRAINING: "disallow"}), keep)
        assert not parsed(made.body).allowed("/", "GPTBot")


def test_what_may_does_so_without_losing_what_is_closed_to_it() -> None:
    wanted = compose.Intentions(purposes={Purpose.SEARCH: "allow"})
    made = compose.compose(wanted, b"User-agent: Googlebot\nDisallow: /private\n")
    assert not parsed(made.body).allowed("/private", "Googlebot")
    made = compose.compose(wanted, b"User-agent: Googlebot\nDisallow: /\n")
    assert parsed(made.body).allowed("/x", "Googlebot")
    made = compose.compose(wanted, b"User-agent: *\nAllow: /$\nDisallow: /\n")
    assert parsed(made.body).allowed("/x", "Googlebot")
    assert not parsed(made.body).allowed("/x", "FooBot")


def test_others_who_may_not_are_all_others() -> None:
    robots = parsed(compose.compose(compose.Intentions(others="disallow")).body)
    for name in ("FooBot", "AdsBot-Google", "Googlebot"):
        assert not robots.allowed("/", name)


_wanted = st.sampled_from(["allow", "disallow"])


@given(
    keep=strategies.files,
    purposes=st.dictionaries(
        st.sampled_from([Purpose.SEARCH, Purpose.TRAINING, Purpose.ADS]), _wanted, max_size=2
    ),
    names=st.dictionaries(st.sampled_from(["FooBot", "GPTBot"]), _wanted, max_size=2),
    others=st.none() | _wanted,
    closed=st.sampled_from([(), ("/cart/",)]),
    delay=st.sampled_from([None, 7]),
)
def test_what_is_wanted_holds(
    keep: bytes,
    purposes: dict[Purpose, str],
    names: dict[str, str],
    others: str | None,
    closed: tuple[str, ...],
    delay: float | None,
) -> None:
    """Whatever the file was, and for every robot of which something is wanted."""
    wanted = compose.Intentions(purposes, names, others, closed, delay=delay)
    made = compose.compose(wanted, keep)
    robots = parsed(made.body)
    said = {
        each.token: want
        for each in crawlers.known()
        for p, want in purposes.items()
        if each.purpose is p
    }
    for name, want in {**said, **names}.items():
        extent = classify(robots.rules_for(name)).extent
        assert extent is Extent.ALL if want == "disallow" else extent is not Extent.ALL, name
    if others == "disallow":
        assert classify(robots.rules_for("NoBot")).extent is Extent.ALL
    elif others == "allow":
        assert classify(robots.rules_for("NoBot")).extent is not Extent.ALL
    if closed:
        for name in ("NoBot", *names, *said, "AdsBot-Google"):
            assert not robots.allowed("/cart/", name) or made.left_open, name
        for each in made.left_open:
            assert each.allowed
            assert each.url.startswith("/cart/")
            assert robots.allowed(each.url, each.agent)
    if delay and others == "allow":
        assert robots.rules_for("NoBot").crawl_delay == delay

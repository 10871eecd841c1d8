"""compose: writing a robots.txt from intentions, also on top of an existing file."""

from __future__ import annotations

import dataclasses
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import koster
from koster import compose, crawlers, formatting
from koster.analysis import EVERYBODY, Extent, classify
from koster.compose import _closed
from koster.crawlers import Purpose
from koster.lint import Severity, lint
from tests.helpers import strategies
from tests.helpers.owners import parsed


def test_compose_writes_all_intentions() -> None:
    intentions = compose.Intentions(
        purposes={Purpose.TRAINING: "disallow", Purpose.SEARCH: "allow"},
        closed=("/cart/",),
        sitemaps=("https://e.com/s.xml",),
        signals=("ai-train=no",),
        delay=5,
    )
    composed = compose.compose(intentions)
    robots = parsed(composed.body)
    assert not robots.allowed("/", "GPTBot")
    assert robots.allowed("/", "Googlebot")
    for name in ("Googlebot", "AdsBot-Google", "FooBot"):
        assert not robots.allowed("/cart/x", name), name
    assert robots.sitemaps == ("https://e.com/s.xml",)
    assert robots.rules_for("FooBot").crawl_delay == 5
    assert robots.rules_for("FooBot").preferences


def test_allowed_crawlers_get_a_group_when_others_are_disallowed() -> None:
    intentions = compose.Intentions(
        purposes={Purpose.SEARCH: "allow"}, others="disallow", closed=("/x",)
    )
    robots = parsed(compose.compose(intentions).body)
    assert robots.allowed("/", "Googlebot")
    assert not robots.allowed("/x", "Googlebot")
    assert not robots.allowed("/", "GPTBot")
    assert not robots.allowed("/", "FooBot")


def test_crawlers_of_one_group_move_together() -> None:
    keep = b"User-agent: GPTBot\nUser-agent: CCBot\nUser-agent: Foo\nDisallow: /x\n"
    names = {"GPTBot": "disallow", "CCBot": "disallow"}
    robots = parsed(compose.compose(compose.Intentions(names=names), keep).body)
    assert [group.agents for group in robots.groups] == [("Foo",), ("GPTBot", "CCBot")]


def test_group_that_already_matches_is_unchanged() -> None:
    keep = (
        b"# BEGIN managed\nUser-agent: *\nContent-Signal: search=yes,ai-train=no\nAllow: /\n\n"
        b"User-agent: GPTBot\nDisallow: /\n# END managed\n\nUser-agent: *\nDisallow: /lists\nCrawl-delay: 3\n"
    )
    intentions = compose.Intentions(
        purposes={Purpose.TRAINING: "disallow"}, delay=5, signals=("ai-train=yes", "ai-input=no")
    )
    text = compose.compose(intentions, keep).body.decode()
    managed, _, after = text.partition("# END managed")
    assert managed == (
        "# BEGIN managed\nUser-agent: *\nContent-Signal: search=yes, ai-train=yes\nAllow: /\n"
        "Content-Signal: ai-input=no\n\nUser-agent: GPTBot\nDisallow: /\n"
    )
    assert after.startswith("\n\nUser-agent: *\nDisallow: /lists\nCrawl-delay: 5\n\n# Training")
    assert "GPTBot" not in after


def test_allowed_group_has_a_rule_before_its_delay() -> None:
    intentions = compose.Intentions(purposes={Purpose.SEARCH: "allow"}, others="disallow", delay=7)
    robots = parsed(compose.compose(intentions).body)
    assert robots.allowed("/", "bingbot")
    assert robots.rules_for("bingbot").crawl_delay == 7
    assert not robots.allowed("/", "FooBot")


def test_single_crawlers_and_paths_can_be_allowed_and_disallowed() -> None:
    intentions = compose.Intentions(
        purposes={Purpose.TRAINING: "disallow"},
        names={"GPTBot": "allow", "FooBot": "disallow"},
        closed=("/cart/",),
        opened=("/cart/help",),
    )
    robots = parsed(compose.compose(intentions, b"User-agent: Bar\nDisallow: /cart/help\n").body)
    assert robots.allowed("/", "GPTBot")
    assert not robots.allowed("/", "FooBot")
    assert not robots.allowed("/", "ClaudeBot")
    for name in ("Bar", "Baz", "GPTBot", "AdsBot-Google"):
        assert robots.allowed("/cart/help", name), name
        assert not robots.allowed("/cart/x", name), name


def test_byte_order_mark_inside_the_file_is_text() -> None:
    keep = "\ufeffUser-agent: *\nDisallow: /x\n\ufeffDisallow: /\n".encode()
    composed = compose.compose(compose.Intentions(sitemaps=("https://e.com/s",)), keep).body
    assert parsed(composed).allowed("/y", "x")
    assert "\n\ufeffDisallow: /\n" in composed.decode()
    assert parsed(formatting.formatted(keep)).allowed("/y", "x")
    assert formatting.formatted(formatting.formatted(keep)) == formatting.formatted(keep)


def test_comments_not_about_a_removed_group_stay() -> None:
    keep = (
        b"# Copyright ACME\n# contact x\n\n# robots that train\nUser-agent: GPTBot\nDisallow: /x\n"
    )
    composed = compose.compose(compose.Intentions(purposes={Purpose.TRAINING: "disallow"}), keep)
    assert composed.body.startswith(b"# Copyright ACME\n# contact x\n\n# Training")


@pytest.mark.parametrize(
    ("closed", "allow"),
    [("/cart/", "/cart/public"), ("/", "/*"), ("/a*b", "/aab"), ("/*.pdf$", "/x*.pdf$")],
)
def test_exceptions_inside_a_closed_path_are_removed(closed: str, allow: str) -> None:
    keep = f"User-agent: *\nAllow: {allow}\n".encode()
    composed = compose.compose(compose.Intentions(closed=(closed,)), keep)
    assert not [rule for rule in parsed(composed.body).groups[0].rules if rule.allow]
    assert not composed.left_open


def test_exceptions_of_several_groups_are_searched_for_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_closed, "_MAX_SEARCHED", 1)
    keep = b"User-agent: *\nAllow: /aab\n\nUser-agent: Foo\nAllow: /aab\n"
    composed = compose.compose(compose.Intentions(closed=("/a*b",)), keep)
    assert b"/aab" not in composed.body


def test_directives_of_a_removed_agent_are_removed() -> None:
    keep = (
        b"User-agent: GPTBot\nContent-Signal: ai-train=no\n# note\nUser-agent: Foo\nDisallow: /a\n"
    )
    intentions = compose.Intentions(purposes={Purpose.TRAINING: "disallow"})
    robots = parsed(compose.compose(intentions, keep).body)
    assert not robots.preferences
    assert not robots.rules_for("Foo").preferences
    assert not robots.allowed("/a", "Foo")


def test_broader_allow_rule_stays_and_is_reported() -> None:
    keep = b"User-agent: *\nAllow: /*.css$\nDisallow: /x\n\nUser-agent: Foo\nUser-agent: *\nDisallow: /y\n"
    composed = compose.compose(compose.Intentions(closed=("/cart/",)), keep)
    (decision,) = composed.left_open
    assert str(decision.rule) == "Allow: /*.css$"
    assert decision.url.startswith("/cart/")
    robots = parsed(composed.body)
    assert robots.allowed("/a.css", "x")
    for name in ("x", "Foo", "AdsBot-Google"):
        assert not robots.allowed("/cart/a", name)
    both = compose.Intentions(purposes={Purpose.TRAINING: "allow"}, closed=("/cart/",))
    assert not parsed(compose.compose(both).body).allowed("/cart/", "YandexAdditional")


_PATTERNS = st.sampled_from(
    [
        "/", "/cart", "/cart/", "/cart/x", "/CART/x", "/ca", "/c%61rt/x", "/cart*", "*cart",
        "/cart$", "/cart/x$", "/robots.txt", "/robots", "//cart", "/other", "cart", "/~x",
        "/cart/\u00e9",
    ]
)  # fmt: skip


@given(_PATTERNS, _PATTERNS, st.booleans())
def test_rules_contradict_without_a_search_as_with_one(
    pattern: str, path: str, is_allow: bool
) -> None:
    contradictions = _closed.Contradictions([path], [path])
    directive = "Allow" if is_allow else "Disallow"
    (line,) = koster.parse(f"{directive}: {pattern}\n").lines
    assert contradictions.has(line.directive, line.value) == (
        contradictions._is_within(pattern, path)
        and contradictions._makes_exception(pattern, path, is_allow)
    )


def test_of_too_many_rules_some_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    keep = "".join(f"User-agent: a{each}\nAllow: /*{each}.html\n" for each in range(9)).encode()
    intentions = compose.Intentions(closed=("/cart/",))
    composed = compose.compose(intentions, keep)
    assert composed.found_all
    assert len(composed.left_open) == 9
    monkeypatch.setattr(_closed, "_MAX_SEARCHED", 3)
    composed = compose.compose(intentions, keep)
    assert not composed.found_all
    assert 1 < len(composed.left_open) < 9
    monkeypatch.undo()
    monkeypatch.setattr(_closed, "_MAX_STEPS", 3)
    composed = compose.compose(intentions, keep)
    assert not composed.found_all
    monkeypatch.undo()
    monkeypatch.setattr(_closed, "_MAX_RULES", 0)
    composed = compose.compose(intentions, keep)
    assert not composed.found_all
    assert not composed.left_open
    monkeypatch.undo()
    # Nothing to look at.
    monkeypatch.setattr(_closed, "_MAX_SEARCHED", -1)
    assert compose.compose(compose.Intentions(others="allow"), keep).found_all


def test_broader_allow_rule_is_reported_for_a_single_closed_url() -> None:
    keep = b"User-agent: *\nAllow: /***cart$\n"
    composed = compose.compose(compose.Intentions(closed=("/cart$",)), keep)
    (decision,) = composed.left_open
    assert (decision.url, str(decision.rule)) == ("/cart", "Allow: /***cart$")


def test_new_rules_stand_above_the_comments_at_the_end_of_a_group() -> None:
    keep = b"User-agent: *\nDisallow: /a\n# end of a\n\n# end\n"
    composed = compose.compose(compose.Intentions(closed=("/cart/",)), keep)
    text = "User-agent: *\nDisallow: /a\nDisallow: /cart/\n# end of a\n\n# end\n"
    assert composed.body.decode().startswith(text)


def test_signal_that_is_already_set_is_unchanged() -> None:
    keep = b"User-agent: *\nContent-Signal: AI-train = no,search=yes\nAllow: /\n"
    composed = compose.compose(compose.Intentions(signals=("ai-train=no",)), keep)
    assert composed.body == keep


def test_unrelated_parts_of_the_file_are_kept() -> None:
    keep = (
        b"# ours\nUser-agent: GPTBot\nUser-agent: FooBot\nAllow: /foo # yes\nDisallow: /\n\n"
        b"# everybody\nUser-agent: *\nDisallow: /private\nSitemap: https://e.com/s.xml\n"
    )
    composed = compose.compose(compose.Intentions(purposes={Purpose.TRAINING: "disallow"}), keep)
    text = composed.body.decode()
    robots = parsed(composed.body)
    for line in ("# ours", "User-agent: FooBot", "Allow: /foo # yes", "# everybody"):
        assert line in text
    assert text.count("GPTBot") == 1
    assert not robots.allowed("/foo", "GPTBot")
    assert robots.allowed("/foo", "FooBot")
    assert not robots.allowed("/private", "x")
    assert robots.sitemaps == ("https://e.com/s.xml",)
    changed = {agent for change in composed.changes.changes for agent in change.agents}
    assert "GPTBot" in changed
    assert "FooBot" not in changed
    assert EVERYBODY not in changed


def test_closed_paths_apply_to_all_kept_groups() -> None:
    keep = (
        b"User-agent: FooBot\nAllow: /cart/\nDisallow: /x\n\n"
        b"User-agent: *\nAllow: /cart/help\nCrawl-delay: 9\n"
    )
    intentions = compose.Intentions(closed=("/cart/",), delay=2, signals=("ai-train=no",))
    robots = parsed(compose.compose(intentions, keep).body)
    for name in ("FooBot", "Googlebot", "AdsBot-Google", "x"):
        assert not robots.allowed("/cart/", name), name
        assert not robots.allowed("/cart/help", name), name
    opened = dataclasses.replace(intentions, opened=("/cart/help",))
    assert parsed(compose.compose(opened, keep).body).allowed("/cart/help", "x")
    assert not robots.allowed("/x", "FooBot")
    assert robots.rules_for("x").crawl_delay == 2
    assert len([group for group in robots.groups if "*" in group.agents]) == 1


def test_last_group_without_rules_is_not_merged_with_new_groups() -> None:
    for keep in (
        b"User-agent: *\nSitemap: https://e.com/s\n",
        b"User-agent: Foo\nCrawl-delay: 3\n",
    ):
        composed = compose.compose(compose.Intentions(purposes={Purpose.ARCHIVE: "disallow"}), keep)
        robots = parsed(composed.body)
        assert robots.allowed("/", "Googlebot")
        assert robots.allowed("/", "Foo")
        assert not robots.allowed("/", "archive.org_bot")


def test_file_directives_stay_when_their_group_is_removed() -> None:
    keep = b"User-agent: GPTBot\nDisallow: /secret\n\nSitemap: https://e.com/s\nHost: e.com\n"
    intentions = compose.Intentions(
        purposes={Purpose.TRAINING: "disallow"}, sitemaps=("https://e.com/s",)
    )
    robots = parsed(compose.compose(intentions, keep).body)
    assert robots.sitemaps == ("https://e.com/s",)
    assert robots.hosts == ("e.com",)


def test_names_with_versions_and_stars_match_their_crawler() -> None:
    for name in ("GPTBot/1.1", "gptbot*"):
        keep = f"User-agent: {name}\nAllow: /\n".encode()
        composed = compose.compose(
            compose.Intentions(purposes={Purpose.TRAINING: "disallow"}), keep
        )
        assert not parsed(composed.body).allowed("/", "GPTBot")


def test_allowing_a_crawler_keeps_its_disallowed_paths() -> None:
    intentions = compose.Intentions(purposes={Purpose.SEARCH: "allow"})
    composed = compose.compose(intentions, b"User-agent: Googlebot\nDisallow: /private\n")
    assert not parsed(composed.body).allowed("/private", "Googlebot")
    composed = compose.compose(intentions, b"User-agent: Googlebot\nDisallow: /\n")
    assert parsed(composed.body).allowed("/x", "Googlebot")
    composed = compose.compose(intentions, b"User-agent: *\nAllow: /$\nDisallow: /\n")
    assert parsed(composed.body).allowed("/x", "Googlebot")
    assert not parsed(composed.body).allowed("/x", "FooBot")


def test_disallowing_others_covers_all_other_crawlers() -> None:
    robots = parsed(compose.compose(compose.Intentions(others="disallow")).body)
    for name in ("FooBot", "AdsBot-Google", "Googlebot"):
        assert not robots.allowed("/", name)


_verdicts = st.sampled_from(["allow", "disallow"])


@given(
    keep=strategies.files,
    purposes=st.dictionaries(
        st.sampled_from([Purpose.SEARCH, Purpose.TRAINING, Purpose.ADS]), _verdicts, max_size=2
    ),
    names=st.dictionaries(st.sampled_from(["FooBot", "GPTBot"]), _verdicts, max_size=2),
    others=st.none() | _verdicts,
    closed=st.sampled_from([(), ("/cart/",)]),
    delay=st.sampled_from([None, 7]),
)
def test_composed_file_fulfills_the_intentions(
    keep: bytes,
    purposes: dict[Purpose, str],
    names: dict[str, str],
    others: str | None,
    closed: tuple[str, ...],
    delay: float | None,
) -> None:
    """This holds for any existing file and every crawler in the intentions."""
    intentions = compose.Intentions(purposes, names, others, closed, delay=delay)
    composed = compose.compose(intentions, keep)
    robots = parsed(composed.body)
    by_purpose = {
        each.token: verdict
        for each in crawlers.known()
        for p, verdict in purposes.items()
        if each.purpose is p
    }
    for name, verdict in {**by_purpose, **names}.items():
        extent = classify(robots.rules_for(name)).extent
        assert extent is Extent.ALL if verdict == "disallow" else extent is not Extent.ALL, name
    if others == "disallow":
        assert classify(robots.rules_for("NoBot")).extent is Extent.ALL
    elif others == "allow":
        assert classify(robots.rules_for("NoBot")).extent is not Extent.ALL
    if closed:
        for name in ("NoBot", *names, *by_purpose, "AdsBot-Google"):
            assert not robots.allowed("/cart/", name) or composed.left_open, name
        for each in composed.left_open:
            assert each.allowed
            assert each.url.startswith("/cart/")
            assert robots.allowed(each.url, each.agent)
    if delay and others == "allow":
        assert robots.rules_for("NoBot").crawl_delay == delay


@cache
def preset(*names: str) -> koster.RobotsTxt:
    return koster.parse(compose.compose(compose.intentions_of(names)).body)


def test_no_ai_training_blocks_training_and_data_sets_and_nothing_else() -> None:
    robots = preset("no-ai-training")
    for name in ("GPTBot", "ClaudeBot", "CCBot", "AI2Bot", "img2dataset", "Diffbot"):
        assert not robots.allowed("/", name), name
    collecting = {Purpose.TRAINING, Purpose.DATASET}
    for each in crawlers.known():
        blocked = not robots.allowed("/", each.token)
        if each.purpose in collecting:
            assert blocked, each
        elif not collecting & set(each.purposes):
            assert not blocked, each
    for name in ("Googlebot", "bingbot", "Applebot", "OAI-SearchBot", "Claude-SearchBot"):
        assert robots.allowed("/", name), name
    (preference,) = robots.rules_for("*").preferences
    assert (preference.key, preference.value) == ("ai-train", "no")


def test_block_ai_also_blocks_ai_search_and_user_requests() -> None:
    robots = preset("block-ai")
    for each in crawlers.known():
        if each.purpose in (Purpose.AI_SEARCH, Purpose.USER_FETCH, Purpose.TRAINING):
            assert not robots.allowed("/", each.token), each
    for name in ("Googlebot", "bingbot", "Applebot", "DuckDuckBot", "Twitterbot"):
        assert robots.allowed("/", name), name


def test_allow_all_and_staging_are_opposites() -> None:
    allowing, staging = preset("allow-all"), preset("staging")
    for each in crawlers.known():
        assert allowing.allowed("/", each.token)
        assert not staging.allowed("/", each.token)


@pytest.mark.parametrize(
    ("name", "allowed", "blocked"),
    [
        ("wordpress", "/wp-admin/admin-ajax.php", "/wp-admin/options.php"),
        ("wordpress", "/wp-includes/js/jquery/jquery.js", "/wp-admin/"),
        ("shopify", "/collections/tea", "/collections/tea+green"),
        ("shopify", "/products/tea", "/checkout/1"),
        ("magento", "/static/frontend/site.css", "/checkout/cart/"),
        ("magento", "/catalog/product/view/id/1", "/a?SID=1"),
        ("django", "/static/admin/css/base.css", "/admin/login/"),
        ("nextjs", "/_next/static/chunks/main.js", "/api/cart"),
        ("nextjs", "/api/og?title=a", "/api/"),
        ("mediawiki", "/w/load.php?modules=site", "/w/index.php?title=A&action=edit"),
        ("mediawiki", "/wiki/Special:Search", "/w/index.php?title=A&oldid=1"),
        ("mediawiki", "/w/images/a.png", "/w/index.php?search=a"),
        ("discourse", "/assets/application.js", "/search?q=a"),
        ("discourse", "/t/a/1", "/t/a/1?page=2&api_key=b"),
        ("drupal", "/core/misc/drupal.js", "/user/login?destination=/"),
        ("drupal", "/node/1", "/index.php/node/add/page"),
        ("drupal", "/sites/default/files/css/a.css", "/en/media/oembed?url=a"),
        ("joomla", "/media/templates/site/a.css", "/administrator/index.php"),
        ("joomla", "/modules/mod_a/a.css", "/api/index.php/v1/users"),
        ("ghost", "/assets/built/screen.css", "/ghost/api/content/posts/"),
        ("ghost", "/rss/", "/r/1234"),
        ("prestashop", "/modules/a/a.css", "/index.php?controller=order-detail"),
        ("prestashop", "/2-home", "/2-home?page=2&order=price.asc"),
    ],
)
def test_presets_of_platforms(name: str, allowed: str, blocked: str) -> None:
    robots = preset(name)
    for crawler in ("Googlebot", "AdsBot-Google", "FooBot"):
        assert robots.allowed(allowed, crawler)
        assert not robots.allowed(blocked, crawler)


def test_presets_are_clean_and_combine() -> None:
    names = [each.name for each in compose.PRESETS]
    assert len(set(names)) == len(names)
    for name in names:
        body = compose.compose(compose.intentions_of([name])).body
        found = [each for each in lint(body) if each.severity is not Severity.NOTE]
        assert [each.code for each in found] == (["S006"] if name == "staging" else [])
        assert "S009" not in {each.code for each in lint(body)}, "a rule is redundant"
    robots = preset("wordpress", "no-ai-training")
    assert not robots.allowed("/", "GPTBot")
    assert robots.allowed("/", "Googlebot")
    assert not robots.allowed("/wp-admin/", "Googlebot")
    # What comes later takes precedence.
    assert compose.intentions_of(["staging", "allow-all"]).others == compose.ALLOW

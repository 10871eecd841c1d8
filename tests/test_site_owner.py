"""Comparing, auditing, testing, writing and composing: what they say is so."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from support import bodies

import koster
from koster import compose, crawlers, expectations, formatting
from koster.analysis import EVERYBODY, Extent, classify
from koster.audit import audit
from koster.crawlers import Obeys, Purpose
from koster.diff import compare
from koster.reports.audit import Audited, as_page


def parsed(body: str | bytes) -> koster.RobotsTxt:
    return koster.parse(body)


# diff


def test_a_comparison_names_whom_it_is_about() -> None:
    old = parsed("User-agent: Foo\nDisallow: /a\nUser-agent: *\nDisallow: /b\n")
    new = parsed("User-agent: Foo\nDisallow: /a\nUser-agent: *\nDisallow: /b\nDisallow: /c\n")
    comparison = compare(old, new, ["Googlebot", "Foo"])
    (change,) = comparison.changes
    assert change.agents == (EVERYBODY, "Googlebot")
    (found,) = change.differences.found
    assert (found.url, found.is_opened, found.after.rule and found.after.rule.line) == (
        "/c",
        False,
        5,
    )
    assert not comparison.decides_alike
    assert comparison.is_proved


def test_what_is_said_besides_rules_is_compared() -> None:
    old = parsed("User-agent: *\nCrawl-delay: 5\nDisallow:\nSitemap: https://e.com/a\n")
    new = parsed(
        "User-agent: *\nContent-Signal: ai-train=no\nRequest-rate: 1/10 0600-0800\nDisallow:\n"
        "Visit-time: 0600-0800\nSitemap: https://e.com/b\nLicense: https://e.com/l\n"
    )
    comparison = compare(old, new)
    assert comparison.decides_alike
    assert not comparison.is_empty
    (change,) = comparison.changes
    assert [each.name for each in change.settings] == [
        *("Crawl-delay", "Request-rate", "Visit-time", "preferences"),
    ]
    assert [each.name for each in comparison.settings] == ["Sitemap", "License"]


def test_a_robot_that_gets_a_group_of_its_own_is_told_apart() -> None:
    old = parsed("User-agent: *\nDisallow: /a\n")
    new = parsed("User-agent: *\nDisallow: /a\nUser-agent: Foo\nDisallow: /b\n")
    (change,) = compare(old, new).changes
    assert change.agents == ("Foo",)
    assert {each.url: each.is_opened for each in change.differences.found} == {
        "/a": True,
        "/b": False,
    }


@given(strategies.bodies)
def test_a_file_is_like_itself(body: bytes) -> None:
    assert compare(parsed(body), parsed(body)).is_empty


@given(
    strategies.files, strategies.files, st.lists(strategies.paths, max_size=20), strategies.names
)
def test_what_is_not_named_does_not_change(
    one: bytes, other: bytes, paths: list[str], name: str
) -> None:
    """Where no change is named for a robot, every path is decided alike."""
    old, new = parsed(one), parsed(other)
    comparison = compare(old, new, [name])
    # A file may spell the name in other letters.
    changed = {agent.lower() for change in comparison.changes for agent in change.agents}
    for path in paths:
        if name.lower() not in changed:
            assert old.allowed(path, name) == new.allowed(path, name)
    for change in comparison.changes:
        for found in change.differences.found:
            for agent in change.agents:
                assert old.allowed(found.url, agent) != new.allowed(found.url, agent)


def test_real_files_are_like_themselves(conformance_data: None) -> None:
    for name, body in bodies("verdicts.tsv.gz").items():
        assert compare(parsed(body), parsed(body)).is_empty, name


@pytest.mark.parametrize(
    "name", ["FooBot*", "FooBot/1.0", "Foo Bot", "Mozilla/5.0 (x; Foo/1)", "A2Bot"]
)
@pytest.mark.parametrize("dialect", ["RFC9309", "GOOGLE"])
def test_a_group_is_reached_however_its_robot_is_written(name: str, dialect: str) -> None:
    old, new = (
        koster.parse(f"User-agent: {name}\nDisallow: {path}\n", koster.DIALECTS[dialect])
        for path in ("/", "/x")
    )
    assert not compare(old, new).decides_alike


def test_a_word_that_several_groups_share_is_asked_about() -> None:
    old = parsed("User-agent: So web\nDisallow: /a\nUser-agent: So inst\nAllow: /a\nDisallow: /b\n")
    new = parsed("User-agent: So web\nDisallow: /a\nUser-agent: So inst\nDisallow: /b\n")
    assert not compare(old, new).decides_alike
    assert b"Allow: /a" in formatting.minified(old.body)


def test_what_is_said_between_two_names_is_for_the_first() -> None:
    one = parsed("User-agent: A\nCrawl-delay: 30\nUser-agent: B\nDisallow: /x\n")
    both = parsed("User-agent: A\nUser-agent: B\nCrawl-delay: 30\nDisallow: /x\n")
    (change,) = compare(one, both).changes
    assert change.agents == ("B",)
    assert change.settings[0].after == ("30 s",)
    kept = compose.compose(
        compose.Intentions(sitemaps=("https://e.com/s",)),
        b"User-agent: A\nCrawl-delay: 30\nUser-agent: B\nDisallow: /x\n",
    )
    assert not kept.changes.changes
    assert parsed(kept.body).rules_for("B").crawl_delay is None


@pytest.mark.parametrize("dialect", ["MK1994", "MK1996", "GYM2008", "EXTENDED2", "EXTENDED2_1996"])
@pytest.mark.parametrize("name", ["FooBot/1.0", "Mozilla/5.0 (compatible; FooBot/1.0)", "foo/"])
def test_the_older_standards_compare_names_as_they_are_written(dialect: str, name: str) -> None:
    old, new = (
        koster.parse(text, koster.DIALECTS[dialect])
        for text in (f"User-agent: {name}\nDisallow: /\n", "")
    )
    assert not compare(old, new).decides_alike


def test_too_many_names_are_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("koster.analysis._files._MAX_NAME_COMPARISONS", 1_000)
    body = "".join(f"User-agent: foo {number}\n" for number in range(30)) + "Disallow: /\n"
    comparison = compare(parsed(body), parsed(body + "Disallow: /a\n"))
    assert not comparison.is_whole
    assert not comparison.decides_alike


def test_a_robot_with_two_names_is_asked_about() -> None:
    """To the old standards the first group of which the name is a part of the robot's counts."""
    foo, bar = "User-agent: foo\nDisallow: /a\n\n", "User-agent: bar\nDisallow: /b\n\n"
    for name in ("MK1994", "MK1996", "GYM2008"):
        old, new = (koster.parse(each, koster.DIALECTS[name]) for each in (foo + bar, bar + foo))
        (change,) = compare(old, new).changes
        assert change.agents == ("foo bar",)
        assert {each.url for each in change.differences.found} == {"/a", "/b"}
    assert compare(parsed(foo + bar), parsed(bar + foo)).is_empty


def test_readings_are_not_compared_on_robots_txt_itself() -> None:
    """To some dialects ``%3F`` is ``?``, so that the escaped path looks like the file's own."""
    from koster.analysis import difference

    body = "User-agent: *\nDisallow: /\nAllow: /a%3F\n"
    for one in koster.DIALECTS.values():
        for other in koster.DIALECTS.values():
            found = difference(*(koster.parse(body, each).rules_for("x") for each in (one, other)))
            assert found.is_proved


def test_bytes_that_are_no_text_are_compared() -> None:
    for other in (b"/b", b"/\xff", b"/\xc3*x"):
        old = koster.parse(b"User-agent: *\nDisallow: /\xff\n", koster.MK1994)
        compare(old, koster.parse(b"User-agent: *\nDisallow: " + other, koster.MK1994))


# layout


def test_the_usual_layout() -> None:
    body = (
        "\ufeffuser-agent:foo\rDISALLOW :/a# why\r\nsitemap:https://e.com/s\n\n\n\n# Bar\n"
        "User-Agent:  bar\nallow:\nowner: me\n  odd\n\n"
    )
    assert formatting.formatted(body.encode()).decode() == (
        "User-agent: foo\nDisallow: /a  # why\nSitemap: https://e.com/s\n\n# Bar\n"
        "User-agent: bar\nAllow:\nowner: me\nodd\n"
    )


def test_groups_get_a_blank_line() -> None:
    body = b"User-agent: a\nDisallow: /\n# b and c\nUser-agent: b\nUser-agent: c\nDisallow: /x\n"
    assert formatting.formatted(body) == body.replace(b"# b", b"\n# b")


def test_a_short_file_says_the_same() -> None:
    body = (
        b"# c\nUser-agent: *\nDisallow: /a\nDisallow: /a/b\nAllow: /c\nFoo: bar\nCrawl-delay: 1\n"
    )
    assert formatting.minified(body) == b"User-agent: *\nDisallow: /a\nCrawl-delay: 1\n"


def test_a_group_without_rules_stays_one() -> None:
    body = b"User-agent: foo\nAllow: /\nUser-agent: bar\nDisallow: /\n"
    assert (
        formatting.minified(body) == b"User-agent: foo\nDisallow:\nUser-agent: bar\nDisallow: /\n"
    )


def test_what_would_change_a_dialect_is_not_written() -> None:
    """To the Extended Standard a comment begins after white space alone."""
    body = b"User-agent: *\nRobot-version: 2.0\nDisallow: /a#b\n"
    formatting.formatted(body)
    with pytest.raises(formatting.NotTheSame, match="EXTENDED2"):
        formatting.formatted(body, [koster.RFC9309, koster.EXTENDED2])


@given(strategies.bodies, st.sampled_from([formatting.formatted, formatting.minified]))
def test_what_is_written_again_says_the_same(body: bytes, write: object) -> None:
    assert callable(write)
    try:
        after = write(body)
    except formatting.NotTheSame:
        return
    assert compare(parsed(body), parsed(after)).is_empty
    assert write(after) == after


@pytest.mark.parametrize("write", [formatting.formatted, formatting.minified])
@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("User-agent: *\nDisallow: /private\n".encode("utf-16"), "not in UTF-8"),
        # What is text in UTF-16 may be rules as bytes.
        (b"\xff\xfe" + b"\nUser-agent: *\nDisallow: /\n", "not in UTF-8"),
        ("User-agent: *\nDisallow: /private\n".encode("utf-16-be"), "no line of the file"),
        (b"<!doctype html>\n<title>404</title>\n", "no line of the file"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "no line of the file"),
        (b"# ours\nplease be nice to us\n", "no line of the file"),
        # Without the blank line the file would begin with a byte order mark.
        (b"\n\xff\xfex\nUser-agent: *\nDisallow: /a\n", "in another charset"),
    ],
    ids=range(7),
)
def test_what_cannot_be_read_is_not_written_again(
    write: Callable[[bytes], bytes], body: bytes, why: str
) -> None:
    if write is formatting.minified and b"x\nUser" in body:
        # The line that begins so says nothing, and goes.
        assert write(body) == b"User-agent: *\nDisallow: /a\n"
        return
    with pytest.raises(formatting.NotTheSame, match=why):
        write(body)


@pytest.mark.parametrize("body", [b"", b"\n \n", b"# we allow everything\n", b"Sitemap: /s\n"])
def test_a_file_without_rules_can_be_read(body: bytes) -> None:
    assert formatting.is_readable(body)
    assert formatting.formatted(body) == body.strip() + b"\n" * (body.strip() != b"")


def test_real_files_written_again_decide_the_same(conformance_data: None) -> None:
    """Proved for every robot, and tried with 200 random URLs each."""
    rng = random.Random(1)
    for name, body in bodies("verdicts.tsv.gz").items():
        robots = parsed(body)
        pieces = [rule.pattern for group in robots.groups for rule in group.rules] or ["/"]
        urls = [made_up(rng, pieces) for _ in range(200)]
        names = ["*", *rng.sample([a for g in robots.groups for a in g.agents] or ["x"], 1)]
        for write in (formatting.formatted, formatting.minified):
            if not formatting.is_readable(body):
                with pytest.raises(formatting.NotTheSame):
                    write(body)
                continue
            after = parsed(write(body))
            for agent in names:
                before = robots.rules_for(agent).allowed_many(urls)
                assert after.rules_for(agent).allowed_many(urls) == before, name


def made_up(rng: random.Random, patterns: list[str]) -> str:
    """A URL that patterns have to do with."""
    fill = "".join(rng.choice("abx/?&=.1") for _ in range(rng.randrange(4)))
    url = rng.choice(patterns).replace("*", fill).rstrip("$")
    return (url[: rng.randrange(len(url) + 1)] if rng.random() < 0.3 else url) + rng.choice(
        ["", "", fill, rng.choice(patterns)]
    )


# expectations


def results(text: str, robots: str, other: str = "") -> list[tuple[bool, str, int | None]]:
    found = expectations.check(expectations.read(text), parsed(robots), parsed(other))
    return [(each.passed, each.why, each.line) for each in found]


def test_expectations_are_held_against_a_file() -> None:
    text = '[[expect]]\nagent = ["Foo", "Bar"]\nallow = "/a"\ndisallow = ["/b", "/c"]\n'
    found = results(text, "User-agent: *\nDisallow: /b\nUser-agent: Foo\nDisallow: /\n")
    assert [passed for passed, _, _ in found] == [False, True, True, True, True, False]
    assert found[0] == (False, "it is blocked (line 4: Disallow: /)", 4)
    assert found[5] == (False, "it is allowed (no rule)", None)


def test_crawlers_are_expected_by_their_purpose() -> None:
    found = results(
        '[[expect]]\nagent = "@ai-search"\ndisallow = "/"\n', "User-agent: *\nDisallow: /\n"
    )
    assert len(found) == len(crawlers.of_purposes([Purpose.AI_SEARCH])) > 5
    assert all(passed for passed, _, _ in found)


def test_what_google_needs_is_no_dead_rule() -> None:
    text = "User-agent: *\nDisallow: /a+\nDisallow: /a%2B\n"
    assert results("no-dead-rules = true\n", text)[0][0]
    assert not results("no-dead-rules = true\ndialect = 'GOOGLE'\n", text + "Disallow: /a+\n")[0][0]
    short = formatting.minified(text.encode())
    assert compare(*(koster.parse(each, koster.GOOGLE) for each in (text, short))).is_empty
    assert formatting.minified(text.encode(), [koster.RFC9309]) != short


def test_a_short_file_has_no_idle_groups() -> None:
    body = b"User-agent: *\nDisallow: /a\n\nUser-agent: foo\nDisallow:\n\nUser-agent: *\nAllow: /\n"
    assert formatting.minified(body) == b"User-agent: *\nDisallow: /a\nUser-agent: foo\n"


def test_a_file_must_decide_as_another() -> None:
    text = 'same-as = "old.txt"\n'
    assert results(text, "User-agent: *\nDisallow: /a*\n", "User-agent: *\nDisallow: /a\n")[0][0]
    (found,) = results(text, "User-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow: /b\n")
    assert not found[0]
    assert "/a" in found[1] or "/b" in found[1]


def test_rules_must_decide_something() -> None:
    text = "no-dead-rules = true\n"
    assert results(text, "User-agent: *\nDisallow: /a\nDisallow:\n")[0][0]
    (found,) = results(text, "User-agent: *\nDisallow: /a\nDisallow: /a\n")
    assert found == (
        False,
        "line 3 has no effect for * (Disallow: /a): overridden by line 2",
        3,
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[[expect]\n", "invalid TOML"),
        ("", "no expectations"),
        ("robot = 'x'\n", "'robot'"),
        ("[[expect]]\nagent = 'x'\n", "needs allow or disallow"),
        ("[[expect]]\nallow = 1\n", "allow must be"),
        ("[[expect]]\nallows = '/'\n", "'allows'"),
        ("dialect = 'x'\n", "unknown dialect"),
        ("no-dead-rules = 'yes'\n", "true or false"),
        ("expect = 'x'\n", "tables"),
        ("expect = ['x']\n", "tables"),
        ("[[expect]]\nallow = 'www.example.com/a'\n", "invalid path or URL"),
        ("[[expect]]\nallow = ''\n", "invalid path or URL"),
        (
            "[[expect]]\nagent = '@robots'\nallow = '/'\n",
            "unknown purpose '@robots': valid purposes are @search",
        ),
        ("[[expect]]\nagent = ''\nallow = '/'\n", "must not be empty"),
    ],
)
def test_wrong_expectations_are_told(text: str, why: str) -> None:
    with pytest.raises(expectations.ExpectationsError, match=why):
        expectations.read(text)


# agents, audit, compose


def test_the_registry_is_sound() -> None:
    known = crawlers.known()
    assert len({each.token.lower() for each in known}) == len(known) > 150
    assert {each.purpose for each in known} == set(Purpose)
    assert all(each.source.startswith("https://") for each in known)
    assert crawlers.named("gptbot") == crawlers.named("GPTBot")
    assert crawlers.named("nobody") is None
    assert {each.token for each in crawlers.of_purposes([Purpose.ADS])} >= {"AdsBot-Google"}
    adsbot = crawlers.named("AdsBot-Google")
    assert adsbot is not None
    assert adsbot.obeys is Obeys.OWN_GROUPS


def test_an_audit_says_who_may() -> None:
    robots = parsed(
        "User-agent: GPTBot\nDisallow: /\nUser-agent: ClaudeBot\nDisallow: /a\nUser-agent: *\nAllow: /\n"
    )
    found = {each.crawler.token: each for each in audit(robots).verdicts}
    assert found["GPTBot"].extent is Extent.ALL
    assert found["GPTBot"].rule is not None
    assert found["GPTBot"].rule.line == 2
    assert found["ClaudeBot"].extent is Extent.SOME
    assert found["ClaudeBot"].url == "/a"
    assert found["Googlebot"].extent is Extent.NONE
    assert not found["Googlebot"].is_named


def test_who_obeys_its_own_groups_is_not_covered_by_everybodys() -> None:
    robots = parsed("User-agent: *\nDisallow: /\n")
    found = {each.crawler.token: each for each in audit(robots).verdicts}
    assert found["AdsBot-Google"].extent is Extent.NONE
    assert found["Googlebot"].extent is Extent.ALL
    assert found["AdsBot-Google"].how == "not named; obeys no *"


def test_who_does_not_read_the_file_may_fetch_everything() -> None:
    found = {
        each.crawler.token: each for each in audit(parsed("User-agent: *\nDisallow: /\n")).verdicts
    }
    unbound = [each for each in crawlers.known() if each.obeys is Obeys.NOTHING]
    assert len(unbound) > 5
    for each in unbound:
        assert found[each.token].extent is Extent.NONE
        assert found[each.token].how == "does not read the file"


def test_the_widest_rule_stands_for_those_that_close_a_part() -> None:
    robots = parsed("User-agent: *\nDisallow: /a/b/c\nDisallow: /*?q=\nDisallow: /x\nAllow: /x\n")
    found = {each.crawler.token: each for each in audit(robots).verdicts}["Googlebot"]
    assert found.line == "3: Disallow: /*?q= (and 1 more)"
    assert found.url is not None
    assert not robots.allowed(found.url, "Googlebot")


def test_the_summary_tells_parts_from_all() -> None:
    robots = parsed(
        "User-agent: GPTBot\nDisallow: /\nUser-agent: *\nDisallow: /a\nContent-Signal: ai-train=no\n"
    )
    summary = audit(robots).summary
    assert "training: partly blocked, but blocked for 1 of" in summary
    assert summary.endswith("The file states ai-train=no.")
    assert (
        "crawlers may ignore it)"
        in audit(
            parsed(
                "User-agent: *\nDisallow: /\n"
                + "".join(
                    f"User-agent: {each.token}\n"
                    for each in crawlers.of_purposes([Purpose.TRAINING])
                )
                + "Disallow: /\n"
            )
        ).summary
    )


def test_the_summary_names_who_is_not_covered() -> None:
    training = [each for each in crawlers.known() if each.purpose is Purpose.TRAINING]
    lines = "".join(f"User-agent: {each.token}\n" for each in training[2:])
    found = audit(parsed(f"{lines}Disallow: /\n"))
    assert f"training: blocked, except 2 of {len(training)} (" in found.summary
    assert f"{training[0].token}, {training[1].token}" in found.summary
    assert found.summary.startswith("Search: allowed; ")


def test_a_page_has_no_control_characters() -> None:
    robots = parsed(
        "User-agent: *\nDisallow: /\x1b[31m\x01\nLicense: \x1bx\nContent-Usage: /\x1b a=b\n"
    )
    made = as_page(Audited(audit(robots), "a\x1bb"))
    assert not [each for each in made if not each.isprintable() and each != "\n"]


class Page(HTMLParser):
    """What a page has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]


def test_the_page_has_nothing_from_elsewhere_and_nothing_of_the_file_as_markup() -> None:
    evil = "<script>alert(1)</script>"
    robots = parsed(f"User-agent: GPTBot\nDisallow: /{evil}\"'\nLicense: https://e.com/{evil}\n")
    text = as_page(Audited(audit(robots), f"{evil} & co", evil))
    seen = Page(text)
    assert "script" not in seen.tags
    assert not {"img", "link", "iframe"} & set(seen.tags)
    assert all(link.startswith("https://") for link in seen.links)
    assert seen.tags.count("rect") == len(crawlers.known())


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


def test_without_the_registry_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "ai_crawler_index", None)
    crawlers.known.cache_clear()
    try:
        with pytest.raises(koster.MissingExtraError, match=r"koster\[crawlers\]"):
            crawlers.known()
    finally:
        crawlers.known.cache_clear()


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

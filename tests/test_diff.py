"""diff: the changes between two files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import koster
from koster import compose, diff, formatting
from koster.analysis import EVERYBODY, Budget
from koster.diff import compare
from tests.helpers import strategies
from tests.helpers.owners import parsed
from tests.helpers.support import bodies


def test_change_lists_the_affected_crawlers() -> None:
    old = parsed("User-agent: Foo\nDisallow: /a\nUser-agent: *\nDisallow: /b\n")
    new = parsed("User-agent: Foo\nDisallow: /a\nUser-agent: *\nDisallow: /b\nDisallow: /c\n")
    comparison = compare(old, new, ["Googlebot", "Foo"])
    (change,) = comparison.changes
    assert change.agents == (EVERYBODY, "Googlebot")
    (difference,) = change.differences.found
    assert (
        difference.url,
        difference.is_opened,
        difference.after.rule and difference.after.rule.line,
    ) == (
        "/c",
        False,
        5,
    )
    assert not comparison.decides_alike
    assert comparison.is_proved


def test_other_directives_are_compared() -> None:
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
        "Crawl-delay",
        "Request-rate",
        "Visit-time",
        "preferences",
    ]
    assert [each.name for each in comparison.settings] == ["Sitemap", "License"]


def test_crawler_with_a_new_group_has_its_own_change() -> None:
    old = parsed("User-agent: *\nDisallow: /a\n")
    new = parsed("User-agent: *\nDisallow: /a\nUser-agent: Foo\nDisallow: /b\n")
    (change,) = compare(old, new).changes
    assert change.agents == ("Foo",)
    assert {each.url: each.is_opened for each in change.differences.found} == {
        "/a": True,
        "/b": False,
    }


@given(strategies.bodies)
def test_file_is_equal_to_itself(body: bytes) -> None:
    assert compare(parsed(body), parsed(body)).is_empty


@given(
    strategies.files, strategies.files, st.lists(strategies.paths, max_size=20), strategies.names
)
def test_crawlers_without_a_change_keep_their_verdicts(
    one: bytes, other: bytes, paths: list[str], name: str
) -> None:
    """If no change lists a crawler, all its verdicts are the same in both files."""
    old, new = parsed(one), parsed(other)
    comparison = compare(old, new, [name])
    # A file may spell the name in another case.
    changed = {agent.lower() for change in comparison.changes for agent in change.agents}
    for path in paths:
        if name.lower() not in changed:
            assert old.allowed(path, name) == new.allowed(path, name)
    for change in comparison.changes:
        for difference in change.differences.found:
            for agent in change.agents:
                assert old.allowed(difference.url, agent) != new.allowed(difference.url, agent)


def test_real_files_are_equal_to_themselves(conformance_data: None) -> None:
    for name, body in bodies("verdicts.tsv.gz").items():
        assert compare(parsed(body), parsed(body)).is_empty, name


@pytest.mark.parametrize(
    "name", ["FooBot*", "FooBot/1.0", "Foo Bot", "Mozilla/5.0 (x; Foo/1)", "A2Bot"]
)
@pytest.mark.parametrize("dialect", ["RFC9309", "GOOGLE"])
def test_groups_are_compared_however_the_name_is_written(name: str, dialect: str) -> None:
    old, new = (
        koster.parse(f"User-agent: {name}\nDisallow: {path}\n", koster.DIALECTS[dialect])
        for path in ("/", "/x")
    )
    assert not compare(old, new).decides_alike


def test_word_shared_by_several_group_names_is_compared() -> None:
    old = parsed("User-agent: So web\nDisallow: /a\nUser-agent: So inst\nAllow: /a\nDisallow: /b\n")
    new = parsed("User-agent: So web\nDisallow: /a\nUser-agent: So inst\nDisallow: /b\n")
    assert not compare(old, new).decides_alike
    assert b"Allow: /a" in formatting.minified(old.body)


def test_directives_between_user_agent_lines_apply_to_the_agents_above() -> None:
    one = parsed("User-agent: A\nCrawl-delay: 30\nUser-agent: B\nDisallow: /x\n")
    both = parsed("User-agent: A\nUser-agent: B\nCrawl-delay: 30\nDisallow: /x\n")
    (change,) = compare(one, both).changes
    assert change.agents == ("B",)
    assert change.settings[0].after == ("30 s",)
    composed = compose.compose(
        compose.Intentions(sitemaps=("https://e.com/s",)),
        b"User-agent: A\nCrawl-delay: 30\nUser-agent: B\nDisallow: /x\n",
    )
    assert not composed.changes.changes
    assert parsed(composed.body).rules_for("B").crawl_delay is None


@pytest.mark.parametrize("dialect", ["MK1994", "MK1996", "GYM2008", "EXTENDED2", "EXTENDED2_1996"])
@pytest.mark.parametrize("name", ["FooBot/1.0", "Mozilla/5.0 (compatible; FooBot/1.0)", "foo/"])
def test_older_dialects_compare_names_as_written(dialect: str, name: str) -> None:
    old, new = (
        koster.parse(text, koster.DIALECTS[dialect])
        for text in (f"User-agent: {name}\nDisallow: /\n", "")
    )
    assert not compare(old, new).decides_alike


def test_too_many_names_are_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("koster.analysis._names._MAX_NAME_COMPARISONS", 1_000)
    body = "".join(f"User-agent: foo {number}\n" for number in range(30)) + "Disallow: /\n"
    comparison = compare(parsed(body), parsed(body + "Disallow: /a\n"))
    assert not comparison.is_whole
    assert not comparison.decides_alike


def test_more_names_than_the_maximum_are_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    assert diff.MAX_AGENTS == 5_000
    monkeypatch.setattr(diff, "MAX_AGENTS", 50)
    # Crawlers that no group names are one of them.
    for count, is_whole in ((49, True), (50, False)):
        body = "".join(f"User-agent: foo{number}\nDisallow: /\n" for number in range(count))
        comparison = compare(parsed(body), parsed(body))
        assert (comparison.is_whole, comparison.decides_alike) == (is_whole, is_whole)


def test_too_many_rules_of_all_names_together_are_not_proved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first rule sets are compared, one more as the largest, and those that did not change."""
    monkeypatch.setattr(diff, "most_rules_to_check", lambda robots: 3)
    groups = [f"User-agent: foo{number}\nDisallow: /{number}\n" for number in range(9)]
    whole = compare(parsed("".join(groups)), parsed("".join(groups)))
    assert whole.is_empty
    assert whole.compared == 10
    changed = "".join(groups).replace("Dis", "")
    some = compare(parsed("".join(groups)), parsed(changed))
    assert not some.is_whole
    assert not some.decides_alike
    assert [each.agents for each in some.changes] == [(f"foo{number}",) for number in range(4)]
    assert some.compared == 5


def test_too_many_rules_of_all_names_together_are_not_prepared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not even to tell whether they changed; each takes memory in the set of each name."""
    monkeypatch.setattr(diff, "MAX_RULES_OF_SETS", 6)
    body = "".join(f"User-agent: foo{number}\nDisallow: /{number}\n" for number in range(9))
    comparison = compare(parsed(body), parsed(body))
    assert not comparison.is_whole
    assert not comparison.decides_alike
    assert comparison.compared == 5


def test_pairs_of_too_many_names_are_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each pair is looked for in all lines."""
    text = "".join(f"User-agent: bot{number}\nDisallow: /{number}\n\n" for number in range(5))
    robots = koster.parse(text, koster.MK1996)
    assert compare(robots, robots).is_proved
    monkeypatch.setattr("koster.analysis._names._MAX_NAME_COMPARISONS", 1_500)
    assert not compare(robots, robots).is_proved


def test_preferences_of_many_agents_are_compared_within_the_budget() -> None:
    """A line may have thousands."""
    signals = ", ".join(f"a{number}=b" for number in range(100))
    text = f"User-agent: a\nUser-agent: b\nContent-Signal: {signals}\nDisallow: /\n"
    robots = koster.parse(text + "User-agent: a\nDisallow: /a\nUser-agent: b\nDisallow: /b\n")
    assert compare(robots, robots, budget=Budget(steps=10_000)).is_whole
    assert not compare(robots, robots, budget=Budget(steps=2_000)).is_whole


def test_crawler_matching_two_groups_is_compared() -> None:
    """Old dialects use the first group whose name is a substring of the crawler's name."""
    foo, bar = "User-agent: foo\nDisallow: /a\n\n", "User-agent: bar\nDisallow: /b\n\n"
    for name in ("MK1994", "MK1996", "GYM2008"):
        old, new = (koster.parse(each, koster.DIALECTS[name]) for each in (foo + bar, bar + foo))
        (change,) = compare(old, new).changes
        assert change.agents == ("foo bar",)
        assert {each.url for each in change.differences.found} == {"/a", "/b"}
    assert compare(parsed(foo + bar), parsed(bar + foo)).is_empty


def test_dialects_are_not_compared_on_robots_txt_itself() -> None:
    """Some dialects read ``%3F`` as ``?``, so an escaped path can look like /robots.txt."""
    from koster.analysis import difference

    body = "User-agent: *\nDisallow: /\nAllow: /a%3F\n"
    for one in koster.DIALECTS.values():
        for other in koster.DIALECTS.values():
            result = difference(*(koster.parse(body, each).rules_for("x") for each in (one, other)))
            assert result.is_proved


def test_invalid_utf8_is_compared() -> None:
    for other in (b"/b", b"/\xff", b"/\xc3*x"):
        old = koster.parse(b"User-agent: *\nDisallow: /\xff\n", koster.MK1994)
        compare(old, koster.parse(b"User-agent: *\nDisallow: " + other, koster.MK1994))


def test_settings_of_many_agents_are_compared_within_the_budget() -> None:
    lines = "".join(f"User-agent: a{number}\nCrawl-delay: {number}\n" for number in range(20))
    old, new = parsed(lines), parsed(f"{lines}Crawl-delay: 99\n")
    (change,) = compare(old, new).changes
    assert (len(change.agents), compare(old, new).is_whole) == (20, True)
    # Each of the agents has up to 20 lines in both files.
    comparison = compare(old, new, budget=Budget(steps=400))
    (change,) = comparison.changes
    assert (0 < len(change.agents) < 20, comparison.is_whole) == (True, False)
    assert not comparison.is_proved


@pytest.mark.parametrize(
    "line", ["Request-rate: 1/5s", "Visit-time: 0600-0845", "Comment: ask first", "Content-Signal: search=yes"]
)  # fmt: skip
def test_a_setting_that_is_repeated_changes_nothing(line: str) -> None:
    once = f"User-agent: *\n{line}\nDisallow: /a\n".encode()
    twice = f"User-agent: *\n{line}\n{line}\nDisallow: /a\n".encode()
    for found in (compare(parsed(once), parsed(twice)), compare(parsed(twice), parsed(once))):
        assert found.settings == ()
        assert not any(change.settings for change in found.changes)

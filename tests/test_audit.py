"""The audit: what each known crawler may fetch, its summary and its HTML page."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

import pytest

import koster
from koster import crawlers
from koster._reports.audit import (
    Audited,
    _hints,
    as_page,
    print_html,
    print_json,
    print_markdown,
    print_text,
)
from koster.analysis import Extent
from koster.audit import audit
from koster.crawlers import Obeys, Purpose
from koster.signals import Stated, Use, signals
from tests.helpers.owners import parsed


def test_audit_lists_what_crawlers_may_fetch() -> None:
    robots = parsed(
        "User-agent: GPTBot\nDisallow: /\nUser-agent: ClaudeBot\nDisallow: /a\nUser-agent: *\nAllow: /\n"
    )
    verdicts = {each.crawler.token: each for each in audit(robots).verdicts}
    assert verdicts["GPTBot"].extent is Extent.ALL
    assert verdicts["GPTBot"].rule is not None
    assert verdicts["GPTBot"].rule.line == 2
    assert verdicts["ClaudeBot"].extent is Extent.SOME
    assert verdicts["ClaudeBot"].url == "/a"
    assert verdicts["Googlebot"].extent is Extent.NONE
    assert not verdicts["Googlebot"].is_named


def test_crawler_that_ignores_the_star_group_is_not_blocked_by_it() -> None:
    robots = parsed("User-agent: *\nDisallow: /\n")
    verdicts = {each.crawler.token: each for each in audit(robots).verdicts}
    assert verdicts["AdsBot-Google"].extent is Extent.NONE
    assert verdicts["Googlebot"].extent is Extent.ALL
    assert verdicts["AdsBot-Google"].how == "ignores *"


def test_crawler_that_does_not_read_the_file_is_allowed_everything() -> None:
    verdicts = {
        each.crawler.token: each for each in audit(parsed("User-agent: *\nDisallow: /\n")).verdicts
    }
    ignoring = [each for each in crawlers.known() if each.obeys is Obeys.NOTHING]
    assert len(ignoring) > 5
    for each in ignoring:
        assert verdicts[each.token].extent is Extent.NONE
        assert verdicts[each.token].how == "ignores robots.txt"


def test_broadest_rule_is_shown_for_partly_blocked_crawlers() -> None:
    robots = parsed("User-agent: *\nDisallow: /a/b/c\nDisallow: /*?q=\nDisallow: /x\nAllow: /x\n")
    verdict = {each.crawler.token: each for each in audit(robots).verdicts}["Googlebot"]
    assert verdict.line == "3: Disallow: /*?q= (and 1 more)"
    assert verdict.url is not None
    assert not robots.allowed(verdict.url, "Googlebot")


def overview(text: str) -> dict[str, str]:
    return {row.label: row.text for row in audit(parsed(text)).overview}


def test_overview_has_a_row_for_each_kind_of_crawler() -> None:
    rows = overview("User-agent: *\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\n")
    assert list(rows) == [
        "Search engines",
        "AI search",
        "AI training",
        "Data sets",
        "User requests",
        "Link previews",
        "SEO tools",
        "Archives, ads, other tools",
    ]
    assert set(rows.values()) == {"allowed except /wp-admin/"}


def test_overview_names_exceptions() -> None:
    rows = overview(
        "User-agent: Googlebot\nUser-agent: bingbot\nDisallow:\nUser-agent: *\nDisallow: /\n"
    )
    assert rows["Search engines"].startswith("blocked except for Googlebot, bingbot")
    assert rows["SEO tools"] == "blocked"
    rows = overview("User-agent: PerplexityBot\nDisallow: /\nUser-agent: *\nDisallow: /a\n")
    assert rows["AI search"] == "allowed except /a; PerplexityBot: fully blocked"
    rows = overview("User-agent: facebookexternalhit\nDisallow: /\n")
    assert rows["Link previews"] == "allowed; facebookexternalhit (?): blocked"
    assert rows["Search engines"] == "allowed"


def test_overview_says_who_may_ignore_a_block() -> None:
    training = crawlers.of_purposes([Purpose.TRAINING])
    lines = "".join(f"User-agent: {each.token}\n" for each in training)
    rows = overview(f"{lines}Disallow: /\n")
    doubtful = {Obeys.MAY_IGNORE, Obeys.UNDOCUMENTED, Obeys.DISPUTED}
    count = sum(each.obeys in doubtful for each in training)
    assert rows["AI training"] == f"blocked ({count} of {len(training)} may ignore it)"
    # Those that ignore the file are named.
    assert rows["Data sets"] == "allowed"
    assert "img2dataset" in overview("User-agent: *\nDisallow: /\n")["Data sets"]


def test_overview_shows_the_widest_paths_first() -> None:
    rows = overview("User-agent: *\nDisallow: /a/b/c\nDisallow: /d\nDisallow: /e/f\n")
    assert rows["Search engines"] == "allowed except /d, /e/f and 1 more"
    rows = overview("User-agent: *\nDisallow: /\nAllow: /$\nAllow: /press/\n")
    assert rows["Search engines"] == "blocked except the home page and /press/"
    rows = overview("User-agent: *\nDisallow: /$\n")
    assert rows["Search engines"] == "allowed except the home page"


def test_crawlers_that_ignore_the_star_group_are_no_exception_to_it() -> None:
    rows = overview("User-agent: *\nDisallow: /a\n")
    assert rows["Archives, ads, other tools"] == "allowed except /a"
    assert "AdsBot-Google" in overview("User-agent: *\nDisallow: /\n")["Ads"]


def test_overview_counts_crawlers_with_other_paths_together() -> None:
    rows = overview(
        "User-agent: *\nDisallow: /a\n"
        "User-agent: bingbot\nDisallow: /b\nUser-agent: YandexBot\nDisallow: /c\n"
    )
    assert rows["Search engines"] == "allowed except /a; bingbot and YandexBot: other paths"
    rows = overview(
        "User-agent: *\nDisallow: /a\n"
        "User-agent: bingbot\nDisallow: /b\n"
        "User-agent: YandexBot\nDisallow: /\nAllow: /c\n"
    )
    assert rows["Search engines"] == (
        "allowed except /a; bingbot: other paths; YandexBot: mostly blocked"
    )


def test_overview_of_crawlers_that_ignore_the_file() -> None:
    ignoring = [each for each in crawlers.known() if each.obeys is Obeys.NOTHING][:1]
    robots = parsed("User-agent: *\nDisallow: /\n")
    (row,) = audit(robots, ignoring).overview
    assert (row.text, row.extent) == ("ignore robots.txt", Extent.NONE)
    assert str(row) == f"{row.label}: ignore robots.txt"


def test_rule_that_blocks_only_unusual_urls_is_shown_with_one() -> None:
    """Longer Allow rules have all likely URLs of the rule that blocks."""
    robots = parsed("User-agent: *\nDisallow: /a*b\nAllow: /ab***\nAllow: /axyb***\n")
    verdict = {each.crawler.token: each for each in audit(robots).verdicts}["Googlebot"]
    assert (verdict.extent, verdict.line) == (Extent.SOME, "2: Disallow: /a*b")
    assert verdict.url is not None
    decision = robots.decide(verdict.url, "Googlebot")
    assert decision.rule is not None
    assert (decision.allowed, decision.rule.line) == (False, 2)


def test_long_paths_are_cut_in_the_overview() -> None:
    robots = parsed(f"User-agent: *\nDisallow: /{'a' * 300}\n")
    row = audit(robots, [crawlers.named("Googlebot")]).overview[0]  # type: ignore[list-item]
    assert str(row) == f"Search engines: allowed except /{'a' * 98}…"
    rules = "".join(f"Disallow: /{'a' * 300}{number}\n" for number in range(4))
    row = audit(parsed(f"User-agent: *\n{rules}"), [crawlers.named("Googlebot")]).overview[0]  # type: ignore[list-item]
    assert str(row).endswith("… and 2 more")


def test_rule_sets_beyond_the_limit_of_rules_are_not_proved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All crawlers together may have far more rules than the file. The largest set is proved."""
    monkeypatch.setattr("koster.audit.most_rules_to_check", lambda robots: 1)
    names = ("Googlebot", "bingbot", "GPTBot")
    text = "".join(f"User-agent: {name}\nDisallow: /{name}\n" for name in names)
    found = audit(parsed(text), [crawlers.named(name) for name in names]).verdicts  # type: ignore[misc]
    assert [each.is_proved for each in found] == [True, True, False]
    assert [each.access for each in found] == [
        "allowed except /Googlebot",
        "allowed except /bingbot",
        "partly allowed",
    ]


def test_preferences_of_some_groups_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those for all first, then those of named groups, as long as they are not too many."""
    names = ("Googlebot", "bingbot", "GPTBot")
    signals = "".join(
        f"User-agent: {name}\nContent-Signal: ai-train=no\nDisallow: /{name}\n" for name in names
    )
    robots = parsed(f"Content-Signal: search=yes, search=no\n{signals}")
    known = [crawlers.named(name) for name in names]
    found = audit(robots, known).preferences
    assert [(each.line, each.key, each.value) for each in found] == [
        (1, "search", "no"),
        (3, "ai-train", "no"),
        (6, "ai-train", "no"),
        (9, "ai-train", "no"),
    ]
    monkeypatch.setattr("koster.audit.most_rules_to_check", lambda robots: 1)
    assert [each.line for each in audit(robots, known).preferences] == [1, 3, 6]
    monkeypatch.setattr("koster.audit._MAX_PREFERENCES", 1)
    assert [each.line for each in audit(robots, known).preferences] == [1, 3]


def test_page_has_no_control_characters() -> None:
    robots = parsed(
        "User-agent: *\nDisallow: /\x1b[31m\x01\nLicense: \x1bx\nContent-Usage: /\x1b a=b\n"
    )
    page = as_page(Audited(audit(robots), "a\x1bb"))
    assert not [each for each in page if not each.isprintable() and each != "\n"]


class Page(HTMLParser):
    """Collects the tags and links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]


def test_page_loads_nothing_and_escapes_the_file() -> None:
    evil = "<script>alert(1)</script>"
    robots = parsed(f"User-agent: GPTBot\nDisallow: /{evil}\"'\nLicense: https://e.com/{evil}\n")
    text = as_page(Audited(audit(robots), f"{evil} & co", evil))
    page = Page(text)
    assert "script" not in page.tags
    assert not {"img", "link", "iframe"} & set(page.tags)
    assert all(link.startswith("https://") for link in page.links)
    # A row for each crawler, a heading for each table, and the overview.
    purposes, rows = len(audit(robots).purposes), len(audit(robots).overview)
    assert page.tags.count("tr") >= len(crawlers.known()) + purposes + rows


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("User-agent: *\nDisallow: /\n", "The whole site is blocked for Googlebot and bingbot"),
        ("User-agent: Googlebot\nDisallow: /\n", "The whole site is blocked for Googlebot"),
        ("User-agent: bingbot\nDisallow: /*\n", "The whole site is blocked for bingbot"),
        ("User-agent: *\nDisallow: /\nAllow: /blog\n", "Home page blocked for Googlebot and bingbot"),
        ("User-agent: *\nDisallow: /$\n", "Home page blocked for Googlebot and bingbot"),
        ("User-agent: *\nDisallow: *\nAllow: /*.html\n", "Home page blocked for Googlebot and bingbot"),
        ("User-agent: bingbot\nDisallow: /\nAllow: /a\n", "Home page blocked for bingbot"),
        ("User-agent: *\nDisallow: /\nAllow: /$\n", ""),
        ("User-agent: *\nDisallow: /index.html\n", ""),
        ("User-agent: *\nAllow: /\n", ""),
        ("User-agent: GPTBot\nDisallow: /\n", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_warning_of_search_engines_that_are_blocked(text: str, warning: str) -> None:
    found = audit(koster.parse(text))
    assert found.warning.removesuffix(", while other pages are open") == warning
    assert ("<strong>" in as_page(Audited(found, "e.com"))) == bool(warning)


def test_crawlers_that_ignore_star_come_after_what_matters() -> None:
    rows = overview("User-agent: *\nDisallow: /\n")
    assert re.match(
        r"blocked \(\d+ of \d+ may ignore it\); Yandex.* ignore \*$", rows["Search engines"]
    )
    named = overview("User-agent: *\nDisallow: /\nUser-agent: YandexComBot\nAllow: /\n")
    assert named["Search engines"].startswith("blocked except for YandexComBot (")


@pytest.mark.parametrize(
    ("text", "is_shown"),
    [
        ("User-agent: Google-Extended\nDisallow: /\n", True),
        ("User-agent: Google-Extended\nAllow: /\n", True),
        ("User-agent: *\nDisallow: /\nUser-agent: Googlebot\nAllow: /\n", True),
        ("User-agent: *\nDisallow: /\n", False),
        ("User-agent: GPTBot\nDisallow: /\n", False),
    ],
)
def test_google_extended_does_not_control_ai_overviews(
    text: str, is_shown: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    audited = Audited(audit(koster.parse(text)), "e.com")
    for show in (print_text, print_markdown, print_html):
        show(audited)
        shown = capsys.readouterr().out
        assert shown.count("Google-Extended does not control AI Overviews and AI Mode") == is_shown
        assert (
            "https://developers.google.com/search/docs/appearance/ai-features" in shown
        ) == is_shown
    print_json(audited)
    assert "AI Overviews" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "is_shown"),
    [
        ("User-agent: *\nDisallow: /cart\n", True),
        ("User-agent: Googlebot\nDisallow: /\n", True),
        ("User-agent: GPTBot\nDisallow: /\n", False),
        ("User-agent: *\nAllow: /\n", False),
    ],
)
def test_disallow_does_not_remove_pages_from_an_index(
    text: str, is_shown: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    audited = Audited(audit(koster.parse(text)), "e.com")
    for show in (print_text, print_markdown, print_html):
        show(audited)
        assert capsys.readouterr().out.count("does not remove it from an index") == is_shown
    print_json(audited)
    assert "index:" not in capsys.readouterr().out


TOKEN = "__usage_ai-training"


def _known(*tokens: str) -> list[crawlers.Crawler]:
    return [each for each in crawlers.known() if each.token in tokens]


@pytest.mark.parametrize(
    ("text", "access", "line", "row"),
    [
        (f"User-agent: {TOKEN}\nDisallow: /\n", "blocked", 2, "use: no; crawlers: allowed"),
        (
            f"User-agent: *\nDisallow: /\n\nUser-agent: {TOKEN}\nAllow: /\n", "allowed", None,
            "blocked",
        ),
        (
            f"User-agent: {TOKEN}\nDisallow: /\nAllow: /press/\n", "blocked except /press/", 2,
            "use: no; crawlers: allowed",
        ),
        (
            f"User-agent: {TOKEN}\nDisallow: /news/\n", "allowed except /news/", 2,
            "use: no in part; crawlers: allowed",
        ),
        (f"User-agent: {TOKEN}\nDisallow:\n", "allowed", None, "allowed"),
    ],
)  # fmt: skip
def test_training_is_never_allowed_if_a_policy_token_says_no(
    text: str, access: str, line: int | None, row: str
) -> None:
    result = audit(parsed(text), _known("GPTBot", "Googlebot"))
    (policy,) = result.policies
    assert (policy.access, policy.rule.line if policy.rule else None) == (access, line)
    (training,) = (each for each in result.overview if each.label == "AI training")
    assert training.text == row or training.text.startswith(f"{row} (")
    # What is stated is never shown as if nothing was blocked.
    assert training.extent is not Extent.NONE or access == "allowed"
    assert f"{TOKEN} states whether pages may be used for AI training" in "\n".join(_hints(result))


@pytest.mark.parametrize(
    ("text", "access"),
    [
        ("User-agent: *\nDisallow: /\n", "undecided"),
        ("User-agent: *\nDisallow: /cart/\n", "undecided"),
        ("User-agent: GPTBot\nDisallow: /\n", "unstated"),
        ("", "unstated"),
    ],
)
def test_policy_tokens_that_no_group_names(text: str, access: str) -> None:
    """Whether rules for * apply to them is not specified: nothing is claimed."""
    result = audit(parsed(text), _known("GPTBot"))
    (policy,) = result.policies
    assert (policy.extent, policy.access, policy.rule) == (None, access, None)
    assert not any(TOKEN in row.text for row in result.overview)
    assert not any(TOKEN in hint for hint in _hints(result))


#: Files, and for uses what is stated about the start page, by which lines, and about other paths.
USES: list[tuple[str, dict[str, tuple[str, list[int], list[tuple[str, int]]]]]] = [
    ("", {}),
    ("User-agent: *\nDisallow: /cart/\n", {}),
    (
        "User-agent: *\nContent-Signal: search=yes, ai-train=no\n",
        {"search": ("yes", [2], []), "ai-train": ("no", [2], [])},
    ),
    (
        "User-agent: *\nContent-Usage: train-ai=y\nContent-Usage: /news/ train-ai=n, search=n\n",
        {"ai-train": ("yes", [2], [("no", 3)]), "search": ("unstated", [], [("no", 3)])},
    ),
    # The same about other paths is not said.
    (
        "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /news/ train-ai=n\n",
        {"ai-train": ("no", [2], [])},
    ),
    # Only for a crawler, and none of the uses.
    ("User-agent: GPTBot\nContent-Usage: train-ai=n\nContent-Usage: / x=n\n", {}),
    ("User-agent: *\nContent-Usage: /a x=n\nContent-Usage: /b train-ai=maybe\n", {}),
    (
        f"User-agent: {TOKEN}\nDisallow: /\n\nUser-agent: *\nContent-Signal: ai-train=yes\n",
        {"ai-train": ("conflict", [2, 5], [])},
    ),
    (f"User-agent: {TOKEN}\nDisallow: /news/\n", {"ai-train": ("unstated", [], [("no", 2)])}),
    (
        f"User-agent: {TOKEN}\nDisallow: /\nAllow: /press/\n",
        {"ai-train": ("no", [2], [("yes", 2)])},
    ),
    ("User-agent: Google-Extended\nDisallow: /\n", {}),
    # Nobody has read the license.
    (
        "License: https://shop.example/license.xml\nUser-agent: *\nContent-Signal: ai-train=no\n",
        {str(use): ("undecided", [], []) for use in Use} | {"ai-train": ("no", [3], [])},
    ),
    (
        "User-agent: *\nDisallow: /\n",
        dict.fromkeys(
            ("search", "snippet", "archive", "ai-input", "ai-train"), ("no", [2], [])
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), USES, ids=range(len(USES)))
def test_uses(text: str, expected: dict[str, Any]) -> None:
    found = {
        str(each.use): (
            str(each.stated),
            sorted(some.line or 0 for some in each.statements),
            [(str(some.stated), some.line) for some in each.elsewhere],
        )
        for each in audit(parsed(text), []).uses
    }
    assert found == {str(use): expected.get(use, ("unstated", [], [])) for use in Use}


@pytest.mark.parametrize("text", [text for text, _ in USES])
def test_uses_are_those_of_signals(text: str) -> None:
    result = audit(parsed(text), [])
    page = signals("/", robots=text, now=datetime(2026, 11, 30, tzinfo=UTC))
    everybody = [each for each in page.answers if not each.crawler]
    assert [(each.use, each.stated, each.statements) for each in result.uses] == [
        (each.use, each.stated, each.statements) for each in everybody
    ]
    assert result.unread == page.unread


def test_uses_of_what_is_no_robots_txt(capsys: pytest.CaptureFixture[str]) -> None:
    result = audit(parsed("<html>Log in</html>"), [])
    assert {each.stated for each in result.uses} == {Stated.UNDECIDED}
    for show in (print_text, print_markdown, print_html):
        show(Audited(result))
        shown = capsys.readouterr().out
        assert "Not read:" in shown
        assert "no line in it is one of a robots.txt" in shown
        assert "Undecided" in shown
        assert "Unstated" not in shown
        assert shown.index("Not read:") < shown.lower().index("use of pages")
    print_text(Audited(result))
    assert capsys.readouterr().out.startswith("Not read: robots.txt: no line in it is one of a")


PARTS = (
    "User-agent: *\nContent-Signal: search=yes, ai-train=no\n"
    "Content-Usage: /press/ train-ai=y\nContent-Usage: /x other=n\n"
)


def test_each_preference_is_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    result = audit(parsed(PARTS), _known("GPTBot", "Googlebot"))
    for show in (print_text, print_markdown, print_html):
        show(Audited(result))
        shown = capsys.readouterr().out
        for words in ("search=yes", "ai-train=no", "/press/ train-ai=y", "other=n"):
            assert shown.count(words) == 1, (show, words)
    print_text(Audited(result))
    lines = [" ".join(each.split()) for each in capsys.readouterr().out.splitlines()]
    start = lines.index("Use of pages Stated")
    in_part = "in part yes (Content-Usage: /press/ train-ai=y, line 3)"
    assert lines[start + 1 : start + 4] == [
        "Search yes (Content-Signal: search=yes, line 2)",
        f"AI training no (Content-Signal: ai-train=no, line 2); {in_part}",
        "Unstated snippets, archives, AI answers, text and data mining",
    ]
    assert "AI training use: no; crawlers: allowed" in lines[:start]


def test_many_sources_of_a_use_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    lines = "".join(f"Content-Usage: /{number} train-ai=n\n" for number in range(9))
    print_text(Audited(audit(parsed(f"User-agent: *\n{lines}"), [])))
    assert "line 4; and 6 more)" in capsys.readouterr().out

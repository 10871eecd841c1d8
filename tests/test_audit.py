"""Audits: the known crawlers against a file."""

from __future__ import annotations

from html.parser import HTMLParser

from owners import parsed

from koster import crawlers
from koster.analysis import Extent
from koster.audit import audit
from koster.crawlers import Obeys, Purpose
from koster.reports.audit import Audited, as_page


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

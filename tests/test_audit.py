"""The audit: what each known crawler may fetch, its summary and its HTML page."""

from __future__ import annotations

from html.parser import HTMLParser

from owners import parsed

from koster import crawlers
from koster.analysis import Extent
from koster.audit import audit
from koster.crawlers import Obeys, Purpose
from koster.reports.audit import Audited, as_page


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
    assert verdicts["AdsBot-Google"].how == "not named; ignores *"


def test_crawler_that_does_not_read_the_file_is_allowed_everything() -> None:
    verdicts = {
        each.crawler.token: each for each in audit(parsed("User-agent: *\nDisallow: /\n")).verdicts
    }
    ignoring = [each for each in crawlers.known() if each.obeys is Obeys.NOTHING]
    assert len(ignoring) > 5
    for each in ignoring:
        assert verdicts[each.token].extent is Extent.NONE
        assert verdicts[each.token].how == "ignores the file"


def test_broadest_rule_is_shown_for_partly_blocked_crawlers() -> None:
    robots = parsed("User-agent: *\nDisallow: /a/b/c\nDisallow: /*?q=\nDisallow: /x\nAllow: /x\n")
    verdict = {each.crawler.token: each for each in audit(robots).verdicts}["Googlebot"]
    assert verdict.line == "3: Disallow: /*?q= (and 1 more)"
    assert verdict.url is not None
    assert not robots.allowed(verdict.url, "Googlebot")


def test_summary_distinguishes_partly_blocked_from_blocked() -> None:
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


def test_summary_names_the_exceptions() -> None:
    training = [each for each in crawlers.known() if each.purpose is Purpose.TRAINING]
    lines = "".join(f"User-agent: {each.token}\n" for each in training[2:])
    result = audit(parsed(f"{lines}Disallow: /\n"))
    assert f"training: blocked, except 2 of {len(training)} (" in result.summary
    assert f"{training[0].token}, {training[1].token}" in result.summary
    assert result.summary.startswith("Search: allowed; ")


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
    assert page.tags.count("rect") == len(crawlers.known())

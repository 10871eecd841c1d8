"""The tester page, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from koster.crawlers import Purpose, known
from tests.helpers.browsing import AXE, check_axe
from tests.helpers.server import Answer, Site
from tests.helpers.tester import BROKEN, TABS, OpenPage, editor, fill_page, row, tab


def verdicts(page: Page) -> list[list[str]]:
    rows = page.locator("#panel-test tbody tr").all()
    return [row.locator("td").all_inner_texts() for row in rows]


def test_each_keystroke_updates_the_verdicts(open_page: OpenPage) -> None:
    page = open_page()
    expect(row(page, "Googlebot", "/private/x")).to_contain_text("line 3: Disallow: /private/")
    editor(page).fill("User-agent: *\nDisallow: /private/y")
    expect(row(page, "Googlebot", "/private/x")).to_contain_text("no rule matches")
    editor(page).press("Control+End")
    editor(page).press("Backspace")
    expect(row(page, "Googlebot", "/private/x")).to_contain_text("line 2: Disallow: /private/")
    editor(page).type("xz")
    expect(row(page, "Googlebot", "/private/x")).to_contain_text("no rule matches")
    editor(page).press("Backspace")
    expect(row(page, "Googlebot", "/private/x")).to_contain_text("line 2: Disallow: /private/x")
    expect(page.locator("#panel-test [role=status]")).to_have_text("6 allowed, 2 blocked")


def test_a_verdict_shows_its_line(open_page: OpenPage) -> None:
    page = open_page()
    lines = [f"Disallow: /{number}" for number in range(300)]
    editor(page).fill("\n".join(["User-agent: *", *lines, "Disallow: /private/"]))
    expect(page.locator("#facts")).to_contain_text("302 lines")
    expect(page.locator("#editor .strip")).to_have_count(0)
    row(page, "Googlebot", "/private/x").get_by_role("button").click()
    expect(page.locator("#editor .gutter .now")).to_have_text("302")
    expect(page.locator("#editor .strip")).to_be_in_viewport()
    expect(page.locator("#panel-test tr.now")).to_have_count(1)
    assert editor(page).evaluate("text => text.scrollTop") > 1000


def test_crawlers_can_be_selected_or_typed(open_page: OpenPage) -> None:
    page = open_page()
    assert "ClaudeBot" in page.locator("#known option").evaluate_all("all => all.map(o => o.value)")
    name = page.get_by_label("Another crawler")
    name.fill("CCBot")
    name.press("Enter")
    expect(row(page, "CCBot", "/")).to_contain_text("allowed")
    name.fill("Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(row(page, "claudebot@anthropic.com", "/")).to_contain_text("line 10: Disallow: /")
    for crawler in ("Googlebot", "GPTBot", "CCBot"):
        page.get_by_role("button", name=f"Remove {crawler}").click()
    expect(page.locator("#panel-test tbody tr")).to_have_count(4)
    page.get_by_role("button", name=re.compile("^Remove Mozilla")).click()
    expect(page.locator("#panel-test .chip")).to_have_text("* (all other crawlers)")
    expect(row(page, "* (all other crawlers)", "/private/x")).to_contain_text("blocked")


def test_urls_and_dialects(open_page: OpenPage) -> None:
    page = open_page()
    page.get_by_label("URLs or paths, one per line").fill(
        "https://example.com/a.pdf\n\n  /a.pdf?x  "
    )
    editor(page).fill("User-agent: *\nDisallow: /*.pdf$")
    expect(page.locator("#panel-test tbody tr")).to_have_count(4)
    expect(row(page, "GPTBot", "https://example.com/a.pdf")).to_contain_text("blocked")
    expect(row(page, "GPTBot", "/a.pdf?x")).to_contain_text("no rule matches")
    page.get_by_label("Read as").select_option("MK1994")
    expect(row(page, "GPTBot", "https://example.com/a.pdf")).to_contain_text("no rule matches")
    page.get_by_label("URLs or paths, one per line").fill("")
    expect(page.locator("#panel-test")).to_contain_text("Enter URLs or paths above")


def test_too_many_verdicts_is_an_error(open_page: OpenPage) -> None:
    page = open_page()
    page.get_by_label("URLs or paths, one per line").fill("\n".join(f"/{n}" for n in range(501)))
    expect(page.locator("#panel-test [role=status]")).to_have_text(
        "1,002 questions, the maximum is 1,000: send fewer agents or URLs"
    )
    page.get_by_label("URLs or paths, one per line").fill("/a")
    expect(page.locator("#panel-test tbody tr")).to_have_count(2)


def test_crawlers(open_page: OpenPage) -> None:
    page = open_page()
    tab(page, "audit")
    panel = page.locator("#panel-audit")
    training = panel.get_by_role("row", name=re.compile("^AI training"))
    expect(training).to_contain_text("GPTBot and ClaudeBot: fully blocked")
    panel.get_by_role("button", name="AI training", exact=True).click()
    count = sum(Purpose.TRAINING in each.purposes for each in known())
    expect(panel.get_by_role("status")).to_have_text(f"{count} crawlers, 2 blocked")
    panel.get_by_label("Name or operator").fill("gptbot")
    expect(panel.get_by_role("status")).to_have_text("1 crawler, 1 blocked")
    panel.get_by_role("button", name="10: Disallow: /").click()
    expect(page.locator("#editor .gutter .now")).to_have_text("10")
    panel.get_by_label("Name or operator").fill("nobody")
    expect(panel).to_contain_text("No crawler has this name")
    panel.get_by_label("Name or operator").fill("")
    panel.get_by_role("button", name="All", exact=True).click()
    editor(page).fill("User-agent: *\nDisallow: /\nContent-Signal: ai-train=no")
    expect(panel.get_by_role("row", name=re.compile("^SEO tools"))).to_contain_text("blocked")
    expect(panel).to_contain_text("Content-Signal: ai-train=no")
    found = panel.get_by_role("row", name=re.compile("^AdsBot-Google Google"))
    expect(found).to_contain_text("allowed")
    expect(found).to_contain_text("ignores *")


def test_fallbacks_and_sources_of_crawlers(open_page: OpenPage) -> None:
    page = open_page()
    editor(page).fill("User-agent: Googlebot\nDisallow: /")
    page.get_by_label("Another crawler").fill("Googlebot-Image")
    page.get_by_role("button", name="Add").click()
    expect(
        page.get_by_role("row", name=re.compile("blocked Googlebot-Image")).first
    ).to_contain_text("line 2: Disallow: / (falls back to Googlebot)")
    tab(page, "audit")
    found = page.locator("#panel-audit").get_by_role("row", name=re.compile("^Applebot ?Apple"))
    expect(found).to_contain_text("falls back to Googlebot")
    expect(found).to_contain_text("Apple: search, AI search, training")
    source = found.get_by_role("link", name="2026-11-22")
    assert source.get_attribute("href") == "https://support.apple.com/en-us/119829"
    assert source.get_attribute("rel") == "noreferrer noopener"


def test_compare(open_page: OpenPage, site: Site) -> None:
    page = open_page()
    tab(page, "compare")
    panel = page.locator("#panel-compare")
    expect(panel).to_contain_text("Choose the file before the change")
    panel.get_by_role("button", name="Use the file in the editor").click()
    expect(panel).to_contain_text("No access changes (proved).")
    before = page.get_by_label("The robots.txt before")
    before.fill(before.input_value().replace("Disallow: /private/", "Disallow: /private"))
    expect(panel.locator(".lead")).to_contain_text("1 newly allowed, 0 newly blocked")
    difference = panel.locator("tbody tr").first
    expect(difference).to_contain_text("line 3: Disallow: /private")
    difference.get_by_role("button", name="/private", exact=True).click()
    expect(page.locator("#panel-test")).to_be_visible()
    expect(row(page, "Googlebot", "/private")).to_contain_text("no rule matches")
    tab(page, "compare")
    site.robots(body=b"User-agent: *\nDisallow: /\nCrawl-delay: 9")
    page.get_by_label("Or from a site").fill(site.url)
    page.get_by_role("button", name="Load before").click()
    expect(before).to_have_value("User-agent: *\nDisallow: /\nCrawl-delay: 9")
    expect(panel).to_contain_text("Crawl-delay")
    expect(panel).to_contain_text("9 s")


def test_dialects(open_page: OpenPage) -> None:
    page = open_page()
    editor(page).fill("User-agent: *\nDisallow: /*.pdf$")
    tab(page, "dialects")
    panel = page.locator("#panel-dialects")
    expect(panel.locator(".card").filter(has_text="google/robotstxt")).to_contain_text(
        "the same (proved)"
    )
    card = panel.locator(".card").filter(has_text="MK1994")
    expect(card).to_contain_text("Googlebot, GPTBot and all other crawlers")
    card.get_by_role("button", name="/.pdf", exact=True).click()
    expect(row(page, "Googlebot", "/.pdf")).to_contain_text("line 2: Disallow: /*.pdf$")
    page.get_by_label("Read as").select_option("GYM2008")
    tab(page, "dialects")
    expect(panel.locator(".lead")).to_contain_text("Dialect: GYM2008")


def test_load_from_site_shows_the_hops(open_page: OpenPage, site: Site) -> None:
    site.pages["/robots.txt"] = Answer(301, headers={"Location": "/elsewhere.txt"})
    site.pages["/elsewhere.txt"] = Answer(
        200, b"User-agent: *\r\nDisallow: /from-site\r\n", headers={"Content-Type": "text/plain"}
    )
    page = open_page()
    page.get_by_label("Load from site").fill(site.url)
    page.get_by_role("button", name="Load", exact=True).click()
    expect(editor(page)).to_have_value("User-agent: *\nDisallow: /from-site\n")
    fetch_region = page.get_by_role("region", name="Fetched file")
    hops = fetch_region.locator("li")
    expect(hops).to_have_count(2)
    expect(hops.nth(0)).to_contain_text("301")
    expect(hops.nth(0)).to_contain_text("→ /elsewhere.txt")
    expect(hops.nth(1)).to_contain_text(f"{site.url}/elsewhere.txt")
    expect(hops.nth(1)).to_contain_text("text/plain")
    page.get_by_role("button", name="Undo").click()
    expect(editor(page)).to_have_value(re.compile("^# An example"))
    fetch_region.get_by_role("button", name="Close the fetched file").click()
    expect(fetch_region).to_be_hidden()


def test_load_errors(open_page: OpenPage, site: Site) -> None:
    page = open_page()
    before = editor(page).input_value()
    for url, expected in (
        ("http://127.0.0.2:8000", "address blocked by the guard: 127.0.0.2 is loopback"),
        ("http://[::1]/", "address blocked by the guard"),
    ):
        page.get_by_label("Load from site").fill(url)
        page.get_by_label("Load from site").press("Enter")
        expect(page.get_by_role("region", name="Fetched file")).to_contain_text(expected)
        expect(page.locator("#message")).to_contain_text("The text has not changed")
    for url, expected in (("", "Enter a site"), ("http://", "http://"), ("ftp://x", "ftp")):
        page.get_by_label("Load from site").fill(url)
        page.get_by_label("Load from site").press("Enter")
        expect(page.locator("#message")).to_contain_text(expected)
    assert editor(page).input_value() == before
    # A missing file is loaded as an empty one.
    page.get_by_label("Load from site").fill(site.url)
    page.get_by_label("Load from site").press("Enter")
    expect(page.get_by_role("region", name="Fetched file")).to_contain_text(
        "no file: everything is allowed"
    )
    expect(editor(page)).to_have_value("")
    expect(row(page, "GPTBot", "/private/x")).to_contain_text("no group for this crawler")


def test_last_load_wins_and_typed_text_is_kept(open_page: OpenPage, site: Site) -> None:
    page = open_page()
    load = page.get_by_label("Load from site")
    site.robots(body=b"User-agent: *\nDisallow: /slow", delay=1)
    load.fill(site.url)
    load.press("Enter")
    editor(page).fill("# mine")
    message = page.locator("#message")
    expect(message).to_contain_text("You have edited the text since")
    assert editor(page).input_value() == "# mine"
    message.get_by_role("button", name="Replace the text").click()
    expect(editor(page)).to_have_value("User-agent: *\nDisallow: /slow")
    load.fill("http://127.0.0.2:8000")
    load.press("Enter")
    load.fill(site.url)
    load.press("Enter")
    expect(page.get_by_role("region", name="Fetched file")).to_contain_text(site.url)
    page.wait_for_timeout(300)
    expect(page.get_by_role("region", name="Fetched file")).to_contain_text(site.url)


def test_undo_and_redo(open_page: OpenPage) -> None:
    page = open_page()
    example = editor(page).input_value()
    editor(page).fill(BROKEN)
    tab(page, "findings")
    page.get_by_role("button", name=re.compile("^Fix all")).click()
    expect(editor(page)).to_have_value(re.compile("Disallow: /foo"))
    fixed = editor(page).input_value()
    editor(page).press("Control+End")
    editor(page).type("# one")
    page.wait_for_timeout(1100)
    editor(page).type("# two")
    for expected in (fixed + "# one", fixed, BROKEN, example, example):
        editor(page).press("Control+z")
        assert editor(page).input_value() == expected
    for expected in (BROKEN, fixed, fixed + "# one"):
        editor(page).press("Control+Shift+z")
        assert editor(page).input_value() == expected
    editor(page).press("Control+y")
    expect(editor(page)).to_have_value(fixed + "# one# two")
    tab(page, "test")
    expect(row(page, "Googlebot", "/private/x")).to_contain_text("no rule matches")


def test_ambiguous_input_is_explained(open_page: OpenPage, site: Site) -> None:
    site.robots(body=b"User-agent: *\nDisallow: /caf\xe9\n")
    page = open_page()
    page.get_by_label("Load from site").fill(site.url)
    page.get_by_label("Load from site").press("Enter")
    expect(page.get_by_role("region", name="Fetched file")).to_contain_text("not UTF-8")
    urls = page.get_by_label("URLs or paths, one per line")
    urls.fill(f"example.com/x\nhttps://other.example/x\n{site.url}/x\n/x")
    rows = page.locator("#panel-test tbody tr")
    expect(rows).to_have_count(8)
    expect(rows.nth(0)).to_contain_text("no scheme: read as the path /example.com/x")
    expect(rows.nth(1)).to_contain_text(f"not on {site.url}: this file does not apply to it")
    for number in (2, 3):
        expect(rows.nth(number)).not_to_contain_text(re.compile("no scheme|not on"))


def test_link_contains_the_whole_state(open_page: OpenPage, service: str) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    text = "User-agent: *\nDisallow: /<b>\u00e9☕🤖&amp;%23\n"
    editor(page).fill(text)
    page.get_by_label("URLs or paths, one per line").fill("/<b>☕\n/x")
    page.get_by_role("button", name="Remove GPTBot").click()
    page.get_by_label("Read as").select_option("GOOGLE")
    tab(page, "compare")
    page.get_by_role("button", name="Use the file in the editor").click()
    page.get_by_label("The robots.txt before").fill("User-agent: *\n")
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#message")).to_contain_text("Link copied")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{service}/#1.")
    other = open_page(link.removeprefix(f"{service}/"))
    assert editor(other).input_value() == text
    expect(other.locator("#panel-compare")).to_be_visible()
    expect(other.get_by_label("The robots.txt before")).to_have_value("User-agent: *\n")
    assert other.get_by_label("Read as").input_value() == "GOOGLE"
    tab(other, "test")
    expect(other.locator("#panel-test .chip")).to_have_text("Googlebot ✕".replace(" ", ""))
    expect(row(other, "Googlebot", "/<b>☕")).to_contain_text("allowed")
    # Typed text is saved in the URL too.
    editor(other).fill("User-agent: *\nDisallow: /kept")
    other.wait_for_timeout(700)
    other.reload()
    other.wait_for_selector("body[data-ready]")
    expect(editor(other)).to_have_value("User-agent: *\nDisallow: /kept")


@pytest.mark.parametrize("fragment", ["#1.nonsense", "#1.", "#x", "#1.q1YqSS0uUbJSKi1OLVKqBQA"])
def test_broken_link_shows_the_example(open_page: OpenPage, fragment: str) -> None:
    page = open_page(fragment)
    expect(editor(page)).to_have_value(re.compile("User-agent"))
    expect(page.locator("#panel-test tbody tr")).to_have_count(8)


def test_keyboard_navigation(open_page: OpenPage) -> None:
    page = open_page()
    focused_element = "document.activeElement.id || document.activeElement.getAttribute('aria-label') || document.activeElement.textContent"
    page.keyboard.press("Tab")
    assert page.evaluate(focused_element) == "Skip to the tester"
    focus_order = []
    for _ in range(12):
        page.keyboard.press("Tab")
        focus_order.append(page.evaluate(focused_element))
    assert focus_order[:6] == ["site", "Load", "share", "API", "Docs", "examples"]
    assert "The text of the robots.txt" in focus_order
    assert "tab-test" in focus_order
    assert "tab-findings" not in focus_order
    page.locator("#tab-test").focus()
    for key, name in (
        ("ArrowRight", "findings"), ("End", "dialects"), ("ArrowRight", "test"),
        ("ArrowLeft", "dialects"), ("Home", "test"),
    ):  # fmt: skip
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.id") == f"tab-{name}"
        expect(page.locator(f"#panel-{name}")).to_be_visible()
    row(page, "Googlebot", "/private/x").get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#editor .gutter .now")).to_have_text("3")
    # The focus does not move when the table is redrawn.
    assert "line 3" in page.evaluate("document.activeElement.textContent")
    mark = page.get_by_role("button", name=re.compile("^Line 6: note"))
    mark.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.evaluate("document.activeElement.dataset.line") == "6"


@pytest.mark.parametrize("width", [360, 560, 768, 900, 1024, 1400, 2560])
def test_nothing_overflows(open_page: OpenPage, width: int) -> None:
    page = open_page(width=width)
    editor(page).fill("User-agent: *\nDisallow: /" + "x" * 500 + "\nAllow: /" + "y" * 300)
    page.get_by_label("URLs or paths, one per line").fill("/" + "x" * 900 + "\n/" + "y" * 400)
    page.get_by_label("Another crawler").fill("Z" * 300)
    page.get_by_label("Another crawler").press("Enter")
    for name in TABS:
        tab(page, name)
        if name == "compare":
            page.get_by_role("button", name="Use the file in the editor").click()
            page.get_by_label("The robots.txt before").fill("User-agent: *")
        if name == "signals":
            fill_page(page, "x" * 300)
        page.wait_for_timeout(250)
        outside = page.evaluate(
            "width => [...document.querySelectorAll('body *')].filter(each => each.offsetParent"
            " && each.getBoundingClientRect().right > width + 1"
            " && !each.parentElement.closest('.wide, .layer')).map(each => each.outerHTML.slice(0, 99))",
            width,
        )
        assert (name, outside) == (name, [])
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1400])
def test_axe_finds_no_violations(open_page: OpenPage, site: Site, scheme: str, width: int) -> None:
    if not AXE.is_file():
        pytest.skip("no axe-core: make test-service installs it, with npm")
    # The page's Content-Security-Policy does not allow axe to run.
    page = open_page(width=width, color_scheme=scheme, bypass_csp=True)
    page.evaluate(AXE.read_text("utf-8"))
    site.robots(body=BROKEN.encode() + b"Disallow: /private/\nDisallow: /private/x\n")
    page.get_by_label("Load from site").fill(site.url)
    page.get_by_role("button", name="Load", exact=True).click()
    expect(page.locator("#message")).to_contain_text("Loaded")
    for name in TABS:
        tab(page, name)
        if name == "compare":
            page.get_by_role("button", name="Use the file in the editor").click()
            page.get_by_label("The robots.txt before").fill("User-agent: *")
            expect(page.locator("#panel-compare .lead")).to_be_visible()
        if name == "test":
            page.locator("#panel-test tbody button").first.click()
        if name == "findings":
            page.get_by_role("button", name=re.compile("^Show .* notes?$")).click()
            page.locator("#panel-findings summary").first.click()
        if name == "audit":
            page.get_by_role("button", name="AI training", exact=True).click()
            page.get_by_label("Name or operator").fill("o")
        if name == "signals":
            fill_page(page)
            expect(page.locator("#panel-signals")).to_contain_text("Conflicts")
        page.wait_for_timeout(250)
        check_axe(page, name)
    page.get_by_role("button", name=re.compile("^Line 3: ")).click()
    check_axe(page, "a margin mark")
    page.get_by_role("button", name="Examples").click()
    check_axe(page, "the menu")
    page.get_by_role("menuitem", name="Shopify").click()
    expect(page.locator("#message li").first).to_be_visible()
    check_axe(page, "a preset")


SCRIPTS = [
    "<script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=1>",
    '"><svg onload=window.pwned=1>',
    "javascript:window.pwned=1",
    "{{constructor.constructor('window.pwned=1')()}}",
    "</textarea><script>window.pwned=1</script>",
]


def check_harmless(page: Page) -> None:
    page.wait_for_timeout(300)
    assert page.evaluate("window.pwned") is None
    assert page.locator("main img, main svg, main script, main iframe").count() == 0
    assert page.locator("a[href^='javascript:']").count() == 0


@pytest.mark.parametrize("script", SCRIPTS, ids=range(len(SCRIPTS)))
def test_scripts_in_any_field_are_not_run(open_page: OpenPage, site: Site, script: str) -> None:
    hostile_file = (
        f"User-agent: {script}\nDisallow: /{script}\n{script}\nDisalow: /{script}\n"
        f"User-agent: *\nDisallow: {script}\nSitemap: {script}\nLicense: {script}\n"
        f"Content-Signal: ai-train={script}\nContent-Usage: /{script} train-ai=n\nHost: {script}\n"
    )
    page = open_page()
    editor(page).fill(hostile_file)
    page.get_by_label("URLs or paths, one per line").fill(
        f"/{script}\n{script}\nhttps://{script}/x"
    )
    page.get_by_label("Another crawler").fill(script)
    page.get_by_label("Another crawler").press("Enter")
    expect(page.locator("#panel-test")).to_contain_text("pwned")
    check_harmless(page)
    for name in TABS:
        tab(page, name)
        if name == "compare":
            page.get_by_role("button", name="Use the file in the editor").click()
            page.get_by_label("The robots.txt before").fill(
                hostile_file.replace("Disallow", "Allow")
            )
        if name == "signals":
            fill_page(page, script)
            expect(page.locator("#panel-signals")).to_contain_text("Conflicts")
        check_harmless(page)
    page.locator("#editor .gutter button").first.click()
    check_harmless(page)
    page.get_by_role("button", name="Copy link").click()
    fragment = page.evaluate("location.hash")
    site.pages["/robots.txt"] = Answer(
        302, headers={"Location": f"/{script.replace(' ', '%20')}", "Content-Type": script}
    )
    for url in (site.url, script):
        page.get_by_label("Load from site").fill(url)
        page.get_by_role("button", name="Load", exact=True).click()
        check_harmless(page)
    site.robots(body=hostile_file.encode(), headers={"Content-Type": script, "Server": script})
    second_page = open_page(fragment)
    expect(editor(second_page)).to_have_value(hostile_file)
    check_harmless(second_page)
    second_page.get_by_label("Load from site").fill(f"{site.url}/")
    second_page.get_by_role("button", name="Load", exact=True).click()
    check_harmless(second_page)


def test_misleading_characters_are_escaped(open_page: OpenPage) -> None:
    page = open_page()
    page.get_by_label("URLs or paths, one per line").fill("/a\u202eb\u200bc")
    expect(page.locator("#panel-test")).to_contain_text(r"/a\u{202e}b\u{200b}c")


def test_a_large_file(open_page: OpenPage) -> None:
    page = open_page()
    lines = "".join(f"Disallow: /{number}/x\n" for number in range(25_000))
    # Set the value directly: typing this much takes Chromium a minute.
    editor(page).evaluate(
        "(text, value) => { text.value = value; text.dispatchEvent(new Event('input')); }",
        "User-agent: *\n" + lines,
    )
    expect(page.locator("#facts")).to_contain_text("25,002 lines")
    page.get_by_label("URLs or paths, one per line").fill("/24999/x")
    expect(row(page, "Googlebot", "/24999/x")).to_contain_text("line 25001")
    row(page, "Googlebot", "/24999/x").get_by_role("button").click()
    expect(page.locator("#editor .gutter .now")).to_have_text("25001")
    # Only visible lines are drawn.
    assert page.locator("#editor .gutter div").count() < 100


def test_unreachable_service_is_reported(open_page: OpenPage) -> None:
    page = open_page()
    page.context.set_offline(True)
    page.get_by_label("URLs or paths, one per line").fill("/x")
    expect(page.locator("#panel-test [role=status]")).to_contain_text("does not respond")
    page.context.set_offline(False)
    expect(row(page, "Googlebot", "/x")).to_contain_text("no rule matches")

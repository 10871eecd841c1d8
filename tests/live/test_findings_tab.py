"""The tab Findings of the tester page, and the marks in the margin."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from koster.lint import lint, most_important
from tests.helpers.tester import BROKEN, OpenPage, editor, tab


def test_margin_marks_explain_and_fix(open_page: OpenPage) -> None:
    page = open_page()
    editor(page).fill(BROKEN)
    mark = page.get_by_role("button", name=re.compile("^Line 3: warning L001"))
    mark.click()
    popover = page.get_by_role("dialog", name="Findings in line 3")
    expect(popover).to_contain_text("Missing colon after Disalow")
    popover.get_by_text("Why").first.click()
    expect(popover).to_contain_text("Source:")
    popover.get_by_role("button", name="Fix it").first.press("Enter")
    expect(editor(page)).to_have_value(BROKEN.replace("Disalow /foo", "Disalow: /foo"))
    message = page.locator("#message")
    expect(message).to_contain_text("Fixed L001. No access changes (proved).")
    expect(message.get_by_role("button", name="Undo")).to_be_focused()
    expect(popover).to_have_count(0)
    message.get_by_role("button", name="Undo").click()
    expect(editor(page)).to_have_value(BROKEN)
    expect(message).to_be_empty()


def test_findings_list(open_page: OpenPage) -> None:
    page = open_page()
    editor(page).fill(BROKEN)
    expect(page.locator("#count")).to_have_text("4")
    tab(page, "findings")
    panel = page.locator("#panel-findings")
    expect(panel.get_by_role("status")).to_have_text("2 errors, 2 warnings")
    codes = panel.locator(".card").evaluate_all("all => all.map(each => each.dataset.code)")
    assert codes == ["P001", "M001", "L001", "L003"]
    panel.get_by_role("button", name="Line 2").first.click()
    expect(page.locator("#editor .gutter .now")).to_have_text("2")
    page.get_by_role("button", name=re.compile("^Fix all")).click()
    expect(editor(page)).to_have_value(re.compile("Disallow: /foo"))
    editor(page).fill("User-agent: *\nDisallow: /x\n")
    expect(panel).to_contain_text("No problems found")
    expect(page.locator("#count")).to_be_empty()
    expect(page.locator("#editor .gutter button")).to_have_count(0)


def test_the_list_says_what_to_look_at_first(open_page: OpenPage) -> None:
    page = open_page()
    text = "User-agent: FooBot\nDisallow: admin\nUser-agent: *\nUser-agent: A, B\nDisallow: /\n"
    editor(page).fill(text)
    tab(page, "findings")
    first = most_important(lint(text.encode()))
    assert first is not None
    lead = page.locator("#panel-findings .lead")
    expect(lead).to_have_text(f"Look first at line {first.line}: {first.message} ({first.code})")
    lead.get_by_role("button").click()
    expect(page.locator("#editor .gutter .now")).to_have_text(str(first.line))
    editor(page).fill("User-agent: *\nDisallow: admin\n")
    expect(lead).to_be_hidden()


def test_notes_are_counted_and_hidden(open_page: OpenPage) -> None:
    page = open_page()
    text = "User-agent: *\nDisallow: /a\nDisallow: /a/b\nDisallow: /a/c\nDisallow: admin\n"
    editor(page).fill(text)
    expect(page.locator("#count")).to_have_text("1")
    tab(page, "findings")
    panel = page.locator("#panel-findings")
    expect(panel.get_by_role("status")).to_have_text("1 error")
    expect(panel.locator(".card")).to_have_count(1)
    show = panel.get_by_role("button", name="Show 2 notes")
    show.focus()
    page.keyboard.press("Enter")
    expect(panel.locator(".card")).to_have_count(2)
    expect(panel.locator(".card").nth(1)).to_contain_text("S009")
    expect(page.locator("#count")).to_have_text("1")
    # The mark in the margin is only a dot, which explains why the line is dimmed.
    mark = page.get_by_role("button", name=re.compile("^Line 3: note S009"))
    expect(mark).to_have_text("·")
    panel.get_by_role("button", name="Hide 2 notes").click()
    expect(panel.locator(".card")).to_have_count(1)
    editor(page).fill("User-agent: *\nDisallow: /a\nDisallow: /a/b\n")
    expect(panel.get_by_role("status")).to_have_text("No errors or warnings")
    expect(panel.get_by_role("button", name="Show 1 note")).to_be_visible()


def test_repeated_findings_are_one_card(open_page: OpenPage) -> None:
    page = open_page()
    rules = [f"Disalow: /{name}" for name in "abcdefg"]
    editor(page).fill("\n".join(["User-agent: *", *rules[:5], "Allow: /a/x", *rules[5:], "# end"]))
    tab(page, "findings")
    card = page.locator("#panel-findings [data-code=L003]")
    expect(card).to_contain_text("7 times")
    expect(card.locator(".example")).to_have_count(1)
    expect(card).to_contain_text("6 more: lines 3\u20136, 8\u20139")
    card.get_by_role("button", name="Line 8").click()
    expect(page.locator("#editor .gutter .now")).to_have_text("8")
    card.get_by_text("Why").click()
    editor(page).press("Control+End")
    editor(page).type("x")
    page.wait_for_timeout(500)
    expect(card).to_contain_text("Source:")
    card.get_by_role("button", name="Fix all 7 of L003").click()
    expect(editor(page)).to_have_value(re.compile("Disallow: /a\nDisallow: /b"))


def test_examples_of_a_card_have_different_messages(open_page: OpenPage) -> None:
    page = open_page()
    names = ("Dissallo", "Alow", "Disallw", "Allloww", "Alow")
    editor(page).fill("User-agent: *\n" + "".join(f"{name}: /\n" for name in names))
    tab(page, "findings")
    card = page.locator("#panel-findings [data-code=L004]")
    expect(card.locator(".example > p:first-child")).to_have_text(
        [
            f'Line {line}: Unknown directive "{name}": crawlers ignore this line.'
            for line, name in enumerate(names[:3], 2)
        ]
    )
    expect(card).to_contain_text("2 more: lines 5\u20136")


def test_the_focus_stays_in_the_list(open_page: OpenPage) -> None:
    page = open_page()
    editor(page).fill(BROKEN)
    tab(page, "findings")
    button = page.locator("#panel-findings [data-code=L001]").get_by_role("button", name="Fix it")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#panel-findings [data-code=L001]")).to_have_count(0)
    assert page.evaluate("document.activeElement.closest('#panel-findings') !== null")


def test_fix_changes_no_access(open_page: OpenPage) -> None:
    page = open_page()
    editor(page).fill("User-agent: *\nDissallow: /a")
    tab(page, "findings")
    page.locator("#panel-findings").get_by_role("button", name="Fix it").first.click()
    expect(page.locator("#message")).to_contain_text("Fixed L003. No access changes (proved).")


def test_suggestion_for_a_typo_reports_access_changes(open_page: OpenPage) -> None:
    page = open_page()
    editor(page).fill("User-agent: *\nDisallows: /a")
    tab(page, "findings")
    card = page.locator("#panel-findings [data-code=L009]")
    card.get_by_role("button", name="Apply suggestion").click()
    expect(page.locator("#message")).to_contain_text("/a is now blocked for all other crawlers")


def test_suggestions_say_what_they_change(open_page: OpenPage) -> None:
    page = open_page()
    text = "User-agent: *\nDisallow: /a\n\nUser-agent: FooBot\nCrawl-delay: 5\n"
    editor(page).fill("User-agent: Googlbot\nDisallow: /a\n")
    tab(page, "findings")
    card = page.locator("#panel-findings [data-code=G013]")
    expect(card).to_contain_text("Suggestion: Did you mean Googlebot?")
    expect(card.get_by_role("button", name="Fix it")).to_have_count(0)
    card.get_by_role("button", name="Apply suggestion").click()
    expect(editor(page)).to_have_value("User-agent: Googlebot\nDisallow: /a\n")
    message = page.locator("#message")
    expect(message).to_contain_text("Applied the suggestion for G013 in line 1. Access changes: ")
    expect(message).to_contain_text("/a is now blocked for Googlebot")
    message.get_by_role("button", name="Undo").click()
    expect(editor(page)).to_have_value("User-agent: Googlbot\nDisallow: /a\n")
    editor(page).fill(text.replace("FooBot\nCrawl-delay: 5", "*\nDisallow: /a/b"))
    page.get_by_role("button", name=re.compile("Show . note")).click()
    page.locator("#panel-findings [data-code=S009]").get_by_role(
        "button", name="Apply suggestion"
    ).click()
    expect(message).to_contain_text("No access changes (proved).")


def test_fixes_use_utf8_byte_offsets(open_page: OpenPage) -> None:
    """Edits are UTF-8 byte offsets; the text has characters of one to four bytes, and a BOM."""
    page = open_page()
    text = "\ufeff# caf\u00e9 ☕ 🤖\nUser-agent: *\nDisalow: /foo\n# 🤖"
    editor(page).fill(text)
    page.get_by_role("button", name=re.compile("^Line 3: warning L003")).click()
    page.get_by_role("button", name="Fix it").click()
    expect(editor(page)).to_have_value(text.replace("Disalow", "Disallow"))

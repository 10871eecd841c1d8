"""The menu of examples of the tester page."""

from __future__ import annotations

from playwright.sync_api import expect

from koster.compose import PRESETS, compose, intentions_of
from tests.helpers.tester import OpenPage, editor


def test_presets_replace_the_text(open_page: OpenPage) -> None:
    page = open_page()
    before = editor(page).input_value()
    page.get_by_role("button", name="Examples").click()
    menu = page.get_by_role("menu", name="Examples")
    expect(menu.get_by_role("menuitem")).to_have_count(len(PRESETS) + 1)
    message = page.locator("#message")
    for preset in PRESETS:
        if not menu.is_visible():
            page.get_by_role("button", name="Examples").click()
        menu.get_by_role("menuitem", name=preset.title).click()
        expect(editor(page)).to_have_value(compose(intentions_of([preset.name])).body.decode())
        expect(message).to_contain_text(f"{preset.title}.")
        expect(message.locator("li")).to_have_text(list(preset.allowed))
        links = message.get_by_role("link").all_inner_texts()
        assert links == [preset.source] * bool(preset.source)
        message.get_by_role("button", name="Undo").click()
        expect(editor(page)).to_have_value(before)
    editor(page).fill("# mine")
    page.get_by_role("button", name="Examples").click()
    menu.get_by_role("menuitem", name="Short example").click()
    expect(editor(page)).to_have_value(before)


def test_the_menu_with_the_keyboard(open_page: OpenPage) -> None:
    page = open_page()
    button, menu = page.get_by_role("button", name="Examples"), page.locator("#example-menu")
    text = "document.activeElement.textContent"
    button.focus()
    for key, expected in (
        ("Enter", "Short example"), ("ArrowDown", PRESETS[0].title), ("End", PRESETS[-1].title),
        ("ArrowDown", "Short example"), ("ArrowUp", PRESETS[-1].title), ("Home", "Short example"),
        ("b", PRESETS[0].title), ("b", PRESETS[1].title), ("a", "Allow everything"),
    ):  # fmt: skip
        page.keyboard.press(key)
        assert page.evaluate(text).startswith(expected), key
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(button).to_be_focused()
    page.keyboard.press("ArrowUp")
    assert page.evaluate(text).startswith(PRESETS[-1].title)
    page.keyboard.press("Tab")
    expect(menu).to_be_hidden()
    expect(button).to_have_attribute("aria-expanded", "false")
    button.press("ArrowDown")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(button).to_be_focused()
    expect(page.locator("#message")).to_contain_text(PRESETS[-1].title)
    button.click()
    page.locator("h1").click()
    expect(menu).to_be_hidden()

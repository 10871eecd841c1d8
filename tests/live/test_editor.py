"""The editor of the tester page: colours, dimmed lines, and how they line up with the text."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import koster
from koster.model import RULES, Directive, Line, LineKind
from tests.helpers.tester import OpenPage, editor

#: What lines are made of, for random ones.
PIECES = [
    "User-agent", "user agent", "Allow", "Disalow", "Noindex", "Crawl-delay", "foo", "x y",
    " ", "  ", "\t", "\v", "\f", ":", "#", "/a*$", "*", "\u00a0", "\u0130", "\u212a", "\u00e9",
]  # fmt: skip
HARD_TO_ALIGN = (
    "# comment \u00e9 ☕ 🤖 x\nUser-agent:\tFoo\t*\nDisallow: /a*b/*/c$\n"
    "\tAllow\t: /\u05d0\u05d1\u05d2*/\u0645\u0631\u062d\u0628\u0627$ # \u05e9\u05dc\u05d5\u05dd\n"
    "Disallow: /a\u202eb*c\u202c$\nfoo: bar fi ffi -> != ===\nDisallow: /\u4e2d*\u65e5\u200b\u0301e\u0301\n"
    "\u2028x: y\u2029z\u0085w\nA\vB\fC\nDisallow: /\ud800*\udc00\u0001\n"
    + "x*\ty" * 400
    + "$\n\nlast"
)


def put(page: Page, text: str) -> None:
    """Set the text directly: typing a long one takes Chromium a minute."""
    editor(page).evaluate(
        "(area, text) => { area.value = JSON.parse(text); area.dispatchEvent(new Event('input')); }",
        json.dumps(text),  # Playwright does not send lone surrogates.
    )


def kinds(page: Page, line: int) -> list[tuple[str, str]]:
    spans = page.locator("#editor .layer > div[style*=top]").nth(line - 1).locator("span")
    return [
        tuple(each)
        for each in spans.evaluate_all("all => all.map(e => [e.className, e.textContent])")
    ]


def dimmed(page: Page) -> list[str]:
    return page.locator("#editor .layer .dimmed").all_inner_texts()


def expected_kinds(line: Line) -> set[str]:
    if line.kind is LineKind.UNKNOWN:
        return {"unknown"}
    if line.kind is LineKind.MALFORMED:
        return {"invalid"}
    if line.kind is not LineKind.DIRECTIVE:
        return set()
    if line.directive in RULES:
        return {"directive", "path", "wildcard"}
    return {"directive", "agent" if line.directive is Directive.USER_AGENT else "value"}


def test_lines_are_coloured_as_koster_reads_them(open_page: OpenPage) -> None:
    page = open_page()
    choose = random.Random(9309)
    texts = ["".join(choose.choices(PIECES, k=choose.randint(0, 7))) for _ in range(3_000)]
    found = page.evaluate(
        "async texts => { const { parts } = await import('/static/lines.js'); return texts.map(parts); }",
        texts,
    )
    lines = koster.parse("\n".join(texts)).lines
    for text, parts, line in zip(texts, found, lines, strict=True):
        assert "".join(part for _, part in parts) == text
        coloured = {kind for kind, _ in parts} - {"space", "comment"}
        assert coloured <= expected_kinds(line), text
        if line.kind is LineKind.DIRECTIVE:
            values = [
                part for kind, part in parts if kind in ("path", "wildcard", "agent", "value")
            ]
            assert ("directive", line.key) == tuple(
                next(each for each in parts if each[0] != "space")
            )
            assert "".join(values) == line.value
        else:
            assert bool(coloured) == bool(expected_kinds(line)), text


def test_every_spelling_of_a_directive_is_known(open_page: OpenPage) -> None:
    page = open_page()
    known = page.evaluate("async () => [...(await import('/static/lines.js')).VALUES]")
    assert {name for name, _ in known} == {
        spelling for directive in Directive for spelling in directive.spellings
    }


def test_colours_of_directives_agents_paths_and_comments(open_page: OpenPage) -> None:
    page = open_page()
    editor(page).fill("User-agent: FooBot # us\nDisallow: /*.pdf$\nCrawl-dellay: 5\nhello\n")
    assert kinds(page, 1) == [("directive", "User-agent"), ("agent", "FooBot"), ("comment", "# us")]
    assert kinds(page, 2) == [
        ("directive", "Disallow"), ("path", "/"), ("wildcard", "*"), ("path", ".pdf"), ("wildcard", "$"),
    ]  # fmt: skip
    assert kinds(page, 3) == [("unknown", "Crawl-dellay"), ("unknown", "5")]
    assert kinds(page, 4) == [("invalid", "hello")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("User-agent: *\nDisallow: /a\nDisallow: /a/b\nAllow: /c\n", [3, 4]),
        ("User-agent: *\nDisallow: admin\nDisallow: https://x.example/\nDisallow: /a", [2, 3]),
        ("Disallow: /a\nSitemap: https://x.example/s\nAllow: /b\nUser-agent: *\nDisallow: /", [1, 3]),
        (
            "User-agent: OpenAI\nCrawl-delay: 1\nUser-agent: A, B\nDisallow: /\nAllow: /x\nUser-agent: Googlbot\nUser-agent: *\nDisallow: /y\n",
            [1, 3, 4, 5],
        ),
        ("User-agent: *\nDisallow: /a\n", []),
    ],
)  # fmt: skip
def test_lines_without_effect_are_dimmed(
    open_page: OpenPage, text: str, expected: list[int]
) -> None:
    page = open_page()
    editor(page).fill(text)
    lines = text.split("\n")
    page.wait_for_timeout(500)
    expect(page.locator("#editor .layer .dimmed")).to_have_count(len(expected))
    assert dimmed(page) == [lines[number - 1] for number in expected]


def test_dimmed_lines_move_with_the_text(open_page: OpenPage) -> None:
    page = open_page()
    editor(page).fill("User-agent: *\nDisallow: /a\nDisallow: /a/b\nDisallow: /c\n")
    expect(page.locator("#editor .layer .dimmed")).to_have_count(1)
    page.route("**/v1/lint", lambda route: None)
    editor(page).press("Control+Home")
    for key in ("Enter", "Enter", "Backspace"):
        editor(page).press(key)
        assert dimmed(page) == ["Disallow: /a/b"]
    editor(page).press("Control+a")
    editor(page).press("Delete")
    assert dimmed(page) == []


#: A whole pixel apart is more than 128 in a channel; antialiasing of parts of a line is less.
DIFFERENCE = """async ([one, other]) => {
  const pixels = async (data) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height).data;
  };
  const [first, second] = [await pixels(one), await pixels(other)];
  return [
    first.reduce((most, each, at) => Math.max(most, Math.abs(each - second[at])), 0),
    first.reduce((dark, each) => dark + (each < 128), 0)];
}"""


@pytest.mark.parametrize(
    ("text", "top", "left"),
    [
        (HARD_TO_ALIGN, 0, 0),
        (HARD_TO_ALIGN, 0, 777),
        ("\n".join(f"Disallow: /{number}/*x$ # c" for number in range(20_000)), 199_507, 0),
        ("\n".join(f"Disallow: /{number}/*x$ # c" for number in range(20_000)), 10_000_000, 0),
        ("User-agent: *\nDisallow: /" + "abc*" * 25_000 + "$", 0, 333_333),
    ],
    ids=["hard", "hard-scrolled", "many", "end", "long"],
)
def test_colours_line_up_with_the_text(open_page: OpenPage, text: str, top: int, left: int) -> None:
    page = open_page(bypass_csp=True)
    put(page, text)
    editor(page).evaluate(
        "(area, [top, left]) => { area.scrollTop = top; area.scrollLeft = left; }", [top, left]
    )
    page.wait_for_timeout(600)
    style = page.add_style_tag(content="/* Replaced below. */")
    pictures = []
    for css in (
        ".page textarea { -webkit-text-fill-color: black } .layer, .under { visibility: hidden }",
        ".layer * { color: black !important; text-decoration: none !important } .under { visibility: hidden }",
    ):
        style.evaluate("(style, css) => { style.textContent = css; }", css)
        page.wait_for_timeout(150)
        picture = page.screenshot(clip=page.locator("#editor .page").bounding_box())
        pictures.append(base64.b64encode(picture).decode())
    difference, dark = page.evaluate(DIFFERENCE, pictures)
    assert dark > 1_000
    assert difference < 128


CONTRASTS = """() => {
  const channel = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = (text) => {
    const [red, green, blue] = text.match(/[\\d.]+/g).map(Number).map(channel);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const grounds = [".editor", ".strip"].map((each) => getComputedStyle(document.querySelector(each)).backgroundColor);
  return [...document.querySelectorAll("#editor .layer span")].flatMap((span) => grounds.map((ground) =>
    [`${span.parentElement.className} ${span.className} ${ground}`, contrast(getComputedStyle(span).color, ground)]));
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_of_colours(open_page: OpenPage, scheme: str) -> None:
    page = open_page(color_scheme=scheme)
    editor(page).fill(
        "User-agent: * # c\nDisallow: /*a$\nAllow: /b\nCrawl-delay: 1\nfoo: bar\nbaz\n"
    )
    expect(page.locator("#editor .layer .dimmed")).to_have_count(1)
    page.locator("#panel-test tbody button").first.click()
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 20
    assert [each for each in contrasts if each[1] < 4.5] == []


def test_the_text_is_the_textareas_own(open_page: OpenPage) -> None:
    """Selecting, typing over a selection and the clipboard work as in any textarea."""
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    area: Any = editor(page)
    area.fill("Disallow: /a\nDisallow: /b")
    area.press("Control+a")
    area.press("Control+c")
    assert page.evaluate("navigator.clipboard.readText()") == "Disallow: /a\nDisallow: /b"
    area.press("ArrowRight")
    area.type("/c*")
    assert kinds(page, 2)[-1] == ("wildcard", "*")
    assert page.locator("#editor .layer").get_attribute("aria-hidden") == "true"

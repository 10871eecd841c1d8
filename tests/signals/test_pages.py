"""Pages: the examples of specifications, then faults, and hostile HTML."""

from __future__ import annotations

import importlib
import sys
from datetime import UTC, datetime
from html.entities import html5

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from koster.errors import MissingExtraError
from koster.signals._flattening import _LONGER, FlatPage
from koster.signals._limits import MAX_HTML
from koster.signals._model import Reading
from koster.signals._pages import read_html, read_html_without_notes
from koster.signals._words import RULES_OF_OPERATORS
from tests.helpers.growth import growth

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def read(html: str | bytes, charset: str | None = None, *agents: str) -> Reading:
    return read_html(html.encode() if isinstance(html, str) else html, charset, NOW, agents)


def stated(found: Reading) -> set[tuple[str, str, str]]:
    return {(each.crawler, str(each.use), str(each.stated)) for each in found.statements}


def general(found: Reading) -> dict[str, str]:
    return {str(each.use): str(each.stated) for each in found.statements if not each.crawler}


# https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag


def test_example_of_google() -> None:
    found = read(
        '<!DOCTYPE html>\n<html><head>\n  <meta name="robots" content="noindex">\n  (…)\n</head>\n'
        "<body>(…)</body>\n</html>"
    )
    assert general(found) == {"search": "no"}
    assert found.statements[0].where == 'tag <meta name="robots">, line 3'
    assert found.statements[0].text == "noindex"
    assert found.statements[0].grammar.name == "meta-robots"


def test_tags_for_single_crawlers() -> None:
    found = read(
        '<meta name="googlebot" content="notranslate">\n'
        '<meta name="googlebot-news" content="nosnippet">'
    )
    assert stated(found) == {("Googlebot-News", "snippet", "no")}


def test_names_and_contents_are_not_case_sensitive() -> None:
    assert general(read("<META NAME=' ROBOTS ' CONTENT=NOINDEX>")) == {"search": "no"}


def test_rules_are_combined() -> None:
    found = read(
        '<meta name="robots" content="max-snippet:20, max-image-preview:large">'
        '<meta name="robots" content="nofollow"><meta name="googlebot" content="noindex">'
    )
    assert {each for each in stated(found) if each[1] == "search"} == {
        ("Googlebot", "search", "no")
    }


def test_a_date() -> None:
    found = read('<meta name="robots" content="unavailable_after: 2020-09-21">')
    assert general(found) == {"search": "no"}


def test_tags_in_the_body_count() -> None:
    # "will respect robots meta tags in the body section of an HTML document as well"
    found = read("<head><title>x</title></head>\n<body><p><meta name=robots content=noindex>")
    assert general(found) == {"search": "no"}
    assert (
        'tag <meta name="robots">, line 2 is in the body, where few look but Google' in found.notes
    )
    assert not [each for each in read("<meta name=robots content=noai>").notes if "body" in each]


def test_data_nosnippet_states_nothing_about_the_page() -> None:
    for html, note in (
        ("<p>x <span data-nosnippet>y</span>", "1 part of it has data-nosnippet"),
        (
            '<div data-nosnippet>a</div><div data-nosnippet="true">b</div><mytag data-nosnippet>',
            "3 parts of it have data-nosnippet, 1 of them on elements where Google ignores it",
        ),
    ):
        assert read(html) == Reading(notes=[f"page: {note}"])


def test_what_rules_mean_to_crawlers_of_operators() -> None:
    for rule, meanings in RULES_OF_OPERATORS.items():
        found = read(f'<meta name="robots" content="{rule}">')
        expected = {(each.crawler, str(each.use), "no") for each in meanings}
        assert {each for each in stated(found) if each[0]} == expected


# draft-illyes-repext-03


def test_example_of_the_draft() -> None:
    found = read(
        '<meta name="robots" content="noindex">\n<meta name="examplebot" content="nosnippet">',
        None,
        "ExampleBot/1.0",
    )
    assert {("", "search", "no"), ("ExampleBot", "snippet", "no")} <= stated(found)


def test_tags_for_unknown_crawlers_are_noted() -> None:
    found = read(
        '<meta name="examplebot" content="follow, NoSnippet"><meta name="theme-color" content="x">'
    )
    assert not found.statements
    assert found.notes == [
        'tag <meta name="examplebot">, line 1 is ignored: no crawler with this name is known'
    ]


def test_a_colon_names_no_crawler_in_a_tag() -> None:
    found = read("<meta name=robots content='googlebot: noindex'>")
    assert not found.statements
    assert "unknown rule" in found.notes[0]


# https://www.w3.org/community/reports/tdmrep/CG-FINAL-tdmrep-20240510/


def test_example_of_tdmrep() -> None:
    found = read("""<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="tdm-reservation" content="1">
    <meta name="tdm-policy" content="https://provider.com/policies/policy.json">
    <title>Document title</title>
  </head>
  <body>
    ...
  </body>
</html>""")
    assert stated(found) == {("", "tdm", "no")}
    assert found.statements[0].where == 'tag <meta name="tdm-reservation">, line 5'
    assert [(each.url, each.where) for each in found.licenses] == [
        ("https://provider.com/policies/policy.json", 'tag <meta name="tdm-policy">, line 6')
    ]


# RSL 1.0 §4.6


def test_links_to_licenses() -> None:
    found = read(
        '<base href="https://shop.example/press/">\n<base href="/x">\n'
        '<link rel="license" type="application/rsl+xml" href="license.xml">\n'
        '<link rel="alternate LICENSE" href="/b.xml"><link rel="stylesheet" href="/c">'
        '<link rel="license"><link rel="license" href="http://[">'
    )
    assert [(each.url, each.where) for each in found.licenses] == [
        ("https://shop.example/press/license.xml", 'tag <link rel="license">, line 3'),
        ("https://shop.example/b.xml", 'tag <link rel="license">, line 4'),
    ]
    assert found.notes == [
        'tag <link rel="license">, line 4: the license is no URL: ""',
        'tag <link rel="license">, line 4: the license is no URL: "http://["',
    ]
    assert [each.url for each in read("<link rel=license href=l.xml>").licenses] == ["l.xml"]


def test_license_documents_in_scripts() -> None:
    document = (
        '<rsl xmlns="https://rslstandard.org/rsl">\n<content url="" a="<b"><license>\n'
        '<permits type="usage">search</permits></license></content>\n<!-- <meta> --></rsl>\n'
    )
    found = read(
        "<title>x</title>\n<script type=' Application/RSL+xml; charset=utf-8'>\n"
        f'<?xml version="1.0" encoding="utf-16"?>{document}</script>'
        "<script type=module>noindex</script><script type>x</script>"
    )
    assert found.embedded == [
        ('tag <script type="application/rsl+xml">, line 2', document.encode())
    ]


def test_many_documents() -> None:
    found = read("<script type=application/rsl+xml>x</script>" * 11)
    assert len(found.embedded) == 10
    assert found.unread == ["page: only its first 10 tags with licenses are read"]


# Where tags are, and what only looks like one


@pytest.mark.parametrize(
    "html",
    [
        "<!-- <meta name=robots content=noindex> -->",
        "<script>'<meta name=robots content=noindex>'</script>",
        "<title><meta name=robots content=noindex></title>",
        "<style><meta name=robots content=noindex></style>",
        "<textarea><meta name=robots content=noindex></textarea>",
        "<template><meta name=robots content=noindex></template>",
        "<div title='<meta name=robots content=noindex>'>",
        "<plaintext><meta name=robots content=noindex>",
        "<metadata name=robots content=noindex>",
        "<meta name=robots>",
        "<meta name content=noindex>",
        "<meta content=noindex>",
        "</meta name=robots content=noindex>",
        "<meta name=robots content=noindex",
    ],
)
def test_no_tags(html: str) -> None:
    assert not read(html).statements


@pytest.mark.parametrize(
    "html",
    [
        "<meta/name='robots'/content='noindex'/>",
        "<meta\nname=robots\fcontent=noindex>",
        "<meta name=robots name=x content=noindex content=all>",
        "<div><table><tr><meta name=robots content=noindex></table>",
        "<svg><meta name=robots content=noindex></svg>",
        "<noscript><meta name=robots content=noindex></noscript>",
        "<!-- --><!--><meta name=robots content=noindex><!-- -->",
        "<a b='>'><meta name=robots content='noin&#100;ex'>",
        "x<y <meta ><meta name=robots content=noindex>",
        "<meta x='\"' name=robots content=noindex>",
        "\0<meta name=robots content=noindex>",
        "<select><meta name=robots content=noindex>",
    ],
)
def test_odd_tags(html: str) -> None:
    assert general(read(html)) == {"search": "no"}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines(end: str) -> None:
    html = end.join(["<!-- <meta>", "<meta> -->", "<p", "x><meta", "name=robots content=all>"])
    [found] = read(html).statements
    assert found.where == 'tag <meta name="robots">, line 4'


# Flat pages

TAGS = ["meta", "link", "script", "p", "div", "ul", "li", "b", "svg", "title", "custom-element"]
PARTS = st.sampled_from(
    [
        *(f"<{tag}>" for tag in TAGS),
        *(f"</{tag}>" for tag in (*TAGS, "body", "head")),
        '<meta name="a" content="x">',
        "<meta name='b' c='>'>",
        '<link rel="license" href="/a">',
        "<script>'<meta name=s><div>'</script>",
        "<!-- <meta name=c> -->",
        "<template><meta name=t></template>",
        '<div title="<meta name=d>">',
        "<body>",
        "<head>",
        "text < more",
        "\n",
    ]
)


def tags_of(html: str, *hidden: str) -> list[tuple[str | None, dict[str, str | None]]]:
    tree = LexborHTMLParser(html)
    return [
        (node.tag, {name: each for name, each in node.attributes.items() if name not in hidden})
        for node in tree.css("meta, link, script")
    ]


@given(st.lists(PARTS, max_size=30).map("".join))
def test_flat_pages_have_the_same_tags(html: str) -> None:
    flat = FlatPage(html)
    found, expected = tags_of(flat.html, flat.mark), tags_of(html)
    if "<svg>" not in html:
        assert found == expected
    elif not flat.hides_tags:
        # Within SVG, scripts have no text of their own, and what looks like a tag counts as one.
        rest = iter(found)
        assert all(each in rest for each in expected if each[0] != "script")
    assert flat.restored(flat.html) == html


@pytest.mark.parametrize(
    "name", ["title", "script", "style", "template", "textarea", "xmp", "iframe", "plaintext"]
)
@pytest.mark.parametrize("outer", ["svg", "math", "SVG width=1"])
def test_tags_within_foreign_elements_are_unread(outer: str, name: str) -> None:
    noai = "<meta name=robots content=noai>"
    unread = ["page: tags within SVG or MathML are not read"]
    for html in (f"<{outer}><{name}>{noai}</{name}></svg>", f"<{outer}><{name}>x</svg>{noai}"):
        found = read(html)
        assert found.unread == unread or found.statements, html
    for html in (f"<{outer}><{name}>x</{name}></{outer[:4].strip()}><p>", f"<{outer}><p>"):
        assert not read(html).unread
    # Elsewhere it is text, or no part of the page.
    assert read(f"<{name}>{noai}</{name}>") == Reading()
    assert read(f"<script>'<svg>'</script><{name}>{noai}</{name}>") == Reading()


@given(st.text())
def test_flat_pages_can_be_restored(text: str) -> None:
    flat = FlatPage(text)
    assert flat.restored(flat.html) == text


def test_tags_with_many_attributes_are_cut() -> None:
    attributes = "".join(f" a{number}=1" for number in range(100))
    flat = FlatPage(f"<meta name=robots content=noindex{attributes}><div{attributes}>")
    assert (
        flat.restored(flat.html)
        == f"<meta name=robots content=noindex{attributes}><div{attributes}>"
    )
    assert general(read(f"<meta name=robots content=noindex{attributes}>")) == {"search": "no"}
    assert not read(f"<meta{attributes} name=robots content=noindex>").statements
    # Two cuts, of which the second is within a tag.
    html = f"<a{attributes[:200]} b='<c d'e{attributes}"
    assert FlatPage(html).restored(FlatPage(html).html) == html


@pytest.mark.parametrize("place", ["{}", "<meta name=robots content='{}'>", "<title>{}"])
def test_references_that_are_longer_in_utf_8(place: str) -> None:
    """The parser writes them beyond the end of its memory."""
    longer = {name for name, text in html5.items() if len(text.encode()) > len(f"&{name}")}
    assert longer == set(_LONGER)
    for name in longer:
        page = place.format(f"&{name}" * 50_000)
        flat = FlatPage(page)
        assert f"&{name}" not in flat.html
        assert flat.restored(flat.html) == page
        assert not read(page).statements


@pytest.mark.parametrize("tag", ["link", "meta", "br", "body", "script"])
def test_tags_in_attributes_are_none(tag: str) -> None:
    found = read(f'<meta name="robots" content="<{tag} a, noai">')
    assert general(found) == {"ai-train": "no"}
    found = read(f'<link rel="license" href="/<{tag}>">')
    assert [each.url for each in found.licenses] == [f"/<{tag}>"]


def test_many_bodies() -> None:
    html = "".join(f"<body a{number}>" for number in range(20)) + "<meta name=robots content=all>"
    assert general(read(html)) == {"search": "yes"}
    assert FlatPage(html).html.count("<body") == 10


# Without notes

#: What pages are made of, whole and broken.
FRAGMENTS = (
    "<meta name=robots content=noai>", "<META NAME='GoogleBot' content=nosnippet>", "\"", "'", ">",
    "<meta content='x>y' name=robots", "<!--", "-->", "<script>", "</script>", "<title>", "/", "=",
    "<script type=application/rsl+xml><rsl xmlns='https://rslstandard.org/rsl'></rsl>", "<body>",
    "</title>", "<template>", "</template>", "<base href=/x/>", "<link rel=license href=../a>",
    "<link rel='lic&#101;nse' href=b>", "<meta name=tdm&#45;reservation content=1>", "<noscript>",
    "<meta name=tdm-reservation content=0 ", "</noscript>", "<frameset>", "<svg>", "<p a=\"", "<a '",
    "</head>", "<table>", "<plaintext>", "<style>", "</style>", "<iframe>", "<![CDATA[", "]]>",
    "<meta", " name = robots content = 'none'", "<meta name=viewport content=x>", "\n", "é", "\0",
    "".join(f" a{number}" for number in range(60)), "<svg>", "</svg>", "<title/>", "<title>", "</title>",
    "<a rel=license href=b>",
)  # fmt: skip


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12))
def test_without_notes_the_rest_is_the_same(fragments: list[str]) -> None:
    html = "".join(fragments).encode()
    whole = read_html(html, None, NOW)
    whole.notes.clear()
    assert read_html_without_notes(html, None, NOW) == whole


@pytest.mark.parametrize(
    "html",
    [
        "", "<p>nothing", "<meta name=viewport content=x>", "<meta name=robots content=noai>\0",
        "<link rel=license href=a><p><base href=https://b.example/x/>",
        "<script type=application/rsl+xml><rsl></rsl></script><meta name=robots content=noai>",
        "<meta name=robots content=noai><!-- <meta name=robots content=noindex> -->",
        "<svg><title/></svg><title>x</title><a rel=license href=/a><svg><style><meta name=x></style>",
        "<A HREF=/a REL=License><area rel='&#108;icense' href=/b>", "<meta " + "a " * 60 + ">",
        "<SVG><title><meta name=robots content=noai>", "<math><script><p></script><meta name=x>",
        "<script " + "a " * 60 + "></script>", " " * MAX_HTML, "<p>" + " " * MAX_HTML,
    ],
)  # fmt: skip
def test_without_notes_tags_are_found(html: str) -> None:
    whole = read(html)
    whole.notes.clear()
    assert read_html_without_notes(html.encode(), None, NOW) == whole


def test_without_notes_crawlers_may_be_named() -> None:
    html = b"<meta name=foobot content=noai><p data-nosnippet><meta name='sogou web spider' content=all>"
    found = read_html_without_notes(html, None, NOW, ("FooBot",))
    assert stated(found) == {("FooBot", "ai-train", "no"), ("Sogou web spider", "search", "yes")}
    assert not found.notes


def test_what_looks_like_a_tag_within_a_value() -> None:
    assert not read('<meta name=robots content=noai a="<script>').statements


# Charsets


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        (b"\xef\xbb\xbf<meta name=robots content=noindex>", "utf-16"),
        ("<meta name=robots content=noindex>".encode("utf-16"), None),
        ("<meta name=robots content=noindex>".encode("utf-16-be"), "UTF-16BE"),
        ("<meta name=robots content=noindex>".encode("utf-32"), "utf-8"),
        ("<meta name=robots content=noindex>é".encode("latin-1"), "iso-8859-1"),
        (b"<meta charset=utf-16><meta name=robots content=noindex>", None),
        # UTF-16 would have NUL bytes.
        (b"<meta name=robots content=noindex>", "utf-16"),
        (b"<meta charset='windows-1252'>\x80<meta name=robots content=noindex>", "x-unknown"),
        (b"<meta charset=x><meta name=robots content=noindex>\xff", "zlib"),
        (b"<meta name=robots content=noindex>", "idna"),
        (b"<meta name=robots content=noindex>", "\0"),
    ],
)
def test_charsets(body: bytes, charset: str | None) -> None:
    assert general(read(body, charset)) == {"search": "no"}


# Hostile pages


def test_pages_are_cut() -> None:
    start = b"<meta name=robots content=noindex>"
    found = read(start + b"x" * MAX_HTML + b"<meta name=robots content=noai>")
    assert general(found) == {"search": "no"}
    assert found.notes[0] == "page: only its first 256 KiB are read"
    assert read(b"x" * MAX_HTML) == Reading()
    assert read(b"<p>" * (10 << 20)).notes == ["page: only its first 256 KiB are read"]
    # Within a character.
    assert read("é".encode() * MAX_HTML).notes == ["page: only its first 256 KiB are read"]


def test_binary_is_noted() -> None:
    assert read(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").unread == [
        "page: it has NUL characters, and may not be HTML"
    ]
    assert read(b"") == read(b"%PDF-1.7") == Reading()


def test_a_head_that_is_longer_than_what_is_read() -> None:
    for start in ("<script>", "<style>", "<title>", "<!--", "<meta name=x content='", " "):
        found = read(start.encode() + b" " * MAX_HTML + b"</script><meta name=robots content=noai>")
        assert found.unread == ["page: only its first 256 KiB are read"], start
        assert not found.notes
    found = read(b"<head></head><p>" + b" " * MAX_HTML)
    assert found.notes == ["page: only its first 256 KiB are read"]
    assert not found.unread


def test_tags_with_many_attributes() -> None:
    many = " ".join(f"a{number}" for number in range(60))
    for tag in (
        "meta name=robots",
        "meta name=tdm-policy",
        "link rel='license x'",
        "meta",
        "link",
        "script type=application/rsl+xml",
    ):
        found = read(f"\n<{tag} {many} content=noindex href=/x>")
        place = f"tag <{tag.partition(' ')[0]}>, line 2"
        assert found.unread == [f"{place}: only its first attributes are read"]
    for tag in ("p", "meta name=viewport", "link rel=icon", "script type=module"):
        assert read(f"<{tag} {many}>") == Reading()
    assert read(f"<meta {many}>\n" * 9).unread[4:] == [
        "tag <meta>, line 5: only its first attributes are read",
        "4 more cut tags",
    ]


def test_a_tag_with_the_name_of_a_crawler_that_is_about_something_else() -> None:
    assert read('<meta name="google-site-verification" content="x9y-fC">') == Reading()


def test_licenses_of_links_in_the_text() -> None:
    found = read(
        '<a rel="license" href="/by-sa">CC</a><area rel="License" href="/by"><A href=/by-sa REL=license>'
        '<a rel="licensed" href="/no"><form rel="license" action="/no">'
    )
    assert [(each.url, each.where, each.is_rsl) for each in found.licenses] == [
        ("/by-sa", 'tag <a rel="license">', False),
        ("/by", 'tag <area rel="license">', False),
    ]
    assert not found.notes


def test_a_long_content() -> None:
    found = read("<meta name=robots content='" + "noindex, " * 2_000 + "noai'>")
    assert found.unread == [
        'tag <meta name="robots">, line 1: only the beginning of its content is read'
    ]
    assert {each.use.value for each in found.statements if not each.crawler} == {"search"}


def test_many_tags() -> None:
    found = read("<meta name=robots content=noindex>\n" * 5_000)
    assert len([each for each in found.statements if not each.crawler]) == 1_000
    assert found.unread == ["page: only its first 1,000 tags with rules are read"]
    assert len(found.notes) < 10
    found = read("<link rel=license href=/a>\n" * 5_000)
    assert len(found.licenses) == 1_000
    assert found.unread == ['page: only its first 1,000 tags with rel="license" are read']
    found = read("".join(f"<meta name=x{number} content=noindex>" for number in range(5_000)))
    assert found.notes[-1] == "4,995 more notes"


@given(st.binary(max_size=300), st.none() | st.sampled_from(["utf-16", "utf-7", "x", "cp037"]))
def test_no_bytes_raise(body: bytes, charset: str | None) -> None:
    read(body, charset)


@given(
    st.lists(PARTS | st.sampled_from(["<", ">", '"', "'", "=", "/", "&#x110000;", "\0"])).map(
        "".join
    )
)
def test_no_html_raises(html: str) -> None:
    read(html + "<meta name=robots content=noindex>")


@pytest.mark.parametrize(
    "text",
    [
        "<meta>", "<meta name=robots content=noindex>", "<meta name=x content=noindex>", "<div>",
        "<ul><li>", "<b>", "<a><b>", "<i></p>", "<svg>", "<svg><style>", "<template>", "<noscript>",
        "<table><tr><td>", "<select><option>", "<script>", "<!--", "<title>", "</x>", "<a ", "a ",
        "<a b='", '<a b="', "<a<", "<", "\0", "<body a>", "<html a>", "<i data-nosnippet>", "<b =",
        "<link rel=license href=/a>", "<script type=application/rsl+xml></script>", "&amp;", "\r",
    ],
)  # fmt: skip
def test_time_grows_with_the_size(text: str) -> None:
    def run(size: int) -> None:
        read("<meta " + text * (size // len(text)))
        read(text * (size // len(text)))

    assert growth(run, MAX_HTML // 16) < 10


def test_different_attributes_take_no_quadratic_time() -> None:
    def run(size: int) -> None:
        read("<meta " + " ".join(f"a{number}" for number in range(size)))
        read("".join(f"<body a{number}>" for number in range(size // 2)))

    assert growth(run, 8_000) < 10


def test_html_needs_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "selectolax.lexbor", None)
    monkeypatch.delitem(sys.modules, "koster.signals._pages")
    with pytest.raises(MissingExtraError, match="'signals'"):
        importlib.import_module("koster.signals._pages")


@pytest.mark.parametrize("charset", ["cp037", "cp500", "utf-7", "punycode", "idna", "x\0y", "hex"])
def test_charsets_that_browsers_do_not_know_are_ignored(charset: str) -> None:
    page = b'<meta name="robots" content="noindex">'
    assert read_html(page, charset, NOW).statements
    stated_by_itself = f'<meta charset="{charset}">'.encode() + page
    assert read_html(stated_by_itself, None, NOW).statements

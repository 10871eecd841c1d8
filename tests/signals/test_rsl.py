"""License documents: examples of RSL, what its paragraphs say, then faults, and hostile XML."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koster.signals._limits import MAX_DOCUMENT
from koster.signals._model import Reading
from koster.signals._rsl import read_rsl
from tests.helpers.growth import growth

PAGE = "https://shop.example/press/a.html"
FILE = "https://shop.example/license.xml"


def document(content: str) -> str:
    return f'<rsl xmlns="https://rslstandard.org/rsl">\n{content}</rsl>'


def read(xml: str | bytes, url: str = PAGE, base: str = FILE) -> Reading:
    found = read_rsl(xml.encode() if isinstance(xml, str) else xml, "license.xml", url, base)
    assert {each.grammar.name for each in found.statements} <= {"rsl"}
    assert not found.licenses
    return found


def stated(found: Reading) -> dict[str, str]:
    assert not [each for each in found.statements if each.crawler]
    return {str(each.use): str(each.stated) for each in found.statements}


def of(*licenses: str, url: str = "/") -> Reading:
    inner = "".join(f"<license>{each}</license>" for each in licenses)
    return read(document(f'<content url="{url}">{inner}</content>'))


def usage(words: str, name: str = "permits") -> str:
    return f'<{name} type="usage">{words}</{name}>'


FREE = '<payment type="free"/>'
ALL_UNDECIDED = {"search": "undecided", "ai-input": "undecided", "ai-train": "undecided"}


# Examples of https://rslstandard.org/rsl and its guides


def test_prohibiting_ai() -> None:
    found = read(
        document(
            '  <content url="/">\n    <license>\n'
            '      <prohibits type="usage">ai-all</prohibits>\n    </license>\n  </content>\n'
        )
    )
    assert stated(found) == {"search": "undecided", "ai-input": "no", "ai-train": "no"}
    assert found.statements[1].where == "license.xml, line 4"
    assert found.statements[1].text == '<prohibits type="usage">ai-all</prohibits>'
    # What a license without a list of permitted uses permits is not known.
    assert found.notes == [
        "license.xml, line 3: the license does not say whether it permits search"
    ]


def test_permission_with_a_subscription() -> None:
    found = of(
        usage("train-ai") + '<payment type="subscription">'
        "<custom>https://your-website.com/contact-form.html</custom></payment>"
    )
    assert stated(found)["ai-train"] == "undecided"
    assert (
        "license.xml, line 2: ai-train is permitted on conditions: payment (subscription)"
        in found.notes
    )


def test_permission_for_free() -> None:
    found = of(usage("all") + FREE)
    assert stated(found) == {"search": "yes", "ai-input": "yes", "ai-train": "yes"}
    assert not found.notes


# What the paragraphs say


def test_a_license_without_payment_is_free() -> None:
    # §3.7: "If omitted, the license is assumed to be free."
    assert stated(of(usage("search")))["search"] == "yes"


def test_words_are_separated_by_spaces() -> None:
    # §3.5: "the listed values, separated by one or more spaces, are allowed"
    found = of(usage("  search \n ai-input\tAI-INDEX ") + FREE)
    assert stated(found) == {"search": "yes", "ai-input": "yes", "ai-train": "undecided"}
    assert found.notes == ["license.xml, line 2: ai-train is not among the uses that it permits"]
    # As in the draft of July 2025.
    assert stated(of(usage("search,ai-input")))["ai-input"] == "yes"


@pytest.mark.parametrize(
    ("words", "uses"),
    [
        ("all", {"search", "ai-input", "ai-train"}),
        ("ai-all", {"ai-input", "ai-train"}),
        ("ai-train", {"ai-train"}),
        ("ai-input", {"ai-input"}),
        ("ai-index", set()),
        ("search", {"search"}),
    ],
)
def test_the_vocabulary_of_usages(words: str, uses: set[str]) -> None:
    for name, meaning in (("permits", "yes"), ("prohibits", "no")):
        found = stated(of(usage(words, name)))
        assert {use for use, each in found.items() if each == meaning} == uses


def test_a_prohibition_takes_precedence() -> None:
    # §3.1.1: "the prohibition MUST take precedence"
    both = usage("ai-train search") + usage("ai-train", "prohibits")
    assert stated(of(both)) == {"search": "yes", "ai-input": "undecided", "ai-train": "no"}
    assert stated(of(usage("ai-train"), usage("ai-all", "prohibits")))["ai-train"] == "no"
    assert stated(of(usage("all") + usage("ai-train", "prohibits"))) == {
        "search": "yes",
        "ai-input": "yes",
        "ai-train": "no",
    }


def test_a_narrower_permission_in_the_same_license_is_undecided() -> None:
    found = of(usage("search") + usage("all", "prohibits"))
    assert stated(found) == {"search": "undecided", "ai-input": "no", "ai-train": "no"}
    assert found.notes == [
        "license.xml, line 2: search is permitted by name, and prohibited with others"
    ]


def test_several_licenses_are_several_offers() -> None:
    # §3.4: each is a set of terms of its own.
    paid = usage("ai-train") + '<payment type="training"/>'
    found = of(usage("search ai-input") + FREE, paid)
    assert stated(found) == {"search": "yes", "ai-input": "yes", "ai-train": "undecided"}
    assert found.notes == [
        "license.xml, line 2: ai-train is permitted on conditions: payment (training)"
    ]
    assert stated(of(paid, usage("ai-train")))["ai-train"] == "yes"
    assert stated(of(usage("ai-train"), paid))["ai-train"] == "yes"


@pytest.mark.parametrize(
    ("terms", "condition"),
    [
        ('<payment type="attribution"/>', "payment (attribution)"),
        ('<payment type="Crawl"><amount currency="USD">1</amount></payment>', "payment (crawl)"),
        ("<payment/>", "payment (of no type)"),
        (FREE + '<payment type="use"/>', "payment (use)"),
        ('<permits type="user">education  personal</permits>', "for the users education personal"),
        ('<prohibits type="user">commercial</prohibits>', "not for the users commercial"),
        ('<permits type="geo">de fr</permits>', "in the countries de fr"),
        ('<prohibits type="geo">us</prohibits>', "not in the countries us"),
        ('<permits type="x">y</permits>', 'the type "x": y'),
        ("<prohibits>ai-train</prohibits>", 'not the type "": ai-train'),
        ('<reporting type="telemetry"/>', "reports about it"),
    ],
)
def test_conditions(terms: str, condition: str) -> None:
    found = of(usage("search") + terms)
    assert stated(found)["search"] == "undecided"
    assert f"license.xml, line 2: search is permitted on conditions: {condition}" in found.notes


def test_a_license_server_is_a_condition() -> None:
    # "if this attribute is present, clients must obtain a license for this asset, even if … free"
    found = read(
        document(
            f'<content url="/" server="https://licenses.example/olp"><license>{usage("search")}{FREE}'
            "</license></content>"
        )
    )
    assert stated(found)["search"] == "undecided"
    assert found.notes[0].endswith("on conditions: a license from https://licenses.example/olp")


def test_the_most_specific_content_counts() -> None:
    # §3.1.1, whatever their order: §3.1.
    wide = f'<content url="/"><license>{usage("ai-all", "prohibits")}</license></content>\n'
    narrow = f'<content url="/press/*.html$"><license>{usage("all")}</license></content>\n'
    for contents in (wide + narrow, narrow + wide):
        assert set(stated(read(document(contents))).values()) == {"yes"}
        assert stated(read(document(contents), "https://shop.example/a"))["ai-train"] == "no"
    # Of equal ones, all count.
    same = f'<content url="/press/"><license>{usage("all")}</license></content>\n'
    other = f'<content url="/press/"><license>{usage("search", "prohibits")}</license></content>\n'
    for contents in (same + other, other + same):
        assert stated(read(document(wide + contents))) == {
            "search": "no",
            "ai-input": "yes",
            "ai-train": "yes",
        }


@pytest.mark.parametrize(
    ("url", "page", "is_about"),
    [
        ("/", PAGE, True),
        ("/press/", PAGE, True),
        ("/press/*.pdf$", PAGE, False),
        ("*.html", PAGE, True),
        ("https://shop.example/press/", PAGE, True),
        ("HTTPS://Shop.Example:443/press/*", PAGE, True),
        ("https://shop.example", PAGE, True),
        ("http://shop.example/", PAGE, False),
        ("https://www.shop.example/", PAGE, False),
        ("/press/", "/press/x", True),
        ("/press/", "/x", False),
    ],
)
def test_what_a_content_is_about(url: str, page: str, is_about: bool) -> None:
    content = f'<content url="{url}"><license>{usage("search")}</license></content>'
    found = read(document(content), page)
    assert bool(found.statements) is is_about
    assert (
        found.notes == []
        or is_about
        or found.notes == ["license.xml: nothing in it is about the page"]
    )


@pytest.mark.parametrize("url", ['url=""', 'url=" "', "", 'url="press/"', 'url="http://["',
                                 'url="mailto:x"', 'url="https:///x"'])  # fmt: skip
def test_contents_of_unknown_scope_are_undecided(url: str) -> None:
    inner = f"{usage('ai-train', 'prohibits')}{usage('search')}"
    found = read(document(f"<content {url}><license>{inner}</license></content>"))
    assert stated(found) == {"ai-train": "undecided", "search": "undecided"}
    assert "whether it is about the page is unknown" in found.notes[0]
    # It does not hide what others say.
    wide = f'<content url="/"><license>{usage("all", "prohibits")}</license></content>'
    found = read(document(f"<content {url}><license>{inner}</license></content>{wide}"))
    assert [str(each.stated) for each in found.statements if each.use == "ai-train"] == [
        "no",
        "undecided",
    ]


def test_paths_belong_to_the_site_of_the_license() -> None:
    content = document(f'<content url="/"><license>{usage("all")}</license></content>')
    assert stated(read(content, base="https://collective.example/license.xml")) == ALL_UNDECIDED
    absolute = content.replace('"/"', '"https://shop.example/"')
    assert set(stated(read(absolute, base="https://collective.example/l")).values()) == {"yes"}
    # A file, for a page of which only the path is given.
    assert set(stated(read(content, url="/x", base="/x")).values()) == {"yes"}
    assert stated(read(absolute, url="/x", base="/x")) == ALL_UNDECIDED


def test_an_empty_url_is_the_page_that_has_the_document() -> None:
    # §3.3.1: the scope of what names the license.
    content = document(f'<content url=""><license>{usage("all")}</license></content>')
    assert set(stated(read(content, base=PAGE)).values()) == {"yes"}


def test_prefixes() -> None:
    xml = (
        '<r:rsl xmlns:r="https://rslstandard.org/rsl" xmlns="urn:x">'
        '<r:content url="/"><r:license><r:permits type="usage">search</r:permits>'
        '<permits type="usage">ai-train</permits>'
        '<r:prohibits xmlns:r="urn:y" type="usage">search</r:prohibits>'
        '<x:prohibits type="usage">search</x:prohibits>'
        "</r:license></r:content></r:rsl>"
    )
    assert stated(read(xml))["search"] == "yes"
    assert stated(read(xml))["ai-train"] == "undecided"
    inner = '<a xmlns="urn:x"><prohibits type="usage">all</prohibits></a>'
    assert stated(of(usage("search") + inner))["search"] == "yes"


def test_other_elements_are_no_terms() -> None:
    found = read(
        document(
            f"<!-- x --><schema>x</schema>{usage('all', 'prohibits')}<content url='/'>"
            f"{usage('all', 'prohibits')}<terms>x</terms><copyright/><license>"
            f"<legal type='warranty'>no</legal>{usage('search')}"
            f"<x>{usage('all', 'prohibits')}</x></license></content>"
        )
    )
    assert stated(found)["search"] == "yes"


def test_unknown_usages_are_noted() -> None:
    found = of(usage("search ai-summarize x"), usage("y", "prohibits"))
    assert stated(found)["search"] == "yes"
    assert found.notes[-3:] == [
        f'license.xml, line 2: RSL 1.0 has no usage "{word}"' for word in ("ai-summarize", "x", "y")
    ]


def test_contents_without_licenses_state_nothing() -> None:
    assert read(document('<content url="/"/>')) == Reading()
    assert read(document("")) == Reading(notes=["license.xml: nothing in it is about the page"])


def test_lists_are_limited() -> None:
    # What comes after spaces, or too late, is never left out without a word.
    hidden = usage("all") + usage(" " * 5_000 + "ai-train", "prohibits")
    assert stated(of(hidden))["ai-train"] == "no"
    words = " ".join(["ai-input"] * 1_000) + " ai-train"
    for usages in (usage(words), usage("all") + usage("x<b>ai-train</b>", "prohibits")):
        found = of(usages)
        assert stated(found) == ALL_UNDECIDED
        assert "license.xml has a" in found.unread[0]
    assert len(of(*[usage("all") + f'<payment type="t{n}"/>' for n in range(100)]).notes) == 6


# Faults


@pytest.mark.parametrize(
    ("xml", "note"),
    [
        ('<rsl><content url="/"/></rsl>', 'lacks xmlns="https://rslstandard.org/rsl"'),
        ('<rsl xmlns="https://rslstandard.org/rsl/"/>', "lacks xmlns="),
        (document("<content"), "is not valid XML: "),
        (document("<a>"), "is not valid XML: mismatched tag"),
        (document("&nbsp;"), "is not valid XML: undefined entity"),
        ("x" + document(""), "is not valid XML: "),
        ("<!DOCTYPE rsl>" + document(""), "has a DOCTYPE, and is not read"),
        ('<!DOCTYPE rsl [<!ENTITY a "x">]>' + document("&a;"), "has a DOCTYPE, and is not read"),
        ('<!DOCTYPE rsl SYSTEM "file:///etc/passwd">' + document(""), "has a DOCTYPE"),
        (document("<a>" * 100 + "</a>" * 100), "has more than 100 nested elements"),
        (document('<content url="/"/>' * 1_001), "has more than 1,000 elements <content>"),
        (
            document(f"<content>{'<license/>' * 500}</content>" * 3),
            "has more than 1,000 elements <license>",
        ),
        (document(" " * MAX_DOCUMENT), "is larger than 1 MiB"),
        ("<?xml version='1.0' encoding='x-none'?>" + document(""), "unknown encoding"),
        ("<?xml version='1.0' encoding='utf-7'?>" + document(""), "charset that cannot be read"),
    ],
)
def test_documents_that_cannot_be_read_are_undecided(xml: str, note: str) -> None:
    found = read(xml)
    assert stated(found) == ALL_UNDECIDED
    assert note in found.unread[0]
    assert {each.where for each in found.statements} == {"license.xml"}


@pytest.mark.parametrize(
    ("body", "note"),
    [
        (b"", "license.xml is empty"),
        (b" \n", "license.xml is empty"),
        (b"<!DOCTYPE html><html>", "license.xml is an HTML page, not a license"),
        (b"<html></html>", 'license.xml has the root "html": it is not RSL'),
        (b"<rss xmlns:rsl='https://rslstandard.org/rsl'/>", 'has the root "rss": it is not RSL'),
        (b"License: all rights reserved", "license.xml is not valid XML: syntax error"),
        (b"\x89PNG\0", "license.xml is not valid XML"),
    ],
)
def test_other_files_state_nothing(body: bytes, note: str) -> None:
    found = read(body)
    assert not found.statements
    assert note in found.unread[0]


@pytest.mark.parametrize("charset", ["utf-8-sig", "utf-16", "iso-8859-1"])
def test_charsets(charset: str) -> None:
    xml = document(f'<content url="/"><license>{usage("all")}<legal>é</legal></license></content>')
    declaration = '<?xml version="1.0" encoding="iso-8859-1"?>' if "iso" in charset else ""
    assert set(stated(read((declaration + xml).encode(charset))).values()) == {"yes"}


# Hostile documents


@given(st.binary(max_size=200))
def test_no_bytes_raise(body: bytes) -> None:
    read(body)
    read(b'<rsl xmlns="https://rslstandard.org/rsl">' + body + b"</rsl>")


NAMES = ["content", "license", "permits", "prohibits", "payment", "x:y", "reporting"]
XML = st.recursive(
    st.sampled_from(["all", "search ai-train", "&#65;", "<!-- -->", "<![CDATA[ai-all]]>", ""]),
    lambda inner: st.builds(
        lambda name, url, kind, inside: (
            f'<{name} url="{url}" type="{kind}">{"".join(inside)}</{name}>'
        ),
        st.sampled_from(NAMES),
        st.sampled_from(["/", "", "*", "https://shop.example/", "x"]),
        st.sampled_from(["usage", "user", "geo", "free", ""]),
        st.lists(inner, max_size=4),
    ),
)


@given(XML, st.text(max_size=20), st.text(max_size=20))
def test_no_document_raises(xml: str, url: str, base: str) -> None:
    assert len(read(document(xml), url, base).statements) <= 6


@pytest.mark.parametrize(
    "text",
    [
        "<a/>", "<content url='/'/>", "<content url='*a*b*c'/>", "&#65;", "<!-- -->", "x",
        "<a xmlns='urn:x'/>", "<a xmlns:b='urn:x' b:c=''/>", f"<license>{usage('x')}</license>",
    ],
)  # fmt: skip
def test_time_grows_with_the_size(text: str) -> None:
    def run(size: int) -> None:
        many = text * (size // len(text))
        read(document(f"<content url='/'>{many}</content>"))
        read(document(many))
        read(document(f"<content url='{'*a' * (size // 2)}'/>"))
        attributes = " ".join(f"xmlns:a{number}='x'" for number in range(size // 20))
        read(document(f"<a {attributes}>{'<b/>' * (size // 20)}</a>"))

    assert growth(run, MAX_DOCUMENT // 64) < 10

"""Faults of sitemaps: what is said about them, and what is read before them."""

from __future__ import annotations

import gzip
import io

import pytest

from koster.origins import origin_of
from koster.sitemaps import _documents, read_locations
from koster.sitemaps._elsewhere import ElsewhereCounts
from tests.sitemaps.test_documents import START, URLS, failed, read, urlset

FIRST = "<url><loc>https://e.com/1</loc></url>\n"


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("?a=1&b=2", "bare &: write &amp;"),
        ("?a&b", "bare &: write &amp;"),
        ("?a& b", "bare &: write &amp;"),
        ("?a&", "bare &: write &amp;"),
        ("?a&&b;", "bare &: write &amp;"),
        ("?a&amp", "bare &: write &amp;"),
        ("?a&b-c.d:e=1", "bare &: write &amp;"),
        ("?\u00e9&\u00e9=2", "bare &: write &amp;"),
        ("?a&b;", "undeclared entity &b;: write &amp; for a bare &"),
        ("&nbsp;", "undeclared entity &nbsp;: write &#160;"),
        ("&eacute;", "undeclared entity &eacute;: write &#233;"),
        ("&NotEqualTilde;", "undeclared entity &NotEqualTilde;: write &#8770;&#824;"),
        ("&" + 100 * "e" + ";", "undefined entity"),
        ("?a<b", "bare <: write &lt;"),
        ("?a < b", "bare <: write &lt;"),
        ("?a\x0b", "control character U+000B: remove it"),
        ("?a<b>", "mismatched tag"),
    ],
)
def test_what_to_write(location: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    content = f"{START}{FIRST}<url><loc>https://e.com/{location}</loc></url></urlset>"
    expected = ["https://e.com/1"], f"is not valid XML: line 3: {why}"
    assert failed(content) == expected
    assert failed(content.replace("UTF-8", "UTF-16").encode("utf-16")) == expected
    assert failed(gzip.compress(content.encode())) == expected
    # The place of the error may be in an earlier chunk, or at the start of one.
    for size in (16, 17, 61):
        monkeypatch.setattr(_documents, "_CHUNK", size)
        assert failed(content) == expected


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (
            "\n" + urlset(*URLS),
            "line 2: the XML declaration is not at the start of the file: remove what is before it",
        ),
        (
            "\ufeff \n\n" + urlset(*URLS),
            "line 3: the XML declaration is not at the start of the file: remove what is before it",
        ),
        ("\ufeff\ufeff" + urlset(*URLS), "line 1: second byte order mark: remove it"),
        (
            urlset(*URLS).replace("UTF-8", "UTF-16"),
            "line 1: the XML declaration names another encoding than that of the file: correct it",
        ),
        ("<urlset><\u20ac/></urlset>", "line 1: bare <: write &lt;"),
        ("<urlset a=1></urlset>", "line 1: not well-formed (invalid token)"),
        ("<urlset/>x", "line 1: junk after document element"),
    ],
)
def test_faults_of_the_whole_file(content: str, why: str) -> None:
    assert failed(content) == ([], f"is not valid XML: {why}")


def test_latin_1_without_a_declaration() -> None:
    content = urlset(*URLS, "https://e.com/caf\u00e9").encode("latin-1")
    found, why = failed(content)
    assert found == URLS
    assert why.endswith("line 7: not UTF-8: save the file as UTF-8, or declare its encoding")


def test_text_that_is_not_utf_8_gives_the_urls_before() -> None:
    content = "\n".join([*URLS, "https://e.com/caf\u00e9", *URLS]).encode("latin-1")
    assert failed(content) == (URLS, "is not UTF-8 in the line https://e.com/caf\\xe9")
    text = "\n".join(URLS) + "\n" + "a" * 300_000
    assert failed(text) == (URLS, "has a line of more than 65,536 characters")


@pytest.mark.parametrize("content", [urlset(*URLS), "\n".join(URLS) + "\n"])
def test_short_truncated_gzip_gives_the_urls_before(content: str) -> None:
    found, why = failed(gzip.compress(content.encode())[:-12])
    assert found == URLS[: len(found)]
    assert len(found) >= 3
    assert why == "is truncated"


def test_gzip_in_gzip() -> None:
    twice = gzip.compress(gzip.compress(urlset(*URLS).encode()))
    assert failed(twice) == ([], "is compressed twice with gzip: compress it once")


def notices(content: str) -> list[str]:
    found: list[str] = []
    for _ in read_locations(io.BytesIO(content.encode()), found):
        pass
    return found


NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("<urlset>", [f'has no namespace: write xmlns="{NAMESPACE}"']),
        ("<urlset xmlns=''>", [f'has the namespace "": write "{NAMESPACE}"']),
        ("<urlset xmlns='x'>", [f'has the namespace "x": write "{NAMESPACE}"']),
        (f"<urlset xmlns:s='{NAMESPACE}'>", [f'has no namespace: write xmlns="{NAMESPACE}"']),
        (f"<urlset xmlns='{NAMESPACE}'>", []),
        ("<urlset xmlns='http://www.google.com/schemas/sitemap/0.84'>", []),
    ],
)
def test_namespaces(start: str, expected: list[str]) -> None:
    content = urlset(*URLS, start=start)
    assert notices(content) == expected
    assert read(content) == URLS
    assert notices(content.replace("urlset", "sitemapindex")) == expected


def test_prefixes_and_feeds() -> None:
    assert notices(f"<s:urlset xmlns:s='{NAMESPACE}'></s:urlset>") == []
    assert notices("<rss><channel/></rss>") == notices("https://e.com/") == []


def test_size_of_the_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_documents, "PROTOCOL_BYTES", 1 << 20)
    content = "https://e.com/" + "\n" * ((1 << 20) - 14)
    assert notices(content) == []
    assert notices(content + "\n") == ["is larger than 1 MiB, the protocol's limit: split it"]


def test_sites_are_counted_within_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("koster.sitemaps._elsewhere._MAX_PAIRS", 2)
    counts = ElsewhereCounts()
    urls = ["https://a.example/", "https://b.example/", "https://c.example/", "http://[x/", "/x"]
    counts.add("s", origin_of("https://e.com"), ["https://e.com/", "https://e.com?", *urls * 2])
    found = [(str(each.site), each.count, each.example) for each in counts.found()]
    assert found == [(url[:-1], 2, url) for url in urls[:2]]
    assert counts.left_out == 2

"""One sitemap file: formats, charsets, gzip, limits, and hostile content."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from koster.sitemaps import MAX_BYTES, Kind, SitemapError, read_locations
from tests.helpers.support import sampled

XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
START = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {XMLNS}>'
URLS = [f"https://e.com/{number}" for number in range(5)]


def urlset(*urls: str, start: str = START) -> str:
    entries = (f"<url><loc>{url}</loc><lastmod>2026-01-01</lastmod></url>\n" for url in urls)
    return start + "".join(entries) + "</urlset>"


def read(content: str | bytes) -> list[str]:
    raw = content.encode() if isinstance(content, str) else content
    return [each for _, found in read_locations(io.BytesIO(raw)) for each in found]


def failed(content: str | bytes | io.RawIOBase) -> tuple[list[str], str]:
    """Return the locations before an error, and the error."""
    raw = content.encode() if isinstance(content, str) else content
    file = io.BytesIO(raw) if isinstance(raw, bytes) else raw
    found: list[str] = []

    def collect() -> None:
        for _, locations in read_locations(file):  # type: ignore[arg-type]
            found.extend(locations)

    with pytest.raises(SitemapError) as error:
        collect()
    return found, str(error.value)


class Repeated(io.RawIOBase):
    """A file without an end."""

    def __init__(self, start: bytes, part: bytes) -> None:
        self._content = bytearray(start)
        self._part = part * (1 + (1 << 16) // len(part))
        self.size = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while len(self._content) < size:
            self._content += self._part
        found = bytes(self._content[:size])
        del self._content[:size]
        self.size += len(found)
        return found


@pytest.mark.parametrize(
    "content",
    [
        urlset(*URLS),
        urlset(*URLS).replace("https", " \n https").replace("</loc>", "\t</loc>"),
        urlset(*URLS).replace("https://e.com/", "<![CDATA[https://e.com/]]>"),
        urlset(*URLS, start="<urlset>"),
        urlset(*URLS, start='<urlset xmlns="https://wrong.example/">'),
        urlset(*URLS).replace("<", "<s:").replace("<s:/", "</s:").replace("<s:?xml", "<?xml")
        .replace("xmlns=", "xmlns:s="),
        "\n".join(URLS),
        "\r\n\r\n".join(URLS) + "\r\n",
        "\r".join(URLS),
        "\n\n " + " \n ".join(URLS),
        "<rss version='2.0'><channel><link>https://e.com/</link><item>"
        + "</item><item>".join(f"<link>{url}</link><guid>x</guid>" for url in URLS)
        + "</item></channel></rss>",
        "<!DOCTYPE rss PUBLIC '-//Netscape//DTD RSS 0.91//EN' 'http://x/rss-0.91.dtd'>"
        "<rss version='0.91'><channel><item>"
        + "</item><item>".join(f"<title>&eacute;</title><link>{url}</link>" for url in URLS)
        + "</item></channel></rss>",
        "<rdf:RDF xmlns:rdf='r'><channel><link>https://e.com/</link></channel><item>"
        + "</item><item>".join(f"<link>{url}</link>" for url in URLS)
        + "</item></rdf:RDF>",
        "<feed xmlns='http://www.w3.org/2005/Atom'><link href='https://e.com/'/><entry>"
        + "</entry><entry>".join(f"<link rel='self' href='x'/><link href='{u}'/>" for u in URLS)
        + "</entry></feed>",
    ],
)  # fmt: skip
def test_formats(content: str) -> None:
    assert read(content) == URLS
    assert read(b"\xef\xbb\xbf" + content.encode()) == URLS
    assert read(gzip.compress(content.encode())) == URLS
    half = len(content) // 2
    members = [gzip.compress(part.encode()) for part in (content[:half], content[half:])]
    assert read(b"".join(members)) == URLS


def test_index() -> None:
    content = (
        f"<sitemapindex {XMLNS}><sitemap><loc>https://e.com/s.xml</loc></sitemap></sitemapindex>"
    )
    batches = [each for each in read_locations(io.BytesIO(content.encode())) if each[1]]
    assert batches == [(Kind.SITEMAPS, ["https://e.com/s.xml"])]


def test_extensions_are_not_pages() -> None:
    content = urlset("https://e.com/1").replace(
        "<lastmod>",
        "<image:image><image:loc>https://e.com/1.png</image:loc></image:image>"
        "<xhtml:link rel='alternate' href='https://e.com/de'/><lastmod>",
    )
    assert read(content) == ["https://e.com/1"]


def test_escapes_and_characters() -> None:
    assert read(urlset("https://e.com/?a=1&amp;b=é&#x2603;")) == ["https://e.com/?a=1&b=é☃"]


@pytest.mark.parametrize("charset", ["utf-16", "utf-16-le", "iso-8859-1", "windows-1251"])
def test_charsets(charset: str) -> None:
    letter = "ж" if charset == "windows-1251" else "é"
    name = "UTF-16" if charset.startswith("utf-16") else charset
    content = urlset(f"https://e.com/{letter}").replace("UTF-8", name)
    assert read(content.encode(charset)) == [f"https://e.com/{letter}"]


def test_text_in_utf_16() -> None:
    assert read("\n".join(URLS).encode("utf-16")) == URLS


def test_lines_and_elements_across_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("koster.sitemaps._documents._CHUNK", 7)
    assert read("\n".join(URLS)) == URLS
    assert read(urlset(*URLS)) == URLS


def test_truncated_xml_gives_the_urls_before() -> None:
    found, why = failed(urlset(*URLS)[:-80])
    assert found == URLS[:4]
    assert why == "is truncated: the XML ends in line 5"


def test_truncated_gzip_gives_the_urls_before() -> None:
    content = urlset(*[f"https://e.com/{number * 7919}" for number in range(50_000)])
    found, why = failed(gzip.compress(content.encode())[:-1000])
    assert len(found) > 10_000
    assert why == "is truncated"


def test_damaged_gzip() -> None:
    content = bytearray(gzip.compress(urlset(*URLS).encode()))
    content[30:40] = bytes(10)
    assert failed(bytes(content))[1].startswith("is not valid gzip: ")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "is empty"),
        ("\ufeff \n", "is empty"),
        (gzip.compress(b"", mtime=0), "is empty"),
        ("<!DOCTYPE html><html><body></body></html>", "is an HTML page, not a sitemap"),
        ("\n<HTML lang=en>", "is an HTML page, not a sitemap"),
        ('<?xml version="1.0"?><html/>', "is an HTML page, not a sitemap"),
        ("<htmlx/>", "is XML with the root <htmlx>, not a sitemap"),
        ("<catalog/>", "is XML with the root <catalog>, not a sitemap"),
        ('{"urls": []}', "is neither XML nor a list of URLs"),
        ("Not found", "is neither XML nor a list of URLs"),
        (b"\x89PNG\r\n\x1a\n", "is neither XML nor UTF-8"),
        (b"https://e.com/\n\xff", "is not UTF-8 in the line \\xff"),
        ("https://e.com/\n" + "a" * 300_000, "has a line of more than 65,536 characters"),
        (urlset("https://e.com/&nbsp;"), "is not valid XML: line 2: undeclared entity &nbsp;: write &#160;"),
        (urlset("a\x01"), "is not valid XML: line 2: control character U+0001: remove it"),
        (urlset("é").encode("latin-1"), "is not valid XML: line 2: not UTF-8: save the file as UTF-8, or declare its encoding"),
        (urlset().replace("UTF-8", "klingon"), "cannot be read: unknown encoding: klingon"),
        (urlset().replace("UTF-8", "gb2312"), "cannot be read: multi-byte encodings are not supported"),
    ],
)  # fmt: skip
def test_files_that_are_not_sitemaps(content: str | bytes, why: str) -> None:
    assert failed(content)[1] == why


ENTITIES = "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))


@pytest.mark.parametrize(
    "declarations",
    [
        f'<!ENTITY a "lol">{ENTITIES}',
        '<!ENTITY j SYSTEM "file:///etc/passwd">',
        '<!ENTITY % j SYSTEM "http://127.0.0.1:1/x"> %j;',
        f'<!ATTLIST url x CDATA "{"a" * 10_000}">',
    ],
)
def test_declarations_are_refused(declarations: str) -> None:
    start = f"<?xml version='1.0'?><!DOCTYPE urlset [{declarations}]><urlset>"
    found, why = failed(urlset("&j;", start=start))
    assert found == []
    assert why == "declares entities or attributes, which a sitemap must not"


def test_undeclared_entities_do_not_vanish_from_urls() -> None:
    """With an external DTD that is not read, Expat skips them."""
    start = '<!DOCTYPE urlset SYSTEM "http://127.0.0.1:1/x.dtd"><urlset>'
    assert failed(urlset("https://e.com/&x;y", start=start)) == (
        [],
        "has an undeclared entity in a URL: &x;",
    )


def test_gzip_bomb() -> None:
    compressor = zlib.compressobj(wbits=31)
    start = compressor.compress(START.encode()) + compressor.flush(zlib.Z_FULL_FLUSH)
    part = compressor.compress(b" " * (1 << 20)) + compressor.flush(zlib.Z_FULL_FLUSH)
    bomb = start + part * (MAX_BYTES // (1 << 20) + 1)
    assert len(bomb) < 200_000
    assert failed(bomb) == ([], "is larger than 100 MiB")


@pytest.mark.parametrize(
    ("start", "part", "why", "at_most"),
    sampled(
        [
            (START, "<a>", "has more than 100 nested elements", 1 << 20),
            (START, " ", "is larger than 100 MiB", MAX_BYTES + 1),
            (START + "<url><loc>", "a", "is larger than 100 MiB", MAX_BYTES + 1),
            ("https://e.com/\n", " " * 9_999 + "\n", "is larger than 100 MiB", MAX_BYTES + 1),
            (START + "<!--", "a", "has a tag or comment of more than 1 MiB", 3 << 20),
            (START + "<?x ", "a", "has a tag or comment of more than 1 MiB", 3 << 20),
            ("<urlset a='", "a", "has a tag or comment of more than 1 MiB", 3 << 20),
            ("<!DOCTYPE x SYSTEM '", "a", "has a tag or comment of more than 1 MiB", 3 << 20),
        ],
        2,
    ),
)
def test_endless_files(start: str, part: str, why: str, at_most: int) -> None:
    file = Repeated(start.encode(), part.encode())
    assert failed(file) == ([] if start[0] == "<" else ["https://e.com/"], why)
    assert file.size <= at_most


def test_many_names_are_refused() -> None:
    def names() -> Iterator[str]:
        yield from (f"<a{number}/>" for number in range(1_001))

    assert failed(START + "".join(names()))[1] == (
        "has more than 1,000 names of elements and attributes"
    )
    attributes = "".join(f"<a b{number}=''/>" for number in range(1_001))
    assert "names of elements" in failed(START + attributes)[1]


def test_long_url_is_cut() -> None:
    """The reader then takes it for invalid."""
    (found,) = read(urlset("https://e.com/" + "a" * 1_000_000))
    assert 1 << 16 < len(found) < 600_000


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: f"{START}{text}".encode()))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    for raw in (content, gzip.compress(content), b"\x1f\x8b" + content):
        with suppress(SitemapError):
            read(raw)

"""Sitemaps and indexes, from a source in memory: order, cycles, limits and errors."""

from __future__ import annotations

import io
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

import pytest

from koster.errors import UnreadableError
from koster.sitemaps import MAX_NESTED, SitemapReader

if TYPE_CHECKING:
    from collections.abc import Iterator


XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


class Memory:
    """Sitemaps by address; ``opened`` are those that were opened."""

    def __init__(self, **files: str) -> None:
        self.files = files
        self.opened: list[str] = []

    @contextmanager
    def open(self, address: str) -> Iterator[IO[bytes]]:
        name = address.rpartition("/")[2]
        self.opened.append(name)
        if name not in self.files:
            raise UnreadableError(f"{name}: 404 Not Found")
        yield io.BytesIO(self.files[name].encode())

    def address_of(self, location: str, index: str) -> str:
        return location

    def name_of(self, address: str) -> str:
        return address.rpartition("/")[2]


def index(*names: str) -> str:
    entries = "".join(f"<sitemap><loc>https://e.com/{name}</loc></sitemap>" for name in names)
    return f"<sitemapindex {XMLNS}>{entries}</sitemapindex>"


def urls(*names: str) -> str:
    return "\n".join(f"https://e.com/{name}" for name in names)


def read(source: Memory, *addresses: str) -> tuple[list[str], SitemapReader]:
    reader = SitemapReader(source)
    found = [url.rpartition("/")[2] for batch in reader.batches(addresses) for url in batch]
    return found, reader


def test_sitemaps_of_an_index_are_read_in_order() -> None:
    source = Memory(
        i=index("a", "j", "c"), a=urls("1", "2"), j=index("b"), b=urls("3"), c=urls("4")
    )
    found, reader = read(source, "i")
    assert found == ["1", "2", "3", "4"]
    assert (reader.urls, reader.sitemaps, reader.done, reader.known) == (4, 3, 5, 5)
    assert reader.errors == []


def test_each_sitemap_is_read_once() -> None:
    """Indexes may name themselves, their parents, and a sitemap twice."""
    source = Memory(i=index("i", "j", "a", "a"), j=index("i", "j", "a"), a=urls("1"))
    assert read(source, "https://e.com/i", "https://e.com/a", "https://e.com/i")[0] == ["1"]
    assert source.opened == ["i", "j", "a"]


def test_depth_is_limited() -> None:
    source = Memory(**{str(n): index(str(n + 1)) for n in range(MAX_NESTED + 1)}, z=urls("1"))
    found, reader = read(source, "0", "z")
    assert found == ["1"]
    assert reader.errors == ["3: is an index below 3 others; its sitemaps are not read"]


def test_number_of_sitemaps_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("koster.sitemaps._reader.MAX_SITEMAPS", 3)
    source = Memory(
        i=index("a", "j", "b", "c"), j=index("b", "c", "d"), **{n: urls(n) for n in "abcd"}
    )
    found, reader = read(source, "i")
    assert found == ["a", "b"]
    assert reader.errors == [
        "i: more than 3 sitemaps; the others are not read",
        "j: more than 3 sitemaps; the others are not read",
    ]


def test_errors_do_not_stop_the_others() -> None:
    source = Memory(
        i=index("missing", "broken", "a"),
        broken=f"<urlset {XMLNS}><url><loc>https://e.com/1</loc></url>\n<url><",
        a=urls("2"),
    )
    printed: list[str] = []
    reader = SitemapReader(source, printed.append)
    assert [url for batch in reader.batches(["i"]) for url in batch] == [
        "https://e.com/1",
        "https://e.com/2",
    ]
    assert printed == reader.errors
    assert printed == [
        "missing: 404 Not Found",
        "broken: is truncated: the XML ends in line 2; read 1 URL before that",
    ]
    assert (reader.sitemaps, reader.done) == (2, 4)


@pytest.mark.parametrize(
    "invalid",
    ["/x", "x", "ftp://e.com/x", "https:", "https:///x", "mailto:a@e.com", "https://e.com/" + "a" * 70_000],
)  # fmt: skip
def test_relative_and_invalid_urls_are_errors(invalid: str) -> None:
    one = f"<url><loc>{invalid}</loc></url>"
    source = Memory(
        a=f"<urlset {XMLNS}>{one}<url><loc>https://e.com/1</loc></url>{one}</urlset>",
        i=index("a").replace("<sitemap>", f"<sitemap><loc>{invalid}</loc></sitemap><sitemap>"),
    )
    found, reader = read(source, "i")
    assert found == ["1"]
    assert reader.errors == [
        f"i: 1 URL is not absolute, such as {invalid[:80]}",
        f"a: 2 URLs are not absolute, such as {invalid[:80]}",
    ]

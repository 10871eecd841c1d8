"""One sitemap: from its bytes to the URLs that it lists, as a stream.

Formats: sitemaps and sitemap indexes as XML, RSS, Atom, and text with one URL a line
(https://www.sitemaps.org/protocol.html). The content decides, not the name or the Content-Type,
also about gzip. XML may be in any charset that Expat and the codecs of Python read.

Files are hostile: sizes are limited before and after decompression, declarations of entities and
attributes are refused, nothing external is loaded, and depth and lengths are limited.
"""

from __future__ import annotations

import codecs
import enum
import gzip
import io
import itertools
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import IO, TYPE_CHECKING, Any
from xml.parsers.expat import ErrorString, ExpatError, ParserCreate, errors

from .._charsets import bom_charset
from ..errors import KosterError
from ..origins import MAX_URL

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: The protocol allows 50 MiB, uncompressed; some sites exceed that.
MAX_BYTES = 100 << 20

#: Bytes parsed at once.
_CHUNK = 1 << 18
#: The maximum size of a tag or comment in bytes. Before Expat 2.6, larger ones take quadratic time.
_MAX_TOKEN = 1 << 20
_MAX_DEPTH = 100
#: The maximum number of different elements and attributes: Expat never frees their names.
_MAX_NAMES = 1_000

#: Expat's codes for XML that ends too early.
_TRUNCATED = frozenset(
    errors.codes[each]
    for each in (
        errors.XML_ERROR_NO_ELEMENTS,
        errors.XML_ERROR_PARTIAL_CHAR,
        errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
        errors.XML_ERROR_UNCLOSED_TOKEN,
    )
)
_PAGE = "is an HTML page, not a sitemap"
_LINE_END = re.compile("[\r\n]")
_GZIP = b"\x1f\x8b"
_HTML = re.compile(rb"<(?:!doctype\s+)?html\b", re.IGNORECASE)
_URL = re.compile(r"https?:", re.IGNORECASE)


class SitemapError(KosterError):
    """A file is not a sitemap, or only in part; the message is a part of a sentence."""


class Kind(enum.Enum):
    """What a sitemap lists."""

    PAGES = "pages"
    SITEMAPS = "sitemaps"


@dataclass(frozen=True, slots=True)
class _Format:
    """An XML format: which elements, named without prefix, have the locations.

    Attributes:
        kind: What the locations are.
        depth: The depth of the element; that of the root is 1.
        parent: The element around it.
        name: The element. Its text is the location, unless it has an attribute ``href``.
    """

    kind: Kind
    depth: int
    parent: str
    name: str


#: The formats by their root element. Prefixes are ignored: many sitemaps have a wrong namespace,
#: and elements of extensions, such as ``image:loc``, are deeper.
_FORMATS = {
    "urlset": _Format(Kind.PAGES, 3, "url", "loc"),
    "sitemapindex": _Format(Kind.SITEMAPS, 3, "sitemap", "loc"),
    "rss": _Format(Kind.PAGES, 4, "item", "link"),
    "RDF": _Format(Kind.PAGES, 3, "item", "link"),
    "feed": _Format(Kind.PAGES, 3, "entry", "link"),
}


def read_locations(file: IO[bytes]) -> Iterator[tuple[Kind, list[str]]]:
    """Yield the locations of a sitemap in batches, while it is read. They may be invalid.

    Raises:
        SitemapError: it is not a sitemap, or invalid from some point.
    """
    try:
        with io.BufferedReader(_Limited(file)) as stream:
            if stream.peek(len(_GZIP)).startswith(_GZIP):
                with (
                    gzip.GzipFile(fileobj=stream) as unzipped,
                    io.BufferedReader(_Limited(unzipped)) as content,
                ):
                    yield from _locations(content)
            else:
                yield from _locations(stream)
    except EOFError as error:
        raise SitemapError("is truncated") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise SitemapError(f"is not valid gzip: {error}") from error


class _Limited(io.RawIOBase):
    """A file up to the size limit. To close it leaves the file open."""

    def __init__(self, file: IO[bytes] | gzip.GzipFile) -> None:
        self._file = file
        self._left = MAX_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        part = self._file.read(min(len(view), self._left + 1))
        self._left -= len(part)
        if self._left < 0:
            raise SitemapError(f"is larger than {MAX_BYTES >> 20} MiB")
        view[: len(part)] = part
        return len(part)


def _locations(stream: io.BufferedReader[Any]) -> Iterator[tuple[Kind, list[str]]]:
    chunks = iter(partial(stream.read, _CHUNK), b"")
    first = next(chunks, b"")
    start = first.removeprefix(codecs.BOM_UTF8).lstrip()
    charset = bom_charset(first)
    if charset is not None:
        start = first[: len(first) & ~3].decode(charset, "replace").lstrip("\ufeff\t\n\r ").encode()
    if not start:
        raise SitemapError("is empty")
    if _HTML.match(start):
        raise SitemapError(_PAGE)
    if start.startswith(b"<"):
        yield from _xml_locations(first, chunks)
    else:
        yield from _text_locations(first, chunks, charset or "utf-8")


def _xml_locations(first: bytes, chunks: Iterator[bytes]) -> Iterator[tuple[Kind, list[str]]]:
    reader = _XmlReader()
    for chunk in itertools.chain([first], chunks, [b""]):
        try:
            reader.feed(chunk)
        except SitemapError:
            yield reader.take()
            raise
        yield reader.take()


class _XmlReader:
    """Collects the locations of an XML sitemap."""

    def __init__(self) -> None:
        self._format: _Format | None = None
        self._depth = 0
        self._parent = ""
        self._names: set[str] = set()
        self._text: str | None = None
        self._found: list[str] = []
        self._size = 0
        # Without namespaces: Expat would put each, of any length, before each name.
        self._parser = ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.SkippedEntityHandler = self._skipped_entity
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    def feed(self, chunk: bytes) -> None:
        """Parse a chunk; an empty one is the end.

        Raises:
            SitemapError: it is invalid.
        """
        parser = self._parser
        try:
            parser.Parse(chunk, not chunk)
        except ExpatError as error:
            if error.code in _TRUNCATED:
                raise SitemapError(f"is truncated: the XML ends in line {error.lineno}") from error
            why = ErrorString(error.code)
            raise SitemapError(f"is not valid XML: line {error.lineno}: {why}") from error
        except (LookupError, ValueError) as error:
            # The encoding.
            raise SitemapError(f"cannot be read: {error}") from error
        self._size += len(chunk)
        if self._size - parser.CurrentByteIndex > _MAX_TOKEN:
            raise SitemapError(f"has a tag or comment of more than {_MAX_TOKEN >> 20} MiB")

    def take(self) -> tuple[Kind, list[str]]:
        """Return the locations found since the last call."""
        found, self._found = self._found, []
        return self._format.kind if self._format else Kind.PAGES, found

    def _doctype(
        self, _name: str, _system: str | None, _public: str | None, has_subset: int
    ) -> None:
        if has_subset:
            # A few of them can expand to any size.
            raise SitemapError("declares entities or attributes, which a sitemap must not")

    def _skipped_entity(self, name: str, _is_parameter: int) -> None:
        if self._text is not None:
            raise SitemapError(f"has an undeclared entity in a URL: &{name[:80]};")

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        local = name.rpartition(":")[2]
        if name not in self._names or attributes:
            self._check_names(name, attributes)
        form = self._format
        if form is None:
            self._format = _format_of(local)
        elif self._depth == form.depth - 1:
            self._parent = local
        elif self._depth == form.depth and local == form.name and self._parent == form.parent:
            is_page = attributes.get("rel", "alternate") == "alternate"
            self._text = attributes.get("href", "") if is_page else ""
            self._parser.CharacterDataHandler = self._add_text
        elif self._depth > _MAX_DEPTH:
            raise SitemapError(f"has more than {_MAX_DEPTH} nested elements")

    def _check_names(self, name: str, attributes: Mapping[str, str]) -> None:
        self._names.add(name)
        self._names.update(attributes)
        if len(self._names) > _MAX_NAMES:
            raise SitemapError(f"has more than {_MAX_NAMES:,} names of elements and attributes")

    def _add_text(self, text: str) -> None:
        # Longer ones are invalid.
        if self._text is not None and len(self._text) <= MAX_URL:
            self._text += text

    def _end(self, _name: str) -> None:
        if self._text is not None and self._format and self._depth == self._format.depth:
            self._parser.CharacterDataHandler = None
            if location := self._text.strip():
                self._found.append(location)
            self._text = None
        self._depth -= 1


def _format_of(root: str) -> _Format:
    if root not in _FORMATS:
        unknown = f"is XML with the root <{root[:80]}>, not a sitemap"
        raise SitemapError(_PAGE if root == "html" else unknown)
    return _FORMATS[root]


def _text_locations(
    first: bytes, chunks: Iterator[bytes], charset: str
) -> Iterator[tuple[Kind, list[str]]]:
    decoder = codecs.getincrementaldecoder(charset)()
    rest = ""
    is_first = True
    for chunk in itertools.chain([first], chunks, [b""]):
        try:
            text = rest + decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            raise SitemapError("is neither XML nor UTF-8") from error
        if is_first:
            text = text.lstrip("\ufeff \t\r\n")
            is_first = False
            if not _URL.match(text):
                raise SitemapError("is neither XML nor a list of URLs")
        *lines, rest = _LINE_END.split(text)
        if not chunk:
            lines.append(rest)
        elif len(rest) > MAX_URL:
            raise SitemapError(f"has a line of more than {MAX_URL:,} characters")
        yield Kind.PAGES, [line for line in map(str.strip, lines) if line]

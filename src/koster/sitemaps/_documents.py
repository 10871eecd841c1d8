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
from typing import IO, TYPE_CHECKING, Any
from xml.parsers.expat import ExpatError, ParserCreate, errors

from .._charsets import bom_charset
from ..errors import KosterError
from ..origins import MAX_URL
from ._faults import CONTEXT, fault

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: The protocol allows 50 MiB, uncompressed; some sites exceed that.
MAX_BYTES = 100 << 20
PROTOCOL_BYTES = 50 << 20

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
#: The maximum characters of a line in an error.
_MAX_LINE = 80
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


#: The namespace of sitemaps and indexes, and those of Google's versions before it.
_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
_OLD_NAMESPACES = ("http://www.google.com/schemas/sitemap/0.84",)
_IN_NAMESPACE = frozenset({"urlset", "sitemapindex"})
#: The maximum characters of a namespace in a notice.
_MAX_NAMESPACE = 80


def read_locations(
    file: IO[bytes], notices: list[str] | None = None
) -> Iterator[tuple[Kind, list[str]]]:
    """Yield the locations of a sitemap in batches, while it is read. They may be invalid.

    Appends to ``notices`` what the protocol does not allow, but does not prevent reading.

    Raises:
        SitemapError: it is not a sitemap, or invalid from some point.
    """
    found = [] if notices is None else notices
    try:
        with io.BufferedReader(_Limited(file)) as stream:
            if stream.peek(len(_GZIP)).startswith(_GZIP):
                with (
                    gzip.GzipFile(fileobj=stream) as unzipped,
                    io.BufferedReader(_Limited(unzipped)) as content,
                ):
                    if content.peek(len(_GZIP)).startswith(_GZIP):
                        raise SitemapError("is compressed twice with gzip: compress it once")
                    yield from _locations(content, found)
            else:
                yield from _locations(stream, found)
    except EOFError as error:
        raise SitemapError("is truncated") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise SitemapError(f"is not valid gzip: {error}") from error


class _Limited(io.RawIOBase):
    """A file up to the size limit. To close it leaves the file open."""

    def __init__(self, file: IO[bytes] | gzip.GzipFile) -> None:
        # A whole part of gzip would be lost if its end is invalid.
        self._read = file.read1 if isinstance(file, gzip.GzipFile) else file.read
        self._left = MAX_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        part = self._read(min(len(view), self._left + 1))
        self._left -= len(part)
        if self._left < 0:
            raise SitemapError(f"is larger than {MAX_BYTES >> 20} MiB")
        view[: len(part)] = part
        return len(part)


def _chunks(stream: io.BufferedReader[Any], notices: list[str]) -> Iterator[bytes]:
    """Yield the content in parts. If reading fails, what was read before comes first."""
    size = 0
    part = bytearray()
    try:
        while more := stream.read1(_CHUNK - len(part)):
            part += more
            if len(part) == _CHUNK:
                size += _CHUNK
                yield bytes(part)
                part.clear()
    except (SitemapError, EOFError, OSError, zlib.error):
        yield bytes(part)
        raise
    yield bytes(part)
    if size + len(part) > PROTOCOL_BYTES:
        limit = PROTOCOL_BYTES >> 20
        notices.append(f"is larger than {limit} MiB, the protocol's limit: split it")


def _locations(
    stream: io.BufferedReader[Any], notices: list[str]
) -> Iterator[tuple[Kind, list[str]]]:
    chunks = filter(None, _chunks(stream, notices))
    first = next(chunks, b"")
    start = first.lstrip(codecs.BOM_UTF8 + b"\t\n\r ")
    charset = bom_charset(first)
    if charset is not None:
        start = first[: len(first) & ~3].decode(charset, "replace").lstrip("\ufeff\t\n\r ").encode()
    if not start:
        raise SitemapError("is empty")
    if _HTML.match(start):
        raise SitemapError(_PAGE)
    if start.startswith(b"<"):
        yield from _xml_locations(first, chunks, notices)
    else:
        yield from _text_locations(first, chunks, charset or "utf-8")


def _xml_locations(
    first: bytes, chunks: Iterator[bytes], notices: list[str]
) -> Iterator[tuple[Kind, list[str]]]:
    reader = _XmlReader(notices)
    for chunk in itertools.chain([first], chunks, [b""]):
        try:
            reader.feed(chunk)
        except SitemapError:
            yield reader.take()
            raise
        yield reader.take()


class _XmlReader:
    """Collects the locations of an XML sitemap."""

    def __init__(self, notices: list[str]) -> None:
        self._notices = notices
        self._format: _Format | None = None
        self._depth = 0
        self._parent = ""
        self._names: set[str] = set()
        self._text: str | None = None
        self._found: list[str] = []
        self._size = 0
        self._last = b""
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
            why = fault(error.code, *self._around(chunk, parser.ErrorByteIndex))
            raise SitemapError(f"is not valid XML: line {error.lineno}: {why}") from error
        except (LookupError, ValueError) as error:
            # The encoding.
            raise SitemapError(f"cannot be read: {error}") from error
        self._size += len(chunk)
        self._last = chunk[-CONTEXT:]
        if self._size - parser.CurrentByteIndex > _MAX_TOKEN:
            raise SitemapError(f"has a tag or comment of more than {_MAX_TOKEN >> 20} MiB")

    def _around(self, chunk: bytes, place: int) -> tuple[bytes, bytes]:
        """Return the bytes before and after a place in a chunk, or shortly before the chunk."""
        near = self._last + chunk
        at = max(0, place - self._size + len(self._last))
        return near[max(0, at - CONTEXT) : at], near[at : at + CONTEXT]

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
            self._check_namespace(name, local, attributes)
        elif self._depth == form.depth - 1:
            self._parent = local
        elif self._depth == form.depth and local == form.name and self._parent == form.parent:
            is_page = attributes.get("rel", "alternate") == "alternate"
            self._text = attributes.get("href", "") if is_page else ""
            self._parser.CharacterDataHandler = self._add_text
        elif self._depth > _MAX_DEPTH:
            raise SitemapError(f"has more than {_MAX_DEPTH} nested elements")

    def _check_namespace(self, name: str, local: str, attributes: Mapping[str, str]) -> None:
        if local not in _IN_NAMESPACE:
            return
        prefix = name.rpartition(":")[0]
        namespace = attributes.get(f"xmlns:{prefix}" if prefix else "xmlns")
        if namespace is None:
            self._notices.append(f'has no namespace: write xmlns="{_NAMESPACE}"')
        elif namespace not in (_NAMESPACE, *_OLD_NAMESPACES):
            self._notices.append(
                f'has the namespace "{namespace[:_MAX_NAMESPACE]}": write "{_NAMESPACE}"'
            )

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
        invalid = None
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            invalid = error
            # What is before it counts.
            text = error.object[: error.start].decode() if charset == "utf-8" else ""
        text = rest + text
        if is_first:
            text = text.lstrip("\ufeff \t\r\n")
            is_first = False
            if not _URL.match(text):
                why = "UTF-8" if invalid else "a list of URLs"
                raise SitemapError(f"is neither XML nor {why}")
        *lines, rest = _LINE_END.split(text)
        if invalid:
            yield Kind.PAGES, [line for line in map(str.strip, lines) if line]
            line = rest + invalid.object[invalid.start :].decode("utf-8", "backslashreplace")
            line = _LINE_END.split(line)[0][:_MAX_LINE]
            raise SitemapError(f"is not {charset.upper()} in the line {line}")
        if not chunk:
            lines.append(rest)
        yield Kind.PAGES, [line for line in map(str.strip, lines) if line]
        if chunk and len(rest) > MAX_URL:
            raise SitemapError(f"has a line of more than {MAX_URL:,} characters")

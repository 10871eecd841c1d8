"""Parses license documents of Really Simple Licensing (RSL 1.0, https://rslstandard.org/rsl).

They are hostile: size, depth and numbers are limited, and documents with a DTD are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from xml.parsers.expat import ExpatError, ParserCreate

from ._limits import MAX_DOCUMENT
from ._notes import quoted

NAMESPACE = "https://rslstandard.org/rsl"
_MAX_DEPTH = 100
#: Elements <content>, and elements <license>.
_MAX_ELEMENTS = 1_000
#: Characters of a list of words.
_SPACES = re.compile(r"\s+")
_MAX_WORDS = 1_000
#: The draft of July 2025 had commas between words, RSL 1.0 has spaces.
#: Elements of RSL in one another down to those with words.
_LICENSE = ("rsl", "content", "license")
_LONGEST_PATH = len(_LICENSE) + 1
_BETWEEN_WORDS = re.compile(r"[\s,]+")


class RslError(Exception):
    """A document is not RSL, or cannot be read; the message is a part of a sentence.

    ``is_rsl`` tells whether it is RSL nevertheless, so that it may state something.
    """

    def __init__(self, message: str, *, is_rsl: bool = True) -> None:
        super().__init__(message)
        self.is_rsl = is_rsl


@dataclass(frozen=True, slots=True)
class Words:
    """The words of an element ``permits`` or ``prohibits``: its line, its type, and they."""

    line: int
    name: str
    kind: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f'<{self.name} type="{self.kind}">{" ".join(self.words)}</{self.name}>'


@dataclass(slots=True)
class RslLicense:
    """An element ``license``.

    Attributes:
        line: Where it begins.
        words: What it permits and prohibits.
        payments: The types of payments; "" for one without a type.
        reports: Whether it wants reports of uses.
    """

    line: int
    words: list[Words] = field(default_factory=list)
    payments: list[str] = field(default_factory=list)
    reports: bool = False

    def lists(self, name: str, *kinds: str) -> list[Words]:
        """Return what it permits or prohibits of some types."""
        return [each for each in self.words if each.name == name and each.kind in kinds]


@dataclass(slots=True)
class Content:
    """An element ``content``.

    Attributes:
        line: Where it begins.
        url: The path or URL of what it is about; None if it has none.
        server: The URL of the license server; "" without one.
        licenses: Its licenses.
    """

    line: int
    url: str | None
    server: str
    licenses: list[RslLicense] = field(default_factory=list)


def parse_rsl(body: bytes) -> list[Content]:
    """Return the contents of a document.

    Raises:
        RslError: it is not RSL, or cannot be read.
    """
    if len(body) > MAX_DOCUMENT:
        raise RslError(f"is larger than {MAX_DOCUMENT >> 20} MiB")
    if not body.strip():
        raise RslError("is empty", is_rsl=False)
    return _Document(body).contents


class _Document:
    """Collects the contents of a document."""

    def __init__(self, body: bytes) -> None:
        """Parse a document.

        Raises:
            RslError: it is not RSL, or cannot be read.
        """
        self.contents: list[Content] = []
        #: The elements of RSL around the current one; "" for other elements.
        self._path: list[str] = []
        #: For each prefix whether it stands for RSL; and the prefixes that each element declares.
        self._spaces: dict[str, list[bool]] = {}
        self._declared: list[list[str]] = []
        self._licenses = 0
        self._text = ""
        #: What is read, by the names of the elements around it and its own.
        self._readers: Mapping[tuple[str, ...], Callable[[Mapping[str, str]], None]] = {
            _LICENSE[:2]: self._add_content,
            _LICENSE: self._add_license,
            (*_LICENSE, "permits"): self._add_words,
            (*_LICENSE, "prohibits"): self._add_words,
            (*_LICENSE, "payment"): self._add_payment,
            (*_LICENSE, "reporting"): self._add_reporting,
        }
        # Without namespaces: Expat would put each, of any length, before each name.
        self._parser = ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        try:
            self._parser.Parse(body, True)
        except ExpatError as error:
            is_rsl = NAMESPACE.encode() in body
            raise RslError(f"is not valid XML: {error}", is_rsl=is_rsl) from error
        except (LookupError, ValueError) as error:
            raise RslError(f"has a charset that cannot be read: {error}") from error

    def _doctype(self, name: str, *_: object) -> None:
        if name.lower() == "html":
            raise RslError("is an HTML page, not a license", is_rsl=False)
        # Entities can expand to any size.
        raise RslError("has a DOCTYPE, and is not read")

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if self._parser.CharacterDataHandler is not None:
            raise RslError(f"has an element within <{self._path[-1]}>")
        if len(self._path) == _MAX_DEPTH:
            raise RslError(f"has more than {_MAX_DEPTH} nested elements")
        self._declare(attributes)
        local = self._local(name)
        if not self._path and local != "rsl":
            is_rsl = name.rpartition(":")[2] == "rsl"
            what = f'lacks xmlns="{NAMESPACE}"' if is_rsl else f"has the root {quoted(name)}"
            raise RslError(f"{what}: it is not RSL", is_rsl=is_rsl)
        self._path.append(local)
        if read := self._readers.get(tuple(self._path[: _LONGEST_PATH + 1])):
            read(attributes)

    def _declare(self, attributes: Mapping[str, str]) -> None:
        declared = []
        for name, value in attributes.items():
            if name == "xmlns" or name.startswith("xmlns:"):
                prefix = name[6:]
                self._spaces.setdefault(prefix, []).append(value == NAMESPACE)
                declared.append(prefix)
        self._declared.append(declared)

    def _local(self, name: str) -> str:
        """Return the name of an element of RSL without prefix, "" for others."""
        prefix, _, local = name.rpartition(":")
        spaces = self._spaces.get(prefix)
        return local if spaces and spaces[-1] else ""

    def _add_content(self, attributes: Mapping[str, str]) -> None:
        self._check_number(len(self.contents), "content")
        line = self._parser.CurrentLineNumber
        server = attributes.get("server", "").strip()
        self.contents.append(Content(line, attributes.get("url"), server))

    def _add_license(self, _: Mapping[str, str]) -> None:
        self._check_number(self._licenses, "license")
        self._licenses += 1
        self.contents[-1].licenses.append(RslLicense(self._parser.CurrentLineNumber))

    def _check_number(self, number: int, name: str) -> None:
        if number == _MAX_ELEMENTS:
            raise RslError(f"has more than {_MAX_ELEMENTS:,} elements <{name}>")

    def _add_words(self, attributes: Mapping[str, str]) -> None:
        kind = attributes.get("type", "").strip().lower()
        words = Words(self._parser.CurrentLineNumber, self._path[-1], kind, ())
        self.contents[-1].licenses[-1].words.append(words)
        self._text = ""
        self._parser.CharacterDataHandler = self._add_text

    def _add_text(self, text: str) -> None:
        self._text += _SPACES.sub(" ", text)
        if len(self._text) > _MAX_WORDS:
            raise RslError(f"has a list of more than {_MAX_WORDS:,} characters")

    def _add_payment(self, attributes: Mapping[str, str]) -> None:
        kind = attributes.get("type", "").strip().lower()
        self.contents[-1].licenses[-1].payments.append(kind)

    def _add_reporting(self, _: Mapping[str, str]) -> None:
        self.contents[-1].licenses[-1].reports = True

    def _end(self, _: str) -> None:
        if len(self._path) == _LONGEST_PATH and self._parser.CharacterDataHandler is not None:
            self._parser.CharacterDataHandler = None
            words = self.contents[-1].licenses[-1].words
            found = filter(None, _BETWEEN_WORDS.split(self._text.lower()))
            words[-1] = replace(words[-1], words=tuple(found))
        self._path.pop()
        for prefix in self._declared.pop():
            self._spaces[prefix].pop()

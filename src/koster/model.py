"""The values that a file consists of: frozen, each with its line.

Lines and columns count from 1; columns count bytes. Text from the file is decoded as UTF-8 with
invalid bytes as lone surrogates (PEP 383), so ``value.encode("utf-8", "surrogateescape")`` returns
the original bytes.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, fields

#: White space in lines: that of ASCII.
SPACE = " \t\n\r\v\f"


def text_of(raw: bytes) -> str:
    """Decode bytes of a file; invalid UTF-8 becomes lone surrogates."""
    return raw.decode("utf-8", "surrogateescape")


def spelt_out(character: str) -> str:
    r"""Return an escape for a character that is not printable; ``\xff`` is an invalid byte.

    >>> print(spelt_out("\n"), spelt_out("\u202e"), spelt_out("\udcff"))
    \n \u202e \xff
    """
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


#: The names of the fields that are hashed, by class.
_HASHED: dict[type, list[str]] = {}


class Value:
    """The methods of frozen values; values of one class are equal if all their fields are.

    They do what those of `dataclasses` do, which are compiled anew for each class: a part of the
    time of ``import koster``.
    """

    __slots__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    def __hash__(self) -> int:
        names = _HASHED.get(self.__class__)
        if names is None:
            names = [each.name for each in fields(self) if each.hash is not False]  # type: ignore[arg-type]
            _HASHED[self.__class__] = names
        return hash(tuple([getattr(self, name) for name in names]))

    def __repr__(self) -> str:
        shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in self.__slots__])
        return f"{self.__class__.__qualname__}({shown})"


class Scope(enum.Enum):
    """What a directive applies to."""

    GROUP = "group"
    FILE = "file"


class Directive(enum.Enum):
    """The table of known directives.

    Each entry has the usual name, the scope, and alternative spellings. The misspellings are those
    that google/robotstxt accepts; names compare case-insensitively.
    """

    USER_AGENT = "User-agent", Scope.GROUP, "useragent", "user agent"
    ALLOW = "Allow", Scope.GROUP
    DISALLOW = (
        "Disallow",
        Scope.GROUP,
        "dissallow",
        "dissalow",
        "disalow",
        "diasllow",
        "disallaw",
    )
    SITEMAP = "Sitemap", Scope.FILE, "sitemaps", "site-map"
    CRAWL_DELAY = "Crawl-delay", Scope.GROUP
    REQUEST_RATE = "Request-rate", Scope.GROUP
    VISIT_TIME = "Visit-time", Scope.GROUP
    COMMENT = "Comment", Scope.GROUP
    ROBOT_VERSION = "Robot-version", Scope.GROUP
    CONTENT_SIGNAL = "Content-Signal", Scope.GROUP
    CONTENT_USAGE = "Content-Usage", Scope.GROUP
    HOST = "Host", Scope.FILE
    CLEAN_PARAM = "Clean-param", Scope.FILE
    NOINDEX = "Noindex", Scope.GROUP
    LICENSE = "License", Scope.FILE

    _value_: str
    code: int
    scope: Scope
    spellings: tuple[str, ...]

    def __new__(cls, name: str, scope: Scope, *others: str) -> Directive:  # noqa: PYI034
        """Create a member; its code is its position in the table, from 1."""
        member = object.__new__(cls)
        member._value_ = name
        member.code = len(cls.__members__) + 1
        member.scope = scope
        member.spellings = (name.lower(), *others)
        return member

    # There is one object for each; the usual hash is a function of Python, called for every line.
    __hash__ = object.__hash__

    def __str__(self) -> str:
        # `value` is a property, which takes ten times as long.
        return self._value_


#: The directives that are rules.
RULES = (Directive.ALLOW, Directive.DISALLOW)

#: Directives by their code in the engine's tables.
DIRECTIVE_OF: dict[int, Directive] = {directive.code: directive for directive in Directive}


class LineKind(enum.StrEnum):
    """The kind of a line."""

    BLANK = "blank"
    """Nothing but white space."""
    COMMENT = "comment"
    """Only a comment."""
    DIRECTIVE = "directive"
    """A directive that the dialect supports."""
    UNKNOWN = "unknown"
    """An unknown directive, or one that the dialect does not support."""
    MALFORMED = "malformed"
    """Not a directive with a value, and not two words."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Line(Value):
    """One line of the file.

    ``key`` is the directive's name and ``value`` its value, as written; both may be empty.
    ``comment`` is the text after ``#``, or None. ``column`` is the start of the value, or of the
    key if there is no value.
    """

    number: int
    kind: LineKind
    text: str
    key: str = ""
    value: str = ""
    comment: str | None = None
    column: int = 1
    directive: Directive | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rule(Value):
    """An Allow or Disallow line: ``pattern`` is its value as written."""

    directive: Directive
    pattern: str
    line: int
    allow: bool
    column: int = 1

    def __str__(self) -> str:
        # Without the conversion, Python looks for a format of the enumeration: twice as long.
        # A pattern may end in a space beyond those of ASCII.
        return f"{self.directive!s}: {self.pattern}".rstrip(SPACE)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Group(Value):
    """A group: the agents it names and its rules, in file order.

    ``line`` is its first User-agent line. ``version`` is its Robot-version as written, if one
    directly follows its agents.
    """

    agents: tuple[str, ...]
    rules: Sequence[Rule]
    line: int
    version: str | None = None

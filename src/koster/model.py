"""The values that koster hands out: frozen, each with the line it comes from.

Lines and columns count from 1; columns count bytes. Text that stood in the file is decoded
as UTF-8 with bytes that are not UTF-8 kept as lone surrogates (PEP 383), so that
``value.encode("utf-8", "surrogateescape")`` gives back what was there.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .dialects import Dialect


#: What is white space to a line: ASCII's.
SPACE = " \t\n\r\v\f"


def text_of(raw: bytes) -> str:
    """Return bytes of a file as text; those that are not UTF-8 become lone surrogates."""
    return raw.decode("utf-8", "surrogateescape")


def spelt_out(character: str) -> str:
    r"""Return an escape for a character that cannot be shown; ``\xff`` is a byte of no UTF-8.

    >>> print(spelt_out("\n"), spelt_out("\u202e"), spelt_out("\udcff"))
    \n \u202e \xff
    """
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


class Scope(enum.Enum):
    """To what a directive's value belongs."""

    GROUP = "group"
    FILE = "file"


class Directive(enum.Enum):
    """The keys that koster knows: the one table of them.

    Each entry gives the key as it is usually written, what its value belongs to, and other
    spellings that are read as the same key. The misspellings are those that
    google/robotstxt accepts; keys compare without case.
    """

    USER_AGENT = "User-agent", Scope.GROUP, "useragent", "user agent"
    ALLOW = "Allow", Scope.GROUP
    DISALLOW = (
        *("Disallow", Scope.GROUP),
        *("dissallow", "dissalow", "disalow", "diasllow", "disallaw"),
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

    code: int
    scope: Scope
    spellings: tuple[str, ...]

    def __new__(cls, name: str, scope: Scope, *others: str) -> Directive:  # noqa: PYI034
        """Take an entry of the table; its code is its place in it."""
        member = object.__new__(cls)
        member._value_ = name
        member.code = len(cls.__members__) + 1
        member.scope = scope
        member.spellings = (name.lower(), *others)
        return member

    def __str__(self) -> str:
        return str(self.value)


#: The directives that are rules.
RULES = (Directive.ALLOW, Directive.DISALLOW)

#: The directive that has a code in the tables of the engine.
DIRECTIVE_OF: dict[int, Directive] = {directive.code: directive for directive in Directive}


class LineKind(enum.StrEnum):
    """What a line of a robots.txt is."""

    BLANK = "blank"
    COMMENT = "comment"
    DIRECTIVE = "directive"
    UNKNOWN = "unknown"
    """A key and a value, but no key that the dialect reads."""
    MALFORMED = "malformed"
    """Neither a key and a value nor two words."""


class Reason(enum.StrEnum):
    """Why a decision came out as it did."""

    RULE = "rule"
    """A rule matched; the decision names it."""
    NO_RULE = "no rule"
    """A group is for this robot, and none of its rules matches."""
    NO_GROUP = "no group"
    """No group is for this robot, and there is none for everybody."""
    ROBOTS_TXT = "robots.txt"
    """/robots.txt itself may always be fetched."""
    UNAVAILABLE = "unavailable"
    """The site has no robots.txt to be read (4xx)."""
    UNREACHABLE = "unreachable"
    """Fetching the site's robots.txt failed (5xx, network)."""
    FORBIDDEN = "forbidden"
    """The site forbids its robots.txt, and the dialect takes that for all (401, 403)."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the file.

    ``key`` and ``value`` are as written and empty where the line has none; ``comment`` is
    what follows ``#``, or None. ``column`` is where the value begins, or the key if there
    is no value.
    """

    number: int
    kind: LineKind
    text: str
    key: str = ""
    value: str = ""
    comment: str | None = None
    column: int = 1
    directive: Directive | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """An Allow or Disallow line: ``pattern`` is its value as written."""

    directive: Directive
    pattern: str
    line: int
    allow: bool
    column: int = 1

    def __str__(self) -> str:
        return f"{self.directive}: {self.pattern}".rstrip()


@dataclass(frozen=True, slots=True)
class Group:
    """A group: the agents it names and its rules, in file order.

    ``line`` is its first User-agent line. ``version`` is its Robot-version as written, where
    one stands directly after its agents.
    """

    agents: tuple[str, ...]
    rules: Sequence[Rule]
    line: int
    version: str | None = None


_SENTENCES = {
    Reason.RULE: "{verdict}: line {line}, {rule}",
    Reason.NO_RULE: "{verdict}: no rule for this robot matches",
    Reason.NO_GROUP: "{verdict}: no group is for this robot",
    Reason.ROBOTS_TXT: "{verdict}: /robots.txt itself may always be fetched",
    Reason.UNAVAILABLE: "{verdict}: the site has no robots.txt to be read",
    Reason.UNREACHABLE: "{verdict}: fetching the site's robots.txt failed",
    Reason.FORBIDDEN: "{verdict}: the site forbids its robots.txt",
}


@dataclass(frozen=True, slots=True)
class Decision:
    """May this robot fetch this URL, and which line says so.

    ``bool(decision)`` is ``decision.allowed``; ``str(decision)`` is one sentence. ``rule`` is
    the rule that decided and ``group`` the group it stands in; where no rule decided, ``group``
    is the first of the groups that are for this robot, if there is one. ``why`` says what
    happened where fetching the site's file failed, and is empty elsewhere.
    """

    allowed: bool
    reason: Reason
    rule: Rule | None
    group: Group | None
    agent: str | tuple[str, ...]
    url: str
    dialect: Dialect
    why: str = ""

    def __bool__(self) -> bool:
        return self.allowed

    def __str__(self) -> str:
        agent = self.agent if isinstance(self.agent, str) else ", ".join(self.agent)
        agent = agent or "A robot without a name"
        verdict = f"{agent} may{'' if self.allowed else ' not'} fetch {self.url}"
        line = self.rule.line if self.rule else 0
        sentence = _SENTENCES[self.reason].format(verdict=verdict, line=line, rule=self.rule)
        if self.why:
            sentence += f" ({self.why})"
        return sentence.encode("utf-8", "backslashreplace").decode("utf-8")

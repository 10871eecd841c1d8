"""Dialects: what the standards differ in, as data that each step reads.

A `Dialect` is a frozen value: one enumerated choice for each thing that a step may do in more
than one way. The named dialects stand at the end, each with its source; adding one is one
entry there plus its cases in ``tests/cases``. The default of every field is what `RFC9309`
does, so that an entry says only where it differs.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from types import MappingProxyType

from .errors import UnknownDialectError
from .model import Directive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Bom(enum.IntEnum):
    """Which octets before the first line are skipped as a UTF-8 byte order mark."""

    WHOLE = 0
    PARTIAL = 1
    """Also the first one or two octets of it."""


class Keys(enum.IntEnum):
    """How a key is compared with the spellings of a directive; always without case."""

    EQUAL = 0
    PREFIX = 1
    """The key begins with the spelling: ``allowance`` is Allow."""


class Comments(enum.IntEnum):
    """Where ``#`` starts a comment."""

    ANYWHERE = 0
    AFTER_SPACE = 1
    """At the start of a line or after whitespace."""


class LineEnd(enum.IntEnum):
    """How much of a line is read."""

    WHOLE = 0
    BUFFER = 1
    """As a C string in a buffer of fixed size: up to `BUFFER_OCTETS` and up to the first NUL."""


class Records(enum.IntEnum):
    """How lines make up groups."""

    RULES_CLOSE = 0
    """The first rule closes a group's list of agents; nothing else ends anything."""
    BLANK_LINE_ENDS = 1
    """A blank line ends the record, and one without agents or without rules is none."""


class Names(enum.IntEnum):
    """How the asked agent finds its groups."""

    PRODUCT_TOKEN = 0
    """By product token, or by any name that stands in a whole User-Agent header; all merged."""
    LETTERS = 1
    """A name is cut at the first octet outside ``A-Za-z_-`` and equals the agent; all merged."""
    SUBSTRING = 2
    """The first record with a name that is a substring of the agent."""
    PREFIX = 3
    """The first record with a name that the agent begins with."""


class UrlPath(enum.IntEnum):
    """Where in a URL its path begins."""

    AFTER_AUTHORITY = 0
    GOOGLE = 1
    """At the first ``/``, ``?`` or ``;`` after ``://``, wherever that stands; up to a NUL."""


class Escapes(enum.IntEnum):
    """The one form that URL and pattern are brought to before they are compared."""

    CANONICAL = 0
    """Unreserved octets plain, every other one escaped with upper-case hex."""
    PATTERN_ONLY = 1
    """Patterns: upper-case hex, octets above 127 escaped. The URL as given."""
    AS_WRITTEN = 2
    DECODED = 3
    """Every escape decoded but ``%2F``, ``%25``, ``%2A`` and ``%24``; of raw ``*`` and ``$``, the
    literal ones escaped."""
    PLAIN = 4
    """Every escape decoded but ``%2F`` and ``%25``; in a shell pattern, to a literal octet."""


class Patterns(enum.IntEnum):
    """What is special in a pattern."""

    WILDCARDS = 0
    """``*`` is any run of octets, ``$`` at the end anchors."""
    PREFIX = 1
    """Nothing is: a pattern is a literal prefix."""
    SHELL = 2
    """``*``, ``?``, ``[…]``, ``[!…]`` and ``\\``; the whole path must match."""


class EmptyRules(enum.IntEnum):
    """What a rule without a value says."""

    NOTHING = 0
    OPPOSITE = 1
    """An empty Allow allows nothing, an empty Disallow everything; on any path."""


class Choice(enum.IntEnum):
    """Which of the matching rules decides: how they are ranked."""

    LONGEST = 0
    """The longest pattern, Allow on a tie, then the earlier line."""
    FIRST = 1
    """The first in the file."""
    EXPLICIT_FIRST = 2
    """Allows without special characters, then Disallows, then the other Allows."""


class Unmatched(enum.IntEnum):
    """What holds where rules are there and none matches."""

    ALLOWED = 0
    UNLESS_ALLOWS = 1
    """Disallowed if there is an Allow with special characters, or some Allow and no Disallow."""


class RobotsTxtPath(enum.IntEnum):
    """Whether /robots.txt itself may always be fetched."""

    ALWAYS_ALLOWED = 0
    NOT_SPECIAL = 1


class IndexPages(enum.IntEnum):
    """What ``Allow: …/index.htm…`` allows besides."""

    NOTHING_MORE = 0
    DIRECTORY_TOO = 1


class WindowEnd(enum.IntEnum):
    """When a time window such as 0600-0845 ends."""

    AT_MINUTE = 0
    """At 08:45:00."""
    THROUGH_MINUTE = 1
    """At 08:46:00: 0500-1259 and 1300-1659 leave no gap."""


#: google/robotstxt, robots.cc: a line's buffer holds 2083 × 8 octets with its closing NUL.
BUFFER_OCTETS = 2083 * 8 - 1


@dataclass(frozen=True, slots=True)
class Reading:
    """How the rules of a group are read: paths, patterns and the choice between them."""

    url_path: UrlPath = UrlPath.AFTER_AUTHORITY
    escapes: Escapes = Escapes.CANONICAL
    patterns: Patterns = Patterns.WILDCARDS
    empty_rules: EmptyRules = EmptyRules.NOTHING
    choice: Choice = Choice.LONGEST
    unmatched: Unmatched = Unmatched.ALLOWED
    robots_txt: RobotsTxtPath = RobotsTxtPath.ALWAYS_ALLOWED
    index_pages: IndexPages = IndexPages.NOTHING_MORE


@dataclass(frozen=True, slots=True, repr=False)
class Dialect:
    """One way to read a robots.txt.

    ``directives`` are the keys it reads; any other key makes an unknown line. ``versions``
    maps the major number of a Robot-version, directly after a group's agents, to the reading
    of that group; a group whose minor number is odd, or whose major number is not here, is
    passed over. Without ``versions`` every group is read by ``reading``.
    """

    name: str
    source: str
    directives: frozenset[Directive] = frozenset(Directive)
    bom: Bom = Bom.WHOLE
    keys: Keys = Keys.EQUAL
    comments: Comments = Comments.ANYWHERE
    line_end: LineEnd = LineEnd.WHOLE
    records: Records = Records.RULES_CLOSE
    names: Names = Names.PRODUCT_TOKEN
    reading: Reading = Reading()
    versions: Mapping[int, Reading] = field(default_factory=dict, hash=False)
    window_end: WindowEnd = WindowEnd.AT_MINUTE

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<Dialect {self.name}>"


# RFC 9309 (2022), with the choices that it leaves open taken as the documentation says.
RFC9309 = Dialect(
    name="RFC9309",
    source="RFC 9309, Robots Exclusion Protocol, 2022",
)

# google/robotstxt, April 2026: robots.cc. It reads four keys and hands the others on unread.
GOOGLE = Dialect(
    name="GOOGLE",
    source="google/robotstxt, April 2026",
    directives=frozenset(
        {Directive.USER_AGENT, Directive.ALLOW, Directive.DISALLOW, Directive.SITEMAP}
    ),
    bom=Bom.PARTIAL,
    keys=Keys.PREFIX,
    line_end=LineEnd.BUFFER,
    names=Names.LETTERS,
    reading=Reading(
        url_path=UrlPath.GOOGLE,
        escapes=Escapes.PATTERN_ONLY,
        robots_txt=RobotsTxtPath.NOT_SPECIAL,
        index_pages=IndexPages.DIRECTORY_TOO,
    ),
)

# robotstxt.org/orig.html: A Standard for Robot Exclusion, 30 June 1994.
MK1994 = Dialect(
    name="MK1994",
    source="A Standard for Robot Exclusion, Martijn Koster, 1994",
    directives=frozenset({Directive.USER_AGENT, Directive.DISALLOW}),
    records=Records.BLANK_LINE_ENDS,
    names=Names.SUBSTRING,
    reading=Reading(
        escapes=Escapes.AS_WRITTEN,
        patterns=Patterns.PREFIX,
        empty_rules=EmptyRules.OPPOSITE,
        choice=Choice.FIRST,
    ),
)

# draft-koster-robots-00, 4 December 1996, §3.2; its section on names read as
# robotexclusionrulesparser reads it (nikitathespider.com).
_MK1996_READING = Reading(
    escapes=Escapes.DECODED,
    patterns=Patterns.PREFIX,
    empty_rules=EmptyRules.OPPOSITE,
    choice=Choice.FIRST,
)
MK1996 = Dialect(
    name="MK1996",
    source="draft-koster-robots-00, Martijn Koster, 1996",
    directives=frozenset({Directive.USER_AGENT, Directive.ALLOW, Directive.DISALLOW}),
    records=Records.BLANK_LINE_ENDS,
    names=Names.SUBSTRING,
    reading=_MK1996_READING,
)

# What Google, Yahoo and Microsoft announced together on 3 June 2008, as
# robotexclusionrulesparser documents it (nikitathespider.com).
GYM2008 = Dialect(
    name="GYM2008",
    source="Google, Yahoo and Microsoft, 2008, as robotexclusionrulesparser documents it",
    directives=MK1996.directives | {Directive.CRAWL_DELAY, Directive.SITEMAP},
    records=Records.BLANK_LINE_ENDS,
    names=Names.SUBSTRING,
    reading=Reading(
        escapes=Escapes.DECODED,
        patterns=Patterns.WILDCARDS,
        empty_rules=EmptyRules.OPPOSITE,
        choice=Choice.FIRST,
    ),
)

# draft-ietf-aipref-attach: the paths of Content-Usage match as those of rules do; only that
# /robots.txt is a path like any other. Not a way to read a file, and so not among the named.
USAGE_PATHS = Dialect(
    name="USAGE_PATHS",
    source="draft-ietf-aipref-attach",
    reading=Reading(robots_txt=RobotsTxtPath.NOT_SPECIAL),
)

#: The named dialects by name, the default first.
DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {dialect.name: dialect for dialect in (RFC9309, GOOGLE, MK1994, MK1996, GYM2008)}
)


def dialect_named(name: str) -> Dialect:
    """Return the dialect of that name, in upper or lower case.

    Raises:
        UnknownDialectError: no dialect has that name.
    """
    try:
        return DIALECTS[name.upper()]
    except KeyError:
        known = ", ".join(DIALECTS)
        raise UnknownDialectError(f"no dialect is named {name!r}; there are {known}") from None

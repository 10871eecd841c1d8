"""Dialects: the differences between the standards, as data that each step reads.

A `Dialect` is a frozen value with one enumerated choice for everything that a step can do in more
than one way. The named dialects are at the end, each with its source; to add one, add an entry
there and its cases in ``tests/cases``. The defaults of all fields are those of `RFC9309`, so an
entry only has the differences.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from .errors import UnknownDialectError
from .model import Directive, LineKind, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    #: Takes names in lower case (`Names.CHOSEN` says which, and ``*``), the number of the group of
    #: each, and the agent. Returns the numbers of the groups that apply, in order of priority; if
    #: there are none, the ``*`` groups apply.
    Choose: TypeAlias = Callable[[Sequence[bytes], Sequence[int], bytes], Sequence[int]]
    #: Takes the value of a rule and whether it allows. Returns the patterns that replace it, each
    #: with the length for its priority, or -1 for its own length.
    Rewrite: TypeAlias = Callable[[bytes, bool], Iterable[tuple[bytes, int]]]


class Bom(enum.IntEnum):
    """Which bytes before the first line are skipped as a UTF-8 byte order mark (BOM)."""

    WHOLE = 0
    PARTIAL = 1
    """Also only its first one or two bytes."""


class Decoding(enum.IntEnum):
    """How a file that is not UTF-8 is read."""

    BY_MARK = 0
    """By its byte order mark: UTF-16 and UTF-32; in clients also by its declared charset."""
    NONE = 1
    """As the bytes that were served."""


class Keys(enum.IntEnum):
    """How the name on a line is compared with the spellings of a directive; ignoring case."""

    EQUAL = 0
    PREFIX = 1
    """The name starts with the spelling: ``allowance`` is Allow."""


class Comments(enum.IntEnum):
    """Where ``#`` starts a comment."""

    ANYWHERE = 0
    AFTER_SPACE = 1
    """At the start of a line or after whitespace."""


class LineEnd(enum.IntEnum):
    """How much of a line is read."""

    WHOLE = 0
    BUFFER = 1
    """As a C string in a buffer of fixed size: up to `BUFFER_BYTES` and up to the first NUL."""


class Separator(enum.IntEnum):
    """What separates directive and value."""

    COLON_OR_SPACE = 0
    """A colon; without one, exactly two words are a directive and its value."""
    COLON = 1


class BlankLines(enum.IntEnum):
    """What a blank line does; a line with only a comment is not blank."""

    NOTHING = 0
    END_GROUP = 1


class GroupNeeds(enum.IntEnum):
    """What a group needs besides User-agent lines."""

    NOTHING = 0
    RULES = 1
    """A name, and a rule."""
    DIRECTIVES = 2
    """A name, and any other directive."""


class Orphans(enum.IntEnum):
    """What happens to rules before any User-agent line."""

    IGNORED = 0
    FOR_EVERYBODY = 1


class Names(enum.IntEnum):
    """How the groups of an agent are found."""

    PRODUCT_TOKEN = 0
    """By product token, or by any name in a User-Agent header."""
    LETTERS = 1
    """A name is cut at the first byte outside ``A-Za-z_-`` and equals the agent."""
    SUBSTRING = 2
    """By a name that is a substring of the agent."""
    PREFIX = 3
    """By a name that the agent starts with; in a header, at each word from the first on."""
    CHOSEN = 4
    """The dialect's own function chooses among the names that are a substring of the agent, contain
    it, or contain ``*``, a control character or a non-ASCII character."""


class Merging(enum.IntEnum):
    """Which of several matching groups apply to a crawler; also of several ``*`` groups."""

    ALL = 0
    FIRST = 1


class UrlPath(enum.IntEnum):
    """Where the path of a URL starts."""

    AFTER_AUTHORITY = 0
    GOOGLE = 1
    """At the first ``/``, ``?`` or ``;`` after ``://`` anywhere; ends at a NUL."""


class Escapes(enum.IntEnum):
    """The canonical form in which URLs and patterns are compared."""

    CANONICAL = 0
    """Unreserved bytes are literal, all others escaped with upper-case hex."""
    PATTERN_ONLY = 1
    """Patterns: upper-case hex, bytes above 127 escaped. URLs: unchanged."""
    AS_WRITTEN = 2
    DECODED = 3
    """All escapes decoded except ``%2F``, ``%25``, ``%2A`` and ``%24``; raw ``*`` and ``$`` escaped
    if they are literal."""
    PLAIN = 4
    """All escapes decoded except ``%2F`` and ``%25``; in a shell pattern, to literal bytes."""


class Patterns(enum.IntEnum):
    """Which characters are special in a pattern."""

    WILDCARDS = 0
    """``*`` matches any bytes, a final ``$`` the end of the path."""
    PREFIX = 1
    """None: a pattern is a literal prefix."""
    SHELL = 2
    """``*``, ``?``, ``[…]``, ``[!…]`` and ``\\``; the whole path must match."""


class EmptyRules(enum.IntEnum):
    """What a rule without a value means."""

    NOTHING = 0
    OPPOSITE = 1
    """An empty Allow disallows, an empty Disallow allows; for all paths."""


class Choice(enum.IntEnum):
    """Which of several matching rules decides."""

    LONGEST = 0
    """The longest pattern, Allow on a tie, then the earlier line."""
    FIRST = 1
    """The first in the file."""
    EXPLICIT_FIRST = 2
    """Allows without special characters, then Disallows, then the other Allows."""


class Unmatched(enum.IntEnum):
    """The decision if there are rules and none matches."""

    ALLOWED = 0
    UNLESS_ALLOWS = 1
    """Disallowed if there is an Allow with special characters, or some Allow and no Disallow."""


class RobotsTxtPath(enum.IntEnum):
    """Whether /robots.txt itself is always allowed."""

    ALWAYS_ALLOWED = 0
    NOT_SPECIAL = 1


class IndexPages(enum.IntEnum):
    """What ``Allow: …/index.htm…`` also allows."""

    NOTHING_MORE = 0
    DIRECTORY_TOO = 1


class WindowEnd(enum.IntEnum):
    """When a time window such as 0600-0845 ends."""

    AT_MINUTE = 0
    """At 08:45:00."""
    THROUGH_MINUTE = 1
    """At 08:46:00: 0500-1259 and 1300-1659 leave no gap."""


class Rates(enum.IntEnum):
    """Which of several Request-rates apply at a time; the slowest of them is used."""

    ALL = 0
    """Rates whose window includes the time, and those without a window."""
    TIMED_FIRST = 1
    """Rates whose window includes the time, else those without a window."""


def keys_of(*directives: Directive) -> dict[str, Directive]:
    """Return directives by their standard spellings only, for `Dialect.spellings`."""
    return {directive.spellings[0]: directive for directive in directives}


#: google/robotstxt, robots.cc: a line's buffer holds 2083 × 8 bytes with its closing NUL.
BUFFER_BYTES = 2083 * 8 - 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reading(Value):
    """How the rules of a group are read: paths, patterns, and which rule decides."""

    url_path: UrlPath = UrlPath.AFTER_AUTHORITY
    escapes: Escapes = Escapes.CANONICAL
    patterns: Patterns = Patterns.WILDCARDS
    empty_rules: EmptyRules = EmptyRules.NOTHING
    choice: Choice = Choice.LONGEST
    unmatched: Unmatched = Unmatched.ALLOWED
    robots_txt: RobotsTxtPath = RobotsTxtPath.ALWAYS_ALLOWED
    index_pages: IndexPages = IndexPages.NOTHING_MORE


_DAY = 24 * 60 * 60


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Statuses(Value):
    """The status policy: what HTTP statuses mean, and for how long.

    ``forbidden`` statuses disallow everything; ``unavailable`` ones mean that there is no file, so
    everything is allowed. Times are in seconds: ``lifetime`` is the default lifetime of a
    response, ``longest`` the maximum for a response that has its own.
    """

    forbidden: frozenset[int] = frozenset()
    unavailable: frozenset[int] = frozenset(range(400, 500)) - {429}
    lifetime: int = _DAY
    longest: int = _DAY


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dialect(Value):
    """One way to read a robots.txt.

    ``directives`` are the ones it supports, with the spellings of `Directive` or, if given, of
    ``spellings``; all others are unknown directives. The first line of a kind in ``closing`` ends a
    group's list of agents. ``versions`` maps the major number of a Robot-version, directly after a
    group's agents, to the reading of that group; a group with an odd minor number, or a major
    number that is missing here, is ignored. Without ``versions`` all groups use ``reading``.

    The quirks of a single library are not choices here but functions: ``choose`` chooses the groups
    if ``names`` is `Names.CHOSEN`; ``rewrite`` replaces rules whose values are empty or contain a
    byte of ``rewritten`` (all rules, if it is None) with patterns for ``reading``.
    """

    name: str
    source: str
    directives: frozenset[Directive] = frozenset(Directive)
    spellings: Mapping[str, Directive] = field(default_factory=dict, hash=False)
    decoding: Decoding = Decoding.BY_MARK
    bom: Bom = Bom.WHOLE
    keys: Keys = Keys.EQUAL
    separator: Separator = Separator.COLON_OR_SPACE
    comments: Comments = Comments.ANYWHERE
    line_end: LineEnd = LineEnd.WHOLE
    closing: frozenset[Directive | LineKind] = frozenset({Directive.ALLOW, Directive.DISALLOW})
    blank_lines: BlankLines = BlankLines.NOTHING
    group_needs: GroupNeeds = GroupNeeds.NOTHING
    orphans: Orphans = Orphans.IGNORED
    names: Names = Names.PRODUCT_TOKEN
    merging: Merging = Merging.ALL
    choose: Choose | None = None
    reading: Reading = Reading()
    versions: Mapping[int, Reading] = field(default_factory=dict, hash=False)
    rewrite: Rewrite | None = None
    rewritten: bytes | None = None
    window_end: WindowEnd = WindowEnd.AT_MINUTE
    rates: Rates = Rates.ALL
    statuses: Statuses = Statuses()

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<Dialect {self.name}>"

    def body_of(self, decoded: bytes, served: bytes | None) -> bytes:
        """Return the bytes of a file to read; ``served`` is None if it was not decoded."""
        if served is None or self.decoding is Decoding.BY_MARK:
            return decoded
        return served


# RFC 9309 (2022); docs/reference/dialects/rfc9309.md has the choices that it leaves open.
RFC9309 = Dialect(
    name="RFC9309",
    source="RFC 9309, Robots Exclusion Protocol, 2022",
)

# google/robotstxt, April 2026: robots.cc. It supports four directives and passes on the others.
GOOGLE = Dialect(
    name="GOOGLE",
    source="google/robotstxt, April 2026",
    directives=frozenset(
        {Directive.USER_AGENT, Directive.ALLOW, Directive.DISALLOW, Directive.SITEMAP}
    ),
    decoding=Decoding.NONE,
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
    closing=frozenset(Directive),
    blank_lines=BlankLines.END_GROUP,
    group_needs=GroupNeeds.RULES,
    names=Names.SUBSTRING,
    merging=Merging.FIRST,
    reading=Reading(
        escapes=Escapes.AS_WRITTEN,
        patterns=Patterns.PREFIX,
        empty_rules=EmptyRules.OPPOSITE,
        choice=Choice.FIRST,
    ),
    # The document does not mention statuses; crawlers of its time treated 401 and 403 like this.
    statuses=Statuses(forbidden=frozenset({401, 403})),
)

# draft-koster-robots-00, 4 December 1996, §3.2; its section on names read as
# robotexclusionrulesparser reads it (nikitathespider.com).
_MK1996_READING = Reading(
    escapes=Escapes.DECODED,
    patterns=Patterns.PREFIX,
    empty_rules=EmptyRules.OPPOSITE,
    choice=Choice.FIRST,
)
_EXTENDED2_READING = Reading(
    escapes=Escapes.PLAIN,
    patterns=Patterns.SHELL,
    choice=Choice.FIRST,
)
MK1996 = replace(
    MK1994,
    name="MK1996",
    source="draft-koster-robots-00, Martijn Koster, 1996",
    directives=MK1994.directives | {Directive.ALLOW},
    reading=_MK1996_READING,
    # §3.1 and §3.4.
    statuses=Statuses(
        forbidden=frozenset({401, 403}),
        unavailable=frozenset({404}),
        lifetime=7 * _DAY,
        longest=7 * _DAY,
    ),
)

# The joint announcement of Google, Yahoo and Microsoft, 3 June 2008, as
# robotexclusionrulesparser documents it (nikitathespider.com).
GYM2008 = replace(
    MK1996,
    name="GYM2008",
    source="Google, Yahoo and Microsoft, 2008, as robotexclusionrulesparser documents it",
    directives=MK1996.directives | {Directive.CRAWL_DELAY, Directive.SITEMAP},
    reading=replace(_MK1996_READING, patterns=Patterns.WILDCARDS),
)

# conman.org/people/spc/robots2.html, as of 5 November 2002: its version 2.0, and version 1.0 by
# reference to the draft of 1996.
EXTENDED2 = replace(
    MK1996,
    name="EXTENDED2",
    source="An Extended Standard for Robot Exclusion, Sean Conner, 2002",
    directives=MK1996.directives
    | {Directive.ROBOT_VERSION, Directive.VISIT_TIME, Directive.REQUEST_RATE, Directive.COMMENT},
    comments=Comments.AFTER_SPACE,
    group_needs=GroupNeeds.DIRECTIVES,
    names=Names.PREFIX,
    versions={1: _MK1996_READING, 2: _EXTENDED2_READING},
    window_end=WindowEnd.THROUGH_MINUTE,
    rates=Rates.TIMED_FIRST,
)

# The wording of the same document in 1996, which its update of 2002 removed.
EXTENDED2_1996 = replace(
    EXTENDED2,
    name="EXTENDED2_1996",
    source="An Extended Standard for Robot Exclusion, Sean Conner, 1996",
    versions={
        1: _MK1996_READING,
        2: replace(
            _EXTENDED2_READING,
            choice=Choice.EXPLICIT_FIRST,
            unmatched=Unmatched.UNLESS_ALLOWS,
        ),
    },
)

# draft-ietf-aipref-attach: the paths of Content-Usage match like those of rules, except that
# /robots.txt is a path like any other. It does not read files, so it is not in `DIALECTS`.
USAGE_PATHS = Dialect(
    name="USAGE_PATHS",
    source="draft-ietf-aipref-attach",
    reading=Reading(robots_txt=RobotsTxtPath.NOT_SPECIAL),
)

#: The named dialects by name, the default first.
DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        dialect.name: dialect
        for dialect in (RFC9309, GOOGLE, MK1994, MK1996, GYM2008, EXTENDED2, EXTENDED2_1996)
    }
)


def dialect_named(name: str) -> Dialect:
    """Return the dialect with this name, ignoring case.

    Raises:
        UnknownDialectError: no dialect has that name.
    """
    try:
        return DIALECTS[name.upper()]
    except KeyError:
        known = ", ".join(DIALECTS)
        raise UnknownDialectError(f"unknown dialect {name!r}; use one of {known}") from None

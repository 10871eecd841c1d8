"""The rules of one robot in the order in which they count, and which of them can meet.

What decides a URL is the first entry of this list that matches; at its end stands an entry for
"nothing matched", which matches everything, and before all others those for /robots.txt itself
where that is exempt. An index by literal prefixes tells which entries can match the same URLs.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from ..dialects import Choice, Escapes, Patterns, RobotsTxtPath
from ..engine import wildcards as _wildcards
from ..robots import selection_of
from ._alphabet import AS_IT_STANDS, path_of, spelled
from ._automata import Automaton, Shell, automaton
from ._search import BudgetSpentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..dialects import Reading
    from ..engine.selection import Selection
    from ..model import Rule
    from ..robots import Rules

#: Bytes of a literal prefix with which an entry meets many others.
_SHORT = 3

#: Bytes of a literal prefix by which it is found, where it has to be unescaped.
_KEY = 2_000

#: Bytes behind a literal prefix, as patterns usually have them at most; how many of more take as
#: long as a usual pattern.
_USUAL = 32
_AS_LONG = 4

#: Rows that are no lines: nothing matched; the path of /robots.txt.
NOTHING = -1
ITSELF = -2

_STAR = b"*"
#: What is special in shell patterns besides stars.
_SHELL_SPECIAL = re.compile(rb"[?\[\]!\\]")
#: The beginning of a character of UTF-8 without its end.
_CUT_CHARACTER = re.compile(
    rb"(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z"
)
_CUT_ESCAPE = re.compile(rb"%[0-9A-Fa-f]?\Z")
_SAFE = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/?&=*")
#: What no reading takes for anything else, escaped or not: RFC 3986 §2.3, with stars.
_ALIKE = _SAFE - frozenset(b"?&=")
#: RFC 3986 §3.3: bytes that are not escaped and mean nothing in a pattern.
_PLAIN = (_SAFE - {42}) | frozenset(b":@!'()+,;")
_ESCAPES_OR_NOT_PLAIN = re.compile(
    rb"(?:%[0-9A-F]{2})+|[^" + re.escape(bytes(sorted(_PLAIN))) + rb"]", re.DOTALL
)
#: A run behind a star that can begin in the middle of an escape.
_IN_AN_ESCAPE = re.compile(rb"\*[0-9A-F]")


@dataclass(slots=True, eq=False)
class Entry:
    """A compared rule: a literal prefix and what follows it.

    ``order`` is its place in the list, ``key`` that in an index of several readings.
    """

    number: int
    literal: bytes
    rest: bytes
    kind: int
    is_anchored: bool
    allow: bool
    rank: int
    row: int
    order: int = 0
    is_overshadowed: bool | None = None
    key: bytes | None = None
    _automaton: Automaton | None = field(default=None, repr=False)
    _elements: int = field(default=-1, repr=False)
    _bytes: frozenset[int] | None = field(default=None, repr=False)

    @property
    def is_prefix(self) -> bool:
        """Whether it matches all that begins with its literal prefix."""
        return not self.rest and not self.is_anchored

    @property
    def weight(self) -> int:
        """How many usual entries take as long to compare."""
        return 1 if len(self.rest) <= _USUAL else len(self.rest) // _AS_LONG

    @property
    def automaton(self) -> Automaton:
        """Its automaton, made once."""
        if self._automaton is None:
            self._automaton = automaton(self.literal, self.rest, self.kind, self.is_anchored)
        return self._automaton

    @property
    def letters(self) -> frozenset[int]:
        """The bytes that it has, but for stars; made once."""
        if self._bytes is None:
            self._bytes = frozenset(self.literal + self.rest) - {42}
        return self._bytes

    @property
    def form(self) -> tuple[bytes, bytes, int, bool, bool]:
        """What it says: entries with the same form say the same."""
        return self.literal, self.rest, self.kind, self.is_anchored, self.allow

    @property
    def shortest(self) -> int:
        """At least so many bytes a path has that it matches."""
        if self.kind == Patterns.SHELL:
            if self._elements < 0:
                self._elements = sum(each is not None for each in _wildcards.elements(self.rest))
            return len(self.literal) + self._elements
        return len(self.literal) + len(self.rest) - self.rest.count(_STAR)

    def covers(self, other: Entry) -> bool:
        """Tell whether it plainly matches all that another entry of its reading matches.

        Not all that is so is plain. Where the other has a star anything may stand, and what of a
        run of this one has matched before counts for nothing.
        """
        if not other.literal.startswith(self.literal):
            return False
        if self.is_prefix:
            return True
        if Patterns.SHELL in (self.kind, other.kind) or not self.rest:
            return self.form[:-1] == other.form[:-1]
        # What it has and the other lacks it cannot find there: most pairs end here.
        if (self.is_anchored and not other.is_anchored) or not self.letters <= other.letters:
            return False
        automaton = self.automaton
        state = automaton.start(other.literal)
        for number, run in enumerate(other.rest.split(_STAR)):
            state = automaton.after(automaton.run_start(state) if number else state, run)
        return state == automaton.full

    def means_the_same(self) -> bool:
        """Tell whether every reading with wildcards compares it alike."""
        text = self.literal + self.rest
        return (
            self.kind != Patterns.SHELL
            and _SAFE.issuperset(text)
            and not _IN_AN_ESCAPE.search(text)
        )

    def covers_everywhere(self, other: Entry) -> bool:
        """Tell whether it matches all that an entry, perhaps of another reading, matches."""
        return (
            _STAR not in self.literal + other.literal
            and self.is_read_alike()
            and other.is_read_alike()
            and self.covers(other)
        )

    def is_read_alike(self) -> bool:
        """Tell whether it matches the same URLs in every reading.

        That is not so of ``&``, ``=`` and ``?``: some readings match their escapes as well.
        """
        return self.means_the_same() and _ALIKE.issuperset(self.literal + self.rest)

    def tables(self) -> tuple[bytes, ...]:
        """Return the tables of its elements, if it is a shell pattern."""
        return self.automaton.tables if isinstance(self.automaton, Shell) else ()


def _entries_of(selection: Selection) -> list[Entry]:
    """Return the entries of compiled rules, by number."""
    found = []
    for number, rule in enumerate(selection.compiled_rules()):
        text, size, kind, is_anchored = rule.pattern, rule.literal_size, rule.kind, rule.is_anchored
        if kind == Patterns.SHELL and not _SHELL_SPECIAL.search(text):
            # With stars alone it is a pattern as of the other readings, and simpler.
            is_anchored = not text.endswith(_STAR)
            text = text.rstrip(_STAR)
            kind = int(Patterns.WILDCARDS if _STAR in text else Patterns.PREFIX)
            size = min(size, len(text))
        entry = Entry(
            *(number, text[:size], text[size:], kind, is_anchored),
            *(rule.allow, rule.rank, rule.row),
        )
        found.append(entry)
    return found


def _of_itself(*, and_longer: bool) -> list[Entry]:
    """Return what exempts /robots.txt, with any query; ``and_longer``: all that begins so."""
    path, plain = b"/robots.txt", int(Patterns.PREFIX)
    if and_longer:
        return [Entry(ITSELF, path, b"", plain, False, True, -1, ITSELF)]
    return [
        Entry(ITSELF, path, b"", plain, True, True, -1, ITSELF),
        Entry(ITSELF, path + b"?", b"", plain, False, True, -1, ITSELF),
    ]


class Ranked:
    """The entries of some rules; ``unescaped`` keys them so that other readings can be met.

    ``exempts``: /robots.txt is left out whatever the reading says of it; ``exempts_longer``: and
    what begins so.
    """

    def __init__(
        self,
        rules: Rules,
        *,
        unescaped: bool = False,
        exempts: bool = False,
        exempts_longer: bool = False,
    ) -> None:
        selection = self._selection = selection_of(rules)
        self.reading = selection.reading()
        self.is_longest_first = self.reading.choice == Choice.LONGEST
        numbered = _entries_of(selection)
        plain = int(Patterns.PREFIX)
        nothing = Entry(NOTHING, b"", b"", plain, False, selection.unmatched_allowed(), -1, NOTHING)
        always = self.reading.robots_txt == RobotsTxtPath.ALWAYS_ALLOWED
        exempt = exempts or exempts_longer or always
        itself = _of_itself(and_longer=exempts_longer) if exempt else []
        self.entries = [*itself, *sorted(numbered, key=_place), nothing]
        for place, entry in enumerate(self.entries):
            entry.order = place
        self._numbered = numbered
        self.nothing = nothing
        self._itself = itself[0] if itself else None
        self._exempts_longer = exempts_longer
        self.removed: set[int] = set()
        self.key_of: Callable[[Entry], bytes] = self._unescaped if unescaped else _literal
        self._by_key: dict[bytes, list[Entry]] = {}
        for entry in self.entries:
            self._by_key.setdefault(self.key_of(entry), []).append(entry)
        self._keys = sorted(self._by_key)
        #: Entries that nearly every other one may meet, by weight: what looking at them takes.
        self.crowd = sum(
            entry.weight
            for key, some in self._by_key.items()
            if len(key) < _SHORT
            for entry in some
        )
        self._sizes = sorted({len(key) for key in self._keys})

    def _unescaped(self, entry: Entry) -> bytes:
        if entry.key is None:
            begin = spelled(entry.literal[:_KEY], self.reading)
            # A pattern that is compared as it stands may end within an escape of the URL.
            entry.key = unquote_to_bytes(_CUT_ESCAPE.sub(b"", begin))
        return entry.key

    @property
    def in_file_order(self) -> list[Entry]:
        """The entries as their rules stand in the file, then that for no rule."""
        return [*self._numbered, self.nothing]

    def deciding(self, url: str) -> Entry:
        """Return the entry that decides about a URL, as the engine says."""
        number = self._selection.number_for(url)
        if number >= 0:
            return self._numbered[number]
        if number == NOTHING or self._itself is None:
            return self.nothing
        return self._itself

    def rule(self, row: int) -> Rule:
        """Return the rule of a row of the file."""
        return self._selection.rule(row)

    def leaves_out(self, url: str) -> bool:
        """Tell whether rules are asked as if a URL were exempt: that of /robots.txt."""
        if self._exempts_longer:
            return url.startswith("/robots.txt")
        return url == "/robots.txt" or url.startswith("/robots.txt?")

    def deciding_without(self, gone: Sequence[Entry], url: str) -> Entry:
        """Return the entry that would decide about a URL without some, and those removed."""
        path = self._selection.path_of(url)
        matching = (
            entry
            for entry in self.beginning(path)
            if entry not in gone and entry.automaton.accepts(entry.automaton.start(path))
        )
        return min(matching, key=lambda entry: entry.order)

    def meeting(self, key: bytes) -> Iterator[Entry]:
        """Go through the entries that may match a URL whose path begins with ``key``."""
        yield from self.beginning(key)
        place = bisect_left(self._keys, key)
        while place < len(self._keys) and self._keys[place].startswith(key):
            if len(self._keys[place]) > len(key):
                yield from self._live(self._by_key[self._keys[place]])
            place += 1

    def beginning(self, key: bytes) -> Iterator[Entry]:
        """Go through the entries whose own key is how ``key`` begins."""
        for size in self._sizes:
            if size > len(key):
                break
            yield from self._live(self._by_key.get(key[:size], ()))

    def _live(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        for entry in entries:
            if entry.order not in self.removed:
                yield entry

    def is_overshadowed(self, entry: Entry) -> bool:
        """Tell whether a better entry plainly matches all that an entry matches."""
        if entry.is_overshadowed is None:
            entry.is_overshadowed = any(
                other.order < entry.order and other.covers(entry)
                for other in self.beginning(self.key_of(entry))
            )
        return entry.is_overshadowed

    def before(self, entry: Entry, key: bytes) -> list[Entry]:
        """Return what may match such a URL and counts for more than an entry."""
        return [other for other in self.meeting(key) if other.order < entry.order]


def _place(entry: Entry) -> tuple[int, int]:
    return -entry.rank, entry.number


def _literal(entry: Entry) -> bytes:
    return entry.literal


def url_of(path: bytes, reading: Reading) -> str:
    """Return a URL that is compared as ``path``, or something else where there is none."""
    escapes = reading.escapes
    path = spelled(path, reading)
    if escapes in (Escapes.CANONICAL, Escapes.PATTERN_ONLY, Escapes.AS_WRITTEN):
        return path.decode("utf-8", "replace")
    # Escapes that were kept stay; every other byte stood there as it is, or was escaped.
    return _ESCAPES_OR_NOT_PLAIN.sub(_told, path).decode("ascii")


def url_that_begins(path: bytes, reading: Reading) -> str | None:
    """Return a URL's path that is compared as ``path``, or None: there is none.

    Raises:
        BudgetSpentError: it breaks off within a character, and nobody knows how that goes on.
    """
    if not path.startswith(b"/"):
        return None
    url = url_of(path, reading)
    if path_of(reading, url) == path:
        return url
    if reading.escapes in AS_IT_STANDS and _CUT_CHARACTER.search(path):
        raise BudgetSpentError
    return None


def _told(found: re.Match[bytes]) -> bytes:
    part = found[0]
    return part if len(part) > 1 else b"%%%02X" % part[0]

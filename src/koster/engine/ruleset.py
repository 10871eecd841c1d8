# cython: binding=False
"""Rulesets: the compiled rules of one agent, and their place in memory.

`compiler` adds the rules; `packing` moves them when they are asked often; `matcher` decides.
"""

from __future__ import annotations

from ..dialects import Escapes, IndexPages, Patterns, RobotsTxtPath, Unmatched
from . import canonical as _canonical
from . import matcher as _matcher
from . import memory as _memory
from . import packing as _packing
from .matcher import RuleTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..dialects import Reading, Rewrite
    from .memory import Bytes
    from .packing import Packed

_CANONICAL = int(Escapes.CANONICAL)
_WILDCARDS = int(Patterns.WILDCARDS)
_SHELL = int(Patterns.SHELL)

_SLASH = 47

#: Lookups before a ruleset is packed and indexed: most rulesets have only one.
LOOKUPS_BEFORE_PACKING = 4
#: Large ones take as long to pack as hundreds of lookups.
_LARGE = 4_096
_LOOKUPS_IF_LARGE = 64


class Form:
    """A `Reading` as the numbers that the loops compare. Made once for each reading.

    ``rewrite`` and ``rewritten`` are those of its `Dialect`.
    """

    def __init__(self, reading: Reading, rewrite: Rewrite | None, rewritten: bytes | None) -> None:
        self.reading = reading
        self.rewrite = rewrite
        self.rewritten = bytes(rewritten is None or byte in rewritten for byte in range(256))
        self.url_path = int(reading.url_path)
        self.escapes = int(reading.escapes)
        self.patterns = int(reading.patterns)
        self.choice = int(reading.choice)
        self.empty_rules = int(reading.empty_rules)
        self.unless_allows = reading.unmatched == Unmatched.UNLESS_ALLOWS
        self.exempt = reading.robots_txt == RobotsTxtPath.ALWAYS_ALLOWED
        self.index_pages = reading.index_pages == IndexPages.DIRECTORY_TOO


class Ruleset(RuleTable):
    """The rules of one agent, and their memory."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.count = 0
        self.unmatched_allowed = True
        self.is_settled = False
        self.paths = _matcher.paths_of(self.form.url_path, self.form.escapes, self.form.exempt)
        self.keys = _memory.no_longs()
        self.places = _memory.no_integers()
        self.rules = _memory.no_integers()
        self.links = _memory.no_integers()
        self.text = _memory.no_buffer()
        self.bits = 0
        self.starts = _memory.no_integers()
        self.slots = _memory.no_longs()
        self.trie = None
        self.used = 0
        self.longest_run = 0
        self.rules_room = 0
        self.text_room = 0
        self._lookups = 0
        self._packed: Packed | None = None

    def __dealloc__(self) -> None:
        _memory.release(self.rules)
        _memory.release(self.text)
        _memory.release(self.links)

    def table(self) -> RuleTable:
        """Return the rules where they are now."""
        return self if self._packed is None else self._packed

    def byte(self, at: int) -> int:
        """Return a byte of the text."""
        return self.text[at]

    def is_anchored(self, rule: int) -> bool:
        """Tell whether a rule must match up to the end of the path."""
        return self.rules[_matcher.RULE * rule + _matcher.FLAGS] & _matcher.ANCHORED != 0

    def matches_all(self, rule: int) -> bool:
        """Tell whether a rule matches every path, without wildcards."""
        if self.rules[_matcher.RULE * rule + _matcher.FLAGS] & ~_matcher.ALLOWS:
            return False
        size = _matcher.size_of(self, rule)
        return size == 0 or (size == 1 and self.text[_matcher.start_of(self, rule)] == _SLASH)

    def best_of_all(self, path: Bytes, size: int) -> int:
        """Return the best rule that matches a canonical path, or `matcher.UNMATCHED`.

        For rules that are not packed.
        """
        return _matcher.best_by_scan(self, path, 0, size, 0)

    def compiled(self) -> list[tuple[bytes, int, int, bool, bool, int, int]]:
        """Return for each rule what the analysis needs.

        That is: its pattern in canonical form, without trailing stars and anchor; the bytes of its
        literal prefix; what follows the prefix, a value of `Patterns`, `Patterns.PREFIX` if nothing
        does; whether it must match up to the end of the path; whether it allows; its rank, of which
        the highest that matches decides; and its row in the file, see `Selection.rule`.
        """
        found = []
        table = self.table()
        for rule in range(table.count):
            at = _matcher.place(table, rule)
            start = table.rules[at + _matcher.START]
            flags = table.rules[at + _matcher.FLAGS]
            text = bytes(table.text[start : table.rules[at + _matcher.END]])
            kind = 0 if flags & _matcher.WILD else _SHELL if flags & _matcher.GLOB else 1
            literal = table.rules[at + _matcher.LITERAL] - start
            rank = table.rules[at + _matcher.RANK]
            row = table.rules[at + _matcher.ROW]
            is_anchored = flags & _matcher.ANCHORED != 0
            allow = flags & _matcher.ALLOWS != 0
            found.append((text, literal, kind, is_anchored, allow, rank, row))
        return found

    def has_same_rules(self, other: Ruleset) -> bool:
        """Tell whether `compiled` returns the same for other rules."""
        if self.count != other.count:
            return False
        first, second = self.table(), other.table()
        for rule in range(self.count):
            one = _matcher.place(first, rule)
            two = _matcher.place(second, rule)
            start = first.rules[one + _matcher.START]
            start2 = second.rules[two + _matcher.START]
            size = first.rules[one + _matcher.END] - start
            if (
                first.rules[one + _matcher.ROW] != second.rules[two + _matcher.ROW]
                or first.rules[one + _matcher.FLAGS] != second.rules[two + _matcher.FLAGS]
                or first.rules[one + _matcher.RANK] != second.rules[two + _matcher.RANK]
                or first.rules[one + _matcher.LITERAL] - start
                != second.rules[two + _matcher.LITERAL] - start2
                or size != second.rules[two + _matcher.END] - start2
                or not _memory.same(first.text, start, second.text, start2, size)
            ):
                return False
        return True

    def path_of(self, url: bytes) -> bytes:
        """Return the canonical path and query of a URL, which are compared with patterns."""
        start, end = _canonical.span(url, len(url), self.form.url_path)
        path = _matcher.room_for(end - start)
        if not path:
            raise MemoryError("no memory for the path of a URL")
        end = _canonical.write(url, start, end, self.form.escapes, _canonical.URL, path, 0)
        found = bytes(path[:end])
        _memory.release(path)
        return found

    def allocated(self) -> int:
        """Return the size of the rules and their index in memory, in bytes."""
        if self._packed is not None:
            return self._packed.allocated()
        total = 4 * _matcher.RULE * self.count + self.used
        if self.links:
            total += 4 * self.used
        return total

    def count_lookup(self) -> None:
        """Count a lookup; after some of them, pack the rules."""
        if not self.is_settled:
            self._lookups += 1
            if self._lookups >= (
                LOOKUPS_BEFORE_PACKING if self.count < _LARGE else _LOOKUPS_IF_LARGE
            ):
                if self.count:
                    self._pack()
                self.is_settled = True

    def number_for(self, url: str) -> int:
        """Return the number of the rule that decides about a URL; see `matcher.find`."""
        self.count_lookup()
        return _matcher.find(url, self.table())

    def expect_lookups(self, lookups: int) -> None:
        """Prepare for this many lookups."""
        for _ in range(min(lookups, _LOOKUPS_IF_LARGE)):
            self.count_lookup()

    def link_runs(self) -> bool:
        """Prepare the search for long literals between stars; tell whether there was memory."""
        _memory.release(self.links)
        self.links = _memory.integers(self.used + 1)
        if not self.links:
            return False
        _packing.fill_links(self)
        return True

    def _pack(self) -> None:
        """Replace the table with a packed one. Without memory, all stays as it is."""
        self._packed = _packing.packed(self)
        if self._packed is not None:
            self.rules = _memory.released(self.rules)
            self.links = _memory.released(self.links)
            self.text = _memory.released_buffer(self.text)


def pattern_bytes(pattern: bytes) -> int:
    """Return the size of a pattern's canonical form, by which the longest match is chosen."""
    out = _matcher.room_for(len(pattern))
    if not out:
        raise MemoryError("no memory for a pattern")
    size = _canonical.write(pattern, 0, len(pattern), _CANONICAL, _WILDCARDS, out, 0)
    _memory.release(out)
    return size

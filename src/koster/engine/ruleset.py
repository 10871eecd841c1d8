# cython: binding=False
"""Rulesets: the compiled rules of one agent, in a table that is replaced and never changed.

`compiler` adds the rules to a `CompiledTable`; `packing` copies them into another table when they
are asked often; `matcher` decides by either.
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


class CompiledTable(RuleTable):
    """The rules as `compiler` adds them, in order; it does not change once they are complete.

    ``used`` are the bytes of ``text`` in use.
    """

    def prepare(self, form: Form) -> None:
        """Make a table without rules, to which `compiler` adds some."""
        self.clear()
        self.form = form
        self.paths = _matcher.paths_of(form.url_path, form.escapes, form.exempt)
        self.used = 0
        self.longest_run = 0
        self.rules_room = 0
        self.text_room = 0

    def __dealloc__(self) -> None:
        _memory.release(self.rules)
        _memory.release(self.text)
        _memory.release(self.links)

    def allocated(self) -> int:
        """Return the size of the rules in memory, in bytes."""
        return 4 * _matcher.RULE * self.count + self.used + (4 * self.used if self.links else 0)

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
        """Return the best rule that matches a canonical path, or `matcher.UNMATCHED`."""
        return _matcher.best_by_scan(self, path, 0, size, 0)

    def link_runs(self) -> bool:
        """Prepare the search for long literals between stars; tell whether there was memory."""
        _memory.release(self.links)
        self.links = _memory.integers(self.used + 1)
        if not self.links:
            return False
        _packing.fill_links(self)
        return True


def new_table(form: Form) -> CompiledTable:
    """Return a table without rules. A constructor would cost as much as some rules."""
    table = CompiledTable.__new__(CompiledTable)
    table.prepare(form)
    return table


def new_ruleset(form: Form, table: RuleTable) -> Ruleset:
    """Return the ruleset of complete rules."""
    ruleset = Ruleset.__new__(Ruleset)
    ruleset.fill(form, table)
    return ruleset


class Ruleset:
    """The rules of one agent: ``table`` is where they are now.

    A table never changes: what packs the rules replaces it, and the old one lives as long as
    somebody reads it. So a caller takes the table once, and asks that one. Numbers of rules are
    the same in all tables.
    """

    def fill(self, form: Form, table: RuleTable) -> None:
        """Take complete rules."""
        self.form = form
        self.table = table
        self.is_settled = False
        self._lookups = 0

    def compiled(self) -> list[tuple[bytes, int, int, bool, bool, int, int]]:
        """Return for each rule what the analysis needs.

        That is: its pattern in canonical form, without trailing stars and anchor; the bytes of its
        literal prefix; what follows the prefix, a value of `Patterns`, `Patterns.PREFIX` if nothing
        does; whether it must match up to the end of the path; whether it allows; its rank, of which
        the highest that matches decides; and its row in the file, see `Selection.rule`.
        """
        found = []
        table = self.table
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
        first, second = self.table, other.table
        if first.count != second.count:
            return False
        for rule in range(first.count):
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

    def count_lookup(self) -> None:
        """Count a lookup; after some of them, pack the rules."""
        if not self.is_settled:
            self._lookups += 1
            table = self.table
            if self._lookups >= (
                LOOKUPS_BEFORE_PACKING if table.count < _LARGE else _LOOKUPS_IF_LARGE
            ):
                packed = _packing.packed(table) if table.count else None
                # Without memory, all stays as it is. Another thread may pack the same rules: each
                # table of them is as good.
                if packed is not None:
                    self.table = packed
                self.is_settled = True

    def number_for(self, url: str) -> int:
        """Return the number of the rule that decides about a URL; see `matcher.find`."""
        self.count_lookup()
        return _matcher.find(url, self.table)

    def expect_lookups(self, lookups: int) -> None:
        """Prepare for this many lookups."""
        for _ in range(min(lookups, _LOOKUPS_IF_LARGE)):
            self.count_lookup()


def pattern_bytes(pattern: bytes) -> int:
    """Return the size of a pattern's canonical form, by which the longest match is chosen."""
    out = _matcher.room_for(len(pattern))
    if not out:
        raise MemoryError("no memory for a pattern")
    size = _canonical.write(pattern, 0, len(pattern), _CANONICAL, _WILDCARDS, out, 0)
    _memory.release(out)
    return size

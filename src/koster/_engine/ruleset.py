# cython: binding=False
"""Rulesets: the rules of one agent, which selections of the same groups share.

A `Ruleset` has a table that is replaced and never changed: `compiler` makes the first one, and if
it is large and asked often, one with an index takes its place.
"""

from __future__ import annotations

from ..dialects import Escapes, Patterns
from . import canonical as _canonical
from . import matcher as _matcher
from . import memory as _memory
from . import table as _table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .table import Table

_CANONICAL = int(Escapes.CANONICAL)
_WILDCARDS = int(Patterns.WILDCARDS)
_SHELL = int(Patterns.SHELL)

#: Going through the keys of so many rules takes no longer than an index.
MAX_RULES_WITHOUT_INDEX = 128
#: Lookups before there is an index: most rulesets have only one.
_LOOKUPS_BEFORE_INDEX = 4
#: That of large ones takes as long as hundreds of lookups.
_LARGE = 4_096
_LOOKUPS_IF_LARGE = 64


class Ruleset:
    """The rules of one agent: ``table`` is where they are now.

    A caller takes the table once, and asks that one. It lives as long as somebody reads it. Numbers
    of rules are the same in all tables.
    """

    def __init__(self, table: Table) -> None:
        """Take complete rules."""
        self.table = table
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
            start = table.get(rule, _table.START)
            flags = table.get(rule, _table.FLAGS)
            text = bytes(table.text[start : table.get(rule, _table.END)])
            kind = 0 if flags & _table.WILD else _SHELL if flags & _table.GLOB else 1
            literal = table.get(rule, _table.LITERAL) - start
            rank = table.get(rule, _table.RANK)
            row = table.get(rule, _table.ROW)
            is_anchored = flags & _table.ANCHORED != 0
            allow = flags & _table.ALLOWS != 0
            found.append((text, literal, kind, is_anchored, allow, rank, row))
        return found

    def has_same_rules(self, other: Ruleset) -> bool:
        """Tell whether `compiled` returns the same for other rules."""
        return self.table.count == other.table.count and self.compiled() == other.compiled()

    def path_of(self, url: bytes) -> bytes:
        """Return the canonical path and query of a URL, which are compared with patterns."""
        form = self.table.form
        start, end = _canonical.span(url, len(url), form.url_path)
        path = _matcher.room_for(end - start)
        if not path:
            raise MemoryError("no memory for the path of a URL")
        end = _canonical.write(url, start, end, form.escapes, _canonical.URL, path, 0)
        found = bytes(path[:end])
        _memory.release(path)
        return found

    def table_for(self, lookups: int) -> Table:
        """Return the table for this many lookups, with an index if there were enough before."""
        table = self.table
        if table.count > MAX_RULES_WITHOUT_INDEX and table.trie is None:
            self._lookups += lookups
            few = _LOOKUPS_BEFORE_INDEX if table.count < _LARGE else _LOOKUPS_IF_LARGE
            if self._lookups >= few:
                self._lookups = 0
                try:
                    # Another thread may make one of the same rules: each is as good.
                    table = self.table = table.indexed()
                except MemoryError:
                    # All rules are tried then.
                    return table
        return table

    def number_for(self, url: str) -> int:
        """Return the number of the rule that decides about a URL; see `matcher.find`."""
        return _matcher.find(url, self.table_for(1))


def pattern_bytes(pattern: bytes) -> int:
    """Return the size of a pattern's canonical form, by which the longest match is chosen."""
    out = _matcher.room_for(len(pattern))
    if not out:
        raise MemoryError("no memory for a pattern")
    size = _canonical.write(pattern, 0, len(pattern), _CANONICAL, _WILDCARDS, out, 0)
    _memory.release(out)
    return size

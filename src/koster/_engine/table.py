"""The table of one agent's rules: how they are read, and where they are in memory."""

from __future__ import annotations

from ..dialects import IndexPages, RobotsTxtPath, Unmatched
from . import memory as _memory
from . import no_cython as cython
from .trie import Trie

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..dialects import Reading, Rewrite
    from .memory import Bytes
elif cython.compiled:
    import cython

#: A rule is six integers: its row in the file, where its pattern starts and ends in the text, where
#: the pattern's literal prefix ends, its flags, and its rank.
RULE = 6
ROW, START, END, LITERAL, FLAGS, RANK = range(RULE)

ALLOWS = 1
#: The pattern must match up to the end of the path.
ANCHORED = 2
#: Stars follow the literal prefix.
WILD = 4
#: A shell pattern follows the literal prefix.
GLOB = 8
#: It matches several paths, and not only as a prefix.
SPECIAL = 16
#: An earlier rule with the same pattern and directive decides whatever this one would.
REPEATED = 32

_STAR = 42
#: The bytes of a rule's key, and of its integers.
_KEY_SIZE = 8
_RULE_SIZE = 4 * RULE


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


class Table:
    """The rules of one agent in one block of memory, for `matcher`.

    ``count`` is the number of rules, ``weight`` that of the patterns that are searched for in a
    path (`matcher.MAX_SEARCHED`). Rule n has the integers of ``rules`` from ``RULE * n`` on, and
    its pattern, in canonical form, is a part of ``text``. ``keys`` are the pairs of bytes that a
    path must have for a rule to match (`pairs_in`): a decision reads little else.
    Without a matching rule, a URL is ``unmatched_allowed``.

    `compiler` adds the rules, up to ``most``, with ``used`` bytes of text. From then on the table
    does not change. A table with a ``trie`` is another one, and shares the memory of the
    ``original``. Several threads read a table at once, and whoever reads it holds a reference.
    """

    def prepare(self, form: Form) -> None:
        """Make a table without rules. A constructor would cost as much as some rules."""
        self.form = form
        self.count = self.weight = self.used = 0
        self.unmatched_allowed = True
        self.trie: Trie | None = None
        self.original: Table | None = None
        self.block = _memory.no_buffer()
        self.room = self.most = 0
        self._point(0)

    def __dealloc__(self) -> None:
        _memory.release(self.block)

    def reserve(self, most: int, size: int) -> bool:
        """Remove all rules, and make room for others; tell whether there was memory."""
        needed = (_KEY_SIZE + _RULE_SIZE) * most + size
        if needed > self.room:
            _memory.release(self.block)
            self.block = _memory.buffer(needed)
            self.room = needed if self.block else 0
        self.count = self.weight = self.used = 0
        self.most = most
        self._point(size)
        return self.room > 0

    def _point(self, size: int) -> None:
        """Point to the parts of the block."""
        start = _KEY_SIZE * self.most
        self.keys = _memory.longs_in(self.block, 0, self.most)
        self.rules = _memory.integers_in(self.block, start, RULE * self.most)
        self.text = _memory.bytes_in(self.block, start + _RULE_SIZE * self.most, size)

    def add(self, start: int, end: int, literal: int, flags: int, rank: int, row: int) -> None:
        """Add a rule whose pattern is in the text."""
        at = RULE * self.count
        self.rules[at + START] = start
        self.rules[at + END] = end
        self.rules[at + LITERAL] = literal
        self.rules[at + FLAGS] = flags
        self.rules[at + RANK] = rank
        self.rules[at + ROW] = row
        self.keys[self.count] = self._key(start, end, literal, flags)
        self.count += 1

    def _key(self, start: int, end: int, literal: int, flags: int) -> int:
        """Return the pairs of bytes in the literal parts of a pattern."""
        found = pairs_in(self.text, start, literal)
        if flags & WILD:
            while literal < end:
                start = literal + 1
                literal = _memory.find(self.text, _STAR, start, end)
                found |= pairs_in(self.text, start, literal)
        return found

    def shrink(self) -> None:
        """Free the memory of text that is not used."""
        needed = (_KEY_SIZE + _RULE_SIZE) * self.most + self.used
        block = _memory.shrunk(self.block, needed)
        self.room = needed
        if block != self.block:  # pragma: no cover - only memory of C moves
            self.block = block
            self._point(self.used)

    def allocated(self) -> int:
        """Return the size of the rules and their index in memory, in bytes."""
        size = (_KEY_SIZE + _RULE_SIZE) * self.count + self.used
        return size if self.trie is None else size + self.trie.allocated()

    def get(self, rule: int, field: int) -> int:
        """Return one of the integers of a rule."""
        return self.rules[RULE * rule + field]

    def size_of(self, rule: int) -> int:
        """Return the size of a rule's pattern in bytes, without trailing stars."""
        return self.rules[RULE * rule + END] - self.rules[RULE * rule + START]

    def make_index(self) -> Trie:
        """Return a trie over the literal prefixes.

        Raises:
            MemoryError: no memory for it.
        """
        prefixes = []
        ranks = []
        for rule in range(self.count):
            start = self.get(rule, START)
            prefixes.append(bytes(self.text[start : self.get(rule, LITERAL)]))
            # What follows the prefix is matched in each rule; of the others, the best one decides.
            ranks.append(-1 if self.get(rule, FLAGS) > ALLOWS else self.get(rule, RANK))
        return Trie(prefixes, ranks)

    def indexed(self) -> Table:
        """Return a table with the same rules and a trie.

        Raises:
            MemoryError: no memory for it.
        """
        found = new_table(self.form)
        found.count = self.count
        found.weight = self.weight
        found.used = self.used
        found.unmatched_allowed = self.unmatched_allowed
        found.keys = self.keys
        found.rules = self.rules
        found.text = self.text
        found.original = self
        found.trie = self.make_index()
        return found


@cython.locals(table=Table)
def new_table(form: Form) -> Table:
    """Return a table without rules."""
    table = Table.__new__(Table)
    table.prepare(form)
    return table


@cython.locals(found="unsigned long long", one="unsigned long long")
def pairs_in(text: Bytes, start: int, end: int) -> int:
    """Return the pairs of adjacent bytes in ``text[start:end]``: a Bloom filter of 64 bits."""
    found = 0
    one = 1
    for at in range(start + 1, end):
        found |= one << ((11 * text[at - 1] + text[at]) & 63)
    return found

"""Packing: the rules of one agent in one block of memory, for many decisions.

Takes a `RuleTable`, returns one that `matcher` reads faster. A decision
about a site that was not asked for a while waits for memory more than it computes (``make bench``,
decisions in turns): a key excludes most rules, the pattern of a rule is behind it, and small blocks
of many sites are in few pages of memory. The old table stays as it is: another thread, a signal
handler or a finalizer may read it.
"""

from __future__ import annotations

from . import matcher as _matcher
from . import memory as _memory
from . import no_cython as cython
from . import wildcards as _wildcards
from .matcher import RuleTable
from .trie import Trie

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .memory import Integers
elif cython.compiled:
    # Cython needs to see this, to know its own names; it never runs.
    import cython

#: Up to this many rules, going through their keys is as fast as buckets, and reads less memory.
MAX_RULES_WITHOUT_BUCKETS = 24

#: Rules that a decision may go through in buckets, and the maximum of bits of a bucket's number.
_MAX_IN_BUCKETS = 24
_MAX_BITS = 10

#: If more begin alike: up to this many rules, going through their keys is as fast as a trie.
MAX_RULES_WITHOUT_TRIE = 128

#: The size of arenas, and of the largest blocks that share one, in bytes. Without a compiler, the
#: integers are objects elsewhere.
_ARENA_BYTES = 1 << 16
_MAX_SHARED_BYTES = 1 << 14 if cython.compiled else 0

#: Once arenas have so many bytes, the next ones are this large, each in one large page: with small
#: pages, decisions about thousands of sites also wait for the tables of pages.
_MANY_BYTES = 1 << 20
_PAGE_BYTES = 1 << 21


class Arena:
    """Memory for blocks, one after the other. It is freed with the last table that uses it."""

    def __init__(self, size: int, is_shared: bool) -> None:
        """Allocate ``size`` bytes; there may be no memory for them."""
        global _shared_bytes  # noqa: PLW0603 - for the thread that has the interpreter lock
        self.size = size
        self.next = 0
        if size == _PAGE_BYTES and is_shared:
            # What is before and after the page is not touched, and takes no memory.
            self.memory = _memory.buffer(2 * size)
            if self.memory:
                self.next = _memory.large_page(self.memory, size)
        else:
            self.memory = _memory.buffer(size)
        self.end = self.next + size
        self.is_shared = is_shared
        if is_shared:
            _shared_bytes += size

    def __dealloc__(self) -> None:
        global _shared_bytes  # noqa: PLW0603 - see above
        _memory.release(self.memory)
        if self.is_shared:
            _shared_bytes -= self.size


#: The arena of the next small block; the bytes of all shared arenas, and of the blocks in them.
_arena: Arena | None = None
_shared_bytes = 0
_used_bytes = 0


def _arena_for(size: int) -> Arena:
    """Return an arena with room for a block of ``size`` bytes.

    A block that stays keeps its arena: once less than half of the shared ones is used, new blocks
    have memory of their own.
    """
    global _arena  # noqa: PLW0603 - see above
    if size > _MAX_SHARED_BYTES:
        return Arena(size, False)
    if _arena is None or _arena.end - _arena.next < size:
        if _shared_bytes > 2 * _used_bytes + _ARENA_BYTES:
            return Arena(size, False)
        arena = Arena(_PAGE_BYTES if _shared_bytes >= _MANY_BYTES else _ARENA_BYTES, True)
        if not arena.memory:
            return arena
        _arena = arena
    return _arena


class Packed(RuleTable):
    """A table in one block of memory: ``words`` integers of 32 bits in an arena.

    They are keys, the starts of buckets and their slots, or nothing if a trie has the slots; then
    places and rules.
    """

    def __init__(self) -> None:
        super().__init__()
        self.words = 0
        self.arena: Arena
        self.start = 0
        self.shared_bytes = 0

    def __dealloc__(self) -> None:
        global _used_bytes  # noqa: PLW0603 - see above
        _memory.release(self.links)
        _used_bytes -= self.shared_bytes

    def allocated(self) -> int:
        """Return the size of the rules and their index in memory, in bytes."""
        total = 4 * self.words
        if self.links:
            total += 16 * self.words
        if self.trie is not None:
            total += self.trie.allocated()
        return total

    def reserve(self, table: RuleTable) -> bool:
        """Reserve memory for the rules of a table; tell whether there is enough."""
        global _used_bytes  # noqa: PLW0603 - see above
        self.count = table.count
        self.bits = _bits_for(table)
        words = self._first() + self.count
        for rule in range(self.count):
            words += _matcher.RULE + _words(_matcher.size_of(table, rule))
        # The next block starts with integers of 64 bits.
        size = 4 * (words + (words & 1))
        arena = _arena_for(size)
        if not arena.memory:
            return False
        if table.links:
            self.links = _memory.integers(4 * words)
            if not self.links:
                return False
        self.words = words
        self.arena = arena
        self.start = arena.next
        arena.next += size
        if arena.is_shared:
            self.shared_bytes = size
            _used_bytes += size
        return True

    def has_keys(self) -> bool:
        """Tell whether the rules are so few that they need no index."""
        return not self.bits and self.count <= MAX_RULES_WITHOUT_TRIE

    def _first(self) -> int:
        """Return where the places are: after the keys, or the buckets."""
        if self.bits:
            return 2 * _matcher.SLOT * self.count + _starts(self.bits)
        return 2 * self.count if self.has_keys() else 0

    def fill(self, table: RuleTable, trie: Trie | None) -> None:
        """Pack the rules of a table into the reserved memory, those of a trie in its order."""
        self.paths = table.paths
        self.unmatched_allowed = table.unmatched_allowed
        self.weight = table.weight
        self._copy_rules(table, trie)
        if self.bits:
            self._fill_buckets()
        elif self.has_keys():
            self.keys = _memory.longs_in(self.arena.memory, self.start, self.count)
            for rule in range(self.count):
                self.keys[rule] = _key_of(self, rule)
        elif trie is not None:
            self.trie = trie
            self.slots = trie.slots
            for slot in range(trie.count):
                self._fill_slot(slot, trie.slots[_matcher.SLOT * slot + 1])
        if self.links:
            fill_links(self)

    def _copy_rules(self, table: RuleTable, trie: Trie | None) -> None:
        memory = self.arena.memory
        first = self._first()
        self.places = _memory.integers_in(memory, self.start + 4 * first, self.count)
        self.rules = _memory.integers_in(memory, self.start, self.words)
        at = first + self.count
        for rule in range(self.count):
            self.places[rule] = 0
        if trie is not None:
            for slot in range(trie.count):
                at = self._copy(table, trie.slots[_matcher.SLOT * slot + 1], at)
        for rule in range(self.count):
            if not self.places[rule]:
                at = self._copy(table, rule, at)
        self.text = _memory.bytes_in(memory, self.start, 4 * self.words)

    def _fill_buckets(self) -> None:
        """Put the rules into their buckets, in order."""
        count = _starts(self.bits)
        memory = self.arena.memory
        self.starts = _memory.integers_in(memory, self.start, count)
        self.slots = _memory.longs_in(memory, self.start + 4 * count, _matcher.SLOT * self.count)
        for bucket in range(count):
            self.starts[bucket] = 0
        # Of each bucket, first the size, then the start, which moves to the start of the next one.
        for rule in range(self.count):
            self.starts[_bucket_of(self, rule, self.bits) + 1] += 1
        for bucket in range(2, count):
            self.starts[bucket] += self.starts[bucket - 1]
        for rule in range(self.count):
            bucket = _bucket_of(self, rule, self.bits)
            self._fill_slot(self.starts[bucket], rule)
            self.starts[bucket] += 1
        for bucket in range(count - 1, 0, -1):
            self.starts[bucket] = self.starts[bucket - 1]
        self.starts[0] = 0

    def _fill_slot(self, slot: int, rule: int) -> None:
        number = rule
        self.slots[_matcher.SLOT * slot] = _key_of(self, rule)
        self.slots[_matcher.SLOT * slot + 1] = number << _matcher.NUMBER_SHIFT | self.places[rule]

    def _copy(self, table: RuleTable, rule: int, at: int) -> int:
        """Copy a rule and its pattern to integer ``at``; return where the next one goes."""
        self.places[rule] = at
        source = _matcher.place(table, rule)
        start = _matcher.start_of(table, rule)
        size = _matcher.size_of(table, rule)
        moved = 4 * (at + _matcher.RULE) - start
        for part in range(_matcher.RULE):
            self.rules[at + part] = table.rules[source + part]
        self.rules[at + _matcher.START] += moved
        self.rules[at + _matcher.END] += moved
        self.rules[at + _matcher.LITERAL] += moved
        target = self.start + 4 * (at + _matcher.RULE)
        _memory.copy(self.arena.memory, target, table.text, start, size)
        return at + _matcher.RULE + _words(size)


def packed(table: RuleTable) -> Packed | None:
    """Return a table with the same rules, packed, and indexed if they are many.

    Returns None if there is no memory for it.
    """
    found = Packed()
    if not found.reserve(table):
        return None
    has_trie = not found.bits and not found.has_keys()
    found.fill(table, trie_of(table) if has_trie else None)
    return found


def trie_of(table: RuleTable) -> Trie | None:
    """Return a trie over rules that are not packed; None without memory: all are tried then."""
    trie = Trie(table.count)
    if not trie.nodes or not trie.before:
        return None
    for rule in range(table.count):
        at = _matcher.place(table, rule)
        start, end = table.rules[at + _matcher.START], table.rules[at + _matcher.LITERAL]
        node = trie.insert(table.text, start, end)
        if table.rules[at + _matcher.FLAGS] & ~_matcher.ALLOWS:
            trie.add_slot(node, rule)
        else:
            trie.add_plain(node, rule, table.rules[at + _matcher.RANK])
    return trie if trie.arrange(table.text) else None


def fill_links(table: RuleTable) -> None:
    """Fill in the links of all patterns of a table; see `wildcards.link`."""
    links: Integers = table.links
    for rule in range(table.count):
        at = _matcher.place(table, rule)
        # Without a star, the pattern ends where its literal prefix does.
        _wildcards.link(
            table.text,
            table.rules[at + _matcher.LITERAL],
            table.rules[at + _matcher.END],
            links,
        )


def _bits_for(table: RuleTable) -> int:
    """Return the bits of the numbers of buckets for rules.

    0 if rules are few, or if a decision would have to go through many; also without memory.
    """
    if table.count <= MAX_RULES_WITHOUT_BUCKETS:
        return 0
    bits = 1
    while bits < _MAX_BITS and 1 << bits < table.count:
        bits += 1
    sizes = _memory.integers(_starts(bits))
    if not sizes:
        return 0
    most = 0
    for rule in range(table.count):
        bucket = _bucket_of(table, rule, bits)
        sizes[bucket] += 1
        if bucket != _matcher.ANY and sizes[bucket] > most:
            most = sizes[bucket]
    most += sizes[_matcher.ANY]
    _memory.release(sizes)
    return bits if most <= _MAX_IN_BUCKETS else 0


def _starts(bits: int) -> int:
    """Return the number of buckets, and one for the end: it is even, for what comes after them."""
    return (1 << bits) + 2


def _bucket_of(table: RuleTable, rule: int, bits: int) -> int:
    at = _matcher.place(table, rule)
    start, end = table.rules[at + _matcher.START], table.rules[at + _matcher.LITERAL]
    return _matcher.bucket_of(table.text, start, end, bits)


def _key_of(table: RuleTable, rule: int) -> int:
    """Return the key of a rule."""
    at = _matcher.place(table, rule)
    start = table.rules[at + _matcher.START]
    kinds = 0
    if not table.rules[at + _matcher.FLAGS] & _matcher.GLOB:
        end = table.rules[at + _matcher.END]
        kinds = _matcher.kinds_in(table.text, start, end) & ~_matcher.OTHERS
    return _matcher.head_in(table.text, start, table.rules[at + _matcher.LITERAL]) | kinds


def _words(size: int) -> int:
    """Return how many integers of 32 bits ``size`` bytes take."""
    return (size + 3) >> 2

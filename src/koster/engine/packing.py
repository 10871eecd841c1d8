"""Packing: the rules of one agent in one block of memory, for many decisions.

Takes a `RuleTable` whose integers are in order, returns one that `matcher` reads faster. A decision
about a site that was not asked for a while waits for memory more than it computes (``make bench``,
decisions in turns): a key excludes most rules, and the pattern of a rule is behind it. The old
table stays as it is, because another thread may read it.
"""

from __future__ import annotations

from . import matcher as _matcher
from . import memory as _memory
from . import trie as _trie
from . import wildcards as _wildcards
from .matcher import RuleTable
from .trie import Trie

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .memory import Integers

#: Up to this many rules, going through their keys is as fast as buckets, and reads less memory.
MAX_RULES_WITHOUT_BUCKETS = 24

#: Rules that a decision may go through in buckets, and the maximum of bits of a bucket's number.
_MAX_IN_BUCKETS = 24
_MAX_BITS = 10

#: If more begin alike: up to this many rules, going through their keys is as fast as a trie.
MAX_RULES_WITHOUT_TRIE = 128


class Packed(RuleTable):
    """A table with its memory: ``block`` has ``words`` integers of 32 bits.

    They are keys, or the starts of buckets and their slots, then places and rules.
    """

    def __init__(self) -> None:
        super().__init__()
        self.words = 0
        self.block = _memory.no_buffer()

    def __dealloc__(self) -> None:
        _memory.release(self.block)
        _memory.release(self.links)

    def allocated(self) -> int:
        """Return the size of the rules and their index in memory, in bytes."""
        total = 4 * self.words
        if self.links:
            total += 16 * self.words
        if self.trie is not None:
            total += 4 * (_trie.NODE * self.trie.used + self.count)
        return total

    def fill(self, table: RuleTable) -> bool:
        """Pack the rules of a table; tell whether there was memory."""
        self.paths = table.paths
        self.count = table.count
        self.unmatched_allowed = table.unmatched_allowed
        self.bits = _bits_for(table)
        first = 2 * self.count
        if self.bits:
            first = 2 * _matcher.SLOT * self.count + _starts(self.bits)
        self.words = first + self.count
        for rule in range(self.count):
            self.words += _matcher.RULE + _words(_matcher.size_of(table, rule))
        self.block = _memory.buffer(4 * self.words)
        if table.links:
            self.links = _memory.integers(4 * self.words)
        if not self.block or (table.links and not self.links):
            return False
        self.places = _memory.integers_in(self.block, 4 * first, self.count)
        self.rules = _memory.integers_in(self.block, 0, self.words)
        at = first + self.count
        for rule in range(self.count):
            self.places[rule] = at
            at = self._copy(table, rule, at)
        self.text = _memory.bytes_in(self.block, 0, 4 * self.words)
        if self.bits:
            self._fill_buckets()
        else:
            self.keys = _memory.longs_in(self.block, 0, self.count)
            for rule in range(self.count):
                self.keys[rule] = _key_of(self, rule)
        if self.links:
            fill_links(self)
        return True

    def _fill_buckets(self) -> None:
        """Put the rules into their buckets, in order."""
        count = _starts(self.bits)
        self.starts = _memory.integers_in(self.block, 0, count)
        self.slots = _memory.longs_in(self.block, 4 * count, _matcher.SLOT * self.count)
        for bucket in range(count):
            self.starts[bucket] = 0
        # Of each bucket, first the size, then the start, which moves to the start of the next one.
        for rule in range(self.count):
            self.starts[_bucket_of(self, rule, self.bits) + 1] += 1
        for bucket in range(2, count):
            self.starts[bucket] += self.starts[bucket - 1]
        for rule in range(self.count):
            bucket = _bucket_of(self, rule, self.bits)
            slot = _matcher.SLOT * self.starts[bucket]
            self.starts[bucket] += 1
            self.slots[slot] = _key_of(self, rule)
            number = rule
            self.slots[slot + 1] = number << _matcher.NUMBER_SHIFT | self.places[rule]
        for bucket in range(count - 1, 0, -1):
            self.starts[bucket] = self.starts[bucket - 1]
        self.starts[0] = 0

    def _copy(self, table: RuleTable, rule: int, at: int) -> int:
        """Copy a rule and its pattern to integer ``at``; return where the next one goes."""
        source = _matcher.RULE * rule
        start = _matcher.start_of(table, rule)
        size = _matcher.size_of(table, rule)
        moved = 4 * (at + _matcher.RULE) - start
        for part in range(_matcher.RULE):
            self.rules[at + part] = table.rules[source + part]
        self.rules[at + _matcher.START] += moved
        self.rules[at + _matcher.END] += moved
        self.rules[at + _matcher.LITERAL] += moved
        _memory.copy(self.block, 4 * (at + _matcher.RULE), table.text, start, size)
        return at + _matcher.RULE + _words(size)

    def index(self) -> None:
        """Build the index; without memory for it, all rules are tried as before."""
        trie = Trie(self.count)
        if trie.nodes and trie.chain:
            self._fill_trie(trie)
            if trie.arrange():
                self.trie = trie

    def _fill_trie(self, trie: Trie) -> None:
        for rule in range(self.count):
            at = self.places[rule]
            node = trie.insert(
                self.text, self.rules[at + _matcher.START], self.rules[at + _matcher.LITERAL]
            )
            node *= _trie.NODE
            best = trie.nodes[node + _trie.PLAIN] - 1
            rank = self.rules[at + _matcher.RANK]
            if self.rules[at + _matcher.FLAGS] & ~_matcher.ALLOWS:
                trie.chain[rule + 1] = trie.nodes[node + _trie.CHAIN]
                trie.nodes[node + _trie.CHAIN] = rule + 1
            elif best < 0 or rank > trie.nodes[node + _trie.RANK]:
                trie.nodes[node + _trie.PLAIN] = rule + 1
                trie.nodes[node + _trie.RANK] = rank


def packed(table: RuleTable) -> Packed | None:
    """Return a table with the same rules, packed, and indexed if they are many.

    Returns None if there is no memory for it.
    """
    found = Packed()
    if not found.fill(table):
        return None
    if found.count > MAX_RULES_WITHOUT_TRIE and not found.bits:
        found.index()
    return found


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

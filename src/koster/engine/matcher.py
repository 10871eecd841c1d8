"""Matching: the last step, from a URL to the rule that decides.

Reads the rules of one agent, in canonical form and ranked: in every dialect, the matching rule of
the highest rank decides. RFC 9309 §2.2.2: the longest match, and Allow on a tie. `RuleTable` says
where the rules are: `compiler` and `packing` make one.

`rule_for` and its callees use no Python objects: bytes in, the number of a rule out, so that
many URLs can be decided without the interpreter lock.
"""

from __future__ import annotations

from ..dialects import Escapes, UrlPath
from . import canonical as _canonical
from . import memory as _memory
from . import trie as _trie
from . import wildcards as _wildcards

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .memory import Bytes, Integers
    from .trie import Trie

_CANONICAL = int(Escapes.CANONICAL)
_GOOGLE = int(UrlPath.GOOGLE)

_SLASH = 47
_QUERY = 63
_HASH = 35

#: How paths are read and written, as one integer: a value of `UrlPath`, one of `Escapes`, and
#: whether /robots.txt is always allowed.
_FIELD = 255
_ESCAPES_SHIFT = 8
_EXEMPTS = 1 << 16

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

#: No rule matched.
UNMATCHED = -1
#: The URL is that of /robots.txt itself.
EXEMPT = -2
#: There was no memory for the path.
NO_MEMORY = -3
#: The path is too long to be searched for so many patterns: it is disallowed.
TOO_LONG = -4

#: The maximum of a path's bytes times the weight of the patterns that are searched for in it. A
#: byte takes up to 15 ns for each on a slow machine: 50 ms for a decision. In the real files, an
#: agent has up to 322 such patterns: that allows paths of 9,300 bytes.
MAX_SEARCHED = 3_000_000

#: A rule's key is an integer of 64 bits: those that the key of a path must have for the rule to
#: match. Most keys exclude their rule, so that a decision reads little else. The lower 30 bits are
#: kinds of bytes, the next 30 the head: three bytes after the first, which is a slash in nearly
#: every pattern. Each takes ten bits: its lowest five, and their complement.
_HEAD_BYTES = 3
_HEAD_SHIFT = 30

#: Bytes have 31 kinds, a bit for each: letters, digits, and the separators of paths and queries.
#: The last kind is every byte that is not plain in a canonical path (`canonical`).
_KINDS_OF_LETTERS = {letter: number for number, letter in enumerate("abcdefghijklmnopqrstuvwxyz")}
_KIND_OF = {"0123456789": 26, "/": 27, "-._~": 28, "?&=": 29}
OTHERS = 1 << 30


def _kind_bits() -> Integers:
    """Return the bit of each byte's kind."""
    bits = _memory.integers(256)
    for byte in range(256):
        bits[byte] = OTHERS
    for letter, kind in _KINDS_OF_LETTERS.items():
        bits[ord(letter)] = bits[ord(letter.upper())] = 1 << kind
    for letters, kind in _KIND_OF.items():
        for letter in letters:
            bits[ord(letter)] = 1 << kind
    return bits


_BITS = _kind_bits()

#: Buckets of rules by those three bytes, in 15 bits, of which a product has the best ones on top:
#: Knuth, The Art of Computer Programming, volume 3, §6.4.
_MULTIPLIER = 2654435761
_PRODUCT_BITS = 32
#: The bucket of rules without these bytes in their literal prefix.
ANY = 0

#: A slot of a bucket or a node is two integers of 64 bits: the key of a rule, and its place with,
#: in the upper half, its number.
SLOT = 2
NUMBER_SHIFT = 32
_PLACE_MASK = 0xFFFFFFFF

#: The bytes at the start of packed rules that are loaded while the URL is read.
_PREFETCHED = 512

_EXEMPT_TABLE = b"/robots.txt"
_EXEMPT_PATH = _EXEMPT_TABLE
_EXEMPT_SIZE = len(_EXEMPT_TABLE)


class RuleTable:
    """Where the rules of one agent are in memory, as decisions read them.

    ``paths`` is how paths are read and written; see `paths_of`. ``count`` is the number of rules.
    Rule n has the six integers of ``rules`` from ``places[n]``; its pattern is a part of ``text``.
    ``weight`` is that of the patterns that are searched for, see `MAX_SEARCHED`. ``keys`` are those
    of the rules. Before the rules are packed, there are no ``places`` and
    ``keys``, and the integers are in order. ``links`` are those of long literals between stars
    (`wildcards.link`). Many rules have an index instead of ``keys``: ``slots`` in buckets, of which
    number n starts at ``starts[n]`` (``bits`` is that of their number), or, if too many rules begin
    alike, in the nodes of a ``trie``. Without a match, a URL is ``unmatched_allowed``.

    Several threads read a table at once, and whoever reads it holds a reference: once its maker
    has returned it, nothing in it changes, and its memory is freed with it.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Make a table without rules."""
        self.paths = 0
        self.count = 0
        self.weight = 0
        self.unmatched_allowed = True
        self.keys = _memory.no_longs()
        self.places = _memory.no_integers()
        self.rules = _memory.no_integers()
        self.text = _memory.no_buffer()
        self.links = _memory.no_integers()
        self.bits = 0
        self.slots = _memory.no_longs()
        self.starts = _memory.no_integers()
        self.trie: Trie | None = None

    def allocated(self) -> int:
        """Return the size of the rules and their index in memory, in bytes."""
        raise NotImplementedError


def paths_of(url_path: int, escapes: int, exempt: bool) -> int:
    """Return how paths are read and written as one integer."""
    return url_path | escapes << _ESCAPES_SHIFT | (_EXEMPTS if exempt else 0)


def place(table: RuleTable, rule: int) -> int:
    """Return where the integers of a rule start."""
    return table.places[rule] if table.places else RULE * rule


def row_of(table: RuleTable, rule: int) -> int:
    """Return the row of a rule among the lines of the file."""
    return table.rules[place(table, rule) + ROW]


def start_of(table: RuleTable, rule: int) -> int:
    """Return where a rule's pattern starts in the text."""
    return table.rules[place(table, rule) + START]


def size_of(table: RuleTable, rule: int) -> int:
    """Return the size of a rule's pattern in bytes, without trailing stars."""
    at = place(table, rule)
    return table.rules[at + END] - table.rules[at + START]


def allows(table: RuleTable, rule: int) -> bool:
    """Tell whether a result of `find` allows the URL."""
    if rule >= 0:
        return table.rules[place(table, rule) + FLAGS] & ALLOWS != 0
    return rule == EXEMPT or (table.unmatched_allowed and rule != TOO_LONG)


def verdict(url: str, table: RuleTable) -> bool:
    """Tell whether a URL is allowed.

    Raises:
        TypeError: ``url`` is not a str.
        MemoryError: no memory for the path.
    """
    if not table.count and table.unmatched_allowed and type(url) is str:
        # Whatever the URL is: it need not be read.
        return True
    return allows(table, find(url, table))


def find(url: str, table: RuleTable) -> int:
    """Return the number of the rule that decides about a URL, or what `rule_for` returns.

    Raises:
        TypeError: ``url`` is not a str.
        MemoryError: no memory for the path.
    """
    if not isinstance(url, str):
        raise TypeError(f"url must be a str, not {type(url).__name__}")
    if table.places:
        _memory.prefetch(table.text, _PREFETCHED)
    encoded = _memory.utf8(url if type(url) is str else str.__str__(url))
    raw, size = _memory.view(encoded)
    number = rule_for(raw, size, table)
    if number == NO_MEMORY:
        raise MemoryError("no memory for the path of a URL")
    return number


def rule_for(url: Bytes, size: int, table: RuleTable) -> int:
    """Return the number of the rule that decides about a URL of ``size`` bytes.

    Without such a rule, returns `UNMATCHED`, `EXEMPT`, `TOO_LONG` or `NO_MEMORY`.
    """
    end = size
    if table.paths & _FIELD == _GOOGLE:
        start, end = _canonical.span(url, size, _GOOGLE)
    else:
        start = _canonical.path_start(url, size)
    kinds = kinds_in(url, start, end)
    if kinds >= OTHERS and table.paths & _FIELD != _GOOGLE:
        # Only these can have a fragment.
        end = _memory.find(url, _HASH, start, size)
        kinds = kinds_in(url, start, end)
    if table.paths & _EXEMPTS and _is_exempt(url, start, end):
        return EXEMPT
    if table.count == 0:
        return UNMATCHED
    escapes = table.paths >> _ESCAPES_SHIFT & _FIELD
    if escapes == _CANONICAL:
        plain = start < end and url[start] == _SLASH and kinds < OTHERS
    else:
        plain = _canonical.is_plain(url, start, end, escapes)
    if plain:
        return _best(table, url, start, end, kinds)
    path = room_for(end - start)
    if not path:
        return NO_MEMORY
    end = _canonical.write(url, start, end, escapes, _canonical.URL, path, 0)
    best = _best(table, path, 0, end, kinds_in(path, 0, end))
    _memory.release(path)
    return best


def _best(table: RuleTable, path: Bytes, start: int, end: int, kinds: int) -> int:
    """Return the best rule that matches a canonical path, or `UNMATCHED` or `TOO_LONG`."""
    if table.weight * (end - start) > MAX_SEARCHED:
        return TOO_LONG
    missing = ~(head_in(path, start, end) | kinds)
    if table.trie is not None:
        return _best_by_trie(table, table.trie, path, start, end, missing)
    if table.bits:
        return _best_by_buckets(table, path, start, end, missing)
    return best_by_scan(table, path, start, end, missing)


def best_by_scan(table: RuleTable, path: Bytes, start: int, end: int, missing: int) -> int:
    """Try every rule that ranks higher than the best so far.

    ``missing`` are the bits that the key of the path lacks.
    """
    keys = table.keys
    rules = table.rules
    best = UNMATCHED
    best_rank = -1
    for rule in range(table.count):
        if keys and keys[rule] & missing:
            continue
        at = place(table, rule)
        if rules[at + RANK] <= best_rank:
            continue
        matched = _matches(table, at, path, start, end)
        if matched < 0:
            return NO_MEMORY
        if matched:
            best = rule
            best_rank = rules[at + RANK]
    return best


def _best_by_buckets(table: RuleTable, path: Bytes, start: int, end: int, missing: int) -> int:
    """Try the rules in the bucket for any path, and those in the bucket of the path."""
    first, last = table.starts[ANY], table.starts[ANY + 1]
    best = _best_in_slots(table, first, last, UNMATCHED, path, start, end, missing, False)
    bucket = bucket_of(path, start, end, table.bits)
    if bucket == ANY or best == NO_MEMORY:
        return best
    first, last = table.starts[bucket], table.starts[bucket + 1]
    return _best_in_slots(table, first, last, best, path, start, end, missing, False)


def _best_in_slots(
    table: RuleTable,
    first: int,
    last: int,
    best: int,
    path: Bytes,
    start: int,
    end: int,
    missing: int,
    is_after_literal: bool,
) -> int:
    """Return the best rule that matches, of some slots and the best one so far.

    ``start`` is where the path starts, or what comes after the literal prefix of all these rules.
    """
    slots = table.slots
    rules = table.rules
    best_rank = -1
    if best >= 0 and first < last:
        best_rank = rules[place(table, best) + RANK]
    for slot in range(first, last):
        at = slots[SLOT * slot + 1] & _PLACE_MASK
        rule = slots[SLOT * slot + 1] >> NUMBER_SHIFT
        if slots[SLOT * slot] & missing or not _is_better(rules[at + RANK], rule, best_rank, best):
            continue
        if is_after_literal:
            matched = _rest_matches(table, at, path, start, end)
        else:
            matched = _matches(table, at, path, start, end)
        if matched < 0:
            return NO_MEMORY
        if matched:
            best = rule
            best_rank = rules[at + RANK]
    return best


def _matches(table: RuleTable, at: int, path: Bytes, start: int, end: int) -> int:
    """Tell whether the pattern of a rule matches: 1 or 0, or -1 without memory."""
    rules = table.rules
    size = rules[at + LITERAL] - rules[at + START]
    if size > end - start or not _memory.same(table.text, rules[at + START], path, start, size):
        return 0
    if rules[at + FLAGS] <= ALLOWS:
        return 1
    return _rest_matches(table, at, path, start + size, end)


def bucket_of(text: Bytes, start: int, end: int, bits: int) -> int:
    """Return the number of the bucket for a path, or a literal prefix, ``text[start:end]``."""
    if end - start <= _HEAD_BYTES:
        return ANY
    head = (text[start + 1] & 31) << 10 | (text[start + 2] & 31) << 5 | (text[start + 3] & 31)
    return 1 + ((head * _MULTIPLIER & _PLACE_MASK) >> (_PRODUCT_BITS - bits))


def _best_by_trie(
    table: RuleTable, trie: Trie, path: Bytes, start: int, end: int, missing: int
) -> int:
    """Walk down the trie, and try only the rules on the way."""
    nodes = trie.nodes
    best = UNMATCHED
    best_rank = -1
    node = 0
    while True:
        at = _trie.NODE * node
        rule = nodes[at + _trie.PLAIN] - 1
        rank = nodes[at + _trie.RANK]
        if rule >= 0 and _is_better(rank, rule, best_rank, best):
            best = rule
            best_rank = rank
        if nodes[at + _trie.CHILDREN] & _trie.HAS_SLOTS:
            first, last = nodes[at + _trie.SLOTS], nodes[at + _trie.NODE + _trie.SLOTS]
            rule = _best_in_slots(table, first, last, best, path, start, end, missing, True)
            if rule == NO_MEMORY:
                return NO_MEMORY
            if rule != best:
                best = rule
                best_rank = table.rules[place(table, rule) + RANK]
        node = _trie.step(trie, node, path, start, end) if start < end else 0
        if node == 0:
            return best
        start += nodes[_trie.NODE * node + _trie.SIZE]


def _rest_matches(table: RuleTable, at: int, path: Bytes, position: int, end: int) -> int:
    """Tell whether the rest of a pattern, after its literal prefix, matches.

    Returns 1 or 0, or -1 without memory.
    """
    rules = table.rules
    flags = rules[at + FLAGS]
    stop = rules[at + END]
    if flags & REPEATED:
        return 0
    if flags & WILD:
        anchored = flags & ANCHORED != 0
        return _wildcards.matches(
            table.text, rules[at + LITERAL], stop, anchored, table.links, path, position, end
        )
    if flags & GLOB:
        return _wildcards.shell_matches(table.text, rules[at + LITERAL], stop, path, position, end)
    return position == end or not flags & ANCHORED


def kinds_in(text: Bytes, start: int, end: int) -> int:
    """Return the kinds of the bytes ``text[start:end]``, as bits."""
    kinds = 0
    while start < end:
        kinds |= _BITS[text[start]]
        start += 1
    return kinds


def head_in(text: Bytes, start: int, end: int) -> int:
    """Return the bits of the head of ``text[start:end]`` in a key."""
    head = 0
    end = min(end, start + 1 + _HEAD_BYTES)
    while end > start + 1:
        end -= 1
        byte = text[end] & 31
        head = head << 10 | byte << 5 | (byte ^ 31)
    return head << _HEAD_SHIFT


def _is_exempt(url: Bytes, start: int, end: int) -> bool:
    """Tell whether a raw path is exactly /robots.txt, with or without a query.

    A path that does not start with a slash gets one.
    """
    missing = 1 if start < end and url[start] != _SLASH else 0
    size = _EXEMPT_SIZE - missing
    return (
        end - start >= size
        and _memory.same(url, start, _EXEMPT_PATH, missing, size)
        and (end - start == size or url[start + size] == _QUERY)
    )


def _is_better(rank: int, rule: int, best_rank: int, best: int) -> bool:
    """Tell whether a rule that matches decides instead of the best one so far."""
    return rank > best_rank or (rank == best_rank and rule < best)


def room_for(size: int) -> bytearray:
    """Allocate room for the canonical form of a path or pattern of ``size`` bytes."""
    return _memory.buffer(3 * size + 1)

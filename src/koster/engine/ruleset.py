"""Matching: the fourth step, from groups to ranked rules, and from a URL to the rule that decides.

`Ruleset` has the rules of one agent, in canonical form and ranked: in every dialect, the matching
rule of the highest rank decides, and `allows` knows the decision if none matches. RFC 9309 §2.2.2:
the longest match, and Allow on a tie.

``rule_for`` and its callees use no Python objects: bytes in, the number of a rule out, so that
many URLs can be decided without the interpreter lock.
"""

from __future__ import annotations

from ..dialects import Escapes, IndexPages, Patterns, RobotsTxtPath, Unmatched
from . import canonical as _canonical
from . import memory as _memory
from . import trie as _trie
from . import wildcards as _wildcards
from .trie import Trie

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..dialects import Reading, Rewrite
    from .memory import Bytes, Integers

_CANONICAL = int(Escapes.CANONICAL)
_WILDCARDS = int(Patterns.WILDCARDS)
_SHELL = int(Patterns.SHELL)

_SLASH = 47
_QUERY = 63

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

#: No rule matched.
UNMATCHED = -1
#: The URL is that of /robots.txt itself.
EXEMPT = -2
#: There was no memory for the path.
NO_MEMORY = -3

#: Up to this many rules, trying all of them is as fast as an index.
MAX_UNINDEXED_RULES = 48
#: Up to this many rules, filtering by the kinds of bytes in the path does not pay off.
MAX_UNFILTERED_RULES = 4
#: Lookups before a ruleset builds its index: most rulesets have only one.
LOOKUPS_BEFORE_INDEX = 4

#: Bytes have 31 kinds, a bit for each: a pattern with a kind that the path lacks cannot match.
#: Kinds are letters, digits, and the separators of paths and queries. The last kind is every byte
#: that is not plain in a canonical path (`canonical`).
_KINDS_OF_LETTERS = {letter: number for number, letter in enumerate("abcdefghijklmnopqrstuvwxyz")}
_KIND_OF = {"0123456789": 26, "/": 27, "-._~": 28, "?&=": 29}
_OTHERS = 1 << 30


def _kind_bits() -> Integers:
    """Return the bit of each byte's kind."""
    bits = _memory.integers(256)
    for byte in range(256):
        bits[byte] = _OTHERS
    for letter, kind in _KINDS_OF_LETTERS.items():
        bits[ord(letter)] = bits[ord(letter.upper())] = 1 << kind
    for letters, kind in _KIND_OF.items():
        for letter in letters:
            bits[ord(letter)] = 1 << kind
    return bits


_BITS = _kind_bits()

_EXEMPT_TABLE = b"/robots.txt"
_EXEMPT_PATH = _EXEMPT_TABLE
_EXEMPT_SIZE = len(_EXEMPT_TABLE)


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


class Ruleset:
    """The rules of one agent, ranked."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.count = 0
        self.unmatched_allowed = True
        self.used = 0
        self._lookups = 0
        self.longest_run = 0
        self.rules_room = 0
        self.text_room = 0
        self._kinds = _memory.no_integers()
        self.rules = _memory.no_integers()
        self.links = _memory.no_integers()
        self.text = _memory.no_buffer()
        self._trie: Trie | None = None

    def __dealloc__(self) -> None:
        _memory.release(self.rules)
        _memory.release(self._kinds)
        _memory.release(self.text)
        _memory.release(self.links)

    def row(self, rule: int) -> int:
        """Return the row of a rule among the lines of the file."""
        return self.rules[RULE * rule + ROW]

    def start(self, rule: int) -> int:
        """Return where a rule's pattern starts in the text."""
        return self.rules[RULE * rule + START]

    def size(self, rule: int) -> int:
        """Return the size of a rule's pattern in bytes, without trailing stars."""
        return self.rules[RULE * rule + END] - self.rules[RULE * rule + START]

    def byte(self, at: int) -> int:
        """Return a byte of the text."""
        return self.text[at]

    def is_anchored(self, rule: int) -> bool:
        """Tell whether a rule must match up to the end of the path."""
        return self.rules[RULE * rule + FLAGS] & ANCHORED != 0

    def matches_all(self, rule: int) -> bool:
        """Tell whether a rule matches every path, without wildcards."""
        if self.rules[RULE * rule + FLAGS] & ~ALLOWS:
            return False
        size = self.size(rule)
        return size == 0 or (size == 1 and self.text[self.start(rule)] == _SLASH)

    def allows(self, rule: int) -> bool:
        """Tell whether a result of `rule_for` allows the URL."""
        if rule >= 0:
            return self.rules[RULE * rule + FLAGS] & ALLOWS != 0
        return self.unmatched_allowed or rule == EXEMPT

    def compiled(self) -> list[tuple[bytes, int, int, bool, bool, int, int]]:
        """Return the fields of a `selection.CompiledRule` for each rule."""
        found = []
        for rule in range(self.count):
            at = RULE * rule
            start = self.rules[at + START]
            flags = self.rules[at + FLAGS]
            text = bytes(self.text[start : self.rules[at + END]])
            kind = 0 if flags & WILD else _SHELL if flags & GLOB else 1
            literal = self.rules[at + LITERAL] - start
            rank = self.rules[at + RANK]
            row = self.rules[at + ROW]
            found.append((
                text, literal, kind, flags & ANCHORED != 0, flags & ALLOWS != 0, rank, row,
            ))  # fmt: skip
        return found

    def path_of(self, url: bytes) -> bytes:
        """Return the canonical path and query of a URL, which are compared with patterns."""
        start, end = _canonical.span(url, len(url), self.form.url_path)
        path = _room_for(end - start)
        if not path:
            raise MemoryError("no memory for the path of a URL")
        end = _canonical.write(url, start, end, self.form.escapes, _canonical.URL, path, 0)
        found = bytes(path[:end])
        _memory.release(path)
        return found

    def allocated(self) -> int:
        """Return the size of the rules and their index in memory, in bytes."""
        total = 4 * RULE * self.count + self.used
        if self._kinds:
            total += 4 * self.count
        if self.links:
            total += 4 * self.used
        if self._trie is not None:
            total += 4 * (_trie.NODE * self._trie.used + self.count)
        return total

    def count_lookup(self) -> None:
        """Count a lookup; after `LOOKUPS_BEFORE_INDEX` of them, build the index."""
        if self._lookups != LOOKUPS_BEFORE_INDEX:
            self._lookups += 1
            if self._lookups == LOOKUPS_BEFORE_INDEX and self.count > MAX_UNFILTERED_RULES:
                self._collect_kinds()
                if self.count > MAX_UNINDEXED_RULES:
                    self.index()

    def expect_lookups(self, lookups: int) -> None:
        """Prepare for this many lookups."""
        for _ in range(min(lookups, LOOKUPS_BEFORE_INDEX)):
            self.count_lookup()

    def _collect_kinds(self) -> None:
        """Collect for each rule the kinds of bytes that a path must have to match.

        They are stored apart from the rules: they exclude most rules, and many fit into a cache
        line (``make bench``, prepared decisions).
        """
        kinds_of = _memory.integers(self.count)
        if kinds_of:
            for rule in range(self.count):
                at = RULE * rule
                if not self.rules[at + FLAGS] & GLOB:
                    kinds = _kinds_in(self.text, self.rules[at + START], self.rules[at + END])
                    kinds_of[rule] = kinds & ~_OTHERS
            self._kinds = kinds_of

    def index(self) -> None:
        """Build the index; without memory for it, all rules are tried as before."""
        trie = Trie(self.count)
        if trie.nodes and trie.chain:
            self._fill_trie(trie)
            if trie.arrange():
                self._trie = trie

    def _fill_trie(self, trie: Trie) -> None:
        for rule in range(self.count):
            at = RULE * rule
            node = trie.insert(self.text, self.rules[at + START], self.rules[at + LITERAL])
            node *= _trie.NODE
            best = trie.nodes[node + _trie.PLAIN] - 1
            if self.rules[at + FLAGS] & ~ALLOWS:
                trie.chain[rule + 1] = trie.nodes[node + _trie.CHAIN]
                trie.nodes[node + _trie.CHAIN] = rule + 1
            elif best < 0 or self.rules[at + RANK] > self.rules[RULE * best + RANK]:
                trie.nodes[node + _trie.PLAIN] = rule + 1
                trie.nodes[node + _trie.RANK] = self.rules[at + RANK]

    def number_for(self, url: str) -> int:
        """Return the number of the rule that decides about a URL, or `UNMATCHED` or `EXEMPT`.

        Raises:
            TypeError: ``url`` is not a str.
            MemoryError: no memory for the path.
        """
        if not isinstance(url, str):
            raise TypeError(f"url must be a str, not {type(url).__name__}")
        text = _memory.utf8(url if type(url) is str else str.__str__(url))
        raw, size = _memory.view(text)
        self.count_lookup()
        number = self.rule_for(raw, size)
        if number == NO_MEMORY:
            raise MemoryError("no memory for the path of a URL")
        return number

    def rule_for(self, url: Bytes, size: int) -> int:
        """Return the number of the rule that decides about a URL.

        Otherwise `UNMATCHED`, `EXEMPT` or `NO_MEMORY`.
        """
        start, end = _canonical.span(url, size, self.form.url_path)
        if self.form.exempt and _is_exempt(url, start, end):
            return EXEMPT
        if self.count == 0:
            return UNMATCHED
        kinds = _kinds_in(url, start, end)
        if self.form.escapes == _CANONICAL:
            plain = start < end and url[start] == _SLASH and kinds < _OTHERS
        else:
            plain = _canonical.is_plain(url, start, end, self.form.escapes)
        if plain:
            return self._best(url, start, end, kinds)
        path = _room_for(end - start)
        if not path:
            return NO_MEMORY
        end = _canonical.write(url, start, end, self.form.escapes, _canonical.URL, path, 0)
        best = self._best(path, 0, end, _kinds_in(path, 0, end))
        _memory.release(path)
        return best

    def _best(self, path: Bytes, start: int, end: int, kinds: int) -> int:
        """Return the best rule that matches a canonical path, or `UNMATCHED`."""
        if self._trie is not None:
            return self.best_by_index(self._trie, path, start, end, kinds)
        return self.best_by_scan(path, start, end, kinds)

    def best_of_all(self, path: Bytes, size: int) -> int:
        """Return the best rule that matches a canonical path, or `UNMATCHED`.

        For rules without shell patterns, and without collected kinds of bytes.
        """
        return self.best_by_scan(path, 0, size, 0)

    def best_by_scan(self, path: Bytes, start: int, end: int, kinds: int) -> int:
        """Try every rule that ranks higher than the best so far."""
        rules = self.rules
        kinds_of = self._kinds
        best = UNMATCHED
        best_rank = -1
        for rule in range(self.count):
            if kinds_of and kinds_of[rule] & ~kinds:
                continue
            at = RULE * rule
            if rules[at + RANK] <= best_rank:
                continue
            size = rules[at + LITERAL] - rules[at + START]
            if size > end - start:
                continue
            if not _memory.same(self.text, rules[at + START], path, start, size):
                continue
            matched = 1
            if rules[at + FLAGS] > ALLOWS:
                matched = self._rest_matches(at, path, start + size, end)
            if matched < 0:
                return NO_MEMORY
            if matched:
                best = rule
                best_rank = rules[at + RANK]
        return best

    def best_by_index(self, trie: Trie, path: Bytes, start: int, end: int, kinds: int) -> int:
        """Walk down the trie, and try only the rules on the way."""
        rules = self.rules
        kinds_of = self._kinds
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
            rule = nodes[at + _trie.CHAIN] - 1
            while rule >= 0:
                rank = rules[RULE * rule + RANK]
                if (not kinds_of or kinds_of[rule] & ~kinds == 0) and _is_better(
                    rank, rule, best_rank, best
                ):
                    matched = self._rest_matches(RULE * rule, path, start, end)
                    if matched < 0:
                        return NO_MEMORY
                    if matched:
                        best = rule
                        best_rank = rank
                rule = trie.chain[rule + 1] - 1
            node = _trie.step(nodes, node, self.text, path, start, end) if start < end else 0
            if node == 0:
                return best
            start += nodes[_trie.NODE * node + _trie.SIZE]

    def _rest_matches(self, at: int, path: Bytes, position: int, end: int) -> int:
        """Tell whether the rest of a rule's pattern, after its literal prefix, matches.

        Returns 1 or 0, or -1 without memory.
        """
        rules = self.rules
        flags = rules[at + FLAGS]
        if flags & WILD:
            return _wildcards.matches(
                self.text, rules[at + LITERAL], rules[at + END], flags & ANCHORED != 0,
                self.links, path, position, end,
            )  # fmt: skip
        if flags & GLOB:
            return _wildcards.shell_matches(
                self.text, rules[at + LITERAL], rules[at + END], path, position, end
            )
        return position == end or not flags & ANCHORED


def _kinds_in(text: Bytes, start: int, end: int) -> int:
    """Return the kinds of the bytes ``text[start:end]``, as bits."""
    kinds = 0
    while start < end:
        kinds |= _BITS[text[start]]
        start += 1
    return kinds


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


def _room_for(size: int) -> bytearray:
    """Allocate room for the canonical form of a path or pattern of ``size`` bytes."""
    return _memory.buffer(3 * size + 1)


def pattern_bytes(pattern: bytes) -> int:
    """Return the size of a pattern's canonical form, by which the longest match is chosen."""
    out = _room_for(len(pattern))
    if not out:
        raise MemoryError("no memory for a pattern")
    size = _canonical.write(pattern, 0, len(pattern), _CANONICAL, _WILDCARDS, out, 0)
    _memory.release(out)
    return size

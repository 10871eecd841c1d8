"""Rulesets: the compiled rules of one agent, and their place in memory.

`compiler` adds the rules; `matcher` decides with them.
"""

from __future__ import annotations

from ..dialects import Escapes, IndexPages, Patterns, RobotsTxtPath, Unmatched
from . import canonical as _canonical
from . import matcher as _matcher
from . import memory as _memory
from . import trie as _trie
from .trie import Trie

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..dialects import Reading, Rewrite
    from .memory import Bytes

_CANONICAL = int(Escapes.CANONICAL)
_WILDCARDS = int(Patterns.WILDCARDS)
_SHELL = int(Patterns.SHELL)

_SLASH = 47

#: Up to this many rules, going through their keys is as fast as an index, and reads less memory.
MAX_UNINDEXED_RULES = 128
#: Lookups before a ruleset is packed and indexed: most rulesets have only one.
LOOKUPS_BEFORE_PACKING = 4


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
    """The rules of one agent. For its fields see `matcher.rule_for`."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.count = 0
        self.unmatched_allowed = True
        self.paths = _matcher.paths_of(self.form.url_path, self.form.escapes, self.form.exempt)
        self.keys = _memory.no_longs()
        self.rules = _memory.no_integers()
        self.links = _memory.no_integers()
        self.text = _memory.no_buffer()
        self.trie: Trie | None = None
        self.used = 0
        self.longest_run = 0
        self.rules_room = 0
        self.text_room = 0
        self._lookups = 0
        self._block = _memory.no_buffer()

    def __dealloc__(self) -> None:
        if self._block:
            _memory.release(self._block)
        else:
            _memory.release(self.rules)
            _memory.release(self.text)
            _memory.release(self.links)

    def row(self, rule: int) -> int:
        """Return the row of a rule among the lines of the file."""
        return self.rules[_matcher.RULE * rule + _matcher.ROW]

    def start(self, rule: int) -> int:
        """Return where a rule's pattern starts in the text."""
        return self.rules[_matcher.RULE * rule + _matcher.START]

    def size(self, rule: int) -> int:
        """Return the size of a rule's pattern in bytes, without trailing stars."""
        return (
            self.rules[_matcher.RULE * rule + _matcher.END]
            - self.rules[_matcher.RULE * rule + _matcher.START]
        )

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
        size = self.size(rule)
        return size == 0 or (size == 1 and self.text[self.start(rule)] == _SLASH)

    def allows(self, rule: int) -> bool:
        """Tell whether a result of `rule_for` allows the URL."""
        return _matcher.allows(self.rules, rule, self.unmatched_allowed)

    def rule_for(self, url: Bytes, size: int) -> int:
        """Return the number of the rule that decides about a URL; see `matcher.rule_for`."""
        return _matcher.rule_for(
            url, size, self.paths, self.count, self.keys, self.rules, self.text, self.links,
            self.trie,
        )  # fmt: skip

    def best_of_all(self, path: Bytes, size: int) -> int:
        """Return the best rule that matches a canonical path, or `matcher.UNMATCHED`.

        For rules that are not packed.
        """
        return _matcher.best_by_scan(
            path, 0, size, 0, self.count, self.keys, self.rules, self.text, self.links
        )

    def compiled(self) -> list[tuple[bytes, int, int, bool, bool, int, int]]:
        """Return the fields of a `compiled_rule.CompiledRule` for each rule."""
        found = []
        for rule in range(self.count):
            at = _matcher.RULE * rule
            start = self.rules[at + _matcher.START]
            flags = self.rules[at + _matcher.FLAGS]
            text = bytes(self.text[start : self.rules[at + _matcher.END]])
            kind = 0 if flags & _matcher.WILD else _SHELL if flags & _matcher.GLOB else 1
            literal = self.rules[at + _matcher.LITERAL] - start
            rank = self.rules[at + _matcher.RANK]
            row = self.rules[at + _matcher.ROW]
            allow = flags & _matcher.ALLOWS != 0
            found.append((text, literal, kind, self.is_anchored(rule), allow, rank, row))
        return found

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
        total = 4 * _matcher.RULE * self.count + self.used
        if self.keys:
            total += 8 * self.count
        if self.links:
            total += 4 * self.used
        if self.trie is not None:
            total += 4 * (_trie.NODE * self.trie.used + self.count)
        return total

    def count_lookup(self) -> None:
        """Count a lookup; after `LOOKUPS_BEFORE_PACKING` of them, pack and index the rules."""
        if self._lookups < LOOKUPS_BEFORE_PACKING:
            if self._lookups == LOOKUPS_BEFORE_PACKING - 1 and self.count:
                self._pack()
                if self.count > MAX_UNINDEXED_RULES:
                    self.index()
            self._lookups += 1

    def is_settled(self) -> bool:
        """Tell whether the rules stay where they are."""
        return self._lookups >= LOOKUPS_BEFORE_PACKING

    def number_for(self, url: str) -> int:
        """Return the number of the rule that decides about a URL; see `matcher.find`."""
        self.count_lookup()
        return _matcher.find(
            url, self.paths, self.count, self.keys, self.rules, self.text, self.links, self.trie
        )

    def expect_lookups(self, lookups: int) -> None:
        """Prepare for this many lookups."""
        for _ in range(min(lookups, LOOKUPS_BEFORE_PACKING)):
            self.count_lookup()

    def _pack(self) -> None:
        """Move the rules into one block of memory: their keys, the rules, the links, the text.

        A decision about a site that was not asked for a while waits for memory more than it
        computes (``make bench``, decisions in turns). Without memory, all stays as it is.
        """
        keys = 8 * self.count
        rules = 4 * _matcher.RULE * self.count
        links = 4 * (self.used + 1) if self.links else 0
        block = _memory.buffer(keys + rules + links + self.used)
        if not block:
            return
        self.keys = _memory.longs_in(block, 0, self.count)
        for rule in range(self.count):
            self.keys[rule] = self._key_of(rule)
        packed = _memory.integers_in(block, keys, _matcher.RULE * self.count)
        _memory.copy_integers(packed, self.rules, _matcher.RULE * self.count)
        _memory.release(self.rules)
        self.rules = packed
        if links:
            packed = _memory.integers_in(block, keys + rules, self.used + 1)
            _memory.copy_integers(packed, self.links, self.used + 1)
            _memory.release(self.links)
            self.links = packed
        at = keys + rules + links
        _memory.copy(block, at, self.text, 0, self.used)
        _memory.release(self.text)
        self.text = _memory.bytes_in(block, at, self.used)
        self._block = block

    def _key_of(self, rule: int) -> int:
        """Return the key of a rule."""
        at = _matcher.RULE * rule
        start = self.rules[at + _matcher.START]
        kinds = 0
        if not self.rules[at + _matcher.FLAGS] & _matcher.GLOB:
            end = self.rules[at + _matcher.END]
            kinds = _matcher.kinds_in(self.text, start, end) & ~_matcher.OTHERS
        return _matcher.head_in(self.text, start, self.rules[at + _matcher.LITERAL]) | kinds

    def index(self) -> None:
        """Build the index; without memory for it, all rules are tried as before."""
        trie = Trie(self.count)
        if trie.nodes and trie.chain:
            self._fill_trie(trie)
            if trie.arrange():
                self.trie = trie

    def _fill_trie(self, trie: Trie) -> None:
        for rule in range(self.count):
            at = _matcher.RULE * rule
            node = trie.insert(
                self.text, self.rules[at + _matcher.START], self.rules[at + _matcher.LITERAL]
            )
            node *= _trie.NODE
            best = trie.nodes[node + _trie.PLAIN] - 1
            if self.rules[at + _matcher.FLAGS] & ~_matcher.ALLOWS:
                trie.chain[rule + 1] = trie.nodes[node + _trie.CHAIN]
                trie.nodes[node + _trie.CHAIN] = rule + 1
            elif (
                best < 0
                or self.rules[at + _matcher.RANK] > self.rules[_matcher.RULE * best + _matcher.RANK]
            ):
                trie.nodes[node + _trie.PLAIN] = rule + 1
                trie.nodes[node + _trie.RANK] = self.rules[at + _matcher.RANK]


def pattern_bytes(pattern: bytes) -> int:
    """Return the size of a pattern's canonical form, by which the longest match is chosen."""
    out = _matcher.room_for(len(pattern))
    if not out:
        raise MemoryError("no memory for a pattern")
    size = _canonical.write(pattern, 0, len(pattern), _CANONICAL, _WILDCARDS, out, 0)
    _memory.release(out)
    return size

"""Matching: the fourth step, from groups to ranked rules, and from a URL to the rule that decides.

`Ruleset` is the rules of one agent, brought to their canonical form and ranked: whatever the
precedence of a dialect, the matching rule of the best rank decides, and the set has an answer
for when none matches. RFC 9309 §2.2.2: the longest match, and Allow where two are equal.

``rule_for`` and all that it calls need no Python object: bytes in, the number of a rule out.
Many URLs can be decided without the interpreter lock.
"""

from __future__ import annotations

from ..dialects import Choice, Escapes, IndexPages, Patterns, RobotsTxtPath, Unmatched
from ..model import Directive
from . import canonical as _canonical
from . import memory as _memory
from . import trie as _trie
from . import wildcards as _wildcards
from .trie import Trie

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..dialects import Reading, Rewrite
    from .memory import Bytes, Integers
    from .rows import Rows

_ALLOW = Directive.ALLOW.code
_DISALLOW = Directive.DISALLOW.code
_CANONICAL = int(Escapes.CANONICAL)
_WILDCARDS = int(Patterns.WILDCARDS)
_SHELL = int(Patterns.SHELL)
_FIRST = int(Choice.FIRST)
_LONGEST = int(Choice.LONGEST)

_STAR = 42
_DOLLAR = 36
_SLASH = 47
_QUERY = 63

#: A rule is six integers: where its pattern begins and ends in the text, where the pattern's
#: literal prefix ends, its flags, its rank, and its row among the lines of the file.
RULE = 6
_START = 0
_END = 1
_LITERAL = 2
_FLAGS = 3
_RANK = 4
_ROW = 5

ALLOWS = 1
#: The pattern must match up to the end of the path.
_ANCHORED = 2
#: Stars follow the literal prefix.
_WILD = 4
#: A shell pattern follows it.
_GLOB = 8
#: It matches more than one path, and not only by how it begins.
_SPECIAL = 16

#: No rule matched.
UNMATCHED = -1
#: The URL is that of /robots.txt itself.
EXEMPT = -2
#: There was no memory for the path.
NO_MEMORY = -3

#: A set of at most so many rules is not worth an index: trying them all is as fast.
SCANNED = 48
#: A set of at most so many is not worth looking for the kinds of bytes in the path.
TRIED = 4
#: Questions after which a set builds its index: most sets are asked once.
FEW_QUESTIONS = 4

#: Bytes fall into 31 kinds, a bit for each: what a pattern has and the path has not, cannot
#: match. Letters, digits, and the separators of paths and queries are told apart. The last
#: kind is every byte that is not plain in a canonical path (`canonical`).
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

#: Ranks of rules that are counted stay apart by as many.
_BAND = 1 << 28

_EXEMPT_TABLE = b"/robots.txt"
_EXEMPT_PATH = _EXEMPT_TABLE
_EXEMPT_SIZE = len(_EXEMPT_TABLE)
_INDEX_TABLE = b"/index.htm"
_INDEX_PAGE = _INDEX_TABLE
_INDEX_SIZE = len(_INDEX_TABLE)


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
        self._used = 0
        self._asked = 0
        self._longest = 0
        self._rules_room = 0
        self._text_room = 0
        self._kinds = _memory.no_integers()
        self._rules = _memory.no_integers()
        self._links = _memory.no_integers()
        self._text = _memory.no_buffer()
        self._trie: Trie | None = None

    def __dealloc__(self) -> None:
        _memory.release(self._rules)
        _memory.release(self._kinds)
        _memory.release(self._text)
        _memory.release(self._links)

    def compile(self, data: bytes, rows: Rows, groups: Rows, chosen: list[int]) -> None:
        """Take in the rules of the chosen groups, in file order.

        Raises:
            MemoryError: there is no memory for them.
        """
        count = 0
        size = 0
        rewrite = self.form.rewrite
        others: list[tuple[int, list[tuple[bytes, int]]]] = []
        for group in chosen:
            for row in range(groups.values[2 * group], groups.values[2 * group + 1]):
                if rows.code(row) == _ALLOW or rows.code(row) == _DISALLOW:
                    count += 1
                    size += rows.end(row) - rows.start(row)
                    if rewrite is not None and self._is_rewritten(data, rows, row):
                        value = data[rows.start(row) : rows.end(row)]
                        patterns = list(rewrite(value, rows.code(row) == _ALLOW))
                        others.append((row, patterns))
                        count += len(patterns)
                        size += sum([len(pattern) for pattern, _ in patterns])
        if not self._make_room(count, size):
            raise MemoryError("no memory for the rules of a robots.txt")
        if others:
            self._add_mixed(data, rows, groups, chosen, others)
        else:
            for group in chosen:
                self._add_group(data, rows, groups.values[2 * group], groups.values[2 * group + 1])
        if not self._settle():
            raise MemoryError("no memory for the rules of a robots.txt")

    def refill(
        self, data: Bytes, rows: Rows, groups: Rows, chosen: Integers, first: int, after: int
    ) -> bool:
        """Hold the rules of other groups instead, ``chosen[first:after]``; for archives.

        Nothing may be rewritten (`Form`), and it is never told to be `ready`. Tells whether there
        was memory.
        """
        self.count = 0
        self._used = 0
        self._longest = 0
        count = 0
        size = 0
        for index in range(first, after):
            group = chosen[index]
            for row in range(groups.values[2 * group], groups.values[2 * group + 1]):
                if rows.code(row) == _ALLOW or rows.code(row) == _DISALLOW:
                    count += 1
                    size += rows.end(row) - rows.start(row)
        if not self._make_room(count, size):
            return False
        for index in range(first, after):
            group = chosen[index]
            self._add_group(data, rows, groups.values[2 * group], groups.values[2 * group + 1])
        return self._settle()

    def _make_room(self, count: int, size: int) -> bool:
        """Make room for so many rules with so many bytes; tell whether there was memory."""
        more = 2 if self.form.index_pages else 1
        rules = RULE * (more * count + 1)
        text = more * (3 * size + count) + 1
        if rules > self._rules_room:
            _memory.release(self._rules)
            self._rules = _memory.integers(rules)
            self._rules_room = rules if self._rules else 0
        if text > self._text_room:
            _memory.release(self._text)
            self._text = _memory.buffer(text)
            self._text_room = text if self._text else 0
        return self._rules_room > 0 and self._text_room > 0

    def _settle(self) -> bool:
        """Do what can be done when all rules are there; tell whether there was memory."""
        if self.form.unless_allows:
            self._settle_unmatched()
        return self._longest <= _wildcards.SHORT or self._link_runs()

    def _is_rewritten(self, data: Bytes, rows: Rows, row: int) -> bool:
        """Tell whether a rule's value is not to be taken as it stands."""
        start = rows.start(row)
        end = rows.end(row)
        if start == end:
            return self.form.empty_rules == 0
        table: Bytes = self.form.rewritten
        while start < end:
            if table[data[start]]:
                return True
            start += 1
        return False

    def _add_mixed(
        self,
        data: bytes,
        rows: Rows,
        groups: Rows,
        chosen: list[int],
        others: list[tuple[int, list[tuple[bytes, int]]]],
    ) -> None:
        """Add the rules of the chosen groups, of which ``others`` are rewritten."""
        index = 0
        for group in chosen:
            first = groups.values[2 * group]
            after = groups.values[2 * group + 1]
            while index < len(others) and first <= others[index][0] < after:
                row, patterns = others[index]
                self._add_group(data, rows, first, row)
                for pattern, counted in patterns:
                    size = len(pattern)
                    self._add(pattern, 0, size, counted, rows.code(row) == _ALLOW, row)
                first = row + 1
                index += 1
            self._add_group(data, rows, first, after)

    def _add_group(self, data: Bytes, rows: Rows, first: int, after: int) -> None:
        """Add the rules of one group."""
        for row in range(first, after):
            code = rows.code(row)
            if code == _ALLOW or code == _DISALLOW:
                start = rows.start(row)
                end = rows.end(row)
                if start < end:
                    self._add(data, start, end, -1, code == _ALLOW, row)
                elif self.form.empty_rules:
                    self._add_pattern(self._used, self._used, -1, code == _DISALLOW, row)

    def _add(self, data: Bytes, start: int, end: int, counted: int, allow: bool, row: int) -> None:
        """Add the rule with the pattern ``data[start:end]``; see `_add_pattern`."""
        at = self._used
        stop = _canonical.write(
            data, start, end, self.form.escapes, self.form.patterns, self._text, at
        )
        self._add_pattern(at, stop, counted, allow, row)
        if allow and self.form.index_pages:
            self._add_directory(at, stop, row)

    def _add_directory(self, at: int, stop: int, row: int) -> None:
        """After ``Allow: …/index.htm…``, written from ``at`` to ``stop``, add ``Allow: …/$``."""
        slash = stop - 1
        while slash >= at and self._text[slash] != _SLASH:
            slash -= 1
        if (
            slash >= at
            and stop - slash >= _INDEX_SIZE
            and _memory.same(self._text, slash, _INDEX_PAGE, 0, _INDEX_SIZE)
        ):
            size = slash + 1 - at
            _memory.copy(self._text, stop, self._text, at, size)
            self._text[stop + size] = _DOLLAR
            self._add_pattern(stop, stop + size + 1, -1, True, row)

    def _add_pattern(self, at: int, stop: int, counted: int, allow: bool, row: int) -> None:
        """Add a rule whose canonical pattern stands in the text from ``at`` to ``stop``.

        It counts for ``counted``, or for as many as it has if that is -1.
        """
        self._used = stop
        if counted < 0:
            counted = stop - at
        flags = ALLOWS if allow else 0
        literal = stop
        if self.form.patterns == _WILDCARDS:
            if stop > at and self._text[stop - 1] == _DOLLAR:
                flags |= _ANCHORED
                stop -= 1
            literal = _memory.find(self._text, _STAR, at, stop)
            while stop > literal and self._text[stop - 1] == _STAR:
                # After a closing star anything may follow: neither it nor "$" says more.
                flags &= ~_ANCHORED
                stop -= 1
            if literal < stop:
                flags |= _WILD | _SPECIAL
                self._longest = max(
                    self._longest, _wildcards.longest_run(self._text, literal, stop)
                )
        elif self.form.patterns == _SHELL:
            flags |= _ANCHORED
            literal = at
            while literal < stop and not _wildcards.is_special(self._text[literal]):
                literal += 1
            if literal < stop:
                flags |= _GLOB
                if not _wildcards.is_explicit(self._text, literal, stop):
                    flags |= _SPECIAL
        rank = self._rank(counted, flags)
        _set_rule(self._rules, RULE * self.count, at, stop, literal, flags, rank, row)
        self.count += 1

    def _rank(self, counted: int, flags: int) -> int:
        """Return the rank of the next rule: of two that match, the higher one decides."""
        if self.form.choice == _LONGEST:
            return 2 * counted + (flags & ALLOWS)
        earlier = _BAND - 1 - self.count
        if self.form.choice == _FIRST:
            return earlier
        if not flags & ALLOWS:
            return earlier + _BAND
        return earlier if flags & _SPECIAL else earlier + 2 * _BAND

    def _settle_unmatched(self) -> None:
        """Settle what holds where no rule matches, for the readings in which Allows limit."""
        allows = 0
        special_allows = 0
        for rule in range(self.count):
            flags = self._rules[RULE * rule + _FLAGS]
            if flags & ALLOWS:
                allows += 1
                if flags & _SPECIAL:
                    special_allows += 1
        self.unmatched_allowed = special_allows == 0 and (allows == 0 or allows < self.count)

    def _link_runs(self) -> bool:
        """Prepare the search for long runs between stars; tell whether there was memory."""
        _memory.release(self._links)
        self._links = _memory.integers(self._used + 1)
        if not self._links:
            return False
        for rule in range(self.count):
            at = RULE * rule
            if self._rules[at + _FLAGS] & _WILD:
                _wildcards.link(
                    self._text, self._rules[at + _LITERAL], self._rules[at + _END], self._links
                )
        return True

    def row(self, rule: int) -> int:
        """Return the row of a rule among the lines of the file."""
        return self._rules[RULE * rule + _ROW]

    def start(self, rule: int) -> int:
        """Return where what is compared of a rule begins in the text: without closing stars."""
        return self._rules[RULE * rule + _START]

    def size(self, rule: int) -> int:
        """Return how many bytes are compared of a rule."""
        return self._rules[RULE * rule + _END] - self._rules[RULE * rule + _START]

    def text(self, at: int) -> int:
        """Return a byte of the text."""
        return self._text[at]

    def is_anchored(self, rule: int) -> bool:
        """Tell whether a rule must match up to the end of the path."""
        return self._rules[RULE * rule + _FLAGS] & _ANCHORED != 0

    def matches_all(self, rule: int) -> bool:
        """Tell whether a rule plainly matches every path."""
        if self._rules[RULE * rule + _FLAGS] & ~ALLOWS:
            return False
        size = self.size(rule)
        return size == 0 or (size == 1 and self._text[self.start(rule)] == _SLASH)

    def allows(self, rule: int) -> bool:
        """Tell what `rule_for` means: whether the URL may be fetched."""
        if rule >= 0:
            return self._rules[RULE * rule + _FLAGS] & ALLOWS != 0
        return self.unmatched_allowed or rule == EXEMPT

    def patterns(self) -> list[tuple[bytes, int, int, bool, bool, int, int]]:
        """Return what is compared and how, of each rule, for those who reason about them.

        Its canonical pattern without closing stars and anchor, the bytes of its literal
        prefix, what follows that (of `Patterns`; `Patterns.PREFIX` if nothing does), whether it
        must match up to the end of the path, whether it allows, its rank, and its row.
        """
        found = []
        for rule in range(self.count):
            at = RULE * rule
            start = self._rules[at + _START]
            flags = self._rules[at + _FLAGS]
            text = bytes(self._text[start : self._rules[at + _END]])
            kind = 0 if flags & _WILD else _SHELL if flags & _GLOB else 1
            literal = self._rules[at + _LITERAL] - start
            rank = self._rules[at + _RANK]
            row = self._rules[at + _ROW]
            found.append((
                text, literal, kind, flags & _ANCHORED != 0, flags & ALLOWS != 0, rank, row,
            ))  # fmt: skip
        return found

    def path_of(self, url: bytes) -> bytes:
        """Return what of a URL is compared with patterns: its path and query, in one form."""
        start, end = _canonical.span(url, len(url), self.form.url_path)
        path = _memory.buffer(3 * (end - start) + 1)
        if not path:
            raise MemoryError("no memory for the path of a URL")
        end = _canonical.write(url, start, end, self.form.escapes, _canonical.URL, path, 0)
        found = bytes(path[:end])
        _memory.release(path)
        return found

    def allocated(self) -> int:
        """Return the bytes of memory that the rules and their index take."""
        total = 4 * RULE * self.count + self._used
        if self._kinds:
            total += 4 * self.count
        if self._links:
            total += 4 * self._used
        if self._trie is not None:
            total += 4 * (_trie.NODE * self._trie.used + self.count)
        return total

    def ready(self) -> None:
        """Be told that a question comes: prepare for many when it is time for that."""
        if self._asked < FEW_QUESTIONS:
            self._asked += 1
            if self._asked == FEW_QUESTIONS and self.count > TRIED:
                self._note_kinds()
                if self.count > SCANNED:
                    self.index()

    def expect(self, questions: int) -> None:
        """Prepare for so many questions."""
        for _ in range(min(questions, FEW_QUESTIONS)):
            self.ready()

    def _note_kinds(self) -> None:
        """Note for each rule the kinds of bytes that a path must have to match it.

        They stand apart from the rules: most rules are passed over by them, and so many fit
        into a cache line (``make bench``, prepared decisions).
        """
        kinds_of = _memory.integers(self.count)
        if kinds_of:
            for rule in range(self.count):
                at = RULE * rule
                if not self._rules[at + _FLAGS] & _GLOB:
                    kinds = _kinds_in(self._text, self._rules[at + _START], self._rules[at + _END])
                    kinds_of[rule] = kinds & ~_OTHERS
            self._kinds = kinds_of

    def index(self) -> None:
        """Make the index. Where there is no memory for it, all rules are tried as before."""
        trie = Trie(self.count)
        if trie.nodes and trie.chain:
            self._fill(trie)
            if trie.arrange():
                self._trie = trie

    def _fill(self, trie: Trie) -> None:
        """Put the rules into a trie."""
        for rule in range(self.count):
            at = RULE * rule
            node = trie.insert(self._text, self._rules[at + _START], self._rules[at + _LITERAL])
            node *= _trie.NODE
            best = trie.nodes[node + _trie.PLAIN] - 1
            if self._rules[at + _FLAGS] & ~ALLOWS:
                trie.chain[rule + 1] = trie.nodes[node + _trie.CHAIN]
                trie.nodes[node + _trie.CHAIN] = rule + 1
            elif best < 0 or self._rules[at + _RANK] > self._rules[RULE * best + _RANK]:
                trie.nodes[node + _trie.PLAIN] = rule + 1
                trie.nodes[node + _trie.RANK] = self._rules[at + _RANK]

    def number_for(self, url: str) -> int:
        """Return the number of the rule that decides about a URL, or `UNMATCHED` or `EXEMPT`.

        Raises:
            TypeError: ``url`` is not a str.
            MemoryError: there was not enough.
        """
        if not isinstance(url, str):
            raise TypeError(f"url must be a str, not {type(url).__name__}")
        held = _memory.utf8(url if type(url) is str else str.__str__(url))
        raw, size = _memory.view(held)
        self.ready()
        number = self.rule_for(raw, size)
        if number == NO_MEMORY:
            raise MemoryError("no memory for the path of a URL")
        return number

    def rule_for(self, url: Bytes, size: int) -> int:
        """Return the number of the rule that decides about a URL.

        Or one of `UNMATCHED`, `EXEMPT` and `NO_MEMORY`.
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
        path = _memory.buffer(3 * (end - start) + 1)
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

    def best_by_scan(self, path: Bytes, start: int, end: int, kinds: int) -> int:
        """Try every rule that would be better than the best so far."""
        rules = self._rules
        kinds_of = self._kinds
        best = UNMATCHED
        best_rank = -1
        for rule in range(self.count):
            if kinds_of and kinds_of[rule] & ~kinds:
                continue
            at = RULE * rule
            if rules[at + _RANK] <= best_rank:
                continue
            size = rules[at + _LITERAL] - rules[at + _START]
            if size > end - start:
                continue
            if not _memory.same(self._text, rules[at + _START], path, start, size):
                continue
            matched = 1
            if rules[at + _FLAGS] > ALLOWS:
                matched = self._rest_matches(at, path, start + size, end)
            if matched < 0:
                return NO_MEMORY
            if matched:
                best = rule
                best_rank = rules[at + _RANK]
        return best

    def best_by_index(self, trie: Trie, path: Bytes, start: int, end: int, kinds: int) -> int:
        """Walk down the trie, and try only the rules that it meets."""
        rules = self._rules
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
                rank = rules[RULE * rule + _RANK]
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
            node = _trie.step(nodes, node, self._text, path, start, end) if start < end else 0
            if node == 0:
                return best
            start += nodes[_trie.NODE * node + _trie.SIZE]

    def _rest_matches(self, at: int, path: Bytes, position: int, end: int) -> int:
        """Tell whether what follows the literal prefix of a rule matches, too.

        Returns 1 or 0, or -1 where there was no memory to find out.
        """
        rules = self._rules
        flags = rules[at + _FLAGS]
        if flags & _WILD:
            return _wildcards.matches(
                self._text, rules[at + _LITERAL], rules[at + _END], flags & _ANCHORED != 0,
                self._links, path, position, end,
            )  # fmt: skip
        if flags & _GLOB:
            return _wildcards.shell_matches(
                self._text, rules[at + _LITERAL], rules[at + _END], path, position, end
            )
        return position == end or not flags & _ANCHORED


def _set_rule(
    rules: Integers, at: int, start: int, end: int, literal: int, flags: int, rank: int, row: int
) -> None:
    rules[at + _START] = start
    rules[at + _END] = end
    rules[at + _LITERAL] = literal
    rules[at + _FLAGS] = flags
    rules[at + _RANK] = rank
    rules[at + _ROW] = row


def _kinds_in(text: Bytes, start: int, end: int) -> int:
    """Return the kinds of bytes that stand there, as bits."""
    kinds = 0
    while start < end:
        kinds |= _BITS[text[start]]
        start += 1
    return kinds


def _is_exempt(url: Bytes, start: int, end: int) -> bool:
    """Tell whether a raw path is exactly /robots.txt, with or without a query."""
    return (
        end - start >= _EXEMPT_SIZE
        and _memory.same(url, start, _EXEMPT_PATH, 0, _EXEMPT_SIZE)
        and (end - start == _EXEMPT_SIZE or url[start + _EXEMPT_SIZE] == _QUERY)
    )


def _is_better(rank: int, rule: int, best_rank: int, best: int) -> bool:
    """Tell whether a rule decides rather than the best one so far, if it matches."""
    return rank > best_rank or (rank == best_rank and rule < best)


def pattern_bytes(pattern: bytes) -> int:
    """Return how long the canonical form of a pattern is: what the longest match counts."""
    out = _memory.buffer(3 * len(pattern) + 1)
    if not out:
        raise MemoryError("no memory for a pattern")
    size = _canonical.write(pattern, 0, len(pattern), _CANONICAL, _WILDCARDS, out, 0)
    _memory.release(out)
    return size

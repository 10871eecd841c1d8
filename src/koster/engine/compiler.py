"""Compiling: adds the rules of groups, in canonical form and ranked, to a table."""

from __future__ import annotations

from ..dialects import Choice, Patterns
from ..model import Directive
from . import canonical as _canonical
from . import matcher as _matcher
from . import memory as _memory
from . import packing as _packing
from . import trie as _trie
from . import wildcards as _wildcards
from .trie import Trie

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .memory import Bytes, Integers
    from .rows import Rows
    from .ruleset import CompiledTable

_ALLOW = Directive.ALLOW.code
_DISALLOW = Directive.DISALLOW.code
_WILDCARDS = int(Patterns.WILDCARDS)
_SHELL = int(Patterns.SHELL)
_FIRST = int(Choice.FIRST)
_LONGEST = int(Choice.LONGEST)

_STAR = 42
_DOLLAR = 36
_SLASH = 47

#: Beyond this weight, it is computed exactly, which takes as long as packing. Up to it, paths of
#: 8 KiB are decided, and most servers accept no longer ones; no real file is beyond it.
_MANY = _matcher.MAX_SEARCHED >> 13
#: The elements of a shell pattern that take as long as a search.
_ELEMENTS = 64

#: The distance between the bands of ranks by line order.
_BAND = 1 << 28

_INDEX_TABLE = b"/index.htm"
INDEX_PAGE = _INDEX_TABLE
INDEX_SIZE = len(_INDEX_TABLE)


def add_groups(
    table: CompiledTable, data: bytes, rows: Rows, groups: Rows, chosen: list[int]
) -> None:
    """Add the rules of the chosen groups, in file order.

    Raises:
        MemoryError: no memory for them.
    """
    count = 0
    size = 0
    rewrite = table.form.rewrite
    others: dict[int, list[tuple[bytes, int]]] = {}
    for group in chosen:
        for row in range(groups.values[2 * group], groups.values[2 * group + 1]):
            if rows.code(row) == _ALLOW or rows.code(row) == _DISALLOW:
                count += 1
                size += rows.end(row) - rows.start(row)
                if rewrite is not None and _is_rewritten(table, data, rows, row):
                    value = data[rows.start(row) : rows.end(row)]
                    patterns = others[row] = list(rewrite(value, rows.code(row) == _ALLOW))
                    count += len(patterns)
                    size += sum([len(pattern) for pattern, _ in patterns])
    if not _make_room(table, count, size):
        raise MemoryError("no memory for the rules of a robots.txt")
    if others:
        _add_mixed(table, data, rows, groups, chosen, others)
    else:
        for group in chosen:
            _add_group(table, data, rows, groups.values[2 * group], groups.values[2 * group + 1])
    if not _finish(table) or (table.weight > _MANY and not _weigh(table)):
        raise MemoryError("no memory for the rules of a robots.txt")


def replace_groups(
    table: CompiledTable,
    data: Bytes,
    rows: Rows,
    groups: Rows,
    chosen: Integers,
    first: int,
    after: int,
) -> bool:
    """Replace the rules with those of the groups ``chosen[first:after]``; for archives.

    The form must have no ``rewrite``, and the table no index. Tells whether there was memory.
    """
    table.count = 0
    table.weight = 0
    table.used = 0
    table.longest_run = 0
    count = 0
    size = 0
    for index in range(first, after):
        group = chosen[index]
        for row in range(groups.values[2 * group], groups.values[2 * group + 1]):
            if rows.code(row) == _ALLOW or rows.code(row) == _DISALLOW:
                count += 1
                size += rows.end(row) - rows.start(row)
    if not _make_room(table, count, size):
        return False
    for index in range(first, after):
        group = chosen[index]
        _add_group(table, data, rows, groups.values[2 * group], groups.values[2 * group + 1])
    return _finish(table)


def _make_room(table: CompiledTable, count: int, size: int) -> bool:
    """Allocate ``count`` rules with ``size`` bytes; tell whether there was memory."""
    more = 2 if table.form.index_pages else 1
    rules = _matcher.RULE * (more * count + 1)
    text = more * (3 * size + count) + 1
    if rules > table.rules_room:
        _memory.release(table.rules)
        table.rules = _memory.integers(rules)
        table.rules_room = rules if table.rules else 0
    if text > table.text_room:
        _memory.release(table.text)
        table.text = _memory.buffer(text)
        table.text_room = text if table.text else 0
    return table.rules_room > 0 and table.text_room > 0


def _finish(table: CompiledTable) -> bool:
    """Complete a table with all its rules; tell whether there was memory."""
    if table.form.unless_allows:
        _set_unmatched(table)
    return table.longest_run <= _wildcards.SHORT or table.link_runs()


def _is_rewritten(table: CompiledTable, data: Bytes, rows: Rows, row: int) -> bool:
    """Tell whether the dialect rewrites a rule's value."""
    start = rows.start(row)
    end = rows.end(row)
    if start == end:
        return table.form.empty_rules == 0
    rewritten: Bytes = table.form.rewritten
    while start < end:
        if rewritten[data[start]]:
            return True
        start += 1
    return False


def _add_mixed(
    table: CompiledTable,
    data: bytes,
    rows: Rows,
    groups: Rows,
    chosen: list[int],
    others: dict[int, list[tuple[bytes, int]]],
) -> None:
    """Add the rules of the chosen groups, those in the rows of ``others`` rewritten."""
    for group in chosen:
        for row in range(groups.values[2 * group], groups.values[2 * group + 1]):
            if row in others:
                for pattern, length in others[row]:
                    size = len(pattern)
                    _add(table, pattern, 0, size, length, rows.code(row) == _ALLOW, row)
            else:
                _add_group(table, data, rows, row, row + 1)


def _add_group(table: CompiledTable, data: Bytes, rows: Rows, first: int, after: int) -> None:
    """Add the rules of one group."""
    for row in range(first, after):
        code = rows.code(row)
        if code in (_ALLOW, _DISALLOW):
            start = rows.start(row)
            end = rows.end(row)
            # An empty Disallow allows, and an empty Allow disallows.
            if start < end or table.form.empty_rules:
                _add(table, data, start, end, -1, (code == _ALLOW) == (start < end), row)


def _add(
    table: CompiledTable, data: Bytes, start: int, end: int, length: int, allow: bool, row: int
) -> None:
    """Add the rule with the pattern ``data[start:end]``; see `_add_pattern`."""
    at = table.used
    stop = _canonical.write(
        data, start, end, table.form.escapes, table.form.patterns, table.text, at
    )
    _add_pattern(table, at, stop, length, allow, row)
    if allow and table.form.index_pages:
        _add_directory(table, at, stop, row)


def _add_directory(table: CompiledTable, at: int, stop: int, row: int) -> None:
    """After ``Allow: …/index.htm…``, written from ``at`` to ``stop``, add ``Allow: …/$``."""
    slash = at
    for place in range(at, stop):
        if table.text[place] == _SLASH:
            slash = place
    if stop - slash >= INDEX_SIZE and _memory.same(table.text, slash, INDEX_PAGE, 0, INDEX_SIZE):
        size = slash + 1 - at
        _memory.copy(table.text, stop, table.text, at, size)
        table.text[stop + size] = _DOLLAR
        _add_pattern(table, stop, stop + size + 1, -1, True, row)


def _add_pattern(
    table: CompiledTable, at: int, stop: int, length: int, allow: bool, row: int
) -> None:
    """Add a rule with the canonical pattern in the text from ``at`` to ``stop``.

    ``length`` is that for its rank; -1: the length of the pattern.
    """
    table.used = stop
    if length < 0:
        length = stop - at
    flags = _matcher.ALLOWS if allow else 0
    literal = stop
    if table.form.patterns == _WILDCARDS:
        if stop > at and table.text[stop - 1] == _DOLLAR:
            flags |= _matcher.ANCHORED
            stop -= 1
        literal = _memory.find(table.text, _STAR, at, stop)
        while stop > literal and table.text[stop - 1] == _STAR:
            # A trailing star matches anything: the star and a "$" after it are redundant.
            flags &= ~_matcher.ANCHORED
            stop -= 1
        if literal < stop:
            flags |= _matcher.WILD | _matcher.SPECIAL
            table.longest_run = max(
                table.longest_run, _wildcards.longest_run(table.text, literal, stop)
            )
    elif table.form.patterns == _SHELL:
        flags |= _matcher.ANCHORED
        literal = at
        while literal < stop and not _wildcards.is_special(table.text[literal]):
            literal += 1
        if literal < stop:
            flags |= _matcher.GLOB
            if not _wildcards.is_explicit(table.text, literal, stop):
                flags |= _matcher.SPECIAL
    rank = _rank(table, length, flags)
    table.weight += _weight(flags, stop - literal)
    _set_rule(table.rules, _matcher.RULE * table.count, at, stop, literal, flags, rank, row)
    table.count += 1


def _weight(flags: int, size: int) -> int:
    """Return the weight of a pattern that has ``size`` bytes after its literal prefix.

    The bytes between stars are searched for one after the other, so that their number does not
    matter. The elements of a shell pattern are compared with every byte: 64 of them take as long as
    one search.
    """
    if flags & _matcher.REPEATED:
        return 0
    if flags & _matcher.GLOB:
        return 1 + size // _ELEMENTS
    return 1 if flags & _matcher.WILD else 0


def _weigh(table: CompiledTable) -> bool:
    """Set the weight of many rules to what one path can need; tell whether there was memory."""
    if not _mark_repeated(table):
        return False
    trie = _packing.trie_of(table)
    sums = _memory.integers(2 * table.count + 1)
    if trie is None or not sums:
        _memory.release(sums)
        return False
    table.weight = 0
    # Each node after its parent: a path is searched for the patterns of the nodes on its way.
    for node in range(trie.used):
        at = _trie.NODE * node
        for slot in range(trie.nodes[at + _trie.SLOTS], trie.nodes[at + _trie.NODE + _trie.SLOTS]):
            place = _matcher.RULE * trie.slots[_matcher.SLOT * slot + 1]
            size = table.rules[place + _matcher.END] - table.rules[place + _matcher.LITERAL]
            sums[node] += _weight(table.rules[place + _matcher.FLAGS], size)
        table.weight = max(table.weight, sums[node])
        first = trie.nodes[at + _trie.CHILD]
        for child in range(first, first + _trie.count_children(trie, node)):
            sums[child] = sums[node]
    _memory.release(sums)
    return True


def _mark_repeated(table: CompiledTable) -> bool:
    """Mark the rules that an earlier one makes superfluous; tell whether there was memory.

    Only those that are searched for: others take no time.
    """
    trie = Trie(table.count)
    if not trie.nodes or not trie.before:
        return False
    for rule in range(table.count):
        at = _matcher.RULE * rule
        flags = table.rules[at + _matcher.FLAGS]
        if flags & (_matcher.WILD | _matcher.GLOB):
            end = table.rules[at + _matcher.END]
            node = trie.insert(table.text, table.rules[at + _matcher.START], end)
            # The rules with one pattern and the same flags are linked, those of a higher rank last.
            other = trie.nodes[_trie.NODE * node + _trie.SLOTS]
            while other and table.rules[_matcher.RULE * (other - 1) + _matcher.FLAGS] != flags:
                other = trie.before[other]
            rank = table.rules[at + _matcher.RANK]
            if other and table.rules[_matcher.RULE * (other - 1) + _matcher.RANK] >= rank:
                table.rules[at + _matcher.FLAGS] = flags | _matcher.REPEATED
            else:
                trie.add_slot(node, rule)
    return True


def _rank(table: CompiledTable, length: int, flags: int) -> int:
    """Return the rank of the next rule; the matching rule with the highest rank decides."""
    if table.form.choice == _LONGEST:
        return 2 * length + (flags & _matcher.ALLOWS)
    earlier = _BAND - 1 - table.count
    if table.form.choice == _FIRST:
        return earlier
    if not flags & _matcher.ALLOWS:
        return earlier + _BAND
    return earlier if flags & _matcher.SPECIAL else earlier + 2 * _BAND


def _set_unmatched(table: CompiledTable) -> None:
    """Set the decision if no rule matches, for `Unmatched.UNLESS_ALLOWS`."""
    allows = 0
    for rule in range(table.count):
        flags = table.rules[_matcher.RULE * rule + _matcher.FLAGS]
        if flags & _matcher.ALLOWS:
            allows += 1
            if flags & _matcher.SPECIAL:
                table.unmatched_allowed = False
                return
    table.unmatched_allowed = allows == 0 or allows < table.count


def _set_rule(
    rules: Integers, at: int, start: int, end: int, literal: int, flags: int, rank: int, row: int
) -> None:
    rules[at + _matcher.START] = start
    rules[at + _matcher.END] = end
    rules[at + _matcher.LITERAL] = literal
    rules[at + _matcher.FLAGS] = flags
    rules[at + _matcher.RANK] = rank
    rules[at + _matcher.ROW] = row

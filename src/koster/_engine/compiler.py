"""Compiling: writes the rules of groups, in canonical form and ranked, into a table."""

from __future__ import annotations

from ..dialects import Choice, Patterns
from ..model import Directive
from . import canonical as _canonical
from . import matcher as _matcher
from . import memory as _memory
from . import no_cython as cython
from . import table as _table
from . import trie as _trie
from . import wildcards as _wildcards

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .memory import Bytes, Integers
    from .rows import Rows
    from .table import Form, Table
elif cython.compiled:
    import cython

_ALLOW = Directive.ALLOW.code
_DISALLOW = Directive.DISALLOW.code
_WILDCARDS = int(Patterns.WILDCARDS)
_SHELL = int(Patterns.SHELL)
_FIRST = int(Choice.FIRST)
_LONGEST = int(Choice.LONGEST)

_STAR = 42
_DOLLAR = 36
_SLASH = 47

#: Beyond this weight, it is computed exactly, which takes as long as an index. Up to it, paths of
#: 8 KiB are decided, and most servers accept no longer ones; no real file is beyond it.
_MANY = _matcher.MAX_SEARCHED >> 13
#: The elements of a shell pattern that take as long as a search.
_ELEMENTS = 64

_NO_MEMORY = "no memory for the rules of a robots.txt"

#: The distance between the bands of ranks by line order.
_BAND = 1 << 28

_INDEX_TABLE = b"/index.htm"
INDEX_PAGE = _INDEX_TABLE
INDEX_SIZE = len(_INDEX_TABLE)


@cython.locals(group="int")
def compiled(form: Form, data: bytes, rows: Rows, groups: Rows, chosen: list[int]) -> Table:
    """Return the table of the rules of the chosen groups, in file order.

    Raises:
        MemoryError: no memory for it.
    """
    count = 0
    size = 0
    rewrite = form.rewrite
    others: dict[int, list[tuple[bytes, int]]] = {}
    for group in chosen:
        for row in range(groups.values[2 * group], groups.values[2 * group + 1]):
            if rows.code(row) == _ALLOW or rows.code(row) == _DISALLOW:
                count += 1
                size += rows.end(row) - rows.start(row)
                if rewrite is not None and _is_rewritten(form, data, rows, row):
                    value = data[rows.start(row) : rows.end(row)]
                    patterns = others[row] = list(rewrite(value, rows.code(row) == _ALLOW))
                    count += len(patterns)
                    size += sum([len(pattern) for pattern, _ in patterns])
    table = _table.new_table(form)
    if not _reserve(table, count, size):
        raise MemoryError(_NO_MEMORY)
    if others:
        _add_mixed(table, data, rows, groups, chosen, others)
    else:
        for group in chosen:
            _add_group(table, data, rows, groups.values[2 * group], groups.values[2 * group + 1])
    _set_unmatched(table)
    if table.weight > _MANY:
        _weigh(table)
    table.shrink()
    return table


def replace_groups(
    table: Table,
    data: Bytes,
    rows: Rows,
    groups: Rows,
    chosen: Integers,
    first: int,
    after: int,
) -> bool:
    """Replace the rules with those of the groups ``chosen[first:after]``; for archives.

    The form must have no ``rewrite``. Tells whether there was memory.
    """
    count = 0
    size = 0
    for index in range(first, after):
        group = chosen[index]
        for row in range(groups.values[2 * group], groups.values[2 * group + 1]):
            if rows.code(row) == _ALLOW or rows.code(row) == _DISALLOW:
                count += 1
                size += rows.end(row) - rows.start(row)
    if not _reserve(table, count, size):
        return False
    for index in range(first, after):
        group = chosen[index]
        _add_group(table, data, rows, groups.values[2 * group], groups.values[2 * group + 1])
    _set_unmatched(table)
    return True


def _reserve(table: Table, count: int, size: int) -> bool:
    """Reserve ``count`` rules with ``size`` bytes; tell whether there was memory."""
    more = 2 if table.form.index_pages else 1
    return table.reserve(more * count, more * (3 * size + count) + 1)


def _is_rewritten(form: Form, data: Bytes, rows: Rows, row: int) -> bool:
    """Tell whether the dialect rewrites a rule's value."""
    start = rows.start(row)
    end = rows.end(row)
    if start == end:
        return form.empty_rules == 0
    rewritten: Bytes = form.rewritten
    while start < end:
        if rewritten[data[start]]:
            return True
        start += 1
    return False


@cython.locals(group="int")
def _add_mixed(
    table: Table,
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


def _add_group(table: Table, data: Bytes, rows: Rows, first: int, after: int) -> None:
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
    table: Table, data: Bytes, start: int, end: int, length: int, allow: bool, row: int
) -> None:
    """Add the rule with the pattern ``data[start:end]``; see `_add_pattern`."""
    at = table.used
    stop = _canonical.write(
        data, start, end, table.form.escapes, table.form.patterns, table.text, at
    )
    _add_pattern(table, at, stop, length, allow, row)
    if allow and table.form.index_pages:
        _add_directory(table, at, stop, row)


def _add_directory(table: Table, at: int, stop: int, row: int) -> None:
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


def _add_pattern(table: Table, at: int, stop: int, length: int, allow: bool, row: int) -> None:
    """Add a rule with the canonical pattern in the text from ``at`` to ``stop``.

    ``length`` is that for its rank; -1: the length of the pattern.
    """
    table.used = stop
    if length < 0:
        length = stop - at
    flags = _table.ALLOWS if allow else 0
    literal = stop
    if table.form.patterns == _WILDCARDS:
        if stop > at and table.text[stop - 1] == _DOLLAR:
            flags |= _table.ANCHORED
            stop -= 1
        literal = _memory.find(table.text, _STAR, at, stop)
        while stop > literal and table.text[stop - 1] == _STAR:
            # A trailing star matches anything: the star and a "$" after it are redundant.
            flags &= ~_table.ANCHORED
            stop -= 1
        if literal < stop:
            flags |= _table.WILD | _table.SPECIAL
    elif table.form.patterns == _SHELL:
        flags |= _table.ANCHORED
        literal = at
        while literal < stop and not _wildcards.is_special(table.text[literal]):
            literal += 1
        if literal < stop:
            flags |= _table.GLOB
            if not _wildcards.is_explicit(table.text, literal, stop):
                flags |= _table.SPECIAL
    rank = _rank(table, length, flags)
    table.weight += _weight(flags, stop - literal)
    table.add(at, stop, literal, flags, rank, row)


def _weight(flags: int, size: int) -> int:
    """Return the weight of a pattern that has ``size`` bytes after its literal prefix.

    The bytes between stars are searched for one after the other, so that their number does not
    matter. The elements of a shell pattern are compared with every byte: 64 of them take as long as
    one search.
    """
    if flags & _table.REPEATED:
        return 0
    if flags & _table.GLOB:
        return 1 + size // _ELEMENTS
    return 1 if flags & _table.WILD else 0


def _weigh(table: Table) -> None:
    """Set the weight of many rules to what one path can need.

    Raises:
        MemoryError: no memory for it.
    """
    _mark_repeated(table)
    trie = table.make_index()
    sums = _memory.integers(trie.end)
    if not sums:
        raise MemoryError(_NO_MEMORY)
    cells = trie.cells
    table.weight = 0
    # Each node after its parent: a path is searched for the patterns of the nodes on its way.
    for node in range(trie.root, trie.end, _trie.NODE):
        for cell in range(cells[node + _trie.FIRST], cells[node + _trie.LAST]):
            rule = cells[cell]
            size = table.get(rule, _table.END) - table.get(rule, _table.LITERAL)
            sums[node] += _weight(table.get(rule, _table.FLAGS), size)
        table.weight = max(table.weight, sums[node])
        child = cells[node + _trie.CHILD]
        for _ in range(cells[node + _trie.CHILDREN]):
            sums[child] = sums[node]
            child += _trie.NODE
    _memory.release(sums)


def _mark_repeated(table: Table) -> None:
    """Mark the rules that an earlier one makes superfluous.

    Only those that are searched for: others take no time.
    """
    ranks: dict[tuple[bytes, int], int] = {}
    for rule in range(table.count):
        flags = table.get(rule, _table.FLAGS)
        if flags & (_table.WILD | _table.GLOB):
            start = table.get(rule, _table.START)
            key = bytes(table.text[start : table.get(rule, _table.END)]), flags
            rank = table.get(rule, _table.RANK)
            if ranks.get(key, -1) >= rank:
                table.rules[_table.RULE * rule + _table.FLAGS] = flags | _table.REPEATED
            else:
                ranks[key] = rank


def _rank(table: Table, length: int, flags: int) -> int:
    """Return the rank of the next rule; the matching rule with the highest rank decides."""
    if table.form.choice == _LONGEST:
        return 2 * length + (flags & _table.ALLOWS)
    earlier = _BAND - 1 - table.count
    if table.form.choice == _FIRST:
        return earlier
    if not flags & _table.ALLOWS:
        return earlier + _BAND
    return earlier if flags & _table.SPECIAL else earlier + 2 * _BAND


def _set_unmatched(table: Table) -> None:
    """Set the decision if no rule matches, for `Unmatched.UNLESS_ALLOWS`."""
    if not table.form.unless_allows:
        table.unmatched_allowed = True
        return
    allows = 0
    for rule in range(table.count):
        flags = table.get(rule, _table.FLAGS)
        if flags & _table.ALLOWS:
            allows += 1
            if flags & _table.SPECIAL:
                table.unmatched_allowed = False
                return
    table.unmatched_allowed = allows == 0 or allows < table.count

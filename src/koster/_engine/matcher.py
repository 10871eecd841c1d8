"""Matching: the last step, from a URL to the rule that decides.

Reads the `Table` of one agent. In every dialect, the matching rule of the highest rank decides, the
first of those. RFC 9309 §2.2.2: the longest match, and Allow on a tie.

`rule_for` and its callees use no Python objects: bytes in, the number of a rule out, so that
many URLs can be decided without the interpreter lock.
"""

from __future__ import annotations

from . import canonical as _canonical
from . import memory as _memory
from . import no_cython as cython
from . import table as _table
from . import trie as _trie
from . import wildcards as _wildcards

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .memory import Bytes
    from .table import Table
    from .trie import Trie
elif cython.compiled:
    import cython

_SLASH = 47
_QUERY = 63

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

_EXEMPT_TABLE = b"/robots.txt"
_EXEMPT_PATH = _EXEMPT_TABLE
_EXEMPT_SIZE = len(_EXEMPT_TABLE)


def allows(table: Table, rule: int) -> bool:
    """Tell whether a result of `find` allows the URL."""
    if rule >= 0:
        return table.get(rule, _table.FLAGS) & _table.ALLOWS != 0
    return rule == EXEMPT or (table.unmatched_allowed and rule != TOO_LONG)


def verdict(url: str, table: Table) -> bool:
    """Tell whether a URL is allowed.

    Raises:
        TypeError: ``url`` is not a str.
        MemoryError: no memory for the path.
    """
    if not table.count and table.unmatched_allowed and type(url) is str:
        # Whatever the URL is: it need not be read.
        return True
    return allows(table, find(url, table))


def find(url: str, table: Table) -> int:
    """Return the number of the rule that decides about a URL, or what `rule_for` returns.

    Raises:
        TypeError: ``url`` is not a str.
        MemoryError: no memory for the path.
    """
    if not isinstance(url, str):
        raise TypeError(f"url must be a str, not {type(url).__name__}")
    encoded = _memory.utf8(url if type(url) is str else str.__str__(url))
    raw, size = _memory.view(encoded)
    number = rule_for(raw, size, table)
    if number == NO_MEMORY:
        raise MemoryError("no memory for the path of a URL")
    return number


def rule_for(url: Bytes, size: int, table: Table) -> int:
    """Return the number of the rule that decides about a URL of ``size`` bytes.

    Without such a rule, returns `UNMATCHED`, `EXEMPT`, `TOO_LONG` or `NO_MEMORY`.
    """
    start, end = _canonical.span(url, size, table.form.url_path)
    if table.form.exempt and _is_exempt(url, start, end):
        return EXEMPT
    if table.count == 0:
        return UNMATCHED
    if _canonical.is_plain(url, start, end, table.form.escapes):
        return _best(table, url, start, end)
    path = room_for(end - start)
    if not path:
        return NO_MEMORY
    end = _canonical.write(url, start, end, table.form.escapes, _canonical.URL, path, 0)
    best = _best(table, path, 0, end)
    _memory.release(path)
    return best


def _best(table: Table, path: Bytes, start: int, end: int) -> int:
    """Return the best rule that matches a canonical path, or `UNMATCHED` or `TOO_LONG`."""
    if table.weight * (end - start) > MAX_SEARCHED:
        return TOO_LONG
    if table.trie is not None:
        return _best_by_trie(table, table.trie, path, start, end)
    return best_by_scan(table, path, start, end)


@cython.locals(missing="unsigned long long")
def best_by_scan(table: Table, path: Bytes, start: int, end: int) -> int:
    """Compare the path with the key of each rule, then with the rules that are left."""
    missing = ~_table.pairs_in(path, start, end)
    best = UNMATCHED
    best_rank = -1
    for rule in range(table.count):
        if table.keys[rule] & missing:
            continue
        rank = table.get(rule, _table.RANK)
        if rank > best_rank:
            matched = _matches(table, rule, path, start, end)
            if matched < 0:
                return NO_MEMORY
            if matched:
                best = rule
                best_rank = rank
    return best


@cython.locals(missing="unsigned long long")
def _best_by_trie(table: Table, trie: Trie, path: Bytes, start: int, end: int) -> int:
    """Walk down the trie, and do the same with the rules on the way."""
    missing = ~_table.pairs_in(path, start, end)
    best = UNMATCHED
    best_rank = -1
    node = trie.root
    while True:
        for cell in range(trie.cells[node + _trie.FIRST], trie.cells[node + _trie.LAST]):
            rule = trie.cells[cell]
            if table.keys[rule] & missing:
                continue
            rank = table.get(rule, _table.RANK)
            if rank > best_rank or (rank == best_rank and rule < best):
                matched = _rest_matches(table, rule, path, start, end)
                if matched < 0:
                    return NO_MEMORY
                if matched:
                    best = rule
                    best_rank = rank
        node = trie.step(node, path, start, end) if start < end else 0
        if node == 0:
            return best
        start += trie.cells[node + _trie.SIZE]


def _matches(table: Table, rule: int, path: Bytes, start: int, end: int) -> int:
    """Tell whether the pattern of a rule matches: 1 or 0, or -1 without memory."""
    prefix = table.get(rule, _table.START)
    size = table.get(rule, _table.LITERAL) - prefix
    if size > end - start or not _memory.same(table.text, prefix, path, start, size):
        return 0
    return _rest_matches(table, rule, path, start + size, end)


def _rest_matches(table: Table, rule: int, path: Bytes, position: int, end: int) -> int:
    """Tell whether the rest of a pattern, after its literal prefix, matches.

    Returns 1 or 0, or -1 without memory.
    """
    flags = table.get(rule, _table.FLAGS)
    if flags <= _table.ALLOWS:
        return 1
    if flags & _table.REPEATED:
        return 0
    at = table.get(rule, _table.LITERAL)
    stop = table.get(rule, _table.END)
    if flags & _table.WILD:
        return _wildcards.matches(
            table.text, at, stop, flags & _table.ANCHORED != 0, path, position, end
        )
    if flags & _table.GLOB:
        return _wildcards.shell_matches(table.text, at, stop, path, position, end)
    return position == end or not flags & _table.ANCHORED


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


def room_for(size: int) -> bytearray:
    """Allocate room for the canonical form of a path or pattern of ``size`` bytes."""
    return _memory.buffer(3 * size + 1)

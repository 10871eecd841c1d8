"""The index of a large table: a trie over the literal prefixes of its patterns.

A decision walks down along the path and meets only rules whose literal prefix matches, so its cost
depends on the length of the path, not on the number of rules.
"""

from __future__ import annotations

from . import memory as _memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .memory import Bytes, Integers

#: A node is eight integers: where its label starts in ``text``, the size of the label and its first
#: byte; its first child, the number of its children, which are adjacent and sorted by their first
#: bytes, and the lowest of these bytes; and where the numbers of the rules start and end whose
#: prefix ends there.
NODE = 8
LABEL, SIZE, BYTE, CHILD, CHILDREN, LOWEST, FIRST, LAST = range(NODE)


class Trie:
    """A trie over byte strings; it does not change.

    ``cells`` are integers: the numbers of the rules, sorted by their prefixes, then the nodes, from
    the ``root`` to the ``end``, each after its parent. A node is known by where it starts.
    """

    def __init__(self, prefixes: list[bytes], ranks: list[int]) -> None:
        """Take the prefix of each rule, and its rank, or -1 if more than the prefix must match.

        Raises:
            MemoryError: no memory for it.
        """
        order = _in_order(prefixes, ranks)
        found = [prefixes[rule] for rule in order]
        self.labels = b"".join(found)
        self.text = self.labels
        count = len(order)
        self.root = count
        self.end = count + NODE
        self.cells: Integers = _memory.integers(count + NODE * (2 * count + 1))
        starts = _memory.integers(count + 1)
        if not self.cells or not starts:
            _memory.release(starts)
            raise MemoryError("no memory for an index of rules")
        for at in range(count):
            self.cells[at] = order[at]
            starts[at + 1] = starts[at] + len(found[at])
        self.cells[self.root + CHILDREN] = count
        node = self.root
        while node < self.end:
            self._add_children(node, starts)
            node += NODE
        _memory.release(starts)

    def __dealloc__(self) -> None:
        _memory.release(self.cells)

    def allocated(self) -> int:
        """Return its size in memory, in bytes."""
        return 4 * self.end + len(self.labels)

    def _add_children(self, node: int, starts: Integers) -> None:
        """Complete a node, and add its children.

        Until then, CHILD and CHILDREN say which of the sorted prefixes begin with the labels from
        the root to this node, and FIRST the size of these labels. ``starts`` is where prefixes are.
        """
        cells = self.cells
        text = self.text
        low = cells[node + CHILD]
        high = cells[node + CHILDREN]
        depth = cells[node + FIRST]
        cells[node + FIRST] = low
        while low < high and starts[low + 1] - starts[low] == depth:
            low += 1
        cells[node + LAST] = low
        cells[node + CHILD] = self.end
        cells[node + CHILDREN] = 0
        cells[node + LOWEST] = text[starts[low] + depth] if low < high else 0
        while low < high:
            start = starts[low] + depth
            after = low + 1
            while after < high and text[starts[after] + depth] == text[start]:
                after += 1
            # What the first and the last have in common, all have: they are sorted.
            last = starts[after - 1] + depth
            size = 1
            while (
                start + size < starts[low + 1]
                and last + size < starts[after]
                and text[start + size] == text[last + size]
            ):
                size += 1
            child = self.end
            self.end += NODE
            cells[child + LABEL] = start
            cells[child + SIZE] = size
            cells[child + BYTE] = text[start]
            cells[child + CHILD] = low
            cells[child + CHILDREN] = after
            cells[child + FIRST] = depth + size
            cells[node + CHILDREN] += 1
            low = after

    def step(self, node: int, path: Bytes, position: int, stop: int) -> int:
        """Return the child whose whole label the path has at ``position``, or 0."""
        cells = self.cells
        low = 0
        high = cells[node + CHILDREN]
        # Children of all digits or letters in a row are found at once.
        middle = path[position] - cells[node + LOWEST]
        while low < high:
            if middle < low or middle >= high:
                middle = (low + high) >> 1
            child = cells[node + CHILD] + NODE * middle
            if cells[child + BYTE] == path[position]:
                size = cells[child + SIZE]
                if size == 1:
                    return child
                label = cells[child + LABEL]
                if size <= stop - position and _memory.same(self.text, label, path, position, size):
                    return child
                return 0
            if cells[child + BYTE] < path[position]:
                low = middle + 1
            else:
                high = middle
            middle = -1
        return 0


def _in_order(prefixes: list[bytes], ranks: list[int]) -> list[int]:
    """Return the numbers of the rules, sorted by their prefixes.

    Of those that match whatever follows the same prefix, only the one that decides.
    """
    best: dict[bytes, int] = {}
    for rule, prefix in enumerate(prefixes):
        if ranks[rule] > ranks[best.setdefault(prefix, rule)]:
            best[prefix] = rule
    order = sorted(range(len(prefixes)), key=prefixes.__getitem__)
    return [rule for rule in order if ranks[rule] < 0 or best[prefixes[rule]] == rule]

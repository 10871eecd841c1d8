"""The index of a large rule set: a trie over the literal prefixes of its patterns.

A decision walks down along the path and visits only rules whose literal prefix matches, so its cost
depends on the length of the path, not on the number of rules. A node has the best of the plain
patterns that end there, and slots for those that need further matching from there.

A node is eight integers: the rank of its plain rule, where its label starts in ``labels`` (in the
text of the patterns until it is arranged), the size of the label, its first child, the number of
its children (adjacent, sorted by their first bytes), the best plain rule that ends there (from 1,
0 for none), its first slot, and the first byte of its label. Its slots end where those of the next
node start. When it is arranged, the number of its children has `HAS_SLOTS` added and the first byte
of the first child above it, and the byte has the next two above it. The rank, this bit and the
bytes are redundant: each saves a large trie a cache miss (``make bench``, growth).
"""

from __future__ import annotations

from . import memory as _memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .memory import Bytes, Integers

#: Integers in a node.
NODE = 8
RANK, LABEL, SIZE, CHILD, CHILDREN, PLAIN, SLOTS, BYTE = range(NODE)

#: Added to the number of children, of which there are at most 256. Above it is the first byte of
#: the first child.
HAS_SLOTS = 512
_CHILDREN = HAS_SLOTS - 1
_FIRST_SHIFT = 10
#: The bytes of a label that a node has itself, and one of them.
_BYTES = 3
_BYTE = 255

#: While the trie grows, children are linked: the first in CHILD, the next one here. So are the
#: rules with slots: the last one in SLOTS, the one before each in ``before``; from 1, 0 for none.
_SIBLING = CHILDREN


class Trie:
    """Grows by `insert` and `add_slot`; after `arrange`, `step` walks in it.

    After `arrange`, ``slots`` has two integers for each of the ``count`` rules with a slot: room,
    and the number of the rule.
    """

    def __init__(self, rules: int) -> None:
        """Allocate nodes for this many rules: at most two for each."""
        self.used = 1
        self.count = 0
        self.nodes = _memory.integers(NODE * (2 * rules + 1))
        self.before = _memory.integers(rules + 1)
        self.room = _memory.no_buffer()
        self.slots = _memory.no_longs()
        self.labels = _memory.no_buffer()
        self.label_bytes = 0

    def __dealloc__(self) -> None:
        _memory.release(self.nodes)
        _memory.release(self.before)
        _memory.release(self.room)
        _memory.release(self.labels)

    def allocated(self) -> int:
        """Return its size in bytes, after `arrange`."""
        return 4 * NODE * (self.used + 1) + 16 * self.count + self.label_bytes

    def insert(self, text: Bytes, start: int, end: int) -> int:
        """Return the node for ``text[start:end]``; make it if it is missing."""
        nodes = self.nodes
        node = 0
        while start < end:
            child = _find_child(nodes, node, text[start])
            if child == 0:
                return self._append(node, start, end, text[start])
            size = nodes[NODE * child + SIZE]
            common = _common_prefix(text, nodes[NODE * child + LABEL], size, start, end)
            start += common
            if common < size:
                self._split(child, common, text)
            node = child
        return node

    def _append(self, parent: int, start: int, end: int, byte: int) -> int:
        """Add a child to ``parent``, with the label from ``start`` to ``end``."""
        nodes = self.nodes
        new = self.used
        self.used += 1
        nodes[NODE * new + LABEL] = start
        nodes[NODE * new + SIZE] = end - start
        nodes[NODE * new + BYTE] = byte
        nodes[NODE * new + _SIBLING] = nodes[NODE * parent + CHILD]
        nodes[NODE * parent + CHILD] = new
        return new

    def _split(self, node: int, common: int, text: Bytes) -> None:
        """Move the rest of a node's label, after ``common`` bytes, to a new child."""
        nodes = self.nodes
        new = self.used
        self.used += 1
        nodes[NODE * new + LABEL] = nodes[NODE * node + LABEL] + common
        nodes[NODE * new + SIZE] = nodes[NODE * node + SIZE] - common
        nodes[NODE * new + CHILD] = nodes[NODE * node + CHILD]
        nodes[NODE * new + PLAIN] = nodes[NODE * node + PLAIN]
        nodes[NODE * new + RANK] = nodes[NODE * node + RANK]
        nodes[NODE * new + BYTE] = text[nodes[NODE * new + LABEL]]
        nodes[NODE * new + SLOTS] = nodes[NODE * node + SLOTS]
        nodes[NODE * node + SIZE] = common
        nodes[NODE * node + CHILD] = new
        nodes[NODE * node + PLAIN] = 0
        nodes[NODE * node + SLOTS] = 0

    def add_plain(self, node: int, rule: int, rank: int) -> None:
        """Add a rule that ends at a node, unless another one with its rank or a higher one does."""
        if not self.nodes[NODE * node + PLAIN] or rank > self.nodes[NODE * node + RANK]:
            self.nodes[NODE * node + PLAIN] = rule + 1
            self.nodes[NODE * node + RANK] = rank

    def add_slot(self, node: int, rule: int) -> None:
        """Add a rule that needs further matching from a node."""
        self.before[rule + 1] = self.nodes[NODE * node + SLOTS]
        self.nodes[NODE * node + SLOTS] = rule + 1
        self.count += 1

    def arrange(self, text: Bytes) -> bool:
        """Store the nodes level by level, with adjacent and sorted children, and one for the end.

        Their labels and slots are in the same order. Tells whether there was memory.
        """
        for node in range(self.used):
            self.label_bytes += self.nodes[NODE * node + SIZE]
        order = _memory.integers(self.used)
        out = _memory.integers(NODE * (self.used + 1))
        self.room = _memory.buffer(16 * self.count + 1)
        self.labels = _memory.buffer(self.label_bytes + 1)
        if not order or not out or not self.room or not self.labels:
            _memory.release(order)
            _memory.release(out)
            return False
        _arrange(self.nodes, self.used, order, out)
        _memory.release(order)
        _memory.release(self.nodes)
        self.nodes = out
        at = 0
        for node in range(self.used):
            size = out[NODE * node + SIZE]
            label = out[NODE * node + LABEL]
            _memory.copy(self.labels, at, text, label, size)
            out[NODE * node + LABEL] = at
            at += size
            if size > 1:
                out[NODE * node + BYTE] |= text[label + 1] << 8
            if size > 2:
                out[NODE * node + BYTE] |= text[label + 2] << 16
        self._number_slots()
        return True

    def _number_slots(self) -> None:
        """Replace the linked rules of each node by slots."""
        self.slots = _memory.longs_in(self.room, 0, 2 * self.count)
        first = 0
        for node in range(self.used + 1):
            last = self.nodes[NODE * node + SLOTS]
            self.nodes[NODE * node + SLOTS] = first
            rule = last
            if rule:
                self.nodes[NODE * node + CHILDREN] += HAS_SLOTS
            while rule:
                first += 1
                rule = self.before[rule]
            slot = first
            while last:
                slot -= 1
                self.slots[2 * slot + 1] = last - 1
                last = self.before[last]
        self.before = _memory.released(self.before)


def _find_child(nodes: Integers, node: int, byte: int) -> int:
    """Return the child whose label starts with a byte, or 0."""
    child = nodes[NODE * node + CHILD]
    while child > 0 and nodes[NODE * child + BYTE] != byte:
        child = nodes[NODE * child + _SIBLING]
    return child


def _common_prefix(text: Bytes, label: int, size: int, start: int, end: int) -> int:
    """Return the size of the common prefix of a label and ``text[start:end]``."""
    limit = min(size, end - start)
    common = 0
    while common < limit and text[label + common] == text[start + common]:
        common += 1
    return common


def _arrange(nodes: Integers, count: int, order: Integers, out: Integers) -> None:
    """Write the nodes to ``out``; ``order`` is room for ``count`` integers, all 0: the root."""
    filled = 1
    for at in range(count):
        node = order[at]
        first = filled
        child = nodes[NODE * node + CHILD]
        while child > 0:
            _insert_sorted(nodes, child, order, first, filled)
            filled += 1
            child = nodes[NODE * child + _SIBLING]
        for part in range(NODE):
            out[NODE * at + part] = nodes[NODE * node + part]
        out[NODE * at + CHILD] = first
        out[NODE * at + CHILDREN] = filled - first
        if filled > first:
            out[NODE * at + CHILDREN] |= nodes[NODE * order[first] + BYTE] << _FIRST_SHIFT


def _insert_sorted(nodes: Integers, child: int, order: Integers, first: int, at: int) -> None:
    """Insert a child into its sorted siblings from ``first`` to ``at``."""
    byte = nodes[NODE * child + BYTE]
    while at > first and nodes[NODE * order[at - 1] + BYTE] > byte:
        order[at] = order[at - 1]
        at -= 1
    order[at] = child


def count_children(trie: Trie, node: int) -> int:
    """Return the number of the children of a node, after `Trie.arrange`."""
    return trie.nodes[NODE * node + CHILDREN] & _CHILDREN


def step(trie: Trie, node: int, path: Bytes, position: int, stop: int) -> int:
    """Return the child whose whole label matches the path at ``position``, or 0."""
    nodes = trie.nodes
    low = nodes[NODE * node + CHILD]
    children = nodes[NODE * node + CHILDREN]
    high = low + (children & _CHILDREN)
    byte = path[position]
    if low == high:
        return 0
    # Children of all digits or letters in a row need no search.
    middle = low + byte - (children >> _FIRST_SHIFT)
    if middle < low or middle >= high or nodes[NODE * middle + BYTE] & _BYTE != byte:
        middle = _search(nodes, low, high, byte)
        if middle == 0:
            return 0
    return middle if _fits(trie, middle, path, position, stop) else 0


def _fits(trie: Trie, node: int, path: Bytes, position: int, stop: int) -> bool:
    """Tell whether a path that has the first byte of a node's label has all of it."""
    nodes = trie.nodes
    size = nodes[NODE * node + SIZE]
    if size == 1:
        return True
    if size > stop - position:
        return False
    more = nodes[NODE * node + BYTE] >> 8
    if more & _BYTE != path[position + 1] or (size > 2 and more >> 8 != path[position + 2]):
        return False
    label = nodes[NODE * node + LABEL] + _BYTES
    return size <= _BYTES or _memory.same(
        trie.labels, label, path, position + _BYTES, size - _BYTES
    )


def _search(nodes: Integers, low: int, high: int, byte: int) -> int:
    """Return the node from ``low`` to ``high`` whose label starts with a byte, or 0."""
    while low < high:
        middle = (low + high) >> 1
        other = nodes[NODE * middle + BYTE] & _BYTE
        if other < byte:
            low = middle + 1
        elif other > byte:
            high = middle
        else:
            return middle
    return 0

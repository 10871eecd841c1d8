"""Entries that match the same paths: which of them covers another, or decides without some.

Compiled, because `koster.lint` asks this several times for each rule of a file.
"""

from __future__ import annotations

import itertools
from collections import Counter

from ._entries import BY_ORDER, ROOT, SHELL, STAR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ._entries import Entry
    from ._index import Keys

#: Bytes of the parts of patterns by which they are found; longer ones first if there are many.
_PART = 3
_LONG_PART = 6
_MANY = 1_000
#: Entries whose parts are counted.
_MAX_COUNTED = 20_000

#: The last place of the table that tells whether parts begin with three bytes.
_LAST_PLACE = (1 << 14) - 1

#: Texts whose candidates are kept, as most texts are asked for twice, and the most candidates.
_MAX_KEPT = 4_096
_MAX_KEPT_CANDIDATES = 64


class Parts:
    """Entries with stars by the rarest part that all matching texts have, the others by key.

    Nearly all entries with stars may begin with the same key, ``/``.
    """

    def __init__(self, entries: Sequence[Entry], keys_of: Callable[[list[Entry]], Keys]) -> None:
        sizes = (_LONG_PART, _PART) if len(entries) > _MANY else (_PART,)
        # How often each part is there: of large files, only in some of the entries.
        step = 1 + len(entries) // _MAX_COUNTED
        sample = [_parts_of(each, sizes) for each in entries[::step]]
        count_of = Counter(itertools.chain.from_iterable(sample)).get
        #: The last entry of each part; each has the one before, for the reason of `Overlaps`.
        self._by_part: dict[bytes, Entry] = {}
        self._weight = 0
        by_part = self._by_part
        others: list[Entry] = []
        for number, entry in enumerate(entries):
            parts = sample[number] if step == 1 else _parts_of(entry, sizes)
            if not parts:
                others.append(entry)
                continue
            rarest, least = b"", -1
            for part in parts:
                count = count_of(part, 0)
                if least < 0 or count < least:
                    rarest, least = part, count
                    if not count:
                        break
            before = by_part.get(rarest)
            by_part[rarest] = entry
            entry.same_part = before
            entry.weight_of_part = entry.weight + (0 if before is None else before.weight_of_part)
            self._weight = max(self._weight, entry.weight_of_part)
        self._sizes = [*{*map(len, by_part)}]
        #: Whether parts begin with three bytes, by `_place`.
        self._starts = bytearray(_LAST_PLACE + 1)
        for part in by_part:
            self._starts[_place(part, 0)] = 1
        self._others = keys_of(others)
        self._kept: dict[tuple[bytes, bytes], list[Entry]] = {}

    def weight(self, key: bytes) -> int:
        """Return the maximum weight of the candidates for a text that has one of the parts."""
        return self._weight + self._others.weight(key)

    def candidates(self, key: bytes, text: bytes) -> list[Entry]:
        """Return the entries that may match a text with this key, in their order."""
        found = self._kept.get((key, text))
        if found is None:
            found = self._candidates(key, text)
            if len(found) > 1:
                found.sort(key=BY_ORDER)
            if len(found) <= _MAX_KEPT_CANDIDATES and len(self._kept) < _MAX_KEPT:
                self._kept[key, text] = found
        return found

    def _candidates(self, key: bytes, text: bytes) -> list[Entry]:
        found = self._others.prefixing(key)
        for part in self._parts_in(text):
            each: Entry | None = self._by_part[part]
            while each is not None:
                found.append(each)
                each = each.same_part
        return found

    def _parts_in(self, text: bytes) -> set[bytes]:
        """Return the parts of a text by which entries are found."""
        data = text
        starts = self._starts
        found: set[bytes] = set()
        for at in range(len(text) - _PART + 1):
            if starts[_place(data, at)]:
                for size in self._sizes:
                    part = text[at : at + size]
                    if part in self._by_part:
                        found.add(part)
        return found


def _place(data: bytes, at: int) -> int:
    """Return the place of three bytes in a table; few others have the same."""
    return (data[at] ^ data[at + 1] << 3 ^ data[at + 2] << 6) & _LAST_PLACE


def _parts_of(entry: Entry, sizes: Sequence[int]) -> list[bytes]:
    """Return the parts that all texts have that an entry matches, after its literal prefix.

    They are of the first size that its runs have.
    """
    if not entry.rest or entry.kind == SHELL:
        return []
    for size in sizes:
        parts = []
        for run in entry.rest.split(STAR):
            if len(run) >= size:
                # Side by side: the ones between overlap with two of these.
                parts += [run[at : at + size] for at in range(0, len(run) - size, size)]
                parts.append(run[-size:])
        if parts:
            return parts
    return []


class Overlaps:
    """The entries of some rules, by what they match.

    No list where only one has it, as nearly all do: the garbage collector would look at all lists
    each time that it runs.
    """

    def __init__(self, entries: list[Entry], keys_of: Callable[[list[Entry]], Keys]) -> None:
        self._entries = entries
        self._last = len(entries) - 1
        self._keys_of = keys_of
        self._parts: Parts | None = None
        #: The first entry by the paths that it matches, and the other ones if there are any.
        self.first: dict[object, Entry] = {}
        self.later: dict[object, list[Entry]] = {}
        for entry in entries:
            paths = entry.paths
            if self.first.setdefault(paths, entry) is not entry:
                self.later.setdefault(paths, []).append(entry)
        #: The orders of the entries that do not count any more.
        self.removed: set[int] = set()
        #: By paths: how many entries at the start of those in ``later`` are removed.
        self._passed: dict[object, int] = {}

    def remove(self, orders: set[int]) -> None:
        """Do as if there were no entries with these orders."""
        self.removed.update(orders)

    def restore(self) -> None:
        """Let all entries count again."""
        self.removed.clear()
        self._passed.clear()

    def parts(self) -> Parts:
        """Return the first entries with their paths, by their parts."""
        if self._parts is None:
            self._parts = Parts([*self.first.values()], self._keys_of)
        return self._parts

    def deciding_without(self, path: bytes, gone: set[int]) -> int:
        """Return the order of the entry that decides a path without some entries.

        With all, one of ``gone`` decides it, unless others are removed.
        """
        # None matches that comes before the one that decides.
        first = 0 if self.removed else min(gone, default=0)
        best = self._last
        for each in self.parts().candidates(path, path):
            # The others come later, and so do those that are alike.
            if each.order >= best:
                break
            if each.order >= first and each.matches(path):
                best = min(best, self._first_left(each, gone))
        return best

    def covered_by(self, entry: Entry, gone: set[int]) -> int:
        """Return the order of the first entry that surely matches everything that one matches.

        Without those that are ``gone``. It is at least that of the last entry.
        """
        best = self._last
        number = 0
        while True:
            each = self._coverer(entry, number)
            if each is None:
                return best
            best = min(best, self._first_left(each, gone))
            # The others come later, and so do those that are alike.
            if best <= each.order:
                return best
            number += 1

    def _coverer(self, entry: Entry, number: int) -> Entry | None:
        """Return one of the entries that surely cover another; mostly, the first is enough."""
        found = entry.covered_by
        if found is None:
            found = entry.covered_by = []
            entry.uncompared = self.may_cover(entry)
        while number >= len(found):
            if entry.compared == len(entry.uncompared):
                return None
            other = entry.uncompared[entry.compared]
            entry.compared += 1
            if other.covers(entry):
                found.append(other)
        return found[number]

    def may_cover(self, entry: Entry) -> list[Entry]:
        """Return the first of alike entries that may match all that one matches, in order."""
        return self.parts().candidates(entry.key or ROOT, entry.text)

    def first_alike(self, entry: Entry) -> int:
        """Return the order of the first entry that matches the same paths as one of other rules.

        That of the last entry if there is no other.
        """
        found = self.first.get(entry.paths)
        return self._last if found is None else found.order

    def opposed(
        self, entry: Entry, others: list[Entry], last: int, is_one_reading: bool
    ) -> list[Entry]:
        """Return those of some entries of another set with the opposite verdict.

        Up to an order, and those for which no entry before ``entry`` surely matches the same paths.
        """
        found = []
        for other in others:
            if other.allow != entry.allow and other.order <= last:
                is_alike = is_one_reading or other.is_read_alike()
                if not is_alike or entry.order <= self.first_alike(other):
                    found.append(other)
        return found

    def next_open(
        self, entry: Entry, others: list[Entry], at: int, covered_by: int, gone: set[int]
    ) -> int:
        """Return the place of the next of some other entries that one may cover up, or -1.

        From a place on. Without those before ``entry``, and those that another entry before them
        covers, or ``covered_by``, which covers ``entry``. Also of one that was never compared.
        """
        for place in range(at, len(others)):
            other = others[place]
            if other.order < entry.order or other.order > covered_by:
                continue
            if other.order not in self.removed and (
                other.covered_by is None or self.covered_by(other, gone) >= other.order
            ):
                return place
        return -1

    def left_before(self, entries: list[Entry], order: int, gone: set[int]) -> list[Entry]:
        """Return those of some entries that are left, and come before an order."""
        found = []
        for entry in entries:
            own = entry.order
            if own < order and own not in gone and own not in self.removed:
                found.append(entry)
        return found

    def _first_left(self, entry: Entry, gone: set[int]) -> int:
        """Return the order of the first entry that is left of those that are alike."""
        removed = self.removed
        if entry.order not in gone and entry.order not in removed:
            return entry.order
        paths = entry.paths
        later = self.later.get(paths)
        if later is None:
            return self._last
        # Thousands may be alike, and removed.
        number = self._passed.get(paths, 0)
        while number < len(later) and later[number].order in removed:
            number += 1
        self._passed[paths] = number
        while number < len(later):
            order = later[number].order
            if order not in gone and order not in removed:
                return order
            number += 1
        return self._last

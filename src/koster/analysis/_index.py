"""The index of the patterns of a rule set: which of them can match the same path.

Two patterns can do that only if the key of one begins with that of the other, because all that a
pattern matches begins with its key. And a pattern with stars matches only paths that have all of
its parts; so it is found by the rarest one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence

from ._patterns import BY_ORDER, Pattern
from ._search import Budget

#: Bytes of a part, unless the run is shorter.
_PART = 6
#: What a look takes at least, and gets in a step: patterns or bytes, and patterns that touch.
_LEAST_STEPS = 3
_LOOKUPS_PER_STEP = 64
_TOUCHING_PER_STEP = 8


class Index:
    """Patterns by their keys, and those with stars by a part."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._by_key = _Keys(patterns)
        self._plain = _Keys(each for each in patterns if not each.needle)
        parts = {each: _parts(each.needle) for each in patterns if each.needle}
        count = Counter(part for some in parts.values() for part in some)
        self._of_part: dict[bytes, list[Pattern]] = {}
        for each, some in parts.items():
            self._of_part.setdefault(min(some, key=count.__getitem__), []).append(each)
        self._sizes = set(map(len, self._of_part))

    def candidates(self, key: bytes, text: bytes, budget: Budget) -> list[Pattern]:
        """Return the patterns that may match a text, which begins with ``key``, in their order."""
        found = self._plain.prefixing(key)
        for size in self._sizes:
            parts = {text[at : at + size] for at in range(len(text) - size + 1)}
            for part in self._of_part.keys() & parts:
                found += self._of_part[part]
        looked_at = len(found) + len(text) * len(self._sizes)
        budget.spend(_LEAST_STEPS + looked_at // _LOOKUPS_PER_STEP)
        found.sort(key=BY_ORDER)
        return found

    def touching(self, key: bytes, budget: Budget) -> list[Pattern]:
        """Return the patterns that may match a path that a pattern with a key matches."""
        found = [*self._by_key.prefixing(key), *self._by_key.longer(key)]
        budget.spend(_LEAST_STEPS + len(found) // _TOUCHING_PER_STEP)
        return found


def _parts(run: bytes) -> list[bytes]:
    """Return parts of a run, side by side: those between overlap with two of them."""
    size = min(len(run), _PART)
    return [*(run[at : at + size] for at in range(0, len(run) - size, size)), run[-size:]]


class _Keys:
    """Patterns by their sorted keys."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._of_key: dict[bytes, list[Pattern]] = {}
        for each in patterns:
            self._of_key.setdefault(each.key, []).append(each)
        self._keys = sorted(self._of_key)
        #: The place of the longest other key that is a prefix of each key, or -1.
        self._parents: list[int] = []
        above: list[int] = []
        for place, key in enumerate(self._keys):
            while above and not key.startswith(self._keys[above[-1]]):
                above.pop()
            self._parents.append(above[-1] if above else -1)
            above.append(place)

    def prefixing(self, key: bytes) -> list[Pattern]:
        """Return the patterns whose key is a prefix of one, or equal."""
        keys, parents = self._keys, self._parents
        place = bisect_right(keys, key) - 1
        while place >= 0 and not key.startswith(keys[place]):
            place = parents[place]
        found: list[Pattern] = []
        while place >= 0:
            found += self._of_key[keys[place]]
            place = parents[place]
        return found

    def longer(self, key: bytes) -> list[Pattern]:
        """Return the patterns whose key begins with one, and is longer."""
        keys = self._keys
        place = bisect_right(keys, key)
        found: list[Pattern] = []
        while place < len(keys) and keys[place].startswith(key):
            found += self._of_key[keys[place]]
            place += 1
        return found

"""Questions about two rule sets: which URLs they decide differently, and by which rules."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ..dialects import RobotsTxtPath
from ..robots import parse, selection_of
from ._alphabet import AS_IT_STANDS, alphabet, path_of, plainest, with_host
from ._ranked import ITSELF, Ranked, url_of, url_that_begins
from ._search import Budget, BudgetSpentError, Search

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..dialects import Dialect
    from ..model import Decision
    from ..robots import RobotsTxt, Rules
    from ._alphabet import Alphabet
    from ._ranked import Entry

#: Pairs that are tried with likely URLs once the budget is spent.
_TRIED = 200

#: Bytes of a pattern that one character of a URL may match.
_MOST_BYTES = 4

#: What stands in a URL in one way only, in every reading.
_ONE_WAY = re.compile(rb"/[A-Za-z0-9._~/-]*")


@dataclass(frozen=True, slots=True)
class Difference:
    """A URL that two rule sets decide differently: a shortest one for this pair of rules."""

    url: str
    before: Decision
    after: Decision

    @property
    def is_opened(self) -> bool:
        """Whether the URL may be fetched now and could not before."""
        return self.after.allowed


@dataclass(frozen=True, slots=True)
class Differences:
    """All pairs of rules that decide some URL differently. None, and proved: the sets are equal."""

    found: tuple[Difference, ...]
    is_proved: bool = True

    @property
    def are_equal(self) -> bool:
        """Whether it is proved that every URL is decided alike."""
        return self.is_proved and not self.found


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What a dialect reads differently, for one robot."""

    agent: str
    dialect: Dialect
    differences: Differences


def difference(before: Rules, after: Rules, budget: Budget | None = None) -> Differences:
    """Return what two rule sets decide differently, with a shortest URL for each pair of rules.

    Rules that are read in different ways are compared on the URLs that clients send: see
    `koster.analysis`.

    >>> import koster
    >>> old = koster.parse("User-agent: *\\nDisallow: /a").rules_for("x")
    >>> new = koster.parse("User-agent: *\\nDisallow: /a/").rules_for("x")
    >>> [(each.url, each.is_opened) for each in difference(old, new).found]
    [('/a', True)]
    """
    budget = budget or Budget()
    pairs = _Pairs(before, after, budget)
    urls: dict[tuple[int, int], str] = {}
    is_proved = True
    try:
        for old, new in pairs.differing():
            try:
                url = pairs.witness(old, new) or ""
            except BudgetSpentError:
                is_proved = False
                url = pairs.sample(old, new) or ""
            rows = old.row, new.row
            if url and (rows not in urls or len(url) < len(urls[rows])):
                urls[rows] = url
    except BudgetSpentError:
        is_proved = False
    found = []
    witnesses = sorted(urls.values(), key=_by_size)
    for witness in witnesses:
        decided = Difference(witness, before.decide(witness), after.decide(witness))
        if decided.before.allowed == decided.after.allowed:
            # The engine has the last word.
            is_proved = False
        else:
            found.append(decided)
    return Differences(tuple(found), is_proved)


def disagreements(
    robots: RobotsTxt,
    dialects: Iterable[Dialect],
    agents: Iterable[str],
    budget: Budget | None = None,
) -> tuple[Disagreement, ...]:
    """Return where dialects read a file otherwise than its own dialect does, for some robots.

    Only those are named that differ, or of which it is not proved that they do not.
    """
    readings = [parse(robots.body, dialect) for dialect in dialects]
    budget = budget or Budget()
    found = []
    for agent in agents:
        for other in readings:
            differences = difference(robots.rules_for(agent), other.rules_for(agent), budget)
            if not differences.are_equal:
                found.append(Disagreement(agent, other.dialect, differences))
    return tuple(found)


class _Pairs:
    """Two rule sets, and the pairs of their entries."""

    def __init__(self, before: Rules, after: Rules, budget: Budget) -> None:
        readings = [selection_of(rules).reading() for rules in (before, after)]
        self._is_one = readings[0] == readings[1]
        is_exempt = any(reading.robots_txt == RobotsTxtPath.ALWAYS_ALLOWED for reading in readings)
        exempts = is_exempt and not self._is_one
        self.old = Ranked(before, unescaped=not self._is_one, exempts=exempts)
        self.new = Ranked(after, unescaped=not self._is_one, exempts=exempts)
        #: How many pairs were tried with likely URLs alone.
        self._tried = 0
        self._budget = budget

    @cached_property
    def letters(self) -> Alphabet:
        """What URLs are made of, as far as these rules can tell."""
        entries = [*self.old.entries, *self.new.entries]
        readings = [self.old.reading] if self._is_one else [self.old.reading, self.new.reading]
        return alphabet(
            readings,
            [entry.literal + entry.rest for entry in entries],
            [table for entry in entries for table in entry.tables()],
            [
                entry.literal + entry.rest
                for ranked in (self.old, self.new)
                for entry in ranked.entries
                if ranked.reading.escapes in AS_IT_STANDS
            ],
        )

    def differing(self) -> Iterator[tuple[Entry, Entry]]:
        """Go through the pairs that say the opposite and may decide the same URL."""
        old, new = self.old, self.new
        if self._is_one and [*map(_saying, old.entries)] == [*map(_saying, new.entries)]:
            return
        common = self._common()
        for entry in self._that_decide(old, old.entries):
            if _form(entry) not in common:
                for other in self._that_decide(new, new.meeting(old.key_of(entry))):
                    if other.allow != entry.allow:
                        yield entry, other
        for entry in self._that_decide(new, new.entries):
            if _form(entry) not in common:
                for other in self._that_decide(old, old.meeting(new.key_of(entry))):
                    if other.allow != entry.allow and _form(other) in common:
                        yield other, entry

    def _that_decide(self, ranked: Ranked, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Go through entries without those that plainly decide nothing.

        And without those of /robots.txt, on which readings are not compared.
        """
        for entry in entries:
            if entry.is_overshadowed is None:
                self._budget.compare(1 + ranked.crowd // 4)
            if (self._is_one or entry.row != ITSELF) and not ranked.is_overshadowed(entry):
                yield entry

    def _common(self) -> set[object]:
        """Return what both sets have, if the same then counts for more in both.

        Of two entries that both sets have one is always the better one, so that they cannot
        decide a URL differently.
        """
        if not (self.old.is_longest_first and self.new.is_longest_first):
            return set()
        ours = {_form(entry): entry for entry in self.old.entries}
        return {
            form
            for form in map(_form, self.new.entries)
            if form in ours and (self._is_one or ours[form].means_the_same())
        }

    def witness(self, old: Entry, new: Entry) -> str | None:
        """Return a shortest URL that one entry decides before and the other after, or None.

        Raises:
            BudgetSpentError: nobody knows.
        """
        self._budget.compare(max(old.weight, new.weight))
        return self._of_one_reading(old, new) if self._is_one else self._of_two(old, new)

    def _of_one_reading(self, old: Entry, new: Entry) -> str | None:
        prefix = max(old.literal, new.literal, key=len)
        if not prefix.startswith(min(old.literal, new.literal, key=len)):
            return None
        prefix = prefix or b"/"
        begin = url_that_begins(prefix, self.old.reading)
        if begin is None:
            return None
        if not (old.rest and new.rest):
            path = prefix + (old.rest or new.rest).replace(b"*", b"")
            url = with_host(plainest(url_of(path, self.old.reading), self.old.reading))
            if len(path) == max(old.shortest, new.shortest, 1) and self._decide(url, old, new):
                return url
        self._check_size(old, new)
        outside = [*self.old.before(old, prefix), *self.new.before(new, prefix)]
        self._budget.compare((1 + len(outside)) * max(old.weight, new.weight))
        if any(each.covers(old) or each.covers(new) for each in outside):
            return None
        search = Search(
            self.letters,
            [(old.automaton, 0), (new.automaton, 0)],
            [(entry.automaton, 0) for entry in _different(outside)],
        )
        found = search.shortest(begin, [prefix], self._budget)
        return None if found is None else with_host(plainest(found, self.old.reading))

    def _decide(self, url: str, old: Entry, new: Entry) -> bool:
        """Tell whether two entries decide a URL."""
        return self.old.deciding(url) is old and self.new.deciding(url) is new

    def _of_two(self, old: Entry, new: Entry) -> str | None:
        self._check_size(old, new)
        before = self.old.before(old, self.new.key_of(new))
        after = self.new.before(new, self.old.key_of(old))
        self._budget.compare((1 + len(before) + len(after)) * max(old.weight, new.weight))
        if any(each.covers(old) or each.covers_everywhere(new) for each in before):
            return None
        if any(each.covers(new) or each.covers_everywhere(old) for each in after):
            return None
        begins = [_ONE_WAY.match(entry.literal) for entry in (old, new)]
        begin = max((match[0] if match else b"/" for match in begins), key=len)
        url = begin.decode("ascii")
        prefixes = [path_of(ranked.reading, url) for ranked in (self.old, self.new)]
        search = Search(
            self.letters,
            [(old.automaton, 0), (new.automaton, 1)],
            [
                *((entry.automaton, 0) for entry in before),
                *((entry.automaton, 1) for entry in after),
            ],
        )
        found = search.shortest(url, prefixes, self._budget)
        return None if found is None else with_host(found)

    def _check_size(self, old: Entry, new: Entry) -> None:
        """See that a URL that both match is not too long to be found.

        Raises:
            BudgetSpentError: it is.
        """
        self._budget.check(max(old.shortest, new.shortest) // _MOST_BYTES)

    def sample(self, old: Entry, new: Entry) -> str | None:
        """Return a URL that the two entries decide, if a likely one is.

        Raises:
            BudgetSpentError: that was tried often enough.
        """
        self._tried += 1
        if self._tried > _TRIED:
            raise BudgetSpentError
        is_old = len(old.literal) >= len(new.literal)
        longer, other = (old, new) if is_old else (new, old)
        reading = self.old.reading if is_old else self.new.reading
        for filling in (b"", b"xy"):
            rests = (longer.rest + other.rest).replace(b"*", filling)
            path = (longer.literal or b"/") + rests
            url = with_host(url_of(path, reading))
            if path.startswith(b"/") and self._decide(url, old, new):
                return url
        return None


def _by_size(url: str) -> tuple[int, str]:
    return len(url), url


def _saying(entry: Entry) -> object:
    """Return what an entry says, and whether it is a rule."""
    return entry.form, min(entry.row, 0)


def _form(entry: Entry) -> object:
    """Return what an entry says, and for how much it counts."""
    return entry.form, min(entry.row, 0), entry.rank


def _different(entries: Sequence[Entry]) -> list[Entry]:
    """Return entries without those that match the same as others."""
    found = {(each.literal, each.rest, each.kind, each.is_anchored): each for each in entries}
    return list(found.values())

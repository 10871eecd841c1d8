"""Pairs of rules of two rule sets: which of them decide a URL differently."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from .._asking import decision_by, selection_of
from .._lazy import cached_property
from ..dialects import RobotsTxtPath
from ._alike import count_rules
from ._alphabet import alphabet, likeness_of
from ._entries import ROBOTS_TXT_ROW, ROOT, SHELL, Entry, distinct, without_alike
from ._ranked import USUAL_BYTES, Ranked
from ._search import Budget, BudgetSpentError, Search, visit_cost
from ._urls import (
    ANY_URL,
    UNAMBIGUOUS,
    checks_on,
    comparison_path,
    decodes_escapes,
    simplify_url,
    url_beginning_with,
    url_of,
    with_host_if_ambiguous,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..model import Decision
    from ..robots import Rules
    from ._alphabet import Alphabet
    from ._rankings import Rankings
    from ._urls import Likeness

#: The form and the precedence of an entry. Ranks of entries that are no rules are negative.
_ranked_content: Callable[[Entry], object] = attrgetter(
    "literal", "rest", "kind", "is_anchored", "allow", "rank"
)

#: Pairs checked with likely URLs once the budget is spent.
_MAX_SAMPLES = 200
#: Rules that these checks may look at together, each of them perhaps at all rules.
_MAX_SAMPLED_RULES = 2_000_000
#: What a pair takes at least, whatever is found.
_COMPARISONS_PER_PAIR = 16
#: Bytes of a pattern whose spellings are found in the time of one comparison.
_BYTES_PER_COMPARISON = 4
#: What a search takes at least, before its first state.
_COMPARISONS_PER_SEARCH = 48
#: Rules that the decisions about the URLs that were found may look at together.
_MAX_DECIDED_RULES = 100_000_000
#: Pairs checked, and URLs decided, whatever the number of rules. But not if they are very long.
_MIN_SAMPLES = 20
_MAX_SAMPLED_CHECKS = 100
#: Pairs checked of a rule that is given up.
_MAX_SAMPLES_OF_RULE = 4

#: Rules of both sets up to which characters are compared alike if URLs allow it: of more, few
#: pairs are searched, and their entries take long to make again.
_MAX_RULES_READ_ALIKE = 100_000

#: Maximum bytes of a pattern that one character of a URL can match.
_MAX_BYTES_PER_CHARACTER = 4

#: Pairs of entries that are left out in the time of one comparison.
_PAIRS_PER_COMPARISON = 8


def urls_of_pairs(pairs: Pairs, *, once: bool) -> tuple[list[str], bool]:
    """Return a shortest URL for each pair of rules that decide one differently.

    And whether it is proved that these are all pairs. With ``once``, the URL of only one pair of a
    rule of the first set, and of those of the second set that decide where no other rule does.
    """
    urls: dict[tuple[int, int], str] = {}
    rules: set[int] = set()
    is_proved = True
    try:
        for old, new in pairs.differing():
            rule = old.row if old.is_rule else new.row
            if once and rule in rules:
                continue
            try:
                url = pairs.witness(old, new) or ""
            except BudgetSpentError:
                is_proved = False
                if once:
                    pairs.give_up(old, new)
                url = pairs.sample(old, new) or ""
            rows = old.row, new.row
            if url:
                rules.add(rule)
                urls[rows] = min(urls.get(rows, url), url, key=len)
    except BudgetSpentError:
        is_proved = False
    return [*urls.values()], is_proved


class Pairs:
    """Two rule sets, and the pairs of their entries."""

    def __init__(self, before: Rules, after: Rules, budget: Budget, rankings: Rankings) -> None:
        readings = [selection_of(rules).reading() for rules in (before, after)]
        self._rules = before, after
        self._is_one_reading = readings[0] == readings[1]
        self._decodes = [*map(decodes_escapes, readings)]
        #: Of the entries of two readings.
        self._likeness: Likeness | None = None
        if not self._is_one_reading:
            is_small = sum(map(count_rules, self._rules)) <= _MAX_RULES_READ_ALIKE
            written = [rankings.written(rules) for rules in self._rules] if is_small else []
            self._likeness = likeness_of(readings, written) if is_small else ANY_URL
        exempts = any(reading.robots_txt == RobotsTxtPath.ALWAYS_ALLOWED for reading in readings)
        self.old = rankings.of(before, likeness=self._likeness, exempts=exempts)
        self.new = Ranked(after, likeness=self._likeness, exempts=exempts)
        #: How many more pairs may be checked with likely URLs.
        weight = sum([entry.weight for entry in self.old.entries])
        self._samples_left = max(min(_MAX_SAMPLES, _MAX_SAMPLED_RULES // weight), _MIN_SAMPLES)
        self._budget = budget
        #: How often each rule was passed to `give_up`, by row.
        self._given_up: dict[int, int] = {}

    @cached_property
    def letters(self) -> Alphabet:
        both = (self.old, self.new)
        written = [ranked.written for ranked in both]
        if self._likeness is None:
            return alphabet([self.old.reading], written)
        return alphabet([ranked.reading for ranked in both], written, self._likeness)

    def decidable(self, urls: list[str]) -> list[str]:
        """Return the first of some URLs: as many as may be decided, some of them by all rules."""
        most = max(1, self.old.most_checked, self.new.most_checked)
        left = _MAX_DECIDED_RULES
        for place, url in enumerate(urls):
            checks = checks_on(url.encode("utf-8", "replace"))
            left -= most * checks
            if left < 0 and (place >= _MIN_SAMPLES or checks > _MAX_SAMPLED_CHECKS):
                return urls[:place]
        return urls

    def differing(self) -> Iterator[tuple[Entry, Entry]]:
        """Yield the pairs with opposite verdicts that may decide the same URL."""
        old, new = self.old, self.new
        if self._is_one_reading and _are_alike(old.entries, new.entries):
            return
        if not (old.is_longest_first and new.is_longest_first):
            yield from self._opposites(old, old.firsts, new)
            return
        contents = [{_ranked_content(each): each for each in some.firsts} for some in (old, new)]
        common = self._common_entries(*contents)
        yield from self._opposites(old, _not_in(common, contents[0]), new)
        theirs = _not_in(common, contents[1])
        for entry, other in self._opposites(new, theirs, old):
            if _ranked_content(other) in common:
                yield other, entry

    def _opposites(
        self, ranked: Ranked, entries: Iterable[Entry], others: Ranked
    ) -> Iterator[tuple[Entry, Entry]]:
        """Yield some entries of one set with those of the other that may decide the opposite."""
        for entry, last in self._undecided(entries, others):
            opposed = self._opposed(ranked, entry, others, last)
            if opposed and not self._is_covered(ranked, entry):
                # Shorter patterns first: their URLs are shorter, and likely.
                for other in sorted(opposed, key=_size):
                    if not self._is_covered(others, other):
                        yield entry, other

    def _undecided(self, entries: Iterable[Entry], others: Ranked) -> Iterator[tuple[Entry, int]]:
        """Yield entries but those with whose paths the same entry of the other set is the first.

        Whatever they match is decided alike in both. Each with what `_first_alike` returns.
        """
        theirs = others.entries
        for entry in entries:
            first = self._first_alike(others, entry)
            if theirs[first].allow != entry.allow or not others.decides_all(first):
                yield entry, first

    def _opposed(self, ranked: Ranked, entry: Entry, others: Ranked, last: int) -> list[Entry]:
        """Return the entries of the other set with the opposite verdict that may match the same.

        Excludes pairs of which one entry surely matches the same paths as one that comes before
        the other entry: ``last`` is the order of the first one like ``entry``.
        """
        may_match = others.first_that_may_match(entry.key)
        self._budget.compare(len(may_match) // _PAIRS_PER_COMPARISON)
        return ranked.overlaps.opposed(entry, may_match, last, self._is_one_reading)

    def _first_alike(self, ranked: Ranked, entry: Entry) -> int:
        """Return the order of the first entry that surely matches the same as one of the other set.

        It is that of ``no_rule_entry`` if there is no other.
        """
        if self._is_one_reading or entry.is_read_alike():
            return ranked.overlaps.first_alike(entry)
        return ranked.no_rule_entry.order

    def _is_covered(self, ranked: Ranked, entry: Entry) -> bool:
        """Return whether an entry is covered by another one.

        Also if it is one of /robots.txt and readings differ: they are not compared on it.
        """
        if entry.covered_by is None:
            self._budget.compare(1 + ranked.weight_of_candidates(entry) // 4)
        is_exempt = entry.row == ROBOTS_TXT_ROW and not self._is_one_reading
        return is_exempt or ranked.is_covered(entry)

    def _common_entries(
        self, before: dict[object, Entry], after: dict[object, Entry]
    ) -> set[object]:
        """Return the entries of both sets, which have the same precedence in both.

        Two such entries cannot decide a URL differently, because the same one takes precedence.
        """
        if self._is_one_reading:
            return before.keys() & after.keys()
        is_alike = (
            Entry.is_read_alike_with_wildcards
            if self._decodes[0] == self._decodes[1]
            else Entry.is_read_alike
        )
        return {content for content in after if content in before and is_alike(before[content])}

    def witness(self, old: Entry, new: Entry) -> str | None:
        """Return a shortest URL that one entry decides before and the other after, or None.

        Raises:
            BudgetSpentError: not decided within the budget.
        """
        self._budget.compare(_COMPARISONS_PER_PAIR + max(old.weight, new.weight))
        return (
            self._witness_in_one_reading(old, new)
            if self._is_one_reading
            else self._witness_in_two_readings(old, new)
        )

    def _witness_in_one_reading(self, old: Entry, new: Entry) -> str | None:
        prefix = max(old.literal, new.literal, key=len) or b"/"
        begin = url_beginning_with(prefix, self.old.reading)
        if begin is None:
            return None
        if old.is_exact or new.is_exact:
            url = with_host_if_ambiguous(simplify_url(begin, self.old.reading))
            return url if self._decide(url, old, new) else None
        if not (old.rest and new.rest):
            self._spend_decisions(max(old, new, key=_literal_size))
            path = prefix + (old.rest or new.rest).replace(b"*", b"")
            url = with_host_if_ambiguous(
                simplify_url(url_of(path, self.old.reading), self.old.reading)
            )
            if len(path) == max(old.min_bytes, new.min_bytes, 1) and self._decide(url, old, new):
                return url
        self._check_search(old, new)
        self._spend_candidates(old, new)
        if self.old.is_covered_above(new, old) or self.new.is_covered_above(old, new):
            return None
        outside = [*self.old.ranked_above(old, prefix), *self.new.ranked_above(new, prefix)]
        self._budget.compare(1 + len(outside))
        outside = distinct(outside)
        self._begin_search(old, new, 2 + len(outside))
        search = Search(
            self.letters,
            [[old.automaton, new.automaton]],
            [[entry.automaton for entry in outside]],
        )
        found = search.shortest(begin, [prefix], self._budget)
        return (
            None if found is None else with_host_if_ambiguous(simplify_url(found, self.old.reading))
        )

    def _decide(self, url: str, old: Entry, new: Entry) -> bool:
        before, after = self._entries_for(url)
        return before is old and after is new

    def _entries_for(self, url: str) -> tuple[Entry, Entry]:
        """Return the entries that decide a URL before and after."""
        before, after = self.old, self.new
        return before.entry_of(before.number_for(url)), after.entry_of(after.number_for(url))

    def decide(self, url: str) -> tuple[Decision, Decision]:
        """Return both decisions about a URL."""
        before, after = self._rules
        return (
            decision_by(before, url, self.old.number_for(url)),
            decision_by(after, url, self.new.number_for(url)),
        )

    def _spend_decisions(self, entry: Entry, urls: int = 1) -> None:
        """Count the comparisons that decide some URLs of an entry in both sets.

        Raises:
            BudgetSpentError: the limit is exceeded.
        """
        cost = self.old.cost_of_deciding(entry) + self.new.cost_of_deciding(entry)
        self._budget.compare(urls * cost)

    def _witness_in_two_readings(self, old: Entry, new: Entry) -> str | None:
        is_decided, url = self._witness_as_spelt(old, new)
        if is_decided:
            return url
        self._check_search(old, new)
        self._spend_candidates(old, new)
        if self.old.is_covered_everywhere_above(new, new.key, old):
            return None
        if self.new.is_covered_everywhere_above(old, old.key, new):
            return None
        # The key of "no rule" is empty: alone, it would leave all entries.
        key = max(old.key, new.key, key=len)
        least = self.old.least_ranked_above(old, key)
        least = max(least, self.new.least_ranked_above(new, key))
        self._budget.begin(2 + least)
        before = self.old.ranked_above(old, key)
        after = self.new.ranked_above(new, key)
        self._budget.compare(1 + (len(before) + len(after)) // _PAIRS_PER_COMPARISON)
        # Those that are in both are left out below.
        self._budget.begin(2 + max(len(before), len(after)))
        self._budget.compare(1 + len(before) + len(after))
        begins = [UNAMBIGUOUS.match(entry.literal) for entry in (old, new)]
        begin = max((match[0] if match else b"/" for match in begins), key=len)
        url = begin.decode("ascii")
        prefixes = [comparison_path(ranked.reading, url) for ranked in (self.old, self.new)]
        # Most patterns are in both sets, and match the same URLs: or more if escapes are decoded.
        if self._decodes[1]:
            before = without_alike(before, after)
        else:
            after = without_alike(after, before)
        self._begin_search(old, new, 2 + len(before) + len(after))
        search = Search(
            self.letters,
            [[old.automaton], [new.automaton]],
            [[entry.automaton for entry in entries] for entries in (before, after)],
        )
        found = search.shortest(url, prefixes, self._budget)
        return None if found is None else with_host_if_ambiguous(found)

    def _begin_search(self, old: Entry, new: Entry, patterns: int) -> None:
        """Begin a search, and count what it takes to prepare it.

        Raises:
            BudgetSpentError: a limit is exceeded, or would be before a URL is found.
        """
        self._budget.begin(patterns)
        steps = max(_min_steps(old), _min_steps(new))
        self._budget.check(steps * visit_cost(patterns, 0))
        self._budget.compare(_COMPARISONS_PER_SEARCH)

    def _witness_as_spelt(self, old: Entry, new: Entry) -> tuple[bool, str | None]:
        """Return what `witness` does, from the texts of URLs of the longer entry, if it is plain.

        And first whether they tell. A search takes far longer than the decisions about them.
        What decides a text mostly matches whatever begins with it, so nothing below decides that.
        """
        longer, number = (old, 0) if len(old.literal) >= len(new.literal) else (new, 1)
        begin = UNAMBIGUOUS.match(longer.literal or ROOT)
        if longer.rest or begin is None:
            return False, None
        text = begin[0]
        rest = longer.literal[len(text) :]
        self._budget.compare(len(rest) // _BYTES_PER_COMPARISON)
        spellings = self.letters.spellings(number, rest) if rest else [""]
        if spellings is None:
            return False, None
        self._spend_decisions(longer, len(spellings))
        for spelt in spellings:
            url = with_host_if_ambiguous(text.decode("ascii") + spelt)
            before, after = self._entries_for(url)
            if before is old and after is new:
                return True, url
            if not (
                longer.is_exact or _decides_instead(before, old) or _decides_instead(after, new)
            ):
                return False, None
        return True, None

    def _spend_candidates(self, old: Entry, new: Entry) -> None:
        """Count the comparisons that show whether other entries cover one of two.

        Raises:
            BudgetSpentError: the limit is exceeded.
        """
        weight = self.old.weight_of_candidates(new) + self.new.weight_of_candidates(old)
        self._budget.compare(1 + weight // 4)

    def give_up(self, old: Entry, new: Entry) -> None:
        """Search no more for what the rule decides whose pattern is the harder one.

        A search for two entries was over the budget: one with another entry would be, too. After
        some pairs, `sample` does not look for its URLs either.
        """
        harder = max(old, new, key=_rest_size)
        if harder.rest:
            self._given_up[harder.row] = self._given_up.get(harder.row, 0) + 1

    def _check_search(self, old: Entry, new: Entry) -> None:
        """Check that the length of a matching URL is within the budget, and no rule was given up.

        Raises:
            BudgetSpentError: it is not, or one was.
        """
        if old.row in self._given_up or new.row in self._given_up:
            raise BudgetSpentError
        self._budget.check(max(old.min_bytes, new.min_bytes) // _MAX_BYTES_PER_CHARACTER)

    def sample(self, old: Entry, new: Entry) -> str | None:
        """Return a likely URL that the two entries decide, or None.

        Raises:
            BudgetSpentError: the maximum number of samples is reached.
        """
        harder = max(old, new, key=_rest_size)
        if self._given_up.get(harder.row, 0) > _MAX_SAMPLES_OF_RULE:
            return None
        self._samples_left -= 1 + max(len(old.text), len(new.text)) // USUAL_BYTES
        if self._samples_left < 0:
            raise BudgetSpentError
        is_old = len(old.literal) >= len(new.literal)
        longer, other = (old, new) if is_old else (new, old)
        reading = self.old.reading if is_old else self.new.reading
        for filling in (b"", b"xy"):
            rests = (longer.rest + other.rest).replace(b"*", filling)
            path = (longer.literal or b"/") + rests
            url = with_host_if_ambiguous(url_of(path, reading))
            if path.startswith(b"/") and self._decide(url, old, new):
                return url
        return None


def _size(entry: Entry) -> int:
    return len(entry.text)


def _decides_instead(deciding: Entry, entry: Entry) -> bool:
    """Return whether what decides a URL comes before an entry for all that begin with it."""
    return deciding.order < entry.order and deciding.matches_longer


def _min_steps(entry: Entry) -> int:
    """Return how many states a search visits at least from the literal prefix of an entry on."""
    if entry.kind == SHELL:
        return 0
    # An escape is one step.
    return entry.min_bytes - len(entry.literal) - 2 * entry.rest.count(b"%")


def _rest_size(entry: Entry) -> int:
    return len(entry.rest)


def _literal_size(entry: Entry) -> int:
    return len(entry.literal)


def _are_alike(before: list[Entry], after: list[Entry]) -> bool:
    """Return whether entries of one reading are alike, one by one."""
    return len(before) == len(after) and all(
        old.form == new.form and old.is_rule == new.is_rule
        for old, new in zip(before, after, strict=True)
    )


def _not_in(common: set[object], entries: dict[object, Entry]) -> Iterator[Entry]:
    """Return the entries whose content is not common."""
    return (entry for content, entry in entries.items() if content not in common)

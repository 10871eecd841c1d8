"""The names of crawlers in files: which agents stand for all of them, and what selecting takes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence

from .._asking import file_of
from ..dialects import Names
from ..model import SPACE
from ..robots import RobotsTxt

_TOKEN = re.compile(r"[A-Za-z0-9._-]+")
_LETTERS = re.compile(r"[A-Za-z_-]*")

#: Maximum number of comparisons of names, and the cost of one with a header, and of a rule.
_MAX_NAME_COMPARISONS = 50_000_000
_HEADER_COST = 20
_RULE_COST = 20
#: A header counts again for each so many characters.
_CHARACTERS_PER_COMPARISON = 64

#: Maximum number of names for which all pairs are checked.
_MAX_PAIRED_NAMES = 200

#: The agent for all crawlers that no file names.
EVERYBODY = "*"


def names_in(*files: RobotsTxt) -> list[list[str]]:
    """Return ``*``, and agents that select each group of some files by any of its names.

    The agents in one list select the same groups, so the first one represents them all.

    The name in a file may not select its own group: a crawler is called FooBot, never
    ``FooBot/1.0``, ``FooBot*`` or (for Google) AI2Bot. So the product token represents it. A name
    of several words is also represented by its first word, which selects all groups with that word.
    """
    spellings = {EVERYBODY: EVERYBODY}
    # Names have the same number if they are in the same parts of groups. A name gets another one
    # with each part, by the number that it had: so this takes as long for any number of parts.
    numbers: dict[str, int] = {}
    next_numbers: dict[tuple[int, int], int] = {}
    #: The last part by number.
    last_parts = [0]
    part = 0
    for robots in files:
        agents_for = _AGENTS_FOR_NAME.get(robots.dialect.names, _agents_for_older_name)
        last = (-1, -1)
        for group, part_of_group, agent in file_of(robots).named_parts():
            if part_of_group != last[1] or group != last[0]:
                part += 1
                last = (group, part_of_group)
            for name in agents_for(agent):
                if name and name != EVERYBODY:
                    lower = name.lower()
                    number = numbers.get(lower, 0)
                    if not number:
                        spellings[lower] = name
                    if last_parts[number] != part:
                        number = next_numbers.setdefault((number, part), len(last_parts))
                        if number == len(last_parts):
                            last_parts.append(part)
                        numbers[lower] = number
    exact = all(robots.dialect.names in _AGENTS_FOR_NAME for robots in files)
    agents_by_groups: dict[object, list[str]] = {}
    for lower, name in spellings.items():
        is_plain = exact and lower != EVERYBODY and _TOKEN.fullmatch(name)
        agents_by_groups.setdefault(numbers[lower] if is_plain else name, []).append(name)
    return list(agents_by_groups.values())


def first_of(named: list[list[str]], *files: RobotsTxt) -> list[list[str]]:
    """Return the first of some agents of files: as many as can be checked in seconds.

    Selecting groups takes longer for files with many names, and for agents that are headers.
    """
    selecting = Selecting(*files)
    for number, (name, *_) in enumerate(named):
        if not selecting.allows(name):
            return named[: number + 1]
    return named


class Selecting:
    """Counts what selecting the rules of some agents takes, as comparisons of names."""

    def __init__(self, *files: RobotsTxt) -> None:
        self._agents = sum(file_of(robots).count_agents() for robots in files)
        are_indexed = all(robots.dialect.names in _AGENTS_FOR_NAME for robots in files)
        #: Without an index, each line is looked at for each agent.
        self._lines = 0 if are_indexed else sum(map(count_line_ends, files))
        self._left = _MAX_NAME_COMPARISONS

    def allows(self, agent: str) -> bool:
        """Count one more agent; return whether all of them take seconds."""
        self._left -= self.cost(agent)
        return self._left >= 0

    def cost(self, agent: str) -> int:
        """Return what selecting the rules of an agent takes."""
        cost = 1
        if self._lines or not _TOKEN.fullmatch(agent):
            cost = _HEADER_COST * (1 + len(agent) // _CHARACTERS_PER_COMPARISON)
        return self._agents * cost + self._lines

    def takes(self, cost: int) -> bool:
        """Count a cost if it is left; return whether it was."""
        is_left = cost <= self._left
        self._left -= cost if is_left else 0
        return is_left

    def count(self, rules: int) -> None:
        """Count the rules of an agent."""
        self._left -= rules * _RULE_COST


def count_line_ends(robots: RobotsTxt) -> int:
    """Return about how many lines a file has: one that ends with CR LF counts twice."""
    return robots.body.count(b"\n") + robots.body.count(b"\r")


def paired_names(named: list[list[str]], *files: RobotsTxt) -> Iterator[str]:
    """Yield agents that contain the names of two groups each, from the result of `names_in`.

    If names match as substrings and the first matching group applies, an agent may select one group
    in one file and another group in the next; two names are enough to detect that. `rule_sets` of a
    single file needs no pairs, because one name selects each group.
    """
    if any(robots.dialect.names == Names.SUBSTRING for robots in files):
        names = [name for name, *_ in named if name != EVERYBODY]
        for one, other in itertools.combinations(names[:_MAX_PAIRED_NAMES], 2):
            yield f"{one} {other}"


def letters_of(name: str) -> str:
    """Return the part of a name that Google's parser reads.

    >>> letters_of("AI2Bot")
    'AI'
    """
    found = _LETTERS.match(name)
    return found[0] if found else ""


def _agents_for_token(agent: str) -> Sequence[str]:
    """Return the agents that a name in a file may stand for, if it stands for a product token."""
    if _TOKEN.fullmatch(agent):
        return (agent,)
    name = _without_version(agent)
    return (name,) if _TOKEN.fullmatch(name) else _distinct(agent, name, *name.split()[:1])


def _agents_for_letters(agent: str) -> Sequence[str]:
    """Return them if the name is cut: Google compares the rest with the crawler's full name."""
    return (letters_of(agent),)


def _agents_for_older_name(agent: str) -> Sequence[str]:
    """Return them in older standards, which search for the name as written, also in a header."""
    return _distinct(agent, _without_version(agent))


def _without_version(agent: str) -> str:
    return agent.partition("/")[0].rstrip("*" + SPACE)


def _distinct(*names: str) -> Sequence[str]:
    return tuple(dict.fromkeys(names))


#: By how names are found: in these ways, each name stands for the same groups in every file.
_AGENTS_FOR_NAME: dict[Names, Callable[[str], Sequence[str]]] = {
    Names.PRODUCT_TOKEN: _agents_for_token,
    Names.LETTERS: _agents_for_letters,
}

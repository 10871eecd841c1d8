"""One question, for all that `koster.analysis` proves: a shortest URL that some patterns match.

    a shortest URL that these patterns match (``inside``), and those do not (``outside``)

**Letters.** Patterns cannot tell most characters apart. The *alphabet* of some patterns has one
letter for each class of tokens (characters and escapes) whose bytes all of them treat alike, named
after the simplest token of the class. Dialects compare the same URL as different bytes, so a letter
has one row of bytes for each reading: all readings of a question walk over the same URL. `urls`
goes from a URL to the bytes that a reading compares, and back.

**Automata.** A pattern is an automaton over bytes: its state is how much of the pattern is matched.
It has a state in which it can match no more (`NEVER`), and one in which it has matched for good.

**Product.** The search begins with the states of all automata at the start of a path, and goes on
letter by letter, to all combinations of states that can be reached:

    path  ``/``                  ``/a``                ``/ab``
    inside   /a*b    at 1 ──a──▶  at 2      ──b──▶      at 3: matches
    outside  /*ab$   at 1 ──a──▶  at 2      ──b──▶      at 3: matches only if this is the end
                        ──x──▶    NEVER: leave this branch out, /a*b cannot match

Short URLs come first, so the first that is found is a shortest one. There are finitely many
combinations: if none is left, no such URL exists, and that is the proof. There may be many; so each
search takes its steps from a `Budget`, and raises `BudgetSpentError` if that is spent.
"""

from __future__ import annotations

from .alphabet import alphabet
from .automata import Shell, Starred
from .budget import Budget, BudgetSpentError
from .product import Search

__all__ = ["Budget", "BudgetSpentError", "Search", "Shell", "Starred", "alphabet"]

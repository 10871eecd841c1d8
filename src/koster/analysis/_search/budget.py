"""The budget of a question: steps, after which its answer is *not proved*."""

from __future__ import annotations

#: A search may take this share of a budget, so that a hard one leaves some for the others.
_SHARE_OF_SEARCH = 50
#: What a search takes before its first state.
_STEPS_TO_BEGIN = 40
#: A search that can visit fewer states is not begun.
_LEAST_STATES = 4


class BudgetSpentError(Exception):
    """A question takes more steps than its budget has."""


class Budget:
    """Limits the work, after which a result is *not proved*.

    A step is a look at a rule, or the move of a pattern by a letter: about a microsecond. The
    default is some seconds of work. Functions use up the budget that they are passed, so several
    calls can share one.
    """

    def __init__(self, steps: int = 2_000_000) -> None:
        self._left = steps
        #: The maximum number of steps of one search.
        self.most_per_search = steps // _SHARE_OF_SEARCH

    @property
    def is_spent(self) -> bool:
        """Whether more was asked for than there was."""
        return self._left < 0

    def spend(self, steps: int) -> None:
        """Count some steps.

        Raises:
            BudgetSpentError: there are not as many left.
        """
        self._left -= steps
        if self._left < 0:
            raise BudgetSpentError

    def begin_search(self, patterns: int) -> None:
        """Count what a search with a number of patterns takes before its first state."""
        self.spend(_STEPS_TO_BEGIN + patterns)
        if patterns * _LEAST_STATES > self.most_per_search:
            raise BudgetSpentError

"""The entries of all rules of a file, made once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._asking import selection_of
from ._alphabet import written_in
from ._plain import plain_texts
from ._ranked import Ranked, exempts_robots_txt
from ._urls import ANY_URL

if TYPE_CHECKING:
    from ..robots import Rules
    from ._alphabet import Written
    from ._urls import Likeness


class Rankings:
    """Makes the entries of the rules of one file, once for each: they know what was found out.

    ``equal`` are pairs of rule sets with one reading, before and after a change, that were proved
    to decide all URLs alike; by the lines of their groups.
    """

    def __init__(self) -> None:
        self._made: dict[object, Ranked] = {}
        self._texts: dict[object, set[bytes] | None] = {}
        self._written: dict[object, Written] = {}
        self.equal: dict[object, list[tuple[Rules, Rules]]] = {}

    def with_next(self, rules: Rules) -> Ranked:
        """Return the entries of some rules, also those that decide without another rule."""
        exempts = exempts_robots_txt(selection_of(rules))
        key = rules.dialect, rules.group_lines, None, exempts
        made = self._made.get(key)
        if made is None or (made.left_out and not made.keeps_next):
            made = self._made[key] = Ranked(rules, keeps_next=True)
        return made

    def of(
        self, rules: Rules, *, likeness: Likeness | None = None, exempts: bool = False
    ) -> Ranked:
        """Return at least the entries that may decide; see `Ranked` for the arguments."""
        exempts = exempts or exempts_robots_txt(selection_of(rules))
        key = rules.dialect, rules.group_lines, likeness, exempts
        if key not in self._made:
            plain = self._made.get((*key[:2], None, exempts))
            self._made[key] = (
                plain
                if likeness == ANY_URL and plain is not None and plain.has_unescaped_keys
                else Ranked(rules, likeness=likeness, exempts=exempts)
            )
        return self._made[key]

    def written(self, rules: Rules) -> Written:
        """Return what matters of the text of the patterns, but for shell patterns."""
        key = rules.dialect, rules.group_lines
        if key not in self._written:
            compiled = selection_of(rules).compiled_rules()
            self._written[key] = written_in([rule[0] for rule in compiled])
        return self._written[key]

    def plain_texts(self, rules: Rules) -> set[bytes] | None:
        """Return what the function `plain_texts` does."""
        key = rules.dialect, rules.group_lines
        if key not in self._texts:
            self._texts[key] = plain_texts(rules)
        return self._texts[key]

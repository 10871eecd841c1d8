# cython: nonecheck=True, binding=False
"""Selection: the groups of a parsed file that apply to an agent, and their compiled rules.

`koster.Rules` answers with it; `koster.analysis`, `koster.lint` and `koster.bulk` reason about it.
"""

from __future__ import annotations

from ..model import Directive
from . import compiler as _compiler
from . import no_cython as cython
from . import user_agents as _user_agents
from .ruleset import Ruleset

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..dialects import Reading
    from ..model import Group, Rule
    from .document import File
elif cython.compiled:
    import cython

_ALLOW = Directive.ALLOW.code
_DISALLOW = Directive.DISALLOW.code


def encoded(text: str) -> bytes:
    """Return text as the bytes that the engine compares."""
    return text.encode("utf-8", "surrogatepass")


@cython.locals(selection="Selection", other="Selection")
def select(file: File, agents: tuple[bytes, ...], others: list[Selection]) -> Selection:
    """Select the groups for the first of ``agents`` that has any, and compile their rules.

    ``others`` are selections of the same file: those with the same groups share compiled rules.
    """
    selection = Selection.__new__(Selection)
    selection.choose(file, agents)
    for other in others:
        if other.chosen == selection.chosen:
            selection.ruleset = other.ruleset
            return selection
    selection.compile()
    return selection


@cython.locals(selection="Selection")
def first_named(file: File, agents: tuple[bytes, ...]) -> int:
    """Return the index of the first agent that a group names, or -1."""
    selection = Selection.__new__(Selection)
    for index in range(len(agents)):
        selection.choose(file, (agents[index],))
        if selection.is_named():
            return index
    return -1


class Selection:
    """The groups for an agent; `select` makes one.

    ``chosen`` are the numbers of the groups in file order. ``how`` is the method by which names
    were compared with ``agent``, its form for that method (`user_agents`).
    """

    def choose(self, file: File, agents: tuple[bytes, ...]) -> None:
        """Choose the groups for the first of ``agents`` that has any."""
        self.file = file
        self.last_group: tuple[int, Group] | None = None
        plan = file.plan
        if plan.choose is None:
            self.chosen, self.how, self.agent = _user_agents.groups_of(
                file.data,
                file.rows,
                file.applicable,
                plan.names,
                plan.merges,
                agents,
                file.index_of_names(),
            )
        else:
            self.chosen, self.how, self.agent = _user_agents.chosen_groups(
                file.data, file.rows, file.applicable, plan.choose, plan.merges, agents
            )

    def compile(self) -> None:
        """Compile the rules of the groups."""
        file = self.file
        form = file.form(self.chosen[0]) if self.chosen else file.plan.forms[0]
        table = _compiler.compiled(form, file.data, file.rows, file.groups, self.chosen)
        self.ruleset = Ruleset(table)

    def is_named(self) -> bool:
        """Tell whether a group names the agent."""
        return self.agent != b"*"

    def group(self, number: int) -> Group:
        """Return a group. The last one is cached: a large one is expensive to make."""
        last = self.last_group
        if last is None or last[0] != number:
            last = self.last_group = (number, self.file.group(number))
        return last[1]

    def groups(self) -> tuple[Group, ...]:
        """Return the groups."""
        return tuple([self.file.group(number) for number in self.chosen])

    def group_lines(self) -> tuple[int, ...]:
        """Return the first line of each group; agents with the same lines have the same rules."""
        file = self.file
        return tuple([file.rows.number(file.first_row(number)) for number in self.chosen])

    def rule_lines(self) -> list[int]:
        """Return the lines of the Allow and Disallow directives in the groups."""
        return self.new_rule_lines(set())

    def new_rule_lines(self, seen: set[int]) -> list[int]:
        """Return the same without the groups whose numbers were seen; those here are added."""
        rows = self.file.rows
        found: list[int] = []
        for number in self.chosen:
            if number in seen:
                continue
            seen.add(number)
            after = self.file.row_after(number)
            for row in range(self.file.first_row(number), after):
                if rows.code(row) == _ALLOW or rows.code(row) == _DISALLOW:
                    found.append(rows.number(row))  # noqa: PERF401 - a comprehension is not compiled
        return found

    def count_rules(self) -> int:
        """Return the number of the Allow and Disallow directives in the groups."""
        rows = self.file.rows
        count = 0
        for number in self.chosen:
            after = self.file.row_after(number)
            for row in range(self.file.first_row(number), after):
                count += rows.code(row) == _ALLOW or rows.code(row) == _DISALLOW
        return count

    def binding_rows(self) -> list[int]:
        """Return the rows of the groups after a User-agent line for the agent."""
        file = self.file
        found: list[int] = []
        for number in self.chosen:
            after = file.row_after(number)
            first = _user_agents.binding_row(
                file.data, file.rows, file.first_row(number), after, self.how, self.agent
            )
            found.extend(range(first, after))
        return found

    def line_of(self, row: int) -> int:
        """Return the line of a row."""
        return self.file.rows.number(row)

    def rule(self, row: int) -> Rule:
        """Return the rule of a row."""
        return self.file.rule(row)

    def reading(self) -> Reading:
        """Return how the groups are read: paths, patterns, and which rule decides."""
        reading: Reading = self.ruleset.table.form.reading
        return reading

    def unmatched_allowed(self) -> bool:
        """Tell whether a URL that no rule matches is allowed."""
        return self.ruleset.table.unmatched_allowed

    def compiled_rules(self) -> list[tuple[bytes, int, int, bool, bool, int, int]]:
        """Return the compiled rules, by number; see `Ruleset.compiled`."""
        return self.ruleset.compiled()

    def has_same_rules(self, other: Selection) -> bool:
        """Tell whether `compiled_rules` returns the same for another selection."""
        return self.ruleset.has_same_rules(other.ruleset)

    def path_of(self, url: str) -> bytes:
        """Return the part of a URL that is compared with patterns, in canonical form."""
        return self.ruleset.path_of(encoded(url))

    def number_for(self, url: str) -> int:
        """Return the number of the rule that decides about a URL; see `Ruleset.number_for`."""
        return self.ruleset.number_for(url)

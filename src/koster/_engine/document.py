# cython: nonecheck=True, binding=False
"""A parsed file: its bytes, its rows and its groups, and the objects made from them.

The earlier steps return integers; here they become the values of `model` on request. A `File` is
immutable and independent of any agent.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from ..dialects import RFC9309, Decoding, Dialect, Escapes, GroupNeeds, Merging
from ..model import DIRECTIVE_OF, RULES, Directive, Group, Line, LineKind, Rule, Scope
from . import groups as _groups
from . import lexer as _lexer
from . import memory as _memory
from . import no_cython as cython
from . import user_agents as _user_agents
from .groups import Grouping
from .lexer import Lexer
from .rows import Rows
from .table import Form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator
    from typing import Any
elif cython.compiled:
    import cython

#: The maximum bytes that are parsed, up to a whole line: 16 MiB less one, 32 times what crawlers
#: must parse (RFC 9309 §2.5). The tables have 32 bits for a line number with its code (`rows`), and
#: for offsets into patterns, which can take three bytes for one.
MAX_PARSED_BYTES = (1 << 24) - 1

_USER_AGENT = Directive.USER_AGENT.code
_ALLOW = Directive.ALLOW.code
_DISALLOW = Directive.DISALLOW.code
_ALLOW_DIRECTIVE = Directive.ALLOW

#: The codes of a group's directives other than its agents and rules.
_SETTINGS = frozenset(
    directive.code
    for directive in Directive
    if directive.scope is Scope.GROUP and directive not in (*RULES, Directive.USER_AGENT)
)

_DIRECTIVE_LINE = LineKind.DIRECTIVE
_UNKNOWN_LINE = LineKind.UNKNOWN
_KINDS = {
    _lexer.BLANK: LineKind.BLANK,
    _lexer.COMMENT: LineKind.COMMENT,
    _lexer.MALFORMED: LineKind.MALFORMED,
    _lexer.UNKNOWN: _UNKNOWN_LINE,
}
#: Compiled when all lines are asked for: parsing needs no regular expression.
_LINE_ENDS = rb"\r\n|\n|\r"
_RETURN, _LINE_FEED = 13, 10
#: Rules that are longer, with their line, and the names of groups with more are kept once made.
_MANY_BYTES = 1_000
_MANY_AGENTS = 100
#: Keys of lines that are kept to be used again.
_MAX_KEYS = 256


class Plan:
    """A dialect as the numbers that the steps use. Made once for each dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.decodes = dialect.decoding == Decoding.BY_MARK
        self.is_literal = dialect.reading.escapes == Escapes.PATTERN_ONLY
        self.lexer = Lexer(dialect)
        self.grouping = Grouping(dialect, dialect.group_needs)
        self.written_grouping = Grouping(dialect, GroupNeeds.NOTHING)
        self.names = int(dialect.names)
        self.merges = dialect.merging == Merging.ALL
        self.choose = dialect.choose
        self.forms = [
            Form(reading, dialect.rewrite, dialect.rewritten)
            for reading in (dialect.reading, *dialect.versions.values())
        ]
        self.majors = list(dialect.versions)


#: The groups of a file are searched for names until agents were selected so often, and so many rows
#: were searched; then they are indexed.
_MIN_SELECTIONS = 8
_MAX_SEARCHED_ROWS = 200_000

#: The maximum number of cached plans. They are looked up by identity, because hashing a dialect
#: takes as long as parsing a small file.
_MAX_CACHED_PLANS = 16
_plans: list[Plan] = []
#: The plan of the default dialect, made for the first file: an import need not wait for it.
_default_plan: Plan | None = None


@cython.locals(plan=Plan)
def plan_for(dialect: Dialect) -> Plan:
    """Return the plan of a dialect.

    Raises:
        TypeError: it is not a dialect.
    """
    global _default_plan  # noqa: PLW0603 - faster than a look into the cache
    if dialect is RFC9309:
        if _default_plan is None:
            _default_plan = Plan(RFC9309)
        return _default_plan
    if not isinstance(dialect, Dialect):
        raise TypeError(
            f"dialect must be a koster.Dialect, not {type(dialect).__name__}; "
            "see koster.dialect_named"
        )
    for plan in _plans:
        if plan.dialect is dialect:
            return plan
    for plan in _plans:
        if plan.dialect == dialect:
            return plan
    plan = Plan(dialect)
    _plans.append(plan)
    if len(_plans) > _MAX_CACHED_PLANS:
        _plans.pop(0)
    return plan


def bytes_of(body: Any) -> bytes:
    """Return a body as bytes.

    Raises:
        TypeError: it is neither bytes nor a string.
    """
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    hint = "; koster.parse_file reads a file" if hasattr(body, "__fspath__") else ""
    raise TypeError(f"body must be bytes or str, not {type(body).__name__}{hint}")


def read(data: bytes, plan: Plan) -> File:
    """Parse bytes: lines, then groups."""
    if len(data) > MAX_PARSED_BYTES:
        data = data[:MAX_PARSED_BYTES]
        data = data[: max(data.rfind(b"\n"), data.rfind(b"\r")) + 1]
    file = File()
    file.fill(data, plan)
    return file


class File:
    """A parsed file; `read` makes it."""

    def fill(self, data: bytes, plan: Plan) -> None:
        """Parse the bytes of a file."""
        self.plan = plan
        self.data = data
        self.version_rows: dict[int, int] | None = None
        self.groups_by_name: dict[bytes, list[int]] | None = None
        self.large_objects: dict[int, Any] | None = None
        self.selections = 0
        self.rows = Rows(3, 8 + len(data) // 48)
        self.groups = Rows(2, 8)
        plan.lexer.scan(data, len(data), self.rows, False)
        self.rows.close()
        _groups.delimit(self.rows, plan.grouping, self.groups)
        self.groups.close()
        self.applicable = self.applicable_groups() if plan.majors else self.groups

    def allocated(self) -> int:
        """Return the size in memory, in bytes, without the file's own bytes."""
        size = object.__sizeof__(self) + self.rows.allocated() + self.groups.allocated()
        if self.groups_by_name is not None:
            size += sys.getsizeof(self.groups_by_name)
            for name, groups in self.groups_by_name.items():
                size += sys.getsizeof(name) + sys.getsizeof(groups)
        return size

    def index_of_names(self) -> dict[bytes, list[int]] | None:
        """Return the groups by name, or None as long as a search takes less time.

        An index takes more memory than the file: it is for those who ask about many agents.
        """
        if self.groups_by_name is None:
            self.selections += 1
            if (
                self.selections > _MIN_SELECTIONS
                and self.selections * self.rows.count > _MAX_SEARCHED_ROWS
                and _user_agents.can_be_indexed(self.plan.names)
            ):
                self.groups_by_name = _user_agents.groups_by_name(
                    self.data, self.rows, self.applicable, self.plan.names
                )
        return self.groups_by_name

    def first_row(self, number: int) -> int:
        """Return the first row of a group."""
        return self.groups.values[2 * number]

    def row_after(self, number: int) -> int:
        """Return the row after the last one of a group."""
        return self.groups.values[2 * number + 1]

    def group_of(self, row: int) -> int:
        """Return the number of the group that a row belongs to, or -1."""
        return _groups.group_of(self.groups, row)

    def lines_by_group(self) -> tuple[list[int], list[list[int]]]:
        """Return the lines outside any group, and those of each group.

        Includes groups without a rule, in all dialects.
        """
        groups = Rows(2, 8)
        _groups.delimit(self.rows, self.plan.written_grouping, groups)
        groups.close()
        outside: list[int] = []
        inside: list[list[int]] = [[] for _ in range(groups.count)]
        for row in range(self.rows.count):
            number = _groups.group_of(groups, row)
            (outside if number < 0 else inside[number]).append(self.rows.number(row))
        return outside, inside

    def directives_of(self, lines: Container[int]) -> dict[int, Directive]:
        """Return the directives of those of some lines that have one."""
        found: dict[int, Directive] = {}
        for row in range(self.rows.count):
            number = self.rows.number(row)
            if number in lines:
                directive = DIRECTIVE_OF.get(self.rows.code(row))
                if directive is not None:
                    found[number] = directive
        return found

    def named_parts(self) -> list[tuple[int, int, str]]:
        """Return each named agent, with the numbers of its group and of the part of that group.

        Directives of a group other than rules apply to the agents above them: an agent after such
        a directive starts a new part.
        """
        found: list[tuple[int, int, str]] = []
        for number in range(self.groups.count):
            part = 0
            has_settings = False
            for row in range(self.first_row(number), self.row_after(number)):
                code = self.rows.code(row)
                if code == _USER_AGENT:
                    part += has_settings
                    has_settings = False
                    found.append((number, part, self.text(row)))
                elif code in _SETTINGS:
                    has_settings = True
        return found

    @cython.locals(count="Py_ssize_t")
    def count_agents(self) -> int:
        """Return the number of the User-agent lines of all groups."""
        count = 0
        for number in range(self.groups.count):
            for row in range(self.first_row(number), self.row_after(number)):
                count += self.rows.code(row) == _USER_AGENT
        return count

    def applicable_groups(self) -> Rows:
        """Return the groups; those with a version to ignore are empty."""
        applicable = Rows(2, self.groups.count + 1)
        for number in range(self.groups.count):
            first = self.first_row(number)
            after = self.row_after(number)
            applicable.add_pair(first, after if self.reading(number) >= 0 else first)
        applicable.close()
        return applicable

    def reading(self, number: int) -> int:
        """Return the number of a group's reading, or -1 if the group is ignored."""
        if not self.plan.majors:
            return 0
        row = self.version_row(number)
        return _groups.reading_of(self.value(row), self.plan.majors) if row >= 0 else 0

    def version_row(self, number: int) -> int:
        """Return the row of a group's Robot-version, directly after its agents, or -1.

        Cached, because the lines before it are scanned.
        """
        if self.version_rows is None:
            self.version_rows = {}
        row = self.version_rows.get(number, -2)
        if row == -2:
            row = self.version_rows[number] = self.find_version_row(number)
        return row

    def find_version_row(self, number: int) -> int:
        """Find the row of a group's Robot-version."""
        first = self.first_row(number)
        row = _groups.version_row(self.rows, first, self.row_after(number))
        if row > first and self.rows.number(row) > self.rows.number(row - 1) + 1:
            after = self.rows.end(row - 1)
            if not _groups.is_adjacent(self.data, after, self.rows.start(row)):
                return -1
        return row

    def value(self, row: int) -> bytes:
        """Return the value of a row."""
        return self.data[self.rows.start(row) : self.rows.end(row)]

    def text(self, row: int) -> str:
        """Return the value of a row as text."""
        return _memory.text(self.value(row))

    def large_object(self, key: int) -> Any:
        """Return an object that was kept, or None."""
        return None if self.large_objects is None else self.large_objects.get(key)

    def keep_large(self, key: int, made: Any) -> None:
        """Keep an object that takes long to make: thousands of decisions may return it.

        All of them together take about as much memory as the file.
        """
        if self.large_objects is None:
            self.large_objects = {}
        self.large_objects[key] = made

    def group(self, number: int) -> Group:
        """Make the object of a group."""
        first = self.first_row(number)
        after = self.row_after(number)
        version = self.version_row(number)
        return Group(
            agents=self.agents_of(number, first, after),
            rules=RuleView(self, first, after),
            line=self.rows.number(first),
            version=self.text(version) if version >= 0 else None,
        )

    def agents_of(self, number: int, first: int, after: int) -> tuple[str, ...]:
        """Return the names of a group, which has some rows."""
        agents: tuple[str, ...] | None = self.large_object(-1 - number)
        if agents is None:
            agents = tuple([self.text(row) for row in self.rows_with(first, after, _USER_AGENT)])
            if len(agents) > _MANY_AGENTS:
                self.keep_large(-1 - number, agents)
        return agents or ("*",)

    def rows_with(self, first: int, after: int, code: int) -> list[int]:
        """Return the rows that have a directive."""
        return [row for row in range(first, after) if self.rows.code(row) == code]

    def rules_between(self, first: int, after: int) -> tuple[Rule, ...]:
        """Make the objects of the rules in some rows."""
        form = self.form_of(first)
        rules = []
        for row in range(first, after):
            code = self.rows.code(row)
            if code in (_ALLOW, _DISALLOW):
                rules.append(self.rule_in(row, form))
        return tuple(rules)

    def rule(self, row: int) -> Rule:
        """Make the object of a rule."""
        return self.rule_in(row, self.form_of(row))

    def rule_in(self, row: int, form: Form) -> Rule:
        """Make the object of a rule in a group with this form, or return the one that was kept."""
        kept: Rule | None = self.large_object(row)
        if kept is not None:
            return kept
        directive = DIRECTIVE_OF[self.rows.code(row)]
        start = self.rows.start(row)
        pattern = self.text(row)
        allow = directive is _ALLOW_DIRECTIVE
        if not pattern and form.empty_rules:
            allow = not allow
        begin = _lexer.line_start(self.data, start)
        rule = _memory.new(Rule)
        _memory.assign(rule, "directive", directive)
        _memory.assign(rule, "pattern", pattern)
        _memory.assign(rule, "line", self.rows.number(row))
        _memory.assign(rule, "allow", allow)
        _memory.assign(rule, "column", start - begin + 1)
        if self.rows.end(row) - begin > _MANY_BYTES:
            self.keep_large(row, rule)
        return rule

    def form_of(self, row: int) -> Form:
        """Return the form of a row's group."""
        return self.form(self.group_of(row))

    @cython.locals(form=Form)
    def form(self, number: int) -> Form:
        """Return the form of a group."""
        form: Form = self.plan.forms[max(self.reading(number), 0)]
        return form

    def rows_before_groups(self) -> range:
        """Return the rows before any group, which apply to the whole file."""
        return range(self.first_row(0) if self.groups.count else self.rows.count)

    def values(self, rows: Iterable[int], code: int) -> tuple[str, ...]:
        """Return the values of the rows with a directive."""
        return tuple([self.text(row) for row in rows if self.rows.code(row) == code])

    def entries(self, rows: Iterable[int]) -> list[tuple[int, bytes, int]]:
        """Return code, value and line number of all rows except agents and rules."""
        found = []
        for row in rows:
            code = self.rows.code(row)
            if code not in (_USER_AGENT, _ALLOW, _DISALLOW):
                found.append((code, self.value(row), self.rows.number(row)))
        return found

    def lines(self) -> tuple[Line, ...]:
        """Make the objects of all lines."""
        data = self.data
        rows = Rows(3, 8 + len(data) // 16)
        self.plan.lexer.scan(data, len(data), rows, True)
        rows.close()
        skipped = self.plan.lexer.after_bom(data, len(data))
        texts = re.split(_LINE_ENDS, data)
        # Most lines have one of few directives.
        keys: dict[bytes, str] = {}
        found = []
        at = 0
        for row in range(rows.count):
            text = texts[row]
            first, last = rows.start(row) - at, rows.end(row) - at
            found.append(_line(text, rows.code(row), row + 1, first, last, skipped, keys))
            skipped = 0
            at += len(text)
            is_two = at + 1 < len(data) and data[at] == _RETURN and data[at + 1] == _LINE_FEED
            at += 2 if is_two else 1
        return tuple(found)


def _line(
    text: bytes, code: int, number: int, start: int, end: int, skipped: int, keys: dict[bytes, str]
) -> Line:
    """Make the object of a line; its value is ``text[start:end]``.

    ``skipped`` is the size of a byte order mark before it; ``keys`` are those of other lines.
    """
    kind = _KINDS.get(code, _DIRECTIVE_LINE)
    key = value = ""
    comment = None
    if kind is _DIRECTIVE_LINE or kind is _UNKNOWN_LINE:
        before = text[skipped:start]
        known = keys.get(before)
        if known is None:
            known = _memory.text(before.strip().removesuffix(b":").strip())
            if len(keys) < _MAX_KEYS:
                keys[before] = known
        key = known
        value = _memory.text(text[start:end])
    if not value:
        start = len(text) - len(text[skipped:].lstrip()) if text else 0
    mark = text.find(b"#", end) if text else -1
    if mark >= 0:
        comment = _memory.text(text[mark + 1 :].strip())
    line = _memory.new(Line)
    _memory.assign(line, "number", number)
    _memory.assign(line, "kind", kind)
    _memory.assign(line, "text", _memory.text(text))
    _memory.assign(line, "key", key)
    _memory.assign(line, "value", value)
    _memory.assign(line, "comment", comment)
    _memory.assign(line, "column", start + 1)
    _memory.assign(line, "directive", DIRECTIVE_OF.get(code))
    return line


class RuleView(Sequence[Rule]):
    """The rules of a group: a sequence that makes its `Rule` objects on first use.

    A decision has its group, and making the rules of a large one would cost more than deciding.
    """

    __slots__ = ("_after", "_file", "_first", "_rules")

    def __init__(self, file: File, first: int, after: int) -> None:
        self._file = file
        self._first = first
        self._after = after
        self._rules: tuple[Rule, ...] | None = None

    def _all(self) -> tuple[Rule, ...]:
        if self._rules is None:
            self._rules = _rules_between(self._file, self._first, self._after)
        return self._rules

    def __len__(self) -> int:
        return len(self._all())

    def __getitem__(self, index: Any) -> Any:
        return self._all()[index]

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._all())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (tuple, RuleView)):
            return self._all() == tuple(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self._all(),)


def _rules_between(file: File, first: int, after: int) -> tuple[Rule, ...]:
    """Make the objects of the rules in some rows of a file."""
    return file.rules_between(first, after)

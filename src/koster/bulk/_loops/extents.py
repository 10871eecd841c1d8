# cython: boundscheck=False, wraparound=False, binding=False
"""How much of many sites is disallowed for each agent: the loop over bodies.

Takes concatenated bytes in a buffer, as Arrow stores them, and fills buffers with integers. It uses
no Python objects for a body or an agent, and releases the interpreter lock, so that threads run in
parallel. Undecided cases are marked `UNSETTLED`; `koster.analysis` decides them.
"""

from __future__ import annotations

from itertools import accumulate, chain

from ..._engine import canonical as _canonical
from ..._engine import compiler as _compiler
from ..._engine import document as _document
from ..._engine import groups as _groups
from ..._engine import matcher as _matcher
from ..._engine import memory as _memory
from ..._engine import no_cython as cython
from ..._engine import table as _table
from ..._engine import user_agents as _user_agents
from ..._engine.document import MAX_PARSED_BYTES
from ..._engine.rows import Rows
from ...dialects import GOOGLE, RFC9309
from ...dialects import Names as _Method
from ...model import Directive
from . import buffers as _buffers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

    from ..._engine.document import Plan
    from ..._engine.memory import Bytes
    from ..._engine.names import AgentNames
    from ..._engine.table import Table
    from ...dialects import Dialect
    from .buffers import Buffer, Longs
elif cython.compiled:
    import cython

_ALLOW = Directive.ALLOW.code
_DISALLOW = Directive.DISALLOW.code
_USER_AGENT = Directive.USER_AGENT.code
_LETTERS = int(_Method.LETTERS)
_SLASH = 47
_STAR = 42
_DOLLAR = 36
_PERCENT = 37

#: How much of a site is disallowed, as numbers.
EXTENTS = ("all", "some", "none")
UNSETTLED = len(EXTENTS)
_ALL, _SOME, _NONE, _UNSETTLED = range(4)

#: The maximum number of comparisons of a rule's samples with rules before a case is left to the
#: analysis.
_MAX_COMPARISONS = 6_666
#: The maximum size of patterns with sample URLs: the time grows with stars and bytes.
_MAX_PATTERN_BYTES = 2_048
#: The maximum rows whose memory is reused for the next file.
_MAX_REUSED_ROWS = 16_384

_EXEMPT_TABLE = b"/robots.txt"
_EXEMPT = _EXEMPT_TABLE
_EXEMPT_SIZE = len(_EXEMPT_TABLE)
_START_TABLE = b"/"
_START = _START_TABLE
_START_SIZE = len(_START_TABLE)
#: What samples have for a star, and a path of nothing else.
_FILLER_TABLE = b"xy"
_FILLER = _FILLER_TABLE
_FILLER_SIZE = len(_FILLER_TABLE)
_REST_TABLE = _START_TABLE + _FILLER_TABLE
_REST = _REST_TABLE
_REST_SIZE = len(_REST_TABLE)


class Reader:
    """Reads bodies and finds how much of each site is disallowed for each agent.

    For one thread at a time, and for dialects that differ from `RFC9309` or `GOOGLE` only in lines
    and groups; see `supports`.
    """

    def __init__(
        self, dialect: Dialect, names: AgentNames, agents: Sequence[Sequence[int]]
    ) -> None:
        """Take the numbers of the names of each agent, in order of preference.

        Agents without any stay undecided.
        """
        self.plan: Plan = _document.plan_for(dialect)
        self.names = names
        self.tokens = names.count
        self.agent_count = len(agents)
        self.agent_starts = _memory.integers(self.agent_count + 1)
        self.agent_tokens = _memory.integers(sum(map(len, agents)) + 1)
        self.rows = Rows(3, 256)
        self.groups = Rows(2, 64)
        self.links = Rows(2, 64)
        self.chosen = Rows(2, 64)
        self.table = _table.new_table(self.plan.forms[0])
        self.heads = _memory.integers(self.tokens + 1)
        self.tails = _memory.integers(self.tokens + 1)
        self.results = _memory.integers(4 * (self.tokens + 1))
        self.path = _memory.buffer(_MAX_PATTERN_BYTES * 2 + 8)
        self.has_byte = _memory.buffer(256)
        if not self.agent_starts or not self.agent_tokens or not self.heads or not self.tails:
            raise MemoryError("no memory for the names of agents")
        if not self.results or not self.path or not self.has_byte:
            raise MemoryError("no memory to read a robots.txt")
        for number, start in enumerate(accumulate(map(len, agents), initial=0)):
            self.agent_starts[number] = start
        for number, token in enumerate(chain.from_iterable(agents)):
            self.agent_tokens[number] = token

    def __dealloc__(self) -> None:
        _memory.release(self.agent_starts)
        _memory.release(self.agent_tokens)
        _memory.release(self.heads)
        _memory.release(self.tails)
        _memory.release(self.results)
        _memory.release(self.path)
        _memory.release(self.has_byte)

    def classify(
        self,
        data: Buffer,
        starts: Longs,
        ends: Longs,
        written: bytearray,
        extents: bytearray,
        lines: array[int],
    ) -> None:
        """Classify bodies for each agent: ``data[starts[n]:ends[n]]`` is the nth body.

        ``written``, ``extents`` and ``lines`` have an item for each agent of each body: whether a
        group has its first name, its number in `EXTENTS` or `UNSETTLED`, and the line that
        disallows, or 0.

        Raises:
            MemoryError: no memory for a file.
        """
        raw = _buffers.address(data)
        with cython.nogil:
            done = self._classify_all(raw, starts, ends, written, extents, lines)
        if not done:
            raise MemoryError("no memory to read a robots.txt")

    def _classify_all(
        self,
        data: Bytes,
        starts: Longs,
        ends: Longs,
        written: bytearray,
        extents: bytearray,
        lines: array[int],
    ) -> bool:
        """Classify all bodies; tell whether there was memory."""
        for body in range(len(starts)):
            size = ends[body] - starts[body]
            at = body * self.agent_count
            if size > MAX_PARSED_BYTES:
                for agent in range(self.agent_count):
                    extents[at + agent] = _UNSETTLED
                continue
            raw = _buffers.part(data, starts[body], size)
            if not self._read(raw, size):
                return False
            for agent in range(self.agent_count):
                first = self.agent_starts[agent]
                if first == self.agent_starts[agent + 1]:
                    extents[at + agent] = _UNSETTLED
                    continue
                result = self._result(raw, self._named_token(agent))
                if result < 0:
                    return False
                written[at + agent] = self.heads[self.agent_tokens[first]] > 0
                extents[at + agent] = self.results[4 * result + 2]
                lines[at + agent] = self.results[4 * result + 3]
        return True

    def _named_token(self, agent: int) -> int:
        """Return the first token of an agent that a group names; without one, its first."""
        first = self.agent_starts[agent]
        for place in range(first, self.agent_starts[agent + 1]):
            if self.heads[self.agent_tokens[place]] > 0:
                return self.agent_tokens[place]
        return self.agent_tokens[first]

    def _read(self, data: Bytes, size: int) -> bool:
        """Read the lines, groups and names of a body; tell whether there was memory."""
        if self.rows.room > _MAX_REUSED_ROWS:
            self.rows.resize(_MAX_REUSED_ROWS)
        self.rows.clear()
        self.groups.clear()
        self.links.clear()
        self.plan.lexer.scan(data, size, self.rows, False)
        _groups.delimit(self.rows, self.plan.grouping, self.groups)
        if self.rows.lost or self.groups.lost:
            return False
        for token in range(self.tokens + 1):
            self.heads[token] = self.tails[token] = 0
        self.used = 0
        self.sets = 0
        for group in range(self.groups.count):
            self._collect_names(data, group)
        # No group is chosen twice for a token, so twice as many integers as links are enough.
        return not self.links.lost and self.chosen.has_room(self.links.count)

    def _collect_names(self, data: Bytes, group: int) -> None:
        """Collect the tokens that a group names."""
        first = self.groups.values[2 * group]
        after = self.groups.values[2 * group + 1]
        if first < after and self.rows.code(first) != _USER_AGENT:
            self._link(self.tokens, group)
        for row in range(first, after):
            if self.rows.code(row) == _USER_AGENT:
                start = self.rows.start(row)
                end = self.rows.end(row)
                if self.names.is_everybody(data, start, end):
                    self._link(self.tokens, group)
                else:
                    token = self.names.number(data, start, end)
                    if token >= 0:
                        self._link(token, group)

    def _link(self, token: int, group: int) -> None:
        """Add a group to a token, once; without memory, ``links`` are lost.

        A link is a group, and the number of the token's next link; ``heads`` and ``tails`` are
        numbered from 1, and 0 if missing.
        """
        tail = self.tails[token]
        if tail > 0 and self.links.values[2 * tail - 2] == group:
            return
        self.links.add_pair(group, 0)
        number = self.links.count
        if tail > 0:
            self.links.values[2 * tail - 1] = number
        else:
            self.heads[token] = number
        self.tails[token] = number

    def _result(self, data: Bytes, token: int) -> int:
        """Return the number of the result for a token; -1 without memory.

        Tokens with the same groups share one.
        """
        head = self.heads[token]
        if head == 0:
            head = self.heads[self.tokens]
        first = self.used
        while head > 0:
            self.chosen.values[self.used] = self.links.values[2 * head - 2]
            self.used += 1
            head = self.links.values[2 * head - 1]
        for number in range(self.sets):
            if self._has_groups(number, first):
                self.used = first
                return number
        at = 4 * self.sets
        self.results[at] = first
        self.results[at + 1] = self.used
        self.results[at + 2] = _NONE
        self.results[at + 3] = 0
        row = self._first_disallow(first)
        if row >= 0 and self._is_only_match(data, row, first):
            self.results[at + 2] = _SOME
            self.results[at + 3] = self.rows.number(row)
        elif row >= 0:
            if not _compiler.replace_groups(
                self.table, data, self.rows, self.groups, self.chosen.values, first, self.used
            ):
                return -1
            extent = self._extent(self.table)
            self.results[at + 2] = extent
            if extent in (_ALL, _SOME):
                self.results[at + 3] = self.rows.number(self.table.get(self.closing, _table.ROW))
        self.sets += 1
        return self.sets - 1

    def _first_disallow(self, first: int) -> int:
        """Return the row of the first rule that disallows in the groups from ``first`` on, or -1.

        In the dialects that are supported, a rule without a value does nothing.
        """
        for index in range(first, self.used):
            group = self.chosen.values[index]
            for row in range(self.groups.values[2 * group], self.groups.values[2 * group + 1]):
                if self.rows.code(row) == _DISALLOW and self.rows.start(row) < self.rows.end(row):
                    return row
        return -1

    def _is_only_match(self, data: Bytes, row: int, first: int) -> bool:
        """Tell whether only this rule matches its first sample URL, and no rule matches /.

        As far as plain bytes tell: they need no canonical form. ``first`` is where the chosen
        groups start.
        """
        size = self._write_plain_sample(data, self.rows.start(row), self.rows.end(row))
        if size < 2:
            return False
        for index in range(first, self.used):
            group = self.chosen.values[index]
            for other in range(self.groups.values[2 * group], self.groups.values[2 * group + 1]):
                code = self.rows.code(other)
                if other != row and code in (_ALLOW, _DISALLOW):
                    start = self.rows.start(other)
                    end = self.rows.end(other)
                    if start < end and not self._diverges(data, start, end, size):
                        return False
        return True

    def _write_plain_sample(self, data: Bytes, start: int, end: int) -> int:
        """Write the sample path of a pattern, with nothing for its stars; return its size.

        Returns 0 if it has a byte that is not plain, or it is that of /robots.txt.
        """
        if end - start > _MAX_PATTERN_BYTES or data[start] != _SLASH:
            return 0
        _memory.fill(self.has_byte, 0, 0, 256)
        size = 0
        for at in range(start, end):
            byte = data[at]
            if _canonical.LITERAL[byte]:
                self.path[size] = byte
                self.has_byte[byte] = 1
                size += 1
            elif byte != _STAR and (byte != _DOLLAR or at < end - 1):
                return 0
        return 0 if _is_exempt(self.path, size) else size

    def _diverges(self, data: Bytes, start: int, end: int, size: int) -> bool:
        """Tell whether a pattern has a plain byte that the sample path does not have there.

        Then the pattern matches neither that path nor /.
        """
        at = start
        while at < end and at - start < size and data[at] == self.path[at - start]:
            at += 1
        if at < end and at - start < size and _canonical.LITERAL[data[at]]:
            return True
        if self.table.form.index_pages and (
            _memory.search(data, start, end, _compiler.INDEX_PAGE, 0, _compiler.INDEX_SIZE) >= 0
        ):
            # The rule may be about the directory, too.
            return False
        # Not after a percent sign: the digits of an escape are not in a path.
        while at < end and data[at] != _PERCENT:
            if _canonical.LITERAL[data[at]] and not self.has_byte[data[at]]:
                return True
            at += 1
        return False

    def _has_groups(self, number: int, first: int) -> bool:
        """Tell whether the groups chosen from ``first`` on are those of a result."""
        start = self.results[4 * number]
        size = self.results[4 * number + 1] - start
        if size != self.used - first:
            return False
        for index in range(size):
            if self.chosen.values[start + index] != self.chosen.values[first + index]:
                return False
        return True

    def _extent(self, rules: Table) -> int:
        """Return how much rules disallow, of which one does; ``closing`` becomes one that does.

        Equals the result of `koster.analysis.classify`, which tries the same URLs in the same
        order, if one of them decides; else it is `UNSETTLED`.
        """
        allows = 0
        longest = 0
        for rule in range(rules.count):
            longest = max(longest, rules.size_of(rule))
            allows += _matcher.allows(rules, rule)
        if longest > _MAX_PATTERN_BYTES:
            return _UNSETTLED
        self.closing = _best(rules, _START, _START_SIZE)
        is_open = _matcher.allows(rules, self.closing)
        if is_open:
            return _SOME if self._any_decided(rules, False) else _UNSETTLED
        for rule in range(rules.count):
            if allows == 0 and _matches_all(rules, rule):
                return _ALL
        return _SOME if self._any_decided(rules, True) or self._is_rest_open(rules) else _UNSETTLED

    def _any_decided(self, rules: Table, allow: bool) -> bool:
        """Tell whether a sample URL of some rule is decided as that rule says: ``allow`` or not.

        If it is disallowed, ``closing`` becomes the rule that decides. Samples are the pattern with
        nothing for its stars, the same with more after it, and with something for the stars.
        """
        compared = 0
        for rule in range(rules.count):
            if _matcher.allows(rules, rule) == allow:
                compared += rules.count
                if compared > _MAX_COMPARISONS:
                    return False
                for way in range(3):
                    if self._is_decided(rules, rule, way, allow):
                        return True
        return False

    def _is_decided(self, rules: Table, rule: int, way: int, allow: bool) -> bool:
        """Tell whether a sample URL of a rule is allowed, or disallowed."""
        if way == 1 and rules.get(rule, _table.FLAGS) & _table.ANCHORED:
            return False
        size = self._write_sample(rules, rule, way)
        if size == 0:
            return False
        number = _best(rules, self.path, size)
        if _matcher.allows(rules, number) != allow:
            return False
        if not allow:
            self.closing = number
        return True

    def _is_rest_open(self, rules: Table) -> bool:
        """Tell whether no rule matches a sample URL."""
        return _best(rules, _REST, _REST_SIZE) == _matcher.UNMATCHED

    def _write_sample(self, rules: Table, rule: int, way: int) -> int:
        """Write a sample path and return its size; 0 if it is invalid, or that of /robots.txt."""
        start = rules.get(rule, _table.START)
        end = start + rules.size_of(rule)
        size = 0
        if start == end or rules.text[start] == _STAR:
            self.path[0] = _SLASH
            size = 1
        for at in range(start, end):
            byte = rules.text[at]
            if byte != _STAR:
                self.path[size] = byte
                size += 1
            elif way == 2:
                _memory.copy(self.path, size, _FILLER, 0, _FILLER_SIZE)
                size += _FILLER_SIZE
        if way == 1:
            _memory.copy(self.path, size, _FILLER, 0, _FILLER_SIZE)
            size += _FILLER_SIZE
        return 0 if self.path[0] != _SLASH or _is_exempt(self.path, size) else size


def _best(rules: Table, path: Bytes, size: int) -> int:
    """Return the best rule that matches a canonical path, or `matcher.UNMATCHED`."""
    return _matcher.best_by_scan(rules, path, 0, size)


def _matches_all(rules: Table, rule: int) -> bool:
    """Tell whether a rule matches every path, without wildcards."""
    if rules.get(rule, _table.FLAGS) & ~_table.ALLOWS:
        return False
    size = rules.size_of(rule)
    return size == 0 or (size == 1 and rules.text[rules.get(rule, _table.START)] == _SLASH)


def _is_exempt(path: Bytes, size: int) -> bool:
    """Tell whether a path is that of /robots.txt, or starts so."""
    return size >= _EXEMPT_SIZE and _memory.same(path, 0, _EXEMPT, 0, _EXEMPT_SIZE)


def name_of(agent: bytes, method: int) -> bytes | None:
    """Return the name by which an agent is found; None if a `Reader` cannot find it."""
    if method == _LETTERS:
        return agent.lower() or None
    return _user_agents.product_token(agent)


def supports(dialect: Dialect) -> bool:
    """Tell whether a `Reader` supports a dialect."""
    return (
        dialect.reading in (RFC9309.reading, GOOGLE.reading)
        and dialect.names in (RFC9309.names, GOOGLE.names)
        and dialect.merging == RFC9309.merging
        and not dialect.versions
        and dialect.rewrite is None
        and dialect.choose is None
    )

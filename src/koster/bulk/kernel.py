"""The kernel: columns of Arrow in, columns of Arrow out, whatever engine they are from.

``bodies`` are robots.txt files, text or bytes as they were served; a body that repeats is parsed
once. Columns may be of any of Arrow's types for text and bytes, in one piece or in chunks, and
what comes out is in the same pieces. Null gives null. What a cell says is what the library says of
that body: `koster.parse(body).decide(url, agent)` and `koster.analysis.classify`.

>>> import pyarrow as pa
>>> bodies = pa.array(["User-agent: GPTBot\\nDisallow: /", None])
>>> classify(bodies, ["GPTBot"]).to_pylist()
[[{'agent': 'GPTBot', 'written': True, 'effective': 'all', 'line': 2}], None]
>>> decide(bodies, "https://example.com/a", "GPTBot").to_pylist()
[{'allowed': False, 'reason': 'rule', 'line': 2, 'pattern': '/'}, None]
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..analysis import Budget
from ..analysis import classify as classification
from ..dialects import RFC9309
from ..engine import batches as _batches
from ..engine import extents as _extents
from ..engine import user_agents as _user_agents
from ..robots import parse
from ._arrow import pa, pc
from ._columns import (
    Coded,
    arrow_of,
    buffers,
    bytes_in,
    coded,
    filled,
    in_chunks,
    integers,
)
from ._facts import FACTS, facts_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..dialects import Dialect
    from ._columns import Column

__all__ = ["CLASSIFIED", "DECIDED", "FACTS", "allowed", "classify", "decide", "facts"]

#: What `classify` says of a robot. ``written``: a group names it. ``effective``: how much of the
#: site is disallowed for it, by whatever groups hold; null if that could not be proved in the time
#: that one file among millions may take. ``line``: of the rule that disallows, from 1; null if
#: nothing does.
CLASSIFIED = pa.struct([
    pa.field("agent", pa.string()),
    pa.field("written", pa.bool_()),
    pa.field("effective", pa.string()),
    pa.field("line", pa.int32()),
])  # fmt: skip

#: What `decide` says: see `koster.Decision`. ``pattern`` is as written; what of it is not UTF-8 is
#: replaced by U+FFFD.
DECIDED = pa.struct([
    pa.field("allowed", pa.bool_()),
    pa.field("reason", pa.string()),
    pa.field("line", pa.int32()),
    pa.field("pattern", pa.string()),
])  # fmt: skip

#: What could not be proved.
_UNKNOWN = _extents.UNSETTLED + 1


def _budget() -> Budget:
    """Return what one file may take that is not settled at a glance: a second at most."""
    return Budget(states=5_000, total=20_000, compared=100_000)


def classify(bodies: Column, agents: Iterable[str], dialect: Dialect = RFC9309) -> Any:
    """Return how much of each site is disallowed for each agent: lists of `CLASSIFIED`.

    Args:
        bodies: Robots.txt files.
        agents: Who asks, each a product token or a whole User-Agent header; the lists are in
            this order.
        dialect: How to read the files.

    Raises:
        TypeError: ``bodies`` is no column of text or bytes, or an agent is no str.
    """
    asked = checked(agents)
    column = coded(bodies, "bodies")
    return column.spread(_classified(column.values, asked, dialect))


def storable_text(text: str) -> str:
    """Return text as Arrow takes it: what cannot be UTF-8 is replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _bytes(text: str | bytes) -> bytes:
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


def _as_agent(raw: bytes) -> str:
    """Return an agent; bytes that are not UTF-8 stand in no name that anyone asks with."""
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace")


def checked(agents: Iterable[str]) -> tuple[str, ...]:
    """Return agents as a tuple.

    Raises:
        TypeError: they are none.
    """
    if isinstance(agents, str):
        raise TypeError("agents must be an iterable of str, not one str")
    found = tuple(agents)
    for agent in found:
        if not isinstance(agent, str):
            raise TypeError(f"agents must be str, not {type(agent).__name__}")
    return found


@lru_cache(maxsize=16)
def _names(agents: tuple[str, ...]) -> tuple[_extents.Names, tuple[int, ...]]:
    """Return the product tokens among agents, and for each agent the number of its token, or -1."""
    tokens: dict[bytes, int] = {}
    wanted = []
    for agent in agents:
        token = _user_agents.product_token(agent.encode("utf-8", "surrogatepass"))
        wanted.append(-1 if token is None else tokens.setdefault(token, len(tokens)))
    return _extents.Names(list(tokens)), tuple(wanted)


def _classified(bodies: pa.Array, agents: tuple[str, ...], dialect: Dialect) -> pa.Array:
    """Classify distinct bodies."""
    parse(b"", dialect)  # tells what is no dialect
    cells = len(bodies) * len(agents)
    written = bytearray(cells)
    extents = bytearray([_extents.UNSETTLED]) * cells
    lines = array("i", bytes(4 * cells))
    if cells:
        data, starts = buffers(bodies)
        if _extents.is_for(dialect):
            reader = _extents.Reader(dialect, *_names(agents))
            reader.classify(data, starts, written, extents, lines)
        _settle(data, starts, agents, dialect, written, extents, lines)
    names = pa.array(map(storable_text, agents), pa.string()).take(
        filled("i", array("i", range(len(agents))) * len(bodies))
    )
    effective = pa.array([*_extents.EXTENTS, None, None], pa.string()).take(filled("B", extents))
    found = pa.StructArray.from_arrays(
        [names, filled("B", written).cast(pa.bool_()), effective, _or_null(lines)],
        fields=list(CLASSIFIED),
    )
    bounds = array("i", range(0, cells + 1, len(agents) or 1))
    if not agents:
        bounds = array("i", bytes(4 * (len(bodies) + 1)))
    return pa.ListArray.from_arrays(filled("i", bounds), found)


def _or_null(lines: array[int]) -> pa.Array:
    """Return numbers of lines, 0 as null."""
    found = filled("i", lines)
    return pc.if_else(pc.equal(found, 0), pa.scalar(None, pa.int32()), found)


def _settle(
    data: memoryview,
    starts: memoryview,
    agents: tuple[str, ...],
    dialect: Dialect,
    written: bytearray,
    extents: bytearray,
    lines: array[int],
) -> None:
    """Settle by analysis what was not; robots with the same groups are asked about once."""
    last = -1
    at = extents.find(_extents.UNSETTLED)
    while at >= 0:
        body, agent = divmod(at, len(agents))
        if body != last:
            robots = parse(bytes(data[starts[body] : starts[body + 1]]), dialect)
            budget = _budget()
            known: dict[tuple[int, ...], tuple[int, int]] = {}
            last = body
        rules = robots.rules_for(agents[agent])
        key = rules.group_lines
        if key not in known:
            found = classification(rules, budget)
            number = _extents.EXTENTS.index(found.extent) if found.is_proved else _UNKNOWN
            known[key] = number, found.rule.line if found.rule and found.is_proved else 0
        written[at] = rules.is_named
        extents[at], lines[at] = known[key]
        at = extents.find(_extents.UNSETTLED, at + 1)


def decide(
    bodies: Column | str | bytes,
    urls: Column | str,
    agents: Column | str,
    dialect: Dialect = RFC9309,
) -> Any:
    """Return whether each agent may fetch each URL, and which line says so: `DECIDED`.

    Args:
        bodies: Robots.txt files, a column or one for all rows.
        urls: Whole URLs, or their paths and queries; a column or one for all rows.
        agents: Who asks, each a product token or a whole User-Agent header; a column or one for
            all rows.
        dialect: How to read the files.

    Raises:
        TypeError: one of them is no column of text or bytes.
        ValueError: columns differ in length, or there is none.
    """
    answered = _Answered(bodies, urls, agents, dialect)
    return in_chunks(answered.decisions(), answered.chunks)


def allowed(
    bodies: Column | str | bytes,
    urls: Column | str,
    agents: Column | str,
    dialect: Dialect = RFC9309,
) -> Any:
    """Return whether each agent may fetch each URL, as `decide` does without its reasons."""
    answered = _Answered(bodies, urls, agents, dialect)
    return in_chunks(answered.verdicts(), answered.chunks)


def facts(bodies: Column, dialect: Dialect = RFC9309) -> Any:
    """Return what stands in each file, whoever it is for: structs of `FACTS`.

    Raises:
        TypeError: ``bodies`` is no column of text or bytes.
    """
    column = coded(bodies, "bodies")
    return column.spread(facts_of(column.values.to_pylist(), dialect))


class _Answered:
    """Decisions about rows, as the loops fill them in."""

    def __init__(
        self,
        bodies: Column | str | bytes,
        urls: Column | str,
        agents: Column | str,
        dialect: Dialect,
    ) -> None:
        parse(b"", dialect)  # tells what is no dialect
        given = {"bodies": bodies, "urls": urls, "agents": agents}
        columns = {
            what: arrow_of(each, what)
            for what, each in given.items()
            if not isinstance(each, (str, bytes))
        }
        sizes = {len(each) for each in columns.values()}
        if len(sizes) != 1:
            raise ValueError(
                "bodies, urls and agents must have a column among them"
                if not sizes
                else f"bodies, urls and agents must be of one length, not of {sorted(sizes)}"
            )
        self.size = sizes.pop()
        chunked = [each for each in columns.values() if isinstance(each, pa.ChunkedArray)]
        self.chunks = tuple(map(len, chunked[0].chunks)) if chunked else None
        self.bodies = self._coded("bodies", columns.get("bodies"), bodies)
        asked = self._coded("agents", columns.get("agents"), agents)
        paths = columns.get("urls")
        if paths is None:
            paths = pa.repeat(pa.scalar(_bytes(urls), pa.large_binary()), self.size)
        paths = bytes_in(paths)
        self._fill(paths, asked, dialect)

    def _coded(self, what: str, column: Any, one: Any) -> Coded:
        if column is not None:
            return coded(column, what)
        values = pa.array([_bytes(one)])
        codes = filled("i", array("i", bytes(4 * self.size)))
        return Coded(codes, values.cast(pa.large_binary()), None)

    def _fill(self, paths: pa.Array, asked: Coded, dialect: Dialect) -> None:
        """Decide."""
        size = self.size
        self.allowed = bytearray(size)
        self.reasons = bytearray(size)
        self.lines = array("i", bytes(4 * size))
        self.starts = array("q", b"\xff" * (8 * size))
        self.sizes = array("i", bytes(4 * size))
        self.nulls = _any_null(self.bodies.codes, asked.codes, paths)
        order = _order(self.bodies.codes, asked.codes, self.nulls)
        self.data, starts = buffers(self.bodies.values)
        urls, bounds = buffers(paths)
        answers = _batches.Answers(
            self.allowed, self.reasons, self.lines, self.starts,
            self.sizes,
        )  # fmt: skip
        names = [_as_agent(each) for each in asked.values.to_pylist()]
        _batches.decide(
            dialect, self.data, starts, integers(self.bodies.codes), urls, bounds, names,
            integers(asked.codes), order, answers,
        )  # fmt: skip

    def verdicts(self) -> pa.Array:
        """Return whether each row is allowed."""
        found = filled("B", self.allowed).cast(pa.bool_())
        if self.nulls is None:
            return found
        return pc.if_else(self.nulls, pa.scalar(None, pa.bool_()), found)

    def decisions(self) -> pa.Array:
        """Return the decision of each row."""
        reasons = pa.array(list(_batches.REASONS), pa.string())
        return pa.StructArray.from_arrays(
            [
                filled("B", self.allowed).cast(pa.bool_()),
                reasons.take(filled("B", self.reasons)),
                _or_null(self.lines),
                self._patterns(),
            ],
            fields=list(DECIDED),
            mask=self.nulls,
        )

    def _patterns(self) -> pa.Array:
        """Return the pattern of the rule that decided each row, as text."""
        starts = self.starts
        bounds = array("q", bytes(8 * (self.size + 1)))
        raw = _batches.gather(self.data, starts, self.sizes, bounds)
        is_none = pc.less(filled("q", self.starts), 0)
        plain = pa.Array.from_buffers(
            pa.large_binary(), self.size, [None, pa.py_buffer(bounds), pa.py_buffer(raw)]
        )
        try:
            found = plain.cast(pa.string())
        except pa.ArrowInvalid:
            texts = (each.decode("utf-8", "replace") for each in plain.to_pylist())
            found = pa.array(texts, pa.string())
        return pc.if_else(is_none, pa.scalar(None, pa.string()), found)


def _any_null(*columns: pa.Array) -> pa.Array | None:
    """Return where any column is null; None if nowhere."""
    found = None
    for column in columns:
        if column.null_count:
            nulls = column.is_null()
            found = nulls if found is None else pc.or_(found, nulls)
    return found


def _order(bodies: pa.Array, asked: pa.Array, nulls: pa.Array | None) -> memoryview:
    """Return the rows that have no null, those with the same body in a row."""
    if nulls is None and _batches.is_sorted(integers(bodies)):
        return memoryview(array("q", range(len(bodies))))
    keys = pa.table({"body": bodies, "agent": asked})
    order = pc.sort_indices(keys, sort_keys=[("body", "ascending"), ("agent", "ascending")]).cast(
        pa.int64()
    )
    if nulls is not None:
        order = order.filter(pc.invert(nulls.take(order)))
    if not len(order):
        return memoryview(array("q"))
    values = memoryview(order.buffers()[1]).cast("B").cast("q")
    return values[order.offset : order.offset + len(order)]

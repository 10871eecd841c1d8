"""The kernel: Arrow columns in, Arrow columns out, for any engine.

``bodies`` are robots.txt files, text or bytes as they were served; a body that repeats is parsed
once. Columns may have any of Arrow's types for text and bytes, with or without chunks, and results
have the same chunks. The result for null is null. Answers are those of the library:
`koster.parse(body).decide(url, agent)` and `koster.analysis.classify`.

>>> import pyarrow as pa
>>> bodies = pa.array(["User-agent: GPTBot\\nDisallow: /", None])
>>> classify(bodies, ["GPTBot"]).to_pylist()
[[{'agent': 'GPTBot', 'written': True, 'effective': 'all', 'line': 2}], None]
>>> decide(bodies, "https://example.com/a", "GPTBot").to_pylist()
[{'allowed': False, 'reason': 'rule', 'line': 2, 'pattern': '/'}, None]
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from .._asking import rules_for_data
from .._engine.names import AgentNames
from .._misuse import check_order
from ..analysis import Budget
from ..analysis import classify as analyze
from ..crawlers import agent_for, expand_agent
from ..dialects import RFC9309, Decoding, Dialect, Escapes
from ..origins import bytes_as_sent
from ..robots import decoded, parse
from ._arrow import np, pa, pc
from ._columns import (
    Column,
    EncodedColumn,
    encode_column,
    in_chunks,
    integer_array,
    integers,
    to_arrow,
    to_large_binary,
    to_text,
)
from ._facts import FACTS, facts_of
from ._loops import batches as _batches
from ._loops import extents as _extents
from ._parts import Parts, buffers

__all__ = ["CLASSIFIED", "DECIDED", "FACTS", "allowed", "classify", "decide", "facts"]

#: The result of `classify` for an agent. ``written``: a group names it. ``effective``: how much of
#: the site is disallowed for it by the groups that apply; null if that was not proved within
#: `_budget`. ``line``: of the rule that disallows, from 1; null if none does.
CLASSIFIED = pa.struct([
    pa.field("agent", pa.string()),
    pa.field("written", pa.bool_()),
    pa.field("effective", pa.string()),
    pa.field("line", pa.int32()),
])  # fmt: skip

#: The result of `decide`: see `koster.Decision`. ``pattern`` is as written, with U+FFFD for invalid
#: UTF-8.
DECIDED = pa.struct([
    pa.field("allowed", pa.bool_()),
    pa.field("reason", pa.string()),
    pa.field("line", pa.int32()),
    pa.field("pattern", pa.string()),
])  # fmt: skip

#: The code of an extent that the analysis could not prove, either.
_UNKNOWN = _extents.UNSETTLED + 1


def _budget() -> Budget:
    """Return the limits of the analysis of one file: a second at most."""
    return Budget(500_000)


def classify(bodies: Column | Parts, agents: Iterable[str], dialect: Dialect = RFC9309) -> Any:
    """Return how much of each site is disallowed for each agent: lists of `CLASSIFIED`.

    Args:
        bodies: Robots.txt files.
        agents: Product tokens or User-Agent headers; the lists are in this order. Known crawlers
            fall back to other tokens as their operators document: see `koster.crawlers`. All known
            crawlers with a purpose are ``@training``, ``@search`` and so on.
        dialect: How to read the files.

    Raises:
        TypeError: ``bodies`` is not a column of text or bytes, or an agent is not a str.
        UnknownPurposeError: a purpose is unknown.
    """
    names = check_agents(agents)
    column = encode_column(bodies, "bodies")
    return in_chunks(_classify(column, names, dialect), column.chunks)


def classify_coded(bodies: Column | Parts, agents: tuple[str, ...], dialect: Dialect) -> Any:
    """Do the same as `classify`, but text has dictionaries: Parquet is faster to write then."""
    column = encode_column(bodies, "bodies")
    return in_chunks(_classify(column, agents, dialect, is_coded=True), column.chunks)


def storable_text(text: str) -> str:
    """Return text with ``?`` for lone surrogates, which Arrow rejects."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _encode(text: str | bytes) -> bytes:
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


def _decode_agent(raw: bytes) -> str:
    """Return an agent; invalid UTF-8, which no product token has, becomes U+FFFD."""
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace")


def check_agents(agents: Iterable[str]) -> tuple[str, ...]:
    """Return agents as a tuple; those with a purpose, such as ``@training``, as their crawlers.

    Raises:
        TypeError: they are not an iterable of str.
        UnknownPurposeError: a purpose is unknown.
        MissingExtraError: the extra ``crawlers`` is missing, which knows the purposes.
    """
    if isinstance(agents, str):
        raise TypeError("agents must be an iterable of str, not one str")
    found = tuple(agents)
    for agent in found:
        if not isinstance(agent, str):
            raise TypeError(f"agents must be str, not {type(agent).__name__}")
    if not any(agent.startswith("@") for agent in found):
        return found
    # As ``koster bulk classify --agent @training`` has them.
    expanded = (expand_agent(each) if each[:1] == "@" else [each] for each in found)
    return tuple(dict.fromkeys(name for names in expanded for name in names))


def _chain(agent: str) -> tuple[str, ...]:
    """Return the names whose groups an agent obeys, in order of preference."""
    found = agent_for(agent)
    return (found,) if isinstance(found, str) else found


def _names_of(agent: str) -> tuple[str, ...]:
    """Return an agent, and the tokens that it falls back to."""
    return (agent, *_chain(agent)[1:])


@lru_cache(maxsize=16)
def _names(agents: tuple[str, ...], method: int) -> tuple[AgentNames, tuple[tuple[int, ...], ...]]:
    """Return the distinct names, and for each agent the indices of its own, if they are known."""
    tokens: dict[bytes, int] = {}
    indices = []
    for agent in agents:
        names = [each.encode("utf-8", "surrogatepass") for each in _names_of(agent)]
        found = [_extents.name_of(each, method) for each in names]
        known = [each for each in found if each is not None]
        all_known = known if len(known) == len(found) else []
        indices.append(tuple(tokens.setdefault(each, len(tokens)) for each in all_known))
    return AgentNames(list(tokens), method), tuple(indices)


def _classify(
    bodies: EncodedColumn, agents: tuple[str, ...], dialect: Dialect, *, is_coded: bool = False
) -> pa.Array:
    """Classify the distinct bodies; return the lists for all rows, without chunks."""
    parse(b"", dialect)  # raises TypeError for an invalid dialect
    cells = len(bodies.values) * len(agents)
    written = bytearray(cells)
    extents = bytearray([_extents.UNSETTLED]) * cells
    lines = array("i", bytes(4 * cells))
    if cells:
        files = _decoded(bodies.values, dialect)
        if _extents.supports(dialect):
            reader = _extents.Reader(dialect, *_names(agents, dialect.names))
            reader.classify(files.data, files.starts, files.ends, written, extents, lines)
        _analyze_unsettled(files, agents, dialect, written, extents, lines)
    written_of, extents_of, lines_of = bodies.repeat(len(agents), written, extents, lines)
    rows = len(bodies.codes)
    names, effective = _repeat(agents, rows), _extents_column(extents_of)
    if not is_coded:
        names, effective = names.dictionary_decode(), effective.dictionary_decode()
    found = pa.StructArray.from_arrays(
        [
            names,
            integer_array("B", written_of).cast(pa.bool_()),
            effective,
            _zeros_to_null(lines_of),
        ],
        names=CLASSIFIED.names,
    )
    size = len(agents)
    bounds = size * np.arange(rows + 1, dtype=np.int32)
    mask = bodies.codes.is_null() if bodies.codes.null_count else None
    return pa.ListArray.from_arrays(integer_array("i", bounds), found, mask=mask)


def _repeat(agents: tuple[str, ...], rows: int) -> pa.DictionaryArray:
    """Return the agents as often as there are rows."""
    numbers = np.tile(np.arange(len(agents), dtype=np.int32), rows)
    names = pa.array(map(storable_text, agents), pa.string())
    return pa.DictionaryArray.from_arrays(integer_array("i", numbers), names)


def _extents_column(numbers: Any) -> pa.DictionaryArray:
    """Return extents by name; null for those that are unknown."""
    codes = integer_array("B", numbers)
    if (pc.max(codes).as_py() or 0) >= len(_extents.EXTENTS):
        codes = pc.if_else(
            pc.less(codes, len(_extents.EXTENTS)), codes, pa.scalar(None, pa.uint8())
        )
    return pa.DictionaryArray.from_arrays(codes, pa.array(_extents.EXTENTS, pa.string()))


def _zeros_to_null(lines: Any) -> pa.Array:
    """Return line numbers, with null for 0."""
    numbers = np.asarray(lines)
    valid = np.packbits(numbers != 0, bitorder="little")
    both = [pa.py_buffer(valid), pa.py_buffer(numbers)]
    return pa.Array.from_buffers(pa.int32(), len(numbers), both)


def _analyze_unsettled(
    files: Parts,
    agents: tuple[str, ...],
    dialect: Dialect,
    written: bytearray,
    extents: bytearray,
    lines: array[int],
) -> None:
    """Analyze the undecided cells; agents with the same groups once for each file."""
    last = -1
    at = extents.find(_extents.UNSETTLED)
    while at >= 0:
        body, agent = divmod(at, len(agents))
        if body != last:
            robots = parse(bytes(files.data[files.starts[body] : files.ends[body]]), dialect)
            budget = _budget()
            known: dict[tuple[int, ...], tuple[int, int]] = {}
            last = body
        rules = rules_for_data(robots, _names_of(agents[agent]))
        key = rules.group_lines
        if key not in known:
            found = analyze(rules, budget)
            number = _extents.EXTENTS.index(found.extent) if found.is_proved else _UNKNOWN
            known[key] = number, found.rule.line if found.rule and found.is_proved else 0
        written[at] = rules_for_data(robots, agents[agent]).is_named
        extents[at], lines[at] = known[key]
        at = extents.find(_extents.UNSETTLED, at + 1)


def decide(
    bodies: Column | Parts | str | bytes,
    urls: Column | str,
    agents: Column | str,
    dialect: Dialect = RFC9309,
) -> Any:
    """Return whether each agent may fetch each URL, and which line says so: `DECIDED`.

    Args:
        bodies: Robots.txt files, a column or one for all rows.
        urls: Absolute URLs, or paths with queries; a column or one for all rows. Under ``GOOGLE``,
            which compares them as they are, absolute URLs get the escapes that clients send.
        agents: Product tokens or User-Agent headers; a column or one for all rows.
        dialect: How to read the files.

    Raises:
        TypeError: one of them is not a column of text or bytes.
        ValueError: columns differ in length, or there is no column; or one URL and one agent for
            all rows are swapped.
    """
    decisions = _Decisions(bodies, urls, agents, dialect)
    return in_chunks(decisions.decisions(), decisions.chunks)


def allowed(
    bodies: Column | str | bytes,
    urls: Column | str,
    agents: Column | str,
    dialect: Dialect = RFC9309,
) -> Any:
    """Return whether each agent may fetch each URL, as `decide` does without its reasons."""
    decisions = _Decisions(bodies, urls, agents, dialect)
    return in_chunks(decisions.verdicts(), decisions.chunks)


def facts(bodies: Column | Parts, dialect: Dialect = RFC9309) -> Any:
    """Return facts about each file, for all agents: structs of `FACTS`.

    Raises:
        TypeError: ``bodies`` is not a column of text or bytes.
    """
    column = encode_column(bodies, "bodies")
    return column.decode(facts_of(column.values, _decoded(column.values, dialect), dialect))


def _decoded(files: Parts, dialect: Dialect) -> Parts:
    """Return files with those that have the byte order mark of UTF-16 or UTF-32 as UTF-8."""
    if dialect.decoding is not Decoding.BY_MARK or not len(files):
        return files
    marked = _batches.marked(files.data, files.starts, files.ends)
    if not marked:
        return files
    found = files.to_pylist()
    for index in marked:
        found[index] = decoded(found[index])
    return Parts.of(pa.array(found, pa.large_binary()))


class _Decisions:
    """The decisions for all rows, in buffers that the compiled loops fill."""

    def __init__(
        self,
        bodies: Column | str | bytes,
        urls: Column | str,
        agents: Column | str,
        dialect: Dialect,
    ) -> None:
        parse(b"", dialect)  # raises TypeError for an invalid dialect
        if isinstance(urls, str) and isinstance(agents, str):
            check_order(urls, agents)
        arguments = {"bodies": bodies, "urls": urls, "agents": agents}
        columns = {
            what: each if isinstance(each, Parts) else to_arrow(each, what)
            for what, each in arguments.items()
            if not isinstance(each, (str, bytes))
        }
        sizes = {len(each) for each in columns.values()}
        if len(sizes) != 1:
            raise ValueError(
                "at least one of bodies, urls and agents must be a column"
                if not sizes
                else f"bodies, urls and agents must have the same length, not {sorted(sizes)}"
            )
        self.size = sizes.pop()
        chunked = [each for each in columns.values() if isinstance(each, pa.ChunkedArray)]
        self.chunks = tuple(map(len, chunked[0].chunks)) if chunked else None
        self.bodies = self._encode_column("bodies", columns.get("bodies"), bodies)
        self.files = _decoded(self.bodies.values, dialect)
        agent_column = self._encode_column("agents", columns.get("agents"), agents)
        paths = columns.get("urls")
        if paths is None:
            paths = pa.repeat(pa.scalar(_encode(urls), pa.large_binary()), self.size)
        paths = to_large_binary(paths)
        if dialect.reading.escapes is Escapes.PATTERN_ONLY:
            paths = _as_sent(paths)
        self._decide(paths, agent_column, dialect)

    def _encode_column(self, what: str, column: Any, one: Any) -> EncodedColumn:
        if column is not None:
            return encode_column(column, what)
        values = pa.array([_encode(one)])
        codes = integer_array("i", array("i", bytes(4 * self.size)))
        return EncodedColumn(codes, Parts.of(values.cast(pa.large_binary())), None)

    def _decide(self, paths: pa.Array, agents: EncodedColumn, dialect: Dialect) -> None:
        size = self.size
        self.allowed = bytearray(size)
        self.reasons = bytearray(size)
        self.lines = array("i", bytes(4 * size))
        self.starts = array("q", b"\xff" * (8 * size))
        self.sizes = array("q", bytes(8 * size))
        self.nulls = _any_null(self.bodies.codes, agents.codes, paths)
        order = _order(self.bodies.codes, agents.codes, self.nulls)
        files = self.files
        urls, bounds = buffers(paths)
        answers = _batches.Answers(
            self.allowed, self.reasons, self.lines, self.starts,
            self.sizes,
        )  # fmt: skip
        names = [_chain(_decode_agent(each)) for each in agents.values.to_pylist()]
        _batches.decide(
            dialect, files.data, files.starts, files.ends, integers(self.bodies.codes),
            urls, bounds, names, integers(agents.codes), order, answers,
        )  # fmt: skip

    def verdicts(self) -> pa.Array:
        """Return whether each row is allowed."""
        found = integer_array("B", self.allowed).cast(pa.bool_())
        if self.nulls is None:
            return found
        return pc.if_else(self.nulls, pa.scalar(None, pa.bool_()), found)

    def decisions(self) -> pa.Array:
        """Return the decision of each row."""
        reasons = pa.array(list(_batches.REASONS), pa.string())
        return pa.StructArray.from_arrays(
            [
                integer_array("B", self.allowed).cast(pa.bool_()),
                reasons.take(integer_array("B", self.reasons)),
                _zeros_to_null(self.lines),
                self._patterns(),
            ],
            fields=list(DECIDED),
            mask=self.nulls,
        )

    def _patterns(self) -> pa.Array:
        """Return the pattern of the rule that decided each row, as text."""
        starts, sizes = np.asarray(self.starts), np.asarray(self.sizes)
        return to_text(Parts(self.files.data, starts, starts + sizes).to_arrow())


def _as_sent(urls: pa.Array) -> pa.Array:
    """Return absolute URLs with the escapes that HTTP clients send; see `koster.origins`."""
    # Most columns have no other URLs.
    if not _UNSENT.search(buffers(urls)[0]):
        return urls
    return pa.array([None if each is None else _sent(each) for each in urls.to_pylist()], urls.type)


_UNSENT = re.compile(rb'[^!-~]|["<>`{}]')


def _sent(url: bytes) -> bytes:
    if b"://" not in url:
        return url
    return bytes_as_sent(url).encode("ascii")


def _any_null(*columns: pa.Array) -> pa.Array | None:
    """Return a mask of rows where any column is null; None if none is."""
    found = None
    for column in columns:
        if column.null_count:
            nulls = column.is_null()
            found = nulls if found is None else pc.or_(found, nulls)
    return found


def _order(bodies: pa.Array, agents: pa.Array, nulls: pa.Array | None) -> memoryview:
    """Return the rows without nulls, sorted so that rows with the same body are adjacent."""
    if nulls is None and _batches.is_sorted(integers(bodies)):
        return memoryview(array("q", range(len(bodies))))
    keys = pa.table({"body": bodies, "agent": agents})
    order = pc.sort_indices(keys, sort_keys=[("body", "ascending"), ("agent", "ascending")]).cast(
        pa.int64()
    )
    if nulls is not None:
        order = order.filter(pc.invert(nulls.take(order)))
    if not len(order):
        return memoryview(array("q"))
    values = memoryview(order.buffers()[1]).cast("B").cast("q")
    return values[order.offset : order.offset + len(order)]

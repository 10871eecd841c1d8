"""The requests of crawlers in blocks of log lines, as columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from typing import Any

from ..bulk._arrow import Numbers, np, pa, pc
from ..bulk._columns import to_numpy, to_text
from ..bulk.judging import NEVER
from ._blocks import Block, lines_of
from ._explaining import SAMPLE_BYTES
from ._formats import LineFormat
from ._identity import STATUSES, VERIFIED, Identities
from ._times import moments

#: The columns of requests. ``time`` is in microseconds since 1970; ``url`` is an absolute URL or a
#: path with query, as bytes; ``client`` is the address of a crawler that was not verified: others
#: with its name need not share its copy of robots.txt.
REQUESTS = pa.schema([
    pa.field("time", pa.int64()),
    pa.field("address", pa.string()),
    pa.field("host", pa.string()),
    pa.field("method", pa.string()),
    pa.field("url", pa.large_binary()),
    pa.field("status", pa.int32()),
    pa.field("agent", pa.string()),
    pa.field("crawler", pa.dictionary(pa.int32(), pa.string())),
    pa.field("identified", pa.dictionary(pa.int32(), pa.string())),
    pa.field("client", pa.string()),
])  # fmt: skip

#: The request line; HTTP/0.9 has no version.
_REQUEST = r"(?s)^(?P<method>[^ ]+) +(?P<url>[^ ].*?)(?: +HTTP/[0-9.]+)?$"

#: A time without its day.
_TIME_OF_DAY = r"^\d{1,2}:\d{2}"

#: An absolute URL, with its site.
_ABSOLUTE = r"^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?(?P<host>[^/?#]+)"

#: An address with its port, or with the brackets of IPv6.
_PORT = r"^(?:\[([^\]]*)\]|(\d+(?:\.\d+){3}))(?::\d+)?$"

#: What is judged: absolute URLs and paths. Not the targets of CONNECT and "OPTIONS *".
_TARGET = r"^(?:/|[A-Za-z][A-Za-z0-9+.-]*://)"

#: Unreadable lines to show.
MAX_SAMPLES = 5

#: Lines in which a User-Agent is looked for at a time: usually the first one has it.
_NAMED_LINES = 256


@dataclass(frozen=True, slots=True)
class Parsed:
    """What was found in a block.

    Attributes:
        requests: Those of crawlers: `REQUESTS`, in the order of the log.
        lines: How many lines there are, without blank ones and comments.
        unreadable: How many of them could not be read.
        samples: The first of those.
        first: The first moment in the log, in microseconds since 1970; `NEVER` if it has no time.
        last: The last moment.
        without_time: The rows that have no time, which are unreadable.
        places: Numbers that say in which order the requests are in the log.
        has_agent: Whether a line has a User-Agent.
        has_local_time: Whether a line has a time without a zone.
        found: The names of the fields that have values.
    """

    requests: pa.RecordBatch
    lines: int = 0
    unreadable: int = 0
    samples: tuple[bytes, ...] = ()
    first: int = NEVER
    last: int = NEVER
    without_time: Numbers = ()
    places: Numbers = field(default_factory=lambda: np.empty(0, np.int64))
    has_agent: bool = False
    has_local_time: bool = False
    found: frozenset[str] = frozenset()


def parse_block(
    block: Block,
    segments: list[tuple[LineFormat, bytes]],
    identities: Identities,
    zone: tzinfo | None = None,
) -> Parsed:
    """Return the requests of crawlers in a block, whose parts each have a format."""
    found = [_parse_lines(*part, identities, zone) for part in _by_format(segments)]
    dropped = len(block.dropped)
    samples = [*block.dropped, *(sample for each in found for sample in each.samples)]
    firsts = [each.first for each in found if each.first != NEVER]
    return Parsed(
        _in_order([each for each in found if len(each.requests)]),
        sum(each.lines for each in found) + dropped,
        sum(each.unreadable for each in found) + dropped,
        tuple(sample[:SAMPLE_BYTES] for sample in samples[:MAX_SAMPLES]),
        min(firsts, default=NEVER),
        max((each.last for each in found), default=NEVER),
        has_agent=any(each.has_agent for each in found),
        has_local_time=any(each.has_local_time for each in found),
        found=frozenset().union(*(each.found for each in found)),
    )


def _by_format(
    segments: list[tuple[LineFormat, bytes]],
) -> Iterator[tuple[Any, Numbers, LineFormat]]:
    """Yield lines of the same format, and where each begins in the block.

    A format may change with each line, and each call of Arrow costs as much as thousands of lines.
    """
    groups: dict[int, tuple[LineFormat, list[bytes], list[int]]] = {}
    start = 0
    for form, data in segments:
        _, parts, starts = groups.setdefault(id(form), (form, [], []))
        parts.append(data)
        starts.append(start)
        start += len(data)
    for form, parts, starts in groups.values():
        lines = lines_of(b"".join(parts) if len(parts) > 1 else parts[0])
        places = np.frombuffer(lines.buffers()[1], np.int64)[:-1]
        ends = np.cumsum([len(each) for each in parts])
        of_part = np.searchsorted(ends, places, side="right").clip(max=len(parts) - 1)
        moved = np.array(starts) - ends + np.array([len(each) for each in parts])
        yield lines, places + moved[of_part], form


def _in_order(found: list[Parsed]) -> pa.RecordBatch:
    """Return the requests of lines of several formats, in the order of the log."""
    if not found:
        return _nothing()
    if len(found) == 1:
        return found[0].requests
    table = pa.Table.from_batches([each.requests for each in found], REQUESTS).combine_chunks()
    order = np.argsort(np.concatenate([each.places for each in found]), kind="stable")
    batch: pa.RecordBatch = table.to_batches()[0].take(pa.array(order))
    return batch


def clients(addresses: Any, are_verified: Any) -> Any:
    """Return who shares a copy of robots.txt: nobody but the address, for those not verified."""
    return pc.if_else(are_verified, pa.scalar("", pa.string()), addresses.fill_null(""))


def sorted_by_time(requests: pa.RecordBatch) -> pa.RecordBatch:
    """Return requests in the order of time; those of the same moment stay in their order."""
    return requests.take(pa.array(np.argsort(requests["time"].to_numpy(), kind="stable")))


def _nothing() -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], schema=REQUESTS)


def _parse_lines(
    lines: Any, places: Numbers, form: LineFormat, identities: Identities, zone: tzinfo | None
) -> Parsed:
    """Return the requests of crawlers in lines; ``places`` say where each line begins."""
    is_text = pc.match_substring_regex(lines, r"\S")
    if form.comment:
        is_text = pc.and_not(is_text, pc.starts_with(lines, form.comment))
    if not pc.all(is_text).as_py():
        lines = lines.filter(is_text)
        places = places[to_numpy(is_text)]
    if not len(lines):
        return Parsed(_nothing())
    are_valid = form.are_valid(lines)
    valid = to_numpy(are_valid)
    samples: tuple[bytes, ...] = ()
    if not valid.all():
        bad = lines.filter(pc.invert(are_valid))[:MAX_SAMPLES]
        samples = tuple(each.strip() for each in bad.to_pylist())
    rows = np.flatnonzero(valid)
    unreadable = len(lines) - len(rows)
    if not len(rows):
        return Parsed(_nothing(), len(lines), unreadable, samples)
    chosen = valid
    if "agent" in form.fields:
        # Few lines are of crawlers: the others are not taken apart.
        chosen = np.zeros(len(lines), bool)
        for expression in identities.expressions:
            chosen |= to_numpy(pc.match_substring_regex(lines, expression, ignore_case=True))
        chosen &= valid
        # The first and the last line tell the period of the log.
        chosen[rows[0]] = chosen[rows[-1]] = True
    lines_left = lines.filter(pa.array(chosen))
    zone = UTC if form.is_utc else zone
    found = to_requests(form.columns(lines_left), identities, form.time, zone)
    if found.unreadable:
        bad = lines_left.take(pa.array(found.without_time[:MAX_SAMPLES]))
        samples += tuple(each.strip() for each in bad.to_pylist())
    return replace(
        found, lines=len(lines), unreadable=unreadable + found.unreadable, samples=samples,
        places=places[chosen][found.places],
        has_agent=found.has_agent or _is_any_named(form, lines.filter(are_valid)),
        has_local_time=found.has_local_time and not form.is_utc,
    )  # fmt: skip


def _is_any_named(form: LineFormat, lines: Any) -> bool:
    """Return whether one of valid lines has a User-Agent."""
    return "agent" in form.fields and any(
        _has_agent(form.columns(lines.slice(start, _NAMED_LINES)))
        for start in range(0, len(lines), _NAMED_LINES)
    )


def _has_agent(columns: dict[str, Any]) -> bool:
    if "agent" not in columns:
        return False
    agents = columns["agent"].cast(pa.large_binary())
    return bool(pc.any(pc.match_substring_regex(agents, r"[^\s-]")).as_py())


def to_requests(
    columns: dict[str, Any],
    identities: Identities,
    time_format: str = "",
    zone: tzinfo | None = None,
) -> Parsed:
    """Return the requests of crawlers in rows.

    Args:
        columns: The fields of log lines: arrays of text or bytes, time and status of any type.
        identities: Recognizes crawlers.
        time_format: See `koster.logs._times.moments`.
        zone: The time zone of times without one; None: UTC.
    """
    columns = _with_moment(columns)
    times, has_local_time = moments(columns["time"], time_format, zone or UTC)
    is_timed = times != NEVER
    without_time = np.flatnonzero(~is_timed)
    seen = Parsed(
        _nothing(), len(times), len(without_time), without_time=without_time,
        has_agent=_has_agent(columns), has_local_time=has_local_time,
        found=frozenset(
            name for name, column in columns.items() if column.null_count < len(column)
        ),
    )  # fmt: skip
    if not is_timed.any():
        return seen
    first, last = int(times[is_timed].min()), int(times[is_timed].max())
    if "address" in columns:
        columns["address"] = _clients(columns["address"])
    if "agent" in columns:
        numbers = identities.of_agents(columns["agent"])
    else:
        numbers = identities.of_addresses(columns["address"], times)
    columns = _with_host(_with_target(columns))
    urls = columns["url"].cast(pa.large_binary())
    is_target = to_numpy(pc.match_substring_regex(urls, _TARGET).fill_null(False))
    if "method" in columns:
        # Some servers log its target as a path.
        is_connect = pc.equal(columns["method"].cast(pa.large_binary()), b"CONNECT")
        is_target = is_target & ~to_numpy(is_connect.fill_null(False))
    rows = np.flatnonzero(is_timed & is_target & (numbers >= 0))
    seen = replace(seen, first=first, last=last)
    if not len(rows):
        return seen
    indices = pa.array(rows)
    columns = {name: column.take(indices) for name, column in columns.items() if name != "time"}
    times, numbers = times[rows], numbers[rows]
    statuses = identities.verify(columns, numbers, times)
    addresses = _text(columns.get("address"), len(rows))
    found = pa.RecordBatch.from_arrays(
        [
            pa.array(times),
            addresses,
            _text(columns.get("host"), len(rows)),
            _text(columns.get("method"), len(rows)),
            urls.take(indices),
            _integers(columns.get("status"), len(rows)),
            _text(columns.get("agent"), len(rows)),
            pa.DictionaryArray.from_arrays(
                pa.array(numbers, pa.int32()), pa.array(identities.names, pa.string())
            ),
            pa.DictionaryArray.from_arrays(
                pa.array(statuses, pa.int32()), pa.array([each.value for each in STATUSES])
            ),
            clients(addresses, pa.array(statuses == VERIFIED)),
        ],
        schema=REQUESTS,
    )
    return replace(seen, requests=found, places=rows)


def _with_moment(columns: dict[str, Any]) -> dict[str, Any]:
    """Return columns with the whole time, if it is only that of a day in another column."""
    columns = dict(columns)
    day, time = columns.pop("date", None), columns["time"]
    is_text = pa.types.is_time(time.type) or not (
        pa.types.is_temporal(time.type)
        or pa.types.is_integer(time.type)
        or pa.types.is_floating(time.type)
    )
    if day is not None and is_text:
        texts, days = (to_text(_as_text(each)) for each in (time, day))
        is_part = pc.match_substring_regex(texts, _TIME_OF_DAY)
        whole = pc.binary_join_element_wise(days, texts, pa.scalar(" ", texts.type))
        columns["time"] = pc.if_else(is_part, whole, texts)
    return columns


def _as_text(column: Any) -> Any:
    return column.cast(pa.string()) if pa.types.is_temporal(column.type) else column


def _with_host(columns: dict[str, Any]) -> dict[str, Any]:
    """Return columns with the site of absolute URLs, which counts more than any other.

    RFC 9112 §3.2.2: a server ignores the field Host of a request with such a URL.
    """
    urls = columns["url"].cast(pa.large_binary())
    if pc.any(pc.match_substring_regex(urls, _ABSOLUTE)).as_py():
        hosts = pc.struct_field(pc.extract_regex(urls, _ABSOLUTE), "host")
        given = columns.get("host")
        given = pa.nulls(len(urls), pa.large_binary()) if given is None else given
        columns = columns | {"host": pc.coalesce(hosts, given.cast(pa.large_binary()))}
    return columns


def _clients(addresses: Any) -> Any:
    """Return addresses without ports; null for a hyphen.

    The last one of a list is that which the server saw: the others are what the client said.
    """
    texts = to_text(addresses)
    if pc.any(pc.match_substring(texts, ",")).as_py():
        texts = pc.replace_substring_regex(texts, r"^.*, *", "")
    if pc.any(pc.match_substring(texts, ":")).as_py():
        texts = pc.replace_substring_regex(texts, _PORT, r"\1\2")
    is_missing = pc.match_substring_regex(texts, r"^-?$")
    return pc.if_else(is_missing, pa.scalar(None, texts.type), texts)


def _with_target(columns: dict[str, Any]) -> dict[str, Any]:
    """Return columns with method and URL, from the request line or with the query."""
    columns = dict(columns)
    if "request" in columns:
        line = columns.pop("request").cast(pa.large_binary())
        found = pc.extract_regex(line, _REQUEST)
        for name in ("method", "url"):
            given = columns.get(name)
            taken = found.field(name)
            columns[name] = taken if given is None else pc.coalesce(given.cast(taken.type), taken)
    if "query" in columns:
        query = columns.pop("query").cast(pa.large_binary())
        url = columns["url"].cast(pa.large_binary())
        bare = pc.replace_substring_regex(query, r"^\?", "")
        mark = pa.scalar(b"?", pa.large_binary())
        is_empty = pc.or_(pc.equal(bare, b"-"), pc.equal(bare, b"")).fill_null(True)
        is_empty = pc.or_(is_empty, pc.match_substring(url, "?").fill_null(False))
        columns["url"] = pc.if_else(is_empty, url, pc.binary_join_element_wise(url, bare, mark))
    return columns


def _text(column: Any, size: int) -> Any:
    """Return a column as text, with U+FFFD for invalid UTF-8; nulls if it is missing."""
    return pa.nulls(size, pa.string()) if column is None else to_text(column)


def _integers(column: Any, size: int) -> Any:
    """Return statuses; null if they are invalid."""
    if column is None:
        return pa.nulls(size, pa.int32())
    if pa.types.is_integer(column.type):
        return column.cast(pa.int32(), safe=False)
    column = _text(column, size)
    is_status = pc.match_substring_regex(column, r"^\d{3}$")
    return pc.if_else(is_status, column, pa.scalar(None, pa.string())).cast(pa.int32())

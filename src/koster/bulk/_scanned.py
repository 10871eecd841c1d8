"""Archives of usual form as Arrow columns, without a Python object for each record.

`_members` decompresses, `_loops.records` finds the parts of the records, and columns are gathered
from there. fastwarc reads the single records that are irregular. Where the form of an
archive is unusual, or it is broken, reading stops before, for `_warc_recovery` to continue.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from .._bodies import stored_body
from .._charsets import MAX_BYTES, declared_charset, to_utf8
from .._contents import is_binary, is_page
from ..access import Failure
from . import warc
from ._archived import ARCHIVED
from ._arrow import Numbers, np, pa
from ._loops import records as _records
from ._members import Members, read_members
from ._parts import Parts
from ._warc_reader import BadRecord, BrokenError, read_raw
from .warc import FetchClass

if TYPE_CHECKING:
    # A type of C in compiled modules.
    from ._loops.buffers import Buffer

_CLASSES = tuple(FetchClass)
_CODES = {fetch_class: code for code, fetch_class in enumerate(_CLASSES)}
# Without its type, Arrow looks for modules to infer it.
_CLASS_NAMES = pa.array([each.value for each in _CLASSES], pa.string())
_WIDTH = len(_records.COLUMNS)
#: So many irregular records are read one by one, even if there are no others.
_FEW = 16


class Piece(NamedTuple):
    """Some fetches: the columns of `ARCHIVED`, the bodies as crawlers read them, and as served."""

    passthrough: Any
    bodies: Parts
    served: Parts


class Scanned(NamedTuple):
    """The fetches and broken records of a part of an archive, and where its last record starts.

    ``noted`` counts revisits and resources, ``crawl`` is the name of the crawl at its end, and
    ``end`` the offset after it.
    """

    piece: Piece
    bad: list[BadRecord]
    noted: Counter[str]
    crawl: str | None
    last: int
    end: int


def scan(file: BinaryIO, name: str, crawl: str | None) -> Iterator[Scanned]:
    """Yield the parts of an archive, up to its end or to anything unusual."""
    scanner = _records.Scanner()
    last = -1
    for members in read_members(file):
        table = np.empty((len(members.offsets), _WIDTH), np.int64)
        count = scanner.scan(members.data, members.bounds, table.reshape(-1))
        if count < 0:
            return
        rows = dict(zip(_records.COLUMNS, np.ascontiguousarray(table[:count].T), strict=True))
        if count > _FEW and 2 * np.count_nonzero(rows["status"]) < count:
            # One by one, fastwarc reads irregular records half as fast as all of them.
            return
        part = _Part(members, rows, crawl)
        try:
            piece = part.piece(name)
        except (BrokenError, pa.ArrowInvalid):
            return
        crawl = part.crawls[-1]
        last = int(members.offsets[rows["number"][-1]]) if count else last
        yield Scanned(piece, part.bad, part.noted, crawl, last, members.end)


class _Part:
    """The records of some members."""

    def __init__(self, members: Members, rows: dict[str, Numbers], crawl: str | None) -> None:
        self.data = members.data
        self.members = members
        self.rows = rows
        self.offsets = members.offsets[rows["number"]]
        self.bad: list[BadRecord] = []
        self.noted: Counter[str] = Counter()
        self.crawls = [crawl]
        self.crawl_codes = np.zeros(len(self.offsets), np.int32)

    def piece(self, name: str) -> Piece:
        """Return the fetches of the archive ``name``.

        Raises:
            BrokenError: an irregular record is broken.
        """
        is_regular = self.rows["status"] > 0
        places, fetches = self._irregular_fetches(np.flatnonzero(~is_regular))
        # No copies if all are.
        some = slice(None) if is_regular.all() else np.flatnonzero(is_regular)
        regular = _Columns(self, some).piece(name)
        if not fetches:
            return regular
        order = np.argsort(np.concatenate([np.flatnonzero(is_regular), places]))
        return _take(joined([regular, piece_of(fetches, name)]), order)

    def _irregular_fetches(self, indices: Numbers) -> tuple[list[int], list[warc.Record]]:
        """Return the rows of irregular records that are fetches, and the fetches."""
        places, fetches = [], []
        for index in indices:
            number = self.rows["number"][index]
            start, end = self.members.bounds[number : number + 2]
            for raw in read_raw(io.BytesIO(self.data[start:end]), all_types=False):
                if raw.type == "warcinfo":
                    self.crawls.append(warc.crawl_from_info(raw.body) or self.crawls[-1])
                    self.crawl_codes[index:] = len(self.crawls) - 1
                    continue
                if raw.type != "response":
                    self.noted[raw.type] += warc.is_noted(raw)
                    continue
                moved = raw._replace(offset=int(self.offsets[index]))
                found = warc.record_of(moved, self.crawls[-1])
                if isinstance(found, BadRecord):
                    self.bad.append(found)
                elif found is not None:
                    places.append(index)
                    fetches.append(found)
        return places, fetches


class _Columns:
    """Regular records as columns."""

    def __init__(self, part: _Part, indices: Numbers | slice) -> None:
        self.data: Buffer = part.data
        self.rows = {name: values[indices] for name, values in part.rows.items()}
        self.offsets = part.offsets[indices]
        self.crawls = pa.array(part.crawls, pa.string()).take(pa.array(part.crawl_codes[indices]))
        self.status = self.rows["status"]
        self.is_served = (self.status >= 200) & (self.status < 300)

    def piece(self, name: str) -> Piece:
        types = self._text("content_type")
        distinct = types.dictionary_encode()
        kinds = distinct.dictionary.to_pylist()
        charsets = pa.array([declared_charset(each) for each in kinds], pa.string())
        charsets = charsets.take(distinct.indices)
        locations = self._locations()
        is_text = np.array([*map(warc.is_text_type, kinds), True])
        is_text = is_text[distinct.indices.fill_null(len(kinds)).to_numpy()]
        bodies, served, is_robots, is_whole = self._bodies(is_text, charsets)
        codes = self._codes(is_robots, is_whole, locations)
        count = len(self.status)
        columns = [
            self._text("url"),
            self._text("url", "origin_size"),
            self.crawls,
            self._text("date").cast(ARCHIVED.field("fetched").type),
            pa.array(self.status.astype(np.int32)),
            _CLASS_NAMES.take(pa.array(codes)),
            pa.array(locations, pa.string()) if locations else pa.nulls(count, pa.string()),
            types,
            charsets,
            pa.array(is_whole, mask=~self.is_served),
            pa.array(self.rows["body_size"]),
            pa.repeat(pa.scalar(name, pa.string()), count),
            pa.array(self.offsets),
        ]
        return Piece(pa.RecordBatch.from_arrays(columns, schema=ARCHIVED), bodies, served)

    def _text(self, name: str, size: str | None = None) -> Any:
        starts = self.rows[name]
        ends = starts + self.rows[size or f"{name}_size"]
        return Parts(self.data, starts, ends).to_arrow().cast(pa.string())

    def _locations(self) -> list[str | None] | None:
        """Return the targets of redirects, or None without any."""
        rows = self.rows
        is_redirect = (self.status >= 300) & (self.status < 400) & (rows["location"] >= 0)
        if not is_redirect.any():
            return None
        found: list[str | None] = [None] * len(self.status)
        for index in np.flatnonzero(is_redirect):
            url, value = self._slice("url", index), self._slice("location", index)
            found[index] = warc.target_of(url.decode(), int(self.status[index]), value.decode())
        return found

    def _slice(self, name: str, index: Any) -> bytes:
        start = self.rows[name][index]
        return bytes(self.data[start : start + self.rows[f"{name}_size"][index]])

    def _codes(
        self, is_robots: Numbers, is_whole: Numbers, locations: list[str | None] | None
    ) -> Numbers:
        """Return the fetch class of each record as an index into `_CLASSES`."""
        is_redirect = np.zeros(len(self.status), bool)
        if locations:
            is_redirect = np.array([each is not None for each in locations], bool)
        is_file = self.is_served & is_whole
        conditions = [is_robots & is_file, is_file, is_redirect, _IS_UNAVAILABLE[self.status]]
        classes = (
            FetchClass.OK,
            FetchClass.WRONG_TYPE,
            FetchClass.REDIRECT,
            FetchClass.UNAVAILABLE,
        )
        codes = [_CODES[each] for each in classes]
        return np.select(conditions, codes, _CODES[FetchClass.UNREACHABLE]).astype(np.int32)

    def _bodies(self, is_text: Numbers, charsets: Any) -> tuple[Parts, Parts, Numbers, Numbers]:
        """Return the bodies as crawlers read them, as served, and which are robots.txt files.

        Null if there is no file. Last, which are whole, as `stored_body` says.
        """
        starts = np.where(self.is_served, self.rows["body"], -1)
        ends = np.where(self.is_served, starts + self.rows["body_size"], -1)
        is_robots = is_text & self.is_served
        is_whole = np.ones(len(starts), bool)
        changed = self._decode(starts, ends, charsets, is_robots, is_whole)
        starts[~is_whole], ends[~is_whole] = -1, -1
        if not changed:
            bodies = served = Parts(self.data, starts, ends)
            return bodies, served, is_robots, is_whole
        places = self._add(list(changed.values()))
        served = Parts(self.data, starts, ends)
        bodies = Parts(self.data, starts.copy(), ends.copy())
        bodies.starts[[*changed]], bodies.ends[[*changed]] = places[:-1], places[1:]
        return bodies, served, is_robots, is_whole

    def _decode(
        self, starts: Numbers, ends: Numbers, charsets: Any, is_robots: Numbers, is_whole: Numbers
    ) -> dict[int, bytes]:
        """Return the bodies that crawlers do not read as served.

        Unset ``is_robots`` of pages, and ``is_whole`` of bodies that cannot be read.
        """
        is_plain, has_ended = self.rows["is_plain"] > 0, self.rows["is_whole"] > 0
        is_usual = is_plain & has_ended & (self.rows["body_size"] <= MAX_BYTES)
        odd = np.flatnonzero(self.is_served & ~is_usual)
        # As lists: a number of NumPy takes as long to use as some of the checks.
        given = (starts[odd], ends[odd], has_ended[odd], (is_robots & ~is_plain)[odd])
        names = charsets.take(pa.array(odd)).to_pylist()
        changed = {}
        for index, name, start, end, is_all, may_be_other in zip(
            odd.tolist(), names, *(each.tolist() for each in given), strict=True
        ):
            body = bytes(self.data[start:end])
            if isinstance(stored_body({}, body, is_cut=not is_all, limit=warc.MAX_BODY), Failure):
                is_whole[index] = False
                continue
            if may_be_other:
                is_robots[index] = not is_page(body) and not is_binary(body)
            text = to_utf8(body, name, is_all)[0]
            if text != body:
                changed[index] = text
        return changed

    def _add(self, texts: Sequence[bytes]) -> Numbers:
        """Add texts after the records; return where each starts, and the last one ends."""
        end = len(self.data)
        self.data = b"".join([self.data, *texts])
        return end + np.cumsum([0, *map(len, texts)])


_IS_UNAVAILABLE = np.zeros(1_000, bool)
_IS_UNAVAILABLE[sorted(warc.UNAVAILABLE)] = True


def piece_of(fetches: list[warc.Record], name: str) -> Piece:
    """Return fetches of the archive ``name`` as columns."""
    rows = [
        (
            each.url, each.origin, each.crawl, each.fetched, each.status, each.fetch_class.value,
            each.location, each.content_type, each.charset, each.is_whole, len(each.body), name,
            each.offset,
        )
        for each in fetches
    ]  # fmt: skip
    passthrough = pa.RecordBatch.from_arrays(
        [
            pa.array([storable_value(value) for value in column], field.type)
            for column, field in zip(zip(*rows, strict=True), ARCHIVED, strict=True)
        ],
        schema=ARCHIVED,
    )
    served = [each.body if each.fetch_class in WITH_BODY else None for each in fetches]
    bodies = [
        None if body is None else to_utf8(body, each.charset, not each.is_cut)[0]
        for body, each in zip(served, fetches, strict=True)
    ]
    as_served = Parts.of(pa.array(served, pa.large_binary()))
    is_same = bodies == served
    as_read = as_served if is_same else Parts.of(pa.array(bodies, pa.large_binary()))
    return Piece(passthrough, as_read, as_served)


#: The fetch classes with a body to parse.
WITH_BODY = (FetchClass.OK, FetchClass.WRONG_TYPE)


def storable_value(value: Any) -> Any:
    """Return text with U+FFFD for lone surrogates, which Arrow rejects; other values unchanged."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return value


def _take(piece: Piece, order: Numbers) -> Piece:
    """Return the rows of a piece in another order."""
    passthrough, served = piece.passthrough.take(pa.array(order)), piece.served.take(order)
    is_same = piece.bodies is piece.served
    return Piece(passthrough, served if is_same else piece.bodies.take(order), served)


def joined(pieces: list[Piece]) -> Piece:
    """Concatenate pieces."""
    if len(pieces) == 1:
        return pieces[0]
    are_same = all(each.bodies is each.served for each in pieces)
    served = _concatenated([each.served for each in pieces])
    return Piece(
        pa.concat_batches([each.passthrough for each in pieces]),
        served if are_same else _concatenated([each.bodies for each in pieces]),
        served,
    )


def _concatenated(columns: list[Parts]) -> Parts:
    return Parts.of(pa.concat_arrays([each.to_arrow() for each in columns]))

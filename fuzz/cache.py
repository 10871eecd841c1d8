"""A record or cache file with any damage is no entry, or one that is usable; it is never an error."""

from __future__ import annotations

import contextlib
import itertools
import json
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import koster
from koster import access, freshness
from koster._moments import FIRST, LAST
from koster.cache import SqliteCache
from koster.cache.memory import memory_bytes
from koster.cache.store import decode_entry, encode_entry
from koster.errors import CacheError
from koster.freshness import Answer, Entry, Hop
from koster.origins import origin_of

from ._damage import damaged, edits
from ._tables import spread

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)

_ENTRY = Entry(
    origin="https://example.com",
    answer=Answer.FILE,
    url="https://www.example.com/robots.txt",
    hops=(
        Hop("https://example.com/robots.txt", 301, (("location", "/é\udcff"),), "", 0.25),
        Hop("https://www.example.com/robots.txt", None, (), "timeout\n", 9.5),
    ),
    status=None,
    why="timeout\n",
    body=b"User-agent: *\r\nDisallow: /\xff\0\n",
    fetched=NOW - timedelta(days=1, microseconds=1),
    expires=NOW + timedelta(hours=1),
    unreachable_since=NOW,
    etag='W/"1"',
    last_modified=None,
    charset="koi8-r",
)
_ENTRIES = (
    _ENTRY,
    replace(_ENTRY, answer=Answer.NONE, hops=(), body=b"", etag=None, is_cut=True),
    replace(_ENTRY, answer=Answer.UNAVAILABLE, status=404, unreachable_since=None, charset=None),
    replace(_ENTRY, fetched=FIRST, expires=LAST, unreachable_since=LAST, body=b"\n\n"),
)
_MOMENTS = (NOW, FIRST, LAST, NOW + timedelta(days=40), NOW - timedelta(days=40))

#: Values of fields of other types, and at the ends of their ranges.
_VALUES: tuple[Any, ...] = spread(
    (1, [None, True, False, 0, -1, 200, 404, 2**31, 2**63, 10**400, -(10**400), 1.5, -0.0]),
    (1, [1e308, float("inf"), float("-inf"), float("nan"), "", "x", "\0", "\udcff", "file", "5"]),
    (1, [[], {}, [[]], [None] * 5, [["u", 200, [], "", 1.0]], [["u", None, [["a", "b"]], "", 0]]]),
    (1, [[["u", "x", [["a"]], 5, None]], {"a": [{}]}, "none", "forbidden", 253402300799.999999]),
    (1, [-62135596800.0, 253402300800, "1795262400", [[1, 2, 3, 4, 5]], [["u", 1, {"ab": 1}, "", "1"]]]),
)  # fmt: skip


def check(data: bytes) -> None:
    """Check one input."""
    source = iter(data)
    kind, choice = next(source, 0), next(source, 0)
    entry = _ENTRIES[choice & 3]
    if kind < 100:
        _check_record(damaged(encode_entry(entry), source), entry)
    elif kind < 230:
        _check_record(_with_other_fields(encode_entry(entry), source), None)
    elif kind < 250:
        _check_record(bytes(source), None)
    else:
        _check_file(damaged(_cache_file(), source))


def _with_other_fields(record: bytes, source: Iterator[int]) -> bytes:
    """Return a record with other values and a correct checksum."""
    _, line, body = record.split(b"\n", 2)
    fields = json.loads(line)
    names = [*fields, "other"]
    for operation in itertools.islice(source, edits(next(source, 0))):
        name = names[operation % len(names)]
        value = _VALUES[next(source, 0)]
        if operation >= 224:
            fields.pop(name, None)
        elif operation >= 192:
            fields[name] = [fields.get(name), value]
        elif operation >= 160 and isinstance(fields.get("hops"), list):
            fields["hops"] = [*fields["hops"], value]
        else:
            fields[name] = value
    content = json.dumps(fields).encode() + b"\n" + body
    return b"koster-entry-1 %08x\n%s" % (zlib.crc32(content), content)


def _check_record(record: bytes, written: Entry | None) -> None:
    """Check that a record is an entry that is usable, or none; ``written`` is what it may be."""
    found = decode_entry(record)
    if found is None:
        return
    # The checksum: no damage goes unnoticed.
    assert written is None or found == written
    assert decode_entry(encode_entry(found)) == found, found
    assert memory_bytes(found) >= 0
    for now in _MOMENTS:
        for dialect in (koster.RFC9309, koster.MK1996):
            assert isinstance(freshness.is_fresh(found, now, dialect.statuses), bool)
            outcome = access.outcome_of(found, dialect, now)
            decision = outcome.decide("https://example.com/private", "FooBot")
            assert str(decision)
            assert isinstance(outcome.is_downgraded, bool)
            assert isinstance(outcome.is_stale, bool)
        _fetch_again(found, now)


def _fetch_again(copy: Entry, now: datetime) -> None:
    """Fetch a site whose cached entry this is."""
    machine = access.Access()
    request = machine.begin(origin_of("https://example.com"), copy)
    for name, value in request.headers:
        assert (name + value).isascii()
        assert (name + value).isprintable()
    failed = machine.fail(request, access.Failure(access.FailureKind.TIMEOUT, "timeout"), now)
    assert decode_entry(encode_entry(failed)) == failed
    for status in (304, 503):
        step = machine.respond(request, access.Response(status, {}), now)
        assert isinstance(step, Entry)
        assert decode_entry(encode_entry(step)) == step


_folder = Path(tempfile.mkdtemp(prefix="koster-fuzz-"))
_made: list[bytes] = []


def _cache_file() -> bytes:
    """Return a cache file with an entry."""
    if not _made:
        path = _folder / "made.sqlite"
        with closing(SqliteCache(path)) as cache:
            for number, entry in enumerate(_ENTRIES):
                cache.put(f"https://{number}.example", entry)
        _made.append(path.read_bytes())
    return _made[0]


#: Where the header of a file of SQLite has its user_version and application_id.
_MARKS = (slice(60, 64), slice(68, 72))


def _check_file(content: bytes) -> None:
    path = _folder / "cache.sqlite"
    path.write_bytes(content)
    with closing(SqliteCache(path)) as cache:
        for number in range(2):
            with contextlib.suppress(CacheError):
                cache.get(f"https://{number}.example")
        with contextlib.suppress(CacheError):
            assert all(isinstance(key, str) for key in cache.keys())  # noqa: SIM118 - no dictionary
        with contextlib.suppress(CacheError):
            cache.put("https://0.example", _ENTRY)
            # A damaged index may lose it.
            assert cache.get("https://0.example") in (None, _ENTRY)
    if content and any(content[mark] != _made[0][mark] for mark in _MARKS):
        is_blank = not any(any(content[mark]) for mark in _MARKS)
        assert is_blank or path.read_bytes() == content, "a foreign file was changed"
    for each in _folder.glob("cache.sqlite*"):
        each.unlink()

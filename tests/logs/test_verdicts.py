"""Verdicts: the truth tables of versions, and that all engines agree."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import koster
from koster.bulk.duckdb import register
from koster.logs import TOLERANCE, Judge, Verdict, judge
from tests.helpers.requests_of import CLOSED, OPEN, at, random_case, requests, versions
from tests.helpers.support import sampled

ALLOWED, VIOLATION, WITHIN, EXEMPT, ROBOTS_TXT, NOT_JUDGED = (each.value for each in Verdict)

#: The file is closed at noon, or opened; both are known from long before.
CLOSING = versions((-100, OPEN), (0, CLOSED))
OPENING = versions((-100, CLOSED), (0, OPEN))
ALWAYS = versions((None, CLOSED))

PRIVATE = "/private/a"


def verdicts(rows: Any, of: pa.Table, **options: Any) -> list[str]:
    return [each["verdict"] for each in judge(requests(rows), of, **options).to_pylist()]


#: The last request of some, the versions, and its verdict.
LAST: list[tuple[str, Any, pa.Table, str]] = [
    # One version.
    ("never asked, one version", [(1, PRIVATE)], ALWAYS, VIOLATION),
    ("allowed", [(1, "/a")], ALWAYS, ALLOWED),
    ("asked, one version", [(0, "/robots.txt"), (1, PRIVATE)], ALWAYS, VIOLATION),
    # A fetch of its own.
    ("fetched before the change", [(-1, "/robots.txt"), (1, PRIVATE)], CLOSING, WITHIN),
    ("fetched after the change", [(1, "/robots.txt"), (2, PRIVATE)], CLOSING, VIOLATION),
    ("fetched before and after", [(-1, "/robots.txt"), (1, "/robots.txt"), (2, PRIVATE)],
     CLOSING, VIOLATION),
    ("fetched before it was opened", [(-1, "/robots.txt"), (1, PRIVATE)], OPENING, ALLOWED),
    ("fetched after it was opened", [(1, "/robots.txt"), (2, PRIVATE)], OPENING, ALLOWED),
    ("the copy is stale", [(-1, "/robots.txt"), (24.5, PRIVATE)], CLOSING, VIOLATION),
    ("the copy is stale, the change is recent", [(-30, "/robots.txt"), (1, PRIVATE)], CLOSING,
     WITHIN),
    # No fetch.
    ("never asked, an hour after the change", [(1, PRIVATE)], CLOSING, WITHIN),
    ("never asked, a day after the change", [(25, PRIVATE)], CLOSING, VIOLATION),
    ("never asked, an hour after it was opened", [(1, PRIVATE)], OPENING, ALLOWED),
    ("the log starts less than a day earlier", [(20, "/a"), (23, PRIVATE)], CLOSING, WITHIN),
    # Statuses.
    ("304 confirms the new version", [(-1, "/robots.txt"), (1, "/robots.txt", 304),
     (2, PRIVATE)], CLOSING, VIOLATION),
    ("304 confirms the old version", [(-2, "/robots.txt"), (-1, "/robots.txt", 304),
     (1, PRIVATE)], CLOSING, WITHIN),
    ("404: all is allowed", [(1, "/robots.txt", 404), (2, PRIVATE)], ALWAYS, WITHIN),
    ("403: all is allowed", [(1, "/robots.txt", 403), (2, PRIVATE)], ALWAYS, WITHIN),
    ("404, then the file", [(1, "/robots.txt", 404), (2, "/robots.txt"), (3, PRIVATE)], ALWAYS,
     VIOLATION),
    ("404, a day ago", [(1, "/robots.txt", 404), (26, PRIVATE)], ALWAYS, VIOLATION),
    ("503 keeps the copy", [(-1, "/robots.txt"), (1, "/robots.txt", 503), (2, PRIVATE)],
     CLOSING, WITHIN),
    ("503 keeps the copy after a day", [(-1, "/robots.txt"), (24, "/robots.txt", 503),
     (25, PRIVATE)], CLOSING, WITHIN),
    ("429 keeps the copy after a day", [(-1, "/robots.txt"), (24, "/robots.txt", 429),
     (25, PRIVATE)], CLOSING, WITHIN),
    ("503 for a month: all is allowed", [(-1, "/robots.txt"),
     *((24 * day, "/robots.txt", 503) for day in range(1, 31)), (24 * 30 + 1, PRIVATE)],
     CLOSING, WITHIN),
    ("503 and never a copy", [(1, "/robots.txt", 503), (2, PRIVATE)], CLOSING, WITHIN),
    ("503 and never a copy, one version", [(1, "/robots.txt", 503), (2, PRIVATE)], ALWAYS,
     VIOLATION),
    ("301 says nothing", [(1, "/robots.txt", 301), (2, PRIVATE)], CLOSING, WITHIN),
    ("301 after the copy", [(1, "/robots.txt"), (2, "/robots.txt", 301), (3, PRIVATE)], CLOSING,
     WITHIN),
    ("499: the client hung up", [(1, "/robots.txt", 499), (2, PRIVATE)], ALWAYS, VIOLATION),
    ("403 for another says nothing", [(1, "/robots.txt", 403, "", "bingbot"), (2, PRIVATE)],
     ALWAYS, VIOLATION),
    # Clients.
    ("another crawler behind the address fetched it",
     [(1, "/robots.txt", 200, "1.2.3.4", "bingbot"), (2, PRIVATE, 200, "1.2.3.4")], CLOSING,
     WITHIN),
    ("another address fetched it", [(1, "/robots.txt", 200, "1.2.3.4"),
     (2, PRIVATE, 200, "5.6.7.8")], CLOSING, WITHIN),
    ("the same address fetched it", [(1, "/robots.txt", 200, "1.2.3.4"),
     (2, PRIVATE, 200, "1.2.3.4")], CLOSING, VIOLATION),
    ("the server told another that there is no file",
     [(1, "/robots.txt", 404, "", "bingbot"), (2, PRIVATE)], ALWAYS, WITHIN),
    # Times.
    ("just after the change", [(1 / 3600, "/robots.txt"), (0.1, PRIVATE)], CLOSING, WITHIN),
    ("just after the fetch", [(-1, "/robots.txt"), (1, "/robots.txt"), (1, PRIVATE)], CLOSING,
     WITHIN),
    ("before the first version", [(-200, PRIVATE)], CLOSING, NOT_JUDGED),
    ("just after the first version", [(-99, PRIVATE)], OPENING, WITHIN),
    # Rules.
    ("the file itself", [(1, "/robots.txt?x=1")], ALWAYS, ROBOTS_TXT),
    ("the file, encoded", [(1, "/robots%2Etxt")], ALWAYS, ROBOTS_TXT),
    ("the file by its URL", [(1, "https://example.com/robots.txt")], ALWAYS, ROBOTS_TXT),
    ("an absolute URL", [(1, "https://example.com/private/")], ALWAYS, VIOLATION),
    ("a fetcher for a person", [(1, PRIVATE, 200, "", "ChatGPT-User")], ALWAYS, EXEMPT),
    ("a fetcher that promises to obey", [(1, PRIVATE, 200, "", "Claude-User")], ALWAYS,
     VIOLATION),
    ("a crawler that ignores *", [(1, PRIVATE, 200, "", "AdsBot-Google")], ALWAYS, EXEMPT),
    ("a crawler that ignores all", [(1, PRIVATE, 200, "", "img2dataset")], ALWAYS, VIOLATION),
    ("no group", [(1, PRIVATE)], versions((None, "User-agent: bingbot\nDisallow: /")), EXEMPT),
    ("an empty file", [(1, PRIVATE)], versions((None, "")), ALLOWED),
    ("no file", [(1, PRIVATE)], versions((None, None)), ALLOWED),
    ("a fallback", [(1, PRIVATE, 200, "", "Googlebot-Image")],
     versions((None, "User-agent: Googlebot\nDisallow: /private/")), VIOLATION),
]  # fmt: skip


@pytest.mark.parametrize(("name", "rows", "of", "expected"), LAST, ids=[each[0] for each in LAST])
def test_last_request(name: str, rows: Any, of: pa.Table, expected: str) -> None:
    assert verdicts(rows, of)[-1] == expected


@pytest.mark.parametrize(
    ("rows", "of", "expected"),
    [each[1:] for each in sampled(LAST, 4)],
    ids=[each[0] for each in sampled(LAST, 4)],
)
def test_last_request_in_duckdb(
    con: duckdb.DuckDBPyConnection, rows: Any, of: pa.Table, expected: str
) -> None:
    assert in_duckdb(con, requests(rows), of)[-1]["verdict"] == expected


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        register(connection)
        yield connection


def in_duckdb(
    con: duckdb.DuckDBPyConnection, asked: pa.Table, of: pa.Table, grace: timedelta | None = None
) -> list[Any]:
    con.register("asked", asked.append_column("row", pa.array(range(len(asked)))))
    con.register("versions", of)
    period = "" if grace is None else f", grace := INTERVAL {grace.total_seconds():.0f} SECONDS"
    found = con.sql(f"FROM robots_judge('asked', 'versions'{period}) ORDER BY row")
    names = ("verdict", "disallowed", "version", "line", "rule")
    return [{name: row[name] for name in names} for row in found.to_arrow_table().to_pylist()]


def test_result_names_the_rule_and_its_version() -> None:
    two = versions((-100, "User-agent: *\n\nDisallow: /private/"), (0, CLOSED))
    rows = [(-50, "/robots.txt"), (-49, PRIVATE), (1, "/robots.txt"), (2, PRIVATE), (3, "/a")]
    found = judge(requests(rows), two).to_pylist()
    assert found[1] == {
        "verdict": VIOLATION, "disallowed": True, "version": "1", "line": 3,
        "rule": "Disallow: /private/",
    }  # fmt: skip
    assert (found[3]["version"], found[3]["line"]) == ("2", 2)
    assert found[4] == {
        "verdict": ALLOWED, "disallowed": False, "version": None, "line": None, "rule": None,
    }  # fmt: skip


def test_what_the_version_in_force_allows_is_no_violation() -> None:
    """The crawler fetched a version that disallows it; a later one may have come from elsewhere."""
    found = judge(requests([(-1, "/robots.txt"), (1, PRIVATE)]), OPENING).to_pylist()[-1]
    assert (found["verdict"], found["disallowed"]) == (ALLOWED, False)


def test_many_clients_in_a_batch() -> None:
    rows = [
        (hours, url, 200, f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
        for hours, url in ((1, "/robots.txt"), (2, PRIVATE))
        for number in range(40_000)
    ]
    found = judge(requests(rows), CLOSING).field("verdict").to_pylist()
    assert set(found[40_000:]) == {VIOLATION}


def test_a_request_of_another_decade_changes_nothing() -> None:
    rows = [(-24 * 366 * 25, "/robots.txt"), (1, "/robots.txt", 404), (2, PRIVATE)]
    assert verdicts(rows, ALWAYS)[-1] == WITHIN


def test_missing_values() -> None:
    table = requests([(1, "/robots.txt"), (2, PRIVATE)])
    nothing = pa.nulls(2, pa.string())
    found = judge(table.set_column(1, "crawler", nothing), ALWAYS).to_pylist()
    assert [each["verdict"] for each in found] == [ROBOTS_TXT, VIOLATION]


def test_grace_is_the_caching_period(con: duckdb.DuckDBPyConnection) -> None:
    rows = [(-1, "/robots.txt"), (1, PRIVATE)]
    assert verdicts(rows, CLOSING, grace=timedelta(hours=3))[-1] == WITHIN
    assert verdicts(rows, CLOSING, grace=timedelta(minutes=30))[-1] == VIOLATION
    short = timedelta(minutes=30)
    assert in_duckdb(con, requests(rows), CLOSING, short)[-1]["verdict"] == VIOLATION


def test_dialect_reads_the_versions() -> None:
    of = versions((None, "User-agent: *\nDisallowed: /private/"))
    assert verdicts([(1, PRIVATE)], of) == [ALLOWED]
    assert verdicts([(1, PRIVATE)], of, dialect=koster.GOOGLE) == [VIOLATION]


def test_requests_may_be_in_any_order_and_have_no_optional_columns() -> None:
    table = requests([(2, PRIVATE), (1, "/robots.txt"), (-1, PRIVATE)])
    plain = table.drop_columns(["client"])
    found = [each["verdict"] for each in judge(plain, CLOSING).to_pylist()]
    assert found == [VIOLATION, ROBOTS_TXT, ALLOWED]


def test_each_host_has_its_own_copy() -> None:
    table = requests([(1, "/robots.txt"), (2, PRIVATE), (2, PRIVATE)])
    table = table.append_column("host", pa.array(["a.example", "a.example", "b.example"]))
    found = [each["verdict"] for each in judge(table, CLOSING).to_pylist()]
    assert found == [ROBOTS_TXT, VIOLATION, WITHIN]


def test_invalid_arguments() -> None:
    with pytest.raises(ValueError, match="at least one version"):
        judge(requests([(1, "/a")]), versions())
    with pytest.raises(KeyError, match="status"):
        judge(requests([(1, "/a")]).drop_columns(["status"]), ALWAYS)
    with pytest.raises(TypeError, match="time must be a column of timestamps, not of string"):
        judge(requests([(1, "/a")]).set_column(0, "time", pa.array(["x"])), ALWAYS)
    empty = requests([(1, "/a")]).set_column(0, "time", pa.nulls(1, pa.timestamp("us")))
    with pytest.raises(ValueError, match="time must not be null"):
        judge(empty, ALWAYS)
    assert judge(requests([]), ALWAYS).to_pylist() == []


@pytest.mark.parametrize("seed", sampled(range(30), 3))
def test_duckdb_agrees(con: duckdb.DuckDBPyConnection, seed: int) -> None:
    asked, of = random_case(seed)
    assert in_duckdb(con, asked, of) == judge(asked, of).to_pylist()


@pytest.mark.parametrize("seed", sampled(range(10), 3))
def test_batches_are_judged_like_the_whole(seed: int) -> None:
    asked, of = random_case(seed, ("Example.com:443", None))
    asked = asked.sort_by("time")
    judged = Judge(of)
    found = [
        int(each)
        for start in range(0, len(asked), 31)
        for each in judged.judge(asked.slice(start, 31).combine_chunks().to_batches()[0]).verdicts
    ]
    names = [each["verdict"] for each in judge(asked, of).to_pylist()]
    # Requests of the same moment may be in different batches, before the fetch of the file.
    differences = [
        number
        for number, (one, other) in enumerate(zip(found, names, strict=True))
        if list(Verdict)[one].value != other
    ]
    times = asked["time"].to_pylist()
    fetches = {
        time
        for time, url in zip(times, asked["url"].to_pylist(), strict=True)
        if "robots.txt" in url
    }
    assert all(times[number] in fetches for number in differences)


def test_tolerance_is_that_of_the_docs() -> None:
    assert timedelta(seconds=10) == TOLERANCE
    assert at(0).tzinfo is not None

"""DuckDB and Polars give the same results as the kernel. Run Spark's tests with ``make test-spark``."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest

import koster
import koster.bulk.polars
from koster.bulk import CLASSIFIED, DECIDED, FACTS, SIGNAL, kernel
from koster.bulk.duckdb import REDIRECTS, register
from koster.crawlers import UnknownPurposeError, expand_agent
from tests.helpers import signal_cases
from tests.helpers.columns import AGENTS, BODIES, ONE, OTHER, cell, decision

URLS = ["/private", "/private/x", "https://e.com/", "/robots.txt"]
#: More rows than DuckDB passes on in one batch.
ROWS = 5_000


@pytest.fixture
def con() -> Iterator[Any]:
    connection = duckdb.connect()
    register(connection)
    yield connection
    connection.close()


@pytest.fixture
def table(con: Any) -> pa.Table:
    """A table with varied rows, also registered in DuckDB as ``robots``."""
    bodies = [BODIES[number % len(BODIES)] for number in range(ROWS)]
    rows = pa.table({
        "id": pa.array(range(ROWS)),
        "text": pa.array(bodies, pa.string()),
        "body": pa.array([each and each.encode() for each in bodies], pa.binary()),
        "url": [URLS[number % len(URLS)] for number in range(ROWS)],
        "agent": [AGENTS[number % 3] for number in range(ROWS)],
    })  # fmt: skip
    con.register("source", rows)
    con.execute("CREATE TABLE robots AS SELECT * FROM source")
    return rows


def select(con: Any, expression: str) -> list[Any]:
    return [row[0] for row in con.sql(f"SELECT {expression} FROM robots ORDER BY id").fetchall()]


@pytest.mark.parametrize("column", ["text", "body"])
def test_duckdb_agrees_with_the_kernel(con: Any, table: pa.Table, column: str) -> None:
    agents = list(AGENTS[::4])
    classified = kernel.classify(table[column], agents).to_pylist()
    assert select(con, f"robots_classify({column}, {agents})") == classified
    decided = kernel.decide(table[column], table["url"], table["agent"]).to_pylist()
    assert select(con, f"robots_decide({column}, url, agent)") == decided
    verdicts = select(con, f"robots_allowed({column}, url, agent)")
    assert verdicts == [each and each["allowed"] for each in decided]
    assert select(con, f"robots_facts({column})") == kernel.facts(table[column]).to_pylist()


def test_duckdb_accepts_a_list_of_agents_per_row(con: Any, table: pa.Table) -> None:
    agents = "CASE id % 4 WHEN 0 THEN [agent, 'x'] WHEN 1 THEN ['x'] WHEN 2 THEN [] END"
    results = select(con, f"robots_classify(body, {agents})")
    for row, cells in enumerate(results):
        body, agent = BODIES[row % len(BODIES)], AGENTS[row % 3]
        lists: list[list[str] | None] = [[agent, "x"], ["x"], [], None]
        expected = lists[row % 4]
        if body is None or expected is None:
            assert cells is None
        else:
            assert cells == [cell(body, each) for each in expected]


def test_duckdb_returns_the_documented_types(con: Any, table: pa.Table) -> None:
    query = (
        "SELECT robots_decide(body, url, agent) d, robots_classify(body, ['x']) c, "
        "robots_facts(body) f, robots_allowed(body, url, agent) a FROM robots"
    )
    types = con.sql(query).to_arrow_table().schema.types
    assert types[0] == DECIDED
    assert types[1].value_type == CLASSIFIED
    assert types[3] == pa.bool_()
    assert [field.name for field in types[2]] == [field.name for field in FACTS]


def test_duckdb_uses_the_dialect() -> None:
    with duckdb.connect() as con:
        register(con, koster.GOOGLE)
        text = "User-agent: *\nDisallowed: /a"
        row = con.execute("SELECT robots_allowed(?, '/ab', 'x')", [text]).fetchone()
    assert row == (False,)


def test_duckdb_functions_can_be_registered_again(con: Any) -> None:
    register(con)
    register(con, koster.GOOGLE)
    text = "User-agent: *\nDisallowed: /a"
    assert con.execute("SELECT robots_allowed(?, '/ab', 'x')", [text]).fetchone() == (False,)


def test_duckdb_errors(con: Any, table: pa.Table) -> None:
    with pytest.raises(duckdb.Error, match=r"robots_allowed\(col0 ANY, col1 ANY, col2 ANY"):
        con.sql("SELECT robots_allowed(body) FROM robots").fetchall()
    with pytest.raises(duckdb.Error, match="bodies must be a column of text or bytes, not of"):
        con.sql("SELECT robots_facts(id) FROM robots").fetchall()
    assert con.sql("SELECT robots_classify('', NULL), robots_classify(NULL, ['x'])").fetchall() == [
        (None, None)
    ]
    assert con.sql("SELECT robots_classify('', ['x']::VARCHAR[1])").fetchall()
    with pytest.raises(duckdb.Error, match="agents must be a list of text, not string"):
        con.sql("SELECT robots_classify(body, 'GPTBot') FROM robots").fetchall()


def test_duckdb_query_of_the_docs(con: Any, table: pa.Table) -> None:
    """How many sites block each crawler."""
    rows = con.sql("""
        SELECT c.agent, count(*) FILTER (c.effective = 'all') AS closed
        FROM (SELECT unnest(robots_classify(body, ['GPTBot', 'x'])) AS c FROM robots)
        GROUP BY ALL ORDER BY ALL
    """).fetchall()
    blocked = sum(BODIES[number % len(BODIES)] == ONE for number in range(ROWS))
    assert rows == [("GPTBot", blocked), ("x", 0)]


RECORDS = [
    # crawl, url, origin, fetched, class, location
    ("1", "http://a.com/robots.txt", "http://a.com", 1, "redirect", "https://a.com/robots.txt"),
    ("1", "https://a.com/robots.txt", "https://a.com", 2, "redirect", "https://www.a.com/r"),
    ("1", "https://www.a.com/r", "https://www.a.com", 3, "ok", None),
    ("1", "http://b.com/robots.txt", "http://b.com", 1, "ok", None),
    ("1", "http://b.com/robots.txt", "http://b.com", 5, "unavailable", None),
    ("1", "http://c.com/robots.txt", "http://c.com", 1, "redirect", "http://gone.com/"),
    ("1", "http://d.com/robots.txt", "http://d.com", 1, "redirect", "http://d.com/robots.txt"),
    ("2", "http://c.com/robots.txt", "http://c.com", 9, "ok", None),
    ("2", "http://gone.com/", "http://gone.com", 9, "ok", None),
    ("1", "http://e.com/robots.txt", "http://e.com", 1, "redirect", None),
    *[
        (None, f"http://{n}.com/robots.txt", f"http://{n}.com", 1, "redirect",
         f"http://{n + 1}.com/robots.txt")
        for n in range(6)
    ],
    (None, "http://6.com/robots.txt", "http://6.com", 1, "ok", None),
]  # fmt: skip


def test_robots_followed_resolves_redirects(con: Any) -> None:
    con.execute(
        "CREATE TABLE records "
        "(crawl TEXT, url TEXT, origin TEXT, fetched INT, class TEXT, location TEXT)"
    )
    con.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", RECORDS)
    rows = con.sql(
        "SELECT crawl, asked, hops, ended, url, class FROM robots_followed('records')"
    ).fetchall()
    results = {(crawl, asked.removeprefix("http://")): rest for crawl, asked, *rest in rows}
    assert len(results) == len(rows)
    assert results["1", "a.com"] == [2, "answered", "https://www.a.com/r", "ok"]
    assert results["1", "https://a.com"] == [1, "answered", "https://www.a.com/r", "ok"]
    assert results["1", "b.com"] == [0, "answered", "http://b.com/robots.txt", "unavailable"]
    assert results["1", "c.com"][:2] == [0, "not in the archive"]
    assert results["1", "d.com"][:2] == [5, "too many redirects"]
    assert results["1", "e.com"][:2] == [0, "not in the archive"]
    assert results["2", "c.com"][:2] == [0, "answered"]
    assert results[None, "1.com"] == [5, "answered", "http://6.com/robots.txt", "ok"]
    assert results[None, "0.com"][:2] == [5, "too many redirects"]
    # Only fetches of /robots.txt count as fetches for a site.
    assert ("1", "https://www.a.com") not in results
    assert REDIRECTS.count("CREATE OR REPLACE MACRO") == 1


def followed(
    crawl: str | None, url: str, records: dict[tuple[str | None, str], tuple[str, str | None]]
) -> tuple[int, str, str]:
    """Return what `robots_followed` is to say of a site: hops, how it ended, and the last URL."""
    hops = 0
    kind, location = records[crawl, url]
    while kind == "redirect" and hops < 5 and location is not None and (crawl, location) in records:
        url, hops = location, hops + 1
        kind, location = records[crawl, url]
    if kind != "redirect":
        return hops, "answered", url
    return hops, "too many redirects" if hops == 5 else "not in the archive", url


def test_robots_followed_agrees_with_a_loop_over_records(con: Any) -> None:
    """Random records of two crawls, with chains, circles, and targets that are missing."""
    random = Random(20261130)
    for _ in range(30):
        hosts = [f"http://{number}.com" for number in range(random.randint(1, 12))]
        places = [(crawl, f"{host}{path}") for crawl in ("1", None) for host in hosts
                  for path in ("/robots.txt", "/r")]  # fmt: skip
        targets = [*(url for _, url in places), "http://gone.com/robots.txt", None]
        records = {
            place: (
                random.choice(("redirect", "redirect", "redirect", "ok")),
                random.choice(targets),
            )
            for place in random.sample(places, random.randint(1, len(places)))
        }
        con.execute(
            "CREATE OR REPLACE TABLE records "
            "(crawl TEXT, url TEXT, origin TEXT, fetched INT, class TEXT, location TEXT)"
        )
        rows = [(crawl, url, url.rpartition("/")[0], 1, kind, location)
                for (crawl, url), (kind, location) in records.items()]  # fmt: skip
        con.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", rows)
        found = con.sql("SELECT crawl, asked, hops, ended, url FROM robots_followed('records')")
        assert {(crawl, asked): tuple(rest) for crawl, asked, *rest in found.fetchall()} == {
            (crawl, url.removesuffix("/robots.txt")): followed(crawl, url, records)
            for crawl, url in records
            if url.endswith("/robots.txt")
        }


def test_robots_sites_chooses_one_record_for_each_site(con: Any) -> None:
    """With a file before without, https before http, without www. before with it."""
    con.execute(
        "CREATE TABLE records "
        "(crawl TEXT, url TEXT, origin TEXT, fetched INT, class TEXT, location TEXT)"
    )
    places = [
        ("http://a.com", "ok"), ("https://www.a.com", "ok"), ("https://a.com", "unavailable"),
        ("http://b.com", "ok"), ("https://b.com", "wrong type"),
        ("https://www.c.com", "ok"), ("https://c.com", "ok"),
        ("https://d.com", "unreachable"),
    ]  # fmt: skip
    rows: list[Any] = [
        ("1", f"{origin}/robots.txt", origin, 1, kind, None) for origin, kind in places
    ]
    rows += [
        ("2", "https://a.com/robots.txt", "https://a.com", 1, "redirect", "https://gone.com/"),
        # Rows of tables.
        ("2", None, "https://t.com", 1, "ok", None),
        ("2", None, None, 1, "ok", None),
        ("2", None, None, 1, "ok", None),
    ]
    con.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", rows)
    found = con.sql(
        "SELECT crawl, site, origin, outcome, hops FROM robots_sites('records') "
        "ORDER BY crawl, site NULLS LAST"
    )
    assert found.fetchall() == [
        ("1", "a.com", "https://www.a.com", "ok", 0),
        ("1", "b.com", "https://b.com", "wrong type", 0),
        ("1", "c.com", "https://c.com", "ok", 0),
        ("1", "d.com", "https://d.com", "unreachable", 0),
        ("2", "a.com", "https://a.com", "not in the archive", 0),
        ("2", "t.com", "https://t.com", "ok", 0),
        ("2", None, None, "ok", 0),
        ("2", None, None, "ok", 0),
    ]


@pytest.fixture
def frame(table: pa.Table) -> pl.DataFrame:
    rows = pl.from_arrow(table)
    assert isinstance(rows, pl.DataFrame)
    return rows


@pytest.mark.parametrize("column", ["text", "body"])
def test_polars_agrees_with_the_kernel(frame: pl.DataFrame, table: pa.Table, column: str) -> None:
    bodies: Any = pl.col(column)
    query = [
        bodies.robots.classify(AGENTS[::4]).alias("c"),
        bodies.robots.decide(pl.col("url"), pl.col("agent")).alias("d"),
        bodies.robots.allowed("/private", "GPTBot").alias("a"),
        bodies.robots.facts().alias("f"),
    ]
    expected = {
        "c": kernel.classify(table[column], AGENTS[::4]).to_pylist(),
        "d": kernel.decide(table[column], table["url"], table["agent"]).to_pylist(),
        "a": kernel.allowed(table[column], "/private", "GPTBot").to_pylist(),
        "f": kernel.facts(table[column]).to_pylist(),
    }
    eager = frame.select(query)
    lazy = frame.lazy().select(query)
    assert lazy.collect_schema() == eager.schema
    for result in (eager, lazy.collect(), lazy.collect(engine="streaming")):
        for name, values in expected.items():
            assert result[name].to_arrow().to_pylist() == values


def test_polars_series_have_the_same_methods(frame: pl.DataFrame) -> None:
    bodies: Any = pl.Series("body", [ONE, None, OTHER])
    assert bodies.robots.classify(["GPTBot"]).to_list() == [[cell(ONE, "GPTBot")], None,
                                                            [cell(OTHER, "GPTBot")]]  # fmt: skip
    assert bodies.robots.allowed("/private", "x").to_list() == [False, None, True]
    urls = pl.Series(["/private/x"] * 3)
    assert bodies.robots.decide(urls, "x").to_list()[0] == decision(ONE, "/private/x", "x")
    assert bodies.robots.facts().struct.field("groups").to_list() == [2, None, 1]


def test_polars_accepts_categoricals(frame: pl.DataFrame) -> None:
    bodies: Any = pl.Series([ONE, None, ONE], dtype=pl.Categorical)
    assert bodies.robots.allowed("/", "GPTBot").to_list() == [False, None, False]


def test_polars_names_columns_like_the_command(frame: pl.DataFrame) -> None:
    bodies: Any = pl.col("body")
    result = frame.with_columns(
        bodies.robots.classify(["x"]), bodies.robots.facts(),
        bodies.robots.allowed("/", "x"), bodies.robots.decide(pl.col("url"), "x"),
    )  # fmt: skip
    assert result.columns == [*frame.columns, "robots", "facts", "allowed", "decision"]
    assert frame.with_columns(mine=bodies.robots.facts()).columns[-1] == "mine"


def test_polars_errors(frame: pl.DataFrame) -> None:
    bodies: Any = pl.col("id")
    with pytest.raises(Exception, match="bodies must be a column of text or bytes, not of int64"):
        frame.select(bodies.robots.facts())
    with pytest.raises(TypeError, match="not one str"):
        bodies.robots.classify("GPTBot")
    with pytest.raises(ValueError, match=r"url is 'url', not a URL or path; .* pl\.col"):
        bodies.robots.decide("url", "GPTBot")


def test_purposes_mean_their_crawlers_in_all_engines(con: Any) -> None:
    """As ``--agent @training`` in the command."""
    body = "User-agent: GPTBot\nDisallow: /"
    expected = kernel.classify(pa.array([body]), expand_agent("@training"))[0].as_py()
    assert len(expected) > 10
    (in_sql,) = con.execute("SELECT robots_classify(?, ['@training'])", [body]).fetchone()
    frame = pl.DataFrame({"body": [body]})
    in_polars = frame.select(pl.col("body").robots.classify(["@training"]))  # type: ignore[attr-defined]
    assert kernel.classify(pa.array([body]), ["@training"])[0].as_py() == expected
    assert in_sql == expected
    assert in_polars.to_series()[0].to_list() == expected
    with pytest.raises(UnknownPurposeError, match="unknown purpose '@trainng'"):
        kernel.classify(pa.array([body]), ["@trainng"])
    with pytest.raises(duckdb.Error, match="unknown purpose"):
        con.execute("SELECT robots_classify(?, ['@trainng'])", [body]).fetchone()


def test_engines_agree_with_signals() -> None:
    """Columns, DuckDB and Polars have the answers of `koster.signals`."""
    cases = signal_cases.table()
    expected = signal_cases.sorted_names([*signal_cases.expected()])
    columns = {name: cases[name] for name in ("headers", "html", "fetched")}
    found = koster.bulk.signals(cases["body"], cases["url"], **columns)
    assert isinstance(found, pa.ChunkedArray)
    assert found.type.value_type == SIGNAL
    assert signal_cases.sorted_names(found.to_pylist()) == expected
    with duckdb.connect() as con:
        register(con)
        con.register("cases", cases)
        given = "headers := headers, html := html, fetched := fetched"
        query = f"SELECT robots_signals(body, url, {given}) AS signals FROM cases ORDER BY id"
        answers = con.sql(query).to_arrow_table()["signals"].to_pylist()
        assert signal_cases.sorted_names(answers) == expected
    expression = pl.col("body").robots.signals(  # type: ignore[attr-defined]
        pl.col("url"), **{name: pl.col(name) for name in columns}
    )
    frame = pl.DataFrame(cases).lazy().select(expression).collect()
    assert signal_cases.sorted_names(frame["signals"].to_list()) == expected


def test_signals_of_columns() -> None:
    body = b"User-agent: *\nContent-Signal: ai-train=no\nAllow: /\n"
    bodies = pa.chunked_array([[body, None, b""], [body]])
    urls = pa.array(["/a", "/b", None, "/d"])
    found = koster.bulk.signals(bodies, urls)
    assert [len(chunk) for chunk in found.chunks] == [3, 1]
    assert [each is None for each in found.to_pylist()] == [False, True, True, False]
    with pytest.raises(TypeError, match="html must be a column of text or bytes"):
        koster.bulk.signals(bodies, urls, html=pa.array([1, 2, 3, 4]))
    with pytest.raises(ValueError, match="zip"):
        koster.bulk.signals(bodies, urls.slice(1))


@pytest.mark.parametrize(
    ("arguments", "stated"),
    [
        ("headers := MAP {'X-Robots-Tag': 'noai'}", {"ai-train": "no"}),
        ("headers := MAP {'X-Robots-Tag': ['noai', NULL, 'noindex']}", {"ai-train": "no", "search": "no"}),
        ("headers := [{'n': 'tdm-reservation', 'v': '1'}, NULL]", {"tdm": "no"}),
        ("html := '<meta name=robots content=noarchive>'", {"archive": "no"}),
        ("html := '<meta name=robots content=noarchive>'::BLOB", {"archive": "no"}),
        # Text is decoded already; bytes are in the declared charset.
        ("html := '<p>é<meta name=robots content=noarchive>', headers := MAP {'content-type': 'text/html; charset=utf-16'}", {"archive": "no"}),
        ("headers := MAP {'X-Robots-Tag': 'unavailable_after: 2026-01-01'}", {"search": "undecided"}),
        ("headers := MAP {'X-Robots-Tag': 'unavailable_after: 2026-01-01'}, fetched := TIMESTAMP '2026-02-01'", {"search": "no"}),
        ("headers := MAP {'X-Robots-Tag': 'unavailable_after: 2026-01-01'}, fetched := DATE '2025-02-01'", {}),
        ("headers := NULL, html := NULL", {}),
    ],
)  # fmt: skip
def test_duckdb_signals_of_pages(con: Any, arguments: str, stated: dict[str, str]) -> None:
    (found,) = con.execute(f"SELECT robots_signals('', '/', {arguments})").fetchone()
    assert {each["use"]: each["stated"] for each in found if each["stated"] != "unstated"} == stated
    assert con.execute("SELECT robots_signals(NULL, '/'), robots_signals('', NULL)").fetchone() == (
        None,
        None,
    )

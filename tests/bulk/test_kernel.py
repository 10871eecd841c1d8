"""The kernel agrees with the library on every cell, for all Arrow types."""

from __future__ import annotations

import random
import subprocess
import sys
from array import array
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import koster
from koster._asking import file_of
from koster._engine.names import AgentNames
from koster.analysis import classify as classification
from koster.bulk import kernel
from koster.bulk._columns import encode_column
from koster.bulk._loops import batches as _batches
from koster.bulk._loops import extents as _extents
from koster.crawlers import agent_for
from koster.dialects import BlankLines, Merging, Orphans
from koster.lint import CHECKS
from koster.model import Directive, LineKind
from tests.helpers import strategies
from tests.helpers.columns import AGENTS, BODIES, ONE, OTHER, cell, decision
from tests.helpers.support import EVERYTHING, all_cases, bodies, sampled, verdicts
from tests.helpers.variants import variants


def test_consecutive_user_agent_lines_share_a_group() -> None:
    """landscape §1.1: research scripts apply the rule only to the last of them."""
    body = (
        "User-agent: First\nDisallow: /a\n\n"
        "User-agent: A\nUser-agent: B\nCrawl-delay: 5\n\nUnknown: x\nUser-agent: C\nDisallow: /\n"
    )
    (result,) = kernel.classify([body], ["First", "A", "B", "C", "D"]).to_pylist()
    assert [(each["written"], each["effective"], each["line"]) for each in result] == [
        (True, "some", 2),
        (True, "all", 10),
        (True, "all", 10),
        (True, "all", 10),
        (False, "none", None),
    ]


def test_unnamed_agents_use_the_star_groups() -> None:
    body = "User-agent: *\nDisallow: /\n\nUser-agent: A\nDisallow:\n\nUser-agent: *\nAllow: /x"
    (result,) = kernel.classify([body], ["A", "B"]).to_pylist()
    assert [(each["written"], each["effective"], each["line"]) for each in result] == [
        (True, "none", None),
        (False, "some", 2),
    ]


def test_groups_of_one_agent_are_merged() -> None:
    body = "User-agent: A\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n\nUser-agent: a\nDisallow: /"
    (result,) = kernel.classify([body], ["A"]).to_pylist()
    assert result == [{"agent": "A", "written": True, "effective": "all", "line": 8}]


@pytest.mark.parametrize("dialect", [koster.RFC9309, koster.GOOGLE], ids=str)
def test_agents_in_many_groups(dialect: koster.Dialect) -> None:
    chance = random.Random(4)
    lines = [*(f"User-agent: {name}" for name in "abc*ab"), "Disallow: /", "Allow: /", "Allow: /x"]
    files = ["\n".join(chance.choices(lines, k=12)) for _ in range(100)]
    files += ["\n".join(chance.choices(lines, k=600)), "User-agent: c\n" * 70 + "Disallow: /"]
    agents = ["a", "b", "c", "d", "*"]
    result = kernel.classify(files, agents, dialect).to_pylist()
    assert result == [[cell(body, agent, dialect) for agent in agents] for body in files]


@pytest.mark.parametrize("dialect", [koster.RFC9309, koster.GOOGLE], ids=str)
def test_agents_that_fall_back_to_other_names(dialect: koster.Dialect) -> None:
    chance = random.Random(5)
    agents = ["Googlebot-Image", "Applebot", "Googlebot", "foo"]
    lines = [*(f"User-agent: {name}" for name in [*agents, "*"]), "Disallow: /", "Allow: /*b"]
    files = ["\n".join(chance.choices([*lines, "Disallow: *a$"], k=9)) for _ in range(300)]
    for body, cells in zip(files, kernel.classify(files, agents, dialect).to_pylist(), strict=True):
        robots = koster.parse(body, dialect)
        for agent, each in zip(agents, cells, strict=True):
            found = classification(robots.rules_for(agent_for(agent)))
            line = found.rule and found.rule.line
            assert each["written"] == robots.rules_for(agent).is_named
            assert (each["effective"], each["line"]) == (found.extent.value, line)


NAMES = [
    b"*",
    b"*\t",
    b"*\x0b",
    b"* x",
    b"*x",
    b"foo",
    b"Foo/2",
    b"foo2",
    b"foo bot",
    b"2",
    b"",
    b"foo*",
    b"-_",
    b"\xe4",
]


@pytest.mark.parametrize("dialect", [koster.RFC9309, koster.GOOGLE], ids=str)
def test_names_of_groups(dialect: koster.Dialect) -> None:
    files = [b"User-agent: %b\nDisallow: /a\n\nUser-agent: *\nDisallow: /" % each for each in NAMES]
    files += [b"\xbbUser-agent: %b\nAllow: /x/index.html\nDisallow: /x/" % each for each in NAMES]
    agents = ["foo", "FOO", "foo/2", "foo2", "foo bot", "2", "", "*", "-_", "Googlebot-News"]
    result = kernel.classify(files, agents, dialect).to_pylist()
    assert result == [[cell(body, agent, dialect) for agent in agents] for body in files]


@pytest.mark.usefixtures("conformance_data")
@pytest.mark.parametrize("table", ["verdicts.tsv.gz", "modern-verdicts.tsv.gz"])
@pytest.mark.parametrize("dialect", [koster.RFC9309, koster.GOOGLE], ids=str)
def test_classify_agrees_with_the_library_on_the_corpus(
    table: str, dialect: koster.Dialect
) -> None:
    files = list(bodies(table).values())
    agents = AGENTS if koster.COMPILED or EVERYTHING else AGENTS[::4]
    result = kernel.classify(pa.array(files, pa.binary()), agents, dialect).to_pylist()
    for body, cells in zip(files, result, strict=True):
        assert cells == [cell(body, agent, dialect) for agent in agents]
        assert None not in [each["effective"] for each in cells], "not proved"


@pytest.mark.usefixtures("conformance_data")
def test_decide_agrees_with_the_library_on_the_corpus() -> None:
    files = bodies("verdicts.tsv.gz")
    table = verdicts("verdicts.tsv.gz")
    queries = [(files[row["site"]], row["url"], row["agent"]) for row in table]
    columns = [pa.array(each) for each in zip(*queries, strict=True)]
    result = kernel.decide(*columns).to_pylist()
    assert result == [decision(*each) for each in queries]
    assert kernel.allowed(*columns).to_pylist() == [each["allowed"] for each in result]


@pytest.mark.parametrize("dialect", [koster.RFC9309, koster.GOOGLE], ids=str)
@pytest.mark.parametrize(
    "rules",
    [
        ["/dir/", "+/dir/index.html"], ["/a/$", "+/*/index.htm"], ["/b/$", "+/b/index.html"],
        ["/ab", "+/%61b"], ["/ab", "+/%61c"], ["/ab", "+/*%62"], ["/a?b", "+/a%3Fb"],
        ["/a*b", "+/ab"], ["/a*b", "+/axb"], ["/a*", "+/a"], ["/a$", "/a$b"], ["/a$", "+/a"],
        ["/a", "+*"], ["/a", "+*a"], ["/a", "+*b"], ["/ab", "+/a$"], ["/ab", "+/a*$"],
        ["/rob*ots.txt"], ["/robots.txt$", "/b"], ["/robots.txt2", "/robots"], ["/robots.tx"],
        ["a", "/b"], ["/", "/b"], ["/*", "+/b"], ["", "/b"], ["+", "/a"], ["+/a", "/a"],
        ["/a", "/a"], ["/a", "/ab"], ["/ab", "/a"], ["/ab", "/*b"], ["/ab", "/*c"], ["//", "+/"],
        ["/*", "/$"], ["/\u00e9", "+/%C3%A9"], ["/a b", "+/a"], ["/" + "a" * 3_000, "+/b"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_rules_that_plain_bytes_settle_or_not(rules: list[str], dialect: koster.Dialect) -> None:
    lines = [f"Allow: {rule[1:]}" if rule[:1] == "+" else f"Disallow: {rule}" for rule in rules]
    both = ["\n".join(["User-agent: *", *each]) for each in (lines, lines[::-1])]
    found = kernel.classify(both, ["x"], dialect).to_pylist()
    assert found == [[cell(body, "x", dialect)] for body in both]


@pytest.mark.usefixtures("conformance_data")
@pytest.mark.parametrize("dialect", [koster.RFC9309, koster.GOOGLE], ids=str)
def test_few_cells_need_the_analysis(dialect: koster.Dialect) -> None:
    files = encode_column(pa.array(list(bodies("verdicts.tsv.gz").values())), "bodies").values
    names, indices = kernel._names(("GPTBot", "Googlebot", "FooBot"), dialect.names)
    cell_count = len(files) * 3
    extents = bytearray(cell_count)
    reader = _extents.Reader(dialect, names, indices)
    lines = array("i", bytes(4 * cell_count))
    reader.classify(files.data, files.starts, files.ends, bytearray(cell_count), extents, lines)
    assert extents.count(_extents.UNSETTLED) * 100 < cell_count


CASES = sampled(
    [case for case in all_cases() if isinstance(case.agent, str)], 3 if koster.COMPILED else 12
)


@pytest.mark.parametrize("dialect", sorted({case.dialect.name for case in CASES}))
def test_cases(dialect: str) -> None:
    """The kernel agrees with tests/cases. It has no lists of agents in order of preference."""
    asked: list[tuple[Any, bytes, str]] = []
    for case in CASES:
        if case.dialect.name == dialect:
            files = [body for _, body in variants(case)]
            urls = [url for url in case.expected if url.isprintable() or url.isascii()]
            asked += [(case, body, url) for body in files for url in urls]
            found = kernel.classify(files, [str(case.agent)], case.dialect).to_pylist()
            expected = [[cell(body, str(case.agent), case.dialect)] for body in files]
            assert found == expected, str(case)
    cases, all_files, all_urls = (list(each) for each in zip(*asked, strict=True))
    agents = [case.agent for case in cases]
    result = kernel.decide(all_files, all_urls, agents, koster.DIALECTS[dialect]).to_pylist()
    for (case, _, url), each in zip(asked, result, strict=True):
        assert (each["allowed"], url, str(case)) == (case.expected[url], url, str(case))
        if url in case.lines:
            assert (each["line"], url, str(case)) == (case.lines[url], url, str(case))


files = st.lists(
    st.one_of(
        strategies.files,
        strategies.files,
        st.binary(max_size=60),
    ),
    max_size=4,
)


agent_lists = st.lists(
    strategies.agents.filter(lambda text: text.isprintable()) | st.sampled_from(["*", "foo"]),
    max_size=5,
)


@given(
    files,
    agent_lists,
    st.sampled_from(["RFC9309", "RFC9309", "GOOGLE", "GOOGLE", "MK1996", "EXTENDED2"]),
)
@example([b"User-agent: *\nDisallow: /\nAllow: *"], ["x"], "RFC9309")
@example([b"User-agent: *\nDisallow: /$\nDisallow: /?"], ["x"], "RFC9309")
@example([b"User-agent: *\nDisallow: *a\nAllow: /*a$\nAllow: foo"], ["x"], "RFC9309")
@example([b"User-agent: *\nDisallow: /\nAllow: /robots.txt"], ["x"], "RFC9309")
@example([b"User-agent: *\nDisallow: //a\nAllow: */a"], ["x"], "RFC9309")
@example([b"User-agent: *\nDisallow: //a\nAllow: */a"], ["x"], "GOOGLE")
@example([b"User-agent: *\nDisallow: /\nAllow: /robots.txt"], ["x"], "GOOGLE")
@example([b"User-agent: *\nDisallow: /\nAllow: /index.html"], ["x"], "GOOGLE")
@example([b"User-agent: *\nDisallow: /\nAllow: *://a;b?c%2a"], ["x"], "GOOGLE")
@example([b"User-agent: *\nDisallow: /%aa\xff\x01\nAllow: /"], ["x"], "GOOGLE")
@example([b"User-agent: *\nUser-agent: foo\nDisallow: /"], ["foo", "*", "FOO/2"], "RFC9309")
def test_classify_agrees_with_the_library_on_generated_files(
    contents: list[bytes], agents: list[str], name: str
) -> None:
    dialect = koster.DIALECTS[name]
    result = kernel.classify(pa.array(contents, pa.binary()), agents, dialect).to_pylist()
    assert result == [[cell(body, agent, dialect) for agent in agents] for body in contents]


@given(
    st.lists(st.tuples(strategies.files, strategies.urls, strategies.agents), max_size=6),
    st.sampled_from(list(koster.DIALECTS)),
)
def test_decide_agrees_with_the_library_on_generated_files(
    rows: list[tuple[bytes, str, str]], name: str
) -> None:
    def is_text(text: str) -> bool:
        return text.encode("utf-8", "replace").decode() == text

    rows = [row for row in rows if is_text(row[1]) and is_text(row[2])] * 2
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    result = kernel.decide(
        pa.array(columns[0], pa.binary()), pa.array(columns[1], pa.string()),
        pa.array(columns[2], pa.string()), koster.DIALECTS[name],
    )  # fmt: skip
    assert result.to_pylist() == [decision(*row, koster.DIALECTS[name]) for row in rows]


TYPES = [
    pa.string(), pa.large_string(), pa.string_view(),
    pa.binary(), pa.large_binary(), pa.binary_view(),
    pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.binary()),
]  # fmt: skip


def columns_of_type(type_: Any) -> list[Any]:
    """Return the bodies as array, slices and chunks of an Arrow type."""
    plain = pa.array([None if each is None else each.encode() for each in BODIES], pa.binary())
    if pa.types.is_dictionary(type_):
        array = plain.dictionary_encode().cast(pa.dictionary(type_.index_type, pa.binary()))
        array = array.cast(type_) if type_.value_type != pa.binary() else array
    else:
        array = plain.cast(type_)
    chunks = pa.chunked_array([array.slice(0, 3), array.slice(3, 0), array.slice(3)])
    offset = pa.concat_arrays([array, array]).slice(len(BODIES))
    return [array, chunks, offset, pa.chunked_array([offset])]


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_all_column_types_give_the_same_results(type_: Any) -> None:
    expected = [
        None if body is None else [cell(body, "GPTBot"), cell(body, "x")] for body in BODIES
    ]
    expected_decisions = [
        None if body is None else decision(body, "/private", "x") for body in BODIES
    ]
    for column in columns_of_type(type_):
        result = kernel.classify(column, ["GPTBot", "x"])
        result.validate(full=True)
        assert result.to_pylist() == expected
        assert isinstance(result, pa.ChunkedArray) == isinstance(column, pa.ChunkedArray)
        decisions = kernel.decide(column, "/private", "x")
        decisions.validate(full=True)
        assert decisions.to_pylist() == expected_decisions
        assert kernel.facts(column).to_pylist() == kernel.facts(BODIES).to_pylist()
        if isinstance(column, pa.ChunkedArray):
            assert [len(each) for each in result.chunks] == [len(each) for each in column.chunks]
            assert [len(each) for each in decisions.chunks] == [len(each) for each in column.chunks]


def test_chunks_with_different_dictionaries() -> None:
    def chunk(start: int) -> Any:
        values = pa.array([f"User-agent: a{start + n}\nDisallow: /" for n in range(100)])
        return pa.DictionaryArray.from_arrays(pa.array(range(100), pa.int8()), values)

    result = kernel.classify(pa.chunked_array([chunk(0), chunk(100)]), ["a5", "a150"]).to_pylist()
    assert [n for n, cells in enumerate(result) if any(c["written"] for c in cells)] == [5, 150]
    dictionary_array = pa.DictionaryArray.from_arrays
    column = pa.chunked_array([
        dictionary_array(pa.array([0, 1]), pa.array([ONE, None])),
        dictionary_array(pa.array([0, 1, None]), pa.array([None, OTHER])),
    ])  # fmt: skip
    result = kernel.classify(column, ["GPTBot"]).to_pylist()
    assert [each and each[0]["effective"] for each in result] == ["all", None, None, "none", None]


def test_invalid_unicode_is_accepted() -> None:
    (result,) = kernel.classify(
        [
            "Disallow: \ud800",
        ],
        ["\ud800"],
    ).to_pylist()
    assert result == [{"agent": "?", "written": False, "effective": "none", "line": None}]
    assert kernel.allowed([ONE], "/\ud800", "\ud800").to_pylist() == [True]
    assert kernel.allowed([ONE], ["/"], pa.array([b"\xff"])).to_pylist() == [True]


def test_null_in_a_dictionary_is_null() -> None:
    values = pa.array([ONE, None, ONE])
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None]), values)
    result = kernel.classify(column, ["GPTBot"]).to_pylist()
    assert [each and each[0]["effective"] for each in result] == ["all", None, "all", None]


def test_any_null_gives_null() -> None:
    result = kernel.decide([ONE, None, ONE, ONE], ["/", "/", None, "/"], ["x", "x", "x", None])
    assert [each and each["allowed"] for each in result.to_pylist()] == [True, None, None, None]
    result = kernel.allowed([ONE, None, ONE, ONE], ["/", "/", None, "/"], ["x", "x", "x", None])
    assert result.to_pylist() == [True, None, None, None]


def test_repeated_bodies_are_encoded_once() -> None:
    column = encode_column(pa.array([ONE, ONE, OTHER, ONE, OTHER, ONE]), "bodies")
    assert column.values.to_pylist() == [ONE.encode(), OTHER.encode()]
    assert column.codes.to_pylist() == [0, 0, 1, 0, 1, 0]


def test_unused_dictionary_values_are_ignored() -> None:
    values = pa.array([ONE, OTHER, ""])
    column = pa.DictionaryArray.from_arrays(pa.array([0, 0, 2]), values)
    result = kernel.classify(column, ["GPTBot"]).to_pylist()
    assert [each[0]["effective"] for each in result] == ["all", "all", "none"]


def test_empty_input_gives_empty_output() -> None:
    assert kernel.classify([], ["x"]).to_pylist() == []
    assert kernel.classify([ONE, None], []).to_pylist() == [[], None]
    assert kernel.decide([], [], []).to_pylist() == []
    assert kernel.facts([]).to_pylist() == []
    assert kernel.classify(pa.chunked_array([], pa.string()), ["x"]).to_pylist() == []
    assert kernel.classify(pa.nulls(2), ["x"]).to_pylist() == [None, None]


def test_arrow_compatible_objects_are_accepted() -> None:
    polars = pytest.importorskip("polars")
    result = kernel.classify(polars.Series([ONE, None]), ["GPTBot"]).to_pylist()
    assert result == [[cell(ONE, "GPTBot")], None]


def test_argument_errors() -> None:
    with pytest.raises(TypeError, match="bodies must be a column of text or bytes, not of int64"):
        kernel.classify([1, 2], ["x"])
    with pytest.raises(TypeError, match="urls must be a column of text or bytes, not of double"):
        kernel.decide([ONE], [1.5], "x")
    with pytest.raises(TypeError, match="bodies must be a column"):
        kernel.facts(5)
    with pytest.raises(TypeError, match="bodies must be a column of text or bytes, not str"):
        kernel.classify("User-agent: *", ["x"])
    with pytest.raises(TypeError, match="not one str"):
        kernel.classify([ONE], "GPTBot")
    with pytest.raises(TypeError, match="agents must be str, not int"):
        kernel.classify([ONE], [5])  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"the same length, not \[1, 2\]"):
        kernel.decide([ONE], ["/", "/"], "x")
    with pytest.raises(ValueError, match="must be a column"):
        kernel.decide(ONE, "/", "x")
    with pytest.raises(TypeError, match="dialect must be"):
        kernel.decide([], [], "x", "RFC9309")
    with pytest.raises(TypeError, match="dialect must be"):
        kernel.classify([ONE], ["x"], "RFC9309")


def test_patterns_that_are_not_utf8_are_returned_as_text() -> None:
    body = b"User-agent: *\nDisallow: /\xff\xfe\nDisallow: /b"
    result = kernel.decide([body, body], ["/%FF%FEx", "/b"], "x").to_pylist()
    assert [each["pattern"] for each in result] == ["/\ufffd\ufffd", "/b"]


_MANY = 10_000 if EVERYTHING else 3_000 if koster.COMPILED else 1_000


@pytest.mark.parametrize(
    "body",
    [
        "User-agent: *\nDisallow: /" + "*a" * 1500 + "\nAllow: /" + "*ab" * 500,
        "User-agent: *\n" + "Disallow: /a\n" * (2 * _MANY) + "Allow: /a\n",
        "User-agent: *\nDisallow: /" + "a" * 5_000 + "\n",
        "User-agent: *\nDisallow: /\n" + "".join(f"Allow: /{n}$\n" for n in range(2 * _MANY)),
        "".join(f"User-agent: a{n}\nDisallow: /{n}\n\n" for n in range(_MANY)),
        "User-agent: a\n" * (3 * _MANY) + "Disallow: /",
    ],
    ids=["stars", "all overridden", "long", "many allows", "many groups", "many names"],
)
def test_hostile_files_are_classified_or_null(body: str) -> None:
    """The result is proved or null."""
    (result,) = kernel.classify([body], ["a", "a7", "x"]).to_pylist()
    for each in result:
        rules = koster.parse(body).rules_for(each["agent"])
        classified = classification(rules)
        if each["effective"] is not None and classified.is_proved:
            assert each["effective"] == classified.extent.value
        assert each["written"] == rules.is_named


def test_files_after_a_large_one() -> None:
    """The memory of a large file is not kept, and a file beyond the limit is cut as elsewhere."""
    many_lines = "User-agent: a\n" + "Disallow: /x\n" * 17_000
    beyond_the_limit = "User-agent: a\nDisallow: /\n#" + "c" * (1 << 24)
    bodies = [many_lines, ONE, beyond_the_limit, OTHER]
    result = kernel.classify(bodies, ["a", "GPTBot"]).to_pylist()
    assert [[(each["effective"], each["line"]) for each in cells] for cells in result] == [
        [("some", 2), ("none", None)],
        [("some", 5), ("all", 2)],
        [("all", 2), ("none", None)],
        [("none", None), ("none", None)],
    ]


def test_rules_before_any_agent() -> None:
    dialect = replace(koster.RFC9309, name="orphans", orphans=Orphans.FOR_EVERYBODY)
    body = "Disallow: /\nUser-agent: a\nDisallow: /a\n"
    assert kernel.classify([body], ["a", "b"], dialect).to_pylist() == [
        [cell(body, "a", dialect), cell(body, "b", dialect)]
    ]
    (result,) = kernel.facts([body], dialect).to_pylist()
    assert (result["groups"], result["rules"]) == (2, 2)
    assert "rule-before-group" not in result["findings"]


def test_unproved_results_are_null(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "_budget", lambda: kernel.Budget(steps=0))  # type: ignore[attr-defined]
    body = "User-agent: *\nDisallow: /*a*b\nAllow: /*a**b"
    (result,) = kernel.classify([body], ["x"]).to_pylist()
    assert result == [{"agent": "x", "written": False, "effective": None, "line": None}]


def test_threads_get_the_same_results() -> None:
    column = pa.array([ONE, OTHER, ONE + OTHER] * 200)
    expected = kernel.classify(column, AGENTS)
    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(lambda _: kernel.classify(column, AGENTS), range(40)):
            assert result.equals(expected)


def test_facts() -> None:
    body = (
        "\ufeffDisallow: /early\nContent-Signal: ai-train=no\nUser-agent: A\nUser-agent: B\n"
        "Crawl-delay: 2.5\nCrawl-delay: soon\nAllow: /\nDisallow:\nFoo: 1\nfoo: 2\nsome words here\n"
        "Sitemap: https://e.com/s.xml\nSitemap:\n\nUser-agent: *\nContent-Usage: /a train-ai=n\n# c\r"
    )
    (result,) = kernel.facts([body]).to_pylist()
    assert result == {
        "bytes": len(body.encode()),
        "lines": 17,
        "groups": 2,
        "rules": 3,
        "malformed": 1,
        "agents": [
            {"name": "A", "group_number": 1, "line": 3},
            {"name": "B", "group_number": 1, "line": 4},
            {"name": "*", "group_number": 2, "line": 15},
        ],
        "sitemaps": ["https://e.com/s.xml"],
        "delays": [{"seconds": 2.5, "group_number": 1, "line": 5}],
        "preferences": [
            {"directive": "Content-Signal", "key": "ai-train", "value": "no", "path": None,
             "group_number": None, "line": 2},
            {"directive": "Content-Usage", "key": "train-ai", "value": "n", "path": "/a",
             "group_number": 2, "line": 16},
        ],
        "directives": [
            {"directive": "User-agent", "count": 3},
            {"directive": "Allow", "count": 1},
            {"directive": "Disallow", "count": 2},
            {"directive": "Sitemap", "count": 2},
            {"directive": "Crawl-delay", "count": 2},
            {"directive": "Content-Signal", "count": 1},
            {"directive": "Content-Usage", "count": 1},
        ],
        "unknown": [{"key": "foo", "count": 2}],
        "findings": ["byte-order-mark", "lone-carriage-return", "rule-before-group"],
        "training_preference": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("body", "stated"),
    [
        ("User-agent: __usage_ai-training\nDisallow: /\n", "no"),
        ("User-agent: GPTBot\nUser-agent: __USAGE_AI-Training\nDisallow: /a\n", "partly"),
        ("User-agent: *\nDisallow: /\n\nUser-agent: __usage_ai-training\nAllow: /\n", "yes"),
        # Whether rules for * apply is not specified.
        ("User-agent: *\nDisallow: /\n", None),
        ("User-agent: *\nDisallow: /__usage_ai-training\n", None),
        ("User-agent: __usage_ai-training-2\nDisallow: /\n", None),
    ],
)
def test_the_policy_token_for_training_is_a_fact(body: str, stated: str | None) -> None:
    (found,) = kernel.facts(pa.array([body.encode()])).to_pylist()
    assert found["training_preference"] == stated


def test_facts_of_a_dialect_in_which_blank_lines_and_unknown_directives_matter() -> None:
    body = "User-agent: a\n\nFoo: 1\nUser-agent: b\nFoo: 2\nUser-agent: c\nDisallow: /\n"
    closing = frozenset({Directive.DISALLOW, LineKind.UNKNOWN})
    dialect = replace(koster.MK1996, name="unknown", closing=closing)
    (result,) = kernel.facts([body], dialect).to_pylist()
    assert (result["lines"], result["groups"]) == (7, 1)
    assert result["agents"] == [
        {"name": "a", "group_number": None, "line": 1},
        {"name": "b", "group_number": None, "line": 4},
        {"name": "c", "group_number": 1, "line": 6},
    ]
    assert result["unknown"] == [{"key": "foo", "count": 2}]


def test_facts_of_lines_between_groups() -> None:
    body = (
        "User-agent: a\nDisallow: /\n\nCrawl-delay: 1\nDisallow: /\n\nUser-agent: b\nCrawl-delay: 2"
    )
    dialect = replace(koster.RFC9309, name="records", blank_lines=BlankLines.END_GROUP)
    (result,) = kernel.facts([body], dialect).to_pylist()
    assert [(each["line"], each["group_number"]) for each in result["delays"]] == [
        (4, None),
        (8, 2),
    ]
    assert "rule-before-group" in result["findings"]


@pytest.mark.parametrize(
    ("body", "finding"),
    [
        (b"<!doctype html><html>", "html"),
        ("User-agent: *".encode("utf-16"), "wide-encoding"),
        (b"\x1f\x8b\x08\x00\x00\x00", "binary"),
        (b"Disallow: /\xff", "not-utf-8"),
        (b"# " + b"x" * 512_000, "too-large"),
        (b"", "no-groups"),
    ],
)
def test_findings_are_check_names(body: bytes, finding: str) -> None:
    (result,) = kernel.facts([body]).to_pylist()
    assert finding in result["findings"]
    assert {check.name for check in CHECKS} >= set(result["findings"])


@given(st.binary(max_size=200) | strategies.files)
def test_facts_of_any_bytes(body: bytes) -> None:
    (result,) = kernel.facts(pa.array([body], pa.binary())).to_pylist()
    robots = koster.parse(body)
    assert result["groups"] == len(robots.groups)
    assert result["lines"] == len(robots.lines)
    assert len(result["agents"]) == len(file_of(robots).named_parts())
    kinds = [line.kind for line in robots.lines]
    assert result["malformed"] == kinds.count(koster.LineKind.MALFORMED)
    assert sum(each["count"] for each in result["unknown"]) == kinds.count(koster.LineKind.UNKNOWN)


@pytest.mark.parametrize(
    ("numbers", "is_sorted", "counts_up"),
    [
        ([], True, True), ([0], True, True), ([1], True, False), ([0, 1, 2], True, True),
        ([0, 0, 1], True, False), ([1, 0], False, False), ([0, 2, 1], False, False),
    ],
)  # fmt: skip
def test_order_of_numbers(numbers: list[int], is_sorted: bool, counts_up: bool) -> None:
    column = array("i", numbers)
    assert (_batches.is_sorted(column), _batches.count_up(column)) == (is_sorted, counts_up)


@pytest.mark.parametrize(
    ("changes", "is_supported"),
    [
        ({}, True), ({"orphans": Orphans.FOR_EVERYBODY}, True),
        ({"reading": koster.GOOGLE.reading}, True), ({"names": koster.GOOGLE.names}, True),
        ({"reading": koster.MK1996.reading}, False), ({"names": koster.MK1996.names}, False),
        ({"merging": Merging.FIRST}, False), ({"versions": koster.EXTENDED2.versions}, False),
        ({"rewrite": lambda value, allow: [(value, 1)]}, False),
        ({"choose": lambda names, numbers, agent: numbers}, False),
    ],
    ids=lambda value: "".join(value) if isinstance(value, dict) else str(value),
)  # fmt: skip
def test_dialects_that_the_loop_over_bodies_supports(
    changes: dict[str, Any], is_supported: bool
) -> None:
    assert _extents.supports(replace(koster.RFC9309, **changes)) == is_supported


def test_reader_without_agents_finds_nothing() -> None:
    reader = _extents.Reader(koster.RFC9309, AgentNames([b"a"], koster.RFC9309.names), [])
    written, found, lines = bytearray(1), bytearray(1), array("i", [7])
    reader.classify(ONE.encode(), array("q", [0]), array("q", [len(ONE)]), written, found, lines)
    assert (written, found, lines[0]) == (b"\0", b"\0", 7)


def test_missing_arrow_names_the_extra() -> None:
    code = "import sys; sys.modules['pyarrow'] = None; import koster.bulk.kernel"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert "koster.bulk needs the extra 'bulk': pip install 'koster[bulk]'" in process.stderr

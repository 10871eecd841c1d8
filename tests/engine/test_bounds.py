"""The engine reads and writes only inside its memory, and reads only what it wrote.

C checks neither. Here the memory of plain Python does: negative places are errors too, and fresh
memory has values that no code may depend on. The compiled modules do the same, and ``make sanitize``
checks them with random files.
"""

from __future__ import annotations

import json
from array import array
from dataclasses import replace
from typing import Any

import pytest

import koster
from koster._asking import rules_for_data, selection_of
from koster._engine import document, memory, ruleset, selection, wildcards
from koster._engine.names import AgentNames
from koster.bulk._loops import batches, buffers, extents
from koster.dialects import Orphans
from tests.helpers.analysis_answers import PATH, decisions, found_extents
from tests.helpers.support import all_cases, sampled

pytestmark = pytest.mark.skipif(koster.COMPILED, reason="compiled modules have the memory of C")

#: What fresh memory has, where it is not cleared.
_LEFT_BEHIND = 170

CASES = [] if koster.COMPILED else sampled(json.loads(PATH.read_text("utf-8")), 6)


class Integers(array):  # type: ignore[type-arg]
    """Integers without places that count from the end."""

    def __getitem__(self, at: Any) -> Any:
        return super().__getitem__(_checked(at))

    def __setitem__(self, at: Any, value: Any) -> None:
        super().__setitem__(_checked(at), value)


class Buffer(bytearray):
    """The same for bytes that are written."""

    def __getitem__(self, at: Any) -> Any:
        return super().__getitem__(_checked(at))

    def __setitem__(self, at: Any, value: Any) -> None:
        super().__setitem__(_checked(at), value)


class Data(bytes):
    """The same for bytes that are only read."""

    def __getitem__(self, at: Any) -> Any:
        return super().__getitem__(_checked(at))


def _checked(at: Any) -> Any:
    assert isinstance(at, slice) or at >= 0, f"a place before the memory: {at}"
    return at


def _check(data: memory.Bytes | array[int], start: int, size: int) -> None:
    assert size >= 0
    assert size == 0 or (start >= 0 and start + size <= len(data)), (start, size, len(data))


def integers(count: int) -> Integers:
    return Integers("i", bytes(4 * count))


def resized(values: array[int], count: int) -> Integers:
    kept = values[: min(count, len(values))]
    return Integers("i", [*kept, *[_LEFT_BEHIND] * (count - len(kept))])


def buffer(count: int) -> Buffer:
    return Buffer([_LEFT_BEHIND] * count)


def longs_in(block: bytearray, at: int, count: int) -> Integers:
    assert at % 8 == 0
    assert at + 8 * count <= len(block)
    return Integers("Q", [_LEFT_BEHIND] * count)


def integers_in(block: bytearray, at: int, count: int) -> Integers:
    assert at % 4 == 0
    assert at + 4 * count <= len(block)
    return Integers("i", [_LEFT_BEHIND] * count)


def bytes_in(block: bytearray, at: int, count: int) -> Buffer:
    assert at + count <= len(block)
    return buffer(count)


def find(data: memory.Bytes, byte: int, start: int, end: int) -> int:
    if start >= end:
        return end
    _check(data, start, end - start)
    position = data.find(byte, start, end)
    return end if position < 0 else position


def same(data: memory.Bytes, start: int, other: memory.Bytes, other_start: int, size: int) -> bool:
    _check(data, start, size)
    _check(other, other_start, size)
    return data[start : start + size] == other[other_start : other_start + size]


def copy(target: bytearray, at: int, source: memory.Bytes, start: int, size: int) -> None:
    _check(target, at, size)
    _check(source, start, size)
    target[at : at + size] = source[start : start + size]


def fill(target: bytearray, at: int, byte: int, size: int) -> None:
    _check(target, at, size)
    target[at : at + size] = bytes([byte]) * size


def part(data: memory.Bytes, start: int, size: int) -> Data:
    _check(data, start, size)
    return Data(data[start : start + size])


def view(text: bytes) -> tuple[Data, int]:
    return Data(text), len(text)


@pytest.fixture(autouse=True)
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    for function in (
        integers,
        resized,
        buffer,
        longs_in,
        integers_in,
        bytes_in,
        find,
        same,
        copy,
        fill,
        view,
    ):
        monkeypatch.setattr(memory, function.__name__, function)
    monkeypatch.setattr(buffers, "part", part)
    monkeypatch.setattr(buffers, "address", lambda data: Data(bytes(data)))
    bytes_of, encoded = document.bytes_of, selection.encoded
    monkeypatch.setattr(document, "bytes_of", lambda body: Data(bytes_of(body)))
    monkeypatch.setattr(selection, "encoded", lambda text: Data(encoded(text)))


def parsed(body: bytes | str, dialect: koster.Dialect) -> koster.RobotsTxt:
    # Bytes themselves are not copied.
    return koster.parse(bytearray(body.encode() if isinstance(body, str) else body), dialect)


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_recorded_answers(case: dict[str, Any]) -> None:
    dialect = koster.DIALECTS[case["dialect"]]
    robots = parsed(case["body"], dialect)
    assert decisions(robots) == case["decisions"]
    changed = case["other"].encode()
    assert found_extents(dialect, robots.body, changed) == case["extents"]


def test_preferences() -> None:
    body = "User-agent: *\nContent-Usage: /\u00e9 a=n\nContent-Usage: /a*** a=y"
    rules = parsed(body, koster.RFC9309).rules_for("x")
    found = [each.value for url in ("/", "/%c3%a9b", "/ab") for each in rules.preferences_for(url)]
    assert found == ["n", "y"]


def test_first_line() -> None:
    unknown = batches.survey(Data(b"Foo: 1\nUser-agent: x\nBar: 2"), koster.RFC9309)[2]
    assert unknown == [b"Foo: ", b"Bar: "]
    dialect = replace(koster.RFC9309, name="orphans", orphans=Orphans.FOR_EVERYBODY)
    robots = parsed("Disallow: /\n Allow: /a", dialect)
    assert [rule.column for rule in robots.groups[0].rules] == [11, 9]


def test_room_for_directories_of_index_pages() -> None:
    body = "User-agent: *\nAllow: /" + "\u00e9" * 20 + "/index.html\nDisallow: /"
    rules = parsed(body, koster.GOOGLE).rules_for("x")
    assert [rules.allowed("/" + "%C3%A9" * 20 + end) for end in ("/", "/a")] == [True, False]


def test_room_for_sample_urls() -> None:
    # The first two samples are allowed; the third has two bytes for each star.
    body = f"User-agent: *\nDisallow: /{'*' * 2046}a\nAllow: /a{'*' * 2060}".encode()
    found, lines = found_extents(koster.RFC9309, body)[1:]
    assert (found[:3], lines[:3]) == ([1, 1, 1], [2, 2, 2])


@pytest.mark.parametrize("dialect", koster.DIALECTS.values(), ids=str)
def test_every_beginning_of_a_url(dialect: koster.Dialect) -> None:
    rules = parsed("User-agent: *\nDisallow: /a\nDisallow: /%", dialect).rules_for("x")
    for url in ("http://e/a%2f?#", "//e/a%2", "/a%4", "https:/x"):
        for size in range(len(url) + 1):
            assert rules.allowed(url[:size]) == ("/a" not in url[:size])


@pytest.mark.parametrize("dialect", koster.DIALECTS.values(), ids=str)
def test_every_beginning_of_a_file(dialect: koster.Dialect) -> None:
    body = "Allow: /b\nUser-agent: * \nDisallow: /a%2\n\nUser-agent: Foo \t Bar/2 *\nAllow:\n"
    for size in range(len(body) + 1):
        robots = parsed(body[:size] + "User-agent:" * (size % 2), dialect)
        for agent in ("Foo Bar", "*", ""):
            assert robots.rules_for(agent).allowed("/") == (not body[:size].endswith("Disallow: /"))


def test_room_for_escaped_paths() -> None:
    robots = parsed("User-agent: *\nDisallow: /", koster.RFC9309)
    path = selection_of(rules_for_data(robots, "x")).path_of("/" + "\u00e9" * 30)
    assert len(path) == len(b"/" + b"%C3%A9" * 30)


@pytest.mark.parametrize("name", [".foobot", "foo.foobot", "foobo", "foobotx", "foobot."])
def test_names_of_tokens(name: str) -> None:
    """A `Reader` takes only whole words for tokens."""
    written = found_extents(koster.RFC9309, f"User-agent: {name}\nDisallow: /".encode())[0]
    assert written == [0, 0, 0, 0]


def test_files_that_a_reader_leaves_to_the_analysis(monkeypatch: pytest.MonkeyPatch) -> None:
    body = b"User-agent: *\nDisallow: /"
    settled, too_large = [0, 0, 0, 3], [3, 3, 3, 3]
    monkeypatch.setattr(extents, "MAX_PARSED_BYTES", len(body))
    found = found_extents(koster.RFC9309, body, body + b"\n", body)[1]
    assert found == [*settled, *too_large, *settled]


@pytest.mark.parametrize("dialect", koster.DIALECTS.values(), ids=str)
@pytest.mark.parametrize("body", [b"\xef", b"\xef\xbb", b"\xef\xbb\xbf"])
def test_files_of_a_byte_order_mark(body: bytes, dialect: koster.Dialect) -> None:
    assert parsed(body, dialect).groups == ()


def test_paths_that_end_within_the_patterns_of_an_index() -> None:
    lines = "".join(f"Disallow: /a/{number}/abc\n" for number in range(60))
    rules = rules_for_data(parsed(f"User-agent: *\n{lines}", koster.RFC9309), "x")
    for path in ("/", "/a", "/a/1", "/a/10", "/a/10/", "/a/10/ab", "/a/10/abc"):
        assert [rules.allowed(path) for _ in range(5)] == [not path.endswith("c")] * 5


def test_sizes_of_patterns() -> None:
    sizes = [ruleset.pattern_bytes(each) for each in (b"/a", "\u00e9".encode(), b"%61*", b"")]
    assert sizes == [2, 6, 2, 0]


def test_room_for_results_of_agents() -> None:
    body = b"User-agent: a\nDisallow: /\nUser-agent: b\nAllow: /"
    names = AgentNames([b"a", b"b"], koster.RFC9309.names)
    reader = extents.Reader(koster.RFC9309, names, [[0], [1], []] * 8)
    written, found = bytearray(24), bytearray(24)
    starts, ends = array("q", [0]), array("q", [len(body)])
    reader.classify(body, starts, ends, written, found, array("i", bytes(96)))
    assert found == bytes([0, 2, 3] * 8)
    assert written == bytes([1, 1, 0] * 8)


def test_parts_of_buffers() -> None:
    bounds = array("i", [9] * 4)
    starts, ends = array("q", [0, -1, 3]), array("q", [1, 9, 5])
    assert batches.gather(b"abcde", starts, ends, bounds) == b"ade"
    assert bounds.tolist() == [0, 1, 1, 3]
    assert batches.gather(b"", starts, array("q", [0, 9, 3]), bounds) == b""


def test_equal_values() -> None:
    numbers, firsts = array("i", [9] * 6), array("q", [9] * 6)
    bounds = array("q", [0, 1, 2, 3, 4, 4, 5])
    assert batches.distinct(b"aabba", bounds[:-1], bounds[1:], numbers, firsts) == 3
    assert (numbers.tolist(), firsts.tolist()) == ([0, 0, 1, 1, 2, 0], [0, 2, 4, 9, 9, 9])
    assert batches.distinct(b"", array("q"), array("q"), numbers, firsts) == 0


def test_elements_of_shell_patterns() -> None:
    other, star, last = wildcards.elements(Data(b"[!a]*\\\xff"))
    assert (other, star, last) == (
        bytes(byte != 97 for byte in range(256)),
        None,
        bytes(255) + b"\1",
    )


def test_cases() -> None:
    for case in all_cases():
        if "size" not in case.entry.tags:
            rules = parsed(case.body, case.dialect).rules_for(case.agent)
            found = {url: rules.allowed(url) for url in case.expected}
            assert (str(case), found) == (str(case), case.expected)

"""JSON that is not an object on each line: arrays, and objects over several lines."""

from __future__ import annotations

import io
import itertools
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from koster.errors import UnreadableError
from koster.logs._blocks import blocks
from koster.logs._json_text import is_json_text, lines_from
from tests.helpers.log_samples import SAMPLES, Events, combined
from tests.helpers.support import sampled

LINE = json.loads(SAMPLES["gcp"])
DOCKER = {"log": combined(0, "/private/a?x=1"), "stream": "stdout", "time": "2026-03-10T12:00:00Z"}

LAYOUTS: dict[str, Callable[[list[Any]], str]] = {
    "array": json.dumps,
    "pretty array": lambda lines: json.dumps(lines, indent=2),
    "a line each in an array": lambda lines: "[\n" + ",\n".join(map(json.dumps, lines)) + "\n]\n",
    "over several lines": lambda lines: "\n".join(json.dumps(each, indent=1) for each in lines),
    "one after another": lambda lines: "".join(map(json.dumps, lines)),
    "with commas": lambda lines: "".join(json.dumps(each) + ",\n" for each in lines),
    "with a byte order mark": lambda lines: "\ufeff" + json.dumps(lines),
    "with other line ends": lambda lines: json.dumps(lines, indent=1).replace("\n", "\r\n"),
}  # fmt: skip


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def write(content: str) -> Path:
        path = tmp_path / "access.log"
        path.write_text(content, newline="")
        return path

    return write


@pytest.mark.parametrize(
    ("name", "layout"), sampled([(name, each) for each in LAYOUTS for name in ("gcp", "docker")], 5)
)
def test_json_in_other_layouts(name: str, layout: str, write: Callable[[str], Path]) -> None:
    line = LINE if name == "gcp" else DOCKER
    found = Events([write(LAYOUTS[layout]([line] * 3))])
    assert found.column("verdict") == ["violation"] * 3
    assert (found.report.lines, found.report.unreadable, found.report.errors) == (3, 0, ())


def test_json_in_other_layouts_may_be_read_once(write: Callable[[str], Path]) -> None:
    path = write(json.dumps([LINE] * 3, indent=1))
    with path.open("rb") as file:
        assert len(Events([f"/dev/fd/{file.fileno()}"]).rows) == 3


_TEXTS = ('a"b', "{", "}", "\\", '\\"', "\n{", "é", "[,]", "x\\\\", "")


def _value(source: random.Random, depth: int = 0) -> Any:
    kind = source.randrange(4 if depth < 3 else 2)
    if kind == 0:
        return source.choice(_TEXTS)
    if kind == 1:
        return source.choice((None, 1.5, True))
    values = [_value(source, depth + 1) for _ in range(source.randrange(3))]
    return (
        values
        if kind == 2
        else {source.choice(_TEXTS) + str(n): each for n, each in enumerate(values)}
    )


def _chunks(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_objects_are_those_of_the_json_module(layout: str) -> None:
    source = random.Random(layout)
    for _ in range(40):
        lines = [{"k": _value(source)} for _ in range(source.randrange(1, 5))]
        data = LAYOUTS[layout](lines).encode()
        size = source.choice((4, 7, 50, 1000))
        found = b"".join(lines_from(_chunks(data, size), "x", 10_000))
        assert [json.loads(each) for each in found.split(b"\n") if each.strip()] == lines


@pytest.mark.parametrize(
    ("start", "is_text"),
    [
        ('{"a":1}\n{"b":2}\n', False), ('{"a":1}', False), ('{"a":{"b":"}"}}\n', False),
        # The first line was cut.
        ('{"a": "x\n{"b":2}\n{"c":3}\n', False), ('{"a": 1\n{"b":2}\n', False),
        ('{"a":1} \n\n{"b":2}', False), ("[Sun Mar 01 10:00:00 2026] [core:error] x", False),
        ("[1]", False), ("", False), ("[", False), ("{", False),
        ('{\n"a":1}\n', True), (' [\r\n {"a":1', True), ('{"a":1}{"b":2}', True),
    ],
)  # fmt: skip
def test_what_is_no_object_on_each_line(start: str, is_text: bool) -> None:
    assert is_json_text(start.encode()) is is_text


@pytest.mark.parametrize(
    ("end", "why"),
    [
        (', {"timestamp": "2026', "its JSON ends within an object"),
        ("]}", "its JSON has one } too many"),
    ],
)
def test_broken_json_is_read_up_to_there(end: str, why: str, write: Callable[[str], Path]) -> None:
    path = write(json.dumps([LINE] * 3, indent=1)[:-2] + end)
    with path.open("rb") as file:
        found = Events([f"/dev/fd/{file.fileno()}"])
    (error,) = found.report.errors
    assert error.endswith(f"cannot be read to its end: {why}")
    assert len(found.rows) == (3 if "within" in why else 0)


def test_what_follows_a_missing_quote_is_not_read(write: Callable[[str], Path]) -> None:
    lines = [json.dumps(LINE) for _ in range(9)]
    lines[4] = lines[4].replace('"GET"', '"GET')
    found = Events([write("[\n" + ",\n".join(lines) + "\n]")])
    assert len(found.rows) == 4
    assert "its JSON ends within an object" in found.report.errors[0]


def test_memory_is_bounded() -> None:
    """An endless array is read as it comes; an object without an end is an error."""
    line = b'{"a": "' + b"x" * 1000 + b'"},\n'
    endless = itertools.chain([b"[" + line * 10], itertools.repeat(line * 10))
    found = lines_from(endless, "x", 10_000)
    assert [next(found).count(b"{") for _ in range(3)] == [10] * 3
    endless = itertools.chain([b"["], itertools.repeat(b'{"a": "x",\n'))
    with pytest.raises(UnreadableError, match="is longer than 0 MiB, or is not closed"):
        next(lines_from(endless, "x", 10_000))


def test_blocks_of_json_are_whole_lines() -> None:
    data = json.dumps([{"n": number, "x": {"y": "}"}} for number in range(1000)], indent=1)
    found = list(blocks(io.BytesIO(data.encode()), "x", 500))
    assert len(found) > 10
    lines = [json.loads(line) for each in found for line in each.data.split(b"\n") if line.strip()]
    assert [each["n"] for each in lines] == list(range(1000))

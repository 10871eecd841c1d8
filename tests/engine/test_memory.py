"""When an allocation fails, the engine raises MemoryError or gives the usual result.

Single allocations can be made to fail only in plain Python. The compiled modules have the same
checks.
"""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from array import array
from collections.abc import Callable
from typing import Any

import pytest

import koster
from koster._asking import rules_for_data, selection_of
from koster._engine import compiler, document, memory, wildcards
from koster._engine.names import AgentNames
from koster.bulk import kernel
from koster.bulk._loops import batches, extents, records
from tests.helpers.support import EVERYTHING

#: After a star, it is searched with links.
LONG = "a" * 33
#: More rules than are tried one by one: those that begin otherwise, and those that begin alike.
MANY_RULES = "".join(f"Disallow: /{number}/*{number}\n" for number in range(140))
MANY_ALIKE = "".join(f"Disallow: /7/7/{number}/*{number}\n" for number in range(140))
FILE = f"User-agent: *\nDisallow: /b\nDisallow: /*{LONG}\n{MANY_RULES}"
URLS = ["/b", f"/x{LONG}", "/xaab", "/7/7", "/%2", "/c"]


class Allocations:
    """Counts allocations; the one with the number ``failing`` returns no memory, as malloc does."""

    def __init__(self) -> None:
        self.count = 0
        self.failing = -1

    def wrap(self, allocate: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any) -> Any:
            self.count += 1
            found = allocate(*arguments)
            return found[:0] if self.count - 1 == self.failing else found

        return wrapped


@pytest.fixture
def allocations(monkeypatch: pytest.MonkeyPatch) -> Allocations:
    found = Allocations()
    for name in ("integers", "resized", "buffer"):
        monkeypatch.setattr(memory, name, found.wrap(getattr(memory, name)))
    return found


def decisions(file: str = FILE) -> list[bool]:
    robots = koster.parse(file)
    return [robots.decide(url, "FooBot").allowed for _ in range(2) for url in URLS]


def decisions_about_rules_that_begin_alike() -> list[bool]:
    return decisions(FILE + MANY_ALIKE)


def decisions_of_a_new_dialect() -> list[bool]:
    dialect = dataclasses.replace(koster.RFC9309, name="new")
    document._plans.clear()
    robots = koster.parse(FILE, dialect)
    return [robots.allowed(url, "FooBot") for url in URLS]


def decisions_about_shell_patterns(others: str = MANY_RULES) -> list[bool]:
    body = "User-agent: *\nRobot-version: 2.0\nAllow: /[ab]*c\nDisallow: *\n" + others
    rules = koster.parse(body, koster.EXTENDED2).rules_for("FooBot")
    return [rules.allowed(url) for _ in range(4) for url in ("/ac", "/c", "/%62c", "/7/7")]


def decisions_about_shell_patterns_in_a_trie() -> list[bool]:
    return decisions_about_shell_patterns(MANY_ALIKE)


def decisions_about_many_searches() -> list[bool]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "_MANY", 10)
        return decisions(FILE + "Allow: /7*x\n" * 3)


def lines() -> tuple[int, int]:
    robots = koster.parse("\n".join(["Disallow: /"] * 40 + ["User-agent: a\nDisallow: /"] * 40))
    return len(robots.lines), len(robots.groups)


def preferences() -> tuple[str, ...]:
    rules = koster.parse("User-agent: *\nContent-Usage: /a train-ai=n").rules_for("x")
    return tuple(each.value for each in rules.preferences_for("/a"))


def views() -> tuple[Any, ...]:
    selection = selection_of(rules_for_data(koster.parse(FILE), "FooBot"))
    return selection.path_of("/%7e"), wildcards.links_of(b"aab"), wildcards.elements(b"[a]*")


def answers_about_rows() -> list[bool]:
    bodies = [FILE, FILE, "User-agent: *\nDisallow: /%", FILE]
    return kernel.allowed(bodies, ["/b", "/%2", "/%", "/c"], ["A", "B", "A", "A"]).to_pylist()  # type: ignore[no-any-return]


def extents_of_files() -> list[Any]:
    groups = "".join(f"User-agent: a{number}\nDisallow: /{number}\n" for number in range(70))
    agents = "".join(f"User-agent: a{number}\n" for number in range(70))
    bodies = [
        FILE,
        groups + agents + "Disallow: /\n" + "Disallow: /x\n" * 300,
        "".join("User-agent: a1\nUser-agent: *\nDisallow: /\n" for _ in range(70)),
        "#" * 64,
    ]
    data = "".join(bodies).encode()
    starts = array("q", [0])
    for body in bodies:
        starts.append(starts[-1] + len(body))
    names = AgentNames([b"a1", b"foobot"], koster.RFC9309.names)
    reader = extents.Reader(koster.RFC9309, names, [[0], [1]])
    written, found = bytearray(8), bytearray(8)
    numbers = array("i", bytes(4 * 8))
    reader.classify(data, starts[:-1], starts[1:], written, found, numbers)
    return [written, found, numbers]


def survey() -> Any:
    return batches.survey(FILE.encode(), koster.RFC9309)


def scanned_records() -> int:
    return records.Scanner().scan(b"", array("q", [0]), array("q"))


KEEPING = """
import koster
def size():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
kept = []
for number in range(400):
    rules = [
        koster.parse("User-agent: *\\n" + f"Disallow: /{number}/{each}\\n" * 6).rules_for("x")
        for each in range(600)
    ]
    for each in rules:
        each.allowed_many(["/"] * 4)
    kept += rules[::120]
    if number == 10:
        before = size()
print(size() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.skipif(not koster.COMPILED, reason="plain Python has the memory of Python")
@pytest.mark.thorough
def test_few_rules_do_not_keep_the_memory_of_many() -> None:
    command = [sys.executable, "-c", KEEPING]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    # 2,000 sets of rules of 240,000.
    assert int(process.stdout) < 24 << 10


@pytest.mark.skipif(koster.COMPILED, reason="compiled modules allocate in C")
@pytest.mark.parametrize(
    "work",
    [
        decisions, decisions_about_rules_that_begin_alike, decisions_of_a_new_dialect,
        decisions_about_shell_patterns, decisions_about_shell_patterns_in_a_trie,
        decisions_about_many_searches, lines,
        preferences, views, answers_about_rows, extents_of_files, survey, scanned_records,
    ],
)  # fmt: skip
def test_failing_allocation(allocations: Allocations, work: Callable[[], Any]) -> None:
    expected = work()
    total, allocations.count = allocations.count, 0
    assert work() == expected
    errors = []
    for number in range(max(total, allocations.count)):
        allocations.count, allocations.failing = 0, number
        try:
            assert (work(), number) == (expected, number)
        except MemoryError as error:
            errors.append(str(error))
    assert errors
    assert all(error.startswith("no memory ") for error in errors)


PARSING = """
import re, resource, koster
body = b"Disallow: /\\n" * 1_300_000
used = int(re.search(r"VmSize:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 20), used + (1 << 20)))
try:
    koster.parse(body)
except MemoryError:
    print("MemoryError")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_memory_for_the_lines_of_a_large_file() -> None:
    command = [sys.executable, "-c", PARSING]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (process.stdout, process.returncode) == ("MemoryError\n", 0)


#: Lets allocations fail one after the other, within a tool that makes thousands of objects.
FAILING = """
import _testcapi, sys, koster
from koster.audit import audit
from koster.diff import compare
from koster.lint import lint
body = "User-agent: *\\n" + "".join(f"Disallow: /{n}/*{n}\\nAllow: /{n % 9}\\n" for n in range(40))
robots = koster.parse(body)
tools = [
    lambda: lint(body.encode()), lambda: audit(robots), lambda: robots.groups and robots.lines,
    lambda: compare(robots, koster.parse(body[30:])),
]
for tool in tools:
    tool()
    for start in range(1, 20_000, int(sys.argv[1])):
        _testcapi.set_nomemory(start, start + 1)
        try:
            tool()
        except MemoryError:
            pass
        finally:
            _testcapi.remove_mem_hooks()
print("survived")
"""


@pytest.mark.skipif(not koster.COMPILED, reason="plain Python does not count references itself")
def test_failing_allocations_in_tools() -> None:
    pytest.importorskip("_testcapi", reason="this Python has no module for tests of its allocator")
    command = [sys.executable, "-c", FAILING, "97" if EVERYTHING else "485"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (process.stdout, process.returncode) == ("survived\n", 0), process.stderr[-3000:]

"""The diff that `koster lint --fix` prints: as difflib writes it, in linear time."""

from __future__ import annotations

import difflib
import time

from hypothesis import given
from hypothesis import strategies as st

from koster._cli.line_diff import unified_diff
from koster.lint import Edit, Finding, Fixed, Severity, fixes


def edited(body: bytes, *rounds: list[Edit]) -> Fixed:
    """Return a file with some edits, and then with others."""
    remaining = iter(rounds)

    def find(_body: bytes) -> list[Finding]:
        return [Finding("X", Severity.NOTE, 1, 1, 1, "", edits=tuple(next(remaining, ())))]

    return fixes(body, find)


def diff_of(body: bytes, fixed: Fixed) -> list[str]:
    return list(unified_diff(body, fixed.body, fixed.kept, "old", "new"))


def diff_by_difflib(before: bytes, after: bytes) -> list[str]:
    old, new = (body.decode().replace("\r", "\n").split("\n") for body in (before, after))
    return list(difflib.unified_diff(old, new, "old", "new", lineterm=""))


#: What happens to a line.
_CHANGES = st.lists(st.sampled_from(["keep", "keep", "remove", "change", "insert"]), max_size=25)
#: Any edits: where they start, their size, and the new text.
_EDITS = st.lists(
    st.tuples(
        st.integers(0, 150), st.integers(0, 20), st.sampled_from([b"", b"x", b"xx\n", b"\nx\n"])
    ),
    max_size=6,
)


def edits_of_lines(body: bytes, changes: list[str]) -> list[Edit]:
    edits = []
    at = 0
    for line, change in zip(body.splitlines(keepends=True), changes, strict=False):
        end = at + len(line)
        if change == "remove":
            edits.append(Edit(at, end, b""))
        elif change == "change":
            edits.append(Edit(end - 1, end - 1, b"!"))
        elif change == "insert":
            edits.append(Edit(end, end, b"new %d\n" % end))
        at = end
    return edits


@given(_CHANGES, _CHANGES)
def test_the_diff_is_that_of_difflib(first: list[str], second: list[str]) -> None:
    body = b"".join(b"line %d\n" % number for number in range(len(first)))
    once = edits_of_lines(body, first)
    fixed = edited(body, once, edits_of_lines(edited(body, once).body, second))
    assert diff_of(body, fixed) == diff_by_difflib(body, fixed.body)


@given(_EDITS, _EDITS)
def test_the_diff_of_any_edits_makes_the_new_file(
    first: list[tuple[int, int, bytes]], second: list[tuple[int, int, bytes]]
) -> None:
    body = b"".join(b"line %d\n" % number for number in range(20))
    rounds: list[list[Edit]] = []
    for places in (first, second):
        size = len(edited(body, *rounds).body)
        rounds.append([Edit(min(at, size), min(at + n, size), text) for at, n, text in places])
    fixed = edited(body, *rounds)
    old, new = (each.decode().split("\n") for each in (body, fixed.body))
    assert patched(old, diff_of(body, fixed)) == new


def patched(old: list[str], diff: list[str]) -> list[str]:
    """Apply a unified diff as patch does."""
    new: list[str] = []
    at = 0
    for line in diff[2:]:
        if line.startswith("@@"):
            place, size = (int(each) for each in f"{line.split()[1][1:]},1".split(",")[:2])
            start = place - 1 if size else place
            new += old[at:start]
            at = start
        elif line.startswith("+"):
            new.append(line[1:])
        else:
            assert old[at] == line[1:]
            at += 1
            if line.startswith(" "):
                new.append(line[1:])
    return new + old[at:]


def test_a_removed_line_is_the_one_of_the_finding() -> None:
    body = b"a\nb\nb\nc\nd\ne\nf\n"
    fixed = edited(body, [Edit(4, 6, b"")])
    assert diff_of(body, fixed)[2:] == ["@@ -1,6 +1,5 @@", " a", " b", "-b", " c", " d", " e"]


def test_line_ends_are_no_difference() -> None:
    assert diff_of(b"a\rb\n", edited(b"a\rb\n", [Edit(1, 2, b"\n")])) == []


def test_many_changes_take_linear_time() -> None:
    """Difflib takes minutes: unchanged lines repeat, but each is less than one in a hundred."""
    body = b"".join(b"# c%d\nDisallow: /%d*\n" % (number % 110, number) for number in range(6_000))
    places = (at for at, byte in enumerate(body) if byte == ord("*"))
    fixed = edited(body, [Edit(at, at + 1, b"") for at in places])
    start = time.perf_counter()
    shown = diff_of(body, fixed)
    assert time.perf_counter() - start < 2
    assert len(shown) == 3 + 3 * 6_000 + 1

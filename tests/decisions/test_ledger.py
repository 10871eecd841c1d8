"""The ledger of answers: what is recorded, a sample of it, and how changes are shown and accepted."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import koster
from tests.helpers.support import EVERYTHING
from tools.ledger import __main__ as command
from tools.ledger import history, inputs, store
from tools.ledger.__main__ import CHANGELOG, FOLDER, Ledger, digest_of_decisions
from tools.ledger.comparing import Change, compared, shown
from tools.ledger.entries import Entry, Part, Place, entry
from tools.ledger.parts import PARTS
from tools.ledger.running import answers

#: One file in so many is asked about here; `make ledger` asks about all.
SHARES = {
    "check": 480, "facades": 800, "outcomes": 40, "archives": 6, "logs": 30, "lint": 1_600,
    "owners": 1_600, "registry": 5,
}  # fmt: skip
if not koster.COMPILED:
    SHARES = {
        name: min(4 * share, 1_600) if share > 100 else share for name, share in SHARES.items()
    }

same_in_plain_python = pytest.mark.skipif(
    not koster.COMPILED and not EVERYTHING, reason="only what is recorded is read"
)


@cache
def recorded_answers(name: str) -> dict[Place, store.Recorded]:
    return store.read(FOLDER, next(each for each in PARTS if each.name == name))


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_sample_of_answers_is_as_recorded(part: Part) -> None:
    names = [name for name in part.files() if inputs.is_sampled(name, SHARES[part.name])]
    if not names and inputs.folder() is None:
        pytest.skip("no conformance data")
    recorded = recorded_answers(part.name)
    chosen = {place: each for place, each in recorded.items() if place.file in set(names)}
    found = answers(part, names)
    assert found
    differences = compared(chosen, found, lambda place: inputs.is_real(place.file))
    assert list(shown([differences])) == [], "look at it with make ledger"


@same_in_plain_python
@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_recorded_answers_have_the_recorded_digests(part: Part) -> None:
    recorded = recorded_answers(part.name)
    assert recorded
    assert [place for place, each in recorded.items() if each.digest != each.entry.digest] == []


@same_in_plain_python
def test_changes_of_decisions_are_in_the_change_log() -> None:
    digest = digest_of_decisions(FOLDER, PARTS)
    changelog = CHANGELOG.read_text("utf-8")
    accepted = history.read(FOLDER / "history.toml")
    assert list(history.errors(changelog, accepted, digest)) == []


ANSWERS = {"/a": "allowed: no rule", "/b": "disallowed: line 2"}


def checks(found: dict[str, str], body: str = "a file") -> Part:
    """Return a part with answers about one file."""

    def entries(name: str) -> Iterator[Entry]:
        yield entry(Place("check", name, "RFC9309"), [body], found.values(), found)

    return Part("check", True, lambda: ["site/one"], entries)


def findings(*found: str) -> Part:
    """Return a part with findings, which are no decisions."""

    def entries(name: str) -> Iterator[Entry]:
        yield entry(Place("lint", name, "RFC9309"), ["a file"], found)

    return Part("lint", False, lambda: ["site/one"], entries)


class Project:
    """A change log and a ledger in a folder."""

    def __init__(self, folder: Path, output: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._output = output
        self.changelog = folder / "CHANGELOG.md"
        self.changelog.write_text("# Changelog\n\n## [Unreleased]\n")
        self.run(checks(ANSWERS), findings("line 2: old"), accepts=True)

    def run(self, *parts: Part, accepts: bool = False) -> tuple[int, str]:
        """Return the exit code and the output of ``make ledger``."""
        found = {part.name: answers(part, part.files()) for part in parts}
        ledger = Ledger(self.folder, self.changelog, parts, found)
        code = command.run(ledger, accepts=accepts)
        return code, self._output.readouterr().out

    def describe(self, *lines: str) -> None:
        """Add lines about changed decisions to the change log."""
        text = "".join(f"- {line}\n" for line in lines)
        self.changelog.write_text(
            f"{self.changelog.read_text()}\n### Decisions that changed\n\n{text}"
        )

    def errors(self, *parts: Part) -> list[str]:
        return Ledger(
            self.folder, self.changelog, parts, {each.name: {} for each in parts}
        ).errors()


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Project:
    return Project(tmp_path, capsys)


BEFORE = checks(ANSWERS), findings("line 2: old")
CHANGED = checks(ANSWERS | {"/b": "allowed: line 3"}), BEFORE[1]


def test_unchanged_answers_pass(project: Project) -> None:
    code, output = project.run(*BEFORE)
    assert code == 0
    assert output == (
        "Decisions: 0 answers changed; 1 entries are as recorded\n"
        "Other answers: 0 answers changed; 1 entries are as recorded\n"
    )


def test_changed_decision_is_shown_and_needs_a_new_line(project: Project) -> None:
    code, output = project.run(*CHANGED)
    assert code == 1
    assert (
        "  check: 1 answers changed (files: 1, RFC9309)\n"
        "    site/one, RFC9309\n"
        "      /b: disallowed: line 2 → allowed: line 3\n"
    ) in output
    code, output = project.run(*CHANGED, accepts=True)
    assert (code, "Not accepted" in output) == (1, True)
    assert project.run(*BEFORE)[0] == 0
    project.describe("`/b` is\n  allowed.")
    assert project.run(*CHANGED, accepts=True)[0] == 0
    assert project.run(*CHANGED)[0] == 0
    assert project.errors(*CHANGED) == []
    assert history.read(project.folder / "history.toml")[-1].lines == ("`/b` is allowed.",)
    # A line is about one change.
    code, output = project.run(*BEFORE, accepts=True)
    assert (code, "Not accepted" in output) == (1, True)


def test_other_answers_need_no_line(project: Project) -> None:
    changed = BEFORE[0], findings("line 2: new", "line 3: another")
    code, output = project.run(*changed)
    assert code == 1
    assert "Decisions: 0 answers changed" in output
    assert "      line 2: old → line 2: new\n      (nothing) → line 3: another\n" in output
    assert project.run(*changed, accepts=True)[0] == 0
    assert project.run(*changed)[0] == 0


def test_other_questions_are_no_changes(project: Project) -> None:
    for part in (checks({**ANSWERS, "/c": "allowed: no rule"}), checks(ANSWERS, "another file")):
        code, output = project.run(part, BEFORE[1])
        assert code == 1
        assert "Decisions: 0 answers changed" in output
        assert "Other questions or files than recorded: 1 entries" in output
        assert project.run(part, BEFORE[1], accepts=True)[0] == 0
        assert project.errors(part, BEFORE[1]) == []


def test_missing_real_files_are_skipped_and_never_recorded(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = Part("check", True, list, checks(ANSWERS).entries)
    monkeypatch.setattr(inputs, "folder", lambda: project.folder)
    assert "Recorded, and asked no more: 1 entries" in project.run(nothing, BEFORE[1])[1]
    monkeypatch.setattr(inputs, "folder", lambda: None)
    code, output = project.run(nothing, BEFORE[1])
    assert (code, "Skipped: the real files are missing, so 1 entries" in output) == (0, True)
    code, output = project.run(nothing, BEFORE[1], accepts=True)
    assert (code, "Not accepted" in output) == (1, True)
    assert store.read(project.folder, BEFORE[0])


def test_lines_of_the_change_log() -> None:
    changelog = """
## [2.0.0]

### Decisions that changed

- `/a` is
  blocked.
- `/b` is allowed.

A paragraph.

### Fixed

- Something else.

## [1.1.0]

#### Decisions that changed
- `/c` is allowed.
"""
    lines = ["`/a` is blocked.", "`/b` is allowed.", "`/c` is allowed."]
    assert history.lines_of(changelog) == lines
    assert history.lines_of("### Other decisions that changed\n\n- No.\n") == []


def test_broken_histories_are_reported(project: Project) -> None:
    project.describe("`/b` is allowed.")
    assert "no accepted change cites it" in project.errors(*BEFORE)[0]
    project.run(*CHANGED, accepts=True)
    project.changelog.write_text("# Changelog\n")
    assert "not in the change log" in project.errors(*CHANGED)[0]
    assert "has no line" not in project.errors(*CHANGED)[0]
    path = project.folder / "history.toml"
    *first, last = history.read(path)
    history.write(path, [*first, history.Accepted("x", "y", 1, ())])
    assert project.errors(*CHANGED) == [
        f"change {len(first) + 1} does not begin where the one before ended",
        f"change {len(first) + 1} has no line of the change log",
        "the recorded decisions are others than those that were accepted last",
    ]
    assert last.changed == 1


def test_long_answers_are_shown_from_the_difference_on() -> None:
    place = Place("check", "site/one", "")
    long = "x" * 1000
    change = Change(place, "", f"{long}old{long}", f"{long}new{long}")
    before, _, after = str(change).partition(" → ")
    assert before == f"…{'x' * 60}old{'x' * 137}…"
    assert after == f"…{'x' * 60}new{'x' * 137}…"
    assert str(Change(place, "/a", None, long)) == f"/a: (nothing) → {'x' * 200}…"


def test_many_changes_are_counted(project: Project) -> None:
    many = {f"/{number}": "allowed: no rule" for number in range(100)}
    project.run(checks(many), BEFORE[1], accepts=True)
    _, output = project.run(checks(dict.fromkeys(many, "disallowed: line 2")), BEFORE[1])
    assert "check: 100 answers changed" in output
    assert "  … and 71 more lines\n" in output
    assert len(output.splitlines()) < 40

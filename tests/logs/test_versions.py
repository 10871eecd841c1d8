"""Versions of a robots.txt: a file, a folder of dated files, and a git history."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from koster.errors import UnreadableError
from koster.logs import Versions
from koster.logs._versions import moment_of
from tests.helpers.repositories import Repository


def test_file(tmp_path: Path) -> None:
    path = tmp_path / "robots.txt"
    path.write_bytes("\ufeffUser-agent: A\nUser-agent: b*\nUser-agent: *\n".encode("utf-16"))
    found = Versions.read(str(path))
    (version,) = found.versions
    assert (version.label, version.since) == ("robots.txt", None)
    assert found.names == ("A",)
    assert found.table()["since"].to_pylist() == [None]


def test_folder(tmp_path: Path) -> None:
    names = ("2026-03-01.txt", "2026-06-01T1200Z.txt", "robots-2026-05-01T10:00:30+0200.txt")
    for name in (*names, ".hidden"):
        (tmp_path / name).write_text(f"# {name}\n")
    (tmp_path / "folder").mkdir()
    found = Versions.read(str(tmp_path)).versions
    assert [each.label for each in found] == [names[0], names[2], names[1]]
    assert found[1].since == datetime(2026, 5, 1, 8, 0, 30, tzinfo=UTC)
    assert found[1].body == f"# {names[2]}\n".encode()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("2026-03-01", "2026-03-01T00:00:00"),
        ("2026-03-01T1234", "2026-03-01T12:34:00"),
        ("2026-03-01 12:34:56", "2026-03-01T12:34:56"),
        ("2026-03-01_1234", "2026-03-01T12:34:00"),
        ("2026-03-01T1234-0500", "2026-03-01T17:34:00"),
        ("robots.2026-03-01", "2026-03-01T00:00:00"),
        ("2026-02-30", None),
        ("2026-03-01T2534", None),
        ("2026-3-1", None),
        ("12026-03-01", None),
        ("robots", None),
    ],
)
def test_dates_in_names(name: str, expected: str | None) -> None:
    moment = moment_of(name)
    assert (moment and moment.isoformat().removesuffix("+00:00")) == expected


def test_invalid_sources(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="No such file"):
        Versions.read(str(tmp_path / "missing"))
    with pytest.raises(UnreadableError, match="has no files"):
        Versions.read(str(tmp_path))
    (tmp_path / "robots.txt").write_text("")
    with pytest.raises(UnreadableError, match=r"robots\.txt has no date in its name"):
        Versions.read(str(tmp_path))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def bodies(path: Path | str) -> list[tuple[int, bytes | None]]:
    return [
        (each.since.day if each.since else 0, each.body)
        for each in Versions.read(f"git:{path}").versions
    ]


def test_git_history(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.commit("a", 1)
    repository.commit("x", 2, "other")
    repository.commit("b", 3)
    repository.commit(None, 4)
    expected = [(1, b"a"), (3, b"b"), (4, None)]
    assert bodies(repository.folder / "public" / "robots.txt") == expected
    monkeypatch.chdir(repository.folder)
    assert bodies("public/robots.txt") == expected
    labels = [each.label for each in Versions.read("git:public/robots.txt").versions]
    assert all(len(each) == 9 for each in labels)


def test_merged_branches_count_from_their_merge(repository: Repository) -> None:
    repository.commit("a", 1)
    repository.run("checkout", "-q", "-b", "branch")
    repository.commit("b", 2)
    repository.commit("c", 3)
    repository.run("checkout", "-q", "main")
    repository.commit("x", 4, "other")
    repository.run("merge", "-q", "--no-ff", "-m", "x", "branch", day=5)
    path = repository.folder / "public" / "robots.txt"
    assert bodies(path) == [(1, b"a"), (5, b"c")]


def test_commits_with_wrong_clocks_stay_in_order(repository: Repository) -> None:
    repository.commit("a", 5)
    repository.commit("b", 2)
    assert bodies(repository.folder / "public" / "robots.txt") == [(5, b"a"), (5, b"b")]


def test_git_errors(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.commit("a", 1)
    with pytest.raises(UnreadableError, match="git has no history of this file"):
        Versions.read(f"git:{repository.folder}/missing.txt")
    with pytest.raises(UnreadableError, match="git failed: fatal: not a git repository"):
        Versions.read("git:/missing.txt")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UnreadableError, match="git is not installed"):
        Versions.read(f"git:{repository.folder}/public/robots.txt")

"""git histories in repositories that somebody else made: nothing runs, and all is bounded."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import time
import zlib
from pathlib import Path

import pytest

from koster.errors import UnreadableError
from koster.logs import Versions, _git
from tests.helpers.repositories import Repository

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts"),
]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with two versions, attributes, and a signature that git could check."""
    repository = Repository(tmp_path_factory.mktemp("template"))
    (repository.folder / ".gitattributes").write_text("* diff=evil filter=evil merge=evil\n")
    repository.commit("a", 1)
    repository.commit("b", 2)
    commit = output(repository.folder, "cat-file", "commit", "HEAD")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n"
    head, _, message = commit.partition("\n\n")
    signed = put(repository.folder, "commit", f"{head}\n{signature}\n{message}".encode())
    repository.run("reset", "-q", "--soft", signed)
    return repository.folder


@pytest.fixture
def repository(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "repository"))


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that leaves a mark."""
    path = tmp_path / "evil"
    path.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n")
    path.chmod(0o755)
    return path


def output(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=True)
    return done.stdout.decode().rstrip("\n")


def put(folder: Path, kind: str, body: bytes) -> str:
    """Write a loose object; return its name."""
    data = b"%s %d\0%s" % (kind.encode(), len(body), body)
    name = hashlib.sha1(data, usedforsecurity=False).hexdigest()
    path = folder / ".git" / "objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(data, 1))
    return name


def read(folder: Path) -> list[bytes | None]:
    return [each.body for each in Versions.read(f"git:{folder}/public/robots.txt").versions]


CONFIGS = {
    "signatures": {"log.showSignature": "true", "gpg.program": "EVIL", "gpg.openpgp.program": "EVIL"},
    "signatures of SSH": {"log.showSignature": "true", "gpg.format": "ssh", "gpg.ssh.program": "EVIL"},
    "pager": {"core.pager": "EVIL", "pager.log": "EVIL", "pager.rev-parse": "EVIL"},
    "monitor": {"core.fsmonitor": "EVIL", "core.fsmonitorHookVersion": "2"},
    "aliases": {f"alias.{each}": "!EVIL" for each in ("log", "rev-parse", "cat-file")},
    "differences": {"diff.external": "EVIL", "diff.evil.command": "EVIL", "diff.evil.textconv": "EVIL"},
    "filters": {f"filter.evil.{each}": "EVIL" for each in ("smudge", "clean", "process")},
    "merges": {"merge.evil.driver": "EVIL"},
    "passwords": {"credential.helper": "!EVIL", "core.askPass": "EVIL", "core.gitProxy": "EVIL"},
    "others": {"core.alternateRefsCommand": "EVIL", "core.editor": "EVIL", "gc.auto": "1"},
    "trace": {"trace2.normalTarget": "RAN", "trace2.eventTarget": "RAN", "trace2.perfTarget": "RAN"},
    "output": {"log.decorate": "full", "format.pretty": "raw", "log.follow": "true",
               "color.ui": "always", "diff.renames": "copies", "core.quotePath": "false"},
}  # fmt: skip


@pytest.mark.parametrize("name", CONFIGS)
def test_configuration_runs_nothing(
    repository: Path, program: Path, tmp_path: Path, name: str
) -> None:
    for key, value in CONFIGS[name].items():
        real = value.replace("EVIL", str(program)).replace("RAN", f"{tmp_path}/ran")
        output(repository, "config", "--file", ".git/more", key, real)
    with (repository / ".git" / "config").open("a") as file:
        file.write("[include]\npath = more\n")
    assert read(repository) == [b"a", b"b"]
    assert not (tmp_path / "ran").exists()


def test_hooks_do_not_run(repository: Path, program: Path, tmp_path: Path) -> None:
    for name in (
        "post-index-change",
        "fsmonitor-watchman",
        "reference-transaction",
        "post-checkout",
    ):
        shutil.copy(program, repository / ".git" / "hooks" / name)
    assert read(repository) == [b"a", b"b"]
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "remote",
    [
        "url = .\nuploadpack = EVIL",
        'url = "ext::EVIL"',
        'url = "ssh://x/"\n[core]\nsshCommand = EVIL',
    ],
)
def test_what_partial_clones_lack_is_an_error_and_not_fetched(
    repository: Path, program: Path, tmp_path: Path, remote: str
) -> None:
    blob = output(repository, "rev-parse", "HEAD~1:public/robots.txt")
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    config = repository / ".git" / "config"
    settings = f'[protocol]\nallow = always\n[remote "o"]\npromisor = true\n{remote}\n'
    config.write_text(
        config.read_text().replace("formatversion = 0", "formatversion = 1")
        + "[extensions]\npartialClone = o\n"
        + settings.replace("EVIL", str(program))
    )
    with pytest.raises(
        UnreadableError, match=r"does not have the version of commit \w{9}; if it is"
    ):
        read(repository)
    assert not (tmp_path / "ran").exists()


def test_bare_repositories_in_folders_are_refused(
    repository: Path, program: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "checkout" / "public"
    shutil.copytree(repository / ".git", bare)
    (bare / "config").write_text(
        "[core]\nrepositoryformatversion = 0\nbare = true\n"
        f"[log]\nshowSignature = true\n[gpg]\nprogram = {program}\n"
    )
    with pytest.raises(UnreadableError, match="bare repository"):
        Versions.read(f"git:{bare}/robots.txt")
    assert not (tmp_path / "ran").exists()


def test_environment_does_not_redirect_git(
    repository: Path, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    other = Repository(tmp_path / "other")
    other.commit("other", 1)
    for name in ("PAGER", "EXTERNAL_DIFF", "SSH_COMMAND", "ASKPASS", "EDITOR", "PROXY_COMMAND"):
        monkeypatch.setenv(f"GIT_{name}", str(program))
    for name in ("TRACE", "TRACE2", "TRACE2_EVENT", "TRACE_SETUP"):
        monkeypatch.setenv(f"GIT_{name}", str(tmp_path / "ran"))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", f"'core.pager'='{program}'")
    monkeypatch.setenv("GIT_EXEC_PATH", str(tmp_path))
    for name in ("DIR", "COMMON_DIR"):
        monkeypatch.setenv(f"GIT_{name}", str(other.folder / ".git"))
    for name, value in {
        "WORK_TREE": "",
        "OBJECT_DIRECTORY": ".git/objects",
        "INDEX_FILE": "x",
    }.items():
        monkeypatch.setenv(f"GIT_{name}", str(other.folder / value))
    assert read(repository) == [b"a", b"b"]
    assert not (tmp_path / "ran").exists()


def test_programs_in_the_current_folder_are_not_git(
    repository: Path, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(program, tmp_path / "git")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}{os.environ['PATH']}")
    assert read(repository) == [b"a", b"b"]
    assert not (tmp_path / "ran").exists()


def test_names_are_no_patterns_or_options(repository: Path) -> None:
    for name in ("*", ":(glob)**", ":/", "--all", "-p"):
        with pytest.raises(UnreadableError, match="git has no history of this file"):
            Versions.read(f"git:{repository}/{name}.txt")


def commit_file(folder: Path, mode: str, blob: str) -> None:
    """Commit an object as the file, with a mode."""
    output(folder, "update-index", "--add", "--cacheinfo", f"{mode},{blob},public/robots.txt")
    output(folder, "-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x")


def test_large_versions_are_an_error(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit_file(repository, "100644", put(repository, "blob", bytes(9 << 20)))
    with pytest.raises(UnreadableError, match=r"the version of commit \w{9} is larger than 8 MiB"):
        read(repository)
    monkeypatch.setattr(_git, "_MAX_FILE_BYTES", 16 << 20)
    monkeypatch.setattr(_git, "_MAX_BYTES", 8 << 20)
    with pytest.raises(UnreadableError, match="the 3 versions in git have more than 8 MiB"):
        read(repository)


def test_too_many_versions_are_an_error(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_git, "_MAX_VERSIONS", 1)
    with pytest.raises(UnreadableError, match="has more than 1 versions in git"):
        read(repository)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="only Linux limits the memory of git")
@pytest.mark.parametrize(
    "kind",
    ["commit", *(pytest.param(each, marks=pytest.mark.thorough) for each in ("tree", "delta"))],
)
def test_memory_of_git_is_limited(
    repository: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(_git, "_MAX_MEMORY", 16 << 20)
    assert read(repository) == [b"a", b"b"]
    big = 32 << 20
    head = output(repository, "cat-file", "commit", "HEAD").encode()
    if kind == "commit":
        named = head + b"x" * big
    elif kind == "tree":
        entries = (b"100644 %04000d\0" % each + bytes(20) for each in range(big // 4000))
        tree = put(repository, "tree", b"".join(entries))
        named = head.replace(head[5:45], tree.encode(), 1)
    else:
        # A version of one byte, which is a part of a huge one.
        blob = delta_of_zeros(repository, big)
        commit_file(repository, "100644", blob)
        named = output(repository, "cat-file", "commit", "HEAD").encode()
    output(repository, "reset", "-q", "--soft", put(repository, "commit", named))
    with pytest.raises(UnreadableError, match=r"git failed|could not read the version"):
        read(repository)


def delta_of_zeros(folder: Path, size: int) -> str:
    """Write a pack with zeros, and a first zero as a delta; return the name of that."""

    def header(kind: int, length: int) -> bytes:
        found = [kind << 4 | length & 15]
        length >>= 4
        while length:
            found[-1] |= 128
            found.append(length & 127)
            length >>= 7
        return bytes(found)

    def number(value: int) -> bytes:
        found = [value & 127]
        while value := value >> 7:
            found[-1] |= 128
            found.append(value & 127)
        return bytes(found)

    zeros = bytes(size)
    base = hashlib.sha1(b"blob %d\0" % size + zeros, usedforsecurity=False).digest()
    delta = number(size) + number(1) + bytes([0x90, 1])
    pack = b"PACK" + (2).to_bytes(4) + (2).to_bytes(4) + header(3, size) + zlib.compress(zeros, 1)
    pack += header(7, len(delta)) + base + zlib.compress(delta)
    pack += hashlib.sha1(pack, usedforsecurity=False).digest()
    subprocess.run(
        ["git", "index-pack", "--stdin"], cwd=folder, input=pack, check=True, capture_output=True
    )
    return hashlib.sha1(b"blob 1\0\0", usedforsecurity=False).hexdigest()


def test_git_has_a_deadline(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(repository / ".git" / "pipe")
    with (repository / ".git" / "config").open("a") as file:
        file.write("[include]\npath = pipe\n")
    monkeypatch.setattr(_git, "_SECONDS", 0.2)
    begin = time.monotonic()
    with pytest.raises(UnreadableError, match=r"git took more than 0\.2 seconds"):
        read(repository)
    assert time.monotonic() - begin < 5


def test_shallow_clones_are_an_error(repository: Path, tmp_path: Path) -> None:
    output(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository}", "shallow")
    with pytest.raises(
        UnreadableError, match="is a shallow clone, without all versions; run git fetch"
    ):
        read(tmp_path / "shallow")


@pytest.mark.parametrize(
    ("mode", "what"), [("120000", "a symbolic link"), ("160000", "a submodule")]
)
def test_links_are_an_error(repository: Path, mode: str, what: str) -> None:
    commit_file(repository, mode, put(repository, "blob", b"/etc/passwd"))
    with pytest.raises(UnreadableError, match=f"is {what} in commit"):
        read(repository)


def test_corrupt_objects_and_times_are_errors(repository: Path) -> None:
    head = output(repository, "cat-file", "commit", "HEAD")
    late = head.replace(" +0000", "0000000 +0000")
    output(repository, "reset", "-q", "--soft", put(repository, "commit", late.encode()))
    with pytest.raises(UnreadableError, match="which is not a date"):
        read(repository)
    blob = output(repository, "rev-parse", "HEAD:public/robots.txt")
    path = repository / ".git" / "objects" / blob[:2] / blob[2:]
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-6] + b"\0" * 6)
    with pytest.raises(UnreadableError, match=r"git failed|does not have"):
        read(repository)


@pytest.mark.parametrize("kind", ["sha256", "worktree", "alternates"])
def test_usual_repositories_are_read(template: Path, tmp_path: Path, kind: str) -> None:
    folder = tmp_path / kind
    if kind == "worktree":
        output(
            Path(shutil.copytree(template, tmp_path / "main")), "worktree", "add", "-q", str(folder)
        )
    elif kind == "alternates":
        output(tmp_path, "clone", "-q", "--shared", str(template), str(folder))
    else:
        output(tmp_path, "init", "-q", "--object-format=sha256", str(folder))
        for number, text in enumerate("ab", 1):
            Repository(folder).commit(text, number)
    assert read(folder) == [b"a", b"b"]

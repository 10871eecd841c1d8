"""The history of a file, read with git from a repository that may be anybody's.

A repository's configuration names programs: for signatures, pagers, hooks, fetches of what a
partial clone lacks. So git reads it only once, to say where the repository is, with a command that
runs none of them. The history is read through a git directory of koster's own, which has the
objects of the repository, and nothing else of it. Whatever later versions of git let a
configuration do, no history is read with one.

git's own limits are high: a few kilobytes of objects can unpack to gigabytes. So its time, and on
Linux its memory, are limited; objects are read only if they are small.

A library that reads objects, such as dulwich, was considered. It runs nothing for a read, but it
reads the configuration as well, takes the size of an object from its header, without a limit, and
is a dependency; git is there wherever a repository is.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from .._wording import count_noun
from ..errors import UnreadableError

__all__ = ["Revision", "history"]

#: The limits of a history: seconds for all of git, versions, and bytes of a version and of all.
_SECONDS = 60
_MAX_VERSIONS = 10_000
_MAX_FILE_BYTES = 8 << 20
_MAX_BYTES = 64 << 20

#: Bytes of git's own memory, and of what it writes to a file, such as its messages.
_MAX_MEMORY = 512 << 20
_MAX_WRITTEN = 1 << 20

#: Bytes of output for a version: the commit, its time, and twice the path.
_LINE_BYTES = 16 << 10

#: Words of git before a repository is known: nothing is run or fetched.
_SAFE = (
    "--no-pager", "--no-optional-locks", "--literal-pathspecs",
    "-c", "safe.bareRepository=explicit",
    "-c", "core.fsmonitor=false",
    "-c", f"core.hooksPath={os.devnull}",
    "-c", "protocol.allow=never",
)  # fmt: skip

_WHERE = (
    "--show-prefix",
    "--show-object-format",
    "--is-bare-repository",
    "--is-shallow-repository",
)

_CONFIG = """\
[core]
\trepositoryFormatVersion = 1
\tbare = true
\tcommitGraph = false
\tpackedGitWindowSize = 32m
\tpackedGitLimit = 256m
[extensions]
\tobjectFormat = {objects}
"""

#: Lists commits, and the mode and name of the object that each gives the file.
_LOG = (
    "log", "-z", "--first-parent", "--diff-merges=first-parent", "--format=%H %ct", "--raw",
    "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-show-signature",
    "--no-mailmap", "--no-notes", "--no-decorate",
)  # fmt: skip

_COMMIT = re.compile(rb"([0-9a-f]{40,64}) (-?\d+)")
_CHANGE = re.compile(rb":\d{6} (\d{6}) [0-9a-f]+ ([0-9a-f]+) [A-Z]")

#: The types of a file in a tree, by their modes.
_GONE = b"000000"
_REGULAR = (b"100644", b"100755", b"100664")
_OTHERS = {b"120000": "a symbolic link", b"160000": "a submodule"}


@dataclass(frozen=True, slots=True)
class Revision:
    """A change of a file: the commit, its time in seconds since 1970, and the content or None."""

    commit: str
    seconds: int
    body: bytes | None


@dataclass(frozen=True, slots=True)
class _Git:
    """git, with an environment of its own, until a deadline."""

    folder: Path
    program: str
    environment: dict[str, str]
    deadline: float

    def run(self, *arguments: str, limit: int, stdin: bytes = b"") -> bytes:
        """Return the output of git.

        Raises:
            UnreadableError: it fails, takes too long, or says more than ``limit`` bytes.
        """
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as messages:
            given.write(stdin)
            given.seek(0)
            with _process(self, arguments, given, messages) as process:
                out = process.stdout.read(limit + 1) if process.stdout else b""
                if len(out) > limit:
                    raise UnreadableError(f"{self.folder}: git says more than {limit:,} bytes")
                code = process.wait()
            if code and time.monotonic() >= self.deadline:
                raise UnreadableError(f"{self.folder}: git took more than {_SECONDS} seconds")
            if code:
                messages.seek(0)
                why = _why(messages.read(4096), code)
                raise UnreadableError(f"{self.folder}: git failed: {why}")
        return out


@contextmanager
def _process(
    git: _Git, arguments: Iterable[str], given: object, messages: object
) -> Iterator[subprocess.Popen[bytes]]:
    """Run git, and kill it at the deadline, or if the block ends before it does."""
    command = [git.program, *_SAFE, *arguments]
    if os.name == "posix":
        # The shell sets the limits, in KiB and blocks of 512 bytes: setting them between fork and
        # exec is not safe in a process with threads.
        limits = f"ulimit -d {_MAX_MEMORY >> 10}; ulimit -f {_MAX_WRITTEN >> 9}"
        command = ["/bin/sh", "-c", f'{{ {limits}; }} 2>/dev/null; exec "$@"', "sh", *command]
    process = subprocess.Popen(  # noqa: S603 - git, with its arguments as a list
        command, cwd=git.folder, env=git.environment, stdin=given, stdout=subprocess.PIPE,
        stderr=messages, start_new_session=True,
    )  # type: ignore[call-overload]  # fmt: skip
    timer = threading.Timer(max(0, git.deadline - time.monotonic()), _kill, [process])
    timer.daemon = True
    timer.start()
    try:
        yield process
    finally:
        timer.cancel()
        _kill(process)
        process.stdout.close()
        process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill git and what it started, if it runs."""
    if process.poll() is not None:
        return
    with suppress(OSError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


def _why(messages: bytes, code: int) -> str:
    """Return what git said: why it failed, rather than what it met before."""
    lines = messages.decode("utf-8", "replace").strip().splitlines()
    fatal = (line for line in lines if line.startswith("fatal: "))
    return next(fatal, lines[0] if lines else f"exit code {code}")


def _program() -> str:
    """Return the path of git; programs in the current folder do not count.

    Raises:
        UnreadableError: it is not installed.
    """
    name = "git.exe" if sys.platform == "win32" else "git"
    for folder in os.get_exec_path():
        path = os.path.join(folder, name)
        if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise UnreadableError("git is not installed")


def _environment() -> dict[str, str]:
    """Return the environment without git's variables, which name repositories and programs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "LC_ALL": "C",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ATTR_NOSYSTEM": "1",
    }


def history(path: str) -> list[Revision]:
    """Return the changes of a file on the current branch, the first one first.

    Raises:
        UnreadableError: git is missing or fails, has no history of the file, or not all of it can
            be read.
    """
    target = Path(path).absolute()
    # The folder may have been deleted, too.
    folder = next(each for each in target.parents if each.is_dir())
    git = _Git(folder, _program(), _environment(), time.monotonic() + _SECONDS)
    where = git.run(
        "rev-parse", "--path-format=absolute", "--git-path", "objects", *_WHERE, "HEAD",
        limit=_LINE_BYTES,
    )  # fmt: skip
    parts = os.fsdecode(where).removesuffix("\n").split("\n")
    if len(parts) != 6:
        raise UnreadableError(f"{folder}: git says where its repository is in an unknown way")
    objects, prefix, kind, is_bare, is_shallow, head = parts
    if is_bare == "true":
        raise UnreadableError(
            f"{folder}: is a bare repository; koster reads those with a work tree"
        )
    name = prefix + target.relative_to(folder).as_posix()
    with tempfile.TemporaryDirectory(prefix="koster-") as view:
        own = _own_directory(git, Path(view), objects, kind)
        try:
            changes = _log(own, head, name, path)
        except UnreadableError as error:
            if is_shallow != "true":
                raise
            raise UnreadableError(
                f"{path}: the repository is a shallow clone, without all versions; run "
                "git fetch --unshallow"
            ) from error
        return list(_with_bodies(own, changes, path))


def _own_directory(git: _Git, view: Path, objects: str, kind: str) -> _Git:
    """Return a git that reads objects of a repository, and nothing else of it."""
    (view / "refs").mkdir()
    (view / "HEAD").write_text("ref: refs/heads/none\n")
    (view / "config").write_text(_CONFIG.format(objects="sha256" if kind == "sha256" else "sha1"))
    own = {
        "GIT_DIR": str(view),
        "GIT_OBJECT_DIRECTORY": objects,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "HOME": str(view),
        "XDG_CONFIG_HOME": str(view),
    }
    return _Git(git.folder, git.program, git.environment | own, git.deadline)


def _log(git: _Git, head: str, name: str, path: str) -> list[tuple[str, int, str | None]]:
    """Return the commits that changed a file, the last one first: with time and object.

    Raises:
        UnreadableError: no commit or too many changed it, or the file was something else.
    """
    most = _MAX_VERSIONS + 1
    out = git.run(*_LOG, f"--max-count={most}", head, "--", name, limit=most * _LINE_BYTES)
    found: list[tuple[str, int, str | None]] = []
    commit, seconds = "", 0
    tokens = iter(out.split(b"\0"))
    for each in tokens:
        token = each.strip(b"\n")
        if match := _COMMIT.fullmatch(token):
            commit, seconds = match[1].decode(), int(match[2])
        # If the path was a folder once, its files are listed, too.
        elif (match := _CHANGE.fullmatch(token)) and next(tokens) == os.fsencode(name):
            found.append((commit, seconds, _object(match[1], match[2].decode(), commit, path)))
    if not found:
        raise UnreadableError(f"{path}: git has no history of this file")
    if len(found) > _MAX_VERSIONS:
        raise UnreadableError(f"{path}: has more than {_MAX_VERSIONS:,} versions in git")
    return found


def _object(mode: bytes, name: str, commit: str, path: str) -> str | None:
    if mode == _GONE:
        return None
    if mode not in _REGULAR:
        what = _OTHERS.get(mode, "not a file")
        raise UnreadableError(f"{path}: is {what} in commit {commit[:9]}; use a folder of versions")
    return name


def _with_bodies(
    git: _Git, changes: list[tuple[str, int, str | None]], path: str
) -> Iterator[Revision]:
    """Yield changes with the content, the first one first; equal contents are one object.

    Raises:
        UnreadableError: an object is missing or too large, or all are.
    """
    commits = {name: commit for commit, _, name in changes if name is not None}
    sizes = _sizes(git, commits, path)
    names = "".join(f"{each}\n" for each in sizes).encode()
    limit = sum(sizes.values()) + 128 * len(sizes)
    out = memoryview(git.run("cat-file", "--batch", limit=limit, stdin=names))
    bodies: dict[str | None, bytes | None] = {None: None}
    start = 0
    for name, size in sizes.items():
        header = f"{name} blob {size}\n".encode()
        if out[start : start + len(header)] != header:
            raise UnreadableError(f"{path}: git could not read the version of {commits[name][:9]}")
        start += len(header) + size + 1
        bodies[name] = bytes(out[start - size - 1 : start - 1])
    for commit, seconds, found in reversed(changes):
        yield Revision(commit, seconds, bodies[found])


def _sizes(git: _Git, commits: dict[str, str], path: str) -> dict[str, int]:
    """Return the sizes of objects.

    Raises:
        UnreadableError: one is missing or too large, or all are.
    """
    names = "".join(f"{each}\n" for each in commits).encode()
    out = git.run("cat-file", "--batch-check", limit=128 * len(commits), stdin=names)
    sizes: dict[str, int] = {}
    for line in out.decode().splitlines():
        name, kind, *size = line.split(" ")
        version = f"the version of commit {commits[name][:9]}"
        if kind != "blob":
            raise UnreadableError(
                f"{path}: the repository does not have {version}; if it is a partial clone, fetch "
                "all objects with git fetch --refetch --no-filter"
            )
        sizes[name] = int(size[0])
        if sizes[name] > _MAX_FILE_BYTES:
            raise UnreadableError(f"{path}: {version} is larger than {_MAX_FILE_BYTES >> 20} MiB")
    if sum(sizes.values()) > _MAX_BYTES:
        count = count_noun(len(sizes), "version")
        raise UnreadableError(f"{path}: the {count} in git have more than {_MAX_BYTES >> 20} MiB")
    return sizes

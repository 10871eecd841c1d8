"""Install the parsers below a folder: ``python -m tools.matrix.install [FOLDER]``.

A parser that does not install is reported with the reason. What is installed already stays, so the
second time is quick.
"""

from __future__ import annotations

import base64
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .interpreters import interpreters, numbers, own
from .parsers import PARSERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .parsers import Parser

ROOT = Path(__file__).parents[2]
SUBJECTS = Path(__file__).with_name("subjects")
FOLDER = ROOT / ".venv" / "matrix"
#: A file that no parser refuses.
ROBOTS = base64.b64encode(b"User-agent: *\nDisallow: /b\n").decode()
#: What reppy imports.
REPPY_NEEDS = ("cachetools", "python-dateutil", "requests", "six")
LONGEST_REASON = 200
_ERROR = re.compile(r"(?i)(npm )?error|E:")
MINUTES = 10


class MissingError(Exception):
    """The parser cannot be asked here; the argument says why."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A parser that can be asked, or the reason why it cannot.

    Attributes:
        name: The parser's name; with its version for CPython, which may be there several times.
        parser: Its entry in the table.
        command: What starts its program. Empty if the parser is missing.
        environment: What the program needs in the environment, besides what is there.
        missing: Why the parser cannot be asked.
    """

    name: str
    parser: Parser
    command: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    missing: str = ""


def install(folder: Path = FOLDER, parsers: Sequence[Parser] = PARSERS) -> list[Subject]:
    """Install what is not there yet, and return the subjects in the order of the table."""
    return [subject for parser in parsers for subject in _subjects(folder.resolve(), parser)]


def _subjects(folder: Path, parser: Parser) -> Iterator[Subject]:
    if parser.registry == "CPython":
        for version, python in _interpreters().items():
            yield _subject(parser, (str(python),), {}, f"{parser.name} (CPython {version})")
        return
    try:
        yield _INSTALLERS[parser.registry](folder, parser)
    except MissingError as reason:
        yield Subject(parser.name, parser, missing=str(reason))


def _pypi(folder: Path, parser: Parser) -> Subject:
    target = folder / "python" / parser.key
    if parser.source:
        subject = _subject(parser, (str(target / "bin" / "python"),), {})
        _once(target, subject, functools.partial(_build_reppy, target))
        return subject
    python = _python_for(parser)
    subject = _subject(parser, (str(python),), {"PYTHONPATH": str(target)})
    _once(target, subject, functools.partial(_pip, target, parser, python))
    return subject


def _npm(folder: Path, parser: Parser) -> Subject:
    target = folder / "node" / parser.key.replace("/", "+")
    subject = _subject(parser, ("node",), {"NODE_PATH": str(target / "node_modules")})
    quiet = ("--loglevel=error", "--no-audit", "--no-fund", "--ignore-scripts")
    command = ("npm", "install", *quiet, "--prefix", str(target), *parser.packages)
    _once(target, subject, functools.partial(_run, command))
    return subject


def _debian(_: Path, parser: Parser) -> Subject:
    if not _succeeds(parser.check):
        _apt_get(parser.packages)
    runner = {".py": str(own()), ".pl": "perl", ".rb": "ruby"}[Path(parser.program).suffix]
    return _subject(parser, (runner,), {})


_INSTALLERS = {"PyPI": _pypi, "npm": _npm, "Debian": _debian}


def _subject(
    parser: Parser, runner: tuple[str, ...], environment: dict[str, str], name: str = ""
) -> Subject:
    name = name or parser.name
    about = {"name": name, "language": parser.language, "dialects": parser.dialects}
    command = (*runner, str(SUBJECTS / parser.program), parser.key, json.dumps(about))
    return Subject(name, parser, command, environment)


def _once(target: Path, subject: Subject, install_it: Callable[[], object]) -> None:
    """Install into an empty folder, and try the subject, unless that was done before."""
    done, state = target / "installed.txt", "\n".join((*subject.parser.packages, *subject.command))
    if done.is_file() and done.read_text() == state:
        return
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    install_it()
    _try(subject)
    done.write_text(state)


def _try(subject: Subject) -> None:
    """Ask about one URL, which shows whether the parser can be imported."""
    question = {"cmd": "decide", "id": 1, "dialect": "rfc9309", "agent": "FooBot"}
    question |= {"urls": ["https://example.com/a"], "robots": ROBOTS}
    lines = "".join(json.dumps(each) + "\n" for each in (question, {"cmd": "stop"}))
    answer = json.loads(_run(subject.command, subject.environment, lines) or "{}")
    if "allowed" not in answer:
        raise MissingError(answer.get("error", "it does not answer"))


def _pip(target: Path, parser: Parser, python: Path) -> None:
    options = ["--target", str(target), *([] if parser.dependencies else ["--no-deps"])]
    if python != own():
        # This process's pip chooses the wheels of the other interpreter.
        version = next(each for each, path in _interpreters().items() if path == python)
        minor = ".".join(map(str, numbers(version)[:2]))
        options += ["--python-version", minor, "--only-binary", ":all:"]
    pip = (sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check")
    _run((*pip, *options, *parser.packages))


def _build_reppy(target: Path) -> None:
    """Build it as the benchmarks do: its only release is source that today's tools refuse."""
    venv.create(target, with_pip=True)
    python = str(target / "bin" / "python")
    _run((python, str(ROOT / "benchmarks" / "build_reppy.py")))
    _run((python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *REPPY_NEEDS))


def _python_for(parser: Parser) -> Path:
    if not parser.needs:
        return own()
    for python in (own(), *_interpreters().values()):
        if _succeeds((str(python), "-c", parser.needs)):
            return python
    raise MissingError(f"no Python here runs: {parser.needs}")


@functools.cache
def _interpreters() -> dict[str, Path]:
    return interpreters()


def _apt_get(packages: tuple[str, ...]) -> None:
    wanted = " ".join(packages)
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        raise MissingError(f"not installed; on Debian, root can run: apt-get install {wanted}")
    _apt_get_update()
    command = ("apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages)
    _run(command, {"DEBIAN_FRONTEND": "noninteractive"})


@functools.cache
def _apt_get_update() -> None:
    _run(("apt-get", "update", "-qq"))


def _succeeds(command: tuple[str, ...]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _run(
    command: tuple[str, ...], environment: dict[str, str] | None = None, typed: str = ""
) -> str:
    """Return what a command prints; raises MissingError with its last words if it fails."""
    try:
        done = subprocess.run(
            command, env=os.environ | (environment or {}), input=typed, capture_output=True,
            text=True, errors="replace", timeout=60 * MINUTES, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        raise MissingError(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise MissingError(f"{command[0]} took more than {MINUTES} minutes") from None
    if done.returncode:
        raise MissingError(_last_words(done) or f"{command[0]} failed: {done.returncode}")
    return done.stdout


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    """Return the first line that begins as an error of pip, npm or apt-get, or the last line."""
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    errors = [line for line in lines if _ERROR.match(line)]
    words = (errors[:1] or lines[-1:] or [""])[0]
    return words.partition(" (from versions")[0][:LONGEST_REASON]


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for subject in install(folder):
        print(f"{subject.name}: {subject.missing or ' '.join(subject.command)}")


if __name__ == "__main__":
    main()

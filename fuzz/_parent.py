"""Runs a target in child processes, and saves inputs that kill or block them."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from . import _child
from ._findings import command, save
from ._state import State
from ._targets import CORPUS, Target

#: After so many seconds without progress a child is killed.
_MAX_SECONDS_PER_INPUT = 60.0
#: Importing everything may take so long, with sanitizers.
_MAX_SECONDS_TO_START = 300.0
#: More different findings are not looked for.
_MAX_PLACES = 40
_MAX_REPORT = 20_000

_MEGABYTES = 4096


@dataclass(frozen=True, slots=True)
class Options:
    """How to run.

    Attributes:
        seed: Of the random inputs.
        findings: The folder of findings.
        variables: They are added to the environment.
        kept: The folder for the inputs that guidance finds.
        module: The module of the command.
    """

    seed: int
    findings: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    kept: Path | None = None
    module: str = "fuzz"


@dataclass(slots=True)
class Result:
    """What a run of a target did; ``places`` has the findings of earlier runs, too."""

    target: str
    mode: str
    executions: int = 0
    triples: int = 0
    seconds: float = 0.0
    findings: int = 0
    places: list[str] = field(default_factory=list)


def run(
    target: Target, mode: str, seconds: float, options: Options, known: Iterable[str] = ()
) -> Result:
    """Run a target for some seconds; after a crash it goes on. ``known`` are earlier findings."""
    result = Result(target.name, mode, places=[*known])
    before = len(result.places)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="koster-fuzz-", dir=_fast_folder()) as folder:
        left, number = seconds, 0
        while number == 0 or (left > 0 and len(result.places) < _MAX_PLACES):
            work = Path(folder) / str(number)
            work.mkdir()
            child = _Child(target, mode, max(left, 1), options.seed + number, options, work)
            child.run(result)
            left = seconds - (time.monotonic() - start)
            number += 1
    result.seconds = time.monotonic() - start
    result.findings = len(result.places) - before
    return result


def _fast_folder() -> str | None:
    """Return a folder in memory, if there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@dataclass(frozen=True, slots=True)
class _Child:
    """A child process: ``work`` is the folder of its files."""

    target: Target
    mode: str
    seconds: float
    seed: int
    options: Options
    work: Path

    def run(self, result: Result) -> None:
        """Run the process, and add what it did to a result."""
        state = State(self.work / "state")
        with (self.work / "log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "fuzz._child", *self._arguments()],
                env=self.variables(result.places),
                stdout=log,
                stderr=subprocess.STDOUT,
            )
            why = _watch(process, state, self.seconds)
        result.executions += state.inputs
        result.triples += state.triples
        self._report(result, state, why)

    def variables(self, places: list[str]) -> dict[str, str]:
        """Return the environment; ``places`` are those of known findings."""
        configuration = {
            "target": self.target.name,
            "mode": self.mode,
            "seconds": self.seconds,
            "seed": self.seed,
            "state": str(self.work / "state"),
            "findings": str(self.options.findings),
            "places": places,
            "module": self.options.module,
        }
        added = {"TMPDIR": str(self.work), _child.VARIABLE: json.dumps(configuration)}
        return {**os.environ, **self.options.variables, **added}

    def _arguments(self) -> list[str]:
        """Return the arguments for libFuzzer."""
        if self.mode != "guided":
            return []
        kept = (self.options.kept or self.work / "corpus") / self.target.name
        kept.mkdir(parents=True, exist_ok=True)
        return [
            str(kept),
            f"-max_total_time={max(int(self.seconds), 1)}",
            f"-max_len={self.target.max_bytes}",
            f"-seed={self.seed + 1}",
            f"-rss_limit_mb={_MEGABYTES}",
            f"-artifact_prefix={self.work}/",
            "-timeout=300",
            "-verbosity=0",
        ]

    def _report(self, result: Result, state: State, why: str | None) -> None:
        """Print the findings of the process, and add them to a result."""
        name = self.target.name
        log = (self.work / "log").read_text("utf-8", "replace")
        result.places += re.findall(rf"(?m)^finding in {name}: (.*)$", log)
        print(
            "".join(re.findall(r"(?m)^finding in .*\n  python -m fuzz.*\n", log)),
            end="",
            flush=True,
        )
        if why is None or any(text in log for text in self.target.known):
            return
        if why.startswith("exit") and not state.inputs and not state.current:
            sys.exit(f"{name} does not start:\n{log[-_MAX_REPORT:]}")
        place = f"{why}{_reason(log)}"
        if place not in result.places:
            result.places.append(place)
            path = save(self.options.findings / name, place, state.current, log[-_MAX_REPORT:])
            print(
                f"finding in {name}: {place}\n  {command(self.options.module, name, path)}",
                flush=True,
            )


def _watch(child: subprocess.Popen[bytes], state: State, seconds: float) -> str | None:
    """Wait for a child, and return why it failed, if it did."""
    begun = changed = time.monotonic()
    done = 0
    while True:
        try:
            code = child.wait(0.5)
        except subprocess.TimeoutExpired:
            now = time.monotonic()
            if state.inputs != done:
                done, changed = state.inputs, now
            limit = _MAX_SECONDS_PER_INPUT if done else _MAX_SECONDS_TO_START
            if now - changed > limit or now - begun > seconds + _MAX_SECONDS_TO_START:
                child.kill()
                child.wait()
                return "hang"
            continue
        if code == 0:
            return None
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit {code}"


def _reason(log: str) -> str:
    """Return what a process printed about its end: by a sanitizer, C++ or Python."""
    found = re.search(r"SUMMARY: (\w+Sanitizer: .*)|what\(\): +(.*)|: (runtime error: .*)", log)
    text = next(filter(None, found.groups())) if found else ""
    return f": {re.sub(r'0x[0-9a-f]+|[^ ]*/', '', text)[:120]}" if text else ""


def merge(target: Target, source: Path, options: Options) -> int:
    """Add those inputs of a folder to the stored ones that cover more; return the exit status."""
    with tempfile.TemporaryDirectory(prefix="koster-fuzz-", dir=_fast_folder()) as folder:
        work = Path(folder)
        # libFuzzer starts processes of its own, by the name of this one.
        script = work / "child"
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m fuzz._child "$@"\n')
        script.chmod(0o700)
        child = _Child(target, "guided", 0, 0, options, work)
        State(work / "state")
        stored = CORPUS / target.name
        stored.mkdir(parents=True, exist_ok=True)
        # By what is covered, not by how often: few inputs are enough to begin with.
        flags = ["-set_cover_merge=1", "-use_counters=0", f"-max_len={4 * target.max_bytes}"]
        return subprocess.run(
            [str(script), *flags, f"-rss_limit_mb={_MEGABYTES}", str(stored), str(source)],
            env=child.variables([]) | {_child.SCRIPT: str(script)},
            check=False,
        ).returncode

"""The process that checks inputs: started by `fuzz._parent`, which watches it.

Its configuration is JSON in the environment; arguments are those of libFuzzer, which starts the
process again with others when it merges.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from . import _tally, _twins, seeds
from ._findings import Findings, KindError
from ._state import State
from ._targets import CORPUS, TARGETS, Target

#: The variable with the configuration: ``target``, ``mode``, ``seconds``, ``seed``, the paths
#: ``state`` and ``findings``, the ``places`` that are known, and the ``module`` of the command.
VARIABLE = "KOSTER_FUZZ"
#: The variable with the path of a script that starts this process.
SCRIPT = "KOSTER_FUZZ_SCRIPT"

#: One of so many random inputs is an edited one of the corpus.
_EDITED = 4


class Runner:
    """Checks inputs, counts them, and saves those that raise."""

    def __init__(self, given: Mapping[str, Any], state: State) -> None:
        target = given["target"]
        self._module: Any = importlib.import_module(f"fuzz.{target}")
        self._state = state
        simplify = getattr(self._module, "simplify", bytes)
        self._findings = Findings(
            target, Path(given["findings"]), self._check, simplify, given["places"], given["module"]
        )
        self._unraisable: list[BaseException | None] = []
        sys.unraisablehook = lambda event: self._unraisable.append(event.exc_value)

    def __call__(self, data: bytes) -> None:
        """Check an input; whatever it raises is saved."""
        self._state.begin(data)
        try:
            self._check(data)
        except Exception as error:  # noqa: BLE001 - any is a finding
            self._findings.add(data, error)
        self._state.end(_tally.triples)

    def _check(self, data: bytes) -> None:
        self._module.check(data)
        if self._unraisable:
            error = self._unraisable.pop()
            self._unraisable.clear()
            raise KindError(f"printed and ignored: {type(error).__name__}") from error


def stored(target: Target) -> list[bytes]:
    """Return the inputs that a target begins with."""
    found = [path.read_bytes() for path in sorted((CORPUS / target.name).glob("*"))]
    return [*found, *seeds.cases()] if target.is_about_files else found


def run_random(
    run: Callable[[bytes], None], corpus: list[bytes], size: int, seconds: float, seed: int
) -> None:
    """Check the stored inputs, then random ones."""
    deadline = time.monotonic() + seconds
    for data in corpus:
        run(data)
    for data in random_inputs(random.Random(seed), corpus, size):
        if time.monotonic() >= deadline:
            return
        run(data)


def random_inputs(rng: random.Random, corpus: list[bytes], size: int) -> Iterator[bytes]:
    """Yield inputs without end: random bytes, short ones more often, and edited stored inputs."""
    while True:
        if corpus and rng.randrange(_EDITED) == 0:
            yield _edited(rng, corpus)
        else:
            yield rng.randbytes(4 + int(rng.random() ** 2 * size))


def _edited(rng: random.Random, corpus: list[bytes]) -> bytes:
    """Return a stored input with a few random changes."""
    data = bytearray(rng.choice(corpus))
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(5):
            case 0:
                data[at : at + 1] = rng.randbytes(1)
            case 1:
                data[at:at] = rng.randbytes(rng.choice((1, 2, 8)))
            case 2:
                del data[at : at + rng.choice((1, 2, 8, 30))]
            case 3:
                data[at:at] = data[at : at + rng.choice((4, 16, 60))]
            case 4:
                data[at:] = rng.choice(corpus)[at:]
    return bytes(data)


def run_guided(run: Callable[[bytes], None], corpus: list[bytes], arguments: list[str]) -> None:
    """Let libFuzzer choose the inputs, from others on. Does not return."""
    import atheris

    if not any("merge" in argument for argument in arguments):
        # Besides those that it is given: it looks into all folders.
        folder = Path(tempfile.mkdtemp())
        for number, data in enumerate(corpus):
            (folder / str(number)).write_bytes(data)
        arguments = [*arguments, str(folder)]

    atheris.Setup([os.environ.get(SCRIPT, "fuzz"), *arguments], run)
    atheris.Fuzz()


def main() -> None:
    """Run a target as the configuration says."""
    given = json.loads(os.environ[VARIABLE])
    target = TARGETS[given["target"]]
    if given["mode"] == "guided":
        _twins.instrument()
    state = State(Path(given["state"]))
    run = Runner(given, state)
    if given["mode"] == "guided":
        run_guided(run, stored(target), sys.argv[1:])
    else:
        faulthandler.enable(all_threads=False)
        run_random(run, stored(target), target.max_bytes, given["seconds"], given["seed"])


if __name__ == "__main__":
    main()

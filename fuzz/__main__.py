"""Run fuzz targets: ``python -m fuzz [TARGET...] --seconds N``.

Each target runs in a child process, from its stored inputs on: half of the time with random inputs
and the compiled modules, half of it guided by coverage, for which koster runs as plain Python. An
input for which the invariant does not hold is saved in fuzz/findings; the exit status is then 1.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import platform
import sys
import traceback
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from . import _parent
from ._parent import Options, Result
from ._targets import FINDINGS, TARGETS, Target

MODES = ("random", "guided")


def main() -> None:
    """Run the command."""
    parser = arguments_parser()
    given = parser.parse_args()
    unknown = [name for name in given.targets if name not in TARGETS]
    if unknown:
        parser.error(f"unknown target {unknown[0]!r}: use {', '.join(TARGETS)}")
    targets = [TARGETS[name] for name in given.targets or TARGETS]
    if given.input is not None or given.merge is not None:
        if len(targets) != 1:
            parser.error("--input and --merge need one target")
        sys.exit(
            repeat(targets[0], given.input) if given.input else _merge(targets[0], given.merge)
        )
    options = Options(given.seed, FINDINGS.absolute(), kept=given.keep)
    sys.exit(run(targets, given.mode or list(MODES), given.seconds, options, given.ledger))


def arguments_parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=float, default=60, help="for all targets together")
    parser.add_argument("--seed", type=int, default=0, help="of the random inputs")
    parser.add_argument("--ledger", type=Path, help="append the counts to this file, as JSON lines")
    modes = parser.add_mutually_exclusive_group()
    for mode in MODES:
        modes.add_argument(f"--{mode}", dest="mode", action="append_const", const=mode)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep what guidance finds")
    parser.add_argument("--input", type=Path, metavar="FILE", help="check one input")
    parser.add_argument(
        "--merge", type=Path, metavar="DIR", help="store the inputs that cover more"
    )
    return parser


def run(
    targets: list[Target], modes: list[str], seconds: float, options: Options, ledger: Path | None
) -> int:
    """Run targets one after the other, print what they did, and return the exit status."""
    modes = _possible(modes)
    targets = [each for each in targets if _is_installed(each)]
    results = []
    print(_row("target", "mode", "executions", "triples", "seconds", "findings"), flush=True)
    for target in targets:
        places: list[str] = []
        for mode in modes:
            share = seconds / len(targets) / len(modes)
            found = _parent.run(target, mode, share, options, places)
            places = found.places
            results.append(found)
            print(_shown(found), flush=True)
            if ledger is not None:
                _append(ledger, found, options)
    total = Result("all", "")
    for each in results:
        total.executions += each.executions
        total.triples += each.triples
        total.seconds += each.seconds
        total.findings += each.findings
    print(_shown(total))
    return 1 if total.findings else 0


def _possible(modes: list[str]) -> list[str]:
    """Return the modes that this Python can run."""
    if "guided" not in modes or importlib.util.find_spec("atheris"):
        return modes
    print(f"atheris is not installed (Python {platform.python_version()}): all inputs are random")
    return ["random"]


def _is_installed(target: Target) -> bool:
    found = not target.needs or importlib.util.find_spec(target.needs.partition(".")[0])
    if not found:
        print(f"{target.name} is skipped: {target.needs} is not installed")
    return bool(found)


def _row(*cells: str) -> str:
    first, second, *others = cells
    return f"{first:8} {second:7}" + "".join(f"{each:>14}" for each in others)


def _shown(result: Result) -> str:
    numbers = (result.executions, result.triples, result.seconds, result.findings)
    return _row(result.target, result.mode, *(f"{each:,.0f}" for each in numbers))


def _append(ledger: Path, result: Result, options: Options) -> None:
    """Append what a target did to a file."""
    import koster

    is_sanitized = "ASAN_OPTIONS" in options.variables
    facts = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "koster": koster.__version__,
        "python": platform.python_version(),
        "seed": options.seed,
        "sanitizers": is_sanitized,
    }
    with ledger.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(result) | facts) + "\n")


def repeat(target: Target, path: Path) -> int:
    """Check one input, show what it stands for, and return the exit status."""
    module = importlib.import_module(f"fuzz.{target.name}")
    data = path.read_bytes()
    if describe := getattr(module, "describe", None):
        print(describe(data))
    try:
        module.check(data)
    except Exception:  # noqa: BLE001 - any is a finding
        traceback.print_exc()
        return 1
    print("The invariant holds.")
    return 0


def _merge(target: Target, source: Path) -> int:
    return _parent.merge(target, source.absolute(), Options(0, FINDINGS.absolute()))


if __name__ == "__main__":
    main()

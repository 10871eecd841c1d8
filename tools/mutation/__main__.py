"""Run the mutants, or say which survive.

python -m tools.mutation run FOLDER [MODULE...]   in copies of the project below a folder; resumes,
                                                  and tries survivors without a reason again
python -m tools.mutation report FOLDER            survivors without a reason; exit code 1 if any
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cosmic_ray.work_db import WorkDB, use_db

from .survivors import Survivor, listed, survivors_of

ROOT = Path(__file__).parents[2]
#: What is tested, below the package.
_PARTS = ("_engine", "bulk/_loops", "analysis", "access", "freshness")
#: How many mutants of each part there are, and how many survive.
RESULTS = Path(__file__).with_name("results.json")
#: At most so many survivors of a hundred mutants.
_ALLOWED = 5.0


def main() -> int:
    """Run a command, and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("run", "report"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="such as _engine/trie")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at a time")
    parser.add_argument("--percent", type=int, default=100, help="of each module, at random")
    options = parser.parse_args()
    if options.command == "report":
        return _report(options.folder)
    options.folder.mkdir(parents=True, exist_ok=True)
    # Long modules first, so that the workers end together.
    modules = sorted(options.modules or _modules(), key=_size, reverse=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(functools.partial(_run, options.folder, options.percent), modules))
    return _report(options.folder)


def _modules() -> list[str]:
    """Return the modules that are tested: ``_engine/trie``, ``access``."""
    package = ROOT / "src" / "koster"
    found = []
    for part in _PARTS:
        place = package / part
        paths = sorted(place.glob("*.py")) if place.is_dir() else [package / f"{part}.py"]
        found += [str(path.relative_to(package).with_suffix("")) for path in paths]
    return found


def _size(name: str) -> int:
    return (ROOT / "src" / "koster" / f"{name}.py").stat().st_size


def _run(folder: Path, percent: int, name: str) -> None:
    """Try the mutants of a module in a copy of the project, as a mutant changes its file."""
    copy = folder / name.replace("/", "-")
    # What an interrupted run left may have a mutant in it.
    shutil.rmtree(copy, ignore_errors=True)
    ignored = shutil.ignore_patterns(".*", "build", "dist", "site", "*.so", "__pycache__")
    shutil.copytree(ROOT, copy, ignore=ignored)
    command = [sys.executable, "-m", "tools.mutation.worker"]
    command += [name, f"{copy}.sqlite", str(percent)]
    subprocess.run(command, cwd=copy, check=True)
    shutil.rmtree(copy)


def _report(folder: Path) -> int:
    """Print the numbers and the survivors without a reason."""
    known = listed()
    totals, tried, survivors = _results(folder)
    counts = {
        part: {
            "mutants": totals[part],
            "tried": tried[part],
            "survivors": sum(each.part == part for each in survivors),
        }
        for part in (each.partition("/")[0] for each in _PARTS)
    }
    RESULTS.write_text(json.dumps(counts, indent=2) + "\n", "utf-8")
    new = [each for each in survivors if each not in known]
    for each in new:
        print(f"{each.module}: {each.operator}\n- {each.line}\n+ {each.changed}\n")
    share = 100 * len(survivors) / max(1, tried.total())
    survive = f"{len(survivors)} survive ({share:.1f} %), {len(new)} without a reason"
    print(f"{tried.total()} of {totals.total()} mutants tried, {survive}")
    return 1 if new or share > _ALLOWED else 0


def _results(folder: Path) -> tuple[Counter[str], Counter[str], list[Survivor]]:
    """Return the number of mutants of each part, of those that were tried, and the survivors."""
    totals: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    survivors = []
    for path in sorted(folder.glob("*.sqlite")):
        with use_db(str(path), WorkDB.Mode.open) as session:
            part = path.stem.partition("-")[0]
            totals[part] += session.num_work_items
            tried[part] += session.num_results
            survivors += survivors_of(session, path.stem).values()
    return totals, tried, survivors


if __name__ == "__main__":
    sys.exit(main())

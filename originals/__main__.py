"""Run the suites of the originals and print the table: ``python -m originals FOLDER``.

FOLDER caches their source distributions.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path

from .suites import SUITES, Suite

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))


def main() -> int:
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    unexpected: list[str] = []
    rows = [["original", "tests passed", "skipped", "excepted", "left out", "rows agreed"]]
    shares = agreements()
    for suite in SUITES:
        counts = run(suite, folder, unexpected)
        tests = [str(counts[key]) for key in ("passed", "skipped", "excepted", "private")]
        rows.append([suite.package or _python(), *tests, shares.pop(suite.facade, "")])
    rows += [[f"{name} (no suite)", "", "", "", "", share] for name, share in shares.items()]
    print_table(rows)
    for suite in SUITES:
        for test, reason in suite.excepted.items():
            print(f"{suite.facade}: {test}\n    {reason}")
    for outcome in unexpected:
        print(f"UNEXPECTED: {outcome}")
    return 1 if unexpected else 0


def _python() -> str:
    return f"Python {sys.version_info.major}.{sys.version_info.minor}'s own"


def run(suite: Suite, folder: Path, unexpected: list[str]) -> Counter[str]:
    """Run a suite, and count its tests; unexpected outcomes are added to ``unexpected``."""
    tests = test_paths(suite, folder)
    counts: Counter[str] = Counter()
    if not tests:
        print(f"{suite.facade}: this Python was installed without its tests; they are not run")
        return counts
    for name, outcome in outcomes(suite, tests, folder).items():
        short = name.partition("::")[2] or name
        if any(part in name for part in suite.private):
            counts["private"] += 1
        elif short in suite.excepted:
            counts["excepted"] += 1
            if outcome == "passed":
                unexpected.append(f"{suite.facade}: {short} passes, but is excepted")
        else:
            counts[outcome] += 1
            if outcome == "failed":
                unexpected.append(f"{suite.facade}: {name} fails")
    if not counts["passed"]:
        unexpected.append(f"{suite.facade}: no test passed")
    return counts


def test_paths(suite: Suite, folder: Path) -> list[str]:
    """Return the paths of a suite's tests; download them if needed."""
    if suite.package is None:
        try:
            specs = [importlib.util.find_spec(path) for path in suite.paths]
        except ModuleNotFoundError:
            return []
        return [spec.origin for spec in specs if spec is not None and spec.origin]
    name, _, version = suite.package.partition("==")
    source = folder / f"{name}-{version}"
    if not source.is_dir():
        command = [
            sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
            "--no-binary", name, "--dest", str(folder), suite.package,
        ]  # fmt: skip
        subprocess.run(command, check=True)
        with tarfile.open(folder / f"{name}-{version}.tar.gz") as archive:
            archive.extractall(folder, filter="data")
    return [str(source / path) for path in suite.paths]


def outcomes(suite: Suite, tests: list[str], folder: Path) -> dict[str, str]:
    """Return the outcome of each test of a suite."""
    results = folder / f"{suite.facade}.json"
    results.unlink(missing_ok=True)
    environment = os.environ | {
        "KOSTER_MODULES": json.dumps(suite.modules),
        "KOSTER_RESULTS": str(results),
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        # Only what a suite needs, whatever else is installed.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "originals.redirect",
        "-p", "no:cacheprovider", "--import-mode=prepend", "--rootdir", str(folder),
        "-c", os.devnull, *tests,
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if not results.exists():
        sys.exit(done.stdout + done.stderr)
    (folder / f"{suite.facade}.log").write_text(done.stdout + done.stderr)
    found: dict[str, str] = json.loads(results.read_text("utf-8"))
    return found


def agreements() -> dict[str, str]:
    """Return for each facade the share of conformance rows on which it agrees with its original."""
    from tests.helpers.facades import COLUMNS, agreement  # noqa: PLC0415 - needs the path that is set above
    from tests.helpers.support import bodies, conformance, verdicts  # noqa: PLC0415

    if conformance() is None:
        return {}
    shares: dict[str, list[str]] = {}
    for column in COLUMNS:
        total = disagreed = 0
        for table in ("verdicts.tsv.gz", "modern-verdicts.tsv.gz"):
            count, differing = agreement(column, verdicts(table), bodies(table))
            total += count
            disagreed += len(differing)
        share = 100 * (1 - disagreed / total)
        shares.setdefault(column.facade, []).append(f"{column.name} {share:.2f} % of {total:,}")
    return {facade: "; ".join(found) for facade, found in shares.items()}


def print_table(rows: list[list[str]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("| " + " | ".join(cells) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


if __name__ == "__main__":
    sys.exit(main())

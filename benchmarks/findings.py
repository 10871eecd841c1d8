"""What real files get wrong: ``python -m benchmarks.findings > docs/corpus-findings.md``."""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from statistics import median

import koster
from koster.lint import CHECKS, Finding, lint

from . import data

#: The codes with an example on the page: those that site owners want to know.
SHOWN = (
    *("G001", "G003", "P001", "P002", "P003", "P005", "P007", "S001", "S002", "S007", "S008"),
    *("L007", "M002", "E001", "D001"),
)


def main() -> None:
    """Print the page."""
    found: dict[str, list[tuple[str, Finding, str]]] = defaultdict(list)
    in_files: Counter[str] = Counter()
    times = []
    bodies = data.corpus()
    for file, body in bodies.items():
        name = file.removesuffix(".txt")
        began = time.perf_counter()
        findings = lint(body)
        times.append(time.perf_counter() - began)
        in_files.update({each.code for each in findings})
        lines = koster.parse(body).lines
        for each in findings:
            text = lines[each.line - 1].text if each.line <= len(lines) else ""
            found[each.code].append((name, each, text.strip()))
    bad = {name for some in found.values() for name, each, _ in some if each.severity != "note"}
    print(f"# What {len(bodies):,} well-known sites get wrong\n")
    print(
        "`koster lint` over the robots.txt files of well-known sites that the conformance data "
        "have (`python -m\nbenchmarks.findings` prints this page): "
        f"{len(bad):,} of them have an error or a warning.\n"
    )
    print("| code | what it finds | severity | files | % | findings |")
    print("|---|---|---|---|---|---|")
    for check in CHECKS:
        count = in_files[check.code]
        share = f"{100 * count / len(bodies):.1f}"
        print(
            f"| {check.code} | {check.title.replace('|', chr(92) + '|')} | {check.severity} | "
            f"{count:,} | {share} | {len(found[check.code]):,} |"
        )
    print("\n## Some of them\n")
    for code in SHOWN:
        short = [each for each in found[code] if 0 < len(each[2]) <= 70 and each[2].isprintable()]
        if short:
            name, finding, text = min(short, key=lambda each: (each[0], each[1].line))
            print(f"**{name}**, line {finding.line}: {finding.message} ({code})\n\n    {text}\n")
    took = f"{1000 * median(times):.1f} ms in the median, {max(times):.1f} s the slowest"
    print(f"{len(bodies):,} files: {took}", file=sys.stderr)


if __name__ == "__main__":
    main()

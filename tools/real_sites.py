"""What real files get wrong: ``python -m tools.real_sites > docs/about/real-sites.md``."""

from __future__ import annotations

import sys
import textwrap
import time
from collections import Counter, defaultdict
from itertools import chain
from statistics import median

import koster
from benchmarks import data
from koster.lint import CHECKS, Finding, lint

#: The codes with an example on the page: those that site owners want to know.
SHOWN = (
    *("G001", "G003", "P001", "P002", "P003", "P005", "P007", "S001", "S002", "S007", "S008"),
    *("L007", "M002", "E001", "D001"),
)

_START = """\
---
description: What koster lint finds in the robots.txt files of {files:,} well-known sites.
---

# Real sites

`koster lint` finds an error or a warning in {bad:,} of {files:,} robots.txt files of well-known
sites, and a note in {noted:,}. This page shows which mistakes are common. The files are the test
data of Protego: bytes that the sites served. *Files* is the number of files with a finding,
*Findings* the total.
"""

_NEXT = """\
## Next

- [Check and fix](../guides/owners/check-and-fix.md): find the mistakes in your own file.
- [Lint codes](../reference/lint/index.md): every code, with its reason and its fix.
- [Conformance](conformance.md): the same files, read by other parsers.
"""


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
    noted: set[str] = set()
    bad: set[str] = set()
    for name, finding, _ in chain.from_iterable(found.values()):
        (noted if finding.severity == "note" else bad).add(name)
    print(_START.format(files=len(bodies), bad=len(bad), noted=len(noted)))
    for severity in ("error", "warning", "note"):
        print(f"## {severity.capitalize()}s\n")
        print("| Code | What it finds | Files | Findings |")
        print("|---|---|---|---|")
        checks = [check for check in CHECKS if check.severity == severity and found[check.code]]
        for check in sorted(checks, key=lambda each: -in_files[each.code]):
            count = in_files[check.code]
            share = f"{100 * count / len(bodies):.1f} %"
            print(
                f"| {_link(check.code)} | {_escaped(check.title)} | {count:,} ({share}) | "
                f"{len(found[check.code]):,} |"
            )
        print()
    print("## Not found\n")
    unused = ", ".join(_link(check.code) for check in CHECKS if not found[check.code])
    print(f"{_filled(f'No file has a finding with one of these codes: {unused}.')}\n")
    print("## Examples\n")
    for code in SHOWN:
        short = [each for each in found[code] if 0 < len(each[2]) <= 70 and each[2].isprintable()]
        if short:
            name, finding, text = min(short, key=lambda each: (each[0], each[1].line))
            where = f"{_link(code)} in {name}, line {finding.line}"
            print(_filled(f"{where}: {_escaped(finding.message)}"))
            print(f"\n```robots\n{text}\n```\n")
    print(_NEXT, end="")
    took = f"{1000 * median(times):.1f} ms in the median, {max(times):.1f} s the slowest"
    print(f"{len(bodies):,} files: {took}", file=sys.stderr)


def _link(code: str) -> str:
    return f"[{code}](../reference/lint/{code}.md)"


def _filled(text: str) -> str:
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)


def _escaped(text: str) -> str:
    """Return a text as Markdown."""
    for character in r"\*_<[|":
        text = text.replace(character, f"\\{character}")
    return text


if __name__ == "__main__":
    main()

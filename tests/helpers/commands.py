"""The commands that write files, and how to run them while that fails."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.helpers import archives
from tests.helpers.forked_commands import Command
from tests.helpers.support import ROOT

TEXT = b"user-agent: *\nDisalow: /private\n"

#: Commands by what they write. ``{disk}`` is the folder where writing fails, ``{data}`` the inputs.
WRITING: dict[str, str] = {
    "fmt": "fmt --write {disk}/robots.txt",
    "fmt --minify": "fmt --minify --write {disk}/robots.txt",
    "lint --fix": "lint --fix --write {disk}/robots.txt",
    "lint --write-baseline": (
        "lint --baseline {disk}/baseline.json --write-baseline {data}/robots.txt"
    ),
    "compose": "compose --close /x/ --keep {disk}/robots.txt --write {disk}/robots.txt --quiet",
    "compose, new file": "compose --others allow --quiet --write {disk}/new.txt",
    "test --init": "test --init {disk}/robots.expect.toml --robots {data}/robots.txt",
    "logs --events": (
        "logs {data}/access.log --robots {data}/versions --events {disk}/events.parquet"
    ),
    "logs --output": "logs {data}/access.log --robots {data}/versions -o {disk}/report.html",
    "bulk": "bulk classify {data}/in -a GPTBot -o {disk}/out -j 1",
    "bulk in processes": "bulk classify {data}/in -a GPTBot -o {disk}/out -j 2",
    "bulk report": (
        "bulk report {data}/classified --crawl-column crawl -o {disk}/r.html --csv {disk}/r.csv"
    ),
}

#: Those that replace a file.
REPLACING = ("fmt", "fmt --minify", "lint --fix", "compose")

#: Commands whose answers go to standard output.
PRINTING: dict[str, str] = {
    "check": "check --robots {data}/robots.txt /private",
    "check -f json": "check --robots {data}/robots.txt /private -f json",
    "fmt": "fmt {data}/robots.txt",
    "lint": "lint {data}/robots.txt",
    "lint -f sarif": "lint -f sarif {data}/robots.txt",
    "lint --fix": "lint --fix {data}/robots.txt",
    "compose": "compose --others allow --quiet",
    "diff": "diff {data}/robots.txt {data}/versions/2026-03-01.txt",
    "audit": "audit {data}/robots.txt",
    "agents": "agents",
    "logs": "logs {data}/access.log --robots {data}/versions",
    "logs -f html": "logs {data}/access.log --robots {data}/versions -f html",
    "completion": "completion bash",
    "help": "help check",
}


def run(
    line: str,
    data: Path,
    disk: Path,
    stdout: int = subprocess.PIPE,
    limit: Callable[[], None] | None = None,
    file_size: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command; ``limit`` is called in a process of its own, ``file_size`` limits its files."""
    arguments = [part.format(data=data, disk=disk) for part in line.split()]
    if limit is None:
        process = Command(*arguments, stdout=stdout, stderr=subprocess.PIPE, file_size=file_size)
        written = process.communicate(timeout=60)
        return subprocess.CompletedProcess(arguments, process.wait(), *written)
    return subprocess.run(
        [sys.executable, "-m", "koster", *arguments],
        check=False,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        preexec_fn=limit,
    )


def write_data(folder: Path) -> Path:
    """Write the inputs of all commands; return their folder."""
    (folder / "robots.txt").write_bytes(TEXT)
    shutil.copy(ROOT / "examples" / "access.log", folder)
    shutil.copytree(ROOT / "examples" / "versions", folder / "versions")
    for number in range(3):
        archives.write(folder / "in" / f"part-{number}.warc.gz", archives.sites(50, 50 * number))
    classified = "bulk classify {data}/in -a GPTBot -o {disk}/classified -q"
    assert run(classified, folder, folder).returncode == 0
    return folder

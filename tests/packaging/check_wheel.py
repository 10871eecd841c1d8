"""Check an installed wheel: compiled modules, a decision, and the command. Prints its name and size.

    python check_wheel.py WHEEL

The wheel must be installed with the extra ``cli`` in the environment of this Python. A wheel for
one platform must have every hot module compiled; a pure one (``-none-any.whl``) must have none.
"""

from __future__ import annotations

import csv
import importlib
import json
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import koster
from koster import _pure

ROBOTS = """\
User-agent: *
Disallow: /private
Allow: /private/press
"""


def main() -> None:
    wheel = Path(sys.argv[1])
    compiled = not wheel.name.endswith("-none-any.whl")
    check_modules(compiled)
    check_decision()
    check_command()
    check_suite()
    size = wheel.stat().st_size / 1024
    kind = "compiled" if compiled else "plain Python"
    print(f"{wheel.name}: {size:,.0f} KiB, {kind}")


def check_modules(compiled: bool) -> None:
    """All hot modules are compiled, or none: the build skips modules that fail to compile."""
    assert compiled == koster.COMPILED, f"koster.COMPILED is {koster.COMPILED}"
    for name in _pure.HOT:
        file = importlib.import_module(f"koster.{name}").__file__ or ""
        assert file.endswith(".py") != compiled, f"koster.{name} is {file}"


def check_decision() -> None:
    robots = koster.parse(ROBOTS)
    assert robots.allowed("https://example.com/private/press/1", "FooBot")
    decision = robots.decide("https://example.com/private/x", "FooBot")
    assert not decision
    assert decision.rule is not None
    assert decision.rule.line == 2


def check_suite() -> None:
    """The conformance suite is in the package, and koster passes it."""
    script = str(Path(sysconfig.get_path("scripts"), "koster"))
    command = [script, "conformance", "run", "--level", "must", "-f", "json"]
    process = subprocess.run(
        [*command, "--", script, "conformance", "subject"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert process.returncode == 0, (process.stdout, process.stderr)
    report = json.loads(process.stdout)
    assert report["passed"] > 400, report


def check_command() -> None:
    """Run ``koster check`` as a script and with ``python -m koster``."""
    script = str(Path(sysconfig.get_path("scripts"), "koster"))
    check = ("check", "--robots", "robots.txt", "--format", "csv", "/private/x", "/private/press")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "robots.txt").write_text(ROBOTS, "utf-8")
        for command in ([script], [sys.executable, "-m", "koster"]):
            process = subprocess.run(
                [*command, *check], capture_output=True, text=True, check=False, cwd=folder
            )
            # 1: a URL is disallowed.
            assert process.returncode == 1, (process.returncode, process.stderr)
            allowed = [row["allowed"] for row in csv.DictReader(process.stdout.splitlines())]
            assert allowed == ["false", "true"], process.stdout
    print("$", "koster", *check)
    print(process.stdout)


if __name__ == "__main__":
    main()

"""The tests that a mutant of a module must fail: ``python -m tools.mutation.check MODULE``."""

from __future__ import annotations

import os
import subprocess
import sys

_FETCHING = ("tests/test_values.py", "tests/test_freshness.py", "tests/test_access.py")

#: The tests by the first part of a module's path in the package, quick ones first.
TESTS = {
    "engine": (
        ("tests/test_values.py", "tests/engine/test_cases.py", "tests/engine/test_extended2.py"),
        ("tests/test_robots.py",),
        ("tests/engine/test_properties.py", "tests/bulk/test_kernel.py", "tests/analysis"),
    ),
    "analysis": (
        ("tests/analysis", "tests/test_diff.py"),
        ("tests/lint", "tests/test_formatting.py"),
    ),
    "access": (_FETCHING, ("tests/fetch/test_caching.py",)),
    "freshness": (_FETCHING, ("tests/fetch/test_caching.py",)),
}
_PYTEST = ("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header")


def main() -> int:
    """Return the exit code of the first tests that fail."""
    part = sys.argv[1]
    environment = {**os.environ, "KOSTER_PURE": "1", "PYTHONPATH": "src"}
    quick = [["tools/mutation/quick.py"]] if part == "engine" else []
    for arguments in (*quick, *([*_PYTEST, *tests] for tests in TESTS[part])):
        code = subprocess.run([sys.executable, *arguments], env=environment, check=False).returncode
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The tests that a mutant of a module must fail: ``python -m tools.mutation.check MODULE``."""

from __future__ import annotations

import os
import subprocess
import sys

_FETCHING = (
    "tests/test_values.py",
    "tests/test_freshness.py",
    "tests/test_access.py",
    "tests/fetch/test_caching.py",
)
_ENGINE = (
    "tests/test_values.py", "tests/analysis/test_answers.py",
    "tests/engine/test_cases.py", "tests/engine/test_extended2.py",
    "tests/engine/test_functions_of_dialects.py", "tests/test_robots.py",
    "tests/engine/test_memory.py", "tests/engine/test_properties.py",
    "tests/engine/test_bounds.py", "tests/engine/test_work.py",
    "tests/engine/test_recorded_answers.py", "tests/engine/test_linear.py",
)  # fmt: skip
_KERNEL = ("tests/bulk/test_kernel.py",)
_ANALYSIS = (
    "tests/test_values.py",
    "tests/analysis/test_answers.py",
    "tests/analysis",
    "tests/test_diff.py",
)

#: The tests by the beginning of a module's path in the package.
TESTS = {
    **dict.fromkeys(
        ("bulk/_loops/batches", "bulk/_loops/buffers", "bulk/_loops/extents", "_engine/rows"),
        (*_ENGINE, *_KERNEL),
    ),
    "bulk/_loops/records": ("tests/bulk/test_scanned.py",),
    "_engine": _ENGINE,
    "analysis": _ANALYSIS,
    "access": _FETCHING,
    "freshness": _FETCHING,
}
#: Tests that take a second or less, before those.
_QUICK = {(*_ENGINE, *_KERNEL): "quick_columns.py", _ENGINE: "quick.py"}
#: These take long, and find nothing that others do not.
_LEFT_OUT = ("limits", "is_fast", "are_fast", "pickling", "eight_threads", "hostile")
_PYTEST = (
    "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header",
    "-k", " and ".join(f"not {name}" for name in _LEFT_OUT),
)  # fmt: skip


def main() -> int:
    """Return the exit code of the first tests that fail."""
    module = sys.argv[1]
    environment = {
        **os.environ, "KOSTER_PURE": "1", "KOSTER_HYPOTHESIS": "mutation", "PYTHONPATH": "src"
    }  # fmt: skip
    tests = next(tests for name, tests in TESTS.items() if module.startswith(name))
    quick = [[f"tools/mutation/{_QUICK[tests]}"]] if tests in _QUICK else []
    for arguments in (*quick, [*_PYTEST, *tests]):
        code = subprocess.run([sys.executable, *arguments], env=environment, check=False).returncode
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())

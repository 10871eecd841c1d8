"""Run fuzz targets on compiled modules with sanitizers: ``python -m fuzz.sanitized --seconds N``.

The modules are compiled in a copy of the checkout with AddressSanitizer and
UndefinedBehaviorSanitizer; the first error ends the process, which is a finding. Needs gcc.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import __main__ as command
from ._parent import Options
from ._targets import FINDINGS, TARGETS

_ROOT = Path(__file__).parent.parent

FLAGS = (
    "-fsanitize=address,undefined",
    "-fno-omit-frame-pointer",
    "-g1",
    "-fno-sanitize-recover=undefined",
)

#: Seconds of a run from which on it pays to compile for a minute longer.
_LONG = 120

#: The targets that run the compiled modules most.
_USUAL = ("decide", "builds", "google", "rfc9309", "rewrite", "tables")

#: What threads share, of compiled modules: the others would take minutes.
_SHARED = ("robots", "rules", "outcome", "facades", "kernel", "tools")

#: What `setup.py` compiles with, and the module that all others share.
_OLD_FLAGS, _OLD_SHARED = '["-g0"]', '[*FLAGS, "-O1"]'


def main() -> None:
    """Build the copy, and run the targets with it."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.sanitized", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=float, default=60, help="for all targets together")
    parser.add_argument("--seed", type=int, default=0, help="of the random inputs")
    parser.add_argument("--ledger", type=Path, help="append the counts to this file, as JSON lines")
    parser.add_argument("--input", type=Path, metavar="FILE", help="check one input")
    parser.add_argument("--patch", type=Path, help="apply this patch to the copy: to test the test")
    given = parser.parse_args()
    targets = [TARGETS[name] for name in given.targets or _USUAL]
    with tempfile.TemporaryDirectory(prefix="koster-sanitized-") as folder:
        build(Path(folder), given.patch, "-O1" if given.seconds >= _LONG else "-O0")
        added = variables(Path(folder))
        if given.input is not None:
            sys.exit(_repeat(targets[0].name, given.input, added))
        _run_threads(added)
        options = Options(given.seed, FINDINGS.absolute(), added, module="fuzz.sanitized")
        sys.exit(command.run(targets, ["random"], given.seconds, options, given.ledger))


def build(folder: Path, patch: Path | None, level: str) -> None:
    """Compile koster with sanitizers in a copy of the checkout."""
    shutil.copytree(
        _ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("*.so", "__pycache__")
    )
    # Cython's output, which only the compiler is to read anew.
    if (_ROOT / "build" / "cython").is_dir():
        shutil.copytree(_ROOT / "build" / "cython", folder / "build" / "cython")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(_ROOT / name, folder)
    setup = (_ROOT / "setup.py").read_text("utf-8")
    for old, new in ((_OLD_FLAGS, repr([*FLAGS, level])), (_OLD_SHARED, "FLAGS")):
        assert old in setup, "setup.py has other flags"
        setup = setup.replace(old, new)
    (folder / "setup.py").write_text(setup, "utf-8")
    if patch is not None:
        subprocess.run(["patch", "-p1", "-d", folder, "-i", patch.absolute()], check=True)
    environment = os.environ | {"CC": "gcc", "LDFLAGS": FLAGS[0], "KOSTER_PURE": "0"}
    log = folder / "build.log"
    print(f"Compiling with sanitizers, {level}", flush=True)
    with log.open("wb") as file:
        done = subprocess.run(
            [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
            cwd=folder, env=environment, stdout=file, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
    if done.returncode or not list((folder / "src").rglob("document*.so")):
        raise RuntimeError(log.read_text("utf-8", "replace"))


def _run_threads(added: dict[str, str]) -> None:
    """Let threads share objects; an error ends the process, and this one."""
    print("Threads that share objects", flush=True)
    arguments = [sys.executable, "-m", "tests.helpers.hammer", *_SHARED]
    status = subprocess.run(arguments, cwd=_ROOT, env=os.environ | added, check=False).returncode
    if status:
        sys.exit(status)


def _repeat(target: str, path: Path, added: dict[str, str]) -> int:
    """Check one input, and return the exit status."""
    arguments = [sys.executable, "-m", "fuzz", target, "--input", str(path)]
    return subprocess.run(arguments, env=os.environ | added, check=False).returncode


def variables(folder: Path) -> dict[str, str]:
    """Return the environment of a process that uses the copy in a folder."""
    libraries = [
        subprocess.run(
            ["gcc", f"-print-file-name={name}"], check=True, capture_output=True, text=True
        ).stdout.strip()
        # The second one must be there before it throws.
        for name in ("libasan.so", "libstdc++.so.6")
    ]
    path = [str(folder / "src"), os.environ.get("PYTHONPATH", "")]
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
        "LD_PRELOAD": ":".join(libraries),
        # Python's own allocator would hide what is read beyond the end of bytes.
        "PYTHONMALLOC": "malloc",
        # Leaks: of the interpreter, at exit.
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:handle_abort=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


if __name__ == "__main__":
    main()

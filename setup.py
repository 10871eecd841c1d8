"""The compiled half of the build; everything else is in pyproject.toml.

The hot modules are compiled if there is a C compiler, and used as plain Python otherwise.
``KOSTER_PURE=1`` skips compilation.
"""

import math
import os
import runpy
import shutil
import sys
import sysconfig
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import Cython
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import CompileError, ExecError, LinkError, PlatformError

_pure = runpy.run_path("src/koster/_pure.py", run_name="koster._pure")
HOT = _pure["HOT"]
SOURCES = {f"koster.{name}": f"src/koster/{name.replace('.', '/')}.py" for name in HOT}

#: The folder of the C files, outside the package: otherwise the wheel would contain them. All are
#: made by one version of Cython, because they share code.
C_FILES = f"build/cython/{Cython.__version__}"

#: Debug symbols are nine tenths of the compiler's output. The optimization level is the
#: interpreter's, as a rule -O3: -O2 saves three seconds, and -O1 makes decisions a tenth slower.
FLAGS = [] if sys.platform == "win32" else ["-g0"]

#: The module with what Cython would else put into each of the others: a quarter of the compiler's
#: work. Little of it is called often.
SHARED = f"koster.{_pure['SHARED']}"
SHARED_FLAGS = FLAGS if sys.platform == "win32" else [*FLAGS, "-O1"]

#: What Cython 3.3.1 writes for comprehensions, and what it must be: without memory for the list,
#: the caller releases the item, too. The process crashes then.
RELEASED_TWICE = """    int result = PyList_Append(list, x);
    Py_DECREF(x);
"""
RELEASED_ONCE = """    int result = PyList_Append(list, x);
    if (result == 0) Py_DECREF(x);
"""

CORES = os.cpu_count() or 1


def main() -> None:
    """Run the setup commands."""
    setup(
        ext_modules=extensions(),
        cmdclass={"build_py": BuildWithSuite, "build_ext": BuildAllOrNone},
        options={"build_ext": {"parallel": CORES}},
    )


class BuildWithSuite(build_py):
    """Copies the conformance suite, which stands at the top of the repository, into the package."""

    def run(self) -> None:
        """Build the package."""
        super().run()
        if not self.editable_mode:
            folder = Path(self.build_lib, "koster", "conformance", "suite")
            shutil.copytree("conformance", folder, dirs_exist_ok=True)


class BuildAllOrNone(build_ext):
    """Compiles all modules or none: extensions of two builds do not fit together."""

    def run(self) -> None:
        """Build the extensions."""
        # In the package, too, if they are copied there.
        self.folders = [self.build_lib, *(["src"] if self.inplace else [])]
        if self.inplace and self.extensions:
            # Python would import those of an earlier build, of modules that are plain now.
            kept = {Path("src", self.get_ext_filename(each.name)) for each in self.extensions}
            for path in Path("src").rglob(f"*{EXTENSION_SUFFIXES[0]}"):
                if path not in kept:
                    path.unlink()
        super().run()

    def build_extensions(self) -> None:
        """Compile; if the compiler fails for one module, all stay plain Python."""
        try:
            super().build_extensions()
        except (CompileError, LinkError, ExecError, PlatformError) as error:
            for extension in self.extensions:
                for folder in self.folders:
                    Path(folder, self.get_ext_filename(extension.name)).unlink(missing_ok=True)
            self.extensions = []
            print(f"{error}\nkoster: the compiler failed: built as plain Python", file=sys.stderr)


def extensions() -> list[Extension]:
    """Return the modules to compile."""
    if os.environ.get("KOSTER_PURE", "") not in ("", "0") or not has_compiler():
        return []
    found = cythonize(
        [
            *(Extension(name, [path], extra_compile_args=FLAGS) for name, path in SOURCES.items()),
            # Cython names a shared module as its file, with the package.
            Extension(SHARED, [f"src/koster/_engine/{SHARED}.c"], extra_compile_args=SHARED_FLAGS),
        ],
        include_path=["src"],
        build_dir=C_FILES,
        shared_utility_qualified_name=SHARED,
        force=has_newer_pxd(),
        # Child processes that are not forked import this file again.
        nthreads=CORES if sys.platform == "linux" else 0,
        compiler_directives={
            "language_level": "3",
            "annotation_typing": False,
            "infer_types": True,
            "embedsignature": True,
            "auto_pickle": False,
        },
    )
    for extension in found:
        release_once(Path(extension.sources[0]))
    # The largest first: else one core waits for the other one at the end.
    found.sort(key=lambda extension: -os.path.getsize(extension.sources[0]))
    return found


def release_once(path: Path) -> None:
    """Correct what Cython wrote for comprehensions in a C file."""
    text = path.read_text("utf-8")
    if RELEASED_TWICE in text:
        path.write_text(text.replace(RELEASED_TWICE, RELEASED_ONCE), "utf-8")


def has_newer_pxd() -> bool:
    """Tell whether a .pxd has changed since the last build: Cython sees only changes of a .py."""
    c_files = [Path(C_FILES, path).with_suffix(".c") for path in SOURCES.values()]
    built = min((file.stat().st_mtime for file in c_files if file.exists()), default=math.inf)
    return any(file.stat().st_mtime > built for file in Path("src").rglob("*.pxd"))


def has_compiler() -> bool:
    """Tell whether there is a C compiler; on Windows that is known only when it is called."""
    command = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    return sys.platform == "win32" or shutil.which(command.split()[0]) is not None


if __name__ == "__main__":
    main()

"""Build and install reppy 0.4.14 into the environment of the Python that runs this.

Its source is of 2019: it needs Cython below 3, C++ of 2014, and two headers that compilers no
longer include by themselves.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

VERSION = "reppy==0.4.14"
FLAGS = "-include limits -include cstdint -std=c++14"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        builder = Path(folder) / "builder"
        venv.create(builder, with_pip=True)
        python = str(builder / "bin" / "python")
        subprocess.run(
            [python, "-m", "pip", "install", "-q", "Cython<3", "setuptools<81", "wheel"], check=True
        )
        source = Path(folder) / "source"
        subprocess.run(
            [*(python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"),
             *("--no-build-isolation", "--dest", str(source), VERSION)],
            check=True,
        )  # fmt: skip
        archive = next(source.glob("reppy-*.tar.gz"))
        subprocess.run(["tar", "xzf", str(archive), "-C", str(source)], check=True)
        tree = next(path for path in source.iterdir() if path.is_dir())
        # What is there was made by a Cython that knows no Python as new as this one.
        (tree / "reppy" / "robots.cpp").unlink()
        subprocess.run(
            [*(python, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"),
             *("--wheel-dir", folder, str(tree))],
            check=True, env=os.environ | {"CFLAGS": FLAGS},
        )  # fmt: skip
        wheel = next(Path(folder).glob("reppy-*.whl"))
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "-q", "--no-deps", str(wheel)], check=True
        )


if __name__ == "__main__":
    main()

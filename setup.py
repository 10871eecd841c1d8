"""The compiled half of the build; everything else stands in pyproject.toml.

The hot steps are compiled where there is a C compiler, and used as plain Python where there is
none. ``KOSTER_PURE=1`` leaves the compiling out.
"""

import os
import runpy

from Cython.Build import cythonize
from setuptools import Extension, setup

HOT = runpy.run_path("src/koster/_pure.py", run_name="koster._pure")["HOT"]

#: Where the C files go: beside the sources they would end up in what is shipped.
C_FILES = "build/cython"


def extensions() -> list[Extension]:
    """Return what is to be compiled."""
    if os.environ.get("KOSTER_PURE", "") not in ("", "0"):
        return []
    found = cythonize(
        [Extension(f"koster.{name}", [f"src/koster/{name.replace('.', '/')}.py"]) for name in HOT],
        include_path=["src"],
        build_dir=C_FILES,
        compiler_directives={
            "language_level": "3",
            "annotation_typing": False,
            "embedsignature": True,
        },
    )
    for extension in found:
        extension.optional = True
    return found


setup(ext_modules=extensions())

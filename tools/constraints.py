"""Write constraints.txt: one exact version of every package that make and the workflows install.

    python3.11 tools/constraints.py [REQUIREMENT ...]

pip resolves koster with all its extras, every dependency group in pyproject.toml and the given
requirements together, and installs nothing. A requirement with an exact version
(``name==version``) is pinned without its dependencies. Run it with the oldest Python that koster
supports: a version that supports it usually supports the newer ones too.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

HEADER = """\
# Exact versions of everything that make and the workflows install with pip.
# Written by "make constraints" with Python {python} on Linux. Do not edit.
"""


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    oldest = project["project"]["requires-python"].removeprefix(">=")
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    if running != oldest:
        sys.exit(f"This is Python {running}. Use Python {oldest}, the oldest supported version.")
    exact = [each for each in sys.argv[1:] if "==" in each]
    others = [each for each in sys.argv[1:] if "==" not in each]
    groups = [f"--group={name}" for name in project["dependency-groups"]]
    extras = ",".join(project["project"]["optional-dependencies"])
    pins = {_key(each): each for each in exact}
    found = _resolved([*groups, f".[{extras}]", "pip", *others], exact)
    pins |= {_key(each): each for each in found}
    lines = "".join(f"{pins[key]}\n" for key in sorted(pins))
    (ROOT / "constraints.txt").write_text(HEADER.format(python=running) + lines, "utf-8")


def _resolved(requirements: list[str], exact: list[str]) -> list[str]:
    """Return the newest versions that work together, as ``name==version``."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        pip = [folder / "venv" / "bin" / "python", "-m", "pip", "install", "-q"]
        subprocess.run([*pip, "--upgrade", "pip"], check=True)
        (folder / "exact.txt").write_text("\n".join(exact), "utf-8")
        options = ["--dry-run", "--report", folder / "report.json", "-c", folder / "exact.txt"]
        subprocess.run(
            [*pip, "--ignore-installed", *options, *requirements],
            check=True, cwd=ROOT, env=os.environ | {"KOSTER_PURE": "1"},
        )  # fmt: skip
        report = json.loads((folder / "report.json").read_text("utf-8"))
    # koster itself is the only direct requirement, from a folder.
    packages = [each["metadata"] for each in report["install"] if not each["is_direct"]]
    return [f"{package['name']}=={package['version']}" for package in packages]


def _key(pin: str) -> str:
    """Return the normalized name of a pin (PEP 503)."""
    return re.sub(r"[-_.]+", "-", pin.partition("==")[0]).lower()


if __name__ == "__main__":
    main()

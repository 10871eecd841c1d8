"""A real name server that means harm: no name leads the service into its own machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("rebinding.py")


#: Names that lead nowhere, or first to a public address that cannot be reached here.
OTHERWISE = {"flips", "mixed", "aliasflip", "nothing", "garbage", "silent"}


def test_no_name_leads_to_this_machine(tmp_path: Path) -> None:
    if shutil.which("unshare") is None or os.geteuid() != 0:
        pytest.skip("needs root and unshare for namespaces of its own")
    command = ["unshare", "--mount", "--net", sys.executable, str(SCRIPT), str(tmp_path / "conf")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if "unshare failed" in done.stderr:
        pytest.skip(f"no namespaces here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["hits"] == []
    assert told["asked"] == told["names"]
    for name, (status, why) in told["answers"].items():
        assert status == 200, name
        assert why, name
        assert "guard" in why or name.split()[1] in OTHERWISE, (name, why)
    assert "guard" in told["answers"]["https flips"][1]
    assert "guard" in told["answers"]["http alias"][1]

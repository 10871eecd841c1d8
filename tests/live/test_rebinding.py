"""DNS rebinding with a real name server: no name makes the service connect to its own machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.support import HERE

SCRIPT = HERE / "helpers" / "rebinding.py"


#: Names without an address, or whose first address is public and not reachable here.
UNGUARDED = {"flips", "mixed", "aliasflip", "nothing", "garbage", "silent"}


def test_no_name_resolves_to_the_service_machine(tmp_path: Path) -> None:
    if shutil.which("unshare") is None or os.geteuid() != 0:
        pytest.skip("needs root and unshare to create namespaces")
    command = ["unshare", "--mount", "--net", sys.executable, str(SCRIPT), str(tmp_path / "conf")]
    process = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if "unshare failed" in process.stderr:
        pytest.skip(f"namespaces are not available: {process.stderr.strip()}")
    assert process.returncode == 0, process.stderr
    result = json.loads(process.stdout)
    assert result["hits"] == []
    assert result["queried"] == result["names"]
    for name, (status, why) in result["answers"].items():
        assert status == 200, name
        assert why, name
        assert "guard" in why or name.split()[1] in UNGUARDED, (name, why)
    assert "guard" in result["answers"]["https flips"][1]
    assert "guard" in result["answers"]["http alias"][1]

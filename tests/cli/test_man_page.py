"""The man page: made from the commands, and valid."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from koster._cli.examples import EXAMPLES
from tools import man_page


def test_text_is_escaped() -> None:
    assert man_page.roff(".--x 'a\\b'") == r"\&.\-\-x 'a\eb'"
    assert man_page.roff("'a' \u00d7 \"b\"") == r"\&'a' \[u00D7] \(dqb\(dq"


@pytest.mark.skipif(not shutil.which("groff"), reason="no groff")
def test_groff_renders_all_commands_and_examples_without_warnings() -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tascii", "-ww", "-rLL=100n", "-P-cbou", man_page.PAGE],
        capture_output=True,
        text=True,
        env=os.environ | {"GROFF_NO_SGR": "1"},
        check=True,
    )
    assert done.stderr == ""
    lines = [line.strip() for line in done.stdout.splitlines()]
    for path, examples in EXAMPLES.items():
        assert path == "koster" or any(re.match(rf"koster {path}( |$)", line) for line in lines), (
            path
        )
        assert all(example in lines for example in examples), path
    for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "ENVIRONMENT"):
        assert heading in lines

"""Examples of the docs with annotations are right for a strict type checker."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.docs_pages import DOCS, blocks

EXAMPLES = {
    f"{page.stem}:{block.line}": block.text
    for page in sorted(DOCS.rglob("*.md"))
    for block in blocks(page)
    if block.language == "python" and ") -> None:" in block.text and "import koster" in block.text
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_with_annotations_pass_mypy(name: str, tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text(EXAMPLES[name], "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "example.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_example_for_prometheus_is_among_them() -> None:
    assert any("prometheus_client" in text for text in EXAMPLES.values())

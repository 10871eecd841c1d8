"""Git repositories for tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


class Repository:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run("init", "-q", "-b", "main")

    def run(self, *arguments: str, day: int = 1) -> None:
        environment = {
            **os.environ, "GIT_COMMITTER_DATE": f"2026-03-{day:02}T00:00:00Z",
            "GIT_AUTHOR_DATE": "2020-01-01T00:00:00Z", "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
        }  # fmt: skip
        names = ("-c", "user.name=x", "-c", "user.email=x@example.com")
        subprocess.run(
            ["git", *names, *arguments], cwd=self.folder, env=environment, check=True,
            capture_output=True,
        )  # fmt: skip

    def commit(self, text: str | None, day: int, name: str = "public/robots.txt") -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        if text is None:
            path.unlink()
        else:
            path.write_text(text)
        self.run("add", "-A")
        self.run("commit", "-q", "--allow-empty", "-m", "x", day=day)

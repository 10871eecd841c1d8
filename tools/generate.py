"""Writes the files that follow from others: ``make generate``.

Those are the synchronous client, the man page, the conformance suite, the schemas of outputs and
the tables of the docs.
"""

from __future__ import annotations

from pathlib import Path

from tools import man_page, schemas, sync_client
from tools.site import tables
from tools.suite.__main__ import files as suite_files

ROOT = Path(__file__).parents[1]


def files() -> dict[Path, str | None]:
    """Return all these files with what they should be; None if there should be no such file."""
    return {
        **sync_client.files(),
        man_page.PAGE: man_page.page(),
        **suite_files(),
        **schemas.files(),
        **tables.pages(),
    }


def outdated() -> dict[Path, str | None]:
    """Return the files that are not what they should be."""
    return {path: text for path, text in files().items() if text != _text(path)}


def _text(path: Path) -> str | None:
    return path.read_text("utf-8") if path.exists() else None


if __name__ == "__main__":
    for path, text in outdated().items():
        print(path.relative_to(ROOT))
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.unlink()
        else:
            path.write_text(text, "utf-8")

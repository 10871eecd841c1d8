"""Print the section of CHANGELOG.md for a tag.

    python3 tools/release_notes.py v1.2.3

Fails if the tag is not the version of koster, or CHANGELOG.md has no dated section for it.
"""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    tag = sys.argv[1]
    version = runpy.run_path(str(ROOT / "src/koster/_version.py"))["VERSION"]
    if tag != f"v{version}":
        sys.exit(f"Tag {tag} does not match version {version} in src/koster/_version.py.")
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    heading = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d\n(.*?)(?=^## |^\[|\Z)"
    section = re.search(heading, text, re.MULTILINE | re.DOTALL)
    if section is None:
        sys.exit(f"CHANGELOG.md has no section '## [{version}] - YYYY-MM-DD'.")
    print(section[1].strip())


if __name__ == "__main__":
    main()

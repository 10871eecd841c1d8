"""Links of pages: in the site they are relative, in the repository they lead to files or to the site.

Many pages exist only in the site, because they are made from the code. A page in the repository
links to them by their address in the built site.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from koster._version import DOCS as ADDRESS

DOCS = Path(__file__).parents[2] / "docs"
_LINK = re.compile(r"(?<=\]\()(?P<target>[^)\s]+)(?=\))")


def in_site(text: str, path: str) -> str:
    """Return a page of the site, at a path, with relative links to other pages."""

    def relative(found: re.Match[str]) -> str:
        target = found["target"]
        if not target.startswith(ADDRESS):
            return target
        name, mark, anchor = target.removeprefix(ADDRESS).partition("#")
        page = re.sub(r"\.html\Z", ".md", name)
        return os.path.relpath(page, os.path.dirname(path) or ".") + mark + anchor

    return _LINK.sub(relative, text)


def in_repository(text: str, path: str) -> str:
    """Return a text of the page at a path, with links that lead somewhere in the repository."""

    def absolute(found: re.Match[str]) -> str:
        target = found["target"]
        name, mark, anchor = target.partition("#")
        if not name or re.match(r"[a-z]+:", name):
            return target
        place = os.path.normpath(os.path.join(os.path.dirname(path), name))
        if place.startswith("..") or (DOCS / place).exists():
            return target
        return ADDRESS + re.sub(r"\.md\Z", ".html", place) + mark + anchor

    return _LINK.sub(absolute, text)

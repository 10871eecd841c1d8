"""Symbolic links in a working tree: what leads out of it is not followed.

A checkout may be anybody's, and so may its links: to a private file, of which lint would print
lines, or to one that fmt would overwrite. As in git, a link may lead to a file of the same tree.
"""

from __future__ import annotations

import os

from .._reports.plain import printable
from ..errors import UnreadableError


def check(path: str, folder: str | None = None) -> None:
    """Check that a path does not lead out of the tree that it is in.

    The tree is that of git; else ``folder``, which was searched; else the current folder. A path
    outside of it is followed, as somebody named it.

    Raises:
        UnreadableError: it does.
    """
    try:
        named, real = os.path.abspath(path), os.path.realpath(path)
        tree = None if named == real else _tree_of(named, folder)
        if tree is None or _is_in(real, os.path.realpath(tree)):
            return
    except (OSError, ValueError):
        # Opening it tells what is wrong.
        return
    raise UnreadableError(
        f"{printable(path)}: is a symbolic link out of {printable(tree)}, which is not followed; "
        f"name its target, {printable(real)}, instead"
    )


def _tree_of(named: str, folder: str | None) -> str | None:
    parent = os.path.dirname(named)
    while True:
        if os.path.lexists(os.path.join(parent, ".git")):
            return parent
        above = os.path.dirname(parent)
        if above == parent:
            break
        parent = above
    base = os.path.abspath(folder or os.curdir)
    return base if _is_in(named, base) else None


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))

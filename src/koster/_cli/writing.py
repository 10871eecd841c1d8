"""Replaces files as a whole: attributes stay, and a version newer than the one read is kept."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from .._reports import screen
from .._reports.plain import printable
from ..errors import UnreadableError
from . import file_access, links
from .file_access import FileVersion

#: A new file may get an access control list from its folder.
_ACL = "system.posix_acl_access"

_SET_ID = stat.S_ISUID | stat.S_ISGID


def replace(path: str, body: bytes, before: FileVersion | None = None) -> None:
    """Replace a file as `replacing` does.

    Raises:
        UnreadableError: it cannot be written, or has changed.
    """
    with replacing(path, before) as file:
        file.write(body)


@contextmanager
def replacing(path: str, before: FileVersion | None = None) -> Iterator[IO[bytes]]:
    """Replace a file, or create it, as a whole or not at all: with what the block writes.

    Mode, owner, group and extended attributes stay; a warning names those that cannot. ``before``
    is the version that was read: if the file has changed since, it stays, and the new content goes
    to a file beside it. None replaces any version.

    Raises:
        UnreadableError: it cannot be written, or has changed.
    """
    import tempfile

    shown = printable(path)
    links.check(path)
    target = Path(path).resolve()
    with _as_unreadable(shown):
        _check_target(shown, target)
        handle, new = tempfile.mkstemp(prefix=f"{target.name}.koster-", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            status = target.stat() if target.exists() else None
            lost = _copy_attributes(target, status, new)
            now = None if before is None else _version_now(target)
            if now == before:
                os.replace(new, target)
        except BaseException:
            os.unlink(new)
            raise
    if now == before:
        _warn_of_lost(shown, lost, status)
    else:
        _keep_both(shown, now, new)


def _warn_of_lost(shown: str, lost: list[str], status: os.stat_result | None) -> None:
    """Warn of what differs from a file that was written in place; ``status`` is the old one's."""
    if lost:
        screen.complain(f"{shown}: could not keep {', '.join(lost)}")
    if status is not None and status.st_nlink > 1:
        others = "another hard link" if status.st_nlink == 2 else "other hard links"
        screen.complain(f"{shown}: the file has {others} with the old content")


def _keep_both(shown: str, now: FileVersion | None, new: str) -> None:
    """Leave the changed file and the new content beside it.

    Raises:
        UnreadableError: always, unless the file already has that content.
    """
    if now is not None and now.content == Path(new).read_bytes():
        # The same file was named twice.
        os.unlink(new)
        return
    raise UnreadableError(
        f"{shown}: changed on disk after koster read it; not overwritten. The new content "
        f"is in {printable(new)}"
    )


@contextmanager
def _as_unreadable(shown: str) -> Iterator[None]:
    try:
        yield
    except UnreadableError:
        raise
    except OSError as error:
        raise UnreadableError(f"{shown}: {error.strerror or error}") from error


def _check_target(shown: str, target: Path) -> None:
    """Check that a path is that of a new file, or of a regular file that can be written.

    Raises:
        UnreadableError: it is neither.
        OSError: the file cannot be written; the system's error says why.
    """
    if not target.exists():
        return
    if not stat.S_ISREG(target.stat().st_mode):
        raise UnreadableError(f"{shown}: is not a regular file")
    os.close(os.open(target, os.O_WRONLY))


def _version_now(target: Path) -> FileVersion:
    """Return the current version of a file; an empty version if it cannot be read."""
    try:
        return file_access.version_of(str(target))
    except UnreadableError:
        return file_access.FileVersion()


def _copy_attributes(target: Path, status: os.stat_result | None, new: str) -> list[str]:
    """Give a new file the attributes of the old one; return those that failed, in words."""
    if status is None:
        os.chmod(new, _new_mode())
        return []
    lost = []
    mode = stat.S_IMODE(status.st_mode)
    if not _copy_owner(status, new):
        lost.append("its owner or group")
        mode &= ~_SET_ID
    lost += [f"the extended attribute {name}" for name in _copy_extended(target, new)]
    # Last: changing the owner or an access control list changes the mode.
    os.chmod(new, mode)
    return lost


def _new_mode() -> int:
    """Return the mode that `open` gives a new file."""
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _copy_owner(status: os.stat_result, new: str) -> bool:
    """Set owner and group, or at least the group; tell whether both are set."""
    current = os.stat(new)
    if not hasattr(os, "chown") or (current.st_uid, current.st_gid) == (
        status.st_uid,
        status.st_gid,
    ):
        return True
    for owner in (status.st_uid, -1):
        with suppress(OSError):
            os.chown(new, owner, status.st_gid)
            return owner == status.st_uid
    return False


def _copy_extended(target: Path, new: str) -> list[str]:
    """Copy extended attributes; return those that failed.

    Some need privileges, such as those of Linux's security modules.
    """
    if not hasattr(os, "listxattr"):
        return []
    try:
        names = os.listxattr(target)
    except OSError:
        # The file system does not support them.
        return []
    lost = []
    for name in names:
        try:
            value = os.getxattr(target, name)
            if name not in os.listxattr(new) or os.getxattr(new, name) != value:
                os.setxattr(new, name, value)
        except OSError:
            lost.append(printable(name))
    if _ACL not in names:
        with suppress(OSError):
            os.removexattr(new, _ACL)
    return lost

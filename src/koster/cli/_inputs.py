"""A robots.txt as a command is given it: a file, ``-`` for standard input, or a site's address."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from .. import _file
from ..dialects import RFC9309
from ..errors import UnreadableError, UrlError
from ..lint import is_binary, is_page, wide_charset
from ..model import Reason
from . import _files, _screen, _sites

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..dialects import Dialect


#: What is probably a site: a host with dots, perhaps with a port.
_HOST = re.compile(r"(?:[\w-]+\.)+(?!txt|toml|bak|orig)[a-z]{2,}(?::\d+)?/?|localhost(?::\d+)?/?")


@dataclass(frozen=True, slots=True)
class Input:
    """A robots.txt that was read.

    ``is_cut``: it is longer than what was fetched. ``charset``: what it was in, if not UTF-8.
    """

    path: str
    body: bytes
    is_cut: bool = False
    charset: str | None = None

    @property
    def name(self) -> str:
        """The name to be shown."""
        return _files.shown_name(self.path)


def is_site(path: str) -> bool:
    """Tell whether an argument is an address and no file."""
    return "://" in path


def read_all(
    paths: Iterable[str], settings: _sites.Settings, dialect: Dialect = RFC9309
) -> tuple[list[Input], list[str]]:
    """Read files and fetch those of sites; complain about those that cannot be had.

    Returns with them what was complained of.

    Raises:
        click.UsageError: standard input is named twice, or an address is none.
    """
    paths = list(paths)
    if paths.count(_files.STDIN) > 1:
        raise click.UsageError("standard input (-) can be read only once")
    found = []
    troubles = []
    for path in paths:
        try:
            found.append(read_one(path, settings, dialect))
        except UnreadableError as error:
            _screen.complain(str(error))
            troubles.append(str(error))
    return found, troubles


def warn_of_no_text(each: Input) -> None:
    """Tell a person if what was given is no robots.txt at all: to robots it says nothing."""
    if is_page(each.body):
        _screen.complain(f"{each.name}: is an HTML page; robots find no rule in it")
    elif wide_charset(each.body) or is_binary(each.body):
        _screen.complain(f"{each.name}: is no text in UTF-8; robots find no rule in it")


def read_one(path: str, settings: _sites.Settings, dialect: Dialect = RFC9309) -> Input:
    """Read a file, or fetch that of a site.

    Raises:
        UnreadableError: there is none to be had.
        click.UsageError: an address is none.
    """
    return _fetched(path, settings, dialect) if is_site(path) else _read(path)


def _read(path: str) -> Input:
    try:
        return Input(path, _files.read_octets(path))
    except UnreadableError as error:
        if _HOST.fullmatch(path) and not os.path.exists(path):
            raise UnreadableError(f"{error}; for a site write https://{path}") from error
        raise


def check_size(each: Input) -> None:
    """Refuse to write a file again of which only a part was read.

    Raises:
        UnreadableError: it is such a file.
    """
    if len(each.body) > _file.MAX_OCTETS or each.is_cut:
        raise UnreadableError(f"{each.name}: is too large to be written again")


def _fetched(path: str, settings: _sites.Settings, dialect: Dialect) -> Input:
    """Fetch a site's robots.txt.

    Raises:
        UnreadableError: there is none to be had.
        click.UsageError: the address is none.
    """
    try:
        origin = _sites.origin_of(path)
    except UrlError as error:
        raise click.UsageError(str(error)) from error
    ((outcome,),) = _sites.fetched([origin], (dialect,), settings)
    if outcome.robots is None:
        if outcome.reason is Reason.UNAVAILABLE:
            # RFC 9309 §2.3.1.3: that is what a file that says nothing says.
            _screen.complain(f"{outcome.origin}: has no robots.txt ({outcome.why}); all is allowed")
            return Input(outcome.url, b"")
        raise UnreadableError(f"{outcome.origin}: fetching its robots.txt failed ({outcome.why})")
    return Input(outcome.url, outcome.robots.body, outcome.is_cut, outcome.charset)


def _new_mode() -> int:
    """Return the mode of a new file, as `open` would give it."""
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _check_target(path: str, target: Path, mode: int) -> None:
    """Refuse what is no file, or may not be written.

    Raises:
        UnreadableError: it is such a thing.
    """
    if not stat.S_ISREG(mode):
        raise UnreadableError(f"{_screen.printable(path)}: is no regular file")
    if not os.access(target, os.W_OK):
        raise UnreadableError(f"{_screen.printable(path)}: Permission denied")


def replace(path: str, body: bytes) -> None:
    """Put a file in the place of another, or where there is none, whole or not at all.

    The mode of the other one stays, and its owner where that can be kept.

    Raises:
        UnreadableError: it cannot be written.
    """
    target = Path(path).resolve()
    try:
        before = target.stat() if target.exists() else None
        if before is not None:
            _check_target(path, target, before.st_mode)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            if before is not None and hasattr(os, "chown") and os.geteuid() == 0:
                os.chown(name, before.st_uid, before.st_gid)
            # After the owner, a change of which takes some of it away.
            os.chmod(name, _new_mode() if before is None else before.st_mode & 0o7777)
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except UnreadableError:
        raise
    except OSError as error:
        raise UnreadableError(f"{_screen.printable(path)}: {error.strerror}") from error

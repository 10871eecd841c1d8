"""A robots.txt as a command is given it: a file, ``-`` for standard input, or a site's address."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import rich_click as click

from .. import formatting
from .._charsets import by_mark, is_wide, marked_charset
from ..dialects import GOOGLE, RFC9309
from ..errors import UnreadableError, UrlError
from ..lint import is_binary, is_page, wide_charset
from ..model import Reason
from ..reports import screen
from ..reports.plain import shortened
from ..robots import MAX_PARSED_BYTES
from . import _files, _sites

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..dialects import Dialect


#: What is probably a site: a host with dots, perhaps with a port.
_HOST = re.compile(r"(?:[\w-]+\.)+(?!txt|toml|bak|orig)[a-z]{2,}(?::\d+)?/?|localhost(?::\d+)?/?")


@dataclass(frozen=True, slots=True)
class Input:
    """A robots.txt as clients read it.

    Attributes:
        path: Of the file, or the URL.
        body: As UTF-8, whatever charset it was in.
        is_cut: Whether it is longer than what was fetched.
        charset: What it was in, if not UTF-8.
        before: The file as it was on disk; None if it was fetched.
    """

    path: str
    body: bytes
    is_cut: bool = False
    charset: str | None = None
    before: _files.Version | None = None

    @property
    def name(self) -> str:
        """The name to be shown."""
        return _files.shown_name(self.path)

    @property
    def on_disk(self) -> bytes:
        """The file as it is on disk; of a site, the body."""
        found = None if self.before is None else self.before.content
        return self.body if found is None else found


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
            screen.complain(str(error))
            troubles.append(str(error))
    return found, troubles


def warn_of_no_text(each: Input) -> None:
    """Warn of a file in which clients find no rules, or only those that know its charset."""
    if wrong := _unreadable(each.body, (RFC9309, GOOGLE)):
        screen.complain(f"{each.name}: {wrong}; crawlers find no rules in it")
    elif is_wide(each.charset):
        screen.complain(
            f"{each.name}: is in {charset_name(each)}; crawlers that read only UTF-8 find no rules "
            "in it"
        )


def charset_name(each: Input) -> str:
    """Return what a file was in, to be shown."""
    return shortened((each.charset or "utf-8").upper())


def _unreadable(body: bytes, dialects: tuple[Dialect, ...]) -> str | None:
    """Return why clients find no rules in a file, as part of a sentence."""
    if is_page(body):
        return "is an HTML page, not a robots.txt"
    if wide_charset(body):
        return "seems to be in UTF-16 or UTF-32, without a byte order mark"
    if is_binary(body):
        return "is binary, not text"
    if not formatting.is_readable(body, dialects):
        return "has no line that can be read as robots.txt"
    return None


def check_whole(each: Input) -> None:
    """Refuse a file of which only a part was read.

    Raises:
        UnreadableError: it is such a file.
    """
    if each.is_cut or max(len(each.on_disk), len(each.body)) > MAX_PARSED_BYTES:
        raise UnreadableError(f"{each.name}: is too large to rewrite")


def check_rewritable(each: Input, dialects: tuple[Dialect, ...], after: bytes = b"") -> None:
    """Refuse to write a file again of which not all was read, or no rule can be.

    Raises:
        UnreadableError: it is such a file, or clients would read ``after`` in another charset.
    """
    check_whole(each)
    if wrong := _unreadable(each.body, dialects):
        raise UnreadableError(f"{each.name}: {wrong}; nothing was written")
    if charset := marked_charset(after):
        was = charset.upper()
        raise UnreadableError(f"{each.name}: would begin like {was}; nothing was written")


def read_one(path: str, settings: _sites.Settings, dialect: Dialect = RFC9309) -> Input:
    """Read a file, or fetch that of a site.

    Raises:
        UnreadableError: there is none to be had.
        click.UsageError: an address is none.
    """
    return _fetched(path, settings, dialect) if is_site(path) else read_file(path)


def read_file(path: str) -> Input:
    """Read a file as clients do that are told no charset: by its byte order mark.

    Raises:
        UnreadableError: it cannot be read.
    """
    try:
        before = _files.read_version(path)
        body, charset = by_mark(before.content or b"")
        return Input(path, body, charset=charset, before=before)
    except UnreadableError as error:
        if _HOST.fullmatch(path) and not os.path.exists(path):
            raise UnreadableError(f"{error}; for a site write https://{path}") from error
        raise


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
            screen.complain(f"{outcome.origin}: has no robots.txt ({outcome.why}); all is allowed")
            return Input(outcome.url, b"")
        raise UnreadableError(f"{outcome.origin}: fetching its robots.txt failed ({outcome.why})")
    return Input(outcome.url, outcome.robots.body, outcome.is_cut, outcome.charset)

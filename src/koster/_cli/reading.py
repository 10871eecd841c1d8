"""The robots.txt files a command reads: a file, ``-`` for standard input, or a site's address."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import rich_click as click

from .._charsets import bom_charset, decode_by_bom, is_utf16_or_utf32
from .._contents import is_binary, is_only_page, is_readable, program_language, wide_charset
from .._reports import screen
from .._reports.plain import shorten
from ..decisions import Reason
from ..dialects import GOOGLE, RFC9309, Dialect
from ..errors import UnreadableError, UrlError
from ..robots import MAX_PARSED_BYTES, RobotsTxt, parse
from . import file_access, statuses

if TYPE_CHECKING:
    from ..access import Outcome
    from . import fetch_options


#: Probably a site: a host with dots, perhaps with a port.
_HOST = re.compile(r"(?:[\w-]+\.)+(?!txt|toml|bak|orig)[a-z]{2,}(?::\d+)?/?|localhost(?::\d+)?/?")


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """A robots.txt as clients read it.

    Attributes:
        path: The path of the file, or the URL.
        body: The content, converted to UTF-8.
        is_cut: Whether the content is longer than what was fetched.
        charset: The original charset, if not UTF-8.
        before: The version on disk; None if it was fetched.
        served: The content before it was decoded, if it was.
        site: The site that it was fetched for, such as ``https://example.com``.
        is_missing: Whether that site has no file.
        unread: What could not be read of it, and why.
    """

    path: str
    body: bytes
    is_cut: bool = False
    charset: str | None = None
    before: file_access.FileVersion | None = None
    site: str | None = None
    served: bytes | None = None
    is_missing: bool = False
    unread: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name for output."""
        return file_access.shown_name(self.path)

    @property
    def on_disk(self) -> bytes:
        """The bytes on disk; of a site, the body."""
        content = None if self.before is None else self.before.content
        return self.body if content is None else content

    def robots(self, dialect: Dialect = RFC9309) -> RobotsTxt:
        """Return the file as a dialect reads it."""
        return parse(dialect.body_of(self.body, self.served), dialect)


class SiteError(UnreadableError):
    """A site's file could not be fetched, or is forbidden; `complain` says what that does."""

    def __init__(self, outcome: Outcome, settings: fetch_options.FetchOptions) -> None:
        super().__init__(f"{outcome.origin}: fetching its robots.txt failed ({outcome.why})")
        self.outcome = outcome
        self.settings = settings


def complain(error: UnreadableError) -> None:
    """Print an error; of a site, also what crawlers do there."""
    screen.complain(str(error))
    if isinstance(error, SiteError):
        statuses.explain([error.outcome], error.settings)


def is_site(path: str) -> bool:
    """Tell whether an argument is a site's address, not a file."""
    return "://" in path


def read_all(
    paths: Iterable[str], settings: fetch_options.FetchOptions, dialect: Dialect = RFC9309
) -> tuple[list[RobotsFile], list[str]]:
    """Read files and fetch those of sites; print an error for each that fails.

    Returns:
        What was read, and the errors.

    Raises:
        click.UsageError: standard input is named twice, or an address is invalid.
    """
    paths = list(paths)
    if paths.count(file_access.STDIN) > 1:
        raise click.UsageError("standard input (-) can be read only once")
    inputs = []
    errors = []
    for path in paths:
        try:
            inputs.append(read_one(path, settings, dialect))
        except UnreadableError as error:
            complain(error)
            errors.append(str(error))
    return inputs, errors


def warn_if_unreadable(each: RobotsFile) -> None:
    """Warn of a file in which all crawlers, or those that only read UTF-8, find no rules."""
    warn_of_template(each)
    if wrong := _why_unreadable(each.body, (RFC9309, GOOGLE)):
        screen.complain(f"{each.name}: {wrong}; crawlers find no rules in it")
    elif is_utf16_or_utf32(each.charset):
        screen.complain(
            f"{each.name}: is in {charset_name(each)}; crawlers that read only UTF-8 find no rules "
            "in it"
        )


def warn_of_template(each: RobotsFile) -> None:
    """Warn of a template: what it allows depends on how it is rendered."""
    if not (b"<" in each.body or b"{" in each.body):
        # No tag opens, as in most files.
        return
    from .._templates import template_of

    template = template_of(each.body)
    if template is not None:
        screen.complain(
            f"{each.name}: is a template ({template.language}); its tags are read as text. Use the "
            "rendered file"
        )


def charset_name(each: RobotsFile) -> str:
    """Return the original charset of a file, for output."""
    return shorten((each.charset or "utf-8").upper())


def _why_unreadable(body: bytes, dialects: tuple[Dialect, ...]) -> str | None:
    """Return why crawlers find no rules in a file, as part of a sentence."""
    if is_only_page(body, [parse(body, each) for each in dialects] if b"<" in body[:50] else []):
        return "is an HTML page, not a robots.txt"
    if wide_charset(body):
        return "seems to be in UTF-16 or UTF-32, without a byte order mark"
    if is_binary(body):
        return "is binary, not text"
    if program_language(body):
        return "is the code of a program, not what it writes"
    if not is_readable(body, dialects):
        return "has no line that can be read as robots.txt"
    return None


def check_whole(each: RobotsFile) -> None:
    """Check that all of a file was read.

    Raises:
        UnreadableError: only a part of it was.
    """
    if each.is_cut or max(len(each.on_disk), len(each.body)) > MAX_PARSED_BYTES:
        raise UnreadableError(f"{each.name}: is too large to rewrite")


def check_rewritable(each: RobotsFile, dialects: tuple[Dialect, ...], after: bytes = b"") -> None:
    """Check that a file can be replaced: all of it was read, and it has rules to read.

    Raises:
        UnreadableError: it cannot, or crawlers would read ``after`` in another charset.
    """
    check_whole(each)
    if wrong := _why_unreadable(each.body, dialects):
        raise UnreadableError(f"{each.name}: {wrong}; nothing was written")
    if charset := bom_charset(after):
        name = charset.upper()
        raise UnreadableError(f"{each.name}: would begin like {name}; nothing was written")


def read_one(
    path: str, settings: fetch_options.FetchOptions, dialect: Dialect = RFC9309
) -> RobotsFile:
    """Read a file, or fetch that of a site.

    Raises:
        UnreadableError: it cannot be read or fetched.
        click.UsageError: the address is invalid.
    """
    return _fetch(path, settings, dialect) if is_site(path) else read_file(path)


def read_file(path: str) -> RobotsFile:
    """Read a file as crawlers read one that is served without a charset: by its byte order mark.

    Raises:
        UnreadableError: it cannot be read.
    """
    try:
        before = file_access.read_version(path)
        content = before.content or b""
        body, charset = decode_by_bom(content)
        served = None if charset is None else content
        return RobotsFile(path, body, charset=charset, before=before, served=served)
    except UnreadableError as error:
        if _HOST.fullmatch(path) and not os.path.exists(path):
            raise UnreadableError(f"{error}; if it is a site, use https://{path}") from error
        raise


def _fetch(path: str, settings: fetch_options.FetchOptions, dialect: Dialect) -> RobotsFile:
    """Fetch a site's robots.txt.

    Raises:
        UnreadableError: the fetch failed, or the file is forbidden.
        click.UsageError: the address is invalid.
    """
    from ..signals._uses import unread_of
    from . import fetching

    try:
        origin = fetching.origin_of(path)
    except UrlError as error:
        raise click.UsageError(str(error)) from error
    (outcomes,) = fetching.fetch_all([origin], (dialect,), settings)
    if outcomes is None:
        raise KeyboardInterrupt
    (outcome,) = outcomes
    if outcome.robots is None:
        if outcome.reason is not Reason.UNAVAILABLE:
            raise SiteError(outcome, settings)
        # RFC 9309 §2.3.1.3: as if the file were empty.
        screen.complain(statuses.headline(outcome))
        statuses.explain([outcome], settings)
        unread = tuple(unread_of(outcome))
        return RobotsFile(outcome.url, b"", site=outcome.origin, is_missing=True, unread=unread)
    statuses.explain([outcome], settings)
    entry = outcome.entry
    return RobotsFile(
        outcome.url,
        entry.body,
        outcome.is_cut,
        outcome.charset,
        site=outcome.origin,
        served=entry.served,
        unread=tuple(unread_of(outcome)),
    )

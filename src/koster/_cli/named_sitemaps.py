"""Requests the sitemaps that a site's robots.txt names: are they there?

Only for files that were fetched. The requests go to a few sitemaps, one after the other, and only
the beginning of each is read. A robots.txt must not send koster into its user's own network, so
addresses that are not public are refused, except on the host of the site itself.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Iterator
from contextlib import closing
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from rich.progress import SpinnerColumn, TextColumn

from .._charsets import bom_charset
from .._reports import screen
from .._reports.plain import shorten
from ..dialects import Dialect
from ..errors import UnreadableError
from ..lint._fetched_sitemaps import FetchedSitemaps
from ..lint._values import is_url
from ..politeness import brief_pause
from ..sitemaps import SitemapError, read_locations
from .progress import progress
from .reading import RobotsFile
from .sitemaps import open_downloads

if TYPE_CHECKING:
    from ..fetch.downloads import Downloads
    from .fetch_options import FetchOptions

#: The most sitemaps to request, and the bytes of each to read.
_MAX_SITEMAPS = 5
_FIRST_BYTES = 1 << 15

#: Statuses with which firewalls answer koster, but perhaps not search engines.
_NOT_FOR_KOSTER = (401, 403, 407, 429, 451)

_ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)


def fetch(file: RobotsFile, dialect: Dialect, settings: FetchOptions) -> FetchedSitemaps:
    """Request the first sitemaps of a site's file; return what is wrong, by URL."""
    named = dict.fromkeys(file.robots(dialect).sitemaps)
    # Lint says of the others that they are invalid.
    urls = [url for url in named if _ABSOLUTE.match(url) and is_url(url) and url.split() == [url]]
    if not urls or file.site is None:
        return FetchedSitemaps()
    requested = urls[:_MAX_SITEMAPS]
    problems: dict[str, str] = {}
    unchecked: dict[str, str] = {}
    bar = progress(SpinnerColumn(), TextColumn("fetching the beginning of sitemaps"))
    with closing(open_downloads(settings, [file.site], is_guarded=True)) as downloads, bar:
        bar.add_task("", total=None)
        for url in _at_a_pace(requested):
            try:
                why = _problem_at(url, downloads)
            except _UncheckedError as error:
                unchecked[url] = str(error)
            else:
                if why is not None:
                    problems[url] = why
    for url, why in unchecked.items():
        screen.complain(f"{shorten(url)}: this sitemap was not checked: {why}")
    if len(urls) > len(requested):
        screen.complain(
            f"{file.name}: checked the first {len(requested)} of {len(urls):,} sitemaps"
        )
    return FetchedSitemaps(problems, unchecked)


class _UncheckedError(Exception):
    """koster cannot tell whether search engines find a sitemap; the message says why."""


def _at_a_pace(urls: list[str]) -> Iterator[str]:
    """Yield URLs; before another request to a host, wait twice as long as the last one took."""
    last_host, took = "", 0.0
    for url in urls:
        host = urlsplit(url).netloc.lower()
        if host == last_host:
            time.sleep(brief_pause(took))
        started = time.monotonic()
        yield url
        last_host, took = host, time.monotonic() - started


def _problem_at(url: str, downloads: Downloads) -> str | None:
    """Request a sitemap, and return what is wrong.

    Raises:
        _UncheckedError: that is unknown.
    """
    from ..access import FailureKind
    from ..fetch.downloads import DownloadError

    try:
        # Twice as much: the limit also counts the bytes before decompression.
        with downloads.open(url, 2 * _FIRST_BYTES) as file:
            return _problem_in(file)
    except DownloadError as error:
        is_ours = error.kind in (FailureKind.REFUSED, FailureKind.PROXY)
        if is_ours or error.status in _NOT_FOR_KOSTER:
            raise _UncheckedError(error.why) from error
        return error.why
    except UnreadableError as error:
        # The disk.
        raise _UncheckedError(str(error)) from error


def _problem_in(file: IO[bytes]) -> str | None:
    """Return why a file is not a sitemap, by its beginning; None if it may be one."""
    body = file.read(_FIRST_BYTES + 1)
    is_cut = len(body) > _FIRST_BYTES
    body = body[:_FIRST_BYTES]
    if is_cut and bom_charset(body) is None:
        # No character in UTF-8 is cut in two.
        body = body.rstrip(bytes(range(0x80, 0x100)))
    try:
        for _ in read_locations(io.BytesIO(body)):
            pass
    except SitemapError as error:
        is_only_cut = is_cut and str(error).startswith("is truncated")
        return None if is_only_cut else f"the file {error}"
    return None

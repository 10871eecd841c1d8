"""Reads the sitemaps that a command is given, from files and sites, with a progress bar."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from typing import IO, TYPE_CHECKING

import rich_click as click
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from .._reports import screen
from .._reports.plain import printable, shorten
from .._wording import count_noun
from ..errors import MissingExtraError, UrlError
from ..sitemaps import MAX_BYTES, SitemapReader
from . import fetching, file_access, reading
from .progress import progress

if TYPE_CHECKING:
    from ..fetch.downloads import Downloads
    from ..sitemaps import Elsewhere
    from .fetch_options import FetchOptions

#: The scheme and authority of a URL without characters that need care.
_AUTHORITY = re.compile(r"https?://[^/?#\\\s]+(?=[/?#]|\Z)")


class _Source:
    """Opens sitemaps: files, standard input, and URLs, which are downloaded."""

    def __init__(self, settings: FetchOptions, named: Iterable[str]) -> None:
        self._settings = settings
        self._named = named
        self._downloads: Downloads | None = None

    def open(self, address: str) -> AbstractContextManager[IO[bytes]]:
        if not reading.is_site(address):
            return file_access.opened(address)
        if self._downloads is None:
            self._downloads = open_downloads(self._settings, self._named)
        return self._downloads.open(address, MAX_BYTES)

    def address_of(self, location: str, index: str) -> str:
        """Return a file in the folder of an index on disk if there is one, else the URL."""
        if reading.is_site(index) or index == file_access.STDIN:
            return location
        path = re.split("[?#]", location.partition("://")[2])[0].partition("/")[2]
        for name in dict.fromkeys((path, path.rpartition("/")[2])):
            file = os.path.join(os.path.dirname(index), name)
            # The path of /en/sitemap.xml, but not its name, may be that of an index sitemap.xml.
            is_other = file != index or name == path
            if is_other and _is_below_folder(name) and os.path.isfile(file):
                return file
        return location

    def name_of(self, address: str) -> str:
        return printable(address) if reading.is_site(address) else file_access.shown_name(address)

    def close(self) -> None:
        if self._downloads is not None:
            self._downloads.close()


def _is_below_folder(path: str) -> bool:
    """Tell whether a path from an index stays in the folder of the index."""
    return all(
        part not in ("", os.curdir, os.pardir) and os.path.basename(part) == part
        for part in path.split("/")
    )


def open_downloads(
    settings: FetchOptions, named: Iterable[str], *, is_guarded: bool = False
) -> Downloads:
    """Return what downloads sitemaps; exit with an error if the extra that it needs is missing.

    Args:
        settings: How to fetch. Headers of the user go only to the sites of ``named``.
        named: The addresses that the user named; files are ignored.
        is_guarded: Whether addresses that are not public are refused, except on these sites.

    Raises:
        click.UsageError: an option has an invalid value.
    """
    try:
        from ..fetch import PUBLIC_ONLY
        from ..fetch.downloads import Downloads

        return Downloads(
            settings.user_agent,
            timeout=settings.timeout,
            proxy=settings.proxy,
            sites=sites_of(named),
            headers=settings.headers,
            guard=PUBLIC_ONLY if is_guarded else None,
        )
    except MissingExtraError as error:
        screen.complain(str(error))
        sys.exit(2)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def sites_of(named: Iterable[str]) -> frozenset[str]:
    """Return the sites that the user named, without files and invalid addresses."""
    return frozenset(group_by_site(each for each in named if reading.is_site(each))[0])


class Urls:
    """The URLs of sitemaps.

    Attributes:
        reader: Counts what is read.
    """

    def __init__(self, addresses: Iterable[str], source: _Source, bar: Progress) -> None:
        self.reader = SitemapReader(source, screen.complain)
        self._source = source
        self._addresses = addresses
        self._bar = bar

    def batches(self) -> Iterator[list[str]]:
        """Yield the URLs while they are read; print errors when they occur."""
        reader, bar = self.reader, self._bar
        task = bar.add_task("", total=None, urls="0 URLs")
        for urls in reader.batches(self._addresses):
            urls_read = count_noun(reader.urls, "URL")
            bar.update(task, completed=reader.done, total=reader.known, urls=urls_read)
            yield urls

    def notices(self, sitemaps_named_by: Callable[[str], Collection[str]]) -> list[str]:
        """Return what the protocol does not allow, but was read.

        ``sitemaps_named_by`` returns the sitemaps that the robots.txt of a site names: they may
        list its URLs.
        """
        others = (
            each
            for each in self.reader.elsewhere
            if each.sitemap not in sitemaps_named_by(str(each.site))
        )
        found = [f"{self._source.name_of(each.sitemap)}: {_elsewhere(each)}" for each in others]
        found = [*self.reader.notices, *found]
        if left_out := self.reader.elsewhere_left_out:
            found.append(f"{count_noun(left_out, 'URL')} more of other sites in sitemaps")
        return found

    @contextmanager
    def without_bar(self) -> Iterator[None]:
        """Hide the progress bar while another one may be shown."""
        self._bar.stop()
        yield
        self._bar.start()


@contextmanager
def read_sitemaps(
    addresses: Iterable[str],
    settings: FetchOptions,
    *,
    named: Iterable[str] = (),
    shows_bar: bool = True,
) -> Iterator[Urls]:
    """Read sitemaps, with a progress bar if standard error is a terminal.

    ``named`` are other addresses that the user named.
    """
    bar = progress(
        SpinnerColumn(),
        TextColumn("reading sitemaps"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("{task.fields[urls]}"),
        TimeElapsedColumn(),
        redirect_stdout=False,
        shows_bar=shows_bar,
    )
    with closing(_Source(settings, (*addresses, *named))) as source, bar:
        yield Urls(addresses, source, bar)


def _elsewhere(found: Elsewhere) -> str:
    """Return which URLs are of another site, and what that means."""
    own, site = found.own, found.site
    usual = {"http": 80, "https": 443}
    if own.host != site.host:
        are, how = ("is", "are"), f"on {site} instead of {own}"
    elif own.scheme == site.scheme:
        are, how = ("has", "have"), f"port {site.port} instead of {own.port}"
    elif (own.port, site.port) == (usual[own.scheme], usual[site.scheme]):
        are, how = ("begins", "begin"), f"with {site.scheme}:// instead of {own.scheme}://"
    else:
        are, how = ("is", "are"), f"on {site} instead of {own}"
    urls, verb, them = count_noun(found.count, "URL"), are[found.count > 1], "them"
    if found.count == 1:
        them = "it"
    return (
        f"{urls} {verb} {how}, such as {shorten(found.example)}. Search engines ignore {them} "
        f"unless {site}/robots.txt names this sitemap"
    )


def group_by_site(urls: Iterable[str]) -> tuple[dict[str, list[str]], list[UrlError]]:
    """Return URLs by their origin, and the errors of those that have none."""
    found: dict[str, list[str]] = {}
    errors = []
    for url in urls:
        try:
            found.setdefault(_site_of(url), []).append(url)
        except UrlError as error:
            errors.append(error)
    return found, errors


def _site_of(url: str) -> str:
    match = _AUTHORITY.match(url)
    return _site_at(match[0]) if match else fetching.origin_of(url)


@functools.lru_cache(1 << 10)
def _site_at(authority: str) -> str:
    return fetching.origin_of(authority)

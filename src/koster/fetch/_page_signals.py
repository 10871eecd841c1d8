"""Fetches what `koster.signals` reads: a page, its site's files, and the licenses that they name.

The page is fetched only if its robots.txt allows it. Requests go out one after the other.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from .._charsets import declared_charset
from .._contents import is_page
from ..access import Outcome
from ..errors import UnreadableError
from ..origins import origin_of
from ..politeness import brief_pause
from ..signals import MAX_DOCUMENT, MAX_HTML, Signals, signals
from ..signals._uses import (
    TDMREP_PATH,
    Document,
    is_html,
    unread_of,
    wanted_documents,
    why_not_of_site,
)
from .downloads import Download, DownloadError, Downloads

#: Files that are only said to be there.
PRESENCE = ("/ai.txt", "/llms.txt")

#: Bytes of a file that show whether it is an HTML page: many sites answer everything with one.
_BEGINNING = 2_000


@dataclass(frozen=True, slots=True)
class SiteFiles:
    """The files of a site beside its robots.txt, which all of its pages share."""

    tdmrep: bytes | None
    notes: tuple[str, ...]
    unread: tuple[str, ...]


def fetch_signals(
    url: str,
    robots: Outcome,
    downloads: Downloads,
    *,
    agent: str,
    sites: dict[str, SiteFiles],
    crawlers: Sequence[str] = (),
    now: datetime,
) -> Signals:
    """Return everything that a site says about the use of a page.

    Args:
        url: The absolute URL of the page.
        robots: Its site's robots.txt, as it was fetched.
        downloads: Fetches the other files.
        agent: The name under which they are fetched: pages that it may not fetch are not.
        sites: The files of sites that were fetched so far; those of this site are added.
        crawlers: See `koster.signals.signals`.
        now: Likewise.

    Sources that cannot be read are in `Signals.unread`.
    """
    return _Fetched(url, robots, downloads, agent).signals(sites, crawlers, now)


class _Fetched:
    """The sources of a page."""

    def __init__(self, url: str, robots: Outcome, downloads: Downloads, agent: str) -> None:
        self._url = url
        self._robots = robots
        self._downloads = downloads
        self._agent = agent
        self._unread: list[str] = []
        self._took = 0.0
        self._origin = str(robots.origin)

    def signals(
        self, sites: dict[str, SiteFiles], crawlers: Sequence[str], now: datetime
    ) -> Signals:
        self._unread += unread_of(self._robots)
        if self._origin not in sites:
            sites[self._origin] = self._site_files()
        shared = sites[self._origin]
        self._unread += shared.unread
        page, html, charset = self._page()
        licenses: dict[str, Document] = {}
        while True:
            found = signals(
                page.url if page else self._url,
                robots=self._robots.robots,
                headers=page.headers if page else (),
                html=html,
                charset=charset,
                tdmrep=shared.tdmrep,
                licenses={url: each.content for url, each in licenses.items()},
                crawlers=crawlers,
                now=now,
                unread=self._unread,
                notes=shared.notes,
            )
            wanted = list(wanted_documents(found, licenses))
            if not wanted:
                return found
            for url in wanted:
                licenses[url] = Document(self._document(url))

    def _site_files(self) -> SiteFiles:
        before = len(self._unread)
        tdmrep = self._document(self._origin + TDMREP_PATH, is_optional=True)
        unread = tuple(self._unread[before:])
        del self._unread[before:]
        return SiteFiles(tdmrep, tuple(filter(None, map(self._presence, PRESENCE))), unread)

    def _page(self) -> tuple[Download | None, bytes | None, str | None]:
        """Return the response and, if it is HTML, the beginning of the page and its charset."""
        decision = self._robots.decide(self._url, self._agent)
        if not decision.allowed:
            self._unread.append(f"page: not fetched ({decision})")
            return None, None, None
        page = self._fetch(self._url, MAX_HTML, "page")
        if page is None:
            return None, None, None
        with page.file as file:
            body = file.read(MAX_HTML + 1)
        if why := why_not_of_site(self._robots, page.url, self._agent):
            self._unread.append(why)
            return None, None, None
        headers = {name.lower(): value for name, value in page.headers}
        content_type = headers.get("content-type", "")
        return page, body if is_html(content_type) else None, declared_charset(content_type)

    def _document(self, url: str, *, is_optional: bool = False) -> bytes | None:
        """Return a document; None if it is missing or cannot be read."""
        name = url.removeprefix(self._origin) if url.startswith(f"{self._origin}/") else url
        found = self._fetch(url, MAX_DOCUMENT, name, is_optional=is_optional)
        if found is None:
            return None
        with found.file as file:
            body = file.read(MAX_DOCUMENT + 1)
        if is_optional and str(origin_of(found.url)) != self._origin:
            self._unread.append(f"{name}: redirects to another site, {found.url}")
            return None
        return body

    def _presence(self, path: str) -> str | None:
        """Return a note about a file that the site has."""
        try:
            found = self._get(self._origin + path, _BEGINNING)
        except UnreadableError:
            return None
        with found.file as file:
            has_text = file.read(_BEGINNING)
        return None if is_page(has_text) else f"{path} is there: koster does not read it"

    def _fetch(
        self, url: str, limit: int, name: str, *, is_optional: bool = False
    ) -> Download | None:
        try:
            return self._get(url, limit)
        except DownloadError as error:
            is_missing = error.status in (404, 410)
            if not (is_optional and is_missing):
                self._unread.append(f"{name}: {error.why}")
        except UnreadableError as error:
            self._unread.append(str(error))
        return None

    def _get(self, url: str, limit: int) -> Download:
        time.sleep(brief_pause(self._took))
        began = time.monotonic()
        try:
            return self._downloads.fetch(url, limit)
        finally:
            self._took = time.monotonic() - began

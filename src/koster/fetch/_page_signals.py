"""Fetches what `koster.signals` reads: a page, its site's files, and the licenses that they name.

The page is fetched only if its robots.txt allows it. Requests go out one after the other.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from .._charsets import declared_charset
from .._contents import is_page
from ..access import Outcome
from ..decisions import Reason
from ..errors import UnreadableError
from ..origins import origin_of
from ..politeness import brief_pause
from ..signals import MAX_DOCUMENT, MAX_HTML, Signals, signals
from .downloads import Download, DownloadError, Downloads

#: The path of the file of TDMRep.
TDMREP = "/.well-known/tdmrep.json"
#: Files that are only said to be there.
PRESENCE = ("/ai.txt", "/llms.txt")

#: The number of licenses that are fetched.
_MAX_LICENSES = 5
#: Bytes of a file that show whether it is an HTML page: many sites answer everything with one.
_BEGINNING = 2_000
_HTML_TYPES = ("", "text/html", "application/xhtml+xml")


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
        file = self._robots.robots
        if file is None and self._robots.reason is not Reason.UNAVAILABLE:
            self._unread.append(f"robots.txt: {self._robots.why}")
        elif self._robots.is_cut:
            self._unread.append("robots.txt: only its first 500 KiB are read")
        if self._origin not in sites:
            sites[self._origin] = self._site_files()
        shared = sites[self._origin]
        self._unread += shared.unread
        page, html, charset = self._page()
        licenses: dict[str, bytes] = {}
        tried: set[str] = set()
        while True:
            found = signals(
                page.url if page else self._url,
                robots=file,
                headers=page.headers if page else (),
                html=html,
                charset=charset,
                tdmrep=shared.tdmrep,
                licenses=licenses,
                crawlers=crawlers,
                now=now,
                unread=self._unread,
                notes=shared.notes,
            )
            todo = [each.url for each in found.licenses if each.is_rsl and each.url not in tried]
            if not todo or len(tried) > _MAX_LICENSES:
                return found
            url = todo[0]
            tried.add(url)
            if len(tried) > _MAX_LICENSES:
                self._unread.append(f"licenses: only the first {_MAX_LICENSES} are read")
                continue
            document = self._document(url)
            if document is not None:
                licenses[url] = document

    def _site_files(self) -> SiteFiles:
        before = len(self._unread)
        tdmrep = self._document(self._origin + TDMREP, is_optional=True)
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
        if not self._may_use(page.url):
            return None, None, None
        headers = {name.lower(): value for name, value in page.headers}
        content_type = headers.get("content-type", "")
        # Some servers send the header twice.
        is_html = re.split("[;,]", content_type)[0].strip().lower() in _HTML_TYPES
        return page, body if is_html else None, declared_charset(content_type)

    def _may_use(self, url: str) -> bool:
        """Return whether the robots.txt is that of a page after redirects, and allows it."""
        if str(origin_of(url)) != self._origin:
            self._unread.append(f"page: redirects to another site, {url}: name that address")
            return False
        decision = self._robots.decide(url, self._agent)
        if not decision.allowed:
            self._unread.append(f"page: redirects to {url}, which is not read ({decision})")
        return decision.allowed

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

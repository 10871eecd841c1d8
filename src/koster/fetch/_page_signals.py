"""Fetches what `koster.signals` reads: a page, its site's files, and the licenses that they name.

The page is fetched only if its robots.txt allows it. Requests go out one after the other.

`collected` says what is wanted, step by step, and does no I/O: `fetch_signals` fetches in this
thread, the service on its event loop.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias, TypedDict

from .._contents import is_page
from ..access import Outcome
from ..errors import UnreadableError
from ..origins import origin_of
from ..politeness import brief_pause
from ..signals import MAX_DOCUMENT, MAX_HTML, Signals, signals
from ..signals._uses import (
    MAX_LICENSES,
    MISSING,
    TDMREP_PATH,
    charset_of,
    is_html,
    rsl_licenses,
    unread_of,
)
from .downloads import DownloadError, Downloads

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


class Sources(TypedDict):
    """What a page and its site have beside the robots.txt, for `koster.signals.signals`."""

    url: str
    headers: Sequence[tuple[str, str]]
    html: bytes | None
    charset: str | None
    tdmrep: bytes | None
    licenses: dict[str, bytes | None]
    notes: Sequence[str]
    unread: Sequence[str]


@dataclass(frozen=True, slots=True)
class Fetch:
    """Wanted: a file, of which ``limit`` bytes are read."""

    url: str
    limit: int


@dataclass(frozen=True, slots=True)
class Document:
    """A file: up to ``limit`` bytes and one more, its URL after redirects, and the headers."""

    body: bytes
    url: str
    headers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class MayFetch:
    """Wanted: whether the robots.txt allows a URL."""

    url: str


@dataclass(frozen=True, slots=True)
class Read:
    """Wanted: what sources state."""

    sources: Sources


#: What is wanted, and what is sent: a `Document`, or an `UnreadableError` is thrown; the decision
#: in words if it is not allowed, else ""; the URLs of the RSL licenses that the sources name.
Steps: TypeAlias = Generator[Fetch | MayFetch | Read, Any, None]


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
    shell = _Shell(robots, downloads, agent, crawlers, now)
    shell.run(collected(url, robots, sites))
    return shell.found


class _Shell:
    """Carries out the steps in this thread; ``found`` is what the last sources state."""

    found: Signals

    def __init__(
        self,
        robots: Outcome,
        downloads: Downloads,
        agent: str,
        crawlers: Sequence[str],
        now: datetime,
    ) -> None:
        self._robots = robots
        self._downloads = downloads
        self._agent = agent
        self._crawlers = crawlers
        self._now = now
        self._took = 0.0

    def run(self, steps: Steps) -> None:
        answer: Any = None
        error: UnreadableError | None = None
        while True:
            try:
                step = steps.send(answer) if error is None else steps.throw(error)
            except StopIteration:
                return
            answer, error = None, None
            try:
                answer = self._answer(step)
            except UnreadableError as caught:
                error = caught

    def _answer(self, step: Fetch | MayFetch | Read) -> Any:
        if isinstance(step, Fetch):
            return self._document(step)
        if isinstance(step, MayFetch):
            decision = self._robots.decide(step.url, self._agent)
            return "" if decision.allowed else str(decision)
        self.found = signals(
            **step.sources, robots=self._robots.robots, crawlers=self._crawlers, now=self._now
        )
        return rsl_licenses(self.found)

    def _document(self, step: Fetch) -> Document:
        time.sleep(brief_pause(self._took))
        began = time.monotonic()
        try:
            return download(self._downloads, step)
        finally:
            self._took = time.monotonic() - began


def download(downloads: Downloads, step: Fetch) -> Document:
    """Return a file.

    Raises:
        UnreadableError: the download failed.
    """
    found = downloads.fetch(step.url, step.limit)
    with found.file as file:
        return Document(file.read(step.limit + 1), found.url, found.headers)


def collected(url: str, robots: Outcome, sites: dict[str, SiteFiles]) -> Steps:
    """Yield what is wanted to know everything that a site says about the use of a page.

    Sources are read once and, as long as they name licenses that were not fetched, again.
    See `fetch_signals` for the arguments; the file in ``robots`` is not read.
    """
    return _Collector(url, robots).steps(sites)


class _Collector:
    """Collects the sources of a page."""

    def __init__(self, url: str, robots: Outcome) -> None:
        self._url = url
        self._robots = robots
        self._unread: list[str] = []
        self._origin = str(robots.origin)

    def steps(self, sites: dict[str, SiteFiles]) -> Steps:
        self._unread += unread_of(self._robots)
        if self._origin not in sites:
            sites[self._origin] = yield from self._site_files()
        shared = sites[self._origin]
        self._unread += shared.unread
        page, html, charset = yield from self._page()
        sources = Sources(
            url=page.url if page else self._url,
            headers=page.headers if page else (),
            html=html,
            charset=charset,
            tdmrep=shared.tdmrep,
            licenses={},
            notes=shared.notes,
            unread=self._unread,
        )
        yield from self._read(sources)

    def _read(self, sources: Sources) -> Steps:
        """Read sources with the licenses that they name, which may name others."""
        licenses = sources["licenses"]
        while True:
            named = yield Read(sources)
            wanted = [url for url in named[:MAX_LICENSES] if url not in licenses]
            if not wanted:
                return
            for url in wanted:
                licenses[url] = yield from self._document(url)

    def _site_files(self) -> Generator[Fetch, Any, SiteFiles]:
        before = len(self._unread)
        tdmrep = yield from self._document(self._origin + TDMREP_PATH, is_optional=True)
        unread = tuple(self._unread[before:])
        del self._unread[before:]
        notes = []
        for path in PRESENCE:
            notes += yield from self._presence(path)
        return SiteFiles(tdmrep, tuple(notes), unread)

    def _page(
        self,
    ) -> Generator[Fetch | MayFetch, Any, tuple[Document | None, bytes | None, str | None]]:
        """Return the response and, if it is HTML, the beginning of the page and its charset."""
        refusal = yield MayFetch(self._url)
        if refusal:
            self._unread.append(f"page: not fetched ({refusal})")
            return None, None, None
        page = yield from self._fetch(self._url, MAX_HTML, "page")
        if page is None or not (yield from self._may_use(page.url)):
            return None, None, None
        return page, page.body if is_html(page.headers) else None, charset_of(page.headers)

    def _may_use(self, url: str) -> Generator[MayFetch, Any, bool]:
        """Return whether the robots.txt is that of a page after redirects, and allows it."""
        if str(origin_of(url)) != self._origin:
            self._unread.append(f"page: redirects to another site, {url}: name that address")
            return False
        refusal = yield MayFetch(url)
        if refusal:
            self._unread.append(f"page: redirects to {url}, which is not read ({refusal})")
        return not refusal

    def _document(
        self, url: str, *, is_optional: bool = False
    ) -> Generator[Fetch, Any, bytes | None]:
        """Return a document; None if it is missing or cannot be read."""
        name = url.removeprefix(self._origin) if url.startswith(f"{self._origin}/") else url
        found = yield from self._fetch(url, MAX_DOCUMENT, name, is_optional=is_optional)
        if found is None:
            return None
        if is_optional and str(origin_of(found.url)) != self._origin:
            self._unread.append(f"{name}: redirects to another site, {found.url}")
            return None
        return found.body

    def _presence(self, path: str) -> Generator[Fetch, Any, list[str]]:
        """Return a note about a file that the site has."""
        try:
            found = yield Fetch(self._origin + path, _BEGINNING)
        except UnreadableError:
            return []
        return [] if is_page(found.body) else [f"{path} is there: koster does not read it"]

    def _fetch(
        self, url: str, limit: int, name: str, *, is_optional: bool = False
    ) -> Generator[Fetch, Any, Document | None]:
        try:
            document: Document = yield Fetch(url, limit)
        except DownloadError as error:
            is_missing = error.status in MISSING
            if not (is_optional and is_missing):
                self._unread.append(f"{name}: {error.why}")
        except UnreadableError as error:
            self._unread.append(str(error))
        else:
            return document
        return None

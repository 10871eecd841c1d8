"""Fetching pages, and what their sites say about their use, with guard and limits."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread
from fastapi import Request

from .._worker import answers
from .._worker.files import UnreadOutcome
from ..cache.memory import LRUCache
from ..errors import UnreadableError, UrlError
from ..fetch import Guard, to_ascii
from ..fetch._page_signals import Document, Fetch, MayFetch, Read, Steps, collected, download
from ..fetch.downloads import DownloadError, Downloads
from ..origins import origin_of
from ..politeness import brief_pause
from . import _costs as costs
from ._fair import Lane, WorkTime
from ._limits import client_address, client_key
from ._log import log
from ._problems import Problem
from ._settings import ServiceSettings
from ._sites import Sites
from ._work import Workers

#: The number of requests that one with a page and its files counts as.
COST = 50

#: Seconds for which files are cached, also that they are missing, and their maximum bytes: an
#: owner sees a change soon, and clients cannot have a site asked all the time.
_FRESH_SECONDS = 60
_CACHE_BYTES = 64 << 20
_MAX_CACHED = 10_000
#: Approximate bytes that a cached file takes besides its body.
_OVERHEAD = 2_000

#: Time for a page and its files, as a multiple of the fetch timeout.
_MAX_WAIT_FACTOR = 2


@dataclass(frozen=True, slots=True)
class _Failure:
    """Why a file could not be fetched, with the status of the response, if there was one."""

    why: str
    status: int | None


class _File:
    """A file that was fetched, or the failure, and how long that took."""

    def __init__(self, found: Document | _Failure, began: float) -> None:
        self.found = found
        self.finished = time.monotonic()
        self.took = self.finished - began

    @property
    def is_fresh(self) -> bool:
        return time.monotonic() - self.finished <= _FRESH_SECONDS

    @property
    def weight(self) -> int:
        return _OVERHEAD + (len(self.found.body) if isinstance(self.found, Document) else 0)


class Pages:
    """What sites say about the use of pages.

    Half of all fetches may be for pages, so that the others never wait for them. They are shared
    fairly between clients, by the time that they took.
    """

    def __init__(self, settings: ServiceSettings, sites: Sites, workers: Workers) -> None:
        self._settings = settings
        self._sites = sites
        self._workers = workers
        self._time = WorkTime(0, time.monotonic)
        self._lane = Lane(range(max(1, settings.fetches // 2)), self._time)
        self._files: LRUCache[str, _File] = LRUCache(
            _MAX_CACHED, _CACHE_BYTES, lambda each: each.weight
        )
        #: The last file of a site, which tells how long to wait before the next one.
        self._last: LRUCache[str, _File] = LRUCache(_MAX_CACHED, _MAX_CACHED, lambda _: 1)
        self._locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()
        self._downloads: Downloads | None = None

    def open(self) -> None:
        """Create the client: reading the certificates takes long."""
        self._threads = anyio.CapacityLimiter(self._settings.fetches)
        self._downloads = Downloads(
            self._settings.user_agent,
            timeout=self._settings.fetch_timeout,
            proxy=self._settings.fetch_proxy,
            guard=Guard(also=self._settings.let_through),
        )

    def close(self) -> None:
        """Close all connections."""
        if self._downloads is not None:
            self._downloads.close()

    async def signals(
        self,
        request: Request,
        url: str,
        file: UnreadOutcome,
        crawlers: list[str],
        now: datetime,
    ) -> bytes:
        """Return what a site with a robots.txt says about a page, as JSON.

        What cannot be fetched in time is said to be unread.

        Raises:
            Problem: the service is busy, or see `Workers.run`.
        """
        if self._downloads is None:
            # The application runs without its lifespan.
            self.open()
        client = client_key(client_address(request))
        seconds = self._settings.fetch_timeout * _MAX_WAIT_FACTOR
        try:
            async with self._lane.slot(client, seconds):
                began = time.monotonic()
                try:
                    page = _Page(self, request, file, crawlers, now, anyio.current_time() + seconds)
                    return await page.carry_out(collected(url, file, {}))
                finally:
                    self._time.charge(client, time.monotonic() - began)
        except TimeoutError as error:
            detail = "too many pages are being fetched: try again"
            raise Problem(503, "busy", detail, wait=2) from error

    async def refusal(self, request: Request, file: UnreadOutcome, url: str) -> str:
        """Return why a page may not be fetched, or "" if it may.

        Raises:
            Problem: see `Workers.run`.
        """
        agent = self._settings.user_agent
        is_small = costs.is_small(file, file.dialect, [agent], [url])
        return await self._workers.answer(
            request, answers.refusal, file, url, agent, is_small=is_small
        )

    async def read(
        self, request: Request, file: UnreadOutcome, step: Read, crawlers: list[str], now: datetime
    ) -> tuple[bytes, tuple[str, ...]]:
        """Return what sources state, as JSON, and the licenses that they name.

        Raises:
            Problem: see `Workers.run`.
        """
        return await self._workers.run(
            request, answers.signals, file, step.sources, crawlers, file.dialect.name, now
        )

    async def fetch(self, step: Fetch, until: float) -> Document:
        """Return a file, until a moment on the clock of the event loop.

        Raises:
            UnreadableError: it cannot be fetched, or not in time.
        """
        with anyio.CancelScope(deadline=until):
            found = (await self._file(step)).found
            if isinstance(found, _Failure):
                raise DownloadError(step.url, found.why, found.status)
            return found
        raise DownloadError(step.url, "not fetched: the time for this page is over")

    async def _file(self, step: Fetch) -> _File:
        """Return a file from the cache, or fetch it: from each site one at a time, with pauses."""
        try:
            origin = str(origin_of(step.url, to_ascii))
        except UrlError as error:
            raise DownloadError(step.url, str(error)) from error
        async with self._locks.setdefault(origin, anyio.Lock()):
            # The same URL may be wanted as a page and as a file, of which more is read.
            key = f"{step.limit} {step.url}"
            cached = self._files.get(key)
            if cached is not None and cached.is_fresh:
                return cached
            last = self._last.get(origin)
            if last is not None:
                pause = brief_pause(last.took) - (time.monotonic() - last.finished)
                await anyio.sleep(max(0.0, pause))
            async with self._sites.fetch_slot:
                began = time.monotonic()
                found = await anyio.to_thread.run_sync(
                    self._download, step, abandon_on_cancel=True, limiter=self._threads
                )
            file = _File(found, began)
            self._files.put(key, file)
            self._last.put(origin, file)
            why = found.why if isinstance(found, _Failure) else None
            log("page fetch", site=origin, why=why, seconds=round(file.took, 3))
            return file

    def _download(self, step: Fetch) -> Document | _Failure:
        """Return a file or a failure, in a thread."""
        assert self._downloads is not None  # noqa: S101 - for its type
        try:
            return download(self._downloads, step)
        except DownloadError as error:
            return _Failure(error.why, error.status)
        except UnreadableError as error:
            return _Failure(str(error), None)


class _Page:
    """A page, and what is needed to answer about it."""

    def __init__(
        self,
        pages: Pages,
        request: Request,
        file: UnreadOutcome,
        crawlers: list[str],
        now: datetime,
        until: float,
    ) -> None:
        self._pages = pages
        self._request = request
        self._file = file
        self._crawlers = crawlers
        self._now = now
        self._until = until
        self._found = b""

    async def carry_out(self, steps: Steps) -> bytes:
        """Carry out steps; return what the last sources state.

        Raises:
            Problem: see `Workers.run`.
        """
        answer: Any = None
        error: UnreadableError | None = None
        while True:
            try:
                step = steps.send(answer) if error is None else steps.throw(error)
            except StopIteration:
                return self._found
            answer, error = None, None
            try:
                answer = await self._answer(step)
            except UnreadableError as caught:
                error = caught

    async def _answer(self, step: Fetch | MayFetch | Read) -> Any:
        if isinstance(step, Fetch):
            return await self._pages.fetch(step, self._until)
        if isinstance(step, MayFetch):
            return await self._pages.refusal(self._request, self._file, step.url)
        self._found, licenses = await self._pages.read(
            self._request, self._file, step, self._crawlers, self._now
        )
        return licenses

"""Uses of pages (``KOSTER_USES``): what a site states about them, before and after each page."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Any

from itemadapter import ItemAdapter
from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.utils.misc import load_object

from ...access import Outcome
from ...signals import UseDecision
from ...signals._uses import Page, decide_use, page_of
from ._settings import KosterSettings, read_settings

_log = logging.getLogger("koster.compat.scrapy")

#: The key in the meta of a response, and the field of a marked item.
MARK = "koster_use"

_DOWNLOADER = "koster.compat.scrapy.RobotsTxtMiddleware"
_SPIDER = "koster.compat.scrapy.UsesMiddleware"
_NOT_JUDGED = {
    "allowed": False,
    "stated": {},
    "why": "not judged: the request did not ask robots.txt",
}
#: Flags of responses that lack a part.
_INCOMPLETE = frozenset(("dataloss", "download_stopped", "partial"))


class Uses:
    """Decides about pages by the settings of a crawler."""

    def __init__(self, settings: KosterSettings) -> None:
        self._settings = settings

    def before(self, request: Request, outcome: Outcome, agent: str) -> UseDecision:
        """Return whether a page can be used, as far as its robots.txt states."""
        return self._decide(request.url, outcome, agent, None)

    def after(
        self, request: Request, response: Response, outcome: Outcome, agent: str
    ) -> UseDecision:
        """Return whether a page may be used."""
        page = _page_of(response, is_head=request.method == "HEAD")
        return self._decide(response.url, outcome, agent, page)

    def refuses(self, request: Request, found: UseDecision) -> bool:
        """Return whether the response to a request is to be dropped, as no items will be.

        Pipelines store the files that they request, and no spider middleware sees the responses.
        """
        is_file = request.callback is NO_CALLBACK
        return is_file and not found and not self._settings.marks_items

    def _decide(self, url: str, outcome: Outcome, agent: str, page: Page | None) -> UseDecision:
        settings = self._settings
        return decide_use(
            url,
            outcome,
            agent,
            settings.uses,
            page=page,
            unstated=settings.unstated,
            now=datetime.now(UTC),
        )


def _page_of(response: Response, *, is_head: bool) -> Page:
    headers = [
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in response.headers.items()
        for value in values
    ]
    flags = response.flags or []
    # HttpCompressionMiddleware removes the header, or sets the flag.
    is_encoded = b"Content-Encoding" in response.headers and "decoded" not in flags
    is_whole = not is_encoded and not is_head and _INCOMPLETE.isdisjoint(flags)
    return page_of(response.url, response.status, headers, response.body if is_whole else None)


def mark_of(found: UseDecision) -> dict[str, Any]:
    """Return what a decision says, as plain data: requests are stored, and items exported."""
    stated = {each.use.value: each.stated.value for each in found.answers}
    return {"allowed": found.allowed, "stated": stated, "why": str(found)}


class UsesMiddleware(BaseSpiderMiddleware):
    """A spider middleware that drops or marks the items of pages that may not be used.

    It goes with `RobotsTxtMiddleware`, which reads the settings, and puts what a page's site states
    into ``response.meta["koster_use"]``: ``allowed``, ``stated`` for each use, and ``why``.
    """

    def __init__(self, crawler: Any) -> None:
        """Read the settings.

        Raises:
            scrapy.exceptions.NotConfigured: ``KOSTER_USES`` is not set.
            ValueError: a setting is invalid, or `RobotsTxtMiddleware` is off.
        """
        super().__init__(crawler)
        settings = read_settings(crawler.settings)
        if not settings.uses:
            raise NotConfigured
        _check_active(crawler.settings, "DOWNLOADER_MIDDLEWARES", _DOWNLOADER)
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise ValueError("KOSTER_USES needs ROBOTSTXT_OBEY = True")
        self._marks = settings.marks_items

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        """Return an item, with a mark if the settings say so; None: it is dropped."""
        if response is None:
            # Of no page.
            return item
        request = response.request
        found = _NOT_JUDGED if request is None else request.meta.get(MARK, _NOT_JUDGED)
        if self._marks:
            return _marked(item, found)
        if found["allowed"]:
            return item
        assert self.crawler.stats is not None  # noqa: S101 - set before middlewares
        self.crawler.stats.inc_value("robotstxt/items_dropped")
        _log.debug("Dropped an item of %s: %s", response, found["why"])
        return None


def _marked(item: Any, found: dict[str, Any]) -> Any:
    """Return an item with a mark of its own: a pipeline may change it.

    Raises:
        TypeError: the item has no such field.
    """
    try:
        ItemAdapter(item)[MARK] = {**found, "stated": dict(found["stated"])}
    except KeyError:
        raise TypeError(
            f'KOSTER_ITEMS = "mark" needs a field {MARK} in {type(item).__name__}: '
            'add it, or set "drop"'
        ) from None
    return item


def check_spider_middleware(settings: Any) -> None:
    """Check that the items of pages are judged, too.

    Raises:
        ValueError: `UsesMiddleware` is off.
    """
    _check_active(settings, "SPIDER_MIDDLEWARES", _SPIDER)


def _check_active(settings: Any, name: str, path: str) -> None:
    active = settings.get_component_priority_dict_with_base(name)
    wanted = load_object(path)
    for key, priority in active.items():
        if priority is not None and load_object(key) is wanted:
            return
    raise ValueError(f'KOSTER_USES needs another middleware: add "{path}": 100 to {name}')

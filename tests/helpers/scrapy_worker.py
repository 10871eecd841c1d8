"""A process that runs crawls of Scrapy, one after the other: a line of JSON for each, and one back."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from datetime import timedelta
from typing import Any

import scrapy
from scrapy import signals
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.utils.reactor import install_reactor

from koster import freshness

SETTINGS = {
    "ROBOTSTXT_OBEY": True,
    "USER_AGENT": "FooBot/1.0 (+https://foo.example)",
    "TELNETCONSOLE_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "RETRY_ENABLED": False,
    "DOWNLOADER_MIDDLEWARES": {
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
        "koster.compat.scrapy.RobotsTxtMiddleware": 100,
    },
}


class FixedItem(scrapy.Item):
    """An item with one field."""

    url = scrapy.Field()


class Spider(scrapy.Spider):
    """Requests pages.

    Each is a URL, or the arguments of a request with ``then``, its next page, and ``item``, more
    fields of its item. The download of one whose meta has ``stop`` ends with the headers. One whose
    meta has ``fixed`` gives an item with the field ``url`` alone.
    """

    name = "spider"

    def __init__(self, pages: list[Any], result: dict[str, Any]) -> None:
        self.pages = pages
        self.result = result

    @classmethod
    def from_crawler(cls, crawler: Any, *args: Any, **kwargs: Any) -> Spider:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.on_robots, signals.robots_parsed)
        crawler.signals.connect(spider.on_item, signals.item_scraped)
        crawler.signals.connect(spider.on_headers, signals.headers_received)
        return spider

    def on_robots(self, robotparser: Any, request: Any) -> None:
        self.result["parsed"].append(len(robotparser.robots.body))

    def on_item(self, item: Any) -> None:
        self.result["items"].append(dict(item))

    def on_headers(self, request: Any) -> None:
        if request.meta.get("stop"):
            raise StopDownload(fail=False)

    async def start(self) -> Any:
        for page in self.pages:
            yield self.request(page)

    def request(self, page: Any, **more: Any) -> scrapy.Request:
        kwargs = {"url": page} if isinstance(page, str) else dict(page)
        following, item = kwargs.pop("then", None), kwargs.pop("item", {})
        return scrapy.Request(
            **{**more, **kwargs},
            callback=self.parse,
            errback=self.failed,
            dont_filter=True,
            cb_kwargs={"following": following, "item": item},
        )

    def parse(self, response: Any, following: Any, item: Any) -> Any:
        self.result["crawled"].append([response.url, response.status])
        if response.meta.get("fixed"):
            yield FixedItem(url=response.url)
        else:
            yield {"url": response.url, **item}
        if following:
            yield self.request(following, meta=response.meta)

    def failed(self, failure: Any) -> None:
        url, error = failure.request.url, failure.value
        if failure.check(IgnoreRequest):
            self.result["blocked"][url] = {
                "message": str(error),
                "decision": str(getattr(error, "decision", None)),
                "reason": getattr(error, "reason", None),
                "retry_at": str(getattr(error, "retry_at", None)),
            }
        else:
            self.result["failed"][url] = f"{type(error).__name__}: {error}"


class SilentHandler:
    """A download handler that never answers, whatever the time limit says."""

    lazy = True

    @classmethod
    def from_crawler(cls, crawler: Any) -> SilentHandler:
        return cls()

    async def download_request(self, request: Any) -> None:
        await asyncio.Event().wait()

    async def close(self) -> None:
        pass


class Records(logging.Handler):
    """Keeps the lines that are logged."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} [{record.name}] {self.format(record)}")


async def crawl(spec: dict[str, Any]) -> dict[str, Any]:
    """Run a crawl."""
    result: dict[str, Any] = {
        "crawled": [], "blocked": {}, "failed": {}, "parsed": [],
        "items": [], "error": "",
    }  # fmt: skip
    records = Records()
    logging.root.addHandler(records)
    os.environ.update(spec["environ"])
    freshness.MIN_RETRY = timedelta(seconds=spec["min_retry"])
    try:
        runner = AsyncCrawlerRunner({**SETTINGS, **spec["settings"]})
        crawler = runner.create_crawler(Spider)
        await runner.crawl(crawler, pages=spec["pages"], result=result)
        result["stats"] = {k: v for k, v in crawler.stats.get_stats().items() if "time" not in k}
        result["stats"]["finish_reason"] = crawler.stats.get_value("finish_reason")
    except Exception as error:  # noqa: BLE001 - the test looks at it
        result["error"] = f"{type(error).__name__}: {error}"
    finally:
        for name in spec["environ"]:
            del os.environ[name]
        logging.root.removeHandler(records)
    return {**result, "log": records.lines}


async def serve() -> None:
    """Run the crawls of standard input."""
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        result = await crawl(json.loads(line))
        sys.stdout.write(json.dumps(result, default=str) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet import defer, task

    logging.root.setLevel(logging.DEBUG)
    task.react(lambda _: defer.Deferred.fromFuture(asyncio.ensure_future(serve())))

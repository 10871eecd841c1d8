"""Crawls of Scrapy for tests; one process runs them all."""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any


@cache
def _worker() -> subprocess.Popen[str]:
    """Start the process: to import Scrapy takes a second."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("scrapy_worker.py"))],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    atexit.register(process.kill)
    return process


class Crawl:
    """Runs a crawl.

    ``pages`` are URLs, or arguments of requests; see `scrapy_worker`. Unreachable sites are asked again after
    ``min_retry`` seconds. Its attributes are the URLs
    that were crawled, each with its status; the message of each URL that was blocked, and what its
    error carries; the errors of the others; the statistics; sizes of parsed files; the items; and the log.
    """

    def __init__(
        self,
        *pages: Any,
        environ: dict[str, str] | None = None,
        min_retry: float = 60.0,
        **settings: Any,
    ) -> None:
        process = _worker()
        assert process.stdin is not None
        assert process.stdout is not None
        spec = {
            "pages": pages,
            "settings": settings,
            "environ": environ or {},
            "min_retry": min_retry,
        }
        process.stdin.write(json.dumps(spec) + "\n")
        process.stdin.flush()
        result = json.loads(process.stdout.readline())
        if result["error"]:
            raise CrawlError(result["error"])
        self.statuses: dict[str, int] = dict(result["crawled"])
        self.crawled = set(self.statuses)
        self.refusals: dict[str, dict[str, Any]] = result["blocked"]
        self.blocked = {url: refusal["message"] for url, refusal in self.refusals.items()}
        self.failed: dict[str, str] = result["failed"]
        self.stats: dict[str, Any] = result["stats"]
        self.parsed: list[int] = result["parsed"]
        self.items: list[dict[str, Any]] = result["items"]
        self.log: list[str] = result["log"]

    @property
    def errors(self) -> str:
        # A task of an earlier crawl, whose handler never answers, may be collected now.
        skipped = ("DEBUG", "INFO", "ERROR [asyncio] Task was destroyed")
        return "\n".join(line for line in self.log if not line.startswith(skipped))


class CrawlError(Exception):
    """A crawl did not start."""

"""Crawlers on an internet of faulty sites: what arrived there proves what they did."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import internet, redis_server
from tests.helpers.internet import PAGES, Site
from tests.helpers.scrapy_crawls import Crawl
from tests.helpers.support import ROOT


def _start(*arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.helpers.internet_crawlers", *arguments]
    return subprocess.Popen(command, cwd=ROOT)


def _check(sites: list[Site]) -> None:
    found = [problem for site in sites for problem in site.problems()]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("kind", ["httpx", "requests", "aiohttp"])
def test_one_process(kind: str) -> None:
    with internet.running() as sites:
        assert _start(kind, *(site.url for site in sites)).wait(60) == 0
        _check(sites)


@pytest.mark.skipif(not redis_server.program(), reason=redis_server.MISSING)
def test_four_processes_with_redis(tmp_path: Path) -> None:
    with redis_server.running(tmp_path) as server, internet.running() as sites:
        urls = [site.url for site in sites]
        processes = [_start("fleet", server, str(part), *urls) for part in range(4)]
        assert [process.wait(60) for process in processes] == [0] * 4
        _check(sites)


def test_scrapy() -> None:
    settings = {
        "KOSTER_MAX_INTERVAL": 2,
        "KOSTER_TIMEOUT": 2,
        "RETRY_ENABLED": False,
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS": 200,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 200,
    }
    with internet.running() as sites:
        for site in sites:
            # Scrapy's delays are for a host name, whatever the port.
            Crawl(*(site.url + path for path in PAGES), **settings)
        _check(sites)

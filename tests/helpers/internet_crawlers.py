"""Crawlers as their authors would write them: ``python -m faults.internet_crawlers KIND URL…``.

Each fetches all pages of each site that its robots.txt allows, at the pace that the site sets. A
pace of more than two seconds is too slow for them.
"""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import aiohttp
import httpx
import requests

import koster
from koster.fetch import FleetPacer
from koster.politeness import Limits, Pace
from tests.helpers import internet

NAME = "FooBot/1.0 (+https://foo.example/bot)"
#: No wait where a site sets no pace.
PACE: dict[str, Any] = {"max_interval": 2.0, "default_interval": 0.0}
TIMEOUT = 2.0


def fetch_all(client: koster.RobotsClient, get: Any, urls: list[str]) -> None:
    """Fetch pages with threads: those of different sites at once."""

    def fetch(url: str) -> None:
        try:
            with client.turn(url) as turn:
                if turn.allowed:
                    get(url)
        except koster.TooSlowError:
            pass

    with ThreadPoolExecutor(40) as pool:
        list(pool.map(fetch, urls))


def crawl_httpx(urls: list[str]) -> None:
    limits = httpx.Limits(max_connections=None)
    with (
        httpx.Client(limits=limits) as http,
        koster.RobotsClient(NAME, http=http, timeout=TIMEOUT, **PACE) as client,
    ):
        fetch_all(client, http.get, urls)


def crawl_requests(urls: list[str]) -> None:
    with (
        requests.Session() as http,
        koster.RobotsClient(NAME, http=http, timeout=TIMEOUT, **PACE) as client,
    ):
        fetch_all(client, http.get, urls)


def crawl_aiohttp(urls: list[str]) -> None:
    async def fetch(
        client: koster.AsyncRobotsClient, http: aiohttp.ClientSession, url: str
    ) -> None:
        try:
            async with client.turn(url) as turn:
                if turn.allowed:
                    async with http.get(url) as response:
                        await response.read()
        except koster.TooSlowError:
            pass

    async def crawl() -> None:
        async with (
            aiohttp.ClientSession() as http,
            koster.AsyncRobotsClient(NAME, http=http, timeout=TIMEOUT, **PACE) as client,
            asyncio.TaskGroup() as tasks,
        ):
            for url in urls:
                tasks.create_task(fetch(client, http, url))

    asyncio.run(crawl())


def crawl_fleet(urls: list[str], server: str) -> None:
    """One process of several."""
    pacer = FleetPacer(server, Pace(times_fetch=0.0, at_least=0.0), limits=Limits(0.0, 2.0))
    with (
        httpx.Client() as http,
        koster.RobotsClient(NAME, cache=server, pacer=pacer, timeout=TIMEOUT) as client,
    ):
        fetch_all(client, http.get, urls)


def pages_of(sites: list[str]) -> list[str]:
    """Return the pages of sites, of all sites in turn."""
    return [site + path for path in internet.PAGES for site in sites]


if __name__ == "__main__":
    kind, *rest = sys.argv[1:]
    if kind == "fleet":
        server, part, *sites = rest
        crawl_fleet(pages_of(sites)[int(part) :: 4], server)
    else:
        {"httpx": crawl_httpx, "requests": crawl_requests, "aiohttp": crawl_aiohttp}[kind](
            pages_of(rest)
        )

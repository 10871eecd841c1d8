"""A polite crawler: obeys robots.txt, keeps each site's pace, follows links within each site.

pip install 'koster[http]'
python examples/polite_crawler.py https://example.com/ https://example.org/
"""

import asyncio
import html
import re
import sys
from urllib.parse import urldefrag, urljoin

import httpx2

import koster

USER_AGENT = "ExampleBot/1.0 (+https://bot.example/about)"
MAX_PAGES = 20
LINK = re.compile(r'<a\s[^>]*?href="([^"]+)"', re.IGNORECASE)


async def crawl(start: str, robots: koster.AsyncRobotsClient, http: httpx2.AsyncClient) -> None:
    """Fetch the pages of one site, one after another."""
    pages = [start]
    for url in pages:  # grows with each page
        async with robots.turn(url) as turn:  # decides, waits, and records the fetch time
            if not turn.allowed:
                print(turn.decision)
                continue
            try:
                response = await http.get(url)
            except httpx2.HTTPError as error:
                print(f"{url}: {error}")
                continue
        print(response.status_code, url)
        links = map(html.unescape, LINK.findall(response.text))
        if response.next_request:  # the target of a redirect needs a turn of its own
            links = [str(response.next_request.url)]
        for link in links:
            target = urldefrag(urljoin(url, link)).url
            if target.startswith(start) and target not in pages and len(pages) < MAX_PAGES:
                pages.append(target)


async def main(starts: list[str]) -> None:
    """Crawl all sites at once, with one HTTP client for the pages and the robots.txt files."""
    async with (
        httpx2.AsyncClient(headers={"User-Agent": USER_AGENT}, timeout=20) as http,
        koster.AsyncRobotsClient(USER_AGENT, http=http, default_interval=2) as robots,
    ):
        await robots.prefetch(starts)
        await asyncio.gather(*(crawl(start, robots, http) for start in starts))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))

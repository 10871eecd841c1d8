"""``koster lint --sitemap``: the URLs of sitemaps that a robots.txt blocks."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from .._reports import screen
from .._reports.plain import shorten
from .._wording import count_noun
from ..lint import SitemapUrls
from ..lint._sitemaps import Comparisons
from ..lint.settings import Settings
from .reading import RobotsFile
from .sitemaps import group_by_site, read_sitemaps

if TYPE_CHECKING:
    from . import fetch_options


def blocked_urls(
    files: Sequence[tuple[RobotsFile, Settings]],
    sitemaps: Iterable[str],
    settings: fetch_options.FetchOptions,
) -> tuple[dict[str, SitemapUrls], list[str]]:
    """Read sitemaps; return what each robots.txt blocks, by path, and the errors, printed."""
    comparisons = Comparisons()
    counts = [_Counts(each, own, comparisons) for each, own in files]
    with read_sitemaps(sitemaps, settings) as urls:
        for batch in urls.batches():
            sites = group_by_site(batch)[0] if any(each.site for each, _ in files) else {}
            for each in counts:
                each.add(batch, sites)
    reader = urls.reader
    for each in counts:
        each.print_others(reader.urls)
    number, read = count_noun(reader.urls, "URL"), count_noun(reader.sitemaps, "sitemap")
    left_out = [error for each in counts for error in each.left_out()]
    print(f"{'read' if left_out else 'checked'} {number} from {read}", file=sys.stderr)
    found = {robots.path: each.urls for (robots, _), each in zip(files, counts, strict=True)}
    if not reader.urls and not reader.errors:
        left_out.append("the sitemaps have no URLs")
    for error in left_out:
        screen.complain(error)
    return found, [*reader.errors, *left_out]


class _Counts:
    """The URLs that a robots.txt blocks. If it was fetched, only those of its site are checked."""

    def __init__(self, robots: RobotsFile, settings: Settings, comparisons: Comparisons) -> None:
        self._robots = robots
        self._example = ""
        parsed = robots.robots(settings.dialects[0])
        self.urls = SitemapUrls(parsed, settings.crawlers, comparisons)

    def add(self, urls: list[str], by_site: dict[str, list[str]]) -> None:
        """Decide about some URLs, which are also given by site."""
        site = self._robots.site
        own = urls if site is None else by_site.get(site, [])
        self.urls.add(own)
        if len(own) < len(urls) and not self._example:
            known = set(own)
            self._example = next(each for each in urls if each not in known)

    def print_others(self, total: int) -> None:
        """Say how many of all URLs were not checked."""
        if others := total - self.urls.checked - self.urls.left_out:
            were = "is on another site and was" if others == 1 else "are on other sites and were"
            screen.complain(
                f"{self._robots.name}: {count_noun(others, 'sitemap URL')} {were} not checked, "
                f"such as {shorten(self._example)}"
            )

    def left_out(self) -> Iterator[str]:
        """Yield an error if URLs were left out because they take too long."""
        if self.urls.left_out:
            number = count_noun(self.urls.left_out, "sitemap URL")
            yield f"{self._robots.name}: {number} not checked: the file has too many rules with *"

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
    from ..sitemaps import SitemapReader
    from . import fetch_options


def blocked_urls(
    files: Sequence[tuple[RobotsFile, Settings]],
    sitemaps: Iterable[str],
    settings: fetch_options.FetchOptions,
) -> tuple[dict[str, SitemapUrls], list[str]]:
    """Read sitemaps; return what each robots.txt blocks, by path, and the errors, printed."""
    comparisons = Comparisons()
    counts = [_Counts(each, own, comparisons) for each, own in files]
    sites = [each.site for each, _ in files if each.site]
    with read_sitemaps(sitemaps, settings, named=sites) as urls:
        for batch in urls.batches():
            by_site = group_by_site(batch)[0] if sites else {}
            for each in counts:
                each.add(batch, by_site)
        notices = urls.notices(
            lambda site: {url for each in counts for url in each.sitemaps_named_by(site)}
        )
    reader = urls.reader
    for each in counts:
        each.print_others(reader.urls)
    errors = [error for each in counts for error in each.errors(reader.urls)]
    unread = list(reader.errors)
    if not reader.urls and not reader.errors:
        unread.append("the sitemaps have no URLs: no URL was checked")
        errors += unread
    elif not reader.urls:
        errors.append("no sitemap could be read: no URL was checked")
    else:
        print(_summary(counts, reader), file=sys.stderr)
    for each in counts:
        each.urls.notices += notices
        each.urls.unread += [*unread, *each.none_checked(reader.urls)]
    for error in errors:
        screen.complain(error)
    found = {robots.path: each.urls for (robots, _), each in zip(files, counts, strict=True)}
    return found, [*reader.errors, *errors]


def _summary(counts: Sequence[_Counts], reader: SitemapReader) -> str:
    """Return how many URLs were checked, or only read if files differ in that."""
    checked = {each.urls.checked for each in counts}
    number = checked.pop() if len(checked) == 1 else None
    done = f"read {count_noun(reader.urls, 'URL')}"
    if number is not None:
        of = f" of {reader.urls:,}" if number < reader.urls else ""
        done = f"checked {number:,}{of} {'URL' if reader.urls == 1 else 'URLs'}"
    failed = f"; {count_noun(len(reader.errors), 'error')}" if reader.errors else ""
    return f"{done} from {count_noun(reader.sitemaps, 'sitemap')}{failed}"


class _Counts:
    """The URLs that a robots.txt blocks. If it was fetched, only those of its site are checked."""

    def __init__(self, robots: RobotsFile, settings: Settings, comparisons: Comparisons) -> None:
        self._robots = robots
        self._example = ""
        parsed = robots.robots(settings.dialects[0])
        self._sitemaps = parsed.sitemaps
        self.urls = SitemapUrls(parsed, settings.crawlers, comparisons)

    def add(self, urls: list[str], by_site: dict[str, list[str]]) -> None:
        """Decide about some URLs, which are also given by site."""
        site = self._robots.site
        own = urls if site is None else by_site.get(site, [])
        self.urls.add(own)
        if len(own) < len(urls) and not self._example:
            known = set(own)
            self._example = next(each for each in urls if each not in known)

    def sitemaps_named_by(self, site: str) -> Sequence[str]:
        """Return the sitemaps that the file names, if it is that of a site, or of any."""
        return self._sitemaps if self._robots.site in (None, site) else ()

    def print_others(self, total: int) -> None:
        """Say how many of all URLs were not checked."""
        if others := total - self.urls.checked - self.urls.left_out:
            were = "is on another site and was" if others == 1 else "are on other sites and were"
            screen.complain(
                f"{self._robots.name}: {count_noun(others, 'sitemap URL')} {were} not checked, "
                f"such as {shorten(self._example)}"
            )

    def errors(self, total: int) -> Iterator[str]:
        """Yield an error if URLs were left out because they take too long, or all are elsewhere."""
        if self.urls.left_out:
            number = count_noun(self.urls.left_out, "sitemap URL")
            yield f"{self._robots.name}: {number} not checked: the file has too many rules with *"
        else:
            yield from self.none_checked(total)

    def none_checked(self, total: int) -> Iterator[str]:
        """Yield an error if all URLs are of other sites."""
        if total and not self.urls.checked and not self.urls.left_out:
            yield f"{self._robots.name}: no URL was checked: the sitemaps have none of this site"

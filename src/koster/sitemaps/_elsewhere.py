"""URLs that a sitemap lists, but that are of another site than the sitemap.

Search engines ignore them, unless the robots.txt of that site names the sitemap
(https://www.sitemaps.org/protocol.html#location). A site is a scheme, a host and a port.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import UrlError
from ..origins import Origin, origin_of

#: Pairs of a sitemap and a site that are counted; a hostile sitemap has more.
_MAX_PAIRS = 1_000

#: The scheme and authority of a URL.
_AUTHORITY = re.compile(r"https?://[^/?#\\\s]+", re.IGNORECASE)


@dataclass(slots=True)
class Elsewhere:
    """The URLs of a site in a sitemap of another site.

    Attributes:
        sitemap: The address of the sitemap.
        own: The site of the sitemap; if that is unknown, the site of its first URL.
        site: The site of the URLs.
        count: Their number.
        example: The first one.
    """

    sitemap: str
    own: Origin
    site: Origin
    count: int
    example: str


class ElsewhereCounts:
    """Counts the URLs of other sites, by sitemap and site.

    Attributes:
        left_out: The number of URLs of sites beyond the limit.
    """

    def __init__(self) -> None:
        self._by_pair: dict[tuple[str, Origin], Elsewhere] = {}
        self.left_out = 0

    def add(self, sitemap: str, own: Origin, urls: Iterable[str]) -> None:
        """Count the URLs that are not of a sitemap's own site."""
        usual = f"{own}/"
        for url in urls:
            if not url.startswith(usual):
                self._add_one(sitemap, own, url)

    def _add_one(self, sitemap: str, own: Origin, url: str) -> None:
        site = site_of(url)
        if site is None or site == own:
            return
        found = self._by_pair.get((sitemap, site))
        if found is not None:
            found.count += 1
        elif len(self._by_pair) < _MAX_PAIRS:
            self._by_pair[sitemap, site] = Elsewhere(sitemap, own, site, 1, url)
        else:
            self.left_out += 1

    def found(self) -> list[Elsewhere]:
        """Return what was counted, in the order of the sitemaps."""
        return list(self._by_pair.values())


def site_of(url: str) -> Origin | None:
    """Return the site of an absolute URL; None if it has none."""
    match = _AUTHORITY.match(url)
    return _site_at(match[0]) if match else None


@functools.lru_cache(1 << 10)
def _site_at(authority: str) -> Origin | None:
    try:
        return origin_of(authority)
    except UrlError:
        return None

"""Sitemaps: their URLs as a stream, and which of them a robots.txt blocks. Without I/O of its own.

`read_locations` reads one file: XML, RSS, Atom or text, also compressed with gzip. `SitemapReader`
reads sitemaps and those that their indexes name, which a `Source` opens. `BlockedUrls` counts the
URLs that a crawler may not fetch, by the line that blocks them. What the protocol does not allow is
said, and read.
"""

from __future__ import annotations

from ._blocked import Blocked, BlockedUrls
from ._documents import MAX_BYTES, Kind, SitemapError, read_locations
from ._elsewhere import Elsewhere
from ._reader import MAX_NESTED, MAX_SITEMAPS, SitemapReader, Source

__all__ = [
    "MAX_BYTES",
    "MAX_NESTED",
    "MAX_SITEMAPS",
    "Blocked",
    "BlockedUrls",
    "Elsewhere",
    "Kind",
    "SitemapError",
    "SitemapReader",
    "Source",
    "read_locations",
]

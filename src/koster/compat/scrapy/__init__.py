"""For Scrapy 2.19: a middleware that fetches according to RFC 9309, and a parser.

`RobotsTxtMiddleware` replaces Scrapy's middleware of that name: put it in
``DOWNLOADER_MIDDLEWARES``, and set Scrapy's own to None. It follows RFC 9309 for statuses,
redirects and expiry, and keeps the pace of each site. With ``KOSTER_USES``, `UsesMiddleware` drops
or marks the items of pages that may not be used.

``ROBOTSTXT_PARSER = "koster.compat.scrapy.KosterRobotParser"``: Scrapy fetches robots.txt files and
uses this parser. Scrapy decides which statuses to parse, and how long to cache files; of the
requests that wait for a file, it checks only two.

Scrapy is only imported with the middleware.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._parser import KosterRobotParser

if TYPE_CHECKING:
    from ._middleware import RobotsTxtMiddleware
    from ._uses import UsesMiddleware

__all__ = ["KosterRobotParser", "RobotsTxtMiddleware", "UsesMiddleware"]


def __getattr__(name: str) -> object:
    if name == "RobotsTxtMiddleware":
        from ._middleware import RobotsTxtMiddleware

        return RobotsTxtMiddleware
    if name == "UsesMiddleware":
        from ._uses import UsesMiddleware

        return UsesMiddleware
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

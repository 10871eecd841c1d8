"""The parser for Scrapy."""

from __future__ import annotations

import logging
from functools import cache
from typing import Any, Self

from ..._asking import allowed_for_data, rules_for_data
from ...robots import parse
from .._http import text_of

_log = logging.getLogger("koster.compat.scrapy")


class KosterRobotParser:
    """A parser backend (`scrapy.robotstxt.RobotParser`) for RFC 9309.

    ``robots`` is the parsed file, for access to more than Scrapy's interface.
    """

    def __init__(self, robotstxt_body: bytes, spider: Any = None) -> None:
        self.spider = spider
        self.robots = parse(robotstxt_body)

    @classmethod
    def from_crawler(cls, crawler: Any, robotstxt_body: bytes) -> Self:
        """Parse the body of a robots.txt for a crawler, which may be None."""
        if crawler is not None:
            _warn_of_requests_let_through()
        return cls(robotstxt_body, getattr(crawler, "spider", None))

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        """Return whether the user agent may fetch the URL."""
        return allowed_for_data(self.robots, text_of(url), text_of(user_agent))

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        """Return the crawl delay of the user agent in seconds, or None."""
        return rules_for_data(self.robots, text_of(user_agent)).crawl_delay


@cache
def _warn_of_requests_let_through() -> None:
    """Log, once, what Scrapy does with any parser: its middleware calls `from_crawler`.

    Its waiting requests share a Deferred, which passes the parser only to the first of them.
    """
    _log.warning(
        "ROBOTSTXT_PARSER alone lets disallowed pages through: of the requests that wait for the "
        "robots.txt of their site, Scrapy 2.19 checks only two. To check all, use "
        "koster.compat.scrapy.RobotsTxtMiddleware instead"
    )

"""For Scrapy 2.19: ``ROBOTSTXT_PARSER = "koster.compat.scrapy.KosterRobotParser"``.

Scrapy fetches the robots.txt of each site and asks this parser; which statuses it parses, and
for how long it keeps them, is Scrapy's own. Nothing of Scrapy is imported here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..robots import parse
from ._http import text_of

if TYPE_CHECKING:
    from typing import Self


class KosterRobotParser:
    """A parser backend, as `scrapy.robotstxt.RobotParser` says what one is: RFC 9309.

    ``robots`` is the parsed file, for whoever wants more than Scrapy asks.
    """

    def __init__(self, robotstxt_body: bytes, spider: Any = None) -> None:
        self.spider = spider
        self.robots = parse(robotstxt_body)

    @classmethod
    def from_crawler(cls, crawler: Any, robotstxt_body: bytes) -> Self:
        """Parse the body of a robots.txt for a crawler, which may be None."""
        return cls(robotstxt_body, getattr(crawler, "spider", None))

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        """Tell whether the user agent may fetch the URL."""
        return self.robots.allowed(text_of(url), text_of(user_agent))

    def crawl_delay(self, user_agent: str | bytes) -> float | None:
        """Return the seconds between two requests that the site asks for, or None."""
        return self.robots.rules_for(text_of(user_agent)).crawl_delay

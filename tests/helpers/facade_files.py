"""Files for the tests of the facades."""

from __future__ import annotations

ROBOTS = """\
User-agent: *
Crawl-delay: 3
Request-rate: 9/30
Disallow: /tmp
Allow: /tmp/open

User-agent: FigTree
Disallow:
Sitemap: https://example.com/s.xml
"""


PROTEGO = """\
User-agent: FooBot
Crawl-delay: 4
Crawl-delay: x
Request-rate: 1/10m 0900-1730
Visit-time: 0200 0630
Disallow: /a$b
Allow: /x/index.html
Disallow: /x

user agent bar bot
disallow /horcrux tail

User-agent: *
Disallow: /all
Host: one.example
Host: two.example
Sitemap https://example.com/s.xml
Sitemap:
"""

"""A file and a parser, for tests of the robotexclusionrulesparser facade."""

from __future__ import annotations

from koster.compat.robotexclusionrulesparser import (
    RobotExclusionRulesParser,
)


def parser(body: str | bytes) -> RobotExclusionRulesParser:
    result = RobotExclusionRulesParser()
    result.parse(body)
    return result


FILE = """\
# robots.txt
Sitemap: http://www.example.org/sitemap.xml

User-agent: Foobot
User-agent: Barbot   # two
Crawl-delay: 2.5
Disallow: /*.gif$
Disallow: /private
Allow: /

User-agent: *
Disallow: /
"""

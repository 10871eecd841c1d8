"""A file, and a parser of it, for tests of robotexclusionrulesparser's facade."""

from __future__ import annotations

from koster.compat.robotexclusionrulesparser import (
    RobotExclusionRulesParser,
)


def parser(body: str | bytes) -> RobotExclusionRulesParser:
    made = RobotExclusionRulesParser()
    made.parse(body)
    return made


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

"""Checks of Sitemap lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from ..model import Directive, Line
from ._checks import ERROR, NOTE, WARNING, check
from ._hosts import is_deployed, why_unreachable
from ._model import CheckedFile, Edit, Remark, truncate, truncate_rule
from ._values import URL, invalid_values, is_url

#: Some write ``https://`` twice: the host is then "https".
_URL_HOST = re.compile(r"https?://(?P<host>(?:(?P<again>https?):)?[^/?#\s]*)", re.IGNORECASE)


@check("M001", "relative-sitemap", ERROR, "A sitemap's URL is not absolute",
    why="Crawlers ignore the line.",
    example="User-agent: *\nDisallow:\nSitemap: /sitemap.xml\n",
    fix="User-agent: *\nDisallow:\nSitemap: https://e.com/sitemap.xml\n",
    source="https://www.sitemaps.org/protocol.html#submit_robots")  # fmt: skip
def relative_sitemap(subject: CheckedFile) -> Iterator[Remark]:
    yield from invalid_values(
        subject,
        Directive.SITEMAP,
        lambda line: not line.value or URL.match(line.value) is not None,
        "Sitemap must be an absolute URL: crawlers ignore this line",
        "Write https://, the host and the path",
    )


@check("M003", "invalid-sitemap", WARNING, "A sitemap's URL is missing or invalid",
    why="Crawlers ignore the line.",
    example="User-agent: *\nDisallow:\nSitemap:\n",
    fix="User-agent: *\nDisallow:\n",
    source="https://www.sitemaps.org/protocol.html#submit_robots")  # fmt: skip
def bad_sitemap(subject: CheckedFile) -> Iterator[Remark]:
    """Find Sitemap lines without a URL, with an invalid one, or with several."""
    for line in subject.lines_of(Directive.SITEMAP):
        if not line.value:
            following = subject.lines[line.number : line.number + 1]
            is_there = any(each.text.strip().lower().startswith("http") for each in following)
            yield Remark(
                subject.text(line),
                "Sitemap without a URL",
                "Move the URL onto the Sitemap line" if is_there else "Remove it",
                edits=() if is_there else (subject.removal(line),),
                proposal=_joined(subject, line) if is_there else (),
            )
        elif URL.match(line.value):
            words = line.value.split()
            are_urls = all("://" in word for word in words)
            in_host = len(line.value.split("/")[2].split()) > 1
            if len(words) > 1 and (are_urls or not in_host):
                separator = "\nSitemap: " if are_urls else "%20"
                yield Remark(
                    subject.value(line),
                    "Several URLs on one Sitemap line" if are_urls else "Space in a sitemap's URL",
                    "Write one Sitemap line per URL" if are_urls else "Write %20",
                    edits=(subject.edit_value(line, separator.join(words)),),
                )
            elif not is_url(line.value):
                yield Remark(
                    subject.value(line),
                    f"Invalid sitemap URL: {truncate(line.value)}",
                    "Write https://, the host and the path",
                )


def _joined(subject: CheckedFile, line: Line) -> tuple[Edit, ...]:
    """Return the edits that move the text of the next line to the end of a line."""
    following = subject.lines[line.number]
    end = len(line.text.rstrip())
    return (
        subject.edit(line, end, len(line.text) - end, f" {following.text.strip()}"),
        subject.removal(following),
    )


@check("M004", "duplicate-sitemap", NOTE, "A sitemap is listed twice",
    why="It does no harm.",
    example="User-agent: *\nDisallow:\nSitemap: https://e.com/a\nSitemap: https://e.com/a\n",
    fix="User-agent: *\nDisallow:\nSitemap: https://e.com/a\n",
    source="https://www.sitemaps.org/protocol.html#submit_robots")  # fmt: skip
def sitemap_twice(subject: CheckedFile) -> Iterator[Remark]:
    seen: dict[str, int] = {}
    for line in subject.lines_of(Directive.SITEMAP):
        if line.value and seen.setdefault(line.value, line.number) != line.number:
            yield Remark(
                subject.value(line),
                f"Duplicate of line {seen[line.value]}",
                "Remove it",
                edits=(subject.removal(line),),
            )


@check("M002", "sitemap-blocked", WARNING, "A sitemap is blocked",
    why="Crawlers that obey the file cannot read it, unless it is on another host.",
    example="User-agent: *\nDisallow: /*.xml$\nSitemap: https://e.com/sitemap.xml\n",
    fix="User-agent: *\nDisallow: /*.xml$\nAllow: /sitemap.xml\nSitemap: https://e.com/sitemap.xml\n",
    source="https://www.sitemaps.org/protocol.html#submit_robots")  # fmt: skip
def sitemap_blocked(subject: CheckedFile) -> Iterator[Remark]:
    rules, google = (subject.robots.rules_for(name) for name in ("*", "Googlebot"))
    may_decide = subject.analysis.may_decide
    for line in subject.lines_of(Directive.SITEMAP):
        if line.value.lower().startswith(("http://", "https://")) and is_url(line.value):
            if not (may_decide(rules, line.value) and may_decide(google, line.value)):
                break
            if rules.allowed(line.value) or google.allowed(line.value):
                continue
            rule = rules.decide(line.value).rule
            if rule is not None and rule.pattern.strip("/*$"):
                path = urlsplit(line.value).path
                yield Remark(
                    subject.value(line),
                    f"Line {rule.line} ({truncate_rule(rule)}) blocks this sitemap, if it is on this site",
                    f"Add Allow: {path}, which allows it",
                    proposal=(subject.insertion(subject.lines[rule.line - 1], f"Allow: {path}"),),
                    url=line.value,
                )


@check("M006", "unreachable-sitemap", WARNING, "Nobody can fetch a sitemap from its host",
    why="The host is a placeholder, for private use, or a preview of the site. Search engines ignore the sitemap, or index the preview.",
    example="User-agent: *\nDisallow:\nSitemap: http://localhost:3000/sitemap.xml\n",
    fix="User-agent: *\nDisallow:\nSitemap: https://e.com/sitemap.xml\n",
    source="RFC 6761; https://www.sitemaps.org/protocol.html#submit_robots")  # fmt: skip
def unreachable_sitemap(subject: CheckedFile) -> Iterator[Remark]:
    for line in subject.lines_of(Directive.SITEMAP):
        host = _host(line.value)
        why = host and host != subject.site_host and why_unreachable(host)
        if host and why:
            yield Remark(
                subject.value(line),
                f"Nobody can fetch this sitemap: {'it' if 'twice' in why else truncate(host)} {why}",
                "Write the host of the site; many programs have a setting for it",
            )


@check("M007", "deployed-sitemap", NOTE, "A sitemap is at the address of a deploy service",
    why="If the site has a domain of its own, search engines may ignore a sitemap on another host.",
    example="User-agent: *\nDisallow:\nSitemap: https://shop.vercel.app/sitemap.xml\n",
    fix="User-agent: *\nDisallow:\nSitemap: https://e.com/sitemap.xml\n",
    source="https://www.sitemaps.org/protocol.html#sitemaps_cross_submits")  # fmt: skip
def deployed_sitemap(subject: CheckedFile) -> Iterator[Remark]:
    for line in subject.lines_of(Directive.SITEMAP):
        host = _host(line.value)
        is_other = host and host != subject.site_host
        if host and is_other and is_deployed(host) and not why_unreachable(host):
            yield Remark(
                subject.value(line),
                f"{truncate(host)} is the address of a deploy service",
                "If the site has its own domain, write that",
            )


def _host(url: str) -> str | None:
    """Return the host of a sitemap's URL, as it is written; None if another check is about it."""
    match = _URL_HOST.match(url) if is_url(url) else None
    if match is None:
        return None
    if match["again"]:
        return match["again"]
    host = match["host"].rpartition("@")[2]
    return host.strip("[]") if host.startswith("[") else host.partition(":")[0] or None

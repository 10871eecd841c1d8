"""The check of sitemaps against the rules: URLs that a site submits to search engines and blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from .._asking import allowed_as_browsers_read, rules_for_data, url_to_fetch
from .._wording import count_noun
from ..analysis import EVERYBODY
from ..crawlers import agent_for
from ..dialects import Patterns
from ..model import Rule
from ..robots import RobotsTxt, Rules
from ..sitemaps import Blocked, BlockedUrls
from ._checks import WARNING, Check, check
from ._model import SEARCH_CRAWLERS, WHOLE_FILE, CheckedFile, Remark, truncate_rule

#: The codes of the checks. They find nothing until `with_sitemaps` gives them what was read.
CODE = "M005"
_PROTOCOL = "M009"

#: Longer examples are cut. A shorter limit would cut most URLs, which then nobody can open.
_MAX_URL = 200
_MAX_LINE = 300
#: The bytes of URLs that all rules with wildcards are compared with, for all files and crawlers
#: together: minutes of work. With 50 such rules, 30 million URLs of usual length.
_MAX_COMPARED = 100_000_000_000
#: The cost of all rules without wildcards, which are in an index, in rules with wildcards.
_INDEXED = 16
_PARTLY_CHECKED = "Z004"
_WITHOUT_A_GROUP = "crawlers without a group of their own"


class Comparisons:
    """How many comparisons are left, for several files."""

    def __init__(self, most: int = _MAX_COMPARED) -> None:
        self.left = most


class _Crawlers:
    """Crawlers with the same rules, and the URLs that these block."""

    def __init__(self, rules: Rules) -> None:
        self.names: list[str] = []
        self.whole_site = _whole_site_rule(rules)
        self.cost = _INDEXED + _count_starred(rules)
        self.urls = BlockedUrls(
            partial(allowed_as_browsers_read, rules),
            lambda url: rules.decide(url_to_fetch(rules, url)),
        )

    def blocked(self) -> list[tuple[Rule, Blocked]]:
        """Return the lines that block URLs, or only the one that blocks the whole site."""
        found = [(each.decision.rule, each) for each in self.urls.by_line() if each.decision.rule]
        if self.whole_site in [rule for rule, _ in found]:
            # It also blocks what the other lines block.
            first = found[0][1]
            return [(self.whole_site, Blocked(first.decision, self.urls.blocked, first.examples))]
        return found

    def __str__(self) -> str:
        *others, last = self.names
        if last != "*":
            return " and ".join(self.names)
        return f"{', '.join(others)} and other crawlers" if others else _WITHOUT_A_GROUP


class SitemapUrls:
    """Counts the URLs of sitemaps that each line of a robots.txt blocks.

    They are counted for some crawlers, and for those without a group of their own.

    Attributes:
        checked: The number of URLs so far.
        left_out: The number of URLs that would have taken too long.
        notices: What the protocol of sitemaps does not allow in them: a line for each fault.
        unread: Why other URLs are not known: a line for each sitemap that could not be read.
    """

    def __init__(
        self,
        robots: RobotsTxt,
        crawlers: Iterable[str] = SEARCH_CRAWLERS,
        comparisons: Comparisons | None = None,
    ) -> None:
        self.checked = self.left_out = 0
        self.notices: list[str] = []
        self.unread: list[str] = []
        self._comparisons = comparisons or Comparisons()
        self._crawlers: dict[tuple[int, ...], _Crawlers] = {}
        for name in (*crawlers, EVERYBODY):
            rules = rules_for_data(robots, agent_for(name))
            found = self._crawlers.setdefault(rules.group_lines, _Crawlers(rules))
            found.names.append(name)

    def add(self, urls: Sequence[str]) -> None:
        """Decide about some URLs: none of them, nor of those after them, if that takes too long."""
        cost = sum(map(len, urls)) * sum(each.cost for each in self._crawlers.values())
        if self.left_out or cost > self._comparisons.left:
            self.left_out += len(urls)
            return
        self._comparisons.left -= cost
        self.checked += len(urls)
        for each in self._crawlers.values():
            each.urls.add(urls)

    def partly_checked(self) -> Iterator[Remark]:
        """Yield a remark if URLs were left out, and if sitemaps could not be read."""
        if self.left_out:
            yield Remark(
                WHOLE_FILE,
                f"Not checked completely: {count_noun(self.left_out, 'sitemap URL')} would take "
                "too long",
                "Shorten the file or the sitemap, then check again",
            )
        if self.unread:
            more = f" ({len(self.unread) - 1:,} more)" if len(self.unread) > 1 else ""
            yield Remark(
                WHOLE_FILE,
                f"Not checked completely: {self.unread[0][:_MAX_LINE]}{more}",
                "Correct the sitemap, then check again",
            )

    def protocol_remarks(self, _subject: CheckedFile) -> Iterator[Remark]:
        """Yield a remark for each fault of a sitemap that did not prevent reading it."""
        for each in self.notices:
            yield Remark(WHOLE_FILE, each[:_MAX_LINE], "Correct the sitemap")

    def remarks(self, subject: CheckedFile) -> Iterator[Remark]:
        """Yield a remark for each line of the file that blocks URLs."""
        by_rule: dict[Rule, list[tuple[_Crawlers, Blocked]]] = {}
        for crawlers in self._crawlers.values():
            for rule, blocked in crawlers.blocked():
                by_rule.setdefault(rule, []).append((crawlers, blocked))
        for rule, found in by_rule.items():
            (first, blocked), *others = found
            counts = f"{count_noun(blocked.count, 'sitemap URL')} for {first}"
            counts += "".join(f", {each.count:,} for {crawlers}" for crawlers, each in others)
            example = blocked.examples[0]
            yield Remark(
                subject.rule(rule),
                f"{truncate_rule(rule)} blocks {counts}, such as {example[:_MAX_URL]}",
                "Allow these URLs, or remove them from the sitemap",
                url=example,
            )


def _whole_site_rule(rules: Rules) -> Rule | None:
    """Return the first rule that blocks every URL that no longer rule allows."""
    every = (rule for group in rules.groups for rule in group.rules if not rule.allow)
    return next((rule for rule in every if rule.pattern in ("/", "*", "/*")), None)


def _count_starred(rules: Rules) -> int:
    """Return how many rules a URL may be compared with one by one; in some dialects, all."""
    has_all = rules.dialect.reading.patterns is Patterns.SHELL
    patterns = (rule.pattern for group in rules.groups for rule in group.rules)
    return sum(has_all or "*" in pattern for pattern in patterns)


@check(CODE, "blocked-sitemap-urls", WARNING, "A rule blocks URLs that a sitemap lists",
    why="A sitemap tells search engines which pages to index, but they cannot read these. koster lint --sitemap finds them.",
    example="Run `koster lint --sitemap sitemap.xml robots.txt` with a file, a URL or a sitemap index.",
    source="https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap")  # fmt: skip
def no_sitemaps(_subject: CheckedFile) -> Iterable[Remark]:
    # `with_sitemaps` puts the search in its place.
    return ()


@check(_PROTOCOL, "sitemap-protocol", WARNING, "A sitemap is against the protocol",
    why="Search engines may ignore the sitemap, or a part of it, although koster lint --sitemap can read it. The protocol allows 50,000 URLs and 50 MiB in a file, and no index in an index. All URLs have the scheme, host and port of the sitemap, unless the robots.txt of the other site names it. The namespace is that of the protocol.",
    example="Run `koster lint --sitemap sitemap.xml robots.txt` with a sitemap that lists URLs of two hosts.",
    source="https://www.sitemaps.org/protocol.html")  # fmt: skip
def no_faults(_subject: CheckedFile) -> Iterable[Remark]:
    # `with_sitemaps` puts the faults in its place.
    return ()


def with_sitemaps(checks: Iterable[Check], urls: SitemapUrls) -> tuple[Check, ...]:
    """Return checks; those of sitemaps are about these URLs."""
    return tuple(_with_sitemaps(check, urls) for check in checks)


def _with_sitemaps(check: Check, urls: SitemapUrls) -> Check:
    if check.code == CODE:
        return replace(check, find=urls.remarks)
    if check.code == _PROTOCOL:
        return replace(check, find=urls.protocol_remarks)
    if check.code == _PARTLY_CHECKED:
        return replace(check, find=lambda subject: (*check.find(subject), *urls.partly_checked()))
    return check

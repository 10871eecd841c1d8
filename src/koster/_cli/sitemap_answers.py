"""``koster check --sitemap``: answers about the URLs of sitemaps, while these are read."""

from __future__ import annotations

import itertools
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, TextIO, TypeAlias

from .._reports import screen
from .._reports.answers import FileQuestions, Tally, answers
from .._reports.check import CheckResults
from .._reports.registry import render
from .._reports.summary import Summary
from .sitemaps import Urls, group_by_site, read_sitemaps
from .stopping import stop

if TYPE_CHECKING:
    from . import fetch_options

    #: Fetches the robots.txt of some sites; returns a question for each, and whether all were read.
    Ask: TypeAlias = Callable[[tuple[str, ...]], tuple[dict[str, FileQuestions], bool]]


@dataclass(frozen=True, slots=True)
class KnownSites:
    """The robots.txt of sites: the questions about those known so far, and how to fetch others.

    ``ask_others`` fetches that of sites that only a sitemap names.
    """

    known: dict[str, FileQuestions]
    ask: Ask
    ask_others: Ask


@dataclass(frozen=True, slots=True)
class Done:
    """The result of `answer`.

    Attributes:
        urls: The number of URLs in the sitemaps.
        is_blocked: Whether a crawler may not fetch one, or one of the other URLs.
        is_complete: Whether everything could be read.
    """

    urls: int
    is_blocked: bool
    is_complete: bool


def answer(
    sitemaps: Iterable[str],
    questions: Sequence[FileQuestions],
    sites: KnownSites | None,
    settings: fetch_options.FetchOptions,
    moment: datetime | None,
    form: str,
    named: frozenset[str] = frozenset(),
) -> Done:
    """Print the answers to questions, then those about the URLs of sitemaps.

    Args:
        sitemaps: The addresses of sitemaps.
        questions: The questions about other URLs.
        sites: The robots.txt of sites. None: those of ``questions`` apply to all URLs.
        settings: How to fetch.
        moment: The time for visit times and pace, if any.
        form: The format; text is a summary.
        named: The sites that the user named, which may get headers of the user.
    """
    shows_bar = form == "text" or _is_file(sys.stdout)
    with read_sitemaps(sitemaps, settings, named=named, shows_bar=shows_bar) as urls:
        asked = _Asked(questions, sites, urls, named)
        summary = Summary(moment)
        tally = Tally(itertools.chain.from_iterable(map(answers, asked.batches())))
        is_stopped = False
        try:
            if form == "text":
                for batch in asked.batches():
                    summary.add(batch)
            else:
                render(CheckResults(tally, [], moment), form)
        except KeyboardInterrupt:
            is_stopped = True
        for each in urls.notices(asked.sitemaps_named_by):
            screen.complain(each)
    reader = urls.reader
    if form == "text":
        summary.urls, summary.sitemaps = reader.urls, reader.sitemaps
        summary.errors = len(reader.errors)
        render(summary)
        is_blocked = summary.is_blocked
    else:
        is_blocked = tally.blocked > 0
    if is_stopped:
        stop(reader.done, reader.known, "sitemap")
    return Done(reader.urls, is_blocked, asked.is_complete and not reader.errors)


def _is_file(stream: TextIO) -> bool:
    """Tell whether a stream is a file on disk.

    Answers on a terminal would run through a bar. A pipe that is closed ends the command, and the
    bar could not restore the cursor.
    """
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except OSError:
        return False


class _Asked:
    """The questions about each batch of URLs; the robots.txt of each site is fetched once."""

    def __init__(
        self,
        questions: Sequence[FileQuestions],
        sites: KnownSites | None,
        urls: Urls,
        named: frozenset[str],
    ) -> None:
        self._questions = questions
        self._named = named
        self._sites = sites
        self._urls = urls
        self.is_complete = True

    def batches(self) -> Iterator[list[FileQuestions]]:
        """Yield the given questions, then those about the URLs of sitemaps."""
        yield list(self._questions)
        for urls in self._urls.batches():
            if self._sites is None:
                yield [replace(each, urls=tuple(urls)) for each in self._questions]
            else:
                yield self._about_sites(urls, self._sites)

    def sitemaps_named_by(self, site: str) -> set[str]:
        """Return the sitemaps that the robots.txt of a site names, or that applies to all sites."""
        if self._sites is None:
            files = self._questions
        else:
            files = [self._sites.known[site]] if site in self._sites.known else []
        return {url for file in files for each in file.readings for url in each.robots.sitemaps}

    def _about_sites(self, urls: list[str], sites: KnownSites) -> list[FileQuestions]:
        by_site, errors = group_by_site(urls)
        for error in errors:
            screen.complain(str(error))
            self.is_complete = False
        new = [site for site in by_site if site not in sites.known]
        own = tuple(site for site in new if site in self._named)
        others = tuple(site for site in new if site not in self._named)
        for ask, some in ((sites.ask, own), (sites.ask_others, others)):
            if some:
                with self._urls.without_bar():
                    found, all_read = ask(some)
                sites.known.update(found)
                self.is_complete = self.is_complete and all_read
        return [replace(sites.known[site], urls=tuple(some)) for site, some in by_site.items()]

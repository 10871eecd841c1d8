"""``koster check``: may these crawlers fetch these URLs, and which line says so?"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import rich_click as click

from ..._reports import screen
from ..._reports.answers import FileQuestions, FileReading, Tally, answers, reading_of
from ..._reports.check import CheckResults
from ..._reports.plain import printable
from ..._reports.registry import render
from ...decisions import Reason
from ...dialects import RFC9309, Dialect
from ...errors import UnreadableError, UrlError
from .. import fetch_options, file_access, reading, statuses
from ..help import INPUT, RULES, command
from ..names import CrawlerType, warn_of_ignoring, warn_of_unknown
from ..stopping import stop, stoppable
from ..types import (
    FileType,
    TimeType,
    dialects_option,
    format_option,
    sitemap_option,
    unique_dialects,
)

_ANY_AGENT = "*"

#: The address of a site, or of its robots.txt.
_IS_SITE = re.compile(r"[^/]*//[^/?#]*(/|/robots\.txt)?\Z")


@command(
    "check",
    "0 all allowed, 1 something blocked, 2 wrong usage, 3 something could not be read, or there "
    "were no URLs",
)
@click.argument("urls", nargs=-1, metavar="URL...")
@click.option(
    "--agent",
    "-a",
    "agents",
    multiple=True,
    type=CrawlerType(),
    metavar="NAME",
    panel=INPUT,
    help="The crawler: a product token or User-Agent header. Repeatable. Default: * (crawlers "
    "without a group of their own).",
)
@click.option(
    "--robots",
    "paths",
    multiple=True,
    type=FileType(),
    metavar="FILE",
    panel=INPUT,
    help="The robots.txt to use, in place of each site's own: a file, a site, or -. Repeatable.",
)
@click.option(
    "--urls",
    "lists",
    multiple=True,
    type=FileType(),
    metavar="FILE",
    panel=INPUT,
    help="A file of URLs, one a line; - for standard input. Repeatable.",
)
@sitemap_option("Check all URLs")
@dialects_option("How to read the file", f", side by side. Repeatable. Default: {RFC9309}.")
@click.option(
    "--at",
    "moment",
    type=TimeType(),
    metavar="TIME",
    panel=RULES,
    help="Also show visit times and pace at a UTC time: now, 09:30 or 2026-11-21T09:30.",
)
@format_option(CheckResults, "Format")
@fetch_options.fetching_options
@stoppable
def check(
    urls: tuple[str, ...],
    paths: tuple[str, ...],
    agents: tuple[str, ...],
    lists: tuple[str, ...],
    sitemaps: tuple[str, ...],
    dialects: tuple[tuple[Dialect, ...], ...],
    moment: datetime | None,
    form: str,
    settings: fetch_options.FetchOptions,
) -> None:
    """Check whether crawlers may fetch URLs, and which line of robots.txt decides.

    URL is on the site whose robots.txt is fetched. With --robots, it may be a path.
    """
    _check_usage(urls, paths, (*lists, *sitemaps))
    chosen = unique_dialects(dialects) or (RFC9309,)
    files, complete = _read_each(file_access.read_lines, lists)
    all_urls = (
        *map(file_access.escape_surrogates, urls),
        *(url for _, lines in files for url in lines),
    )
    agents = agents or (_ANY_AGENT,)
    warn_of_unknown(agents)
    known = None
    if paths:
        _warn_without_scheme(urls)
        questions, all_read = _questions_for_files(paths, chosen, settings, agents, all_urls)
    else:
        asked = _questions_for_sites(chosen, settings, agents, all_urls, urls)
        questions, all_read = list(asked.questions.values()), asked.is_complete
        known = asked.questions
        if asked.unfinished:
            if questions or form != "text":
                render(CheckResults(Tally(answers(questions)), questions, moment), form)
            stop(len(questions), len(questions) + asked.unfinished, "site")
    warn_of_ignoring(agents, (each.robots for file in questions for each in file.readings))
    if sitemaps:
        from .. import sitemap_answers
        from ..sitemaps import sites_of

        ask = functools.partial(_ask, chosen, settings, agents)
        ask_others = functools.partial(_ask, chosen, replace(settings, headers={}), agents)
        sites = None if known is None else sitemap_answers.KnownSites(known, ask, ask_others)
        named = sites_of((*all_urls, *paths, *sitemaps)) if settings.headers else frozenset()
        done = sitemap_answers.answer(sitemaps, questions, sites, settings, moment, form, named)
        is_blocked, all_read = done.is_blocked, all_read and done.is_complete
    else:
        is_blocked = _print_answers(questions, moment, form)
    asked_files = questions if known is None else known.values()
    outcomes = (each.outcome for file in asked_files for each in file.readings)
    statuses.explain((each for each in outcomes if each is not None), settings)
    if not (all_urls or (sitemaps and done.urls)):
        screen.complain("no URLs to check")
        complete = False
    if not (complete and all_read):
        sys.exit(3)
    sys.exit(1 if is_blocked else 0)


def _print_answers(questions: list[FileQuestions], moment: datetime | None, form: str) -> bool:
    """Print the answers; return whether a crawler may not fetch some URL."""
    tally = Tally(answers(questions))
    try:
        render(CheckResults(tally, questions, moment), form)
    except KeyboardInterrupt:
        total = sum(len(x.readings) * len(x.agents) * len(x.urls) for x in questions)
        stop(tally.allowed + tally.blocked, total, "answer")
    return tally.blocked > 0


def _check_usage(urls: tuple[str, ...], paths: tuple[str, ...], lists: tuple[str, ...]) -> None:
    """Check arguments and options; ``lists`` are files of URLs and sitemaps.

    Raises:
        click.UsageError: they do not go together.
    """
    if not urls and not lists:
        raise click.UsageError(
            "no URLs given: name them, a file of them with --urls FILE, or a sitemap with --sitemap"
        )
    if (*paths, *lists).count(file_access.STDIN) > 1:
        raise click.UsageError("standard input (-) can be read only once")


def _warn_without_scheme(urls: tuple[str, ...]) -> None:
    """Warn of paths that are probably hosts without a scheme."""
    for url in urls:
        if not url.startswith(("/", "*", "?")) and "://" not in url:
            screen.complain(f"{url}: has no scheme; read as the path /{url}")


def _questions_for_files(
    paths: tuple[str, ...],
    dialects: tuple[Dialect, ...],
    settings: fetch_options.FetchOptions,
    agents: tuple[str, ...],
    urls: tuple[str, ...],
) -> tuple[list[FileQuestions], bool]:
    """Return a question about all URLs for each file, and whether all files could be read."""
    questions = []
    complete = True
    for path in paths:
        if path.lower().startswith(("https://", "http://")):
            if not _IS_SITE.match(path):
                screen.complain(f"{path}: a site's robots.txt is at /robots.txt; using that")
            asked = _questions_for_sites(dialects, settings, agents, (path,), (path,))
            if asked.unfinished:
                raise KeyboardInterrupt
            questions += [
                replace(each, urls=urls, own_name="") for each in asked.questions.values()
            ]
            complete = complete and asked.is_complete
            continue
        files, is_read = _read_each(reading.read_file, (path,))
        complete = complete and is_read
        for name, file in files:
            reading.warn_if_unreadable(file)
            readings = tuple(FileReading(file.robots(dialect)) for dialect in dialects)
            questions.append(FileQuestions(file_access.shown_name(name), readings, agents, urls))
    return questions, complete


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question for each site, by its origin.

    ``is_complete``: all files could be read. ``unfinished``: the sites that Ctrl-C left.
    """

    questions: dict[str, FileQuestions]
    is_complete: bool
    unfinished: int


def _ask(
    dialects: tuple[Dialect, ...],
    settings: fetch_options.FetchOptions,
    agents: tuple[str, ...],
    urls: tuple[str, ...],
) -> tuple[dict[str, FileQuestions], bool]:
    """Return a question for each site, by its origin, and whether all files could be read."""
    asked = _questions_for_sites(dialects, settings, agents, urls)
    if asked.unfinished:
        raise KeyboardInterrupt
    return asked.questions, asked.is_complete


def _questions_for_sites(
    dialects: tuple[Dialect, ...],
    settings: fetch_options.FetchOptions,
    agents: tuple[str, ...],
    urls: tuple[str, ...],
    arguments: tuple[str, ...] = (),
) -> _Asked:
    """Return a question for each site.

    Raises:
        click.UsageError: a URL in ``arguments`` has no origin. In a file that is only an error.
    """
    from ...access import HTML_PAGE
    from .. import fetching

    sites: dict[str, list[str]] = {}
    complete = True
    for url in urls:
        try:
            sites.setdefault(fetching.origin_of(url), []).append(url)
        except UrlError as error:
            if url in arguments:
                raise click.UsageError(_hint(url, error)) from error
            screen.complain(str(error))
            complete = False
    questions = {}
    fetched = fetching.fetch_all(list(sites), dialects, settings)
    for (site, site_urls), outcomes in zip(sites.items(), fetched, strict=True):
        if outcomes is None:
            continue
        readings = tuple(map(reading_of, outcomes))
        url = outcomes[0].url
        if outcomes[0].is_html:
            screen.complain(f"{url}: is {HTML_PAGE}; crawlers find no rules in it")
        own_name = "robots.txt" if url == f"{outcomes[0].origin}/robots.txt" else url
        name = printable(url)
        questions[site] = FileQuestions(name, readings, agents, tuple(site_urls), own_name)
        complete = complete and not any(each.reason is Reason.UNREACHABLE for each in outcomes)
    return _Asked(questions, complete, len(sites) - len(questions))


def _hint(url: str, error: UrlError) -> str:
    """Return the error for a URL without an origin, with what was probably meant."""
    if url == file_access.STDIN:
        return "to read URLs from standard input: --urls -"
    file = "to check paths against a file, use --robots FILE"
    if "://" in url or url.startswith(("/", ".", "?", "*")):
        return f"{error}; {file}"
    return f"{url} has no scheme. Did you mean https://{url}? Or, {file}"


def _read_each(
    read: Callable[[str], Any], paths: Iterable[str]
) -> tuple[list[tuple[str, Any]], bool]:
    """Read files; print an error for each that fails. Also returns whether none did."""
    found = []
    complete = True
    for path in paths:
        try:
            found.append((path, read(path)))
        except UnreadableError as error:
            screen.complain(str(error))
            complete = False
    return found, complete

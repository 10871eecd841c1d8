"""``koster check``: may these crawlers fetch these URLs, and which line says so?"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import rich_click as click

from .. import crawlers
from ..dialects import RFC9309, Dialect
from ..errors import UnreadableError, UrlError
from ..model import Reason
from ..reports import screen
from ..reports.answers import Question, Reading, Tally, answers, reading_of
from ..reports.check import Answers
from ..reports.plain import printable
from ..reports.registry import render
from ..robots import parse
from . import _files, _inputs, _sites
from ._types import TimeType, dialects_option, format_option, unique_dialects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

_ANY_AGENT = "*"

#: The address of a site, or of its robots.txt.
_IS_SITE = re.compile(r"[^/]*//[^/?#]*(/|/robots\.txt)?\Z")


@click.command(options_metavar="[OPTIONS]")
@click.argument("urls", nargs=-1, metavar="URL...")
@click.option(
    "--robots",
    "paths",
    multiple=True,
    metavar="FILE",
    help="The robots.txt to use in place of each site's own: a file, - for standard input, or "
    "the address of a site. Repeatable.",
)
@click.option(
    "--agent",
    "-a",
    "agents",
    multiple=True,
    metavar="NAME",
    help="The crawler: a product token or a User-Agent header (GOOGLE: only a token). "
    "Repeatable; default: * (crawlers without a group of their own).",
)
@click.option(
    "--urls",
    "lists",
    multiple=True,
    metavar="FILE",
    help="A file with more URLs, one a line; - for standard input. Repeatable.",
)
@dialects_option("How to read the file", f", side by side. Repeatable; default: {RFC9309}.")
@click.option(
    "--at",
    "moment",
    type=TimeType(),
    metavar="TIME",
    help="Show visit times and rates, too, at this time: ISO 8601, HH:MM, or now; UTC.",
)
@format_option(Answers, "How to print the answers.")
@_sites.fetching_options
@_sites.stoppable
def check(
    urls: tuple[str, ...],
    paths: tuple[str, ...],
    agents: tuple[str, ...],
    lists: tuple[str, ...],
    dialects: tuple[tuple[Dialect, ...], ...],
    moment: datetime | None,
    form: str,
    settings: _sites.Settings,
) -> None:
    """May these crawlers fetch these URLs, and which line says so?

    The robots.txt of each URL's own site is fetched. With --robots a file is used in its place, and
    a URL may be a path such as /private?x=1.

    Examples: koster check --agent FooBot https://example.com/private; koster check --robots
    robots.txt --agent FooBot /private

    Exit codes: 0 all allowed, 1 something disallowed, 2 wrong usage, 3 something could not be
    read; the rest is answered.
    """
    _check_usage(urls, paths, lists)
    chosen = unique_dialects(dialects) or (RFC9309,)
    files, complete = _read_each(_files.read_lines, lists)
    all_urls = (*map(_files.escape_surrogates, urls), *(url for _, lines in files for url in lines))
    agents = agents or (_ANY_AGENT,)
    _warn_of_brands(agents)
    if paths:
        _warn_without_scheme(urls)
        questions, all_read = _questions_for_files(paths, chosen, settings, agents, all_urls)
    else:
        questions, all_read = _questions_for_sites(chosen, settings, agents, all_urls, urls)
    if not all_urls:
        screen.complain("no URLs to check")
    tally = Tally(answers(questions))
    render(Answers(tally, questions, moment), form)
    if not (complete and all_read):
        sys.exit(3)
    sys.exit(1 if tally.disallowed else 0)


def _warn_of_brands(agents: tuple[str, ...]) -> None:
    """Suggest crawlers for agents that are companies or products: no group applies to those."""
    for agent in agents:
        if crawlers.is_brand(agent):
            names = ", ".join(crawlers.suggestions(agent))
            screen.complain(f"{agent} is not the name of a crawler; did you mean {names}?")


def _check_usage(urls: tuple[str, ...], paths: tuple[str, ...], lists: tuple[str, ...]) -> None:
    """Check arguments and options.

    Raises:
        click.UsageError: they do not go together.
    """
    if not urls and not lists:
        raise click.UsageError("no URLs given: name them, or a file of them with --urls FILE")
    if (*paths, *lists).count(_files.STDIN) > 1:
        raise click.UsageError("standard input (-) can be read only once")


def _warn_without_scheme(urls: tuple[str, ...]) -> None:
    """Warn of paths that are probably hosts without a scheme."""
    for url in urls:
        if not url.startswith(("/", "*", "?")) and "://" not in url:
            screen.complain(f"{url}: has no scheme; read as the path /{url}")


def _questions_for_files(
    paths: tuple[str, ...],
    dialects: tuple[Dialect, ...],
    settings: _sites.Settings,
    agents: tuple[str, ...],
    urls: tuple[str, ...],
) -> tuple[list[Question], bool]:
    """Return a question about all URLs for each file, and whether all files could be read."""
    questions = []
    complete = True
    for path in paths:
        if path.lower().startswith(("https://", "http://")):
            if not _IS_SITE.match(path):
                screen.complain(f"{path}: a site's robots.txt is at /robots.txt; using that")
            found, is_read = _questions_for_sites(dialects, settings, agents, (path,), (path,))
            questions += [replace(question, urls=urls, own_name="") for question in found]
            complete = complete and is_read
            continue
        files, is_read = _read_each(_inputs.read_file, (path,))
        complete = complete and is_read
        for name, file in files:
            _inputs.warn_if_unreadable(file)
            readings = tuple(Reading(parse(file.body, dialect)) for dialect in dialects)
            questions.append(Question(_files.shown_name(name), readings, agents, urls))
    return questions, complete


def _questions_for_sites(
    dialects: tuple[Dialect, ...],
    settings: _sites.Settings,
    agents: tuple[str, ...],
    urls: tuple[str, ...],
    arguments: tuple[str, ...],
) -> tuple[list[Question], bool]:
    """Return a question for each site, and whether all files could be read.

    Raises:
        click.UsageError: a URL in ``arguments`` has no origin. In a file that is only an error.
    """
    sites: dict[str, list[str]] = {}
    complete = True
    for url in urls:
        try:
            sites.setdefault(_sites.origin_of(url), []).append(url)
        except UrlError as error:
            if url in arguments:
                raise click.UsageError(_hint(url, error)) from error
            screen.complain(str(error))
            complete = False
    questions = []
    for outcomes, site_urls in zip(
        _sites.fetch_all(list(sites), dialects, settings), sites.values(), strict=True
    ):
        readings = tuple(map(reading_of, outcomes))
        url = outcomes[0].url
        own_name = "robots.txt" if url == f"{outcomes[0].origin}/robots.txt" else url
        questions.append(Question(printable(url), readings, agents, tuple(site_urls), own_name))
        complete = complete and not any(each.reason is Reason.UNREACHABLE for each in outcomes)
    return questions, complete


def _hint(url: str, error: UrlError) -> str:
    """Return the error for a URL without an origin, with what was probably meant."""
    if url == _files.STDIN:
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

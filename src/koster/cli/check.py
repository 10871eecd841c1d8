"""``koster check``: may these robots fetch these URLs, and which line says so?"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import rich_click as click

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
from ._types import MomentType, dialects_option, flattened, format_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

_EVERYBODY = "*"

#: The address of a site, or of its robots.txt.
_IS_SITE = re.compile(r"[^/]*//[^/?#]*(/|/robots\.txt)?\Z")


@click.command(options_metavar="[OPTIONS]")
@click.argument("urls", nargs=-1, metavar="URL...")
@click.option(
    "--robots",
    "paths",
    multiple=True,
    metavar="FILE",
    help="The robots.txt to ask in place of each site's own: a file, - for standard input, or "
    "the address of a site. Repeatable.",
)
@click.option(
    "--agent",
    "-a",
    "agents",
    multiple=True,
    metavar="NAME",
    help="The robot: a product token or a whole User-Agent header (GOOGLE: the token alone). "
    "Repeatable; without it, everybody (*).",
)
@click.option(
    "--urls",
    "lists",
    multiple=True,
    metavar="FILE",
    help="A file with more URLs, one a line; - for standard input. Repeatable.",
)
@dialects_option("How to read the file", f", side by side. Repeatable; without it, {RFC9309}.")
@click.option(
    "--at",
    "moment",
    type=MomentType(),
    metavar="TIME",
    help="Ask about visit times and rates, too, at this time: ISO 8601, HH:MM, or now; UTC.",
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
    timeout: float,
    cache: str | None,
    user_agent: str,
) -> None:
    """May these robots fetch these URLs, and which line says so?

    Each URL's own site is asked for its robots.txt. With --robots a file is asked in its place, and
    a URL may be a path such as /private?x=1.

    Examples: koster check --agent FooBot https://example.com/private; koster check --robots
    robots.txt --agent FooBot /private

    Exit codes: 0 all allowed, 1 something disallowed, 2 wrong usage, 3 something could not be
    read; the rest is done all the same.
    """
    _check_usage(urls, paths, lists)
    chosen = flattened(dialects) or (RFC9309,)
    more, complete = _gather(_files.read_lines, lists)
    asked = (*map(_files.bytes_escaped, urls), *(url for _, lines in more for url in lines))
    who = agents or (_EVERYBODY,)
    settings = _sites.Settings(timeout, cache, user_agent)
    if paths:
        _warn_about(urls)
        questions, all_read = _about_files(paths, chosen, settings, who, asked)
    else:
        questions, all_read = _about_sites(chosen, settings, who, asked, urls)
    if not asked:
        screen.complain("there are no URLs to ask about")
    tally = Tally(answers(questions))
    render(Answers(tally, questions, moment), form)
    if not (complete and all_read):
        sys.exit(3)
    sys.exit(1 if tally.disallowed else 0)


def _check_usage(urls: tuple[str, ...], paths: tuple[str, ...], lists: tuple[str, ...]) -> None:
    """Complain about what cannot be done.

    Raises:
        click.UsageError: with what is wrong.
    """
    if not urls and not lists:
        raise click.UsageError("nothing to ask: give URLs, or a file of them with --urls FILE")
    if (*paths, *lists).count(_files.STDIN) > 1:
        raise click.UsageError("standard input (-) can be read only once")


def _warn_about(urls: tuple[str, ...]) -> None:
    """Say what was hardly meant: a host without a scheme."""
    for url in urls:
        if not url.startswith(("/", "*", "?")) and "://" not in url:
            screen.complain(f"{url}: has no scheme, and is read as the path /{url}")


def _about_files(
    paths: tuple[str, ...],
    dialects: tuple[Dialect, ...],
    settings: _sites.Settings,
    agents: tuple[str, ...],
    urls: tuple[str, ...],
) -> tuple[list[Question], bool]:
    """Ask files about all URLs. Tells whether all could be read."""
    questions = []
    complete = True
    for path in paths:
        if path.lower().startswith(("https://", "http://")):
            if not _IS_SITE.match(path):
                screen.complain(f"{path}: a site's robots.txt is at /robots.txt, which is asked")
            found, had = _about_sites(dialects, settings, agents, (path,), (path,))
            questions += [replace(question, urls=urls, own_name="") for question in found]
            complete = complete and had
            continue
        files, had = _gather(_inputs.read_file, (path,))
        complete = complete and had
        for name, given in files:
            _inputs.warn_of_no_text(given)
            readings = tuple(Reading(parse(given.body, dialect)) for dialect in dialects)
            questions.append(Question(_files.shown_name(name), readings, agents, urls))
    return questions, complete


def _about_sites(
    dialects: tuple[Dialect, ...],
    settings: _sites.Settings,
    agents: tuple[str, ...],
    urls: tuple[str, ...],
    typed: tuple[str, ...],
) -> tuple[list[Question], bool]:
    """Ask each URL's own site. Tells whether all could be read.

    Raises:
        click.UsageError: one that was typed belongs to no site.
    """
    sites: dict[str, list[str]] = {}
    complete = True
    for url in urls:
        try:
            sites.setdefault(_sites.origin_of(url), []).append(url)
        except UrlError as error:
            if url in typed:
                raise click.UsageError(_hint(url, error)) from error
            screen.complain(str(error))
            complete = False
    questions = []
    for outcomes, asked in zip(
        _sites.fetched(list(sites), dialects, settings), sites.values(), strict=True
    ):
        readings = tuple(map(reading_of, outcomes))
        url = outcomes[0].url
        own = "robots.txt" if url == f"{outcomes[0].origin}/robots.txt" else url
        questions.append(Question(printable(url), readings, agents, tuple(asked), own))
        complete = complete and not any(each.reason is Reason.UNREACHABLE for each in outcomes)
    return questions, complete


def _hint(url: str, error: UrlError) -> str:
    """Return what may be meant by what belongs to no site."""
    if url == _files.STDIN:
        return "to read URLs from standard input: --urls -"
    file = "to ask a file about paths, name it with --robots FILE"
    if "://" in url or url.startswith(("/", ".", "?", "*")):
        return f"{error}; {file}"
    return f"{url} has no scheme: is it https://{url}? Else, {file}"


def _gather(read: Callable[[str], Any], paths: Iterable[str]) -> tuple[list[tuple[str, Any]], bool]:
    """Read files; complain about those that cannot be read. Tells whether all could."""
    found = []
    complete = True
    for path in paths:
        try:
            found.append((path, read(path)))
        except UnreadableError as error:
            screen.complain(str(error))
            complete = False
    return found, complete

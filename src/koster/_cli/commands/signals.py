"""``koster signals``: everything a site says about the use of a page."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import rich_click as click

from ..._reports import screen
from ..._reports.registry import render
from ..._reports.signals import PageSignals
from ...dialects import Dialect
from ...errors import MissingExtraError, UnreadableError, UrlError
from ...signals import Signals, Stated, Use
from ...signals import signals as signals_of
from .. import fetch_options, file_access, reading
from ..help import INPUT, OUTPUT, RULES, command
from ..names import CrawlerType, check_crawlers, warn_of_unknown
from ..stopping import stoppable
from ..types import FileType, HeaderType, dialect_option, format_option

_STATUSES = (
    "0 stated yes, or done without --use, 1 no, conflict, unstated or undecided, 2 wrong usage, "
    "3 a source could not be read"
)
_USES = [each.value for each in Use]


@dataclass(frozen=True, slots=True)
class Files:
    """The files to read in place of a site, for the page with a URL."""

    url: str | None
    robots: str | None
    html: str | None
    tdmrep: str | None
    licenses: tuple[str, ...]

    @property
    def has_any(self) -> bool:
        """Whether there is a file."""
        return any((self.robots, self.html, self.tdmrep, self.licenses))


def _file_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for files to a command, which gets them as ``files``."""

    @functools.wraps(function)
    def with_files(
        *args: Any,
        page_url: str | None,
        robots: str | None,
        html: str | None,
        tdmrep: str | None,
        licenses: tuple[str, ...],
        **kwargs: Any,
    ) -> Any:
        return function(*args, files=Files(page_url, robots, html, tdmrep, licenses), **kwargs)

    for name, parameter, what in (
        ("--license", "licenses", "A license (RSL) that applies to the page. Repeatable."),
        ("--tdmrep", "tdmrep", "The tdmrep.json of the site."),
        ("--html", "html", "The page."),
        ("--robots", "robots", "The robots.txt."),
    ):
        with_files = click.option(
            name, parameter, type=FileType(), metavar="FILE", panel=INPUT, help=what,
            multiple=parameter == "licenses",
        )(with_files)  # fmt: skip
    return click.option(
        "--url", "page_url", metavar="URL", panel=INPUT,
        help="Fetch nothing: read these files, for the page with this URL or path.",
    )(with_files)  # fmt: skip


@command("signals", _STATUSES)
@click.argument("urls", metavar="[URL]...", nargs=-1)
@_file_options
@click.option(
    "--header", "header_lines", multiple=True, type=HeaderType(), metavar="HEADER", panel=INPUT,
    help='With --url, "NAME: VALUE" of the response; else one to send to the sites. Repeatable.',
)  # fmt: skip
@click.option(
    "-c", "--crawler", "crawlers", multiple=True, metavar="NAME", type=CrawlerType(), panel=RULES,
    help="Answer for this crawler. Repeatable. Default: everybody, and those that files name.",
)  # fmt: skip
@click.option(
    "-u", "--use", "uses", multiple=True, panel=RULES, metavar="USE",
    type=click.Choice([*_USES, "index", "train-ai"], case_sensitive=False),
    help=f"Only this use; exit with 1 unless everybody, or --crawler, has yes: {', '.join(_USES)}.",
)  # fmt: skip
@dialect_option("How to read the robots.txt")
@click.option(
    "--unstated-ok", is_flag=True, panel=OUTPUT, help="Also exit with 0 if nothing is stated."
)
@format_option(PageSignals, "Format")
@fetch_options.fetching_options_but_header
@stoppable
def signals(
    urls: tuple[str, ...],
    files: Files,
    header_lines: tuple[tuple[str, str], ...],
    crawlers: tuple[str, ...],
    uses: tuple[str, ...],
    dialect: Dialect,
    unstated_ok: bool,
    form: str,
    settings: fetch_options.FetchOptions,
) -> None:
    """Show everything that a site says about the use of a page, and where.

    Reads the robots.txt, response headers, HTML, tdmrep.json and licenses. What they state are
    preferences; nothing here is a legal verdict.
    """
    _check_usage(urls, files, crawlers)
    if files.url is not None and not files.has_any and not header_lines:
        raise click.UsageError("with --url nothing is fetched: add --robots, --header or --html")
    warn_of_unknown(crawlers)
    now = datetime.now(UTC)
    try:
        if files.url is None:
            settings = replace(settings, headers=fetch_options.unique_headers(header_lines))
            pages = _fetched(urls, dialect, settings, crawlers, now)
        else:
            pages = [_read(files.url, files, header_lines, crawlers, dialect, settings, now)]
    except MissingExtraError as error:
        screen.complain(str(error))
        sys.exit(2)
    except UnreadableError as error:
        reading.complain(error)
        sys.exit(3)
    chosen = tuple(dict.fromkeys(map(Use, uses)))
    fetched = None if files.url is not None else now.isoformat(timespec="seconds")
    render(PageSignals(tuple(pages), fetched, chosen), form)
    sys.exit(_status(pages, chosen, crawlers, unstated_ok))


def _read(
    url: str,
    files: Files,
    headers: tuple[tuple[str, str], ...],
    crawlers: tuple[str, ...],
    dialect: Dialect,
    settings: fetch_options.FetchOptions,
    now: datetime,
) -> Signals:
    """Return what files say about a page.

    Raises:
        UnreadableError: a file cannot be read.
    """
    robots = None
    if files.robots is not None:
        source = reading.read_one(files.robots, settings, dialect)
        reading.warn_if_unreadable(source)
        robots = source.robots(dialect)
    return signals_of(
        url,
        robots=robots,
        headers=headers,
        html=_content(files.html),
        tdmrep=_content(files.tdmrep),
        licenses={path: _content(path) or b"" for path in files.licenses},
        crawlers=crawlers,
        now=now,
        dialect=dialect,
    )


def _check_usage(urls: tuple[str, ...], files: Files, crawlers: tuple[str, ...]) -> None:
    """Check what the command line has.

    Raises:
        click.UsageError: the page is missing, files do not fit, or a name is not a crawler's.
    """
    if files.url is None and files.has_any:
        raise click.UsageError("files need --url: the URL or path of the page")
    if files.url is not None and urls:
        raise click.UsageError("with --url nothing is fetched: name no other URL")
    if files.url is None and not urls:
        raise click.UsageError("name the URL of a page, or --url and files")
    paths = [files.robots, files.html, files.tdmrep, *files.licenses]
    if paths.count(file_access.STDIN) > 1:
        raise click.UsageError("standard input (-) can be read only once")
    if files.robots is not None and reading.is_site(files.robots):
        raise click.UsageError("--robots is a file: with --url nothing is fetched")
    if files.url is not None and not files.url.startswith("/"):
        _check_url(files.url)
    check_crawlers(crawlers)


def _check_url(url: str) -> None:
    """Check the URL of a page in files.

    Raises:
        click.UsageError: it has no scheme or host.
    """
    from ...origins import origin_of

    try:
        origin_of(url)
    except UrlError as error:
        raise click.UsageError(
            f"--url needs a URL, or a path that starts with /: {error}"
        ) from error


def _content(path: str | None) -> bytes | None:
    """Return the content of a file.

    Raises:
        UnreadableError: it cannot be read.
    """
    if path is None:
        return None
    with file_access.opened(path) as file:
        return file.read()


def _fetched(
    urls: tuple[str, ...],
    dialect: Dialect,
    settings: fetch_options.FetchOptions,
    crawlers: tuple[str, ...],
    now: datetime,
) -> list[Signals]:
    """Return what sites say about pages.

    Raises:
        click.UsageError: a URL is invalid.
    """
    from ...fetch._page_signals import SiteFiles, fetch_signals
    from ..fetching import fetch_all, origin_of
    from ..sitemaps import open_downloads

    try:
        sites = [origin_of(url) for url in urls]
    except UrlError as error:
        raise click.UsageError(str(error)) from error
    outcomes = fetch_all(list(dict.fromkeys(sites)), (dialect,), settings)
    by_site = dict(zip(dict.fromkeys(sites), outcomes, strict=True))
    pages = []
    files: dict[str, SiteFiles] = {}
    with closing(open_downloads(settings, sites, is_guarded=True)) as downloads:
        for url, site in dict(zip(urls, sites, strict=True)).items():
            found = by_site[site]
            if found is None:
                sys.exit(130)
            agent = settings.user_agent
            pages.append(
                fetch_signals(
                    url, found[0], downloads, agent=agent, sites=files, crawlers=crawlers, now=now
                )
            )
    return pages


def _status(
    pages: list[Signals], uses: tuple[Use, ...], crawlers: tuple[str, ...], unstated_ok: bool
) -> int:
    """Return the exit code."""
    if any(page.unread for page in pages):
        return 3
    accepted = {Stated.YES, Stated.UNSTATED} if unstated_ok else {Stated.YES}
    answers = (
        page.of(use, who).stated for page in pages for use in uses for who in crawlers or ("",)
    )
    return 0 if accepted.issuperset(answers) else 1

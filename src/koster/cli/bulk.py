"""``koster bulk``: whole archives and tables of robots.txt files."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import rich_click as click

from ..crawlers import known
from ..errors import KosterError, MissingExtraError, UnreadableError
from ..expectations import ExpectationsError, robots_meant
from ..reports import screen
from ..reports.bulk import Shares, as_csv, as_page
from ..reports.plain import counted, printable
from ..reports.registry import render
from . import _files, _sites, _writing
from ._types import dialect_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..bulk import runs
    from ..bulk.runs import Input
    from ..dialects import Dialect

#: Bad records of an input that are printed; the shard lists more.
_PRINTED = 3

#: Who is meant by ``--agents known``.
_KNOWN = "known"


@click.group()
def bulk() -> None:
    """Ask about whole archives: WARC files, Parquet, JSON lines and CSV, on all cores.

    The answers are a folder of Parquet files, one for each input. A run that was killed goes on
    where it was.

    Exit codes: 0 all was read, 1 some records could not be read, 2 wrong usage, 3 an input could
    not be read or the answers not be written.
    """


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of all of these."""
    for option in (
        _sites.stoppable,
        click.option("--quiet", "-q", is_flag=True, help="Print troubles alone."),
        click.option(
            "--jobs",
            "-j",
            type=click.IntRange(1, 1024),
            metavar="N",
            help="How many cores to use; all of them, unless it is said.",
        ),
        click.option(
            "--body",
            metavar="COLUMN",
            help="The column of robots.txt files in tables: body, text, content, robots_txt or "
            "robots, unless it is said.",
        ),
        dialect_option("How to read the files"),
        click.option(
            "--output",
            "-o",
            required=True,
            type=click.Path(file_okay=False),
            metavar="OUT.parquet",
            help="The folder for the answers, which engines read as one table.",
        ),
        click.argument("inputs", nargs=-1, required=True, metavar="INPUT..."),
    ):
        command = option(command)
    return command


def _agent_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say who asks."""
    for option in (
        click.option(
            "--agents",
            "lists",
            multiple=True,
            metavar="FILE",
            help="A file of agents, one a line; known: all crawlers that koster knows. Repeatable.",
        ),
        click.option(
            "--agent",
            "-a",
            "agents",
            multiple=True,
            metavar="NAME",
            help="Who asks: a product token, a User-Agent header, or as @training all known "
            "crawlers with a purpose. Repeatable.",
        ),
    ):
        command = option(command)
    return command


@bulk.command(options_metavar="[OPTIONS]")
@_options
@_agent_options
def classify(
    inputs: Sequence[str],
    output: str,
    agents: Sequence[str],
    lists: Sequence[str],
    dialect: Dialect,
    body: str | None,
    jobs: int | None,
    quiet: bool,
) -> None:
    """Say how much of each site is disallowed for each agent: all, some or none.

    INPUT is a WARC file, Parquet, JSON lines or CSV, or a folder of them. The answers are in the
    column robots: a list with agent, written (a group names it), effective and line.

    Example: koster bulk classify crawl/*.warc.gz --agents known -o classified.parquet

    Exit codes: 0 all was read, 1 some records could not be read, 2 wrong usage, 3 an input could
    not be read or the answers not be written.
    """
    runs = _runs()
    asked = _asked(agents, lists)
    if not asked:
        raise click.UsageError("name somebody who asks: --agent NAME, or --agents known")
    columns = runs.Columns(body=body)
    question = runs.Question("classify", asked, dialect=dialect.name, columns=columns)
    _run(question, *_found(inputs), output, jobs, is_quiet=quiet)


@bulk.command(options_metavar="[OPTIONS]")
@_options
@_agent_options
@click.option(
    "--url",
    "urls",
    multiple=True,
    metavar="URL",
    help="A URL, or a path, that is asked of every site, in place of a column. Repeatable.",
)
@click.option(
    "--url-column", metavar="COLUMN", help="The column of URLs in tables: url, unless it is said."
)
@click.option(
    "--agent-column",
    metavar="COLUMN",
    help="The column of agents in tables: agent, unless it or an agent is said.",
)
def decide(
    inputs: Sequence[str],
    output: str,
    agents: Sequence[str],
    lists: Sequence[str],
    urls: Sequence[str],
    url_column: str | None,
    agent_column: str | None,
    dialect: Dialect,
    body: str | None,
    jobs: int | None,
    quiet: bool,
) -> None:
    """Say of each row whether an agent may fetch a URL, and which line says so.

    INPUT is a WARC file, Parquet, JSON lines or CSV, or a folder of them. The answers are in the
    column decision: allowed, reason, line and pattern.

    Example: koster bulk decide pages.parquet --agent GPTBot -o decided.parquet

    Exit codes: 0 all was read, 1 some records could not be read, 2 wrong usage, 3 an input could
    not be read or the answers not be written.
    """
    runs = _runs()
    asked = _asked(agents, lists)
    if urls and url_column:
        raise click.UsageError("--url or --url-column, not both")
    if asked and agent_column:
        raise click.UsageError("--agent or --agent-column, not both")
    columns = runs.Columns(
        body=body,
        url=None if urls else url_column or "url",
        agent=None if asked else agent_column or "agent",
    )
    found, troubles = _found(inputs)
    if any(each.kind == "warc" for each in found):
        if not urls:
            raise click.UsageError("which URLs of each site? An archive needs --url, as in --url /")
        if not asked:
            raise click.UsageError("who asks? An archive needs --agent NAME, or --agents known")
    question = runs.Question("decide", asked, tuple(urls), dialect.name, columns)
    _run(question, found, troubles, output, jobs, is_quiet=quiet)


@bulk.command(options_metavar="[OPTIONS]")
@_options
def facts(
    inputs: Sequence[str],
    output: str,
    dialect: Dialect,
    body: str | None,
    jobs: int | None,
    quiet: bool,
) -> None:
    """Say what stands in each file: groups, agents, sitemaps, delays, preferences, odd things.

    INPUT is a WARC file, Parquet, JSON lines or CSV, or a folder of them. The answers are in the
    column facts.

    Example: koster bulk facts crawl/ -o facts.parquet

    Exit codes: 0 all was read, 1 some records could not be read, 2 wrong usage, 3 an input could
    not be read or the answers not be written.
    """
    runs = _runs()
    question = runs.Question("facts", dialect=dialect.name, columns=runs.Columns(body=body))
    _run(question, *_found(inputs), output, jobs, is_quiet=quiet)


def _asked(agents: Sequence[str], lists: Sequence[str]) -> tuple[str, ...]:
    """Return who asks, each once."""
    found: list[str] = []
    try:
        for agent in agents:
            found += robots_meant(agent)
        for path in lists:
            if path == _KNOWN:
                found += [each.token for each in known()]
            else:
                lines = _files.read_lines(path)
                found += [line for line in lines if not line.startswith("#")]
    except (ExpectationsError, MissingExtraError) as error:
        raise click.UsageError(str(error)) from error
    except UnreadableError as error:
        _fail(str(error))
    return tuple(dict.fromkeys(found))


def _found(paths: Sequence[str]) -> tuple[list[Input], list[str]]:
    """Return the inputs that are meant, and why others cannot be read."""
    troubles: list[str] = []
    return _runs().find_inputs(paths, troubles), troubles


def _runs() -> Any:
    """Return `koster.bulk.runs`, or say what it needs."""
    try:
        from ..bulk import runs
    except MissingExtraError as error:
        raise click.UsageError(str(error)) from error
    return runs


def _fail(why: str) -> NoReturn:
    screen.complain(why)
    sys.exit(3)


def _run(
    question: runs.Question,
    inputs: list[Input],
    troubles: list[str],
    output: str,
    jobs: int | None,
    *,
    is_quiet: bool,
) -> None:
    """Ask, tell what became of it, and exit with its code."""
    runs = _runs()
    for trouble in troubles:
        screen.complain(trouble)
    if not inputs:
        sys.exit(3)
    try:
        with _progress(inputs, is_quiet=is_quiet) as progress:
            done = runs.run(question, inputs, output, jobs, progress)
    except runs.ForeignFolderError as error:
        raise click.UsageError(printable(str(error))) from error
    except KosterError as error:
        _fail(str(error))
    _tell(done, output, is_quiet=is_quiet)
    if len({each.kind for each in inputs}) > 1 and not is_quiet:
        print("Inputs of several kinds have shards with other columns: read them by name")
    sys.exit(3 if troubles or done.failed else 1 if done.bad else 0)


def _tell(done: runs.Run, output: str, *, is_quiet: bool) -> None:
    """Print what a run did, and what it could not."""
    for each in done.shards:
        if each.why is not None:
            screen.complain(each.why)
        for what in each.listed[:_PRINTED]:
            screen.complain(f"{each.input}: {what}")
        if each.bad > _PRINTED:
            more = counted(each.bad - _PRINTED, "more record")
            screen.complain(f"{each.input}: {more} that could not be read")
    if is_quiet:
        return
    there = [each for each in done.shards if each.why is None]
    new = sum(each.is_new for each in there)
    rows = sum(each.rows for each in there if each.is_new)
    rate = f", {rows / done.seconds:,.0f} a second" if rows and done.seconds else ""
    if there:
        where = f"{counted(len(there), 'input')} in {printable(output)}"
        print(f"{counted(done.rows, 'answer')} from {where}")
        print(f"{rows:,} of them new, from {counted(new, 'input')}, in {done.seconds:,.1f} s{rate}")
    if done.bad:
        print(f"{counted(done.bad, 'record')} could not be read")
    if done.failed:
        print(f"no answers from {counted(len(done.failed), 'input')}")
    if done.others:
        others = counted(done.others, "more shard")
        print(f"{others} in the folder, of inputs that were not named this time")


@contextmanager
def _progress(inputs: list[Input], *, is_quiet: bool) -> Iterator[Any]:
    """Show how far the run is, to who looks: bytes read, their rate, and the time that is left."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    console = Console(stderr=True)
    if is_quiet or not console.is_terminal:
        yield None
        return
    bar = Progress(
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TextColumn("{task.fields[rows]:,} answers"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    total = sum(each.size for each in inputs)
    with bar:
        task = bar.add_task("", total=total, rows=0)

        def note(places: list[int], rows: list[int]) -> None:
            bar.update(task, completed=sum(places), rows=sum(rows))

        yield note


@bulk.command(options_metavar="[OPTIONS]")
@click.argument("answers", metavar="OUT.parquet")
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False),
    default="report.html",
    show_default=True,
    metavar="FILE",
    help="Where the page goes.",
)
@click.option("--csv", "table", metavar="FILE", help="Where the numbers go, besides.")
@click.option("--title", default="Who is shut out", show_default=True, help="The page's title.")
@_sites.stoppable
def report(answers: str, output: str, table: str | None, title: str) -> None:
    """Make a page, with pictures, of what classify found, and the numbers as CSV.

    How many sites disallow each crawler, all or in part, by what it fetches for, and crawl by crawl
    where there are several.

    Example: koster bulk report classified.parquet -o report.html --csv numbers.csv

    Exit codes: 0 done, 2 wrong usage, 3 the answers could not be read or the report not be written.
    """
    from datetime import date

    from .. import __version__

    _runs()
    from ..bulk import report as reports

    try:
        found = reports.report(answers)
        bad = f", {counted(found.bad, 'record')} of which could not be read" if found.bad else ""
        made = (
            f"{answers} ({counted(found.inputs, 'input')}{bad}), {date.today()}, "
            f"by koster {__version__}, read as {found.dialect}"
        )
        shares = Shares(found, title, made)
        _writing.replace(output, as_page(shares).encode("utf-8"))
        if table:
            _writing.replace(table, as_csv(found).encode("utf-8"))
    except KosterError as error:
        _fail(str(error))
    render(shares)
    print(f"{printable(output)}{f' and {printable(table)}' if table else ''}")

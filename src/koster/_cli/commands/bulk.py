"""``koster bulk``: whole archives and tables of robots.txt files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn

import rich_click as click

from ..._misuse import is_location
from ..._reports import screen
from ..._reports.plain import printable
from ..._reports.registry import render
from ..._wording import count_noun
from ...crawlers import UnknownPurposeError, expand_agent, known
from ...dialects import Dialect
from ...errors import KosterError, MissingExtraError, UnreadableError
from .. import file_access, writing
from ..extras import imported
from ..help import INPUT, OUTPUT, RULES, command, group
from ..names import CrawlerType, check_crawlers, warn_of_unknown
from ..progress import byte_progress
from ..stopping import stoppable
from ..types import DelimiterType, FileType, FolderType, dialect_option

if TYPE_CHECKING:
    from ...bulk import runs
    from ...bulk.runs import Input

#: The group of options that name columns of tables.
COLUMNS = "Columns of tables"

#: Bad records to print for each input; the shard lists more.
_MAX_PRINTED = 3

#: The value of ``--agents`` for all known crawlers.
_KNOWN = "known"


_CODES = (
    "0 all was read, 1 some records could not be read, 2 wrong usage, 3 an input or the answers "
    "failed, or there is no robots.txt"
)


@group("bulk", _CODES)
def bulk() -> None:
    """Answer questions about whole archives of robots.txt files, on all cores.

    The answers are a folder of Parquet files. After an interruption, the command resumes.
    """


def _check_folder(_context: click.Context, _option: click.Parameter, path: str) -> str:
    if os.path.exists(path) and not os.path.isdir(path):
        raise click.BadParameter(f"{printable(path)} is a file; name a folder for the answers")
    return path


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that the commands for archives and tables share."""
    for option in (
        click.option(
            "--delimiter",
            type=DelimiterType(),
            metavar="CHAR",
            panel=COLUMNS,
            help="Between the cells of CSV. Default: a comma, or a tab in files named .tsv.",
        ),
        click.option(
            "--body",
            metavar="COLUMN",
            panel=COLUMNS,
            help="Of robots.txt files. Default: body, text, content, robots_txt or robots.",
        ),
    ):
        command = option(command)
    return _run_options(command)


def _run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of all runs."""

    @wraps(command)
    def with_lists(
        *args: Any, inputs: Sequence[str], from_file: Sequence[str], **kwargs: Any
    ) -> Any:
        return command(*args, inputs=_with_listed(inputs, from_file), **kwargs)

    found: Any = with_lists
    for option in (
        stoppable,
        click.option("--quiet", "-q", is_flag=True, panel=OUTPUT, help="Show only errors."),
        click.option(
            "--jobs",
            "-j",
            type=click.IntRange(1, 1024),
            metavar="N",
            panel=OUTPUT,
            help="How many cores to use. Default: all.",
        ),
        click.option(
            "--output",
            "-o",
            required=True,
            callback=_check_folder,
            type=FolderType(),
            metavar="FOLDER",
            panel=OUTPUT,
            help="Folder for the answers: Parquet files.",
        ),
        dialect_option("How to read the files"),
        click.option(
            "--from-file",
            multiple=True,
            type=FileType(),
            metavar="FILE",
            panel=INPUT,
            help="A list of inputs, one a line; may be gzip. Repeatable.",
        ),
        click.argument("inputs", nargs=-1, type=FileType(), metavar="[INPUT...]"),
    ):
        found = option(found)
    return found  # type: ignore[no-any-return]


def _with_listed(inputs: Sequence[str], lists: Sequence[str]) -> list[str]:
    """Return inputs with those of lists.

    Raises:
        click.UsageError: no input is named.
    """
    try:
        found = [*inputs, *(each for path in lists for each in _runs().read_list(path))]
    except KosterError as error:
        _fail(str(error))
    if not found:
        raise click.UsageError("name inputs, or lists of them with --from-file")
    return found


def _agent_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for agents to a command."""
    for option in (
        click.option(
            "--agents",
            "lists",
            multiple=True,
            type=FileType(),
            metavar="FILE",
            panel=INPUT,
            help="A file of them, one a line; known: all known crawlers. Repeatable.",
        ),
        click.option(
            "--agent",
            "-a",
            "agents",
            multiple=True,
            type=CrawlerType(),
            metavar="NAME",
            panel=INPUT,
            help="A crawler, or all with a purpose, such as @training. Repeatable.",
        ),
    ):
        command = option(command)
    return command


def _report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for the columns that a report uses."""
    for option in (
        click.option(
            "--time-column",
            metavar="COLUMN",
            panel=COLUMNS,
            help="Of the time of the fetch. Default: fetched.",
        ),
        click.option(
            "--crawl-column",
            metavar="COLUMN",
            panel=COLUMNS,
            help="Of the crawl's name. Default: crawl, or the month of the fetch.",
        ),
    ):
        command = option(command)
    return command


@command("bulk classify", _CODES)
@_agent_options
@_report_options
@_options
def classify(
    inputs: Sequence[str],
    output: str,
    agents: Sequence[str],
    lists: Sequence[str],
    crawl_column: str | None,
    time_column: str | None,
    dialect: Dialect,
    body: str | None,
    delimiter: str | None,
    jobs: int | None,
    quiet: bool,
) -> None:
    """Find how much of each site is blocked: all, some or none.

    INPUT is a WARC file, Parquet, JSON lines or CSV, a URL of one (https://, s3://), or a folder.
    """
    runs = _runs()
    all_agents = _all_agents(agents, lists)
    if not all_agents:
        raise click.UsageError("no agents given: use --agent NAME, or --agents known")
    columns = runs.Columns(body=body, crawl=crawl_column, time=time_column, delimiter=delimiter)
    question = runs.Question("classify", all_agents, dialect=dialect.name, columns=columns)
    _run(question, *_find_inputs(inputs), output, jobs, is_quiet=quiet)


@command("bulk decide", _CODES)
@_agent_options
@click.option(
    "--url",
    "urls",
    multiple=True,
    metavar="URL",
    panel=INPUT,
    help="A URL or path to decide for every site, in place of a column. Repeatable.",
)
@click.option("--url-column", metavar="COLUMN", panel=COLUMNS, help="Of URLs. Default: url.")
@click.option(
    "--agent-column",
    metavar="COLUMN",
    panel=COLUMNS,
    help="Of crawlers. Default: agent.",
)
@_options
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
    delimiter: str | None,
    jobs: int | None,
    quiet: bool,
) -> None:
    """Decide whether crawlers may fetch URLs, and by which line.

    INPUT is a WARC file, Parquet, JSON lines or CSV, a URL of one (https://, s3://), or a folder.
    """
    runs = _runs()
    all_agents = _all_agents(agents, lists)
    for url in urls:
        if not is_location(url):
            raise click.UsageError(f"--url {url!r} is not a URL or path; a path starts with /")
    if urls and url_column:
        raise click.UsageError("--url and --url-column cannot be used together")
    if all_agents and agent_column:
        raise click.UsageError("--agent and --agent-column cannot be used together")
    columns = runs.Columns(
        body=body,
        url=None if urls else url_column or "url",
        agent=None if all_agents else agent_column or "agent",
        delimiter=delimiter,
    )
    found, errors = _find_inputs(inputs)
    if any(each.kind == "warc" for each in found):
        if not urls:
            raise click.UsageError("no URLs given: archives need --url, such as --url /")
        if not all_agents:
            raise click.UsageError("no agents given: archives need --agent NAME, or --agents known")
    question = runs.Question("decide", all_agents, tuple(urls), dialect.name, columns)
    _run(question, found, errors, output, jobs, is_quiet=quiet)


@command("bulk facts", _CODES)
@_options
def facts(
    inputs: Sequence[str],
    output: str,
    dialect: Dialect,
    body: str | None,
    delimiter: str | None,
    jobs: int | None,
    quiet: bool,
) -> None:
    """Extract facts from files: groups, sitemaps, delays, findings.

    INPUT is a WARC file, Parquet, JSON lines or CSV, a URL of one (https://, s3://), or a folder.
    """
    runs = _runs()
    columns = runs.Columns(body=body, delimiter=delimiter)
    question = runs.Question("facts", dialect=dialect.name, columns=columns)
    _run(question, *_find_inputs(inputs), output, jobs, is_quiet=quiet)


@command("bulk signals", _CODES.replace("robots.txt", "HTML page"))
@click.option(
    "-c", "--crawler", "crawlers", multiple=True, metavar="NAME", type=CrawlerType(), panel=RULES,
    help="Also answer for this crawler, where it has another answer than all. Repeatable.",
)  # fmt: skip
@_run_options
def signals(
    inputs: Sequence[str],
    output: str,
    crawlers: Sequence[str],
    dialect: Dialect,
    jobs: int | None,
    quiet: bool,
) -> None:
    """Find what sites say about the use of each archived page, and in which grammar.

    INPUT is a WARC file, a URL of one (https://, s3://), or a folder: name those of the pages and
    those of the robots.txt files of a crawl together. What they state are preferences.
    """
    check_crawlers(crawlers)
    warn_of_unknown(crawlers)
    runs = _runs()
    imported("signals._pages")
    found, errors = _find_inputs(inputs)
    errors += [f"{each.path}: is not a WARC file" for each in found if each.kind != "warc"]
    archives = [each for each in found if each.kind == "warc"]
    question = runs.Question("signals", tuple(dict.fromkeys(crawlers)), dialect=dialect.name)
    done = _answered(question, archives, errors, output, jobs, is_quiet=quiet)
    _print_errors(done)
    if all(each.why is not None for each in done.shards):
        sys.exit(3)
    from ..._reports.use import UseShares

    try:
        counts = imported("bulk.use_report").use_report(output)
    except KosterError as error:
        _fail(str(error))
    if not quiet:
        render(UseShares(counts))
        _print_rest(done)
    if not counts.crawls:
        screen.complain("no HTML pages in the inputs")
    is_failed = errors or done.failed or not counts.crawls
    sys.exit(3 if is_failed else 1 if done.bad else 0)


def _all_agents(agents: Sequence[str], lists: Sequence[str]) -> tuple[str, ...]:
    """Return the agents of all options, each once."""
    found: list[str] = []
    warn_of_unknown(agents)
    try:
        for agent in agents:
            found += expand_agent(agent)
        for path in lists:
            if path == _KNOWN:
                found += [each.token for each in known()]
            else:
                lines = file_access.read_lines(path)
                found += [line for line in lines if not line.startswith("#")]
    except (MissingExtraError, UnknownPurposeError) as error:
        raise click.UsageError(str(error)) from error
    except UnreadableError as error:
        _fail(str(error))
    return tuple(dict.fromkeys(found))


def _find_inputs(paths: Sequence[str]) -> tuple[list[Input], list[str]]:
    """Return the inputs, and an error for each path that is not one."""
    errors: list[str] = []
    return _runs().find_inputs(paths, errors), errors


def _runs() -> Any:
    return imported("bulk.runs")


def _fail(why: str) -> NoReturn:
    screen.complain(why)
    sys.exit(3)


def _run(
    question: runs.Question,
    inputs: list[Input],
    errors: list[str],
    output: str,
    jobs: int | None,
    *,
    is_quiet: bool,
) -> None:
    """Answer the question, print a summary, and exit with its code."""
    done = _answered(question, inputs, errors, output, jobs, is_quiet=is_quiet)
    _print_summary(done, output, is_quiet=is_quiet)
    if len({each.kind for each in inputs}) > 1 and not is_quiet:
        print("Inputs of several kinds have shards with other columns: read them by name")
    if not (done.rows or done.bad or done.failed):
        screen.complain("no robots.txt in the inputs")
        sys.exit(3)
    sys.exit(3 if errors or done.failed else 1 if done.bad else 0)


def _answered(
    question: runs.Question,
    inputs: list[Input],
    errors: list[str],
    output: str,
    jobs: int | None,
    *,
    is_quiet: bool,
) -> runs.Run:
    """Print errors and answer the question; exit if that fails."""
    runs = _runs()
    for error in errors:
        screen.complain(error)
    if not inputs:
        sys.exit(3)
    try:
        with _progress(inputs, is_quiet=is_quiet) as progress:
            return runs.run(question, inputs, output, jobs, progress)  # type: ignore[no-any-return]
    except runs.ForeignFolderError as error:
        raise click.UsageError(printable(str(error))) from error
    except KosterError as error:
        _fail(str(error))


def _print_errors(done: runs.Run) -> None:
    """Print the first errors of each input."""
    for each in done.shards:
        if each.why is not None:
            screen.complain(each.why)
        for what in each.listed[:_MAX_PRINTED]:
            screen.complain(f"{each.input}: {what}")
        if each.bad > _MAX_PRINTED:
            more = count_noun(each.bad - _MAX_PRINTED, "more record")
            screen.complain(f"{each.input}: {more} that could not be read")


def _print_summary(done: runs.Run, output: str, *, is_quiet: bool) -> None:
    """Print the errors and totals of a run."""
    _print_errors(done)
    if is_quiet:
        return
    complete = [each for each in done.shards if each.why is None]
    new = sum(each.is_new for each in complete)
    rows = sum(each.rows for each in complete if each.is_new)
    rate = f", {rows / done.seconds:,.0f} a second" if rows and done.seconds else ""
    if complete:
        where = f"{count_noun(len(complete), 'input')} in {printable(output)}"
        print(f"{count_noun(done.rows, 'answer')} from {where}")
        print(
            f"{rows:,} of them new, from {count_noun(new, 'input')}, in {done.seconds:,.1f} s{rate}"
        )
    _print_rest(done)


def _print_rest(done: runs.Run) -> None:
    """Print what else there is to say about a run."""
    for note in done.notes:
        print(note)
    if done.bad:
        print(f"{count_noun(done.bad, 'record')} could not be read")
    if done.failed:
        print(f"no answers from {count_noun(len(done.failed), 'input')}")
    if done.others:
        others = count_noun(done.others, "more shard")
        print(f"{others} in the folder, of inputs that were not named this time")


@contextmanager
def _progress(inputs: list[Input], *, is_quiet: bool) -> Iterator[Any]:
    """Show a progress bar on a terminal; yield the function that updates it, or None."""
    # The sizes of URLs are unknown.
    total = sum(each.size for each in inputs) if all(each.size for each in inputs) else None
    with byte_progress(total, "0 answers", is_quiet=is_quiet) as show:

        def update(places: list[int], rows: list[int]) -> None:
            show(completed=sum(places), text=count_noun(sum(rows), "answer"))

        yield None if show is None else update


@command(
    "bulk report",
    "0 done, 2 wrong usage, 3 the answers could not be read or the report not be written",
)
@click.argument("answers", type=FolderType(), metavar="FOLDER")
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False),
    default="report.html",
    show_default=True,
    metavar="FILE",
    panel=OUTPUT,
    help="Write the page to this file.",
)
@click.option(
    "--csv",
    "table",
    type=FileType(),
    metavar="FILE",
    panel=OUTPUT,
    help="Also write the numbers to this file.",
)
@click.option(
    "--title",
    metavar="TEXT",
    panel=OUTPUT,
    help="The page's title. Default: what the report is about.",
)
@click.option(
    "--sites",
    type=FileType(),
    metavar="FILE",
    panel=INPUT,
    help="Count only the sites in this list: a name a line, or CSV such as Tranco's.",
)
@_report_options
@stoppable
def report(
    answers: str,
    output: str,
    table: str | None,
    title: str | None,
    sites: str | None,
    crawl_column: str | None,
    time_column: str | None,
) -> None:
    """Chart the answers of classify or signals on a page, and as CSV.

    FOLDER has the answers. Columns default to those that classify was given.
    """
    runs = _runs()
    try:
        if runs.question_of(answers) == "signals":
            if crawl_column or time_column:
                raise click.UsageError("--crawl-column and --time-column are for tables")
            _report_use(answers, output, table, title, sites)
        else:
            _report_blocking(answers, output, table, title, sites, crawl_column, time_column)
    except KosterError as error:
        _fail(str(error))
    print(f"{printable(output)}{f' and {printable(table)}' if table else ''}")


def _report_blocking(
    answers: str,
    output: str,
    table: str | None,
    title: str | None,
    sites: str | None,
    crawl_column: str | None,
    time_column: str | None,
) -> None:
    from ..._reports.bulk import Shares, as_csv, as_page
    from ...bulk import report as reports

    found = reports.report(answers, crawl_column, time_column, sites)
    bad = f", {count_noun(found.bad, 'record')} of which could not be read" if found.bad else ""
    source = _provenance(answers, f"{count_noun(found.inputs, 'input')}{bad}", found.dialect)
    shares = Shares(found, title or "Sites that block crawlers", source)
    _write(output, as_page(shares), table, as_csv(found))
    render(shares)
    if found.undated and found.undated == found.files:
        print("Name other columns with --crawl-column or --time-column")


def _report_use(
    answers: str, output: str, table: str | None, title: str | None, sites: str | None
) -> None:
    from ..._reports.use import UseShares, as_csv, as_page
    from ...bulk.use_report import use_report

    found = use_report(answers, sites)
    pages = count_noun(sum(each.pages for each in found.crawls), "page")
    source = _provenance(answers, pages, found.dialect)
    shares = UseShares(found, title or "What sites say about use", source)
    _write(output, as_page(shares), table, as_csv(found))
    render(shares)


def _provenance(answers: str, what: str, dialect: str) -> str:
    """Return where the numbers of a report are from."""
    from datetime import date

    from ... import __version__

    read = f", read as {dialect}" if dialect else ""
    return f"{answers} ({what}), {date.today()}, by koster {__version__}{read}"


def _write(output: str, page: str, table: str | None, rows: str) -> None:
    writing.replace(output, page.encode("utf-8"))
    if table:
        writing.replace(table, rows.encode("utf-8"))


for _command in (classify, decide, facts, signals, report):
    bulk.add_command(_command)

"""``koster logs``: which crawlers obeyed the robots.txt, according to access logs."""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager
from datetime import date, timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn
from zoneinfo import ZoneInfo, available_timezones

import rich_click as click
from click.shell_completion import CompletionItem

from ..._reports import screen
from ..._reports.logs import Judged, as_page, print_violation
from ..._reports.registry import formats_of, render
from ..._version import VERSION
from ..._wording import joined
from ...errors import KosterError, MissingExtraError
from .. import links, writing
from ..extras import imported
from ..help import INPUT, OUTPUT, RULES, command
from ..names import CrawlerType, warn_of_unknown
from ..progress import byte_progress
from ..reading import is_site
from ..stopping import stoppable
from ..types import FileType, FolderType, dialect_option, format_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ...dialects import Dialect
    from ...logs import Options, Report

    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType

#: The group of options for who made a request.
_IDENTITY = "Identity"

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}

#: The fields of tables and JSON that can be named.
_FIELDS = ("time", "date", "address", "agent", "method", "url", "query", "status", "host")


class DurationType(_ParamType):
    """A duration: a number with s, m, h or d."""

    name = "duration"

    def convert(self, value: Any, param: Any, ctx: Any) -> timedelta:
        """Return the duration."""
        if isinstance(value, timedelta):
            return value
        match = re.fullmatch(r"(\d{1,6})([smhd])", value.strip())
        if match is None:
            self.fail(f"{value!r} is not a duration; use 24h, 90m or 2d", param, ctx)
        return timedelta(seconds=int(match[1]) * _UNITS[match[2]])


class ColumnType(_ParamType):
    """A field and the name of its column: ``time=when``."""

    name = "column"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, str]:
        """Return the field and the name."""
        if isinstance(value, tuple):
            return value
        field, _, column = value.partition("=")
        if field not in _FIELDS or not column:
            self.fail(f"{value!r} is not FIELD=NAME; fields are {joined(_FIELDS)}", param, ctx)
        return field, column

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """Return the fields that start with the incomplete value."""
        return [CompletionItem(f"{each}=") for each in _FIELDS if each.startswith(incomplete)]


class ZoneType(_ParamType):
    """A time zone of the IANA database: ``Europe/Berlin``."""

    name = "zone"

    def convert(self, value: Any, param: Any, ctx: Any) -> ZoneInfo:
        """Return the zone."""
        if isinstance(value, ZoneInfo):
            return value
        try:
            return ZoneInfo(value)
        except (KeyError, ValueError, OSError):
            why = "" if available_timezones() else "; this system has none: install tzdata"
            self.fail(
                f"{value!r} is not a time zone; use a name such as Europe/Berlin{why}", param, ctx
            )

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """Return the names that start with the incomplete value."""
        return [
            CompletionItem(each)
            for each in sorted(available_timezones())
            if each.startswith(incomplete)
        ]


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for reading and judging to a command, which gets them as ``options``."""

    @wraps(command)
    def with_options(
        *args: Any,
        log_format: str | None,
        host: str | None,
        agents: Sequence[str],
        jobs: int | None,
        ranges: str | None,
        verify_dns: bool,
        show_addresses: bool,
        grace: timedelta,
        dialect: Dialect,
        columns: Sequence[tuple[str, str]],
        timezone: ZoneInfo | None,
        **kwargs: Any,
    ) -> Any:
        api = _api()
        if log_format in formats_of(Judged):
            raise click.UsageError(f"{log_format!r} is a format of the report: use --format")
        warn_of_unknown(agents)
        options = api.Options(
            format=log_format,
            columns=dict(columns),
            host=host,
            agents=tuple(agents),
            ranges=ranges,
            dns=api.ReverseDns() if verify_dns else None,
            grace=grace,
            are_addresses_shown=show_addresses,
            dialect=dialect,
            jobs=jobs,
            timezone=timezone,
        )
        return command(*args, options=options, **kwargs)

    for option in (
        click.option(
            "--show-addresses",
            is_flag=True,
            panel=_IDENTITY,
            help="Show addresses. Default: hashes of them.",
        ),
        click.option(
            "--verify-dns",
            is_flag=True,
            panel=_IDENTITY,
            help="Verify other addresses by reverse DNS.",
        ),
        click.option(
            "--ranges",
            type=FolderType(),
            metavar="FOLDER",
            panel=_IDENTITY,
            help="Operators' lists of addresses (gptbot.json or gptbot-2026-03-01.json) or keys.",
        ),
        click.option(
            "--jobs",
            "-j",
            type=click.IntRange(1, 64),
            metavar="N",
            panel=INPUT,
            help="How many cores to use. Default: all.",
        ),
        click.option(
            "--agent",
            "-a",
            "agents",
            multiple=True,
            type=CrawlerType(),
            metavar="NAME",
            panel=INPUT,
            help="Judge only this crawler. Repeatable.",
        ),
        click.option(
            "--host", metavar="NAME", panel=INPUT, help="Judge only requests to this site."
        ),
        click.option(
            "--column",
            "columns",
            multiple=True,
            type=ColumnType(),
            metavar="FIELD=NAME",
            panel=INPUT,
            help="Name the time, date, address, agent, method, url, query, status or host of a "
            "table or JSON.",
        ),
        click.option(
            "--timezone",
            type=ZoneType(),
            metavar="NAME",
            panel=INPUT,
            help="The time zone of times without one, such as Europe/Berlin. Default: UTC.",
        ),
        click.option(
            "--log-format",
            metavar="FORMAT",
            panel=INPUT,
            help="The name of a format, such as combined or haproxy; a LogFormat or log_format "
            "string; the fields of a W3C log. Default: detected.",
        ),
        click.option(
            "--grace",
            type=DurationType(),
            default="24h",
            show_default=True,
            metavar="DURATION",
            panel=RULES,
            help="How long a crawler may use its copy of the file; longer if its operator says so.",
        ),
        dialect_option("How to read the robots.txt"),
    ):
        with_options = option(with_options)
    return with_options


def _check_page(_context: click.Context, _option: click.Parameter, path: str | None) -> str | None:
    if path is not None and not path.lower().endswith((".html", ".htm")):
        raise click.BadParameter(
            f"{path!r} is not an HTML file. For other formats use --format, such as -f csv > FILE"
        )
    return path


@command(
    "logs",
    "0 no violations, 1 violations, 2 wrong usage, 3 a log or the robots.txt could not be read",
)
@click.argument("logs", nargs=-1, required=True, type=FileType(), metavar="LOG...")
@click.option(
    "--robots",
    required=True,
    type=FileType(),
    metavar="SOURCE",
    panel=RULES,
    help="A robots.txt; a folder of dated ones, such as 2026-03-01.txt or 2026-06-01T1200Z.txt; or "
    "git:PATH for the history of a file.",
)
@_options
@click.option(
    "--follow",
    is_flag=True,
    panel=OUTPUT,
    help="Print violations as they happen.",
)
@format_option(Judged, "Format (markdown: a complaint)")
@click.option(
    "--output",
    "-o",
    type=FileType(),
    callback=_check_page,
    metavar="FILE",
    panel=OUTPUT,
    help="Also write an HTML report.",
)
@click.option(
    "--events",
    type=FileType(),
    metavar="FILE",
    panel=OUTPUT,
    help="Also write each request to a Parquet file.",
)
@stoppable
def logs(
    logs: Sequence[str],
    robots: str,
    options: Options,
    follow: bool,
    form: str,
    output: str | None,
    events: str | None,
) -> None:
    """Find out which crawlers ignore your robots.txt, from access logs.

    LOG is a log file, plain or compressed, a table (Parquet, CSV), a folder, or - for standard
    input. Rotated files are put in order.
    """
    _check_usage(logs, robots, options, follow, (output, events))
    _check_events(logs, events)
    try:
        links.check(robots)
        if follow:
            _follow(logs[0], robots, options)
        report = _analyze(logs, robots, options, events)
    except (_api().FormatError, _api().UnknownCrawlerError, MissingExtraError) as error:
        raise click.UsageError(str(error)) from error
    except KosterError as error:
        screen.complain(str(error))
        sys.exit(3)
    for why in report.errors:
        screen.complain(why)
    if not report.files:
        sys.exit(3)
    source = f"{joined(logs)}, {date.today()}, by koster {VERSION}, read as {options.dialect}"
    judged = Judged(
        report,
        options.host or "",
        source,
        _words(options.grace),
        not options.are_addresses_shown,
        _lists(report),
    )
    render(judged, form)
    _write(judged, output)
    sys.exit(3 if report.errors else 1 if report.violations else 0)


def _check_usage(
    logs: Sequence[str],
    robots: str,
    options: Options,
    follow: bool,
    targets: Sequence[str | None],
) -> None:
    """Check what options have to do with one another.

    Raises:
        click.UsageError: they exclude one another, or an output is an input.
    """
    if list(logs).count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    if is_site(robots):
        raise click.UsageError(
            "--robots takes files, as the log is older than what the site answers now: save the "
            f"file with koster fetch --format file {robots} > robots.txt"
        )
    for target in filter(None, targets):
        if any(_is_same(target, path) for path in (*logs, robots, options.ranges or "")):
            raise click.UsageError(f"{target} is an input, and would be overwritten")
    if follow and (len(logs) != 1 or logs[0] == "-" or any(targets)):
        raise click.UsageError("--follow takes one log file, and neither --output nor --events")


def _check_events(logs: Sequence[str], events: str | None) -> None:
    """Check that the events are not written where the next run reads them as a log.

    Raises:
        click.UsageError: they are.
    """
    folder = os.path.dirname(os.path.abspath(events)) if events else ""
    if any(_is_same(folder, path) for path in logs):
        raise click.UsageError(
            f"{events} is in a folder of logs, and would be read as a log next time: choose "
            "another folder"
        )


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _api() -> Any:
    return imported("logs")


def _analyze(paths: Sequence[str], robots: str, options: Options, events: str | None) -> Report:
    """Judge logs, and write the events.

    Raises:
        KosterError: something cannot be read or written.
    """
    from dataclasses import replace

    api = _api()
    versions = api.Versions.read(robots)
    with _progress(paths) as progress, _event_writer(events) as write:
        report: Report = api.analyze(paths, versions, replace(options, progress=progress), write)
    return report


@contextmanager
def _event_writer(path: str | None) -> Iterator[Any]:
    """Yield the function that writes batches of events to a file, or None.

    Raises:
        UnreadableError: it cannot be written.
    """
    if path is None:
        yield None
        return
    import pyarrow.parquet

    with (
        writing.replacing(path) as file,
        pyarrow.parquet.ParquetWriter(file, _api().EVENTS, compression="zstd") as writer,
    ):
        yield writer.write_batch


@contextmanager
def _progress(paths: Sequence[str]) -> Iterator[Any]:
    """Show a progress bar on a terminal; yield the function that is called with bytes read."""
    # The size of compressed files is unknown until they are read.
    plain = [path for path in paths if os.path.isfile(path) and _is_plain(path)]
    is_known = len(plain) == len(paths)
    with byte_progress(sum(map(os.path.getsize, plain)) if is_known else None) as show:
        yield (lambda size: show(advance=size)) if show else (lambda size: None)


def _is_plain(path: str) -> bool:
    return not path.lower().endswith((".gz", ".zst", ".bz2", ".parquet"))


def _follow(path: str, robots: str, options: Options) -> NoReturn:
    """Print violations as they happen, until Ctrl-C.

    Raises:
        KosterError: the log or the robots.txt cannot be read.
    """
    screen.print_note(f"Following {path}; Ctrl-C stops")
    for violation in _api().follow(path, robots, options):
        print_violation(violation)
        sys.stdout.flush()
    raise AssertionError("the log has no end")


def _write(judged: Judged, path: str | None) -> None:
    """Write the page."""
    if path is None:
        return
    try:
        writing.replace(path, as_page(judged).encode("utf-8"))
    except KosterError as error:
        screen.complain(str(error))
        sys.exit(3)


def _words(grace: timedelta) -> str:
    """Return a duration in words.

    >>> _words(timedelta(days=1)), _words(timedelta(minutes=90)), _words(timedelta(days=2))
    ('24 hours', '90 minutes', '2 days')
    """
    seconds = int(grace.total_seconds())
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count = seconds // size
        if seconds % size == 0 and count and (unit != "day" or count > 1):
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return "0 seconds"


def _lists(report: Report) -> str:
    """Return the days of the lists that crawlers were verified by, in words."""
    days = sorted({day for each in report.crawlers for day in each.lists})
    if not days:
        return ""
    period = joined(dict.fromkeys([days[0], days[-1]]), "to")
    return f"Addresses were checked with the operators' lists of {period}"

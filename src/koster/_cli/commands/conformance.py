"""``koster conformance``: the conformance suite for robots.txt parsers."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click
from click.shell_completion import CompletionItem

from ... import conformance as suites
from ..._reports import screen
from ..._reports.conformance import ShownCase, print_case
from ..._reports.plain import printable
from ..._reports.registry import render
from ...conformance import LEVELS, subject
from ..help import INPUT, command, group
from ..progress import progress
from ..stopping import stoppable
from ..types import FolderType, format_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ...conformance import AnyCase, CaseResult, Suite

    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType

_CODES = (
    "0 all cases passed, 1 some failed, 2 wrong usage, 3 the parser or the suite could not be run, "
    "or the parser skipped all cases"
)


@group("conformance", _CODES)
def conformance() -> None:
    """Test any robots.txt parser against the conformance suite.

    The parser is asked through a small program in its own language, which reads and writes lines of
    JSON.
    """


def _load(_context: click.Context, _option: click.Parameter, folder: str | None) -> Suite:
    """Read the suite, or exit with an error."""
    try:
        return suites.load(Path(folder) if folder else None)
    except suites.SuiteError as error:
        screen.complain(str(error))
        sys.exit(3)


class _CaseType(_ParamType):
    """The name of a case."""

    name = "case"

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """Return the names that start with the incomplete value."""
        names = (case.id for case in suites.load().cases)
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


_suite_option = click.option(
    "--suite",
    callback=_load,
    type=FolderType(),
    metavar="FOLDER",
    panel=INPUT,
    help="Another version of the suite. Default: the one of this koster.",
)


@command("conformance run", _CODES)
@click.argument("program", nargs=-1, required=True, metavar="-- PROGRAM...")
@click.option(
    "--level",
    "levels",
    multiple=True,
    type=click.Choice(LEVELS),
    metavar="LEVEL",
    panel=INPUT,
    help=f"Only these cases: {', '.join(LEVELS)}. Repeatable.",
)
@click.option(
    "--tag",
    "tags",
    multiple=True,
    metavar="TAG",
    panel=INPUT,
    help="Only cases with this tag, such as escapes or statuses. Repeatable.",
)
@click.option(
    "--case",
    "names",
    multiple=True,
    type=_CaseType(),
    metavar="CASE",
    panel=INPUT,
    help="Only this case. Repeatable.",
)
@_suite_option
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, 3600),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    panel=INPUT,
    help="How long an answer may take.",
)
@format_option(suites.SuiteReport, "Format")
@stoppable
def run(
    program: tuple[str, ...],
    levels: tuple[str, ...],
    tags: tuple[str, ...],
    names: tuple[str, ...],
    suite: Suite,
    timeout: float,
    form: str,
) -> None:
    """Ask a parser about the cases of the suite, and report which ones it fails.

    PROGRAM is the command that answers for the parser. It is started once.
    """
    cases = _chosen(suite, levels, tags, names)
    try:
        with _progress(len(cases)) as advance:
            report = suites.run(cases, program, timeout=timeout, on_result=advance)
    except suites.SubjectError as error:
        screen.complain(str(error))
        sys.exit(3)
    render(report, form)
    if report.failures:
        sys.exit(1)
    if not report.count(suites.CaseVerdict.PASSED):
        screen.complain(f"the parser skipped all cases: {len(cases):,}")
        sys.exit(3)


def _chosen(
    suite: Suite, levels: Sequence[str], tags: Sequence[str], names: Sequence[str]
) -> list[AnyCase]:
    """Return the cases that are asked for.

    Raises:
        click.UsageError: there are none, or a name or a tag is unknown.
    """
    for kind, asked, known in (
        ("tag", tags, {tag for case in suite.cases for tag in case.tags}),
        ("case", names, {case.id for case in suite.cases}),
    ):
        for each in asked:
            if each not in known:
                raise click.UsageError(f"no {kind} {printable(each)} in the suite")
    chosen = [
        case
        for case in suite.cases
        if (not levels or case.level in levels)
        and (not tags or set(tags) & set(case.tags))
        and (not names or case.id in names)
    ]
    if not chosen:
        raise click.UsageError("no case has this level and this tag")
    return chosen


@contextmanager
def _progress(total: int) -> Iterator[Callable[[CaseResult], None]]:
    """Show on a terminal how many cases are done, and how many failed."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with progress(*columns) as bar:
        task = bar.add_task("", total=total)
        yield lambda result: bar.update(task, advance=1, description=printable(result.case.id))


@command("conformance show", "0 the case was shown, 2 wrong usage, 3 the suite could not be read")
@click.argument("name", type=_CaseType(), metavar="CASE")
@_suite_option
def show(name: str, suite: Suite) -> None:
    """Show a case of the suite: the file, the questions and the answers.

    CASE is its name, as in a report.
    """
    for case in suite.cases:
        if case.id == name:
            print_case(ShownCase(case, suite.sentences))
            return
    raise click.UsageError(f"no case {printable(name)} in the suite")


@command("conformance subject", "0 all questions were answered, 2 wrong usage")
def answer() -> None:
    """Answer the questions of the suite with koster itself.

    The questions are read from standard input. See the suite's README for the protocol.
    """

    def write(line: str) -> None:
        sys.stdout.write(line)
        sys.stdout.flush()

    subject.answer_lines(iter(sys.stdin.readline, ""), write)


for _command in (run, show, answer):
    conformance.add_command(_command)

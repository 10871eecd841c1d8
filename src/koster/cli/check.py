"""``koster check``: may these robots fetch these URLs, and which line says so?"""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import dataclass
from datetime import datetime, time, timezone
from typing import TYPE_CHECKING, Any

import rich_click as click
from rich import box
from rich.table import Table
from rich.text import Text

from ..dialects import DIALECTS, Dialect, dialect_named
from ..errors import UnknownDialectError, UnreadableError
from ..robots import RobotsTxt, parse
from . import _files, _screen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rich.console import Console

    from ..model import Decision
    from ..robots import Rules

_EVERYBODY = "*"
_ALL = "all"


@dataclass(frozen=True, slots=True)
class Question:
    """A file in some dialects, and the robots that ask about it."""

    path: str
    readings: tuple[RobotsTxt, ...]
    agents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """A decision, with the file and the text of the line that decided."""

    path: str
    decision: Decision
    text: str
    rules: Rules

    @property
    def place(self) -> str:
        """``robots.txt:12: Disallow: /private``, or why no line decided."""
        rule = self.decision.rule
        if rule is None:
            return self.decision.reason.value
        return f"{_files.shown_name(self.path)}:{rule.line}: {_screen.shortened(self.text)}"


class _DialectType(click.ParamType):
    """A dialect by its name, or ``all``."""

    name = "name"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[Dialect, ...]:
        if isinstance(value, tuple):
            return value
        if value.lower() == _ALL:
            return tuple(DIALECTS.values())
        try:
            return (dialect_named(value),)
        except UnknownDialectError as error:
            self.fail(f"{error}, and {_ALL}")

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[Any]:
        names = (name for name in (*DIALECTS, _ALL) if name.lower().startswith(incomplete.lower()))
        return [click.shell_completion.CompletionItem(name) for name in names]


class _MomentType(click.ParamType):
    """A moment: ISO 8601, or a time of today; without a time zone in UTC."""

    name = "time"

    def convert(self, value: Any, param: Any, ctx: Any) -> datetime:
        if isinstance(value, datetime):
            return value
        if value.lower() == "now":
            return datetime.now(timezone.utc)
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            try:
                today = datetime.now(timezone.utc).date()
                moment = datetime.combine(today, time.fromisoformat(value))
            except ValueError:
                self.fail(f"{value!r} is no time such as 2026-11-21T07:30, 07:30 or now")
        return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)


@click.command()
@click.argument("urls", nargs=-1, metavar="URL...")
@click.option(
    "--robots", "paths", multiple=True, metavar="FILE",
    help="The robots.txt to ask; `-` for standard input. Repeatable.",
)  # fmt: skip
@click.option(
    "--agent", "-a", "agents", multiple=True, metavar="NAME",
    help="The robot: a product token or a whole User-Agent header. Repeatable; "
    "default: everybody (`*`).",
)  # fmt: skip
@click.option(
    "--urls", "lists", multiple=True, metavar="FILE",
    help="A file with more URLs, one a line; `-` for standard input. Repeatable.",
)  # fmt: skip
@click.option(
    "--dialect", "-d", "dialects", type=_DialectType(), multiple=True, metavar="NAME",
    help=f"How to read the file: {', '.join(DIALECTS)}, or `all` side by side. Repeatable; "
    "default: RFC9309.",
)  # fmt: skip
@click.option(
    "--at", "moment", type=_MomentType(), metavar="TIME",
    help="Ask about visit times and rates at this time, too: ISO 8601, HH:MM, or now; UTC.",
)  # fmt: skip
@click.option(
    "--format", "-f", "form", type=click.Choice(["text", "json", "csv"]), default="text",
    show_default=True, help="How to print the answers.",
)  # fmt: skip
def check(
    urls: tuple[str, ...],
    paths: tuple[str, ...],
    agents: tuple[str, ...],
    lists: tuple[str, ...],
    dialects: tuple[tuple[Dialect, ...], ...],
    moment: datetime | None,
    form: str,
) -> None:
    """May these robots fetch these URLs, and which line says so?

    Example: koster check --robots robots.txt --agent FooBot https://example.com/private

    Exit codes: 0 all allowed, 1 something disallowed, 2 wrong usage, 3 something could not
    be read (the rest is done all the same).
    """
    _check_usage(urls, paths, lists)
    chosen = tuple(dict.fromkeys(each for some in dialects for each in some))
    chosen = chosen or (DIALECTS["RFC9309"],)
    asked, urls_read = _gather(_files.read_lines, lists)
    found, files_read = _gather(_files.read_octets, paths)
    questions = [
        Question(path, tuple(parse(body, each) for each in chosen), agents or (_EVERYBODY,))
        for path, body in found
    ]
    all_urls = (*urls, *(url for _, lines in asked for url in lines))
    tally = _Tally(_answers(questions, all_urls))
    if questions:
        _RENDERERS[form](tally, len(questions), chosen, moment)
        if moment and form == "text":
            _print_times(questions, moment)
    if not (urls_read and files_read):
        sys.exit(3)
    sys.exit(1 if tally.disallowed else 0)


def _check_usage(urls: tuple[str, ...], paths: tuple[str, ...], lists: tuple[str, ...]) -> None:
    """Complain about what cannot be done.

    Raises:
        click.UsageError: with what is wrong.
    """
    if not paths:
        raise click.UsageError(
            "koster cannot fetch a site's robots.txt yet: give the file with --robots FILE"
        )
    if not urls and not lists:
        raise click.UsageError("nothing to ask: give URLs, or a file of them with --urls FILE")
    if (*paths, *lists).count(_files.STDIN) > 1:
        raise click.UsageError("standard input (-) can be read only once")


def _gather(read: Callable[[str], Any], paths: Iterable[str]) -> tuple[list[tuple[str, Any]], bool]:
    """Read files; complain about those that cannot be read. Tells whether all could."""
    found = []
    complete = True
    for path in paths:
        try:
            found.append((path, read(path)))
        except UnreadableError as error:
            _screen.complain(str(error))
            complete = False
    return found, complete


def _answers(questions: list[Question], urls: tuple[str, ...]) -> Iterator[Answer]:
    """Go through all answers: by file, robot and URL, then by dialect."""
    for question in questions:
        texts = [line.text.strip() for line in question.readings[0].lines]
        for agent in question.agents:
            ruled = [robots.rules_for(agent) for robots in question.readings]
            for url in urls:
                for rules in ruled:
                    decision = rules.decide(url)
                    text = texts[decision.rule.line - 1] if decision.rule else ""
                    yield Answer(question.path, decision, text, rules)


class _Tally:
    """Answers that are counted as they pass by."""

    def __init__(self, answers: Iterator[Answer]) -> None:
        self._answers = answers
        self.allowed = 0
        self.disallowed = 0

    def __iter__(self) -> Iterator[Answer]:
        for answer in self._answers:
            if answer.decision.allowed:
                self.allowed += 1
            else:
                self.disallowed += 1
            yield answer

    def __str__(self) -> str:
        return f"{self.allowed} allowed, {self.disallowed} disallowed"


def _print_text(
    tally: _Tally, files: int, dialects: tuple[Dialect, ...], moment: datetime | None
) -> None:
    """Print a table on a terminal, elsewhere a line for each answer."""
    console = _screen.console()
    if not console.is_terminal:
        for answer in tally:
            dialect = f"{answer.decision.dialect}  " if len(dialects) > 1 else ""
            print(f"{_word(answer.decision.allowed):10}  {dialect}{_subject(answer)}  {answer.place}")
    elif len(dialects) == 1:
        _print_table(console, tally)
    else:
        _print_side_by_side(console, tally, files, dialects)


def _word(allowed: bool) -> str:
    return "allowed" if allowed else "disallowed"


def _subject(answer: Answer) -> str:
    """Return robot and URL."""
    agent = answer.decision.agent
    name = agent if isinstance(agent, str) else ", ".join(agent)
    return f"{_screen.printable(name)}  {_screen.shortened(answer.decision.url)}"


def _print_table(console: Console, tally: _Tally) -> None:
    """Print one dialect's answers."""
    table = _table("Verdict", "Robot", "URL", "Decided by")
    for answer in tally:
        decision = answer.decision
        table.add_row(
            _screen.verdict(decision.allowed),
            _screen.printable(str(decision.agent)),
            _screen.shortened(decision.url),
            Text(answer.place, "dim" if decision.rule is None else ""),
        )
    console.print(table)
    console.print(Text(str(tally), "dim"))


def _print_side_by_side(
    console: Console, tally: _Tally, files: int, dialects: tuple[Dialect, ...]
) -> None:
    """Print a column for each dialect: the verdict, and the number of the line."""
    names = [dialect.name for dialect in dialects]
    table = _table(*(["File"] if files > 1 else []), "Robot", "URL", *names)
    row: list[Answer] = []
    split = 0
    for answer in tally:
        row.append(answer)
        if len(row) < len(dialects):
            continue
        verdicts = {each.decision.allowed for each in row}
        split += len(verdicts) > 1
        file = [_files.shown_name(answer.path)] if files > 1 else []
        url = Text(_screen.shortened(answer.decision.url), "yellow" if len(verdicts) > 1 else "")
        cells = [_cell(each) for each in row]
        table.add_row(*file, _screen.printable(str(answer.decision.agent)), url, *cells)
        row = []
    console.print(table)
    console.print(Text(f"{tally}; the dialects differ in {split}", "dim"))


def _cell(answer: Answer) -> Text:
    """Return a verdict with the number of its line."""
    text = _screen.verdict(answer.decision.allowed)
    if answer.decision.rule is not None:
        text.append(f" :{answer.decision.rule.line}", "dim")
    return text


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def _times(rules: Rules, moment: datetime) -> dict[str, Any]:
    """Return what the file says about a moment."""
    return {
        "at": moment.isoformat(),
        "open": rules.open_at(moment),
        "next_open": rules.next_open(moment).isoformat(),
        "interval": rules.interval(moment),
    }


def _print_times(questions: list[Question], moment: datetime) -> None:
    """Print for each robot whether it is welcome at a moment, and at which pace."""
    for question in questions:
        for robots in question.readings:
            for agent in question.agents:
                rules = robots.rules_for(agent)
                pace = rules.interval(moment)
                welcome = "open" if rules.open_at(moment) else (
                    f"closed until {rules.next_open(moment):%Y-%m-%d %H:%M} UTC"
                )
                every = "no pace asked for" if pace is None else f"one request in {pace:g} s"
                dialect = f" ({robots.dialect})" if len(question.readings) > 1 else ""
                name = _files.shown_name(question.path)
                print(f"{name}: {_screen.printable(agent)}{dialect}: {welcome}, {every}")


def _record(answer: Answer, moment: datetime | None) -> dict[str, Any]:
    """Return an answer as the fields of JSON and CSV."""
    decision = answer.decision
    rule = decision.rule
    record = {
        "allowed": decision.allowed,
        "agent": decision.agent,
        "url": decision.url,
        "reason": decision.reason.value,
        "file": _files.shown_name(answer.path),
        "line": rule.line if rule else None,
        "rule": str(rule) if rule else None,
        "dialect": decision.dialect.name,
    }
    return record | _times(answer.rules, moment) if moment else record


def _print_json(
    tally: _Tally, files: int, dialects: tuple[Dialect, ...], moment: datetime | None
) -> None:
    """Print an array with an object for each answer, a line each."""
    before = "["
    for answer in tally:
        print(before + "\n  " + json.dumps(_record(answer, moment)), end="")
        before = ","
    print("[]" if before == "[" else "\n]")


def _print_csv(
    tally: _Tally, files: int, dialects: tuple[Dialect, ...], moment: datetime | None
) -> None:
    """Print a heading and a line for each answer."""
    writer: csv.DictWriter[str] | None = None
    for answer in tally:
        record = _record(answer, moment)
        if writer is None:
            writer = csv.DictWriter(sys.stdout, list(record), lineterminator="\n")
            writer.writeheader()
        record["allowed"] = str(record["allowed"]).lower()
        writer.writerow(record)


_RENDERERS = {"text": _print_text, "json": _print_json, "csv": _print_csv}

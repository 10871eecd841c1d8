"""The answers of ``koster check``: as text, JSON and CSV."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from ..robots import Rules
from . import hints, screen
from .answers import FIELDS, FIELDS_OF_TIME, FileDecision, FileQuestions, Tally, name_of
from .interrupts import held
from .json import scalars
from .plain import printable
from .text import Text

_URL_AND_LINE = ["URL", "Decided by"]

#: The width of a verdict with its line number, and the least for a URL.
_CELL = len("blocked :100")
_URL = 20
#: The maximum rows of a table, to limit memory.
_MAX_TABLE_ROWS = 1000


@dataclass(frozen=True, slots=True)
class CheckResults:
    """The answers to some questions; ``moment`` is the time for visit times and pace, if any."""

    tally: Tally
    questions: list[FileQuestions]
    moment: datetime | None


def print_text(answers: CheckResults) -> None:
    """Print tables, with several dialects side by side."""
    tally, questions, moment = answers.tally, answers.questions, answers.moment
    if not questions:
        return
    dialects = [robots.dialect.name for robots in questions[0].readings]
    file = ["File"] if len(questions) > 1 else []
    if len(dialects) == 1:
        _print_tables(tally, ["Verdict", "Crawler", *_URL_AND_LINE], _row, 1)
    elif screen.width() < _width_side_by_side(questions):
        headings = ["Verdict", "Dialect", "Crawler", *_URL_AND_LINE]
        _print_tables(tally, headings, _row_of_dialect, 1)
    else:
        # The file of a URL's own site needs no name.
        files = [] if any(question.own_name for question in questions) else file
        _print_tables(tally, ["Crawler", "URL", *dialects, *files], _side_by_side, len(dialects))
    print_site_settings(questions, moment)
    if hints.are_for_search(tally.blocked_agents):
        screen.print_lines(Text(hints.INDEX, "dim"))
    screen.print_note(str(tally))


def print_site_settings(questions: list[FileQuestions], moment: datetime | None) -> None:
    """Print visit times and pace at a time, if one is given, and what files say in comments."""
    file = ["File"] if len(questions) > 1 else []
    if moment is not None:
        print()
        headings = ["Crawler", "Dialect", f"Visits at {moment:%Y-%m-%d %H:%M} UTC", "Pace", *file]
        screen.print_table(headings, _paces(questions, moment))
    if comments := list(_comments(questions)):
        print()
        screen.print_table(["Crawler", "Dialect", "Comment from the site", *file], comments)


def _print_tables(
    tally: Tally,
    headings: list[str],
    row_of: Callable[[list[FileDecision]], list[Text]],
    width: int,
) -> None:
    """Print a row for each ``width`` answers; on Ctrl-C, those that are finished."""
    rows: list[list[Text]] = []
    try:
        for some in _batches(iter(tally), width):
            rows.append(row_of(some))
            if len(rows) == _MAX_TABLE_ROWS:
                with held:
                    _print_table(headings, rows)
                    rows.clear()
    finally:
        if rows:
            _print_table(headings, rows)


def _print_table(headings: list[str], rows: list[list[Text]]) -> None:
    """Print a table; the line that decides is below its URL if both do not fit in a row."""
    # Rows may have more cells than there are headings.
    columns = zip(headings, zip(*rows, strict=True), strict=False)
    widths = [max(len(name), *(cell.cell_len for cell in cells)) for name, cells in columns]
    if headings[-2:] == _URL_AND_LINE and sum(widths) + 2 * (len(widths) - 1) > screen.width():
        headings = [*headings[:-2], "URL and what decides"]
        rows = [[*row[:-2], Text.assemble(row[-2], "\n", row[-1])] for row in rows]
    screen.print_table(headings, rows)


def _batches(answers: Iterator[FileDecision], size: int) -> Iterator[list[FileDecision]]:
    while batch := list(islice(answers, size)):
        yield batch


def _coloured(text: str, is_good: bool) -> Text:
    return Text(text, "green" if is_good else "bold red")


def _row(answers: list[FileDecision]) -> list[Text]:
    """Return verdict, agent, URL and the line that decided."""
    (answer,) = answers
    style = "" if answer.decision.rule else "dim"
    verdict = _coloured(answer.verdict, answer.decision.allowed)
    return [verdict, Text(answer.agent), Text(answer.url), Text(answer.deciding_line, style)]


def _row_of_dialect(answers: list[FileDecision]) -> list[Text]:
    """Return verdict, dialect, agent, URL and the line that decided."""
    verdict, *others = _row(answers)
    return [verdict, Text(answers[0].decision.dialect.name), *others]


def _width_side_by_side(questions: list[FileQuestions]) -> int:
    """Return how wide a table with a column for each dialect is."""
    dialects = [max(len(each.dialect.name), _CELL) for each in questions[0].readings]
    agents = [len(agent) for each in questions for agent in each.agents]
    return max(agents) + _URL + sum(dialects) + 2 * (len(dialects) + 1)


def _side_by_side(answers: list[FileDecision]) -> list[Text]:
    """Return agent, URL, and each dialect's verdict with its line number."""
    differ = len({answer.decision.allowed for answer in answers}) > 1
    first = answers[0]
    return [
        Text(first.agent),
        Text(first.url, "yellow" if differ else ""),
        *map(_cell, answers),
        Text(first.file),
    ]


def _cell(answer: FileDecision) -> Text:
    allowed = answer.decision.allowed
    text = _coloured(answer.verdict, allowed)
    if answer.decision.rule is not None:
        text.append(f" :{answer.decision.rule.line}", "dim")
    elif answer.decision.why:
        text.append(f" {answer.decision.reason}", "dim")
    return text


def _paces(questions: list[FileQuestions], moment: datetime) -> Iterator[list[Text]]:
    """Yield the visit times and pace of all agents at a time."""
    for question in questions:
        for agent in question.agents:
            for robots in question.readings:
                cells = _pace(robots.rules_for(agent), moment, robots.dialect.name)
                yield [*cells, Text(question.file)]


def _pace(rules: Rules, moment: datetime, dialect: str) -> list[Text]:
    """Return whether an agent may visit at a time, and its pace."""
    is_open = rules.open_at(moment)
    windows = ", ".join(map(str, rules.visit_times))
    until = f"not before {rules.next_open(moment):%Y-%m-%d %H:%M}"
    welcome = _coloured("allowed" if is_open else until, is_open)
    if windows:
        welcome.append(f" (visit time {windows})", "dim")
    seconds = rules.interval(moment)
    if seconds is None:
        pace = "no limit at this time" if rules.request_rates else "no limit"
        pace += f"; rule of thumb: {_rule_of_thumb()}"
    else:
        pace = f"one request every {seconds:g} s"
    agent = printable(name_of(rules.agent))
    return [Text(agent), Text(dialect), welcome, Text(pace)]


def _rule_of_thumb() -> str:
    from ..politeness import RULE_OF_THUMB  # noqa: PLC0415 - most questions have no time

    times, least = RULE_OF_THUMB.times_fetch, RULE_OF_THUMB.at_least
    return f"{times:g} × the fetch time, at least {least:g} s"


def _comments(questions: list[FileQuestions]) -> Iterator[list[Text]]:
    """Yield the Comment lines for all agents."""
    for question in questions:
        for agent in question.agents:
            for robots in question.readings:
                for comment in robots.rules_for(agent).comments:
                    cells = (agent, robots.dialect.name, comment, question.file)
                    yield [Text(printable(cell)) for cell in cells]


def print_json(answers: CheckResults) -> None:
    """Print an array with an object for each answer, one per line."""
    before = "["
    try:
        for answer in answers.tally:
            record = _as_json(answer.record(answers.moment))
            with held:
                print(f"{before}\n  {record}", end="")
                before = ","
    finally:
        print("[]" if before == "[" else "\n]")


def _as_json(record: dict[str, Any]) -> str:
    """Return a record on one line; bytes that were not UTF-8 are U+FFFD, as in all JSON."""
    line = json.dumps(record)
    # Hardly any has a surrogate, and a million URLs have many records.
    return json.dumps(scalars(record)) if "\\ud" in line else line


def print_csv(answers: CheckResults) -> None:
    """Print a heading and a line for each answer."""
    from .csv import csv_line  # noqa: PLC0415 - needs `decimal`

    fields = FIELDS + FIELDS_OF_TIME if answers.moment else FIELDS
    screen.print_exact(csv_line(fields))
    for answer in answers.tally:
        record = answer.record(answers.moment)
        # The items of a list become lines of one cell.
        cells = ["\n".join(each) if type(each) is list else each for each in record.values()]
        with held:
            screen.print_exact(csv_line(cells))

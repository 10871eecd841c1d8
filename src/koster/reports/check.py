"""The answers of ``koster check``: as text, JSON and CSV."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from rich.text import Text

from ..politeness import RULE_OF_THUMB
from . import screen
from ._csv import csv_line
from .answers import FIELDS, FIELDS_OF_TIME, name_of
from .plain import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from ..robots import Rules
    from .answers import Answer, Question, Tally

_THUMB = (
    f"; rule of thumb: {RULE_OF_THUMB.times_fetch:g} × the fetch time, "
    f"at least {RULE_OF_THUMB.at_least:g} s"
)

#: The maximum rows of a table, to limit memory.
_MAX_TABLE_ROWS = 1000


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers to some questions; ``moment`` is the time for visit times and pace, if any."""

    tally: Tally
    questions: list[Question]
    moment: datetime | None


def print_text(answers: Answers) -> None:
    """Print tables, with several dialects side by side."""
    tally, questions, moment = answers.tally, answers.questions, answers.moment
    if not questions:
        return
    dialects = [robots.dialect.name for robots in questions[0].readings]
    file = ["File"] if len(questions) > 1 else []
    if len(dialects) == 1:
        _print_tables(tally, ["Verdict", "Robot", "URL", "Decided by"], _row, 1)
    else:
        # The file of a URL's own site needs no name.
        files = [] if any(question.own_name for question in questions) else file
        _print_tables(tally, ["Robot", "URL", *dialects, *files], _side_by_side, len(dialects))
    if moment is not None:
        print()
        headings = ["Robot", "Dialect", f"At {moment:%Y-%m-%d %H:%M} UTC", "Pace", *file]
        screen.print_table(headings, _paces(questions, moment))
    if comments := list(_comments(questions)):
        print()
        screen.print_table(["Robot", "Dialect", "The site says to its author", *file], comments)
    screen.print_note(str(tally))


def _print_tables(
    tally: Tally, headings: list[str], row_of: Callable[[list[Answer]], list[Text]], width: int
) -> None:
    """Print a row for each ``width`` answers."""
    rows = map(row_of, _batches(iter(tally), width))
    while batch := list(islice(rows, _MAX_TABLE_ROWS)):
        screen.print_table(headings, batch)


def _batches(answers: Iterator[Answer], size: int) -> Iterator[list[Answer]]:
    while batch := list(islice(answers, size)):
        yield batch


def _coloured(text: str, is_good: bool) -> Text:
    return Text(text, "green" if is_good else "bold red")


def _row(answers: list[Answer]) -> list[Text]:
    """Return verdict, agent, URL and the line that decided."""
    (answer,) = answers
    style = "" if answer.decision.rule else "dim"
    verdict = _coloured(answer.verdict, answer.decision.allowed)
    return [verdict, Text(answer.agent), Text(answer.url), Text(answer.deciding_line, style)]


def _side_by_side(answers: list[Answer]) -> list[Text]:
    """Return agent, URL, and each dialect's verdict with its line number."""
    differ = len({answer.decision.allowed for answer in answers}) > 1
    first = answers[0]
    return [
        Text(first.agent),
        Text(first.url, "yellow" if differ else ""),
        *map(_cell, answers),
        Text(first.file),
    ]


def _cell(answer: Answer) -> Text:
    allowed = answer.decision.allowed
    text = _coloured("yes" if allowed else "no", allowed)
    if answer.decision.rule is not None:
        text.append(f" :{answer.decision.rule.line}", "dim")
    elif answer.decision.why:
        text.append(f" {answer.decision.reason}", "dim")
    return text


def _paces(questions: list[Question], moment: datetime) -> Iterator[list[Text]]:
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
    until = f"closed until {rules.next_open(moment):%Y-%m-%d %H:%M}"
    welcome = _coloured("open" if is_open else until, is_open)
    if windows:
        welcome.append(f" (welcome {windows})", "dim")
    seconds = rules.interval(moment)
    if seconds is None:
        pace = ("none asked for at this time" if rules.request_rates else "none asked for") + _THUMB
    else:
        pace = f"one request in {seconds:g} s"
    agent = printable(name_of(rules.agent))
    return [Text(agent), Text(dialect), welcome, Text(pace)]


def _comments(questions: list[Question]) -> Iterator[list[Text]]:
    """Yield the Comment lines for all agents."""
    for question in questions:
        for agent in question.agents:
            for robots in question.readings:
                for comment in robots.rules_for(agent).comments:
                    cells = (agent, robots.dialect.name, comment, question.file)
                    yield [Text(printable(cell)) for cell in cells]


def print_json(answers: Answers) -> None:
    """Print an array with an object for each answer, one per line."""
    before = "["
    for answer in answers.tally:
        print(before + "\n  " + json.dumps(answer.record(answers.moment)), end="")
        before = ","
    print("[]" if before == "[" else "\n]")


def print_csv(answers: Answers) -> None:
    """Print a heading and a line for each answer."""
    fields = FIELDS + FIELDS_OF_TIME if answers.moment else FIELDS
    is_terminal = sys.stdout.isatty()
    print(csv_line(fields), end="")
    for answer in answers.tally:
        record = answer.record(answers.moment)
        cells = [_cell_of_csv(record[name]) for name in fields]
        if is_terminal:
            cells = [printable(each) if isinstance(each, str) else each for each in cells]
        print(csv_line(cells), end="")


def _cell_of_csv(value: object) -> object:
    """Return a value for CSV; the items of a list become lines of one cell."""
    return "\n".join(value) if isinstance(value, list) else value

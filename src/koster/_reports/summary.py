"""The answers of ``koster check`` about sitemaps, as text: too many to list them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from .._wording import count_noun
from ..model import text_of
from ..robots import Rules
from ..sitemaps import Blocked, BlockedUrls
from . import hints, screen
from .answers import FileDecision, FileQuestions, FileReading, name_of
from .check import print_site_settings
from .plain import printable, shorten
from .text import Text


@dataclass(frozen=True, slots=True)
class Section:
    """The URLs that a robots.txt, read in a dialect, blocks for a crawler."""

    question: FileQuestions
    reading: FileReading
    rules: Rules
    urls: BlockedUrls

    @property
    def has_blocking_rule(self) -> bool:
        """Whether a rule blocks one of the URLs: the fetch may have failed instead."""
        return any(each.decision.rule is not None for each in self.urls.by_line())

    @property
    def who(self) -> str:
        """The crawler, for output."""
        return printable(name_of(self.rules.agent))


@dataclass(slots=True)
class Summary:
    """Counts the URLs that are blocked, by robots.txt, crawler and dialect.

    Attributes:
        moment: The time for visit times and pace, if any.
        sitemaps: The number of sitemaps read.
        urls: The number of their URLs.
        errors: The number of errors in them.
    """

    moment: datetime | None
    sitemaps: int = 0
    urls: int = 0
    errors: int = 0
    _sections: dict[tuple[str, str, str], Section] = field(default_factory=dict)

    def add(self, questions: Iterable[FileQuestions]) -> None:
        """Answer some questions."""
        for question in questions:
            for agent in question.agents:
                for reading in question.readings:
                    key = question.file, agent, reading.dialect.name
                    section = self._sections.get(key)
                    if section is None:
                        section = self._sections[key] = _section(question, agent, reading)
                    section.urls.add(question.urls)

    @property
    def sections(self) -> list[Section]:
        """The counts, in the order of the questions."""
        return list(self._sections.values())

    @property
    def is_blocked(self) -> bool:
        """Whether any URL is blocked."""
        return any(each.urls.blocked for each in self.sections)

    @property
    def questions(self) -> list[FileQuestions]:
        """The files and crawlers, each once."""
        return list({each.question.file: each.question for each in self.sections}.values())


def _section(question: FileQuestions, agent: str, reading: FileReading) -> Section:
    rules = reading.rules_for(agent)
    urls = BlockedUrls(
        lambda url: reading.allowed(url, rules), lambda url: reading.decide(url, rules)
    )
    return Section(replace(question, urls=()), reading, rules, urls)


def print_text(summary: Summary) -> None:
    """Print the number of blocked URLs for each file and crawler, then what blocks them."""
    sections = summary.sections
    has_dialects = len({each.reading.dialect for each in sections}) > 1
    for section in sections:
        start = f"{section.question.file}: "
        screen.print_lines(_headline(start, [section], has_dialects), *_lines(section))
    if len(summary.questions) > 1:
        for alike in _by_crawler(sections):
            screen.print_lines(_headline("Total: ", alike, has_dialects))
    print_site_settings(summary.questions, summary.moment)
    blocked = (name_of(each.rules.agent) for each in sections if each.has_blocking_rule)
    if hints.are_for_search(blocked):
        screen.print_lines(Text(hints.INDEX, "dim"))
    urls, sitemaps = count_noun(summary.urls, "URL"), count_noun(summary.sitemaps, "sitemap")
    errors = f"; {count_noun(summary.errors, 'error')}" if summary.errors else ""
    screen.print_lines(Text(f"{urls} from {sitemaps}{errors}"))


def _headline(start: str, sections: list[Section], has_dialects: bool) -> Text:
    blocked = sum(each.urls.blocked for each in sections)
    checked = count_noun(sum(each.urls.checked for each in sections), "URL")
    dialect = f" by {sections[0].reading.dialect}" if has_dialects else ""
    return Text.assemble(
        (start, "bold"),
        (f"{blocked:,} of {checked} blocked", "bold red" if blocked else "green"),
        f" for {sections[0].who}{dialect}",
    )


def _lines(section: Section) -> Iterator[Text]:
    body_lines = section.reading.robots.body.splitlines()
    for blocked in section.urls.by_line():
        count = count_noun(blocked.count, "URL")
        such_as = ", such as:" if blocked.count > len(blocked.examples) else ":"
        yield Text.assemble(
            f"  {_deciding_line(section, blocked, body_lines)}  ", (count + such_as, "bold")
        )
        yield from (Text(f"      {shorten(url)}", "dim") for url in blocked.examples)


def _deciding_line(section: Section, blocked: Blocked, body_lines: list[bytes]) -> str:
    rule = blocked.decision.rule
    return FileDecision(
        file=section.question.file,
        name=section.question.name,
        decision=blocked.decision,
        text=text_of(body_lines[rule.line - 1]).strip() if rule else "",
        rules=section.rules,
        comments=[],
        one_of_several=False,
    ).deciding_line


def _by_crawler(sections: list[Section]) -> list[list[Section]]:
    """Return the sections of all files for each crawler and dialect."""
    found: dict[tuple[str, str], list[Section]] = {}
    for each in sections:
        found.setdefault((each.who, each.reading.dialect.name), []).append(each)
    return list(found.values())

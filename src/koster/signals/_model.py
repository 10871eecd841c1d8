"""What a site says about the use of a page: statements, and what they amount to."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Self


class Use(enum.StrEnum):
    """What a page may be used for, in the order of reports."""

    SEARCH = "search"
    """Find it by a search engine, which links to it."""
    SNIPPET = "snippet"
    """Show an excerpt of it in results."""
    ARCHIVE = "archive"
    """Show a copy of it, or keep one."""
    AI_INPUT = "ai-input"
    """Answer a question with it: grounding, retrieval, summaries."""
    AI_TRAIN = "ai-train"
    """Train models on it."""
    TDM = "tdm"
    """Text and data mining, in the words of EU Directive 2019/790."""

    @classmethod
    def _missing_(cls, value: object) -> Use | None:
        return _OTHER_NAMES.get(value.lower()) if isinstance(value, str) else None


#: Other names of uses.
_OTHER_NAMES = {"index": Use.SEARCH, "train-ai": Use.AI_TRAIN}


class Stated(enum.StrEnum):
    """What is stated about a use."""

    YES = "yes"
    NO = "no"
    UNSTATED = "unstated"
    """Nothing is."""
    UNDECIDED = "undecided"
    """The specification does not say what this means, or a source could not be read."""
    CONFLICT = "conflict"
    """Sources contradict one another; the most restrictive one counts."""


class Status(enum.StrEnum):
    """How binding a specification is."""

    STANDARD = "standard"
    REPORT = "community report"
    DRAFT = "draft"
    EXPIRED = "expired draft"
    POLICY = "company's policy"
    CONVENTION = "convention"


@dataclass(frozen=True, slots=True)
class Grammar:
    """A way to state preferences.

    Attributes:
        name: Its name in results.
        title: What it is, in a few words.
        status: How binding its specification is.
        revision: Which one, with its date: ``-05, 2026-08-18``.
        source: The URL of the specification.
        checked: The day on which it was read.
    """

    name: str
    title: str
    status: Status
    revision: str
    source: str
    checked: str = "2026-11-30"

    @property
    def standing(self) -> str:
        """The status with the revision."""
        return f"{self.status} ({self.revision})" if self.revision else str(self.status)


@dataclass(frozen=True, slots=True)
class Statement:
    """A source states something about a use.

    Attributes:
        grammar: How it does so.
        where: The place: ``robots.txt, line 4``, ``header X-Robots-Tag``.
        text: The words there.
        use: The use.
        stated: YES, NO or UNDECIDED.
        crawler: The product token of whom it binds; empty: everybody.
        line: The line in the robots.txt, if it is there.
    """

    grammar: Grammar
    where: str
    text: str
    use: Use
    stated: Stated
    crawler: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class License:
    """A license that a source names: a URL, where it is named, and whether it is to be RSL."""

    url: str
    where: str
    is_rsl: bool = False


@dataclass(frozen=True, slots=True)
class Unseen:
    """A statement that a crawler never sees, or that has no effect, and why."""

    signal: str
    where: str
    crawler: str
    because: str


@dataclass(slots=True)
class Reading:
    """What one source states.

    Attributes:
        statements: About uses of the page.
        notes: What was ignored and why, and what does not fit into a use.
        licenses: The licenses that it names.
        embedded: License documents within the source, each with its place.
        unseen: What has no effect as the page may not be fetched.
        unread: What could not be read, and why.
    """

    statements: list[Statement] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    licenses: list[License] = field(default_factory=list)
    embedded: list[tuple[str, bytes]] = field(default_factory=list)
    unseen: list[Unseen] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def __iadd__(self, other: Reading) -> Self:
        self.statements += other.statements
        self.notes += other.notes
        self.licenses += other.licenses
        self.embedded += other.embedded
        self.unseen += other.unseen
        self.unread += other.unread
        return self


@dataclass(frozen=True, slots=True)
class Crawl:
    """Whether a crawler may fetch the page: with the line and text of the rule that decides."""

    crawler: str
    allowed: bool
    line: int | None
    rule: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What is stated about a use, to a crawler or (empty) everybody, and by which statements."""

    use: Use
    stated: Stated
    crawler: str
    statements: tuple[Statement, ...]

    @property
    def effective(self) -> Stated:
        """What counts: of statements that contradict one another, the most restrictive."""
        return Stated.NO if self.stated is Stated.CONFLICT else self.stated


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two statements about a use that contradict each other."""

    use: Use
    crawler: str
    yes: Statement
    no: Statement


@dataclass(frozen=True, slots=True)
class Signals:
    """Everything that was found about a page.

    Attributes:
        url: Its URL.
        crawl: Whether crawlers may fetch it.
        answers: For each use what is stated to everybody, then to single crawlers, if anything is.
        unseen: What crawlers never see.
        conflicts: What contradicts what.
        licenses: The licenses that sources name.
        notes: What was ignored and why, and what no use stands for.
        unread: Sources that could not be read, and why: then nothing is called unstated.
    """

    url: str
    crawl: tuple[Crawl, ...]
    answers: tuple[Answer, ...]
    unseen: tuple[Unseen, ...]
    conflicts: tuple[Conflict, ...]
    licenses: tuple[License, ...]
    notes: tuple[str, ...]
    unread: tuple[str, ...]

    def of(self, use: Use, crawler: str = "") -> Answer:
        """Return what is stated about a use to a crawler; what is stated to all binds it, too."""
        by_crawler = {each.crawler.lower(): each for each in self.answers if each.use is use}
        return by_crawler.get(crawler.lower()) or by_crawler[""]

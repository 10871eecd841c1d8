"""The questions and answers of ``koster check``, before formatting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .._asking import allowed_as_browsers_read, decide_as_sent, rules_for_data, url_as_sent
from ..crawlers import agent_for
from ..decisions import Decision, Reason
from ..dialects import Dialect
from ..model import text_of
from ..robots import RobotsTxt, Rules, parse
from .plain import printable, shorten

if TYPE_CHECKING:
    from ..access import Outcome

#: The text for decisions without a rule.
_WITHOUT_A_RULE = {
    Reason.NO_RULE: "no rule matches",
    Reason.NO_GROUP: "no group for this crawler",
    Reason.ROBOTS_TXT: "/robots.txt itself is always allowed",
    Reason.URL_TOO_LONG: "the URL is too long for the many patterns of the file",
    Reason.UNAVAILABLE: "no robots.txt",
    Reason.UNREACHABLE: "fetching its robots.txt failed",
    Reason.FORBIDDEN: "its robots.txt is forbidden",
}


@dataclass(frozen=True, slots=True)
class FileReading:
    """A file in a dialect; with an ``outcome`` without a file, ``robots`` is empty."""

    robots: RobotsTxt
    outcome: Outcome | None = None

    @property
    def dialect(self) -> Dialect:
        """How the file is read."""
        return self.robots.dialect

    def rules_for(self, agent: str) -> Rules:
        """Return the rules of a crawler, with the fallbacks of known ones."""
        return rules_for_data(self.robots, agent_for(agent))

    def allowed(self, url: str, rules: Rules) -> bool:
        """Tell whether `decide` allows a URL; faster."""
        if self.outcome is None:
            return rules.allowed(url_as_sent(rules, url))
        if self.outcome.reason is None:
            return allowed_as_browsers_read(rules, url)
        return self.outcome.decide_by(rules, url).allowed

    def decide(self, url: str, rules: Rules) -> Decision:
        """Decide by a crawler's rules, or by the outcome of the fetch."""
        if self.outcome is not None:
            return self.outcome.decide_by(rules, url)
        return decide_as_sent(rules, url)


def name_of(agent: str | Sequence[str]) -> str:
    """Return the name of an agent: of a sequence, the first."""
    return agent if isinstance(agent, str) else agent[0]


def reading_of(outcome: Outcome) -> FileReading:
    """Return the outcome of a fetch as a reading."""
    return FileReading(outcome.robots or parse(b"", outcome.dialect), outcome)


@dataclass(frozen=True, slots=True)
class FileQuestions:
    """A file in some dialects, with the agents and URLs to decide about.

    ``file``: its name; ``own_name``: its name beside URLs of its own site, if it was fetched
    for them.
    """

    file: str
    readings: tuple[FileReading, ...]
    agents: tuple[str, ...]
    urls: tuple[str, ...]
    own_name: str = ""

    @property
    def name(self) -> str:
        """The name for output."""
        return self.own_name or self.file


@dataclass(frozen=True, slots=True)
class FileDecision:
    """A decision, with its file and the text of the line that decided."""

    file: str
    name: str
    decision: Decision
    text: str
    rules: Rules
    comments: list[str]
    one_of_several: bool

    @property
    def verdict(self) -> str:
        """The decision as one word."""
        return "allowed" if self.decision.allowed else "blocked"

    @property
    def agent(self) -> str:
        """The agent, for output."""
        return printable(name_of(self.decision.agent))

    @property
    def url(self) -> str:
        """The URL, for output."""
        return shorten(self.decision.url)

    @property
    def deciding_line(self) -> str:
        """``robots.txt:12: Disallow: /private``, or why no line decided."""
        rule = self.decision.rule
        if rule is None:
            file = f"{self.name}: " if self.one_of_several else ""
            why = f" ({shorten(self.decision.why)})" if self.decision.why else ""
            return file + _WITHOUT_A_RULE[self.decision.reason] + why
        fallback = self.decision.falls_back_to
        remark = f" (falls back to {fallback})" if fallback else ""
        return f"{self.name}:{rule.line}: {shorten(self.text)}{remark}"

    def record(self, moment: datetime | None) -> dict[str, Any]:
        """Return the fields of JSON and CSV; ``moment`` adds visit times and pace."""
        rule = self.decision.rule
        fields = {
            "allowed": self.decision.allowed,
            "agent": name_of(self.decision.agent),
            "url": self.decision.url,
            "reason": self.decision.reason.value,
            "file": self.file,
            "line": rule.line if rule else None,
            "rule": str(rule) if rule else None,
            "text": self.text if rule else None,
            "dialect": self.decision.dialect.name,
            "falls_back_to": self.decision.falls_back_to or None,
            "comments": self.comments,
            "why": self.decision.why or None,
        }
        return fields | times(self.rules, moment) if moment else fields


class Tally:
    """Counts answers while they are iterated."""

    def __init__(self, answers: Iterator[FileDecision]) -> None:
        self._answers = answers
        self.allowed = 0
        self.blocked = 0
        #: The agents that a rule blocks.
        self.blocked_agents: set[str] = set()

    def __iter__(self) -> Iterator[FileDecision]:
        for answer in self._answers:
            if answer.decision.allowed:
                self.allowed += 1
            else:
                self.blocked += 1
                if answer.decision.rule is not None:
                    self.blocked_agents.add(name_of(answer.decision.agent))
            yield answer

    def __str__(self) -> str:
        return f"{self.allowed:,} allowed, {self.blocked:,} blocked"


def answers(questions: list[FileQuestions]) -> Iterator[FileDecision]:
    """Yield all answers: by file, agent and URL, then by dialect."""
    for question in questions:
        # Fetches for several dialects may differ: one may have failed.
        files = [reading.robots.body.splitlines() for reading in question.readings]
        for agent in question.agents:
            all_rules = [reading.rules_for(agent) for reading in question.readings]
            all_comments = [list(rules.comments) for rules in all_rules]
            for url in question.urls:
                for reading, lines, rules, comments in zip(
                    question.readings, files, all_rules, all_comments, strict=True
                ):
                    decision = reading.decide(url, rules)
                    text = text_of(lines[decision.rule.line - 1]) if decision.rule else ""
                    several = len(questions) > 1 and not question.own_name
                    yield FileDecision(
                        file=question.file,
                        name=question.name,
                        decision=decision,
                        text=text.strip(),
                        rules=rules,
                        comments=comments,
                        one_of_several=several,
                    )


#: The fields of an answer's record, in their order.
FIELDS = (
    "allowed", "agent", "url", "reason", "file", "line", "rule", "text", "dialect",
    "falls_back_to", "comments", "why",
)  # fmt: skip
#: The additional fields with a time.
FIELDS_OF_TIME = ("at", "open", "visit_times", "next_open", "interval")


def times(rules: Rules, moment: datetime) -> dict[str, Any]:
    """Return visit times and pace at a time."""
    return {
        "at": moment.isoformat(),
        "open": rules.open_at(moment),
        "visit_times": [str(window) for window in rules.visit_times],
        "next_open": rules.next_open(moment).isoformat(),
        "interval": rules.interval(moment),
    }

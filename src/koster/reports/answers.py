"""The questions and answers of ``koster check``, before they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..model import Reason, text_of
from ..robots import parse
from .plain import printable, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from ..access import Outcome
    from ..dialects import Dialect
    from ..model import Decision
    from ..robots import RobotsTxt, Rules

#: What is shown where no line decided.
_WITHOUT_A_RULE = {
    Reason.NO_RULE: "no rule matches",
    Reason.NO_GROUP: "no group for this robot",
    Reason.ROBOTS_TXT: "/robots.txt itself is always allowed",
    Reason.UNAVAILABLE: "no robots.txt",
    Reason.UNREACHABLE: "fetching its robots.txt failed",
    Reason.FORBIDDEN: "its robots.txt is forbidden",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """A file in a dialect, or what fetching it gave instead; ``robots`` then is an empty one."""

    robots: RobotsTxt
    outcome: Outcome | None = None

    @property
    def dialect(self) -> Dialect:
        """How the file is read."""
        return self.robots.dialect

    def rules_for(self, agent: str) -> Rules:
        """Return the rules of a robot."""
        return self.robots.rules_for(agent)

    def decide(self, url: str, rules: Rules) -> Decision:
        """Decide by a robot's rules, or by why there are none."""
        if self.outcome is not None:
            return self.outcome.decide_by(rules, url)
        return rules.decide(url)


def reading_of(outcome: Outcome) -> Reading:
    """Return what fetching a file gave, as a reading."""
    return Reading(outcome.robots or parse(b"", outcome.dialect), outcome)


@dataclass(frozen=True, slots=True)
class Question:
    """A file in some dialects, the robots that ask about it, and the URLs that they ask for.

    ``file``: its name; ``own_name``: its name beside URLs of its own site, if it was fetched
    for them.
    """

    file: str
    readings: tuple[Reading, ...]
    agents: tuple[str, ...]
    urls: tuple[str, ...]
    own_name: str = ""

    @property
    def name(self) -> str:
        """The name to be shown."""
        return self.own_name or self.file


@dataclass(frozen=True, slots=True)
class Answer:
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
        """The decision in a word."""
        return "allowed" if self.decision.allowed else "disallowed"

    @property
    def agent(self) -> str:
        """Who asks, to be shown."""
        return printable(str(self.decision.agent))

    @property
    def url(self) -> str:
        """What is asked for, to be shown."""
        return shortened(self.decision.url)

    @property
    def place(self) -> str:
        """``robots.txt:12: Disallow: /private``, or why no line decided."""
        rule = self.decision.rule
        if rule is None:
            file = f"{self.name}: " if self.one_of_several else ""
            why = f" ({shortened(self.decision.why)})" if self.decision.why else ""
            return file + _WITHOUT_A_RULE[self.decision.reason] + why
        return f"{self.name}:{rule.line}: {shortened(self.text)}"

    def record(self, moment: datetime | None) -> dict[str, Any]:
        """Return the fields of JSON and CSV; ``moment`` adds what holds then."""
        rule = self.decision.rule
        fields = {
            "allowed": self.decision.allowed,
            "agent": self.decision.agent,
            "url": self.decision.url,
            "reason": self.decision.reason.value,
            "file": self.file,
            "line": rule.line if rule else None,
            "rule": str(rule) if rule else None,
            "text": self.text if rule else None,
            "dialect": self.decision.dialect.name,
            "comments": self.comments,
            "why": self.decision.why or None,
        }
        return fields | times(self.rules, moment) if moment else fields


class Tally:
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
        return f"{self.allowed:,} allowed, {self.disallowed:,} disallowed"


def answers(questions: list[Question]) -> Iterator[Answer]:
    """Go through all answers: by file, robot and URL, then by dialect."""
    for question in questions:
        lines = question.readings[0].robots.body.splitlines()
        for agent in question.agents:
            ruled = [reading.rules_for(agent) for reading in question.readings]
            said = [list(rules.comments) for rules in ruled]
            for url in question.urls:
                for reading, rules, comments in zip(question.readings, ruled, said, strict=True):
                    decision = reading.decide(url, rules)
                    text = text_of(lines[decision.rule.line - 1]) if decision.rule else ""
                    several = len(questions) > 1 and not question.own_name
                    yield Answer(
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
    *("allowed", "agent", "url", "reason", "file", "line", "rule", "text", "dialect"),
    *("comments", "why"),
)
#: Those that it has besides, with a moment.
FIELDS_OF_TIME = ("at", "open", "visit_times", "next_open", "interval")


def times(rules: Rules, moment: datetime) -> dict[str, Any]:
    """Return what the file says about a moment: whether it is open, and the pace."""
    return {
        "at": moment.isoformat(),
        "open": rules.open_at(moment),
        "visit_times": [str(window) for window in rules.visit_times],
        "next_open": rules.next_open(moment).isoformat(),
        "interval": rules.interval(moment),
    }

"""What koster decides: whether a crawler may fetch a URL, with the reason and the line."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from .dialects import Dialect
from .model import Group, Rule, Value


class Reason(enum.StrEnum):
    """The reason of a decision."""

    RULE = "rule"
    """A rule matches; see ``rule`` of the decision."""
    NO_RULE = "no rule"
    """A group applies to the crawler, but none of its rules matches."""
    NO_GROUP = "no group"
    """No group applies to the crawler, and there is no group for ``*``."""
    ROBOTS_TXT = "robots.txt"
    """/robots.txt itself is always allowed."""
    URL_TOO_LONG = "URL too long"
    """The URL is too long to be compared with the many patterns of the file: it is disallowed."""
    UNAVAILABLE = "unavailable"
    """The site has no robots.txt (4xx)."""
    UNREACHABLE = "unreachable"
    """Fetching the site's robots.txt failed (5xx, network)."""
    FORBIDDEN = "forbidden"
    """The robots.txt is forbidden (401, 403), and the dialect then disallows everything."""


_SENTENCES = {
    Reason.RULE: "{verdict}: line {line}, {rule}",
    Reason.NO_RULE: "{verdict}: no rule matches",
    Reason.NO_GROUP: "{verdict}: no group applies",
    Reason.ROBOTS_TXT: "{verdict}: /robots.txt itself is always allowed",
    Reason.URL_TOO_LONG: "{verdict}: the URL is too long for the many patterns of the file",
    Reason.UNAVAILABLE: "{verdict}: the site has no robots.txt",
    Reason.UNREACHABLE: "{verdict}: fetching the site's robots.txt failed",
    Reason.FORBIDDEN: "{verdict}: access to robots.txt is forbidden",
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decision(Value):
    """Whether a crawler may fetch a URL, and which line decides.

    ``bool(decision)`` is ``decision.allowed``; ``str(decision)`` is one sentence. ``rule`` is
    the rule that decides and ``group`` its group. If no rule decides, ``group`` is the first group
    that applies to the crawler, if any. ``why`` is the error if fetching the site's file failed,
    else empty. ``falls_back_to`` is the name in ``agent`` whose group applies, if it is not the
    first one, else empty.
    """

    allowed: bool
    reason: Reason
    rule: Rule | None
    group: Group | None
    agent: str | tuple[str, ...]
    url: str
    dialect: Dialect
    why: str = ""
    falls_back_to: str = ""

    def __bool__(self) -> bool:
        return self.allowed

    def __str__(self) -> str:
        names = (self.agent,) if isinstance(self.agent, str) else self.agent
        agent = (names and names[0]) or "A crawler without a name"
        verdict = f"{agent} may{'' if self.allowed else ' not'} fetch {self.url}"
        line = self.rule.line if self.rule else 0
        sentence = _SENTENCES[self.reason].format(verdict=verdict, line=line, rule=self.rule)
        if self.why:
            sentence += f" ({self.why})"
        if self.falls_back_to:
            sentence += f" (falls back to {self.falls_back_to})"
        return sentence.encode("utf-8", "backslashreplace").decode("utf-8")

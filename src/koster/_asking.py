# cython: nonecheck=True
"""What other parts of koster ask: `RobotsTxt` and `Rules` without checks for misuse.

A name that comes from data may be any string.
"""

from __future__ import annotations

from dataclasses import replace

from ._urls import is_read_as_written
from .origins import as_browsers_read, as_sent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ._engine.document import File
    from ._engine.selection import Selection
    from .decisions import Decision
    from .directives import Preference, Values
    from .robots import RobotsTxt, Rules


def interval_line(rules: Rules, now: datetime) -> tuple[int, str] | None:
    """Return the line that sets the interval between requests: its number and text."""
    return rules._values().interval_line(now)


def values_of(rules: Rules) -> tuple[Values, Values]:
    """Return the values that apply to a crawler: those of the whole file, and of its groups."""
    return rules._file_values(), rules._values()


def preferences_if_fetched(rules: Rules, url: str) -> tuple[Preference, ...]:
    """Return the preferences for a URL, also those that have no effect as it may not be fetched."""
    return rules._preferences_for(url, True)


def rules_for_question(robots: RobotsTxt, url: str, agent: str | Sequence[str]) -> Rules:
    """Return the rules of a crawler for a question about a URL; see `RobotsTxt.allowed`."""
    return robots._rules_for(agent, url)


def rules_for_data(robots: RobotsTxt, agent: str | Sequence[str]) -> Rules:
    """Return the rules of a crawler whose name comes from data: any string, even a URL."""
    return robots._rules_for(agent, "/")


def allowed_for_data(robots: RobotsTxt, url: str, agent: str | Sequence[str]) -> bool:
    """Tell whether a crawler may fetch a URL; see `rules_for_data`."""
    return robots._rules_for(agent, "/")._verdict(url)


def allowed_as_browsers_read(rules: Rules, url: str) -> bool:
    """Tell whether a crawler may fetch a URL, as browsers read it: each decision of a client."""
    if type(url) is not str or not is_read_as_written(url) or rules._is_literal:
        url = url_to_fetch(rules, url)
    return rules._verdict(url)


def url_to_fetch(rules: Rules, url: str) -> str:
    """Return the URL to decide about for one that a crawler is to fetch: as browsers read it."""
    return url_as_sent(rules, as_browsers_read(url))


def url_as_sent(rules: Rules, url: str) -> str:
    """Return a URL with the escapes that clients send, if the dialect compares it as it is.

    `GOOGLE` escapes characters beyond ASCII in patterns only.
    """
    return as_sent(url) if rules._is_literal else url


def decide_as_sent(rules: Rules, url: str) -> Decision:
    """Return the decision about a URL as clients send it; see `url_as_sent`."""
    decision = rules.decide(url_as_sent(rules, url))
    return decision if decision.url == url else replace(decision, url=url)


def decision_by(rules: Rules, url: str, number: int) -> Decision:
    """Return the decision about a URL by a rule, by its number; see `Selection.number_for`."""
    return rules._decision(url, number, rules._table)


def file_of(robots: RobotsTxt) -> File:
    """Return the engine's view of a parsed file: for `koster.analysis` and `koster.lint`."""
    return robots._file


def selection_of(rules: Rules) -> Selection:
    """Return the engine's view of a crawler's rules: for `koster.analysis` and `koster.lint`."""
    return rules._selection

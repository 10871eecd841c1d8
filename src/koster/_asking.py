# cython: nonecheck=True
"""What other parts of koster ask: `RobotsTxt` and `Rules` without checks for misuse.

A name that comes from data may be any string. Facades ask with one call, which is a part of their
cost (``make bench``, facades).
"""

from __future__ import annotations

from ._urls import is_read_as_written
from .origins import as_browsers_read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from .directives import Values
    from .engine.document import File
    from .engine.selection import Selection
    from .robots import RobotsTxt, Rules


def interval_line(rules: Rules, now: datetime) -> tuple[int, str] | None:
    """Return the line that sets the interval between requests: its number and text."""
    return rules._values().interval_line(now)


def values_of(rules: Rules) -> tuple[Values, Values]:
    """Return the values that apply to a crawler: those of the whole file, and of its groups."""
    return rules._file_values(), rules._values()


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
    if type(url) is not str or not is_read_as_written(url):
        url = as_browsers_read(url)
    return rules._verdict(url)


def allowed_within(
    robots: RobotsTxt,
    prefix: str | None,
    escapes: tuple[tuple[str, str], ...],
    url: object,
    agent: object,
) -> bool | None:
    """Decide about a URL that starts with a prefix, after replacing some escapes; else return None.

    Otherwise like `allowed_for_data`. Facades would need several calls for this.
    """
    if type(url) is not str or type(agent) is not str or prefix is None:
        return None
    # In compiled modules, the type of this variable is str.
    text = url
    if not text.startswith(prefix):
        return None
    if "%" in text:
        for escape, character in escapes:
            if escape in text:
                text = text.replace(escape, character)
    return robots._rules_for(agent, "/")._verdict(text)


def allowed_unless(
    robots: RobotsTxt, parts: tuple[str, ...], end: str, url: object, agent: object
) -> bool | None:
    """Decide about a URL without some parts and that end, for an ASCII agent; else return None.

    Otherwise like `allowed_for_data`, and for the same reason as `allowed_within`.
    """
    if type(url) is not str or type(agent) is not str:
        return None
    text, name = url, agent
    for part in parts:
        if part in text:
            return None
    if text.endswith(end) or not name.isascii():
        return None
    return robots._rules_for(agent, "/")._verdict(text)


def file_of(robots: RobotsTxt) -> File:
    """Return the engine's view of a parsed file: for `koster.analysis` and `koster.lint`."""
    return robots._file


def selection_of(rules: Rules) -> Selection:
    """Return the engine's view of a crawler's rules: for `koster.analysis` and `koster.lint`."""
    return rules._selection

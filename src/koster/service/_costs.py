"""How much work a request is: the server answers only what takes it a few milliseconds."""

from __future__ import annotations

from collections.abc import Sequence

from .. import COMPILED
from .._worker.files import File, body_of
from ..dialects import Dialect, Patterns

#: Nanoseconds that the server may spend on a request.
_MAX_TIME = 2_500_000

#: How much slower plain Python is.
_SLOWER = 1 if COMPILED else 20

#: Nanoseconds, measured with the slowest files and URLs: for each byte of a file to read it, and
#: again for each agent; for an agent, and each of its characters; for a question, and each
#: character of its URL; for each byte after a wildcard that may be compared with such a character.
_READ = 60
_READ_FOR_AGENT = 20
_AGENT = 20_000
_AGENT_CHARACTER = 100
_QUESTION = 20_000
_URL_CHARACTER = 200
_COMPARED = 1

#: The maximum bytes of a file for dialects with shell patterns, which are slower.
_MAX_SHELL_FILE = 2 * 1024


def is_small(
    file: File, dialect: Dialect, agents: Sequence[str] = (), urls: Sequence[str] = ()
) -> bool:
    """Return whether a request is small enough for the server itself."""
    body = body_of(file)
    readings = [dialect.reading, *dialect.versions.values()]
    has_shell = any(reading.patterns == Patterns.SHELL for reading in readings)
    if has_shell and len(body) > _MAX_SHELL_FILE:
        return False
    characters = sum(map(len, urls))
    per_agent = (
        _READ_FOR_AGENT * len(body)
        + _AGENT
        + _QUESTION * len(urls)
        + _URL_CHARACTER * characters
        + _COMPARED * characters * _compared(body, max(map(len, urls), default=0))
    )
    total = _READ * len(body) + len(agents) * per_agent + _AGENT_CHARACTER * sum(map(len, agents))
    return total * _SLOWER <= _MAX_TIME


def _compared(body: bytes, longest: int) -> int:
    """Return the bytes after wildcards that may be compared at each character of a URL."""
    return min(len(body), body.count(b"*") * longest)

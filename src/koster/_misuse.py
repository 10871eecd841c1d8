"""Mistakes that would pass silently: swapped arguments, and a location in place of a file.

In `urllib.robotparser` the agent comes first, so callers swap ``url`` and ``agent``. Every string
gets a decision, and that of a swapped call is nearly always *allowed*.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

#: Names of crawlers are longer.
_MIN_NAME = 2

#: One line without a colon that no robots.txt has: it begins as a path, or ends in ".txt" and is no
#: comment.
_FILE_NAME = re.compile(
    r"(?:[A-Za-z]:[\\/]|\\|~|/|\.\.?[\\/])[^:\r\n\0]+|[^#:\r\n\0][^:\r\n\0]*\.txt", re.IGNORECASE
)

#: A longer text is not the name of a file: PATH_MAX of Linux.
_MAX_PATH = 4096

#: The maximum number of characters of an argument in a message.
_MAX_SHOWN = 80


def is_url(text: str) -> bool:
    """Return whether text is an absolute URL.

    >>> is_url("https://example.com/"), is_url("FooBot/1.0 (+https://foo.example/bot)")
    (True, False)
    """
    scheme, mark, _ = text.lstrip().partition("://")
    letters = scheme.replace("+", "").replace("-", "").replace(".", "")
    return bool(mark) and scheme.isascii() and scheme[:1].isalpha() and letters.isalnum()


def is_location(text: str) -> bool:
    """Return whether text is an absolute URL or a path."""
    return text.lstrip().startswith("/") or is_url(text)


def checked_agent(agent: object) -> str | tuple[str, ...]:
    """Return an agent as a str or a tuple of them.

    Raises:
        TypeError: it is neither a str nor a sequence of them.
    """
    if isinstance(agent, str):
        return str.__str__(agent)
    if isinstance(agent, Sequence) and not isinstance(agent, (bytes, bytearray, memoryview)):
        for name in agent:
            if not isinstance(name, str):
                raise TypeError(f"agent must be made of str, not {type(name).__name__}")
        return tuple([str.__str__(name) for name in agent])
    raise TypeError(f"agent must be a str or a sequence of str, not {type(agent).__name__}")


def check_order(url: object, agent: object) -> None:
    """Check that ``url`` and ``agent`` are not swapped.

    They are if the agent is a URL and the URL is not a URL or path, or if the agent is a path and
    the URL could be the name of a crawler.

    Raises:
        ValueError: they are swapped.
    """
    if not isinstance(url, str) or not isinstance(agent, str) or is_location(url):
        return
    if is_url(agent) or (is_location(agent) and _could_be_agent(url)):
        raise ValueError(
            "arguments are swapped: pass the URL first, then the agent: "
            f"({_shown(agent)}, {_shown(url)})"
        )


def _could_be_agent(text: str) -> bool:
    return text == "*" or (len(text) > _MIN_NAME and text[0].isascii() and text[0].isalpha())


def check_agent(agent: object, correct: str, name: str = "agent") -> None:
    """Check that an agent is not a URL; ``correct`` says what to do instead.

    ``name`` is the name of the argument.

    Raises:
        ValueError: it is.
    """
    if isinstance(agent, str) and is_url(agent):
        raise ValueError(
            f"{name} must be a product token or a User-Agent header, not the URL "
            f"{_shown(agent)}: {correct}"
        )


def _shown(argument: object) -> str:
    text = repr(argument)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def warn_if_location(body: str) -> None:
    """Warn if text that is to be parsed is a URL or looks like the name of a file."""
    start = body[:8].lower()
    if start.startswith(("http://", "https://")):
        warn_caller(
            f"koster.parse() takes the content of a robots.txt, not its URL {_shown(body)}: "
            "to fetch it, call koster.RobotsClient(user_agent).robots(url)"
        )
    elif len(body) <= _MAX_PATH and _FILE_NAME.fullmatch(body):
        warn_caller(
            "koster.parse() takes the content of a robots.txt, not the name of a file: "
            f"call koster.parse_file({_shown(body)})"
        )


def warn_caller(message: str) -> None:
    """Warn at the line of the caller of koster; compiled functions have no frame."""
    import warnings  # noqa: PLC0415 - only here

    frame, level = sys._getframe(1), 2  # noqa: SLF001 - as `warnings` itself does
    while frame.f_back and str(frame.f_globals.get("__name__")).startswith(f"{__package__}."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, UserWarning, stacklevel=level)

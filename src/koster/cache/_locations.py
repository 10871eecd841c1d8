"""The location of a cache: a path, or the URL of a server."""

from __future__ import annotations

import os
import re
from difflib import get_close_matches
from typing import Any

_SERVERS = ("redis", "rediss", "unix")

_EXAMPLE = "redis://localhost:6379/0"
_WHAT = f"pass the path of a file, or a URL such as {_EXAMPLE}"


def server_url(location: str | os.PathLike[str]) -> str | None:
    """Return the URL of the Redis server that a location is, or None if it is a path.

    Raises:
        TypeError: the location is neither a str nor a path.
        ValueError: it is empty, or a URL of another kind.
    """
    text: Any = os.fspath(location)
    if not isinstance(text, str):
        kind = type(text).__name__
        raise TypeError(f"the location of a cache must be a str, not {kind}: {_WHAT}")
    if not text.strip():
        raise ValueError(f"the location of a cache is empty: {_WHAT}")
    url = re.match(r"([a-z][a-z0-9+.-]+):(//?)", text, re.IGNORECASE)
    if url is None:
        if re.fullmatch(r"(rediss?:.*|[\w.-]+:[0-9]+(/[0-9]*)?)", text, re.IGNORECASE):
            raise ValueError("the URL of a Redis server begins with redis://, as in " + _EXAMPLE)
        return None
    scheme = url[1].lower()
    if scheme in _SERVERS or "redis+" in scheme:
        if url[2] == "//" and isinstance(location, str):
            return str(text)
        # `pathlib` makes one slash of two.
        raise ValueError(f"the URL of a Redis server must be a str that begins with {scheme}://")
    # Messages do not repeat the URL: it may have a password.
    if scheme in ("sqlite", "file"):
        raise ValueError(f"unknown scheme {scheme!r} of a cache: pass the path without a scheme")
    hint = "did you mean redis://?" if get_close_matches(scheme, _SERVERS) else _WHAT
    raise ValueError(f"unknown scheme {scheme!r} of a cache: {hint}")

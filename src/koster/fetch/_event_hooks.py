"""Event hooks for clients of httpx and httpx2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._async.hooks import Hooks as AsyncHooks
from ._sync.hooks import Hooks
from .sync import RobotsClient

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .aio import AsyncRobotsClient


def event_hooks(robots: RobotsClient | AsyncRobotsClient) -> dict[str, list[Callable[..., Any]]]:
    """Return the ``event_hooks`` of an httpx client that obeys robots.txt with every request.

    A request waits for its turn, and raises `NotAllowedError` if the crawler may not fetch the URL.
    With ``uses``, so does a page that may not be used; to find that out, HTML is read to its end.
    Redirects that the HTTP client follows are requests of their own.

    Args:
        robots: The client that decides: a `RobotsClient` for ``httpx.Client``, an
            `AsyncRobotsClient` for ``httpx.AsyncClient``. It may fetch through the same HTTP
            client.
    """
    hooks = Hooks(robots) if isinstance(robots, RobotsClient) else AsyncHooks(robots)
    return {"request": [hooks.request], "response": [hooks.response]}

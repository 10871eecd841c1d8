"""Event hooks for clients of httpx and httpx2."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from ._arguments import name_of_type
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
    Answers to HEAD have no page.
    Redirects that the HTTP client follows are requests of their own.

    Args:
        robots: The client that decides: a `RobotsClient` for ``httpx.Client``, an
            `AsyncRobotsClient` for ``httpx.AsyncClient``. It may fetch through the same HTTP
            client.

    Raises:
        TypeError: ``robots`` is something else.
    """
    if isinstance(robots, RobotsClient):
        hooks: Hooks | _CheckedHooks = Hooks(robots)
    else:
        from .aio import AsyncRobotsClient  # noqa: PLC0415 - needs anyio

        if not isinstance(robots, AsyncRobotsClient):
            raise TypeError(
                f"robots must be a RobotsClient or AsyncRobotsClient, not {name_of_type(robots)}"
            )
        hooks = _CheckedHooks(AsyncHooks(robots))
    return {"request": [hooks.request], "response": [hooks.response]}


class _CheckedHooks:
    """Hooks for ``AsyncClient``: ``Client`` would call them too, and not wait for the answer."""

    def __init__(self, hooks: AsyncHooks) -> None:
        self._hooks = hooks

    def request(self, request: Any) -> Coroutine[Any, Any, None]:
        """Return what waits for the turn of a request.

        Raises:
            TypeError: no event loop runs.
        """
        import anyio  # noqa: PLC0415 - the client has it

        try:
            anyio.get_current_task()
        except RuntimeError:
            raise _wrong_client() from None
        return self._hooks.request(request)

    def response(self, response: Any) -> Coroutine[Any, Any, None]:
        """Return what records the answer to a request.

        Raises:
            TypeError: it is not of an ``AsyncClient``.
        """
        if not hasattr(response.stream, "__aiter__"):
            raise _wrong_client()
        return self._hooks.response(response)


def _wrong_client() -> TypeError:
    return TypeError("hooks of an AsyncRobotsClient need an AsyncClient: use RobotsClient")

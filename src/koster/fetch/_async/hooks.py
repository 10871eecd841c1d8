"""Event hooks for clients of httpx and httpx2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ...access import wants_body
from ...decisions import Decision
from .._exchange import OWN_REQUEST
from .._page_responses import NotAllowedError

if TYPE_CHECKING:
    from ...signals import UseDecision
    from .uses import Uses


class _Client(Protocol):
    """What hooks need of the client that decides."""

    _uses: Uses | None

    async def decide(self, url: str) -> Decision: ...

    async def may_use(self, url: str, response: object = None) -> UseDecision: ...

    async def wait(self, url: str) -> float: ...

    async def answered(self, url: str, response: object) -> None: ...


class Hooks:
    """What an HTTP client calls before each request, and after each response."""

    def __init__(self, robots: _Client) -> None:
        self._robots = robots

    async def request(self, request: Any) -> None:
        """Wait for the turn of a request.

        Raises:
            NotAllowedError: it is not allowed.
        """
        if OWN_REQUEST in request.extensions:
            return
        robots, url = self._robots, str(request.url)
        _check(await robots.decide(url))
        if robots._uses is not None:  # noqa: SLF001 - of the same module
            _check(await robots.may_use(url))
        await robots.wait(url)

    async def response(self, response: Any) -> None:
        """Record the answer to a request.

        Raises:
            NotAllowedError: the page may not be used.
        """
        if OWN_REQUEST in response.request.extensions:
            return
        robots, url = self._robots, str(response.url)
        await robots.answered(url, response)
        has_page = wants_body(response.status_code) and response.request.method != "HEAD"
        if robots._uses is not None and has_page:  # noqa: SLF001
            _check(await robots.may_use(url, response))


def _check(found: Decision | UseDecision) -> None:
    """Check a decision.

    Raises:
        NotAllowedError: it does not allow the request, or the use.
    """
    if not found:
        raise NotAllowedError(found)

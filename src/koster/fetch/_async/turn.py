"""`Turn`: the block of a crawler's loop in which it requests a page."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import count
from typing import NoReturn, Protocol, Self

from ...decisions import Decision
from ...errors import TooSlowError, TooSoonError
from .._arguments import validate_at_most
from .._state import Site

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...signals import UseDecision
    from .uses import Uses


class _Client(Protocol):
    """What a turn needs of its client."""

    _uses: Uses | None

    async def decide(self, url: str, agent: str | Sequence[str] | None) -> Decision: ...

    async def may_use(
        self,
        url: str,
        response: object,
        agent: str | Sequence[str] | None,
        *,
        html: bytes | None,
    ) -> UseDecision: ...

    async def answered(
        self,
        url: str,
        response: object,
        agent: str | Sequence[str] | None,
        *,
        retry_after: str | float | None,
    ) -> None: ...

    def _cached_site(self, url: str) -> Site | None: ...

    async def _get_site(self, url: str) -> Site: ...

    async def _pace_key(self, url: str, site: Site, agent: str | Sequence[str] | None) -> str: ...

    async def _wait(
        self,
        site: Site,
        key: str,
        agent: str | Sequence[str] | None,
        at_most: float | None,
        token: int,
    ) -> float: ...

    async def _record_sent(self, key: str, token: int) -> None: ...

    async def _call_pacer_shielded(self, name: str, *arguments: object) -> None: ...


#: Stand for turns: each turn of this process has another one.
_TOKENS = count(1)


class Turn:
    """The turn to request a page; see `Client.turn`.

    Attributes:
        decision: Whether the crawler may fetch the URL, and why.
        use: What the robots.txt states about the client's uses of the page; None: the client has no
            uses, or the crawler may not fetch the page.
        waited: The seconds waited for the turn.
    """

    decision: Decision
    use: UseDecision | None
    waited: float

    def __init__(
        self,
        client: _Client,
        url: str,
        agent: str | Sequence[str] | None,
        at_most: float | None,
    ) -> None:
        if not isinstance(url, str):
            raise TypeError(f"url must be a str, not {type(url).__name__}")
        self._client = client
        self._url = url
        self._agent = agent
        self._at_most = validate_at_most(at_most)
        self._key = ""
        self._token = 0

    def __getattr__(self, name: str) -> NoReturn:
        if name in self.__annotations__:
            self._check_entered()
        raise AttributeError(f"a Turn has no attribute {name!r}")

    @property
    def allowed(self) -> bool:
        """Whether the crawler may fetch the URL, and no use of the page is ruled out."""
        return self.decision.allowed and (self.use is None or self.use.allowed)

    @property
    def why_not(self) -> str:
        """Why the request is not allowed; empty if it is."""
        return "" if self.allowed else str(self.decision if self.use is None else self.use)

    async def sent(self) -> None:
        """Let the interval to the next turn count from now: the request has been sent.

        Without it, the interval counts from the end of the block. If a redirect sends another
        request, call it again.
        """
        self._check_entered()
        if self._key:
            self._is_sent = True
            await self._client._record_sent(self._key, self._token)  # noqa: SLF001

    async def answered(self, response: object, retry_after: str | float | None = None) -> None:
        """Record the answer to the page, so that 429 and 503 slow the crawler down.

        See `Client.answered`.
        """
        self._check_entered()
        await self._client.answered(self._url, response, agent=self._agent, retry_after=retry_after)

    async def response(self, response: object, html: bytes | None = None) -> UseDecision:
        """Record the answer to the page, and return whether the page may be used.

        See `Client.answered` and `Client.may_use`.
        """
        await self.answered(response)
        return await self._client.may_use(self._url, response, self._agent, html=html)

    def _check_entered(self) -> None:
        if not self._token:
            raise RuntimeError("use the turn in a with statement: with client.turn(url) as turn")

    async def __aenter__(self) -> Self:
        self._key = ""
        self._token = next(_TOKENS)
        self._is_sent = False
        self.waited = 0.0
        await self._decide()
        if self.allowed:
            await self._wait()
        self._began = time.monotonic()
        return self

    async def _decide(self) -> None:
        client, url, agent = self._client, self._url, self._agent
        self.use = None
        self.decision = await client.decide(url, agent)
        if self.decision.allowed and client._uses is not None:  # noqa: SLF001 - of the same module
            self.use = await client.may_use(url, None, agent, html=None)

    async def _wait(self) -> None:
        client, url, agent = self._client, self._url, self._agent
        site = await client._get_site(url)  # noqa: SLF001 - of the same module
        key = await client._pace_key(url, site, agent)  # noqa: SLF001
        try:
            self.waited = await client._wait(site, key, agent, self._at_most, self._token)  # noqa: SLF001
            if client._cached_site(url) is not site:  # noqa: SLF001
                # The file has expired during the wait.
                await self._decide()
        except (TooSoonError, TooSlowError):
            raise
        except BaseException:
            # Another caller may have its turn, whether or not this one got it.
            await client._record_sent(key, self._token)  # noqa: SLF001
            raise
        if self.allowed:
            self._key = key
        else:
            await client._record_sent(key, self._token)  # noqa: SLF001

    async def __aexit__(self, *_: object) -> None:
        if not self._key:
            return
        client, seconds = self._client, time.monotonic() - self._began
        if not self._is_sent:
            await client._record_sent(self._key, self._token)  # noqa: SLF001
        await client._call_pacer_shielded("took", self._key, seconds)  # noqa: SLF001

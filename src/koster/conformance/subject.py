"""koster as a subject of the conformance suite: ``koster conformance subject``.

It reads questions as JSON lines, and writes an answer to each; the suite's README defines them.
Without the extra ``http`` it decides, and does not fetch.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from .. import __version__, dialects
from ..dialects import Dialect
from ..robots import parse

if TYPE_CHECKING:
    from ..fetch import RobotsClient

#: By the names of the suite.
DIALECTS: dict[str, Dialect] = {
    "rfc9309": dialects.RFC9309,
    "google": dialects.GOOGLE,
    "1994": dialects.MK1994,
    "1996": dialects.MK1996,
    "2008": dialects.GYM2008,
    "extended2": dialects.EXTENDED2,
    "extended2-1996": dialects.EXTENDED2_1996,
}

_START = datetime(2026, 1, 1, tzinfo=UTC)


def answer_lines(lines: Iterable[str], write: Callable[[str], object]) -> None:
    """Answer questions until a line says stop, or there are no more."""
    crawler = _Crawler()
    for line in lines:
        message = json.loads(line)
        if message["cmd"] == "stop":
            break
        write(json.dumps(_answer(message, crawler)) + "\n")
    crawler.close()


def _answer(message: dict[str, Any], crawler: _Crawler) -> dict[str, Any]:
    if message["cmd"] == "start":
        commands = ["decide", "fetch"] if find_spec("httpx2") else ["decide"]
        about = {"name": "koster", "version": __version__}
        return {**about, "dialects": list(DIALECTS), "commands": commands}
    if message["cmd"] == "fetch":
        return {"id": message["id"], **crawler.answer(message)}
    return {"id": message["id"], **_decided(message)}


def _decided(message: dict[str, Any]) -> dict[str, Any]:
    robots = parse(base64.b64decode(message["robots"]), DIALECTS[message["dialect"]])
    found = [robots.decide(url, message["agent"]) for url in message["urls"]]
    lines = [each.rule.line if each.rule else None for each in found]
    return {"allowed": [each.allowed for each in found], "lines": lines}


class _Crawler:
    """A client with a clock that is set by the questions; each session has a client of its own."""

    def __init__(self) -> None:
        self._session = ""
        self._client: RobotsClient | None = None
        self._now = _START

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        client = self._client_of(message["session"], message["agent"])
        self._now = _START + timedelta(seconds=message["at"])
        return {"allowed": [client.allowed(url) for url in message["urls"]]}

    def _client_of(self, session: str, agent: str) -> RobotsClient:
        from ..fetch import RobotsClient  # noqa: PLC0415 - needs the extra http

        if self._client is None or session != self._session:
            self.close()
            self._session = session
            self._client = RobotsClient(agent, clock=lambda: self._now, trust_env=False)
        return self._client

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

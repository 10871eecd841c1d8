"""The parsers that are measured, and how each is called: koster and others with a Python API.

A peer has three functions: ``once`` parses a file and decides about one URL, ``parse`` returns the
parsed file, and ``prepare`` turns that into a function that decides about URLs. What a peer does
not support is None. Each gets files as bytes or text, as it needs them.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Decide = Callable[[str, str], Any]


@dataclass(frozen=True)
class Peer:
    """A parser. ``text``: it takes str, otherwise bytes."""

    name: str
    package: str
    module: str
    text: bool
    once: Callable[[Any, str, str], Any]
    parse: Callable[[Any], Any] | None
    prepare: Callable[[Any, str], Callable[[str], Any]]

    @property
    def version(self) -> str:
        if self.package == "":
            return ""
        return importlib.metadata.version(self.package)


def _koster() -> Peer:
    import koster

    parse = koster.parse

    def once(body: bytes, agent: str, url: str) -> bool:
        return parse(body).allowed(url, agent)

    def prepare(robots: koster.RobotsTxt, agent: str) -> Callable[[str], bool]:
        return robots.rules_for(agent).allowed

    return Peer("koster", "koster", "koster", False, once, parse, prepare)


def _protego() -> Peer:
    from protego import Protego

    parse = Protego.parse

    def once(body: str, agent: str, url: str) -> bool:
        return parse(body).can_fetch(url, agent)

    def prepare(parser: Any, agent: str) -> Callable[[str], bool]:
        can_fetch = parser.can_fetch
        return lambda url: can_fetch(url, agent)

    return Peer("Protego", "protego", "protego", True, once, parse, prepare)


def _robotparser() -> Peer:
    from urllib.robotparser import RobotFileParser

    def parse(body: str) -> RobotFileParser:
        parser = RobotFileParser()
        parser.parse(body.splitlines())
        return parser

    def once(body: str, agent: str, url: str) -> bool:
        return parse(body).can_fetch(agent, url)

    def prepare(parser: Any, agent: str) -> Callable[[str], bool]:
        can_fetch = parser.can_fetch
        return lambda url: can_fetch(agent, url)

    return Peer("urllib.robotparser", "", "urllib.robotparser", True, once, parse, prepare)


def _rerp() -> Peer:
    from robotexclusionrulesparser import RobotExclusionRulesParser

    def parse(body: bytes) -> RobotExclusionRulesParser:
        parser = RobotExclusionRulesParser()
        parser.parse(body)
        return parser

    def once(body: bytes, agent: str, url: str) -> bool:
        return parse(body).is_allowed(agent, url)

    def prepare(parser: Any, agent: str) -> Callable[[str], bool]:
        is_allowed = parser.is_allowed
        return lambda url: is_allowed(agent, url)

    name = "robotexclusionrulesparser"
    return Peer(name, name, name, False, once, parse, prepare)


def _jwm() -> Peer:
    from jwm.robotstxt.googlebot import RobotsMatcher

    ask = RobotsMatcher().OneAgentAllowedByRobots

    def once(body: bytes, agent: str, url: str) -> bool:
        return ask(body, agent, url)

    def prepare(body: bytes, agent: str) -> Callable[[str], bool]:
        return lambda url: ask(body, agent, url)

    return Peer(
        "jwm.robotstxt", "jwm.robotstxt", "jwm.robotstxt.googlebot", False, once, None, prepare
    )


def _susbot() -> Peer:
    from susbot import Analysis

    def once(body: str, agent: str, url: str) -> bool:
        return Analysis(body).allowed(agent, url)

    def prepare(analysis: Any, agent: str) -> Callable[[str], bool]:
        allowed = analysis.allowed
        return lambda url: allowed(agent, url)

    return Peer("susbot", "susbot", "susbot", True, once, Analysis, prepare)


MAKERS = {
    "koster": _koster,
    "Protego": _protego,
    "urllib.robotparser": _robotparser,
    "robotexclusionrulesparser": _rerp,
    "jwm.robotstxt": _jwm,
    "susbot": _susbot,
}


def peer(name: str) -> Peer:
    return MAKERS[name]()

"""The parsers that are measured: koster, others with a Python API, and what replaces them.

A parser opens a file, given as it wants it, and returns a function that decides by URL and agent.
`FACADES` open files with a module of `koster.compat` in place of the original's.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import koster

Ask = Callable[[str, str], object]
Open = Callable[[Any], Ask]
SITE = "https://example.com/robots.txt"


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


def _lines(body: bytes) -> list[str]:
    return _text(body).splitlines()


@dataclass(frozen=True)
class Parser:
    """A parser.

    ``by`` gets the module and a file as ``takes`` makes it from bytes; what it returns takes the
    agent first if it is ``agent_first``. ``is_reusable``: so are opened files. It is given one in
    ``part`` files where it would take minutes for all.
    """

    name: str
    module: str
    package: str
    by: Callable[[Any, Any], Ask]
    takes: Callable[[bytes], Any] = bytes
    agent_first: bool = False
    is_reusable: bool = True
    part: int = 1

    @property
    def version(self) -> str:
        return importlib.metadata.version(self.package) if self.package else ""

    @property
    def is_here(self) -> bool:
        with contextlib.suppress(ImportError):
            return bool(self.module and importlib.import_module(self.module))
        return False

    def opener(self, module: str = "") -> Open:
        """Return what opens a file, by another module if one is named."""
        opened = partial(self.by, importlib.import_module(module or self.module))
        return (lambda file: _url_first(opened(file))) if self.agent_first else opened

    def native(self) -> Open:
        """Return what opens the same file by koster itself."""
        opened = _decide if self is WEBCANON else _allowed
        # Its call goes through a function, as that of the parser does.
        return (lambda file: _as_it_is(opened(file))) if self.agent_first else opened


def _url_first(ask: Ask) -> Ask:
    return lambda url, agent: ask(agent, url)


def _as_it_is(ask: Ask) -> Ask:
    return lambda url, agent: ask(url, agent)  # noqa: PLW0108 - the call is the point


def _allowed(file: Any) -> Ask:
    return koster.parse("\n".join(file) if isinstance(file, list) else file).allowed


def _decide(file: Any) -> Ask:
    return koster.parse(file).decide


def _parsed(parser: Any, file: Any) -> Any:
    parser.parse(file)
    return parser


@cache
def _matcher(module: Any) -> Any:
    """Return a parser that keeps nothing of a file."""
    return module.RobotsMatcher()


def _webcanon(module: Any, text: str) -> Ask:
    policy, evaluate = module.parse_robots(text), module.evaluate_robots
    return lambda url, agent: evaluate(policy, url, agent)


# fmt: off
KOSTER = Parser("koster", "koster", "koster", lambda module, body: module.parse(body).allowed)
PROTEGO = Parser(
    "Protego", "protego", "protego", lambda module, text: module.Protego.parse(text).can_fetch,
    _text)
ROBOTPARSER = Parser(
    "urllib.robotparser", "urllib.robotparser", "",
    lambda module, lines: _parsed(module.RobotFileParser(), lines).can_fetch, _lines, True)
RERP = Parser(
    "robotexclusionrulesparser", "robotexclusionrulesparser", "robotexclusionrulesparser",
    lambda module, body: _parsed(module.RobotExclusionRulesParser(), body).is_allowed, bytes, True)
JWM = Parser(
    "jwm.robotstxt", "jwm.robotstxt.googlebot", "jwm.robotstxt",
    lambda module, body: partial(_matcher(module).OneAgentAllowedByRobots, body),
    bytes, True, False)
REPPY = Parser(
    "reppy", "reppy.robots", "reppy", lambda module, body: module.Robots.parse(SITE, body).allowed)
SUSBOT = Parser(
    "susbot", "susbot", "susbot", lambda module, text: module.Analysis(text).allowed,
    _text, True, False, 20)
WEBCANON = Parser("webcanon", "webcanon.robots", "webcanon", _webcanon, _text, False, False)
ROBOTSTXT = Parser(
    "robotstxt", "", "",
    lambda module, text: lambda url, agent: module.Parser(agent, text).allowed(url),
    _text, False, False)
SCRAPY = Parser(
    "Scrapy", "", "",
    lambda module, body: module.KosterRobotParser.from_crawler(None, body).allowed,
    bytes, False, False)
# fmt: on

PEERS = {each.name: each for each in (KOSTER, PROTEGO, ROBOTPARSER, RERP, JWM, REPPY, SUSBOT)}
#: Modules of `koster.compat`, and what they replace.
FACADES = {
    "robotexclusionrulesparser": RERP,
    "protego": PROTEGO,
    "robotparser": ROBOTPARSER,
    "webcanon": WEBCANON,
    "reppy.robots": REPPY,
    "robotstxt": ROBOTSTXT,
    "scrapy": SCRAPY,
}


def here() -> list[Parser]:
    """Return the parsers that are installed."""
    return [each for each in PEERS.values() if each.is_here]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Discard what is written to standard error: reppy does so, in C++."""
    sys.stderr.flush()
    saved, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nowhere)

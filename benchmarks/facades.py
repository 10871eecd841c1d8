"""The facades: what each costs beside the native call, and beside what it stands in for.

``once`` parses a file and decides about one URL; ``kept`` gives of a file a function that decides
about URLs. Facade and original are handed the same; the native call is `koster.parse` and one
decision on that, by the default dialect.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import koster

from . import data

Once = Callable[[Any], object]
Ask = Callable[[str, str], object]
AGENT, URL = data.AGENT, data.URL
SITE = "https://example.com/robots.txt"


@dataclass(frozen=True)
class Facade:
    """``handed`` makes of a file's octets what the library takes."""

    name: str
    original: str
    handed: Callable[[bytes], Any]
    once: Callable[[Any], Once]
    native: Once
    kept: Callable[[Any, Any], Ask] | None = None


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


def _lines(body: bytes) -> list[str]:
    return _text(body).splitlines()


def _allowed(body: bytes | str) -> object:
    return koster.parse(body).allowed(URL, AGENT)


def _allowed_lines(lines: list[str]) -> object:
    return koster.parse("\n".join(lines)).allowed(URL, AGENT)


def _decided(body: str) -> object:
    return koster.parse(body).decide(URL, AGENT)


def _rerp(module: Any) -> Once:
    def once(body: bytes) -> object:
        parser = module.RobotExclusionRulesParser()
        parser.parse(body)
        return parser.is_allowed(AGENT, URL)

    return once


def _rerp_kept(module: Any, body: bytes) -> Ask:
    parser = module.RobotExclusionRulesParser()
    parser.parse(body)
    is_allowed = parser.is_allowed
    return lambda url, agent: is_allowed(agent, url)


def _protego_kept(module: Any, text: str) -> Ask:
    ask: Ask = module.Protego.parse(text).can_fetch
    return ask


def _robotparser_kept(module: Any, lines: list[str]) -> Ask:
    parser = module.RobotFileParser()
    parser.parse(lines)
    can_fetch = parser.can_fetch
    return lambda url, agent: can_fetch(agent, url)


def _reppy_kept(module: Any, body: bytes) -> Ask:
    ask: Ask = module.Robots.parse(SITE, body).allowed
    return ask


def native_kept(flipped: bool) -> Callable[[bytes], Ask]:
    """Return how koster is asked: with the arguments in the other order, through a lambda, too."""

    def kept(body: bytes) -> Ask:
        robots = koster.parse(body)

        def ask(url: str, agent: str) -> bool:
            return robots.allowed(url, agent)

        return ask if flipped else robots.allowed

    return kept


def _protego(module: Any) -> Once:
    parse = module.Protego.parse
    return lambda text: parse(text).can_fetch(URL, AGENT)


def _robotparser(module: Any) -> Once:
    def once(lines: list[str]) -> object:
        parser = module.RobotFileParser()
        parser.parse(lines)
        return parser.can_fetch(AGENT, URL)

    return once


def _webcanon(module: Any) -> Once:
    parse, evaluate = module.parse_robots, module.evaluate_robots
    return lambda text: evaluate(parse(text), URL, AGENT)


def _reppy(module: Any) -> Once:
    parse = module.Robots.parse
    return lambda body: parse(SITE, body).allowed(URL, AGENT)


def _robotstxt(module: Any) -> Once:
    return lambda text: module.Parser(AGENT, text).allowed(URL)


def _scrapy(module: Any) -> Once:
    def once(body: bytes) -> object:
        return module.KosterRobotParser.from_crawler(None, body).allowed(URL, AGENT)

    return once


FACADES = (
    Facade(
        *("robotexclusionrulesparser", "robotexclusionrulesparser"),
        *(bytes, _rerp, _allowed, _rerp_kept),
    ),
    Facade("protego", "protego", _text, _protego, _allowed, _protego_kept),
    Facade(
        *("robotparser", "urllib.robotparser", _lines, _robotparser, _allowed_lines),
        _robotparser_kept,
    ),
    Facade("webcanon", "webcanon.robots", _text, _webcanon, _decided),
    Facade("reppy.robots", "reppy.robots", bytes, _reppy, _allowed, _reppy_kept),
    Facade("robotstxt", "", _text, _robotstxt, _allowed),
    Facade("scrapy", "", bytes, _scrapy, _allowed),
)


def original(facade: Facade) -> Any:
    """Return the original's module, or None where it is not installed."""
    if not facade.original:
        return None
    try:
        return importlib.import_module(facade.original)
    except ImportError:
        return None


def module_of(facade: Facade) -> Any:
    return importlib.import_module(f"koster.compat.{facade.name}")


def run(once: Once, files: list[Any]) -> None:
    for file in files:
        once(file)


def run_kept(pairs: list[tuple[Ask, str, str]]) -> None:
    for ask, url, agent in pairs:
        ask(url, agent)


def hushed(action: Callable[[], object]) -> Callable[[], object]:
    """Let an action print what it likes: reppy complains on standard error, in C++."""
    import os

    def quiet() -> object:
        sys.stderr.flush()
        kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        try:
            return action()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            os.close(nowhere)

    return quiet

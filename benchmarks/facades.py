"""The facades: what each costs beside the native call, and beside what it stands in for.

Every entry parses a file and decides about one URL. Facade and original are handed the same;
the native call is `koster.parse` and one decision on that, by the default dialect.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import koster

from . import data

Once = Callable[[Any], object]
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
    Facade("robotexclusionrulesparser", "robotexclusionrulesparser", bytes, _rerp, _allowed),
    Facade("protego", "protego", _text, _protego, _allowed),
    Facade("robotparser", "urllib.robotparser", _lines, _robotparser, _allowed_lines),
    Facade("webcanon", "webcanon.robots", _text, _webcanon, _decided),
    Facade("reppy.robots", "reppy.robots", bytes, _reppy, _allowed),
    Facade("robotstxt", "", _text, _robotstxt, _allowed),
    Facade("scrapy", "", bytes, _scrapy, _allowed),
)


def original(facade: Facade) -> Once | None:
    """Return how the original is asked, or None where it is not installed."""
    if not facade.original:
        return None
    try:
        if importlib.util.find_spec(facade.original) is None:
            return None
        return facade.once(importlib.import_module(facade.original))
    except ImportError:
        return None


def facade_of(facade: Facade) -> Once:
    return facade.once(importlib.import_module(f"koster.compat.{facade.name}"))


def run(once: Once, files: list[Any]) -> None:
    for file in files:
        once(file)


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

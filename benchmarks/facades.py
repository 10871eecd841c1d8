"""The facades: their cost compared with the native call, and with the libraries they replace.

Each entry opens a file and returns a function that decides about URLs; facade and original get the
same input. The native call is `koster.parse` and a decision in the default dialect.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import koster

from . import data

Ask = Callable[[str, str], object]
SITE = "https://example.com/robots.txt"


@dataclass(frozen=True)
class Facade:
    """``prepare`` converts a file's bytes for the library; ``is_reusable``: so are parsed files."""

    name: str
    original: str
    prepare: Callable[[bytes], Any]
    open: Callable[[Any, Any], Ask]
    native: Callable[[Any], Ask]
    is_reusable: bool = False


def _text(body: bytes) -> str:
    return body.decode("utf-8", "replace")


def _lines(body: bytes) -> list[str]:
    return _text(body).splitlines()


def _agent_first(ask: Callable[[str, str], object]) -> Ask:
    """Wrap a function that takes the agent first."""
    return lambda url, agent: ask(agent, url)


def _native(body: bytes | str) -> Ask:
    return koster.parse(body).allowed


def _native_through_a_function(body: bytes | str) -> Ask:
    """Call koster through a function, like the libraries that take the agent first."""
    allowed = koster.parse(body).allowed
    return lambda url, agent: allowed(url, agent)  # noqa: PLW0108 - the call is the point


def _native_lines(lines: list[str]) -> Ask:
    return _native_through_a_function("\n".join(lines))


def _native_decision(body: str) -> Ask:
    return koster.parse(body).decide


def _rerp(module: Any, body: bytes) -> Ask:
    parser = module.RobotExclusionRulesParser()
    parser.parse(body)
    return _agent_first(parser.is_allowed)


def _protego(module: Any, text: str) -> Ask:
    ask: Ask = module.Protego.parse(text).can_fetch
    return ask


def _robotparser(module: Any, lines: list[str]) -> Ask:
    parser = module.RobotFileParser()
    parser.parse(lines)
    return _agent_first(parser.can_fetch)


def _webcanon(module: Any, text: str) -> Ask:
    policy, evaluate = module.parse_robots(text), module.evaluate_robots
    return lambda url, agent: evaluate(policy, url, agent)


def _reppy(module: Any, body: bytes) -> Ask:
    ask: Ask = module.Robots.parse(SITE, body).allowed
    return ask


def _robotstxt(module: Any, text: str) -> Ask:
    return lambda url, agent: module.Parser(agent, text).allowed(url)


def _scrapy(module: Any, body: bytes) -> Ask:
    ask: Ask = module.KosterRobotParser.from_crawler(None, body).allowed
    return ask


FACADES = (
    Facade(
        *("robotexclusionrulesparser", "robotexclusionrulesparser", bytes, _rerp),
        *(_native_through_a_function, True),
    ),
    Facade("protego", "protego", _text, _protego, _native, True),
    Facade("robotparser", "urllib.robotparser", _lines, _robotparser, _native_lines, True),
    Facade("webcanon", "webcanon.robots", _text, _webcanon, _native_decision),
    Facade("reppy.robots", "reppy.robots", bytes, _reppy, _native, True),
    Facade("robotstxt", "", _text, _robotstxt, _native),
    Facade("scrapy", "", bytes, _scrapy, _native),
)


def openers(facade: Facade) -> dict[str, Callable[[Any], Ask]]:
    """Return how to open a file: natively, by the facade, and by the original if installed."""
    module = importlib.import_module(f"koster.compat.{facade.name}")
    found = {"native": facade.native, "facade": partial(facade.open, module)}
    if facade.original:
        try:
            before = importlib.import_module(facade.original)
        except ImportError:
            return found
        found["original"] = partial(facade.open, before)
    return found


def run(opened: Callable[[Any], Ask], files: list[Any]) -> None:
    for file in files:
        opened(file)(data.URL, data.AGENT)


def run_prepared(pairs: list[tuple[Ask, str, str]]) -> None:
    for ask, url, agent in pairs:
        ask(url, agent)


def silenced(action: Callable[[], object]) -> Callable[[], object]:
    """Discard what an action prints: reppy writes to standard error, in C++."""
    import os

    def quiet() -> object:
        sys.stderr.flush()
        saved, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        try:
            return action()
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            os.close(nowhere)

    return quiet

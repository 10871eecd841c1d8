"""Answers of the modules of `koster.compat`, each in its own dialect."""

from __future__ import annotations

from dataclasses import dataclass
from logging import getLogger
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from koster.compat import (
    apetest,
    protego,
    reppy,
    robotexclusionrulesparser,
    robotparser,
    robotstxt,
    scrapy,
    webcanon,
)

from . import inputs
from .entries import Entry, Part, Place, entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_quiet = getLogger("apetest")
_quiet.disabled = True


@dataclass(frozen=True)
class _Facade:
    """A facade: parses a file for an agent, as text or as bytes, and answers about a URL."""

    name: str
    is_text: bool
    parse: Callable[[Any, str], Any]
    answer: Callable[[Any, str, str], Any]
    #: What it answers about the agent alone, if anything.
    pace: Callable[[Any, str], Any] | None = None
    #: Whether the parsed file is for one agent.
    is_for_agent: bool = False


def _rerp(body: bytes, _: str) -> Any:
    parser = robotexclusionrulesparser.RobotExclusionRulesParser()
    parser.parse(body)
    return parser


def _lookalike(body: bytes, _: str) -> Any:
    parser = robotexclusionrulesparser.RobotFileParserLookalike()
    parser.parse(body)
    return parser


def _robotparser(text: str, _: str) -> Any:
    parser = robotparser.RobotFileParser()
    parser.parse(text.splitlines())
    return parser


def _apetest(text: str, agent: str) -> Any:
    records = apetest.scan_robots_txt(text.splitlines(), _quiet)
    return apetest.lookup_robots_rules(apetest.parse_robots_txt(records, _quiet), agent)


def _webcanon(policy: Any, agent: str, url: str) -> str:
    verdict, match = webcanon.evaluate_robots(policy, url, agent)
    return f"{verdict.value}: line {match.source_line}" if match else verdict.value


_FACADES = (
    _Facade(
        "robotexclusionrulesparser", False, _rerp,
        lambda parser, agent, url: tuple(
            parser.is_allowed(agent, url, syntax)
            for syntax in (robotexclusionrulesparser.GYM2008, robotexclusionrulesparser.MK1996)  # type: ignore[attr-defined]
        ),
        lambda parser, agent: parser.get_crawl_delay(agent),
    ),
    _Facade(
        "robotexclusionrulesparser-lookalike", False, _lookalike,
        lambda parser, agent, url: parser.can_fetch(agent, url),
        lambda parser, agent: (parser.crawl_delay(agent), parser.request_rate(agent)),
    ),
    _Facade(
        "robotstxt", True, lambda text, agent: robotstxt.Parser(agent, text),
        lambda parser, _, url: parser.allowed(url), is_for_agent=True,
    ),
    _Facade(
        "apetest", True, _apetest,
        lambda rules, _, url: apetest.path_allowed(
            apetest.unescape_path(urlsplit(url).path), rules
        ),
        is_for_agent=True,
    ),
    _Facade("webcanon", True, lambda text, _: webcanon.parse_robots(text), _webcanon),
    _Facade(
        "protego", True, lambda text, _: protego.Protego.parse(text),
        lambda parser, agent, url: parser.can_fetch(url, agent),
        lambda parser, agent: (
            parser.crawl_delay(agent), parser.request_rate(agent), parser.visit_time(agent),
        ),
    ),
    _Facade(
        "reppy", False, lambda body, _: reppy.Robots.parse("https://example.com/robots.txt", body),
        lambda robots, agent, url: robots.allowed(url, agent),
        lambda robots, agent: robots.agent(agent).delay,
    ),
    _Facade(
        "robotparser", True, _robotparser,
        lambda parser, agent, url: parser.can_fetch(agent, url),
        lambda parser, agent: (parser.crawl_delay(agent), parser.request_rate(agent)),
    ),
    _Facade(
        "scrapy", False, lambda body, _: scrapy.KosterRobotParser(body),
        lambda parser, agent, url: parser.allowed(url, agent),
        lambda parser, agent: parser.crawl_delay(agent),
    ),
)  # fmt: skip


def entries(name: str) -> Iterator[Entry]:
    file = inputs.file(name)
    asked = [(_first(agent), url) for agent, url in file.questions]
    agents = list(dict.fromkeys(agent for agent, _ in asked))
    for facade in _FACADES:
        parsed = _parsed(facade, file.body, agents)
        answers = [_tried(facade.answer, parsed[agent], agent, url) for agent, url in asked]
        labels = [f"{agent} {url}" for agent, url in asked]
        if facade.pace:
            answers += [_tried(facade.pace, parsed[agent], agent) for agent in agents]
            labels += [f"Pace of {agent}" for agent in agents]
        yield entry(Place(facade.name, name, ""), [file.body], answers, labels)


def _first(agent: inputs.Agent) -> str:
    """Return the agent that facades are asked about: they take no sequences."""
    return agent if isinstance(agent, str) else next(iter(agent), "")


def _parsed(facade: _Facade, body: bytes, agents: list[str]) -> dict[str, Any]:
    """Return the parsed file for each agent."""
    handed = body.decode("utf-8", "replace") if facade.is_text else body
    if facade.is_for_agent:
        return {agent: facade.parse(handed, agent) for agent in agents}
    return dict.fromkeys(agents, facade.parse(handed, ""))


def _tried(ask: Callable[..., Any], *arguments: Any) -> str:
    """Return an answer as text; some originals raise errors, and so do their facades."""
    try:
        return str(ask(*arguments))
    except ValueError as error:
        return type(error).__name__


PART = Part("facades", True, inputs.all_files, entries)

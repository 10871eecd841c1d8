"""A robots.txt parser with a Python API as a subject: python.py NAME [JSON].

NAME is the parser's distribution, which has to be importable. Each parser is asked the way its
documentation shows: with bytes where it takes bytes, otherwise with UTF-8 text whose invalid bytes
are replaced. A parser that documents only how to fetch a file fetches these bytes. Runs on Python
3.8, because it also asks each CPython's own parser.
"""
# ruff: noqa: PLC0415 - a process imports only the parser that it asks

from __future__ import annotations

import base64
import functools
import importlib
import importlib.metadata
import io
import logging
import platform
import re
import sys
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from _protocol import introduce, per_url, serve

if TYPE_CHECKING:
    from _protocol import Ask, Prepare

SITE = "https://example.com"
_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")


def text(robots: bytes) -> str:
    return robots.decode("utf-8", "replace")


def data_url(robots: bytes) -> str:
    """Return a URL that urllib fetches these bytes from."""
    return "data:text/plain;base64," + base64.b64encode(robots).decode()


def path_of(url: str) -> str:
    """Return path and query as they stand, for parsers that take no URL."""
    rest = _ORIGIN.sub("", url, count=1).partition("#")[0]
    return rest if rest.startswith("/") else "/" + rest


def absolute(url: str) -> str:
    """Return the URL, with a host if it has none, for parsers that take no path."""
    return SITE + url if url[:1] in ("", "/", "?") else url


class Session:
    """Stands in for requests.Session: each URL has the same text."""

    def __init__(self, robots: bytes) -> None:
        self.robots = robots

    def get(self, url: str, **_: Any) -> Any:
        from requests import Response
        from urllib3 import HTTPResponse

        response = Response()
        response.url, response.status_code = url, 200
        response.headers["content-type"] = "text/plain"
        response.raw = HTTPResponse(io.BytesIO(self.robots), status=200, preload_content=False)
        return response


def cpython(robots: bytes, agent: str, _: str) -> Ask:
    from urllib.robotparser import RobotFileParser

    parser = RobotFileParser(data_url(robots))
    parser.read()
    return lambda url: parser.can_fetch(agent, url)


def protego(robots: bytes, agent: str, _: str) -> Ask:
    from protego import Protego

    parser = Protego.parse(text(robots))
    return lambda url: parser.can_fetch(url, agent)


def jwm(robots: bytes, agent: str, _: str) -> Ask:
    from jwm.robotstxt.googlebot import RobotsMatcher

    matcher = RobotsMatcher()

    def ask(url: str) -> tuple[bool, int | None]:
        allowed = matcher.OneAgentAllowedByRobots(robots, agent, url)
        return allowed, matcher.matching_line() or None

    return ask


def fast_robotstxt(robots: bytes, agent: str, _: str) -> Ask:
    from robotstxt import RobotsMatcher

    matcher, content = RobotsMatcher(), text(robots)

    def ask(url: str) -> tuple[bool, int | None]:
        allowed = matcher.is_allowed(content, agent, url)
        return allowed, matcher.matching_line or None

    return ask


def gpyrobotstxt(robots: bytes, agent: str, _: str) -> Ask:
    from gpyrobotstxt.robots_cc import RobotsMatcher

    return lambda url: RobotsMatcher().one_agent_allowed_by_robots(robots, agent, url)


def robotspy(robots: bytes, agent: str, _: str) -> Ask:
    from robots import RobotsParser

    parser = RobotsParser.from_uri(data_url(robots))
    return lambda url: parser.can_fetch(agent, url)


def rerp(module: str, robots: bytes, agent: str, dialect: str) -> Ask:
    """robotexclusionrulesparser, or its fork."""
    library = importlib.import_module(module)
    parser = library.RobotExclusionRulesParser()
    parser.parse(robots)
    syntax = library.MK1996 if dialect == "1996" else library.GYM2008
    return lambda url: parser.is_allowed(agent, url, syntax)


def reppy(robots: bytes, agent: str, _: str) -> Ask:
    from reppy.robots import Robots

    parser = Robots.parse(SITE + "/robots.txt", robots)
    return lambda url: parser.allowed(url, agent)


def reppy2(robots: bytes, agent: str, _: str) -> Ask:
    from reppy.parser import Rules

    rules = Rules(SITE + "/robots.txt", 200, robots, time.time() + 3600)
    return lambda url: rules.allowed(url, agent)


def webcanon(robots: bytes, agent: str, _: str) -> Ask:
    from webcanon import evaluate_robots, parse_robots

    policy = parse_robots(text(robots))

    def ask(url: str) -> tuple[bool, int | None]:
        verdict, match = evaluate_robots(policy, url, agent)
        return verdict.value.startswith("allowed"), match.source_line if match else None

    return ask


def fastrobots(robots: bytes, agent: str, _: str) -> Ask:
    from fastrobots import Robots

    parser = Robots.parse(text(robots))
    # Its own url_path drops the query.
    return lambda url: parser.allowed(path_of(url), agent)


def robotsparsetools(robots: bytes, agent: str, _: str) -> Ask:
    from robotsparsetools.lib import parse as module

    # A Parse made from a text cannot answer can_crawl. So it is made from a URL, without download.
    module.request = lambda *_, **__: robots.decode()
    parse = functools.lru_cache(module.Parse)

    def ask(url: str) -> bool:
        return parse(_ORIGIN.match(absolute(url))[0]).can_crawl(absolute(url), agent)

    return ask


def ai_crawler_robots(robots: bytes, agent: str, _: str) -> Ask:
    from ai_crawler_robots import is_allowed, parse

    parsed = parse(text(robots))

    def ask(url: str) -> tuple[bool, int | None]:
        verdict = is_allowed(parsed, agent, path_of(url))
        return verdict["allowed"], verdict["line"]

    return ask


def susbot(robots: bytes, agent: str, _: str) -> Ask:
    from susbot import Analysis

    analysis = Analysis(text(robots))

    def ask(url: str) -> tuple[bool, int | None]:
        verdict = analysis.check_access(agent, path_of(url))
        return verdict["allowed"], (verdict["rule"] or {}).get("line")

    return ask


def apetest(robots: bytes, agent: str, _: str) -> Ask:
    from apetest import robots as library
    from apetest.fetch import load_text

    log = logging.getLogger("apetest")
    lines = load_text(data_url(robots))[2]
    groups = library.parse_robots_txt(library.scan_robots_txt(lines, log), log)
    rules = library.lookup_robots_rules(groups, agent)

    def ask(url: str) -> bool:
        # It takes a path without escapes, and no query.
        path = library.unescape_path(urlsplit(url).path or "/")
        return library.path_allowed(path, rules)

    return ask


def linkchecker(robots: bytes, agent: str, _: str) -> Ask:
    from linkcheck.robotparser2 import RobotFileParser

    parser = RobotFileParser(Session(robots), SITE + "/robots.txt")
    parser.read()
    return lambda url: parser.can_fetch(agent, url)


def respectscraper(robots: bytes, agent: str, _: str) -> Ask:
    from respectscraper import RobotsPolicy

    policy = RobotsPolicy(Session(robots), agent)

    def ask(url: str) -> tuple[bool, int | None]:
        decision = policy.decide(url)
        return decision.allowed, decision.line

    return ask


def robotstxt(robots: bytes, agent: str, _: str) -> Ask:
    from robotstxt import RobotsFile

    parsed = RobotsFile(text(robots))
    return lambda url: not parsed.test_url(absolute(url), agent)["disallowed"]


def sqlite_robotstxt(robots: bytes, agent: str, _: str) -> Ask:
    import sqlite3

    from sqlite_robotstxt import load

    connection = sqlite3.connect(":memory:")
    connection.enable_load_extension(True)
    load(connection)
    query, content = "SELECT robotstxt_matches(?, ?, ?)", text(robots)
    return lambda url: connection.execute(query, (content, agent, url)).fetchone()[0]


PARSERS: dict[str, Prepare] = {
    "urllib.robotparser": cpython,
    "ai-crawler-robots": ai_crawler_robots,
    "apetest": apetest,
    "fast-robotstxt": fast_robotstxt,
    "fastrobots": fastrobots,
    "gpyrobotstxt": gpyrobotstxt,
    "jwm.robotstxt": jwm,
    "linkchecker": linkchecker,
    "protego": protego,
    "reppy": reppy,
    "reppy2": reppy2,
    "respectscraper": respectscraper,
    "robotexclusionrulesparser": functools.partial(rerp, "robotexclusionrulesparser"),
    "robots-txt-parser": functools.partial(rerp, "robotstxtparser"),
    "robotsparsetools": robotsparsetools,
    "robotspy": robotspy,
    "robotstxt": robotstxt,
    "sqlite-robotstxt": sqlite_robotstxt,
    "susbot": susbot,
    "webcanon": webcanon,
}


def main() -> None:
    name = sys.argv[1]
    # This folder's modules must not stand in for a parser's own.
    sys.path.pop(0)
    own = name == "urllib.robotparser"
    version = platform.python_version() if own else importlib.metadata.version(name)
    serve({**introduce("Python"), "version": version}, per_url(PARSERS[name]))


if __name__ == "__main__":
    main()

"""Properties of all facades: pickling, imports, robustness, and signatures."""

from __future__ import annotations

import importlib
import inspect
import json
import pickle
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import strategies
from facade_files import PROTEGO, ROBOTS
from facades import robotparser_of
from hypothesis import given
from support import HERE

import koster
from koster.compat import (
    protego,
    robotexclusionrulesparser,
    robotstxt,
    webcanon,
)
from koster.compat.reppy import Robots
from koster.compat.scrapy import KosterRobotParser


@pytest.mark.parametrize(
    "factory",
    [
        lambda: protego.Protego.parse(PROTEGO), lambda: robotparser_of(ROBOTS),
        lambda: webcanon.parse_robots(ROBOTS), lambda: KosterRobotParser(ROBOTS.encode()),
    ],
)  # fmt: skip
def test_parsers_pickle(factory: object) -> None:
    parser = factory()  # type: ignore[operator]
    assert type(pickle.loads(pickle.dumps(parser))) is type(parser)


def test_facades_import_nothing_outside_the_standard_library() -> None:
    code = (
        "import importlib, json, pkgutil, sys, koster.compat as compat\n"
        "for each in pkgutil.walk_packages(compat.__path__, 'koster.compat.'):\n"
        "    importlib.import_module(each.name)\n"
        "names = {name.partition('.')[0] for name in sys.modules}\n"
        "print(json.dumps(sorted(names - set(sys.stdlib_module_names) - {'koster', '__main__'})))"
    )
    process = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(Path(koster.__file__).parent.parent)!r})\n{code}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    names = [name for name in json.loads(process.stdout) if "cython" not in name]
    assert names == []


@given(strategies.bodies, strategies.urls, strategies.agents)
def test_no_facade_raises_on_any_file(body: bytes, url: str, agent: str) -> None:
    text = body.decode("utf-8", "replace")
    rerp_parser = robotexclusionrulesparser.RobotExclusionRulesParser()
    rerp_parser.parse(body)
    rerp_parser.is_allowed(agent, url)
    rerp_parser.is_allowed(agent, url, robotexclusionrulesparser.MK1996)
    rerp_parser.get_crawl_delay(agent)
    assert isinstance(str(rerp_parser), str)
    robotstxt_parser = robotstxt.parse(text, agent)
    assert robotstxt_parser.allowed(url) in (True, False)
    protego_parser = protego.Protego.parse(text)
    assert protego_parser.can_fetch(url, agent) in (True, False)
    assert [
        protego_parser.crawl_delay(agent),
        protego_parser.request_rate(agent),
        protego_parser.visit_time(agent),
    ]
    stdlib_parser = robotparser_of(text)
    assert stdlib_parser.can_fetch(agent, url) in (True, False)
    assert [
        stdlib_parser.crawl_delay(agent),
        stdlib_parser.request_rate(agent),
        str(stdlib_parser),
        stdlib_parser.groups,
    ]
    reppy_robots = Robots.parse("https://example.com/robots.txt", body)
    assert reppy_robots.allowed(url, agent) in (True, False)
    assert [
        str(reppy_robots.agent(agent)),
        reppy_robots.agent(agent).allowed(url),
        reppy_robots.sitemaps,
    ]
    policy = webcanon.parse_robots(text)
    try:
        webcanon.evaluate_robots(policy, url, agent)
    except ValueError:
        # webcanon rejects the URLs that urlsplit rejects.
        with pytest.raises(ValueError):  # noqa: PT011 - any message
            urlsplit(url)
    assert repr(policy)
    assert KosterRobotParser(body).allowed(url, agent) in (True, False)


INTERFACES = tomllib.loads((HERE / "interfaces.toml").read_text("utf-8"))


@pytest.mark.parametrize("name", INTERFACES)
def test_every_public_name_has_the_parameters_of_the_original(name: str) -> None:
    module, _, path = name.partition(":")
    target: Any = importlib.import_module(f"koster.compat.{module}")
    for part in path.split("."):
        target = getattr(target, part)
    if INTERFACES[name]:
        marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
        parameters = []
        for each in inspect.signature(target).parameters.values():
            default = "" if each.default is each.empty else f"={each.default!r}"
            parameters.append(marks.get(each.kind, "") + each.name + default)
        assert ", ".join(parameters) == INTERFACES[name]

"""What holds for all facades."""

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
    "make",
    [
        lambda: protego.Protego.parse(PROTEGO), lambda: robotparser_of(ROBOTS),
        lambda: webcanon.parse_robots(ROBOTS), lambda: KosterRobotParser(ROBOTS.encode()),
    ],
)  # fmt: skip
def test_they_pickle(make: object) -> None:
    made = make()  # type: ignore[operator]
    assert type(pickle.loads(pickle.dumps(made))) is type(made)


def test_facades_import_nothing_outside_the_standard_library() -> None:
    code = (
        "import importlib, json, pkgutil, sys, koster.compat as compat\n"
        "for each in pkgutil.walk_packages(compat.__path__, 'koster.compat.'):\n"
        "    importlib.import_module(each.name)\n"
        "names = {name.partition('.')[0] for name in sys.modules}\n"
        "print(json.dumps(sorted(names - set(sys.stdlib_module_names) - {'koster', '__main__'})))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {str(Path(koster.__file__).parent.parent)!r})\n{code}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    names = [name for name in json.loads(done.stdout) if "cython" not in name]
    assert names == []


@given(strategies.bodies, strategies.urls, strategies.agents)
def test_no_facade_raises_because_of_what_a_file_says(body: bytes, url: str, agent: str) -> None:
    text = body.decode("utf-8", "replace")
    rerp = robotexclusionrulesparser.RobotExclusionRulesParser()
    rerp.parse(body)
    rerp.is_allowed(agent, url)
    rerp.is_allowed(agent, url, robotexclusionrulesparser.MK1996)
    rerp.get_crawl_delay(agent)
    assert isinstance(str(rerp), str)
    ruby = robotstxt.parse(text, agent)
    assert ruby.allowed(url) in (True, False)
    made = protego.Protego.parse(text)
    assert made.can_fetch(url, agent) in (True, False)
    assert [made.crawl_delay(agent), made.request_rate(agent), made.visit_time(agent)]
    python = robotparser_of(text)
    assert python.can_fetch(agent, url) in (True, False)
    assert [python.crawl_delay(agent), python.request_rate(agent), str(python), python.groups]
    robots = Robots.parse("https://example.com/robots.txt", body)
    assert robots.allowed(url, agent) in (True, False)
    assert [str(robots.agent(agent)), robots.agent(agent).allowed(url), robots.sitemaps]
    policy = webcanon.parse_robots(text)
    try:
        webcanon.evaluate_robots(policy, url, agent)
    except ValueError:
        # What urlsplit does not take is no URL to webcanon.
        with pytest.raises(ValueError):  # noqa: PT011 - whatever it says
            urlsplit(url)
    assert repr(policy)
    assert KosterRobotParser(body).allowed(url, agent) in (True, False)


INTERFACES = tomllib.loads((HERE / "interfaces.toml").read_text("utf-8"))


@pytest.mark.parametrize("name", INTERFACES)
def test_every_public_name_has_the_parameters_of_the_original(name: str) -> None:
    module, _, path = name.partition(":")
    found: Any = importlib.import_module(f"koster.compat.{module}")
    for part in path.split("."):
        found = getattr(found, part)
    if INTERFACES[name]:
        marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
        parameters = []
        for each in inspect.signature(found).parameters.values():
            default = "" if each.default is each.empty else f"={each.default!r}"
            parameters.append(marks.get(each.kind, "") + each.name + default)
        assert ", ".join(parameters) == INTERFACES[name]

"""Properties of all facades: pickling, imports, robustness, and signatures."""

from __future__ import annotations

import copy
import importlib
import inspect
import json
import pickle
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given

import koster
from koster.compat import (
    protego,
    robotexclusionrulesparser,
    robotstxt,
    webcanon,
)
from koster.compat.reppy import Robots
from koster.compat.scrapy import KosterRobotParser
from tests.helpers import strategies
from tests.helpers.facade_files import PROTEGO, ROBOTS
from tests.helpers.facades import robotparser_of
from tests.helpers.support import HERE


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
    # The middleware for Scrapy is imported by Scrapy.
    code = (
        "import importlib, json, pkgutil, sys, koster.compat as compat\n"
        "for each in pkgutil.walk_packages(compat.__path__, 'koster.compat.'):\n"
        "    if 'scrapy._' not in each.name:\n"
        "        importlib.import_module(each.name)\n"
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
    rerp_parser.is_allowed(agent, url, robotexclusionrulesparser.MK1996)  # type: ignore[attr-defined]
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


def test_public_names_have_the_parameters_of_the_original() -> None:
    for name in INTERFACES:
        _check_parameters(name)


def _check_parameters(name: str) -> None:
    module, _, path = name.partition(":")
    target: Any = importlib.import_module(f"koster.compat.{module}")
    for part in path.split("."):
        target = getattr(target, part)
    if INTERFACES[name]:
        marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
        parameters = []
        for each in inspect.signature(target).parameters.values():
            default = "" if each.default is each.empty else f"={each.default!r}"
            parameters.append(marks.get(each.kind, "") + each.name + default)  # type: ignore[call-overload]
        assert ", ".join(parameters) == INTERFACES[name], name


class Subclass(str):
    """A string whose type is not str."""

    __slots__ = ()


def reppy_of(text: str) -> Robots:
    return Robots.parse("http://example.com/robots.txt", text)


def rerp_of(text: str) -> robotexclusionrulesparser.RobotExclusionRulesParser:
    parser = robotexclusionrulesparser.RobotExclusionRulesParser()
    parser.parse(text)
    return parser


#: Facades whose decisions are compiled: how to make and ask them, with the names of the arguments.
KEPT: dict[str, tuple[Callable[[str], Any], Callable[[Any, Any, Any], bool]]] = {
    "protego": (
        protego.Protego.parse,
        lambda parser, url, agent: parser.can_fetch(url=url, user_agent=agent),
    ),
    "reppy": (reppy_of, lambda parser, url, agent: parser.allowed(path=url, name=agent)),
    "rerp": (rerp_of, lambda parser, url, agent: parser.is_allowed(user_agent=agent, url=url)),
    "robotparser": (
        robotparser_of,
        lambda parser, url, agent: parser.can_fetch(url=url, useragent=agent),
    ),
}
BLOCKED = "User-agent: foobot\nDisallow: /a=b\nUser-agent: *\nDisallow:"


@pytest.mark.parametrize("name", KEPT)
def test_kept_files_decide_about_strings_of_any_type(name: str) -> None:
    make, ask = KEPT[name]
    parser = make(BLOCKED)
    # The standard library compares as RFC 9309 does.
    is_escape_read = name != "robotparser"
    for kind in (str, Subclass):
        for url, is_allowed in (
            ("http://example.com/a=b", False), ("http://example.com/a", True),
            ("http://example.com/a%3Db", not is_escape_read), ("http://example.com/a%20", True),
            ("http://example.com/a=b?", False), ("http://example.com/a=b;", False),
            ("http://example.com/b#c", True), ("/a=b", False), ("/é", True), ("", True),
        ):  # fmt: skip
            assert ask(parser, kind(url), kind("FooBot")) is is_allowed, url
            assert ask(parser, kind(url), kind("Other")) is True, url
            assert ask(parser, kind(url), kind("Other é")) is True, url


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("wrong", [None, 1, ["/"]])
def test_kept_files_reject_other_types(name: str, wrong: object) -> None:
    make, ask = KEPT[name]
    with pytest.raises((TypeError, AttributeError)):
        ask(make(BLOCKED), wrong, "FooBot")


@pytest.mark.parametrize("name", KEPT)
def test_kept_files_can_be_copied_and_subclassed(name: str) -> None:
    make, ask = KEPT[name]
    parser = make(BLOCKED)
    parser.note = "mine"
    assert not ask(parser, "http://example.com/a=b", "foobot")
    pickled = [pickle.loads(pickle.dumps(parser, each)) for each in range(6)]
    for duplicate in (*pickled, copy.copy(parser), copy.deepcopy(parser)):
        assert type(duplicate) is type(parser)
        assert {**vars(duplicate), "_robots": 0} == {**vars(parser), "_robots": 0}
        assert not ask(duplicate, "http://example.com/a=b", "foobot")
        assert ask(duplicate, "http://example.com/a=b", "other")

    class Own(type(parser)):  # type: ignore[misc]
        def can_fetch(self, *, url: str, user_agent: str = "", useragent: str = "") -> bool:
            return url == "own"

        def allowed(self, *, path: str, name: str) -> bool:
            return path == "own"

        def is_allowed(self, *, user_agent: str, url: str) -> bool:
            return url == "own"

    own = Own.__new__(Own)
    own._robots = parser._robots
    assert ask(own, "own", "foobot")
    assert not ask(own, "other", "foobot")


@pytest.mark.parametrize("name", KEPT)
def test_subclasses_of_kept_files_copy_as_any_class(name: str) -> None:
    make, ask = KEPT[name]
    parser = make(BLOCKED)

    class Slots(type(parser)):  # type: ignore[misc]
        __slots__ = ("tag",)

    class OwnState(type(parser)):  # type: ignore[misc]
        def __getstate__(self) -> dict[str, Any]:
            return self.__dict__.copy()

        def __setstate__(self, state: dict[str, Any]) -> None:
            self.__dict__.update(state)

    for kind in (Slots, OwnState):
        own = kind.__new__(kind)
        vars(own).update(vars(parser))
        own._robots = parser._robots  # type: ignore[attr-defined]
        own.disallow_all, own.allow_all, own.last_checked = False, False, 1  # type: ignore[attr-defined]
        own.tag = 1  # type: ignore[attr-defined]
        duplicate = copy.copy(own)
        assert duplicate.tag == 1  # type: ignore[attr-defined]
        assert not ask(duplicate, "http://example.com/a=b", "foobot")


@pytest.mark.parametrize("name", KEPT)
def test_methods_of_kept_files_are_no_danger_to_others(name: str) -> None:
    """Compiled methods look at what they are called with."""
    make, ask = KEPT[name]
    kind = type(make(BLOCKED))
    method = {"reppy": "allowed", "rerp": "is_allowed"}.get(name, "can_fetch")
    bare = kind.__new__(kind)  # type: ignore[call-overload]
    bare.last_checked = 1
    for wrong in ("http://e/", None, bare):
        with pytest.raises((AttributeError, TypeError)):
            getattr(kind, method)(wrong, "/a", "/b")
    parser = kind.__new__(kind)  # type: ignore[call-overload]
    for value in (None, "x", koster.parse("").rules_for("x")):
        with pytest.raises((AttributeError, TypeError)):  # noqa: PT012 - the first of them, compiled
            parser._robots = value
            parser._own_prefix = "/"
            parser.last_checked = 1
            ask(parser, "/a", "FooBot")


def test_syntaxes_that_are_equal_to_the_default() -> None:
    """Any number may be passed: the library compared with ``==``."""
    parser = rerp_of(BLOCKED)
    for syntax in (robotexclusionrulesparser.GYM2008, 2.0, robotexclusionrulesparser.MK1996, True):  # type: ignore[attr-defined]
        assert not parser.is_allowed("foobot", "/a=b", syntax)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Syntax must be"):
        parser.is_allowed("foobot", "/a=b", 3)

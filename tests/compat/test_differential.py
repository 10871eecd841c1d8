"""Originals from PyPI and the facades that stand in for them, asked the same about random files.

`pytest --questions 1000000` asks more; ``make differential`` does that.
"""

from __future__ import annotations

import importlib
import io
import itertools
import re
import urllib.request
from email.message import Message
from typing import Any

import pytest
from differences import ORIGINALS, Original, differences
from support import ROOT

from koster.compat import robotexclusionrulesparser


def loaded(original: Original) -> Any:
    module = original.load()
    if module is None:
        pytest.skip(f"{original.name} is not installed: make test installs it")
    return module


@pytest.mark.parametrize("original", ORIGINALS, ids=lambda original: original.name)
def test_facade_and_original_answer_alike(original: Original, pytestconfig: pytest.Config) -> None:
    loaded(original)
    count = pytestconfig.getoption("questions")
    found = list(itertools.islice(differences(original, ORIGINALS.index(original), count), 5))
    assert not found, "\n".join(sorted(found, key=len))


# What docs/migrating.md lists as different on purpose, row by row.

ROW = re.compile(
    r"^\| (?P<what>.+?) \| (?P<file>.*?) \| (?P<url>.*?) \| (?P<there>.+?) \| (?P<here>.+?) \|$"
)
DOCUMENT = ROOT / "docs" / "migrating.md"


def listed() -> list[Any]:
    """Return the rows of the tables of differences, each with the section it is in."""
    found = []
    section, in_table = "", False
    for line in DOCUMENT.read_text("utf-8").splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ")
        in_table = line.startswith("|") and (in_table or line.startswith("| what differs |"))
        if in_table and not line.startswith(("| what differs |", "|---")):
            row = ROW.match(line)
            assert row is not None, line
            assert {row["there"], row["here"]} <= ANSWERS.keys(), line
            found.append(pytest.param(section, row, id=f"{section}: {row['what']}"))
    return found


ANSWERS = {"allowed": True, "blocked": False, "`ValueError`": "ValueError"}


def spans(cell: str) -> list[str]:
    return [each.encode().decode("unicode_escape") for each in re.findall(r"`([^`]*)`", cell)]


def answer(module: Any, text: str, agent: str, url: str) -> Any:
    """Return whether a library allows a URL, or the name of what it raises."""
    name = module.__name__.rpartition(".")[2]
    try:
        if hasattr(module, "RobotExclusionRulesParser"):
            parser = module.RobotExclusionRulesParser()
            parser.parse(text)
            return parser.is_allowed(agent, url)
        if hasattr(module, "evaluate_robots"):
            verdict, _ = module.evaluate_robots(module.parse_robots(text), url, agent)
            return verdict.value.startswith("allowed")
        if hasattr(module, "scan_robots_txt"):
            from logging import getLogger
            from urllib.parse import urlsplit

            quiet = getLogger("quiet")
            quiet.disabled = True
            records = module.scan_robots_txt(text.splitlines(), quiet)
            rules = module.lookup_robots_rules(module.parse_robots_txt(records, quiet), agent)
            return module.path_allowed(module.unescape_path(urlsplit(url).path), rules)
        if hasattr(module, "Protego"):
            return module.Protego.parse(text).can_fetch(url, agent)
        assert name == "robotstxt"
        return module.Parser(agent, text).allowed(url)
    except Exception as error:  # noqa: BLE001 - that is what is compared
        return type(error).__name__


@pytest.mark.parametrize(("section", "row"), listed())
def test_a_difference_that_is_listed_is_there(section: str, row: re.Match[str]) -> None:
    text = "\n".join(spans(row["file"]))
    url = spans(row["url"])[-1]
    agent = spans(row["url"])[0] if len(spans(row["url"])) > 1 else "FooBot"
    facade = importlib.import_module(f"koster.compat.{section}")
    assert answer(facade, text, agent, url) == ANSWERS[row["here"]]
    for original in ORIGINALS:
        if original.facade == facade.__name__:
            assert answer(loaded(original), text, agent, url) == ANSWERS[row["there"]]


def test_differences_are_listed() -> None:
    sections = {row.values[0] for row in listed()}
    assert sections == {"robotexclusionrulesparser", "robotstxt", "apetest", "webcanon", "protego"}
    assert len(listed()) >= 25


# robotexclusionrulesparser: what a fetch makes of statuses, charsets and Expires.

RERP = ORIGINALS[0]
CHARSETS = (
    "utf-8", "UTF-8", '"utf-8"', "'utf-8'", "iso-8859-1", "us-ascii", "utf-16", "nonsense", ".dot", "",
    " ", "hex", "utf-8 x", "\u00e4", "cp1252", '"utf-8',
)  # fmt: skip
TYPES = ("text/plain; charset={}", "text/plain; charset={}; format=flowed", "Text/Plain;CHARSET={}",
         "text/plain; format=flowed; charset={};charset=", "charset={}", "text/plain", "")  # fmt: skip
FILE = "User-agent: *\nDisallow: /caf\xe9\n"
BODIES = (b"", FILE.encode(), FILE.encode("latin-1"), FILE.encode("utf-16"))


class Response(io.BytesIO):
    """What `urlopen` gives."""

    def __init__(self, status: int, body: bytes, content_type: str) -> None:
        super().__init__(body)
        self.status = self.code = status
        self.headers = Message()
        if content_type:
            self.headers["Content-Type"] = content_type

    def info(self) -> Message:
        return self.headers


def fetched(module: Any, monkeypatch: pytest.MonkeyPatch, response: Response) -> Any:
    monkeypatch.setattr(urllib.request, "urlopen", lambda *_, **__: response)
    monkeypatch.setattr(robotexclusionrulesparser, "_urlopen", lambda *_, **__: response)
    parser = module.RobotExclusionRulesParser()
    try:
        parser.fetch("https://example.com/robots.txt")
    except Exception as error:  # noqa: BLE001 - that is what is compared
        return type(error), str(error), parser.response_code
    verdicts = [parser.is_allowed("x", url) for url in ("/caf\xe9", "/caf%E9", "/caf")]
    return verdicts, str(parser), parser.response_code


@pytest.mark.parametrize("charset", CHARSETS)
@pytest.mark.parametrize("form", TYPES)
def test_a_fetch_gives_and_raises_what_the_original_does(
    form: str, charset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = loaded(RERP)
    for body in BODIES:
        for status in (200, 204, 301, 401, 404, 500):
            answers = [
                fetched(module, monkeypatch, Response(status, body, form.format(charset)))
                for module in (robotexclusionrulesparser, original)
            ]
            assert answers[0] == answers[1]

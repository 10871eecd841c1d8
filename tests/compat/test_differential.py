"""The facades against their originals from PyPI, on random files.

`pytest --questions 1000000` compares more answers; ``make differential`` runs that.
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

from koster.compat import robotexclusionrulesparser
from tests.helpers.differences import ORIGINALS, Original, differences
from tests.helpers.support import ROOT


def load_or_skip(original: Original) -> Any:
    module = original.load()
    if module is None:
        pytest.skip(f"{original.name} is not installed: make test installs it")
    return module


@pytest.mark.parametrize("original", ORIGINALS, ids=lambda original: original.name)
def test_facade_and_original_agree(original: Original, pytestconfig: pytest.Config) -> None:
    load_or_skip(original)
    count = pytestconfig.getoption("questions")
    first_differences = list(
        itertools.islice(differences(original, ORIGINALS.index(original), count), 5)
    )
    assert not first_differences, "\n".join(sorted(first_differences, key=len))


# Each intentional difference that docs/guides/migrate lists.

ROW = re.compile(
    r"^\| (?P<difference>.+?) \| (?P<file>.*?) \| (?P<url>.*?) \| (?P<original>.+?) \| (?P<facade>.+?) \|$"
)
VERDICTS = {"allowed": True, "blocked": False, "`ValueError`": "ValueError"}
HEADING = "| what differs |"
PAGES = ROOT / "docs" / "guides" / "migrate"


def documented_differences() -> list[Any]:
    """Return the rows of the tables of differences, each with the name of its facade."""
    rows = []
    for page in sorted(PAGES.glob("*.md")):
        in_table = False
        for line in page.read_text("utf-8").splitlines():
            in_table = line.startswith("|") and (in_table or line.startswith(HEADING))
            if in_table and not line.startswith((HEADING, "|---")):
                row = ROW.match(line)
                assert row is not None, line
                assert {row["original"], row["facade"]} <= VERDICTS.keys(), line
                rows.append(pytest.param(page.stem, row, id=f"{page.stem}: {row['difference']}"))
    assert len(rows) > 30
    return rows


def code_spans(cell: str) -> list[str]:
    return [each.encode().decode("unicode_escape") for each in re.findall(r"`([^`]*)`", cell)]


def verdict_of(module: Any, text: str, agent: str, url: str) -> Any:
    """Return whether a library allows a URL, or the name of the exception it raises."""
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
    except Exception as error:  # noqa: BLE001 - exceptions are compared
        return type(error).__name__


@pytest.mark.parametrize(("name", "row"), documented_differences())
def test_documented_difference_exists(name: str, row: re.Match[str]) -> None:
    text = "\n".join(code_spans(row["file"]))
    url = code_spans(row["url"])[-1]
    agent = code_spans(row["url"])[0] if len(code_spans(row["url"])) > 1 else "FooBot"
    facade = importlib.import_module(f"koster.compat.{name}")
    assert verdict_of(facade, text, agent, url) == VERDICTS[row["facade"]]
    for original in ORIGINALS:
        if original.facade == facade.__name__:
            assert verdict_of(load_or_skip(original), text, agent, url) == VERDICTS[row["original"]]


def test_differences_are_documented() -> None:
    sections = {row.values[0] for row in documented_differences()}
    assert sections == {"robotexclusionrulesparser", "robotstxt", "apetest", "webcanon", "protego"}
    assert len(documented_differences()) >= 25


# robotexclusionrulesparser: statuses, charsets and Expires of a fetch.

RERP = ORIGINALS[0]
CHARSETS = (
    "utf-8", "UTF-8", '"utf-8"', "'utf-8'", "iso-8859-1", "us-ascii", "utf-16", "nonsense", ".dot", "",
    " ", "hex", "utf-8 x", "\u00e4", "cp1252", '"utf-8',
)  # fmt: skip
CONTENT_TYPES = ("text/plain; charset={}", "text/plain; charset={}; format=flowed", "Text/Plain;CHARSET={}",
         "text/plain; format=flowed; charset={};charset=", "charset={}", "text/plain", "")  # fmt: skip
FILE = "User-agent: *\nDisallow: /caf\xe9\n"
BODIES = (b"", FILE.encode(), FILE.encode("latin-1"), FILE.encode("utf-16"))


class Response(io.BytesIO):
    """A response of `urlopen`."""

    def __init__(self, status: int, body: bytes, content_type: str) -> None:
        super().__init__(body)
        self.status = self.code = status
        self.headers = Message()
        if content_type:
            self.headers["Content-Type"] = content_type

    def info(self) -> Message:
        return self.headers


def fetch_result(module: Any, monkeypatch: pytest.MonkeyPatch, response: Response) -> Any:
    monkeypatch.setattr(urllib.request, "urlopen", lambda *_, **__: response)
    monkeypatch.setattr(robotexclusionrulesparser, "_urlopen", lambda *_, **__: response)
    parser = module.RobotExclusionRulesParser()
    try:
        parser.fetch("https://example.com/robots.txt")
    except Exception as error:  # noqa: BLE001 - exceptions are compared
        return type(error), str(error), parser.response_code
    verdicts = [parser.is_allowed("x", url) for url in ("/caf\xe9", "/caf%E9", "/caf")]
    return verdicts, str(parser), parser.response_code


@pytest.mark.parametrize("charset", CHARSETS)
@pytest.mark.parametrize("content_type", CONTENT_TYPES)
def test_fetch_matches_the_original(
    content_type: str, charset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = load_or_skip(RERP)
    for body in BODIES:
        for status in (200, 204, 301, 401, 404, 500):
            results = [
                fetch_result(
                    module, monkeypatch, Response(status, body, content_type.format(charset))
                )
                for module in (robotexclusionrulesparser, original)
            ]
            assert results[0] == results[1]

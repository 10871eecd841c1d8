"""JSON of others: what is wrong with it is an error, never a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from koster import _json
from koster._cli.root import koster

ROBOTS = "User-agent: *\nDisallow: /a\n"
NESTED = ("[" * 100_000, '{"a":' * 100_000, "[" * 500 + "]" * 500, '{"a":' * 500 + "1" + "}" * 500)


@pytest.mark.parametrize("text", [*NESTED, "1" * 5_000, '"\ud800', "", "\0", '{"a":', "nul"])
def test_wrong_json_is_a_value_error(text: str) -> None:
    for each in (text, text.encode("utf-8", "surrogatepass")):
        with pytest.raises(ValueError, match=r"."):
            _json.parse_json(each)


@pytest.mark.parametrize(
    "text", ["[1]", '{"a": ' * 200 + "1" + "}" * 200, "[[]," * 199 + "1" + "]" * 199]
)
def test_other_json_is_read(text: str) -> None:
    assert _json.parse_json(text) == _json.parse_json(text.encode()) == json.loads(text)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("robots.txt").write_text(ROBOTS)
    Path("access.log").write_text(
        '1.2.3.4 - - [10/Mar/2026:12:00:00 +0000] "GET /b HTTP/1.1" 200 12 "-" "GPTBot"\n'
    )
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(koster, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


@pytest.mark.parametrize("text", NESTED)
def test_logs(text: str) -> None:
    Path("nested.log").write_text(f"{text}\n")
    code, output = run("logs", "--robots", "robots.txt", "nested.log")
    assert (code, "nested.log: unknown log format" in output) == (3, True)


@pytest.mark.parametrize("text", [*NESTED, "[1e999", '{"keys": 1}', "1", '["x"]'])
def test_lists_of_addresses(text: str) -> None:
    Path("ranges").mkdir()
    Path("ranges/gptbot.json").write_text(text)
    code, output = run("logs", "--robots", "robots.txt", "--ranges", "ranges", "access.log")
    assert code == 3, output
    assert "gptbot.json: is not valid JSON" in output or "has neither addresses nor keys" in output


@pytest.mark.parametrize(
    "text", [*NESTED, '{"findings": [{"file": "a", "code": "b", "text": "c", "count": 1e999}]}']
)
def test_baselines(text: str) -> None:
    Path("baseline.json").write_text(text)
    code, output = run("lint", "--baseline", "baseline.json", "robots.txt")
    assert (code, "is not a baseline of koster lint" in output) == (3, True)


def test_bulk() -> None:
    line = {"url": "https://a.example/robots.txt", "body": ROBOTS}
    rows = "".join(f'{json.dumps(line)[:-1]}, "x": {each}}}\n' for each in ("[[1]]", *NESTED))
    Path("in.jsonl").write_text(rows + "".join(f"{each}\n" for each in NESTED))
    code, output = run("bulk", "facts", "in.jsonl", "-o", "out")
    assert code == 1
    assert "line 2: invalid JSON" in output
    assert "8 records could not be read" in output


@pytest.mark.parametrize("text", [*NESTED, "[]", '{"cases": 1}'])
def test_conformance_suites(text: str) -> None:
    for name in ("suite.json", "sentences.json"):
        Path(name).write_text(text)
    code, output = run("conformance", "run", "--suite", ".", "--", "true")
    assert code == 3, output
    assert "not a conformance suite" in output

"""Every example of the docs runs, and prints and returns what the page says.

The blocks of a page run in order, in a folder with the files of ``examples``:

- a block with a title (```` ```toml title="koster.toml" ````) is written to that file;
- Python runs in one namespace per page; ``await`` works. A comment behind an expression is its
  value (``robots.allowed(…)  # False``), comments below ``print`` are what it prints;
- of a console block the commands that start with ``koster`` run; ``...`` stands for lines left out;
- TOML, JSON and YAML parse.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import io
import json
import re
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from click.testing import CliRunner

from koster._cli.root import koster as command
from tests.helpers import docs_web, redis_server
from tests.helpers.docs_pages import Block, blocks, pages
from tests.helpers.support import ROOT

#: The reason of blocks that run if a server is installed.
_NEEDS_REDIS = "needs a Redis server"
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_LANGUAGES = {"python", "console", "toml", "json", "yaml", "text", "robots", "sql", "bash", "ruby", "nginx", "ini", "xml", "markdown", "mermaid", "html", "js", "promql"}  # fmt: skip


def _same(shown: str, printed: str) -> None:
    """Compare what a page shows with what was printed; days may differ, ``...`` is any lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() in ("...", "…") else re.escape(line.rstrip()) + r"\s*\n"
        for line in _DAY.sub("DAY", shown).splitlines()
    )
    actual = _DAY.sub("DAY", printed)
    actual = actual if not actual or actual.endswith("\n") else actual + "\n"
    assert re.fullmatch(pattern, actual), f"shown:\n{shown}\nprinted:\n{printed}"


def _console(block: Block) -> None:
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, expected = part.partition("\n")
        if not line.startswith("koster "):
            assert not line.startswith("./koster")
            continue
        arguments = shlex.split(line, comments=True)[1:]
        runner = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1"})
        if ">" in arguments:
            arguments, target = arguments[:-2], Path(arguments[-1])
            target.write_bytes(runner.invoke(command, arguments).stdout_bytes)
            continue
        result = runner.invoke(command, arguments)
        assert result.exception is None or isinstance(result.exception, SystemExit), result
        _same(expected, result.output)


def _value(comment: str) -> tuple[bool, Any]:
    """Return whether a comment begins with a Python literal, and its value."""
    text = comment.partition(": ")[0] if not comment.startswith(("{", "[")) else comment
    try:
        return True, ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return False, None


def _run(code: ast.AST, mode: str, names: dict[str, Any], name: str) -> Any:
    compiled = compile(code, name, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)  # type: ignore[arg-type, call-overload]
    return eval(compiled, names)


async def _finished(awaitable: Any) -> Any:
    return await awaitable


def _python(block: Block, names: dict[str, Any], name: str, loop: asyncio.Runner) -> None:
    lines = block.text.splitlines()
    tree = ast.parse(block.text)
    for statement in tree.body:
        first, last = statement.lineno - 1, (statement.end_lineno or statement.lineno) - 1
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            if isinstance(statement, ast.Expr):
                value = _run(ast.Expression(statement.value), "eval", names, name)
                value = loop.run(_finished(value)) if asyncio.iscoroutine(value) else value
            else:
                module = ast.Module([statement], [])
                value = _run(module, "exec", names, name)
                value = loop.run(_finished(value)) if asyncio.iscoroutine(value) else None
        shown = _shown_output(lines, first, last)
        if shown:
            _same("\n".join(shown), printed.getvalue())
        elif isinstance(statement, ast.Expr):
            _, mark, comment = lines[last][statement.end_col_offset or 0 :].partition("# ")
            is_literal, expected = _value(comment) if mark else (False, None)
            assert not is_literal or value == expected, f"{lines[last]}: {value!r}"


def _shown_output(lines: list[str], first: int, last: int) -> list[str]:
    """Return the comments behind and below calls of ``print`` in a statement, and below it."""
    shown = []
    is_output = False
    for number in range(first, len(lines)):
        line = lines[number].strip()
        if number > last and not line.startswith("# "):
            break
        if line.startswith("# "):
            shown += [line[2:]] if is_output else []
        elif re.match(r"(await )?print\(", line):
            is_output = True
            _, mark, comment = line.rpartition(")  # ")
            shown += [comment] if mark else []
        elif line:
            is_output = is_output and not line.endswith(")") and number <= last
            is_output = is_output or line == ")"
    return shown


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str | None]:
    """The address of a server, or None if it is not installed."""
    if redis_server.program() is None:
        yield None
        return
    with redis_server.running(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[docs_web.Servers]:
    with docs_web.running(tmp_path_factory.mktemp("servers")) as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "place"
    shutil.copytree(ROOT / "examples", folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(folder)
    return folder


#: Pages whose examples take seconds: all cases of the suite, and a long search.
_SLOW = ("docs/guides/parsers/test-a-parser.md", "docs/concepts/proofs.md")


def _pages() -> list[Any]:
    marks = {ROOT / name: [pytest.mark.thorough] for name in _SLOW}
    return [
        pytest.param(page, marks=marks.pop(page, []), id=str(page.relative_to(ROOT)))
        for page in pages()
    ]


@pytest.mark.parametrize("page", _pages())
def test_examples(
    page: Path,
    place: Path,
    servers: docs_web.Servers,
    monkeypatch: pytest.MonkeyPatch,
    redis_url: str | None,
) -> None:
    names: dict[str, Any] = {"__name__": "example"}
    redis_port = urlsplit(redis_url).port if redis_url else None
    docs_web.reach(servers, monkeypatch, redis_port)
    with asyncio.Runner() as loop:
        for block in blocks(page):
            where = f"{page.relative_to(ROOT)}:{block.line}"
            assert block.language in _LANGUAGES, f"{where}: language {block.language!r}"
            if block.title:
                target = place / block.title
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(block.text, "utf-8")
            try:
                if block.language == "toml":
                    tomllib.loads(block.text)
                elif block.language == "json":
                    json.loads(block.text)
                elif block.language == "yaml":
                    list(yaml.safe_load_all(block.text))
                elif block.reason and not (block.reason == _NEEDS_REDIS and redis_port):
                    continue
                elif block.language == "console":
                    _console(block)
                elif block.language == "python":
                    _python(block, names, where, loop)
            except Exception as error:
                error.add_note(where)
                raise

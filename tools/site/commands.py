"""A page for each command: usage, options and exit codes from its help, examples with their output."""

from __future__ import annotations

import re
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from koster._cli.examples import EXAMPLES
from koster._cli.help import COMMANDS
from koster._cli.root import koster
from tools.commands import Described, described, printed

from .markdown import front

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]

#: More lines of an example's output are left out.
_MAX_LINES = 24


def pages() -> Iterator[tuple[str, str]]:
    """Yield the file name and the text of each page."""
    for names in COMMANDS.values():
        for each in described(names, click.Context(koster, info_name="koster")):
            if not isinstance(each.command, click.Group):
                yield file_name(each.path), "\n".join(_page(each))


def file_name(path: str) -> str:
    """Return the file of a command's page."""
    return f"{path.replace(' ', '-')}.md"


def table() -> str:
    """Return the list of commands, for the index."""
    lines = []
    for group, names in COMMANDS.items():
        lines += [f"## {group}", ""]
        for each in described(names, click.Context(koster, info_name="koster")):
            if not isinstance(each.command, click.Group):
                lines.append(f"- [`koster {each.path}`]({file_name(each.path)}): {each.sentence}")
        lines.append("")
    return "\n".join(lines).strip()


def _page(each: Described) -> Iterator[str]:
    yield from front(each.sentence)
    yield f"# koster {each.path}"
    yield ""
    yield each.sentence
    yield ""
    yield f"```text\n{each.usage}\n```"
    yield ""
    yield escape(each.more)
    yield ""
    yield "## Examples"
    yield ""
    for example in EXAMPLES[each.path]:
        yield from _example(example)
    yield from _details(each.path)
    if each.panels:
        yield "## Options"
        yield ""
    for panel, options in each.panels:
        if panel != "Options":
            yield f"### {panel}"
            yield ""
        for names, text in options:
            yield f"- `{names}`: {escape(text)}"
        yield ""
    codes = each.epilog.removeprefix("Exit codes: ").rstrip(".")
    if codes:
        yield "## Exit codes"
        yield ""
        for code in re.split(r", (?=\d )", codes):
            number, _, meaning = code.partition(" ")
            yield f"- `{number}`: {escape(meaning)}"
        yield ""


def _details(path: str) -> Iterator[str]:
    """Yield what no option says: the sections of a file in ``docs/_details``."""
    file = ROOT / "docs" / "_details" / file_name(path)
    if file.exists():
        yield file.read_text("utf-8").strip()
        yield ""


def _example(example: str) -> Iterator[str]:
    output = _output(example)
    lines = output.splitlines()
    if len(lines) > _MAX_LINES:
        lines = [*lines[:_MAX_LINES], "..."]
    yield "\n".join(["```console", f"$ {example}", *lines, "```"])
    yield ""


def _output(example: str) -> str:
    """Return what an example prints, or nothing if it needs a network, archives or a file of its own."""
    arguments = shlex.split(example)[1:]
    needs_more = any(
        word in example
        for word in ("example.com", "pages.csv", "crawl", "classified", "serve", "completion", ">")
    )
    if needs_more or not arguments:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "examples"
        shutil.copytree(ROOT / "examples", place)
        return printed(arguments, place)


def escape(text: str) -> str:
    """Return a text as Markdown."""
    for character in "*_<[":
        text = text.replace(character, f"\\{character}")
    return text

"""The Markdown of all pages: those of ``docs`` with their tables, and generated ones."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from . import api, benchmarks, commands, lint, parsers, suite, tables
from .links import DOCS, in_site

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]

#: Pages that are files at the top of the repository.
_TOP = {
    "about/changelog.md": "CHANGELOG.md",
    "about/contributing.md": "CONTRIBUTING.md",
    "about/security.md": "SECURITY.md",
}
_TOP_DESCRIPTIONS = {
    "about/changelog.md": "What changed in each version.",
    "about/contributing.md": "How to set up, test and change koster.",
    "about/security.md": "How to report a vulnerability, and what counts as one.",
}

_FRONT = re.compile(r"\A---\n(?P<meta>.*?)\n---\n", re.DOTALL)
_LINK = re.compile(r"(?<=\]\()(?P<target>[^)\s]+)(?=\))")


class Page(NamedTuple):
    """A page: its path in the site, its Markdown, and the file to edit it in."""

    path: str
    text: str
    source: str

    @property
    def description(self) -> str:
        found = re.search(r"^description: (.+)$", self._meta, re.MULTILINE)
        return found[1] if found else ""

    @property
    def title(self) -> str:
        found = re.search(r"^# (.+)$", self.text, re.MULTILINE)
        return found[1].replace("\\", "") if found else self.path

    @property
    def plain(self) -> str:
        """The Markdown without front matter."""
        return _FRONT.sub("", self.text, count=1).lstrip()

    @property
    def _meta(self) -> str:
        found = _FRONT.match(self.text)
        return found["meta"] if found else ""

    @property
    def staged(self) -> str:
        """The Markdown for the site's generator, which shows ``source`` as the link to edit it."""
        meta = {
            "description": self.description,
            "source": self.source,
            "markdown": Path(self.path).name,
        }
        lines = [f"{name}: {json.dumps(value)}" for name, value in meta.items()]
        return "\n".join(["---", *lines, "---", "", self.plain])


def pages() -> Iterator[Page]:
    """Yield all pages, with relative links."""
    for page in _pages():
        yield page._replace(text=in_site(page.text, page.path))


def _pages() -> Iterator[Page]:
    for file in sorted(DOCS.rglob("*.md")):
        if file.is_relative_to(DOCS / "_details"):
            continue  # parts of generated pages
        text = tables.inserted(file.read_text("utf-8"))
        yield Page(str(file.relative_to(DOCS)), _outside(text, file), str(file.relative_to(ROOT)))
    for path, name in _TOP.items():
        file = ROOT / name
        text = f"---\ndescription: {_TOP_DESCRIPTIONS[path]}\n---\n" + file.read_text("utf-8")
        yield Page(path, _outside(_from_top(text, path), file), name)
    for path, text, source in lint.pages():
        yield Page(f"reference/lint/{path}", text, source)
    for path, text in commands.pages():
        source = f"src/koster/_cli/commands/{path.removesuffix('.md').partition('-')[0]}.py"
        yield Page(f"reference/commands/{path}", text, source)
    for path, text in suite.pages():
        yield Page(f"reference/conformance/{path}", text, "conformance/README.md")
    for path, text in parsers.pages():
        yield Page(f"about/parsers/{path}", text, "tools/matrix/parsers.py")
    for path, text in api.Reference().pages():
        yield Page(f"reference/api/{path}", text, _module_file(path.removesuffix(".md")))


def _module_file(name: str) -> str:
    path = ROOT / "src" / name.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return str(file.relative_to(ROOT)) if file.exists() else "tools/site/api.py"


def _from_top(text: str, path: str) -> str:
    """Return a page from the top of the repository with links that start at its path in the site."""
    up = "../" * path.count("/")

    def moved(found: re.Match[str]) -> str:
        target = found["target"]
        name, mark, anchor = target.partition("#")
        at_top = {file: page for page, file in _TOP.items()}
        if name in at_top:
            return up + at_top[name] + mark + anchor
        return up + target.removeprefix("docs/") if target.startswith("docs/") else target

    return _LINK.sub(moved, text)


def _outside(text: str, file: Path) -> str:
    """Return a page in which links to files outside ``docs`` lead to the repository."""

    def absolute(found: re.Match[str]) -> str:
        target = found["target"]
        if re.match(r"[a-z]+:|#", target):
            return target
        name, mark, anchor = target.partition("#")
        linked = (file.parent / name).resolve()
        if linked.is_relative_to(DOCS) or not linked.exists():
            return target
        return f"{repository()}/blob/main/{linked.relative_to(ROOT)}{mark}{anchor}"

    return _LINK.sub(absolute, text)


def repository() -> str:
    """Return the address of the repository."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return str(project["urls"]["Repository"])


def write(folder: Path) -> list[Page]:
    """Write the Markdown of all pages, pictures and scripts to a folder, and return the pages."""
    shutil.rmtree(folder, ignore_errors=True)
    all_pages = list(pages())
    for page in all_pages:
        file = folder / page.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page.staged, "utf-8")
    for name in ("images", "assets", "reference/schemas"):
        shutil.copytree(DOCS / name, folder / name)
    (folder / "images" / "benchmark.svg").write_text(benchmarks.chart(), "utf-8")
    return all_pages

"""API pages: names, signatures and types from the source, texts from the docstrings."""

from __future__ import annotations

import re
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import griffe

from .markdown import front

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[2]

#: The modules with a page, and what each is for.
MODULES = {
    "koster": "Parse a robots.txt and ask it",
    "koster.fetch": "Clients that fetch, cache and pace",
    "koster.cache": "Caches for the clients",
    "koster.access": "Fetching as a state machine, without I/O",
    "koster.freshness": "How long a fetched file is fresh",
    "koster.dialects": "The choices of a dialect",
    "koster.politeness": "When a crawler may ask a site again",
    "koster.origins": "Sites and URLs",
    "koster.crawlers": "Known crawlers",
    "koster.lint": "Find mistakes in a robots.txt",
    "koster.audit": "Which crawlers a file allows and blocks",
    "koster.signals": "What a site says about the use of a page",
    "koster.diff": "What a change allows and blocks",
    "koster.expectations": "Check expected access",
    "koster.formatting": "Format a file",
    "koster.compose": "Write a file from intentions",
    "koster.sitemaps": "Read sitemaps and find blocked URLs",
    "koster.analysis": "Proofs about rules",
    "koster.logs": "Access logs against robots.txt",
    "koster.conformance": "Test robots.txt parsers",
    "koster.bulk": "Columns of files, for archives",
    "koster.bulk.duckdb": "Functions for DuckDB",
    "koster.bulk.judging": "Requests judged by versions",
    "koster.bulk.polars": "Expressions for Polars",
    "koster.bulk.spark": "Data frames of Spark",
    "koster.bulk.warc": "Records of WARC files",
    "koster.bulk.runs": "Runs over archives that resume",
    "koster.bulk.report": "The numbers of the report",
    "koster.bulk.use_report": "Reports of what sites say about use",
    "koster.service": "The service in a program of your own",
}

#: The order in which a page describes what it has from several modules; others follow.
_ORDER = (
    "koster.robots",
    "koster._files",
    "koster.model",
    "koster.decisions",
    "koster.directives",
    "koster.access",
    "koster.fetch.sync",
    "koster.fetch.aio",
)

#: Longer signatures have a parameter on each line.
_WIDTH = 88
#: Longer values of constants are not shown.
_MAX_VALUE = 60


@cache
def _package() -> Any:
    return griffe.load(
        "koster", search_paths=[str(ROOT / "src")], allow_inspection=False,
        docstring_parser="google",
    )  # fmt: skip


def _resolved(member: Any) -> Any:
    while member.is_alias:
        member = member.final_target
    return member


def _public_names(module: Any) -> list[str]:
    """Return the names a module exports, also those that it loads late."""
    names = [str(each) for each in module.exports or ()]
    if not names:
        names = [
            name
            for name, each in module.members.items()
            if not name.startswith("_") and not each.is_alias and not each.is_module
            and name not in ("T", "TYPE_CHECKING")
        ]  # fmt: skip
    return [each for each in names if each != "__version__"]


class Reference:
    """All pages, and where each name is described."""

    def __init__(self) -> None:
        self.modules = {
            name: _package()[name.removeprefix("koster.")] if "." in name else _package()
            for name in MODULES
        }
        #: The page of each object, by the path of its definition.
        self.homes: dict[str, str] = {}
        for module_name, module in self.modules.items():
            for name in _public_names(module):
                self.homes.setdefault(_resolved(module[name]).path, module_name)

    @cached_property
    def anchors(self) -> dict[str, str]:
        """The link of each name that texts refer to: `parse`, `RobotsTxt.allowed`."""
        links: dict[str, str] = {}
        for path, page in self.homes.items():
            each = _resolved(_package()[path.removeprefix("koster.")])
            anchor = "constants" if each.is_attribute else _anchor(each.name)
            links.setdefault(each.name, f"{page}.md#{anchor}")
            if each.is_class:
                for name, _ in _methods(each):
                    key = f"{each.name}.{name}"
                    links.setdefault(key, f"{page}.md#{_anchor(key)}")
        links |= {name: f"{name}.md" for name in MODULES}
        return links

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield the file name and the text of each page."""
        yield "index.md", self._index()
        for name, module in self.modules.items():
            yield f"{name}.md", self._page(name, module)

    def _index(self) -> str:
        rows = [f"| [`{name}`]({name}.md) | {what} |" for name, what in MODULES.items()]
        return "\n".join(
            [
                *front("All public modules, classes and functions, from their docstrings."),
                "# Python API",
                "",
                "Names that start with an underscore, and modules without a page, are internal.",
                "",
                "| module | what it is for |",
                "|---|---|",
                *rows,
                "",
            ]
        )

    def _page(self, page: str, module: Any) -> str:
        lines = [*front(f"{MODULES[page]}."), f"# {page}", ""]
        lines += [self._text(module.docstring.value if module.docstring else ""), ""]
        elsewhere, here = [], []
        for name in _public_names(module):
            each = _resolved(module[name])
            if self.homes[each.path] == page:
                here.append((name, each))
            else:
                elsewhere.append(self._link(each.name, name))
        here.sort(key=lambda pair: _position(pair[1]))
        for name, each in here:
            if not each.is_attribute:
                lines += self._object(name, each)
        lines += self._constants([(name, each) for name, each in here if each.is_attribute])
        if elsewhere:
            lines += [
                "## Also here",
                "",
                "Described on other pages: " + ", ".join(elsewhere) + ".",
                "",
            ]
        return "\n".join(lines)

    def _object(self, name: str, each: Any) -> Iterator[str]:
        yield f"## {name}"
        yield ""
        yield from self._class(name, each) if each.is_class else self._function(name, each)

    def _constants(self, constants: list[tuple[str, Any]]) -> Iterator[str]:
        if constants:
            yield "## Constants"
            yield ""
        for name, each in constants:
            value = str(each.value or "")
            shown = f" = {value}" if value and len(value) <= _MAX_VALUE else ""
            text = self._cell(
                _comment_above(each) or (each.docstring and each.docstring.value) or ""
            )
            yield f"- `{name}{shown}`" + (f": {text}" if text else "")
        if constants:
            yield ""

    def _function(self, name: str, each: Any) -> Iterator[str]:
        overloads = getattr(each, "overloads", None) or [each]
        yield from _fenced("\n".join(_signature(name, one) for one in overloads))
        yield from self._docstring(each)

    def _class(self, name: str, each: Any) -> Iterator[str]:
        is_enum = any("Enum" in str(base) for base in each.bases)
        bases = [str(base).rsplit(".", 1)[-1] for base in each.bases if str(base) != "object"]
        if is_enum:
            yield from _fenced(f"class {name}({', '.join(bases)})")
        else:
            made = each.members.get("__init__")
            parameters = (
                list(made.parameters)[1:] if made is not None else list(each.parameters)[1:]
            )
            is_error = any(base.endswith("Error") or base == "Exception" for base in bases)
            head = f"class {name}({', '.join(bases)})" if is_error else f"class {name}"
            yield from _fenced(head if is_error else _folded(head, _parameters(parameters), ""))
        yield from self._docstring(each)
        init = each.members.get("__init__")
        if init is not None and not init.is_alias and init.docstring:
            yield from self._docstring(init)
        if is_enum:
            yield from self._members(each)
            return
        described = _described(each)
        attributes = [
            (member_name, member)
            for member_name, member in each.members.items()
            if not member_name.startswith("_") and not member.is_alias
            and (member.is_attribute or "property" in member.labels)
            and member_name not in described and member.docstring
        ]  # fmt: skip
        if attributes:
            yield "| attribute | type | meaning |"
            yield "|---|---|---|"
            for member_name, member in attributes:
                type_ = getattr(member, "annotation", None) or getattr(member, "returns", None)
                yield f"| `{member_name}` | {_type(type_)} | {self._cell(member.docstring.value)} |"
            yield ""
        for member_name, member in _methods(each):
            yield f"### {name}.{member_name}"
            yield ""
            yield from self._function(member_name, member)

    def _members(self, each: Any) -> Iterator[str]:
        yield "| member | value | meaning |"
        yield "|---|---|---|"
        for name, member in each.members.items():
            if member.is_attribute and not name.startswith("_") and "property" not in member.labels:
                meaning = self._cell(member.docstring.value) if member.docstring else ""
                yield f"| `{name}` | `{_plain(str(member.value))}` | {meaning} |"
        yield ""
        for name, member in each.members.items():
            if "property" in member.labels and member.docstring and not name.startswith("_"):
                yield f"`{name}`: {self._cell(member.docstring.value)}"
                yield ""

    def _docstring(self, each: Any) -> Iterator[str]:
        if not each.docstring:
            return
        for section in each.docstring.parse("google", warnings=False):
            kind = section.kind.value.replace("parameters", "arguments")
            if kind == "text":
                yield self._text(section.value)
            elif kind == "examples":
                for part, text in section.value:
                    yield from [self._text(text)] if part.value == "text" else _fenced(text)
            elif kind in ("returns", "yields"):
                items = " ".join(self._cell(item.description) for item in section.value)
                yield f"**{kind.capitalize()}** {items}"
            elif kind in ("arguments", "attributes", "raises", "warns"):
                yield f"**{kind.capitalize()}**"
                yield ""
                for item in section.value:
                    yield f"- {self._item_name(item)}: {self._cell(item.description)}"
            else:
                raise ValueError(f"{each.path}: section {kind} of a docstring")
            yield ""

    def _item_name(self, item: Any) -> str:
        """Return the name of an argument or attribute, or a link to an error."""
        name = getattr(item, "name", None)
        return f"`{name}`" if name else self._link(str(item.annotation), str(item.annotation))

    def _text(self, text: str) -> str:
        """Return a docstring's text as Markdown: its names are links, its doctests are blocks."""
        parts = []
        for paragraph in re.split(r"\n{2,}", text.strip()):
            if paragraph.lstrip().startswith(">>>"):
                parts.append("\n".join(_fenced(paragraph)).rstrip())
            else:
                parts.append(self._inline(paragraph))
        return "\n\n".join(parts)

    def _inline(self, text: str) -> str:
        def replaced(found: re.Match[str]) -> str:
            if found["code"] is not None:
                return f"`{found['code']}`"
            return self._link(found["name"], found["name"])

        return re.sub(r"``(?P<code>.+?)``|`(?P<name>[^`]+)`", replaced, text, flags=re.DOTALL)

    def _cell(self, text: str) -> str:
        return self._inline(" ".join(text.split())).replace("|", r"\|")

    def _link(self, name: str, shown: str) -> str:
        target = self.anchors.get(name) or self.anchors.get(name.removeprefix("koster."))
        return f"[`{shown}`]({target})" if target else f"`{shown}`"


def _position(each: Any) -> tuple[int, str, int]:
    module = each.module.path
    order = _ORDER.index(module) if module in _ORDER else len(_ORDER)
    return order, module, each.lineno or 0


def _comment_above(each: Any) -> str:
    """Return the comment ``#:`` above a constant."""
    lines = each.module.filepath.read_text("utf-8").splitlines()[: (each.lineno or 1) - 1]
    comment: list[str] = []
    while lines and lines[-1].startswith("#"):
        comment.insert(0, lines.pop().removeprefix("#:").removeprefix("#").strip())
    return " ".join(comment)


def _described(each: Any) -> set[str]:
    """Return the attributes that the docstring of a class describes."""
    if not each.docstring:
        return set()
    sections = each.docstring.parse("google", warnings=False)
    return {
        item.name for one in sections if one.kind.value in ("attributes", "parameters")
        for item in one.value
    }  # fmt: skip


def _methods(each: Any) -> Iterator[tuple[str, Any]]:
    """Yield the public methods of a class, also those of base classes that have no page."""
    for name, member in (each.members | each.inherited_members).items():
        method = _resolved(member)
        if method.is_function and not name.startswith("_") and method.docstring:
            yield name, method


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-"))


def _fenced(text: str) -> Iterator[str]:
    yield "```python"
    yield text
    yield "```"
    yield ""


def _plain(text: str) -> str:
    return text.strip("'\"")


def _type(annotation: Any) -> str:
    return f"`{annotation}`".replace("|", r"\|") if annotation else ""


def _signature(name: str, each: Any) -> str:
    parameters = list(each.parameters)
    if parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    prefix = "async def " if "async" in each.labels else "def "
    returns = f" -> {each.returns}" if each.returns else ""
    return _folded(f"{prefix}{name}", _parameters(parameters), returns)


def _parameters(parameters: Iterable[Any]) -> list[str]:
    """Return parameters as Python writes them, with the ``*`` before those by keyword only."""
    shown: list[str] = []
    has_star = False
    for each in parameters:
        kind = each.kind.value
        if kind == "keyword-only" and not has_star:
            shown.append("*")
            has_star = True
        has_star = has_star or kind == "variadic positional"
        prefix = {"variadic positional": "*", "variadic keyword": "**"}.get(kind, "")
        text = f"{prefix}{each.name}"
        text += f": {each.annotation}" if each.annotation else ""
        if each.default is not None and not prefix:
            text += f" = {each.default}" if each.annotation else f"={each.default}"
        shown.append(text)
    return shown


def _folded(head: str, parameters: list[str], returns: str) -> str:
    line = f"{head}({', '.join(parameters)}){returns}"
    if len(line) <= _WIDTH or not parameters:
        return line
    inner = "".join(f"    {each},\n" for each in parameters)
    return f"{head}(\n{inner}){returns}"

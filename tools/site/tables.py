"""Pages and tables of the reference that follow from the code: events, outcomes, errors, crawlers.

A page of ``docs`` takes a table with the comment ``<!-- insert: NAME -->``; ``make generate`` writes it there.
"""

from __future__ import annotations

import functools
import inspect
import logging
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

import griffe

import koster
from koster.access import FailureKind, Html, Redirects, Unreachable
from koster.bulk.warc import FetchClass
from koster.compose import PRESETS
from koster.crawlers import MANNERS, POLICY_TOKENS, Obeys, Purpose, known
from koster.fetch import EventName
from koster.fetch.events import _level_of
from koster.signals import GRAMMARS, Use
from koster.signals import _words as words_of
from tools import schemas
from tools.schemas import tables as schema_tables

from . import benchmarks, commands, dialects, parsers, proofs, real_sites, suite
from .links import DOCS, in_repository
from .markdown import outside_code, table

if TYPE_CHECKING:
    import enum
    from collections.abc import Callable
    from pathlib import Path

#: Modules whose errors the page of errors describes besides `koster`.
_ERROR_MODULES = ("koster.fetch", "koster.sitemaps", "koster.lint.settings", "koster.expectations",
                  "koster.logs", "koster.bulk.runs", "koster.bulk._inputs", "koster.service")  # fmt: skip


def text(docstring: str) -> str:
    """Return a docstring on one line, as Markdown."""
    line = " ".join(docstring.split()).replace("``", "`").replace("|", r"\|")
    return outside_code(line, lambda part: part.replace("*", r"\*"))


def member_texts(members: type[enum.Enum]) -> dict[str, str]:
    """Return the docstring below each member of an enumeration, by name."""
    source = griffe.visit(
        members.__name__, filepath=inspect.getsourcefile(members), code=inspect.getsource(members)
    )
    found: Any = source[members.__name__].members
    return {
        each.name: text(found[each.name].docstring.value) if found[each.name].docstring else ""
        for each in members
    }


def _enumeration(members: type[enum.Enum]) -> str:
    texts = member_texts(members)
    rows = [(f"`{each.name}`", f"`{each.value}`", texts[each.name]) for each in members]
    return table(("name", "value", "meaning"), rows)


def reasons() -> str:
    return _enumeration(koster.Reason)


def failure_kinds() -> str:
    return _enumeration(FailureKind)


def unreachable() -> str:
    return _enumeration(Unreachable)


def html() -> str:
    return _enumeration(Html)


def redirects() -> str:
    return _enumeration(Redirects)


def fetch_classes() -> str:
    return _enumeration(FetchClass)


def line_kinds() -> str:
    return _enumeration(koster.LineKind)


def events() -> str:
    """Return a section for each event."""
    parts = []
    texts = member_texts(EventName)
    for name in EventName:
        when, _, attributes = texts[name.name].partition(": ")
        items = [f"- {each}" for each in _split(attributes.rstrip("."))]
        level = logging_level(name)
        parts += [
            f"### {name}",
            f"{when}. `EventName.{name.name}`, logged at {level}.",
            "\n".join(items),
        ]
    return "\n\n".join(parts)


def logging_level(name: EventName) -> str:
    return logging.getLevelName(_level_of(name, {"koster.policy": "disallow"}))


def _split(attributes: str) -> list[str]:
    """Split at commas and ``or``, but not in parentheses."""
    parts = re.split(r",\s+(?:and after an error\s+)?(?![^(]*\))|\s+or\s+(?=`)", attributes)
    return [part.strip() for part in parts if part.strip()]


def errors() -> str:
    """Return the table of all errors."""
    found: dict[str, tuple[type, str]] = {}
    for module in ("koster", *_ERROR_MODULES):
        members = vars(import_module(module))
        for name, each in sorted(members.items()):
            if inspect.isclass(each) and issubclass(each, koster.KosterError):
                found.setdefault(name, (each, module))
    rows = []
    for name, (each, module) in found.items():
        others = [f"`{base.__name__}`" for base in each.__mro__[1:] if _is_builtin_error(base)]
        meaning = text((each.__doc__ or "").partition("\n\n")[0])
        shown = name if module == "koster" else f"{module.removeprefix('koster.')}.{name}"
        rows.append(
            (
                f"`{re.sub(r'(^|[.])_[^.]*[.]', r'.', shown).lstrip('.')}`",
                ", ".join(others[:1]),
                meaning,
            )
        )
    return table(("error", "also a", "meaning"), rows)


def _is_builtin_error(each: type) -> bool:
    return each.__module__ == "builtins" and each not in (Exception, BaseException, object)


def directives() -> str:
    rows = [
        (each.value, ", ".join(each.spellings[1:]), each.scope.value) for each in koster.Directive
    ]
    return table(("directive", "also read as", "belongs to"), rows)


def presets() -> str:
    """Return a section for each preset."""
    parts = []
    for each in PRESETS:
        parts += [f"## {each.name}", f"{text(each.title)}.", "Who stays allowed, and why:"]
        parts.append("\n".join(f"- {text(one)}" for one in each.allowed))
        if each.source:
            parts.append(f"Source of the paths: <{each.source}>")
    return "\n\n".join(parts)


def obeys() -> str:
    rows = [(each.value, text(MANNERS[each])) for each in Obeys]
    return table(("in the tables", "meaning"), rows)


def crawlers() -> str:
    """Return the tables of known crawlers, by their main purpose."""
    parts = []
    texts = member_texts(Purpose)
    for purpose in Purpose:
        some = [each for each in known() if each.purposes[0] is purpose]
        if not some:
            continue
        rows = []
        for each in sorted(some, key=lambda one: one.token.lower()):
            name = f"`{each.token}`"
            if each.falls_back_to:
                name += f", then {', '.join(f'`{one}`' for one in each.falls_back_to)}"
            checked = f"{each.checked}"
            source = (
                f"[{checked}]({each.source})"
                if each.source.startswith("http")
                else f"{each.source}, {checked}"
            )
            rows.append((name, text(each.operator), each.obeys.value, source))
        title = purpose.value[:1].upper() + purpose.value[1:]
        parts += [
            f"## {title}",
            texts[purpose.name],
            table(("crawler", "operator", "obeys", "source"), rows),
        ]
    return "\n\n".join(parts)


def policy_tokens() -> str:
    """Return a section for each policy token."""
    parts = []
    for each in POLICY_TOKENS:
        read = "Read" if each.is_spelling_certain else "Only its abstract could be read,"
        specification = f"[{each.specification}]({each.source})"
        lines = [f"States {each.title}: {specification}. {read} on {each.checked}."]
        if not each.is_spelling_certain:
            lines.append(
                f"Its spelling is not from there, but from [another page]({each.spelled_in})."
            )
        lines += [f"Undecided: {question}." for question in each.open]
        lines += [
            f"{one.operator} {one.says} ([{one.checked}]({one.source}))." for one in each.followers
        ]
        parts += [f"### `{each.token}`", "\n".join(f"- {line}" for line in lines)]
    return "\n\n".join(parts)


def grammars() -> str:
    """Return the table of grammars of preferences."""
    rows = [
        (
            f"`{each.name}`",
            f"[{text(each.title)}]({each.source})" if each.source else text(each.title),
            text(each.standing),
        )
        for each in GRAMMARS
    ]
    return table(("kind", "what it is", "standing"), rows)


def uses() -> str:
    """Return the table of uses, with the words of each grammar."""
    texts = member_texts(Use)
    rows = []
    for use in Use:
        words = [
            *(
                f"Content-Signal `{key}`"
                for key, each in words_of.CONTENT_SIGNALS.items()
                if each is use
            ),
            *(
                f"Content-Usage `{key}`"
                for key, each in words_of.CONTENT_USAGES.items()
                if each is use
            ),
            *(f"`{rule}`" for rule, (each, _) in words_of.ROBOTS_RULES.items() if each is use),
            *(f"RSL `{key}`" for key, some in words_of.RSL_USAGES.items() if use in some),
            *(["`tdm-reservation`"] if use is Use.TDM else []),
            *(
                f"crawlers for {purpose}"
                for purpose, each in words_of.PURPOSES.items()
                if each is use
            ),
        ]
        rows.append((f"`{use}`", texts[use.name], ", ".join(words)))
    return table(("use", "what it is", "words"), rows)


#: What `insert` comments name.
INSERTS: dict[str, Callable[[], str]] = {
    "benchmarks": benchmarks.tables,
    **{
        f"columns-{name}": functools.partial(schema_tables.table_of, name)
        for name in (
            *schema_tables.PARTS,
            "bulk-report-csv",
            "bulk-signals",
            "bulk-signals-csv",
            "logs-events",
        )
    },
    "commands": commands.table,
    "crawlers": crawlers,
    "dialect-choices": dialects.choices,
    **{
        f"dialect-{name}": functools.partial(dialects.differences, name)
        for name in koster.DIALECTS
        if name != "RFC9309"
    },
    "dialect-pairs": dialects.pairs,
    "dialect-sources": dialects.sources,
    "directives": directives,
    "errors": errors,
    "events": events,
    "failure-kinds": failure_kinds,
    "fetch-classes": fetch_classes,
    "fuzz": proofs.fuzz,
    "grammars": grammars,
    "html": html,
    "line-kinds": line_kinds,
    "mutants": proofs.mutants,
    "obeys": obeys,
    "outputs": schemas.table,
    "parsers": parsers.summary,
    "parsers-about": parsers.about,
    "parsers-by-topic": parsers.by_topic,
    "parsers-missing": parsers.missing,
    "policy-tokens": policy_tokens,
    "presets": presets,
    "real-sites": real_sites.findings,
    "reasons": reasons,
    "redirects": redirects,
    "suite-topics": suite.table,
    "unreachable": unreachable,
    "uses": uses,
}

_INSERT = re.compile(
    r"^<!-- insert: (?P<name>[\w-]+) -->$(?:.*?^<!-- end: (?P=name) -->$)?",
    re.MULTILINE | re.DOTALL,
)


def inserted(page: str) -> str:
    """Return a page of the site with the current tables that it names."""
    return _INSERT.sub(lambda found: INSERTS[found["name"]](), page)


def updated(page: str, path: str) -> str:
    """Return a page of the repository, at a path in ``docs``, with current tables."""

    def table_of(found: re.Match[str]) -> str:
        name = found["name"]
        content = in_repository(INSERTS[name](), path).strip()
        return f"<!-- insert: {name} -->\n\n{content}\n\n<!-- end: {name} -->"

    return _INSERT.sub(table_of, page)


def pages() -> dict[Path, str]:
    """Return the pages of the repository with current tables."""
    return {
        file: updated(file.read_text("utf-8"), str(file.relative_to(DOCS)))
        for file in sorted(DOCS.rglob("*.md"))
    }

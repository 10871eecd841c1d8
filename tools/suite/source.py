"""The cases in ``tests/cases``: TOML files, each with a list of cases and their defaults.

A case has a file (``robots``, ``robots_latin1`` for any bytes, or ``robots_parts`` for large ones),
an ``agent``, and the URLs that are ``allowed`` and ``disallowed``. A case with a table ``each`` is
one case for each of its entries: ``{name}`` in its texts stands for an entry's value of that name,
``{it}`` for the entry itself if it is a text.

A part is a text and how many times it is repeated; ``{n:05}`` in it is the number of the
repetition, from 1, padded with zeros to five digits.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "cases"
#: These are not about decisions: what lint finds, and what sites say about use.
_OTHERS = ("owners.toml", "signals.toml")
SENTENCES = ROOT / "tests" / "sentences.toml"

#: The level of cases that are choices of koster: they are not part of the suite.
OWN = "koster"

_KEYS = {
    "id", "name", "level", "sentences", "tags", "source", "dialect", "robots", "robots_latin1",
    "robots_parts", "agent", "allowed", "disallowed", "lines", "reason", "variants", "budget",
    "each",
}  # fmt: skip
_LEVELS = {
    "MK1994": "1994",
    "MK1996": "1996",
    "GYM2008": "2008",
    "GOOGLE": "google",
    "EXTENDED2": "extended2",
    "EXTENDED2_1996": "extended2",
}


@dataclass(frozen=True)
class Part:
    """A text that is repeated in a file."""

    text: str
    times: int = 1

    def bytes(self) -> bytes:
        numbered = re.sub(r"\{n:(\d+)\}", r"%(n)0\1d", self.text.replace("%", "%%"))
        return "".join(numbered % {"n": number + 1} for number in range(self.times)).encode()


@dataclass(frozen=True)
class Entry:
    """A case as it is written, with its defaults filled in.

    ``id`` is unique; ``level`` and ``tags`` are those of the suite; ``parts`` make the body, if it
    is large; ``budget`` is the time in seconds that a parser may take.
    """

    id: str
    name: str
    source: str
    dialect: str
    level: str
    body: bytes
    agent: str | tuple[str, ...]
    allowed: tuple[str, ...]
    disallowed: tuple[str, ...]
    parts: tuple[Part, ...] = ()
    sentences: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    lines: dict[str, int] = field(default_factory=dict)
    reason: str | None = None
    varies: bool = True
    budget: float | None = None

    @property
    def expected(self) -> dict[str, bool]:
        return dict.fromkeys(self.allowed, True) | dict.fromkeys(self.disallowed, False)


@dataclass(frozen=True)
class Sentence:
    """A sentence of RFC 9309; ``untestable`` says why no case can test it."""

    id: str
    level: str
    text: str
    untestable: str = ""

    @property
    def section(self) -> str:
        return self.id.partition("-")[0]


@cache
def entries() -> tuple[Entry, ...]:
    """Return all cases, in the order of the files."""
    paths = sorted(path for path in CASES.glob("*.toml") if path.name not in _OTHERS)
    return tuple(entry for path in paths for entry in _entries(path))


@cache
def signals_entries() -> tuple[dict[str, Any], ...]:
    """Return the cases about the use of pages; `tests/signals` says what is in them."""
    return tuple(tomllib.loads((CASES / "signals.toml").read_text("utf-8"))["case"])


def sentences() -> list[Sentence]:
    """Return the sentences of the RFC that say what a crawler does."""
    content = tomllib.loads(SENTENCES.read_text("utf-8"))
    return [Sentence(**each) for each in content["sentence"]]


def _entries(path: Path) -> Iterator[Entry]:
    content = tomllib.loads(path.read_text("utf-8"))
    topic = path.stem.replace("_", "-")
    for case in content.pop("case"):
        unknown = case.keys() - _KEYS
        assert not unknown, (path.name, unknown)
        for written in _expanded(case):
            yield _entry(topic, content, written)


def _expanded(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    each = case.get("each")
    if each is None:
        yield case
        return
    common = {key: value for key, value in case.items() if key != "each"}
    for suffix, values in each.items():
        filled = _filled(common, values if isinstance(values, dict) else {"it": values})
        yield {**filled, "id": f"{case['id']}-{suffix}"}


def _filled(value: Any, names: dict[str, str]) -> Any:
    """Return a value with the names in its texts replaced."""
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\}", lambda found: names.get(found[1], found[0]), value)
    if isinstance(value, list):
        return [_filled(each, names) for each in value]
    if isinstance(value, dict):
        return {_filled(key, names): _filled(each, names) for key, each in value.items()}
    return value


def _entry(topic: str, defaults: dict[str, Any], case: dict[str, Any]) -> Entry:
    dialect = case.get("dialect") or defaults["dialect"]
    level = case.get("level") or _LEVELS[dialect]
    agent = case.get("agent", "FooBot")
    parts = tuple(Part(**each) for each in case.get("robots_parts", ()))
    return Entry(
        id=f"{topic}/{case['id']}",
        name=case["name"],
        source=case["source"],
        dialect=dialect,
        level=level,
        body=_body(case, parts),
        parts=parts,
        agent=agent if isinstance(agent, str) else tuple(agent),
        allowed=tuple(case.get("allowed", ())),
        disallowed=tuple(case.get("disallowed", ())),
        sentences=tuple(case.get("sentences", ())),
        tags=(*defaults.get("tags", ()), *case.get("tags", ())),
        lines=case.get("lines", {}),
        reason=case.get("reason"),
        varies=not parts and case.get("variants", "all") == "all",
        budget=case.get("budget"),
    )


def _body(case: dict[str, Any], parts: tuple[Part, ...]) -> bytes:
    if parts:
        return b"".join(part.bytes() for part in parts)
    if "robots" in case:
        return case["robots"].encode()  # type: ignore[no-any-return]
    return case["robots_latin1"].encode("latin-1")  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Step:
    """A moment of a case with servers: their answers from then on, and what a crawler may fetch.

    ``answers`` are those of the sites ``a`` and ``b`` by path; a URL is a path of site ``a``, or
    begins with the name of its site and a colon. ``hours`` count from the first step.
    """

    hours: float
    answers: dict[str, dict[str, Any]]
    allowed: tuple[str, ...]
    disallowed: tuple[str, ...]


@dataclass(frozen=True)
class ServerEntry:
    """A case with servers as it is written, with its defaults filled in."""

    id: str
    name: str
    source: str
    level: str
    steps: tuple[Step, ...]
    sentences: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    budget: float | None = None


def server_entries() -> list[ServerEntry]:
    """Return all cases with servers, in the order of the files."""
    paths = sorted((CASES / "servers").glob("*.toml"))
    return [entry for path in paths for entry in _server_entries(path)]


def _server_entries(path: Path) -> Iterator[ServerEntry]:
    content = tomllib.loads(path.read_text("utf-8"))
    for case in content["case"]:
        for written in _expanded(case):
            yield ServerEntry(
                id=f"{path.stem}/{written['id']}",
                name=written["name"],
                source=written["source"],
                level=written["level"],
                steps=tuple(map(_step, written["steps"])),
                sentences=tuple(written.get("sentences", ())),
                tags=(*content.get("tags", ()), *written.get("tags", ())),
                budget=written.get("budget"),
            )


def _step(step: dict[str, Any]) -> Step:
    answers = {"a": step.get("answers", {}), "b": step.get("answers_b", {})}
    return Step(
        hours=float(step.get("hours", 0)),
        answers={site: pages for site, pages in answers.items() if pages},
        allowed=tuple(filter(None, step.get("allowed", ()))),
        disallowed=tuple(filter(None, step.get("disallowed", ()))),
    )

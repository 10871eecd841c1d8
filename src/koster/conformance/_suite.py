"""Read the suite: the JSON files of the folder ``conformance``; its README describes them."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from .._json import parse_json
from .._opening import open_file
from ..errors import KosterError

#: From the strictest on.
LEVELS = ("must", "should", "may", "widespread", "google", "2008", "1996", "1994", "extended2")


C = TypeVar("C", bound="AnyCase")


class SuiteError(KosterError):
    """The folder of a suite is missing or cannot be read."""


@dataclass(frozen=True, slots=True)
class UrlDecision:
    """A URL, whether the crawler may fetch it, and the line that decides, if that is settled."""

    url: str
    allowed: bool
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """What all cases have.

    Attributes:
        id: A unique name: topic, slash, what is tested.
        title: The case in a few words.
        level: One of `LEVELS`.
        source: The sentence, document or program that settles the case.
        sentences: The sentences of RFC 9309 that it tests, as in ``sentences.json``.
        tags: Topics.
        agent: The crawler that asks: its product token.
        budget: How long a parser may take, in seconds; None: as long as the timeout.
    """

    id: str
    title: str
    level: str
    source: str
    sentences: tuple[str, ...]
    tags: tuple[str, ...]
    agent: str
    budget: float | None


@dataclass(frozen=True, slots=True)
class DecisionCase(Case):
    """A file and questions about URLs. ``written`` is the file as it is in the suite."""

    dialect: str
    written: Mapping[str, Any]
    questions: tuple[UrlDecision, ...]

    @property
    def robots(self) -> bytes:
        """The bytes of the file."""
        return _bytes(self.written)


@dataclass(frozen=True, slots=True)
class ServerResponse:
    """What a server answers to a path.

    Attributes:
        status: The status code.
        headers: Headers besides those of each answer.
        etag: Sent as ETag; a request that has it in If-None-Match is answered with 304.
        fault: How the answer is broken: ``close``, ``reset``, ``not-http``, ``cut-off`` or
            ``endless``; empty: not at all.
        written: The body as it is in the suite.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    etag: str = ""
    fault: str = ""
    written: Mapping[str, Any] = field(default_factory=dict)

    @property
    def body(self) -> bytes:
        """The bytes of the body."""
        return _bytes(self.written) if self.written else b""


@dataclass(frozen=True, slots=True)
class Step:
    """A moment of a case with servers, in hours after its first step.

    ``answers`` by site and path replace those of earlier steps.
    """

    hours: float
    answers: Mapping[str, Mapping[str, ServerResponse]]
    questions: tuple[UrlDecision, ...]


@dataclass(frozen=True, slots=True)
class ServerCase(Case):
    """What servers answer, and what a crawler may then fetch; ``{a}`` in a URL is a site."""

    steps: tuple[Step, ...]


AnyCase = DecisionCase | ServerCase


@dataclass(frozen=True, slots=True)
class Suite:
    """The cases of a suite, its version and date, and the sentences of RFC 9309 by name."""

    version: str
    date: str
    cases: tuple[AnyCase, ...]
    sentences: Mapping[str, str]


def folder() -> Path:
    """Return the folder of the suite that comes with koster.

    Raises:
        SuiteError: it is missing.
    """
    here = Path(__file__)
    # A checkout has it at the top, an installed koster in the package.
    for each in (here.with_name("suite"), here.parents[3] / "conformance"):
        if (each / "suite.json").is_file():
            return each
    raise SuiteError("the conformance suite is not installed with this koster")


def load(path: Path | None = None) -> Suite:
    """Read a suite.

    Args:
        path: Its folder. Default: the one that comes with koster.

    Raises:
        SuiteError: it is missing, or not a suite.
    """
    path = folder() if path is None else path
    try:
        about = parse_json(_content(path / "suite.json"))
        sentences = parse_json(_content(path / "sentences.json"))["sentences"]
        cases: list[AnyCase] = [*_read(path / "cases", _decision_case)]
        cases += _read(path / "servers", _server_case)
        return Suite(
            about["version"],
            about["date"],
            tuple(cases),
            {each["id"]: each["text"] for each in sentences},
        )
    except OSError as error:
        raise SuiteError(f"{error.filename}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SuiteError(f"{path}: not a conformance suite ({error!r})") from error


def _content(path: Path) -> str:
    with open_file(path) as file:
        return file.read().decode()


def _read(path: Path, read: Callable[[Any], C]) -> Iterator[C]:
    for file in sorted(path.glob("*.json")):
        yield from map(read, parse_json(_content(file))["cases"])


def _common(case: Any) -> dict[str, Any]:
    return {
        **{key: case[key] for key in ("id", "title", "level", "source", "agent")},
        "sentences": tuple(case.get("sentences", ())),
        "tags": tuple(case["tags"]),
        "budget": case.get("budget_seconds"),
    }


def _decision_case(case: Any) -> DecisionCase:
    return DecisionCase(
        **_common(case),
        dialect=case["dialect"],
        written=case["robots"],
        questions=_questions(case),
    )


def _questions(owner: Any) -> tuple[UrlDecision, ...]:
    return tuple(UrlDecision(**each) for each in owner["questions"])


def _server_case(case: Any) -> ServerCase:
    return ServerCase(**_common(case), steps=tuple(map(_step, case["steps"])))


def _step(step: Any) -> Step:
    answers = {
        site: {path: _answer(answer) for path, answer in pages.items()}
        for site, pages in step["answers"].items()
    }
    return Step(step["hours"], answers, _questions(step))


def _answer(answer: Any) -> ServerResponse:
    known = {key: answer[key] for key in ("status", "headers", "etag", "fault") if key in answer}
    return ServerResponse(**known, written=answer.get("body", {}))


def _bytes(written: Mapping[str, Any]) -> bytes:
    """Return the bytes of a text, of Base64, or of repeated parts."""
    if "text" in written:
        return str(written["text"]).encode("utf-8")
    if "base64" in written:
        return base64.b64decode(written["base64"])
    return b"".join(map(_part, written["parts"]))


def _part(part: Mapping[str, Any]) -> bytes:
    """Return a repeated text; ``{n:05}`` in it is the number of the repetition, in five digits."""
    numbers = range(1, part.get("times", 1) + 1)
    text = re.sub(r"\{n:(\d+)\}", r"%(n)0\1d", part["text"].replace("%", "%%"))
    return "".join([text % {"n": number} for number in numbers]).encode("utf-8")

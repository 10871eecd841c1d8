"""A page for each topic of the conformance suite, with all its cases."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from koster import conformance
from koster.conformance import DecisionCase, ServerCase

from .markdown import front

if TYPE_CHECKING:
    from collections.abc import Iterator

    from koster.conformance import AnyCase, ServerResponse, Step, UrlDecision

#: More bytes of a file are left out.
_MAX_BYTES = 1500
_TITLES = {
    "agents": "Names of crawlers",
    "caching": "Caching",
    "choice": "Which rule decides",
    "common-problems": "Known problems of parsers",
    "escapes": "Percent-encoding",
    "extended2": "The Extended Standard",
    "google": "Google's parser",
    "google-differs": "Where Google's parser differs",
    "groups": "Groups",
    "limits": "Size and time",
    "lines": "Lines",
    "older": "The standards before RFC 9309",
    "paths": "Paths",
    "places": "Which file belongs to which URL",
    "records": "Other records",
    "redirects": "Redirects",
    "rfc9309": "Examples of the RFC",
    "sizes": "Large files from servers",
    "statuses": "Statuses",
    "wildcards": "Wildcards",
}


@cache
def suite() -> conformance.Suite:
    """Return the suite."""
    return conformance.load()


def topics() -> list[str]:
    """Return the topics in the order of their titles."""
    found = {case.id.partition("/")[0] for case in suite().cases}
    return sorted(found, key=lambda topic: _TITLES[topic])


def pages() -> Iterator[tuple[str, str]]:
    """Yield the file name and the text of each page."""
    for topic in topics():
        cases = [case for case in suite().cases if case.id.startswith(f"{topic}/")]
        yield f"{topic}.md", "\n".join(_page(_TITLES[topic], cases))


def table() -> str:
    """Return the list of topics."""
    lines = []
    for topic in topics():
        count = sum(case.id.startswith(f"{topic}/") for case in suite().cases)
        lines.append(f"- [{_TITLES[topic]}]({topic}.md): {count} cases")
    return "\n".join(lines)


def link(case: AnyCase, up: str) -> str:
    """Return a link to a case; ``up`` leads to the top of the site."""
    topic, _, name = case.id.partition("/")
    return f"[`{case.id}`]({up}reference/conformance/{topic}.md#{name})"


def verdict(question: UrlDecision) -> str:
    """Return what a question expects, as Markdown."""
    line = f" by line {question.line}" if question.line else ""
    return f"{'allowed' if question.allowed else 'blocked'}{line}: {code(question.url)}"


def code(text: str) -> str:
    """Return a text as inline code."""
    shown = "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in text)
    shown = shown.replace("|", "\\|")
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"


def _page(title: str, cases: list[AnyCase]) -> Iterator[str]:
    yield from front(
        f"{title}: {len(cases)} cases of the conformance suite for robots.txt parsers."
    )
    yield f"# {title}"
    yield ""
    for case in cases:
        yield from _case(case)


def _case(case: AnyCase) -> Iterator[str]:
    name = case.id.partition("/")[2]
    yield f"## `{name}`"
    yield ""
    yield f"{_sentence(case.title)} Level **{case.level}**, source: {code(case.source)}."
    yield ""
    for each in case.sentences:
        yield f"> {prose(suite().sentences[each])}"
        yield ""
    if isinstance(case, DecisionCase):
        yield from _block(case.robots, "robots.txt")
        yield f"{code(case.agent) if case.agent else 'An empty name'} asks:"
        yield ""
        yield from _questions(case.questions)
    elif isinstance(case, ServerCase):
        for step in case.steps:
            yield from _step(step)
    if case.budget:
        yield f"A parser may take {case.budget:g} seconds."
        yield ""


def _sentence(title: str) -> str:
    text = prose(title)
    return f"{text[:1].upper()}{text[1:]}."


def prose(text: str) -> str:
    """Return a text as Markdown in which nothing is markup."""
    for character in "\\*_<[`|":
        text = text.replace(character, f"\\{character}")
    return text


def _questions(questions: tuple[UrlDecision, ...]) -> Iterator[str]:
    for each in questions:
        yield f"- {verdict(each)}"
    yield ""


def _step(step: Step) -> Iterator[str]:
    yield f"After {step.hours:g} hours:"
    yield ""
    for site, pages in step.answers.items():
        for path, answer in pages.items():
            yield f"- {code(f'{{{site}}}{path}')} answers {_answer(answer)}"
    yield from _questions(step.questions)
    for site, pages in step.answers.items():
        for path, answer in pages.items():
            if answer.written:
                yield from _block(answer.body, f"{{{site}}}{path}")


def _answer(answer: ServerResponse) -> str:
    if answer.fault:
        return f"with the fault `{answer.fault}`"
    headers = [f"{name}: {value}" for name, value in answer.headers.items()]
    headers += [f"ETag: {answer.etag}"] if answer.etag else []
    return " ".join([f"status {answer.status}", *map(code, headers)])


def _block(body: bytes, title: str) -> Iterator[str]:
    """Yield a file as a code block; bytes that are no text are escaped."""
    shown = body[:_MAX_BYTES].decode("utf-8", "backslashreplace").replace("\r\n", "␍\n")
    shown = shown.replace("\r", "␍")
    lines = [
        "".join(
            each if each.isprintable() or each == "\t" else f"\\u{ord(each):04x}" for each in line
        )
        for line in shown.split("\n")
    ]
    if lines and not lines[-1]:
        lines.pop()
    if len(body) > _MAX_BYTES:
        lines.append(f"… {len(body):,} bytes in all")
    fence = "````" if "```" in shown else "```"
    yield f'{fence}text title="{title}"'
    yield from lines
    yield fence
    yield ""

"""The other tools for site owners: ``audit``, ``diff``, ``fmt`` and ``compose``.

What they write is kept as a digest with its length, because it is mostly the text of the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import koster
from koster.audit import Verdict, audit
from koster.compose import PRESETS, compose, intentions_of
from koster.diff import Change, Comparison, compare
from koster.formatting import NotTheSame, formatted, minified

from . import inputs
from .entries import Entry, Part, Place, digest_of, entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _entries(name: str) -> Iterator[Entry]:
    body = inputs.body(name)
    for share, answer in _TOOLS:
        if inputs.is_sampled(name, share):
            yield from answer(name, body)


def _written(body: bytes) -> str:
    return f"{body.count(10)} lines, {len(body)} bytes, {digest_of(body)}"


def _formatted(name: str, body: bytes) -> Iterator[Entry]:
    yield entry(Place("fmt", name, ""), [body], [_tried(formatted, body)])


def _minified(name: str, body: bytes) -> Iterator[Entry]:
    yield entry(Place("fmt --minify", name, ""), [body], [_tried(minified, body)])


def _formatted_for_all(name: str, body: bytes) -> Iterator[Entry]:
    """Yield what is written with a proof in all dialects."""
    dialects = tuple(koster.DIALECTS.values())
    answers = [_tried(write, body, dialects) for write in (formatted, minified)]
    yield entry(Place("fmt, all dialects", name, ""), [body], answers, ["fmt", "fmt --minify"])


def _tried(write: Callable[..., bytes], *arguments: Any) -> str:
    try:
        return _written(write(*arguments))
    except NotTheSame as error:
        return f"refused: {error}"


def _audited(name: str, body: bytes) -> Iterator[Entry]:
    found = audit(koster.parse(body))
    verdicts: dict[str, list[str]] = {}
    for each in found.verdicts:
        verdicts.setdefault(_verdict(each), []).append(each.crawler.token)
    answers = [
        *map(str, found.overview),
        *(f"{verdict}: {', '.join(names)}" for verdict, names in verdicts.items()),
        *map(str, found.preferences),
    ]
    yield entry(Place("audit", name, "RFC9309"), [body], answers)


def _verdict(found: Verdict) -> str:
    proof = "" if found.is_proved else ", not proved"
    line = found.rule.line if found.rule else "no"
    return f"{found.access}, {found.how}, line {line} of {found.closing}, {found.url}{proof}"


def _compared(name: str, body: bytes) -> Iterator[Entry]:
    """Yield the differences from similar files: without a rule, and with one for all crawlers."""
    old = koster.parse(body)
    lines = body.splitlines(keepends=True)
    middle = len(lines) // 2
    others = {
        "diff, the last half missing": b"".join(lines[:middle]),
        "diff, the middle line missing": b"".join([*lines[:middle], *lines[middle + 1 :]]),
        "diff, a rule added": body + b"\n\nUser-agent: *\nDisallow: /private-1/\n",
    }
    for tool, other in others.items():
        found = compare(old, koster.parse(other))
        yield entry(Place(tool, name, "RFC9309"), [body], _differences(found))


def _differences(found: Comparison) -> Iterator[str]:
    yield f"{found.compared} rule sets, {'proved' if found.is_proved else 'not proved'}"
    yield from map(str, found.settings)
    yield from map(_change, found.changes)


def _change(change: Change) -> str:
    urls = ", ".join(
        f"{each.url} {'opened' if each.is_opened else 'closed'}"
        for each in change.differences.found
    )
    settings = ", ".join(map(str, change.settings))
    return f"{', '.join(change.agents)}: {urls or 'no URL'}; {settings or 'no setting'}"


def _composed(name: str, body: bytes) -> Iterator[Entry]:
    for preset in PRESETS:
        found = compose(intentions_of([preset.name]), body)
        answers = [
            _written(found.body),
            f"found {'all' if found.found_all else 'some'} that stay open",
            *(str(each) for each in found.left_open),
            *_differences(found.changes),
        ]
        yield entry(Place(f"compose {preset.name}", name, ""), [body], answers)


#: The tools, each with the share of the files that it is asked about.
_TOOLS: tuple[tuple[int, Callable[[str, bytes], Iterator[Entry]]], ...] = (
    (3, _formatted),
    (6, _minified),
    (48, _formatted_for_all),
    (5, _audited),
    (16, _compared),
    (48, _composed),
)

PART = Part("owners", False, inputs.usual_files, _entries, at_once=20)

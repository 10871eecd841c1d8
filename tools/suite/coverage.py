"""The table of RFC 9309's sentences and the cases that test them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .source import Sentence

_HEAD = """\
# Coverage of RFC 9309

The sentences of section 2 that say what a crawler does, the level of each, and the first cases
that test it (`sentences.json` has all). The text of the RFC is © 2022 IETF Trust and the persons
identified as its authors.

| Section | Level | Sentence | Cases |
|---|---|---|---|
"""
#: How many cases of a sentence are named.
_NAMED = 3


def cases_by_sentence(
    sentences: list[Sentence], cases: list[dict[str, Any]]
) -> dict[str, list[str]]:
    """Return the names of the cases that test each sentence.

    Raises:
        ValueError: a testable sentence has no case, or a case names an unknown sentence.
    """
    found: dict[str, list[str]] = {each.id: [] for each in sentences}
    for case in cases:
        for name in case.get("sentences", ()):
            if name not in found:
                raise ValueError(f"{case['id']}: no sentence {name}")
            found[name].append(case["id"])
    for sentence in sentences:
        if bool(found[sentence.id]) == bool(sentence.untestable):
            raise ValueError(f"{sentence.id}: either cases test it, or it says why none does")
    return found


def table(sentences: list[Sentence], tested_by: dict[str, list[str]]) -> str:
    """Return the table as Markdown."""
    return _HEAD + "".join(_row(each, tested_by[each.id]) for each in sentences)


def _row(sentence: Sentence, cases: list[str]) -> str:
    named = ", ".join(f"`{each}`" for each in cases[:_NAMED])
    more = f" and {len(cases) - _NAMED} more" if len(cases) > _NAMED else ""
    text = sentence.text.replace("|", "\\|")
    told = named + more if cases else f"Not tested: {sentence.untestable}"
    return f"| {sentence.section} | {sentence.level} | {text} | {told} |\n"

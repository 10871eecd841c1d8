"""The names before the colon that are no directives: misspelled, obsolete, or meant for elsewhere."""

from __future__ import annotations

import difflib
import functools
import math
import re

from ..model import Directive, Line
from ._model import CheckedFile

DIRECTIVES = {directive.spellings[0]: directive for directive in Directive}

#: Directives that no crawler reads any more, but that do no harm.
UNREAD = {
    "host": (
        "No crawler reads Host since 2018",
        "Redirect to the preferred host instead",
    ),
    "domain": ("No crawler reads Domain", "Remove it"),
    "revisit-after": ("No crawler reads Revisit-after", "Remove it"),
}

_IN_PAGES = "Use a robots meta tag or an X-Robots-Tag header, and let crawlers fetch the page"
_AS_HEADER = "Send it as a header of the pages, and let crawlers fetch them"
_AI = "Disallow the crawlers by name: koster compose --preset no-ai-training"
_TDM = "Send the header tdm-reservation: 1, or publish /.well-known/tdmrep.json"
#: Lines without an effect in a robots.txt, by the letters of their names, with what does what they
#: are meant for.
_WITHOUT_EFFECT = (
    (re.compile(r"no(?:index|follow|archive|snippet|cache|translate|imageindex|odp|ydir)"), _IN_PAGES),
    (re.compile(r"(?:meta)?robots?|meta(?:robots?)?(?:name)?|indexifembedded|unavailableafter"), _IN_PAGES),
    (re.compile(r"x?robotstags?|xrobots"), _AS_HEADER),
    (re.compile(r"tdm(?:rep|reservation|policy|optout)?"), _TDM),
    # DisallowAITraining, AI-Train, No-AI, LLM-Policy, Training, Opt-out-AI.
    (
        re.compile(
            r"(?:no|dis?allow|block|deny|allow|optout(?:of)?)?"
            r"(?:image)?(?:gen(?:erative)?ai|ai|llms?|machinelearning|ml)?(?:data|content)?"
            r"(?:train(?:ing)?|access|crawl(?:ing|ers?)?|usage|use|polic(?:y|ies)|input|mining|"
            r"scrap(?:ing|ers?)|bots?|agents?|permissions?|preferences?|rights?|optout)?"
        ),
        _AI,
    ),
)  # fmt: skip
#: Names that with a URL only say where a document is.
_DOCUMENTS = ("ai", "llm", "llms")
_ABOUT_AI = re.compile(r"ai|llm|machinelearning|train|\bml")

_NOT_LETTERS = re.compile(r"[^a-z]")
#: The directives by their letters alone: ``crawldelay``.
_LETTERS = {_NOT_LETTERS.sub("", each): str(DIRECTIVES[each]) for each in DIRECTIVES}
#: From this ratio of `difflib` on, a name is probably a typo of a directive.
_SIMILAR = 0.8
#: Longer names are no typos.
_MAX_TYPO = 40
#: By the size of a name: the directives of about that size, each with its characters and how many
#: others the name may have. With more, it cannot reach the ratio, and `difflib` is slow.
_OF_ABOUT_THE_SIZE = [
    [
        (each, frozenset(each), math.floor(size - _SIMILAR * (size + len(each)) / 2))
        for each in DIRECTIVES
        if abs(len(each) - size) <= 2
    ]
    for size in range(_MAX_TYPO + 1)
]


def without_effect(line: Line) -> str | None:
    """Return what to do instead of a line that no crawler reads here; None for other lines."""
    is_link = line.value.startswith(("http", "/"))
    return None if is_link and line.key.lower() in _DOCUMENTS else _without_effect(line.key)


@functools.lru_cache(maxsize=250)
def _without_effect(key: str) -> str | None:
    lower = key.lower()
    if len(key) > _MAX_TYPO or (lower in DIRECTIVES and lower != "noindex"):
        return None
    letters = _NOT_LETTERS.sub("", lower)
    for pattern, instead in _WITHOUT_EFFECT:
        if pattern.fullmatch(letters) and (instead is not _AI or _ABOUT_AI.search(letters)):
            return instead
    return None


def intended_directives(subject: CheckedFile) -> dict[str, str]:
    """Return what the unknown directives of a file that are probably typos were meant to be."""
    return subject.once(
        "intended directives",
        lambda: {
            key: name
            for key in {line.key for line in subject.unknown_lines}
            if (name := intended_directive(key)) is not None
        },
    )


@functools.lru_cache(maxsize=250)
def intended_directive(key: str) -> str | None:
    """Return the directive that a name is probably a typo of, or None."""
    lower = key.lower().strip(" -_*")
    if key.lower() in DIRECTIVES:
        return None  # a directive of another dialect
    if lower in UNREAD or len(key) > _MAX_TYPO or not lower.isascii() or _without_effect(lower):
        return None
    same = _LETTERS.get(_NOT_LETTERS.sub("", lower))
    if same is not None:
        return same
    characters = frozenset(lower)
    similar = [
        each
        for each, its_characters, most in _OF_ABOUT_THE_SIZE[len(lower)]
        if len(characters - its_characters) <= most
    ]
    if not similar:
        return None
    matches = difflib.get_close_matches(lower, similar, 1, _SIMILAR)
    # No crawler obeys Noindex.
    return str(DIRECTIVES[matches[0]]) if matches and matches[0] != "noindex" else None

"""Lines and keys: what is no line, and what is another key than it was meant to be."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from ..model import RULES, Directive, LineKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..model import Line
    from ._model import Edit, Remark, Subject

_USUAL = {directive.spellings[0]: directive for directive in Directive}
_BEGINS_WITH_KEY = re.compile(
    r"\s*("
    + "|".join(
        sorted(
            (each for directive in Directive for each in directive.spellings), key=len, reverse=True
        )
    )
    + r")(?=\s|\Z)",
    re.IGNORECASE,
)
#: Keys of which nothing is known but that they are meant: draft and vendor words, and the parts of
#: other files. Sources stand with the documentation of the codes.
_OBEYED_BY_NOBODY = {
    "noindex": "no robot obeys Noindex since September 2019; Google reads a noindex in the page or its headers",
    "nofollow": "no robot obeys Nofollow here; it belongs into the page or its headers",
    "noarchive": "no robot obeys Noarchive here; it belongs into the page or its headers",
    "nosnippet": "no robot obeys Nosnippet here; it belongs into the page or its headers",
    "disallowaitraining": "no robot obeys DisallowAITraining as it is meant; name the robots, or say Content-Signal: ai-train=no",
}
_IGNORED = {
    "host": "no robot reads Host since Yandex stopped in March 2018; redirect to the name that is meant",
    "domain": "no robot reads Domain",
    "revisit-after": "no robot reads Revisit-after",
    "llm-policy": "no robot reads LLM-Policy",
    "crawl-delay": "Bing, Anthropic and Seznam obey Crawl-delay; Google and Yandex do not",
    "request-rate": "Seznam obeys Request-rate; Google, Bing and Yandex do not",
    "visit-time": "hardly any robot obeys Visit-time; Google, Bing and Yandex do not",
    "clean-param": "Yandex alone reads Clean-param",
}


def no_colon(subject: Subject) -> Iterator[Remark]:
    """Find keys that stand before white space in place of a colon."""
    for line in subject.lines:
        if line.directive is None or ":" in line.text[: subject.value_at(line)]:
            continue
        at = line.text.find(line.key)
        if at >= 0 and line.value:
            gap = subject.value_at(line) - at - len(line.key)
            edit = subject.edit(line, at + len(line.key), gap, ": ")
            yield subject.part(
                line,
                at,
                len(line.key),
                f"a colon is missing after {line.key}; Google and koster read the line all the same, other robots may pass over it",
                f"write {line.key}: {_meant(line)}",
                (edit,),
            )


def _meant(line: Line) -> str:
    """Return the value that is probably meant."""
    is_all = line.directive in RULES and line.value.lower() in ("all", "everything", "any")
    return "/" if is_all else line.value


def no_line(subject: Subject) -> Iterator[Remark]:
    """Find lines that are neither a key with a value nor a comment."""
    for line in subject.lines:
        if line.kind is not LineKind.MALFORMED or line.text.lstrip("\ufeff \t").startswith("<"):
            continue
        text = line.text.partition("#")[0]
        match = _BEGINS_WITH_KEY.match(text)
        value = text[match.end() :].strip() if match else ""
        if match and value:
            edit = subject.edit(line, match.end(1), 0, ":")
            yield subject.whole(
                line,
                f"a colon is missing after {match[1]}, and robots pass over the line",
                f"write {match[1]}: {value}",
                (edit,),
            )
        elif match:
            yield subject.whole(
                line,
                f"{match[1]} has no colon and no value, and robots pass over the line",
                f"write {match[1]}: and its value",
            )
        else:
            edit = subject.edit(line, len(line.text) - len(line.text.lstrip()), 0, "# ")
            yield subject.whole(
                line,
                "this is neither a key with a value nor a comment; robots pass over it",
                "write a # before it if it is a remark",
                (edit,),
            )


def misspelt(subject: Subject) -> Iterator[Remark]:
    """Find spellings that are read as a key, but are not its name."""
    for line in subject.said:
        directive = line.directive
        if directive is not None and line.key.lower() not in (directive.spellings[0], ""):
            at = line.text.find(line.key)
            edit = subject.edit(line, at, len(line.key), str(directive))
            yield subject.key(
                line,
                f"{line.key} is a misspelling that Google and koster read as {directive}, and other robots may not",
                f"write {directive}",
                (edit,),
            )


def typo(subject: Subject) -> Iterator[Remark]:
    """Find unknown keys that are nearly known ones."""
    for line in _unknown(subject):
        intended = _intended(line.key)
        if intended:
            at = line.text.find(line.key)
            edit = subject.edit(line, at, len(line.key), intended)
            yield subject.key(
                line,
                f"{_shown(line.key)} is no key; robots pass over the line",
                f"{intended} is probably meant",
                (edit,),
            )


def unknown(subject: Subject) -> Iterator[Remark]:
    """Find unknown keys that are nothing else, each once."""
    told = set()
    for line in _unknown(subject):
        key = line.key.lower()
        is_known = key in _IGNORED or key in _OBEYED_BY_NOBODY
        if key not in told and not is_known and not _intended(line.key):
            told.add(key)
            yield subject.key(
                line,
                f"{_shown(line.key)} is no key that any standard knows; robots pass over the line",
                "write Sitemap: before it if it is one"
                if key in ("http", "https")
                else "write a # before it if it is a remark",
            )


def ignored(subject: Subject) -> Iterator[Remark]:
    """Find keys that some robots ignore, each once."""
    return _each_once(subject, _IGNORED)


def obeyed_by_nobody(subject: Subject) -> Iterator[Remark]:
    """Find keys that all robots ignore, each once."""
    return _each_once(subject, _OBEYED_BY_NOBODY)


def _each_once(subject: Subject, said: Mapping[str, str]) -> Iterator[Remark]:
    told = set()
    for line in subject.lines:
        key = line.directive.spellings[0] if line.directive else line.key.lower()
        if key in said and key not in told:
            told.add(key)
            yield subject.key(line, said[key])


def read_by_google(subject: Subject) -> Iterator[Remark]:
    """Find unknown keys that begin like known ones: Google's parser looks no further."""
    for number, directive in subject.only_for_google.items():
        line = subject.lines[number - 1]
        intended = _intended(line.key)
        edits: tuple[Edit, ...] = ()
        if intended == str(directive):
            edits = (subject.edit(line, line.text.find(line.key), len(line.key), intended),)
        yield subject.key(
            line,
            f"Google's parser reads {_shown(line.key)} as {directive}, and others pass over the line",
            f"write {directive} if that is meant, else begin the key with another word",
            edits,
        )


def _unknown(subject: Subject) -> Iterator[Line]:
    return (
        line
        for line in subject.lines
        if line.kind is LineKind.UNKNOWN
        and line.number not in subject.only_for_google
        and not line.text.lstrip().startswith("<")
    )


def _shown(key: str) -> str:
    return key if len(key) <= 40 else key[:39] + "…"


def _intended(key: str) -> str | None:
    """Return the key that is probably meant by one that is none."""
    lower = key.lower().strip(" -_*")
    if lower in _IGNORED or lower in _OBEYED_BY_NOBODY or len(key) > 40 or not lower.isascii():
        return None
    squeezed = re.sub(r"[^a-z]", "", lower)
    for usual, directive in _USUAL.items():
        if re.sub(r"[^a-z]", "", usual) == squeezed:
            return str(directive)
    near = difflib.get_close_matches(lower, _USUAL, 1, 0.8)
    return str(_USUAL[near[0]]) if near and abs(len(near[0]) - len(lower)) <= 2 else None


def glued_comment(subject: Subject) -> Iterator[Remark]:
    """Find values that go over into a comment without a space."""
    for line in subject.said:
        if line.comment is None or not line.value:
            continue
        at = subject.comment_at(line)
        if at > 0 and not line.text[at - 1].isspace():
            written = line.text[at:].split()[0] if line.text[at:].split() else "#"
            if line.value.startswith("/") and re.fullmatch(r"#[!/\w.=&-]+", line.text[at:].strip()):
                continue
            yield subject.part(
                line,
                at,
                len(written),
                f"# begins a comment even in the middle of a word: the value is {_shown(line.value)}",
                "write a space before the comment, or %23 for a literal #",
                (subject.edit(line, at, 0, " "),),
            )


def fragment(subject: Subject) -> Iterator[Remark]:
    """Find paths with what looks like a fragment."""
    for line in subject.rules:
        at = subject.comment_at(line)
        if (
            line.comment is None
            or at < 1
            or line.text[at - 1].isspace()
            or not line.value.startswith("/")
        ):
            continue
        if re.fullmatch(r"#[!/\w.=&-]+", line.text[at:].strip()):
            yield subject.part(
                line,
                at,
                len(line.text.rstrip()) - at,
                f"a fragment is never sent to a server, and # begins a comment here: the rule is {_shown(line.value)}",
                f"write {line.value}, or %23 for a literal #",
            )

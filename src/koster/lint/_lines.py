"""Checks of lines and directives."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from ..model import RULES, Directive, LineKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..model import Line
    from ._model import Edit, Remark, Subject

_DIRECTIVES = {directive.spellings[0]: directive for directive in Directive}
_DIRECTIVE_WITHOUT_COLON = re.compile(
    r"\s*("
    + "|".join(
        sorted(
            (each for directive in Directive for each in directive.spellings), key=len, reverse=True
        )
    )
    + r")(?=\s|\Z)",
    re.IGNORECASE,
)
#: Messages for directives that no crawler obeys. Sources are in the documentation of the codes.
_OBSOLETE = {
    "noindex": "no robot obeys Noindex since September 2019; Google reads a noindex in the page or its headers",
    "nofollow": "no robot obeys Nofollow here; it belongs into the page or its headers",
    "noarchive": "no robot obeys Noarchive here; it belongs into the page or its headers",
    "nosnippet": "no robot obeys Nosnippet here; it belongs into the page or its headers",
    "disallowaitraining": "no robot obeys DisallowAITraining as it is meant; name the robots, or say Content-Signal: ai-train=no",
}
_PARTLY_IGNORED = {
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
    """Find known directives followed by white space instead of a colon."""
    for line in subject.lines:
        if line.directive is None or ":" in line.text[: subject.value_start(line)]:
            continue
        at = line.text.find(line.key)
        if at >= 0 and line.value:
            gap = subject.value_start(line) - at - len(line.key)
            edit = subject.edit(line, at + len(line.key), gap, ": ")
            yield subject.remark_on_part(
                line,
                at,
                len(line.key),
                f"a colon is missing after {line.key}; Google and koster read the line all the same, other robots may pass over it",
                f"write {line.key}: {_intended_value(line)}",
                (edit,),
            )


def _intended_value(line: Line) -> str:
    is_all = line.directive in RULES and line.value.lower() in ("all", "everything", "any")
    return "/" if is_all else line.value


def malformed(subject: Subject) -> Iterator[Remark]:
    """Find lines that are neither a directive nor a comment."""
    for line in subject.lines:
        if line.kind is not LineKind.MALFORMED or line.text.lstrip("\ufeff \t").startswith("<"):
            continue
        text = line.text.partition("#")[0]
        match = _DIRECTIVE_WITHOUT_COLON.match(text)
        value = text[match.end() :].strip() if match else ""
        if match and value:
            edit = subject.edit(line, match.end(1), 0, ":")
            yield subject.remark_on_line(
                line,
                f"a colon is missing after {match[1]}, and robots pass over the line",
                f"write {match[1]}: {value}",
                (edit,),
            )
        elif match:
            yield subject.remark_on_line(
                line,
                f"{match[1]} has no colon and no value, and robots pass over the line",
                f"write {match[1]}: and its value",
            )
        else:
            edit = subject.edit(line, len(line.text) - len(line.text.lstrip()), 0, "# ")
            yield subject.remark_on_line(
                line,
                "this is neither a key with a value nor a comment; robots pass over it",
                "write a # before it if it is a remark",
                (edit,),
            )


def misspelt(subject: Subject) -> Iterator[Remark]:
    """Find misspelt directives that Google and koster accept."""
    for line in subject.directive_lines:
        directive = line.directive
        if directive is not None and line.key.lower() not in (directive.spellings[0], ""):
            at = line.text.find(line.key)
            edit = subject.edit(line, at, len(line.key), str(directive))
            yield subject.remark_on_key(
                line,
                f"{line.key} is a misspelling that Google and koster read as {directive}, and other robots may not",
                f"write {directive}",
                (edit,),
            )


def typo(subject: Subject) -> Iterator[Remark]:
    """Find unknown directives that are probably typos."""
    for line in _unknown(subject):
        directive_name = _intended_directive(line.key)
        if directive_name:
            at = line.text.find(line.key)
            edit = subject.edit(line, at, len(line.key), directive_name)
            yield subject.remark_on_key(
                line,
                f"{_truncate_key(line.key)} is no key; robots pass over the line",
                f"{directive_name} is probably meant",
                (edit,),
            )


def unknown(subject: Subject) -> Iterator[Remark]:
    """Find other unknown directives, each once."""
    reported = set()
    for line in _unknown(subject):
        key = line.key.lower()
        is_known = key in _PARTLY_IGNORED or key in _OBSOLETE
        if key not in reported and not is_known and not _intended_directive(line.key):
            reported.add(key)
            yield subject.remark_on_key(
                line,
                f"{_truncate_key(line.key)} is no key that any standard knows; robots pass over the line",
                "write Sitemap: before it if it is one"
                if key in ("http", "https")
                else "write a # before it if it is a remark",
            )


def partly_ignored(subject: Subject) -> Iterator[Remark]:
    """Find directives that some crawlers ignore, each once."""
    return _once_per_directive(subject, _PARTLY_IGNORED)


def obsolete(subject: Subject) -> Iterator[Remark]:
    """Find directives that all crawlers ignore, each once."""
    return _once_per_directive(subject, _OBSOLETE)


def _once_per_directive(subject: Subject, messages: Mapping[str, str]) -> Iterator[Remark]:
    reported = set()
    for line in subject.lines:
        key = line.directive.spellings[0] if line.directive else line.key.lower()
        if key in messages and key not in reported:
            reported.add(key)
            yield subject.remark_on_key(line, messages[key])


def read_by_google(subject: Subject) -> Iterator[Remark]:
    """Find unknown directives that only Google's parser reads, because it compares prefixes."""
    for number, directive in subject.read_only_by_google.items():
        line = subject.lines[number - 1]
        directive_name = _intended_directive(line.key)
        edits: tuple[Edit, ...] = ()
        if directive_name == str(directive):
            edits = (subject.edit(line, line.text.find(line.key), len(line.key), directive_name),)
        yield subject.remark_on_key(
            line,
            f"Google's parser reads {_truncate_key(line.key)} as {directive}, and others pass over the line",
            f"write {directive} if that is meant, else begin the key with another word",
            edits,
        )


def _unknown(subject: Subject) -> Iterator[Line]:
    return (
        line
        for line in subject.lines
        if line.kind is LineKind.UNKNOWN
        and line.number not in subject.read_only_by_google
        and not line.text.lstrip().startswith("<")
    )


def _truncate_key(key: str) -> str:
    return key if len(key) <= 40 else key[:39] + "…"


def _intended_directive(key: str) -> str | None:
    lower = key.lower().strip(" -_*")
    if lower in _PARTLY_IGNORED or lower in _OBSOLETE or len(key) > 40 or not lower.isascii():
        return None
    squeezed = re.sub(r"[^a-z]", "", lower)
    for spelling, directive in _DIRECTIVES.items():
        if re.sub(r"[^a-z]", "", spelling) == squeezed:
            return str(directive)
    matches = difflib.get_close_matches(lower, _DIRECTIVES, 1, 0.8)
    return (
        str(_DIRECTIVES[matches[0]]) if matches and abs(len(matches[0]) - len(lower)) <= 2 else None
    )


def glued_comment(subject: Subject) -> Iterator[Remark]:
    """Find comments without a space before them."""
    for line in subject.directive_lines:
        if line.comment is None or not line.value:
            continue
        at = subject.comment_start(line)
        if at > 0 and not line.text[at - 1].isspace():
            written = line.text[at:].split()[0] if line.text[at:].split() else "#"
            if line.value.startswith("/") and re.fullmatch(r"#[!/\w.=&-]+", line.text[at:].strip()):
                continue
            yield subject.remark_on_part(
                line,
                at,
                len(written),
                f"# begins a comment even in the middle of a word: the value is {_truncate_key(line.value)}",
                "write a space before the comment, or %23 for a literal #",
                (subject.edit(line, at, 0, " "),),
            )


def fragment(subject: Subject) -> Iterator[Remark]:
    """Find paths with a comment that looks like a fragment."""
    for line in subject.rules:
        at = subject.comment_start(line)
        if (
            line.comment is None
            or at < 1
            or line.text[at - 1].isspace()
            or not line.value.startswith("/")
        ):
            continue
        if re.fullmatch(r"#[!/\w.=&-]+", line.text[at:].strip()):
            yield subject.remark_on_part(
                line,
                at,
                len(line.text.rstrip()) - at,
                f"a fragment is never sent to a server, and # begins a comment here: the rule is {_truncate_key(line.value)}",
                f"write {line.value}, or %23 for a literal #",
            )

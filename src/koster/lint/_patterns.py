"""Checks of patterns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..dialects import Patterns
from ..model import Directive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model import Line
    from ._model import Remark, Subject

_HOST = re.compile(r"(?:https?:)?//[^/*$]+", re.IGNORECASE)
_BARE_HOST = re.compile(
    r"(?:www\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|de|fr|uk|io|info|edu|gov|ru|it|nl|es|eu)(?=/|\Z)",
    re.IGNORECASE,
)
_SECOND_DIRECTIVE = re.compile(
    r"\s(?:user-?agent|dis+allow|allow|sitemap|crawl-delay)\s*:", re.IGNORECASE
)
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_REGEX = re.compile(
    r"\(\.\*|\.\*\)|\\[./dws?]|\(\?|\([^()|]*\|[^()]*\)|\[[^\[\]-]*-[^\[\]]*\]|\[\^|\A/?\^|\)\*"
)


#: Maximum characters of a pattern to search for a regular expression.
_MAX_REGEX_SEARCH = 200


def _patterns(subject: Subject) -> Iterator[tuple[Line, str]]:
    for line in subject.rules:
        if line.value:
            yield line, line.value


def _has_wildcards(subject: Subject) -> bool:
    return subject.robots.dialect.reading.patterns == Patterns.WILDCARDS


def host(subject: Subject) -> Iterator[Remark]:
    """Find patterns with a host."""
    for line, pattern in _patterns(subject):
        match = _host(pattern)
        if match:
            path = pattern[len(match) :]
            path = path if path.startswith("/") else f"/{path}"
            yield subject.remark_on_value(
                line,
                "a pattern begins with a path, not with a host: this matches nothing",
                f"write {path}",
            )


def _host(pattern: str) -> str | None:
    match = _HOST.match(pattern) if "://" in pattern[:9] else _BARE_HOST.match(pattern)
    return match[0] if match else None


def no_slash(subject: Subject) -> Iterator[Remark]:
    """Find patterns that begin with neither a slash nor a star."""
    for line, pattern in _patterns(subject):
        if (
            pattern[0] not in "/*"
            and not _host(pattern)
            and not (pattern == "$" or _is_html(pattern) or _may_be_shell_pattern(subject, pattern))
        ):
            yield subject.remark_on_value(
                line,
                "a path begins with a slash: this matches nothing",
                f"write {_intended_path(pattern)}",
            )


def _may_be_shell_pattern(subject: Subject, pattern: str) -> bool:
    """Return whether a shell pattern's first element may match a slash in the dialect."""
    return pattern[0] in "?[\\" and bool(subject.robots.dialect.versions)


def _intended_path(pattern: str) -> str:
    if pattern.lower() in ("all", "everything", "any"):
        return "/ for the whole site"
    # Query parameters and file extensions follow a path.
    return f"/*{pattern}" if re.match(r"[?&.]|\w+=", pattern) else f"/{pattern}"


def _is_html(pattern: str) -> bool:
    return pattern.startswith("<")


def dollar(subject: Subject) -> Iterator[Remark]:
    """Find dollar signs that are not at the end."""
    if not _has_wildcards(subject):
        return
    for line, pattern in _patterns(subject):
        at = pattern.find("$")
        if 0 <= at < len(pattern) - 1:
            place = subject.value_start(line) + at
            yield subject.remark_on_part(
                line,
                place,
                1,
                "$ anchors a pattern at its end alone; here it is a literal dollar sign",
                "write %24 for a literal one, or end the pattern with it",
            )


def stars(subject: Subject) -> Iterator[Remark]:
    """Find redundant stars; trailing ones once per file, because they are common."""
    if not _has_wildcards(subject):
        return
    trailing = []
    for line, pattern in _patterns(subject):
        fixed = re.sub(r"\*\*+", "*", pattern)
        if fixed != pattern:
            at = subject.value_start(line) + pattern.find("**")
            size = len(re.findall(r"\*\*+", pattern)[0])
            yield subject.remark_on_part(
                line,
                at,
                size,
                "several stars match what one does, and count as more bytes",
                f"write {fixed}",
                (subject.edit_value(line, fixed),),
            )
        elif re.fullmatch(r"/.*\*\$?", pattern):
            trailing.append((line, re.sub(r"\*\$?\Z", "", pattern)))
    if trailing:
        line, shorter = trailing[0]
        more = f" (here and on {len(trailing) - 1} more lines)" if len(trailing) > 1 else ""
        edits = tuple(subject.edit_value(each, text) for each, text in trailing)
        at = subject.value_start(line) + len(shorter)
        yield subject.remark_on_part(
            line,
            at,
            len(line.value) - len(shorter),
            f"a star at the end matches what the pattern matches without it, and counts as a byte more{more}",
            f"write {shorter}",
            edits,
        )


def spaces(subject: Subject) -> Iterator[Remark]:
    """Find spaces within patterns."""
    for line, pattern in _patterns(subject):
        glued = _SECOND_DIRECTIVE.search(pattern)
        match = re.search(r"[ \t]", pattern)
        if glued:
            at = subject.value_start(line) + glued.start()
            yield subject.remark_on_part(
                line,
                at + 1,
                len(pattern) - glued.start() - 1,
                "a second directive stands on this line, and robots take it for a part of the path",
                "write it on a line of its own",
            )
        elif match:
            at = subject.value_start(line) + match.start()
            many = all(word.startswith("/") for word in pattern.split())
            suggestion = (
                "write a line for each path"
                if many
                else f"write {pattern.replace(' ', '%20')} if that is meant"
            )
            yield subject.remark_on_part(
                line, at, 1, "paths have no spaces: this matches %20 alone", suggestion
            )


def bad_escape(subject: Subject) -> Iterator[Remark]:
    """Find invalid percent escapes."""
    for line, pattern in _patterns(subject):
        match = _BAD_ESCAPE.search(pattern)
        if match:
            at = subject.value_start(line) + match.start()
            yield subject.remark_on_part(
                line,
                at,
                1,
                "% is followed by two hex digits; here it is a literal percent sign, and dialects differ on it",
                "write %25 for a literal one",
                (subject.edit(line, at, 1, "%25"),),
            )


def regex(subject: Subject) -> Iterator[Remark]:
    """Find regular expressions."""
    for line, pattern in _patterns(subject):
        match = _REGEX.search(pattern[:_MAX_REGEX_SEARCH])
        if match:
            at = subject.value_start(line) + match.start()
            yield subject.remark_on_part(
                line,
                at,
                len(match[0]),
                "robots.txt has no regular expressions: all but * and a $ at the end is literal",
                "write * for any characters",
            )


def query(subject: Subject) -> Iterator[Remark]:
    """Find query parameters that match only as the first one."""
    if not _has_wildcards(subject):
        return
    others = {other.value.lstrip("/").rstrip("*") for other in subject.rules}
    for line in subject.lines_of(Directive.DISALLOW):
        match = re.fullmatch(r"/?\*\?(\w+)=\*?", line.value)
        if match:
            wider = {f"*{mark}{match[1]}=" for mark in ("&", "")}
            if not wider & others:
                yield subject.remark_on_value(
                    line,
                    f"this matches {match[1]} as the first parameter alone",
                    f"add Disallow: /*&{match[1]}=",
                )

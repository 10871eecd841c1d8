"""Checks of patterns."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator
from functools import lru_cache

from ..dialects import Patterns
from ..model import Directive, Line
from ._checks import ERROR, NOTE, WARNING, check
from ._model import SECOND_DIRECTIVE, CheckedFile, Place, Remark

_HOST = re.compile(r"(?:https?:)?//[^/*$]+", re.IGNORECASE)
_BARE_HOST = re.compile(
    r"(?:www\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|de|fr|uk|io|info|edu|gov|ru|it|nl|es|eu)(?=/|\Z)",
    re.IGNORECASE,
)
#: Before other characters a $ is probably meant literally, as in /cgi-bin/$STATE.
_MISPLACED_DOLLAR = re.compile(r"\$(?=[$*?&|/])")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_REGEX = re.compile(
    r"\(\.\*|\.\*\)|\\[./dws?]|\(\?|\([^()|]*\|[^()]*\)|\[[^\[\]-]*-[^\[\]]*\]|\[\^|\A/?\^|\)\*"
)

_QUERY_OR_EXTENSION = re.compile(r"[?&.]|\w+=")
_FIRST_PARAMETER = re.compile(r"/?\*\?(\w+)=\*?")
_SPACE = re.compile(r"[ \t]")
_STARS = re.compile(r"\*\*+")
_TRAILING_STAR = re.compile(r"\*\$?\Z")
#: Patterns that are as long in their canonical form.
_PLAIN = re.compile(r"[A-Za-z0-9._~/?&=*-]*\$?")
_OPPOSITE = {Directive.ALLOW: Directive.DISALLOW, Directive.DISALLOW: Directive.ALLOW}

#: Number of patterns to cache: large files repeat them.
_MAX_CACHED = 10_000

#: Maximum characters of a pattern to search for a regular expression.
_MAX_REGEX_SEARCH = 200


def _unusual_patterns(subject: CheckedFile) -> Iterator[tuple[Line, str]]:
    """Yield rules with their patterns, but for usual ones, as /a.html: see `subject.rules`."""
    for line in subject.unusual_rules:
        yield line, line.value


def _has_wildcards(subject: CheckedFile) -> bool:
    return subject.robots.dialect.reading.patterns == Patterns.WILDCARDS


@check("P002", "url-in-rule", ERROR, "A rule has a URL instead of a path",
    why="Rules are for the site that serves the file: the rule matches nothing.",
    example="User-agent: *\nDisallow: www.example.com\n",
    fix="User-agent: *\nDisallow: /www.example.com\n",
    source="RFC 9309 §2.2.2")  # fmt: skip
def host(subject: CheckedFile) -> Iterator[Remark]:
    for line, pattern in _unusual_patterns(subject):
        match = _host(pattern)
        if match:
            path = pattern[len(match) :]
            path = path if path.startswith("/") else f"/{path}"
            # Another host is not the whole of this site.
            is_part = path.strip("/*$") != ""
            yield Remark(
                subject.value(line),
                "Rules take paths, not URLs: this matches nothing",
                f"Write {path} if it is on this site"
                if is_part
                else "Write a path of this site, or remove the rule",
                proposal=(subject.edit_value(line, path) if is_part else subject.removal(line),),
            )


def _host(pattern: str) -> str | None:
    match = _HOST.match(pattern) if "://" in pattern[:9] else _BARE_HOST.match(pattern)
    return match[0] if match else None


@check("P001", "no-leading-slash", ERROR, "A path does not start with / or *",
    why="Paths of URLs start with /: the rule matches nothing.",
    example="User-agent: *\nDisallow: admin\n",
    fix="User-agent: *\nDisallow: *admin\n",
    source="RFC 9309 §2.2.2")  # fmt: skip
def no_slash(subject: CheckedFile) -> Iterator[Remark]:
    for line, pattern in _unusual_patterns(subject):
        if (
            pattern[0] not in "/*"
            and not _host(pattern)
            and not (pattern == "$" or _is_html(pattern) or _may_be_shell_pattern(subject, pattern))
        ):
            path = _intended_path(pattern)
            yield Remark(
                subject.value(line),
                "A path must start with /: this matches nothing",
                f"Write {path}" + (" for the whole site" if path == "/" else ""),
                proposal=(subject.edit_value(line, path),),
            )


def _may_be_shell_pattern(subject: CheckedFile, pattern: str) -> bool:
    """Return whether a shell pattern's first element may match a slash in the dialect."""
    return pattern[0] in "?[\\" and bool(subject.robots.dialect.versions)


def _intended_path(pattern: str) -> str:
    if pattern.lower() in ("all", "everything", "any"):
        return "/"
    # Query parameters and file extensions follow a path.
    return f"/*{pattern}" if _QUERY_OR_EXTENSION.match(pattern) else f"/{pattern}"


def _is_html(pattern: str) -> bool:
    return pattern.startswith("<")


@check("P003", "misplaced-dollar", WARNING, "A $ is not at the end of a path",
    why="It means the end of the URL only at the end of a path. Elsewhere it matches a literal $.",
    example="User-agent: *\nDisallow: /a$*\n",
    fix="User-agent: *\nDisallow: /a$b$\n",
    source="RFC 9309 §2.2.3")  # fmt: skip
def dollar(subject: CheckedFile) -> Iterator[Remark]:
    """Find dollar signs that seem to mean the end of a URL, but are not at the end of the path."""
    if not _has_wildcards(subject):
        return
    for line, pattern in _unusual_patterns(subject):
        match = _MISPLACED_DOLLAR.search(pattern)
        if match:
            at = subject.value_start(line) + match.start()
            yield Remark(
                Place(line.number, at, 1),
                '"$" is special only at the end of a path: here it matches a literal "$"',
                'End the path with "$", or remove it',
            )


@check("P004", "redundant-star", NOTE, "A * is redundant",
    why="A path matches everything that starts with it, so a * at the end changes nothing but the length of the path. Of the rules that match, the longest applies.",
    example="User-agent: *\nDisallow: /a**\n",
    fix="User-agent: *\nDisallow: /a\n",
    source="RFC 9309 §2.2.2")  # fmt: skip
def stars(subject: CheckedFile) -> Iterator[Remark]:
    """Find redundant stars: those without which no rule gets another precedence."""
    if not _has_wildcards(subject):
        return
    sizes: dict[Directive, _Sizes] = {}
    without_stars = lru_cache(_MAX_CACHED)(_without_stars)
    for line, pattern in _unusual_patterns(subject):
        shorter = without_stars(pattern)
        if shorter == pattern or line.directive is None:
            continue
        opposite = _OPPOSITE[line.directive]
        if opposite not in sizes:
            lines = subject.lines_of(opposite)
            sizes[opposite] = _Sizes({_sizes(each.value) for each in lines if each.value})
        if sizes[opposite].overlap(len(shorter), len(pattern)):
            continue
        several = _STARS.search(pattern)
        first, last = several.span() if several else (len(shorter), len(pattern))
        yield Remark(
            Place(line.number, subject.value_start(line) + first, last - first),
            "Several * in a row match the same as one" if several else "Trailing * is redundant",
            f"Write {shorter}",
            edits=(subject.edit_value(line, shorter),),
        )


class _Sizes:
    """Ranges of lengths: patterns of a file may have thousands."""

    def __init__(self, ranges: set[range]) -> None:
        in_order = sorted((each.start, each.stop) for each in ranges)
        self._starts = [start for start, _ in in_order]
        #: For each range, the largest end of it and those before it.
        self._ends = list(itertools.accumulate((end for _, end in in_order), max))

    def overlap(self, least: int, most: int) -> bool:
        """Return whether one of the ranges has a length from ``least`` to ``most``."""
        count = bisect.bisect_right(self._starts, most)
        return count > 0 and least < self._ends[count - 1]


def _sizes(pattern: str) -> range:
    """Return the lengths in bytes that a pattern may have once it is canonical."""
    size = len(pattern)
    if _PLAIN.fullmatch(pattern):
        return range(size, size + 1)
    # "%61" becomes one byte, a literal "$" three, and a character that is not ASCII up to twelve.
    return range(size // 3, 12 * size + 1)


def _without_stars(pattern: str) -> str:
    """Return a pattern without the stars that make no difference to what it matches."""
    # A literal "$" before a trailing star would become an anchor.
    if not _PLAIN.fullmatch(pattern):
        return pattern
    shorter = _STARS.sub("*", pattern)
    trailing = _TRAILING_STAR.search(shorter) if pattern.startswith("/") else None
    return shorter[: trailing.start()] if trailing else shorter


@check("P005", "space", WARNING, "A path has a space in it",
    why="URLs have no spaces: it matches only %20. Often two paths or two directives are on one line.",
    example="User-agent: *\nDisallow: /a /b\n",
    fix="User-agent: *\nDisallow: /a\t# /b\n",
    source="RFC 9309 §2.2; RFC 3986 §3.3")  # fmt: skip
def spaces(subject: CheckedFile) -> Iterator[Remark]:
    for line, pattern in _unusual_patterns(subject):
        glued = SECOND_DIRECTIVE.search(pattern)
        match = _SPACE.search(pattern)
        if glued:
            yield _second_directive(subject, line, glued)
        elif match:
            at = subject.value_start(line) + match.start()
            words = pattern.split()
            many = all(word.startswith("/") for word in words)
            has_home = any(not word.strip("/*$") for word in words)
            separator = f"\n{line.directive}: " if many else "%20"
            yield Remark(
                Place(line.number, at, 1),
                "Space in a path: it matches only %20",
                "Write one path per line" if many else "Write %20 if you mean a space",
                # On a line of its own, a lone / would block the whole site.
                proposal=() if has_home else (subject.edit_value(line, separator.join(words)),),
            )


def _second_directive(subject: CheckedFile, line: Line, glued: re.Match[str]) -> Remark:
    """Return the remark on a second directive on a line."""
    at = subject.value_start(line) + glued.start()
    first, second = line.value[: glued.start()].rstrip(), line.value[glued.start() :].strip()
    place = Place(line.number, at + 1, len(line.value) - glued.start() - 1)
    message = "Second directive on this line: crawlers read it as part of the path"
    if not glued[1].lower().startswith("user"):
        proposal = (subject.edit(line, at, 1, "\n"),)
        return Remark(place, message, "Write it on a line of its own", proposal=proposal)
    if first.strip("/*$"):
        # On its own line, it would take over the rules below, so there is no edit.
        return Remark(place, message, "Write it on a line of its own, with its rules below")
    start = len(line.text) - len(line.text.lstrip())
    rule = f"{second}\n{line.directive}: {first}"
    swapped = subject.edit(line, start, subject.value_start(line) + len(line.value) - start, rule)
    return Remark(place, message, f"Write {second} on a line above this rule", proposal=(swapped,))


@check("P006", "bad-escape", WARNING, "A % is not followed by two hex digits",
    why="Crawlers read this differently.",
    example="User-agent: *\nDisallow: /100%\n",
    fix="User-agent: *\nDisallow: /100%25\n",
    source="RFC 9309 §2.2.2; RFC 3986 §2.1")  # fmt: skip
def bad_escape(subject: CheckedFile) -> Iterator[Remark]:
    for line, pattern in _unusual_patterns(subject):
        match = _BAD_ESCAPE.search(pattern)
        if match:
            at = subject.value_start(line) + match.start()
            yield Remark(
                Place(line.number, at, 1),
                '"%" must be followed by two hex digits: crawlers read this differently',
                "Write %25 for a literal %",
                edits=(subject.edit_value(line, _BAD_ESCAPE.sub("%25", pattern)),),
            )


@check("P007", "regular-expression", WARNING, "A path looks like a regular expression",
    why="Only * and a final $ are special.",
    example="User-agent: *\nDisallow: /(a|b)/\n",
    fix="User-agent: *\nDisallow: /Mercury_(planet)\n",
    source="RFC 9309 §2.2.3")  # fmt: skip
def regex(subject: CheckedFile) -> Iterator[Remark]:
    for line, pattern in _unusual_patterns(subject):
        match = _REGEX.search(pattern[:_MAX_REGEX_SEARCH])
        if match:
            at = subject.value_start(line) + match.start()
            yield Remark(
                Place(line.number, at, len(match[0])),
                'Regular expressions are not supported: only "*" and a final "$" are special',
                'Write "*" for any characters',
            )


@check("P008", "first-parameter", NOTE, "A path matches a query parameter only if it is the first",
    why="Later parameters follow &, not ?.",
    example="User-agent: *\nDisallow: /*?sort=\n",
    fix="User-agent: *\nDisallow: /*?sort=\nDisallow: /*&sort=\n",
    source="RFC 3986 §3.4")  # fmt: skip
def query(subject: CheckedFile) -> Iterator[Remark]:
    if not _has_wildcards(subject):
        return
    others = {pattern.lstrip("/").rstrip("*") for _, pattern in _unusual_patterns(subject)}
    for line, pattern in _unusual_patterns(subject):
        match = _FIRST_PARAMETER.fullmatch(pattern)
        if match and line.directive is Directive.DISALLOW:
            wider = {f"*{mark}{match[1]}=" for mark in ("&", "")}
            if not wider & others:
                yield Remark(
                    subject.value(line),
                    f'Matches only when "{match[1]}" is the first query parameter',
                    f"Add Disallow: /*&{match[1]}=",
                    proposal=(subject.insertion(line, f"Disallow: /*&{match[1]}="),),
                )

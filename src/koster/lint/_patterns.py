"""Checks of patterns."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import quote

from .._wording import joined
from ..dialects import Patterns
from ..model import Directive, Line
from ._checks import ERROR, NOTE, WARNING, check
from ._hosts import host_in_path
from ._model import SECOND_DIRECTIVE, CheckedFile, Place, Remark, corrected, truncate, verb_of

_HOST = re.compile(r"https?://[^/*$]+", re.IGNORECASE)
#: What people write around paths.
_AROUND_PATHS = " \t\u00a0\u2007\u202f\"'`\u201c\u201d\u2018\u2019<>()[]{}:;,|=^\\"
_EVERYTHING = ("all", "everything", "any", ".*", "*.*", "**")
#: Parameters of links that people block by name.
_KNOWN_PARAMETER = re.compile(
    r"(?:utm_\w+|gclid|fbclid|msclkid|phpsessid|jsessionid|sessionid|session_id|sid)=?",
    re.IGNORECASE,
)
_NOTHING = (
    "none",
    "nothing",
    "no",
    "false",
    "null",
    "nil",
    "undefined",
    "n/a",
    "na",
    "empty",
    "-",
    "blank",
)
#: What stands between the paths of a list, such as ``/a,/b`` and ``["/a", "/b"]``.
_BETWEEN_PATHS = re.compile(r"[\"'\s]*[,;|][\"'\s]*|\s+(?:and|or|und|oder|&|\+)\s+(?=/)")
#: A directive that is there twice.
_AGAIN = re.compile(r"(?:dis)?allow\s*:\s*", re.IGNORECASE)
#: How something begins that is no path.
_NO_PATHS = ("..", "~", "#", "$", "@", "!", "+", "-")
#: A remark behind a path that does not begin with #.
_REMARK = re.compile(r"\s+(?://|\(|--|<!--)")
#: A parameter where the path of a URL begins.
_PARAMETER = re.compile(r"/[?&]?([\w.-]+)=[^/]*|/&[^/]*")
#: Before other characters a $ is probably meant literally, as in /cgi-bin/$STATE.
_MISPLACED_DOLLAR = re.compile(r"\$(?=[$*?&|/])")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_REGEX = re.compile(
    r"\(\.\*|\.\*\)|\\[./dws?]|\(\?|\([^()|]*\|[^()]*\)|\[[^\[\]-]*-[^\[\]]*\]|\[\^|\A/?\^|\)\*"
)

_QUERY_OR_EXTENSION = re.compile(r"[?&.]|\w+=")
_FIRST_PARAMETER = re.compile(r"/?\*\?(\w+)=\*?")
_SPACE = re.compile(r"[ \t]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_STARS = re.compile(r"\*\*+")
_TRAILING_STAR = re.compile(r"\*\$?\Z")
#: Patterns that are as long in their canonical form.
_PLAIN = re.compile(r"[A-Za-z0-9._~/?&=*-]*\$?")
_OPPOSITE = {Directive.ALLOW: Directive.DISALLOW, Directive.DISALLOW: Directive.ALLOW}

#: A short word as the first part of a path, and its maximum size with the slash.
_PREFIX = re.compile(r"/[A-Za-z]+")
_MAX_PREFIX = 6

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


@check("P002", "url-in-rule", ERROR, "A rule has a URL or a host instead of a path",
    why="Rules are for the site that serves the file: the rule matches nothing. Each host needs its own robots.txt.",
    example="User-agent: *\nDisallow: www.example.com\n",
    fix="User-agent: *\nDisallow: /www.example.com\n",
    source="RFC 9309 §2.2.2, §2.3")  # fmt: skip
def host(subject: CheckedFile) -> Iterator[Remark]:
    for line, pattern in _unusual_patterns(subject):
        name = _host(pattern)
        if name:
            path = pattern[len(name) :]
            path = path if path.startswith("/") else f"/{path}"
            # Another host is not the whole of this site.
            is_part = path.strip("/*$") != ""
            yield Remark(
                subject.value(line),
                "Rules take paths, not URLs: this matches nothing",
                f"Write {path} if it is on this site, which {verb_of(line)} it"
                if is_part
                else "Remove it: robots.txt has no rules for other hosts, each host needs its own file",
                proposal=(subject.edit_value(line, path) if is_part else subject.removal(line),),
            )


def _host(pattern: str) -> str | None:
    if pattern.startswith("//"):
        name = host_in_path(pattern[2:])
        return f"//{name}" if name else None
    match = _HOST.match(pattern) if "://" in pattern[:9] else None
    return match[0] if match else host_in_path(pattern)


@check("P001", "no-leading-slash", ERROR, "A path does not start with / or *",
    why="Paths of URLs start with /: the rule matches nothing.",
    example="User-agent: *\nDisallow: admin\n",
    fix="User-agent: *\nDisallow: *admin\n",
    source="RFC 9309 §2.2.2")  # fmt: skip
def no_slash(subject: CheckedFile) -> Iterator[Remark]:
    for line, pattern in _unusual_patterns(subject):
        if (
            pattern[0] not in "/*"
            # Another check is about invisible characters and spaces.
            and pattern[0].isprintable()
            and not _host(pattern)
            and not _paths_in(pattern)
            and not (pattern == "$" or _is_html(pattern) or _may_be_shell_pattern(subject, pattern))
        ):
            suggestion, path = _intended_path(line, pattern)
            yield Remark(
                subject.value(line),
                "A path must start with /: this matches nothing",
                suggestion,
                proposal=() if path is None else (subject.edit_value(line, path),),
            )


def _may_be_shell_pattern(subject: CheckedFile, pattern: str) -> bool:
    """Return whether a shell pattern's first element may match a slash in the dialect."""
    return pattern[0] in "?[\\" and bool(subject.robots.dialect.versions)


def _intended_path(line: Line, pattern: str) -> tuple[str, str | None]:
    """Return what to write instead of a path without a slash, and that path if it is clear."""
    text = pattern.strip(_AROUND_PATHS)
    if pattern.lower() in _NOTHING:
        return f"Write {line.directive}: without a path, which changes nothing", ""
    if pattern.lower() in _EVERYTHING or text.lower() in _EVERYTHING:
        return f"Write /, which {verb_of(line)} the whole site", "/"
    text = pattern.rstrip() if pattern.endswith("=") else text
    path = _AGAIN.sub("", text).replace("\\", "/").removeprefix("- ").removeprefix("./")
    path = path.strip(_AROUND_PATHS.replace("=", ""))
    is_variable = pattern[0] in "{:[" or path.lower() in ("yes", "true", "1")
    if not path or is_variable or path.startswith(_NO_PATHS) or ":/" in path:
        return "Write a path of this site, such as /private/, or remove the rule", None
    if not path.startswith(("/", "*")):
        # Query parameters and file extensions follow a path.
        if _KNOWN_PARAMETER.fullmatch(path):
            path = f"/*?*{path.rstrip('=')}="
        else:
            path = f"/*{path}" if _QUERY_OR_EXTENSION.match(path) else f"/{path}"
    return f"Write {path}, which {verb_of(line)} it", path


@check("P009", "several-paths", ERROR, "A rule has several paths",
    why="Crawlers read them as one path, which no URL has: none of them is blocked or allowed.",
    example="User-agent: *\nDisallow: /a,/b\n",
    fix="User-agent: *\nDisallow: /a\nDisallow: /b\n",
    source="RFC 9309 §2.2.2")  # fmt: skip
def several_paths(subject: CheckedFile) -> Iterator[Remark]:
    """Find lists of paths, such as those that programs write for a list of theirs."""
    for line, pattern in _unusual_patterns(subject):
        paths = _paths_in(pattern)
        if paths:
            are = "neither is" if len(paths) == 2 else "none of them is"
            verb = "allowed" if line.directive is Directive.ALLOW else "blocked"
            # On a line of its own, a lone / would block the whole site.
            is_safe = all(path.strip("/*$") for path in paths)
            yield Remark(
                subject.value(line),
                f"Several paths on one line: {are} {verb}",
                f"Write one line per path, which {verb_of(line)} {joined(paths) if len(paths) < 4 else f'all {len(paths):,}'}",
                proposal=(subject.edit_value(line, f"\n{line.directive}: ".join(paths)),)
                if is_safe
                else (),
            )


def _paths_in(pattern: str) -> list[str]:
    """Return the paths of a list, or nothing if it has only one.

    >>> _paths_in("/a,/b"), _paths_in('["/a", "/b"]'), _paths_in("/a,b")
    (['/a', '/b'], ['/a', '/b'], [])
    """
    if not _BETWEEN_PATHS.search(pattern):
        return []
    text = pattern.strip(_AROUND_PATHS)
    paths = [each.strip(_AROUND_PATHS) for each in _BETWEEN_PATHS.split(text)]
    are_paths = all(each.startswith("/") and " " not in each for each in paths)
    return paths if are_paths and len(paths) > 1 else []


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
        if pattern[0] not in "/*":
            continue
        glued = SECOND_DIRECTIVE.search(pattern)
        match = None if _paths_in(pattern) else _SPACE.search(pattern)
        if glued:
            yield _second_directive(subject, line, glued)
        elif match:
            at = subject.value_start(line) + match.start()
            remark = _REMARK.search(pattern)
            if remark:
                rule = pattern[: remark.start()]
                at = subject.value_start(line) + remark.start()
                yield corrected(
                    Place(line.number, at, len(pattern) - remark.start()),
                    "Remark in a path: comments start with #",
                    "Write # before it",
                    (subject.edit(line, at, 0, "  #"),),
                    f"{line.directive}: {rule}",
                )
                continue
            words = pattern.split()
            many = all(word.startswith("/") for word in words)
            has_home = any(not word.strip("/*$") for word in words)
            separator = f"\n{line.directive}: " if many else "%20"
            yield Remark(
                Place(line.number, at, 1),
                "Space in a path: it matches only %20",
                f"Write one path per line, which {verb_of(line)} them"
                if many
                else f"Write %20 if you mean a space, which {verb_of(line)} the same",
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
        edits = (subject.edit(line, at, 1, "\n"),)
        return corrected(place, message, "Write it on a line of its own", edits, second)
    if first.strip("/*$"):
        # On its own line, it would take over the rules below, so there is no edit.
        return Remark(place, message, "Write it on a line of its own, with its rules below")
    start = len(line.text) - len(line.text.lstrip())
    rule = f"{second}\n{line.directive}: {first}"
    swapped = subject.edit(line, start, subject.value_start(line) + len(line.value) - start, rule)
    suggestion = f"Write {second} on a line above this rule"
    return corrected(place, message, suggestion, (swapped,), second)


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
                f"Write %25 for a literal %, which {verb_of(line)} it for all crawlers",
                proposal=(subject.edit_value(line, _BAD_ESCAPE.sub("%25", pattern)),),
            )


@check("P007", "regular-expression", WARNING, "A path looks like a regular expression",
    why="Only * and a final $ are special.",
    example="User-agent: *\nDisallow: /(a|b)/\n",
    fix="User-agent: *\nDisallow: /Mercury_(planet)\n",
    source="RFC 9309 §2.2.3")  # fmt: skip
def regex(subject: CheckedFile) -> Iterator[Remark]:
    for line, pattern in _unusual_patterns(subject):
        match = _REGEX.search(pattern[:_MAX_REGEX_SEARCH])
        if match and pattern[0] in "/*":
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
                    f"Add Disallow: /*&{match[1]}=, which blocks it elsewhere, too",
                    proposal=(subject.insertion(line, f"Disallow: /*&{match[1]}="),),
                )
        elif _PARAMETER.fullmatch(pattern) and pattern.startswith("/?"):
            on_all = f"/*?*{pattern[2:]}"
            yield Remark(
                subject.value(line),
                "Matches only the home page, with this as its first query parameter",
                f"For every page write {on_all}, which {verb_of(line)} more",
                proposal=(subject.edit_value(line, on_all),),
            )


@check("P010", "parameter-as-path", WARNING, "A path begins with a query parameter",
    why="It matches only URLs whose path begins so. Query parameters follow a path and a ?.",
    example="User-agent: *\nDisallow: /nocrawl=1\n",
    fix="User-agent: *\nDisallow: /*?*nocrawl=1\n",
    source="RFC 3986 §3.4; RFC 9309 §2.2.2")  # fmt: skip
def parameter(subject: CheckedFile) -> Iterator[Remark]:
    if not _has_wildcards(subject):
        return
    for line, pattern in _unusual_patterns(subject):
        # The home page may have parameters: see `query`.
        wanted = pattern.lstrip("/&").rstrip("*")
        if wanted and _PARAMETER.fullmatch(pattern) and not pattern.startswith("/?"):
            yield Remark(
                subject.value(line),
                "This matches only URLs whose path starts so",
                f"For a query parameter write /*?*{wanted}, which {verb_of(line)} every page with it",
                proposal=(subject.edit_value(line, f"/*?*{wanted}"),),
            )


@check("P011", "not-ascii", NOTE, "A path has characters beyond ASCII",
    why="URLs have them percent-encoded. Crawlers that follow RFC 9309 encode the path of the rule, too; others compare it as it is. Google recommends percent-encoding since October 2026.",
    example="User-agent: *\nDisallow: /café/\n",
    fix="User-agent: *\nDisallow: /caf%C3%A9/\n",
    source="RFC 9309 §2.2.2; https://developers.google.com/crawling/docs/changelog")  # fmt: skip
def not_ascii(subject: CheckedFile) -> Iterator[Remark]:
    for line, pattern in _unusual_patterns(subject):
        if pattern.startswith(("/", "*")) and not pattern.isascii() and pattern.isprintable():
            encoded = _NOT_ASCII.sub(lambda match: quote(match[0]), pattern)
            yield Remark(
                subject.value(line),
                "Characters beyond ASCII: some crawlers do not find the URLs",
                f"Write {truncate(encoded)}",
                edits=(subject.edit_value(line, encoded),),
            )


@check("P012", "short-prefix", NOTE, "A short path without a slash at its end also matches longer words",
    why="Off by default: --select P012 runs it. A rule matches everything that starts with its path: /cart also matches /cartography. To block only a page and what is below it, end the path with $, / and ?.",
    example="User-agent: *\nDisallow: /cart\n",
    fix="User-agent: *\nDisallow: /cart/\nDisallow: /cart$\nDisallow: /cart?\n", is_on=False,
    source="RFC 9309 §2.2.2")  # fmt: skip
def short_prefix(subject: CheckedFile) -> Iterator[Remark]:
    """Find rules for a short word, once per file: many files have some, and most mean them."""
    found = [
        line
        for line in subject.lines_of(Directive.DISALLOW)
        if len(line.value) <= _MAX_PREFIX and _PREFIX.fullmatch(line.value)
    ]
    if found:
        path = found[0].value
        more = f", and so do {len(found) - 1:,} more rules" if len(found) > 1 else ""
        yield Remark(
            subject.value(found[0]),
            f"{path} matches all paths that start so, not only {path} and {path}/{more}",
            f"Write {path}$, {path}/ and {path}? to block only these",
        )
